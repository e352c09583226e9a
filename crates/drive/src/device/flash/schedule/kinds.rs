//! The schedulers that there are, as flash keeps them.

use crate::config::SchedulerConfig;
use crate::device::flash::schedule::round::Rounds;
use nand::Units;

/// When operations begin.
#[derive(Clone)]
pub enum Schedule {
    /// In rounds: one operation on each unit of a group, and no other before all have ended.
    Rounds(Rounds),
    /// Each as soon as its unit is free, and its channel where commands take cycles.
    Free,
}

impl Schedule {
    /// The scheduler that a configuration asks for.
    pub fn new(config: &SchedulerConfig, units: &Units) -> Self {
        config.rounds.map_or(Self::Free, |rounds| {
            Self::Rounds(Rounds::begin(rounds, units.groups, units.cells_per_group))
        })
    }
    /// The same to which nothing has happened yet.
    pub fn begun_anew(&self) -> Self {
        match self {
            Self::Rounds(rounds) => Self::Rounds(rounds.begun_anew()),
            Self::Free => Self::Free,
        }
    }
    /// Whether an operation that finds its unit free begins without standing in a queue. It is
    /// then what this scheduler would have chosen.
    pub fn begins_at_once(&self) -> bool {
        matches!(self, Self::Free)
    }
    /// Whether it says when collection may choose victims.
    pub fn calls_collection(&self) -> bool {
        matches!(self, Self::Rounds(_))
    }
}
