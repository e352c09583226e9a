//! Tests of a whole drive. They are one binary, because a binary for each file compiles all that they
//! share anew.

mod arithmetic;
mod atc08;
mod blame;
mod buffer;
mod collection;
mod common;
mod determinism;
mod detours;
mod directions;
mod elements;
mod errors;
mod failing;
mod fairness;
mod liveness;
mod measuring;
mod moves;
mod parity;
mod partial_writes;
mod placement;
mod poised;
mod policies;
mod power;
mod program_suspension;
mod quiet;
mod refusals;
mod rotation;
mod scrubbing;
mod snapshots;
mod starvation;
mod superblocks;
mod suspension;
mod theory;
mod tolerance;
mod traces;
mod wear;
