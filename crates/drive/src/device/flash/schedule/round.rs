//! State of the rounds of groups between events.

use crate::config::RoundsConfig;
use crate::device::ids::OpId;
use engine::Column;
use nand::GroupId;

/// The rounds of all groups.
#[derive(Clone)]
pub struct Rounds {
    pub(super) config: RoundsConfig,
    pub(super) groups: Column<GroupId, Round>,
}

/// Activity of a group in rounds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Stage {
    /// It serves operations of hosts.
    #[default]
    Serving,
    /// None: its batch has ended, and its bins are about to be asked for victims.
    Resting,
    /// Its bins choose victims.
    Choosing,
    /// It runs collections.
    Collecting,
}

/// The rounds of a group.
#[derive(Clone, Default)]
pub(super) struct Round {
    /// The rest of the batch, in the order of asking. These operations are in the queue, too.
    pub(super) batch: Vec<OpId>,
    pub(super) stage: Stage,
    /// The bin, by its place, that is polled first when the group next collects, for the unit of
    /// each cell.
    pub(super) turns: Vec<u32>,
    /// The bin, by its place, that is written next: for each pool, at the place of its first bin.
    pub(super) writes_to: Vec<usize>,
}

impl Rounds {
    pub(super) fn begin(config: RoundsConfig, groups: u32, cells_per_group: u32) -> Self {
        let round = Round { turns: vec![0; cells_per_group as usize], ..Round::default() };
        Self { config, groups: Column::filled(round, groups as usize) }
    }
    /// A copy of the rounds in their initial state.
    pub(super) fn begun_anew(&self) -> Self {
        let cells = self.groups.as_slice().first().map_or(0, |round| round.turns.len());
        Self::begin(self.config, self.groups.len() as u32, cells as u32)
    }
    /// True if the bins of a group choose victims.
    pub(super) fn is_choosing(&self, group: GroupId) -> bool {
        self.groups[group].stage == Stage::Choosing
    }
}
