//! The part of flashscape that knows nothing of flash: simulated time, the agenda of pending
//! events, named random streams, typed ids and dense columns.
//!
//! Nothing here owns a clock. `Agenda::pop` returns the next event and its time; that time is the
//! caller's present.

mod agenda;
mod bits;
mod divide;
pub mod ids;
mod memory;
mod random;
mod slab;
mod time;

pub use agenda::{Agenda, Event, INDEX_BITS, LANES};
pub use bits::{bits, count_bits, low_bits};
pub use divide::Divisor;
pub use ids::{Column, IdOrNone};
pub use memory::{BigColumn, MemoryFile, is_zero, prefetch};
pub use random::{Hash, Stream, Streams};
pub use slab::Slab;
pub use time::{Instant, Span};
