//! Read recovery levels of NVMe: how hard the drive tries to get the data of a read.

use crate::read_recovery::ReadRecovery;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// A read recovery level. With 15 a drive gives up fastest. Source: feature Read Recovery Level Config
/// of [NVMBASE].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "u8", into = "u8")]
pub struct RecoveryLevel(u8);

impl RecoveryLevel {
    /// The level of reads for which none is chosen, and of reads that the drive needs itself.
    pub const DEFAULT: Self = Self(4);
    /// The last level.
    pub const LAST: Self = Self(15);
}

impl TryFrom<u8> for RecoveryLevel {
    type Error = String;
    fn try_from(number: u8) -> Result<Self, String> {
        match number <= Self::LAST.0 {
            true => Ok(Self(number)),
            false => Err(format!(
                "there is no read recovery level {number}; the last one is {}",
                Self::LAST
            )),
        }
    }
}

impl From<RecoveryLevel> for u8 {
    fn from(level: RecoveryLevel) -> Self {
        level.0
    }
}

impl Default for RecoveryLevel {
    fn default() -> Self {
        Self::DEFAULT
    }
}

impl fmt::Display for RecoveryLevel {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}", self.0)
    }
}

/// The policies of read recovery levels besides the default one.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(extend("propertyNames" = { "pattern": "^([0-3]|[5-9]|1[0-5])$" }))]
pub struct RecoveryLevels(
    #[schemars(with = "BTreeMap<String, ReadRecovery>")] BTreeMap<RecoveryLevel, ReadRecovery>,
);

impl RecoveryLevels {
    /// The policy of a level, if the level is listed.
    #[inline]
    pub fn of(&self, level: RecoveryLevel) -> Option<&ReadRecovery> {
        self.0.get(&level)
    }
    /// All levels that are listed.
    pub fn all(&self) -> impl Iterator<Item = (RecoveryLevel, &ReadRecovery)> {
        self.0.iter().map(|(level, policy)| (*level, policy))
    }
    /// True if no level is listed.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_the_sixteen_of_nvme() {
        let levels: Vec<u8> =
            (0..=u8::MAX).filter(|level| RecoveryLevel::try_from(*level).is_ok()).collect();
        assert_eq!(levels, (0..16).collect::<Vec<u8>>());
        assert_eq!(RecoveryLevel::default(), RecoveryLevel::try_from(4).unwrap());
    }

    #[test]
    fn a_table_of_levels_reads_as_it_is_written() {
        let text = r#"{"0":{"policy":"ladder","re_reads":40},"15":{"policy":"none"}}"#;
        let levels: RecoveryLevels = serde_json::from_str(text).unwrap();
        let numbers: Vec<u8> = levels.all().map(|(level, _)| level.into()).collect();
        assert_eq!(numbers, [0, 15]);
        assert_eq!(serde_json::to_string(&levels).unwrap(), text);
        let none =
            serde_json::from_str::<RecoveryLevels>(r#"{"16":{"policy":"none"}}"#).unwrap_err();
        assert!(
            none.to_string().contains("no read recovery level 16; the last one is 15"),
            "{none}"
        );
    }
}
