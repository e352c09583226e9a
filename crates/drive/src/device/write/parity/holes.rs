//! Trimmed members of stripes.

use crate::device::Base;
use crate::device::space::guests::HOLES_AT_ONCE;
use crate::device::write::Write;

use ftl::Lpn;

impl Write {
    /// Removes a unit's mapping; its data is kept until its stripe has parity without it.
    #[inline(never)]
    pub(in crate::device::write) fn trim_member(&mut self, base: &mut Base, lpn: Lpn) {
        if base.space.ftl.detach(lpn) || self.updates_mut().off_flash.trim(lpn) {
            self.add_hole(lpn);
        }
    }

    /// True if a unit was trimmed, and is part of its stripe until the parity is written anew.
    pub(super) fn is_hole(&self, base: &Base, lpn: Lpn) -> bool {
        base.space.ftl.is_kept(lpn) || self.updates().off_flash.is_trimmed(lpn)
    }

    pub(super) fn add_hole(&mut self, lpn: Lpn) {
        self.updates_mut().holes.push_back(lpn);
    }

    /// Begins updates of stripes with trimmed members.
    #[inline(never)]
    pub(in crate::device) fn fill_holes(&mut self, base: &mut Base) {
        let mut blocked = Vec::new();
        while self.updates().of_holes < HOLES_AT_ONCE {
            let Some(lpn) = self.updates_mut().holes.pop_front() else { break };
            if !self.is_hole(base, lpn) {
                // Another update has left it out.
                continue;
            }
            let stripe = base.space.ftl.layout.stripes.expect("data has parity").of(lpn);
            if self.updates().of(stripe).is_some() {
                blocked.push(lpn);
            } else {
                self.begin_update(base, stripe, None);
            }
        }
        for lpn in blocked.into_iter().rev() {
            self.updates_mut().holes.push_front(lpn);
        }
    }
}
