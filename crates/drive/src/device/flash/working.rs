//! Erases and programs under way that may be suspended, and the rules for their suspension.

use crate::config::{SchedulerConfig, SuspendedBy, SuspensionBounds};
use crate::device::ids::OpId;
use crate::policies::suspension::Suspension;
use engine::{Instant, Span};
use nand::Progress;

/// Rules for the suspension of a kind of operation.
#[derive(Clone)]
pub struct Rules {
    pub policy: Suspension,
    /// True if operations of this kind are ever suspended.
    pub is_on: bool,
    /// True if they are suspended for host reads only.
    pub(super) hosts_only: bool,
    pub(super) most: u32,
    pub(super) gap: Span,
}

impl Rules {
    fn new(policy: &Suspension, bounds: Option<SuspensionBounds>) -> Self {
        let bounds = bounds.unwrap_or_default();
        Self {
            policy: policy.clone(),
            is_on: !policy.is_baseline(),
            hosts_only: bounds.by == SuspendedBy::HostReads,
            most: bounds.most.unwrap_or(u32::MAX),
            gap: bounds.gap.map_or(Span::ZERO, settings::Time::span),
        }
    }
    pub fn of_erases(config: &SchedulerConfig) -> Self {
        Self::new(&config.suspension, config.suspension_bounds)
    }
    pub fn of_programs(config: &SchedulerConfig) -> Self {
        Self::new(&config.program_suspension, config.program_suspension_bounds)
    }
}

/// An erase or a program that is under way and may be suspended.
#[derive(Clone, Copy, Debug)]
pub struct Working {
    pub(super) op: OpId,
    pub(super) cells: u64,
    pub(super) is_program: bool,
    pub(super) progress: Progress,
    pub(super) began: Instant,
    /// The moment at which it began or last resumed; and the same for its present step.
    pub(super) resumed: Instant,
    pub(super) entered: Instant,
    /// Number of suspensions: interruptions, delays before its ramp, and delays of its resume for
    /// reads that would have interrupted it again.
    pub(super) suspensions: u32,
    /// True if a read had to wait for the end of a step.
    pub(super) is_deferred: bool,
    /// Reads that have asked since it last resumed, and the moment at which the first did.
    pub(super) asking: u32,
    pub(super) asked_at: Instant,
    pub(super) stage: Stage,
    /// Due time of its last event; other events of that kind are stale.
    pub(super) ends: Instant,
    /// Due time of its event before that: see [`super::Flash::poll_due`].
    pub(super) poll_at: Instant,
}

/// Progress of its suspension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    AtWork,
    /// It was interrupted and its unit is not free yet.
    Stopping,
    /// It is suspended for reads that were asked for before this number.
    Aside {
        before: u64,
    },
}

/// An operation that may be suspended, for a report on the operations behind it.
#[derive(Clone, Copy, Debug)]
pub struct WorkingView {
    /// The operation.
    pub op: OpId,
    /// The moment at which it began.
    pub began: Instant,
    /// Its end if nothing interrupts it; `None` if it is interrupted.
    pub ends: Option<Instant>,
    /// True if it has left its unit to reads.
    pub is_aside: bool,
    /// Number of its suspensions.
    pub suspensions: u32,
}
