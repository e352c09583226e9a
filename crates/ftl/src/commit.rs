//! Commits: written and moved units become the current data; a trim removes a mapping.

use crate::blocks::{BARRED, BlockState, Source};
use crate::ftl::Ftl;
use crate::ids::{Batch, BlockId, Lpn, Ppn};

impl Ftl {
    /// Records the logical unit that is written to a bound place; `None` for padding.
    #[inline]
    pub fn note(&mut self, ppn: Ppn, lpn: Lpn) {
        self.map.note(ppn, lpn);
    }

    /// Records that a bound place is written with a copy of `from`.
    #[inline]
    pub fn note_copy(&mut self, from: Ppn, to: Ppn, lpn: Lpn) {
        self.map.note(to, lpn);
        self.map.copy_version(from, to);
        self.copy_poison(from, to);
    }

    /// A host write of `lpn` to `ppn` is on flash: it becomes the current data.
    #[inline(always)]
    pub fn commit_write(&mut self, lpn: Lpn, ppn: Ppn) {
        match self.map.point(lpn, ppn) {
            Some(old) => self.invalidate(old),
            None => self.map_fresh(lpn),
        }
        self.map.set_valid(ppn, 1);
        let block = self.layout.block(ppn);
        self.blocks.standing[block] += 1;
    }

    /// Counts a logical unit that had no data and has some now.
    #[inline]
    pub(crate) fn map_fresh(&mut self, lpn: Lpn) {
        self.mapped += 1;
        if let Some(persist) = &mut self.persist {
            persist.note_fresh(lpn);
        }
    }

    /// Commits a copy of `from` at `to`. The copy becomes the current data only if `from` is
    /// still current; returns true if it did.
    #[inline(always)]
    pub fn commit_move(&mut self, lpn: Lpn, from: Ppn, to: Ppn) -> bool {
        if self.map.lookup(lpn) != Some(from) {
            return self.move_detached(lpn, from, to);
        }
        let [old, new] = [from, to].map(|ppn| self.layout.block(ppn));
        self.invalidate_in(old, from);
        self.blocks.moved[old] += 1;
        self.map.point(lpn, to);
        self.map.set_valid(to, 1);
        self.blocks.standing[new] += 1;
        true
    }

    /// Commits the batch `to`, a copy of the whole batch `from`. Each unit of it becomes the
    /// current data only if its original is still current.
    #[inline]
    pub fn commit_batch_move(&mut self, from: Batch, to: Batch) {
        let first = self.layout.first_unit(from.block, from.batch);
        let first_to = self.layout.first_unit(to.block, to.batch);
        let (mut moved, mut count) = (0u64, 0);
        for slot in 0..self.layout.units_per_batch {
            let (ppn, new) = (Ppn(first.0 + slot), Ppn(first_to.0 + slot));
            let lpn = self.map.holds(ppn);
            self.map.note(new, lpn);
            self.map.copy_version(ppn, new);
            if self.map.lookup(lpn) == Some(ppn) {
                self.map.point(lpn, new);
                moved |= 1 << slot;
                count += 1;
            } else if !self.detached.is_empty() {
                self.move_detached(lpn, ppn, new);
            }
        }
        if self.has_poison() {
            self.copy_poison_of(first, first_to);
        }
        if count > 0 {
            self.map.kill_some(first, moved);
            self.map.set_some_valid(first_to, moved);
            debug_assert!(self.blocks.valid(from.block) >= count, "only a valid unit can move");
            self.blocks.standing[from.block] -= count;
            self.blocks.moved[from.block] += count;
            self.blocks.standing[to.block] += count;
        }
    }

    #[inline]
    pub(crate) fn invalidate(&mut self, ppn: Ppn) {
        self.invalidate_in(self.layout.block(ppn), ppn);
    }
    #[inline]
    fn invalidate_in(&mut self, block: BlockId, ppn: Ppn) {
        self.map.kill(ppn);
        let standing = &mut self.blocks.standing[block];
        debug_assert!(*standing & !BARRED > 0, "only a valid unit can become invalid");
        *standing -= 1;
    }

    /// Removes the mapping of a logical unit (trim); returns true if the unit had data.
    #[inline]
    pub fn trim(&mut self, lpn: Lpn) -> bool {
        let old = self.map.unmap(lpn);
        if let Some(persist) = &mut self.persist {
            persist.note_trim(lpn);
        }
        let Some(old) = old else { return false };
        self.invalidate(old);
        self.mapped -= 1;
        true
    }

    /// Ends the write of a bound batch, after its commit. Once all batches of a full block are
    /// written, the block is closed and may be collected.
    #[inline]
    pub fn finish(&mut self, at: Batch) {
        if self.layout.has_superblocks() {
            self.note_written(at);
        }
        let unwritten = &mut self.blocks.unwritten[at.block];
        *unwritten -= 1;
        if *unwritten == 0 {
            if self.layout.summary_page {
                let units = u64::from(self.layout.units_per_batch);
                self.count(at.block, |tally| tally.units[Source::Summary as usize] += units);
            }
            self.close(at.block);
        }
    }

    pub(crate) fn close(&mut self, block: BlockId) {
        self.blocks.state[block] = BlockState::Closed;
        self.blocks.standing[block] &= !BARRED;
        self.blocks.closed_at[block] = self.clock_of(self.layout.bin(block));
        if let Some(persist) = &mut self.persist {
            persist.note_change(block);
        }
    }
}
