//! Channels: one transfer at a time. What leaves the flash goes before what
//! enters it, host data first; but only what was waiting when something else's
//! turn first came may go before it, so that nothing starves.

use crate::device::Time;
use crate::device::event::Event;
use crate::device::flash::counters::OpKind;
use crate::device::flash::op::{Op, OpId, Ops};
use crate::device::flash::queue::List;
use crate::device::flash::{Flash, Note, Placement};
use engine::Instant;
use metrics::{Holder, Ledger, State};
use nand::ChannelId;

/// A channel and what waits for it.
#[derive(Clone, Default)]
pub struct Channel {
    pub busy: bool,
    pub ledger: Ledger,
    lists: [List; RANKS],
    /// Lists that hold something: bit `i` for rank `i`.
    filled: u32,
    /// Order of asking, of this channel alone.
    next_seq: u64,
    bound: Option<u64>,
}

const RANKS: usize = 3;

/// Host data on its way out; other data on its way out; data on its way in.
fn rank(op: &Op) -> usize {
    match (op.kind, op.holder) {
        (OpKind::Read, Holder::HostRead) => 0,
        (OpKind::Read, _) => 1,
        _ => 2,
    }
}

impl Channel {
    /// Nothing is carried or waits any more.
    pub fn clear(&mut self, now: Instant) {
        if self.busy {
            self.ledger.release(now);
        }
        let ledger = std::mem::take(&mut self.ledger);
        *self = Self { ledger, ..Self::default() };
    }
    fn push(&mut self, ops: &mut Ops, id: OpId) {
        let op = &mut ops[id];
        op.turn = self.next_seq;
        self.next_seq += 1;
        let rank = rank(op);
        self.lists[rank].push_back(ops, id);
        self.filled |= 1 << rank;
    }
    /// Queues a program that does not yet hold its unit.
    pub fn push_in(&mut self, ops: &mut Ops, id: OpId) {
        ops[id].awaits_both = true;
        self.push(ops, id);
    }

    /// All that waits, by rank and then in order.
    pub fn waiting<'a>(&'a self, ops: &'a Ops) -> impl Iterator<Item = OpId> + 'a {
        self.lists.iter().flat_map(|list| list.iter(ops))
    }

    /// Takes what goes next.
    fn pop(&mut self, ops: &Ops) -> Option<OpId> {
        if self.filled == 0 {
            return None;
        }
        let top = self.filled.trailing_zeros() as usize;
        let lower_waits = self.filled >> top > 1;
        let mut chosen = top;
        if lower_waits {
            let bound = *self.bound.get_or_insert(self.next_seq);
            let seq = |rank: &usize| self.lists[*rank].head().map_or(u64::MAX, |id| ops[id].turn);
            if seq(&top) >= bound {
                chosen = (0..RANKS).min_by_key(seq).expect("there are ranks");
                self.bound = None;
            }
        } else {
            self.bound = None;
        }
        let taken = self.lists[chosen].pop_front(ops);
        if self.lists[chosen].head().is_none() {
            self.filled &= !(1 << chosen);
        }
        taken
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
        if !self.ops[id].is_collection() {
            self.ops[id].since = time.now;
            self.ops[id].waits = true;
            *self.ops.snapshot_mut(id) = self.channels[channel].ledger.snapshot(time.now);
        }
        self.channels[channel].push(&mut self.ops, id);
    }

    /// The channel carries a row of an operation from now on.
    #[inline]
    pub(in crate::device) fn carry(&mut self, time: &mut Time, id: OpId) {
        let op = &mut self.ops[id];
        let (channel, span, holder, kind) = (op.channel, op.transfer, op.holder, op.kind);
        let waited =
            if std::mem::take(&mut op.waits) { time.now - op.since } else { engine::Span::ZERO };
        let state = &mut self.channels[channel];
        debug_assert!(!state.busy, "a channel carries one thing at a time");
        state.busy = true;
        state.ledger.occupy(time.now, holder.on_channel());
        if !waited.is_zero() {
            let (earlier, blame) = self.ops.wait_and_blame(id);
            state.ledger.charge_wait(earlier, waited, blame);
        }
        self.ops.charge_service(id, State::Transfer, span);
        let carried =
            if kind == OpKind::Read { Event::CarriedOut(id) } else { Event::CarriedIn(id) };
        time.agenda.schedule(time.now + span, carried, self.ops[id].seq);
        if kind == OpKind::Read && self.streams {
            self.notes.push_back(Note::CarriesOut(id));
        }
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
        self.channels[channel].busy = false;
        self.channels[channel].ledger.release(time.now);
        self.serve_channel(time, p, channel);
    }

    /// Gives a free channel to what goes next.
    fn serve_channel<P: Placement>(&mut self, time: &mut Time, p: &mut P, channel: ChannelId) {
        while !self.channels[channel].busy {
            let Some(id) = self.channels[channel].pop(&self.ops) else {
                return;
            };
            let holds_unit = !self.ops[id].awaits_both;
            if holds_unit {
                self.carry(time, id);
            } else {
                let op = &mut self.ops[id];
                op.awaits_both = false;
                let group = op.group;
                if !self.channel_granted(time, p, id) {
                    self.serve(time, p, group);
                }
            }
        }
    }
}
