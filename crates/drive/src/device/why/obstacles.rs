//! What is in the way: of a flash operation, whatever holds its unit or channel; of one without
//! space, its bin's collection; and of those the same in turn.

use crate::device::event::Event;
use crate::device::flash::counters::OpKind;
use crate::device::flash::op::{AsksFor, Op, OpId};
use crate::device::why::census::Doing;
use crate::device::why::standing::{Stage, Standing, rounded};
use crate::device::why::whereabouts::{Look, MOST};
use engine::Instant;
use ftl::BinId;
use metrics::Holder;
use settings::{counted, each};

impl Look<'_> {
    pub fn of_bin(&self, stage: Stage, words: String, bin: BinId) -> Standing {
        let mut standing = Standing::new(stage, words);
        standing.bin = Some(bin);
        standing.die = Some(self.die(bin));
        standing
    }

    fn die(&self, bin: BinId) -> u32 {
        self.device.base.space.ftl.layout.first_plane(bin).0 / self.device.base.flash.planes_per_die
    }

    /// How an operation is called that is in somebody's way.
    fn name(&self, id: OpId) -> String {
        let op = &self.device.base.flash.ops[id];
        match (op.kind, op.holder) {
            (OpKind::Erase, _) => format!("the erase of block {} in bin {}", op.block.0, op.bin.0),
            (OpKind::CopyBack, Holder::Scrub) => "a copy-back of scrubbing".into(),
            (OpKind::CopyBack, _) => "a copy-back of GC".into(),
            (OpKind::Modify, _) => "a partial write inside its planes".into(),
            (OpKind::Read, Holder::HostRead) => "a read of a host".into(),
            (OpKind::Read, Holder::RmwRead) => "a read for a partial write".into(),
            (OpKind::Read, Holder::Scrub) => "a read of scrubbing".into(),
            (OpKind::Read, _) => "a read of GC".into(),
            (OpKind::Program, Holder::HostProgram) => "a program of host data".into(),
            (OpKind::Program, Holder::Scrub) => "a program of scrubbing".into(),
            (OpKind::Program, _) => "a program of GC".into(),
        }
    }

    /// Where an operation stands, which is called `name` here.
    pub fn op(&self, id: OpId, name: &str, depth: u32) -> Standing {
        let op = &self.device.base.flash.ops[id];
        let (bin, die) = (op.bin, self.die(op.bin));
        let mut standing = match self.census.ops[&id] {
            Doing::AwaitsUnit => {
                let words = format!("{name} waits for its unit of die {die}");
                let mut standing = self.of_bin(Stage::Unit, words, bin);
                self.add_what_holds(id, &mut standing, depth);
                standing
            }
            Doing::AwaitsChannel => {
                let channel = op.channel;
                let words = format!("{name} waits for channel {}", channel.0);
                let mut standing = self.of_bin(Stage::Channel, words, bin);
                let carries = |op: &OpId| {
                    self.is_carried(*op) && self.device.base.flash.ops[*op].channel == channel
                };
                let carried = self.census.begun.iter().copied().find(carries);
                standing.behind = self.below(carried, depth);
                standing
            }
            Doing::AwaitsSpace => {
                let words = format!("{name} waits for free space in bin {}", bin.0);
                let mut standing = self.of_bin(Stage::Space, words, bin);
                standing.behind = self.collection(bin, depth);
                standing
            }
            Doing::MakesWay => {
                let words = format!("{name} has made way for reads on die {die}");
                self.of_bin(Stage::Suspended, words, bin)
            }
            Doing::Stops => {
                let words = format!("{name} is being interrupted on die {die}");
                self.of_bin(Stage::Suspended, words, bin)
            }
            Doing::Goes(event, until) => self.at_work(id, name, event, until),
        };
        if !matches!(standing.stage, Stage::Work | Stage::Suspended) {
            standing.since = Some(op.since);
        }
        let is_bound = match op.kind {
            OpKind::Program => standing.stage == Stage::Work,
            OpKind::Modify => matches!(standing.stage, Stage::Work | Stage::Channel),
            _ => true,
        };
        if is_bound {
            standing.block = Some(op.block);
        }
        if matches!(standing.stage, Stage::Work | Stage::Suspended) {
            self.add_course(id, name, &mut standing);
        }
        standing.operation = Some((op.kind, op.holder));
        standing
    }

    fn is_carried(&self, id: OpId) -> bool {
        let doing = self.census.ops.get(&id);
        let Some(Doing::Goes(event, _)) = doing else { return false };
        matches!(event, Event::CarriedIn(_) | Event::CarriedOut(_) | Event::Commanded(_))
    }

    fn at_work(&self, id: OpId, name: &str, event: Event, until: Instant) -> Standing {
        let Op { bin, channel, row, transfer, kind, .. } = self.device.base.flash.ops[id];
        let timing = &self.device.base.flash.timing;
        let left = rounded(until - self.device.base.time.now);
        let die = format!("die {}", self.die(bin));
        let (place, lasts) = match event {
            Event::CarriedIn(_) | Event::CarriedOut(_) => {
                (format!("channel {}", channel.0), Some(transfer))
            }
            Event::Commanded(_) => (format!("channel {}", channel.0), None),
            Event::Sensed(_) => (die, Some(timing.read(row))),
            Event::SensedRest(_) => (die, None),
            // What may make way knows itself when it began.
            _ if self.device.base.flash.may_make_way(kind) => (die, None),
            Event::Programmed(_) => (die, Some(timing.program(row))),
            _ if kind == OpKind::Erase => (die, Some(timing.erase.total())),
            _ => (die, None),
        };
        let words = format!("{name} is at work on {place}, for {left} more");
        let mut standing = self.of_bin(Stage::Work, words, bin);
        standing.since = lasts.map(|span| until - span);
        standing.until = Some(until);
        standing
    }

    /// Adds how far an operation has come that takes long, or may make way.
    fn add_course(&self, id: OpId, name: &str, standing: &mut Standing) {
        let now = self.device.base.time.now;
        let op = &self.device.base.flash.ops[id];
        let Some(working) =
            self.device.base.flash.working_in(op.group).find(|working| working.op == id)
        else {
            if let (OpKind::Erase, Some(began)) = (op.kind, standing.since) {
                standing.words += &format!("; it began {} ago", rounded(now - began));
            }
            return;
        };
        standing.since = Some(working.began);
        standing.until = working.ends;
        standing.suspensions = Some(working.suspensions);
        if let Some(ends) = working.ends {
            let (die, left) = (self.die(op.bin), rounded(ends - now));
            standing.words = format!("{name} is at work on die {die}, for {left} more at least");
        }
        let (ago, times) = (rounded(now - working.began), working.suspensions);
        standing.words += &format!("; it began {ago} ago and has made way {times} times");
    }

    /// Adds what keeps an operation from its unit.
    fn add_what_holds(&self, id: OpId, standing: &mut Standing, depth: u32) {
        let op = &self.device.base.flash.ops[id];
        let group = &self.device.base.flash.groups[op.group];
        let holds = |other: &OpId| {
            let one = &self.device.base.flash.ops[*other];
            let has_unit = match self.census.ops[other] {
                Doing::Goes(..) | Doing::MakesWay | Doing::Stops => true,
                // Its cells are kept for it, whether it has them yet or not.
                Doing::AwaitsChannel => {
                    one.asks_for != AsksFor::Both || group.held & one.cells & op.cells != 0
                }
                Doing::AwaitsUnit | Doing::AwaitsSpace => false,
            };
            *other != id && has_unit && one.group == op.group && one.cells & op.cells != 0
        };
        standing.behind = self.below(self.census.begun.iter().copied().filter(holds), depth);
        if !standing.behind.is_empty() {
            return;
        }
        match group.kept_for().filter(|_| group.reserved & op.cells != 0) {
            Some(bin) if !(op.is_collection() && bin == op.bin) => {
                standing.words += &format!(", which is kept for the collection of bin {}", bin.0);
                standing.behind = self.collection(bin, depth);
            }
            _ => {
                let others = group.queued() - 1;
                standing.words += &format!(", where {others} other operations wait");
            }
        }
    }

    /// Operations that are in the way of something.
    fn below(&self, ops: impl IntoIterator<Item = OpId>, depth: u32) -> Vec<Standing> {
        if depth == 0 {
            return Vec::new();
        }
        ops.into_iter().take(MOST).map(|id| self.op(id, &self.name(id), depth - 1)).collect()
    }

    /// What keeps a bin's collection from giving space.
    pub fn collection(&self, bin: BinId, depth: u32) -> Vec<Standing> {
        if depth == 0 {
            return Vec::new();
        }
        let is_own = |id: &OpId| self.device.base.job_of(*id) == bin;
        let found = self.below(self.census.collections.iter().copied().filter(is_own), depth);
        if !found.is_empty() {
            return found;
        }
        let ftl = &self.device.base.space.ftl;
        let (job, task) = (&self.device.gc.jobs[bin], &self.device.base.space.bins[bin].task);
        let mut standing = match (task.draining.first().copied(), job.victim) {
            (Some(block), _) => {
                let readers = ftl.reads_under_way(block);
                let words = format!(
                    "block {} was moved and waits for {} of it to end",
                    block.0,
                    counted(readers, "read")
                );
                let mut standing = self.of_bin(Stage::Rest, words, bin);
                standing.block = Some(block);
                standing
            }
            (None, None) if !task.deferred.is_empty() => {
                let erases = self.device.base.space.bins[bin].task.deferred.len();
                let words = format!(
                    "{} in bin {} {} for fewer reads",
                    counted(erases as u64, "erase"),
                    bin.0,
                    each(erases as u64, "waits", "wait")
                );
                self.of_bin(Stage::Rest, words, bin)
            }
            (None, Some(block)) => {
                let words = format!("the collection of block {} in bin {} rests", block.0, bin.0);
                let mut standing = self.of_bin(Stage::Rest, words, bin);
                standing.block = Some(block);
                standing
            }
            (None, None) => {
                let (good, free) = (ftl.good_blocks(bin), ftl.free_blocks(bin));
                let words = format!(
                    "no block of bin {} is being collected ({free} of {good} good blocks are free)",
                    bin.0
                );
                self.of_bin(Stage::Rest, words, bin)
            }
        };
        standing.parts = 1;
        vec![standing]
    }
}
