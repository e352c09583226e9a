//! Recovery from a power cut: rebuilds the map, valid bits, block states and free lists from the
//! media. The media holds, for each physical unit, its logical unit, its version and whether its
//! checksum is right; for each block, how much of it is written, its erases and whether it is bad
//! (the table of blocks is on the media, too); and what the drive stores beside: the log of
//! trims, checkpoints, or the map itself.
//!
//! The newest version of a logical unit is its data. Recovery closes the blocks that were open,
//! as they are, and repeats interrupted erases.

use crate::blocks::{BARRED, BlockState, Open, Source};
use crate::ftl::Ftl;
use crate::ids::{Batch, BinId, BlockId, Lpn, Ppn};
use engine::Column;
use std::collections::BTreeMap;

/// Source of the map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MapFrom {
    /// All metadata on flash.
    Scan,
    /// The map of the last checkpoint, and the metadata of everything changed since.
    Checkpoint,
    /// Non-volatile memory that holds the map.
    Memory,
}

/// Method of recovery.
#[derive(Clone, Copy, Debug)]
pub struct Means {
    /// Source of the map.
    pub map: MapFrom,
    /// True if trimmed units stay trimmed because trims are logged.
    pub logs_trims: bool,
    /// A deliberate error of recovery, for tests of the checks that must find it.
    pub fault: Option<Fault>,
}

/// Deliberate errors of recovery, for tests of the checks that must find them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Takes the data that it reads last, whatever its version.
    IgnoresVersions,
    /// Takes half-programmed rows for whole ones.
    TrustsTorn,
    /// Does not read blocks that were open.
    SkipsOpen,
    /// Does not read the log of trims.
    ForgetsTrims,
    /// Loses the part of the buffer that a capacitor has saved.
    LosesDump,
    /// Reads no block that was closed since the last checkpoint.
    SkipsChanged,
}

/// Flash operations in progress when the power was cut.
#[derive(Clone, Debug, Default)]
pub struct Interrupted {
    /// Programs with some rows incomplete: their places are used and their data is lost. Each
    /// with the number of its rows that are no longer erased.
    pub torn: Vec<(Batch, u32)>,
    /// Programs whose data is on flash although they had not ended.
    pub whole: Vec<Batch>,
    /// Blocks that were being erased.
    pub half_erased: Vec<BlockId>,
}

/// The part of a block that recovery reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScannedBlock {
    /// The block.
    pub block: BlockId,
    /// True if the last row is read, the place of a summary.
    pub summary: bool,
    /// Rows read, from the first one on.
    pub rows: u32,
}

/// Result of a recovery.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recovered {
    /// Logical units that have data on flash.
    pub units: u32,
    /// Blocks that were open and are closed now.
    pub closed: u32,
    /// Blocks that recovery had to erase, those with an interrupted erase included.
    pub erased: Vec<BlockId>,
    /// A unit whose data is neither in the checkpoint nor in the blocks read; only if the audit
    /// of checkpoints is on.
    pub unread: Option<(Lpn, Ppn)>,
    /// Blocks of `erased` into which collection had moved data whose originals are still on
    /// flash.
    pub undone: u32,
}

impl Ftl {
    /// Rebuilds everything from the media. Calls `each` with the part of each block that is read,
    /// in the order of blocks. The metadata of operations in progress has been recorded before.
    ///
    /// # Panics
    /// If no metadata is kept.
    pub fn recover(
        &mut self,
        cut: &Interrupted,
        means: Means,
        each: &mut dyn FnMut(ScannedBlock),
    ) -> Recovered {
        assert!(self.keeps_metadata(), "a drive recovers by its metadata");
        let rows = self.rows_written(cut);
        let copied = self.copied_units();
        let mut is_read = Column::filled(false, rows.len());
        for block in rows.ids().filter(|block| self.must_read(*block, cut, means)) {
            is_read[block] = true;
            each(self.part_to_read(block, cut, &rows));
        }
        if means.fault != Some(Fault::TrustsTorn) {
            let batch = self.layout.units_per_batch;
            for (at, _) in &cut.torn {
                self.map.clear_versions(self.layout.first_unit(at.block, at.batch), batch);
            }
        }
        let newest = match means.map {
            MapFrom::Memory => None,
            MapFrom::Scan | MapFrom::Checkpoint => Some(self.find_newest(&rows, &is_read, means)),
        };
        self.count_valid();
        self.recover_written();
        self.count_moved(copied);
        self.blocks.readers.as_mut_slice().fill(0);
        self.blocks.sensed.as_mut_slice().fill(0);
        let mut recovered = Recovered { units: self.mapped, ..Recovered::default() };
        let were_open = self.settle_blocks(cut, &rows, newest.as_ref(), &mut recovered);
        for block in &cut.half_erased {
            self.erase(*block);
            recovered.erased.push(*block);
        }
        for bin in self.undo_last(&were_open, &mut recovered) {
            // Only metadata tells where else the data of the block is.
            let first = self.layout.first_block(bin).0;
            let blocks = (first..first + self.layout.blocks_per_bin()).map(BlockId);
            for block in blocks.filter(|block| self.blocks.state[*block] == BlockState::Closed) {
                if !std::mem::replace(&mut is_read[block], true) {
                    each(self.part_to_read(block, cut, &rows));
                }
            }
        }
        self.bound_moved();
        if means.map == MapFrom::Checkpoint {
            recovered.unread = self.unread(&is_read);
        }
        recovered
    }

    // ---- what is on media -------------------------------------------------------

    /// Number of rows written in each block, torn ones included.
    fn rows_written(&self, cut: &Interrupted) -> Column<BlockId, u32> {
        let layout = &self.layout;
        let full = layout.batches_per_block * layout.rows_per_batch;
        let mut rows = Column::from_fn(self.blocks.state.len(), |block: BlockId| {
            match self.blocks.state[block] {
                BlockState::Free | BlockState::Bad => 0,
                BlockState::Open => full - self.blocks.unwritten[block] * layout.rows_per_batch,
                BlockState::Closed | BlockState::Collecting => {
                    self.blocks.rows_closed_early(block).unwrap_or(full)
                }
            }
        });
        let whole = cut.whole.iter().map(|at| (at, layout.rows_per_batch));
        for (at, count) in cut.torn.iter().map(|(at, count)| (at, *count)).chain(whole) {
            let written = &mut rows[at.block];
            debug_assert_eq!(*written, at.batch * layout.rows_per_batch, "in order");
            *written += count;
        }
        // A half-erased block holds no data.
        cut.half_erased.iter().for_each(|block| rows[*block] = 0);
        rows
    }

    /// True if recovery must read metadata of a block to find the map.
    fn must_read(&self, block: BlockId, cut: &Interrupted, means: Means) -> bool {
        let persist = self.persist.as_ref().expect("metadata is kept");
        let state = self.blocks.state[block];
        let is_new = || match means.map {
            MapFrom::Scan => true,
            MapFrom::Checkpoint => {
                state == BlockState::Open
                    || persist.has_changed(block) && means.fault != Some(Fault::SkipsChanged)
                    || cut.half_erased.contains(&block)
            }
            MapFrom::Memory => false,
        };
        state != BlockState::Bad && is_new()
    }

    /// The part of a block that must be read to know its content.
    fn part_to_read(
        &self,
        block: BlockId,
        cut: &Interrupted,
        written: &Column<BlockId, u32>,
    ) -> ScannedBlock {
        let layout = &self.layout;
        let is_whole = self.blocks.state[block] != BlockState::Open
            && self.blocks.rows_closed_early(block).is_none()
            && written[block] > 0;
        let rows = match () {
            () if cut.half_erased.contains(&block) => 1,
            () if is_whole && layout.summary_page => 0,
            // The first erased row shows that no written row follows.
            () => (written[block] + 1).min(layout.rows_per_block),
        };
        ScannedBlock { block, summary: layout.summary_page, rows }
    }

    // ---- the map ------------------------------------------------------------------

    /// Maps each logical unit to its newest data; returns the newest version in each block that
    /// is read.
    ///
    /// The function goes through all metadata, although a recovery from a checkpoint reads less.
    /// For a unit that was not trimmed the result is the same: its newest data is where the
    /// checkpoint has it, or in a block that is read. A trimmed unit may have older data
    /// elsewhere, which must not be found; see `may_be_found`.
    fn find_newest(
        &mut self,
        written: &Column<BlockId, u32>,
        is_read: &Column<BlockId, bool>,
        means: Means,
    ) -> Column<BlockId, Option<u32>> {
        // Of two copies, a checkpoint has the one that was current, if the move came before it.
        let valid = match means.map {
            MapFrom::Checkpoint => self.map.valid_words().to_vec(),
            MapFrom::Scan | MapFrom::Memory => Vec::new(),
        };
        let was_valid = |ppn: Ppn| {
            valid.get(ppn.0 as usize / 64).is_some_and(|word| word >> (ppn.0 % 64) & 1 == 1)
        };
        self.map.lose_mapping();
        let mut newest = Column::filled(None, written.len());
        let mut last = 1;
        for block in written.ids() {
            if means.fault == Some(Fault::SkipsOpen) && self.blocks.state[block] == BlockState::Open
            {
                continue;
            }
            let first = self.layout.first_unit(block, 0).0;
            let mut of_block = 0;
            let batches = written[block].div_ceil(self.layout.rows_per_batch);
            for ppn in (first..first + batches * self.layout.units_per_batch).map(Ppn) {
                let version = self.map.version(ppn);
                of_block = version.max(of_block);
                let lpn = self.map.holds(ppn);
                if version == 0 || !self.may_be_found(lpn, ppn, is_read[block], means) {
                    continue;
                }
                let known = self.map.lookup(lpn).map_or(0, |known| self.map.version(known));
                if version > known
                    || version == known && was_valid(ppn)
                    || means.fault == Some(Fault::IgnoresVersions)
                {
                    self.map.point(lpn, ppn);
                }
            }
            newest[block] = is_read[block].then_some(of_block);
            last = of_block.max(last);
        }
        self.persist.as_mut().expect("metadata is kept").go_on_after(last);
        newest
    }

    /// False if a unit was trimmed and stays so, or if only a checkpoint could lead to a place
    /// and the checkpoint does not have it.
    fn may_be_found(&self, lpn: Lpn, ppn: Ppn, is_read: bool, means: Means) -> bool {
        let persist = self.persist.as_ref().expect("metadata is kept");
        let forgets = means.fault == Some(Fault::ForgetsTrims);
        if !forgets && persist.stays_trimmed(lpn, means.logs_trims) {
            return false;
        }
        let by_checkpoint_alone = means.map == MapFrom::Checkpoint && !means.logs_trims && !is_read;
        !by_checkpoint_alone || persist.was_valid_then(ppn).unwrap_or(false)
    }

    /// A unit whose data is in a block that was not read, at a place that the checkpoint does not
    /// have.
    fn unread(&self, is_read: &Column<BlockId, bool>) -> Option<(Lpn, Ppn)> {
        let persist = self.persist.as_ref().expect("metadata is kept");
        (0..self.layout.map_units).map(Lpn).find_map(|lpn| {
            let ppn = self.map.lookup(lpn)?;
            let is_found = is_read[self.layout.block(ppn)] || persist.was_valid_then(ppn)?;
            (!is_found).then_some((lpn, ppn))
        })
    }

    /// Counts valid units from the map.
    fn count_valid(&mut self) {
        self.map.lose_valid();
        self.blocks.standing.as_mut_slice().fill(BARRED);
        let persist = self.persist.as_mut().expect("metadata is kept");
        self.mapped = 0;
        for lpn in (0..self.layout.map_units).map(Lpn) {
            let Some(ppn) = self.map.lookup(lpn) else { continue };
            self.map.set_valid(ppn, 1);
            self.blocks.standing[self.layout.block(ppn)] += 1;
            self.mapped += 1;
            // A trimmed unit may have returned.
            persist.note_fresh(lpn);
        }
    }

    /// Units of blocks that are or were being collected and whose data is current, here or as a
    /// copy; each with true if the current copy is elsewhere.
    fn copied_units(&self) -> Vec<(Ppn, bool)> {
        let is_collected = |block: &BlockId| {
            self.blocks.moved[*block] > 0 || self.blocks.state[*block] == BlockState::Collecting
        };
        let blocks = self.blocks.state.ids().filter(is_collected);
        let units = self.layout.units_per_block();
        blocks
            .map(|block| self.layout.first_unit(block, 0).0)
            .flat_map(|first| (first..first + units).map(Ppn))
            .filter_map(|ppn| self.is_elsewhere(ppn).map(|elsewhere| (ppn, elsewhere)))
            .collect()
    }

    /// True if the data of a place is current as a copy elsewhere; `None` if it is superseded.
    fn is_elsewhere(&self, ppn: Ppn) -> Option<bool> {
        let version = self.map.version(ppn);
        let known = self.map.lookup(self.map.holds(ppn)).filter(|_| version > 0)?;
        (self.map.version(known) == version).then_some(known != ppn)
    }

    /// Updates the counts of moved units: adds the moves that recovery has completed and
    /// subtracts those that it has undone.
    fn count_moved(&mut self, before: Vec<(Ppn, bool)>) {
        for (ppn, was_elsewhere) in before {
            let is_elsewhere = self.is_elsewhere(ppn);
            let moved = &mut self.blocks.moved[self.layout.block(ppn)];
            match (was_elsewhere, is_elsewhere) {
                (false, Some(true)) => *moved += 1,
                // A snapshot does not keep the count.
                (true, Some(false)) => *moved = moved.saturating_sub(1),
                _ => {}
            }
        }
    }

    /// Limits the counts of moved units. If trims are lost, a unit that was moved and then
    /// trimmed may be back at its old place, like one that was never moved.
    fn bound_moved(&mut self) {
        let units = self.layout.units_per_block();
        for block in self.blocks.state.ids() {
            let most = units - self.blocks.valid(block);
            let moved = &mut self.blocks.moved[block];
            *moved = (*moved).min(most);
        }
    }

    // ---- blocks ---------------------------------------------------------------------

    /// Sets the state of each block and lists the free ones. Returns the blocks that were open
    /// and hold something.
    fn settle_blocks(
        &mut self,
        cut: &Interrupted,
        written: &Column<BlockId, u32>,
        newest: Option<&Column<BlockId, Option<u32>>>,
        recovered: &mut Recovered,
    ) -> Vec<BlockId> {
        let mut were_open = Vec::new();
        for bin in self.bins.ids() {
            let state = &mut self.bins[bin];
            state.restore(std::iter::empty(), 0);
            state.open = [Open::default(); crate::streams::STREAMS];
            state.collecting = 0;
            (state.victim, state.left) = (None, None);
            state.migration = None;
            let first = self.layout.first_block(bin).0;
            for block in (first..first + self.layout.blocks_per_bin()).map(BlockId) {
                if self.blocks.state[block] == BlockState::Bad {
                    continue;
                }
                let was_open = self.blocks.state[block] == BlockState::Open;
                self.blocks.unwritten[block] = 0;
                if cut.half_erased.contains(&block) {
                    self.blocks.state[block] = BlockState::Collecting;
                    self.bins[bin].collecting += 1;
                } else if written[block] == 0 {
                    self.release(bin, block);
                } else {
                    self.blocks.state[block] = BlockState::Closed;
                    self.blocks.standing[block] &= !BARRED;
                    self.note_age(block, newest.and_then(|of| of[block]), was_open);
                    if was_open {
                        self.close_early(block, written[block]);
                        were_open.push(block);
                        recovered.closed += 1;
                    }
                }
            }
        }
        were_open
    }

    /// Sets the time at which a block was closed: now if it was open; else the version of its
    /// newest data. If nothing of the block is read, the table of blocks has that time already.
    fn note_age(&mut self, block: BlockId, newest: Option<u32>, was_open: bool) {
        let now = self.tally.units[Source::Host as usize];
        match newest {
            Some(newest) => {
                let next = self.persist.as_ref().map_or(0, |persist| persist.next_version());
                self.blocks.closed_at[block] = now.saturating_sub(u64::from(next - newest));
            }
            None if was_open => self.blocks.closed_at[block] = now,
            None => {}
        }
    }

    /// Closes a block after this many rows: the rows after them stay unused.
    pub(crate) fn close_early(&mut self, block: BlockId, rows: u32) {
        self.blocks.know_closed_early();
        self.blocks.closed_early[block] = rows + 1;
        if let Some(persist) = &mut self.persist {
            persist.note_change(block);
        }
    }

    // ---- a bin without a free block ----------------------------------------------------

    /// Makes room in bins without a free block, which could not collect because their open blocks
    /// are closed. The last free block of such a bin was opened by collection, and the units
    /// moved into it are still at their old places: those become current again, and the block is
    /// erased. (If erased blocks are lost, the old places may be gone; then the block stays
    /// closed.) Returns the bins that were searched for such a block.
    fn undo_last(&mut self, were_open: &[BlockId], recovered: &mut Recovered) -> Vec<BinId> {
        let mut searched = Vec::new();
        for block in were_open {
            let bin = self.layout.bin(*block);
            if self.bins[bin].free() > 0 {
                continue;
            }
            searched.push(bin);
            let Some(twins) = self.twins(bin, *block) else { continue };
            for (lpn, (ppn, twin)) in twins {
                self.map.kill(ppn);
                self.blocks.standing[*block] -= 1;
                self.map.point(lpn, twin);
                self.map.set_valid(twin, 1);
                let source = self.layout.block(twin);
                self.blocks.standing[source] += 1;
                let moved = &mut self.blocks.moved[source];
                *moved = moved.saturating_sub(1);
                // The last checkpoint may have the unit at a place that no longer holds it.
                if let Some(persist) = &mut self.persist {
                    persist.note_change(source);
                }
            }
            self.blocks.standing[*block] |= BARRED;
            self.blocks.state[*block] = BlockState::Collecting;
            self.bins[bin].collecting += 1;
            // The block was no victim: it only contained data that was moved into it.
            self.erase_uncollected(*block);
            recovered.closed -= 1;
            recovered.undone += 1;
            recovered.erased.push(*block);
        }
        searched
    }

    /// For each valid unit of a block, its place and the place of another copy in the same bin;
    /// `None` if a unit has no other copy.
    fn twins(&self, bin: BinId, block: BlockId) -> Option<BTreeMap<Lpn, (Ppn, Ppn)>> {
        let layout = &self.layout;
        let units = layout.units_per_block();
        let first = layout.first_unit(block, 0).0;
        let own = first..first + units;
        let valid = own.clone().map(Ppn).filter(|ppn| self.map.is_valid(*ppn));
        let mut twins: BTreeMap<Lpn, (Ppn, Option<Ppn>)> =
            valid.map(|ppn| (self.map.holds(ppn), (ppn, None))).collect();
        let all = layout.first_unit(layout.first_block(bin), 0).0;
        let others = (all..all + layout.blocks_per_bin() * units).filter(|ppn| !own.contains(ppn));
        for ppn in others.map(Ppn) {
            if let Some((from, twin)) = twins.get_mut(&self.map.holds(ppn))
                && self.map.version(ppn) == self.map.version(*from)
            {
                *twin = Some(ppn);
            }
        }
        twins.into_iter().map(|(lpn, (from, twin))| Some((lpn, (from, twin?)))).collect()
    }
}
