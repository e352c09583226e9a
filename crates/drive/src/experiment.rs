//! An experiment: everything that a run is a function of, besides the version.

use crate::config::DriveConfig;
use crate::recovery::PowerCuts;
use host::WorkloadConfig;
use host::config::AddressConfig;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use settings::{Share, Size, Time};
use std::path::PathBuf;

/// One experiment: a drive, what is on it, who uses it, and what is recorded.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Experiment {
    /// What the experiment is about, in a line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// All random numbers are derived from it. Default: 1.
    #[serde(default = "one")]
    pub seed: u64,
    /// The drive: `preset = "..."` and overrides, or all of it.
    pub drive: DriveConfig,
    /// What was done to the drive before. Default: nothing, it is empty.
    #[serde(default)]
    pub precondition: PreconditionConfig,
    /// The initiators.
    #[schemars(length(min = 1))]
    pub workload: Vec<WorkloadConfig>,
    /// How long the run is.
    #[serde(default)]
    pub run: RunConfig,
    /// What is recorded.
    #[serde(default)]
    pub record: RecordConfig,
}

fn one() -> u64 {
    1
}

/// What was done to the drive before the run. It takes no simulated time and
/// goes through the same firmware as the run.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PreconditionConfig {
    /// A file with the snapshot of a drive, which this one is started from; the layout
    /// of the data must be the same, all else may differ. Not with the other keys.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub snapshot: Option<PathBuf>,
    /// How the drive is filled at first.
    #[serde(default)]
    pub fill: Fill,
    /// Share of the exported space that is filled, from its beginning. Default: all of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub share: Option<Share>,
    /// Overwrites of what was filled, after that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub age: Option<AgeConfig>,
}

/// How a drive is filled.
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

/// Overwrites before the run.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AgeConfig {
    /// Which units are overwritten. Default: uniformly random ones.
    #[serde(default = "uniform")]
    pub addresses: AddressConfig,
    /// How often the filled space is overwritten, in the mean: 2.5 writes two and
    /// a half times its size. With `until_steady`, the most that is written.
    #[schemars(range(min = 0.0, max = 1000.0))]
    pub overwrites: f64,
    /// Ends as soon as write amplification is steady: over three windows of a
    /// quarter of the filled space each (more where that is fewer than 500 erases), it
    /// changes by less than 1 %.
    #[serde(default)]
    pub until_steady: bool,
}

fn uniform() -> AddressConfig {
    AddressConfig::Uniform {}
}

/// How long the run is. It ends at the first limit reached, or when every
/// workload has stopped; requests under way are completed and counted.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RunConfig {
    /// Nothing is issued from this simulated time on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time: Option<Time>,
    /// So many requests are issued, the warm-up's included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requests: Option<u64>,
    /// Nothing is issued once this many bytes were asked for, the warm-up's included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<Size>,
    /// What comes before it is simulated but not counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warm_up: Option<WarmUpConfig>,
    /// What is done about requests that the drive does not answer for long. Default:
    /// nothing, and none is looked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub starvation: Option<StarvationConfig>,
    /// Writes and trims go straight to the firmware, in the order of their moments, and take no
    /// simulated time; reads do nothing, and there are no latencies. The run also ends when the
    /// drive is worn out. For wear and write amplification alone. Default: false.
    #[serde(default)]
    pub untimed: bool,
    /// When the power is cut: `{ at = "1.5 s" }`, or a list of such. Needs `drive.recovery`.
    /// Default: never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub power_cut: Option<PowerCuts>,
    /// Checks everything that the drive returns against a second account of what
    /// was written. Costs 8 bytes for each physical unit, 16 for each logical
    /// one, and about as much time again.
    #[serde(default)]
    pub audit: bool,
}

/// How long the drive may take for a request, as a host's driver gives it a time-out.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StarvationConfig {
    /// A request starves that the drive has had for this long, since it was submitted to it,
    /// and has not answered. Drivers for NVMe usually give 30 s.
    pub limit: Time,
    /// What is done then. Default: the run ends.
    #[serde(default)]
    pub then: Then,
}

/// What is done when a request starves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Then {
    /// The run ends there; what was measured is kept, marked as partial.
    #[default]
    Stop,
    /// The run goes on, and its results tell of it.
    Report,
}

/// When counting begins: once all of the limits given are reached.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WarmUpConfig {
    /// Requests that arrive before this time are not counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time: Option<Time>,
    /// So many completions are not counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requests: Option<u64>,
}

/// What is recorded.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RecordConfig {
    /// Interval of the time series; it doubles where a run has more than 4096 of
    /// them. Default: 10 ms.
    pub interval: Time,
    /// How many of the slowest requests are kept with their blame, for each
    /// initiator and kind of request. Default: 100.
    #[schemars(range(min = 0, max = 1_000_000))]
    pub slowest: u32,
}

impl Default for RecordConfig {
    fn default() -> Self {
        Self { interval: Time::from(engine::Span::from_ms(10)), slowest: 100 }
    }
}
