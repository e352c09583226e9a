//! Configuration of garbage collection: the `[drive.ftl.gc]` table. Each threshold names its
//! unit.

use super::gain::Gain;
use super::victim::VictimPolicy;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use settings::{Decimal, Measure, Scale, Time, Unit, measure};
use std::fmt;

/// Sharing of a unit between collection and host writes, from the background to the foreground
/// threshold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Pacing {
    /// Collection waits for host writes until the foreground threshold. Below it collection goes
    /// first.
    None,
    /// Each batch that a host writes puts collection in debt by as many page moves as regain the
    /// batch's space. While collection is in debt, its operations go before host writes.
    Proportional,
    /// Collection moves only what host writes put it in debt by. A batch that a host writes counts
    /// for no moves at the background threshold, for as many as regain its space halfway to the
    /// foreground threshold, and for twice as many there. Source: the rate limiter of [PBLK].
    HostRate,
}

/// End of a reservation for garbage collection that is not preemptible.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ReserveUntil {
    /// The last copy of the victim. Operations that wait may start before its erase, and host reads
    /// may suspend the erase (`scheduler.suspension`).
    Copied,
    /// The erase of the victim. Operations that wait may start before the next victim.
    Erase,
    /// The end of the collection. One victim follows the other until the free space is above
    /// `stop`, and other bins of the flash unit that need space collect before operations that wait.
    Stop,
}

/// Resources that a collection that is not preemptible keeps from other operations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Blocking {
    /// The flash unit, such as a plane, from the first copy to the end of the erase. The channel
    /// carries commands, and data that is not copied back.
    #[default]
    Plane,
    /// The flash unit, and from the first to the last copy of a victim also its channel, even while
    /// the unit is sensed or programmed.
    Channel,
    /// The flash unit, and from the first to the last copy of a victim also all channels.
    Controller,
}

/// Moments at which collection above the foreground threshold takes its next victim.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum BackgroundBegins {
    /// As soon as the bin needs space.
    #[default]
    AnyTime,
    /// When its unit is idle and its channel carries nothing and has nothing to do for hosts: no
    /// read until its data is out, and no program until it begins, in any unit of the channel.
    QuietChannel,
}

/// Limits of the collections that copy at the same time. Where a limit is reached, a collection waits
/// until another one has finished its copies; those in the foreground go first. Erases do not count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AtOnce {
    /// Most collections that copy at a time on one channel. Default: no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1_000_000))]
    pub channel: Option<u32>,
    /// Most collections that copy at a time in the drive. Default: no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1_000_000))]
    pub drive: Option<u32>,
}

/// Garbage collection of one bin (a plane, or the planes that a block spans).
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("x-renamed" = [["soft", "background"], ["urgent", "foreground"]]))]
pub struct GcConfig {
    /// Policy that chooses the victim block.
    pub victim: VictimPolicy,
    /// Background GC starts when the free space falls to this threshold. Its operations wait for
    /// all others of their unit, unless `pacing` lets them go first.
    pub background: Threshold,
    /// Foreground GC starts when the free space falls to this threshold. It goes before host
    /// writes. This threshold must be reachable.
    pub foreground: Threshold,
    /// Collection stops when the free space rises above this threshold.
    pub stop: Threshold,
    /// Moments at which collection takes a victim while more is free than the foreground threshold.
    /// Default: any time.
    #[serde(default)]
    pub background_begins: BackgroundBegins,
    /// Least gain of a victim while more is free than the foreground threshold: `"8 pages"`, or
    /// `"5 % of pages"` of a block. Background GC ends early if no victim gains as much, so only the
    /// foreground threshold must be reachable. Default: any gain, and all thresholds must be
    /// reachable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub least_gain: Option<Gain>,
    /// Idle time of the unit after which background GC starts even above the background threshold
    /// (but not above `stop`). Default: it never does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idle_gap: Option<Time>,
    /// Sharing of the unit between collection and host writes, from the background to the
    /// foreground threshold.
    pub pacing: Pacing,
    /// True if other operations may go between the page moves of a collection. False reserves the
    /// unit until the block is erased (`reserve_until`), or until only host reads delay its erase.
    pub preemptible: bool,
    /// End of the reservation of the unit. Default: the erase of the victim. Only with
    /// `preemptible = false`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reserve_until: Option<ReserveUntil>,
    /// Resources that a collection keeps from other operations. Default: `plane`. Others only with
    /// `preemptible = false`.
    #[serde(default)]
    pub blocking: Blocking,
    /// Limits of the collections that copy at the same time. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_once: Option<AtOnce>,
    /// True to move a batch inside its plane without the channel (copy-back) if all its units are
    /// valid and the target block lies in the same plane (which is always so if a bin is a
    /// plane).
    pub copy_back: bool,
    /// Most times in a row that data may be copied back or streamed; the next move goes through
    /// the controller, which corrects its errors. Default: no limit. Only with `copy_back`,
    /// `streaming` or in-plane partial writes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 255))]
    pub copy_back_most: Option<u8>,
    /// True to stream pages of a victim to another package of the pool, in one transfer that
    /// bypasses the controller, if a package can take them at once. Default: false.
    #[serde(default)]
    pub streaming: bool,
    /// Batches that one collection may have in progress at a time.
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

/// A share in percent without the rounding error of the division: 0.07 gives 7, not
/// 7.000000000000001.
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
