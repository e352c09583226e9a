//! What a user says about the flash: the `[drive.geometry]`, `[drive.nand]` and
//! `[drive.concurrency]` tables.

use engine::Span;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use settings::{Rate, Share, Size, Time};

/// How the flash is arranged, from channels down to pages.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GeometryConfig {
    /// Channels (buses) between the controller and the flash.
    #[schemars(range(min = 1, max = 256))]
    pub channels: u32,
    /// Flash packages on each channel; they share its bus.
    #[schemars(range(min = 1, max = 64))]
    pub packages_per_channel: u32,
    /// Dies in a package, each with a chip enable and a ready/busy line of its own.
    #[schemars(range(min = 1, max = 64))]
    pub dies_per_package: u32,
    /// Planes in a die.
    #[schemars(range(min = 1, max = 64))]
    pub planes_per_die: u32,
    /// Erase blocks in a plane.
    #[schemars(range(min = 1, max = 16_777_216))]
    pub blocks_per_plane: u32,
    /// Pages in an erase block; they are programmed in order.
    #[schemars(range(min = 1, max = 65_536))]
    pub pages_per_block: u32,
    /// Bytes of user data in a page.
    pub page_size: Size,
    /// Spare bytes (metadata and ECC) that travel with each whole page over the
    /// channel; parts of a page carry their share.
    pub page_spare: Size,
    /// Channels that share their control lines. Default: none do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gang: Option<GangConfig>,
}

/// Channels with data lines of their own whose packages share control lines. Packages that
/// share data lines as well are those of one channel.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GangConfig {
    /// Channels of a gang; divides `channels`.
    #[schemars(range(min = 2, max = 256))]
    pub channels: u32,
    /// Whether they do the same thing at the same time.
    pub control: GangControl,
}

/// How the packages of a gang are controlled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum GangControl {
    /// Each by itself: commands take no time of the lines that they share. Rounds of a gang and
    /// pools of a gang refer to it.
    Asynchronous,
    /// All together, as one package with pages of all: its page is as many times larger, and
    /// crosses all channels at a time.
    Synchronous,
}

/// Bits kept in a memory cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CellKind {
    /// One bit a cell.
    Slc,
    /// Two bits a cell: lower and upper pages.
    Mlc,
    /// Three bits a cell: lower, middle and upper pages.
    Tlc,
    /// Four bits a cell.
    Qlc,
}

impl CellKind {
    /// Bits a cell, which is also the number of page types.
    pub const fn bits(self) -> u32 {
        match self {
            Self::Slc => 1,
            Self::Mlc => 2,
            Self::Tlc => 3,
            Self::Qlc => 4,
        }
    }
}

/// How fast the flash and its bus are.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NandConfig {
    /// Bits a cell.
    pub cell: CellKind,
    /// Time to sense a page into its register (tR): one figure for all pages, or
    /// one for each page type from the lower page up. Page `i` of a block is of
    /// type `i mod bits`.
    #[schemars(length(min = 1, max = 4))]
    pub read: Vec<Time>,
    /// Time to program a page from its register (tPROG), given as for `read`.
    #[schemars(length(min = 1, max = 4))]
    pub program: Vec<Time>,
    /// The pulses that a program consists of; they matter where something interrupts it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program_steps: Option<ProgramStepsConfig>,
    /// How a block is erased.
    pub erase: EraseConfig,
    /// By how much 1000 interruptions of a block's erases and programs raise its raw bit
    /// error rate; each pair of ramp and recovery that an interruption adds counts one.
    /// Default: not at all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_rate_per_1000_suspensions: Option<Share>,
    /// Time to decode (ECC) what a read has transferred; decoders work beside
    /// the channel and are never short.
    pub decode: Time,
    /// Bytes that are decoded by themselves: a host's read of a part of a mapping unit (of a page,
    /// where units are larger) transfers the codewords that it touches. It divides both. Default:
    /// reads transfer whole mapping units (pages). Not with a synchronous gang.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub codeword: Option<Size>,
    /// Rate of each channel: bytes a second, or transfers a second on its 8-bit bus.
    pub channel: Rate,
    /// How long the cycles of each command hold the channel. Default: they take no time, and a
    /// read or an erase begins whatever its channel carries.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command_cycles: Option<CommandCyclesConfig>,
    /// Program and erase cycles that a block endures before it is retired;
    /// 0 means that it never wears out.
    pub endurance: u32,
}

impl NandConfig {
    /// The slowest and the fastest channel: asynchronous at 25 ns a byte, as in the
    /// ATC'08 paper, and Toggle DDR6.0 at 4.8 Gb/s a pin. Transfers round to
    /// nanoseconds, and faster ones would begin to lose by it.
    const CHANNEL_RANGE: [u64; 2] = [40_000_000, 4_800_000_000];

    /// The factor by which interruptions that added `ramps` pairs of ramp and recovery raise a
    /// block's raw bit error rate.
    pub fn error_rate_factor(&self, ramps: u32) -> f64 {
        let each = self.error_rate_per_1000_suspensions.map_or(0.0, |share| share.fraction());
        1.0 + each * f64::from(ramps) / 1000.0
    }

    /// What is out of range, by key.
    pub fn faults(&self) -> Vec<(&'static str, String)> {
        let [least, most] = Self::CHANNEL_RANGE;
        let mut faults = Vec::new();
        if !(least..=most).contains(&self.channel.bytes_per_second()) {
            let rate = self.channel;
            let range = "40 MB/s (25 ns a byte) to 4800 MT/s (Toggle DDR6.0)";
            faults.push(("channel", format!("{rate} is no flash bus: they run at {range}")));
        }
        faults
    }
}

/// How long the command and address cycles of a command hold the channel. A program's data follow
/// its cycles at once; a copy-back takes those of a read and of a program.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CommandCyclesConfig {
    /// Of the sensing of a page.
    pub read: Time,
    /// Of the programming of a page.
    pub program: Time,
    /// Of an erase.
    pub erase: Time,
}

/// An erase is a row of equal steps (incremental step pulse erasing). Each step
/// ramps the voltage up, executes the pulse, recovers and verifies; a block is
/// erased after the last. The duration of an erase is `steps` times their sum.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EraseConfig {
    /// Erase pulses a block takes.
    #[schemars(range(min = 1, max = 64))]
    pub steps: u32,
    /// Voltage ramp of a step.
    pub ramp: Time,
    /// Execution of a step: the pulse itself.
    pub execute: Time,
    /// Voltage recovery of a step.
    pub recover: Time,
    /// Verify that ends a step.
    pub verify: Time,
}

/// A program is a row of equal steps, too (incremental step pulse programming): `program`
/// is divided by their number, the last step takes what is left, and what a step does not
/// need to ramp, recover and verify it executes.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProgramStepsConfig {
    /// Program pulses a page takes.
    #[schemars(range(min = 1, max = 64))]
    pub steps: u32,
    /// Voltage ramp of a step.
    pub ramp: Time,
    /// Voltage recovery of a step.
    pub recover: Time,
    /// Verify that ends a step.
    pub verify: Time,
}

impl ProgramStepsConfig {
    /// What a step does not execute; times of any length may be given, so it may be cut.
    pub fn overhead(&self) -> Span {
        let phases = [self.ramp, self.recover, self.verify];
        let ns = phases.iter().map(|phase| phase.span().as_ns());
        Span::from_ns(ns.fold(0, u64::saturating_add))
    }
}

impl EraseConfig {
    /// The whole erase, undisturbed, in nanoseconds; it may be more than can be simulated.
    pub fn whole_ns(&self) -> u128 {
        let phases = [self.ramp, self.execute, self.recover, self.verify];
        let step: u128 = phases.iter().map(|phase| u128::from(phase.span().as_ns())).sum();
        step * u128::from(self.steps)
    }
}

/// A part of the flash that works on one thing at a time.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum UnitLevel {
    /// One plane: planes of a die work independently.
    Plane,
    /// Two neighbouring planes (0 and 1, 2 and 3).
    PlanePair,
    /// One die, all its planes together.
    Die,
    /// One package, all its dies together (no interleaving).
    Package,
    /// All packages of a channel together.
    Channel,
}

/// What each command keeps busy for as long as it lasts. A read on planes beside
/// a program on the die means: reads of different planes overlap, a program
/// shuts out every other command of its die.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ConcurrencyConfig {
    /// Unit that a read occupies.
    pub read: UnitLevel,
    /// Unit that a program (or a copy-back) occupies.
    pub program: UnitLevel,
    /// Unit that an erase occupies.
    pub erase: UnitLevel,
}
