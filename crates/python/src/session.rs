//! One run of a plan, in slices, so that Python can show how it goes and end it.

use crate::errors;
use crate::guard::Guarded;
use crate::plan::{Inner, Plan};
use crate::policies;
use crate::snapshot::Snapshot;
use crate::table::Table;
use drive::results::{Outcome, summary, tables};
use drive::{Prepared, Progress, Run};
use host::trace::Survey;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use std::sync::Arc;

/// One run of a plan.
#[pyclass(frozen, module = "flashscape._flashscape")]
pub struct Session {
    plan: Arc<Inner>,
    stage: Guarded<Stage>,
}

/// How far a session has come.
enum Stage {
    /// Traces were read, where there are any.
    Surveyed(Vec<Option<Survey>>, Option<Arc<drive::Snapshot>>),
    Running {
        surveys: Vec<Option<Survey>>,
        run: Box<Run>,
    },
    /// Preconditioning failed or was interrupted.
    Spent,
}

#[pymethods]
impl Session {
    /// Reads the traces of the plan once, so that faults show before the run. The drive
    /// is started from `snapshot`, if given, instead of being preconditioned.
    #[new]
    #[pyo3(signature = (plan, snapshot=None))]
    fn new(py: Python<'_>, plan: &Plan, snapshot: Option<&Snapshot>) -> PyResult<Self> {
        let plan = plan.inner.clone();
        let snapshot = snapshot.map(|snapshot| snapshot.inner.clone());
        plan.check_snapshot(snapshot.as_deref())?;
        let stage = Stage::Surveyed(plan.surveys(py)?, snapshot);
        Ok(Self { plan, stage: Guarded::new(stage) })
    }

    /// What was understood of each trace, in a few lines; None for a workload without one.
    fn surveys(&self, py: Python<'_>) -> PyResult<Vec<Option<String>>> {
        let shown = |survey: &Option<Survey>| survey.as_ref().map(ToString::to_string);
        self.stage.with(py, |stage| match stage {
            Stage::Surveyed(surveys, _) | Stage::Running { surveys, .. } => {
                surveys.iter().map(shown).collect()
            }
            Stage::Spent => Vec::new(),
        })
    }

    /// Fills and ages the drive. `ongoing` is called with the share done; what it
    /// raises (and Ctrl-C) ends the session.
    #[pyo3(signature = (ongoing=None))]
    fn precondition(&self, py: Python<'_>, ongoing: Option<Py<PyAny>>) -> PyResult<()> {
        self.stage.with(py, |stage| {
            let Stage::Surveyed(surveys, snapshot) = std::mem::replace(stage, Stage::Spent) else {
                return Err(PyRuntimeError::new_err("a session is preconditioned once"));
            };
            let mut raised = None;
            let mut tell = |share| {
                raised = Python::attach(|py| report(py, ongoing.as_ref(), share)).err();
                raised.is_none()
            };
            let experiment = &self.plan.experiment;
            let made = Prepared::new(experiment, snapshot.as_deref(), &mut tell);
            let prepared = made
                .map_err(errors::run)?
                .ok_or_else(|| raised.expect("nothing else ends preconditioning"))?;
            let run = Run::start(experiment, &surveys, prepared).map_err(errors::run)?;
            *stage = Stage::Running { surveys, run: Box::new(run) };
            Ok(())
        })?
    }

    /// Goes on for about so many events of the device; returns whether there is more to do.
    fn advance(&self, py: Python<'_>, events: u64) -> PyResult<bool> {
        let advanced = self.with_run(py, |run, _| run.advance(events))?.map_err(errors::run)?;
        policies::interrupted()?;
        Ok(advanced)
    }

    /// Simulated nanoseconds, requests issued, and the share done where an end is known.
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

    /// Ends measuring; the contents of `summary.json`.
    fn summary(&self, py: Python<'_>, host_cpu_seconds: f64, complete: bool) -> PyResult<String> {
        let outcome = Outcome { host_cpu_seconds, complete };
        let Inner { experiment, checked, .. } = &*self.plan;
        self.with_run(py, |run, surveys| {
            summary(run, experiment, checked, surveys, outcome).to_string()
        })
    }

    /// Shuts the drive of a run that is over down and keeps it; the session ends with that.
    fn snapshot(&self, py: Python<'_>) -> PyResult<Snapshot> {
        let taken = self.stage.with(py, |stage| match std::mem::replace(stage, Stage::Spent) {
            Stage::Running { run, .. } => Some(run.into_snapshot(&self.plan.experiment)),
            _ => None,
        })?;
        let taken = taken.ok_or_else(|| PyRuntimeError::new_err("there is no run"))?;
        Ok(Snapshot { inner: Arc::new(taken.map_err(errors::run)?) })
    }

    /// The tables of a run whose measuring has ended.
    fn tables(&self, py: Python<'_>) -> PyResult<Vec<Table>> {
        self.with_run(py, |run, _| tables(run).into_iter().map(Table::from).collect())
    }
}

impl Session {
    fn with_run<R: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut Run, &[Option<Survey>]) -> R + Send,
    ) -> PyResult<R> {
        let worked = self.stage.with(py, |stage| match stage {
            Stage::Running { surveys, run } => Some(work(run, surveys)),
            _ => None,
        })?;
        worked.ok_or_else(|| PyRuntimeError::new_err("a session is preconditioned before it runs"))
    }
}

pub(crate) fn report(py: Python<'_>, ongoing: Option<&Py<PyAny>>, share: f64) -> PyResult<()> {
    policies::interrupted()?;
    py.check_signals()?;
    if let Some(ongoing) = ongoing {
        ongoing.call1(py, (share,))?;
    }
    Ok(())
}
