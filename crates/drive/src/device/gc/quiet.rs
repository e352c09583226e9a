//! Background collections that wait until hosts have nothing to do on their channels
//! (`ftl.gc.background_begins`).

use crate::device::Base;
use crate::device::flash::{Note, Placement};
use crate::device::gc::Gc;
use ftl::BinId;

impl Gc {
    /// True if a bin's collection is in the background and hosts use or await its channel. It asks
    /// again when they do not.
    #[inline(never)]
    pub(super) fn waits_for_quiet(&mut self, base: &mut Base, bin: BinId) -> bool {
        let goes_first = base.space.collects_in_the_foreground(bin);
        if goes_first || base.flash.is_quiet(&mut base.time, bin) {
            self.await_quiet.retain(|other| *other != bin);
            return false;
        }
        if !std::mem::replace(&mut self.asks_for_quiet, true) {
            base.flash.note(Note::AwaitsQuiet);
        }
        if !self.await_quiet.contains(&bin) {
            self.await_quiet.push(bin);
        }
        true
    }

    /// Lets collections go on that wait until their channels have nothing to do for hosts, the oldest
    /// first; returns true if one did. If none did, those that wait ask again at the next event.
    #[cold]
    pub(in crate::device) fn ask_for_quiet(&mut self, base: &mut Base) -> bool {
        let mut waiting = self.await_quiet.iter();
        if !waiting.any(|bin| base.flash.is_quiet(&mut base.time, *bin)) {
            self.asks_for_quiet = !self.await_quiet.is_empty();
            if self.asks_for_quiet {
                base.flash.note(Note::AwaitsQuiet);
            }
            return false;
        }
        for bin in self.await_quiet.clone() {
            if base.flash.is_quiet(&mut base.time, bin) {
                self.await_quiet.retain(|other| *other != bin);
                if base.space.task(bin).running {
                    // It may be on its way to the stop threshold, or in an idle gap.
                    self.collect(base, bin);
                } else {
                    self.collect_if_needed(base, bin);
                }
            }
        }
        true
    }
}
