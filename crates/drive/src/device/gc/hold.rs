//! The hold of collection on the flash that a read needs, and an estimate of its rest.

use crate::device::Base;
use crate::device::gc::Gc;
use crate::policies::routing::Hold;
use engine::Span;
use ftl::{BinId, Ppn, ReserveUntil};

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

    /// The rest of a collection for which its unit is reserved: of what happens until the end of the
    /// reservation. If the unit is not reserved, the rest of the present operation.
    fn rest_on_unit(&self, base: &Base, bin: BinId) -> Hold {
        let erase = base.flash.rest_of_erase(base.time.now, bin);
        if !base.flash.is_kept_for(bin) {
            let copies = erase.is_none() && self.jobs[bin].under_way() > 0;
            let one = if copies { self.time_to_move(base, bin) } else { Span::ZERO };
            return Hold { rest: erase.unwrap_or(one), copies };
        }
        let copies = self.rest_of_copies(base, bin);
        match self.reserves_until {
            ReserveUntil::Copied => copies,
            ReserveUntil::Erase => {
                Hold { rest: copies.rest + self.rest_of_erases(base, bin, erase), ..copies }
            }
            ReserveUntil::Stop => {
                let to_come = self.time_of_victims_to_come(base, bin);
                let rest = copies.rest + self.rest_of_erases(base, bin, erase) + to_come;
                Hold { rest, copies: copies.copies || !to_come.is_zero() }
            }
        }
    }

    /// The rest of the erases of a bin's victims, of which one command may have this rest.
    fn rest_of_erases(&self, base: &Base, bin: BinId, present: Option<Span>) -> Span {
        let job = &self.jobs[bin];
        let blocks = self.victims(base, bin).count() as u32 + job.erases;
        let left = blocks * base.space.ftl.layout.erases_per_block() - job.erase_commands;
        let whole = u64::from(left).saturating_sub(u64::from(present.is_some()));
        base.flash.time_to_erase() * whole + present.unwrap_or(Span::ZERO)
    }

    /// Time of the victims that will follow until a bin has enough free space, if each gains as much as
    /// the last one.
    fn time_of_victims_to_come(&self, base: &Base, bin: BinId) -> Span {
        let layout = &base.space.ftl.layout;
        let coming = self.victims(base, bin).count() as u32 + self.jobs[bin].erases;
        let lacks = u64::from(base.space.ftl.lacks_with(bin, coming));
        let [block, batch] = [layout.units_per_block(), layout.units_per_batch].map(u64::from);
        // Of a block, `batch` units are gained for each `pace` units that are moved.
        let gained = (block * batch / (batch + u64::from(base.space.task(bin).pace))).max(1);
        let moves = (block - gained).div_ceil(batch);
        let erases = u64::from(layout.erases_per_block());
        let one = self.time_to_move(base, bin) * moves + base.flash.time_to_erase() * erases;
        one * lacks.div_ceil(gained)
    }

    /// The rest of the copies of a bin's victims.
    fn rest_of_copies(&self, base: &Base, bin: BinId) -> Hold {
        let batch = base.space.ftl.layout.units_per_batch;
        let moves: u32 = self
            .victims(base, bin)
            .map(|block| base.space.ftl.valid_units(block).div_ceil(batch))
            .sum();
        Hold { rest: self.time_to_move(base, bin) * u64::from(moves), copies: moves > 0 }
    }

    /// Blocks of a bin that are being emptied.
    fn victims(&self, base: &Base, bin: BinId) -> impl Iterator<Item = ftl::BlockId> {
        let draining = base.space.task(bin).draining.iter().copied();
        self.jobs[bin].victim.into_iter().chain(draining)
    }

    fn time_to_move(&self, base: &Base, bin: BinId) -> Span {
        base.flash.time_to_move(self.config.copy_back && !self.jobs[bin].by_controller)
    }
}

/// Extends a hold by another one that lasts at the same time.
fn extend(hold: &mut Hold, by: Hold) {
    hold.rest = hold.rest.max(by.rest);
    hold.copies |= by.copies;
}
