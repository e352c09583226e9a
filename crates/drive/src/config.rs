//! What a user says about a drive around its flash and firmware: the `[drive]`
//! table. Each room declares its own part.

use crate::policies::channel::ChannelOrder;
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

/// A drive. Usually a preset's, with overrides.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DriveConfig {
    /// A drive that ships with flashscape, whose figures stand where none is given
    /// here. Without it everything must be given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preset: Option<String>,
    /// How the flash is arranged.
    pub geometry: GeometryConfig,
    /// How fast the flash and its bus are.
    pub nand: NandConfig,
    /// What each flash command keeps busy.
    pub concurrency: ConcurrencyConfig,
    /// The flash translation layer.
    pub ftl: FtlConfig,
    /// Who goes first.
    pub scheduler: SchedulerConfig,
    /// The write buffer.
    pub buffer: BufferConfig,
    /// The link to the host. Without it crossing takes no time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<LinkConfig>,
    /// Time that the firmware takes for each command. Without it: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub firmware: Option<FirmwareConfig>,
    /// How the drive recovers from a power cut: it keeps metadata for that, 4 bytes for each
    /// physical unit. Default: it does not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recovery: Option<RecoveryConfig>,
}

impl DriveConfig {
    /// The link to the host, or one that takes no time.
    pub fn host_link(&self) -> LinkConfig {
        self.link.unwrap_or_default()
    }
    /// What the firmware takes for each command, or no time.
    pub fn overheads(&self) -> FirmwareConfig {
        self.firmware.unwrap_or_default()
    }
}

/// Order of operations on a flash unit.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SchedulerConfig {
    /// Which operations may go before one whose turn it is.
    pub bypass: Bypass,
    /// Operations go in rounds. Default: each begins as soon as its unit is free.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rounds: Option<RoundsConfig>,
    /// Who gets a channel that falls free. Default: `out-first`.
    #[serde(default)]
    pub channel: ChannelOrder,
    /// What a read does that meets an erase, or a program, that may be suspended. Default:
    /// `suspend`.
    #[serde(default)]
    pub read_routing: ReadRouting,
    /// How an erase is suspended for reads. Default: `baseline`.
    #[serde(default)]
    pub suspension: Suspension,
    /// Who may interrupt an erase, and how often. Not with `baseline`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suspension_bounds: Option<SuspensionBounds>,
    /// Erases that are ready wait for a burst of reads to end, and then run one after the
    /// other. Default: they begin when it is their turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub erase_batching: Option<EraseBatching>,
    /// How a program is suspended for reads. Default: `baseline`. Others need
    /// `nand.program_steps`.
    #[serde(default)]
    pub program_suspension: Suspension,
    /// Who may interrupt a program, and how often. Not with `baseline`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program_suspension_bounds: Option<SuspensionBounds>,
}

impl SchedulerConfig {
    /// The least that operations are scheduled together in.
    /// in planes.
    pub fn group(&self, geometry: &Geometry) -> Option<u32> {
        self.rounds.and_then(|rounds| rounds.unit.planes(geometry))
    }
}

/// Operations of a package (or a gang) go in rounds, one on each of its units, and none begins
/// before all of a round have ended. A batch is what waits when the last one is done: its reads
/// go first, then its programs, then collection. The simulator of ATC'08 interleaves so.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RoundsConfig {
    /// What has rounds of its own; units of `concurrency` go in parallel within.
    pub unit: RoundsLevel,
    /// When collection begins. Default: `when-asked`.
    #[serde(default)]
    pub collect: RoundCollection,
    /// Operations of a kind in a batch, where there are several units. Default: 100.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub most: Option<u32>,
}

impl RoundsConfig {
    /// Operations of a kind in a batch.
    pub fn most(&self) -> u32 {
        self.most.unwrap_or(100)
    }
}

/// What has rounds of its own.
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
    /// How many planes that is; `None` where planes do not come in pairs.
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

/// When collection begins between rounds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RoundCollection {
    /// In the foreground: when something waits that it then delays.
    #[default]
    WhenAsked,
    /// In the background: as soon as a threshold asks for it.
    AtOnce,
}

/// Erases that are ready wait until a burst of reads is over. One of foreground GC
/// does not wait.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EraseBatching {
    /// The burst is over when no host read has used the unit for this long.
    pub quiet: Time,
    /// When so many erases of a bin wait they wait for a quiet moment no longer. Default: 8.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 2))]
    pub most: Option<u32>,
}

impl EraseBatching {
    /// When so many erases of a bin wait they wait no longer.
    pub fn most(&self) -> u32 {
        self.most.unwrap_or(8)
    }
}

/// Who may interrupt an operation, and how often.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SuspensionBounds {
    /// Which reads it is suspended for. Default: `host-reads`.
    #[serde(default)]
    pub by: SuspendedBy,
    /// Times that one operation is suspended at most. Default: no bound.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub most: Option<u32>,
    /// Refractory gap: after it has begun, or gone on, it is not suspended for so long.
    /// Default: `0 s`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gap: Option<Time>,
}

/// Which reads an operation is suspended for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SuspendedBy {
    /// Reads that hosts wait for.
    #[default]
    HostReads,
    /// All reads: also those of collection, of scrubbing, and before partial writes.
    Reads,
}

/// The write buffer.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BufferConfig {
    /// When a write is acknowledged, and what a flush has to do.
    pub durability: Durability,
    /// Data that it holds; also the bound on data that is being programmed.
    pub size: Size,
    /// Time to copy a request's data into or out of the buffer.
    pub latency: Time,
    /// Whether such copies go one after the other, in order of asking, as through one channel of
    /// DRAM. If not, any number goes at once.
    #[serde(default)]
    pub serial: bool,
    /// When data goes to flash.
    pub flush: FlushPolicy,
    /// Which data goes to flash first.
    pub order: BufferOrder,
    /// A batch that is not full goes out, padded, when its first unit has waited
    /// for this long. Without it: only when a flush or a full buffer asks. (With
    /// durability `none` and without it, batches go out as they are, at once.)
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partial_after: Option<Time>,
    /// Programs that wait or run in a bin at a time; later data stays in the
    /// buffer, where it may still be overwritten. Default: 2, one that runs and one
    /// that is ready. Not with durability `none`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1024))]
    pub programs_per_bin: Option<u32>,
    /// Whether reads are served from the buffer. If not, a read waits until the
    /// data is on flash and reads it there.
    pub read_hits: bool,
}

impl BufferConfig {
    /// Programs that wait or run in a bin at a time.
    #[inline]
    pub fn programs_per_bin(&self) -> u32 {
        self.programs_per_bin.unwrap_or(2)
    }
    /// Mapping units that the buffer holds.
    pub fn units(&self, layout: &Layout) -> u32 {
        u32::try_from(self.size.bytes() / layout.unit_bytes).unwrap_or(u32::MAX)
    }
}

/// What a write buffer survives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Durability {
    /// Writes are acknowledged once they are on flash; a flush has nothing to do.
    None,
    /// Writes are acknowledged from the buffer, which a flush empties.
    Volatile,
    /// Writes are acknowledged from the buffer, which survives a power cut; a
    /// flush has nothing to do.
    Capacitor,
}

/// When buffered data goes to flash.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "policy", rename_all = "kebab-case")]
pub enum FlushPolicy {
    /// As soon as a batch is full.
    Eager {},
    /// From when the buffer is `high` full until what waits is `low` of it.
    Watermark {
        /// Where writing to flash begins.
        high: Share,
        /// Where it ends.
        low: Share,
    },
}

/// Which buffered data goes to flash first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum BufferOrder {
    /// What came first.
    Fifo,
    /// What was written longest ago. Not with durability `none`, where nothing is
    /// overwritten in the buffer.
    Lru,
}

/// The link to the host.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinkConfig {
    /// Data rate in each direction, net of the protocol. Without it: no time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<Rate>,
    /// Whether both directions work at once. Default: `full`. Needs a `rate`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duplex: Option<Duplex>,
}

/// Whether both directions of a link work at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Duplex {
    /// Both at once (PCIe).
    #[default]
    Full,
    /// One at a time (a parallel or SATA link).
    Half,
    /// One bus for all: a command needs it to begin and to end, with data or without, and those
    /// that are done go before new ones (ATC 2008).
    Bus,
}

/// Time that the firmware takes for each command before it acts on it. The
/// firmware handles any number at once.
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
