//! Scrubbing as a task of its own (`ftl.scrub.task = "own"`), beside the collection of each bin: it
//! reads a block's valid data, writes it to open blocks of its own, and has the block erased.
//!
//! Its operations have the lowest class, and its data never takes the space that collection may
//! need: it waits until there is other space. Only if hosts wait for space, collection finds no block
//! that gains any, and a block is being scrubbed, scrubbing goes first: then it may take the space of
//! collection, which begins nothing until that block is erased.

mod first;
mod moves;
mod patrol;
mod polls;
mod state;

pub use state::Scrubber;
