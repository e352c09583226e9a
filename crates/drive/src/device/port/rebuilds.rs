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
    // ---- state ----
    pub(super) rebuilds: Slab<RebuildId, Rebuild>,
    pub(super) aside: Aside,
    /// Units on flash of the read that is being split, kept for its memory.
    pub(super) found: Vec<(Lpn, Ppn)>,
}

impl Detours {
    /// Detours of a new drive, if reads may go round collection.
    pub fn new(config: &DriveConfig) -> Option<Box<Self>> {
        let policy = config.scheduler.read_routing.detours().cloned()?;
        let xor = config.ftl.parity.and_then(|parity| parity.xor);
        let rotates = config.scheduler.rotation.takes_turns();
        Some(Self::with(Some(policy), rotates, xor.map_or(Span::ZERO, |xor| xor.span())))
    }
    /// A record alone.
    pub fn record() -> Box<Self> {
        Self::with(None, false, Span::ZERO)
    }
    fn with(policy: Option<Reconstruct>, rotates: bool, xor: Span) -> Box<Self> {
        Box::new(Self {
            policy,
            rotates,
            xor,
            rebuilds: Slab::default(),
            aside: Aside::default(),
            found: Vec::new(),
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
}
