//! Requests of programs where the number of outstanding ones is limited, and their ends.

use crate::device::base::Base;
use crate::device::flash::op::{Class, Owner};
use crate::device::flash::{Note, Placement};
use crate::device::ids::OpId;
use crate::device::pressure::{PressureCounts, Writer};
use crate::device::tasks::{Job, Step};
use engine::Instant;
use ftl::{BinId, PoolId, SetId};
use metrics::State;

impl Base {
    /// Takes a credit for a program of a pool's host data. If none is free, the pool is called later. A
    /// pool that no bin has room for needs none.
    #[cold]
    #[inline(never)]
    pub fn takes_credit_of_pool(&mut self, pool: PoolId) -> bool {
        let (now, set) = (self.time.now, self.set_of_pool(pool));
        let has_bin = self.space.has_available(pool);
        let pressure = self.space.pressure.as_mut().expect("programs are limited");
        if has_bin && !pressure.take(now, set, Writer::Pool(pool)) {
            match pressure.is_free(set) {
                // It waits if that is kept for another one.
                true => self.call_waiting(set),
                false => self.hold(pool),
            }
            return false;
        }
        if !has_bin {
            pressure.forget(set, pool);
        }
        self.space.settle_hold(pool, now, false);
        true
    }

    /// Counts a pool's time for which its data waits for a credit, from now on. It has space.
    fn hold(&mut self, pool: PoolId) {
        if !self.space.is_held(pool) {
            self.settle_space(pool);
            self.space.end_starving(pool);
            self.space.hold(pool, self.time.now);
            self.raise_programs(self.set_of_pool(pool));
        }
    }

    /// Counts that time up to now.
    pub fn settle_hold(&mut self, pool: PoolId) {
        self.space.settle_hold(pool, self.time.now, true);
    }

    /// Ends the wait of a pool that was called and does not wait again.
    pub fn end_hold(&mut self, pool: PoolId) {
        self.space.settle_hold(pool, self.time.now, false);
    }

    /// Lets programs of background GC and of scrubbing that have a credit start before host data, if another
    /// one waits that goes before them: else it would wait for reads that go before them.
    fn raise_programs(&mut self, set: SetId) {
        for bin in self.space.bins() {
            if self.set_of_bin(bin) == set {
                let group = self.flash.place(bin).group;
                self.flash.raise_programs(&mut self.time, &mut self.space, group);
            }
        }
    }

    /// Takes a task and a credit for a program of a job, or a copy-back, which requests it next, as far as
    /// they are limited. If one of them is not free, it takes none, and is called later: who waits for one
    /// must not keep the other one from others.
    #[inline]
    pub fn begins_program(&mut self, job: Job, step: Step) -> bool {
        match self.space.pressure.is_none() {
            true => self.takes_task(job, step),
            false => self.begins_within_limit(job, step),
        }
    }

    #[cold]
    #[inline(never)]
    fn begins_within_limit(&mut self, job: Job, step: Step) -> bool {
        let (bin, writer) = match job {
            Job::Collection(bin) => (bin, self.writer_of(bin)),
            Job::Scrubbing(bin) => (bin, Writer::Scrubbing(bin)),
            Job::Patrol(_) => unreachable!("a patrol programs nothing"),
        };
        let set = self.set_of_bin(bin);
        let pressure = self.space.pressure.as_ref().expect("programs are limited");
        // Without a credit it asks for no task: it could not use one.
        let may_take = pressure.may_take(set, writer);
        (!may_take || self.takes_task(job, step)) && self.takes_free_credit(bin, writer)
    }

    #[cold]
    #[inline(never)]
    fn takes_free_credit(&mut self, bin: BinId, writer: Writer) -> bool {
        let (now, set) = (self.time.now, self.set_of_bin(bin));
        let pressure = self.space.pressure.as_mut().expect("programs are limited");
        let takes = pressure.take(now, set, writer);
        let is_full = !pressure.is_free(set);
        self.note_wait(writer, !takes);
        if !takes {
            self.call_waiting(set);
            if is_full && self.goes_first(writer) {
                self.raise_programs(set);
            }
        }
        takes
    }

    /// The writer that the collection of a bin is now: it moves data of a victim, or of a block
    /// that is scrubbed.
    fn writer_of(&self, bin: BinId) -> Writer {
        match self.space.task(bin).scrubs {
            true => Writer::Scrubbing(bin),
            false => Writer::Collection(bin),
        }
    }

    /// True for GC that goes before host data, and for scrubbing that does, or that such GC waits for.
    pub fn goes_first(&self, writer: Writer) -> bool {
        match writer {
            Writer::Pool(_) => false,
            Writer::Collection(bin) => self.class_of(bin) != Class::Background,
            Writer::Scrubbing(bin) if self.space.has_scrubber() => {
                self.space.class_of_scrubbing(bin) != Class::Background
            }
            Writer::Scrubbing(bin) => {
                self.class_of(bin) != Class::Background || self.space.scrubs_before_gc(bin)
            }
        }
    }

    /// True for such GC and scrubbing that a credit is kept for while it reads. Scrubbing that goes first
    /// only until a host program has found its page needs none.
    pub fn keeps_credit(&self, writer: Writer) -> bool {
        match writer {
            Writer::Scrubbing(bin) if !self.space.has_scrubber() => {
                self.space.scrubs_before_gc(bin)
            }
            other => self.goes_first(other),
        }
    }

    /// Lets programs that have a credit start before host data, if GC of a bin waits for one in the
    /// foreground: it may have come there while it waited.
    #[cold]
    #[inline(never)]
    pub fn raise_programs_before(&mut self, bin: BinId) {
        if self.space.awaits_credit(bin) {
            self.raise_programs(self.set_of_bin(bin));
        }
    }

    /// Notes that a bin's collection, or its scrubbing, has asked for a read: the credit for its program is
    /// kept from the moment at which the read begins to its end. If it begins anew then, none is kept.
    #[cold]
    #[inline(never)]
    pub fn keep_credit(&mut self, bin: BinId, read: OpId) {
        let writer = match self.flash.op(read).owner {
            Owner::ScrubRead(_) => Writer::Scrubbing(bin),
            _ => self.writer_of(bin),
        };
        let set = self.set_of_bin(bin);
        let pressure = self.space.pressure.as_mut().expect("programs are limited");
        pressure.begin_read(set, writer, read);
    }

    /// Notes if what may free space in a bin waits for a credit: its collection, or its scrubbing in the
    /// place of that. Other scrubbing that is a task of its own keeps space from nobody.
    pub fn note_wait(&mut self, writer: Writer, waits: bool) {
        let bin = match writer {
            Writer::Pool(_) => return,
            Writer::Scrubbing(_) if self.space.has_scrubber() && !self.goes_first(writer) => return,
            Writer::Collection(bin) | Writer::Scrubbing(bin) => bin,
        };
        if self.space.awaits_credit(bin) != waits {
            self.settle_space_of(bin);
            self.space.set_awaits_credit(bin, waits);
        }
    }

    /// Notes that the scrubbing of a bin, which is a task of its own, is in the place of collection from now
    /// on: its programs go before host data.
    pub fn note_scrubbing_first(&mut self, bin: BinId) {
        let (set, writer) = (self.set_of_bin(bin), Writer::Scrubbing(bin));
        let Some(pressure) = &self.space.pressure else { return };
        let waits = pressure.awaits_mover(set, writer);
        self.note_wait(writer, waits);
        self.call_waiting(set);
    }

    /// Takes the credit back of a program of a bin that was not requested, or became a read.
    #[cold]
    pub fn give_credit_back(&mut self, bin: BinId) {
        let (now, set) = (self.time.now, self.set_of_bin(bin));
        if let Some(pressure) = &mut self.space.pressure {
            pressure.give_back(now, set);
            self.call_for_credits(bin);
        }
    }

    /// Lets those go on, soon, that wait for a credit of a bin's set, if one is free.
    #[inline]
    pub fn call_for_credits(&mut self, bin: BinId) {
        if self.space.pressure.is_some() {
            self.call_waiting(self.set_of_bin(bin));
        }
    }

    /// Lets those go on, soon, that wait for a credit of a set, if one is free.
    pub fn call_for_credits_of(&mut self, set: SetId) {
        if self.space.pressure.is_some() {
            self.call_waiting(set);
        }
    }

    #[cold]
    #[inline(never)]
    fn call_waiting(&mut self, set: SetId) {
        let pressure = self.space.pressure.as_ref().expect("programs are limited");
        if pressure.is_free(set) && pressure.has_waiting(set) {
            self.flash.note(Note::Credits(set));
        }
    }

    /// Handles the end of an operation, or of a read that begins anew: a program gives its credit back,
    /// and none is kept for a read any more.
    pub fn ended_within_limit(&mut self, id: OpId) {
        let op = self.flash.op(id);
        let (bin, set) = (op.bin, self.set_of_bin(op.bin));
        if op.is_program() {
            self.give_credit_back(bin);
        } else if matches!(op.owner, Owner::CollectRead(_) | Owner::ScrubRead(_)) {
            let pressure = self.space.pressure.as_mut().expect("programs are limited");
            pressure.end_read(set, id);
            self.call_waiting(set);
        }
    }

    /// Requeues programs that waited for space, as many as there are credits; the others go on later.
    #[cold]
    #[inline(never)]
    pub fn resume_within_limit(&mut self, set: SetId, parked: impl Iterator<Item = OpId>) {
        let now = self.time.now;
        let pressure = self.space.pressure.as_mut().expect("programs are limited");
        let (going, late): (Vec<OpId>, Vec<OpId>) =
            parked.partition(|id| pressure.resume(now, set, *id));
        for id in &going {
            self.space.note_resumed(self.flash.op(*id));
        }
        self.note_resumed_moves(set);
        self.flash.resume(&mut self.time, &mut self.space, going.into_iter());
        if !late.is_empty() {
            self.raise_programs(set);
        }
    }

    /// Requeues a program that waited for space, and then for a credit since `since`.
    pub fn resume_late(&mut self, id: OpId, since: Instant) {
        self.flash.blame_mut(id).charge(State::Pressure, self.time.now - since);
        let op = self.flash.op(id);
        self.space.note_resumed(op);
        self.note_resumed_moves(self.set_of_bin(op.bin));
        self.flash.resume(&mut self.time, &mut self.space, std::iter::once(id));
    }

    /// True for a program whose bin has space again, and that waits for a credit.
    pub fn is_late(&self, id: OpId) -> bool {
        let set = self.set_of_bin(self.flash.op(id).bin);
        let pressure = self.space.pressure.as_ref();
        pressure.is_some_and(|pressure| pressure.late(set).any(|late| late == id))
    }

    /// Ends the call of a set's writer; if host data still waits, programs of background GC do not.
    pub fn end_call_for_credit(&mut self, set: SetId, called: Writer) {
        let pressure = self.space.pressure.as_mut().expect("programs are limited");
        pressure.end_call(set);
        if let Writer::Pool(pool) = called
            && !pressure.awaits(set, pool)
        {
            self.end_hold(pool);
        }
    }

    /// Counts the waits of host data that got no credit, and lets programs of background GC start before
    /// it.
    pub fn end_calls_for_credits(&mut self, set: SetId) {
        let pressure = self.space.pressure.as_ref().expect("programs are limited");
        let pools: Vec<PoolId> = pressure.pools(set).collect();
        for pool in &pools {
            self.hold(*pool);
        }
        if !pools.is_empty() {
            self.raise_programs(set);
        }
    }

    /// Counts of an NVM set's programs up to now, if their number is limited.
    pub fn pressure_counts(&mut self, set: SetId) -> Option<PressureCounts> {
        let now = self.time.now;
        self.space.pressure.as_mut().map(|pressure| pressure.counts(now, set))
    }

    /// Compares the credits with the programs, one by one.
    pub fn audit_credits(&self) {
        let Some(pressure) = &self.space.pressure else { return };
        let sets = (0..self.space.ftl.layout.set_count()).map(SetId);
        let mut found: Vec<u32> = sets.clone().map(|_| 0).collect();
        for id in self.flash.op_ids() {
            let op = self.flash.op(id);
            found[self.set_of_bin(op.bin).0 as usize] += u32::from(op.is_program());
        }
        for set in sets {
            let index = set.0 as usize;
            let bins = self.space.bins().filter(|bin| self.set_of_bin(*bin) == set);
            let parked = bins.map(|bin| self.space.parked(bin).len() as u32).sum::<u32>();
            let late = pressure.late(set).count() as u32;
            assert_eq!(
                found[index],
                pressure.taken(set) + parked + late,
                "audit: programs of {set:?}"
            );
            assert!(pressure.taken(set) <= pressure.most(), "audit: too many programs of {set:?}");
        }
    }
}
