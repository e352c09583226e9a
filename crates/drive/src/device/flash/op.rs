//! Flash operations: what the drive asks of its units.

use crate::device::flash::counters::OpKind;
use crate::device::ids::{EntryId, OpId, PayloadId, RequestId};
use engine::{Instant, Slab, Span};
use ftl::{Batch, BinId, BlockId};
use metrics::{Blame, Holder, Snapshot, State};
use nand::{ChannelId, GroupId};
use std::ops::{Index, IndexMut};

/// Whom an operation reports to.
#[derive(Clone, Copy, Debug)]
pub enum Owner {
    /// Part of a host read.
    Read(RequestId, u32),
    /// A row of what is read before a buffer entry can be written.
    Fetch(EntryId, u32),
    /// Buffer entries being written.
    Flush(PayloadId),
    /// A read of the bin's collection: the live slots that it brings.
    CollectRead(u64),
    /// Units that the bin's collection moves.
    CollectWrite(PayloadId),
    /// A batch that the bin's collection moves as a whole, and where it was.
    CollectMove(Batch),
    /// A collected block being erased.
    CollectErase,
    /// A batch of a victim on its way out, which a program in another package takes.
    StreamOut(OpId),
    /// A batch that came from another package, and where it was.
    Streamed(Batch),
}

/// In which order operations of a unit are served; lower numbers first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// Collection for which the unit is kept: nothing else could start.
    Held = 0,
    /// Host reads of high, normal and low priority.
    ReadHigh = 1,
    ReadNormal = 2,
    ReadLow = 3,
    /// Reads that a host write waits for.
    Fetch = 4,
    /// Collection of a bin that is short of space.
    Urgent = 5,
    /// Programs of host data.
    Write = 6,
    /// Collection of a bin that is not: waits for all others.
    Soft = 7,
}

/// Number of classes.
pub const CLASSES: usize = Class::ALL.len();

impl Class {
    /// Every class, in the order of its number.
    pub const ALL: [Self; 8] = [
        Self::Held,
        Self::ReadHigh,
        Self::ReadNormal,
        Self::ReadLow,
        Self::Fetch,
        Self::Urgent,
        Self::Write,
        Self::Soft,
    ];
    /// True for host reads.
    #[inline]
    pub const fn is_read(self) -> bool {
        self as usize >= Self::ReadHigh as usize && self as usize <= Self::ReadLow as usize
    }
    /// True for what may go before other work, within bounds.
    #[inline]
    pub const fn is_bounded(self) -> bool {
        self as usize >= Self::ReadHigh as usize && self as usize <= Self::Fetch as usize
    }
}

/// What an operation waits for that waits for its channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AsksFor {
    /// A row of its data is to be carried: it holds its unit.
    Data,
    /// Its unit, which it holds, is to be commanded to sense the next row.
    Command,
    /// Its unit and the channel, to begin.
    Both,
}

/// A flash operation, from being asked for to its end. Its cache lines are its own,
/// because operations come up in the order of time, so neighbours are of no use; the
/// first one has all but what waiting needs.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub struct Op {
    pub owner: Owner,
    /// Channel time of each row.
    pub transfer: Span,
    /// Cells of the group that it occupies.
    pub cells: u64,
    pub group: GroupId,
    pub channel: ChannelId,
    pub bin: BinId,
    /// The block; of programs, bound when they start.
    pub block: BlockId,
    /// First batch and present row: pages of the block's erase blocks.
    pub batch: u32,
    pub row: u32,
    pub rows_left: u32,
    pub kind: OpKind,
    pub class: Class,
    pub holder: Holder,
    /// True while its wait is measured by a snapshot.
    pub waits: bool,
    // ---- the second line ----
    /// Its number among all operations, in the order of asking; none once it has ended.
    pub seq: u64,
    /// Its place in the order of its channel, while it waits for that.
    pub turn: u64,
    /// What it waits for, while it waits for its channel.
    pub asks_for: AsksFor,
    /// When it began to wait for what it waits for now.
    pub since: Instant,
    /// Next in the queue that it stands in.
    pub next: Option<OpId>,
    /// Planes that take part in each row.
    pub planes: u32,
}

impl Op {
    /// True for operations of garbage collection.
    #[inline]
    pub fn is_collection(&self) -> bool {
        matches!(
            self.owner,
            Owner::CollectRead(_)
                | Owner::CollectWrite(_)
                | Owner::CollectMove(_)
                | Owner::CollectErase
                | Owner::StreamOut(_)
                | Owner::Streamed(_)
        )
    }
    /// The batch that a started program or a read is about.
    pub fn at(&self) -> Batch {
        Batch { block: self.block, batch: self.batch }
    }
    /// Where the data of a program comes from that has not passed the controller.
    pub fn uncorrected(&self) -> Option<Batch> {
        match self.owner {
            Owner::CollectMove(from) if self.kind == OpKind::CopyBack => Some(from),
            Owner::Streamed(from) => Some(from),
            _ => None,
        }
    }
}

/// The number of an operation that has ended.
const ENDED: u64 = u64::MAX;

/// All operations, with what only those that wait or end look at kept aside.
#[derive(Clone, Default)]
pub struct Ops {
    slab: Slab<OpId, Op>,
    snapshots: Vec<Snapshot>,
    blames: Vec<Blame>,
}

impl Ops {
    #[inline(always)]
    pub fn insert_with(&mut self, op: impl FnOnce() -> Op) -> OpId {
        let id = self.slab.insert_with(op);
        if self.blames.len() < self.slab.slots() {
            self.blames.push(Blame::default());
            self.snapshots.push([Span::ZERO; metrics::LEDGER_STATES]);
        }
        self.blames[id.0 as usize].clear();
        id
    }
    #[inline]
    pub fn remove(&mut self, id: OpId) {
        self.slab[id].seq = ENDED;
        self.slab.remove(id);
    }
    #[inline]
    pub fn blame(&mut self, id: OpId) -> &mut Blame {
        &mut self.blames[id.0 as usize]
    }
    /// All operations, by number.
    pub fn ids(&self) -> Vec<OpId> {
        self.slab.ids()
    }
    /// Bytes that operations take, with room to grow.
    pub fn bytes(&self) -> u64 {
        let aside = self.snapshots.capacity() * size_of::<Snapshot>()
            + self.blames.capacity() * size_of::<Blame>();
        self.slab.bytes() + aside as u64
    }
    /// How many operations there were at most at a time.
    pub fn most(&self) -> usize {
        self.slab.slots()
    }
    /// Charges an operation with being served. Nobody asks collection for it.
    #[inline]
    pub fn charge_service(&mut self, id: OpId, state: State, span: Span) {
        if !self.slab[id].is_collection() {
            self.blames[id.0 as usize].charge(state, span);
        }
    }
    #[inline]
    pub fn blame_ref(&self, id: OpId) -> &Blame {
        &self.blames[id.0 as usize]
    }
    #[inline]
    pub fn snapshot_mut(&mut self, id: OpId) -> &mut Snapshot {
        &mut self.snapshots[id.0 as usize]
    }
    /// The blame of an operation, and that of another to add to it.
    #[inline]
    pub fn blame_and_other(&mut self, id: OpId, other: OpId) -> (&mut Blame, &Blame) {
        let [blame, other] = self
            .blames
            .get_disjoint_mut([id.0 as usize, other.0 as usize])
            .expect("two operations have blames of their own");
        (blame, other)
    }
    /// The totals when the operation began to wait, and its blame.
    #[inline]
    pub fn wait_and_blame(&mut self, id: OpId) -> (&Snapshot, &mut Blame) {
        (&self.snapshots[id.0 as usize], &mut self.blames[id.0 as usize])
    }
}

impl Index<OpId> for Ops {
    type Output = Op;
    #[inline]
    fn index(&self, id: OpId) -> &Op {
        &self.slab[id]
    }
}
impl IndexMut<OpId> for Ops {
    #[inline]
    fn index_mut(&mut self, id: OpId) -> &mut Op {
        &mut self.slab[id]
    }
}

/// The rest of a unit, which stays in its planes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rest {
    /// Where it is.
    pub at: Batch,
    /// Whether it may be programmed without correction.
    pub may_be_copied: bool,
}

/// What a partial write brings of its unit: bytes `from..to`. The rest is found when it starts;
/// there is none where the unit holds no data by then.
#[derive(Clone, Copy, Debug, Default)]
pub struct Part {
    pub from: u64,
    pub to: u64,
    pub rest: Option<Rest>,
    /// True if newer data is on flash, or the unit was trimmed: there is no rest.
    pub is_void: bool,
}

/// What programs carry: for each slot of the batch a buffer entry and its logical unit, or a
/// logical unit and the place that it is copied from.
#[derive(Clone)]
pub struct Payloads {
    width: usize,
    counts: Slab<PayloadId, u32>,
    slots: Vec<[u32; 2]>,
    /// What partial writes inside planes bring, by payload; empty where there are none.
    parts: Vec<Part>,
}

impl Payloads {
    pub fn new(units_per_batch: u32) -> Self {
        Self {
            width: units_per_batch as usize,
            counts: Slab::default(),
            slots: Vec::new(),
            parts: Vec::new(),
        }
    }
    pub fn new_empty(&mut self) -> PayloadId {
        let id = self.counts.insert(0);
        let needed = self.counts.slots() * self.width;
        if self.slots.len() < needed {
            self.slots.resize(needed, [0; 2]);
        }
        id
    }
    #[inline]
    pub fn push(&mut self, id: PayloadId, slot: [u32; 2]) {
        let count = self.counts[id] as usize;
        debug_assert!(count < self.width, "a payload fits its batch");
        self.slots[id.0 as usize * self.width + count] = slot;
        self.counts[id] += 1;
    }
    /// Notes what a partial write brings.
    pub fn set_part(&mut self, id: PayloadId, part: Part) {
        self.parts.resize(self.counts.slots(), Part::default());
        self.parts[id.0 as usize] = part;
    }
    pub fn part_mut(&mut self, id: PayloadId) -> &mut Part {
        &mut self.parts[id.0 as usize]
    }
    /// What the partial write brings that a payload was last noted for, where there are any.
    #[inline]
    pub fn part(&self, id: PayloadId) -> Option<&Part> {
        self.parts.get(id.0 as usize)
    }
    #[inline]
    pub fn count(&self, id: PayloadId) -> u32 {
        self.counts[id]
    }
    #[inline]
    pub fn slot(&self, id: PayloadId, index: u32) -> [u32; 2] {
        self.slots[id.0 as usize * self.width + index as usize]
    }
    pub fn remove(&mut self, id: PayloadId) {
        self.counts.remove(id);
    }
}
