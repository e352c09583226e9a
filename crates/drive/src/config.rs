//! Configuration of a drive around its flash and firmware: the `[drive]` table. Each crate declares
//! its own part.

use crate::policies::channel::ChannelOrder;
use crate::policies::rotation::Rotation;
use crate::policies::routing::ReadRouting;
use crate::policies::scheduling::Bypass;
use crate::policies::suspension::Suspension;
use crate::recovery::RecoveryConfig;
use ftl::{FtlConfig, Layout};
use host::Kind;
use nand::{ConcurrencyConfig, Geometry, GeometryConfig, NandConfig, UnitLevel};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use settings::{Rate, Share, Size, Time};

/// A drive. Usually a preset with overrides.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DriveConfig {
    /// A drive that ships with flashscape; it gives every figure that is not given here. Without a
    /// preset everything must be given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preset: Option<String>,
    /// Arrangement of the flash: channels, packages, dies, planes, blocks and pages.
    pub geometry: GeometryConfig,
    /// Timing of the flash and of its bus.
    pub nand: NandConfig,
    /// The unit that each flash command keeps busy.
    pub concurrency: ConcurrencyConfig,
    /// The flash translation layer.
    pub ftl: FtlConfig,
    /// Order of operations.
    pub scheduler: SchedulerConfig,
    /// The write buffer.
    pub buffer: BufferConfig,
    /// The link to the host. Without it transfers to and from the host take no time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<LinkConfig>,
    /// Time that the firmware takes for each command. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub firmware: Option<FirmwareConfig>,
    /// Recovery from power cuts. The drive keeps 4 bytes of metadata for each physical unit for it.
    /// Default: the drive cannot recover.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recovery: Option<RecoveryConfig>,
}

impl DriveConfig {
    /// The link to the host, or one that takes no time.
    pub fn host_link(&self) -> LinkConfig {
        self.link.unwrap_or_default()
    }
    /// Time that the firmware takes for each command, or none.
    pub fn overheads(&self) -> FirmwareConfig {
        self.firmware.unwrap_or_default()
    }
}

/// Order of operations on a flash unit.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SchedulerConfig {
    /// Operations that may go before one whose turn it is.
    pub bypass: Bypass,
    /// Rounds, in which operations start together. Default: each starts as soon as its unit is
    /// free.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rounds: Option<RoundsConfig>,
    /// Order in which a channel serves the operations that wait for it. Default: `out-first`.
    #[serde(default)]
    pub channel: ChannelOrder,
    /// Action of a read that meets collection, or an erase or a program that may be suspended.
    /// Default: `suspend`.
    #[serde(default)]
    pub read_routing: ReadRouting,
    /// Suspension of erases for reads. Default: `baseline`.
    #[serde(default)]
    pub suspension: Suspension,
    /// Bounds on the suspension of an erase: for which reads, and how often. Not with `baseline`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suspension_bounds: Option<SuspensionBounds>,
    /// Turns of collections in the planes of a group of stripes. Default: `none`. Others need
    /// `ftl.parity`.
    #[serde(default)]
    pub rotation: Rotation,
    /// Erases that are ready wait for a burst of reads to end, and then run one after the other.
    /// Default: an erase starts when it is its turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub erase_batching: Option<EraseBatching>,
    /// Suspension of programs for reads. Default: `baseline`. Others need `nand.program_steps`.
    #[serde(default)]
    pub program_suspension: Suspension,
    /// Bounds on the suspension of a program: for which reads, and how often. Not with `baseline`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program_suspension_bounds: Option<SuspensionBounds>,
}

impl SchedulerConfig {
    /// Planes of the smallest group whose operations are scheduled together; `None` without rounds,
    /// or if planes do not come in pairs.
    pub fn group(&self, geometry: &Geometry) -> Option<u32> {
        self.rounds.and_then(|rounds| rounds.unit.planes(geometry))
    }
}

/// Operations of a package (or a gang) go in rounds: one starts on each of its units, and the next
/// round starts once all of them have ended. A batch is the set of operations that wait when the
/// last batch is done: its reads go first, then its programs, then collection. The simulator of
/// ATC'08 interleaves in this way.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RoundsConfig {
    /// The level that has rounds of its own; the units of `concurrency` inside it work in parallel.
    pub unit: RoundsLevel,
    /// Start of garbage collection between rounds. Default: `when-asked`.
    #[serde(default)]
    pub collect: RoundCollection,
    /// Most operations of a kind in a batch, if the level has several units. Default: 100.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub most: Option<u32>,
}

impl RoundsConfig {
    /// Most operations of a kind in a batch.
    pub fn most(&self) -> u32 {
        self.most.unwrap_or(100)
    }
}

/// The level that has rounds of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RoundsLevel {
    /// One plane.
    Plane,
    /// Two neighbouring planes.
    PlanePair,
    /// One die.
    Die,
    /// One package.
    Package,
    /// All packages of a channel.
    Channel,
    /// All channels of a gang (`geometry.gang`).
    Gang,
}

impl RoundsLevel {
    /// Planes of this level; `None` if planes do not come in pairs.
    pub fn planes(self, geometry: &Geometry) -> Option<u32> {
        match self {
            Self::Plane => Some(1),
            Self::PlanePair => geometry.planes_in(UnitLevel::PlanePair),
            Self::Die => geometry.planes_in(UnitLevel::Die),
            Self::Package => geometry.planes_in(UnitLevel::Package),
            Self::Channel => Some(geometry.planes_per_channel()),
            Self::Gang => Some(geometry.planes_per_channel() * geometry.gang_channels),
        }
    }
}

/// Start of garbage collection between rounds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RoundCollection {
    /// In the foreground: when an operation waits, which the collection then delays.
    #[default]
    WhenAsked,
    /// In the background: as soon as a threshold asks for collection.
    AtOnce,
}

/// Erases that are ready wait until a burst of reads is over. Erases of foreground GC do not wait.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EraseBatching {
    /// The burst is over when no host read has used the unit for this long.
    pub quiet: Time,
    /// Once this many erases of a bin wait, they no longer wait for the burst to end. Default: 8.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 2))]
    pub most: Option<u32>,
}

impl EraseBatching {
    /// Number of waiting erases of a bin from which they no longer wait for the burst to end.
    pub fn most(&self) -> u32 {
        self.most.unwrap_or(8)
    }
}

/// Bounds on the suspension of an operation.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SuspensionBounds {
    /// Reads that the operation is suspended for. Default: `host-reads`.
    #[serde(default)]
    pub by: SuspendedBy,
    /// Most suspensions of one operation. Default: no bound.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub most: Option<u32>,
    /// Minimum time from the start of the operation, or from its last resume, to its next
    /// suspension. Default: `0 s`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gap: Option<Time>,
}

/// Reads that an operation is suspended for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SuspendedBy {
    /// Host reads.
    #[default]
    HostReads,
    /// All reads, including those of collection, of scrubbing and of a read-modify-write.
    Reads,
}

/// The write buffer.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BufferConfig {
    /// Durability of buffered data: it decides when a write is acknowledged and what a flush must
    /// do.
    pub durability: Durability,
    /// Capacity of the buffer; it also bounds the data that is being programmed.
    pub size: Size,
    /// Time to copy a request's data into or out of the buffer.
    pub latency: Time,
    /// Copies into and out of the buffer go one after the other, in order of asking, as through one
    /// channel of DRAM. If false, any number of copies runs at once.
    #[serde(default)]
    pub serial: bool,
    /// The moment at which buffered data goes to flash.
    pub flush: FlushPolicy,
    /// The order in which buffered data goes to flash.
    pub order: BufferOrder,
    /// A batch that is not full is padded and programmed when its first unit has waited for this
    /// long. Without it, only a flush or a full buffer forces out such a batch. (With durability
    /// `none` and without this key, every batch is programmed at once, full or not.)
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partial_after: Option<Time>,
    /// Most programs of a bin that wait or run at a time; later data stays in the buffer, where it
    /// may still be overwritten. Default: 2, one that runs and one that is ready. Not with
    /// durability `none`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1024))]
    pub programs_per_bin: Option<u32>,
    /// Reads are served from the buffer. If false, a read of buffered data waits until the data is
    /// on flash and reads it there.
    pub read_hits: bool,
}

impl BufferConfig {
    /// Most programs of a bin that wait or run at a time.
    #[inline]
    pub fn programs_per_bin(&self) -> u32 {
        self.programs_per_bin.unwrap_or(2)
    }
    /// Capacity of the buffer in mapping units.
    pub fn units(&self, layout: &Layout) -> u32 {
        let units = self.size.bytes() / layout.unit_bytes / u64::from(layout.set_count());
        u32::try_from(units).unwrap_or(u32::MAX)
    }
}

/// Durability of the write buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Durability {
    /// Writes are acknowledged once they are on flash; a flush has nothing to do.
    None,
    /// Writes are acknowledged from the buffer; a flush empties it.
    Volatile,
    /// Writes are acknowledged from the buffer, whose data survives a power cut; a flush has
    /// nothing to do.
    Capacitor,
}

/// The moment at which buffered data goes to flash.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "policy", rename_all = "kebab-case")]
pub enum FlushPolicy {
    /// As soon as a batch is full.
    Eager {},
    /// Flushing begins when the buffer is `high` full and ends when the waiting data fills `low` of
    /// it.
    Watermark {
        /// Fill level at which flushing begins.
        high: Share,
        /// Fill level at which flushing ends.
        low: Share,
    },
}

/// The order in which buffered data goes to flash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum BufferOrder {
    /// The data that came first.
    Fifo,
    /// The data that was written longest ago. Not with durability `none`, which overwrites nothing
    /// in the buffer.
    Lru,
}

/// The link to the host.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinkConfig {
    /// Data rate in each direction, net of the protocol. Without it transfers take no time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<Rate>,
    /// Use of the link's two directions. Default: `full`. Needs a `rate`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duplex: Option<Duplex>,
}

/// Use of the two directions of a link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Duplex {
    /// Both at once (PCIe).
    #[default]
    Full,
    /// One at a time (a parallel or SATA link).
    Half,
    /// One bus for everything: a command needs it to begin and to end, with or without data, and
    /// commands that are done go before new ones (ATC 2008).
    Bus,
}

/// Time that the firmware takes for each command before it acts on it. The firmware processes any
/// number of commands at once.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FirmwareConfig {
    /// For a read.
    pub read: Time,
    /// For a write.
    pub write: Time,
    /// For a trim or write-zeroes.
    pub trim: Time,
    /// For a flush.
    pub flush: Time,
}

impl FirmwareConfig {
    /// The time for a command of a kind.
    #[inline]
    pub fn overhead(&self, kind: Kind) -> engine::Span {
        match kind {
            Kind::Read => self.read,
            Kind::Write => self.write,
            Kind::Trim | Kind::WriteZeroes => self.trim,
            Kind::Flush => self.flush,
        }
        .span()
    }
}
