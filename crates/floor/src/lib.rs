//! The floors under the simulator's speed, and second opinions on its write
//! amplification and on what it serves in rounds. Shares no code with the simulator,
//! so that neither a trick nor a mistake of the one can hide in the other.
//!
//! - [`BareFtl`]: the fastest page-mapped FTL we can write that does nothing but
//!   map and clean. A simulator that also keeps time cannot be faster.
//! - [`event_loop`]: a queue of events and nothing that happens in them.
//! - [`NaiveFtl`]: the same cleaning, as slow as it is plain: the model that tests
//!   trust because it can be read in a minute.
//! - [`elements`]: page requests served in rounds, as the ATC'08 authors' simulator
//!   does it: the model that its likeness is tested against.
//!
//! Random tests of all crates take their seeds from here ([`seed`], [`cases`]).

pub mod elements;

mod bare;
mod events;
mod naive;
mod random;
mod seeds;

pub use bare::{BareFtl, TooFull};
pub use events::event_loop;
pub use naive::{Naive, NaiveFtl, OpenBlocks, naive_write_amplification};
pub use random::Random;
pub use seeds::{VARIABLE, new_seed, seed, seeds};
