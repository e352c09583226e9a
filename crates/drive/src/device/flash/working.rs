//! Erases and programs under way that may be suspended, and the rules for that.

use crate::config::{SchedulerConfig, SuspendedBy, SuspensionBounds};
use crate::device::ids::OpId;
use crate::policies::suspension::Suspension;
use engine::{Instant, Span};
use nand::Progress;

/// How operations of a kind are suspended.
#[derive(Clone)]
pub struct Rules {
    pub policy: Suspension,
    /// Whether they ever do.
    pub is_on: bool,
    /// Whether for reads of hosts only.
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
    /// When it began or last went on; and when its present step did, or was gone on with.
    pub(super) resumed: Instant,
    pub(super) entered: Instant,
    /// How often it was suspended: interrupted, put off before it ramped, or kept aside for
    /// reads that would have interrupted it again.
    pub(super) suspensions: u32,
    /// Whether a read had to wait for the end of a step.
    pub(super) is_deferred: bool,
    /// Reads that have asked since it last went on, and when the first did.
    pub(super) asking: u32,
    pub(super) asked_at: Instant,
    pub(super) stage: Stage,
    /// When its event at the end is due; others of that kind are stale.
    pub(super) ends: Instant,
    /// When its event before is due: see [`super::Flash::poll_due`].
    pub(super) poll_at: Instant,
}

/// How far its suspension has come.
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

/// An operation that may be suspended, as whoever it is in the way of sees it.
#[derive(Clone, Copy, Debug)]
pub struct WorkingView {
    /// The operation.
    pub op: OpId,
    /// When it began.
    pub began: Instant,
    /// When it is over if nothing interrupts it; nothing if it is interrupted.
    pub ends: Option<Instant>,
    /// Whether it has left its unit to reads.
    pub is_aside: bool,
    /// How often it was suspended.
    pub suspensions: u32,
}
