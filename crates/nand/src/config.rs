//! Configuration of the flash: the `[drive.geometry]`, `[drive.nand]` and `[drive.concurrency]`
//! tables.

use crate::errors::{ErrorsConfig, FaultsConfig};
use engine::Span;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use settings::{Rate, Share, Size, Time};

/// Arrangement of the flash, from channels down to pages.
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
    /// Spare bytes (metadata and ECC) that each whole page carries over the channel; a part of a
    /// page carries its share of them.
    pub page_spare: Size,
    /// Gangs of channels that share their control lines. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gang: Option<GangConfig>,
}

/// A gang: channels with data lines of their own whose packages share control lines. (Packages
/// that share data lines as well are on one channel.)
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GangConfig {
    /// Channels of a gang; divides `channels`.
    #[schemars(range(min = 2, max = 256))]
    pub channels: u32,
    /// Control of the packages of a gang: independent, or all together.
    pub control: GangControl,
}

/// Control of the packages of a gang.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum GangControl {
    /// Each package by itself. Commands occupy the shared control lines for no time, so a gang
    /// matters only to rounds and pools of a gang.
    Asynchronous,
    /// All packages together, as one package: its page spans all channels of the gang, is as many
    /// times larger, and crosses all of them at a time.
    Synchronous,
}

/// Bits stored in a memory cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CellKind {
    /// One bit per cell.
    Slc,
    /// Two bits per cell: lower and upper pages.
    Mlc,
    /// Three bits per cell: lower, middle and upper pages.
    Tlc,
    /// Four bits per cell.
    Qlc,
}

impl CellKind {
    /// Bits per cell, which is also the number of page types.
    pub const fn bits(self) -> u32 {
        match self {
            Self::Slc => 1,
            Self::Mlc => 2,
            Self::Tlc => 3,
            Self::Qlc => 4,
        }
    }
}

/// Pages of a plane between which a copy-back may move data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CopyBackPages {
    /// From any page to any other.
    #[default]
    Any,
    /// From an odd page of a block to an odd one, from an even page to an even one. A page that does
    /// not fit stays without data.
    OddEven,
}

/// Timing and endurance of the flash and its bus.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NandConfig {
    /// Bits per cell.
    pub cell: CellKind,
    /// Time to sense a page into its register (tR): one figure for all pages, or one for each
    /// page type from the lower page up. Page `i` of a block is of type `i mod bits`.
    #[schemars(length(min = 1, max = 4))]
    pub read: Vec<Time>,
    /// Time to program a page from its register (tPROG), given as for `read`.
    #[schemars(length(min = 1, max = 4))]
    pub program: Vec<Time>,
    /// Pulses of a program. They matter only if something interrupts programs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program_steps: Option<ProgramStepsConfig>,
    /// Pulses of an erase.
    pub erase: EraseConfig,
    /// Bit errors, and the code that corrects them. Default: flash has no errors.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub errors: Option<ErrorsConfig>,
    /// Faults of pages, word lines and dies. Needs `errors`. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub faults: Option<FaultsConfig>,
    /// Rise of a block's raw bit error rate per 1000 interruptions of its erases and programs;
    /// each pair of ramp and recovery that an interruption adds counts as one. Default: no rise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_rate_per_1000_suspensions: Option<Share>,
    /// Time to decode (ECC) the data of a read. Decoders work in parallel with the channel, and
    /// there are always enough of them.
    pub decode: Time,
    /// Bytes of a codeword, the least data that can be decoded. A host read of a part of a
    /// mapping unit (of a page, if units are larger) then transfers only the codewords that it
    /// touches. The size must divide both unit and page. Default: reads transfer whole mapping
    /// units (pages). Not with a synchronous gang.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub codeword: Option<Size>,
    /// Pages between which a copy-back (`ftl.gc.copy_back`) may move data. Default: any.
    #[serde(default)]
    pub copy_back_pages: CopyBackPages,
    /// Rate of each channel: bytes per second, or transfers per second on its 8-bit bus.
    pub channel: Rate,
    /// Times for which the cycles of each command hold the channel. Default: the cycles take no
    /// time, and a read or an erase starts even while its channel is transferring.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command_cycles: Option<CommandCyclesConfig>,
    /// Program and erase cycles that a block endures before it is retired; 0 means that it never
    /// wears out.
    pub endurance: u32,
}

impl NandConfig {
    /// The slowest and the fastest channel: asynchronous at 25 ns per byte, as in the ATC'08
    /// paper, and Toggle DDR6.0 at 4.8 Gb/s per pin. Transfers round to nanoseconds; on faster
    /// channels this rounding would begin to matter.
    const CHANNEL_RANGE: [u64; 2] = [40_000_000, 4_800_000_000];

    /// Factor by which interruptions that added `ramps` pairs of ramp and recovery raise a
    /// block's raw bit error rate.
    pub fn error_rate_factor(&self, ramps: u32) -> f64 {
        let each = self.error_rate_per_1000_suspensions.map_or(0.0, |share| share.fraction());
        1.0 + each * f64::from(ramps) / 1000.0
    }

    /// Values out of range, by key.
    pub fn faults(&self) -> Vec<(&'static str, String)> {
        let [least, most] = Self::CHANNEL_RANGE;
        let mut faults = Vec::new();
        if !(least..=most).contains(&self.channel.bytes_per_second()) {
            let rate = self.channel;
            let range = "40 MB/s (25 ns a byte) to 4800 MT/s (Toggle DDR6.0)";
            faults
                .push(("channel", format!("{rate} is outside the range of a flash bus, {range}")));
        }
        faults
    }
}

/// Times for which the command and address cycles hold the channel. A program's data follow its
/// cycles at once; a copy-back takes the cycles of a read and of a program.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CommandCyclesConfig {
    /// Cycles to sense a page.
    pub read: Time,
    /// Cycles to program a page.
    pub program: Time,
    /// Cycles to erase a block.
    pub erase: Time,
}

/// Pulses of an erase, a row of equal steps (incremental step pulse erasing). Each step ramps the
/// voltage up, executes the pulse, recovers and verifies; the block is erased after the last
/// step. An erase takes `steps` times the sum of these phases.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EraseConfig {
    /// Erase pulses per block.
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

/// Pulses of a program, a row of equal steps (incremental step pulse programming). The time
/// `program` is divided by their number; the last step takes the remainder. A step executes the
/// pulse in the time that ramp, recovery and verify leave.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProgramStepsConfig {
    /// Program pulses per page.
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
    /// Time of a step without the pulse itself. Configured times have no upper limit, so the sum
    /// saturates.
    pub fn overhead(&self) -> Span {
        let phases = [self.ramp, self.recover, self.verify];
        let ns = phases.iter().map(|phase| phase.span().as_ns());
        Span::from_ns(ns.fold(0, u64::saturating_add))
    }
}

impl EraseConfig {
    /// Time of an undisturbed erase in nanoseconds; it may be more than can be simulated.
    pub fn whole_ns(&self) -> u128 {
        let phases = [self.ramp, self.execute, self.recover, self.verify];
        let step: u128 = phases.iter().map(|phase| u128::from(phase.span().as_ns())).sum();
        step * u128::from(self.steps)
    }
}

/// A part of the flash that a command occupies.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum UnitLevel {
    /// One plane: planes of a die work independently.
    Plane,
    /// Two adjacent planes (0 and 1, 2 and 3).
    PlanePair,
    /// One die with all its planes.
    Die,
    /// One package with all its dies (no interleaving).
    Package,
    /// One channel with all its packages.
    Channel,
}

/// Units that each command occupies while it lasts. With reads on planes and programs on the die,
/// reads of different planes overlap, and a program excludes every other command of its die.
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
