//! Windows of predictable latency, by NVM set: in a deterministic window (DTWIN) no maintenance begins.
//! The host asks for windows; the set ends a deterministic one by itself when it has had more reads,
//! writes or time than it guarantees, and when foreground GC is due (a deterministic excursion).
//! Source: [NVMBASE], Predictable Latency Mode.
//!
//! A set of which a deterministic window was asked closes first: it takes no further victim, except in
//! foreground GC, and the window begins when nothing is under way and the last one was long enough ago.

mod follow;
mod records;
#[cfg(test)]
mod tests;
mod warnings;

pub use records::{End, WindowCounts, WindowEvent};
pub use warnings::{Pending, Warning, WarningCounts};

use engine::{Column, Instant, Span};
use ftl::{SetId, Source, Tally, WindowsConfig};
use records::Records;
use warnings::Warned;

/// A window, as a host asks for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Window {
    /// The deterministic window.
    Dtwin,
    /// The non-deterministic window.
    Ndwin,
}

/// Guarantees of a set for the rest of its deterministic window (estimates of NVMe). The set does
/// not end the window by itself before one of these is used up. They only fall while the window
/// lasts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Estimates {
    /// Reads of 4 KiB; `None` for any number.
    pub reads: Option<u64>,
    /// Writes, in Optimal Write Size: what one program writes.
    pub writes: u64,
    /// Time.
    pub time: Span,
}

/// State of a set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Ndwin,
    /// A deterministic window was asked for at that moment, and has not begun.
    Closing(Instant),
    Dtwin,
}

#[derive(Clone)]
struct OfSet {
    phase: Phase,
    /// The beginning of the last window.
    since: Instant,
    /// Reads of 4 KiB since the deterministic window began.
    reads: u64,
    /// Units that hosts have written since then.
    written: u64,
    /// Units that they may write in it.
    guaranteed: u64,
    /// Units of the last estimate, which the next one does not exceed.
    told: u64,
    /// Counts of the set when the deterministic window began.
    began_with: Tally,
    /// Units of hosts that were programmed in the last deterministic window with writes, and units of
    /// these programs.
    full: (u64, u64),
    /// Maintenance is to go on: a deterministic window has ended at this moment.
    goes_on: bool,
    /// The moment at which the deterministic window has ended by itself; none once the next one has begun,
    /// or the host has asked for a non-deterministic one. (In an array that is when its turn begins.)
    broken_since: Option<Instant>,
    /// Warnings of the present window, but that of time: its moment follows from the beginning.
    warned: Warned,
    /// Events that the host has not cleared.
    pending: Pending,
    records: Records,
}

/// Bytes of the reads that NVMe counts (DTWIN Reads Typical).
const READ_BYTES: u64 = 4_096;

impl OfSet {
    /// Notes how full the programs of the window were that ends. Maintenance programmed nothing in it, so
    /// that all padding was that of hosts.
    fn note_full(&mut self, now: &Tally) {
        let of = |source| {
            let source = source as usize;
            now.units[source].saturating_sub(self.began_with.units[source])
        };
        let (hosts, padding) = (of(Source::Host), of(Source::Padding));
        if hosts > 0 {
            self.full = (hosts, hosts + padding);
        }
    }

    /// Units of hosts that programs hold in so many, if they are as full as in the window before.
    fn of_hosts(&self, units: u64) -> u64 {
        let (hosts, all) = self.full;
        (u128::from(units) * u128::from(hosts) / u128::from(all)) as u64
    }

    /// Gives a warning, if it is the first of its kind in this window.
    fn warn(&mut self, kind: Warning, at: Instant) {
        if self.warned.note(kind, at) {
            self.records.warned(kind);
            self.pending.warn(kind);
        }
    }

    /// The host lacks its deterministic window no more.
    fn end_broken(&mut self, now: Instant) {
        if let Some(since) = self.broken_since.take() {
            self.records.counts.broken += now - since;
        }
    }
}

/// The windows of all sets.
#[derive(Clone)]
pub struct Windows {
    config: WindowsConfig,
    /// Units that one program writes.
    units_per_write: u64,
    sets: Column<SetId, OfSet>,
}

impl Windows {
    /// The windows of a new drive: all are non-deterministic.
    pub fn new(config: WindowsConfig, units_per_write: u32, sets: u32) -> Self {
        let of = |_| OfSet {
            phase: Phase::Ndwin,
            since: Instant::START,
            reads: 0,
            written: 0,
            guaranteed: 0,
            told: 0,
            began_with: Tally::default(),
            full: (1, 1),
            goes_on: false,
            broken_since: None,
            warned: Warned::default(),
            pending: Pending::default(),
            records: Records::default(),
        };
        let sets = Column::from_fn(sets as usize, of);
        Self { config, units_per_write: units_per_write.into(), sets }
    }

    /// True for each kind of warning that comes, in the order of [`Warning::ALL`].
    pub fn thresholds(&self) -> [bool; 3] {
        let of = &self.config;
        [of.reads_threshold.is_some(), of.writes_threshold.is_some(), of.time_threshold.is_some()]
    }

    /// True while no maintenance of a set begins but foreground GC.
    #[inline]
    pub fn defers(&self, set: SetId) -> bool {
        self.sets[set].phase != Phase::Ndwin
    }
    /// True in a deterministic window.
    #[inline]
    pub fn is_dtwin(&self, set: SetId) -> bool {
        self.sets[set].phase == Phase::Dtwin
    }
    /// True while a deterministic window is about to begin.
    #[inline]
    pub fn is_closing(&self, set: SetId) -> bool {
        matches!(self.sets[set].phase, Phase::Closing(_))
    }
    /// True while a set ends a non-deterministic window that the host had chosen.
    pub fn ends_ndwin(&self, set: SetId) -> bool {
        self.is_closing(set) && self.sets[set].broken_since.is_none()
    }
    /// True if a set has been in its deterministic window since `then`.
    pub fn is_dtwin_since(&self, set: SetId, then: Instant) -> bool {
        self.is_dtwin(set) && self.sets[set].since <= then
    }

    /// A host asks for the deterministic window; returns the first moment at which it may begin, unless
    /// it has begun or was asked for before.
    pub fn ask_dtwin(&mut self, now: Instant, set: SetId) -> Option<Instant> {
        let of = &mut self.sets[set];
        if of.phase != Phase::Ndwin {
            return None;
        }
        of.phase = Phase::Closing(now);
        of.records.counts.asked += 1;
        let first = match of.records.counts.begun {
            // There was none before.
            0 => now,
            _ => of.since + self.config.ndwin_low.span(),
        };
        Some(first.max(now))
    }

    /// A host asks for the non-deterministic window, of a set with these counts; returns true if a
    /// deterministic one has ended.
    pub fn ask_ndwin(&mut self, now: Instant, set: SetId, tally: &Tally) -> bool {
        self.sets[set].end_broken(now);
        match self.sets[set].phase {
            Phase::Ndwin => false,
            Phase::Closing(since) => {
                let of = &mut self.sets[set];
                of.phase = Phase::Ndwin;
                of.records.gave_up(now - since);
                // What closing held back goes on.
                of.goes_on = true;
                false
            }
            Phase::Dtwin => {
                self.end(now, set, End::Host, tally);
                true
            }
        }
    }

    /// True if the set closes, and its last window was long enough ago.
    pub fn may_begin(&self, now: Instant, set: SetId) -> bool {
        let of = &self.sets[set];
        let is_first = of.records.counts.begun == 0;
        self.is_closing(set) && (is_first || now >= of.since + self.config.ndwin_low.span())
    }

    /// Begins a deterministic window with room for so many units, of a set with these counts; returns
    /// the moment at which it ends by itself at the latest: a nanosecond after its maximum, so that a host
    /// may end it there.
    pub fn begin(&mut self, now: Instant, set: SetId, (units, tally): (u64, Tally)) -> Instant {
        let units = self.whole(self.sets[set].of_hosts(units));
        let writes = units / self.units_per_write;
        let of = &mut self.sets[set];
        let Phase::Closing(asked) = of.phase else { unreachable!("a window that was asked for") };
        of.phase = Phase::Dtwin;
        (of.reads, of.written, of.began_with) = (0, 0, tally);
        (of.guaranteed, of.told) = (units, units);
        of.warned = Warned::default();
        of.records.began(writes, now - of.since, now - asked);
        of.end_broken(now);
        of.since = now;
        now + self.config.dtwin.span() + Span::from_ns(1)
    }

    /// The counts of a set when its last deterministic window began.
    pub fn began_with(&self, set: SetId) -> &Tally {
        &self.sets[set].began_with
    }

    /// Whole writes, in units.
    fn whole(&self, units: u64) -> u64 {
        units - units % self.units_per_write
    }

    /// The moment at which the estimate of time falls to its threshold in the deterministic window of a
    /// set.
    fn time_warning(&self, set: SetId) -> Option<Instant> {
        let left = self.config.time_threshold?.span();
        let of = &self.sets[set];
        (of.phase == Phase::Dtwin).then(|| of.since + (self.config.dtwin.span() - left))
    }

    /// Gives the warning of time if its moment has come.
    fn warn_of_time(&mut self, now: Instant, set: SetId) {
        if let Some(at) = self.time_warning(set).filter(|at| *at <= now) {
            self.sets[set].warn(Warning::Time, at);
        }
    }

    /// True if a warning of writes may come in a set.
    pub fn watches_writes(&self, set: SetId) -> bool {
        let of = &self.sets[set];
        self.config.writes_threshold.is_some()
            && of.phase == Phase::Dtwin
            && of.warned.at(Warning::Writes).is_none()
    }

    /// Gives the warning of writes if the estimate has fallen to its threshold: there is room for so
    /// many units until foreground GC is due. No later estimate is above it.
    pub fn watch_writes(&mut self, now: Instant, set: SetId, units: u64) {
        let Some(threshold) = self.config.writes_threshold else { return };
        let left = self.units_left(set, units);
        if left / self.units_per_write <= threshold {
            let of = &mut self.sets[set];
            of.told = of.told.min(left);
            of.warn(Warning::Writes, now);
        }
    }

    /// Units that hosts may still write in a deterministic window, if there is room for so many.
    fn units_left(&self, set: SetId, units: u64) -> u64 {
        let of = &self.sets[set];
        of.of_hosts(units).min(of.guaranteed.saturating_sub(of.written))
    }

    /// Units of the whole writes that hosts may still write in the deterministic window of a set, if there
    /// is room for so many units; `None` outside. Unlike the estimates, it may rise, and does not depend on
    /// what was told or warned of before.
    pub fn units_guaranteed(&self, set: SetId, units: u64) -> Option<u64> {
        self.is_dtwin(set).then(|| self.whole(self.units_left(set, units)))
    }

    /// Ends a deterministic window, of a set with these counts.
    pub fn end(&mut self, now: Instant, set: SetId, why: End, tally: &Tally) {
        self.warn_of_time(now, set);
        if matches!(why, End::Writes | End::Excursion) {
            // The estimate is 0 from now on.
            self.watch_writes(now, set, 0);
        }
        let writes = self.sets[set].guaranteed / self.units_per_write;
        let of = &mut self.sets[set];
        debug_assert_eq!(of.phase, Phase::Dtwin);
        of.note_full(tally);
        of.phase = Phase::Ndwin;
        of.goes_on = true;
        of.broken_since = (why != End::Host).then_some(now);
        let (reads, written) = (of.reads, of.written);
        let event = WindowEvent { at: now, began: of.since, set, why, reads, written, writes };
        of.records.ended(now - of.since, event, &of.warned);
        match why {
            End::Host => {}
            End::Reads | End::Writes | End::Time => of.pending.note_exceeded(),
            End::Excursion => of.pending.note_excursion(),
        }
        of.since = now;
    }

    /// True if the deterministic window of a set has lasted longer than it may.
    pub fn is_over(&self, now: Instant, set: SetId) -> bool {
        self.is_dtwin(set) && now > self.sets[set].since + self.config.dtwin.span()
    }

    /// Counts a read of so many bytes; returns true if the window must end: it has had more reads of
    /// 4 KiB than it guarantees.
    pub fn read(&mut self, now: Instant, set: SetId, bytes: u64) -> bool {
        let WindowsConfig { reads: most, reads_threshold, .. } = self.config;
        let of = &mut self.sets[set];
        if of.phase != Phase::Dtwin {
            return false;
        }
        of.reads += bytes.div_ceil(READ_BYTES);
        let Some(most) = most else { return false };
        if reads_threshold.is_some_and(|least| most.saturating_sub(of.reads) <= least) {
            of.warn(Warning::Reads, now);
        }
        of.reads > most
    }

    /// Counts units that a host writes; returns true if the window must end.
    pub fn write(&mut self, set: SetId, units: u64) -> bool {
        let of = &mut self.sets[set];
        if of.phase != Phase::Dtwin {
            return false;
        }
        of.written += units;
        of.written > of.guaranteed
    }

    /// True once after a deterministic window, or the wait for one, has ended.
    pub fn take_goes_on(&mut self, set: SetId) -> bool {
        std::mem::take(&mut self.sets[set].goes_on)
    }

    /// The estimates of a set in its deterministic window, if there is room for so many units until
    /// foreground GC is due: fewer than the guarantee leaves if some programs were not full. The guarantee
    /// stays as it is, so that asking changes nothing.
    pub fn estimates(&mut self, now: Instant, set: SetId, units: u64) -> Option<Estimates> {
        if self.sets[set].phase != Phase::Dtwin {
            return None;
        }
        let left = self.units_left(set, units);
        let of = &mut self.sets[set];
        of.told = of.told.min(left);
        Some(Estimates {
            reads: self.config.reads.map(|most| most.saturating_sub(of.reads)),
            writes: of.told / self.units_per_write,
            time: (of.since + self.config.dtwin.span()).max(now) - now,
        })
    }

    /// The events up to `now` that a set's host has not cleared.
    pub fn pending(&self, now: Instant, set: SetId) -> Pending {
        let mut pending = self.sets[set].pending;
        let is_new = self.sets[set].warned.at(Warning::Time).is_none();
        if is_new && self.time_warning(set).is_some_and(|at| at <= now) {
            pending.warn(Warning::Time);
        }
        pending
    }

    /// Clears the events of a set up to `now`; returns them.
    pub fn take_pending(&mut self, now: Instant, set: SetId) -> Pending {
        self.warn_of_time(now, set);
        std::mem::take(&mut self.sets[set].pending)
    }

    /// The counts of a set up to now, and the events of its windows.
    pub fn records(&self, now: Instant, set: SetId) -> (WindowCounts, &[WindowEvent]) {
        let of = &self.sets[set];
        let mut counts = of.records.counts;
        if let Phase::Closing(asked) = of.phase {
            counts.waited += now - asked;
        }
        counts.broken += of.broken_since.map_or(Span::ZERO, |since| now - since);
        let is_new = of.warned.at(Warning::Time).is_none();
        if is_new && self.time_warning(set).is_some_and(|at| at <= now) {
            counts.warnings[Warning::Time as usize].count += 1;
        }
        match of.phase {
            Phase::Dtwin => counts.dtwin += now - of.since,
            Phase::Ndwin | Phase::Closing(_) => counts.ndwin += now - of.since,
        }
        (counts, of.records.events())
    }
}
