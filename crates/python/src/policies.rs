//! Policies that users write in Python: found by file and function, or given as callables, and
//! called with the interpreter lock.

use crate::function::{Function, told, unsuitable};
use crate::plans;
use drive::Experiment;
use drive::array::config::PlanConfig;
use drive::policies::routing::{self, ReadRouting, RouteOutside};
use drive::policies::suspension::{self, InterruptOutside, Interruption, Suspension};
use ftl::VictimPolicy;
use ftl::gc::{Candidates as Blocks, ChooseOutside};
use ftl::scrub::{self, ScrubChoice, ScrubOutside};
use pyo3::Borrowed;
use pyo3::exceptions::PyDeprecationWarning;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyMemoryView, PyModule};
use settings::Outside;
use std::ffi::CString;
use std::path::Path;

/// Paths at which a user's policy may stand.
const VICTIM: &str = "drive.ftl.gc.victim";
const ROUTING: &str = "drive.scheduler.read_routing";
const SUSPENSION: &str = "drive.scheduler.suspension";
const PROGRAM_SUSPENSION: &str = "drive.scheduler.program_suspension";
const SCRUB: &str = "drive.ftl.scrub.choice";
const PLAN: &str = "array.plan";

/// Finds every policy in Python of an experiment, with files relative to `folder`; returns the
/// faults by path.
pub fn find(
    py: Python<'_>,
    experiment: &mut Experiment,
    folder: Option<&Path>,
    given: Vec<(String, Py<PyAny>)>,
) -> Vec<(String, String)> {
    let mut finder = Finder { py, folder, given, faults: Vec::new() };
    let scheduler = &mut experiment.drive.scheduler;
    if let VictimPolicy::Python(policy) = &mut experiment.drive.ftl.gc.victim {
        finder.find(VICTIM, policy.outside(), |function| Box::new(function));
    }
    if let ReadRouting::Python(policy) = &mut scheduler.read_routing {
        finder.find(ROUTING, policy.outside(), |function| Box::new(function));
    }
    for (path, suspension) in [
        (SUSPENSION, &mut scheduler.suspension),
        (PROGRAM_SUSPENSION, &mut scheduler.program_suspension),
    ] {
        if let Suspension::Python(policy) = suspension {
            finder.find(path, policy.outside(), |function| Box::new(function));
        }
    }
    let scrub = experiment.drive.ftl.scrub.as_mut();
    if let Some(ScrubChoice::Python(policy)) = scrub.map(|scrub| &mut scrub.choice) {
        finder.find(SCRUB, policy.outside(), |function| Box::new(function));
    }
    let plan = experiment.array.as_mut().map(|array| &mut array.plan);
    if let Some(PlanConfig::Python(policy)) = plan {
        let mut fault = None;
        finder.find(PLAN, policy.outside(), |function| {
            fault = plans::lacks_asked(py, &function);
            Box::new(function)
        });
        finder.faults.extend(fault.map(|fault| (format!("{PLAN}.function"), fault)));
    }
    finder.unused()
}

struct Finder<'a> {
    py: Python<'a>,
    folder: Option<&'a Path>,
    /// Callables by path; they are removed as they are used.
    given: Vec<(String, Py<PyAny>)>,
    faults: Vec<(String, String)>,
}

impl Finder<'_> {
    fn find<P: ?Sized>(
        &mut self,
        path: &str,
        outside: &mut Outside<P>,
        as_policy: impl FnOnce(Function) -> Box<P>,
    ) {
        let place = self.given.iter().position(|(of, _)| of == path);
        let given = place.map(|place| self.given.remove(place).1);
        if let (None, Some(folder)) = (&given, self.folder) {
            outside.file = folder.join(&outside.file);
        }
        match function(self.py, outside, given) {
            Ok(function) => outside.find(as_policy(Function(function))),
            Err((key, fault)) => self.faults.push((format!("{path}.{key}"), fault)),
        }
    }

    fn unused(mut self) -> Vec<(String, String)> {
        let places = [VICTIM, ROUTING, SUSPENSION, PROGRAM_SUSPENSION, SCRUB, PLAN].join(", ");
        for (path, _) in self.given {
            let fault = format!("takes no policy in Python, or has another one (places: {places})");
            self.faults.push((path, fault));
        }
        self.faults
    }
}

/// The function that a policy names, or the one given; else the faulty key and the reason.
fn function<P: ?Sized>(
    py: Python<'_>,
    named: &Outside<P>,
    given: Option<Py<PyAny>>,
) -> Result<Py<PyAny>, (&'static str, String)> {
    if let Some(function) = given {
        return Ok(function);
    }
    let module = import(py, &named.file).map_err(|fault| ("file", fault))?;
    let function = module.bind(py).getattr(named.function.as_str()).map_err(|_| {
        ("function", format!("{} has no function {:?}", named.file.display(), named.function))
    })?;
    match function.is_callable() {
        true => Ok(function.unbind()),
        false => Err(("function", format!("{:?} cannot be called", named.function))),
    }
}

/// The module in a file, executed anew.
fn import(py: Python<'_>, file: &Path) -> Result<Py<PyModule>, String> {
    if !file.is_file() {
        return Err(format!("there is no file {}", file.display()));
    }
    let import = || -> PyResult<Py<PyModule>> {
        let loader = py.import("flashscape.outside")?;
        Ok(loader.call_method1("load", (file,))?.cast_into::<PyModule>()?.unbind())
    };
    import().map_err(|error| format!("{} cannot be imported: {}", file.display(), told(py, &error)))
}

impl ChooseOutside for Function {
    fn choose(&self, blocks: Blocks<'_>, random: u64) -> Result<usize, String> {
        self.decide(|py| Candidates::of(py, blocks, random)).map(|Place(place)| place)
    }
}

impl ScrubOutside for Function {
    fn pick(&self, written: scrub::Written<'_>) -> Result<Option<usize>, String> {
        let place: Option<Place> = self.decide(|py| Written::of(py, written))?;
        Ok(place.map(|Place(place)| place))
    }
}

/// An answer that is a place: a whole number, but not a `bool`, which is a whole number in
/// Python.
struct Place(usize);

impl<'a, 'py> FromPyObject<'a, 'py> for Place {
    type Error = PyErr;
    fn extract(answer: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        let place = match answer.is_instance_of::<PyBool>() {
            true => None,
            false => answer.extract().ok(),
        };
        place
            .map(Self)
            .ok_or_else(|| unsuitable("the place of a block, a whole number from 0 on", &answer))
    }
}

/// An answer that is `True` or `False`.
struct YesOrNo(bool);

impl<'a, 'py> FromPyObject<'a, 'py> for YesOrNo {
    type Error = PyErr;
    fn extract(answer: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        let said = answer.cast::<PyBool>().map(|said| Self(said.is_true()));
        said.map_err(|_| unsuitable("True or False", &answer))
    }
}

impl RouteOutside for Function {
    fn asks(&self, meeting: &routing::Meeting) -> Result<bool, String> {
        self.decide(|_| Ok(Meeting::from(*meeting))).map(|YesOrNo(asks)| asks)
    }
}

/// Answer of a suspension policy, converted from Python.
#[derive(PartialEq)]
struct Answer(Interruption);

impl<'a, 'py> FromPyObject<'a, 'py> for Answer {
    type Error = PyErr;
    fn extract(answer: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        if let Ok(answer) = answer.cast::<PyBool>() {
            return Ok(Self(match answer.is_true() {
                true => Interruption::AtStepEnd,
                false => Interruption::GoOn,
            }));
        }
        let word = answer.extract::<String>().ok();
        match word.as_deref() {
            Some("cancel") => Ok(Self(Interruption::Cancel)),
            Some("suspend") => Ok(Self(Interruption::Suspend)),
            Some("freeze") => Ok(Self(Interruption::Freeze)),
            _ => Err(unsuitable(
                "True (at the end of the step), False, \"cancel\", \"suspend\" or \"freeze\"",
                &answer,
            )),
        }
    }
}

impl InterruptOutside for Function {
    fn interrupts(&self, asked: &suspension::Asked) -> Result<Interruption, String> {
        self.decide(|_| Ok(Asked::from(*asked))).map(|Answer(interruption)| interruption)
    }
}

/// A read that meets an erase or a program; times are in nanoseconds.
#[pyclass(frozen, get_all, module = "flashscape._flashscape")]
pub struct Meeting {
    /// Present time.
    now_ns: u64,
    /// Time at which the unit becomes free if nothing interrupts the operation.
    free_at_ns: u64,
    /// Time of the operation's next safe point.
    safe_at_ns: u64,
    /// Number of earlier suspensions of the operation.
    suspensions: u32,
    /// Time since the operation began.
    since_begun_ns: u64,
    /// True if the operation is a program, false if it is an erase.
    is_program: bool,
    /// Reads that already wait for the unit and have requested a suspension.
    asking: u32,
}

impl From<routing::Meeting> for Meeting {
    fn from(meeting: routing::Meeting) -> Self {
        Self {
            now_ns: meeting.now.as_ns(),
            free_at_ns: meeting.free_at.as_ns(),
            safe_at_ns: meeting.safe_at.as_ns(),
            suspensions: meeting.suspensions,
            since_begun_ns: meeting.since_begun.as_ns(),
            is_program: meeting.is_program,
            asking: meeting.asking,
        }
    }
}

/// An erase or a program whose suspension reads have requested; times are in nanoseconds.
#[pyclass(frozen, get_all, module = "flashscape._flashscape")]
pub struct Asked {
    /// Present time.
    now_ns: u64,
    /// Finished steps.
    steps_done: u32,
    /// Unfinished steps.
    steps_left: u32,
    /// Duration of an undisturbed step.
    step_ns: u64,
    /// Time for which the present step has run.
    into_step_ns: u64,
    /// Time of the operation's next safe point.
    safe_at_ns: u64,
    /// True if the operation is at a safe point now.
    at_safe_point: bool,
    /// Reads that wait for the unit and have requested a suspension.
    asking: u32,
    /// Time since the first of them requested it.
    waited_ns: u64,
    /// Number of earlier suspensions of this operation.
    suspensions: u32,
    /// Time since the operation began.
    since_begun_ns: u64,
    /// Time since the operation began or last resumed.
    since_resumed_ns: u64,
    /// True if the operation is of foreground GC, or of GC in debt: it goes before host writes.
    foreground: bool,
}

#[pymethods]
impl Asked {
    /// The former name of `foreground`.
    #[getter]
    fn urgent(&self, py: Python<'_>) -> PyResult<bool> {
        renamed(py, "urgent", "foreground")?;
        Ok(self.foreground)
    }
}

impl From<suspension::Asked> for Asked {
    fn from(asked: suspension::Asked) -> Self {
        Self {
            now_ns: asked.now.as_ns(),
            steps_done: asked.steps_done,
            steps_left: asked.steps_left,
            step_ns: asked.step.as_ns(),
            into_step_ns: asked.into_step.as_ns(),
            safe_at_ns: asked.safe_at.as_ns(),
            at_safe_point: asked.at_safe_point,
            asking: asked.asking,
            waited_ns: asked.waited.as_ns(),
            suspensions: asked.suspensions,
            since_begun_ns: asked.since_begun.as_ns(),
            since_resumed_ns: asked.since_resumed.as_ns(),
            foreground: asked.foreground,
        }
    }
}

/// The blocks of one bin, among which garbage collection chooses.
#[pyclass(frozen, module = "flashscape._flashscape")]
pub struct Candidates {
    valid: Py<PyMemoryView>,
    age: Py<PyMemoryView>,
    #[pyo3(get)]
    units_per_block: u32,
    #[pyo3(get)]
    most_valid: u32,
    #[pyo3(get)]
    random: u64,
    gaining: Vec<usize>,
}

#[pymethods]
impl Candidates {
    /// Valid units of each block; -1 for one that may not be chosen.
    #[getter]
    fn valid(&self, py: Python<'_>) -> Py<PyMemoryView> {
        self.valid.clone_ref(py)
    }
    /// The former name of `valid`.
    #[getter]
    fn live(&self, py: Python<'_>) -> PyResult<Py<PyMemoryView>> {
        renamed(py, "live", "valid")?;
        Ok(self.valid.clone_ref(py))
    }
    /// The former name of `most_valid`.
    #[getter]
    fn most_live(&self, py: Python<'_>) -> PyResult<u32> {
        renamed(py, "most_live", "most_valid")?;
        Ok(self.most_valid)
    }
    /// Units that hosts wrote to the drive since each block was closed.
    #[getter]
    fn age(&self, py: Python<'_>) -> Py<PyMemoryView> {
        self.age.clone_ref(py)
    }
    /// The places of the blocks that may be chosen and gain space; at least one.
    #[getter]
    fn gaining(&self) -> Vec<usize> {
        self.gaining.clone()
    }
    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        self.valid.bind(py).len()
    }
}

impl Candidates {
    fn of(py: Python<'_>, blocks: Blocks<'_>, random: u64) -> PyResult<Self> {
        Ok(Self {
            valid: view(
                py,
                bytemuck::cast_slice(&valid_of(blocks.valid, blocks.units_per_block)),
                "i",
            )?,
            age: view(py, bytemuck::cast_slice(&age_of(blocks.closed_at, blocks.now)), "Q")?,
            units_per_block: blocks.units_per_block,
            most_valid: blocks.most_valid,
            random,
            gaining: blocks.gaining().collect(),
        })
    }
}

/// The blocks of one bin, among which scrubbing chooses.
#[pyclass(frozen, module = "flashscape._flashscape")]
pub struct Written {
    valid: Py<PyMemoryView>,
    age: Py<PyMemoryView>,
    sensed: Py<PyMemoryView>,
    erases: Py<PyMemoryView>,
    expected_errors: Py<PyMemoryView>,
    re_reads: Py<PyMemoryView>,
    data_age: Py<PyMemoryView>,
    #[pyo3(get)]
    units_per_block: u32,
    #[pyo3(get)]
    units_per_page: f64,
    fitting: Vec<usize>,
}

#[pymethods]
impl Written {
    /// Valid units of each block; -1 for one that may not be chosen.
    #[getter]
    fn valid(&self, py: Python<'_>) -> Py<PyMemoryView> {
        self.valid.clone_ref(py)
    }
    /// The former name of `valid`.
    #[getter]
    fn live(&self, py: Python<'_>) -> PyResult<Py<PyMemoryView>> {
        renamed(py, "live", "valid")?;
        Ok(self.valid.clone_ref(py))
    }
    /// Units that hosts wrote to the drive since each block was closed.
    #[getter]
    fn age(&self, py: Python<'_>) -> Py<PyMemoryView> {
        self.age.clone_ref(py)
    }
    /// Rows sensed in each block since its last erase.
    #[getter]
    fn sensed(&self, py: Python<'_>) -> Py<PyMemoryView> {
        self.sensed.clone_ref(py)
    }
    /// Erases of each block.
    #[getter]
    fn erases(&self, py: Python<'_>) -> Py<PyMemoryView> {
        self.erases.clone_ref(py)
    }
    /// Expected errors of a codeword in the worst erase block of each block; empty without bit errors.
    #[getter]
    fn expected_errors(&self, py: Python<'_>) -> Py<PyMemoryView> {
        self.expected_errors.clone_ref(py)
    }
    /// Re-reads of each block since its last erase; empty without bit errors.
    #[getter]
    fn re_reads(&self, py: Python<'_>) -> Py<PyMemoryView> {
        self.re_reads.clone_ref(py)
    }
    /// Nanoseconds since the first program of each block; empty without bit errors.
    #[getter]
    fn data_age(&self, py: Python<'_>) -> Py<PyMemoryView> {
        self.data_age.clone_ref(py)
    }
    /// The places of the blocks that may be chosen.
    #[getter]
    fn fitting(&self) -> Vec<usize> {
        self.fitting.clone()
    }
    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        self.valid.bind(py).len()
    }
}

impl Written {
    fn of(py: Python<'_>, blocks: scrub::Written<'_>) -> PyResult<Self> {
        Ok(Self {
            valid: view(
                py,
                bytemuck::cast_slice(&valid_of(blocks.valid, blocks.units_per_block)),
                "i",
            )?,
            age: view(py, bytemuck::cast_slice(&age_of(blocks.closed_at, blocks.now)), "Q")?,
            sensed: view(py, bytemuck::cast_slice(blocks.sensed), "I")?,
            erases: view(py, bytemuck::cast_slice(blocks.erase_count), "I")?,
            expected_errors: view(py, bytemuck::cast_slice(blocks.expected_errors), "d")?,
            re_reads: view(py, bytemuck::cast_slice(blocks.re_reads), "I")?,
            data_age: view(py, bytemuck::cast_slice(blocks.data_age), "Q")?,
            units_per_block: blocks.units_per_block,
            units_per_page: blocks.units_per_page,
            fitting: blocks.fitting().collect(),
        })
    }
}

/// Warns that an attribute has a new name.
fn renamed(py: Python<'_>, from: &str, to: &str) -> PyResult<()> {
    let text = CString::new(format!("{from} is called {to} now, and goes with version 1.0"))?;
    PyErr::warn(py, &py.get_type::<PyDeprecationWarning>(), &text, 1)
}

/// Valid units, with -1 for blocks that may not be chosen.
fn valid_of(valid: &[u32], most: u32) -> Vec<i32> {
    valid.iter().map(|valid| if *valid > most { -1 } else { *valid as i32 }).collect()
}

fn age_of(closed_at: &[u64], now: u64) -> Vec<u64> {
    closed_at.iter().map(|closed| now.saturating_sub(*closed)).collect()
}

/// A view of numbers in memory, for Python.
fn view(py: Python<'_>, bytes: &[u8], format: &str) -> PyResult<Py<PyMemoryView>> {
    let view = PyMemoryView::from(PyBytes::new(py, bytes).as_any())?;
    Ok(view.call_method1("cast", (format,))?.cast_into::<PyMemoryView>()?.unbind())
}
