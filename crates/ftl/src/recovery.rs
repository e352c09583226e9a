//! Recovery from a power cut: a new map, live units, states of blocks and free lists from
//! what is on media. That is, for each physical unit, the logical unit and the version that
//! it was written with and whether its checksum is right; for each block how much of it is
//! written, its erases and whether it is bad (the table of blocks is on media, too); and what
//! the drive keeps beside: the log of trims, checkpoints, or the map itself.
//!
//! The newest version of a logical unit is its data. Blocks that were open are closed where
//! they are; what erases were interrupted is erased anew.

use crate::blocks::{BARRED, Batch, BlockState, Open, Source};
use crate::ftl::Ftl;
use crate::layout::{BinId, BlockId, Lpn, Pun};
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
    /// Programs whose rows are not all whole: their places are used, their data is lost.
    pub torn: Vec<Batch>,
    /// Programs whose data is on flash although they were not over.
    pub whole: Vec<Batch>,
    /// Blocks that were being erased.
    pub half_erased: Vec<BlockId>,
}

/// What is read of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Look {
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
    pub unread: Option<(Lpn, Pun)>,
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
        each: &mut dyn FnMut(Look),
    ) -> Recovered {
        assert!(self.keeps_metadata(), "a drive recovers by its metadata");
        let written = self.written(cut);
        let mut is_read = vec![false; written.len()];
        for look in self.looks(cut, means, &written) {
            is_read[look.block.0 as usize] = true;
            each(look);
        }
        if means.fault != Some(Fault::TrustsTorn) {
            let batch = self.layout.units_per_batch;
            for at in &cut.torn {
                self.map.clear_versions(self.layout.first_unit(at.block, at.batch), batch);
            }
        }
        let newest = match means.map {
            MapFrom::Memory => None,
            MapFrom::Scan | MapFrom::Checkpoint => Some(self.find_newest(&written, means)),
        };
        self.count_live();
        self.blocks.readers.as_mut_slice().fill(0);
        self.blocks.sensed.as_mut_slice().fill(0);
        let mut recovered = Recovered { units: self.mapped, ..Recovered::default() };
        if means.map == MapFrom::Checkpoint && means.logs_trims {
            recovered.unread = self.unread(&is_read);
        }
        let were_open = self.settle_blocks(cut, &written, newest.as_ref(), &mut recovered);
        for block in &cut.half_erased {
            self.erase(*block);
            recovered.erased.push(*block);
        }
        self.undo_last(&were_open, &mut recovered);
        recovered
    }

    // ---- what is on media -------------------------------------------------------

    /// How many batches of each block are written, torn ones included.
    fn written(&self, cut: &Interrupted) -> Column<BlockId, u32> {
        let batches = self.layout.batches_per_block;
        let persist = self.persist.as_ref().expect("metadata is kept");
        let mut written = Column::from_fn(self.blocks.state.len(), |block: BlockId| {
            match (self.blocks.state[block], persist.closed_early[block]) {
                (BlockState::Free | BlockState::Bad, _) => 0,
                (BlockState::Open, _) => batches - self.blocks.unwritten[block],
                (BlockState::Closed | BlockState::Collecting, 0) => batches,
                (BlockState::Closed | BlockState::Collecting, early) => early - 1,
            }
        });
        for at in cut.torn.iter().chain(&cut.whole) {
            written[at.block] += 1;
            debug_assert_eq!(written[at.block], at.batch + 1, "batches are written in order");
        }
        // What an erase has left is no data.
        cut.half_erased.iter().for_each(|block| written[*block] = 0);
        written
    }

    /// What is read of each block until it is known what is in it.
    fn looks<'a>(
        &'a self,
        cut: &'a Interrupted,
        means: Means,
        written: &'a Column<BlockId, u32>,
    ) -> impl Iterator<Item = Look> + 'a {
        let persist = self.persist.as_ref().expect("metadata is kept");
        let layout = &self.layout;
        let is_new = move |block: BlockId| match means.map {
            MapFrom::Scan => true,
            MapFrom::Checkpoint => {
                self.blocks.state[block] == BlockState::Open
                    || persist.has_changed(block) && means.fault != Some(Fault::SkipsChanged)
                    || cut.half_erased.contains(&block)
            }
            MapFrom::Memory => false,
        };
        let look = move |block: BlockId| {
            let is_whole = self.blocks.state[block] != BlockState::Open
                && persist.closed_early[block] == 0
                && written[block] > 0;
            let rows = match () {
                () if cut.half_erased.contains(&block) => 1,
                () if is_whole && layout.summary_page => 0,
                // The first erased row says that there are no more.
                () => (written[block] * layout.rows_per_batch + 1).min(layout.rows_per_block),
            };
            Look { block, summary: layout.summary_page, rows }
        };
        let good = move |block: &BlockId| self.blocks.state[*block] != BlockState::Bad;
        written.ids().filter(good).filter(move |block| is_new(*block)).map(look)
    }

    // ---- the map ------------------------------------------------------------------

    /// Maps each logical unit to the newest data of it; returns the newest version of each
    /// block.
    fn find_newest(
        &mut self,
        written: &Column<BlockId, u32>,
        means: Means,
    ) -> Column<BlockId, u32> {
        let trimmed = self.trims_that_stay(means);
        // Of two copies a checkpoint has the one that was current, if that was moved before.
        let live =
            if means.map == MapFrom::Checkpoint { self.map.live_words() } else { Vec::new() };
        let was_live = |pun: Pun| {
            live.get(pun.0 as usize / 64).is_some_and(|word| word >> (pun.0 % 64) & 1 == 1)
        };
        self.map.lose_mapping();
        let mut newest = Column::filled(0, written.len());
        let mut last = 0;
        for block in written.ids() {
            if means.fault == Some(Fault::SkipsOpen) && self.blocks.state[block] == BlockState::Open
            {
                continue;
            }
            let first = self.layout.first_unit(block, 0).0;
            let units = written[block] * self.layout.units_per_batch;
            for pun in (first..first + units).map(Pun) {
                let version = self.map.version(pun);
                newest[block] = version.max(newest[block]);
                let lpn = self.map.holds(pun);
                let stays_trimmed = trimmed[lpn.0 as usize / 64] >> (lpn.0 % 64) & 1 == 1;
                if version == 0 || stays_trimmed {
                    continue;
                }
                let known = self.map.lookup(lpn).map_or(0, |known| self.map.version(known));
                if version > known
                    || version == known && was_live(pun)
                    || means.fault == Some(Fault::IgnoresVersions)
                {
                    self.map.point(lpn, pun);
                }
            }
            last = newest[block].max(last);
        }
        self.persist.as_mut().expect("metadata is kept").go_on_after(last.max(1));
        newest
    }

    /// A unit whose data is in a block that was not read, and that the checkpoint does not have
    /// there.
    fn unread(&self, is_read: &[bool]) -> Option<(Lpn, Pun)> {
        let persist = self.persist.as_ref().expect("metadata is kept");
        (0..self.layout.logical_units).map(Lpn).find_map(|lpn| {
            let (pun, known) = (self.map.lookup(lpn)?, persist.at_checkpoint(lpn)?);
            let is_found = is_read[self.layout.block(pun).0 as usize] || known == Some(pun);
            (!is_found).then_some((lpn, pun))
        })
    }

    /// The logical units of which it is known that they hold no data, bit `i` of word
    /// `i / 64`: by the log of trims, or else by the last checkpoint.
    fn trims_that_stay(&self, means: Means) -> Vec<u64> {
        let persist = self.persist.as_ref().expect("metadata is kept");
        let keeps = means.logs_trims || means.map == MapFrom::Checkpoint;
        if !keeps || means.fault == Some(Fault::ForgetsTrims) {
            return vec![0; persist.trimmed().len()];
        }
        let mut bits = persist.trimmed().to_vec();
        if !means.logs_trims {
            for lpn in persist.trimmed_since() {
                bits[lpn.0 as usize / 64] &= !(1 << (lpn.0 % 64));
            }
        }
        bits
    }

    /// Counts what is live, as the map has it.
    fn count_live(&mut self) {
        self.map.lose_live();
        self.blocks.standing.as_mut_slice().fill(BARRED);
        let persist = self.persist.as_mut().expect("metadata is kept");
        self.mapped = 0;
        for lpn in (0..self.layout.logical_units).map(Lpn) {
            let Some(pun) = self.map.lookup(lpn) else { continue };
            self.map.set_live(pun, 1);
            self.blocks.standing[self.layout.block(pun)] += 1;
            self.mapped += 1;
            // It may have been trimmed, and has returned.
            persist.note_fresh(lpn);
        }
    }

    // ---- blocks ---------------------------------------------------------------------

    /// Says of each block what it is, and lists what is free. Returns the blocks that were
    /// open and hold something.
    fn settle_blocks(
        &mut self,
        cut: &Interrupted,
        written: &Column<BlockId, u32>,
        newest: Option<&Column<BlockId, u32>>,
        recovered: &mut Recovered,
    ) -> Vec<BlockId> {
        let mut were_open = Vec::new();
        for bin in self.bins.ids() {
            let state = &mut self.bins[bin];
            state.restore(std::iter::empty(), 0);
            state.open = [Open::default(); crate::blocks::STREAMS];
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
                    if let Some(persist) = &mut self.persist {
                        persist.closed_early[block] = 0;
                    }
                    self.release(bin, block);
                } else {
                    self.blocks.state[block] = BlockState::Closed;
                    self.blocks.standing[block] &= !BARRED;
                    self.note_age(block, newest.map(|of| of[block]), was_open);
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

    /// When a block was closed is known from the newest data in it; or it is closed now.
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

    /// The places of a block that are not written yet are not used any more.
    pub(crate) fn close_early(&mut self, block: BlockId, written: u32) {
        if let Some(persist) = &mut self.persist {
            persist.closed_early[block] = written + 1;
            persist.note_change(block);
        }
    }

    // ---- a bin without a free block ----------------------------------------------------

    /// A bin without a free block cannot collect, because its open blocks are closed. Its
    /// last free block was opened by collection, and what was moved there since is still
    /// where it was: that is current again, and the block is erased. (Where blocks are lost
    /// with their erase it may not be there; the block stays closed then.)
    fn undo_last(&mut self, were_open: &[BlockId], recovered: &mut Recovered) {
        for block in were_open {
            let bin = self.layout.bin(*block);
            if self.bins[bin].free() > 0 {
                continue;
            }
            let Some(twins) = self.twins(bin, *block) else { continue };
            for (lpn, (pun, twin)) in twins {
                self.map.kill(pun);
                self.blocks.standing[*block] -= 1;
                self.map.point(lpn, twin);
                self.map.set_live(twin, 1);
                let source = self.layout.block(twin);
                self.blocks.standing[source] += 1;
                // The last checkpoint may have the unit where it is no more.
                if let Some(persist) = &mut self.persist {
                    persist.note_change(source);
                }
            }
            self.blocks.standing[*block] |= BARRED;
            self.blocks.state[*block] = BlockState::Collecting;
            self.bins[bin].collecting += 1;
            self.erase(*block);
            recovered.closed -= 1;
            recovered.undone += 1;
            recovered.erased.push(*block);
        }
    }

    /// For each live unit of a block where it is and where else in the bin there is a copy of
    /// it; nothing where one has none.
    fn twins(&self, bin: BinId, block: BlockId) -> Option<BTreeMap<Lpn, (Pun, Pun)>> {
        let layout = &self.layout;
        let units = layout.units_per_block();
        let first = layout.first_unit(block, 0).0;
        let own = first..first + units;
        let live = own.clone().map(Pun).filter(|pun| self.map.is_live(*pun));
        let mut twins: BTreeMap<Lpn, (Pun, Option<Pun>)> =
            live.map(|pun| (self.map.holds(pun), (pun, None))).collect();
        let all = layout.first_unit(layout.first_block(bin), 0).0;
        let others = (all..all + layout.blocks_per_bin() * units).filter(|pun| !own.contains(pun));
        for pun in others.map(Pun) {
            if let Some((from, twin)) = twins.get_mut(&self.map.holds(pun))
                && self.map.version(pun) == self.map.version(*from)
            {
                *twin = Some(pun);
            }
        }
        twins.into_iter().map(|(lpn, (from, twin))| Some((lpn, (from, twin?)))).collect()
    }
}
