//! Channels: one transfer at a time. A policy ranks the transfers that wait for one
//! ([`crate::policies::channel`]): data of operations that occupy their units, and operations that
//! are to begin.

use crate::device::flash::counters::OpKind;
use crate::device::flash::list::List;
use crate::device::flash::op::{AsksFor, Op, Ops};
use crate::device::ids::OpId;
use crate::policies::channel::{Order, RANKS};
use engine::Instant;
use metrics::{Holder, Ledger, State};
use nand::GroupId;
use std::collections::VecDeque;

/// A channel and the operations that wait for it.
#[derive(Clone)]
pub struct Channel {
    /// End of its present use: a moment, or [`Instant::NEVER`] if an event ends the use.
    busy_until: Instant,
    pub ledger: Ledger,
    order: Order,
    lists: [List; RANKS],
    /// Ranks in which an operation waits: bit `i` for rank `i`.
    pub(super) filled: u32,
    /// Order of asking, for this channel alone.
    next_seq: u64,
    bound: Option<u64>,
    /// Groups in which an operation could begin except for the channel, and their places in the
    /// order of asking; used if commands take cycles.
    groups: VecDeque<(GroupId, u64)>,
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
            ledger: Ledger::default(),
            order,
            lists: [List::default(); RANKS],
            filled: 0,
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
    /// True if it carries something at `now`.
    #[inline]
    pub fn is_busy(&self, now: Instant) -> bool {
        self.busy_until > now
    }
    /// Starts a transfer, which lasts until the channel is released.
    #[inline]
    pub fn take(&mut self, now: Instant, state: State) {
        assert!(!self.is_busy(now), "a channel carries one thing at a time");
        self.ledger.bring_up(now);
        self.busy_until = Instant::NEVER;
        self.ledger.occupy(now, state);
    }
    /// Starts a transfer, which ends at a known moment.
    #[inline]
    pub fn take_until(&mut self, now: Instant, state: State, until: Instant) {
        assert!(!self.is_busy(now), "a channel carries one thing at a time");
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
    fn rank(&self, op: &Op) -> usize {
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
    /// Queues a group in which an operation could begin, unless the group is in the queue already.
    pub fn push_group(&mut self, group: GroupId) {
        if self.groups.iter().all(|(other, _)| *other != group) {
            self.groups.push_back((group, self.next_seq));
            self.next_seq += 1;
            self.filled |= 1 << self.order.begin;
        }
    }

    /// All operations that wait, by rank and then in order.
    pub fn waiting<'a>(&'a self, ops: &'a Ops) -> impl Iterator<Item = OpId> + 'a {
        self.lists.iter().flat_map(|list| list.iter(ops))
    }

    /// The place of a rank's oldest operation in the order of asking, and of its oldest group.
    #[inline]
    fn turns(&self, ops: &Ops, rank: usize) -> [u64; 2] {
        let group = match self.groups.front() {
            Some((_, turn)) if rank == usize::from(self.order.begin) => *turn,
            _ => u64::MAX,
        };
        [self.lists[rank].head().map_or(u64::MAX, |id| ops[id].turn), group]
    }

    /// Takes the next operation or group.
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
            self.lists[rank].pop_front(ops).map(Grant::Op)
        };
        let has_groups = rank == usize::from(self.order.begin) && !self.groups.is_empty();
        if self.lists[rank].head().is_none() && !has_groups {
            self.filled &= !(1 << rank);
        }
        taken.expect("something of the rank waits")
    }
}
