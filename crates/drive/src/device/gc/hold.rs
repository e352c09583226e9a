//! The hold of collection on the flash that a read needs, and an estimate of its rest.

use crate::device::Base;
use crate::device::gc::Gc;
use crate::policies::routing::Hold;
use engine::Span;
use ftl::{BinId, Ppn};

impl Gc {
    /// The hold of collection on what a read of a unit needs, if there is one.
    pub(in crate::device) fn hold_on(&self, base: &Base, ppn: Ppn) -> Option<Hold> {
        let held = base.held(ppn);
        let mut hold = Hold::default();
        if held.unit {
            let bins = base.flash.bins_of(held.group).iter();
            let on_cells = bins.filter(|bin| base.flash.place(**bin).all_cells() & held.cells != 0);
            on_cells.for_each(|bin| extend(&mut hold, self.rest_on_unit(base, *bin)));
        }
        if held.channel {
            let one = Hold { rest: base.flash.shape().of_batch(), copies: false };
            extend(&mut hold, held.keeper.map_or(one, |bin| self.rest_of_copies(base, bin)));
        }
        (held.unit || held.channel).then_some(hold)
    }

    /// The rest of a collection for which its unit is reserved: of the copies and the erases. If the
    /// unit is not reserved, the rest of the present operation.
    fn rest_on_unit(&self, base: &Base, bin: BinId) -> Hold {
        let erases = base.flash.rest_of_erase(base.time.now, bin);
        if !base.flash.is_kept_for(bin) {
            let copies = erases.is_none() && self.jobs[bin].under_way() > 0;
            let one = if copies { self.time_to_move(base) } else { Span::ZERO };
            return Hold { rest: erases.unwrap_or(one), copies };
        }
        let left = self.victims(base, bin).count() as u64 + u64::from(self.jobs[bin].erases);
        let whole =
            base.flash.timing().erase.total() * u64::from(base.space.ftl.layout.erases_per_block());
        let of_erases = match erases {
            Some(rest) => whole * left.saturating_sub(1) + rest,
            None => whole * left,
        };
        let copies = self.rest_of_copies(base, bin);
        Hold { rest: copies.rest + of_erases, ..copies }
    }

    /// The rest of the copies of a bin's victims.
    fn rest_of_copies(&self, base: &Base, bin: BinId) -> Hold {
        let batch = base.space.ftl.layout.units_per_batch;
        let moves: u32 = self
            .victims(base, bin)
            .map(|block| base.space.ftl.valid_units(block).div_ceil(batch))
            .sum();
        Hold { rest: self.time_to_move(base) * u64::from(moves), copies: moves > 0 }
    }

    /// Blocks of a bin that are being emptied.
    fn victims(&self, base: &Base, bin: BinId) -> impl Iterator<Item = ftl::BlockId> {
        let draining = base.space.task(bin).draining.iter().copied();
        self.jobs[bin].victim.into_iter().chain(draining)
    }

    fn time_to_move(&self, base: &Base) -> Span {
        base.flash.time_to_move(self.config.copy_back)
    }
}

/// Extends a hold by another one that lasts at the same time.
fn extend(hold: &mut Hold, by: Hold) {
    hold.rest = hold.rest.max(by.rest);
    hold.copies |= by.copies;
}
