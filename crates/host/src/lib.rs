//! Requests of hosts to a drive: synthetic workloads, and replays of traces.
//!
//! A [`WorkloadConfig`] describes one initiator. [`Source::build`] turns it into a stream of
//! [`Request`]s that is read one at a time. The source owns neither a clock nor a queue: it
//! returns the *time* at which a request is issued ([`Issue`]), and the drive, which knows the
//! time and the places in the queue, acts on that. Random numbers come from named streams only,
//! so a workload is a function of its configuration, its name and the seed.

mod addresses;
mod arrivals;
mod bursts;
mod by_kind;
mod check;
pub mod config;
mod depth;
mod either;
mod error;
mod mix;
mod placement;
mod region;
mod replay;
mod request;
mod scatter;
mod sizes;
mod source;
mod synthetic;
mod zipf;

pub use by_kind::ByKind;
pub use config::{Priority, WorkloadConfig};
pub use depth::QueueDepth;
pub use error::{ConfigError, HostError};
pub use region::Region;
pub use request::{Issue, Request};
pub use scatter::Scatter;
pub use source::{Source, name_clashes};
pub use traces::{Command, Kind};
pub use zipf::Zipf;
