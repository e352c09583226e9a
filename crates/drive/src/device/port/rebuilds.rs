//! State of reads that go round collection.

use crate::config::DriveConfig;
use crate::device::ids::{RebuildId, RequestId};
use crate::device::join::{Aside, Join};
use crate::policies::routing::Reconstruct;
use engine::{Slab, Span};
use ftl::{Lpn, Ppn};
use metrics::Blame;

/// Reads round collection, and the record of reads that meet it.
#[derive(Clone)]
pub struct Detours {
    // ---- constant ----
    /// The policy, if reads may go round.
    pub(super) policy: Option<Reconstruct>,
    /// True if collections take turns in each group of stripes.
    pub(super) rotates: bool,
    /// Time to compute data from the rest of its stripe.
    pub(super) xor: Span,
    /// True if reads that meet collection are recorded.
    pub(super) records: bool,
    // ---- state ----
    pub(super) rebuilds: Slab<RebuildId, Rebuild>,
    pub(super) aside: Aside,
    /// Units of the read that is being split which are not in the buffer, with their pages; none of
    /// those that are lost. Kept for its memory.
    pub(super) found: Vec<(Lpn, Option<Ppn>)>,
    /// Blame of the read that is being split for the time before that: it began anew.
    pub(super) before: Blame,
}

impl Detours {
    /// Detours of a new drive, if reads may go round collection.
    pub fn new(config: &DriveConfig) -> Option<Box<Self>> {
        let policy = config.scheduler.read_routing.detours().cloned()?;
        let rotates = config.scheduler.rotation.takes_turns();
        Some(Self::with(Some(policy), rotates, config.ftl.xor()))
    }
    /// A record, and rebuilds of what is lost, alone.
    pub fn record(xor: Span) -> Box<Self> {
        Self::with(None, false, xor)
    }
    fn with(policy: Option<Reconstruct>, rotates: bool, xor: Span) -> Box<Self> {
        Box::new(Self {
            policy,
            rotates,
            xor,
            records: true,
            rebuilds: Slab::default(),
            aside: Aside::default(),
            found: Vec::new(),
            before: Blame::NONE,
        })
    }
    /// Ends all rebuilds, because the power is cut.
    pub fn clear(&mut self) {
        (self.rebuilds, self.aside) = (Slab::default(), Aside::default());
    }
}

/// A rebuild under way.
#[derive(Clone)]
pub struct Rebuild {
    /// The part of the request.
    pub(super) request: RequestId,
    pub(super) part: u32,
    pub(super) reads: Join,
    pub(super) blame: Blame,
    /// Units that it gives.
    pub(super) units: Vec<Lpn>,
    /// Blame of the time before it began, if the read began anew.
    pub(super) before: Blame,
    /// True if flash that it needed has failed: others have been read instead.
    pub(super) died: bool,
}
