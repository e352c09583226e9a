//! One run of a plan, in slices, so that Python can show its progress and end it.

use crate::errors;
use crate::function;
use crate::guard::Guarded;
use crate::plan::{Inner, Plan};
use crate::progress::report;
use crate::requests::RequestsFile;
use crate::snapshot::Snapshot;
use crate::table::Table;
use drive::check::Checked;
use drive::results::Outcome;
use drive::{AnyRun, Experiment, Prepared, Progress, Ready};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use std::path::PathBuf;
use std::sync::Arc;
use traces::Survey;

/// One run of a plan.
#[pyclass(frozen, module = "flashscape._flashscape")]
pub struct Session {
    plan: Arc<Inner>,
    /// Values derived from the plan for the drive with which the run begins.
    checked: Checked,
    stage: Guarded<Stage>,
}

/// State of a session.
enum Stage {
    /// Traces, if there are any, were read.
    Surveyed(Vec<Option<Survey>>, Option<Arc<drive::Snapshot>>),
    Running {
        surveys: Vec<Option<Survey>>,
        run: AnyRun,
        log: Option<Box<RequestsFile>>,
    },
    /// Preconditioning failed or was interrupted.
    Spent,
}

#[pymethods]
impl Session {
    /// Reads the traces of the plan once, so that faults show before the run. The drive is
    /// started from `snapshot`, if given, instead of being preconditioned.
    #[new]
    #[pyo3(signature = (plan, snapshot=None))]
    fn new(py: Python<'_>, plan: &Plan, snapshot: Option<&Snapshot>) -> PyResult<Self> {
        let plan = plan.inner.clone();
        let snapshot = snapshot.map(|snapshot| snapshot.inner.clone());
        let checked = plan.check_snapshot(snapshot.as_deref())?;
        let stage = Stage::Surveyed(plan.surveys(py)?, snapshot);
        Ok(Self { plan, checked, stage: Guarded::new(stage) })
    }

    /// Summary of each trace in a few lines; None for a workload without one.
    fn surveys(&self, py: Python<'_>) -> PyResult<Vec<Option<String>>> {
        let shown = |survey: &Option<Survey>| survey.as_ref().map(ToString::to_string);
        self.stage.with(py, |stage| match stage {
            Stage::Surveyed(surveys, _) | Stage::Running { surveys, .. } => {
                surveys.iter().map(shown).collect()
            }
            Stage::Spent => Vec::new(),
        })
    }

    /// Fills and ages the drive. `ongoing` is called with the share done; an exception from it
    /// (and Ctrl-C) ends the session.
    #[pyo3(signature = (ongoing=None))]
    fn precondition(&self, py: Python<'_>, ongoing: Option<Py<PyAny>>) -> PyResult<()> {
        self.begin(py, |experiment, snapshot| {
            let mut raised = None;
            let mut tell = |share| {
                raised = Python::attach(|py| report(py, ongoing.as_ref(), share)).err();
                raised.is_none()
            };
            let made = Ready::new(experiment, snapshot, &mut tell).map_err(errors::run)?;
            made.ok_or_else(|| raised.expect("nothing else ends preconditioning"))
        })
    }

    /// Takes a drive that was filled and aged before by a plan with the same preparation, instead
    /// of repeating that.
    fn take_over(&self, py: Python<'_>, prepared: &Snapshot) -> PyResult<()> {
        let kept = prepared.inner.clone();
        self.begin(py, |experiment, _| {
            let prepared = Prepared::done_before(experiment, &kept).map_err(errors::run)?;
            Ok(Ready::One(Box::new(prepared)))
        })
    }

    /// Writes every counted request to a Parquet file from now on, during the run.
    fn log_requests(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        self.with_stage(py, |run, _, log| {
            let names = run.measured().initiators().iter().map(|one| one.name.clone()).collect();
            *log = Some(Box::new(RequestsFile::create(&path, names)?));
            run.log_requests();
            Ok(())
        })?
        .map_err(errors::file)
    }

    /// Ends the file of requests, with keys and values about the run.
    fn end_log(&self, py: Python<'_>, about: Vec<(String, String)>) -> PyResult<()> {
        let ended = self.with_stage(py, |run, _, log| match (log.take(), run.request_log()) {
            (Some(file), Some(requests)) => file.end(requests, about),
            _ => Ok(()),
        })?;
        ended.map_err(errors::file)
    }

    /// Runs about this many events of the device; returns true if there is more to do.
    fn advance(&self, py: Python<'_>, events: u64) -> PyResult<bool> {
        function::heeding_interrupts(|| {
            self.with_stage(py, |run, _, log| go_on(run, log.as_deref_mut(), events))?
        })
    }

    /// Simulated nanoseconds, requests issued, and the share done if the end is known.
    fn progress(&self, py: Python<'_>) -> PyResult<(u64, u64, Option<f64>)> {
        self.with_run(py, |run, _| {
            let share = match run.progress() {
                Progress::Running(share) => share,
                Progress::Preconditioning(_) => None,
                Progress::Done => Some(1.0),
            };
            (run.elapsed().as_ns(), run.issued(), share)
        })
    }

    /// Ends the measurement; returns the contents of `summary.json`.
    fn summary(&self, py: Python<'_>, host_cpu_seconds: f64, complete: bool) -> PyResult<String> {
        let outcome = Outcome { host_cpu_seconds, complete };
        self.with_run(py, |run, surveys| {
            run.summary(&self.plan.experiment, &self.checked, surveys, outcome).to_string()
        })
    }

    /// Shuts down the drive of a finished run and returns it as a snapshot; this ends the
    /// session.
    fn snapshot(&self, py: Python<'_>) -> PyResult<Snapshot> {
        let taken = function::heeding_interrupts(|| {
            self.stage.with(py, |stage| match std::mem::replace(stage, Stage::Spent) {
                Stage::Running { run, .. } => {
                    run.into_snapshot(&self.plan.experiment).map_err(errors::run)
                }
                _ => Err(PyRuntimeError::new_err("there is no run")),
            })?
        })?;
        Ok(Snapshot { inner: Arc::new(taken) })
    }

    /// The tables of a run whose measurement has ended.
    fn tables(&self, py: Python<'_>) -> PyResult<Vec<Table>> {
        self.with_run(py, |run, _| run.tables().into_iter().map(Table::from).collect())
    }
}

impl Session {
    /// Prepares the drive by `prepare`, and begins the run.
    fn begin(
        &self,
        py: Python<'_>,
        prepare: impl FnOnce(&Experiment, Option<&drive::Snapshot>) -> PyResult<Ready> + Send,
    ) -> PyResult<()> {
        let begin = |stage: &mut Stage| {
            let Stage::Surveyed(surveys, snapshot) = std::mem::replace(stage, Stage::Spent) else {
                return Err(PyRuntimeError::new_err("a session is preconditioned once"));
            };
            let experiment = &self.plan.experiment;
            let ready = prepare(experiment, snapshot.as_deref())?;
            let run = AnyRun::start(experiment, &surveys, ready).map_err(errors::run)?;
            *stage = Stage::Running { surveys, run, log: None };
            Ok(())
        };
        function::heeding_interrupts(|| self.stage.with(py, begin)?)
    }

    fn with_run<R: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut AnyRun, &[Option<Survey>]) -> R + Send,
    ) -> PyResult<R> {
        self.with_stage(py, |run, surveys, _| work(run, surveys))
    }

    fn with_stage<R: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut AnyRun, &[Option<Survey>], &mut Option<Box<RequestsFile>>) -> R + Send,
    ) -> PyResult<R> {
        let worked = self.stage.with(py, |stage| match stage {
            Stage::Running { surveys, run, log } => Some(work(run, surveys, log)),
            _ => None,
        })?;
        worked.ok_or_else(|| PyRuntimeError::new_err("a session is preconditioned before it runs"))
    }
}

/// Events after which the log and Ctrl-C are checked. A policy in Python may take milliseconds at
/// some events.
const STEP: u64 = 1 << 10;

/// Runs about this many events, or until a policy is interrupted, in steps so small that the log
/// never grows large.
fn go_on(run: &mut AnyRun, mut log: Option<&mut RequestsFile>, events: u64) -> PyResult<bool> {
    let mut left = events;
    while left > 0 && !function::was_interrupted() {
        let step = left.min(STEP);
        let goes_on = run.advance(step).map_err(errors::run)?;
        if let (Some(file), Some(log)) = (&mut log, run.request_log()) {
            file.write_if_full(log).map_err(errors::file)?;
        }
        if !goes_on {
            return Ok(false);
        }
        left -= step;
    }
    Ok(true)
}
