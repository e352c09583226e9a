//! An experiment: with the version, it determines everything about a run.

use crate::array::config::ArrayConfig;
use crate::config::DriveConfig;
use crate::failures::FailureConfig;
use crate::namespaces;
use crate::precondition::PartsConfig;
use crate::recovery::PowerCuts;
use engine::Streams;
use engine::ids::Id;
use ftl::{Layout, SetId};
use host::config::AddressConfig;
use host::{Region, WorkloadConfig};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use settings::{Share, Size, Time};
use std::path::PathBuf;

/// One experiment: a drive, its content, its workloads, and the records to keep.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Experiment {
    /// Title of the experiment, in one line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Seed of all random numbers. Default: 1.
    #[serde(default = "one")]
    pub seed: u64,
    /// The drive: `preset = "..."` and overrides, or all of it.
    pub drive: DriveConfig,
    /// Several drives, and the host's plan for them. Default: one drive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub array: Option<ArrayConfig>,
    /// Preconditioning of the drive. Default: none, the drive is empty.
    #[serde(default)]
    pub precondition: PreconditionConfig,
    /// The drive as one of many that begin alike: `{ number = 17 }`. Default: the drive itself.
    #[serde(default, rename = "clone", skip_serializing_if = "Option::is_none")]
    pub cloned: Option<CloneConfig>,
    /// The initiators.
    #[schemars(length(min = 1))]
    pub workload: Vec<WorkloadConfig>,
    /// Length of the run.
    #[serde(default)]
    pub run: RunConfig,
    /// Records that the run keeps.
    #[serde(default)]
    pub record: RecordConfig,
}

impl Experiment {
    /// The seed of the run: that of the clone, else the experiment's.
    pub fn run_seed(&self) -> u64 {
        match &self.cloned {
            Some(clone) => Streams::new(self.seed).hash("clone").bits(clone.number.into()),
            None => self.seed,
        }
    }
    /// The namespace of a workload. An array has a namespace of its own.
    pub fn namespace(&self, layout: &Layout, workload: &WorkloadConfig) -> Region {
        match &self.array {
            Some(array) => array.bytes(layout).into(),
            None => namespaces::of_workload(layout, workload),
        }
    }
}

fn one() -> u64 {
    1
}

/// Preconditioning: fills and ages the drive before the run. It takes no simulated time and uses
/// the same firmware as the run.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PreconditionConfig {
    /// A file with the snapshot of a drive from which this drive is started. The layout of the data
    /// must be the same; all else may differ. Not with the other keys.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub snapshot: Option<PathBuf>,
    /// Pattern of the initial fill.
    #[serde(default)]
    pub fill: Fill,
    /// Share of the exported space that is filled, from its beginning; of each NVM set, if there are
    /// any: one for all, or a list with one for each. Default: all of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub share: Option<Shares>,
    /// Parts of the filled units that hold data. Needs `drive.ftl.subunit`. Default: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parts: Option<PartsConfig>,
    /// Stale pages that the fill finds on the drive. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stale: Option<StaleConfig>,
    /// Overwrites of the filled space, after the fill.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub age: Option<AgeConfig>,
    /// True to begin with all bins in step: each has new open blocks, and equally many free blocks
    /// if it has collected. Bins then fill and collect at about the same times, as after MQSim's
    /// preconditioning. Default: false. Bins are then in different phases, as after long use.
    #[serde(default)]
    pub in_step: bool,
}

/// Shares of NVM sets.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Shares {
    /// One for each set. (Before the other: serde takes the first that fits.)
    Each(Vec<Share>),
    /// One for all sets, or for a drive without sets.
    All(Share),
}

impl Shares {
    /// The share of a set.
    pub fn of_set(&self, set: SetId) -> Share {
        match self {
            Self::Each(shares) => {
                shares.get(set.index()).copied().unwrap_or(Share::from_percent(0))
            }
            Self::All(share) => *share,
        }
    }
    /// All shares, each with its path below `precondition`.
    pub fn all(&self) -> Vec<(String, Share)> {
        match self {
            Self::Each(shares) => (0..)
                .zip(shares)
                .map(|(index, share): (u32, _)| (format!("share[{index}]"), *share))
                .collect(),
            Self::All(share) => vec![("share".into(), *share)],
        }
    }
}

/// Pattern of the initial fill.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Fill {
    /// Not at all.
    #[default]
    Empty,
    /// Every unit once, by rising address.
    Sequential,
    /// Every unit once, in a random order.
    Random,
}

/// Stale pages: pages without valid data, as overwrites leave them. The first blocks that the fill
/// opens begin with them; the rest of these blocks, and then whole blocks, take the data.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StaleConfig {
    /// Share of all pages that are stale, in each bin.
    pub share: Share,
    /// Share of the pages of a block that are stale, in blocks that have any.
    pub of_block: Share,
}

/// Overwrites before the run.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AgeConfig {
    /// Units that are overwritten. Default: uniformly random ones.
    #[serde(default = "uniform")]
    pub addresses: AddressConfig,
    /// Mean number of overwrites of the filled space: 2.5 writes two and a half times its size.
    /// With `until_steady`, the upper bound.
    #[schemars(range(min = 0.0, max = 1000.0))]
    pub overwrites: f64,
    /// Ageing ends as soon as write amplification is steady: it changes by less than 1 % over three
    /// windows of a quarter of the filled space each (a window is longer if it has fewer than 500
    /// erases).
    #[serde(default)]
    pub until_steady: bool,
}

fn uniform() -> AddressConfig {
    AddressConfig::Uniform {}
}

/// One of the drives that begin as the prepared drive.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CloneConfig {
    /// Number of the clone, from 1. Its seed follows from the experiment's seed and this number.
    #[schemars(range(min = 1))]
    pub number: u32,
    /// Bounds of the further overwrites. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overwrites: Option<OverwritesConfig>,
}

/// Bounds between which the number of further overwrites is drawn, uniformly. It is a mean over the
/// filled space, as `precondition.age.overwrites`; the addresses are drawn as those.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OverwritesConfig {
    /// The least.
    #[schemars(range(min = 0.0, max = 1000.0))]
    pub from: f64,
    /// The most.
    #[schemars(range(min = 0.0, max = 1000.0))]
    pub to: f64,
}

/// Length of the run. It ends at the first limit reached, or when every workload has stopped;
/// requests under way are completed and counted.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RunConfig {
    /// Nothing is issued from this simulated time on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time: Option<Time>,
    /// Number of requests that are issued, including those of the warm-up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requests: Option<u64>,
    /// Nothing is issued once requests for this many bytes were issued, including those of the
    /// warm-up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<Size>,
    /// Warm-up: the time before its end is simulated but not counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warm_up: Option<WarmUpConfig>,
    /// Reaction to requests that the drive does not answer for a long time. Default: none, and the
    /// run does not look for such requests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub starvation: Option<StarvationConfig>,
    /// Untimed run: writes and trims go straight to the firmware, in the order of their arrival
    /// times, and take no simulated time; reads do nothing, and there are no latencies. The run
    /// also ends when the drive is worn out. Only for wear and write amplification. Default: false.
    #[serde(default)]
    pub untimed: bool,
    /// Power cuts: `{ at = "1.5 s" }`, or a list of such. Needs `drive.recovery`. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub power_cut: Option<PowerCuts>,
    /// Failures of flash: `[{ at = "2 s", die = 3 }]`. Needs `drive.ftl.parity`. Default: none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failures: Vec<FailureConfig>,
    /// Windows of predictable latency that the host chooses. Needs `drive.ftl.windows`. Default: none,
    /// and all windows are non-deterministic.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub windows: Option<HostWindows>,
    /// Checks everything that the drive returns against a second account of the writes. Costs 8
    /// bytes for each physical unit and 16 for each logical one, and doubles the time of the
    /// simulation.
    #[serde(default)]
    pub audit: bool,
}

/// Windows that the host asks for, one after the other, in each NVM set: a deterministic one, then a
/// non-deterministic one, and so on. If a set has ended one by itself, it asks for the next one when
/// it would have anyway.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HostWindows {
    /// Time from the request of a deterministic window until the request of the non-deterministic one.
    /// Default: `drive.ftl.windows.dtwin`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dtwin: Option<Time>,
    /// Time from the request of a non-deterministic window until the next deterministic one. Default:
    /// `drive.ftl.windows.ndwin_high`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ndwin: Option<Time>,
    /// Sets whose windows are non-deterministic at the same time. Default: `together`.
    #[serde(default)]
    pub order: WindowOrder,
}

/// Order of the windows of several NVM sets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WindowOrder {
    /// All sets have the same window at the same time.
    #[default]
    Together,
    /// Their non-deterministic windows begin one after the other, evenly spread over the time of both.
    InTurn,
}

/// Time-out of requests, like the one in a host's driver.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StarvationConfig {
    /// A request starves if the drive has not answered it this long after its submission to the
    /// drive. Drivers for NVMe usually give 30 s.
    pub limit: Time,
    /// Reaction to a request that starves. Default: the run ends.
    #[serde(default)]
    pub then: Then,
}

/// Reaction to a request that starves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Then {
    /// The run ends there; its measurements are kept and marked as partial.
    #[default]
    Stop,
    /// The run goes on, and its results report the starved requests.
    Report,
}

/// End of the warm-up: counting begins once all of the given limits are reached.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WarmUpConfig {
    /// Requests that arrive before this time are not counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time: Option<Time>,
    /// Number of completions that are not counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requests: Option<u64>,
}

/// Records that a run keeps.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RecordConfig {
    /// Interval of the time series; it doubles if a run has more than 4096 of them. Default: 10 ms.
    pub interval: Time,
    /// Number of slowest requests that are kept with their blame, for each initiator and kind of
    /// request. Default: 100.
    #[schemars(range(min = 0, max = 1_000_000))]
    pub slowest: u32,
    /// Counts the reads that meet collection, those that wait for it, and the time for which it holds
    /// each unit. Not in an untimed run. Default: false.
    pub collection: bool,
}

impl Default for RecordConfig {
    fn default() -> Self {
        Self { interval: Time::from(engine::Span::from_ms(10)), slowest: 100, collection: false }
    }
}
