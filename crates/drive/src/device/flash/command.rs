//! Commands whose cycles take time on the channel: an operation begins where its unit and its
//! channel are free, and which one does is decided only then.

use crate::device::Time;
use crate::device::event::Event;
use crate::device::flash::counters::OpKind;
use crate::device::flash::op::{AsksFor, Op};
use crate::device::flash::queue::Pick;
use crate::device::flash::{BinPlace, Flash, Placement};
use crate::device::ids::OpId;
use engine::{Column, Span};
use ftl::BinId;
use nand::{ChannelId, Cycles, GroupId};

/// The channels that the operations of each group use.
pub fn channels_of(
    places: &Column<BinId, BinPlace>,
    groups: u32,
) -> Column<GroupId, Vec<ChannelId>> {
    let mut channels = Column::filled(Vec::new(), groups as usize);
    for place in places.as_slice() {
        let of_group: &mut Vec<ChannelId> = &mut channels[place.group];
        if !of_group.contains(&place.channel) {
            of_group.push(place.channel);
        }
    }
    channels
}

impl Flash {
    /// True where an operation that carries no data cannot begin because of its channel.
    #[inline]
    pub(super) fn lacks_channel(&self, channel: ChannelId) -> bool {
        self.commands && self.channels[channel].busy
    }

    /// Chooses what goes next of a group; where commands take cycles, of what finds its channel
    /// free.
    #[inline]
    pub(super) fn pick(&mut self, group: GroupId) -> Option<Pick> {
        if self.commands {
            return self.pick_for_free_channels(group);
        }
        self.groups[group].pick(&self.ops, &self.bypass, self.next_seq, |_| true)
    }

    #[inline(never)]
    fn pick_for_free_channels(&mut self, group: GroupId) -> Option<Pick> {
        let is_open = |op: &Op| !self.channels[op.channel].busy;
        self.groups[group].pick(&self.ops, &self.bypass, self.next_seq, is_open)
    }

    /// A group has begun what it can: where something still waits, it is served again when a
    /// channel of its falls free.
    #[inline(never)]
    pub(super) fn ask_channels(&mut self, group: GroupId) {
        let state = &self.groups[group];
        if state.queued() == 0 || state.busy == self.all_cells {
            return;
        }
        for channel in &self.channels_of[group] {
            let channel = &mut self.channels[*channel];
            if channel.busy {
                channel.push_group(group);
            }
        }
    }

    fn cycles(&self) -> &Cycles {
        self.timing.cycles.as_ref().expect("commands take cycles")
    }

    /// The cycles of a program's command, which its data follow.
    pub(super) fn cycles_before_data(&self) -> Span {
        self.timing.cycles.map_or(Span::ZERO, |cycles| cycles.program)
    }

    /// An operation has just been asked for: the data of a program follow its command.
    #[inline(never)]
    pub(super) fn add_cycles(&mut self, id: OpId) {
        let cycles = self.cycles_before_data();
        let op = &mut self.ops[id];
        if op.kind == OpKind::Program {
            op.transfer += cycles;
        }
    }

    /// The channel carries the command of an operation, which holds its unit, from now on.
    pub(super) fn command(&mut self, time: &mut Time, id: OpId) {
        let cycles = self.cycles();
        let span = match self.ops[id].kind {
            OpKind::Read | OpKind::Modify => cycles.read,
            OpKind::CopyBack => cycles.read + cycles.program,
            OpKind::Erase => cycles.erase,
            OpKind::Program => unreachable!("a program's data follow its command"),
        };
        self.take_channel(time, id, span);
        time.agenda.schedule(time.now + span, Event::Commanded(id), self.ops[id].seq);
    }

    /// The next row of an operation that holds its unit is to be sensed: it needs a command.
    pub(super) fn want_command(&mut self, time: &mut Time, id: OpId) {
        if self.channels[self.ops[id].channel].busy {
            return self.wait_for_channel(time, id, AsksFor::Command);
        }
        self.command(time, id);
    }

    /// A unit has been commanded.
    pub(in crate::device) fn commanded<P: Placement>(
        &mut self,
        time: &mut Time,
        p: &mut P,
        id: OpId,
    ) {
        match self.ops[id].kind {
            OpKind::Modify => self.sense_rest(time, id),
            _ => self.begin_array(time, p, id),
        }
        self.release_channel(time, p, id);
    }
}
