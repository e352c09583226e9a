//! A checked configuration.

use crate::{errors, guard, policies};
use drive::Experiment;
use drive::check::{Checked, Start, check, check_from, notes_on_traces};
use drive::load::{Override, load_document};
use host::{HostError, WorkloadConfig};
use pyo3::prelude::*;
use settings::{Document, Problem, Problems};
use std::path::Path;
use std::sync::Arc;
use traces::{Survey, TraceError, glance};

/// A checked configuration; it never changes and may be run any number of times, in several
/// threads at once.
#[pyclass(frozen, module = "flashscape._flashscape")]
pub struct Plan {
    pub(crate) inner: Arc<Inner>,
}

pub(crate) struct Inner {
    pub experiment: Experiment,
    pub checked: Checked,
    /// The text from which the experiment was read.
    document: Document,
    /// True if a snapshot will be given, so that no new drive was checked.
    snapshot_given: bool,
}

#[pymethods]
impl Plan {
    /// Reads an experiment. `file` is its name in error messages. Trace files are searched in
    /// `folder`, and so are policies in Python, unless `policies` has a callable for their path.
    /// An override is a path, a value, and a flag: the value is JSON text if the flag is true,
    /// else as on a command line. `snapshot_given` means that a snapshot will be given, so the
    /// drive with which runs begin is not known yet.
    #[staticmethod]
    #[pyo3(signature = (text, *, file, is_json=false, overrides=Vec::new(), folder=None, policies=Vec::new(), snapshot_given=false))]
    #[expect(clippy::too_many_arguments, reason = "keywords in Python")]
    fn load(
        py: Python<'_>,
        text: &str,
        file: &str,
        is_json: bool,
        overrides: Vec<(String, String, bool)>,
        folder: Option<&str>,
        policies: Vec<(String, Py<PyAny>)>,
        snapshot_given: bool,
    ) -> PyResult<Self> {
        let overrides: Vec<_> = overrides.into_iter().map(to_override).collect::<PyResult<_>>()?;
        let loaded = guard::detached(py, || {
            let parse = if is_json { Document::from_json } else { Document::parse };
            let mut document = parse(text, file)?;
            let judge = |experiment: &Experiment| match snapshot_given {
                true => check_from(experiment, Start::Unknown),
                false => check(experiment),
            };
            let (experiment, checked) = load_document(&mut document, &overrides, judge)?;
            Ok((experiment, checked, document))
        })?;
        let (mut experiment, checked, document) =
            loaded.map_err(|problems: Problems| errors::config(&problems))?;
        if let Some(folder) = folder {
            find_files(&mut experiment, Path::new(folder));
        }
        let faults = policies::find(py, &mut experiment, folder.map(Path::new), policies);
        if !faults.is_empty() {
            let mut problems = Problems::new(document.file());
            faults.into_iter().for_each(|(path, fault)| problems.push(path, fault));
            document.locate(&mut problems);
            return Err(errors::config(&problems));
        }
        let inner = Inner { experiment, checked, document, snapshot_given };
        Ok(Self { inner: Arc::new(inner) })
    }

    /// The configuration with all presets, overrides and defaults applied, as JSON text.
    fn resolved(&self) -> PyResult<String> {
        errors::json(&self.inner.experiment)
    }

    /// Values derived from the configuration, as JSON text.
    fn derived(&self) -> PyResult<String> {
        errors::json(&self.inner.checked.derived(&self.inner.experiment))
    }

    /// All values on which filling and ageing the drive depend, as JSON text: plans with equal
    /// values fill and age it alike. None if the drive is neither filled nor aged.
    fn preparation(&self) -> PyResult<Option<String>> {
        drive::preparation(&self.inner.experiment).map(|all| errors::json(&all)).transpose()
    }

    /// Refuses the snapshot that the experiment names if the drive cannot be started from it;
    /// reads only the header of the file.
    fn check_snapshot(&self) -> PyResult<()> {
        self.inner.check_snapshot(None).map(drop)
    }

    /// Summary of each trace in a few lines; refuses traces that cannot be replayed.
    /// Of a file of more than `whole_below` bytes only the first rows are read.
    #[pyo3(signature = (whole_below=None))]
    fn traces(&self, py: Python<'_>, whole_below: Option<u64>) -> PyResult<Vec<String>> {
        let looked = guard::detached(py, || {
            self.inner.look(|workload| match glanced_at(workload, whole_below) {
                Some(glance) => glance.map(|text| (text, None)),
                None => workload.survey().map(|survey| {
                    let text = survey.as_ref().map_or(String::new(), ToString::to_string);
                    (text, survey)
                }),
            })
        })?;
        let texts = looked.map_err(|faults| self.inner.refusal(faults))?;
        let told = guard::detached(py, || self.inner.told_of_windows(texts))?;
        told.map_err(|faults| self.inner.refusal(faults))
    }
}

/// Faults, each with the index of its workload.
type Faults = Vec<(usize, HostError)>;

/// Result of examining a trace.
trait Found {
    fn survey(&self) -> Option<&Survey>;
}

impl Found for Survey {
    fn survey(&self) -> Option<&Survey> {
        Some(self)
    }
}

impl Found for (String, Option<Survey>) {
    fn survey(&self) -> Option<&Survey> {
        self.1.as_ref()
    }
}

impl Inner {
    /// Reads all traces and refuses those that cannot be replayed on the drive, before it is
    /// filled.
    pub fn surveys(&self, py: Python<'_>) -> PyResult<Vec<Option<Survey>>> {
        let survey = |workload: &WorkloadConfig| {
            workload.survey().map(|survey| survey.expect("only workloads with a trace are asked"))
        };
        let surveys = guard::detached(py, || self.look(survey))?;
        surveys.map_err(|faults| self.refusal(faults))
    }

    /// Refuses a snapshot from which the drive cannot be started: the one given, else the one
    /// that the experiment names. Of a file only the header is read. Returns the values derived
    /// from the configuration for the drive in the snapshot.
    pub fn check_snapshot(&self, given: Option<&drive::Snapshot>) -> PyResult<Checked> {
        if given.is_some() || self.snapshot_given {
            self.refuse_array(
                "a snapshot holds one drive, and the drives of an array begin without one",
            )?;
        }
        let named = &self.experiment.precondition.snapshot;
        let (origin, found) = match (given, named) {
            (Some(snapshot), _) => (snapshot.origin.clone(), snapshot.found()),
            (None, Some(file)) => drive::snapshot::content(file).map_err(errors::damaged)?,
            (None, None) if self.snapshot_given => {
                return self.noted(check(&self.experiment));
            }
            (None, None) => return Ok(self.checked.clone()),
        };
        let unfit = drive::snapshot::unfit(&origin, &self.experiment.drive);
        if !unfit.is_empty() {
            let mut problems = Problems::new("");
            unfit.into_iter().for_each(|(path, problem)| problems.push(path, problem));
            return Err(self.refused(problems.problems));
        }
        self.noted(check_from(&self.experiment, Start::Found(&found)))
    }

    /// Refuses an experiment with an array, for this reason.
    pub fn refuse_array(&self, why: &str) -> PyResult<()> {
        if self.experiment.array.is_none() {
            return Ok(());
        }
        let mut problems = Problems::new("");
        problems.push("array", format!("{why}; leave array out"));
        Err(self.refused(problems.problems))
    }

    /// Values derived from the configuration, with the notice about former names of keys.
    fn noted(&self, checked: Result<Checked, Problems>) -> PyResult<Checked> {
        let mut checked = checked.map_err(|faults| self.refused(faults.problems))?;
        checked.notes.extend(self.document.notice());
        Ok(checked)
    }

    /// The exception for faults of the configuration, each with its line.
    fn refused(&self, faults: Vec<Problem>) -> PyErr {
        let mut problems = Problems::new(self.document.file());
        problems.problems = faults;
        self.document.locate(&mut problems);
        errors::config(&problems)
    }

    /// Examines every trace; reports all faults at once.
    fn look<F: Found>(
        &self,
        look: impl Fn(&WorkloadConfig) -> Result<F, HostError>,
    ) -> Result<Vec<Option<F>>, Faults> {
        let mut all = Vec::new();
        let mut faults = Vec::new();
        for (index, workload) in self.experiment.workload.iter().enumerate() {
            let found = workload.trace.as_ref().map(|_| look(workload)).transpose();
            let found = found.unwrap_or_else(|fault| {
                faults.push((index, fault));
                None
            });
            if let Some(survey) = found.as_ref().and_then(Found::survey) {
                let namespace = self.experiment.namespace(&self.checked.layout, workload);
                let refused = workload.trace_faults(survey, namespace);
                faults.extend(refused.into_iter().map(|fault| (index, fault)));
            }
            all.push(found);
        }
        if faults.is_empty() {
            let surveys: Vec<Option<&Survey>> =
                all.iter().map(|found| found.as_ref().and_then(Found::survey)).collect();
            faults = host::name_clashes(&self.experiment.workload, &surveys);
        }
        if faults.is_empty() { Ok(all) } else { Err(faults) }
    }

    /// The texts on traces, each with what it writes in windows of predictable latency if that is much.
    fn told_of_windows(
        &self,
        texts: Vec<Option<(String, Option<Survey>)>>,
    ) -> Result<Vec<String>, Faults> {
        let Self { experiment, checked, .. } = self;
        let mut all = Vec::new();
        for (index, (workload, found)) in experiment.workload.iter().zip(texts).enumerate() {
            let Some((mut text, survey)) = found else { continue };
            if let Some(survey) = survey {
                let note = notes_on_traces(experiment, &checked.layout, workload, &survey);
                if let Some(note) = note.map_err(|fault| vec![(index, fault)])? {
                    text.push_str(&format!("\n  windows   {note}"));
                }
            }
            all.push(text);
        }
        Ok(all)
    }

    /// The exception for faults of traces; faults of the configuration have their line in it.
    fn refusal(&self, faults: Faults) -> PyErr {
        let mut problems = Problems::new(self.document.file());
        let mut traces = Vec::new();
        for (index, fault) in faults {
            match fault {
                HostError::Trace(error) => traces.push(self.of_workload(index, *error)),
                HostError::Config(error) => {
                    for fault in error.faults {
                        problems.push(format!("workload[{index}].{}", fault.key), fault.problem);
                    }
                }
            }
        }
        self.document.locate(&mut problems);
        errors::traces(traces, &problems)
    }

    /// Adds the name of the workload to a fault of its trace, if there are several.
    fn of_workload(&self, index: usize, mut error: TraceError) -> TraceError {
        let workloads = &self.experiment.workload;
        if workloads.len() > 1 {
            error.problem = format!("workload {:?}: {}", workloads[index].name, error.problem);
        }
        error
    }
}

/// An announcement of a file that is too large to be read whole.
fn glanced_at(
    workload: &WorkloadConfig,
    whole_below: Option<u64>,
) -> Option<Result<String, HostError>> {
    let trace = workload.trace.as_ref()?;
    // A file that cannot be read is refused with the others.
    let bytes = std::fs::metadata(&trace.file).map_or(0, |file| file.len());
    whole_below.filter(|limit| bytes > *limit)?;
    let said = glance(&trace.file, trace.format, &trace.options()).map_err(HostError::from);
    Some(said.map(|text| {
        let mib = bytes >> 20;
        format!("{text}\n  not read whole ({mib} MiB): faults further down show when it is run")
    }))
}

fn to_override((path, text, is_json): (String, String, bool)) -> PyResult<(String, Override)> {
    if !is_json {
        return Ok((path, Override::Text(text)));
    }
    let value = serde_json::from_str(&text).map_err(|error| {
        let mut problems = Problems::new("override");
        problems.push(path.clone(), error.to_string());
        errors::config(&problems)
    })?;
    Ok((path, Override::Value(value)))
}

/// Resolves relative paths in a configuration from the configuration's folder. (Policies resolve
/// their own paths.)
fn find_files(experiment: &mut Experiment, folder: &Path) {
    if let Some(file) = &mut experiment.precondition.snapshot {
        *file = folder.join(&file);
    }
    for trace in experiment.workload.iter_mut().filter_map(|workload| workload.trace.as_mut()) {
        trace.file = folder.join(&trace.file);
    }
}
