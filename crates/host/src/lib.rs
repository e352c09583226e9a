//! What hosts ask of a drive: synthetic workloads, and traces of real ones.
//!
//! A [`WorkloadConfig`] describes one initiator. [`Source::build`] turns it into
//! a stream of [`Request`]s that is pulled one at a time. The source owns neither
//! a clock nor a queue: it says *when* a request is issued ([`Issue`]), and the
//! drive, which knows the time and the places in the queue, acts on that. Random
//! numbers come from named streams only, so a workload is a function of its
//! configuration, its name and the seed.

mod addresses;
mod arrivals;
mod bursts;
mod check;
mod command;
pub mod config;
mod either;
mod error;
mod mix;
mod region;
mod scatter;
mod sizes;
mod source;
mod synthetic;
pub mod trace;
mod zipf;

pub use command::{Command, Issue, Kind, Request};
pub use config::{Priority, WorkloadConfig};
pub use error::{ConfigError, Fault, HostError, TraceError};
pub use region::Region;
pub use scatter::Scatter;
pub use source::{Source, name_clashes};
pub use zipf::Zipf;
