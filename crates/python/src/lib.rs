//! The Python interface of flashscape: conversions and nothing else.
//!
//! A `Plan` is a checked configuration, a `Session` runs one, the caller advances a `Drive` step
//! by step, and a `Table` passes columns on without copying them. Everything that takes long lets
//! other Python threads run; every fault becomes one of the exceptions in
//! `python/flashscape/errors.py`.

mod catalogue;
mod drive;
mod errors;
mod function;
mod guard;
mod names;
mod plan;
mod plans;
mod policies;
mod progress;
mod requests;
mod session;
mod snapshot;
mod table;
mod traces;
mod whole;

use pyo3::prelude::*;

/// The compiled part of flashscape.
#[pymodule]
mod _flashscape {
    #[pymodule_export]
    use crate::catalogue::{
        current_path, presets, schema, size_bytes, states, student_cdf, student_quantile, time_ns,
        toml,
    };
    #[pymodule_export]
    use crate::drive::{Completion, Drive};
    #[pymodule_export]
    use crate::plan::Plan;
    #[pymodule_export]
    use crate::plans::{Act, ArrayView, CommandEnd, HostRequest, WindowEstimates};
    #[pymodule_export]
    use crate::policies::{Asked, Candidates, Meeting, Written};
    #[pymodule_export]
    use crate::session::Session;
    #[pymodule_export]
    use crate::snapshot::{Snapshot, snapshot_header, snapshot_origin};
    #[pymodule_export]
    use crate::table::Table;
    #[pymodule_export]
    use crate::traces::{
        trace_convert, trace_description_version, trace_formats, trace_imitate, trace_info,
    };

    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        crate::guard::keep_panics_quiet();
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
