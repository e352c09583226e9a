//! Commands whose cycles take time on the channel: an operation begins when its unit and its
//! channel are free, and the choice of the operation is made only then.

use crate::device::Time;
use crate::device::event::Event;
use crate::device::flash::counters::OpKind;
use crate::device::flash::op::{AsksFor, Op};
use crate::device::flash::queue::Pick;
use crate::device::flash::used_channels::UsedChannels;
use crate::device::flash::{Flash, Placement};
use crate::device::ids::OpId;
use engine::{Instant, Span};
use metrics::{Holder, State};
use nand::{ChannelId, Cycles, GroupId};

impl Flash {
    /// True if an operation without data cannot begin because its channel is busy.
    #[inline]
    pub(super) fn lacks_channel(&self, now: Instant, op: &Op) -> bool {
        self.commands && self.is_closed_to(now, op)
    }

    /// Takes the next operation of a group from its queue; if commands take cycles, among those whose
    /// channel is free.
    #[inline]
    pub(super) fn take_next(&mut self, now: Instant, group: GroupId) -> Option<Pick> {
        if self.commands {
            match self.channels_of[group] {
                UsedChannels::One(only) if self.channels[only].is_busy(now) => {
                    if self.is_closed_to_group(now, only, group) {
                        return None;
                    }
                    return self.take_for_free_channels(now, group);
                }
                UsedChannels::One(_) => {}
                UsedChannels::Several(_) => return self.take_for_free_channels(now, group),
            }
        }
        self.groups[group].take_next(&mut self.ops, &self.bypass, self.next_seq, |_| true)
    }

    #[inline(never)]
    fn take_for_free_channels(&mut self, now: Instant, group: GroupId) -> Option<Pick> {
        let is_open = |op: &Op| !self.channels[op.channel].is_closed_to(now, op);
        self.groups[group].take_next(&mut self.ops, &self.bypass, self.next_seq, is_open)
    }

    /// Queues a group for its channels if operations still wait: it is served again when one of its
    /// channels becomes free.
    #[inline]
    pub(super) fn ask_channels(&mut self, time: &mut Time, group: GroupId) {
        let state = &self.groups[group];
        if !state.in_channel_queue && state.queued() > 0 && state.busy != self.all_cells {
            self.wait_for_channels(time, group);
        }
    }

    #[inline(never)]
    fn wait_for_channels(&mut self, time: &mut Time, group: GroupId) {
        let Self { channels, channels_of, groups, .. } = self;
        match &channels_of[group] {
            UsedChannels::One(only) => {
                groups[group].in_channel_queue = channels[*only].queue_group(time, *only, group);
            }
            UsedChannels::Several(several) => several.iter().for_each(|channel| {
                channels[*channel].queue_group_once(time, *channel, group);
            }),
        }
    }

    /// Serves a group that has left the queue of its channel.
    #[inline(always)]
    pub(super) fn serve_granted<P: Placement>(
        &mut self,
        time: &mut Time,
        p: &mut P,
        group: GroupId,
    ) {
        self.groups[group].in_channel_queue = false;
        self.serve(time, p, group);
    }

    fn cycles(&self) -> &Cycles {
        self.timing.cycles.as_ref().expect("commands take cycles")
    }

    /// The cycles of a program's command, which the data follows.
    pub(super) fn cycles_before_data(&self) -> Span {
        self.timing.cycles.map_or(Span::ZERO, |cycles| cycles.program)
    }

    /// Adds the command cycles to the transfer of a new program: its data follows its command.
    #[inline(never)]
    pub(super) fn add_cycles(&mut self, id: OpId) {
        let cycles = self.cycles_before_data();
        self.ops[id].transfer += cycles;
    }

    /// Serves a group in which an operation for this channel was queued. If the group has no other
    /// channel and this one is busy, no operation can begin.
    #[inline]
    pub(super) fn serve_commanded<P: Placement>(
        &mut self,
        time: &mut Time,
        p: &mut P,
        group: GroupId,
        channel: ChannelId,
    ) {
        let has_one = matches!(self.channels_of[group], UsedChannels::One(_));
        if has_one && self.is_closed_to_group(time.now, channel, group) {
            self.ask_channels(time, group);
        } else {
            self.serve(time, p, group);
        }
    }

    /// Starts the command of an operation that occupies its unit. For a read this determines when
    /// its row is sensed, so there is an event for the end of the command only if an operation
    /// waits for the channel.
    #[inline]
    pub(super) fn command(&mut self, time: &mut Time, id: OpId) {
        if self.ops[id].kind != OpKind::Read {
            return self.command_to_its_end(time, id);
        }
        let Op { row, seq, .. } = self.ops[id];
        let span = self.cycles().read;
        let (begins, sense) = (time.now + span, self.timing.read(row));
        self.take_channel(time, id, span, begins, Holder::on_command);
        self.ops.charge_service(id, State::Sense, sense);
        time.agenda.schedule(begins + sense, Event::Sensed(id), seq);
    }

    /// As [`Flash::command`], for an operation that has just occupied its unit and so has not
    /// waited for the channel alone.
    #[inline]
    pub(super) fn command_first(&mut self, time: &mut Time, id: OpId) {
        let Op { kind, row, seq, channel, holder, .. } = self.ops[id];
        if kind != OpKind::Read {
            return self.command_to_its_end(time, id);
        }
        let span = self.cycles().read;
        let (begins, sense) = (time.now + span, self.timing.read(row));
        self.channels[channel].take_until(time.now, holder.on_command(), begins);
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
        self.take_channel(time, id, span, Instant::NEVER, Holder::on_command);
        time.agenda.schedule(time.now + span, Event::Commanded(id), self.ops[id].seq);
    }

    /// Asks for the command that senses the next row of an operation, which occupies its unit.
    pub(super) fn want_command(&mut self, time: &mut Time, id: OpId) {
        if self.is_closed_to(time.now, &self.ops[id]) {
            return self.wait_for_channel(time, id, AsksFor::Command);
        }
        self.command(time, id);
    }

    /// Ends the command of a unit.
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
