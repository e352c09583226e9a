//! Failures of flash. From one moment on, nothing is requested of a pool that has failed. What was
//! requested before ends as usual, and its failure is known then.

use crate::device::Device;
use crate::device::base::Base;
use crate::device::event::Event;
use crate::device::failures::Failure;
use crate::device::ids::FailureId;
use crate::device::rebuilding::Progress;
use engine::Instant;
use ftl::{Lpn, PoolId, StripeId};
use std::collections::BTreeSet;

impl Device {
    /// Lets pools fail at a moment; `what` says in words what fails. Data must have parity.
    pub fn fail_at(&mut self, at: Instant, what: String, pools: Vec<PoolId>) {
        let id = FailureId(self.failures.len() as u32);
        self.failures.push(Failure { what, pools, at, lost: 0 });
        self.base.time.agenda.schedule(at, Event::Fail(id), id.0.into());
    }

    /// Notes how many logical mapping units, parity included, may ever hold data. That decides how
    /// much data of failed flash others have room for. Default: all.
    pub fn expect_data(&mut self, units: u32) {
        self.base.space.guests.expect(units);
    }

    /// Flash fails now.
    #[cold]
    pub(super) fn fail(&mut self, id: FailureId) {
        let Failure { pools, .. } = self.failures[id.0 as usize].clone();
        let before = self.lost_units();
        for pool in &pools {
            self.base.pool_fails(*pool);
        }
        if let Some(stripe) = self.first_beyond_repair() {
            return self.base.lose_data(stripe);
        }
        let lost_in_all = self.lost_units();
        let lost = lost_in_all - before;
        self.failures[id.0 as usize].lost = lost;
        self.port.computes_lost();
        self.write.whole_mut().flash_failed(&mut self.base);
        self.rebuilding.begin(&mut self.base, lost_in_all);
    }

    /// The first stripe of which more than one member is lost.
    fn first_beyond_repair(&self) -> Option<StripeId> {
        let stripes = self.base.space.ftl.layout.stripes.expect("what fails has parity");
        let is_lost = |lpn: Lpn| {
            self.write.whole().member(&self.base, lpn).is_some_and(|member| !member.is_there())
        };
        (0..stripes.count()).map(StripeId).find(|stripe| {
            let members = stripes.data(*stripe).chain([stripes.parity(*stripe)]);
            members.filter(|lpn| is_lost(*lpn)).count() > 1
        })
    }

    /// The failures so far. One that is due at the moment at which a run ends has not come.
    pub fn failures(&self) -> impl Iterator<Item = &Failure> {
        let (now, ftl) = (self.base.time.now, &self.base.space.ftl);
        let has_failed = |pool: &PoolId| ftl.has_failed(*pool);
        self.failures
            .iter()
            .filter(move |failure| failure.at <= now && failure.pools.iter().all(has_failed))
    }
    /// Progress of the rebuild.
    pub fn rebuild(&self) -> &Progress {
        &self.rebuilding.progress
    }
    /// Units that are lost: they are computed whenever they are read. Takes time proportional to the
    /// drive.
    pub fn lost_units(&self) -> u64 {
        if !self.base.space.ftl.has_failed_bins() {
            return 0;
        }
        let units = (0..self.base.space.ftl.layout.map_units).map(Lpn);
        units.filter(|lpn| self.write.whole().lost_version(&self.base, *lpn).is_some()).count()
            as u64
    }

    /// Loss of data for good, in words, if there was one.
    pub fn data_loss(&self) -> Option<&str> {
        self.base.loss()
    }
}

impl Base {
    /// A pool fails.
    fn pool_fails(&mut self, pool: PoolId) {
        for bin in self.space.ftl.layout.bins_of(pool).to_vec() {
            self.space.ftl.fail(bin);
            self.space.update_home_seldom(bin);
        }
        self.settle_space(pool);
        self.space.end_starving(pool);
        if self.space.guests.has_begun() {
            return;
        }
        let layout = &self.space.ftl.layout;
        let dies = |pool: PoolId| -> BTreeSet<u32> {
            layout.bins_of(pool).iter().flat_map(|bin| self.dies_of(*bin)).collect()
        };
        let dies = (0..layout.pool_count()).map(PoolId).map(dies).collect();
        self.space.guests.begin(&self.space.ftl, dies);
    }
}
