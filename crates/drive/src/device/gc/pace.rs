//! Collection at the rate of host writes, which rests once it has moved what it owes.

use crate::device::Base;
use crate::device::gc::Gc;
use crate::device::gc::job::Course;
use ftl::{BinId, Pacing};

impl Gc {
    /// True if a collection at the rate of host writes does not go on now. A collection that reserves
    /// flash, or that others wait for, rests between two victims only: others would wait as long as no
    /// host writes to its bin.
    #[inline(always)]
    pub(super) fn rests_at_pace(&self, base: &Base, bin: BinId) -> bool {
        base.space.is_paid(bin) && self.may_rest(base, bin)
    }

    #[inline(never)]
    fn may_rest(&self, base: &Base, bin: BinId) -> bool {
        let job = &self.jobs[bin];
        let task = base.space.task(bin);
        let is_whole = !self.config.preemptible || self.permits.is_some() || self.ends_victims;
        // Windows of predictable latency say when collection works.
        self.windows.is_none()
            && job.course == Course::Needed
            && !job.look
            && (job.victim.is_none() || !is_whole && !task.scrubs)
            && base.space.ftl.migration(bin).is_none()
            && !self.lacks_space_to_scrub(base, bin)
    }

    /// True if collection works at the rate of host writes.
    pub(super) fn follows_hosts(&self) -> bool {
        self.config.pacing == Pacing::HostRate
    }

    /// True if a collection at the rate of host writes may rest in the middle of a victim.
    pub(super) fn is_resting(&self, bin: BinId) -> bool {
        let job = &self.jobs[bin];
        self.follows_hosts() && job.victim.is_some() && job.under_way() == 0
    }

    /// Lets collections that rest end their victims, because the drive is shut down.
    pub(in crate::device) fn end_resting(&mut self, base: &mut Base) {
        self.ends_victims = true;
        for bin in base.space.bins() {
            if self.is_resting(bin) {
                self.collect(base, bin);
            }
        }
    }
}
