//! Collection at the rate of host writes, which rests once it has moved what it owes.

use crate::device::Base;
use crate::device::gc::Gc;
use crate::device::gc::job::Course;
use ftl::{BinId, Pacing, Ppn};

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
        let others_wait = !self.config.preemptible || self.permits.is_some();
        let between = job.victim.is_none() && task.draining.is_empty() && job.staged.is_empty();
        // Windows of predictable latency say when collection works.
        self.windows.is_none()
            && job.course == Course::Needed
            && !job.look
            && (between || !others_wait && !task.scrubs)
            && base.space.ftl.migration(bin).is_none()
    }

    /// True if a collection at the rate of host writes may rest in the middle of a victim.
    pub(super) fn is_resting(&self, bin: BinId) -> bool {
        let job = &self.jobs[bin];
        self.config.pacing == Pacing::HostRate && job.victim.is_some() && job.under_way() == 0
    }

    /// Leaves victims that are half moved, because the drive is shut down: no operation is under way.
    pub(in crate::device) fn leave_victims(&mut self, base: &mut Base) {
        for bin in base.space.bins() {
            if !self.is_resting(bin) || base.space.task(bin).scrubs {
                continue;
            }
            let victim = self.jobs[bin].victim.take().expect("it rests in the middle of a victim");
            // What was read and not written is still valid where it was.
            for [_, from] in std::mem::take(&mut self.jobs[bin].staged) {
                let block = base.space.ftl.layout.block(Ppn(from));
                base.space.ftl.end_read(block);
            }
            base.space.ftl.leave_victim(bin, victim);
        }
    }
}
