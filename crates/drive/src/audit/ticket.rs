//! Notes of the auditor on one command.

use engine::Instant;
use ftl::Lpn;
use host::Command;

/// What the auditor notes of a command until it completes.
#[derive(Clone, Debug, Default)]
pub struct AuditTicket {
    /// Which command it is, and its number; none is numbered 0.
    pub(super) command: Option<(Command, u64)>,
    /// When the drive got it.
    pub(super) at: Instant,
    /// Of reads: for each unit the token that must at least be returned.
    pub(super) expected: Vec<u64>,
    /// Of reads: for each unit whether it was seen.
    pub(super) seen: Vec<bool>,
    /// Of writes and trims: what each unit is called, once it is taken in.
    pub(super) tokens: Vec<(Lpn, u64)>,
}
