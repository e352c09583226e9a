//! Space: the firmware's state, the places of writes, and the operations that wait for free pages.

mod doors;
pub mod guests;
mod home;
mod homes;
mod lanes;
mod placing;
mod pool;
mod task;
#[cfg(test)]
mod tests;
pub mod waits;
mod why;

use crate::config::{BufferConfig, DriveConfig};
use crate::device::pressure::Pressure;
use engine::Column;
use ftl::{BinId, BySet, Ftl, Pacing, PoolId};
use guests::Guests;
use home::Home;
use nand::CopyBackPages;
use pool::Pool;

/// The firmware, its pools and bins, and the operations that wait for space.
#[derive(Clone)]
pub struct Space {
    // ---- constant ----
    preemptible: bool,
    pacing: Pacing,
    buffer: BufferConfig,
    /// Most host programs of a bin that wait or run at a time.
    programs_most: u32,
    /// True if a copy-back moves odd pages to odd ones and even pages to even ones.
    pub(in crate::device) odd_even: bool,
    /// True if scrubbing is a task of its own.
    has_scrubber: bool,
    /// True if collections also begin in idle gaps: those that found nothing try again once data
    /// has become invalid.
    idles: bool,
    /// True if effects are settled after each event, because estimates of space are watched.
    is_watched: bool,
    // ---- state ----
    pub(in crate::device) ftl: Ftl,
    /// Reasons why the bins' collections gain no space.
    spaces: Column<BinId, waits::Space>,
    pools: Column<PoolId, Pool>,
    bins: Column<BinId, Home>,
    /// Bins whose need for collection is re-evaluated when the present event is over.
    to_collect: Vec<BinId>,
    /// Bins without space for a waiting write, and without a victim so far.
    starved: Vec<BinId>,
    /// Bins in which an in-plane read-modify-write was parked for want of space.
    parked_parts: Vec<BinId>,
    /// Programs of collection and scrubbing that are parked, by NVM set.
    parked_moves: BySet<u32>,
    /// Outstanding programs, if their number is limited.
    pub(in crate::device) pressure: Option<Box<Pressure>>,
    /// True once a pool was without space.
    was_starved: bool,
    /// True if data has become invalid during the present event; used only if idle groups react to
    /// it.
    has_died: bool,
    /// Pools whose bins may take programs again.
    due_pools: Vec<PoolId>,
    /// True if such pools are left, or data has become invalid: one flag to be read after each event.
    has_others: bool,
    /// Pools that take the units of failed pools in.
    pub(in crate::device) guests: Guests,
}

impl Space {
    pub fn new(config: &DriveConfig, ftl: Ftl) -> Self {
        let choice = config.ftl.allocation.choice;
        let layout = &ftl.layout;
        let is_watched = config.ftl.windows.is_some_and(|of| of.writes_threshold.is_some());
        Self {
            spaces: Column::from_fn(layout.bins as usize, |_| waits::Space::default()),
            pools: Column::from_fn(layout.pool_count() as usize, |pool| {
                Pool::new(choice, layout.bins_of(pool).len())
            }),
            bins: Column::from_fn(layout.bins as usize, |_| Home::default()),
            to_collect: Vec::new(),
            starved: Vec::new(),
            parked_parts: Vec::new(),
            pressure: Pressure::new(config.ftl.pressure, layout.set_count()),
            parked_moves: BySet::from_fn(layout.set_count(), |_| 0),
            was_starved: false,
            has_died: false,
            due_pools: Vec::new(),
            has_others: is_watched,
            is_watched,
            guests: Guests::new(config, layout),
            preemptible: config.ftl.gc.preemptible,
            pacing: config.ftl.gc.pacing,
            programs_most: config.buffer.programs_per_bin() * layout.lanes(),
            buffer: config.buffer.clone(),
            odd_even: config.nand.copy_back_pages == CopyBackPages::OddEven,
            has_scrubber: config.ftl.has_scrubber(),
            idles: config.ftl.gc.idle_gap.is_some(),
            ftl,
        }
    }
}

impl Space {
    /// Ends all waits for space, because the power is cut.
    pub(in crate::device) fn begin_anew(&mut self) {
        // All fields are named, so that the compiler reports one that is added later.
        #[rustfmt::skip]
        let Self {
            preemptible: _, pacing: _, buffer: _, programs_most: _, odd_even: _, has_scrubber: _, idles: _, ftl: _, is_watched: _,
            spaces: _, pools: _, bins: _, to_collect: _, starved: _, parked_parts: _,
            parked_moves: _, pressure: _, was_starved: _, has_died: _, due_pools: _, has_others: _,
            guests: _,
        } = self;
        let (layout, pools) = (&self.ftl.layout, &mut self.pools);
        for pool in (0..layout.pool_count()).map(PoolId) {
            pools[pool] = pools[pool].begun_anew(layout.bins_of(pool).len());
        }
        self.spaces = Column::from_fn(layout.bins as usize, |_| waits::Space::default());
        self.bins = Column::from_fn(layout.bins as usize, |_| Home::default());
        self.parked_moves.iter_mut().for_each(|of| *of = 0);
        self.was_starved = false;
        (self.has_died, self.has_others) = (false, self.is_watched);
        self.due_pools.clear();
        for list in [&mut self.to_collect, &mut self.starved, &mut self.parked_parts] {
            list.clear();
        }
    }
}
