//! The schedulers.

use crate::config::SchedulerConfig;
use crate::device::flash::schedule::round::Rounds;
use nand::Units;

/// The scheduler: it decides when operations begin.
#[derive(Clone)]
pub enum Schedule {
    /// In rounds: one operation starts on each unit of a group, and no other before all have ended.
    Rounds(Rounds),
    /// Each as soon as its unit is free, and also its channel if commands take cycles.
    Free,
}

impl Schedule {
    /// The scheduler that a configuration asks for.
    pub fn new(config: &SchedulerConfig, units: &Units) -> Self {
        config.rounds.map_or(Self::Free, |rounds| {
            Self::Rounds(Rounds::begin(rounds, units.groups, units.cells_per_group))
        })
    }
    /// A copy of the scheduler in its initial state.
    pub fn begun_anew(&self) -> Self {
        match self {
            Self::Rounds(rounds) => Self::Rounds(rounds.begun_anew()),
            Self::Free => Self::Free,
        }
    }
    /// True if an operation whose unit is free begins without being queued. The scheduler would
    /// have chosen that operation.
    pub fn begins_at_once(&self) -> bool {
        matches!(self, Self::Free)
    }
    /// True if the scheduler decides when collection may choose victims.
    pub fn calls_collection(&self) -> bool {
        matches!(self, Self::Rounds(_))
    }
}
