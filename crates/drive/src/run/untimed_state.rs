//! State of an untimed run.

use crate::device::Device;
use engine::Instant;
use ftl::{BinChoice, Ftl, Lpn, PoolId, Tally, Untimed};
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

    /// Writes a unit, or the part of it that a command writes.
    pub fn write(&mut self, ftl: &mut Ftl, lpn: Lpn, command: Command) -> Result<(), PoolId> {
        if ftl.layout.is_whole(lpn, command.offset, command.end()) {
            return self.writer.write(ftl, lpn);
        }
        let mut is_complete = false;
        if ftl.layout.has_subunits() {
            let part = ftl.layout.in_unit(lpn, command.offset, command.end());
            is_complete = ftl.written(lpn) & !part.covered == 0;
            ftl.add_written(lpn, part.touched);
        }
        match self.modifies && !is_complete {
            true => self.writer.modify(ftl, lpn),
            false => self.writer.rewrite(ftl, lpn),
        }
    }

    /// Trims the part of a unit that a command covers, and the unit if it then holds nothing. All units
    /// must be written.
    pub fn trim_part(&mut self, ftl: &mut Ftl, lpn: Lpn, command: Command) -> Result<(), PoolId> {
        if !ftl.layout.has_subunits() || ftl.lookup(lpn).is_none() {
            return Ok(());
        }
        let covered = ftl.layout.in_unit(lpn, command.offset, command.end()).covered;
        match covered != 0 && ftl.trim_subunits(lpn, covered) == 0 {
            true => self.writer.trim(ftl, lpn),
            false => Ok(()),
        }
    }
}
