//! The chips whose constants are known.

use crate::errors::{Disturb, Mechanisms, Retention, Wear};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A chip that ships with flashscape. Source of the constants: table 2 of [FAST19]; those of the
/// 3x nm chip are not confirmed by a second source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Chip {
    /// TLC of 72 layers: disturbed by reads.
    #[serde(rename = "tlc-72-layer")]
    Tlc72Layer,
    /// MLC of 2y nm: loses data with time.
    #[serde(rename = "mlc-2y-nm")]
    Mlc2yNm,
    /// MLC of 3x nm: few errors.
    #[serde(rename = "mlc-3x-nm")]
    Mlc3xNm,
}

impl Chip {
    /// The constants of the chip.
    pub const fn mechanisms(self) -> Mechanisms {
        match self {
            Self::Tlc72Layer => Mechanisms {
                base: 1.48e-3,
                wear: Wear { factor: 3.90e-10, exponent: 2.05 },
                retention: Retention {
                    factor: 6.28e-5,
                    cycles_exponent: 0.14,
                    days_exponent: 0.54,
                },
                disturb: Disturb { factor: 3.73e-9, cycles_exponent: 0.33, reads_exponent: 1.71 },
            },
            Self::Mlc2yNm => Mechanisms {
                base: 8.34e-5,
                wear: Wear { factor: 3.30e-11, exponent: 1.71 },
                retention: Retention {
                    factor: 5.56e-19,
                    cycles_exponent: 2.49,
                    days_exponent: 3.33,
                },
                disturb: Disturb { factor: 6.26e-13, cycles_exponent: 1.76, reads_exponent: 0.47 },
            },
            Self::Mlc3xNm => Mechanisms {
                base: 5.06e-8,
                wear: Wear { factor: 1.05e-14, exponent: 2.16 },
                retention: Retention {
                    factor: 9.31e-14,
                    cycles_exponent: 1.80,
                    days_exponent: 0.80,
                },
                disturb: Disturb { factor: 4.17e-15, cycles_exponent: 1.07, reads_exponent: 1.45 },
            },
        }
    }
}
