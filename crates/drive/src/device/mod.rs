//! The drive as its host meets it: commands go in with [`Device::submit`], time
//! goes on with [`Device::advance`], completions come out of [`Device::take_done`].
//!
//! The device owns its agenda but no clock: whoever drives it says how far time
//! has come, so the same device serves a simulated run, a test and, later, a
//! real block device.
//!
//! One file for each concern: `op` and `queue` are the vocabulary of flash
//! operations, `array` starts and ends them on units, `channel` on channels;
//! `read`, `admit`, `write`, `modify`, `placing` and `discard` are what requests make of them,
//! `answer` is how those end; `collect`, `victims`, `moves` and `streaming` are what garbage
//! collection does, `chain` the short way through a collection; `buffer` and `link` are the parts
//! around. `census`, `whereabouts` and `obstacles` only look: they say where a request stands
//! (`standing`) and what is in its way. `look` is what the drive says of itself.

mod admit;
mod answer;
mod array;
mod buffer;
mod census;
mod chain;
mod channel;
mod collect;
mod counters;
mod defer;
mod discard;
mod event;
mod ledgers;
mod link;
mod look;
mod modify;
mod moves;
mod obstacles;
mod op;
mod outage;
mod placing;
mod power;
mod queue;
mod read;
mod request;
mod rounds;
mod rows;
mod scrub;
mod shutdown;
mod space;
mod standing;
mod streaming;
mod suspend;
mod untimed;
mod victims;
mod watch;
mod whereabouts;
mod write;

pub use counters::{Counters, OpKind};
pub use outage::Cut;
pub(crate) use request::Touches;
pub use request::{Completion, RequestId};
pub use standing::{Stage, Standing, rounded};

use crate::audit::Audit;
use crate::config::{BufferConfig, Bypass, DriveConfig, EraseBatching, FirmwareConfig};
use crate::policies::routing::ReadRouting;
use buffer::Buffer;
use channel::Channel;
use collect::Job;
use engine::{Agenda, Column, Instant, Span, Streams};
use event::Event;
use ftl::{BinId, Ftl, GcConfig, Layout, PartialWrites};
use host::{Command, Kind, Priority};
use ledgers::Ledgers;
use link::Link;
use metrics::{Blame, Digest};
use nand::{ChannelId, Geometry, GroupId, Timing, Units};
use op::{Ops, Payloads};
use queue::Group;
use request::{Request, Requests};
use rows::RowTiming;
use space::Space;

/// A drive.
#[derive(Clone)]
pub struct Device {
    // ---- constant ----
    timing: Timing,
    units: Units,
    planes_per_die: u32,
    bypass: Bypass,
    routing: ReadRouting,
    erase_rules: suspend::Rules,
    program_rules: suspend::Rules,
    /// Whether any erase or program may make way.
    suspends: bool,
    /// The rounds in which operations go, if they do.
    rounds: Option<rounds::Rounds>,
    /// How erases that are ready wait for a burst of reads to end, if they do.
    erase_batching: Option<EraseBatching>,
    firmware: FirmwareConfig,
    buffer_config: BufferConfig,
    gc_config: GcConfig,
    bins_of_group: Column<GroupId, Vec<BinId>>,
    places: Column<BinId, array::BinPlace>,
    /// True where, in every bin, any read and program occupies the same cells.
    uniform: bool,
    /// Whether what would go next anyway may pass by the queue, and operations of
    /// collection turn into each other.
    short_ways: bool,
    /// What recovery from power cuts takes, if the drive can.
    persistence: Option<Box<power::Persistence>>,
    /// Planes of a package, where pages stream between packages while a block is collected.
    streaming: Option<u32>,
    /// Whether writes of a part of a unit leave the rest of it in its planes.
    modifies: bool,
    /// Scrubbing, if there is any.
    scrubs: Option<scrub::Turn>,
    /// Every cell of a group.
    all_cells: u64,
    rows: RowTiming,
    // ---- state ----
    now: Instant,
    agenda: Agenda<Event>,
    ftl: Ftl,
    ops: Ops,
    payloads: Payloads,
    groups: Column<GroupId, Group>,
    ledgers: Ledgers,
    channels: Column<ChannelId, Channel>,
    requests: Requests,
    buffer: Buffer,
    link: Link,
    /// True from the buffer's high mark to its low mark.
    draining: bool,
    /// Page reads that entries still wait for.
    fetches_left: Vec<(buffer::EntryId, u32)>,
    /// Partial writes (second) of units whose rest is being read, or programmed, for another
    /// (first).
    followers: Vec<(buffer::EntryId, buffer::EntryId)>,
    jobs: Column<BinId, Job>,
    /// What keeps the bins' collections from giving space.
    spaces: Column<BinId, Space>,
    pools: Column<ftl::PoolId, placing::Pool>,
    bins: Column<BinId, placing::Home>,
    /// Erases and programs that are under way and may make way, and how far each has come.
    working: Column<GroupId, Vec<suspend::Working>>,
    /// Erases that wait for a burst of reads to end.
    backlogs: Column<BinId, defer::Backlog>,
    /// Operations that another one turned into.
    chained: u64,
    /// Order in which operations are asked for.
    next_seq: u64,
    /// Bins whose need for collection is looked at when the present event is over.
    to_collect: Vec<BinId>,
    /// Bins without space for a write that waits, and without a victim so far.
    starved: Vec<BinId>,
    /// Bins in which a partial write that stays in its planes was set aside for want of space.
    parked_modifies: Vec<BinId>,
    /// True once a pool was without space.
    was_starved: bool,
    /// Groups whose idle collection found nothing that gains space.
    thwarted: Vec<GroupId>,
    /// What the units of the write that is being let in waited for before, where
    /// writes are acknowledged from flash.
    wait_for_room: Blame,
    /// True while the units of a write are taken in, and the pools that listed some.
    admitting: bool,
    listed: Vec<ftl::PoolId>,
    /// Parts of the read that is being split, kept for its memory.
    pieces: Vec<read::Piece>,
    // ---- results ----
    done: Vec<Completion>,
    outstanding: u32,
    counters: Counters,
    digest: Digest,
    audit: Option<Box<Audit>>,
}

/// The firmware of a new drive as `config` describes it.
///
/// # Panics
/// Where the configuration contradicts itself.
pub fn empty_firmware(config: &DriveConfig, seed: u64) -> Ftl {
    let geometry = Geometry::from(&config.geometry);
    let exported = config.ftl.exported_bytes(&geometry);
    let exported = exported.expect("a checked configuration has one over-provisioning key");
    let layout = Layout::new(&geometry, &config.ftl, exported).expect("a checked layout");
    let mut ftl = Ftl::new(layout, &config.ftl, config.nand.endurance, Streams::new(seed));
    ftl.keep_metadata(config.recovery.is_some());
    ftl
}

impl Device {
    /// A new drive as `config` describes it, without data. The configuration has
    /// passed [`crate::check::check`].
    ///
    /// # Panics
    /// Where the configuration contradicts itself.
    pub fn new(config: &DriveConfig, seed: u64) -> Self {
        Self::with_firmware(config, empty_firmware(config, seed))
    }

    /// A drive as `config` describes it, whose firmware is as it was left. The
    /// firmware's layout is that of `config`; [`Device::firmware_changed`] comes next.
    ///
    /// # Panics
    /// Where the configuration contradicts itself.
    pub fn with_firmware(config: &DriveConfig, ftl: Ftl) -> Self {
        let geometry = Geometry::from(&config.geometry);
        let units = Units::new(&geometry, &config.concurrency, config.scheduler.group(&geometry))
            .expect("checked units");
        let timing = Timing::new(&config.nand, &geometry);
        Self::assemble(config, geometry, timing, units, ftl)
    }

    fn assemble(
        config: &DriveConfig,
        geometry: Geometry,
        timing: Timing,
        units: Units,
        ftl: Ftl,
    ) -> Self {
        let layout = &ftl.layout;
        let mut bins_of_group = Column::filled(Vec::new(), units.groups as usize);
        for bin in (0..layout.bins).map(BinId) {
            bins_of_group[units.place(layout.first_plane(bin)).group].push(bin);
        }
        let places =
            Column::from_fn(layout.bins as usize, |bin| array::BinPlace::new(bin, layout, &units));
        let uniform = places.as_slice().iter().all(array::BinPlace::is_uniform);
        let erase_rules = suspend::Rules::of_erases(&config.scheduler);
        let program_rules = suspend::Rules::of_programs(&config.scheduler);
        let buffer_units = (config.buffer.size.bytes() / layout.unit_bytes) as u32;
        let mut device = Self {
            bypass: config.scheduler.bypass,
            routing: config.scheduler.read_routing.clone(),
            suspends: erase_rules.is_on || program_rules.is_on,
            erase_batching: config.scheduler.erase_batching,
            rounds: config
                .scheduler
                .rounds
                .map(|rounds| rounds::Rounds::new(rounds, units.groups, units.cells_per_group)),
            erase_rules,
            program_rules,
            working: Column::filled(Vec::new(), units.groups as usize),
            backlogs: Column::from_fn(layout.bins as usize, |_| defer::Backlog::default()),
            firmware: config.firmware,
            buffer_config: config.buffer.clone(),
            gc_config: config.ftl.gc.clone(),
            planes_per_die: geometry.planes_per_die,
            rows: RowTiming::new(layout, &timing),
            now: Instant::START,
            agenda: Agenda::new(),
            ops: Ops::default(),
            payloads: Payloads::new(layout.units_per_batch),
            groups: Column::from_fn(units.groups as usize, |_| Group::new(units.cells_per_group)),
            ledgers: Ledgers::new(&units, &places),
            channels: Column::from_fn(geometry.channels as usize, |_| Channel::default()),
            requests: Requests::default(),
            buffer: Buffer::new(buffer_units, layout.pool_count()),
            link: Link::new(&config.link),
            persistence: config.recovery.map(|of| power::Persistence::new(of, config, &ftl)),
            scrubs: config.ftl.scrub.as_ref().map(scrub::Turn::new),
            streaming: (config.ftl.gc.streaming)
                .then_some(geometry.planes_per_die * geometry.dies_per_package),
            modifies: config.ftl.partial_writes == PartialWrites::Plane,
            short_ways: config.scheduler.rounds.is_none(),
            chained: 0,
            draining: false,
            fetches_left: Vec::new(),
            followers: Vec::new(),
            jobs: Column::from_fn(layout.bins as usize, |_| Job::default()),
            spaces: Column::from_fn(layout.bins as usize, |_| Space::default()),
            pools: Column::from_fn(layout.pool_count() as usize, |pool| {
                placing::Pool::new(config.ftl.allocation.choice, layout.bins_of(pool).len())
            }),
            bins: Column::from_fn(layout.bins as usize, |_| placing::Home::default()),
            next_seq: 0,
            to_collect: Vec::new(),
            starved: Vec::new(),
            parked_modifies: Vec::new(),
            was_starved: false,
            thwarted: Vec::new(),
            wait_for_room: Blame::default(),
            admitting: false,
            listed: Vec::new(),
            pieces: Vec::new(),
            done: Vec::new(),
            outstanding: 0,
            counters: Counters::default(),
            digest: Digest::default(),
            audit: None,
            all_cells: u64::MAX >> (64 - units.cells_per_group),
            uniform,
            places,
            bins_of_group,
            timing,
            units,
            ftl,
        };
        if device.suspends {
            device.ftl.count_strain();
        }
        device.place_homes();
        device
    }

    /// The firmware's state changed from outside: looks at it anew.
    pub fn firmware_changed(&mut self) {
        self.place_homes();
        self.begin_checkpoints();
        // Units that no operation ever touches may have something to collect too.
        self.groups.ids().for_each(|group| self.note_idle(group));
        self.begin_scrubbing();
    }

    /// From now on every move of garbage collection asks for a read and a program of
    /// its own, instead of one turning into the other, and programs stand in the queue
    /// before they wait for their channel. The outcome is the same to the last bit, as
    /// tests prove with this; it only takes longer.
    pub fn forgo_short_ways(&mut self) {
        self.short_ways = false;
    }

    /// Turns the auditor on. From now on every read is checked against what was
    /// written, and [`Device::finish_audit`] proves the map.
    pub fn audit(&mut self) {
        self.audit = Some(Box::new(Audit::new(&self.ftl)));
        if let Some(survives) = self.survives()
            && let Some(audit) = &mut self.audit
        {
            audit.expect_cuts(&self.ftl, survives);
            self.ftl.prove_checkpoints();
        }
    }

    /// Checks the map against itself and against what the auditor saw.
    ///
    /// # Errors
    /// The first disagreement.
    pub fn finish_audit(&self) -> Result<(), String> {
        self.ftl.audit()?;
        match &self.audit {
            Some(audit) => self.finish_account(audit),
            None => Ok(()),
        }
    }

    // ---- the host's side --------------------------------------------------

    /// Hands a command to the drive at `at`, which is not before any moment that
    /// the drive has reached. `arrived` is when the host wanted to: the time
    /// until `at` is charged to power cuts as long as the drive was off, else to the
    /// queue depth.
    ///
    /// # Panics
    /// Where `at` is in the drive's past or the range is beyond its end.
    #[inline]
    pub fn submit(
        &mut self,
        at: Instant,
        arrived: Instant,
        command: Command,
        priority: Priority,
        tag: u32,
    ) -> RequestId {
        assert!(at >= self.now, "a command is submitted in the drive's past");
        debug_assert!(
            self.agenda.next_due().is_none_or(|due| due >= at),
            "events before a submission come first"
        );
        debug_assert!(
            command.end() <= self.ftl.layout.exported_bytes(),
            "{command:?} ends beyond the drive"
        );
        self.now = at;
        self.outstanding += 1;
        let id = self.requests.insert(Request::new(command, priority, tag, arrived, at));
        let off = self.persistence.as_ref().map_or(Span::ZERO, |p| p.off_since(arrived));
        let blame = self.requests.blame_mut(id);
        blame.charge(metrics::State::PowerOff, off);
        blame.charge(metrics::State::QueueDepth, at - arrived - off);
        let mut ready = at;
        if command.kind == Kind::Write {
            ready = self.link.down(at, command.bytes, blame);
        }
        let handling = self.firmware.overhead(command.kind);
        blame.charge(metrics::State::Firmware, handling);
        ready += handling;
        if command.kind == Kind::Read {
            // The map is looked at when the firmware has taken the command in.
            self.ftl.prefetch(self.ftl.layout.unit_at(command.offset));
        }
        if let Some(audit) = &mut self.audit {
            self.requests[id].ticket = audit.submitted(&self.ftl.layout, id, command, at, arrived);
        }
        // Also where that is now: a command never completes inside its submission,
        // so completions that are being handed over keep their slots and blame.
        self.agenda.schedule(ready, Event::Dispatch(id), self.requests[id].number);
        id
    }

    /// When the drive next has something to do, if it has.
    #[inline]
    pub fn next_due(&self) -> Option<Instant> {
        self.agenda.next_due()
    }

    /// True where commands wait that nothing in the drive will ever end, although scrubbing
    /// may go on.
    #[inline]
    pub fn is_stuck(&self) -> bool {
        self.outstanding > 0 && (self.next_due().is_none() || self.scrubs_in_vain())
    }

    /// Lets time pass up to and including `until`.
    pub fn advance(&mut self, until: Instant) {
        while self.agenda.next_due().is_some_and(|due| due <= until) {
            self.step();
        }
        self.now = self.now.max(until);
    }

    /// Lets time pass up to `until` where nothing is due before; what is due then
    /// is left for later.
    pub fn wait(&mut self, until: Instant) {
        debug_assert!(self.agenda.next_due().is_none_or(|due| due >= until), "events come first");
        self.now = self.now.max(until);
    }

    /// Handles the next event, if there is one, and then those up to and including
    /// `until`, but no more once a command has completed.
    #[inline]
    pub fn step_while_quiet(&mut self, until: Instant) {
        let mut limit = Instant::NEVER;
        while self.step_by(limit).is_some() && !self.has_done() {
            limit = until;
        }
    }

    /// Handles the next event, if there is one.
    #[inline(never)]
    pub fn step(&mut self) -> Option<Instant> {
        self.step_by(Instant::NEVER)
    }

    /// Handles the next event, if one is due by `until`.
    #[inline(always)]
    fn step_by(&mut self, until: Instant) -> Option<Instant> {
        let (due, event, sequence) = self.agenda.pop_by(until)?;
        debug_assert!(due >= self.now, "time does not run backwards");
        self.now = due;
        match event {
            Event::Dispatch(request) => self.dispatch(request),
            Event::Programmed(op) if self.suspends => self.programmed_beside_reads(op, sequence),
            Event::Programmed(op) => self.programmed(op),
            Event::Array(op) if self.suspends => self.array_ended(op, sequence),
            Event::Array(op) => self.array_over(op),
            Event::Sensed(op) => self.want_transfer(op),
            Event::SensedRest(op) => self.rest_sensed(op),
            Event::CarriedOut(op) => self.carried_out(op),
            Event::CarriedIn(op) => self.carried_in(op),
            Event::Complete(request) => self.complete(request),
            Event::Partial(pool) => self.partial_due(pool),
            Event::Idle(group) => self.idle_due(group),
            Event::Scrub => self.scrub_due(),
            Event::Look(op) => self.look_due(op, sequence),
            Event::Backlog(bin) => self.backlog_due(bin),
            Event::Answer(request) => self.send(request, due),
            Event::Fetched(entry) => self.entry_ready(entry),
        }
        self.collect_where_needed();
        Some(due)
    }

    /// The completions since the last call, in order; the vector is emptied by
    /// the caller and its memory reused.
    #[inline]
    pub fn take_done(&mut self, into: &mut Vec<Completion>) {
        std::mem::swap(&mut self.done, into);
    }

    /// True where [`Device::take_done`] has something to give.
    #[inline]
    pub fn has_done(&self) -> bool {
        !self.done.is_empty()
    }

    #[inline]
    fn dispatch(&mut self, id: RequestId) {
        match self.requests[id].command.kind {
            Kind::Read => self.read(id),
            Kind::Write | Kind::WriteZeroes => self.admit(id),
            Kind::Trim => self.trim(id),
            Kind::Flush => self.flush(id),
        }
    }
}
