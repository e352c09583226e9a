//! Channels: one transfer at a time. A policy ranks what waits for one
//! ([`crate::policies::channel`]): data of operations that hold their units, and what is to begin.

use crate::device::Time;
use crate::device::event::Event;
use crate::device::flash::counters::OpKind;
use crate::device::flash::op::{AsksFor, Op, Ops};
use crate::device::flash::queue::List;
use crate::device::flash::{Flash, Note, Placement};
use crate::device::ids::OpId;
use crate::policies::channel::{Order, RANKS};
use engine::{Instant, Span};
use metrics::{Holder, Ledger, State};
use nand::{ChannelId, GroupId};
use std::collections::VecDeque;

/// A channel and what waits for it.
#[derive(Clone)]
pub struct Channel {
    pub busy: bool,
    pub ledger: Ledger,
    order: Order,
    lists: [List; RANKS],
    /// Ranks of which something waits: bit `i` for rank `i`.
    filled: u32,
    /// Order of asking, of this channel alone.
    next_seq: u64,
    bound: Option<u64>,
    /// Groups of which something could begin but for the channel, and their places in the order
    /// of asking; where commands take cycles.
    groups: VecDeque<(GroupId, u64)>,
}

/// What gets a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Grant {
    Op(OpId),
    /// What goes next of a group.
    Group(GroupId),
}

impl Channel {
    pub fn new(order: Order) -> Self {
        Self {
            busy: false,
            ledger: Ledger::default(),
            order,
            lists: [List::default(); RANKS],
            filled: 0,
            next_seq: 0,
            bound: None,
            groups: VecDeque::new(),
        }
    }
    /// Nothing is carried or waits any more.
    pub fn clear(&mut self, now: Instant) {
        if self.busy {
            self.ledger.release(now);
        }
        let ledger = std::mem::take(&mut self.ledger);
        *self = Self { ledger, ..Self::new(self.order) };
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
    /// Queues a group, unless it stands in the queue: something of it could begin.
    pub fn push_group(&mut self, group: GroupId) {
        if self.groups.iter().all(|(other, _)| *other != group) {
            self.groups.push_back((group, self.next_seq));
            self.next_seq += 1;
            self.filled |= 1 << self.order.begin;
        }
    }

    /// All that waits, by rank and then in order.
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

    /// Takes what goes next.
    fn pop(&mut self, ops: &Ops) -> Option<Grant> {
        if self.filled == 0 {
            return None;
        }
        let top = self.filled.trailing_zeros() as usize;
        let lower_waits = self.filled >> top > 1;
        let mut chosen = top;
        if lower_waits && self.order.is_bounded {
            let bound = *self.bound.get_or_insert(self.next_seq);
            let turn = |rank: &usize| self.turns(ops, *rank).into_iter().min();
            if turn(&top) >= Some(bound) {
                chosen = (0..RANKS).min_by_key(turn).expect("there are ranks");
                self.bound = None;
            }
        } else {
            self.bound = None;
        }
        Some(self.take(ops, chosen))
    }

    /// Takes the oldest of a rank of which something waits.
    #[inline]
    fn take(&mut self, ops: &Ops, rank: usize) -> Grant {
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

impl Flash {
    /// An operation that holds its unit needs the channel.
    #[inline]
    pub(in crate::device) fn want_transfer(&mut self, time: &mut Time, id: OpId) {
        let channel = self.ops[id].channel;
        if !self.channels[channel].busy {
            return self.carry(time, id);
        }
        self.wait_for_channel(time, id, AsksFor::Data);
    }

    /// An operation that holds its unit waits for its channel.
    #[inline]
    pub(super) fn wait_for_channel(&mut self, time: &mut Time, id: OpId, asks_for: AsksFor) {
        let channel = self.ops[id].channel;
        if !self.ops[id].is_collection() {
            self.ops[id].since = time.now;
            self.ops[id].waits = true;
            *self.ops.snapshot_mut(id) = self.channels[channel].ledger.snapshot(time.now);
        }
        self.channels[channel].push(&mut self.ops, id, asks_for);
    }

    /// The channel carries a row of an operation from now on.
    #[inline]
    pub(in crate::device) fn carry(&mut self, time: &mut Time, id: OpId) {
        let op = &self.ops[id];
        let (span, kind) = (op.transfer, op.kind);
        self.take_channel(time, id, span);
        let carried =
            if kind == OpKind::Read { Event::CarriedOut(id) } else { Event::CarriedIn(id) };
        time.agenda.schedule(time.now + span, carried, self.ops[id].seq);
        if kind == OpKind::Read && self.streams {
            self.notes.push_back(Note::CarriesOut(id));
        }
    }

    /// An operation, which holds its unit, has its channel for `span` from now on.
    #[inline(always)]
    pub(super) fn take_channel(&mut self, time: &mut Time, id: OpId, span: Span) {
        let op = &mut self.ops[id];
        let (channel, holder) = (op.channel, op.holder);
        let waited = if std::mem::take(&mut op.waits) { time.now - op.since } else { Span::ZERO };
        let state = &mut self.channels[channel];
        debug_assert!(!state.busy, "a channel carries one thing at a time");
        state.busy = true;
        state.ledger.occupy(time.now, holder.on_channel());
        if !waited.is_zero() {
            let (earlier, blame) = self.ops.wait_and_blame(id);
            state.ledger.charge_wait(earlier, waited, blame);
        }
        self.ops.charge_service(id, State::Transfer, span);
    }

    /// The channel has carried a row of an operation.
    #[inline]
    pub(in crate::device) fn release_channel<P: Placement>(
        &mut self,
        time: &mut Time,
        p: &mut P,
        id: OpId,
    ) {
        let channel = self.ops[id].channel;
        let state = &mut self.channels[channel];
        state.busy = false;
        state.ledger.release(time.now);
        if state.filled != 0 {
            self.serve_channel(time, p, channel);
        }
    }

    /// Gives a free channel to what goes next.
    #[inline(never)]
    fn serve_channel<P: Placement>(&mut self, time: &mut Time, p: &mut P, channel: ChannelId) {
        while !self.channels[channel].busy {
            let Some(grant) = self.channels[channel].pop(&self.ops) else {
                return;
            };
            let id = match grant {
                Grant::Op(id) => id,
                Grant::Group(group) => {
                    self.serve(time, p, group);
                    continue;
                }
            };
            let op = &mut self.ops[id];
            let group = op.group;
            match std::mem::replace(&mut op.asks_for, AsksFor::Data) {
                AsksFor::Data => self.carry(time, id),
                AsksFor::Command => self.command(time, id),
                AsksFor::Both => {
                    if !self.channel_granted(time, p, id) {
                        self.serve(time, p, group);
                    }
                }
            }
        }
    }
}
