//! The host's side: commands, the link, and their completions.

mod answer;
pub mod bus;
mod cross;
pub mod link;
pub mod read;
mod take_in;
#[cfg(test)]
mod tests;
pub mod why;

use crate::config::DriveConfig;
use crate::device::pieces::Piece;
use crate::device::request::{Completion, Requests};
use link::Link;
use metrics::Digest;

/// Commands under way.
#[derive(Clone)]
pub struct Port {
    // ---- state ----
    pub(in crate::device) requests: Requests,
    link: Link,
    /// Parts of the read that is being split, kept for its memory.
    pieces: Vec<Piece>,
    // ---- results ----
    done: Vec<Completion>,
    digest: Digest,
}

impl Port {
    pub fn new(config: &DriveConfig) -> Self {
        Self {
            requests: Requests::new(config.overheads()),
            link: Link::new(&config.host_link()),
            pieces: Vec::new(),
            done: Vec::new(),
            digest: Digest::default(),
        }
    }
}
