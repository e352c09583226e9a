//! Pressure: the number of programs of an NVM set that are outstanding (`ftl.pressure`).
//!
//! A program takes a credit of its set when it is requested, and gives it back when it has ended, or
//! while it waits for a free page. What would request a program without a credit waits: host data in
//! the lists of its pools, and data that GC or scrubbing moves in the controller. A credit that is given
//! back goes to what waits: to foreground GC, then to host data, then to background GC and scrubbing, by
//! age. Scrubbing goes before host data once after [`HOST_PROGRAMS`] of these. A credit is kept for
//! foreground GC of a bin that has begun a read, because its program mostly comes next.

mod asking;
#[cfg(test)]
mod tests;

use crate::device::ids::OpId;
use engine::{Instant, Span};
use ftl::{BinId, BySet, PoolId, PressureConfig, SetId};
use std::collections::VecDeque;

/// Programs of host data that take credits while scrubbing waits for one; then scrubbing has its turn.
/// Data decays whether hosts write or not, and free space tells nothing about it.
pub const HOST_PROGRAMS: u32 = 16;

/// A source of programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Writer {
    /// The host data of a pool.
    Pool(PoolId),
    /// The collection of a bin.
    Collection(BinId),
    /// The scrubbing of a bin, in turns with its collection or as a task of its own.
    Scrubbing(BinId),
}

/// The next one for a credit that is free.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// A program whose bin has space again, with its credit, and the moment from which it has waited.
    Late(OpId, Instant),
    /// A writer, which takes the credit if it still needs one.
    Writer(Writer),
}

/// Priorities of those that wait.
pub trait Order {
    /// Rank of a program whose bin has space again; the lowest goes first.
    fn rank(&self, id: OpId) -> u32;
    /// True for GC, or scrubbing, that goes before host data.
    fn goes_first(&self, writer: Writer) -> bool;
    /// True for GC, or scrubbing, for which a credit is kept while it reads.
    fn keeps(&self, writer: Writer) -> bool;
    /// True for a read that has begun on the flash.
    fn has_begun(&self, read: OpId) -> bool;
    /// The moment from which the first data of a pool has waited; `None` without data.
    fn since(&self, pool: PoolId) -> Option<Instant>;
}

/// Outstanding programs, by NVM set.
#[derive(Clone)]
pub struct Pressure {
    // ---- constant ----
    most: u32,
    // ---- state ----
    sets: BySet<Credits>,
}

/// Credits of an NVM set, and what waits for one.
#[derive(Clone)]
struct Credits {
    taken: u32,
    /// Programs whose bin has space again; pools; and GC and scrubbing of bins, each with the moment from
    /// which it has waited. Of programs and of bins, the oldest is first.
    late: Vec<(OpId, Instant)>,
    pools: Vec<(PoolId, Instant)>,
    movers: VecDeque<(Writer, Instant)>,
    /// Reads that have not ended, of GC and of scrubbing.
    reads: Vec<(Writer, OpId)>,
    /// Programs of host data that took credits while scrubbing waited, since scrubbing last took one.
    host_programs: u32,
    /// The writer that was called, until it takes its credit, and the moment from which it has waited.
    called: Option<(Writer, Instant)>,
    counts: PressureCounts,
    /// The moment up to which time is counted.
    counted: Instant,
}

/// Counts of programs of an NVM set, and times.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PressureCounts {
    /// Programs that took a credit.
    pub programs: u64,
    /// Programs that had waited for their credit.
    pub waited: u64,
    /// Number of credits taken, integrated over time in nanoseconds.
    pub taken_ns: u128,
    /// Time for which all were taken.
    pub full: Span,
    /// Greatest number at a time, unless that time was no longer than a moment.
    pub greatest: u32,
}

impl PressureCounts {
    /// Counts since `earlier`; the greatest number is that of the later ones.
    pub fn since(&self, earlier: &Self) -> Self {
        Self {
            programs: self.programs - earlier.programs,
            waited: self.waited - earlier.waited,
            taken_ns: self.taken_ns - earlier.taken_ns,
            full: self.full - earlier.full,
            greatest: self.greatest,
        }
    }
}

impl Pressure {
    /// No program is outstanding yet; none without a limit.
    pub fn new(config: Option<PressureConfig>, sets: u32) -> Option<Box<Self>> {
        let most = config?.programs;
        Some(Box::new(Self { most, sets: BySet::from_fn(sets, |_| Credits::new()) }))
    }
    /// Most programs of a set that may be outstanding.
    pub fn most(&self) -> u32 {
        self.most
    }
    /// Credits that a set has given.
    pub fn taken(&self, set: SetId) -> u32 {
        self.sets[set].taken
    }
    /// Programs of a set whose bin has space again, and that wait for a credit.
    pub fn late(&self, set: SetId) -> impl Iterator<Item = OpId> {
        self.sets[set].late.iter().map(|(id, _)| *id)
    }
    /// True if a set has a credit.
    pub fn is_free(&self, set: SetId) -> bool {
        self.sets[set].taken < self.most
    }
    /// True if something waits for a credit of a set.
    pub fn has_waiting(&self, set: SetId) -> bool {
        self.sets[set].has_waiting()
    }
    /// Pools whose host data waits for a credit of a set.
    pub fn pools(&self, set: SetId) -> impl Iterator<Item = PoolId> {
        self.sets[set].pools.iter().map(|(pool, _)| *pool)
    }

    /// True if host data of a pool waits for a credit of a set.
    pub fn awaits(&self, set: SetId, pool: PoolId) -> bool {
        self.sets[set].pools.iter().any(|(of, _)| *of == pool)
    }

    /// True if GC or scrubbing waits for a credit of a set.
    pub fn awaits_mover(&self, set: SetId, mover: Writer) -> bool {
        self.sets[set].movers.iter().any(|(of, _)| *of == mover)
    }

    /// True if a writer need not wait for a credit.
    ///
    /// A writer that was not called waits while a credit may be kept for somebody else: the order, which is
    /// not known here, decides that when it is called.
    pub fn may_take(&self, set: SetId, writer: Writer) -> bool {
        let of = &self.sets[set];
        let is_called = of.called.is_some_and(|(called, _)| called == writer);
        let others = of.reads.iter().filter(|(of, _)| *of != writer).count();
        let left = self.most.saturating_sub(of.taken) as usize;
        left > 0 && (is_called || !of.has_waiting() && left > others)
    }

    /// Takes a credit for a writer; false if it must wait. It is called then.
    pub fn take(&mut self, now: Instant, set: SetId, writer: Writer) -> bool {
        let may_take = self.may_take(set, writer);
        let of = &mut self.sets[set];
        if !may_take {
            of.wait(now, writer);
            return false;
        }
        let called = of.called.filter(|(called, _)| *called == writer);
        of.count_time(now, self.most);
        of.taken += 1;
        of.counts.programs += 1;
        match writer {
            Writer::Pool(_) => of.host_programs += u32::from(of.scrubbing().is_some()),
            Writer::Collection(_) => {}
            Writer::Scrubbing(_) => of.host_programs = 0,
        }
        if let Some((_, since)) = called {
            of.called = None;
            of.counts.waited += u64::from(now > since);
        }
        true
    }

    /// Takes a credit for a program whose bin has space again; false if it must wait. Such programs go
    /// before all that wait.
    pub fn resume(&mut self, now: Instant, set: SetId, id: OpId) -> bool {
        let is_free = self.is_free(set);
        let of = &mut self.sets[set];
        match is_free {
            true => {
                of.count_time(now, self.most);
                of.taken += 1;
            }
            false => of.late.push((id, now)),
        }
        is_free
    }

    /// Takes a credit back: its program has ended, or waits for a free page.
    pub fn give_back(&mut self, now: Instant, set: SetId) {
        let of = &mut self.sets[set];
        of.count_time(now, self.most);
        of.taken -= 1;
    }

    /// Notes that GC, or scrubbing, has asked for a read.
    pub fn begin_read(&mut self, set: SetId, writer: Writer, read: OpId) {
        self.sets[set].reads.push((writer, read));
    }

    /// Notes that a read has ended.
    pub fn end_read(&mut self, set: SetId, read: OpId) {
        self.sets[set].reads.retain(|(_, of)| *of != read);
    }

    /// A pool has no data any more that waits for a credit.
    pub fn forget(&mut self, set: SetId, pool: PoolId) {
        self.sets[set].pools.retain(|(of, _)| *of != pool);
    }

    /// The next one to go on, if a credit is free and something waits. A writer may take the credit
    /// until [`Pressure::end_call`].
    pub fn next(&mut self, now: Instant, set: SetId, order: &impl Order) -> Option<Next> {
        if !self.is_free(set) {
            return None;
        }
        let of = &mut self.sets[set];
        let ranks = of.late.iter().enumerate();
        if let Some((at, _)) = ranks.min_by_key(|(_, (id, _))| order.rank(*id)) {
            of.count_time(now, self.most);
            of.taken += 1;
            let (id, since) = of.late.remove(at);
            of.counts.waited += u64::from(now > since);
            return Some(Next::Late(id, since));
        }
        let first = of.movers.iter().position(|(writer, _)| order.goes_first(*writer));
        let turn = of.scrubbing().filter(|_| of.host_programs >= HOST_PROGRAMS);
        of.called = match (first, turn) {
            (Some(first), _) => of.movers.remove(first),
            (None, _) if self.most - of.taken <= of.kept(order) => None,
            (None, Some(turn)) => of.movers.remove(turn),
            (None, None) => of.oldest(order).or_else(|| of.movers.pop_front()),
        };
        of.called.map(|(writer, _)| Next::Writer(writer))
    }

    /// True if something waits for a credit of a set that is neither taken nor kept. GC that comes to
    /// the foreground while it waits goes on when a kept credit is decided.
    pub fn waits_in_vain(&self, set: SetId, order: &impl Order) -> bool {
        let of = &self.sets[set];
        let left = self.most - of.taken;
        left > 0 && !of.late.is_empty() || of.has_waiting() && left > of.kept(order)
    }

    /// The writer that was called has gone on.
    pub fn end_call(&mut self, set: SetId) {
        self.sets[set].called = None;
    }

    /// Counts of a set up to now.
    pub fn counts(&mut self, now: Instant, set: SetId) -> PressureCounts {
        let of = &mut self.sets[set];
        of.count_time(now, self.most);
        of.counts
    }

    /// Begins new greatest numbers.
    pub fn begin_counting(&mut self, now: Instant) {
        for of in self.sets.iter_mut() {
            of.count_time(now, self.most);
            of.counts.greatest = 0;
        }
    }
}

impl Credits {
    fn new() -> Self {
        Self {
            taken: 0,
            late: Vec::new(),
            pools: Vec::new(),
            movers: VecDeque::new(),
            reads: Vec::new(),
            host_programs: 0,
            called: None,
            counts: PressureCounts::default(),
            counted: Instant::START,
        }
    }

    fn has_waiting(&self) -> bool {
        !(self.late.is_empty() && self.pools.is_empty() && self.movers.is_empty())
    }

    /// Place of the scrubbing that has waited longest.
    fn scrubbing(&self) -> Option<usize> {
        self.movers.iter().position(|(writer, _)| matches!(writer, Writer::Scrubbing(_)))
    }

    /// Number of credits that are kept: one for each such GC or scrubbing of which a read has begun.
    fn kept(&self, order: &impl Order) -> u32 {
        let has_begun = |of: &(Writer, OpId)| order.has_begun(of.1);
        let is_first = |at: &usize| {
            let (writer, _) = self.reads[*at];
            let earlier = self.reads[..*at].iter().any(|of| of.0 == writer && has_begun(of));
            order.keeps(writer) && has_begun(&self.reads[*at]) && !earlier
        };
        (0..self.reads.len()).filter(is_first).count() as u32
    }

    fn wait(&mut self, now: Instant, writer: Writer) {
        match writer {
            Writer::Pool(pool) if !self.pools.iter().any(|of| of.0 == pool) => {
                self.pools.push((pool, now));
            }
            Writer::Pool(_) => {}
            mover if !self.movers.iter().any(|of| of.0 == mover) => {
                self.movers.push_back((mover, now));
            }
            _ => {}
        }
    }

    /// Takes the pool whose first data has waited longest, and forgets those without data.
    fn oldest(&mut self, order: &impl Order) -> Option<(Writer, Instant)> {
        self.pools.retain(|(pool, _)| order.since(*pool).is_some());
        let ages = self.pools.iter().enumerate();
        let (at, _) = ages.min_by_key(|(_, (pool, _))| (order.since(*pool), *pool))?;
        let (pool, since) = self.pools.swap_remove(at);
        Some((Writer::Pool(pool), since))
    }

    fn count_time(&mut self, now: Instant, most: u32) {
        let passed = now - self.counted;
        if passed.is_zero() {
            return;
        }
        self.counted = now;
        self.counts.taken_ns += u128::from(passed.as_ns()) * u128::from(self.taken);
        self.counts.greatest = self.counts.greatest.max(self.taken);
        if self.taken >= most {
            self.counts.full += passed;
        }
    }
}
