//! State of an untimed run.

use crate::device::Device;
use engine::Instant;
use ftl::{BinChoice, Tally, Untimed};
use host::Command;

/// State of an untimed run.
pub struct UntimedState {
    pub(super) writer: Untimed,
    /// True if a partial write is an in-plane read-modify-write.
    pub(super) modifies: bool,
    /// By initiator: its next request and its moment. Among those that are due together, the
    /// initiator with the fewest requests so far goes first.
    pub(super) next: Vec<Option<(Instant, u64, Command)>>,
    /// Bytes that had been requested when the drive ran out of space.
    pub(super) worn_out: Option<u64>,
    pub(super) has_ended: bool,
    /// Counts of the flash when the run began, and those that the digest includes already.
    pub(super) begun: Tally,
    pub(super) noted: Tally,
}

impl UntimedState {
    pub fn new(device: &mut Device, initiators: usize, choice: BinChoice) -> Self {
        let modifies = device.modifies();
        let ftl = device.firmware();
        ftl.begin_order_of_erases();
        Self {
            writer: Untimed::new(ftl, choice),
            modifies,
            next: vec![None; initiators],
            worn_out: None,
            has_ended: false,
            begun: ftl.tally,
            noted: ftl.tally,
        }
    }
}
