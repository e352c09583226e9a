//! Holds: units and channels that collection keeps from reads. It holds a unit while it has reserved
//! it or one of its operations occupies it, and a channel while it has reserved it or moves data
//! over it. Commands are no hold. Scrubbing and wear migrations count as collection.

use crate::device::Time;
use crate::device::flash::hold_times::Holds;
use crate::device::flash::working::Stage;
use crate::device::flash::{Flash, Ledgers};
use crate::device::ids::OpId;
use engine::{Instant, Span, bits};
use ftl::BinId;
use metrics::State;
use nand::{ChannelId, GroupId};

impl Flash {
    /// Begins to record for how long collection holds each unit.
    pub(in crate::device) fn record_holds(&mut self, time: &Time) {
        self.holds = Some(Box::new(Holds::new(self.units.cells())));
        for group in self.groups.ids() {
            let reserved = self.groups[group].reserved;
            self.note_reserved(time.now, group, reserved, true);
        }
    }

    /// Notes that cells are reserved from now on, or no longer.
    #[inline(never)]
    pub(super) fn note_reserved(&mut self, now: Instant, group: GroupId, cells: u64, begins: bool) {
        let Self { holds: Some(holds), ledgers, channels, units, .. } = self else { return };
        for index in bits(cells) {
            let cell = ledgers.cell(group, index as u32);
            let channel = &mut channels[units.channel_of(cell)].ledger;
            holds.note(now, cell.0 as usize, ledgers.settled(now, cell, channel), begins);
        }
    }

    /// Time for which collection has held each unit so far, if that is recorded.
    pub(in crate::device) fn unit_held(&mut self, time: &Time) -> Option<Vec<Span>> {
        let holds = self.holds.take()?;
        let held = self.of_units(time, |cell, ledger| holds.of(time.now, cell, ledger));
        self.holds = Some(holds);
        Some(held)
    }

    /// Time to move a batch that nothing holds, on average: copied back, or through the controller.
    pub(in crate::device) fn time_to_move(&self, copy_back: bool) -> Span {
        let shape = &self.shape;
        let carried = if copy_back { Span::ZERO } else { shape.of_batch() * 2 };
        let cycles = self.timing.cycles.map_or(Span::ZERO, |cycles| cycles.read + cycles.program);
        let row = cycles + self.timing.mean_read() + carried + self.timing.mean_program();
        row * u64::from(shape.rows_per_batch)
    }
    /// Time of one of the commands that erase a block, if nothing holds or suspends it.
    pub(in crate::device) fn time_to_erase(&self) -> Span {
        let cycles = self.timing.cycles.map_or(Span::ZERO, |cycles| cycles.erase);
        cycles + self.timing.erase.total()
    }
    /// Time to read a mapping unit that nothing holds, on average.
    pub(in crate::device) fn time_to_read(&self) -> Span {
        let cycles = self.timing.cycles.map_or(Span::ZERO, |cycles| cycles.read);
        let row = cycles + self.timing.mean_read() + self.shape.units[1];
        row * self.shape.rows_of_unit()
    }

    /// True if collection holds some of the cells in a group.
    pub(in crate::device) fn is_unit_held(&self, group: GroupId, cells: u64) -> bool {
        self.groups[group].is_reserved(cells) || self.ledgers.are_held(group, cells)
    }

    /// True if collection holds a channel, except for the unit with these cells.
    pub(in crate::device) fn is_channel_held(
        &self,
        now: Instant,
        channel: ChannelId,
        (group, cells): (GroupId, u64),
    ) -> bool {
        let state = &self.channels[channel];
        match &state.kept {
            Some(kept) => !kept.is_for_cells(group, cells),
            None => state.is_busy(now) && state.ledger.state().is_some_and(State::is_hold),
        }
    }

    /// True if cells in a group are reserved, or their channel is for others.
    pub(in crate::device) fn is_kept_from(
        &self,
        channel: ChannelId,
        (group, cells): (GroupId, u64),
    ) -> bool {
        let kept = self.channels[channel].kept.as_ref();
        self.groups[group].is_reserved(cells)
            || kept.is_some_and(|kept| !kept.is_for_cells(group, cells))
    }

    /// The bin for whose collection a channel is reserved.
    pub(in crate::device) fn keeper_of(&self, channel: ChannelId) -> Option<BinId> {
        self.channels[channel].kept.as_ref().map(|kept| kept.bin)
    }

    /// Notes that an erase begins that is not suspended.
    #[inline]
    pub(super) fn note_erase(&mut self, id: OpId, ends: Instant) {
        let bin = self.ops[id].bin;
        self.erased_at[bin] = ends;
    }

    /// Time for which an erase of a bin still occupies its unit, if one does: until its end, or
    /// until reads can go before the rest of it.
    pub(in crate::device) fn rest_of_erase(&self, now: Instant, bin: BinId) -> Option<Span> {
        let ends = self.erased_at[bin];
        if ends > now {
            return Some(ends - now);
        }
        let working = self.working[self.places[self.first_place(bin)].group].iter();
        let mut erases = working.filter(|working| !working.is_program);
        let erase = erases.find(|working| self.ops[working.op].bin == bin)?;
        match erase.stage {
            // Nothing interrupts it where its unit is reserved.
            Stage::AtWork
                if self.groups[self.places[self.first_place(bin)].group]
                    .is_reserved(erase.cells) =>
            {
                Some(erase.ends - now)
            }
            Stage::AtWork => Some(self.rest_for_reads(now, erase)),
            Stage::Stopping => Some(erase.poll_at - now),
            Stage::Aside { .. } => None,
        }
    }
}

impl Ledgers {
    /// True if collection occupies some of the cells in a group.
    fn are_held(&self, group: GroupId, cells: u64) -> bool {
        bits(cells).any(|index| self.state(group, index as u32).is_some_and(State::is_hold))
    }
}
