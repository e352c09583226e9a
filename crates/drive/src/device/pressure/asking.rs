//! Requests of programs where the number of outstanding ones is limited, and their ends.

use crate::device::base::Base;
use crate::device::flash::Note;
use crate::device::flash::op::Owner;
use crate::device::ids::OpId;
use crate::device::pressure::{PressureCounts, Writer};
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

    /// Lets programs of background GC that have a credit start before host data, if host data waits for
    /// one: else it would wait for reads that go before them.
    fn raise_programs(&mut self, set: SetId) {
        for bin in self.space.bins() {
            if self.set_of_bin(bin) == set {
                let group = self.flash.place(bin).group;
                self.flash.raise_programs(&mut self.time, &mut self.space, group);
            }
        }
    }

    /// Takes a credit for a program of a bin's collection, which requests it next. If none is free, the
    /// collection is called later.
    #[inline]
    pub fn takes_credit(&mut self, bin: BinId) -> bool {
        self.space.pressure.is_none() || self.takes_free_credit(bin)
    }

    #[cold]
    #[inline(never)]
    fn takes_free_credit(&mut self, bin: BinId) -> bool {
        let (now, set) = (self.time.now, self.set_of_bin(bin));
        let pressure = self.space.pressure.as_mut().expect("programs are limited");
        let takes = pressure.take(now, set, Writer::Collection(bin));
        self.note_wait(bin, !takes);
        if !takes {
            self.call_waiting(set);
        }
        takes
    }

    /// Notes that a bin's collection has asked for a read: the credit for its program is kept from the
    /// moment at which the read begins to its end. If it begins anew then, none is kept.
    #[cold]
    #[inline(never)]
    pub fn keep_credit(&mut self, bin: BinId, read: OpId) {
        let set = self.set_of_bin(bin);
        let pressure = self.space.pressure.as_mut().expect("programs are limited");
        pressure.begin_read(set, bin, read);
    }

    /// Notes if a bin's collection waits for a credit.
    pub fn note_wait(&mut self, bin: BinId, waits: bool) {
        if self.space.awaits_credit(bin) != waits {
            self.settle_space_of(bin);
            self.space.set_awaits_credit(bin, waits);
        }
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

    /// The same, for a set.
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
        } else if matches!(op.owner, Owner::CollectRead(_)) {
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
        let going: Vec<OpId> = parked.filter(|id| pressure.resume(now, set, *id)).collect();
        self.flash.resume(&mut self.time, &mut self.space, going.into_iter());
    }

    /// Requeues a program that waited for space, and then for a credit since `since`.
    pub fn resume_late(&mut self, id: OpId, since: Instant) {
        self.flash.blame_mut(id).charge(State::Pressure, self.time.now - since);
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
