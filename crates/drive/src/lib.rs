//! A whole drive: configuration and its check, assembly, scheduling, buffering,
//! collection in time, preconditioning, the auditor, and runs with their results.

mod any_run;
pub mod array;
mod audit;
pub mod check;
mod clones;
pub mod closed_loop;
pub mod config;
pub mod device;
mod error;
pub mod experiment;
pub mod failures;
mod history;
pub mod horizon;
pub mod load;
pub mod measure;
pub mod namespaces;
pub mod policies;
pub mod precondition;
pub mod prepare;
pub mod presets;
pub mod recovery;
pub mod requests;
pub mod results;
pub mod run;
pub mod snapshot;
pub mod starvation;

pub use any_run::{AnyRun, Ready};
pub use array::ArrayRun;
pub use device::{Completion, Counters, Device, OpKind, RequestId};
pub use error::RunError;
pub use experiment::Experiment;
pub use history::History;
pub use prepare::{Prepared, preparation};
pub use run::{Progress, Run};
pub use snapshot::Snapshot;
