//! Scrubbing that goes first, because only its end frees space that is needed.

use crate::device::Base;
use crate::device::gc::Gc;
use ftl::{BinId, Stream};

impl Gc {
    /// Lets the scrubbing of a bin go first, and use the space of collection, if collection has found
    /// no block that gains space, has nothing under way, and hosts wait.
    #[cold]
    #[inline(never)]
    pub(in crate::device::gc) fn put_scrubbing_first(&mut self, base: &mut Base, bin: BinId) {
        let waits = base.space.is_awaited(bin) && !base.space.ftl.can_bind(bin, Stream::Host);
        let task = base.space.task(bin);
        let is_first = task.scrub_goes_first;
        let at_rest = task.deferred.is_empty() && self.is_idle(base, bin);
        let scrubber = self.scrubber();
        let is_under_way = scrubber.jobs[bin].block.is_some();
        if is_first || !is_under_way || !at_rest || !(waits || scrubber.ends) {
            return;
        }
        base.space.task_mut(bin).scrub_goes_first = true;
        base.note_scrubbing_first(bin);
        self.note_space(base, bin);
        base.raise_scrubbing(bin);
        base.unpark(bin);
        self.scrub_on(base, bin);
    }

    /// True if collection begins nothing in a bin, because scrubbing uses its space.
    #[inline]
    pub(in crate::device::gc) fn leaves_space_to_scrubbing(&self, base: &Base, bin: BinId) -> bool {
        self.scrubber.is_some() && base.space.task(bin).scrub_goes_first
    }

    /// True if scrubbing goes first in any bin: it will end.
    pub(in crate::device::gc) fn any_goes_first(&self, base: &Base) -> bool {
        let mut bins = base.space.bins();
        self.scrubber.is_some() && bins.any(|bin| base.space.task(bin).scrub_goes_first)
    }

    /// Continues scrubbing, and polls, that may have waited for space, which a bin has now.
    #[cold]
    pub(in crate::device::gc) fn scrub_in_new_space(&mut self, base: &mut Base, bin: BinId) {
        self.scrub_on(base, bin);
        if self.scrubber().ends {
            return self.put_scrubbing_first(base, bin);
        }
        self.go_on_polling(base, base.set_of_bin(bin));
    }

    /// Lets scrubbing end, because the drive is shut down: it takes no further block, and ends those
    /// that it has begun as soon as collection has nothing under way.
    pub(in crate::device::gc) fn end_scrubber(&mut self, base: &mut Base) {
        let Some(scrubber) = &mut self.scrubber else { return };
        scrubber.ends = true;
        scrubber.polls.iter_mut().for_each(|polls| polls.pending.clear());
        for bin in base.space.bins() {
            self.put_scrubbing_first(base, bin);
        }
    }
}
