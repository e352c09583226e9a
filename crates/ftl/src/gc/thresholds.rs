//! Thresholds at which collection starts, goes to the foreground and stops.

use super::band::Band;
use super::config::{GcConfig, Pacing, Threshold};
use crate::layout::Layout;
use crate::streams::Stream;

#[derive(Clone, Copy, Debug)]
enum Limit {
    Blocks(u32),
    Units(u32),
}

impl Limit {
    /// Clamps a threshold to the size of a bin: a greater value would have the same effect.
    fn of(threshold: Threshold, layout: &Layout) -> Self {
        let blocks = layout.blocks_per_bin();
        match threshold {
            Threshold::Blocks(limit) => Self::Blocks(limit.min(blocks)),
            Threshold::ShareOfBlocks(share) => {
                Self::Blocks((share.min(1.0) * f64::from(blocks)) as u32)
            }
            Threshold::ShareOfPages(share) => {
                let units = f64::from(blocks) * f64::from(layout.data_units(Stream::Host));
                Self::Units((share.min(1.0) * units) as u32)
            }
        }
    }
    #[inline]
    fn holds(self, free_blocks: u32, free_units: impl FnOnce() -> u32) -> bool {
        match self {
            Self::Blocks(limit) => free_blocks <= limit,
            Self::Units(limit) => free_units() <= limit,
        }
    }
    fn blocks(self, units_per_block: u32) -> u32 {
        match self {
            Self::Blocks(blocks) => blocks,
            Self::Units(units) => units.div_ceil(units_per_block),
        }
    }
}

/// Scarcity of space.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Above the background threshold.
    Ample,
    /// At or below the background threshold.
    Background,
    /// At or below the foreground threshold.
    Foreground,
}

/// The three thresholds, in the units in which free space is counted.
#[derive(Clone, Copy, Debug)]
pub struct Thresholds {
    background: Limit,
    foreground: Limit,
    stop: Limit,
    /// Least units that a victim gains, in the background and in the foreground.
    least_gain: [u32; 2],
    ends_early: bool,
    follow_hosts: bool,
    /// True if collection works in idle gaps, too, up to the stop threshold.
    idles: bool,
    units_per_block: u32,
}

impl Thresholds {
    /// The thresholds of `config` in bins of `layout`.
    pub fn new(config: &GcConfig, layout: &Layout) -> Self {
        Self {
            background: Limit::of(config.background, layout),
            foreground: Limit::of(config.foreground, layout),
            stop: Limit::of(config.stop, layout),
            least_gain: [
                config.least_gain.map_or(1, |gain| layout.gained(gain)).max(layout.units_per_batch),
                layout.units_per_batch,
            ],
            ends_early: config.least_gain.is_some(),
            follow_hosts: config.pacing == Pacing::HostRate,
            idles: config.idle_gap.is_some(),
            units_per_block: layout.data_units(Stream::Host),
        }
    }

    /// Level of a bin with this much free space.
    #[inline]
    pub fn level(&self, free_blocks: u32, free_units: impl Fn() -> u32) -> Level {
        if self.foreground.holds(free_blocks, &free_units) {
            Level::Foreground
        } else if self.background.holds(free_blocks, &free_units) {
            Level::Background
        } else {
            Level::Ample
        }
    }
    /// True if the free space is above the stop threshold.
    #[inline]
    pub fn enough(&self, free_blocks: u32, free_units: impl FnOnce() -> u32) -> bool {
        !self.stop.holds(free_blocks, free_units)
    }
    /// Units that must become free until the free space is above the stop threshold.
    pub fn lacks(&self, free_blocks: u32, free_units: impl FnOnce() -> u32) -> u32 {
        match self.stop {
            Limit::Blocks(stop) => (stop + 1).saturating_sub(free_blocks) * self.units_per_block,
            Limit::Units(stop) => (stop + 1).saturating_sub(free_units()),
        }
    }
    /// Units that hosts can write until the foreground threshold is reached, of a bin with so much free
    /// space and so many units left in the block that hosts write.
    pub fn units_before_foreground(
        &self,
        free_blocks: u32,
        left: u32,
        free_units: impl FnOnce() -> u32,
    ) -> u32 {
        match self.foreground {
            // The block whose opening reaches it is not counted.
            Limit::Blocks(limit) if free_blocks > limit => {
                left + (free_blocks - limit - 1) * self.units_per_block
            }
            Limit::Blocks(_) => 0,
            Limit::Units(limit) => free_units().saturating_sub(limit + 1),
        }
    }
    /// Least units that a victim gains at a level: at least a batch, because moved units fill whole
    /// batches.
    #[inline]
    pub fn least_gain(&self, level: Level) -> u32 {
        self.least_gain[usize::from(level == Level::Foreground)]
    }
    /// True if background collection may end before it reaches the stop threshold, because no victim
    /// gains enough.
    pub fn may_end_early(&self) -> bool {
        self.ends_early
    }
    /// True if one of the thresholds counts pages.
    #[inline]
    pub fn count_pages(&self) -> bool {
        [self.foreground, self.background, self.stop]
            .iter()
            .any(|limit| matches!(limit, Limit::Units(_)))
    }
    /// Most victims that collection may have in progress while the foreground threshold is not
    /// reached: it takes no further victim once those in progress suffice to stop. 0 if it starts
    /// and stops at that threshold; `None` if a threshold counts pages, because the number of
    /// victims then depends on the open blocks.
    pub fn most_coming(&self) -> Option<u32> {
        match (self.foreground, self.stop) {
            (Limit::Blocks(foreground), Limit::Blocks(stop)) => {
                Some(stop.saturating_sub(foreground))
            }
            _ => None,
        }
    }
    /// Free blocks of a bin that collection leaves to nobody: those of the background threshold. A
    /// collection that follows hosts settles halfway to the foreground threshold.
    pub fn kept(&self) -> u32 {
        let [foreground, background, _] = self.in_blocks();
        if self.follow_hosts { (foreground + background).div_ceil(2) } else { background }
    }
    /// The highest threshold up to which collection works, by its name, in free blocks.
    pub fn last(&self) -> (&'static str, u32) {
        match self.follow_hosts && !self.idles {
            true => ("background", self.kept()),
            false => ("stop", self.stop.blocks(self.units_per_block)),
        }
    }
    /// True if collection follows host writes over the band of [`Thresholds::band`].
    #[inline]
    pub fn follow_hosts(&self) -> bool {
        self.follow_hosts
    }
    /// The band from the foreground to the background threshold, for space that counts the pages of
    /// `open` open blocks. A threshold in blocks does not count them, and half a block of each is free
    /// in the mean.
    pub fn band(&self, open: u32) -> Band {
        let units = |limit| match limit {
            Limit::Blocks(blocks) => {
                blocks * self.units_per_block + open * self.units_per_block / 2
            }
            Limit::Units(units) => units,
        };
        Band::new(units(self.foreground), units(self.background))
    }
    /// The thresholds in free blocks: foreground, background, stop.
    pub fn in_blocks(&self) -> [u32; 3] {
        [self.foreground, self.background, self.stop]
            .map(|limit| limit.blocks(self.units_per_block))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_blocks_come_than_until_the_stop_threshold() {
        for (foreground, stop) in [(1, 1), (1, 3), (3, 5), (3, 12)] {
            let [limit, until] = [foreground, stop].map(Limit::Blocks);
            let thresholds = Thresholds {
                background: limit,
                foreground: limit,
                stop: until,
                least_gain: [1, 1],
                ends_early: false,
                follow_hosts: false,
                idles: false,
                units_per_block: 10,
            };
            // Collection takes victims until those in progress suffice.
            let taken = |free: u32| {
                let mut coming = 0;
                while !thresholds.enough(free + coming, || 0) {
                    coming += 1;
                }
                coming
            };
            let free = (0..20).filter(|free| thresholds.level(*free, || 0) != Level::Foreground);
            assert_eq!(thresholds.most_coming(), free.map(taken).max(), "{foreground} {stop}");
        }
    }
}
