//! Recovery from a power cut: a new map, valid units, states of blocks and free lists from
//! what is on media. That is, for each physical unit, the logical unit and the version that
//! it was written with and whether its checksum is right; for each block how much of it is
//! written, its erases and whether it is bad (the table of blocks is on media, too); and what
//! the drive keeps beside: the log of trims, checkpoints, or the map itself.
//!
//! The newest version of a logical unit is its data. Blocks that were open are closed where
//! they are; what erases were interrupted is erased anew.

use crate::blocks::{BARRED, BlockState, Open, Source};
use crate::ftl::Ftl;
use crate::ids::{Batch, BinId, BlockId, Lpn, Ppn};
use engine::Column;
use std::collections::BTreeMap;

/// Where the map comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MapFrom {
    /// All metadata on flash.
    Scan,
    /// The map as of the last checkpoint, and metadata of what has changed since.
    Checkpoint,
    /// Memory that keeps it.
    Memory,
}

/// How a drive recovers.
#[derive(Clone, Copy, Debug)]
pub struct Means {
    /// Where the map comes from.
    pub map: MapFrom,
    /// Whether what was trimmed stays so.
    pub logs_trims: bool,
    /// What it does wrong, to see that found.
    pub fault: Option<Fault>,
}

/// What a recovery may do wrong. For tests of those that must find it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Takes the data that it comes to last, whatever its version.
    IgnoresVersions,
    /// Takes rows that were half programmed for whole ones.
    TrustsTorn,
    /// Does not look into blocks that were open.
    SkipsOpen,
    /// Does not read the log of trims.
    ForgetsTrims,
    /// Loses what a capacitor has saved of the buffer.
    LosesDump,
    /// Reads no block that was closed since the last checkpoint.
    SkipsChanged,
}

/// What was under way on flash when the power was cut.
#[derive(Clone, Debug, Default)]
pub struct Interrupted {
    /// Programs whose rows are not all whole: their places are used, their data is lost. With
    /// how many of their rows are not erased any more.
    pub torn: Vec<(Batch, u32)>,
    /// Programs whose data is on flash although they were not over.
    pub whole: Vec<Batch>,
    /// Blocks that were being erased.
    pub half_erased: Vec<BlockId>,
}

/// What is read of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScannedBlock {
    /// The block.
    pub block: BlockId,
    /// Whether its last row, where its summary would be.
    pub summary: bool,
    /// Rows from its first one on.
    pub rows: u32,
}

/// What recovery has found and done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recovered {
    /// Logical units that have data on flash.
    pub units: u32,
    /// Blocks that were open and are closed now.
    pub closed: u32,
    /// Blocks that had to be erased, also those whose erase is new.
    pub erased: Vec<BlockId>,
    /// A unit that neither the checkpoint nor what was read leads to, where that is proved.
    pub unread: Option<(Lpn, Ppn)>,
    /// Blocks among them into which collection had moved data that is still where it was.
    pub undone: u32,
}

impl Ftl {
    /// Builds everything anew from what is on media; `each` is told what is read of which
    /// block, in the order of blocks. Metadata of what was under way is noted before.
    ///
    /// # Panics
    /// Where no metadata is kept.
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
            each(self.look(block, cut, &rows));
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
            // Where else its data is, only metadata says.
            let first = self.layout.first_block(bin).0;
            let blocks = (first..first + self.layout.blocks_per_bin()).map(BlockId);
            for block in blocks.filter(|block| self.blocks.state[*block] == BlockState::Closed) {
                if !std::mem::replace(&mut is_read[block], true) {
                    each(self.look(block, cut, &rows));
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

    /// How many rows of each block are written, torn ones included.
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
        // What an erase has left is no data.
        cut.half_erased.iter().for_each(|block| rows[*block] = 0);
        rows
    }

    /// True where metadata of a block is read to find the map.
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

    /// What is read of a block until it is known what is in it.
    fn look(
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
            // The first erased row says that there are no more.
            () => (written[block] + 1).min(layout.rows_per_block),
        };
        ScannedBlock { block, summary: layout.summary_page, rows }
    }

    // ---- the map ------------------------------------------------------------------

    /// Maps each logical unit to the newest data of it that is found; returns the newest
    /// version of each block that is read.
    ///
    /// All metadata is looked at, though with a checkpoint less is read: what was not trimmed
    /// is found all the same, because its newest data is where the checkpoint has it or in a
    /// block that is read. Of what was trimmed older data may lie elsewhere, which is not.
    fn find_newest(
        &mut self,
        written: &Column<BlockId, u32>,
        is_read: &Column<BlockId, bool>,
        means: Means,
    ) -> Column<BlockId, Option<u32>> {
        // Of two copies a checkpoint has the one that was current, if that was moved before.
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

    /// False where a unit was trimmed and stays so, and where only a checkpoint could lead to
    /// a place that it does not have.
    fn may_be_found(&self, lpn: Lpn, ppn: Ppn, is_read: bool, means: Means) -> bool {
        let persist = self.persist.as_ref().expect("metadata is kept");
        let forgets = means.fault == Some(Fault::ForgetsTrims);
        if !forgets && persist.stays_trimmed(lpn, means.logs_trims) {
            return false;
        }
        let by_checkpoint_alone = means.map == MapFrom::Checkpoint && !means.logs_trims && !is_read;
        !by_checkpoint_alone || persist.was_valid_then(ppn).unwrap_or(false)
    }

    /// A unit whose data is in a block that was not read, and that the checkpoint does not have
    /// there.
    fn unread(&self, is_read: &Column<BlockId, bool>) -> Option<(Lpn, Ppn)> {
        let persist = self.persist.as_ref().expect("metadata is kept");
        (0..self.layout.map_units).map(Lpn).find_map(|lpn| {
            let ppn = self.map.lookup(lpn)?;
            let is_found = is_read[self.layout.block(ppn)] || persist.was_valid_then(ppn)?;
            (!is_found).then_some((lpn, ppn))
        })
    }

    /// Counts what is valid, as the map has it.
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
            // It may have been trimmed, and has returned.
            persist.note_fresh(lpn);
        }
    }

    /// Units of blocks that are or were being collected: each that is current, here or as a copy,
    /// and whether that is elsewhere.
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

    /// Whether what a place holds is current as a copy of it; nothing where it is superseded.
    fn is_elsewhere(&self, ppn: Ppn) -> Option<bool> {
        let version = self.map.version(ppn);
        let known = self.map.lookup(self.map.holds(ppn)).filter(|_| version > 0)?;
        (self.map.version(known) == version).then_some(known != ppn)
    }

    /// Counts moves that were not over and are now, and those that are undone.
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

    /// A unit that was moved and then trimmed may be back where it was, where trims are lost:
    /// nothing tells it from one that was never moved.
    fn bound_moved(&mut self) {
        let units = self.layout.units_per_block();
        for block in self.blocks.state.ids() {
            let most = units - self.blocks.valid(block);
            let moved = &mut self.blocks.moved[block];
            *moved = (*moved).min(most);
        }
    }

    // ---- blocks ---------------------------------------------------------------------

    /// Says of each block what it is, and lists what is free. Returns the blocks that were
    /// open and hold something.
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

    /// When a block was closed is known from the newest data in it; or it is closed now; or, where
    /// nothing is read of it, from the table of blocks, which has it since it was closed.
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

    /// The rows of a block behind so many are not used any more.
    pub(crate) fn close_early(&mut self, block: BlockId, rows: u32) {
        self.blocks.know_closed_early();
        self.blocks.closed_early[block] = rows + 1;
        if let Some(persist) = &mut self.persist {
            persist.note_change(block);
        }
    }

    // ---- a bin without a free block ----------------------------------------------------

    /// A bin without a free block cannot collect, because its open blocks are closed. Its
    /// last free block was opened by collection, and what was moved there since is still
    /// where it was: that is current again, and the block is erased. (Where blocks are lost
    /// with their erase it may not be there; the block stays closed then.) Returns the bins in
    /// which it was looked for.
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
                // The last checkpoint may have the unit where it is no more.
                if let Some(persist) = &mut self.persist {
                    persist.note_change(source);
                }
            }
            self.blocks.standing[*block] |= BARRED;
            self.blocks.state[*block] = BlockState::Collecting;
            self.bins[bin].collecting += 1;
            // It was no victim: what is erased here is what was moved to it.
            self.erase_uncollected(*block);
            recovered.closed -= 1;
            recovered.undone += 1;
            recovered.erased.push(*block);
        }
        searched
    }

    /// For each valid unit of a block where it is and where else in the bin there is a copy of
    /// it; nothing where one has none.
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
