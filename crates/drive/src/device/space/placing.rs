//! Places of host writes: pools and their bins, and programs on their way to one.

use crate::config::Durability;
use crate::device::flash::counters::OpKind;
use crate::device::flash::op::{Class, Op, Payloads, Rest};
use crate::device::flash::{Bound, Placement, Wanted};
use crate::device::ids::OpId;
use crate::device::space::Space;
use crate::device::space::waits::SpaceSnapshot;
use engine::Instant;
use ftl::{Batch, BinChoice, BinId, BlockId, Full, Level, Lpn, PoolId, SetId, Stream};
use metrics::{Holder, Snapshot};

impl Space {
    /// Re-evaluates if a bin can take another program.
    #[inline(always)]
    pub(in crate::device) fn update_home(&mut self, bin: BinId) {
        let through = self.buffer.durability == Durability::None;
        let home = &mut self.bins[bin];
        let roomy = self.ftl.room(bin, Stream::Host) > home.unbound && !self.ftl.is_failed(bin);
        let available = roomy && (through || home.queued < self.programs_most);
        if roomy == home.roomy && available == home.available {
            return;
        }
        let pool = &mut self.pools[self.ftl.layout.pool_of_bin(bin)];
        pool.roomy = pool.roomy + u32::from(roomy) - u32::from(home.roomy);
        pool.set_available(home.place, available);
        home.roomy = roomy;
        home.available = available;
    }

    /// Numbers the bins of every pool, at the start.
    pub(in crate::device) fn place_homes(&mut self) {
        for pool in (0..self.ftl.layout.pool_count()).map(PoolId) {
            for place in 0..self.ftl.layout.bins_of(pool).len() {
                let bin = self.ftl.layout.bins_of(pool)[place];
                self.bins[bin].place = place as u32;
                self.update_home(bin);
            }
        }
    }

    /// The bin that takes a pool's next batch; `None` if all are busy or full. `load` counts the
    /// operations that wait for a bin's flash or use it.
    #[inline(always)]
    pub(in crate::device) fn choose_bin(
        &mut self,
        pool: PoolId,
        load: impl Fn(BinId) -> u32,
    ) -> Option<BinId> {
        let bins = self.ftl.layout.bins_of(pool);
        let state = &self.pools[pool];
        let place = match state.choice {
            BinChoice::RoundRobin => state.next_in_turn(),
            BinChoice::LeastBusy => state.in_turn().min_by_key(|place| load(bins[*place])),
            choice => self.best(choice, state.in_turn(), |place| bins[place]),
        }?;
        self.pools[pool].turn = if place + 1 == bins.len() { 0 } else { place + 1 };
        Some(bins[place])
    }

    /// The bin of a pool that takes rebuilt data: it does not count among the programs of hosts that a
    /// bin may have in preparation.
    pub(in crate::device) fn choose_for_rebuild(&mut self, pool: PoolId) -> BinId {
        let bins = self.ftl.layout.bins_of(pool).iter().copied();
        let bin = bins.max_by_key(|bin| self.unpromised_units(*bin)).expect("a pool has a bin");
        self.bins[bin].unbound += 1;
        self.update_home_seldom(bin);
        bin
    }

    /// As [`Space::update_home`], where that need not be fast.
    #[cold]
    #[inline(never)]
    pub(in crate::device) fn update_home_seldom(&mut self, bin: BinId) {
        self.update_home(bin);
    }

    /// True if no bin of a pool has space, and that is not noted yet.
    pub(in crate::device) fn starves_anew(&self, pool: PoolId) -> bool {
        let state = &self.pools[pool];
        state.roomy == 0 && state.starved.is_none()
    }

    /// The best of some places, considered in turn.
    #[inline]
    fn best(
        &self,
        choice: BinChoice,
        mut in_turn: impl Iterator<Item = usize>,
        bin: impl Fn(usize) -> BinId,
    ) -> Option<usize> {
        match choice {
            BinChoice::RoundRobin => in_turn.next(),
            BinChoice::LeastBusy => unreachable!("rounds refuse it"),
            BinChoice::LeastQueued => in_turn.min_by_key(|place| self.bins[bin(*place)].queued),
            BinChoice::MostFree => {
                in_turn.min_by_key(|place| u32::MAX - self.unpromised_units(bin(*place)))
            }
        }
    }

    /// Notes that a program of host data has been bound in its bin.
    #[inline(never)]
    fn bound_for_host(&mut self, op: &Op, payloads: &Payloads) -> Bound {
        let bound = self.note_bound(op.bin);
        self.prefetch_entries(op, payloads);
        bound
    }
    /// Notes in the state of a bin that one of its programs has its place.
    #[inline(always)]
    pub(super) fn note_bound(&mut self, bin: BinId) -> Bound {
        let home = &mut self.bins[bin];
        home.unbound -= 1;
        home.task.scrubbed_last = false;
        self.update_home(bin);
        if self.owe(bin) { Bound::Owing } else { Bound::Here }
    }

    /// True if a move of a bin's collection, or of its scrubbing, would find a page.
    #[inline]
    pub(in crate::device) fn can_move(&self, bin: BinId, writer: Holder) -> bool {
        match writer {
            Holder::Scrub => self.can_bind_scrubbed(bin),
            _ => self.ftl.can_bind(bin, Stream::Gc),
        }
    }
    #[cold]
    fn can_bind_scrubbed(&self, bin: BinId) -> bool {
        let stream = self.ftl.scrub_stream();
        match self.keeps_apart(bin) {
            true => self.ftl.can_bind_apart(bin, stream),
            false => self.ftl.can_bind(bin, stream),
        }
    }
    #[cold]
    fn bind_scrubbed(&mut self, bin: BinId) -> Result<Batch, Full> {
        match self.can_bind_scrubbed(bin) {
            true => self.ftl.bind(bin, self.ftl.scrub_stream()),
            false => Err(Full),
        }
    }
    /// True if scrubbing of a bin does not use the space of collection.
    fn keeps_apart(&self, bin: BinId) -> bool {
        self.has_scrubber && !self.bins[bin].task.scrub_goes_first
    }

    /// Gives a copy-back the next page if it may not move its data to its page, which then stays
    /// without data; returns true if that opens a block. There is a page, as [`Space::copies_gain`]
    /// has found.
    #[cold]
    #[inline(never)]
    fn fit(&mut self, op: &mut Op) -> bool {
        if op.batch % 2 == op.row % 2 {
            return false;
        }
        self.ftl.skip(op.at());
        let next = self.ftl.bind(op.bin, Stream::Gc).expect("room for all copies of a victim");
        (op.block, op.batch) = (next.block, next.batch);
        next.batch == 0
    }

    /// True if copy-backs of all valid pages of a victim take fewer pages than its erase frees, and
    /// there is room for them, where some pages stay without data ([`nand::CopyBackPages::OddEven`]).
    /// Pages of which a part is valid, or that have been copied too often, take one each at most, and
    /// a copy-back of any other page may take two then.
    #[inline(never)]
    pub(in crate::device) fn copies_gain(&self, bin: BinId, victim: BlockId) -> bool {
        let ftl = &self.ftl;
        // Hosts may make parts of a page invalid before its turn comes.
        let mut all_copied = ftl.layout.units_per_batch == 1;
        let (mut taken, mut pages) = (0, 0);
        let mut next = ftl.next_place(bin, Stream::Gc);
        let mut at = Batch { block: victim, batch: 0 };
        while let Some((from, valid)) = ftl.next_valid_batch(at) {
            all_copied &= valid == ftl.layout.whole_batch() && ftl.may_be_copied(from);
            let step = if next % 2 == from.batch % 2 { 1 } else { 2 };
            (taken, next, pages) = (taken + step, next + step, pages + 1);
            at.batch = from.batch + 1;
        }
        let taken = if all_copied { taken } else { 2 * pages };
        taken < ftl.layout.batches_per_block && taken <= ftl.room(bin, Stream::Gc)
    }

    fn is_of(&self, pool: PoolId, bin: BinId) -> bool {
        self.ftl.layout.pool_of_bin(bin) == pool
    }

    /// Notes that a host program is asked for in a bin, or no longer.
    #[inline(always)]
    pub(in crate::device) fn promise(&mut self, bin: BinId, is_asked: bool) {
        let home = &mut self.bins[bin];
        if is_asked {
            (home.queued, home.unbound) = (home.queued + 1, home.unbound + 1);
        } else {
            (home.queued, home.unbound) = (home.queued - 1, home.unbound - 1);
        }
        self.update_home(bin);
    }

    /// Free units of a bin that no program waits for.
    fn unpromised_units(&self, bin: BinId) -> u32 {
        let promised = self.bins[bin].unbound * self.ftl.layout.units_per_batch;
        self.ftl.free_units(bin).saturating_sub(promised)
    }

    /// The bin that is blamed if a pool has no space left.
    pub(in crate::device) fn blamed_bin(&self, pool: PoolId) -> BinId {
        self.ftl.layout.bins_of(pool)[self.pools[pool].turn]
    }

    /// Notes that a pool has no space left, and the state of the blamed bin's waits by now.
    pub(in crate::device) fn starve(&mut self, pool: PoolId, bin: BinId, then: SpaceSnapshot) {
        let bins = self.ftl.layout.bins_of(pool);
        self.starved.extend_from_slice(bins);
        self.to_collect.extend_from_slice(bins);
        self.pools[pool].starved = Some((bin, then));
        self.was_starved = true;
    }

    /// True if host programs are yet to find a page in a bin.
    pub(in crate::device) fn is_awaited(&self, bin: BinId) -> bool {
        self.bins[bin].unbound > 0 || self.is_starved(bin)
    }

    /// True if a bin's pool waits for space.
    pub(in crate::device) fn is_starved(&self, bin: BinId) -> bool {
        self.pools[self.ftl.layout.pool_of_bin(bin)].starved.is_some()
    }

    /// Re-evaluates bins that are short of space: data has become invalid, so they may find a
    /// victim.
    #[inline]
    pub(in crate::device) fn retry_starved(&mut self, set: SetId) {
        self.has_died = self.idles;
        self.has_others |= self.idles;
        if !self.starved.is_empty() {
            self.retry_starved_of(set);
        }
    }

    #[inline(never)]
    fn retry_starved_of(&mut self, set: SetId) {
        self.starved.sort_unstable();
        self.starved.dedup();
        let layout = &self.ftl.layout;
        self.to_collect.extend(self.starved.extract_if(.., |bin| layout.set_of_bin(*bin) == set));
    }
}

impl Placement for Space {
    #[inline(always)]
    fn has_page(&self, op: &Op, payloads: &Payloads) -> bool {
        // By streams that the compiler knows, so that what their rows say costs nothing.
        let bin = op.bin;
        if self.binds_early() {
            return true;
        }
        match op.holder {
            Holder::HostProgram | Holder::Parity | Holder::Rebuild => {
                self.ftl.can_bind(bin, Stream::Host)
            }
            Holder::Scrub if self.has_scrubber => self.can_bind_scrubbed(bin),
            writer => {
                self.can_move(bin, writer)
                    && self.leaves_room(bin, |older| self.moves_from(op, payloads, older))
            }
        }
    }

    #[inline]
    fn bind(&mut self, op: &mut Op, payloads: &Payloads) -> Bound {
        let bin = op.bin;
        if self.binds_early() {
            return Bound::Here;
        }
        let is_hosts = matches!(op.holder, Holder::HostProgram | Holder::Parity | Holder::Rebuild);
        let bound = match op.holder {
            _ if is_hosts => self.ftl.bind(bin, Stream::Host),
            Holder::Scrub => self.bind_scrubbed(bin),
            _ => self.ftl.bind(bin, Stream::Gc),
        };
        let Ok(at) = bound else { return Bound::Nowhere };
        op.block = at.block;
        op.batch = at.batch;
        let mut opens = at.batch == 0;
        if op.kind != OpKind::CopyBack {
            // Blocks with lanes are bound early.
            op.row = at.batch * self.ftl.layout.rows_per_batch;
        } else if self.odd_even {
            opens |= self.fit(op);
        }
        let mut bound = Bound::Here;
        if is_hosts {
            bound = self.bound_for_host(op, payloads);
        } else if opens {
            self.update_home(bin);
        }
        if opens || self.ftl.counts_pages() {
            // A block was opened (or a page taken): there is less free space than before.
            self.to_collect.push(bin);
        }
        bound
    }

    fn park(&mut self, now: Instant, id: OpId, op: &Op, unit: &Snapshot) {
        let bin = op.bin;
        self.spaces[bin].settle(now, unit);
        let snapshot = *self.spaces[bin].totals();
        self.bins[bin].parked.push((id, snapshot));
        let set = self.ftl.layout.set_of_bin(bin);
        self.parked_moves[set] += u32::from(op.is_collection());
        if let Some(pressure) = &mut self.pressure {
            pressure.give_back(now, set);
        }
        if op.kind == OpKind::Modify && !self.parked_parts.contains(&bin) {
            self.parked_parts.push(bin);
        }
        self.starved.push(bin);
        self.to_collect.push(bin);
    }

    #[inline]
    fn class_of(&self, bin: BinId, is_reserved: impl FnOnce() -> bool) -> Class {
        if !self.preemptible && is_reserved() {
            return Class::Reserved;
        }
        let task = &self.bins[bin].task;
        let is_foreground = match task.scrubs {
            false => task.debt > 0 || self.ftl.level(bin) == Level::Foreground,
            true => self.scrubs_in_the_foreground(bin),
        };
        if is_foreground { Class::Foreground } else { Class::Background }
    }

    fn class_of_scrubbing(&self, bin: BinId) -> Class {
        match self.bins[bin].task.scrub_goes_first {
            true => Class::Foreground,
            false => Class::Background,
        }
    }

    #[cold]
    #[inline(never)]
    fn collects_in_the_foreground(&self, bin: BinId) -> bool {
        self.bins[bin].task.debt > 0 || self.ftl.level(bin) == Level::Foreground
    }

    #[cold]
    #[inline(never)]
    fn scrubs(&self, bin: BinId) -> bool {
        self.bins[bin].task.scrubs
    }

    #[inline]
    fn may_copy_back(&self, writer: Holder, bin: BinId, from: Batch) -> bool {
        let layout = &self.ftl.layout;
        layout.planes_per_bin() == layout.block_planes || {
            let is_scrubbed = writer == Holder::Scrub;
            let stream = if is_scrubbed { self.ftl.scrub_stream() } else { Stream::Gc };
            let to = self.ftl.next_block(bin, stream);
            to.is_some_and(|to| layout.share_planes(from.block, to))
        }
    }

    fn rest_of(&self, lpn: Lpn) -> Option<Rest> {
        let at = self.batch_of(self.ftl.lookup(lpn)?);
        Some(Rest { at, may_be_copied: self.ftl.may_be_copied(at) })
    }

    fn wants(&self, bin: BinId) -> Wanted {
        let has_enough = self.ftl.has_enough(bin);
        if self.ftl.level(bin) != Level::Ample || self.bins[bin].task.running && !has_enough {
            return Wanted::Now;
        }
        if has_enough { Wanted::Nothing } else { Wanted::More }
    }

    fn place_again(&mut self, old: BinId, among: &[BinId], turns: &mut [usize]) -> BinId {
        let pool = self.ftl.layout.pool_of_bin(old);
        let choice = self.pools[pool].choice;
        self.promise(old, false);
        let first = among.iter().position(|bin| self.is_of(pool, *bin));
        let turn = &mut turns[first.expect("its own bin is of the pool")];
        let is_open =
            |place: &usize| self.bins[among[*place]].available && self.is_of(pool, among[*place]);
        let in_turn = (*turn..among.len()).chain(0..*turn).filter(is_open);
        let place = self.best(choice, in_turn, |place| among[place]);
        if let Some(place) = place {
            *turn = if place + 1 == among.len() { 0 } else { place + 1 };
        }
        let bin = place.map_or(old, |place| among[place]);
        self.promise(bin, true);
        bin
    }
}
