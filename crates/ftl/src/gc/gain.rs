//! The gain of a collection: pages of a victim that hold no valid data.

use settings::{Decimal, Measure, Scale, Unit, measure};
use std::fmt;

/// Pages that a victim gains: `"8 pages"`, or `"5 % of pages"` of a block.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Gain {
    /// Flash pages.
    Pages(u32),
    /// Percentage of a block's pages.
    PercentOfPages(f64),
}

impl Gain {
    /// True if it is no page at all.
    pub fn is_none(self) -> bool {
        matches!(self, Self::Pages(0) | Self::PercentOfPages(0.0))
    }

    /// The gain in mapping units of `unit` bytes, given the bytes of a page and the units of a block:
    /// a part of a unit counts as a unit, and no gain as one.
    pub fn units(self, unit: u64, page: u64, units_per_block: u32) -> u32 {
        let units = match self {
            Self::Pages(pages) => (u64::from(pages) * page).div_ceil(unit),
            Self::PercentOfPages(percent) => {
                (percent / 100.0 * f64::from(units_per_block)).ceil() as u64
            }
        };
        units.clamp(1, u64::from(u32::MAX)) as u32
    }
}

impl Measure for Gain {
    const SCALE: Scale<'static> = Scale::new(
        "gain",
        "8 pages",
        &[
            Unit::whole("pages", 1, "page"),
            Unit::whole("page", 1, "page").hidden(),
            Unit::any("% of pages", 1),
        ],
    );

    fn from_amount(amount: Decimal, unit: Unit<'static>) -> Self {
        match unit.name {
            "% of pages" => Self::PercentOfPages(amount.to_f64()),
            _ => Self::Pages(
                amount.whole().map_or(u32::MAX, |pages| pages.min(u64::from(u32::MAX)) as u32),
            ),
        }
    }
}

measure!(Gain);

impl fmt::Display for Gain {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pages(1) => write!(out, "1 page"),
            Self::Pages(pages) => write!(out, "{pages} pages"),
            Self::PercentOfPages(percent) => write!(out, "{percent} % of pages"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gain_prints_as_it_is_read() {
        for text in ["1 page", "8 pages", "5 % of pages", "0.4 % of pages"] {
            assert_eq!(Gain::read(text).unwrap().to_string(), text);
        }
        assert!(Gain::read("8 blocks").is_err());
        assert!(Gain::read("1.5 pages").is_err());
    }
}
