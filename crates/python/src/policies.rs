//! Policies that users write in Python: found by file and function, or given as callables,
//! and asked with the interpreter lock.

use drive::Experiment;
use ftl::VictimPolicy;
use ftl::gc::{Candidates as Blocks, ChooseOutside};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyMemoryView, PyModule};
use settings::Outside;
use std::path::Path;

/// Where a policy of the user may stand.
const VICTIM: &str = "drive.ftl.gc.victim";

/// Finds every policy in Python of an experiment; returns what is wrong, by path.
pub fn find(
    py: Python<'_>,
    experiment: &mut Experiment,
    given: Vec<(String, Py<PyAny>)>,
) -> Vec<(String, String)> {
    let mut faults = Vec::new();
    let mut given = given;
    let mut take = |path: &str| {
        let place = given.iter().position(|(of, _)| of == path)?;
        Some(given.remove(place).1)
    };
    if let VictimPolicy::Python(policy) = &mut experiment.drive.ftl.gc.victim {
        let outside = policy.outside();
        match function(py, outside, take(VICTIM)) {
            Ok(function) => outside.find(Box::new(Function(function))),
            Err((key, fault)) => faults.push((format!("{VICTIM}.{key}"), fault)),
        }
    }
    for (path, _) in given {
        let fault = format!("takes no policy in Python, or has another one (there is {VICTIM})");
        faults.push((path, fault));
    }
    faults
}

/// The function that a policy names, or the one given; else the key at fault, and why.
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

/// An exception in a line, with the place in the user's file.
fn told(py: Python<'_>, error: &PyErr) -> String {
    let tell = || -> PyResult<String> {
        let policies = py.import("flashscape.outside")?;
        policies.call_method1("told", (error.value(py),))?.extract()
    };
    tell().unwrap_or_else(|_| error.to_string())
}

/// A function in Python.
struct Function(Py<PyAny>);

impl ChooseOutside for Function {
    fn choose(&self, blocks: Blocks<'_>, random: u64) -> Result<usize, String> {
        Python::attach(|py| {
            let ask = || -> PyResult<usize> {
                let candidates = Candidates::of(py, blocks, random)?;
                self.0.bind(py).call1((candidates,))?.extract()
            };
            ask().map_err(|error| told(py, &error))
        })
    }
}

/// The blocks of one bin, among which garbage collection chooses.
#[pyclass(frozen, module = "flashscape._flashscape")]
pub struct Candidates {
    live: Py<PyMemoryView>,
    age: Py<PyMemoryView>,
    #[pyo3(get)]
    units_per_block: u32,
    #[pyo3(get)]
    most_live: u32,
    #[pyo3(get)]
    random: u64,
    gaining: Vec<usize>,
}

#[pymethods]
impl Candidates {
    /// Live units of each block; -1 for one that may not be chosen.
    #[getter]
    fn live(&self, py: Python<'_>) -> Py<PyMemoryView> {
        self.live.clone_ref(py)
    }
    /// Units that hosts wrote to the drive since each block was closed.
    #[getter]
    fn age(&self, py: Python<'_>) -> Py<PyMemoryView> {
        self.age.clone_ref(py)
    }
    /// The places of the blocks that may be chosen and gain space; one at least.
    #[getter]
    fn gaining(&self) -> Vec<usize> {
        self.gaining.clone()
    }
    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        self.live.bind(py).len()
    }
}

impl Candidates {
    fn of(py: Python<'_>, blocks: Blocks<'_>, random: u64) -> PyResult<Self> {
        let live = |live: &u32| if *live > blocks.units_per_block { -1 } else { *live as i32 };
        let live: Vec<u8> = blocks.live.iter().flat_map(|n| live(n).to_ne_bytes()).collect();
        let age = |closed: &u64| blocks.now.saturating_sub(*closed);
        let age: Vec<u8> = blocks.closed_at.iter().flat_map(|n| age(n).to_ne_bytes()).collect();
        Ok(Self {
            live: view(py, &live, "i")?,
            age: view(py, &age, "Q")?,
            units_per_block: blocks.units_per_block,
            most_live: blocks.most_live,
            random,
            gaining: blocks.gaining().collect(),
        })
    }
}

/// Numbers that Python sees as they lie in memory.
fn view(py: Python<'_>, bytes: &[u8], format: &str) -> PyResult<Py<PyMemoryView>> {
    let view = PyMemoryView::from(PyBytes::new(py, bytes).as_any())?;
    Ok(view.call_method1("cast", (format,))?.cast_into::<PyMemoryView>()?.unbind())
}
