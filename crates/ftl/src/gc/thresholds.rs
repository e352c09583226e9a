//! When collection starts, becomes urgent and stops. A threshold says its unit.

use super::GcConfig;
use crate::layout::Layout;
use settings::{Decimal, Measure, Scale, Unit, measure};
use std::fmt;

/// An amount of free space in a bin: `"8 blocks"`, `"5 % of blocks"` or
/// `"30 % of pages"` (which counts the free pages of open blocks too).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Threshold {
    /// Free blocks.
    Blocks(u32),
    /// Share of the bin's blocks that are free.
    ShareOfBlocks(f64),
    /// Share of the bin's pages that are free.
    ShareOfPages(f64),
}

impl Measure for Threshold {
    const SCALE: Scale<'static> = Scale::new(
        "threshold",
        "8 blocks",
        &[
            Unit::whole("blocks", 1, "block"),
            Unit::whole("block", 1, "block").hidden(),
            Unit::any("% of blocks", 1),
            Unit::any("% of pages", 1),
        ],
    );

    fn from_amount(amount: Decimal, unit: Unit<'static>) -> Self {
        match unit.name {
            "% of blocks" => Self::ShareOfBlocks(amount.to_f64() / 100.0),
            "% of pages" => Self::ShareOfPages(amount.to_f64() / 100.0),
            _ => Self::Blocks(
                amount.whole().map_or(u32::MAX, |blocks| blocks.min(u64::from(u32::MAX)) as u32),
            ),
        }
    }
}

measure!(Threshold);

impl Threshold {
    /// No more than there is: beyond that a threshold says the same, always.
    fn limit(self, layout: &Layout) -> Limit {
        let blocks = layout.blocks_per_bin();
        match self {
            Self::Blocks(limit) => Limit::Blocks(limit.min(blocks)),
            Self::ShareOfBlocks(share) => {
                Limit::Blocks((share.min(1.0) * f64::from(blocks)) as u32)
            }
            Self::ShareOfPages(share) => {
                let units = f64::from(blocks) * f64::from(layout.units_per_block());
                Limit::Units((share.min(1.0) * units) as u32)
            }
        }
    }
}

impl fmt::Display for Threshold {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Blocks(blocks) => write!(out, "{blocks} blocks"),
            Self::ShareOfBlocks(share) => write!(out, "{} % of blocks", percent(*share)),
            Self::ShareOfPages(share) => write!(out, "{} % of pages", percent(*share)),
        }
    }
}

/// Hundredths of a share without the noise of the division: 0.07 is 7, not 7.000000000000001.
fn percent(share: f64) -> f64 {
    (share * 1e12).round() / 1e10
}

#[derive(Clone, Copy, Debug)]
enum Limit {
    Blocks(u32),
    Units(u32),
}

impl Limit {
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

/// How scarce space is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Above the soft threshold.
    Ample,
    /// At or below the soft threshold.
    Soft,
    /// At or below the urgent threshold.
    Urgent,
}

/// The three thresholds, in the units in which free space is counted.
#[derive(Clone, Copy, Debug)]
pub struct Thresholds {
    soft: Limit,
    urgent: Limit,
    stop: Limit,
    units_per_block: u32,
}

impl Thresholds {
    /// The thresholds of `config` in bins of `layout`.
    pub fn new(config: &GcConfig, layout: &Layout) -> Self {
        Self {
            soft: config.soft.limit(layout),
            urgent: config.urgent.limit(layout),
            stop: config.stop.limit(layout),
            units_per_block: layout.units_per_block(),
        }
    }

    /// How scarce space is in a bin with so much free.
    #[inline]
    pub fn level(&self, free_blocks: u32, free_units: impl Fn() -> u32) -> Level {
        if self.urgent.holds(free_blocks, &free_units) {
            Level::Urgent
        } else if self.soft.holds(free_blocks, &free_units) {
            Level::Soft
        } else {
            Level::Ample
        }
    }
    /// True where more is free than the stop threshold.
    #[inline]
    pub fn enough(&self, free_blocks: u32, free_units: impl FnOnce() -> u32) -> bool {
        !self.stop.holds(free_blocks, free_units)
    }
    /// True where one of them counts pages.
    #[inline]
    pub fn count_pages(&self) -> bool {
        [self.urgent, self.soft].iter().any(|limit| matches!(limit, Limit::Units(_)))
    }
    /// Blocks that may be on their way to be free, at most, while the urgent threshold is not
    /// reached: collection takes no victim more once they are enough. 0 where it begins at that
    /// threshold only, and ends there.
    pub fn most_coming(&self) -> u32 {
        match (self.urgent, self.stop) {
            (Limit::Blocks(urgent), Limit::Blocks(stop)) => stop.saturating_sub(urgent),
            (Limit::Units(urgent), Limit::Units(stop)) => {
                stop.saturating_sub(urgent).div_ceil(self.units_per_block)
            }
            (Limit::Blocks(urgent), Limit::Units(stop)) => {
                (stop / self.units_per_block).saturating_sub(urgent)
            }
            // Pages that are free in open blocks may be all that keeps it from being urgent.
            (Limit::Units(_), Limit::Blocks(stop)) => stop + 1,
        }
    }
    /// The thresholds as free blocks: urgent, soft, stop.
    pub fn in_blocks(&self) -> [u32; 3] {
        [self.urgent, self.soft, self.stop].map(|limit| limit.blocks(self.units_per_block))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_threshold_says_its_unit() {
        let read = |text: &str| Threshold::read(text).map_err(|refusal| refusal.to_string());
        assert_eq!(read("8 blocks"), Ok(Threshold::Blocks(8)));
        assert_eq!(read("5 % of blocks"), Ok(Threshold::ShareOfBlocks(0.05)));
        assert_eq!(read("30 % of pages"), Ok(Threshold::ShareOfPages(0.3)));
        assert!(read("8").unwrap_err().contains("has no unit"));
        assert!(read("1.5 blocks").is_err());
        assert!(read("blocks").is_err());
    }

    #[test]
    fn no_more_blocks_come_than_until_the_stop_threshold() {
        let most = |urgent: Limit, stop: Limit| {
            let thresholds = Thresholds { soft: urgent, urgent, stop, units_per_block: 10 };
            // The most that collection takes, over all that may be free while it is not urgent.
            let taken = |blocks: u32, units: u32| {
                let coming = 0..;
                let enough = |more: &u32| thresholds.enough(blocks + more, || units + 10 * more);
                let isnt_urgent = thresholds.level(blocks, || units) != Level::Urgent;
                isnt_urgent.then(|| coming.into_iter().find(enough)).flatten()
            };
            let all =
                (0..9u32).flat_map(|blocks| (0..40).map(move |open| (blocks, 10 * blocks + open)));
            let by_trying = all.filter_map(|(blocks, units)| taken(blocks, units)).max();
            (thresholds.most_coming(), by_trying.unwrap_or(0))
        };
        for urgent in [Limit::Blocks(1), Limit::Blocks(3), Limit::Units(14), Limit::Units(30)] {
            for stop in [Limit::Blocks(3), Limit::Blocks(5), Limit::Units(30), Limit::Units(47)] {
                let (said, by_trying) = most(urgent, stop);
                assert_eq!(said, by_trying, "{urgent:?} {stop:?}");
            }
        }
    }

    #[test]
    fn a_threshold_prints_as_it_is_read() {
        for text in ["8 blocks", "5 % of blocks", "7 % of pages", "12.5 % of pages"] {
            assert_eq!(Threshold::read(text).unwrap().to_string(), text);
        }
    }
}
