//! What flash operations make of channels.

use crate::device::Time;
use crate::device::event::Event;
use crate::device::flash::channel::Grant;
use crate::device::flash::counters::OpKind;
use crate::device::flash::op::AsksFor;
use crate::device::flash::{Flash, Note, Placement};
use crate::device::ids::OpId;
use engine::Span;
use metrics::State;
use nand::ChannelId;

impl Flash {
    /// An operation that holds its unit needs the channel.
    #[inline(always)]
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
            let ledger = &mut self.channels[channel].ledger;
            ledger.settle(time.now);
            self.ops.begin_wait(id, time.now, ledger);
        }
        self.channels[channel].push(&mut self.ops, id, asks_for);
    }

    /// The channel carries a row of an operation from now on.
    #[inline(always)]
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
        let (began, has_waited) = (op.waits.take(), time.now > op.since);
        let state = &mut self.channels[channel];
        assert!(!state.busy, "a channel carries one thing at a time");
        state.busy = true;
        state.ledger.occupy(time.now, holder.on_channel());
        if let Some(began) = began {
            if has_waited {
                self.ops.charge_wait(id, began, &state.ledger);
            }
            self.ops.end_wait(began, &state.ledger);
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
