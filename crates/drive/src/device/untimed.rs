//! What an untimed run does with a drive: it has its firmware, and tells the digest.

use crate::device::Device;
use ftl::Ftl;
use host::Command;

impl Device {
    /// The firmware's state, for an untimed run.
    pub(crate) fn firmware(&mut self) -> &mut Ftl {
        &mut self.base.space.ftl
    }
    /// A command was carried out untimed, and whether the flash had to work.
    pub(crate) fn note_untimed(&mut self, command: Command, has_worked: bool) {
        let kind = command.kind.index() as u64 | u64::from(has_worked) << 7;
        self.port.mix([command.offset, command.bytes << 8 | kind]);
    }
    /// What the firmware has done in an untimed run, so far.
    pub(crate) fn note_work(&mut self, done: &ftl::Tally) {
        self.port.mix(done.units);
        self.port.mix([done.retired, self.base.space.ftl.order_of_erases()]);
    }
    /// An untimed run is over; what had been asked for where the drive was worn out.
    pub(crate) fn note_end(&mut self, worn_out: Option<u64>) {
        self.port.mix([worn_out.unwrap_or(u64::MAX)]);
    }
}
