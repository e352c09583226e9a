//! Garbage collection, wear-leveling moves and scrubbing in time.

mod backlog;
mod chain;
mod collect;
mod gate;
mod hold;
mod job;
mod moves;
mod pace;
mod permission;
mod permits;
mod pressure;
mod quiet;
mod rotate;
mod rounds;
mod scrub;
mod scrubber;
mod streaming;
mod tasks;
#[cfg(test)]
mod tests;
pub mod turn;
mod turns;
mod victims;
pub mod why;

use crate::config::{DriveConfig, EraseBatching};
use crate::device::Base;
use crate::device::flash::op::Owner;
use crate::device::ids::OpId;
use crate::device::windows::Windows;
use engine::Column;
use ftl::{BinId, BlockId, BySet, GcConfig, Layout, ReserveUntil};
use job::{Backlog, Job};
use nand::{Geometry, GroupId};
use permits::Permits;
use scrubber::Scrubber;
use turn::Turn;

/// Collections, by bin.
#[derive(Clone)]
pub struct Gc {
    // ---- constant ----
    config: GcConfig,
    /// End of the reservation of a unit.
    reserves_until: ReserveUntil,
    /// Settings for erases that wait for a burst of reads to end, if they do.
    erase_batching: Option<EraseBatching>,
    /// Planes of a package, if pages stream between packages while a block is collected.
    streaming: Option<u32>,
    // ---- state ----
    /// Scrubbing by NVM set, if there is any.
    scrubs: Option<BySet<Turn>>,
    /// Its task, if it has one of its own.
    scrubber: Option<Box<Scrubber>>,
    jobs: Column<BinId, Job>,
    /// Erases that wait for a burst of reads to end.
    backlogs: Column<BinId, Backlog>,
    /// Groups whose idle collection found nothing that gains space.
    thwarted: Vec<GroupId>,
    /// Bins whose collection waits until its channel has nothing to do for hosts, the oldest first.
    await_quiet: Vec<BinId>,
    /// True if they ask again at the next event.
    asks_for_quiet: bool,
    /// True if collections at the rate of host writes rest between victims only, because the drive is
    /// shut down.
    ends_victims: bool,
    /// Leave to copy, if not all collections may copy at the same time.
    permits: Option<Box<Permits>>,
    /// Windows of predictable latency, if the drive has them.
    pub(in crate::device) windows: Option<Box<Windows>>,
}

impl Gc {
    pub fn new(config: &DriveConfig, layout: &Layout) -> Self {
        let geometry = &config.geometry;
        Self {
            config: config.ftl.gc.clone(),
            reserves_until: config.ftl.gc.reserve_until.unwrap_or(ReserveUntil::Erase),
            erase_batching: config.scheduler.erase_batching,
            streaming: (config.ftl.gc.streaming)
                .then_some(geometry.planes_per_die * geometry.dies_per_package),
            scrubs: config.ftl.scrub.as_ref().map(|scrub| {
                BySet::from_fn(layout.set_count(), |set| Turn::new(scrub, layout, set))
            }),
            scrubber: Scrubber::new(config.ftl.scrub.as_ref(), layout),
            jobs: Column::from_fn(layout.bins as usize, |_| Job::default()),
            backlogs: Column::from_fn(layout.bins as usize, |_| Backlog::default()),
            thwarted: Vec::new(),
            await_quiet: Vec::new(),
            asks_for_quiet: false,
            ends_victims: false,
            permits: Permits::new(config, layout, Geometry::from(geometry).channels),
            windows: (config.ftl.windows).map(|windows| {
                Box::new(Windows::new(windows, layout.units_per_batch, layout.set_count()))
            }),
        }
    }
}

impl Gc {
    /// Ends all collection, because the power is cut.
    pub(in crate::device) fn begin_anew(&mut self, layout: &Layout) {
        // All fields are named, so that the compiler reports one that is added later.
        let Self {
            config: _,
            reserves_until: _,
            erase_batching: _,
            streaming: _,
            scrubs,
            scrubber,
            jobs,
            backlogs,
            thwarted,
            await_quiet,
            asks_for_quiet,
            ends_victims: _,
            permits,
            // Recovery from power cuts is not combined with them.
            windows: _,
        } = self;
        scrubs.iter_mut().flat_map(BySet::iter_mut).for_each(|turn| *turn = turn.begun_anew());
        *scrubber = scrubber.as_ref().map(|scrubber| scrubber.begun_anew());
        *jobs = Column::from_fn(layout.bins as usize, |_| Job::default());
        *backlogs = Column::from_fn(layout.bins as usize, |_| Backlog::default());
        thwarted.clear();
        await_quiet.clear();
        *asks_for_quiet = false;
        *permits = permits.as_ref().map(|permits| permits.begun_anew());
    }

    /// Handles the end of a read or a program of a collection, which still occupies its units.
    /// Returns true if the operation is over: it may have turned into another, or been handed on.
    #[inline(always)]
    pub(in crate::device) fn ended(&mut self, base: &mut Base, id: OpId, owner: Owner) -> bool {
        let bin = base.flash.op(id).bin;
        match owner {
            Owner::CollectRead(slots) => {
                let valid = slots.bits();
                if self.chain_program(base, id, valid) {
                    return false;
                }
                base.vacate(id);
                self.collect_read_ended(base, id, valid);
            }
            Owner::CollectMove(from) if self.may_chain_read(base, bin, from) => {
                // Its units are not freed before: a move from a block that is still being read asks
                // for nothing.
                self.moved(base, id, from);
                if self.chain_read(base, id) {
                    return false;
                }
                base.vacate(id);
                self.collect(base, bin);
            }
            Owner::CollectMove(from) => {
                base.vacate(id);
                self.moved(base, id, from);
                self.collect(base, bin);
            }
            Owner::CollectWrite(payload) => {
                base.vacate(id);
                self.collect_write_ended(base, id, payload);
            }
            Owner::StreamOut(program) => {
                self.streamed_out(base, id, program);
                return false;
            }
            Owner::Streamed(from) => {
                self.streamed_in(base, id, from);
                return false;
            }
            _ => unreachable!("an operation of a collection"),
        }
        true
    }

    /// Ends a read of a block, which may have waited for the read to be erased.
    #[inline]
    pub(in crate::device) fn unpin(&mut self, base: &mut Base, block: BlockId) {
        if base.space.ftl.end_read(block) {
            self.erase_if_ready(base, block);
        }
    }
}
