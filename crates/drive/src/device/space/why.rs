//! Reasons why there is no space.

use crate::device::space::Space;
use ftl::{BinId, PoolId};
use settings::{counted, grouped};

impl Space {
    /// The bin whose collection is blamed, if a pool is without space.
    pub(in crate::device) fn starved_bin(&self, pool: PoolId) -> Option<BinId> {
        self.pools[pool].starved.map(|(bin, _)| bin)
    }

    /// The bins in which operations wait for free space, in words; `None` if there are none.
    pub(in crate::device) fn why_stuck(&self) -> Option<String> {
        let lacks = |bin| !self.bins[bin].parked.is_empty() || self.is_starved(bin);
        let told = |bin| {
            let (good, free) = (self.ftl.good_blocks(bin), self.ftl.free_blocks(bin));
            let layout = &self.ftl.layout;
            let blocks = layout.blocks_per_bin();
            let set = match layout.set_count() {
                1 => String::new(),
                _ => format!(" of NVM set {}", layout.set_of_bin(bin).0 + 1),
            };
            let [good, blocks, free] = [good, blocks, free].map(grouped);
            format!("bin {}{set} ({good} of {blocks} blocks good, {free} free)", bin.0)
        };
        let bins: Vec<_> = self.bins.ids().filter(|bin| lacks(*bin)).map(told).collect();
        if bins.is_empty() {
            return None;
        }
        let places = bins.join(", ");
        let words = format!("no free space and no block whose collection gains space in {places}");
        let retired = self.ftl.tally.retired;
        if retired == 0 {
            return Some(words);
        }
        Some(format!(
            "{words}; {} wore out or failed: ask for less, raise drive.nand.endurance, or run \
             untimed (run.untimed = true), which ends with the drive's life",
            counted(retired, "block")
        ))
    }
}
