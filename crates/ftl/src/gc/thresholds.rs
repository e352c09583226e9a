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
        [self.urgent, self.soft, self.stop].iter().any(|limit| matches!(limit, Limit::Units(_)))
    }
    /// Victims that collection may have on their way, at most, while the urgent threshold is not
    /// reached: it takes none more once they are enough. 0 where it begins and ends at that
    /// threshold; `None` where pages are counted, as their number depends on what is open.
    pub fn most_coming(&self) -> Option<u32> {
        match (self.urgent, self.stop) {
            (Limit::Blocks(urgent), Limit::Blocks(stop)) => Some(stop.saturating_sub(urgent)),
            _ => None,
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
        for (urgent, stop) in [(1, 1), (1, 3), (3, 5), (3, 12)] {
            let [limit, until] = [urgent, stop].map(Limit::Blocks);
            let thresholds =
                Thresholds { soft: limit, urgent: limit, stop: until, units_per_block: 10 };
            // Collection takes one victim after the other until all that come are enough.
            let taken = |free: u32| {
                let mut coming = 0;
                while !thresholds.enough(free + coming, || 0) {
                    coming += 1;
                }
                coming
            };
            let free = (0..20).filter(|free| thresholds.level(*free, || 0) != Level::Urgent);
            assert_eq!(thresholds.most_coming(), free.map(taken).max(), "{urgent} {stop}");
        }
    }

    #[test]
    fn a_threshold_prints_as_it_is_read() {
        for text in ["8 blocks", "5 % of blocks", "7 % of pages", "12.5 % of pages"] {
            assert_eq!(Threshold::read(text).unwrap().to_string(), text);
        }
    }
}
