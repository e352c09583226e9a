//! Pools that units are written to.

use crate::device::space::Space;
use ftl::{Lpn, PoolId};

impl Space {
    /// The pool that a unit is to be written to: its own, or that of a guest if its own has failed.
    /// `None` if no pool has room for it.
    pub(in crate::device) fn home(&mut self, lpn: Lpn) -> Option<PoolId> {
        let home = self.ftl.layout.pool(lpn);
        if !self.ftl.has_failed(home) {
            return Some(home);
        }
        self.guests.host_of(&self.ftl, lpn, home)
    }

    /// Notes that a unit has no data any more, and no page.
    pub(in crate::device) fn note_trimmed(&mut self, lpn: Lpn) {
        if self.ftl.has_failed_bins() {
            self.guests.leaves(lpn);
        }
    }
}
