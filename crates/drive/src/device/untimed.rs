//! What a run without time does with a drive: it has its firmware, and tells the digest.

use super::Device;
use ftl::Ftl;
use host::Command;

impl Device {
    /// The firmware's state, for a run without time.
    pub(crate) fn firmware(&mut self) -> &mut Ftl {
        &mut self.ftl
    }
    /// A command was carried out without time, and whether the flash had to work.
    pub(crate) fn note_without_time(&mut self, command: Command, has_worked: bool) {
        self.digest.mix(command.offset);
        let kind = command.kind.index() as u64 | u64::from(has_worked) << 7;
        self.digest.mix(command.bytes << 8 | kind);
    }
    /// What the firmware has done in a run without time, so far.
    pub(crate) fn note_work(&mut self, done: &ftl::Tally) {
        done.units.iter().for_each(|units| self.digest.mix(*units));
        self.digest.mix(done.retired);
        self.digest.mix(self.ftl.order_of_erases());
    }
    /// A run without time is over; what had been asked for where the drive was worn out.
    pub(crate) fn note_end(&mut self, worn_out: Option<u64>) {
        self.digest.mix(worn_out.unwrap_or(u64::MAX));
    }
}
