//! Units whose pages hold data that is not current, but that stripes still need.
//!
//! The members of a stripe that are written together become current together, once the last of
//! them, parity included, is on flash: until then those that are there are *placed*. The page of a
//! trimmed unit is part of the stripe until its parity is written anew: until then it is *kept*.
//! Collection moves such pages as it moves current ones.

use crate::ids::{Lpn, Ppn};
use std::collections::BTreeMap;

/// Pages that are valid, but not current.
#[derive(Clone, Default)]
pub struct Detached {
    pub(crate) placed: BTreeMap<Lpn, Ppn>,
    pub(crate) kept: BTreeMap<Lpn, Ppn>,
}

impl Detached {
    /// Number of such pages.
    pub fn len(&self) -> usize {
        self.placed.len() + self.kept.len()
    }
    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// Notes that such a page has moved; returns false if it is none.
    pub(crate) fn redirect(&mut self, lpn: Lpn, from: Ppn, to: Ppn) -> bool {
        let pages = [&mut self.placed, &mut self.kept];
        let mut pages = pages.into_iter().filter_map(|of| of.get_mut(&lpn));
        let page = pages.find(|page| **page == from);
        page.map(|page| *page = to).is_some()
    }
    /// All such pages, and the unit of each.
    pub fn iter(&self) -> impl Iterator<Item = (Lpn, Ppn)> {
        self.placed.iter().chain(&self.kept).map(|(lpn, ppn)| (*lpn, *ppn))
    }
}
