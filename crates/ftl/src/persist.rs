//! Metadata on flash, from which the map can be rebuilt after a power cut: each unit is written
//! with its logical unit ([`Ftl::holds`]) and its version, the number of the host write that it
//! comes from. A copy has the version of its original, so the newest data wins, whoever moved it.
//! Version 0 means no data: padding, a unit lost while it was programmed, or an erased unit.

use crate::ftl::Ftl;
use crate::ids::{BlockId, Lpn, Ppn};
use crate::metadata::Persist;

impl Ftl {
    /// Begins or stops keeping metadata for recovery. All data on flash at that moment counts as
    /// one write.
    pub fn keep_metadata(&mut self, keeps: bool) {
        self.keep_written(keeps);
        if keeps && self.persist.is_none() {
            self.map.keep_versions();
            self.blocks.know_closed_early();
            self.persist =
                Some(Box::new(Persist::new(self.blocks.state.len(), self.layout.map_units, 2)));
        } else if let Some(persist) = self.persist.as_mut().filter(|_| keeps) {
            persist.forget_checkpoints();
        } else if !keeps {
            self.map.drop_versions();
            self.persist = None;
        }
    }
    /// Lets trims of subunits outlast a power cut, or not. Only if metadata is kept.
    pub fn let_trims_stay(&mut self, stay: bool) {
        if let Some(persist) = &mut self.persist {
            persist.trims_stay = stay;
        }
    }
    /// True if metadata for recovery is kept.
    #[inline]
    pub fn keeps_metadata(&self) -> bool {
        self.persist.is_some()
    }
    /// Takes the version of the next host write; 0 if none is kept.
    #[inline]
    pub fn take_version(&mut self) -> u32 {
        self.persist.as_mut().map_or(0, |persist| persist.take_version())
    }
    /// True once the host has written as many units as there are versions, 2^32 - 2.
    pub fn has_used_up_versions(&self) -> bool {
        self.persist.as_ref().is_some_and(|persist| persist.next_version() == u32::MAX)
    }
    /// Version of a physical unit: the number of the host write that wrote it.
    #[inline]
    pub fn version(&self, ppn: Ppn) -> u32 {
        self.map.version(ppn)
    }
    /// Records the version with which a bound place is written.
    #[inline]
    pub fn note_version(&mut self, ppn: Ppn, version: u32) {
        self.map.set_version(ppn, version);
    }
    /// Records a run of units, each with the next version.
    #[inline]
    pub(crate) fn note_versions(&mut self, first: Ppn, count: u32) {
        let Some(persist) = &mut self.persist else { return };
        for ppn in (first.0..first.0 + count).map(Ppn) {
            self.map.set_version(ppn, persist.take_version());
        }
    }
    /// Clears the metadata of an erased block.
    #[cold]
    pub(crate) fn forget_metadata(&mut self, block: BlockId) {
        let units = self.layout.units_per_block();
        self.map.clear_versions(self.layout.first_unit(block, 0), units);
        if let Some(persist) = &mut self.persist {
            persist.note_change(block);
        }
    }

    /// Writes zeroes to a whole unit. Its mapping is removed as by a trim, but this is a write,
    /// so it survives a power cut even if trims do not.
    pub fn zero(&mut self, lpn: Lpn) {
        self.trim(lpn);
        if let Some(persist) = &mut self.persist {
            persist.note_gone(lpn);
        }
    }

    /// Prepares an orderly shutdown: from now on trimmed units stay trimmed after a power cut,
    /// even without a log of trims.
    pub fn settle_trims(&mut self) {
        let Some(persist) = &mut self.persist else { return };
        persist.trimmed.fill(0);
        persist.gone.fill(0);
        for ppn in (0..self.layout.physical_units()).map(Ppn) {
            if self.map.version(ppn) > 0 && self.map.lookup(self.map.holds(ppn)).is_none() {
                self.map.set_version(ppn, 0);
            }
        }
    }

    // ---- checkpoints ---------------------------------------------------------

    /// Records the number of checkpoints taken so far. If only checkpoints keep trims
    /// (`keeps_trims`), it also records the physical units that are valid in the last one.
    #[inline]
    pub fn note_checkpoints(&mut self, count: u32, keeps_trims: bool) {
        if let Some(persist) = &mut self.persist
            && count != persist.checkpoints
        {
            persist.checkpoints = count;
            persist.gone.copy_from_slice(&persist.trimmed);
            if keeps_trims || persist.valid_then.is_some() {
                self.note_valid_then();
            }
        }
    }
    /// Lets audits prove, from now on, that a checkpoint and the changes since lead to the map.
    pub fn prove_checkpoints(&mut self) {
        self.note_valid_then();
    }
    fn note_valid_then(&mut self) {
        if let Some(persist) = &mut self.persist {
            let valid = self.map.valid_words();
            let noted = persist.valid_then.get_or_insert_with(|| vec![0; valid.len()]);
            noted.copy_from_slice(valid);
        }
    }
    /// Number of checkpoints taken.
    pub fn checkpoints(&self) -> u32 {
        self.persist.as_ref().map_or(0, |persist| persist.checkpoints)
    }

    // ---- auditing --------------------------------------------------------------

    /// Proves that the metadata on flash leads to the map: no mapped unit is older than another
    /// copy of it, and every unit that is on flash and was not trimmed is mapped.
    pub(crate) fn audit_versions(&self) -> Result<(), String> {
        let Some(persist) = &self.persist else { return Ok(()) };
        for ppn in (0..self.layout.physical_units()).map(Ppn) {
            let (lpn, version) = (self.map.holds(ppn), self.map.version(ppn));
            if version == 0 {
                continue;
            }
            let Some(current) = self.map.lookup(lpn) else {
                if persist.is_trimmed(lpn) {
                    continue;
                }
                return Err(format!(
                    "{lpn:?} is at {ppn:?} and was not trimmed, but is not mapped"
                ));
            };
            if version > self.map.version(current) {
                return Err(format!(
                    "{lpn:?} is mapped to {current:?} of version {}, and {ppn:?} is of version {version}",
                    self.map.version(current)
                ));
            }
        }
        Ok(())
    }
}
