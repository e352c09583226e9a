//! Erase blocks, of which a block has one in each of its planes and lanes: their planes, and their rows
//! that are programmed. Faults of flash depend on both.

use crate::ftl::Ftl;
use crate::ids::{Batch, BinId, BlockId};
use nand::PlaneId;

impl Ftl {
    /// Rows programmed in the erase blocks of a block since their erase, in the lane of a batch. Those
    /// of a program under way do not count yet.
    pub fn rows_programmed(&self, at: Batch) -> u32 {
        let layout = &self.layout;
        if layout.has_superblocks() {
            return self.written_in(at.block, layout.lane(at.batch)) * layout.rows_per_batch;
        }
        if let Some(rows) = self.blocks.rows_closed_early(at.block) {
            return rows;
        }
        let unwritten = self.blocks.unwritten[at.block];
        let rows = (layout.batches_per_block - unwritten) * layout.rows_per_batch;
        rows + u32::from(layout.summary_page && unwritten == 0)
    }

    /// The plane, counted over the drive, of an erase block in a plane of a block, in the lane of a
    /// batch.
    pub fn plane_of(&self, at: Batch, plane: u32) -> PlaneId {
        let layout = &self.layout;
        let bin = layout.bin(at.block);
        let home = (at.block.0 - layout.first_block(bin).0) / layout.blocks_per_home();
        let first = layout.first_plane(bin, layout.lane(at.batch)).0;
        PlaneId(first + home * layout.block_planes + plane)
    }

    /// The number over the drive of an erase block of a plane ([`Ftl::erase_block`]).
    ///
    /// # Panics
    /// If there is no such plane.
    pub fn erase_block_in(&self, plane: PlaneId, number: u32) -> usize {
        let layout = &self.layout;
        let homes = layout.planes_per_bin() / layout.block_planes;
        for bin in (0..layout.bins).map(BinId) {
            for home in 0..homes {
                let block = layout.first_block(bin).0 + home * layout.blocks_per_home() + number;
                // The first batches of a block lie in its lanes, one after the other.
                for batch in 0..layout.lanes() {
                    let at = Batch { block: BlockId(block), batch };
                    let own = plane.0.checked_sub(self.plane_of(at, 0).0);
                    if let Some(own) = own.filter(|own| *own < layout.block_planes) {
                        return self.erase_block(at, own);
                    }
                }
            }
        }
        panic!("there is no plane {}", plane.0)
    }
}
