//! The drive with its host interface: [`Device::submit`] takes commands, [`Device::advance`]
//! advances time, and [`Device::take_done`] returns completions.
//!
//! The device owns its agenda but no clock: the caller says how far time has come, so the same
//! device serves a simulated run, a test and, later, a real block device.
//!
//! Each part has a folder and owns its state (ARCHITECTURE.md, "The device"). `settle` handles due
//! events and their effects at the same moment; `look` lets callers inspect the drive, and `watch`
//! reports to the auditor.

mod base;
mod blames;
mod dispatched;
mod errors;
mod event;
mod failing;
mod failures;
mod flash;
mod gc;
mod ids;
mod join;
mod look;
mod pieces;
mod port;
mod power;
mod pressure;
mod rebuilding;
mod request;
mod settle;
mod space;
mod standing;
mod tasks;
mod time;
mod untimed;
mod watch;
mod whereabouts;
mod why;
mod windows;
mod write;

pub use errors::{ErrorCounters, FirstDecodes};
use failures::Failure;
pub use flash::counters::{Counters, OpKind};
pub use gc::turn::ScrubCounts;
pub use ids::{BITS_OF_ENTRY, RequestId};
pub use power::Cut;
pub use pressure::PressureCounts;
use rebuilding::Rebuilding;
pub use request::Completion;
pub(crate) use request::Touches;
pub use space::guests::HOLES_AT_ONCE;
pub use standing::{Stage, Standing, rounded};
pub use tasks::TaskCounts;
pub use windows::{
    End, Estimates, Pending, Warning, WarningCounts, Window, WindowCounts, WindowEvent,
};

use crate::audit::Audit;
use crate::config::DriveConfig;
use crate::recovery::TrimDurability;
use base::Base;
use engine::{Instant, Span, Streams};
use event::Event;
use ftl::{BySet, Ftl, Layout, Lpn, RecoveryLevel};
use gc::Gc;
use host::{Command, Kind, Priority};
use nand::Geometry;
use port::Port;
use port::bus::Crossing;
use request::Request;
use time::Time;
use write::Write;

/// A drive.
#[derive(Clone)]
pub struct Device {
    base: Base,
    gc: Gc,
    /// Writes, by NVM set.
    write: BySet<Write>,
    port: Port,
    /// Failures of flash that came, and those that will come.
    failures: Vec<Failure>,
    rebuilding: Rebuilding,
}

/// The firmware of a new drive as `config` describes it.
///
/// # Panics
/// If the configuration contradicts itself.
pub fn empty_firmware(config: &DriveConfig, seed: u64) -> Ftl {
    let geometry = Geometry::from(&config.geometry);
    let exported = config.ftl.exported_bytes(&geometry);
    let exported = exported.expect("a checked configuration has one over-provisioning key");
    let layout = Layout::new(&geometry, &config.ftl, exported).expect("a checked layout");
    let mut ftl = Ftl::new(layout, &config.ftl, config.nand.endurance, Streams::new(seed));
    keep_metadata(&mut ftl, config);
    ftl
}

/// Lets the firmware keep what a drive as `config` describes it recovers by.
pub(crate) fn keep_metadata(ftl: &mut Ftl, config: &DriveConfig) {
    ftl.keep_metadata(config.recovery.is_some());
    let logs_trims = config.recovery.is_some_and(|of| of.trims == TrimDurability::Logged);
    ftl.let_trims_stay(logs_trims);
}

impl Device {
    /// A new drive as `config` describes it, without data. The configuration has
    /// passed [`crate::check::check`].
    ///
    /// # Panics
    /// If the configuration contradicts itself.
    pub fn new(config: &DriveConfig, seed: u64) -> Self {
        Self::with_firmware(config, empty_firmware(config, seed), seed)
    }

    /// A drive as `config` describes it, with the firmware in its present state. The firmware's
    /// layout must be that of `config`, and [`Device::firmware_changed`] must be called next. Bit
    /// errors follow from the seed.
    ///
    /// # Panics
    /// If the configuration contradicts itself.
    pub fn with_firmware(config: &DriveConfig, ftl: Ftl, seed: u64) -> Self {
        let layout = &ftl.layout;
        let mut device = Self {
            gc: Gc::new(config, layout),
            write: BySet::from_fn(layout.set_count(), |set| Write::new(config, layout, set)),
            port: Port::new(config, layout.set_count()),
            failures: Vec::new(),
            rebuilding: Rebuilding::new(&config.ftl),
            base: Base::new(config, ftl, seed),
        };
        if device.base.flash.suspends() {
            device.base.space.ftl.count_strain();
        }
        device.base.space.place_homes();
        device
    }

    /// Re-evaluates the firmware's state, which was changed from outside.
    pub fn firmware_changed(&mut self) {
        self.base.space.place_homes();
        self.base.space.ftl.settle_ages();
        self.base.begin_checkpoints();
        // Units without any operation may have something to collect, too.
        let Self { base, gc, .. } = self;
        let groups = base.flash.groups();
        groups.for_each(|group| base.flash.watch_idle(&mut base.time, &base.space, group));
        gc.begin_scrubbing(base);
    }

    /// Turns off short cuts: every move of garbage collection asks for a read and a program of its
    /// own, instead of one turning into the other, and programs are queued before they wait for
    /// their channel. The results are the same to the last bit, which tests check with this
    /// function; it only takes longer.
    pub fn forgo_short_ways(&mut self) {
        self.base.flash.forgo_short_ways();
    }

    /// Turns the auditor on. From now on every read is checked against the writes, and
    /// [`Device::finish_audit`] checks the map.
    pub fn audit(&mut self) {
        self.base.audit = Some(Box::new(Audit::new(&self.base.space.ftl)));
        if let Some(survives) = self.survives()
            && let Some(audit) = &mut self.base.audit
        {
            audit.expect_cuts(&self.base.space.ftl, survives);
            self.base.space.ftl.prove_checkpoints();
        }
    }

    /// Checks the map against itself and against the auditor's account.
    ///
    /// # Errors
    /// The first disagreement.
    pub fn finish_audit(&self) -> Result<(), String> {
        self.base.space.ftl.audit()?;
        let Some(audit) = &self.base.audit else { return Ok(()) };
        // Apart, because it is asked for each unit, and without sets there is none to find.
        match self.write.count() {
            1 => self.compare(audit, |_| self.write.first()),
            _ => self.compare(audit, |lpn| &self.write[self.base.space.ftl.layout.set_of(lpn)]),
        }
    }

    /// Compares the data of units with the auditor's account; `write` has the buffer of a unit.
    fn compare<'d>(
        &self,
        audit: &Audit,
        write: impl Fn(Lpn) -> &'d Write + Copy,
    ) -> Result<(), String> {
        let buffered = |lpn| {
            let buffer = &write(lpn).buffer;
            buffer.find(lpn).map(|entry| buffer.token(entry))
        };
        let apart = |lpn| write(lpn).apart(lpn);
        audit.finish(&self.base.space.ftl, self.base.outstanding(), (buffered, apart))
    }

    // ---- the host's side --------------------------------------------------

    /// Submits a command to the drive at `at`, which must not be before any moment that the drive
    /// has reached. `arrived` is the moment at which the host wanted to submit it: the time until
    /// `at` is charged to power cuts as far as the drive was off, and otherwise to the queue depth.
    ///
    /// # Panics
    /// If `at` is in the drive's past or the range is beyond its end.
    #[inline]
    pub fn submit(
        &mut self,
        at: Instant,
        arrived: Instant,
        command: Command,
        priority: Priority,
        tag: u32,
    ) -> RequestId {
        assert!(at >= self.base.time.now, "a command is submitted in the drive's past");
        debug_assert!(
            self.base.time.agenda.next_due().is_none_or(|due| due >= at),
            "events before a submission come first"
        );
        debug_assert!(
            command.end() <= self.base.space.ftl.layout.exported_bytes(),
            "{command:?} ends beyond the drive"
        );
        debug_assert!(
            command.bytes == 0
                || self.base.set_at(command.offset) == self.base.set_at(command.end() - 1),
            "{command:?} lies in two NVM sets"
        );
        self.base.time.now = at;
        self.base.command_began();
        let off = self.base.power.as_ref().map_or(Span::ZERO, |p| p.off_since(arrived));
        let new = |number| Request::new(command, priority, tag, arrived, at, number);
        let (id, ready) = self.port.take_in(self.base.flash.blames(), command, at, off, new);
        if command.kind == Kind::Read {
            // The map is read when the firmware has taken the command in.
            self.base.space.ftl.prefetch(self.base.space.ftl.layout.unit_at(command.offset));
        }
        if let Some(audit) = &mut self.base.audit {
            let layout = &self.base.space.ftl.layout;
            let ticket = audit.submitted(layout, id, command, at, arrived);
            self.port.requests.set_ticket(id, ticket);
        }
        if self.port.needs_bus() {
            self.port.ask_for_bus(&mut self.base, Crossing::Begin, id);
            return id;
        }
        // Scheduled even if it is due now: a command never completes inside its submission, so
        // completions that are being handed over keep their slots and blame.
        self.base.time.agenda.schedule(ready, Event::Dispatch(id), self.port.requests[id].number);
        id
    }

    /// Chooses the read recovery level of a read that was submitted at the present moment; otherwise it
    /// has that of its NVM set.
    #[cold]
    pub fn read_at_level(&mut self, id: RequestId, level: RecoveryLevel) {
        self.port.requests.set_recovery_level(id, level);
    }

    /// The moment of the drive's next event, if there is one.
    #[inline]
    pub fn next_due(&self) -> Option<Instant> {
        self.base.time.agenda.next_due()
    }

    /// True if commands wait that no event of the drive will ever complete, although scrubbing may
    /// go on.
    #[inline]
    pub fn is_stuck(&self) -> bool {
        self.base.outstanding() > 0 && (self.next_due().is_none() || self.scrubs_in_vain())
    }

    /// Lets time pass up to and including `until`.
    pub fn advance(&mut self, until: Instant) {
        while self.base.time.agenda.next_due().is_some_and(|due| due <= until) {
            self.step();
        }
        self.base.time.now = self.base.time.now.max(until);
    }

    /// Lets time pass up to `until` if no event is due before; events due at `until` are left for
    /// later.
    pub fn wait(&mut self, until: Instant) {
        debug_assert!(
            self.base.time.agenda.next_due().is_none_or(|due| due >= until),
            "events come first"
        );
        self.base.time.now = self.base.time.now.max(until);
    }

    /// Handles the next event, if there is one, and then those up to and including `until`, but
    /// stops once a command has completed.
    #[inline]
    pub fn step_while_quiet(&mut self, until: Instant) {
        self.handle(Instant::NEVER, until, false);
    }

    /// Handles events up to and including `until`, but stops once a command has completed; returns
    /// true if one has.
    #[inline]
    pub fn goes_on_until_done(&mut self, until: Instant) -> bool {
        self.has_done() || self.handle(until, until, false).is_some()
    }

    /// Handles the next event, if there is one.
    #[inline]
    pub fn step(&mut self) -> Option<Instant> {
        self.handle(Instant::NEVER, Instant::NEVER, true)
    }

    /// Handles the next event if it is due by `first`, and then those up to and including `until`, but
    /// stops after the first one or once a command has completed; returns the due time of the last
    /// one, or `None` if no event is left.
    // This is the only place where events are handled: with a second one the compiler would not
    // inline the handlers.
    #[inline(never)]
    fn handle(&mut self, first: Instant, until: Instant, only_first: bool) -> Option<Instant> {
        let mut limit = first;
        loop {
            // Opaque in each turn, or else the compiler takes the addresses of all parts before the
            // loop, most of which the few events of a call do not need.
            let due = std::hint::black_box(&mut *self).handle_next(limit)?;
            if only_first || self.has_done() {
                return Some(due);
            }
            limit = until;
        }
    }

    /// Handles the next event, if one is due by `until`.
    #[inline(always)]
    fn handle_next(&mut self, until: Instant) -> Option<Instant> {
        let (due, event, sequence) = self.base.time.agenda.pop_by(until)?;
        debug_assert!(due >= self.base.time.now, "time does not run backwards");
        self.base.time.now = due;
        if let Some(ended) = self.happen(event, sequence) {
            self.route(ended);
        }
        self.settle();
        Some(due)
    }

    /// The completions since the last call, in order; the vector is emptied by
    /// the caller and its memory reused.
    #[inline]
    pub fn take_done(&mut self, into: &mut Vec<Completion>) {
        self.port.take_done(into);
    }

    /// True if [`Device::take_done`] would return completions.
    #[inline]
    pub fn has_done(&self) -> bool {
        self.port.has_done()
    }
}
