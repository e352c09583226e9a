//! Notes of the auditor on one command.

use engine::Instant;
use ftl::Lpn;
use host::Command;

/// Notes of the auditor on a command until it completes.
#[derive(Clone, Debug, Default)]
pub struct AuditTicket {
    /// The command, and its number; none is numbered 0.
    pub(super) command: Option<(Command, u64)>,
    /// The moment at which the drive got it.
    pub(super) at: Instant,
    /// Of reads: for each unit the oldest token that may be returned.
    pub(super) expected: Vec<u64>,
    /// Of reads: for each unit true if it was checked.
    pub(super) seen: Vec<bool>,
    /// Of writes and trims: the token of each unit that was taken in.
    pub(super) tokens: Vec<(Lpn, u64)>,
    /// Of trims: units at the edges of which a part was trimmed and nothing is left.
    pub(super) emptied: [Option<Lpn>; 2],
}
