//! What a drive keeps on flash beside its data, so that the map can be found again after a
//! power cut: with each unit its logical unit ([`Ftl::holds`]) and its version, the number of
//! the host's write that it is of. Copies keep it, so the newest data wins, whatever moved it.
//! A version of 0 is no data: padding, what was lost while it was programmed, or erased.

use crate::ftl::Ftl;
use crate::ids::{BlockId, Lpn, Ppn};
use crate::metadata::Persist;

impl Ftl {
    /// From now on metadata for recovery is kept, or no longer. What is on flash by then counts as
    /// one write.
    pub fn keep_metadata(&mut self, keeps: bool) {
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
    /// True where metadata for recovery is kept.
    #[inline]
    pub fn keeps_metadata(&self) -> bool {
        self.persist.is_some()
    }
    /// The version of the next write of the host; 0 where none is kept.
    #[inline]
    pub fn take_version(&mut self) -> u32 {
        self.persist.as_mut().map_or(0, |persist| persist.take_version())
    }
    /// True once the host has written as many units as versions tell apart, 2^32 - 2.
    pub fn has_used_up_versions(&self) -> bool {
        self.persist.as_ref().is_some_and(|persist| persist.next_version() == u32::MAX)
    }
    /// Which of the host's writes a physical unit is of.
    #[inline]
    pub fn version(&self, ppn: Ppn) -> u32 {
        self.map.version(ppn)
    }
    /// Notes which of the host's writes a bound place is written with.
    #[inline]
    pub fn note_version(&mut self, ppn: Ppn, version: u32) {
        self.map.set_version(ppn, version);
    }
    /// A run of units is written by as many writes of the host.
    #[inline]
    pub(crate) fn note_versions(&mut self, first: Ppn, count: u32) {
        let Some(persist) = &mut self.persist else { return };
        for ppn in (first.0..first.0 + count).map(Ppn) {
            self.map.set_version(ppn, persist.take_version());
        }
    }
    /// A block holds nothing any more.
    #[cold]
    pub(crate) fn forget_metadata(&mut self, block: BlockId) {
        let units = self.layout.units_per_block();
        self.map.clear_versions(self.layout.first_unit(block, 0), units);
        if let Some(persist) = &mut self.persist {
            persist.note_change(block);
        }
    }

    /// Zeroes were written to a whole unit: it is forgotten as by a trim, but that is a write,
    /// which survives whatever trims survive.
    pub fn zero(&mut self, lpn: Lpn) {
        self.trim(lpn);
        if let Some(persist) = &mut self.persist {
            persist.note_gone(lpn);
        }
    }

    /// The drive is shut down in order: what was trimmed will not return, whatever trims
    /// survive of power cuts, and no log is needed to know that.
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

    /// So many checkpoints have been taken by now; where trims are in them alone,
    /// `keeps_trims` has it noted which places the last one leads to.
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
    /// From now on it is proved that a checkpoint and what has changed since lead to the map.
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
    /// Checkpoints that have been taken.
    pub fn checkpoints(&self) -> u32 {
        self.persist.as_ref().map_or(0, |persist| persist.checkpoints)
    }

    // ---- auditing --------------------------------------------------------------

    /// Proves that the metadata on flash leads to what is mapped: no unit of what is mapped
    /// is older than another copy of it, and what is there and was not trimmed is mapped.
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
