//! Channels: one transfer at a time. A policy ranks the transfers that wait for one
//! ([`crate::policies::channel`]): data of operations that occupy their units, and operations that
//! are to begin.

use crate::device::flash::counters::OpKind;
use crate::device::flash::list::List;
use crate::device::flash::op::{AsksFor, Op, Ops};
use crate::device::flash::reservation::Kept;
use crate::device::ids::OpId;
use crate::policies::channel::{Order, RANKS};
use engine::Instant;
use ftl::BinId;
use metrics::{Holder, Ledger, State};
use nand::GroupId;
use std::collections::VecDeque;

/// Marks a channel that takes the slow path when it is free, even if no transfer waits: it is reserved
/// for a collection, a collection waits for it, or it ranks operations that begin by their kinds.
pub(super) const SLOW_PATH: u32 = 1 << 31;

/// A channel and the operations that wait for it.
#[derive(Clone)]
pub struct Channel {
    /// End of its present use: a moment, or [`Instant::NEVER`] if an event ends the use.
    busy_until: Instant,
    /// The collection for which it is reserved. For all others it is in use meanwhile.
    pub(super) kept: Option<Box<Kept>>,
    /// Bins whose collection waits for a reservation, the oldest first.
    pub(super) claims: VecDeque<BinId>,
    /// Reads for parity that are asked for and have not ended.
    pub(super) parity_reads: u32,
    pub ledger: Ledger,
    pub(super) order: Order,
    pub(super) lists: [List; RANKS],
    /// Ranks in which an operation waits: bit `i` for rank `i`; and [`SLOW_PATH`]. Operations and groups
    /// that are to begin are of rank `begin` here.
    pub(super) filled: u32,
    /// Order of asking, for this channel alone.
    pub(super) next_seq: u64,
    pub(super) bound: Option<u64>,
    /// Groups in which an operation could begin except for the channel, and their places in the
    /// order of asking; used if commands take cycles.
    pub(super) groups: VecDeque<(GroupId, u64)>,
}

/// The receiver of a free channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Grant {
    Op(OpId),
    /// The next operation of a group.
    Group(GroupId),
}

impl Channel {
    pub fn new(order: Order) -> Self {
        Self {
            busy_until: Instant::START,
            kept: None,
            claims: VecDeque::new(),
            parity_reads: 0,
            ledger: Ledger::default(),
            order,
            lists: [List::default(); RANKS],
            filled: if order.begins.is_some() { SLOW_PATH } else { 0 },
            next_seq: 0,
            bound: None,
            groups: VecDeque::new(),
        }
    }
    /// Ends all transfers and waits.
    pub fn clear(&mut self, now: Instant) {
        self.ledger.bring_up(now);
        self.ledger.release(now);
        self.ledger.forget_waits();
        let ledger = std::mem::take(&mut self.ledger);
        *self = Self { ledger, ..Self::new(self.order) };
    }
    /// True if it carries something at `now`, or is reserved for a collection.
    #[inline]
    pub fn is_busy(&self, now: Instant) -> bool {
        self.busy_until > now
    }
    /// Starts a transfer, which lasts until the channel is released.
    #[inline]
    pub fn take(&mut self, now: Instant, state: State) {
        if self.is_busy(now) {
            return self.take_reserved(now, state);
        }
        self.ledger.bring_up(now);
        self.busy_until = Instant::NEVER;
        self.ledger.occupy(now, state);
    }
    /// Starts a transfer, which ends at a known moment.
    #[inline]
    pub fn take_until(&mut self, now: Instant, state: State, until: Instant) {
        if self.is_busy(now) {
            return self.take_reserved_until(now, until);
        }
        self.ledger.bring_up(now);
        self.busy_until = until;
        self.ledger.occupy_until(now, state, until);
    }
    /// Ends the present transfer.
    #[inline]
    pub fn release(&mut self, now: Instant) {
        self.busy_until = Instant::START;
        self.ledger.bring_up(now);
        self.ledger.release(now);
    }
    /// Notes that an operation waits and must be told when the channel is free; returns that
    /// moment, unless an event is due then anyway.
    #[inline]
    pub fn awaited(&mut self) -> Option<Instant> {
        let until = std::mem::replace(&mut self.busy_until, Instant::NEVER);
        (until != Instant::NEVER).then_some(until)
    }
    #[inline]
    pub(super) fn rank(&self, op: &Op) -> usize {
        let order = &self.order;
        let rank = match (op.asks_for, op.kind, op.holder) {
            (AsksFor::Command | AsksFor::Both, ..) => order.begin,
            (AsksFor::Data, OpKind::Read, Holder::HostRead) => order.out_of_hosts,
            (AsksFor::Data, OpKind::Read, _) => order.out,
            (AsksFor::Data, ..) => order.into,
        };
        usize::from(rank)
    }
    /// Queues an operation.
    pub fn push(&mut self, ops: &mut Ops, id: OpId, asks_for: AsksFor) {
        let op = &mut ops[id];
        op.asks_for = asks_for;
        op.turn = self.next_seq;
        self.next_seq += 1;
        let rank = self.rank(op);
        self.lists[rank].push_back(ops, id);
        self.filled |= 1 << rank;
    }
    /// Puts a group in which an operation could begin into the queue.
    #[inline]
    pub fn push_group(&mut self, group: GroupId) {
        debug_assert!(!self.has_group(group), "a group stands in a queue once");
        self.groups.push_back((group, self.next_seq));
        self.next_seq += 1;
        self.filled |= 1 << self.order.begin;
    }
    /// True if a group is in the queue.
    pub fn has_group(&self, group: GroupId) -> bool {
        self.groups.iter().any(|(other, _)| *other == group)
    }

    /// All operations that wait: those of the unit that it is reserved for, then the others, by
    /// rank and then in order.
    pub fn waiting<'a>(&'a self, ops: &'a Ops) -> impl Iterator<Item = OpId> + 'a {
        let first = self.kept.iter().flat_map(|kept| kept.waiting.iter().copied());
        first.chain(self.lists.iter().flat_map(|list| list.iter(ops)))
    }

    /// Removes an operation that waits.
    pub(super) fn remove(&mut self, ops: &mut Ops, id: OpId) {
        let rank = self.rank(&ops[id]);
        self.lists[rank].remove(ops, id);
        self.note_filled(rank);
    }

    /// Updates if anything of a rank waits.
    #[inline]
    pub(super) fn note_filled(&mut self, rank: usize) {
        let has_groups = rank == usize::from(self.order.begin) && !self.groups.is_empty();
        if self.lists[rank % RANKS].head().is_none() && !has_groups {
            self.filled &= !(1 << rank);
        }
    }

    /// Reserves it, for a unit that uses it from now on.
    pub(super) fn keep(&mut self, now: Instant, kept: Kept) {
        assert!(!self.is_busy(now), "only a free channel is reserved");
        self.ledger.bring_up(now);
        self.ledger.occupy(now, State::Reserved);
        (self.busy_until, self.kept) = (Instant::NEVER, Some(Box::new(kept)));
        self.filled |= SLOW_PATH;
    }
    /// Ends its reservation. What its unit carries, such as the command of the erase, goes on as on
    /// any channel; what waits for that is returned.
    pub(super) fn give_back(&mut self, now: Instant) -> VecDeque<OpId> {
        let kept = self.kept.take().expect("it is reserved");
        self.leave_slow_path();
        if !kept.is_busy(now) {
            self.release(now);
        } else if kept.busy_until != Instant::NEVER {
            self.busy_until = kept.busy_until;
            self.ledger.occupy_until(now, State::Reserved, kept.busy_until);
        }
        kept.waiting
    }
    /// Ends the slow path, if nothing needs it any more.
    pub(super) fn leave_slow_path(&mut self) {
        let needs_none = self.kept.is_none() && self.claims.is_empty();
        if needs_none && self.order.begins.is_none() {
            self.filled &= !SLOW_PATH;
        }
    }
    #[cold]
    fn take_reserved(&mut self, now: Instant, state: State) {
        self.kept.as_mut().expect("a channel carries one thing at a time").take(now);
        self.ledger.occupy(now, state);
    }
    /// Occupies the reserved channel for a command, whose short time counts as reserved.
    #[cold]
    fn take_reserved_until(&mut self, now: Instant, until: Instant) {
        let kept = self.kept.as_mut().expect("a channel carries one thing at a time");
        kept.take(now);
        kept.busy_until = until;
    }
    /// As [`Channel::release`], if it may be reserved.
    pub(super) fn release_on_slow_path(&mut self, now: Instant) {
        let Some(kept) = &mut self.kept else { return self.release(now) };
        kept.busy_until = Instant::START;
        self.ledger.occupy(now, State::Reserved);
    }
    /// The place of a rank's oldest operation in the order of asking, and of its oldest group.
    #[inline]
    fn turns(&self, ops: &Ops, rank: usize) -> [u64; 2] {
        let group = match self.groups.front() {
            Some((_, turn)) if rank == usize::from(self.order.begin) => *turn,
            _ => u64::MAX,
        };
        // Without the remainder, which is the rank, the place would be checked each time.
        [self.lists[rank % RANKS].head().map_or(u64::MAX, |id| ops[id].turn), group]
    }

    /// Takes the next operation or group.
    #[inline(always)]
    pub(super) fn pop(&mut self, ops: &Ops) -> Option<Grant> {
        if self.filled == 0 {
            return None;
        }
        let top = self.filled.trailing_zeros() as usize;
        let lower_waits = self.filled >> top > 1;
        let mut chosen = top;
        if lower_waits && self.order.bounded {
            let bound = *self.bound.get_or_insert(self.next_seq);
            let turn = |rank: &usize| self.turns(ops, *rank).into_iter().min();
            if turn(&top) >= Some(bound) {
                chosen = (0..RANKS).min_by_key(turn).expect("there are ranks");
                self.bound = None;
            }
        } else {
            self.bound = None;
        }
        Some(self.take_of(ops, chosen))
    }

    /// Takes the oldest of a rank that is not empty.
    #[inline]
    fn take_of(&mut self, ops: &Ops, rank: usize) -> Grant {
        let [of_op, of_group] = self.turns(ops, rank);
        let taken = if of_group < of_op {
            self.groups.pop_front().map(|(group, _)| Grant::Group(group))
        } else {
            self.lists[rank % RANKS].pop_front(ops).map(Grant::Op)
        };
        self.note_filled(rank);
        taken.expect("something of the rank waits")
    }
}

impl Channel {
    /// True if an operation may not use it now.
    #[inline]
    pub(super) fn is_closed_to(&self, now: Instant, op: &Op) -> bool {
        self.is_busy(now) && self.kept.as_ref().is_none_or(|kept| kept.is_closed_to(now, op))
    }
}
