//! Collections and polls of scrubbing that wait for their turn in a group of stripes.

use crate::device::base::Base;
use crate::policies::rotation::Rotation;
use engine::{Column, typed_id};
use ftl::{BinId, Layout, PoolId};

typed_id! {
    /// Neighbouring pools over which stripes lie.
    pub struct StripeGroupId;
}

/// Turns of others for which a bin in the background waits at most.
const PASSED_MOST: u32 = 16;

/// Collections, and polls of scrubbing, that wait for their turn.
#[derive(Clone)]
pub struct Turns {
    // ---- constant ----
    pub(super) policy: Rotation,
    width: u32,
    // ---- state ----
    pub(super) waiting: Column<StripeGroupId, Vec<BinId>>,
    /// Times that each bin has asked in vain since its last turn.
    vain: Column<BinId, u32>,
    /// True for bins of which a poll waits although programs of hosts wait for space there: their
    /// collection has had its turn, and cannot begin for another reason.
    in_need: Column<BinId, bool>,
    /// The bin that may choose a victim out of turn.
    pub(super) out_of_turn: Option<BinId>,
}

impl Turns {
    /// Nobody waits yet; none if there are no turns.
    pub fn new(policy: &Rotation, width: Option<u32>, layout: &Layout) -> Option<Self> {
        let width = width.filter(|_| policy.takes_turns())?;
        let groups = (layout.pool_count() / width) as usize;
        Some(Self {
            policy: policy.clone(),
            width,
            waiting: Column::filled(Vec::new(), groups),
            vain: Column::filled(0, layout.bins as usize),
            in_need: Column::filled(false, layout.bins as usize),
            out_of_turn: None,
        })
    }
    /// A copy of the turns while nothing is collected.
    pub fn begun_anew(&self) -> Self {
        let waiting = Column::filled(Vec::new(), self.waiting.len());
        let vain = Column::filled(0, self.vain.len());
        let in_need = Column::filled(false, self.in_need.len());
        Self { policy: self.policy.clone(), waiting, vain, in_need, out_of_turn: None, ..*self }
    }

    /// The group of a bin.
    pub fn group_of(&self, layout: &Layout, bin: BinId) -> StripeGroupId {
        StripeGroupId(layout.pool_of_bin(bin).0 / self.width)
    }
    /// The pools of a group.
    pub fn pools(&self, group: StripeGroupId) -> impl Iterator<Item = PoolId> + use<> {
        (group.0 * self.width..(group.0 + 1) * self.width).map(PoolId)
    }
    /// Groups of which a bin has members because the flash of other bins failed.
    pub fn groups_beside(&self, base: &Base, bin: BinId) -> impl Iterator<Item = StripeGroupId> {
        let pool = base.space.ftl.layout.pool_of_bin(bin);
        base.space.guests.groups_of(pool).map(StripeGroupId)
    }
    /// Notes that a collection or a poll waits, unless that is noted; `in_need` if programs of hosts
    /// wait for space in the bin.
    pub fn wait(&mut self, group: StripeGroupId, bin: BinId, in_need: bool) {
        self.in_need[bin] = in_need;
        if !self.waiting[group].contains(&bin) {
            self.waiting[group].push(bin);
            self.vain[bin] += 1;
        }
    }
    /// True if a bin waits although programs of hosts waited for space there when it asked.
    pub fn waits_in_need(&self, bin: BinId) -> bool {
        self.in_need[bin]
    }
    /// Notes that a collection has its turn.
    pub fn waits_no_more(&mut self, group: StripeGroupId, bin: BinId) {
        self.waiting[group].retain(|other| *other != bin);
        self.vain[bin] = 0;
    }
    /// Bins that have asked in vain so often that they go before bins in the foreground.
    pub fn passed_over(&self, waiting: &[BinId]) -> Vec<BinId> {
        waiting.iter().copied().filter(|bin| self.vain[*bin] > PASSED_MOST).collect()
    }
}
