//! Consequences of windows in the device: deferred maintenance goes on, and the guarantees of a window
//! that begins follow from the free space.

use super::{End, Estimates, Pending, Window, WindowCounts, WindowEvent};
use crate::device::event::Event;
use crate::device::ids::OpId;
use crate::device::{Base, Device};
use engine::Instant;
use ftl::{BinId, Level, SetId};
use host::{Command, Kind};

impl Device {
    /// Chooses the window of an NVM set (Set Features of NVMe). A deterministic window begins once the
    /// maintenance under way is over, and never before NDWIN Time Minimum Low has passed.
    ///
    /// # Panics
    /// If `at` is in the drive's past, or the drive has no windows.
    pub fn set_window(&mut self, at: Instant, set: SetId, window: Window) {
        assert!(at >= self.base.time.now, "a window is chosen in the drive's past");
        self.base.time.now = at;
        self.gc.audit_window(&self.base, set);
        let tally = self.base.space.ftl.tally_of(set);
        let windows = self.gc.windows.as_mut().expect("a drive with windows");
        let next = match window {
            Window::Dtwin => windows.ask_dtwin(at, set),
            Window::Ndwin => {
                windows.ask_ndwin(at, set, &tally);
                Some(at)
            }
        };
        if let Some(next) = next {
            self.base.time.agenda.schedule(next, Event::Window(set), 0);
        }
        // A set that is about to begin a deterministic window keeps credits for all of its GC.
        self.base.call_for_credits_of(set);
    }

    /// True if the drive has windows.
    pub fn has_windows(&self) -> bool {
        self.gc.windows.is_some()
    }
    /// True while an NVM set ends a non-deterministic window that the host had chosen: a deterministic one
    /// was asked for and has not begun.
    pub fn ends_ndwin(&self, set: SetId) -> bool {
        self.gc.windows.as_ref().is_some_and(|windows| windows.ends_ndwin(set))
    }
    /// True if no event of the drive is due but those of its windows and polls of scrubbing: nothing that
    /// a request waits for.
    pub fn waits_for_timers_alone(&self) -> bool {
        let is_timer =
            |event| matches!(event, Event::Window(_) | Event::Scrub(_) | Event::ScrubAgain(_));
        self.base.time.agenda.events().all(is_timer)
    }
    /// True if an NVM set has been in its deterministic window since `then`.
    pub fn is_dtwin_since(&self, set: SetId, then: Instant) -> bool {
        self.gc.windows.as_ref().is_some_and(|windows| windows.is_dtwin_since(set, then))
    }
    /// The window of an NVM set.
    ///
    /// # Panics
    /// If the drive has no windows.
    pub fn window(&self, set: SetId) -> Window {
        let windows = self.gc.windows.as_ref().expect("a drive with windows");
        if windows.is_dtwin(set) { Window::Dtwin } else { Window::Ndwin }
    }
    /// The estimates of an NVM set in its deterministic window; `None` outside.
    pub fn window_estimates(&mut self, set: SetId) -> Option<Estimates> {
        self.gc.windows.as_ref().filter(|windows| windows.is_dtwin(set))?;
        let units = self.units_before_foreground(set);
        self.gc.windows.as_mut()?.estimates(self.base.time.now, set, units)
    }
    /// Units that hosts may write to an NVM set in the rest of its deterministic window, and the bytes of one;
    /// `None` outside. Asking changes nothing, and neither do warnings.
    pub fn units_guaranteed(&self, set: SetId) -> Option<(u64, u64)> {
        let windows = self.gc.windows.as_ref().filter(|windows| windows.is_dtwin(set))?;
        let units = windows.units_guaranteed(set, self.units_before_foreground(set))?;
        Some((units, self.base.space.ftl.layout.unit_bytes))
    }
    /// The counts of an NVM set's windows up to now, and its first events; `None` without windows.
    pub fn window_records(&self, set: SetId) -> Option<(WindowCounts, &[WindowEvent])> {
        self.gc.windows.as_ref().map(|windows| windows.records(self.base.time.now, set))
    }

    /// The events of an NVM set up to `at` that its host has not cleared; `None` without windows.
    pub fn window_pending(&self, at: Instant, set: SetId) -> Option<Pending> {
        self.gc.windows.as_ref().map(|windows| windows.pending(at, set))
    }
    /// Clears the events of an NVM set up to `at`, and returns them; `None` without windows.
    pub fn take_window_pending(&mut self, at: Instant, set: SetId) -> Option<Pending> {
        self.gc.windows.as_mut().map(|windows| windows.take_pending(at, set))
    }
    /// True for each kind of warning that the drive gives, in the order of [`super::Warning::ALL`].
    pub fn window_thresholds(&self) -> [bool; 3] {
        self.gc.windows.as_ref().map_or([false; 3], |windows| windows.thresholds())
    }

    /// Gives warnings of writes, now that an event and its effects have been handled.
    #[cold]
    #[inline(never)]
    pub(in crate::device) fn watch_windows(&mut self) {
        for set in (0..self.base.space.ftl.layout.set_count()).map(SetId) {
            if self.gc.windows.as_ref().is_some_and(|windows| windows.watches_writes(set)) {
                let units = self.units_before_foreground(set);
                let now = self.base.time.now;
                self.gc.windows.as_mut().expect("it watches").watch_writes(now, set, units);
            }
        }
    }

    /// Counts a command in the window of its set, and ends that if the set has guaranteed less.
    #[cold]
    #[inline(never)]
    pub(in crate::device) fn count_in_window(&mut self, command: Command) {
        let set = self.base.set_at(command.offset);
        let unit = self.base.space.ftl.layout.unit_bytes;
        let windows = self.gc.windows.as_mut().expect("a drive with windows");
        let (is_over, why) = match command.kind {
            Kind::Read => {
                let now = self.base.time.now;
                (windows.read(now, set, command.end() - command.offset), End::Reads)
            }
            Kind::Write => {
                let units = command.end().div_ceil(unit) - command.offset / unit;
                (windows.write(set, units), End::Writes)
            }
            _ => return,
        };
        if is_over {
            self.end_window(set, why);
        }
    }

    /// Handles the event of a set's window.
    #[cold]
    #[inline(never)]
    pub(in crate::device) fn window_due(&mut self, set: SetId) {
        let now = self.base.time.now;
        let windows = self.gc.windows.as_mut().expect("its event goes with it");
        if windows.take_goes_on(set) {
            self.gc.prepare(&mut self.base, set);
        }
        let windows = self.gc.windows.as_mut().expect("its event goes with it");
        if windows.is_over(now, set) {
            return self.end_window(set, End::Time);
        }
        if windows.may_begin(now, set) && self.gc.is_at_rest(&self.base, set) {
            let units = self.units_before_foreground(set);
            let tally = self.base.space.ftl.tally_of(set);
            let windows = self.gc.windows.as_mut().expect("its event goes with it");
            let over = windows.begin(now, set, (units, tally));
            self.base.time.agenda.schedule(over, Event::Window(set), 0);
        }
    }

    fn end_window(&mut self, set: SetId, why: End) {
        self.gc.audit_window(&self.base, set);
        let (now, tally) = (self.base.time.now, self.base.space.ftl.tally_of(set));
        self.gc.windows.as_mut().expect("it is being ended").end(now, set, why, &tally);
        self.base.time.agenda.schedule(now, Event::Window(set), 0);
    }

    /// Units that hosts may write to a set until foreground GC is due in one of its bins, beside what is
    /// in the buffer and on its way to flash: those of the bin with the fewest times the number of bins.
    fn units_before_foreground(&self, set: SetId) -> u64 {
        let space = &self.base.space;
        let batch = space.ftl.layout.units_per_batch;
        let of_bin = |bin: BinId| {
            let promised = space.unbound(bin) * batch;
            space.ftl.units_before_foreground(bin).saturating_sub(promised)
        };
        let bins = bins_of(&self.base, set);
        let least = bins.clone().map(of_bin).min().unwrap_or(0);
        let units = u64::from(least) * bins.count() as u64;
        units.saturating_sub(self.write[set].buffer.units_to_program().into())
    }
}

/// The bins of an NVM set.
pub(in crate::device) fn bins_of(
    base: &Base,
    set: SetId,
) -> impl Iterator<Item = BinId> + Clone + '_ {
    (0..base.space.ftl.layout.bins).map(BinId).filter(move |bin| base.set_of_bin(*bin) == set)
}

impl crate::device::gc::Gc {
    /// Lets a set collect up to the stop threshold, as long as it may.
    fn prepare(&mut self, base: &mut Base, set: SetId) {
        let bins: Vec<BinId> = bins_of(base, set).collect();
        for bin in bins {
            if !base.space.ftl.has_enough(bin) {
                self.run(base, bin);
            }
            self.collect(base, bin);
        }
    }

    /// True if no maintenance of a set is under way, and no foreground GC is due.
    fn is_at_rest(&self, base: &Base, set: SetId) -> bool {
        bins_of(base, set).all(|bin| {
            self.is_idle(base, bin)
                && base.space.task(bin).deferred.is_empty()
                && base.space.ftl.level(bin) != Level::Foreground
        })
    }

    /// Checks that an operation of collection which has ended was in no deterministic window.
    #[cold]
    pub(in crate::device) fn audit_end(&self, base: &Base, id: OpId) {
        let (Some(windows), op) = (&self.windows, base.flash.op(id)) else { return };
        if base.audit.is_some() && op.is_collection() {
            let is_dtwin = windows.is_dtwin(base.set_of_bin(op.bin));
            assert!(!is_dtwin, "audit: maintenance in a deterministic window: {op:?}");
        }
    }

    /// Checks that no block was erased in a deterministic window.
    fn audit_window(&self, base: &Base, set: SetId) {
        let Some(windows) = &self.windows else { return };
        if base.audit.is_some() && windows.is_dtwin(set) {
            let (then, now) = (windows.began_with(set), base.space.ftl.tally_of(set));
            let of = |tally: &ftl::Tally| (tally.erases, tally.moved, tally.collected);
            assert_eq!(of(then), of(&now), "audit: maintenance in a deterministic window");
        }
    }

    /// Lets a deterministic window begin for which the maintenance of a bin was waited, if it may.
    #[cold]
    #[inline(never)]
    pub(in crate::device) fn came_to_rest(&self, base: &mut Base, bin: BinId) {
        let set = base.set_of_bin(bin);
        if self.windows.as_ref().is_some_and(|windows| windows.is_closing(set)) {
            base.time.agenda.schedule(base.time.now, Event::Window(set), 0);
        }
    }

    /// Ends a deterministic window, because foreground GC is due in a bin.
    pub(in crate::device) fn excursion(&mut self, base: &mut Base, set: SetId) {
        self.audit_window(base, set);
        let tally = base.space.ftl.tally_of(set);
        let windows = self.windows.as_mut().expect("a window is deterministic");
        windows.end(base.time.now, set, End::Excursion, &tally);
        base.time.agenda.schedule(base.time.now, Event::Window(set), 0);
    }
}
