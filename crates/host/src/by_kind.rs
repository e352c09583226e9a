//! Settings of each kind of request that has a range.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use traces::Kind;

/// A setting for each kind of request.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ByKind<T> {
    /// That of reads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read: Option<T>,
    /// That of writes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write: Option<T>,
    /// That of trims.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trim: Option<T>,
    /// That of write-zeroes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_zeroes: Option<T>,
}

impl<T> ByKind<T> {
    /// The setting of a kind, if it has one. A flush has none.
    pub fn of(&self, kind: Kind) -> Option<&T> {
        match kind {
            Kind::Read => self.read.as_ref(),
            Kind::Write => self.write.as_ref(),
            Kind::Trim => self.trim.as_ref(),
            Kind::WriteZeroes => self.write_zeroes.as_ref(),
            Kind::Flush => None,
        }
    }

    /// The settings that are given.
    pub fn given(&self) -> impl Iterator<Item = (Kind, &T)> {
        Kind::ALL.into_iter().filter_map(|kind| Some((kind, self.of(kind)?)))
    }

    /// True if no kind has a setting.
    pub fn is_empty(&self) -> bool {
        self.given().next().is_none()
    }
}
