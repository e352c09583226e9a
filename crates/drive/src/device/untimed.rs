//! Use of a drive by an untimed run: it uses the firmware directly, and adds to the digest.

use crate::device::Device;
use ftl::Ftl;
use host::Command;

impl Device {
    /// The firmware's state, for an untimed run.
    pub(crate) fn firmware(&mut self) -> &mut Ftl {
        &mut self.base.space.ftl
    }
    /// Adds an untimed command to the digest; `has_worked` says if the flash had to work.
    pub(crate) fn note_untimed(&mut self, command: Command, has_worked: bool) {
        let kind = command.kind.index() as u64 | u64::from(has_worked) << 7;
        self.port.mix([command.offset, command.bytes << 8 | kind]);
    }
    /// Adds the firmware's work in an untimed run so far to the digest.
    pub(crate) fn note_work(&mut self, done: &ftl::Tally) {
        // Nothing is rebuilt.
        let [host, gc, padding, scrub, summary, parity, _] = done.units;
        self.port.mix([host, gc, padding, scrub, summary]);
        if self.base.space.ftl.layout.stripes.is_some() {
            self.port.mix([parity]);
        }
        self.port.mix([done.retired, self.base.space.ftl.order_of_erases()]);
    }
    /// Adds the end of an untimed run to the digest, with the bytes requested until the drive was
    /// worn out.
    pub(crate) fn note_end(&mut self, worn_out: Option<u64>) {
        self.port.mix([worn_out.unwrap_or(u64::MAX)]);
    }
}
