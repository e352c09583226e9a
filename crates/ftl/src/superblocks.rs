//! Superblocks: blocks that lie on several dies, written row by row, and the stripes inside them.
//!
//! A superblock has one *lane* on each of its dies. A lane is what a block is without superblocks.
//! Batches are numbered row by row: batch `b` is in row `b / lanes` and lane `b % lanes`. The lanes of
//! a row form stripes of `width` neighbours, if its stream has parity. One member of each stripe is
//! parity, and its place moves by one lane from each row to the next. Places of parity are numbered
//! like those of data, and never mapped.
//!
//! A member that became invalid keeps its bits until the whole superblock is erased, so the rest of
//! its stripe can always rebuild the others. Source: the reliability of drives in [FAST19].

use crate::allocation::{AllocationConfig, BinLevel, PoolLevel};
use crate::config::FtlConfig;
use crate::ids::BinId;
use crate::streams::{STREAMS, Stream};
use engine::Divisor;
use nand::{Geometry, PlaneId};

/// Arithmetic of superblocks.
#[derive(Clone, Debug)]
pub struct Superblocks {
    lanes: Divisor,
    /// Batches of a superblock, those of parity included.
    batches: u32,
    /// Members of a stripe of each stream, parity included; 0 without parity.
    widths: [u8; STREAMS],
    /// Batches of data in a superblock of each stream.
    data_batches: [u32; STREAMS],
    /// The first plane of each bin's lanes.
    first_planes: Vec<PlaneId>,
    /// Roles of batches, by the width of stripes that divides the lanes.
    patterns: Vec<Option<Pattern>>,
}

/// The roles of batches in stripes of one width, which repeat after as many rows: [`DATA`],
/// [`PARITY`], or data that is the last of its stripe, with the place of the parity.
#[derive(Clone, Debug)]
struct Pattern {
    period: Divisor,
    places: Vec<u8>,
}

const DATA: u8 = 0;
const PARITY: u8 = 1;
/// The last data of a stripe, with its parity behind it. More: with the parity as much before it.
const BEHIND: u8 = 2;
/// Most members of a stripe.
const MOST: u32 = 64;

impl Pattern {
    fn new(width: u32, lanes: u32) -> Self {
        let role = |place: u32| {
            let (row, member) = (place / lanes, place % lanes % width);
            let parity = width - 1 - row % width;
            let last = if parity == width - 1 { width - 2 } else { width - 1 };
            match member {
                member if member == parity => PARITY,
                member if member != last => DATA,
                member if member < parity => BEHIND,
                member => BEHIND + (member - parity) as u8,
            }
        };
        let period = width * lanes;
        Self { period: Divisor::new(period), places: (0..period).map(role).collect() }
    }

    /// Patterns by width, for widths that divide the lanes.
    fn all(lanes: u32) -> Vec<Option<Self>> {
        let of = |width: u32| {
            (width >= 2 && lanes.is_multiple_of(width)).then(|| Self::new(width, lanes))
        };
        (0..=MOST).map(of).collect()
    }
}

/// Faults of dies and widths that do not fit each other, by their key below `ftl`.
pub(crate) fn faults(geometry: &Geometry, config: &FtlConfig) -> Vec<(&'static str, String)> {
    let Some(superblock) = &config.superblock else { return Vec::new() };
    let mut faults = Vec::new();
    let (dies, all) = (superblock.dies, geometry.planes() / geometry.planes_per_die);
    if dies < 2 {
        faults.push((
            "superblock.dies",
            "a superblock has at least 2 dies; leave superblock out for blocks of one die".into(),
        ));
    } else if !all.is_multiple_of(dies) {
        let fault = format!("{dies} does not divide the {all} dies of the drive; give a divisor");
        faults.push(("superblock.dies", fault));
    }
    let keys = ["superblock.width.host", "superblock.width.collection", "superblock.width.scrub"];
    for (key, width) in keys.into_iter().zip(superblock.widths()) {
        let Some(width) = width else { continue };
        if width < 2 {
            faults.push((
                key,
                "a stripe has at least 2 members, one of them parity; leave this out for no parity"
                    .into(),
            ));
        } else if width > MOST {
            faults.push((key, format!("{width} members; at most {MOST} are supported")));
        } else if !faults.iter().any(|(key, _)| *key == "superblock.dies")
            && !dies.is_multiple_of(width)
        {
            let fault = format!(
                "{width} does not divide the {dies} dies of a superblock (superblock.dies); give a divisor"
            );
            faults.push((key, fault));
        }
    }
    let AllocationConfig { pool, bin, .. } = config.allocation;
    if pool != PoolLevel::Drive {
        faults.push(("superblock", "superblocks cross the parts of the drive that pools are (allocation.pool); choose allocation.pool = \"drive\", or leave superblock out".into()));
    }
    if bin != BinLevel::Plane {
        faults.push(("superblock", "a bin of superblocks has one plane, or the planes of a block, on each die (allocation.bin); leave allocation.bin out, or superblock".into()));
    }
    faults
}

impl Superblocks {
    /// Superblocks of so many rows of batches, on lanes that begin at these planes, bin by bin.
    pub(crate) fn new(config: &FtlConfig, rows: u32, first_planes: Vec<PlaneId>) -> Self {
        let lanes = config.superblock.map_or(1, |superblock| superblock.dies);
        let mut superblocks = Self {
            lanes: Divisor::new(lanes),
            batches: rows * lanes,
            widths: [0; STREAMS],
            data_batches: [0; STREAMS],
            first_planes,
            patterns: Pattern::all(lanes),
        };
        superblocks.set_widths(config);
        superblocks
    }

    /// Sets the widths of stripes that will be written.
    pub(crate) fn set_widths(&mut self, config: &FtlConfig) {
        let widths = config.superblock.map_or([None; STREAMS], |superblock| superblock.widths());
        self.widths = widths.map(|width| width.unwrap_or(0) as u8);
        let scrub = config.scrub_stream();
        self.widths[Stream::Scrub as usize] = self.widths[scrub as usize];
        self.data_batches = self.widths.map(|width| self.data_before(width, self.batches));
    }

    /// Lanes of a superblock.
    #[inline]
    pub fn lanes(&self) -> u32 {
        self.lanes.get()
    }
    /// The row of a batch, counted in batches of its lane, and its lane.
    #[inline]
    pub fn row_and_lane(&self, batch: u32) -> (u32, u32) {
        self.lanes.split(batch)
    }
    /// The first plane of a lane.
    #[inline]
    pub fn first_plane(&self, bin: BinId, lane: u32) -> PlaneId {
        self.first_planes[(bin.0 * self.lanes.get() + lane) as usize]
    }
    /// Members of a stripe that a stream writes, parity included; 0 without parity.
    #[inline]
    pub fn width(&self, stream: Stream) -> u8 {
        self.widths[stream as usize]
    }
    /// Batches of data in a superblock of a stream.
    #[inline]
    pub fn data_batches(&self, stream: Stream) -> u32 {
        self.data_batches[stream as usize]
    }
    /// Most batches of data in a superblock of any stream.
    pub fn most_data_batches(&self) -> u32 {
        self.data_batches.into_iter().max().expect("there are streams")
    }

    /// Place in a stripe of this row's parity.
    #[inline]
    fn parity_member(width: u32, row: u32) -> u32 {
        width - 1 - row % width
    }
    /// True if a batch of a superblock with stripes of this width (0: without) is parity.
    #[inline]
    pub fn is_parity(&self, width: u8, batch: u32) -> bool {
        self.pattern(width).is_some_and(|of| of.places[of.period.split(batch).1 as usize] == PARITY)
    }
    /// The first batch of data from `batch` on, or the number of batches if there is none.
    #[inline]
    pub fn next_data(&self, width: u8, batch: u32) -> u32 {
        let Some(pattern) = self.pattern(width) else { return batch };
        let (mut next, mut place) = (batch, pattern.period.split(batch).1 as usize);
        while next < self.batches && pattern.places[place] == PARITY {
            next += 1;
            place = if place + 1 == pattern.places.len() { 0 } else { place + 1 };
        }
        next
    }
    /// The batch of parity that is due once `batch` is bound, because it is the last batch of data of
    /// its stripe.
    #[inline]
    pub fn parity_after(&self, width: u8, batch: u32) -> Option<u32> {
        let pattern = self.pattern(width)?;
        match pattern.places[pattern.period.split(batch).1 as usize] {
            DATA | PARITY => None,
            // Parity lies behind the last data, or before it.
            BEHIND => Some(batch + 1),
            distance => Some(batch - u32::from(distance - BEHIND)),
        }
    }
    #[inline]
    fn pattern(&self, width: u8) -> Option<&Pattern> {
        self.patterns[usize::from(width)].as_ref()
    }
    /// Batches of data before `batch`.
    pub fn data_before(&self, width: u8, batch: u32) -> u32 {
        if width == 0 {
            return batch;
        }
        let (row, lane) = self.lanes.split(batch);
        let width = u32::from(width);
        let (stripe, member) = (lane / width, lane % width);
        let stripes = row * (self.lanes.get() / width) + stripe;
        let in_stripe = member - u32::from(Self::parity_member(width, row) < member);
        stripes * (width - 1) + in_stripe
    }
    /// Stripes of which all batches of data lie before `batch`, which is a batch of data or the end.
    pub fn stripes_before(&self, width: u8, batch: u32) -> u32 {
        if width == 0 {
            return 0;
        }
        let (row, lane) = self.lanes.split(batch);
        (row * self.lanes.get() + lane) / u32::from(width)
    }
    /// The batches of a stripe, parity included, and the one of them that is parity; `None` if there
    /// is no parity.
    pub fn stripe_of(&self, width: u8, batch: u32) -> Option<(std::ops::Range<u32>, u32)> {
        let (row, lane) = self.lanes.split(batch);
        let width = u32::from(width);
        let first = batch - lane.checked_rem(width)?;
        Some((first..first + width, first + Self::parity_member(width, row)))
    }
    /// Bytes of the table of planes.
    pub fn bytes(&self) -> usize {
        let patterns = self.patterns.iter().flatten().map(|of| of.places.len());
        self.first_planes.len() * size_of::<PlaneId>() + patterns.sum::<usize>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Superblocks of 12 lanes and so many rows; host data has stripes of this width.
    fn superblocks(rows: u32, width: Option<u8>) -> Superblocks {
        let mut of = Superblocks {
            lanes: Divisor::new(12),
            batches: 12 * rows,
            widths: [width.unwrap_or(0), 0, 0],
            data_batches: [0; STREAMS],
            first_planes: Vec::new(),
            patterns: Pattern::all(12),
        };
        of.data_batches = of.widths.map(|width| of.data_before(width, of.batches));
        of
    }

    const WIDTHS: [u8; 6] = [0, 2, 3, 4, 6, 12];

    #[test]
    fn numbers_of_batches_are_a_bijection_with_rows_and_lanes() {
        let of = superblocks(9, None);
        let mut seen = [[false; 12]; 9];
        for batch in 0..9 * 12 {
            let (row, lane) = of.row_and_lane(batch);
            let seen = &mut seen[row as usize][lane as usize];
            assert!(!std::mem::replace(seen, true), "{batch}");
        }
    }

    #[test]
    fn parity_is_on_each_lane_in_turn() {
        let of = superblocks(12, Some(4));
        for row in 0..12 {
            let lanes = (0..12).filter(|lane| of.is_parity(4, row * 12 + lane));
            let first = 3 - row % 4;
            assert!(lanes.eq([first, first + 4, first + 8]), "row {row}");
        }
    }

    #[test]
    fn a_block_with_parity_holds_its_share_of_data() {
        for (width, data) in [(None, 144), (Some(2), 72), (Some(4), 108), (Some(12), 132)] {
            let of = superblocks(12, width);
            assert_eq!(of.data_batches(Stream::Host), data, "{width:?}");
            assert_eq!(of.data_batches(Stream::Gc), 144);
        }
    }

    #[test]
    fn counts_of_batches_agree_with_a_walk() {
        for width in WIDTHS {
            let of = superblocks(13, None);
            let (mut data, mut due) = (0, 0);
            let mut next = 0;
            for batch in 0..13 * 12 {
                assert_eq!(of.data_before(width, batch), data, "{width} {batch}");
                if of.is_parity(width, batch) {
                    continue;
                }
                assert_eq!(of.next_data(width, next), batch);
                assert_eq!(of.stripes_before(width, batch), due, "{width} {batch}");
                (data, next) = (data + 1, batch + 1);
                if let Some(parity) = of.parity_after(width, batch) {
                    let (members, own) = of.stripe_of(width, batch).unwrap();
                    assert!(own == parity && members.contains(&batch) && members.contains(&parity));
                    assert!(members.filter(|at| *at != parity).max() == Some(batch));
                    due += 1;
                }
            }
            assert_eq!(of.next_data(width, next), 13 * 12);
            assert_eq!(of.stripes_before(width, 13 * 12), due);
            let stripes = (13 * 12u32).checked_div(width.into()).unwrap_or(0);
            assert_eq!(due, stripes, "each stripe has parity once");
        }
    }
}
