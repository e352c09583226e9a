//! A whole drive: configuration and its check, assembly, scheduling, buffering,
//! collection in time, preconditioning, the auditor, and runs with their results.

mod audit;
pub mod config;
pub mod device;

pub use device::{Completion, Counters, Device, OpKind, RequestId};
