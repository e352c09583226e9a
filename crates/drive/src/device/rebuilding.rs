//! The rebuild of data on failed flash: a task in the background computes it from the rest of its
//! stripes, strip by strip, and programs it on flash that holds no other member.

use crate::device::base::Base;
use crate::device::event::Event;
use crate::device::flash::op::{Class, Owner};
use crate::device::ids::{JobId, OpId, PayloadId};
use crate::device::join::{Aside, Join};
use crate::device::write::Write;
use crate::device::write::member::Version;
use engine::{Instant, Slab, Span};
use ftl::{FtlConfig, Lpn, PoolId, Ppn, RebuildConfig, SetId, Source, StripeId};
use metrics::{Blame, Holder};
use settings::Rate;
use std::collections::{BTreeMap, BTreeSet};

/// Number of moments for which the progress is kept, for each failure.
const SAMPLES: u64 = 100;

/// Time after which the rebuild returns to stripes that are being updated.
const AGAIN: Span = Span::from_ms(1);

/// The rebuild of data on failed flash.
#[derive(Clone)]
pub struct Rebuilding {
    // ---- constant ----
    is_on: bool,
    rate: Option<Rate>,
    at_once: u32,
    xor: Span,
    // ---- state ----
    jobs: Slab<JobId, Job>,
    aside: Aside,
    /// Units of jobs.
    under_way: BTreeSet<Lpn>,
    /// The stripe from which the search goes on, and true if some before it are left.
    next: u32,
    leaves_some: bool,
    /// Units that had been rebuilt before the present pass.
    units_before: u64,
    /// The moment of the last program's end, or of the beginning.
    wrote: Instant,
    /// The moment from which the next strip may be begun, and that of the scheduled event.
    due: Instant,
    event_at: Instant,
    // ---- results ----
    pub(super) progress: Progress,
}

/// Progress of a rebuild.
#[derive(Clone, Debug, Default)]
pub struct Progress {
    /// Units that have been rebuilt.
    pub units: u64,
    /// The moment of its beginning.
    pub began: Option<Instant>,
    /// The moment of its end; none if it is not over.
    pub ended: Option<Instant>,
    /// True if it ended because no flash has room for more.
    pub lacks_room: bool,
    /// Units that were rebuilt up to some moments: every so many, so that there are not many moments.
    pub samples: Vec<(Instant, u64)>,
    /// Units from one moment to the next.
    pub(super) every: u64,
}

impl Progress {
    /// Notes that a unit has been rebuilt.
    fn count(&mut self, now: Instant) {
        self.units += 1;
        if self.units.is_multiple_of(self.every.max(1)) {
            self.samples.push((now, self.units));
        }
    }
}

/// A strip that is being rebuilt.
#[derive(Clone)]
struct Job {
    units: Vec<Lost>,
    reads: Join,
    /// True if flash has failed that it reads.
    has_failed: bool,
    /// Programs that have not ended.
    programs: u32,
}

/// A unit that is being rebuilt.
#[derive(Clone, Copy)]
struct Lost {
    lpn: Lpn,
    version: Version,
    token: u64,
    pool: PoolId,
}

impl Rebuilding {
    /// The rebuild of a drive of which nothing has failed.
    pub fn new(config: &FtlConfig) -> Self {
        let (is_on, rate, at_once) = match config.parity.and_then(|parity| parity.rebuild) {
            Some(RebuildConfig::Background { rate, at_once }) => (true, rate, at_once),
            Some(RebuildConfig::None {}) | None => (false, None, 0),
        };
        Self {
            is_on,
            rate,
            at_once,
            xor: config.xor(),
            jobs: Slab::default(),
            aside: Aside::default(),
            under_way: BTreeSet::new(),
            next: 0,
            leaves_some: false,
            units_before: 0,
            wrote: Instant::START,
            due: Instant::START,
            event_at: Instant::NEVER,
            progress: Progress::default(),
        }
    }

    /// Begins to rebuild, or begins anew, after flash has failed; `lost` units are lost now.
    pub fn begin(&mut self, base: &mut Base, lost: u64) {
        if !self.is_on {
            return;
        }
        self.progress.every = lost.div_ceil(SAMPLES);
        let progress = &mut self.progress;
        progress.began.get_or_insert(base.time.now);
        progress.ended = None;
        self.wrote = base.time.now;
        self.begin_pass();
        self.schedule(base, base.time.now);
    }

    fn begin_pass(&mut self) {
        (self.next, self.leaves_some, self.units_before) = (0, false, self.progress.units);
        self.progress.lacks_room = false;
    }

    fn schedule(&mut self, base: &mut Base, at: Instant) {
        if self.event_at == Instant::NEVER {
            self.event_at = at.max(base.time.now);
            base.time.agenda.schedule(self.event_at, Event::Rebuild, 0);
        }
    }

    /// Begins as many strips as may be begun now.
    pub fn go_on(&mut self, base: &mut Base, write: &Write) {
        self.event_at = Instant::NEVER;
        while self.progress.ended.is_none() && (self.jobs.taken() as u32) < self.at_once {
            if self.due > base.time.now {
                return self.schedule(base, self.due);
            }
            let stripes = base.space.ftl.layout.stripes.expect("what fails has parity");
            if self.next >= stripes.count() {
                if self.jobs.taken() == 0 {
                    self.end_pass(base);
                }
                return;
            }
            let first = self.next;
            self.next = (first + stripes.in_range()).min(stripes.count());
            self.begin_strip(base, write, first..self.next);
        }
    }

    /// Ends a pass over all stripes: the rebuild is over unless some were being updated.
    fn end_pass(&mut self, base: &mut Base) {
        // Without room, what was being updated had none either.
        let is_in_vain = self.progress.lacks_room && self.progress.units == self.units_before;
        // If nothing else happens, no update will ever end.
        if self.leaves_some && !is_in_vain && !base.time.agenda.is_empty() {
            self.begin_pass();
            return self.schedule(base, base.time.now + AGAIN);
        }
        self.progress.ended = Some(self.wrote);
    }

    /// Begins to rebuild the lost units of a strip, if there are any.
    fn begin_strip(&mut self, base: &mut Base, write: &Write, stripes: std::ops::Range<u32>) {
        let mut lost = Vec::new();
        let mut needed: BTreeMap<Lpn, Ppn> = BTreeMap::new();
        for stripe in stripes.map(StripeId) {
            let Some((lpn, version)) = lost_of(base, write, stripe) else { continue };
            if write.is_updated(stripe) || self.under_way.contains(&lpn) {
                self.leaves_some = true;
                continue;
            }
            let Some(pool) = base.space.home(lpn) else {
                self.progress.lacks_room = true;
                continue;
            };
            let others = write.others(base, stripe, |member| member == lpn);
            debug_assert!(others.is_some() || base.loss().is_some());
            let Some(others) = others else { continue };
            let stored = others.on_flash.iter().map(|(_, ppn)| base.audit_stored(*ppn));
            let token = stored.fold(others.in_ram, |sum, token| sum ^ token);
            assert_eq!(token, write.lost_token(base, lpn), "audit: {lpn:?} is rebuilt wrongly");
            needed.extend(others.on_flash);
            lost.push(Lost { lpn, version, token, pool });
        }
        if !lost.is_empty() {
            self.begin_job(base, lost, &needed);
        }
    }

    fn begin_job(&mut self, base: &mut Base, units: Vec<Lost>, needed: &BTreeMap<Lpn, Ppn>) {
        if let Some(rate) = self.rate {
            let bytes = units.len() as u64 * base.space.ftl.layout.unit_bytes;
            self.due = self.due.max(base.time.now) + rate.transfer(bytes);
        }
        self.under_way.extend(units.iter().map(|unit| unit.lpn));
        let mut pieces = Vec::new();
        needed.iter().for_each(|(lpn, ppn)| base.split_whole(&mut pieces, *lpn, *ppn));
        let reads = Join::of(pieces.len() as u32);
        let id = self.jobs.insert(Job { units, reads, has_failed: false, programs: 0 });
        if pieces.is_empty() {
            return self.computed(base, id, base.time.now);
        }
        for (member, piece) in pieces.into_iter().enumerate() {
            let owner = Owner::RebuildRead(id, member as u32);
            base.ask_piece(piece, Holder::Rebuild, Class::Write, owner);
        }
    }

    /// Continues after a read of a strip that is being rebuilt.
    pub fn read_ended(&mut self, base: &mut Base, op: OpId, (id, member): (JobId, u32)) {
        let (fails, at) = base.decoded_unless_failed(op);
        let job = &mut self.jobs[id];
        job.has_failed |= fails;
        let mut sum = Blame::NONE;
        job.reads.ended(member, at, base.flash.blame(op), &mut sum, &mut self.aside);
        let Some(at) = job.reads.settle(&mut sum, &mut self.aside) else { return };
        if job.has_failed {
            return self.end_job(base, id, true);
        }
        self.computed(base, id, at);
    }

    /// The data of a strip is computed, from what is there at `at`.
    fn computed(&mut self, base: &mut Base, id: JobId, at: Instant) {
        base.time.agenda.schedule(at + self.xor, Event::Rebuilt(id), u64::from(id.0));
    }

    /// Programs a strip that was computed.
    pub fn program(&mut self, base: &mut Base, id: JobId) {
        let has_failed = |unit: &Lost| base.space.ftl.has_failed(unit.pool);
        if self.jobs[id].units.iter().any(has_failed) {
            return self.end_job(base, id, true);
        }
        let mut of_pools: BTreeMap<PoolId, Vec<u32>> = BTreeMap::new();
        for (index, unit) in self.jobs[id].units.iter().enumerate() {
            of_pools.entry(unit.pool).or_default().push(index as u32);
        }
        let batch = base.space.ftl.layout.units_per_batch as usize;
        for (pool, units) in of_pools {
            for units in units.chunks(batch) {
                let payload = base.flash.payloads.new_empty();
                for index in units {
                    let lpn = self.jobs[id].units[*index as usize].lpn;
                    base.flash.payloads.push(payload, [*index, lpn.0]);
                }
                let bin = base.space.choose_for_rebuild(pool);
                self.jobs[id].programs += 1;
                let owner = Owner::RebuildWrite(payload, id);
                base.ask_program(bin, payload, Holder::Rebuild, Class::Write, owner);
            }
        }
    }

    /// Continues after a program of rebuilt data: units whose data is the same as when they were lost
    /// are there now.
    pub fn written(
        &mut self,
        base: &mut Base,
        write: &mut Write,
        op: OpId,
        (payload, id): (PayloadId, JobId),
    ) {
        let (at, bin) = (base.flash.op(op).at(), base.flash.op(op).bin);
        let first = base.space.ftl.layout.first_unit(at.block, at.batch);
        let (has_failed, count) =
            (base.space.ftl.is_failed(bin), base.flash.payloads.count(payload));
        for slot in 0..count {
            let [index, _] = base.flash.payloads.slot(payload, slot);
            let Lost { lpn, version, token, .. } = self.jobs[id].units[index as usize];
            let ppn = Ppn(first.0 + slot);
            base.space.ftl.note(ppn, lpn);
            base.audit_member(ppn, lpn, token);
            let present = write.lost_version(base, lpn);
            if !has_failed && present == Some(version) {
                write.rebuilt(base, lpn, ppn);
                self.progress.count(base.time.now);
            } else {
                self.leaves_some |= present.is_some();
            }
        }
        self.wrote = base.time.now;
        base.flash.payloads.remove(payload);
        base.count_units(at.block, Source::Rebuild, count);
        base.space.ftl.finish(at);
        base.space.update_home_seldom(bin);
        base.space.call_pool(base.space.ftl.layout.pool_of_bin(bin));
        base.space.retry_starved(SetId(0));
        self.jobs[id].programs -= 1;
        if self.jobs[id].programs == 0 {
            self.end_job(base, id, false);
        }
    }

    fn end_job(&mut self, base: &mut Base, id: JobId, leaves_some: bool) {
        self.leaves_some |= leaves_some;
        for unit in &self.jobs[id].units {
            self.under_way.remove(&unit.lpn);
        }
        self.jobs.remove(id);
        self.schedule(base, self.due);
    }
}

/// The member of a stripe that is lost, if one is and was not trimmed.
fn lost_of(base: &Base, write: &Write, stripe: StripeId) -> Option<(Lpn, Version)> {
    let stripes = base.space.ftl.layout.stripes.expect("what fails has parity");
    let mut members = stripes.data(stripe).chain([stripes.parity(stripe)]);
    members.find_map(|lpn| Some((lpn, write.lost_version(base, lpn)?)))
}
