//! Lanes: where the operations of a bin take place, if its blocks lie on several dies.

use crate::device::flash::Flash;
use crate::device::flash::place::{BinPlace, PlaceId};
use ftl::BinId;

impl Flash {
    /// The place of a bin's operations that concern a batch; those of erases are numbered like
    /// batches.
    #[inline(always)]
    pub(super) fn place_id(&self, bin: BinId, batch: u32) -> PlaceId {
        if self.lanes == 1 { PlaceId(bin.0) } else { self.place_in_lane(bin, batch) }
    }
    #[cold]
    #[inline(never)]
    fn place_in_lane(&self, bin: BinId, batch: u32) -> PlaceId {
        PlaceId(bin.0 * self.lanes + batch % self.lanes)
    }
    /// The place of a bin, or of its first lane, which stands for all of them where one unit is blamed
    /// for a wait for space.
    #[inline(always)]
    pub(super) fn first_place(&self, bin: BinId) -> PlaceId {
        PlaceId(bin.0 * self.lanes)
    }
    /// The units and the channel of a bin, or of its first lane.
    #[inline]
    pub(in crate::device) fn place(&self, bin: BinId) -> &BinPlace {
        &self.places[self.first_place(bin)]
    }
    /// The units and the channel of a batch.
    #[inline]
    pub(in crate::device) fn place_of(&self, bin: BinId, batch: u32) -> &BinPlace {
        &self.places[self.place_id(bin, batch)]
    }
}
