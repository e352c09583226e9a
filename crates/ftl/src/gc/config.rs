//! Configuration of garbage collection: the `[drive.ftl.gc]` table. A threshold says its unit.

use super::victim::VictimPolicy;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use settings::{Decimal, Measure, Scale, Time, Unit, measure};
use std::fmt;

/// How collection and host writes share a unit between the background and the foreground
/// threshold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Pacing {
    /// Collection waits for host writes until the foreground threshold, and then goes
    /// before them until it is above it.
    None,
    /// For each batch that a host writes, collection owes as many moves as gain that
    /// space again; while it owes some, its operations go before host writes.
    Proportional,
}

/// Garbage collection of one bin (a plane, or the planes that a block spans).
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("x-renamed" = [["soft", "background"], ["urgent", "foreground"]]))]
pub struct GcConfig {
    /// Which block is collected.
    pub victim: VictimPolicy,
    /// Background GC starts when no more than this is free. Its operations
    /// wait for all others of their unit, except as `pacing` says.
    pub background: Threshold,
    /// Foreground GC starts when no more than this is free. It goes before
    /// host writes. This threshold must be reachable.
    pub foreground: Threshold,
    /// Collection stops when more than this is free.
    pub stop: Threshold,
    /// After the unit has been idle for this long, background GC starts even
    /// above the background threshold (but not above `stop`). Without it: never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idle_gap: Option<Time>,
    /// How collection shares its unit with host writes between the background and the
    /// foreground threshold.
    pub pacing: Pacing,
    /// Whether other operations may go between the page moves of a collection.
    /// If not, the unit is withheld from all others until the block is erased, or
    /// until only reads of hosts keep it from being erased.
    pub preemptible: bool,
    /// Whether pages move inside their plane without the channel (copy-back), where all units
    /// of the batch are valid and the block that takes them lies in that plane (which is
    /// always so where a bin is a plane).
    pub copy_back: bool,
    /// So many times in a row data may be copied back, or stream; then it goes through the
    /// controller, which corrects its errors. Default: any number. Only with `copy_back`,
    /// `streaming` or partial writes inside planes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 255))]
    pub copy_back_most: Option<u8>,
    /// Whether pages of a victim stream to another package of the pool, in one transfer and past
    /// the controller, where one can take them at once. Default: no.
    #[serde(default)]
    pub streaming: bool,
    /// Batches that one collection may have under way at a time.
    #[schemars(range(min = 1, max = 64))]
    pub window: u32,
}

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
    fn a_threshold_prints_as_it_is_read() {
        for text in ["8 blocks", "5 % of blocks", "7 % of pages", "12.5 % of pages"] {
            assert_eq!(Threshold::read(text).unwrap().to_string(), text);
        }
    }
}
