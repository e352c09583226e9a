//! Channels that have nothing to do for hosts: background collection may wait for that
//! (`ftl.gc.background_begins`).

use crate::device::Time;
use crate::device::flash::counters::OpKind;
use crate::device::flash::op::{AsksFor, Op};
use crate::device::flash::{BinPlace, Flash, PlaceId};
use crate::device::ids::OpId;
use engine::Column;
use ftl::BinId;
use metrics::Holder;
use nand::{ChannelId, GroupId};

impl Flash {
    /// True if a bin's unit is idle, and its channel carries nothing and has nothing to do for hosts:
    /// no read until its data is out, and no program until it begins. If the channel carries
    /// something, there is an event when that ends.
    pub(in crate::device) fn is_quiet(&mut self, time: &mut Time, bin: BinId) -> bool {
        let place = &self.places[self.first_place(bin)];
        let (channel, is_idle) =
            (place.channel, self.groups[place.group].busy & place.all_cells() == 0);
        if self.channels[channel].is_busy(time.now) {
            self.await_channel(time, channel);
            return false;
        }
        is_idle && !self.has_work_of_hosts(channel)
    }

    /// True if a read of hosts uses or awaits a unit of a channel, or a program awaits one.
    fn has_work_of_hosts(&self, channel: ChannelId) -> bool {
        let state = &self.channels[channel];
        state.parity_reads > 0
            || self.groups_of[channel].iter().any(|group| {
                self.groups[*group].has_work_of_hosts() || self.is_read_by_hosts(*group)
            })
            || state.waiting(&self.ops).any(|id| is_work_of_hosts(&self.ops[id]))
    }

    /// True if a unit of a group is occupied by a read of hosts.
    fn is_read_by_hosts(&self, group: GroupId) -> bool {
        let reads = [Holder::HostRead, Holder::RmwRead].map(Holder::on_unit);
        engine::bits(self.groups[group].busy).any(|cell| {
            let state = self.ledgers.state(group, cell as u32);
            state.is_some_and(|state| reads.contains(&state))
        })
    }

    /// Notes that a read for parity is asked for, or that it has ended. A unit does not tell if parity
    /// is read from it or written to it.
    pub(in crate::device) fn note_parity_read(&mut self, id: OpId, is_asked: bool) {
        let reads = &mut self.channels[self.ops[id].channel].parity_reads;
        *reads = if is_asked { *reads + 1 } else { *reads - 1 };
    }
}

/// True if an operation that waits for a channel is a read of hosts, or a program that is to begin.
fn is_work_of_hosts(op: &Op) -> bool {
    let is_hosts = !op.is_collection() && op.holder != Holder::Rebuild;
    is_hosts && (op.kind == OpKind::Read || op.asks_for != AsksFor::Data)
}

/// The groups of each channel, in order.
pub(super) fn groups_of(
    places: &Column<PlaceId, BinPlace>,
    channels: u32,
) -> Column<ChannelId, Vec<GroupId>> {
    let mut groups = Column::filled(Vec::new(), channels as usize);
    for place in places.as_slice() {
        let of_channel: &mut Vec<GroupId> = &mut groups[place.channel];
        if !of_channel.contains(&place.group) {
            of_channel.push(place.group);
        }
    }
    groups
}
