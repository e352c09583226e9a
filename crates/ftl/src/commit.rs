//! What is on flash becomes the current data: of writes, of moves, and what a trim forgets.

use crate::blocks::{BARRED, BlockState, Source};
use crate::ftl::Ftl;
use crate::ids::{Batch, BlockId, Lpn, Pun};

impl Ftl {
    /// Notes what a bound place is written with; `None` for padding.
    #[inline]
    pub fn note(&mut self, pun: Pun, lpn: Lpn) {
        self.map.note(pun, lpn);
    }

    /// A place is written with a copy of what `from` holds.
    #[inline]
    pub fn note_copy(&mut self, from: Pun, to: Pun, lpn: Lpn) {
        self.map.note(to, lpn);
        self.map.copy_version(from, to);
    }

    /// A host write of `lpn` to `pun` is on flash: it becomes the current data.
    #[inline]
    pub fn commit_write(&mut self, lpn: Lpn, pun: Pun) {
        match self.map.point(lpn, pun) {
            Some(old) => self.invalidate(old),
            None => self.map_fresh(lpn),
        }
        self.map.set_live(pun, 1);
        let block = self.layout.block(pun);
        self.blocks.standing[block] += 1;
    }

    /// A unit without data has some.
    #[inline]
    fn map_fresh(&mut self, lpn: Lpn) {
        self.mapped += 1;
        if let Some(persist) = &mut self.persist {
            persist.note_fresh(lpn);
        }
    }

    /// A copy of `from` is on flash at `to`. It becomes the current data only if
    /// `from` still is; returns whether it did.
    #[inline]
    pub fn commit_move(&mut self, lpn: Lpn, from: Pun, to: Pun) -> bool {
        if self.map.lookup(lpn) != Some(from) {
            return false;
        }
        self.invalidate(from);
        self.blocks.moved[self.layout.block(from)] += 1;
        self.map.point(lpn, to);
        self.map.set_live(to, 1);
        let block = self.layout.block(to);
        self.blocks.standing[block] += 1;
        true
    }

    /// The batch `to` is on flash as a copy of all of the batch `from`. Each unit of it
    /// becomes the current data only if the one that it was copied from still is.
    #[inline]
    pub fn commit_batch_move(&mut self, from: Batch, to: Batch) {
        let first = self.layout.first_unit(from.block, from.batch);
        let first_to = self.layout.first_unit(to.block, to.batch);
        let (mut moved, mut count) = (0u64, 0);
        for slot in 0..self.layout.units_per_batch {
            let (pun, new) = (Pun(first.0 + slot), Pun(first_to.0 + slot));
            let lpn = self.map.holds(pun);
            self.map.note(new, lpn);
            self.map.copy_version(pun, new);
            if self.map.lookup(lpn) == Some(pun) {
                self.map.point(lpn, new);
                moved |= 1 << slot;
                count += 1;
            }
        }
        if count > 0 {
            self.map.kill_some(first, moved);
            self.map.set_some_live(first_to, moved);
            debug_assert!(self.blocks.live(from.block) >= count, "only a live unit can move");
            self.blocks.standing[from.block] -= count;
            self.blocks.moved[from.block] += count;
            self.blocks.standing[to.block] += count;
        }
    }

    #[inline]
    fn invalidate(&mut self, pun: Pun) {
        self.map.kill(pun);
        let block = self.layout.block(pun);
        let standing = &mut self.blocks.standing[block];
        debug_assert!(*standing & !BARRED > 0, "only a live unit can die");
        *standing -= 1;
    }

    /// Forgets a logical unit (trim); returns whether it held data.
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

    /// A bound batch is written (and committed): once all of a full block's are,
    /// the block is closed and may be collected.
    #[inline]
    pub fn finish(&mut self, at: Batch) {
        let unwritten = &mut self.blocks.unwritten[at.block];
        *unwritten -= 1;
        if *unwritten == 0 {
            if self.layout.summary_page {
                self.tally.units[Source::Summary as usize] +=
                    u64::from(self.layout.units_per_batch);
            }
            self.close(at.block);
        }
    }

    pub(crate) fn close(&mut self, block: BlockId) {
        self.blocks.state[block] = BlockState::Closed;
        self.blocks.standing[block] &= !BARRED;
        self.blocks.closed_at[block] = self.tally.units[Source::Host as usize];
        if let Some(persist) = &mut self.persist {
            persist.note_change(block);
        }
    }
}
