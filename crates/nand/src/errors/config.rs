//! Configuration of bit errors: the `[drive.nand.errors]` table.

use crate::errors::{Chip, Mechanisms};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use settings::{Share, Size, Time};

/// Bit errors of the flash, and the code that corrects them.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ErrorsConfig {
    /// A chip whose constants ship with flashscape. Give this or `constants`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chip: Option<Chip>,
    /// Constants of the raw bit error rate. Give these or `chip`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub constants: Option<Mechanisms>,
    /// Data bytes of a codeword: errors are counted over their bits.
    pub codeword: Size,
    /// Codewords that are decoded for a whole page. Default: as many as it holds. With fewer, each
    /// stands for a larger part of the page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 4096))]
    pub codewords_per_page: Option<u32>,
    /// Errors that the code corrects in a codeword. Default: any number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub corrects: Option<u32>,
    /// Number of errors of a codeword: drawn, or the expected one. Default: `drawn`.
    #[serde(default)]
    pub counting: Counting,
    /// Factor by which each re-read, with other threshold voltages, lowers the errors of a
    /// codeword.
    #[schemars(range(min = 1.0, max = 1000.0))]
    pub re_read_scale: f64,
    /// Soft decoding, which senses a page several times. Default: the code has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub soft_decoding: Option<SoftDecoding>,
    /// Program and erase cycles of each block before the drive was new here. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub initial_cycles: Option<InitialCycles>,
    /// Age of the data of each block at the beginning. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub initial_age: Option<InitialAge>,
    /// Differences between blocks, pages and layers. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spread: Option<SpreadConfig>,
}

impl ErrorsConfig {
    /// The constants of the rate; `None` unless exactly one of `chip` and `constants` is given.
    pub fn mechanisms(&self) -> Option<Mechanisms> {
        match (self.chip, self.constants) {
            (Some(chip), None) => Some(chip.mechanisms()),
            (None, constants) => constants,
            _ => None,
        }
    }
    /// Codewords that are decoded for a whole page.
    pub fn words_per_page(&self, page_bytes: u64) -> u32 {
        self.codewords_per_page.unwrap_or((page_bytes / self.codeword.bytes()).max(1) as u32)
    }
}

/// Number of errors of a codeword.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Counting {
    /// Drawn at random: each bit is wrong with the raw bit error rate (binomial). A re-read keeps
    /// each of the errors with the same probability.
    #[default]
    Drawn,
    /// The expected number, rounded down: the same for all codewords of a read.
    Expected,
}

/// Soft decoding: further senses tell how reliable each bit is.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SoftDecoding {
    /// Errors that soft decoding corrects in a codeword.
    pub corrects: u32,
    /// Times that it senses and transfers the page in addition.
    #[schemars(range(min = 1, max = 64))]
    pub senses: u32,
    /// Time that it takes to decode the data.
    pub decode: Time,
}

/// Cycles of each block at the beginning: the same for all, or drawn for each.
pub type InitialCycles = Initial<u32>;

/// Age of the data of each block at the beginning: the same for all, or drawn for each.
pub type InitialAge = Initial<Time>;

/// A value of each block at the beginning. It follows from the seed and the block alone.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Initial<T> {
    /// One value for all.
    Same(T),
    /// Uniform between two values.
    Range(Range<T>),
    /// Normal, but not below 0.
    Normal(Normal<T>),
}

/// A uniform distribution.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Range<T> {
    /// The least value.
    pub from: T,
    /// The greatest value.
    pub to: T,
}

/// A normal distribution.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Normal<T> {
    /// Mean.
    pub mean: T,
    /// Standard deviation.
    pub deviation: T,
}

/// Differences in the raw bit error rate: log-normal factors with a median of 1.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SpreadConfig {
    /// Spread between blocks: the standard deviation of the factor's logarithm. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blocks: Option<Share>,
    /// Spread between the pages of a block. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pages: Option<Share>,
    /// Spread between layers, which is the same in all blocks. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub layers: Option<Share>,
    /// Number of layers, from the first page of a block to the last. Needed with `layers`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 2, max = 4096))]
    pub layer_count: Option<u32>,
}
