//! Configuration of the firmware: the `[drive.ftl]` table.

use crate::allocation::{AllocationConfig, StreamSharing};
use crate::gc::GcConfig;
use crate::leveling::WearConfig;
use crate::read_recovery::ReadRecovery;
use crate::recovery_levels::RecoveryLevels;
use crate::scrub::{ScrubConfig, ScrubTask};
use crate::sets::SetsConfig;
use crate::streams::{STREAMS, Stream};
use engine::Span;
use nand::Geometry;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use settings::{Rate, Share, Size, Time};

/// The flash translation layer.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FtlConfig {
    /// Mapping unit: smaller than, equal to or larger than a flash page. A host write of a part
    /// of a unit needs a read-modify-write (`partial_writes`).
    pub unit: Size,
    /// Planes of a die that a block spans. They are programmed together (by one multi-plane
    /// command) and erased together. With 1 each plane has blocks of its own.
    #[schemars(range(min = 1, max = 64))]
    pub block_planes: u32,
    /// Planes of a block that one erase command erases. A block takes its erase commands one
    /// after the other. It divides `block_planes`. Default: all planes of the block.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 64))]
    pub erase_planes: Option<u32>,
    /// True if the last page of each block holds no data: it is written with a summary of the
    /// other pages (logical addresses and versions) when those are full. Default: false.
    #[serde(default)]
    pub summary_page: bool,
    /// Method of read-modify-write for a write of a part of a unit. Default: through the
    /// controller.
    #[serde(default)]
    pub partial_writes: PartialWrites,
    /// Parts of a mapping unit of which the map knows whether the host has written them: a bit for
    /// each. A write of a part then reads the rest only if some of it holds data. Default: the map
    /// knows only whether a unit has data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subunit: Option<Size>,
    /// Share of the flash that the host does not see.
    pub over_provisioning: OverProvisioning,
    /// Parity over logical stripes, with which the drive can rebuild a unit without reading it.
    /// Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parity: Option<ParityConfig>,
    /// Blocks that lie on several dies, with stripes of their own. Default: a block lies on one die.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub superblock: Option<SuperblockConfig>,
    /// NVM sets: parts of the drive that work apart from each other. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sets: Option<SetsConfig>,
    /// Placement of writes.
    pub allocation: AllocationConfig,
    /// Garbage collection.
    pub gc: GcConfig,
    /// Blocks that cannot be used.
    pub bad_blocks: BadBlocksConfig,
    /// Static wear-leveling. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wear: Option<WearConfig>,
    /// Next step for data that cannot be decoded (`nand.errors`). Default: `ladder` with as many
    /// re-reads as it takes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_recovery: Option<ReadRecovery>,
    /// Next step for reads of workloads that choose another read recovery level of NVMe
    /// (`workload.read_recovery_level`): `{ 15 = "none" }`. Level 4 is the default,
    /// `read_recovery`. Default: the drive has that level only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_recovery_levels: Option<RecoveryLevels>,
    /// Scrubbing: rewriting blocks before their data decays. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scrub: Option<ScrubConfig>,
    /// Limit of the firmware's tasks: operations of garbage collection, wear-leveling and scrubbing, and
    /// reads that rebuild what could not be decoded. Default: no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tasks: Option<TasksConfig>,
    /// Predictable latency: windows in which maintenance is deferred, in each NVM set. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub windows: Option<WindowsConfig>,
    /// Limit of the programs of an NVM set that are outstanding: of host data, of garbage collection and of
    /// wear-leveling. A drive without sets is one. Default: no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pressure: Option<PressureConfig>,
}

impl FtlConfig {
    /// Time to compute parity, or a mapping unit from the rest of its stripe.
    pub fn xor(&self) -> Span {
        self.parity.and_then(|parity| parity.xor).map_or(Span::ZERO, |xor| xor.span())
    }
    /// Parts of a mapping unit of which the map knows whether they hold data; 1 if it knows of none.
    pub(crate) fn subunits(&self) -> u32 {
        self.subunit.map_or(1, |subunit| (self.unit.bytes() / subunit.bytes()) as u32)
    }
    /// True if updates of stripes do not wait for flash that garbage collection has reserved.
    pub fn flushes_round_gc(&self) -> bool {
        self.parity.is_some_and(|parity| parity.flush == ParityFlush::GcTolerant)
    }
    /// Pages of a block that hold data.
    pub fn data_pages(&self, geometry: &Geometry) -> u32 {
        geometry.pages_per_block - u32::from(self.summary_page)
    }
    /// Bytes of data that the flash can hold without summaries, bad blocks included.
    pub fn data_bytes(&self, geometry: &Geometry) -> u128 {
        let pages = u128::from(geometry.pages_per_block);
        geometry.physical_bytes() / pages * u128::from(self.data_pages(geometry))
    }
    /// The stream that scrubbing writes to; the default one if there is no scrubbing.
    pub fn scrub_stream(&self) -> Stream {
        self.scrub.as_ref().map(|scrub| scrub.stream).unwrap_or_default().stream()
    }
    /// True if scrubbing is a task of its own, beside the collection of each bin.
    pub fn has_scrubber(&self) -> bool {
        self.scrub.as_ref().is_some_and(|scrub| scrub.task == ScrubTask::Own)
    }
    /// Blocks of a bin that may be open at once.
    pub fn open_blocks(&self) -> u32 {
        let shared = self.allocation.streams == StreamSharing::Shared;
        let streams = [Stream::Host, Stream::Gc, self.scrub_stream()];
        let mut places = streams.map(|stream| stream.row(shared).open);
        places.sort_unstable();
        places.chunk_by(|place, next| place == next).count() as u32
    }
    /// Bytes that the host sees; `None` unless exactly one key of over-provisioning is given, or if
    /// a stripe has no data.
    pub fn exported_bytes(&self, geometry: &Geometry) -> Option<u128> {
        let OverProvisioning { exported, .. } = self.over_provisioning;
        let bytes = self.over_provisioning.exported_bytes(self.data_bytes(geometry))?;
        match (&self.parity, exported) {
            // What is not spare is data and its parity.
            (Some(ParityConfig { width, .. }), None) if *width >= 2 => {
                Some(bytes / u128::from(*width) * u128::from(width - 1))
            }
            _ => Some(bytes),
        }
    }
}

/// Method of read-modify-write for a write of a part of a mapping unit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PartialWrites {
    /// Through the controller: it reads the rest of the unit, corrects its errors, and programs
    /// the whole unit anywhere in the pool.
    #[default]
    Controller,
    /// In-plane read-modify-write: the planes that hold the unit sense it, take the new part over
    /// the channel, and program both elsewhere in the same planes, like a copy-back with new
    /// data. For drives that acknowledge writes from flash [ATC08].
    Plane,
}

/// Parity over logical stripes: mapping units of neighbouring addresses on different pools, and
/// their parity on a further pool, which takes turns. Source: RAIN of [FAST17].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ParityConfig {
    /// Members of a stripe: `width - 1` mapping units of data, and parity. It divides the number of
    /// pools. With 8, an eighth of what is stored is parity.
    #[schemars(range(min = 2, max = 64))]
    pub width: u32,
    /// Time to compute the parity of a stripe, or a member from the others. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub xor: Option<Time>,
    /// Writes whose flash is held by garbage collection.
    #[serde(default)]
    pub flush: ParityFlush,
    /// Rebuild of data on flash that has failed (`run.failures`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rebuild: Option<RebuildConfig>,
}

/// Superblocks: blocks that lie on several dies, are written row by row and erased as a whole. The
/// pages that lie in one row are stripes, with parity if it is asked for. Source: [FAST19].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SuperblockConfig {
    /// Dies of a superblock. They are taken in the order of `allocation.order`, without its planes,
    /// and divide the dies of the drive.
    #[schemars(range(min = 2, max = 1024))]
    pub dies: u32,
    /// Members of a stripe, by the source of the data.
    #[serde(default)]
    pub width: WidthConfig,
    /// Time to compute a member of a stripe from the others. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub xor: Option<Time>,
}

/// Limit of the firmware's tasks. A task is one operation of garbage collection, wear-leveling or
/// scrubbing, or the read of a member of a stripe for a rebuild. Source: [FAST19].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TasksConfig {
    /// Most tasks at a time, in each NVM set. What would begin one more waits.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub most: u32,
    /// Time for which a task still counts after its operation has ended, because the firmware decides
    /// what comes next. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub think: Option<Time>,
}

impl TasksConfig {
    /// Time for which a task counts after its operation.
    pub fn think(&self) -> Span {
        self.think.map_or(Span::ZERO, |think| think.span())
    }
}

/// Limit of outstanding programs, so that reads meet few of them. Source: [IODET],
/// "managing pressure".
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PressureConfig {
    /// Most programs and copy-backs of an NVM set that have been requested and have not ended. What would
    /// request one more waits.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub programs: u32,
}

/// Windows of predictable latency: in a deterministic window (DTWIN) maintenance is deferred, and in a
/// non-deterministic one (NDWIN) it goes on. The host chooses (`run.windows`). Source: [NVMBASE],
/// Predictable Latency Mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WindowsConfig {
    /// DTWIN Time Maximum: a deterministic window that is older ends.
    pub dtwin: Time,
    /// DTWIN Reads Typical: a deterministic window with more reads ends. Default: any number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub reads: Option<u64>,
    /// NDWIN Time Minimum Low: no deterministic window begins sooner after the last one.
    pub ndwin_low: Time,
    /// NDWIN Time Minimum High: the time that hosts should leave between deterministic windows that
    /// last their maximum. Hosts that name no time of their own (`run.windows.ndwin`) leave this one.
    pub ndwin_high: Time,
    /// DTWIN Reads Threshold: a warning comes once the estimate of the reads that are left has fallen
    /// to this number. Needs `reads`, and is below it. Default: no warning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reads_threshold: Option<u64>,
    /// DTWIN Writes Threshold: the same for writes, in Optimal Write Size. Default: no warning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub writes_threshold: Option<u64>,
    /// DTWIN Time Threshold: the same for time; below `dtwin`. Default: no warning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_threshold: Option<Time>,
}

impl SuperblockConfig {
    /// Time to compute a member of a stripe from the others.
    pub fn xor(&self) -> Span {
        self.xor.map_or(Span::ZERO, |xor| xor.span())
    }
    /// Members of a stripe, by stream.
    pub(crate) fn widths(&self) -> [Option<u32>; STREAMS] {
        [self.width.host, self.width.collection, self.width.scrub]
    }
}

/// Members of a stripe, parity included: programs of `width - 1` dies, and their parity on one more
/// die. A width divides `dies`. With 8, an eighth of a superblock is parity.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WidthConfig {
    /// Of host writes. Default: no parity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 2, max = 64))]
    pub host: Option<u32>,
    /// Of data that garbage collection moves. Default: no parity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 2, max = 64))]
    pub collection: Option<u32>,
    /// Of data that scrubbing moves to open blocks of its own (`scrub.stream`). Default: no parity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 2, max = 64))]
    pub scrub: Option<u32>,
}

/// Rebuild of data on flash that has failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "policy", rename_all = "kebab-case")]
pub enum RebuildConfig {
    /// The data is computed whenever it is read, and is elsewhere only once it is written anew.
    None {},
    /// A task in the background computes the data and programs it on other flash.
    Background {
        /// Most data that it begins to rebuild in a time. Default: no limit.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        rate: Option<Rate>,
        /// Strips of data that it rebuilds at a time. Default: 1.
        #[serde(default = "one")]
        at_once: u32,
    },
}

fn one() -> u32 {
    1
}

/// The end of a stripe's update if garbage collection holds the flash of one of its members.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ParityFlush {
    /// The update waits for all of its programs.
    #[default]
    Wait,
    /// The update ends without it: the member stays in the write buffer, which capacitors protect,
    /// and is programmed when garbage collection allows it. Source: GTF of [FAST17].
    GcTolerant,
}

/// Over-provisioning. Papers divide by different capacities, so there are several keys; give
/// exactly one.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("minProperties" = 1, "maxProperties" = 1))]
pub struct OverProvisioning {
    /// Spare over exported capacity: physical / exported - 1. With `parity`, the exported capacity
    /// counts with its parity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spare: Option<Share>,
    /// Share of the physical capacity (without summary pages) that is not exported:
    /// 1 - exported / physical. With `parity`, the exported capacity counts with its parity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reserved: Option<Share>,
    /// The exported capacity itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exported: Option<Size>,
}

impl OverProvisioning {
    /// Exported bytes of a drive of `physical` bytes; `None` unless exactly one
    /// key is given.
    pub fn exported_bytes(&self, physical: u128) -> Option<u128> {
        match (self.spare, self.reserved, self.exported) {
            (Some(spare), None, None) => Some((physical as f64 / (1.0 + spare.fraction())) as u128),
            (None, Some(share), None) => Some((physical as f64 * (1.0 - share.fraction())) as u128),
            (None, None, Some(size)) => Some(u128::from(size.bytes())),
            _ => None,
        }
    }
}

/// Bad blocks.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BadBlocksConfig {
    /// Share of the blocks that left the factory bad, drawn at random per plane.
    pub factory: Share,
    /// Probability that an erase fails and its block is retired (a grown bad block).
    pub grown_per_erase: Share,
}
