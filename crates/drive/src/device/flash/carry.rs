//! Use of channels by flash operations.

use crate::device::Time;
use crate::device::event::Event;
use crate::device::flash::channel::{Channel, Grant, SLOW_PATH};
use crate::device::flash::counters::OpKind;
use crate::device::flash::op::AsksFor;
use crate::device::flash::{Flash, Note, Placement};
use crate::device::ids::OpId;
use engine::{Instant, Span};
use metrics::{Holder, State};
use nand::{ChannelId, GroupId};

impl Channel {
    /// Queues a group in which an operation could begin, if the channel is in use; returns true if it
    /// is.
    #[inline]
    pub(super) fn queue_group(
        &mut self,
        time: &mut Time,
        channel: ChannelId,
        group: GroupId,
    ) -> bool {
        let is_busy = self.is_busy(time.now);
        if is_busy {
            self.push_group(group);
            self.await_free(time, channel);
        }
        is_busy
    }
    /// Queues a group for a channel, unless it is in the queue already.
    pub(super) fn queue_group_once(&mut self, time: &mut Time, channel: ChannelId, group: GroupId) {
        if !self.has_group(group) {
            self.queue_group(time, channel, group);
        }
    }
    /// Schedules an event for the end of its present use, because an operation waits for it.
    #[inline]
    pub(super) fn await_free(&mut self, time: &mut Time, channel: ChannelId) {
        if let Some(free) = self.awaited() {
            time.agenda.schedule(free, Event::Freed(channel), u64::from(channel.0));
        }
    }
}

impl Flash {
    /// Asks for the channel for an operation that occupies its unit.
    #[inline(always)]
    pub(in crate::device) fn want_transfer(&mut self, time: &mut Time, id: OpId) {
        if !self.is_closed_to(time.now, &self.ops[id]) {
            return self.carry(time, id);
        }
        self.wait_for_channel(time, id, AsksFor::Data);
    }

    /// Queues an operation that occupies its unit for its channel.
    #[inline]
    pub(super) fn wait_for_channel(&mut self, time: &mut Time, id: OpId, asks_for: AsksFor) {
        let channel = self.ops[id].channel;
        if !self.ops[id].is_collection() {
            let ledger = &mut self.channels[channel].ledger;
            ledger.bring_up(time.now);
            ledger.settle(time.now);
            self.ops.begin_wait(id, time.now, ledger);
        }
        self.queue_for_channel(time, id, asks_for);
    }

    /// Queues an operation for its channel.
    #[inline(always)]
    pub(super) fn queue_for_channel(&mut self, time: &mut Time, id: OpId, asks_for: AsksFor) {
        let channel = self.ops[id].channel;
        let is_reserved = self.channels[channel].kept.is_some();
        if is_reserved && self.queue_by_reservation(time, id, asks_for) {
            return;
        }
        self.channels[channel].push(&mut self.ops, id, asks_for);
        self.await_channel(time, channel);
    }

    /// Schedules an event for the end of the channel's present use, because an operation waits for
    /// it.
    #[inline]
    pub(super) fn await_channel(&mut self, time: &mut Time, channel: ChannelId) {
        self.channels[channel].await_free(time, channel);
    }

    /// Handles the event that a channel is free for which an operation waits.
    pub(in crate::device) fn freed<P: Placement>(
        &mut self,
        time: &mut Time,
        p: &mut P,
        channel: ChannelId,
    ) {
        self.release_and_serve(time, p, channel);
    }

    /// Starts the transfer of a row of an operation.
    #[inline(always)]
    pub(in crate::device) fn carry(&mut self, time: &mut Time, id: OpId) {
        let op = &self.ops[id];
        let (span, kind) = (op.transfer, op.kind);
        self.take_channel(time, id, span, Instant::NEVER, Holder::on_channel);
        let carried =
            if kind == OpKind::Read { Event::CarriedOut(id) } else { Event::CarriedIn(id) };
        time.agenda.schedule(time.now + span, carried, self.ops[id].seq);
        if kind == OpKind::Read && self.streams {
            self.notes.push_back(Note::CarriesOut(id));
        }
    }

    /// Gives the channel to an operation that occupies its unit, for `span` from now on: until an
    /// event ends that, or until `until`. Waits meanwhile are charged to the state `of` its holder.
    #[inline(always)]
    pub(super) fn take_channel(
        &mut self,
        time: &Time,
        id: OpId,
        span: Span,
        until: Instant,
        of: impl Fn(Holder) -> State,
    ) {
        let op = &mut self.ops[id];
        let (channel, holder) = (op.channel, op.holder);
        let (began, has_waited) = (op.waits.take(), time.now > op.since);
        let (waits, state) = (of(holder), &mut self.channels[channel]);
        if until == Instant::NEVER {
            state.take(time.now, waits);
        } else {
            state.take_until(time.now, waits, until);
        }
        if let Some(began) = began {
            if has_waited {
                self.ops.charge_wait(id, began, &state.ledger);
            }
            self.ops.end_wait(began, &state.ledger);
        }
        self.ops.charge_service(id, State::Transfer, span);
    }

    /// Ends the transfer of a row of an operation.
    #[inline]
    pub(in crate::device) fn release_channel<P: Placement>(
        &mut self,
        time: &mut Time,
        p: &mut P,
        id: OpId,
    ) {
        let channel = self.ops[id].channel;
        let state = &mut self.channels[channel];
        if state.filled != 0 {
            return self.release_and_serve(time, p, channel);
        }
        state.release(time.now);
    }

    /// Ends the present transfer of a channel, and serves what waits for it.
    #[inline(never)]
    fn release_and_serve<P: Placement>(&mut self, time: &mut Time, p: &mut P, channel: ChannelId) {
        let state = &mut self.channels[channel];
        if state.filled & SLOW_PATH != 0 {
            state.release_on_slow_path(time.now);
            return self.serve_on_slow_path(time, p, channel);
        }
        state.release(time.now);
        self.serve_channel(time, p, channel);
    }

    /// Gives a free channel to the next transfer.
    #[inline(always)]
    fn serve_channel<P: Placement>(&mut self, time: &mut Time, p: &mut P, channel: ChannelId) {
        while !self.channels[channel].is_busy(time.now) {
            let Some(grant) = self.channels[channel].pop(&self.ops) else {
                return;
            };
            match grant {
                Grant::Op(id) => self.grant(time, p, id),
                Grant::Group(group) => self.serve_granted(time, p, group),
            }
        }
        if self.channels[channel].filled != 0 {
            self.await_channel(time, channel);
        }
    }

    /// Gives its channel to an operation.
    #[inline(always)]
    pub(super) fn grant<P: Placement>(&mut self, time: &mut Time, p: &mut P, id: OpId) {
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
