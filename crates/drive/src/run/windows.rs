//! Windows of predictable latency in a run: the host asks for them in turn, and the latencies of reads
//! are counted by window.

use super::Run;
use super::host_windows::HostSide;
use crate::device::{Completion, Window};
use crate::experiment::{Experiment, WindowOrder};
use engine::{Instant, Span};
use ftl::SetId;
use host::Kind;

impl Run {
    /// Plans the windows of an experiment whose drive has them.
    pub(super) fn plan_windows(&mut self, experiment: &Experiment) {
        let Some(of_drive) = &experiment.drive.ftl.windows else { return };
        let sets = self.device.ftl().layout.set_count();
        let host = experiment.run.windows;
        let asks = host.map(|host| {
            [host.dtwin.unwrap_or(of_drive.dtwin), host.ndwin.unwrap_or(of_drive.ndwin_high)]
                .map(|time| time.span())
        });
        let order = host.map_or(WindowOrder::Together, |host| host.order);
        let begin = |set: u32| match (asks, order) {
            (Some([dtwin, ndwin]), WindowOrder::InTurn) => {
                let ns = u128::from((dtwin + ndwin).as_ns()) * u128::from(set) / u128::from(sets);
                Instant::START + Span::from_ns(ns as u64)
            }
            _ => Instant::START,
        };
        let next = (0..sets).map(|set| (begin(set), Window::Dtwin)).collect();
        let reads = (0..sets).map(|_| Default::default()).collect();
        let windows = HostSide { asks, next, vain: 0, done: (0, 0), reads };
        self.window_at = windows.first().map_or(Instant::NEVER, |set| windows.next[set].0);
        self.windows = Some(Box::new(windows));
    }

    /// Asks for a set's next window, if that comes before the next request at `own` and before the next
    /// event of the drive; returns true if it did.
    #[cold]
    #[inline(never)]
    pub(super) fn window_comes_first(&mut self, own: Option<Instant>) -> bool {
        if own.is_none() && self.has_windows_in_vain() {
            return false;
        }
        let at = self.window_at;
        let due = [own, self.device.next_due()].into_iter().flatten().min();
        // Requests and events of the same moment come first. With nothing to come the run is over, or
        // stuck: no window would change that.
        if due.is_none_or(|due| due <= at) || own.is_none() && self.device.outstanding() == 0 {
            return false;
        }
        self.measured.note_time(at, &mut self.device);
        let windows = self.windows.as_mut().expect("one is due");
        let [dtwin, ndwin] = windows.asks.expect("the host asks for windows");
        let set = windows.first().expect("there are sets");
        let (_, window) = windows.next[set];
        windows.next[set] = match window {
            Window::Dtwin => (at + dtwin, Window::Ndwin),
            Window::Ndwin => (at + ndwin, Window::Dtwin),
        };
        let first = windows.first().expect("there are sets");
        self.window_at = windows.next[first].0;
        self.device.set_window(at, SetId(set as u32), window);
        self.count_vain_window(own);
        true
    }

    /// Counts changes of windows while nothing else is due or has happened.
    fn count_vain_window(&mut self, own: Option<Instant>) {
        let tally = self.device.ftl().tally;
        let done = (tally.units.iter().sum::<u64>() + tally.erases, self.device.outstanding());
        let windows = self.windows.as_mut().expect("one was due");
        let is_vain = own.is_none()
            && self.device.waits_for_timers_alone()
            && std::mem::replace(&mut windows.done, done) == done;
        windows.vain = if is_vain { windows.vain + 1 } else { 0 };
    }

    /// True if requests wait for something that no window brings: each set had several of both kinds, and
    /// nothing happened.
    #[cold]
    #[inline(never)]
    pub(super) fn has_windows_in_vain(&self) -> bool {
        let windows = self.windows.as_ref().expect("the host asks for windows");
        windows.vain > 6 * windows.next.len() as u32
    }

    /// Counts the latencies of reads that were answered, by window.
    #[cold]
    #[inline(never)]
    pub(super) fn record_in_windows(&mut self, completions: &[Completion]) {
        let Some(windows) = &mut self.windows else { return };
        let reads = completions.iter().filter(|one| one.command.kind == Kind::Read);
        for one in reads.filter(|one| self.measured.counts(one.arrived)) {
            let set = self.device.ftl().layout.set_at(one.command.offset);
            let is_inside = self.device.is_dtwin_since(set, one.arrived);
            windows.reads[set.0 as usize][usize::from(!is_inside)]
                .record(one.finished - one.arrived);
        }
    }

    /// The host's side of windows, if the drive has them.
    pub fn windows(&self) -> Option<&HostSide> {
        self.windows.as_deref()
    }
}
