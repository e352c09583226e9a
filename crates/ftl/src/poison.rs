//! The set of units whose data was lost when it was moved.

use crate::ids::Ppn;
use std::collections::BTreeSet;

/// Physical units that hold no data that could be read.
#[derive(Clone, Debug, Default)]
pub struct Poison {
    /// The units.
    pub units: BTreeSet<Ppn>,
}
