//! Places of operations: the parts of a group, the group and the channel of a bin.

use crate::device::flash::counters::OpKind;
use crate::device::flash::op::{Class, Owner};
use engine::{Column, Span, bits, typed_id};
use ftl::{BinId, BlockId};
use metrics::Holder;
use nand::{ChannelId, GroupId, PlaneId};

/// A request for an operation; the rest follows from its place.
#[derive(Clone, Debug)]
pub struct Ask {
    pub kind: OpKind,
    pub holder: Holder,
    pub owner: Owner,
    pub class: Class,
    pub bin: BinId,
    /// Planes that take part, counted from the bin's first: bit `i` for plane `i`.
    pub planes: u64,
    pub block: BlockId,
    pub batch: u32,
    pub row: u32,
    pub rows: u32,
    /// Channel time of each row.
    pub transfer: Span,
    /// Bytes of each row that a read transfers; of a read of collection, they follow from its slots.
    pub bytes: u64,
    /// Slots of the units that a read transfers, if these are known; of a read of collection, they follow
    /// from its owner.
    pub slots: u64,
}

/// The part of a row that a read transfers.
#[derive(Clone, Copy, Debug, Default)]
pub struct Transferred {
    /// Planes, counted from the bin's first: bit `i` for plane `i`.
    pub planes: u64,
    /// Bytes of each row.
    pub bytes: u64,
    /// Slots of the units that these are of: bit `i` for slot `i`. 0 if they are not known.
    pub slots: u64,
    /// Number of rows.
    pub rows: u32,
}

typed_id! {
    /// A bin, or a lane of one if blocks lie on several dies.
    pub struct PlaceId;
}

/// The place of a bin's operations, in one lane.
#[derive(Clone)]
#[repr(align(64))]
pub struct BinPlace {
    pub group: GroupId,
    pub channel: ChannelId,
    pub program: u64,
    pub erase: u64,
    /// True if the activity of its unit is recorded for waits for space.
    pub is_watched: bool,
    /// Cells that a read of all planes occupies, and a read of each plane.
    read_of_all: u64,
    read: Vec<u64>,
}

impl BinPlace {
    /// The places of all bins and lanes.
    pub fn all(layout: &ftl::Layout, units: &nand::Units) -> Column<PlaceId, Self> {
        let lanes = layout.lanes();
        Column::from_fn((layout.bins * lanes) as usize, |place: PlaceId| {
            Self::new(BinId(place.0 / lanes), place.0 % lanes, layout, units)
        })
    }
    fn new(bin: BinId, lane: u32, layout: &ftl::Layout, units: &nand::Units) -> Self {
        let first = layout.first_plane(bin, lane).0;
        let planes =
            || (first..first + layout.block_planes).map(|plane| units.place(PlaneId(plane)));
        let of_first = units.place(PlaneId(first));
        Self {
            group: of_first.group,
            is_watched: false,
            channel: of_first.channel,
            read_of_all: planes().fold(0, |cells, place| cells | place.read),
            read: planes().map(|place| place.read).collect(),
            program: planes().fold(0, |cells, place| cells | place.program),
            erase: planes().fold(0, |cells, place| cells | place.erase),
        }
    }
    /// True if any read and program in the bin occupies the same cells.
    pub fn is_uniform(&self) -> bool {
        self.units_of_hosts().all(|cells| cells == self.program)
    }
    /// The units that operations of hosts occupy in the bin.
    pub fn units_of_hosts(&self) -> impl Iterator<Item = u64> {
        self.read.iter().copied().chain([self.program])
    }
    /// All cells that an operation of the bin may occupy.
    pub fn all_cells(&self) -> u64 {
        self.read_of_all | self.program | self.erase
    }
    /// Cells that a read of some planes occupies.
    #[inline(always)]
    pub fn read_cells(&self, planes: u64) -> u64 {
        if planes.trailing_ones() as usize == self.read.len() {
            return self.read_of_all;
        }
        bits(planes).fold(0, |cells, plane| cells | self.read[plane])
    }
}
