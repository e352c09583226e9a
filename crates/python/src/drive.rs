//! A drive that is advanced from outside, for embedding in other simulators.

use crate::errors::{self, SimulatorError, SpaceError, restless};
use crate::function;
use crate::guard::{self, Guarded};
use crate::names::{kind_of, unknown};
use crate::plan::{Inner, Plan};
use crate::snapshot::Snapshot;
use crate::whole::{Whole, whole};
use drive::device::Window;
use drive::horizon::{LATEST, LinkLoad};
use drive::namespaces;
use drive::results;
use drive::starvation::Watch;
use drive::{Device, Experiment, History, Prepared, RunError};
use engine::Instant;
use ftl::{RecoveryLevel, SetId};
use host::{Command, Kind, Priority};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::{Value, json};
use std::sync::Arc;
use traces::SECTOR_BYTES;

/// A preconditioned drive that the caller advances.
#[pyclass(frozen, subclass, module = "flashscape._flashscape")]
pub struct Drive {
    capacity_bytes: u64,
    plan: Arc<Inner>,
    history: History,
    state: Guarded<State>,
}

/// Origin of a drive.
#[derive(FromPyObject)]
enum Start<'py> {
    Plan(Bound<'py, Plan>),
    Copy(Bound<'py, Drive>),
}

struct State {
    device: Device,
    next_id: u64,
    link: LinkLoad,
    /// Detects requests that starve, if that is asked for.
    watch: Option<Watch>,
    /// Completions that `advance` has not returned yet.
    done: Vec<Completion>,
    /// Kept to reuse its allocation.
    taken: Vec<drive::Completion>,
}

/// A request that has completed.
#[derive(Clone)]
#[pyclass(frozen, get_all, module = "flashscape._flashscape")]
pub struct Completion {
    /// Id that `submit` returned.
    id: u64,
    kind: &'static str,
    offset: u64,
    length: u64,
    arrived_ns: u64,
    finished_ns: u64,
    /// Mapping units read that were never written.
    unmapped: u32,
    /// Mapping units whose data the request did not get, because it could not be decoded.
    failed: u32,
    blame: Blame,
}

/// Nanoseconds by state, of the states that have any.
#[derive(Clone)]
struct Blame(Vec<(&'static str, u64)>);

impl<'py> IntoPyObject<'py> for &Blame {
    type Target = PyDict;
    type Output = Bound<'py, PyDict>;
    type Error = PyErr;
    fn into_pyobject(self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        self.0.iter().try_for_each(|(state, ns)| dict.set_item(state, ns))?;
        Ok(dict)
    }
}

#[pymethods]
impl Completion {
    #[getter]
    fn latency_ns(&self) -> u64 {
        self.finished_ns - self.arrived_ns
    }

    fn __repr__(&self) -> String {
        let Self { id, kind, offset, length, finished_ns, .. } = self;
        let latency = self.latency_ns();
        format!(
            "Completion(id={id}, kind={kind:?}, offset={offset}, length={length}, \
             finished_ns={finished_ns}, latency_ns={latency})"
        )
    }
}

#[pymethods]
impl Drive {
    /// Creates the drive of a plan, from `snapshot`, if given, instead of preconditioning it; or
    /// a copy of another drive.
    #[new]
    #[pyo3(signature = (start, snapshot=None))]
    fn new(py: Python<'_>, start: Start<'_>, snapshot: Option<&Snapshot>) -> PyResult<Self> {
        match start {
            Start::Plan(plan) => Self::made(py, plan.get().inner.clone(), snapshot),
            Start::Copy(drive) => drive.get().copied(py),
        }
    }

    /// Shuts down a copy of the drive and returns it as a snapshot; the drive itself continues.
    fn snapshot(&self, py: Python<'_>) -> PyResult<Snapshot> {
        let Experiment { drive, title, seed, .. } = &self.plan.experiment;
        let taken = function::heeding_interrupts(|| {
            let taken = self.state.with(py, |state| {
                let copy = state.device.clone();
                drive::Snapshot::of(copy, drive, title.as_deref(), *seed, &self.history)
            })?;
            taken.map_err(restless)
        })?;
        Ok(Snapshot { inner: Arc::new(taken) })
    }

    /// Submits a request to the drive at `at_ns`, or now; returns its id.
    #[pyo3(signature = (kind, offset=0, length=0, at_ns=None, priority="normal",
                        read_recovery_level=None))]
    #[expect(clippy::too_many_arguments, reason = "Python names them")]
    fn submit(
        &self,
        py: Python<'_>,
        kind: &str,
        #[pyo3(from_py_with = whole)] offset: u64,
        #[pyo3(from_py_with = whole)] length: u64,
        at_ns: Option<Whole>,
        priority: &str,
        read_recovery_level: Option<Whole>,
    ) -> PyResult<u64> {
        let command = self.command(kind, offset, length)?;
        let level = read_recovery_level.map(|level| u8::try_from(level.0).unwrap_or(u8::MAX));
        let rank = (priority_of(priority)?, self.level(command.kind, level)?);
        let at_ns = at_ns.map(|at| at.0);
        function::heeding_interrupts(|| {
            self.state.with(py, |state| state.submit(command, at_ns, rank))?
        })
    }

    /// Time of the drive's next event, in nanoseconds; None if none is pending.
    fn next_event_ns(&self, py: Python<'_>) -> PyResult<Option<u64>> {
        self.state.with(py, |state| state.device.next_due().map(Instant::as_ns))
    }

    /// Advances the time up to and including `until_ns`; returns the requests completed since the
    /// last call, in order.
    fn advance(&self, py: Python<'_>, until_ns: Whole) -> PyResult<Vec<Completion>> {
        let until = moment(until_ns.0, "until_ns").map_err(errors::argument)?;
        function::heeding_interrupts(|| self.state.with(py, |state| state.advance(until))?)
    }

    /// Cuts the power at `at_ns`, or now, and advances the time until the drive has recovered;
    /// returns the result as JSON text.
    #[pyo3(signature = (at_ns=None))]
    fn power_cut(&self, py: Python<'_>, at_ns: Option<Whole>) -> PyResult<String> {
        let at_ns = at_ns.map(|at| at.0);
        if self.plan.experiment.drive.recovery.is_none() {
            let problem = "the drive keeps nothing to recover by: give it a table recovery, for example { map = \"scan\" }";
            return Err(errors::argument(problem));
        }
        function::heeding_interrupts(|| self.state.with(py, |state| state.power_cut(at_ns))?)
    }

    /// Chooses the window of an NVM set at `at_ns`, or now.
    #[pyo3(signature = (window, nvm_set=1, at_ns=None))]
    fn set_window(
        &self,
        py: Python<'_>,
        window: &str,
        #[pyo3(from_py_with = whole)] nvm_set: u64,
        at_ns: Option<Whole>,
    ) -> PyResult<()> {
        let set = self.set_with_windows(nvm_set)?;
        let at_ns = at_ns.map(|at| at.0);
        let window = match window {
            "dtwin" => Window::Dtwin,
            "ndwin" => Window::Ndwin,
            other => return Err(unknown("window", "window", other, &["dtwin", "ndwin"])),
        };
        function::heeding_interrupts(|| {
            self.state.with(py, |state| state.set_window(window, set, at_ns))?
        })
    }

    /// The window of an NVM set, its estimates, counts and events, as JSON text; `clear` clears the
    /// events.
    #[pyo3(signature = (nvm_set=1, *, clear=false))]
    fn window(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = whole)] nvm_set: u64,
        clear: bool,
    ) -> PyResult<String> {
        let set = self.set_with_windows(nvm_set)?;
        self.state.with(py, |state| {
            let mut told = results::window_counts(&state.device, set);
            let estimates = state.device.window_estimates(set);
            told["window"] = if estimates.is_some() { "dtwin" } else { "ndwin" }.into();
            told["estimates"] = estimates.map_or(
                Value::Null,
                |of| json!({ "reads": of.reads, "writes": of.writes, "time_ns": of.time.as_ns() }),
            );
            let now = state.device.now();
            let device = &mut state.device;
            let pending = match clear {
                true => device.take_window_pending(now, set),
                false => device.window_pending(now, set),
            };
            told["pending"] = pending.unwrap_or_default().names().collect::<Vec<_>>().into();
            told.to_string()
        })
    }

    /// Proves the map, and the data of reads if the auditor is on.
    fn audit(&self, py: Python<'_>) -> PyResult<()> {
        let found = self.state.with(py, |state| state.device.finish_audit())?;
        found.map_err(SimulatorError::new_err)
    }

    /// Bytes that the host sees.
    #[getter]
    fn capacity_bytes(&self) -> u64 {
        self.capacity_bytes
    }

    /// The present time of the drive, in nanoseconds.
    #[getter]
    fn now_ns(&self, py: Python<'_>) -> PyResult<u64> {
        self.state.with(py, |state| state.device.now().as_ns())
    }

    /// Requests submitted and not completed.
    #[getter]
    fn outstanding(&self, py: Python<'_>) -> PyResult<u32> {
        self.state.with(py, |state| state.device.outstanding())
    }

    /// Requests that starved, as JSON text; None if starvation is not detected.
    fn starvation(&self, py: Python<'_>) -> PyResult<Option<String>> {
        self.state.with(py, |state| {
            let told = |watch| results::starvation(watch, state.device.now(), |_| HOST).to_string();
            state.watch.as_ref().map(told)
        })
    }

    /// A hash of every completion so far: equal digests, equal histories.
    #[getter]
    fn digest(&self, py: Python<'_>) -> PyResult<String> {
        self.state.with(py, |state| format!("{:016x}", state.device.digest()))
    }
}

impl Drive {
    fn made(py: Python<'_>, plan: Arc<Inner>, snapshot: Option<&Snapshot>) -> PyResult<Self> {
        let snapshot = snapshot.map(|snapshot| snapshot.inner.clone());
        plan.refuse_array("step by step, there is one drive without a plan of the host")?;
        plan.check_snapshot(snapshot.as_deref())?;
        let experiment = &plan.experiment;
        let made = function::heeding_interrupts(|| {
            let made = guard::detached(py, || {
                Prepared::for_clones(experiment, snapshot.as_deref(), &mut |_| true)
            })?;
            made.map_err(errors::run)
        })?;
        let Prepared { device, history } = made.expect("nobody ends preconditioning");
        let capacity_bytes = device.ftl().layout.exported_bytes();
        let link = LinkLoad::new(&experiment.drive.host_link());
        let watch = experiment.run.starvation.as_ref().map(Watch::new);
        let (done, taken) = (Vec::new(), Vec::new());
        let state = State { device, next_id: 0, link, watch, done, taken };
        Ok(Self { capacity_bytes, plan, history, state: Guarded::new(state) })
    }

    fn copied(&self, py: Python<'_>) -> PyResult<Self> {
        let state = self.state.with(py, |state| State {
            device: state.device.clone(),
            next_id: state.next_id,
            link: state.link,
            watch: state.watch.clone(),
            done: state.done.clone(),
            taken: Vec::new(),
        })?;
        let (plan, history) = (self.plan.clone(), self.history.clone());
        let capacity_bytes = self.capacity_bytes;
        Ok(Self { capacity_bytes, plan, history, state: Guarded::new(state) })
    }

    /// The NVM set with this number, of a drive with windows.
    fn set_with_windows(&self, number: u64) -> PyResult<SetId> {
        if self.plan.experiment.drive.ftl.windows.is_none() {
            let problem =
                "the drive has no windows of predictable latency: give it a table ftl.windows";
            return Err(errors::argument(problem));
        }
        let sets = self.plan.checked.layout.set_count();
        match number {
            0 => Err(errors::argument("nvm_set=0: sets are numbered from 1")),
            number if number > u64::from(sets) => {
                let problem = format!("nvm_set={number}: the drive has {sets} in all");
                Err(errors::argument(problem))
            }
            number => Ok(SetId(number as u32 - 1)),
        }
    }

    /// The read recovery level that is given for a command, which the drive must have.
    fn level(&self, kind: Kind, number: Option<u8>) -> PyResult<Option<RecoveryLevel>> {
        let Some(number) = number else { return Ok(None) };
        let drive = &self.plan.experiment.drive;
        let problem = match RecoveryLevel::try_from(number) {
            Err(problem) => problem,
            Ok(_) if kind != Kind::Read => {
                "read_recovery_level: only reads are recovered; leave it out".into()
            }
            Ok(_) if drive.nand.errors.is_none() => {
                "read_recovery_level: all that is read can be decoded; give drive.nand.errors, or leave it out".into()
            }
            Ok(level) if level == RecoveryLevel::DEFAULT => return Ok(Some(level)),
            Ok(level) => {
                let levels = drive.ftl.read_recovery_levels.as_ref();
                if levels.is_some_and(|levels| levels.of(level).is_some()) {
                    return Ok(Some(level));
                }
                format!("the drive has no read recovery level {level}; give its policy in drive.ftl.read_recovery_levels")
            }
        };
        Err(errors::argument(problem))
    }

    fn command(&self, kind: &str, offset: u64, bytes: u64) -> PyResult<Command> {
        let kind = kind_of("kind", kind)?;
        if !kind.has_range() {
            return self.flush(offset, bytes);
        }
        if bytes == 0 {
            return Err(errors::argument(
                "length is 0; a request asks for a sector of 512 B at least",
            ));
        }
        for (name, value, least) in [("offset", offset, 0), ("length", bytes, SECTOR_BYTES)] {
            if !value.is_multiple_of(SECTOR_BYTES) {
                let near = (value - value % SECTOR_BYTES).max(least);
                return Err(errors::argument(format!(
                    "{name}={value}: a host addresses sectors of {SECTOR_BYTES} B; give a multiple, such as {near}"
                )));
            }
        }
        let fits = offset.checked_add(bytes).is_some_and(|end| end <= self.capacity_bytes);
        if !fits {
            let capacity = self.capacity_bytes;
            return Err(errors::argument(format!(
                "offset {offset} with length {bytes} ends beyond the drive of {capacity} bytes"
            )));
        }
        let layout = &self.plan.checked.layout;
        if layout.set_at(offset) != layout.set_at(offset + bytes - 1) {
            return Err(errors::argument(format!(
                "offset {offset} with length {bytes} lies in two NVM sets; the first of them ends at {}",
                namespaces::of_set(layout, layout.set_at(offset)).end().unwrap_or(u64::MAX)
            )));
        }
        Ok(Command { kind, offset, bytes })
    }

    /// A flush: of the NVM set that its offset lies in, if the drive has sets.
    fn flush(&self, offset: u64, bytes: u64) -> PyResult<Command> {
        let has_sets = self.plan.checked.layout.sets.is_some();
        match bytes {
            0 if offset == 0 || has_sets && offset < self.capacity_bytes => {
                Ok(Command { offset, ..Command::FLUSH })
            }
            0 if has_sets => Err(errors::argument(format!(
                "offset {offset} lies beyond the drive of {} bytes",
                self.capacity_bytes
            ))),
            _ => Err(errors::argument("a flush has no offset and no length")),
        }
    }
}

impl State {
    /// Submits a command at `at_ns`, or now. Events up to then come first, as in a run.
    fn submit(
        &mut self,
        command: Command,
        at_ns: Option<u64>,
        (priority, level): (Priority, Option<RecoveryLevel>),
    ) -> PyResult<u64> {
        let at = self.go_to_given(at_ns)?;
        if !self.link.add(command.bytes) {
            self.link.remove(command.bytes);
            let problem = "the requests under way would keep the link busy for years";
            return Err(errors::argument(problem));
        }
        let id = self.next_id;
        self.next_id += 1;
        let given = self.device.submit(at, at, command, priority, id as u32);
        if let Some(level) = level {
            self.device.read_at_level(given, level);
        }
        if let Some(watch) = &mut self.watch {
            watch.submitted(given, at, 0, command.kind);
        }
        self.harvest();
        self.ask_policies()?;
        Ok(id)
    }

    /// Advances the time up to `at_ns`, if that is given, and returns the time.
    fn go_to_given(&mut self, at_ns: Option<u64>) -> PyResult<Instant> {
        let now = self.device.now();
        let at = at_ns.map_or(Ok(now), |at_ns| moment(at_ns, "at_ns"));
        let at = at.map_err(errors::argument)?;
        if at < now {
            let (at, now) = (at.as_ns(), now.as_ns());
            let problem = format!("at_ns={at} is in the past: the drive has reached {now} ns");
            return Err(errors::argument(problem));
        }
        self.go_to(at)?;
        Ok(at)
    }

    /// Cuts the power after the events due then. The drive has recovered when this returns.
    fn power_cut(&mut self, at_ns: Option<u64>) -> PyResult<String> {
        self.go_to_given(at_ns)?;
        let cut = self.device.cut_power().map_err(SimulatorError::new_err)?;
        let up_at = cut.outage.at + cut.outage.took;
        self.device.power_up(up_at);
        if let Some(watch) = &mut self.watch {
            watch.lost_all();
        }
        let lost: Vec<u64> = cut.lost.iter().map(|(tag, _)| full_id(self.next_id, *tag)).collect();
        cut.lost.iter().for_each(|(_, command)| self.link.remove(command.bytes));
        if up_at > LATEST {
            let problem = "the recovery goes on beyond the 4.5 years that can be simulated";
            return Err(errors::argument(problem));
        }
        self.ask_policies()?;
        let mut report = results::outage(&cut.outage);
        report["lost_ids"] = lost.into();
        Ok(report.to_string())
    }

    fn set_window(&mut self, window: Window, set: SetId, at_ns: Option<u64>) -> PyResult<()> {
        self.go_to_given(at_ns)?;
        self.device.set_window(self.device.now(), set, window);
        Ok(())
    }

    /// Returns the error of a user's policy, if one has failed.
    fn ask_policies(&self) -> PyResult<()> {
        match self.device.policy_fault() {
            Some(fault) => Err(errors::run(RunError::Policy(fault))),
            None => Ok(()),
        }
    }

    /// Completions up to `until`; an error if no request will ever complete again. Empty if it
    /// was interrupted, so that nothing is lost.
    fn advance(&mut self, until: Instant) -> PyResult<Vec<Completion>> {
        self.go_to(until)?;
        self.ask_policies()?;
        if self.device.is_stuck() && self.done.is_empty() {
            return Err(SpaceError::new_err(self.device.why_stuck()));
        }
        Ok(match function::was_interrupted() {
            true => Vec::new(),
            false => std::mem::take(&mut self.done),
        })
    }

    /// Advances the time up to and including `until`, or until a request starves and starvation
    /// is an error.
    fn go_to(&mut self, until: Instant) -> PyResult<()> {
        while let Some(due) = self.watch.as_ref().map(Watch::deadline)
            && due <= until
        {
            self.device.advance(due);
            self.harvest();
            let watch = self.watch.as_mut().expect("it is there");
            if watch.deadline() == due
                && let Some(starved) = watch.starve(&mut self.device, |_| HOST.into())
            {
                self.ask_policies()?;
                let id = full_id(self.next_id, starved.tag);
                return Err(errors::starved_as(&starved, Some(id)));
            }
        }
        self.device.advance(until);
        self.harvest();
        Ok(())
    }

    /// Copies completions with their blame, which only lasts until the next submission.
    fn harvest(&mut self) {
        if !self.device.has_done() {
            return;
        }
        self.device.take_done(&mut self.taken);
        self.taken.iter().for_each(|done| self.link.remove(done.command.bytes));
        if let Some(watch) = &mut self.watch {
            self.taken.iter().for_each(|done| watch.answered(done.id, done.finished));
        }
        let blame = |id| self.device.blame(id).iter().map(|(s, span)| (s.name(), span.as_ns()));
        self.done.extend(self.taken.drain(..).map(|done| Completion {
            id: full_id(self.next_id, done.tag),
            kind: done.command.kind.name(),
            offset: done.command.offset,
            length: done.command.bytes,
            arrived_ns: done.arrived.as_ns(),
            finished_ns: done.finished.as_ns(),
            unmapped: done.unmapped,
            failed: done.failed,
            blame: Blame(blame(done.id).collect()),
        }));
    }
}

/// Name of the one initiator.
const HOST: &str = "host";

/// A time to which the drive can be advanced.
fn moment(ns: u64, name: &str) -> Result<Instant, String> {
    let moment = Instant::from_ns(ns);
    let latest = LATEST.as_ns();
    (moment <= LATEST).then_some(moment).ok_or_else(|| {
        format!("{name}={ns} is beyond the {latest} ns (4.5 years) that can be simulated")
    })
}

/// The id whose low half is `tag`: the latest such id, because fewer than 2^32 are outstanding.
fn full_id(next: u64, tag: u32) -> u64 {
    let latest = next - 1;
    latest - u64::from((latest as u32).wrapping_sub(tag))
}

fn priority_of(name: &str) -> PyResult<Priority> {
    match name {
        "high" => Ok(Priority::High),
        "normal" => Ok(Priority::Normal),
        "low" => Ok(Priority::Low),
        _ => Err(unknown("priority", "priority", name, &["high", "normal", "low"])),
    }
}
