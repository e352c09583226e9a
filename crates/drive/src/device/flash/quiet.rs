//! Channels that have nothing to do for hosts: background collection may wait for that
//! (`ftl.gc.background_begins`).

use crate::device::Time;
use crate::device::flash::{Flash, Note};
use crate::device::ids::OpId;
use ftl::BinId;
use metrics::Holder;
use nand::{ChannelId, GroupId};

impl Flash {
    /// True if a bin's unit is idle, and its channel carries nothing and has nothing to do for hosts:
    /// no read until its data is out, and no program until it begins. If not, a note follows when
    /// that may have changed.
    pub(in crate::device) fn is_quiet(&mut self, time: &mut Time, bin: BinId) -> bool {
        let channel = self.places[bin].channel;
        let is_free = self.is_unit_idle(bin) && !self.channels[channel].is_busy(time.now);
        if is_free && !self.has_work_of_hosts(channel) {
            self.channels[channel].watchers.retain(|other| *other != bin);
            self.channels[channel].end_care();
            return true;
        }
        self.channels[channel].watch(bin);
        self.await_end_of_use(time, channel);
        false
    }

    /// Schedules an event for the end of a channel's present use, if it is in use.
    fn await_end_of_use(&mut self, time: &mut Time, channel: ChannelId) {
        if self.channels[channel].is_busy(time.now) {
            self.await_channel(time, channel);
        }
    }

    /// True if no operation occupies a bin's unit.
    fn is_unit_idle(&self, bin: BinId) -> bool {
        let place = &self.places[bin];
        self.groups[place.group].busy & place.all_cells() == 0
    }

    /// True if a read of hosts uses or awaits a unit of a channel, or a program awaits one.
    fn has_work_of_hosts(&self, channel: ChannelId) -> bool {
        let is_of = |group: &GroupId| self.channel_of(*group) == channel;
        let state = &self.channels[channel];
        state.parity_reads > 0
            || state.waiting(&self.ops).any(|id| !self.ops[id].is_collection())
            || self
                .groups
                .ids()
                .filter(is_of)
                .any(|group| self.groups[group].has_work_of_hosts() || self.is_read_by_hosts(group))
    }

    /// True if a unit of a group is occupied by a read of hosts.
    fn is_read_by_hosts(&self, group: GroupId) -> bool {
        let reads = [Holder::HostRead, Holder::RmwRead].map(Holder::on_unit);
        engine::bits(self.groups[group].busy).any(|cell| {
            let state = self.ledgers.state(group, cell as u32);
            state.is_some_and(|state| reads.contains(&state))
        })
    }

    /// The channel of a group, or that of its first bin.
    fn channel_of(&self, group: GroupId) -> ChannelId {
        self.places[self.bins_of_group[group][0]].channel
    }

    /// Notes that a read for parity is asked for, or that it has ended. A unit does not tell if parity
    /// is read from it or written to it.
    pub(in crate::device) fn note_parity_read(&mut self, id: OpId, is_asked: bool) {
        let reads = &mut self.channels[self.ops[id].channel].parity_reads;
        *reads = if is_asked { *reads + 1 } else { *reads - 1 };
    }

    /// Says that a channel has no more to carry, if collections wait for that.
    pub(super) fn tell_watchers(&mut self, channel: ChannelId) {
        if !self.channels[channel].watchers.is_empty() {
            self.notes.push_back(Note::ChannelFree(channel));
        }
    }

    /// The same where a unit of a group has become free.
    pub(super) fn tell_watchers_of(&mut self, group: GroupId) {
        if self.groups[group].busy != self.all_cells {
            self.tell_watchers(self.channel_of(group));
        }
    }

    /// The bins whose collection waited until a channel is quiet, the oldest first, if it is now and
    /// their units are idle. They must ask again.
    pub(in crate::device) fn take_watchers(
        &mut self,
        time: &mut Time,
        channel: ChannelId,
    ) -> Vec<BinId> {
        if self.channels[channel].is_busy(time.now) || self.has_work_of_hosts(channel) {
            self.await_end_of_use(time, channel);
            return Vec::new();
        }
        let watchers = std::mem::take(&mut self.channels[channel].watchers);
        let (ask, wait) = watchers.into_iter().partition(|bin| self.is_unit_idle(*bin));
        self.channels[channel].watchers = wait;
        self.channels[channel].end_care();
        ask
    }
}
