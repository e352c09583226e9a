//! Reads that wait for the cells of an operation that may be suspended for them. Each list is in
//! the order of asking, and all reads in a list of host reads need the same cells, so that its head
//! stands for all: the time of these searches does not grow with the number of waiting reads.

use crate::device::flash::counters::OpKind;
use crate::device::flash::list::List;
use crate::device::flash::op::{CLASSES, Class, Op, Ops};
use crate::device::flash::queue::{BOUNDED_READS, Group, HOST_READS};
use crate::device::ids::OpId;
use engine::{bits, low_bits};

/// Content of a list of waiting operations.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Holds {
    /// Reads of the same cells.
    Reads,
    /// Operations of collection, reads and others. Their number is limited by the windows of
    /// collection.
    All,
}

/// True if an operation is a read of any of `cells`.
fn reads(ops: &Ops, id: OpId, cells: u64) -> bool {
    ops[id].kind == OpKind::Read && ops[id].cells & cells != 0
}

impl Group {
    /// True if reads wait for any of `cells`, of hosts only or all.
    pub fn has_reads_on(&self, ops: &Ops, cells: u64, hosts_only: bool) -> bool {
        self.has_read_before(ops, cells, hosts_only, u64::MAX)
    }
    /// Number of reads that wait for any of `cells`. Reads of reserved cells wait for the
    /// reservation, and do not count here and below.
    pub fn count_reads_on(&self, ops: &Ops, cells: u64, hosts_only: bool) -> u32 {
        let mut count = 0;
        let asks = |id: &OpId| reads(ops, *id, cells) && !self.is_reserved(ops[*id].cells);
        self.any_list_on(cells, hosts_only, |holds, list| {
            count += match holds {
                Holds::Reads => list.head().filter(asks).map_or(0, |_| list.len()),
                Holds::All => list.iter(ops).filter(asks).count() as u32,
            };
            false
        });
        count
    }
    /// True if a read waits for any of `cells` that was asked for before a number.
    pub fn has_read_before(&self, ops: &Ops, cells: u64, hosts_only: bool, before: u64) -> bool {
        let is_before = |id: OpId| {
            let op = &ops[id];
            op.seq < before && reads(ops, id, cells) && !self.is_reserved(op.cells)
        };
        self.any_list_on(cells, hosts_only, |holds, list| match holds {
            Holds::Reads => list.head().is_some_and(is_before),
            Holds::All => list.iter(ops).any(is_before),
        })
    }
    /// The read that goes first when an operation on `cells` is suspended: the oldest of the
    /// highest class that may start. `open_to` gives the occupied cells that suspended operations
    /// leave to a read of a number, and later reads get no more of them; `open` says if its channel
    /// is free, which is the same for all reads of the same cells.
    pub fn first_read_on(
        &self,
        ops: &Ops,
        cells: u64,
        hosts_only: bool,
        open_to: impl Fn(u64) -> u64,
        open: impl Fn(&Op) -> bool,
    ) -> Option<OpId> {
        let may_start = |id: &OpId| {
            let op = &ops[*id];
            let given = open_to(op.seq);
            let taken = self.busy | self.barred & !given | self.reserved;
            op.cells & cells & given != 0 && op.cells & taken == 0 && open(op)
        };
        let rank = |id: &OpId| (ops[*id].class as usize, ops[*id].seq);
        let mut first: Option<OpId> = None;
        let mut note = |id: OpId| {
            if may_start(&id) && first.is_none_or(|first| rank(&id) < rank(&first)) {
                first = Some(id);
            }
        };
        self.any_list_on(cells, hosts_only, |holds, list| {
            match holds {
                Holds::Reads => list.head().into_iter().for_each(&mut note),
                Holds::All => {
                    list.iter(ops).filter(|id| reads(ops, *id, cells)).for_each(&mut note);
                }
            }
            false
        });
        first
    }

    /// True if `is_it` holds for any of the lists that may hold reads of any of `cells`; stops at
    /// the first.
    #[inline]
    fn any_list_on(
        &self,
        cells: u64,
        hosts_only: bool,
        mut is_it: impl FnMut(Holds, &List) -> bool,
    ) -> bool {
        let lanes = self.lists.len() / CLASSES;
        // Lists of host programs hold no reads, and may be long.
        let classes =
            self.classes & if hosts_only { HOST_READS } else { !(1 << Class::Write as u32) };
        bits(classes).any(|class| {
            let are_reads = BOUNDED_READS >> class & 1 == 1;
            let holds = if are_reads { Holds::Reads } else { Holds::All };
            if lanes == 1 {
                return is_it(holds, &self.lists[class]);
            }
            bits(self.filled[class] as u64 & low_bits(self.cells) & cells)
                .any(|lane| is_it(holds, &self.lists[class * lanes + lane]))
                // The last lane is for operations that need all cells.
                || is_it(holds, &self.lists[class * lanes + lanes - 1])
                || self.wide.on(class, cells).any(|wide| is_it(holds, wide))
        })
    }
}
