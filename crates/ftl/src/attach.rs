//! Commits of stripes: members that were written together become current together, and trimmed ones
//! stay part of a stripe until its parity is written anew.

use crate::ftl::Ftl;
use crate::ids::{Lpn, Ppn};

impl Ftl {
    /// A unit is on flash at `ppn`, but becomes current only with its stripe ([`Ftl::attach`]).
    ///
    /// # Panics
    /// If it is placed already.
    pub fn place(&mut self, lpn: Lpn, ppn: Ppn) {
        let before = self.detached.placed.insert(lpn, ppn);
        assert!(before.is_none(), "a stripe is written once at a time");
        self.map.set_valid(ppn, 1);
        self.blocks.standing[self.layout.block(ppn)] += 1;
    }

    /// A placed unit becomes current, instead of earlier data; returns its place.
    ///
    /// # Panics
    /// If it is not placed.
    pub fn attach(&mut self, lpn: Lpn) -> Ppn {
        let ppn = self.take_placed(lpn);
        self.end_keeping(lpn);
        match self.map.point(lpn, ppn) {
            Some(old) => self.invalidate(old),
            None => self.map_fresh(lpn),
        }
        ppn
    }

    /// A placed unit was trimmed before it became current: its page is kept, instead of that of
    /// earlier data; returns its place.
    ///
    /// # Panics
    /// If it is not placed.
    pub fn keep_placed(&mut self, lpn: Lpn) -> Ppn {
        debug_assert!(self.lookup(lpn).is_none(), "a trimmed unit has no data");
        let ppn = self.take_placed(lpn);
        self.end_keeping(lpn);
        self.detached.kept.insert(lpn, ppn);
        ppn
    }

    fn take_placed(&mut self, lpn: Lpn) -> Ppn {
        self.detached.placed.remove(&lpn).expect("its program has ended")
    }

    /// Removes the mapping of a logical unit, but keeps its page for its stripe
    /// ([`Ftl::end_keeping`]); returns true if the unit had data.
    pub fn detach(&mut self, lpn: Lpn) -> bool {
        let Some(old) = self.map.unmap(lpn) else { return false };
        self.mapped -= 1;
        let before = self.detached.kept.insert(lpn, old);
        assert!(before.is_none(), "its parity is written before new data");
        true
    }

    /// Ends the keeping of a trimmed unit's page, if it is kept.
    pub fn end_keeping(&mut self, lpn: Lpn) {
        if let Some(ppn) = self.detached.kept.remove(&lpn) {
            self.invalidate(ppn);
        }
    }

    /// True if the page of a trimmed unit is kept.
    pub fn is_kept(&self, lpn: Lpn) -> bool {
        self.detached.kept.contains_key(&lpn)
    }

    /// Forgets all pages that are not current: their stripes get new parity.
    pub fn drop_detached(&mut self) {
        let detached = std::mem::take(&mut self.detached);
        detached.iter().for_each(|(_, ppn)| self.invalidate(ppn));
    }

    /// Units whose pages are kept or placed.
    pub fn detached_units(&self) -> Vec<Lpn> {
        self.detached.iter().map(|(lpn, _)| lpn).collect()
    }

    /// The page of a unit that is part of its stripe: that of its current data, or a kept one.
    pub fn member(&self, lpn: Lpn) -> Option<Ppn> {
        self.lookup(lpn).or_else(|| self.detached.kept.get(&lpn).copied())
    }

    /// Commits a copy of the data at `from` that is not current: true if a stripe needs it.
    #[cold]
    pub(crate) fn move_detached(&mut self, lpn: Lpn, from: Ppn, to: Ppn) -> bool {
        if !self.detached.redirect(lpn, from, to) {
            return false;
        }
        self.invalidate(from);
        self.blocks.moved[self.layout.block(from)] += 1;
        self.map.set_valid(to, 1);
        self.blocks.standing[self.layout.block(to)] += 1;
        true
    }
}
