//! Garbage collection, wear-leveling moves and scrubbing in time.

pub mod backlog;
mod chain;
pub mod collect;
mod moves;
pub mod scrub;
mod streaming;
mod victims;

use crate::config::{DriveConfig, EraseBatching};
use collect::Job;
use engine::Column;
use ftl::{BinId, GcConfig, Layout};
use nand::GroupId;

/// Collections, by bin.
#[derive(Clone)]
pub struct Gc {
    // ---- constant ----
    pub(in crate::device) config: GcConfig,
    /// How erases that are ready wait for a burst of reads to end, if they do.
    pub(in crate::device) erase_batching: Option<EraseBatching>,
    /// Planes of a package, where pages stream between packages while a block is collected.
    pub(in crate::device) streaming: Option<u32>,
    // ---- state ----
    /// Scrubbing, if there is any.
    pub(in crate::device) scrubs: Option<scrub::Turn>,
    pub(in crate::device) jobs: Column<BinId, Job>,
    /// Erases that wait for a burst of reads to end.
    pub(in crate::device) backlogs: Column<BinId, backlog::Backlog>,
    /// Groups whose idle collection found nothing that gains space.
    pub(in crate::device) thwarted: Vec<GroupId>,
}

impl Gc {
    pub fn new(config: &DriveConfig, layout: &Layout) -> Self {
        let geometry = &config.geometry;
        Self {
            config: config.ftl.gc.clone(),
            erase_batching: config.scheduler.erase_batching,
            streaming: (config.ftl.gc.streaming)
                .then_some(geometry.planes_per_die * geometry.dies_per_package),
            scrubs: config.ftl.scrub.as_ref().map(scrub::Turn::new),
            jobs: Column::from_fn(layout.bins as usize, |_| Job::default()),
            backlogs: Column::from_fn(layout.bins as usize, |_| backlog::Backlog::default()),
            thwarted: Vec::new(),
        }
    }
}
