//! Audit of the firmware's state: checks that its tables agree.

use crate::blocks::BlockState;
use crate::ftl::Ftl;
use crate::ids::{BinId, BlockId, Lpn, Ppn};

impl Ftl {
    /// Proves that map, reverse map, valid bits, counts and free lists agree.
    /// Takes time proportional to the drive.
    ///
    /// # Errors
    /// The first disagreement found.
    pub fn audit(&self) -> Result<(), String> {
        let layout = &self.layout;
        let mut valid_in = vec![0u32; layout.blocks() as usize];
        let mut mapped = 0;
        for lpn in (0..layout.map_units).map(Lpn) {
            let Some(ppn) = self.map.lookup(lpn) else { continue };
            mapped += 1;
            if !self.map.is_valid(ppn) || self.map.holds(ppn) != lpn {
                return Err(format!(
                    "{lpn:?} is mapped to {ppn:?}, which holds {:?}, valid: {}",
                    self.map.holds(ppn),
                    self.map.is_valid(ppn)
                ));
            }
            valid_in[layout.block(ppn).0 as usize] += 1;
        }
        for (lpn, ppn) in self.detached.iter() {
            if !self.map.is_valid(ppn)
                || self.map.holds(ppn) != lpn
                || self.lookup(lpn) == Some(ppn)
            {
                return Err(format!(
                    "{lpn:?} is also at {ppn:?}, which holds {:?}, valid: {}",
                    self.map.holds(ppn),
                    self.map.is_valid(ppn)
                ));
            }
            valid_in[layout.block(ppn).0 as usize] += 1;
        }
        if mapped != self.mapped {
            return Err(format!("{mapped} units are mapped, {} were counted", self.mapped));
        }
        let valid: u64 = (0..layout.physical_units().div_ceil(64))
            .map(|word| u64::from(self.map.valid_bits(Ppn(word * 64), 64).count_ones()))
            .sum();
        if valid != u64::from(mapped) + self.detached.len() as u64 {
            return Err(format!(
                "{valid} physical units are valid, {mapped} logical units are mapped, and {} more belong to stripes",
                self.detached.len()
            ));
        }
        for (block, valid) in valid_in.iter().enumerate() {
            let counted = self.blocks.valid(BlockId(block as u32));
            if counted != *valid {
                return Err(format!(
                    "block {block} holds {valid} valid units, {counted} were counted"
                ));
            }
            let (moved, bad) = (self.blocks.moved[BlockId(block as u32)], BlockState::Bad);
            let is_bad = self.blocks.state.as_slice()[block] == bad;
            if !is_bad && valid + moved > self.layout.units_per_block() {
                return Err(format!(
                    "{moved} units were moved out of block {block}, which still holds {valid}"
                ));
            }
        }
        self.audit_superblocks()?;
        self.audit_versions()?;
        self.bins.ids().try_for_each(|bin| self.audit_bin(bin))
    }

    fn audit_bin(&self, bin: BinId) -> Result<(), String> {
        let state = &self.bins[bin];
        let count = |wanted| {
            let first = self.layout.first_block(bin).0 as usize;
            self.blocks.state.as_slice()[first..first + self.layout.blocks_per_bin() as usize]
                .iter()
                .filter(|state| **state == wanted)
                .count() as u32
        };
        let listed_free = state
            .free_blocks()
            .filter(|block| self.blocks.state[*block] == BlockState::Free)
            .count() as u32;
        for (what, counted, kept) in [
            ("free", count(BlockState::Free), state.free()),
            ("listed as free", listed_free, state.free()),
            ("bad", count(BlockState::Bad), state.bad),
            ("being collected", count(BlockState::Collecting), state.collecting),
        ] {
            if counted != kept {
                return Err(format!("{counted} blocks of {bin:?} are {what}, {kept} were counted"));
            }
        }
        Ok(())
    }
}
