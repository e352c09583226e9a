//! Channels that are reserved for a collection while it copies: only the unit of the collection may
//! use them (`ftl.gc.blocking`).

use crate::device::Time;
use crate::device::event::Event;
use crate::device::flash::channel::{Grant, SLOW_PATH};
use crate::device::flash::op::{AsksFor, Op};
use crate::device::flash::reservation::Kept;
use crate::device::flash::slow_path::Beginning;
use crate::device::flash::{Flash, Note, Placement};
use crate::device::ids::OpId;
use engine::Instant;
use ftl::BinId;
use nand::{ChannelId, GroupId};
use std::collections::VecDeque;

impl Flash {
    /// True if an operation may not use its channel now.
    #[inline]
    pub(super) fn is_closed_to(&self, now: Instant, op: &Op) -> bool {
        self.channels[op.channel].is_closed_to(now, op)
    }

    /// True if no operation of a group can use a channel now.
    #[inline]
    pub(super) fn is_closed_to_group(
        &self,
        now: Instant,
        channel: ChannelId,
        group: GroupId,
    ) -> bool {
        let state = &self.channels[channel];
        state.is_busy(now)
            && !state.kept.as_ref().is_some_and(|kept| kept.group == group && !kept.is_busy(now))
    }

    /// Queues an operation that its channel's reservation is for; returns false if it is not.
    #[inline(never)]
    pub(super) fn queue_by_reservation(
        &mut self,
        time: &mut Time,
        id: OpId,
        asks_for: AsksFor,
    ) -> bool {
        let op = &mut self.ops[id];
        let channel = op.channel;
        let kept = self.channels[channel].kept.as_mut().filter(|kept| kept.is_for(op));
        let Some(kept) = kept else { return false };
        op.asks_for = asks_for;
        kept.waiting.push_back(id);
        self.await_reserved(time, channel);
        true
    }

    /// Schedules an event for the end of the unit's present use of a reserved channel, because an
    /// operation of the unit waits for it.
    fn await_reserved(&mut self, time: &mut Time, channel: ChannelId) {
        let kept = self.channels[channel].kept.as_mut();
        if let Some(free) = kept.expect("it is reserved").awaited() {
            time.agenda.schedule(free, Event::Freed(channel), u64::from(channel.0));
        }
    }

    /// The bin for whose collection an operation's channel is reserved, if it is for another unit.
    pub(super) fn keeper_from(&self, op: &Op) -> Option<BinId> {
        let kept = self.channels[op.channel].kept.as_ref();
        kept.filter(|kept| !kept.is_for(op)).map(|kept| kept.bin)
    }

    /// True if a channel is reserved for a bin's collection.
    pub(in crate::device) fn has_channel(&self, channel: ChannelId, bin: BinId) -> bool {
        self.channels[channel].kept.as_ref().is_some_and(|kept| kept.bin == bin)
    }

    /// Reserves a channel for a bin's collection; if the channel is in use, that happens later, and
    /// a note tells it. Returns true if the channel is reserved now.
    pub(in crate::device) fn claim<P: Placement>(
        &mut self,
        time: &mut Time,
        p: &P,
        channel: ChannelId,
        bin: BinId,
    ) -> bool {
        if self.has_channel(channel, bin) {
            return true;
        }
        let state = &mut self.channels[channel];
        if !state.is_busy(time.now) {
            self.keep_channel(time, p, channel, bin);
            return true;
        }
        if !state.claims.contains(&bin) {
            state.claims.push_back(bin);
            state.filled |= SLOW_PATH;
        }
        self.await_channel(time, channel);
        false
    }

    /// Gives a free channel to a collection that waits for it: one in the foreground at once,
    /// another if nothing but scrubbing waits. Returns true if there is one.
    fn grant_claim<P: Placement>(&mut self, time: &mut Time, p: &P, channel: ChannelId) -> bool {
        let state = &self.channels[channel];
        if state.claims.is_empty() {
            return false;
        }
        let is_in_foreground = |bin: &BinId| {
            self.groups[self.places[self.first_place(*bin)].group].is_kept_for(*bin)
                || p.collects_in_the_foreground(*bin)
        };
        let in_foreground = state.claims.iter().position(is_in_foreground);
        let any =
            || (state.filled == SLOW_PATH || self.only_scrubbing_waits(p, channel)).then_some(0);
        let Some(place) = in_foreground.or_else(any) else { return false };
        let claimed = self.channels[channel].claims.remove(place);
        let bin = claimed.expect("a place in the list");
        self.keep_channel(time, p, channel, bin);
        self.notes.push_back(Note::ChannelKept(bin));
        true
    }

    /// True if no operation waits for a channel but those of scrubbing. There may always be some, so
    /// a collection that has reserved other channels by then must not go after them.
    #[cold]
    #[inline(never)]
    fn only_scrubbing_waits<P: Placement>(&self, p: &P, channel: ChannelId) -> bool {
        let state = &self.channels[channel];
        let in_groups =
            state.groups.iter().flat_map(|(group, _)| self.groups[*group].waiting(&self.ops));
        let waiting = state.waiting(&self.ops).chain(in_groups).map(|id| &self.ops[id]);
        let mut scrubs = false;
        let mut is_of_scrubbing = |op: &Op| {
            let is_scrubbed = op.is_collection() && p.scrubs(op.bin);
            scrubs |= is_scrubbed;
            is_scrubbed
        };
        waiting.filter(|op| op.channel == channel).all(&mut is_of_scrubbing) && scrubs
    }

    /// Reserves a free channel. Operations of the collection's unit that wait for it go first,
    /// because the collection waits for them; those that have not begun return to their queue.
    fn keep_channel<P: Placement>(&mut self, time: &Time, p: &P, channel: ChannelId, bin: BinId) {
        let (group, cells) = (
            self.places[self.first_place(bin)].group,
            self.places[self.first_place(bin)].all_cells(),
        );
        let kept = Kept { bin, group, cells, busy_until: Instant::START, waiting: VecDeque::new() };
        let of_unit = |id: &OpId| kept.is_for(&self.ops[*id]);
        let waiting: Vec<OpId> =
            self.channels[channel].waiting(&self.ops).filter(of_unit).collect();
        self.channels[channel].keep(time.now, kept);
        for id in waiting {
            self.channels[channel].remove(&mut self.ops, id);
            if self.ops[id].asks_for != AsksFor::Both {
                let kept = self.channels[channel].kept.as_mut();
                kept.expect("it is reserved").waiting.push_back(id);
                continue;
            }
            let state = &mut self.groups[group];
            state.wanted &= !self.ops[id].cells;
            state.barred &= !self.ops[id].cells;
            self.requeue(p, id);
        }
        self.follow(time, bin, cells);
    }

    /// Serves a channel on the slow path.
    pub(super) fn serve_on_slow_path<P: Placement>(
        &mut self,
        time: &mut Time,
        p: &mut P,
        channel: ChannelId,
    ) {
        while !self.serve_reserved(time, p, channel) {
            if self.channels[channel].is_busy(time.now) {
                return self.await_channel(time, channel);
            }
            let groups = &self.groups;
            let of_group = |group: GroupId| Beginning::next_of(&groups[group]);
            match self.channels[channel].pop_on_slow_path(&mut self.ops, of_group) {
                Some(Grant::Op(id)) => self.grant(time, p, id),
                Some(Grant::Group(group)) => self.serve_granted(time, p, group),
                None => return,
            }
        }
    }

    /// Serves the unit that a channel is reserved for, or is now. Returns false if there is none.
    fn serve_reserved<P: Placement>(
        &mut self,
        time: &mut Time,
        p: &mut P,
        channel: ChannelId,
    ) -> bool {
        if self.channels[channel].kept.is_none() {
            let is_busy = self.channels[channel].is_busy(time.now);
            if is_busy || !self.grant_claim(time, p, channel) {
                return false;
            }
        }
        let mut was_served = false;
        // A unit that is served may end the reservation, so that another one follows.
        while let Some(kept) = &mut self.channels[channel].kept
            && !kept.is_busy(time.now)
        {
            let group = kept.group;
            match kept.waiting.pop_front() {
                Some(id) => self.grant(time, p, id),
                None if was_served => break,
                None => {
                    was_served = true;
                    self.serve(time, p, group);
                }
            }
        }
        if self.channels[channel].kept.is_some() {
            self.await_reserved(time, channel);
        }
        true
    }

    /// Ends the reservation of a channel for a bin's collection, or its wait for one.
    pub(in crate::device) fn give_channel_back<P: Placement>(
        &mut self,
        time: &mut Time,
        p: &mut P,
        channel: ChannelId,
        bin: BinId,
    ) {
        let state = &mut self.channels[channel];
        state.claims.retain(|claim| *claim != bin);
        state.leave_slow_path();
        if self.has_channel(channel, bin) {
            for id in self.channels[channel].give_back(time.now) {
                let asks_for = self.ops[id].asks_for;
                self.channels[channel].push(&mut self.ops, id, asks_for);
            }
            self.serve_on_slow_path(time, p, channel);
        }
    }
}
