//! Commands whose cycles take time on the channel: an operation begins where its unit and its
//! channel are free, and which one does is decided only then.

use crate::device::Time;
use crate::device::event::Event;
use crate::device::flash::counters::OpKind;
use crate::device::flash::op::{AsksFor, Op};
use crate::device::flash::queue::Pick;
use crate::device::flash::{BinPlace, Flash, Placement};
use crate::device::ids::OpId;
use engine::{Column, Instant, Span};
use ftl::BinId;
use metrics::State;
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
    /// True if an operation that carries no data cannot begin because of its channel.
    #[inline]
    pub(super) fn lacks_channel(&self, now: Instant, channel: ChannelId) -> bool {
        self.commands && self.channels[channel].is_busy(now)
    }

    /// Chooses what goes next of a group; where commands take cycles, of what finds its channel
    /// free.
    #[inline]
    pub(super) fn pick(&mut self, now: Instant, group: GroupId) -> Option<Pick> {
        if self.commands {
            match self.channels_of[group][..] {
                [only] if self.channels[only].is_busy(now) => return None,
                [_] => {}
                _ => return self.pick_for_free_channels(now, group),
            }
        }
        self.groups[group].pick(&self.ops, &self.bypass, self.next_seq, |_| true)
    }

    #[inline(never)]
    fn pick_for_free_channels(&mut self, now: Instant, group: GroupId) -> Option<Pick> {
        let is_open = |op: &Op| !self.channels[op.channel].is_busy(now);
        self.groups[group].pick(&self.ops, &self.bypass, self.next_seq, is_open)
    }

    /// A group has begun what it can: where something still waits, it is served again when a
    /// channel of its falls free.
    #[inline]
    pub(super) fn ask_channels(&mut self, time: &mut Time, group: GroupId) {
        let state = &self.groups[group];
        if state.queued() > 0 && state.busy != self.all_cells {
            self.wait_for_channels(time, group);
        }
    }

    #[inline(never)]
    fn wait_for_channels(&mut self, time: &mut Time, group: GroupId) {
        for at in 0..self.channels_of[group].len() {
            let channel = self.channels_of[group][at];
            if self.channels[channel].is_busy(time.now) {
                self.channels[channel].push_group(group);
                self.await_channel(time, channel);
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

    /// A program has just been asked for: its data follow its command.
    #[inline(never)]
    pub(super) fn add_cycles(&mut self, id: OpId) {
        let cycles = self.cycles_before_data();
        self.ops[id].transfer += cycles;
    }

    /// Something has been queued whose channel is this: what may begins. Where the group has no
    /// other channel and that is busy, nothing does.
    #[inline]
    pub(super) fn serve_commanded<P: Placement>(
        &mut self,
        time: &mut Time,
        p: &mut P,
        group: GroupId,
        channel: ChannelId,
    ) {
        if self.channels_of[group].len() == 1 && self.channels[channel].is_busy(time.now) {
            self.ask_channels(time, group);
        } else {
            self.serve(time, p, group);
        }
    }

    /// The channel carries the command of an operation, which holds its unit, from now on. Of a
    /// read it is known then when its row is sensed: there is an event for the end of the command
    /// only where somebody waits for the channel.
    #[inline]
    pub(super) fn command(&mut self, time: &mut Time, id: OpId) {
        if self.ops[id].kind != OpKind::Read {
            return self.command_to_its_end(time, id);
        }
        let Op { row, seq, .. } = self.ops[id];
        let span = self.cycles().read;
        let (begins, sense) = (time.now + span, self.timing.read(row));
        self.take_channel(time, id, span, begins);
        self.ops.charge_service(id, State::Sense, sense);
        time.agenda.schedule(begins + sense, Event::Sensed(id), seq);
    }

    /// As [`Flash::command`], of an operation that has just taken its unit: it has not waited for
    /// the channel by itself.
    #[inline]
    pub(super) fn command_first(&mut self, time: &mut Time, id: OpId) {
        let Op { kind, row, seq, channel, holder, .. } = self.ops[id];
        if kind != OpKind::Read {
            return self.command_to_its_end(time, id);
        }
        let span = self.cycles().read;
        let (begins, sense) = (time.now + span, self.timing.read(row));
        self.channels[channel].take_until(time.now, holder.on_channel(), begins);
        self.ops.charge_sensing(id, span, sense);
        time.agenda.schedule(begins + sense, Event::Sensed(id), seq);
    }

    #[inline(never)]
    fn command_to_its_end(&mut self, time: &mut Time, id: OpId) {
        let cycles = self.cycles();
        let span = match self.ops[id].kind {
            OpKind::Modify => cycles.read,
            OpKind::CopyBack => cycles.read + cycles.program,
            OpKind::Erase => cycles.erase,
            OpKind::Read => unreachable!("a read is sensed after its command"),
            OpKind::Program => unreachable!("a program's data follow its command"),
        };
        self.take_channel(time, id, span, Instant::NEVER);
        time.agenda.schedule(time.now + span, Event::Commanded(id), self.ops[id].seq);
    }

    /// The next row of an operation that holds its unit is to be sensed: it needs a command.
    pub(super) fn want_command(&mut self, time: &mut Time, id: OpId) {
        if self.channels[self.ops[id].channel].is_busy(time.now) {
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
