//! The ledgers of a drive's units: of every cell, and of every run of cells that
//! a host's operation may wait for as a whole.

use super::array::BinPlace;
use super::queue::Group;
use engine::{Column, Instant, Span, typed_id};
use ftl::BinId;
use metrics::{Ledger, State};
use nand::{CellId, GroupId, Units};

typed_id! {
    /// A run of several cells of a group: `group * masks + mask`.
    struct RunId;
}

/// What each unit is doing, for whoever waits for it.
///
/// A run's ledger names, at each moment, one operation that holds some of its
/// cells: the one on the lowest of those that are held.
pub struct Ledgers {
    cells: Column<CellId, Ledger>,
    cells_per_group: u32,
    /// The runs of a group, as cells; all groups are alike.
    masks: Vec<u64>,
    runs: Column<RunId, Ledger>,
}

impl Ledgers {
    pub fn new(units: &Units, places: &Column<BinId, BinPlace>) -> Self {
        let mut masks: Vec<u64> = places
            .iter()
            .flat_map(|(_, place)| place.units_of_hosts())
            .filter(|cells| !cells.is_power_of_two())
            .collect();
        masks.sort_unstable();
        masks.dedup();
        let cells = units.groups * units.cells_per_group;
        Self {
            cells: Column::from_fn(cells as usize, |_| Ledger::default()),
            cells_per_group: units.cells_per_group,
            runs: Column::from_fn(units.groups as usize * masks.len(), |_| Ledger::default()),
            masks,
        }
    }

    #[inline]
    fn cell(&self, group: GroupId, index: u32) -> CellId {
        CellId(group.0 * self.cells_per_group + index)
    }
    #[inline]
    fn run(&self, group: GroupId, mask: usize) -> RunId {
        RunId(group.0 * self.masks.len() as u32 + mask as u32)
    }
    /// The ledger of a cell or of a run that hosts wait for.
    #[inline]
    pub fn of(&mut self, group: GroupId, cells: u64) -> &mut Ledger {
        if self.cells_per_group == 1 || cells.is_power_of_two() {
            let cell = self.cell(group, cells.trailing_zeros());
            return &mut self.cells[cell];
        }
        let mask = self.masks.iter().position(|mask| *mask == cells);
        let run = self.run(group, mask.expect("hosts wait for whole units"));
        &mut self.runs[run]
    }

    /// `cells`, which `group` counts as busy by now, do what `state` says.
    #[inline]
    pub fn occupy(
        &mut self,
        now: Instant,
        group: GroupId,
        cells: u64,
        state: State,
        of: &Group,
        channel: &mut Ledger,
    ) {
        for index in bits(cells) {
            let cell = self.cell(group, index);
            let ledger = &mut self.cells[cell];
            if ledger.awaits_channel() {
                ledger.stop_awaiting(now, channel);
            }
            ledger.occupy(now, state);
        }
        self.follow(now, group, cells, of, channel);
    }
    /// `cells`, which `group` counts as free by now, are held no longer.
    #[inline]
    pub fn vacate(
        &mut self,
        now: Instant,
        group: GroupId,
        cells: u64,
        of: &Group,
        channel: &mut Ledger,
    ) {
        for index in bits(cells) {
            let cell = self.cell(group, index);
            let ledger = &mut self.cells[cell];
            if of.wanted >> index & 1 == 1 {
                ledger.await_channel(now, channel);
            } else if of.reserved >> index & 1 == 1 {
                ledger.occupy(now, State::Reserved);
            } else {
                ledger.release(now);
            }
        }
        self.follow(now, group, cells, of, channel);
    }
    /// A program that goes next on idle `cells` waits for the channel.
    pub fn await_channel(
        &mut self,
        now: Instant,
        group: GroupId,
        cells: u64,
        of: &Group,
        channel: &mut Ledger,
    ) {
        for index in bits(cells) {
            let cell = self.cell(group, index);
            if !self.cells[cell].awaits_channel() {
                self.cells[cell].await_channel(now, channel);
            }
        }
        self.follow(now, group, cells, of, channel);
    }
    /// It waits no longer.
    pub fn stop_awaiting(
        &mut self,
        now: Instant,
        group: GroupId,
        cells: u64,
        of: &Group,
        channel: &mut Ledger,
    ) {
        for index in bits(cells) {
            let cell = self.cell(group, index);
            if self.cells[cell].awaits_channel() {
                self.cells[cell].stop_awaiting(now, channel);
            }
        }
        self.follow(now, group, cells, of, channel);
    }
    /// `cells` are kept for a collection, or no longer; what they are doing at
    /// present goes on.
    pub fn mark_reserved(
        &mut self,
        now: Instant,
        group: GroupId,
        cells: u64,
        of: &Group,
        channel: &mut Ledger,
    ) {
        for index in bits(cells & !of.busy) {
            let cell = self.cell(group, index);
            let ledger = &mut self.cells[cell];
            if ledger.awaits_channel() {
                continue;
            }
            if of.reserved >> index & 1 == 1 {
                ledger.occupy(now, State::Reserved);
            } else {
                ledger.release(now);
            }
        }
        self.follow(now, group, cells, of, channel);
    }

    /// The runs follow what their cells do.
    #[inline]
    fn follow(
        &mut self,
        now: Instant,
        group: GroupId,
        cells: u64,
        of: &Group,
        channel: &mut Ledger,
    ) {
        for index in 0..self.masks.len() {
            let mask = self.masks[index];
            if mask & cells == 0 {
                continue;
            }
            let busy = of.busy & mask;
            let holder = self.cell(group, busy.trailing_zeros());
            let run = self.run(group, index);
            let ledger = &mut self.runs[run];
            if busy == 0 && of.wanted & mask != 0 {
                if !ledger.awaits_channel() {
                    ledger.await_channel(now, channel);
                }
                continue;
            }
            if ledger.awaits_channel() {
                ledger.stop_awaiting(now, channel);
            }
            if busy != 0 {
                let state = self.cells[holder].state().expect("what holds a cell has a state");
                ledger.occupy(now, state);
            } else if of.reserved & mask != 0 {
                ledger.occupy(now, State::Reserved);
            } else {
                ledger.release(now);
            }
        }
    }

    /// How long each cell of a group was busy so far.
    pub fn busy(
        &mut self,
        now: Instant,
        group: GroupId,
        channel: &mut Ledger,
    ) -> impl Iterator<Item = Span> {
        let first = self.cell(group, 0).0 as usize;
        let of_group = first..first + self.cells_per_group as usize;
        self.cells.as_mut_slice()[of_group].iter_mut().map(move |ledger| {
            ledger.settle_with(now, channel);
            ledger.busy(true)
        })
    }
}

/// The numbers of the bits that are set, from the lowest.
#[inline]
fn bits(mut mask: u64) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let bit = mask.trailing_zeros();
        (mask != 0).then(|| {
            mask &= mask - 1;
            bit
        })
    })
}
