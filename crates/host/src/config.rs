//! A workload as a configuration file writes it: one `[[workload]]` table is one initiator,
//! synthetic or fed from a trace. A missing key is `None` here, so that a key that has no meaning
//! beside another can be refused instead of being ignored; `check.rs` does that.

use crate::by_kind::ByKind;
use crate::depth::QueueDepth;
use crate::either::text_or_table;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use settings::{Extent, Frequency, Share, Size, Time};
use std::path::PathBuf;
use traces::{Event, Format, Kind, Options, Spread, TimeUnit, Truncated, Waits};

/// One initiator: its requests, their rate and its end.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("x-meant" = [
    ["iodepth", "queue_depth"], ["qd", "queue_depth"], ["depth", "queue_depth"],
    ["block_size", "size"], ["blocksize", "size"], ["bs", "size"],
    ["read_ratio", "reads"], ["rwmixread", "reads"], ["rate", "arrivals"],
]))]
pub struct WorkloadConfig {
    /// The initiator's name in results, unique in an experiment. The random numbers of a workload
    /// depend on the seed and on this name.
    pub name: String,
    /// Rank of its requests in the drive's queues. Default: `normal`.
    #[serde(default)]
    pub priority: Priority,
    /// Read recovery level of its reads, as NVMe numbers them: how hard the drive tries to get data
    /// that it cannot decode. The drive lists its levels (`drive.ftl.read_recovery_levels`). Default:
    /// that of its NVM set (`drive.ftl.sets`), otherwise 4.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 15))]
    pub read_recovery_level: Option<u8>,
    /// Earliest time of its first request after the start of the run. Default: `0 s`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start: Option<Time>,
    /// The NVM set whose namespace it uses, from 1 on, as NVMe numbers them: addresses are those of the
    /// namespace. Only for a drive with sets (`drive.ftl.sets`), and needed there.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 31))]
    pub nvm_set: Option<u32>,
    /// The part of the drive, or of the NVM set, that it uses. Default: the whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub region: Option<RegionConfig>,
    /// Share of reads, the others being writes: short for `mix = { read = …, write = … }`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reads: Option<Share>,
    /// Shares of the kinds of request; they add up to 100 %.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mix: Option<MixConfig>,
    /// A flush follows each n-th write, as with fio's `fsync`. It takes no slot of `arrivals` and no
    /// think time. Default: no such flushes.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub flush_every: Option<u64>,
    /// Bytes per request: fixed, a list with shares, or exponential; or such sizes for each kind.
    /// Kinds with sizes of their own also have an alignment and a cursor of their own. Default:
    /// `4 KiB`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<SizeForms>")]
    pub size: Option<SizeConfig>,
    /// Alignment: requests begin at multiples of this, counted from the start of the region;
    /// `addresses` also chooses in this unit. Either one for all kinds, or one for each. Default:
    /// the smallest request (as fio's `blockalign`), of a kind if `size` differs by kind.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub align: Option<AlignConfig>,
    /// Pattern of the addresses. Default: `{ pattern = "uniform" }`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub addresses: Option<AddressConfig>,
    /// Arrivals of an open loop, in which requests come by a process of their own. Without this
    /// key the loop is closed: a request is issued when a place in the queue becomes free.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arrivals: Option<ArrivalConfig>,
    /// Closed loop: number of outstanding requests at any time, default 1. Open loop: most
    /// outstanding requests, later ones wait at the host; default `"none"`, no limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue_depth: Option<QueueDepth>,
    /// Closed loop: time from a place becoming free to the next request, fixed or exponential.
    /// Default: `0 s`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub think_time: Option<ThinkConfig>,
    /// Alternating phases with and without new requests, beginning with `on` at `start`. Open
    /// loop: requests arrive in the on phases only, at the full rate. Closed loop: no request is
    /// issued in the off phases.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bursts: Option<BurstConfig>,
    /// Limits at which the initiator stops; the first one reached counts. Default: a trace ends
    /// with its file, a synthetic workload never ends.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop: Option<StopConfig>,
    /// Requests from a trace, instead of `reads`, `mix`, `size`, `align`, `addresses`, `arrivals`
    /// and `bursts`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trace: Option<TraceConfig>,
}

/// The rank of an initiator's requests.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Priority {
    /// Served before the others.
    High,
    /// The usual rank.
    #[default]
    Normal,
    /// Served after the others.
    Low,
}

impl Priority {
    /// Every rank, from the highest.
    pub const ALL: [Self; 3] = [Self::High, Self::Normal, Self::Low];
}

/// A part of the drive, or of the NVM set. A share of it (`"25 %"`) is rounded down to a multiple of
/// 4 KiB.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RegionConfig {
    /// First byte, a multiple of 512 B, or the share of the drive before it. Default: `0 B`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offset: Option<Extent>,
    /// Length, a multiple of 512 B, or a share of the drive. Default: to the end of the drive.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<Extent>,
}

/// Shares of the kinds of request. The share of a missing kind is 0.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MixConfig {
    /// Share of reads.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read: Option<Share>,
    /// Share of writes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub write: Option<Share>,
    /// Share of trims.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trim: Option<Share>,
    /// Share of flushes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flush: Option<Share>,
    /// Share of write-zeroes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub write_zeroes: Option<Share>,
}

/// Bytes per request, multiples of 512 B.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged, try_from = "SizeForms")]
pub enum SizeConfig {
    /// The same sizes for all kinds.
    All(Sizing),
    /// Sizes of each kind: `{ read = "4 KiB", write = "64 KiB" }`.
    ByKind(ByKind<Sizing>),
}

impl SizeConfig {
    /// The same size for all requests.
    pub fn fixed(size: Size) -> Self {
        Self::All(Sizing::Fixed(size))
    }

    /// The sizes of a kind; nothing if they are missing.
    pub fn of(&self, kind: Kind) -> Option<&Sizing> {
        match self {
            Self::All(sizing) => Some(sizing),
            Self::ByKind(by_kind) => by_kind.of(kind),
        }
    }

    /// All given sizes.
    pub fn sizings(&self) -> Vec<&Sizing> {
        match self {
            Self::All(sizing) => vec![sizing],
            Self::ByKind(by_kind) => by_kind.given().map(|(_, sizing)| sizing).collect(),
        }
    }
}

/// Forms in which a file writes the sizes of a workload.
#[derive(Clone, Debug, PartialEq, JsonSchema)]
#[serde(untagged)]
pub enum SizeForms {
    /// Always the same: `"4 KiB"`.
    Fixed(Size),
    /// One of several: `[{ size = "4 KiB", share = "80 %" }, …]`.
    List(Vec<SizeShare>),
    /// Exponentially distributed, or sizes of each kind.
    Table(SizeTable),
}

/// Exponentially distributed sizes, `{ mean = "8 KiB" }`, or sizes of each kind of request,
/// `{ read = "4 KiB", write = "64 KiB" }`.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SizeTable {
    /// Mean before rounding.
    pub mean: Option<Size>,
    /// Unit to whose multiples sizes are rounded up. Default: `4 KiB`.
    pub round_up_to: Option<Size>,
    /// Largest size; larger draws are cut to it. Default: 32 means, which one draw in 10^14
    /// exceeds, or the region if that is smaller.
    pub max: Option<Size>,
    /// Bytes per read.
    pub read: Option<Sizing>,
    /// Bytes per write.
    pub write: Option<Sizing>,
    /// Bytes per trim.
    pub trim: Option<Sizing>,
    /// Bytes per write-zeroes.
    pub write_zeroes: Option<Sizing>,
}

impl TryFrom<SizeForms> for SizeConfig {
    type Error = &'static str;

    fn try_from(forms: SizeForms) -> Result<Self, &'static str> {
        let table = match forms {
            SizeForms::Fixed(size) => return Ok(Self::All(Sizing::Fixed(size))),
            SizeForms::List(list) => return Ok(Self::All(Sizing::List(list))),
            SizeForms::Table(table) => table,
        };
        let SizeTable { mean, round_up_to, max, read, write, trim, write_zeroes } = table;
        let by_kind = ByKind { read, write, trim, write_zeroes };
        match mean {
            Some(mean) if by_kind.is_empty() => {
                Ok(Self::All(Sizing::Exponential(ExponentialSize { mean, round_up_to, max })))
            }
            None if round_up_to.or(max).is_none() && !by_kind.is_empty() => {
                Ok(Self::ByKind(by_kind))
            }
            _ => Err("needs either mean (exponential sizes), or sizes of kinds such as \
                      { read = \"4 KiB\", write = \"64 KiB\" }"),
        }
    }
}

/// Sizes of requests of a kind, multiples of 512 B.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Sizing {
    /// Always the same: `"4 KiB"`.
    Fixed(Size),
    /// One of several: `[{ size = "4 KiB", share = "80 %" }, …]`.
    List(Vec<SizeShare>),
    /// Exponentially distributed, then rounded up.
    Exponential(ExponentialSize),
}

/// One of several sizes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SizeShare {
    /// Bytes per request.
    pub size: Size,
    /// Share of the requests with this size; the shares add up to 100 %.
    pub share: Share,
}

/// Sizes drawn from an exponential distribution and rounded up.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExponentialSize {
    /// Mean before rounding.
    pub mean: Size,
    /// Unit to whose multiples sizes are rounded up. Default: `4 KiB`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub round_up_to: Option<Size>,
    /// Largest size; larger draws are cut to it. Default: 32 means, which one draw in 10^14
    /// exceeds, or the region if that is smaller.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max: Option<Size>,
}

/// Alignment of requests, a multiple of 512 B.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum AlignConfig {
    /// The same for all kinds: `"4 KiB"`.
    All(Size),
    /// One for each kind: `{ read = "4 KiB", write = "64 KiB" }`.
    ByKind(ByKind<Size>),
}

/// Pattern of the addresses. All kinds of request of an initiator share one pattern and one
/// cursor, unless `size` or `align` differs by kind; a request never crosses the end of the region.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "pattern", rename_all = "kebab-case", deny_unknown_fields)]
#[schemars(extend("x-meant" = [["random", "uniform"], ["zipfian", "zipf"], ["hotcold", "hot-cold"]]))]
pub enum AddressConfig {
    /// Each request begins at the end of the last one; at the end of the region the pattern
    /// starts over.
    Sequential {},
    /// Each request begins `stride` after the beginning of the last one; at the end of the region
    /// the pattern starts over.
    Strided {
        /// Bytes from one beginning to the next, a multiple of `align`.
        stride: Size,
    },
    /// Every place with equal probability.
    Uniform {},
    /// Every place once, in a random order, then again in another order, as fio's random addresses
    /// without `norandommap`.
    Shuffled {},
    /// The place of rank k with probability proportional to k^-theta.
    Zipf {
        /// The exponent, from 0 (uniform) to 3; 0.99 is YCSB's.
        theta: f64,
        /// True to scatter the ranks over the region by a fixed permutation, the same for every
        /// seed and name. False to make the first place rank 1. Default: true.
        #[serde(default = "yes")]
        scatter: bool,
    },
    /// A hot part at the start of the region, uniform inside and outside.
    HotCold {
        /// Hot share of the region.
        hot_space: Share,
        /// Share of the accesses to the hot part.
        hot_accesses: Share,
    },
    /// The client skew of JEDEC JESD219: 50 % of accesses to the first 5 % of the
    /// region, 30 % to the next 15 %, 20 % to the remaining 80 %.
    Jesd219 {},
}

fn yes() -> bool {
    true
}

/// Arrivals of an open loop.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ArrivalConfig {
    /// Distribution of the gaps between requests.
    pub process: ArrivalProcess,
    /// Mean number of requests per second (during a burst, if there are bursts).
    pub rate: Frequency,
    /// Constant gaps: the time of the first request. Default: `start`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phase: Option<Phase>,
}

/// Time of the first request of constant gaps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Phase {
    /// The start of the workload: workloads of one rate send their requests at the same times.
    Start,
    /// A random part of a gap later, drawn from the seed and the workload's name.
    Random,
}

/// Distribution of the gaps between arrivals.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ArrivalProcess {
    /// Equal gaps; `phase` tells when the first request comes.
    Constant,
    /// Exponential gaps.
    Poisson,
    /// Gaps uniform over 0 to 2 / rate.
    Uniform,
}

/// Time from a place in the queue becoming free to the next request.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum ThinkConfig {
    /// Always the same: `"100 us"`.
    Fixed(Time),
    /// Exponentially distributed: `{ mean = "100 us" }`.
    Exponential(ExponentialTime),
}

/// An exponentially distributed time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExponentialTime {
    /// The mean.
    pub mean: Time,
}

/// Alternating phases with and without new requests.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BurstConfig {
    /// Length of a phase with requests.
    pub on: Time,
    /// Length of a phase without.
    pub off: Time,
}

/// Limits at which an initiator stops; the first one reached counts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StopConfig {
    /// Time after `start` from which on no request is issued.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time: Option<Time>,
    /// Number of requests after which no further one is issued.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requests: Option<u64>,
    /// Bytes of issued requests after which no further one is issued.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<Size>,
}

/// Requests from a trace file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TraceConfig {
    /// The file: plain, gzip or Zstandard.
    pub file: PathBuf,
    /// Format of the file. Default: detected; an ambiguous file is refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub format: Option<Format>,
    /// Issue of requests by their stamps, or as fast as the queue allows. Default: `open`.
    #[serde(default)]
    pub mode: TraceMode,
    /// Open mode: factor by which stamps are multiplied; 2.0 replays at half speed. Default: 1.0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_scale: Option<f64>,
    /// Open mode: treatment of stamps that run backwards. Default: `sort` for formats in which
    /// they are no sign of damage (captured, msr, etw, blkparse, systor), else `refuse`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disorder: Option<Disorder>,
    /// Open mode: treatment of rows with equal stamps. Default: `none`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spread: Option<Spread>,
    /// blkparse: the event that counts as the request. Default: `queue`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub event: Option<Event>,
    /// The unit of stamps, and of the waits of fio's version 2, if it is not that of the format.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_unit: Option<TimeUnit>,
    /// fio version 2: the meaning of a wait. Default: `gaps`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waits: Option<Waits>,
    /// The unit of addresses, if it is not that of the format; also of lengths, except of SPC.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub block_size: Option<Size>,
    /// The unit of lengths. Default: that of addresses, or that of the format if its lengths and
    /// addresses have different ones.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub length_unit: Option<Size>,
    /// Treatment of a file whose end was cut. Default: `refuse`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub truncated: Option<Truncated>,
    /// The device numbers to replay. Default: all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub devices: Option<Vec<u32>>,
    /// Mapping of several devices to the drive's one address space. No default: a trace of
    /// several devices needs this key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub combine: Option<Combine>,
    /// Treatment of addresses beyond the drive or region. Default: `refuse`.
    #[serde(default)]
    pub out_of_range: OutOfRange,
    /// Number of times that the trace is replayed. In open mode a repetition begins one mean gap
    /// after the last stamp. Default: 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repeat: Option<u64>,
}

impl TraceConfig {
    /// The keys that concern the reading of the file.
    pub fn options(&self) -> Options {
        Options {
            event: self.event,
            time_unit: self.time_unit,
            waits: self.waits,
            block_bytes: self.block_size.map(|size| size.bytes()),
            length_bytes: self.length_unit.map(|size| size.bytes()),
            spread: self.spread,
            truncated: self.truncated,
        }
    }
}

/// Issue of a trace's requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TraceMode {
    /// By their stamps; the earliest stamp of the file becomes `start`.
    #[default]
    Open,
    /// In file order, each when a place in the queue is free; stamps are not used.
    Closed,
}

/// Treatment of stamps that run backwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Disorder {
    /// An error that names the line.
    Refuse,
    /// Replay in the order of the stamps; equal stamps keep the order of the file.
    Sort,
}

/// Mapping of several devices of a trace to one address space.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Combine {
    /// One after the other by ascending number, each as long as the end of its farthest request,
    /// rounded up to 1 MiB.
    Concatenate,
    /// All in the same place: equal addresses of two devices are one address.
    Fold,
    /// One initiator per device, named `<name>.<device>`, all in the same region.
    Separate,
}

/// Treatment of a trace whose addresses do not fit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum OutOfRange {
    /// An error that names the farthest request.
    #[default]
    Refuse,
    /// Offsets modulo the region (rounded down to 4 KiB); a request that would
    /// cross the end is moved back to end there.
    Wrap,
    /// Offsets are mapped linearly from the trace's span to the region, rounded
    /// down to 4 KiB; sizes stay, and a request that would cross the end is moved
    /// back to end there.
    Scale,
}

text_or_table! {
    SizeForms: "a size such as \"4 KiB\", a list of { size, share }, { mean, round_up_to, max }, or sizes of kinds such as { read, write }" {
        text => Fixed, list => List, table => Table,
    }
    Sizing: "a size such as \"4 KiB\", a list of { size, share }, or { mean, round_up_to, max }" {
        text => Fixed, list => List, table => Exponential,
    }
    AlignConfig: "a size such as \"4 KiB\", or one for each kind such as { read, write }" {
        text => All, table => ByKind,
    }
    ThinkConfig: "a time such as \"100 us\", or { mean = \"100 us\" }" {
        text => Fixed, table => Exponential,
    }
}
