//! State of an untimed run.

use crate::device::Device;
use engine::Instant;
use ftl::{BinChoice, Tally, Untimed};
use host::Command;

/// What an untimed run needs.
pub struct UntimedState {
    pub(super) writer: Untimed,
    /// Whether writes of a part of a unit leave the rest of it in its planes.
    pub(super) modifies: bool,
    /// By initiator: its next request and its moment. Among those due together the initiator
    /// that has had the fewest goes first.
    pub(super) next: Vec<Option<(Instant, u64, Command)>>,
    /// What had been asked for when the drive had no space left any more, in bytes.
    pub(super) worn_out: Option<u64>,
    pub(super) has_ended: bool,
    /// What had become of the flash when the run began, and as far as the digest knows.
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
