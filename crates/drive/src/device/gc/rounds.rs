//! Collection of groups whose operations go in rounds: between two batches, one bin a unit.

use crate::device::Base;
use crate::device::flash::{Placement, Wanted};
use crate::device::gc::Gc;
use nand::GroupId;

impl Gc {
    /// Continues after the batch of a group: for each unit one bin chooses a victim, if any needs
    /// one, and the group goes on with its collection, or with its next batch.
    pub(in crate::device) fn collect_in_round(&mut self, base: &mut Base, group: GroupId) {
        if self.collects_now(base, group) {
            base.flash.begin_choosing(group);
            for cell in 0..base.flash.units().cells_per_group {
                self.choose_in_unit(base, group, cell);
            }
        }
        base.flash.begin_next(&mut base.time, &mut base.space, group);
    }

    /// True if a group may begin to collect: for waiting operations, or at any time.
    fn collects_now(&self, base: &Base, group: GroupId) -> bool {
        base.flash.collects_at_once()
            || base.flash.has_queue(group)
            || base.flash.bins_of(group).iter().any(|bin| base.space.is_awaited(*bin))
    }

    /// Lets one bin choose a victim, in the unit that begins with a cell, if any of its bins needs
    /// one. The bins take turns.
    fn choose_in_unit(&mut self, base: &mut Base, group: GroupId, cell: u32) {
        let bins = base.flash.bins_of(group).len() as u32;
        let first = *base.flash.turn_of(group, cell);
        for step in 0..bins {
            let place = (first + step) % bins;
            let bin = base.flash.bins_of(group)[place as usize];
            let is_of_unit = base.flash.place(bin).erase.trailing_zeros() == cell;
            let needs = base.space.wants(bin) == Wanted::Now;
            if is_of_unit && base.flash.is_free(bin) && needs {
                self.run(base, bin);
                self.collect(base, bin);
                if !base.flash.is_free(bin) {
                    *base.flash.turn_of(group, cell) = place + 1;
                    return;
                }
            }
        }
    }
}
