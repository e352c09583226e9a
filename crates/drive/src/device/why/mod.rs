//! Reasons why a request waits: a search from the request to its obstacles, and on to the obstacles
//! of those. Each part answers for itself, in its `why.rs`; this module puts the answers into
//! words.

use crate::device::Device;
use crate::device::event::Event;
use crate::device::flash::counters::OpKind;
use crate::device::flash::op::Owner;
use crate::device::flash::why::{Survey, Why};
use crate::device::gc::why::Rest;
use crate::device::ids::{EntryId, OpId, RequestId, UpdateId};
use crate::device::port::bus::Crossing;
use crate::device::standing::{Stage, Standing, rounded};
use crate::device::write::Write;
use crate::device::write::why::{Admission, Place};
use engine::{Instant, Span};
use ftl::{BinId, PoolId, SetId};
use metrics::{Blame, Holder};
use settings::{counted, each, grouped};

/// Depth of the search from an operation. Two collections may each wait for the other's unit, so
/// there must be a limit.
const DEPTH: u32 = 4;

/// Greatest number of obstacles that are reported together.
const MOST: usize = 3;

/// Greatest number of states that are reported for one request.
const MOST_WAYS: usize = 16;

impl Device {
    /// States of the unfinished parts of a request; equal states are reported once.
    pub fn standings(&self, id: RequestId) -> Vec<Standing> {
        let set = self.base.set_at(self.port.requests[id].command.offset);
        let walk = Walk {
            device: self,
            set,
            write: &self.write[set],
            flash: self.base.flash.survey(&self.base.time),
        };
        let mut found: Vec<Standing> = Vec::new();
        for standing in walk.parts(id) {
            match found.iter().position(|other| other.is_like(&standing)) {
                Some(known) => found[known].parts += 1,
                None if found.len() < MOST_WAYS => found.push(standing),
                None => {}
            }
        }
        if found.is_empty() {
            let words = format!("nothing is under way for it; {}", self.why_stuck());
            found.push(Standing::new(Stage::Rest, words));
        }
        found
    }

    /// The blame of an unfinished request so far: its own, and that of its first operation.
    pub fn blame_so_far(&mut self, id: RequestId) -> Blame {
        let mut blame = self.port.requests.blame_so_far(id, self.base.flash.all_blames());
        let part_of = |owner| self.port.part_of(id, owner);
        self.base.flash.charge_so_far(&self.base.time, part_of, &mut blame);
        blame
    }
}

/// A request that waits for the bus to the host.
fn bus(crossing: Crossing, since: Instant) -> Standing {
    let (stage, words) = match crossing {
        Crossing::Begin => (Stage::TakenIn, "it waits for the bus to the host, to begin"),
        Crossing::End => (Stage::Answered, "it waits for the bus to the host, to end"),
    };
    Standing { since: Some(since), ..Standing::new(stage, words.into()) }
}

/// A search through the parts of a drive.
struct Walk<'a> {
    device: &'a Device,
    /// The NVM set of the request, and its writes.
    set: SetId,
    write: &'a Write,
    flash: Survey<'a>,
}

impl Walk<'_> {
    /// Every unfinished part of a request.
    fn parts(&self, id: RequestId) -> Vec<Standing> {
        let Device { base, port, .. } = self.device;
        let write = self.write;
        let reads = self.flash.owned(|owner| port.part_of(id, owner).is_some());
        let flying: Vec<EntryId> = self.programs().map(|(_, entry)| entry).collect();
        let entries = write.awaited_by(id, &base.time, &flying).into_iter();
        let due = port.due(&base.time, id).map(|(event, at)| self.due(event, at));
        let admission = write.admission(id).map(|waits| self.admission(waits, port.since(id)));
        let bus = port.waits_for_bus(id).map(|(crossing, since)| bus(crossing, since));
        due.into_iter()
            .chain(bus)
            .chain(admission)
            .chain(reads.map(|op| self.op(op, Some("its read"), DEPTH)))
            .chain(entries.map(|entry| self.entry(entry, "its data")))
            .collect()
    }

    /// The event that is due for a request itself.
    fn due(&self, event: Event, at: Instant) -> Standing {
        let (stage, words) = match event {
            Event::Dispatch(_) | Event::Crossed(_) => {
                (Stage::TakenIn, "it is on its way in, through link and firmware")
            }
            Event::Complete(_) => (Stage::Answered, "its answer is on its way to the host"),
            _ => (Stage::Work, "the data of its last part is being decoded or copied"),
        };
        let words = format!("{words}, for {} more", rounded(at - self.device.now()));
        Standing { until: Some(at), ..Standing::new(stage, words) }
    }

    /// Operations that are in the request's NVM set: ids of entries belong to one.
    fn of_set(&self, ops: impl Iterator<Item = OpId>) -> impl Iterator<Item = OpId> {
        let base = &self.device.base;
        ops.filter(|op| base.set_of_bin(base.flash.op(*op).bin) == self.set)
    }
    /// Entries of the set's buffer that programs carry, each with its program.
    fn programs(&self) -> impl Iterator<Item = (OpId, EntryId)> {
        let base = &self.device.base;
        let all = self.flash.programs();
        all.filter(|(op, _)| base.set_of_bin(base.flash.op(*op).bin) == self.set)
    }

    // ---- the write buffer ----------------------------------------------------

    /// A write that waits for room, or a flush.
    fn admission(&self, waits: Admission, since: Instant) -> Standing {
        let (stage, words, epoch) = match waits {
            Admission::Room { ahead, used, capacity } => {
                let ahead = grouped(ahead);
                let [used, capacity] = [used, capacity].map(grouped);
                let others = format!("behind {ahead} others ({used} of {capacity} units are used)");
                let words = format!("it waits for room in the write buffer, {others}");
                (Stage::Room, words, u64::MAX)
            }
            Admission::Flush { epoch } => {
                let words = "it waits until the earlier content of the write buffer is on flash";
                (Stage::Flush, words.into(), epoch)
            }
        };
        let behind = self.on_the_way_to_flash(epoch);
        Standing { since: Some(since), behind, ..Standing::new(stage, words) }
    }

    /// Entries up to an epoch on their way to flash: running programs first, then waiting ones,
    /// then entries without a program.
    fn on_the_way_to_flash(&self, epoch: u64) -> Vec<Standing> {
        let Device { base, .. } = self.device;
        let write = self.write;
        let counts = |entry: &EntryId| write.is_up_to(epoch, *entry);
        let mut programs: Vec<_> = (self.programs().filter(|(_, entry)| counts(entry)))
            .map(|(op, _)| (self.flash.until(op).unwrap_or(Instant::NEVER), op))
            .collect();
        programs.sort_unstable();
        programs.dedup();
        let incomplete = write.incomplete(&base.time).filter(counts).take(MOST);
        let mut others: Vec<_> = incomplete.map(|entry| self.entry(entry, "data in it")).collect();
        for (pool, first) in write.first_listed().filter(|(_, entry)| counts(entry)) {
            // If nothing waits for space, a list continues after the programs under way.
            let goes_on = !programs.is_empty() || !others.is_empty();
            if !goes_on || base.space.starved_bin(pool).is_some() {
                others.push(self.entry(first, "data in it"));
            }
        }
        // At least one place is for entries that are not under way.
        let most = MOST - usize::from(!others.is_empty());
        let name = Some("a program of host data");
        let told = |(_, op): &(Instant, OpId)| self.op(*op, name, DEPTH - 1);
        programs.iter().take(most).map(told).chain(others).take(MOST).collect()
    }

    /// Data in the buffer that must go to flash.
    fn entry(&self, entry: EntryId, whose: &str) -> Standing {
        let stripes = self.device.base.space.ftl.layout.stripes;
        match self.write.place_of(stripes, entry) {
            Place::List(pool, since) => self.listed(pool, since, whose),
            Place::Rest(entry) => {
                let is_own = |owner| matches!(owner, Owner::RmwRead(of, _) if of == entry);
                let (op, rest) =
                    (self.of_set(self.flash.owned(is_own)).next(), format!("the rest of {whose}"));
                self.op_or(op, &format!("the read of {rest}"), format!("{rest} is being decoded"))
            }
            Place::Update(update) => {
                let words =
                    format!("{whose} waits until an earlier update of its stripe has ended");
                self.op_or(self.read_for(update), "a read for parity before it", words)
            }
            Place::Program(entry) => {
                let op = self.programs().find(|(_, of)| *of == entry).map(|(op, _)| op);
                match self.write.update_of_entry(stripes, entry) {
                    Some(update) if op.is_none() => {
                        let words = format!("{whose} waits for parity, or for a bin");
                        let name = format!("a read for the parity of {whose}");
                        self.op_or(self.read_for(update), &name, words)
                    }
                    _ => {
                        let words = format!("{whose} is being programmed");
                        self.op_or(op, &format!("the program of {whose}"), words)
                    }
                }
            }
        }
    }

    /// Data in a pool's list.
    fn listed(&self, pool: PoolId, since: Instant, whose: &str) -> Standing {
        let since = Some(since);
        if self.device.base.space.is_held(pool) {
            let limit = self.limit();
            let words = format!("{whose} waits, because {limit} of its NVM set may be outstanding");
            return Standing { since, ..Standing::new(Stage::Buffer, words) };
        }
        let Some(bin) = self.device.base.space.starved_bin(pool) else {
            let words = format!("{whose} waits in the buffer for a full batch, or for a bin");
            return Standing { since, ..Standing::new(Stage::Buffer, words) };
        };
        let words = format!("{whose} waits for free space in bin {}", bin.0);
        let behind = self.collection(bin, DEPTH);
        Standing { since, behind, ..self.in_bin(Stage::Space, words, bin) }
    }

    /// A read for the parity of an update.
    fn read_for(&self, update: UpdateId) -> Option<OpId> {
        let is_own = |owner| matches!(owner, Owner::ParityRead(of, _) if of == update);
        self.flash.owned(is_own).next()
    }

    /// State of an operation, or else what `without` says.
    fn op_or(&self, op: Option<OpId>, name: &str, without: String) -> Standing {
        match op {
            Some(op) => self.op(op, Some(name), DEPTH),
            None => Standing::new(Stage::Work, without),
        }
    }

    // ---- operations ------------------------------------------------------------

    fn in_bin(&self, stage: Stage, words: String, bin: BinId) -> Standing {
        let die = Some(self.device.base.die_of(bin));
        Standing { bin: Some(bin), die, ..Standing::new(stage, words) }
    }

    /// State of an operation; without a name it is called by its kind and source.
    fn op(&self, id: OpId, name: Option<&str>, depth: u32) -> Standing {
        let (standing, why) = self.flash.why(id);
        let name = name.map_or_else(|| name_of(&standing), Into::into);
        let bin = standing.bin.expect("an operation has a bin");
        let layout = &self.device.base.space.ftl.layout;
        let lane = layout.lane(self.device.base.flash.op(id).batch);
        let (die, now) = (self.device.base.die_of_lane(bin, lane), self.device.now());
        let mut behind = Vec::new();
        let mut words = match why {
            Why::Unit { occupied_by, reserved_for, others } => {
                behind = self.below(occupied_by, depth);
                let rest = match reserved_for {
                    _ if !behind.is_empty() => String::new(),
                    Some(of) => {
                        behind = self.collection(of, depth);
                        format!(", which is kept for the collection of bin {}", of.0)
                    }
                    None => format!(", where {others} other operations wait"),
                };
                format!("{name} waits for its unit of die {die}{rest}")
            }
            Why::Channel(channel, carried, reserved_for) => {
                behind = self.below(carried, depth);
                let rest = reserved_for.map_or(String::new(), |of| {
                    if behind.is_empty() {
                        behind = self.collection(of, depth);
                    }
                    format!(", which is kept for the collection of bin {}", of.0)
                });
                format!("{name} waits for channel {}{rest}", channel.0)
            }
            Why::Page if self.device.base.is_late(id) => {
                format!("{name} waits, because {} of its NVM set may be outstanding", self.limit())
            }
            Why::Page => {
                behind = self.collection(bin, depth);
                format!("{name} waits for free space in bin {}", bin.0)
            }
            Why::Aside => self.aside(&name),
            Why::Suspended => format!("{name} is suspended for reads on die {die}"),
            Why::Stops => format!("{name} is being interrupted on die {die}"),
            Why::Works(channel) => {
                let place = channel.map_or(format!("die {die}"), |of| format!("channel {}", of.0));
                let left = standing.until.map_or(Span::ZERO, |until| until - now);
                let at_least = standing.suspensions.map_or("", |_| " at least");
                format!("{name} is at work on {place}, for {} more{at_least}", rounded(left))
            }
        };
        let is_erase = matches!(standing.operation, Some((OpKind::Erase, _)));
        let is_erased = is_erase && standing.stage == Stage::Work;
        if let Some(began) = standing.since.filter(|_| is_erased || standing.suspensions.is_some())
        {
            words += &format!("; it began {} ago", rounded(now - began));
        }
        if let Some(times) = standing.suspensions {
            words += &format!(" and was suspended {times} times");
        }
        Standing { words, die: Some(die), behind, ..standing }
    }

    /// The limit of outstanding programs of an NVM set, in words.
    fn limit(&self) -> String {
        let pressure = self.device.base.space.pressure.as_ref();
        counted(pressure.map_or(0, |pressure| pressure.most()), "program")
    }

    /// The wait of a bin's collection for that limit, or of scrubbing in its place, in words.
    fn limited(&self, bin: BinId) -> String {
        let what = match self.device.base.space.task(bin).scrub_goes_first {
            true => "scrubbing",
            false => "collection",
        };
        let (number, limit) = (bin.0, self.limit());
        format!(
            "the {what} of bin {number} waits, because {limit} of its NVM set may be outstanding"
        )
    }

    /// A read that is over, but for its data.
    fn aside(&self, name: &str) -> String {
        let tasks = self.device.base.tasks.as_ref().map(|tasks| &tasks[self.set]);
        let tasks = tasks.filter(|tasks| tasks.holds_members());
        let rest = tasks.map_or(String::new(), |tasks| {
            let most = counted(tasks.most(), "task");
            format!("; reads of its stripe may wait, because the firmware has {most} at a time")
        });
        format!("the data of {name} is being decoded or rebuilt{rest}")
    }

    /// Operations that are obstacles.
    fn below(&self, ops: impl IntoIterator<Item = OpId>, depth: u32) -> Vec<Standing> {
        let most = if depth == 0 { 0 } else { MOST };
        ops.into_iter().take(most).map(|op| self.op(op, None, depth - 1)).collect()
    }

    /// Reasons why a bin's collection gains no space.
    fn collection(&self, bin: BinId, depth: u32) -> Vec<Standing> {
        let base = &self.device.base;
        let own = self.flash.collections().filter(|op| base.job_of(*op) == bin);
        let found = self.below(own, depth);
        if depth == 0 || !found.is_empty() {
            return found;
        }
        let number = bin.0;
        let (block, words) = match self.device.gc.why_rests(base, bin) {
            Rest::Readers(block, reads) => {
                let reads = counted(reads, "read");
                let words =
                    format!("block {} was moved and waits for {reads} of it to end", block.0);
                (Some(block), words)
            }
            Rest::HostWrites => {
                let words =
                    format!("the collection of bin {number} follows host writes, and owes no move");
                (None, words)
            }
            Rest::Turn(block) => {
                let words = format!("the collection of block {} in bin {number} rests", block.0);
                (Some(block), words)
            }
            Rest::Task => {
                let most = base.tasks.as_ref().map_or(0, |tasks| tasks.first().most());
                let most = counted(most, "task");
                let words = format!(
                    "the collection of bin {number} waits, because the firmware has {most} at a time"
                );
                (None, words)
            }
            Rest::Pressure => (None, self.limited(bin)),
            Rest::Permit => {
                let words = format!(
                    "the collection of bin {number} waits for its turn among other collections"
                );
                (None, words)
            }
            Rest::Quiet => {
                let words = format!(
                    "the collection of bin {number} waits until hosts do not use its channel"
                );
                (None, words)
            }
            Rest::Burst(erases) => {
                let (erases, wait) =
                    (counted(erases as u64, "erase"), each(erases as u64, "waits", "wait"));
                (None, format!("{erases} in bin {number} {wait} for fewer reads"))
            }
            Rest::Victim { free, good } => {
                let blocks = format!("({free} of {good} good blocks are free)");
                (None, format!("no block of bin {number} is being collected {blocks}"))
            }
        };
        vec![Standing { block, ..self.in_bin(Stage::Rest, words, bin) }]
    }
}

/// The name of an operation that is an obstacle.
fn name_of(standing: &Standing) -> String {
    let number = |of: Option<u32>| of.expect("an erase has a block");
    let name = match standing.operation.expect("it is of an operation") {
        (OpKind::Erase, _) => {
            let (block, bin) = (standing.block.map(|of| of.0), standing.bin.map(|of| of.0));
            return format!("the erase of block {} in bin {}", number(block), number(bin));
        }
        (OpKind::CopyBack, Holder::Scrub) => "a copy-back of scrubbing",
        (OpKind::CopyBack, _) => "a copy-back of GC",
        (OpKind::Modify, _) => "a partial write inside its planes",
        (OpKind::Read, Holder::HostRead) => "a read of a host",
        (OpKind::Read, Holder::RmwRead) => "a read for a partial write",
        (OpKind::Read, Holder::Scrub) => "a read of scrubbing",
        (OpKind::Read, Holder::Parity) => "a read for parity",
        (OpKind::Read, Holder::Rebuild) => "a read to rebuild lost data",
        (OpKind::Read, _) => "a read of GC",
        (OpKind::Program, Holder::HostProgram) => "a program of host data",
        (OpKind::Program, Holder::Scrub) => "a program of scrubbing",
        (OpKind::Program, Holder::Parity) => "a program of parity",
        (OpKind::Program, Holder::Rebuild) => "a program of rebuilt data",
        (OpKind::Program, _) => "a program of GC",
    };
    name.into()
}
