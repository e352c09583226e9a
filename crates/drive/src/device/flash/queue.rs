//! The queue of a group of units: it chooses the operation that goes next.
//!
//! A cell is a smallest independently busy part of a group (not a memory cell). Operations wait in
//! lists by class, and within a class by the cells that they need: one list for each cell, one for
//! operations that need all cells, and one for each choice of several. Each list is in the order of
//! asking, so only the heads are examined.

use crate::device::flash::list::List;
use crate::device::flash::op::{CLASSES, Class, Op, Ops};
use crate::device::flash::wide::Wide;
use crate::device::ids::OpId;
use crate::policies::scheduling::{Asking, Bypass, Turn};
use engine::{Instant, bits, low_bits};
use ftl::BinId;

/// The bits of the classes of host reads.
pub(super) const HOST_READS: u32 = {
    let (mut mask, mut at) = (0, 0);
    while at < Class::ALL.len() {
        mask |= (Class::ALL[at].is_read() as u32) << at;
        at += 1;
    }
    mask
};
/// The bits of the classes of reads that bounds bind: their lists hold only reads.
pub(super) const BOUNDED_READS: u32 = {
    let (mut mask, mut at) = (0, 0);
    while at < Class::ALL.len() {
        mask |= (Class::ALL[at].is_bounded() as u32) << at;
        at += 1;
    }
    mask
};
/// The bits of background collection and of the class for which a unit is reserved.
const BACKGROUND: u32 = 1 << Class::Background as u32;
const RESERVED: u32 = 1 << Class::Reserved as u32;
/// The bits of all classes of collection.
const COLLECTION: u32 = BACKGROUND | RESERVED | 1 << Class::Foreground as u32;

/// The state of a group: the cells in use, and the operations that wait. The fields that every
/// operation reads are in the first cache line.
#[derive(Clone)]
#[repr(C, align(64))]
pub struct Group {
    /// Cells that an operation occupies.
    pub busy: u64,
    /// Cells that an operation will occupy once it gets the channel. Reads may
    /// still go before it.
    pub wanted: u64,
    /// Cells of `wanted` that no read may occupy any more.
    pub barred: u64,
    /// Cells reserved for collections of bins.
    pub reserved: u64,
    /// True if an operation that waits for an idle cell waits for the channel, because commands
    /// need it.
    pub needs_channel: bool,
    /// True while a group that uses one channel stands in the queue of that. For a group of several
    /// channels it is always false.
    pub in_channel_queue: bool,
    /// The bin for whose collection cells are reserved, or one of those bins.
    reserved_by: Option<BinId>,
    /// The moment at which the group has been idle for long enough, if no operation comes before.
    pub idle_check: Instant,
    /// Classes that have waiting operations: bit `i` for class `i`.
    pub(super) classes: u32,
    queued: u32,
    /// Reads with this number or a later one wait until a lower class has had its turn.
    bound: Option<u64>,
    pub(super) cells: u32,
    pub(super) lists: Vec<List>,
    /// For each class, its lists that are not empty.
    pub(super) filled: [u128; CLASSES],
    /// Other bins for which cells are reserved.
    reserved_by_others: Vec<BinId>,
    /// Operations that need several cells and not all.
    pub(super) wide: Wide,
}

/// The operation that goes next.
#[derive(Clone, Copy, Debug)]
pub struct Pick {
    pub op: OpId,
    /// Its turn came by age: no operation may go before it any more.
    pub forced: bool,
}

impl Group {
    pub fn new(cells: u32, needs_channel: bool) -> Self {
        let lists = if cells == 1 { 1 } else { cells as usize + 1 };
        Self {
            busy: 0,
            wanted: 0,
            barred: 0,
            reserved: 0,
            needs_channel,
            in_channel_queue: false,
            reserved_by: None,
            idle_check: Instant::NEVER,
            cells,
            lists: vec![List::default(); lists * CLASSES],
            filled: [0; CLASSES],
            reserved_by_others: Vec::new(),
            wide: Wide::default(),
            classes: 0,
            queued: 0,
            bound: None,
        }
    }

    /// Reserves cells for a bin's collection.
    pub fn keep(&mut self, cells: u64, bin: BinId) {
        debug_assert!(!self.is_kept_for(bin), "cells are reserved for a bin once");
        self.reserved |= cells;
        if let Some(other) = self.reserved_by.replace(bin) {
            self.reserved_by_others.push(other);
        }
    }
    /// Ends the reservation of cells for a bin; returns true if they were reserved.
    pub fn give_back(&mut self, cells: u64, bin: BinId) -> bool {
        if !self.is_kept_for(bin) {
            return false;
        }
        self.reserved &= !cells;
        if self.reserved_by == Some(bin) {
            self.reserved_by = self.reserved_by_others.pop();
        } else {
            self.reserved_by_others.retain(|other| *other != bin);
        }
        true
    }
    /// True if cells are reserved for a bin's collection.
    #[inline]
    pub fn is_kept_for(&self, bin: BinId) -> bool {
        self.reserved_by == Some(bin) || self.reserved_by_others.contains(&bin)
    }
    /// True if some of these cells are reserved.
    #[inline]
    pub fn is_reserved(&self, cells: u64) -> bool {
        self.reserved & cells != 0
    }
    /// True if any cells are reserved.
    #[inline]
    pub fn has_reservation(&self) -> bool {
        self.reserved != 0
    }
    /// A bin for which cells are reserved, if there is one.
    pub fn kept_for(&self) -> Option<BinId> {
        self.reserved_by
    }
    /// True if a read that is not of a collection waits.
    pub fn has_reads(&self) -> bool {
        self.classes & (HOST_READS | BOUNDED_READS) != 0
    }
    /// True if an operation of a collection waits that goes before programs of hosts.
    pub fn has_foreground(&self) -> bool {
        self.classes >> Class::Foreground as u32 & 1 == 1
    }
    /// True if an operation waits that is not of a collection.
    pub fn has_work_of_hosts(&self) -> bool {
        self.classes & !COLLECTION != 0
    }
    /// Number of operations that wait.
    #[inline]
    pub fn queued(&self) -> u32 {
        self.queued
    }
    /// True if no cell is occupied or awaited, and no operation waits.
    #[inline]
    pub fn is_idle(&self) -> bool {
        self.busy | self.wanted == 0 && self.queued == 0
    }
    /// True if no idle cell is reserved or awaited, and no waiting operation needs the channel to
    /// begin.
    #[inline]
    pub fn is_open(&self) -> bool {
        self.wanted | self.reserved == 0 && !(self.needs_channel && self.queued > 0)
    }
    /// True if an operation waits and a cell may be free for it.
    #[inline]
    pub fn may_serve(&self, all_cells: u64) -> bool {
        self.queued > 0 && (self.busy | self.barred) != all_cells
    }
    /// True if an operation on `cells` asked for now would start at once.
    #[inline]
    pub fn is_open_to(&self, cells: u64) -> bool {
        self.queued == 0 && (self.busy | self.wanted | self.reserved) & cells == 0
    }

    /// The one rule: decides if an operation of a class, with this number, goes next by its class,
    /// or the oldest does. No operation of a higher class that may start is waiting.
    #[inline]
    fn turn(&self, class: Class, number: u64, bypass: &Bypass, next: u64) -> Turn {
        if class == Class::Reserved || class == Class::Background {
            // Its unit is reserved for it, or no other operation waits.
            return Turn::Goes { bound: self.bound };
        }
        bypass.turn(&Asking {
            is_bounded: class.is_bounded(),
            number,
            others_wait: (self.classes & !BACKGROUND) >> class as u32 > 1,
            bound: self.bound,
            next,
        })
    }

    /// True if an operation of a class goes before those of its rank or a lower one, independently
    /// of age, because bounds do not bind it. (It may return false in such a case.)
    #[inline]
    fn outranks(&self, class: Class, bypass: &Bypass) -> bool {
        let is_free = class == Class::Foreground || class == Class::Reserved;
        is_free && self.turn(class, u64::MAX, bypass, u64::MAX) != Turn::Oldest
    }
    /// Classes that wait and are of the rank of a class, or a better one.
    #[inline]
    fn up_to(&self, class: Class) -> u32 {
        self.classes & ((2 << class as u32) - 1)
    }

    /// True if [`Group::pick`] would choose a new operation if it were queued: no operation for its
    /// cells has its rank or a better one. (Older operations for cells that became free in the
    /// present event are chosen when the event is over.)
    #[inline]
    pub fn goes_first(&self, op: &Op, bypass: &Bypass) -> bool {
        let class = op.class;
        if !self.outranks(class, bypass) || !self.may_start(op) {
            return false;
        }
        let up_to_class = self.up_to(class);
        if up_to_class == 0 {
            return true;
        }
        let (_, lane) = self.list_of(class, op.cells);
        if self.cells == 1 || lane == self.cells as usize {
            return false;
        }
        let in_the_way = 1 << lane | 1 << self.cells;
        bits(up_to_class).all(|class| self.filled[class] & in_the_way == 0)
    }

    /// As [`Group::is_open_to`] or else [`Group::goes_first`], for an operation that is not asked
    /// for yet and continues on the cells of the present one. If others wait, this must be the
    /// group's only cell: otherwise one of them might start now on another cell.
    #[inline(always)]
    pub fn passes_on(&self, class: Class, cells: u64, bin: BinId, bypass: &Bypass) -> bool {
        if (self.barred | self.wanted) & cells != 0 {
            return false;
        }
        if self.queued == 0 && self.reserved & cells == 0 {
            return true;
        }
        self.cells == 1
            && (self.reserved & cells == 0 || self.is_kept_for(bin))
            && self.up_to(class) == 0
            && self.outranks(class, bypass)
    }
    /// True if no waiting operation can start when a new operation occupies its cells: none waits,
    /// or there are no other cells.
    #[inline]
    pub fn is_alone(&self) -> bool {
        self.queued == 0 || self.cells == 1
    }

    /// Lets an operation go next without being queued: does what [`Group::pick`] would have done,
    /// and returns true if its choice would have been forced.
    #[inline]
    pub fn pass(&mut self, class: Class, bypass: &Bypass, next: u64) -> bool {
        match self.turn(class, next, bypass, next) {
            Turn::Goes { bound } => {
                self.bound = bound;
                class == Class::Reserved
            }
            Turn::Oldest => {
                self.bound = None;
                true
            }
        }
    }

    #[inline]
    fn list_of(&self, class: Class, cells: u64) -> (usize, usize) {
        let lane = if self.cells == 1 {
            0
        } else if cells.is_power_of_two() {
            cells.trailing_zeros() as usize
        } else {
            self.cells as usize
        };
        (class as usize * (self.lists.len() / CLASSES) + lane, lane)
    }

    /// True if an operation needs several cells and not all.
    #[inline]
    fn is_wide(&self, lane: usize, cells: u64) -> bool {
        lane > 0 && lane == self.cells as usize && cells != low_bits(self.cells)
    }
    #[inline]
    pub fn push_back(&mut self, ops: &mut Ops, id: OpId) {
        let Op { class, cells, .. } = ops[id];
        let (list, lane) = self.list_of(class, cells);
        if self.is_wide(lane, cells) {
            return self.push_wide(ops, id);
        }
        self.lists[list].push_back(ops, id);
        self.pushed(class, lane);
    }
    #[inline(never)]
    fn push_wide(&mut self, ops: &mut Ops, id: OpId) {
        self.wide.push_back(ops, id);
        self.pushed(ops[id].class, self.cells as usize);
    }
    /// Puts back an operation that was taken too early, to its place by age.
    pub fn put_back(&mut self, ops: &mut Ops, id: OpId) {
        let Op { class, cells, .. } = ops[id];
        let (list, lane) = self.list_of(class, cells);
        if self.is_wide(lane, cells) {
            self.wide.put_back(ops, id);
        } else {
            self.lists[list].put_back(ops, id);
        }
        self.pushed(class, lane);
    }
    #[inline]
    fn pushed(&mut self, class: Class, lane: usize) {
        self.filled[class as usize] |= 1 << lane;
        self.classes |= 1 << class as u32;
        self.queued += 1;
    }
    /// Takes an operation that [`Group::pick`] chose: the head of its list.
    #[inline]
    pub fn take(&mut self, ops: &mut Ops, id: OpId) {
        let Op { class, cells, .. } = ops[id];
        let (list, lane) = self.list_of(class, cells);
        if self.is_wide(lane, cells) {
            return self.take_out(ops, id);
        }
        let taken = self.lists[list].pop_front(ops);
        debug_assert_eq!(taken, Some(id), "only a head is taken");
        let is_last = self.is_last_of(class, lane, list);
        self.taken(class, lane, is_last);
    }
    /// Takes an operation from anywhere in its list.
    #[inline(never)]
    pub fn take_out(&mut self, ops: &mut Ops, id: OpId) {
        let Op { class, cells, .. } = ops[id];
        let (list, lane) = self.list_of(class, cells);
        if self.is_wide(lane, cells) {
            self.wide.remove(ops, id);
        } else {
            self.lists[list].remove(ops, id);
        }
        let is_last = self.is_last_of(class, lane, list);
        self.taken(class, lane, is_last);
    }
    /// True if no operation of a class waits in a lane any more; `list` is the first list of the
    /// lane.
    #[inline]
    fn is_last_of(&self, class: Class, lane: usize, list: usize) -> bool {
        let is_of_several = lane > 0 && lane == self.cells as usize;
        self.lists[list].head().is_none() && !(is_of_several && self.wide.has(class as usize))
    }
    /// Notes that an operation has left its lane, as the last one or not.
    #[inline]
    fn taken(&mut self, class: Class, lane: usize, is_last: bool) {
        if is_last {
            let filled = &mut self.filled[class as usize];
            *filled &= !(1 << lane);
            if *filled == 0 {
                self.classes &= !(1 << class as u32);
            }
        }
        self.queued -= 1;
    }
    /// The lists of a class, which may be empty.
    fn lists_of(&self, class: usize) -> impl Iterator<Item = &List> {
        let lanes = self.lists.len() / CLASSES;
        self.lists[class * lanes..][..lanes].iter().chain(self.wide.lists(class))
    }
    /// Raises queued background GC to foreground GC; but not operations of a task of scrubbing, if
    /// there is one.
    #[inline]
    pub fn raise_background(&mut self, ops: &mut Ops, has_scrubber: bool) {
        if self.classes & BACKGROUND == 0 {
            return;
        }
        if has_scrubber {
            self.raise_where(ops, |op| !op.is_scrubbing());
            return;
        }
        self.raise_some(ops);
    }
    /// Raises some of the operations that wait in the background to foreground GC; returns true if there
    /// were any.
    #[cold]
    #[inline(never)]
    pub fn raise_where(&mut self, ops: &mut Ops, goes: impl Fn(&Op) -> bool) -> bool {
        let waiting = self.lists_of(Class::Background as usize).flat_map(|list| list.iter(ops));
        let raised: Vec<OpId> = waiting.filter(|id| goes(&ops[*id])).collect();
        for id in &raised {
            self.take_out(ops, *id);
            ops[*id].class = Class::Foreground;
            self.put_back(ops, *id);
        }
        !raised.is_empty()
    }
    #[inline(never)]
    fn raise_some(&mut self, ops: &mut Ops) {
        self.classes = self.classes & !BACKGROUND | 1 << Class::Foreground as u32;
        let lanes = self.lists.len() / CLASSES;
        let (from, to) = (Class::Background, Class::Foreground);
        for lane in 0..lanes {
            let mut raised = std::mem::take(&mut self.lists[from as usize * lanes + lane]);
            self.lists[to as usize * lanes + lane].take_in(ops, &mut raised, to);
        }
        self.wide.become_of(ops, from, to);
        self.filled[Class::Foreground as usize] |= self.filled[Class::Background as usize];
        self.filled[Class::Background as usize] = 0;
    }

    /// True if all cells that the operation needs are free for it.
    #[inline]
    pub fn may_start(&self, op: &Op) -> bool {
        let taken = self.busy | self.barred | if op.class.is_read() { 0 } else { self.wanted };
        if op.cells & taken != 0 {
            return false;
        }
        op.cells & self.reserved == 0 || (self.is_kept_for(op.bin) && op.is_collection())
    }

    /// The oldest operation of a class that may start. An older one that needs several cells keeps
    /// younger ones off those cells.
    #[inline]
    fn candidate(&self, ops: &Ops, class: usize, open: impl Fn(&Op) -> bool) -> Option<OpId> {
        let lanes = self.lists.len() / CLASSES;
        let head = |lane: usize| self.lists[class * lanes + lane].head();
        let may_start = |id: OpId| {
            let op = &ops[id];
            self.may_start(op) && open(op)
        };
        if lanes == 1 {
            return head(0).filter(|id| may_start(*id));
        }
        let some_are_wide = self.wide.has(class);
        let whole = head(self.cells as usize);
        let mut best = whole.filter(|id| may_start(*id));
        let idle = low_bits(self.cells) & !self.busy;
        let mut narrow = self.filled[class] as u64 & idle;
        while narrow != 0 {
            let id = head(narrow.trailing_zeros() as usize).expect("a filled list has a head");
            narrow &= narrow - 1;
            let seq = ops[id].seq;
            let is_next = |than: Option<OpId>| than.is_none_or(|than| seq < ops[than].seq);
            if is_next(whole)
                && is_next(best)
                && may_start(id)
                && !(some_are_wide && self.wide.stands_before(ops, id))
            {
                best = Some(id);
            }
        }
        if some_are_wide && !idle.is_power_of_two() {
            best = self.older_wide(ops, class, best.or(whole), &may_start).or(best);
        }
        best
    }

    /// The oldest operation of a class that needs several cells, but not all, and goes before
    /// `than`.
    #[inline(never)]
    fn older_wide(
        &self,
        ops: &Ops,
        class: usize,
        than: Option<OpId>,
        may_start: &impl Fn(OpId) -> bool,
    ) -> Option<OpId> {
        let mut best = than.map_or(u64::MAX, |than| ops[than].seq);
        let mut oldest = None;
        for id in self.wide.heads_off(class, self.busy) {
            let seq = ops[id].seq;
            if seq < best && may_start(id) && !self.wide.stands_before(ops, id) {
                (best, oldest) = (seq, Some(id));
            }
        }
        oldest
    }

    /// The oldest waiting operation of the ranked classes, even if it may not start. Foreground GC
    /// counts as older than a host write.
    fn oldest(&self, ops: &Ops) -> Option<OpId> {
        let lanes = self.lists.len() / CLASSES;
        let (mut oldest, mut age) = (None, u64::MAX);
        for class in bits(self.classes & !BACKGROUND & !RESERVED) {
            let mut consider = |id: OpId| {
                if ops[id].seq < age {
                    (age, oldest) = (ops[id].seq, Some(id));
                }
            };
            let lists = &self.lists[class * lanes..][..lanes];
            bits(self.filled[class] as u64 & low_bits(self.cells))
                .filter_map(|lane| lists[lane].head())
                .for_each(&mut consider);
            // The last lane is for operations that need all cells.
            lists[lanes - 1].head().into_iter().for_each(&mut consider);
            if self.wide.has(class) {
                self.wide.heads(class).for_each(&mut consider);
            }
        }
        let is_write = oldest.is_some_and(|id: OpId| ops[id].class == Class::Write);
        if is_write && self.classes >> Class::Foreground as u32 & 1 == 1 {
            let heads = self.lists_of(Class::Foreground as usize).filter_map(List::head);
            return heads.min_by_key(|id| ops[*id].seq);
        }
        oldest
    }

    /// The oldest waiting operation of hosts, if there is one cell: their classes are in order.
    pub fn oldest_of_hosts(&self, ops: &Ops) -> Option<OpId> {
        let classes =
            self.classes & (HOST_READS | 1 << Class::RmwRead as u32 | 1 << Class::Write as u32);
        let lanes = self.lists.len() / CLASSES;
        bits(classes)
            .filter_map(|class| self.lists[class * lanes].head())
            .min_by_key(|id| ops[*id].seq)
    }

    /// Operations of collection that wait, by class and then lane by lane in order.
    pub fn collections<'a>(&'a self, ops: &'a Ops) -> impl Iterator<Item = OpId> + 'a {
        let classes = self.classes & COLLECTION;
        bits(classes).flat_map(|class| self.lists_of(class)).flat_map(|list| list.iter(ops))
    }

    /// Operations of hosts that wait, the oldest first: each list is in the order of asking.
    pub fn oldest_first<'a>(&'a self, ops: &'a Ops) -> impl Iterator<Item = OpId> + 'a {
        let classes = self.classes & !COLLECTION;
        let lists = bits(classes).flat_map(|class| self.lists_of(class));
        let mut heads: Vec<OpId> = lists.filter_map(List::head).collect();
        std::iter::from_fn(move || {
            let first = (0..heads.len()).min_by_key(|at| ops[heads[*at]].seq)?;
            let id = heads[first];
            match ops[id].next.get() {
                Some(next) => heads[first] = next,
                None => drop(heads.swap_remove(first)),
            }
            Some(id)
        })
    }

    /// All waiting operations, by class and then lane by lane in order.
    pub fn waiting<'a>(&'a self, ops: &'a Ops) -> impl Iterator<Item = OpId> + 'a {
        (0..CLASSES).flat_map(|class| self.lists_of(class)).flat_map(|list| list.iter(ops))
    }

    /// True if an operation of the group waits in its queue.
    pub fn has_queued(&self, ops: &Ops, id: OpId) -> bool {
        let mut lists = self.lists_of(ops[id].class as usize);
        lists.any(|list| list.iter(ops).any(|of| of == id))
    }

    /// Takes the next operation, as [`Group::pick`] chooses it.
    #[inline(always)]
    pub fn take_next(
        &mut self,
        ops: &mut Ops,
        bypass: &Bypass,
        next_seq: u64,
        open: impl Fn(&Op) -> bool,
    ) -> Option<Pick> {
        let pick = self.pick(ops, bypass, next_seq, open)?;
        self.take(ops, pick.op);
        Some(pick)
    }

    /// Chooses the next operation; `next_seq` is the number of the next operation that is asked
    /// for, and `open` says if the channel of an operation is free for it.
    #[inline]
    pub fn pick(
        &mut self,
        ops: &Ops,
        bypass: &Bypass,
        next_seq: u64,
        open: impl Fn(&Op) -> bool,
    ) -> Option<Pick> {
        if self.queued == 0 {
            return None;
        }
        let ranked = self.classes & !BACKGROUND;
        // Background GC goes only if nothing else waits.
        let classes = if ranked == 0 { self.classes } else { ranked };
        // A waiting operation may not be able to start yet; those passed over keep their bound.
        let op = bits(classes).find_map(|class| self.candidate(ops, class, &open))?;
        let Op { class, seq, .. } = ops[op];
        match self.turn(class, seq, bypass, next_seq) {
            Turn::Goes { bound } => {
                self.bound = bound;
                Some(Pick { op, forced: class == Class::Reserved })
            }
            Turn::Oldest => {
                let pick = self.by_age(ops).filter(|pick| open(&ops[pick.op]));
                if pick.is_some() {
                    self.bound = None;
                }
                pick
            }
        }
    }

    /// The oldest operation, if it may start; if not, no other may start either.
    fn by_age(&self, ops: &Ops) -> Option<Pick> {
        self.oldest(ops).filter(|id| self.may_start(&ops[*id])).map(|op| Pick { op, forced: true })
    }
}
