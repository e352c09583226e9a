//! Programs of collection and of host data where the number of outstanding ones is limited.

use crate::device::Base;
use crate::device::gc::Gc;
use crate::device::ids::OpId;
use crate::device::pressure::{Next, Order, Writer};
use crate::device::tasks::Job;
use crate::device::write::Write;
use engine::Instant;
use ftl::{BySet, PoolId, SetId};

/// Priorities of writers that wait for a credit of an NVM set, as the device sees them.
struct Waiting<'d> {
    gc: &'d Gc,
    base: &'d Base,
    write: &'d Write,
    set: SetId,
}

impl Order for Waiting<'_> {
    fn rank(&self, id: OpId) -> u32 {
        self.base.flash.op(id).class as u32
    }
    fn goes_first(&self, writer: Writer) -> bool {
        self.is_closing() || self.base.goes_first(writer)
    }
    fn keeps(&self, writer: Writer) -> bool {
        self.is_closing() || self.base.keeps_credit(writer)
    }
    fn has_begun(&self, read: OpId) -> bool {
        self.base.flash.has_begun(read)
    }
    fn since(&self, pool: PoolId) -> Option<Instant> {
        self.write.since(pool)
    }
}

impl Waiting<'_> {
    /// True if a deterministic window is about to begin: it waits for the end of all collections.
    fn is_closing(&self) -> bool {
        self.gc.windows.as_ref().is_some_and(|of| of.is_closing(self.set))
    }
}

impl Gc {
    /// Lets those go on that wait for a credit of an NVM set, as long as one is free.
    #[cold]
    #[inline(never)]
    pub(in crate::device) fn go_on_with_credits(
        &mut self,
        base: &mut Base,
        write: &mut Write,
        set: SetId,
    ) {
        while let Some(next) = self.next_program(base, write, set) {
            let writer = match next {
                Next::Late(id, since) => {
                    base.resume_late(id, since);
                    continue;
                }
                Next::Writer(writer) => writer,
            };
            match writer {
                Writer::Pool(pool) => write.flush_pool(base, pool),
                Writer::Scrubbing(bin) if self.scrubber.is_some() => {
                    base.note_wait(writer, false);
                    self.scrub_on(base, bin);
                }
                Writer::Collection(bin) | Writer::Scrubbing(bin) => {
                    base.note_wait(writer, false);
                    self.write_whole_batches(base, bin);
                    self.collect(base, bin);
                }
            }
            base.end_call_for_credit(set, writer);
        }
        base.end_calls_for_credits(set);
        if base.tasks.is_some() {
            // A program whose data has become invalid has given its task back, for which an erase may wait.
            self.go_on_with_tasks(base, set);
        }
    }

    fn next_program(&self, base: &mut Base, write: &Write, set: SetId) -> Option<Next> {
        // The order of those that wait follows from the rest of the base.
        let mut pressure = base.space.pressure.take()?;
        let order = Waiting { gc: self, base, write, set };
        let next = pressure.next(base.time.now, set, &order);
        base.space.pressure = Some(pressure);
        next
    }

    /// Compares the credits with the programs, one by one, and finds what waits in vain.
    #[inline]
    pub(in crate::device) fn audit_pressure(&self, base: &Base, write: &BySet<Write>) {
        if base.is_audited() && base.space.pressure.is_some() {
            base.audit_credits();
            self.audit_waits_for_credits(base, write);
        }
    }

    #[cold]
    #[inline(never)]
    fn audit_waits_for_credits(&self, base: &Base, write: &BySet<Write>) {
        let pressure = base.space.pressure.as_ref().expect("programs are limited");
        for set in (0..base.space.ftl.layout.set_count()).map(SetId) {
            let order = Waiting { gc: self, base, write: &write[set], set };
            let is_vain = pressure.waits_in_vain(set, &order);
            assert!(!is_vain, "audit: programs of {set:?} wait in vain");
            base.audit_free_task(set);
        }
        for bin in base.space.bins() {
            let set = base.set_of_bin(bin);
            let whole = base.space.ftl.layout.units_per_batch as usize;
            let movers = [Writer::Collection(bin), Writer::Scrubbing(bin)];
            let [collection, scrubbing] = movers.map(|of| pressure.awaits_mover(set, of));
            let waits = collection || scrubbing && self.scrubber.is_none();
            let waits = waits || base.awaits_task(Job::Collection(bin));
            let is_called = waits || self.jobs[bin].staged.len() < whole;
            assert!(is_called, "audit: data of GC in {bin:?} waits for nothing");
            let waits = scrubbing || base.awaits_task(Job::Scrubbing(bin));
            let is_called = waits || !self.has_batch_to_scrub(base, bin);
            assert!(is_called, "audit: data of scrubbing in {bin:?} waits for nothing");
        }
    }
}
