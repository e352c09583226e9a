//! Tests of workloads.

mod traces;
mod workloads;
