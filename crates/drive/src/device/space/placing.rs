//! Where host writes go: pools and their bins, and programs on their way to one.

use crate::config::Durability;
use crate::device::Device;
use crate::device::flash::counters::OpKind;
use crate::device::flash::op::{Op, OpId};
use crate::device::space::waits::{self, SpaceSnapshot};
use engine::Instant;
use ftl::{BinChoice, BinId, PoolId, Stream};
use metrics::Holder;

/// How a pool's writes are placed.
#[derive(Clone)]
pub struct Pool {
    choice: BinChoice,
    /// Place of the bin whose turn it is.
    turn: usize,
    /// Bins that can take a program, by their place: bit `i` of word `i / 64`.
    available: Vec<u64>,
    /// Bins with space for another batch, whether or not they can take it now.
    roomy: u32,
    /// When it is looked at whether a partly filled batch has waited for long enough.
    pub(in crate::device) partial_check: Instant,
    /// Entries listed before this moment go out in batches that are not full.
    pub(in crate::device) hurry_until: Option<Instant>,
    /// Time that no bin of the pool had space, by what it is charged to.
    pub(in crate::device) without_space: SpaceSnapshot,
    /// Until when that is counted; the start where there was no such time.
    pub(in crate::device) without_space_until: Instant,
    /// While that is so: the bin whose collection is blamed, and what it had done
    /// by the time that is counted so far.
    pub(in crate::device) starved: Option<(BinId, SpaceSnapshot)>,
}

impl Pool {
    pub fn new(choice: BinChoice, bins: usize) -> Self {
        let available = vec![0; bins.div_ceil(64)];
        Self {
            choice,
            turn: 0,
            available,
            roomy: 0,
            partial_check: Instant::NEVER,
            hurry_until: None,
            without_space: SpaceSnapshot::default(),
            without_space_until: Instant::START,
            starved: None,
        }
    }

    /// The same for which nothing has happened yet.
    pub fn begun_anew(&self, bins: usize) -> Self {
        Self::new(self.choice, bins)
    }

    fn set_available(&mut self, place: u32, available: bool) {
        let word = &mut self.available[place as usize / 64];
        let bit = 1u64 << (place % 64);
        *word = if available { *word | bit } else { *word & !bit };
    }

    /// The first place of an available bin from the turn on and around.
    fn next_in_turn(&self) -> Option<usize> {
        let (word, bit) = (self.turn / 64, self.turn % 64);
        let here = self.available[word] & u64::MAX << bit;
        if here != 0 {
            return Some(word * 64 + here.trailing_zeros() as usize);
        }
        // Of the turn's own word, what is left lies before the turn.
        let words = self.available.len();
        (1..=words).map(|step| (word + step) % words).find_map(|index| {
            let left = self.available[index];
            (left != 0).then(|| index * 64 + left.trailing_zeros() as usize)
        })
    }

    /// The places of available bins, in turn.
    pub(in crate::device) fn in_turn(&self) -> impl Iterator<Item = usize> + '_ {
        let places = self.available.len() * 64;
        let available = |place: &usize| self.available[place / 64] >> (place % 64) & 1 == 1;
        (self.turn..places).chain(0..self.turn).filter(available)
    }
}

/// Host programs on their way to a bin.
#[derive(Clone, Default)]
pub struct Home {
    /// Its place in its pool's turn order.
    pub(in crate::device) place: u32,
    /// Whether there is space for another batch, and whether one can be taken now.
    roomy: bool,
    pub(in crate::device) available: bool,
    /// Asked for and not ended.
    pub(in crate::device) queued: u32,
    /// Asked for and not bound to a place.
    unbound: u32,
    /// Those whose turn came when there was no place.
    pub parked: Vec<(OpId, SpaceSnapshot)>,
}

impl Device {
    /// Works out anew whether a bin can take another program.
    pub(in crate::device) fn update_home(&mut self, bin: BinId) {
        let through = self.write.config.durability == Durability::None;
        let home = &mut self.base.space.bins[bin];
        let roomy = self.base.space.ftl.room(bin, Stream::Host) > home.unbound;
        let available = roomy && (through || home.queued < self.write.config.programs_per_bin());
        if roomy == home.roomy && available == home.available {
            return;
        }
        let pool = &mut self.base.space.pools[self.base.space.ftl.layout.pool_of_bin(bin)];
        pool.roomy = pool.roomy + u32::from(roomy) - u32::from(home.roomy);
        pool.set_available(home.place, available);
        home.roomy = roomy;
        home.available = available;
    }

    /// Numbers the bins of every pool, at the start.
    pub(in crate::device) fn place_homes(&mut self) {
        for pool in (0..self.base.space.ftl.layout.pool_count()).map(PoolId) {
            for place in 0..self.base.space.ftl.layout.bins_of(pool).len() {
                let bin = self.base.space.ftl.layout.bins_of(pool)[place];
                self.base.space.bins[bin].place = place as u32;
                self.update_home(bin);
            }
        }
    }

    /// The bin that takes a pool's next batch; `None` where all are busy or full.
    pub(in crate::device) fn choose_bin(&mut self, pool: PoolId) -> Option<BinId> {
        let bins = self.base.space.ftl.layout.bins_of(pool);
        let state = &self.base.space.pools[pool];
        let place = match state.choice {
            BinChoice::RoundRobin => state.next_in_turn(),
            choice => self.best(choice, state.in_turn(), |place| bins[place]),
        };
        match place {
            Some(place) => {
                let bin = bins[place];
                self.base.space.pools[pool].turn =
                    if place + 1 == bins.len() { 0 } else { place + 1 };
                Some(bin)
            }
            None => {
                if state.roomy == 0 {
                    self.starve(pool);
                }
                None
            }
        }
    }

    /// The best of some places in turn.
    #[inline]
    fn best(
        &self,
        choice: BinChoice,
        mut in_turn: impl Iterator<Item = usize>,
        bin: impl Fn(usize) -> BinId,
    ) -> Option<usize> {
        match choice {
            BinChoice::RoundRobin => in_turn.next(),
            BinChoice::LeastQueued => {
                in_turn.min_by_key(|place| self.base.space.bins[bin(*place)].queued)
            }
            BinChoice::MostFree => {
                in_turn.min_by_key(|place| u32::MAX - self.unpromised_units(bin(*place)))
            }
        }
    }

    /// A host program that stands in no queue is given to the bin of its group, and its pool,
    /// on which the choice falls now; `turns` are the places among the group's bins that are next,
    /// each pool's where its first bin stands.
    pub(in crate::device) fn choose_again(&mut self, id: OpId, turns: &mut [usize]) {
        let Op { bin: old, group, .. } = self.base.flash.ops[id];
        let pool = self.base.space.ftl.layout.pool_of_bin(old);
        let choice = self.base.space.pools[pool].choice;
        self.promise(old, false);
        let bins = &self.base.flash.bins_of_group[group];
        let first = bins.iter().position(|bin| self.is_of(pool, *bin));
        let turn = &mut turns[first.expect("its own bin is of the pool")];
        let is_open = |place: &usize| {
            self.base.space.bins[bins[*place]].available && self.is_of(pool, bins[*place])
        };
        let in_turn = (*turn..bins.len()).chain(0..*turn).filter(is_open);
        let place = self.best(choice, in_turn, |place| bins[place]);
        let bin = place.map_or(old, |place| bins[place]);
        if let Some(place) = place {
            *turn = if place + 1 == bins.len() { 0 } else { place + 1 };
        }
        self.promise(bin, true);
        let (cells, channel) =
            (self.base.flash.places[bin].program, self.base.flash.places[bin].channel);
        let op = &mut self.base.flash.ops[id];
        (op.bin, op.cells, op.channel) = (bin, cells, channel);
    }

    fn is_of(&self, pool: PoolId, bin: BinId) -> bool {
        self.base.space.ftl.layout.pool_of_bin(bin) == pool
    }

    /// A host program is asked for in a bin, or no longer.
    pub(in crate::device) fn promise(&mut self, bin: BinId, is_asked: bool) {
        let home = &mut self.base.space.bins[bin];
        if is_asked {
            (home.queued, home.unbound) = (home.queued + 1, home.unbound + 1);
        } else {
            (home.queued, home.unbound) = (home.queued - 1, home.unbound - 1);
        }
        self.update_home(bin);
    }

    /// Free units of a bin that no program waits for.
    fn unpromised_units(&self, bin: BinId) -> u32 {
        let promised =
            self.base.space.bins[bin].unbound * self.base.space.ftl.layout.units_per_batch;
        self.base.space.ftl.free_units(bin).saturating_sub(promised)
    }

    /// Notes that a pool has no space left, once.
    fn starve(&mut self, pool: PoolId) {
        if self.base.space.pools[pool].starved.is_none() {
            let bins = self.base.space.ftl.layout.bins_of(pool);
            let bin = bins[self.base.space.pools[pool].turn];
            self.base.space.starved.extend_from_slice(bins);
            self.base.space.to_collect.extend_from_slice(bins);
            let snapshot = self.space_snapshot(bin);
            self.base.space.pools[pool].starved = Some((bin, snapshot));
            self.base.space.was_starved = true;
        }
    }

    /// True where host programs are yet to find a place in a bin.
    pub(in crate::device) fn is_awaited(&self, bin: BinId) -> bool {
        self.base.space.bins[bin].unbound > 0 || self.is_starved(bin)
    }

    /// Where a pool is without space, the bin whose collection is blamed for that.
    pub(in crate::device) fn starved_bin(&self, pool: PoolId) -> Option<BinId> {
        self.base.space.pools[pool].starved.map(|(bin, _)| bin)
    }

    /// True where a bin's pool waits for space.
    pub(in crate::device) fn is_starved(&self, bin: BinId) -> bool {
        self.base.space.pools[self.base.space.ftl.layout.pool_of_bin(bin)].starved.is_some()
    }

    /// Counts the time without space up to now.
    #[inline]
    pub(in crate::device) fn settle_space(&mut self, pool: PoolId) {
        let Some((bin, earlier)) = self.base.space.pools[pool].starved else { return };
        let present = self.space_snapshot(bin);
        let pool = &mut self.base.space.pools[pool];
        for (state, total) in pool.without_space.iter_mut().enumerate() {
            *total += present[state] - earlier[state];
        }
        pool.without_space_until = self.base.time.now;
        pool.starved = Some((bin, present));
    }

    /// True where a program would find a place.
    #[inline(always)]
    pub(in crate::device) fn has_place(&self, id: OpId) -> bool {
        let op = &self.base.flash.ops[id];
        let (bin, stream) = (op.bin, stream_of(op.holder));
        self.base.space.ftl.can_bind(bin, stream)
            && (stream == Stream::Host || self.leaves_room(bin, |older| self.moves_from(id, older)))
    }

    /// Binds a program (or copy-back) to its place; returns whether there is one.
    pub(in crate::device) fn bind(&mut self, id: OpId) -> bool {
        let op = &mut self.base.flash.ops[id];
        let (bin, stream) = (op.bin, stream_of(op.holder));
        let Ok(at) = self.base.space.ftl.bind(bin, stream) else { return false };
        op.block = at.block;
        op.batch = at.batch;
        if op.kind != OpKind::CopyBack {
            op.row = at.batch * self.base.space.ftl.layout.rows_per_batch;
        }
        if stream == Stream::Host {
            self.base.space.bins[bin].unbound -= 1;
        }
        if stream == Stream::Host || at.batch == 0 {
            self.update_home(bin);
        }
        if stream == Stream::Host {
            self.owe(bin);
            if self.gc.scrubs.is_some() {
                self.gc.jobs[bin].scrubbed_last = false;
            }
        }
        if at.batch == 0 || self.base.space.ftl.counts_pages() {
            // A block was opened (or a page taken): less is free than before.
            self.base.space.to_collect.push(bin);
        }
        true
    }

    /// Sets a program aside until its bin has space.
    pub(in crate::device) fn park(&mut self, id: OpId) {
        let op = &self.base.flash.ops[id];
        let bin = op.bin;
        self.park_wait(id);
        let snapshot = self.space_snapshot(bin);
        self.base.space.bins[bin].parked.push((id, snapshot));
        if self.base.flash.ops[id].kind == OpKind::Modify
            && !self.base.space.parked_modifies.contains(&bin)
        {
            self.base.space.parked_modifies.push(bin);
        }
        self.base.space.starved.push(bin);
        self.base.space.to_collect.push(bin);
    }

    /// A bin has space again.
    pub(in crate::device) fn unpark(&mut self, bin: BinId) {
        self.update_home(bin);
        let parked = std::mem::take(&mut self.base.space.bins[bin].parked);
        if !parked.is_empty() {
            let present = self.space_snapshot(bin);
            for (id, then) in &parked {
                waits::charge(then, &present, self.base.flash.ops.blame(*id));
            }
        }
        for (id, _) in parked.into_iter().rev() {
            self.resume(id);
        }
        self.pump(self.base.space.ftl.layout.pool_of_bin(bin));
    }
}

/// The stream that an operation of a holder writes to.
#[inline]
fn stream_of(holder: Holder) -> Stream {
    if holder == Holder::HostProgram { Stream::Host } else { Stream::Gc }
}
