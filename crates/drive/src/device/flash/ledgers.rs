//! The ledgers of a drive's units. A group has cells, its smallest independently busy parts; each
//! cell has a ledger, and so has each run of cells that a host's operation may wait for as a whole.

use crate::device::flash::queue::Group;
use crate::device::flash::{BinPlace, PlaceId};
use engine::{Column, Instant, bits, typed_id};
use metrics::{Ledger, State};
use nand::{CellId, GroupId, Units};

typed_id! {
    /// A run of several cells within a group: `group * masks + mask`.
    struct RunId;
}

/// Activity of each unit, for the operations that wait for it.
///
/// At each moment a run's ledger names one operation that occupies some of its cells: the one on
/// the lowest occupied cell.
#[derive(Clone)]
pub struct Ledgers {
    cells: Column<CellId, Ledger>,
    cells_per_group: u32,
    /// The runs of a group, as cells; all groups have the same runs.
    masks: Vec<u64>,
    runs: Column<RunId, Ledger>,
    /// Readers of each run's ledger: it is updated only while there are any.
    watchers: Column<RunId, u32>,
    /// Number of runs of each group whose ledgers are updated.
    kept: Column<GroupId, u32>,
}

impl Ledgers {
    pub fn new(units: &Units, places: &Column<PlaceId, BinPlace>) -> Self {
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
            watchers: Column::filled(0, units.groups as usize * masks.len()),
            kept: Column::filled(0, units.groups as usize),
            masks,
        }
    }

    /// The id of a cell, by its number in a group.
    #[inline]
    pub fn cell(&self, group: GroupId, index: u32) -> CellId {
        CellId(group.0 * self.cells_per_group + index)
    }
    /// The state that waits for a cell are charged to at present.
    pub fn state(&self, group: GroupId, index: u32) -> Option<State> {
        self.cells[self.cell(group, index)].state()
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
        let run = self.run_of(group, cells);
        debug_assert!(self.watchers[run] > 0, "whoever looks at a run's ledger watches it");
        &mut self.runs[run]
    }
    #[inline]
    fn run_of(&self, group: GroupId, cells: u64) -> RunId {
        let mask = self.masks.iter().position(|mask| *mask == cells);
        self.run(group, mask.expect("hosts wait for whole units"))
    }
    #[inline]
    fn is_run(&self, cells: u64) -> bool {
        self.cells_per_group > 1 && !cells.is_power_of_two()
    }

    /// Registers a reader of the ledger of a cell or a run: from now on it is updated. `of` is the
    /// present state of the group, and `channel` the channel of the run.
    #[inline]
    pub fn watch(
        &mut self,
        now: Instant,
        group: GroupId,
        cells: u64,
        of: &Group,
        channel: &mut Ledger,
    ) {
        if self.is_run(cells) {
            self.watch_run(now, group, cells, of, channel);
        }
    }
    #[inline(never)]
    fn watch_run(
        &mut self,
        now: Instant,
        group: GroupId,
        cells: u64,
        of: &Group,
        channel: &mut Ledger,
    ) {
        let run = self.run_of(group, cells);
        self.watchers[run] += 1;
        if self.watchers[run] == 1 {
            self.kept[group] += 1;
            self.runs[run].restart(now);
            self.follow_run(now, group, run, cells, of, channel);
        }
    }
    /// Notes that an operation begins to wait for idle cells, and so waits for the channel.
    #[inline(never)]
    pub fn await_channel(
        &mut self,
        now: Instant,
        group: GroupId,
        cells: u64,
        channel: &mut Ledger,
    ) {
        let ledger = self.of(group, cells);
        if ledger.state().is_none() && !ledger.awaits_channel() {
            ledger.await_channel(now, channel);
        }
    }
    /// Removes a reader of the ledger of a cell or a run.
    #[inline]
    pub fn unwatch(&mut self, group: GroupId, cells: u64) {
        if self.is_run(cells) {
            let run = self.run_of(group, cells);
            self.watchers[run] -= 1;
            self.kept[group] -= u32::from(self.watchers[run] == 0);
        }
    }
    /// Removes all readers of the ledgers of a group's runs.
    pub fn unwatch_all(&mut self, group: GroupId) {
        for index in 0..self.masks.len() {
            let run = self.run(group, index);
            self.watchers[run] = 0;
        }
        self.kept[group] = 0;
    }
    /// Forgets all waits, and the snapshots with which they began.
    pub fn forget_waits(&mut self) {
        self.cells.as_mut_slice().iter_mut().for_each(Ledger::forget_waits);
        self.runs.as_mut_slice().iter_mut().for_each(Ledger::forget_waits);
    }

    /// Notes that `cells`, which the group counts as busy already, are occupied, with the given
    /// state.
    #[inline(always)]
    pub fn occupy(
        &mut self,
        now: Instant,
        group: GroupId,
        cells: u64,
        state: State,
        of: &Group,
        channel: &mut Ledger,
    ) {
        if self.cells_per_group == 1 {
            return hold(&mut self.cells[CellId(group.0)], now, state, channel);
        }
        self.occupy_some(now, group, cells, state, of, channel);
    }
    #[inline(never)]
    fn occupy_some(
        &mut self,
        now: Instant,
        group: GroupId,
        cells: u64,
        state: State,
        of: &Group,
        channel: &mut Ledger,
    ) {
        for index in bits(cells) {
            let cell = self.cell(group, index as u32);
            hold(&mut self.cells[cell], now, state, channel);
        }
        self.follow_in_runs(now, group, cells, of, channel);
    }
    /// Follows a change of the group's state for `cells`; the ledgers of occupied cells do not
    /// change.
    #[inline(always)]
    pub fn follow(
        &mut self,
        now: Instant,
        group: GroupId,
        cells: u64,
        of: &Group,
        channel: &mut Ledger,
    ) {
        if self.cells_per_group == 1 {
            if of.busy == 0 {
                stand_by(&mut self.cells[CellId(group.0)], now, 1, of, channel);
            }
            return;
        }
        for index in bits(cells & !of.busy) {
            let cell = self.cell(group, index as u32);
            stand_by(&mut self.cells[cell], now, 1 << index, of, channel);
        }
        self.follow_in_runs(now, group, cells, of, channel);
    }

    #[inline]
    fn follow_in_runs(
        &mut self,
        now: Instant,
        group: GroupId,
        cells: u64,
        of: &Group,
        channel: &mut Ledger,
    ) {
        if self.kept[group] > 0 {
            self.follow_in_some_runs(now, group, cells, of, channel);
        }
    }

    #[inline(never)]
    fn follow_in_some_runs(
        &mut self,
        now: Instant,
        group: GroupId,
        cells: u64,
        of: &Group,
        channel: &mut Ledger,
    ) {
        for index in 0..self.masks.len() {
            let mask = self.masks[index];
            let run = self.run(group, index);
            if mask & cells != 0 && self.watchers[run] > 0 {
                self.follow_run(now, group, run, mask, of, channel);
            }
        }
    }

    fn follow_run(
        &mut self,
        now: Instant,
        group: GroupId,
        run: RunId,
        mask: u64,
        of: &Group,
        channel: &mut Ledger,
    ) {
        let busy = of.busy & mask;
        if busy == 0 {
            return stand_by(&mut self.runs[run], now, mask, of, channel);
        }
        let holder = self.cell(group, busy.trailing_zeros());
        let state = self.cells[holder].state().expect("what holds a cell has a state");
        hold(&mut self.runs[run], now, state, channel);
    }

    /// The ledger of a cell, brought up to `now`.
    pub fn settled(&mut self, now: Instant, cell: CellId, channel: &mut Ledger) -> &Ledger {
        let ledger = &mut self.cells[cell];
        ledger.settle_with(now, channel);
        ledger
    }
}

/// Charges waits to `state` from now on.
#[inline]
fn hold(ledger: &mut Ledger, now: Instant, state: State, channel: &mut Ledger) {
    if ledger.awaits_channel() {
        ledger.stop_awaiting(now, channel);
    }
    ledger.occupy(now, state);
}

/// Charges waits to the reason why `cells`, none of which is occupied, are kept idle from now on.
#[inline(always)]
fn stand_by(ledger: &mut Ledger, now: Instant, cells: u64, of: &Group, channel: &mut Ledger) {
    if of.is_open() && !ledger.awaits_channel() {
        return ledger.release(now);
    }
    stand_by_for(ledger, now, cells, of, channel);
}

#[inline(never)]
fn stand_by_for(ledger: &mut Ledger, now: Instant, cells: u64, of: &Group, channel: &mut Ledger) {
    let is_reserved = of.reserved & cells != 0;
    let waits = of.needs_channel && of.queued() > 0;
    if of.wanted & cells != 0 || waits && !is_reserved {
        if !ledger.awaits_channel() {
            ledger.await_channel(now, channel);
        }
    } else if is_reserved {
        hold(ledger, now, State::Reserved, channel);
    } else {
        if ledger.awaits_channel() {
            ledger.stop_awaiting(now, channel);
        }
        ledger.release(now);
    }
}
