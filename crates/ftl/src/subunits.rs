//! Subunits: the parts of a mapping unit that hold data of hosts, a bit each. A write of some parts
//! needs no read of the others if these hold nothing. A unit that was trimmed, or never written, has
//! none.

use crate::ids::{Lpn, Ppn};
use crate::layout::Layout;
use engine::{BigColumn, MemoryFile, low_bits, typed_id};
use std::fs::File;
use std::io;
use std::sync::Arc;

typed_id! { struct Word; }

/// Name of the column in snapshots.
const WRITTEN: &str = "map.written";

/// A number of masks, one after the other.
#[derive(Clone)]
struct Masks(BigColumn<Word, u64>);

impl Masks {
    /// Words for so many masks, and one more, so that a mask may cross the end of a word.
    fn words(masks: u32, bits: u32) -> usize {
        (u64::from(masks) * u64::from(bits) / 64) as usize + 2
    }
    fn place(index: u32, bits: u32) -> (Word, u32) {
        let bit = u64::from(index) * u64::from(bits);
        (Word((bit / 64) as u32), (bit % 64) as u32)
    }
    fn get(&self, index: u32, bits: u32) -> u64 {
        let (word, shift) = Self::place(index, bits);
        let mut mask = self.0[word] >> shift;
        if shift + bits > 64 {
            mask |= self.0[Word(word.0 + 1)] << (64 - shift);
        }
        mask & low_bits(bits)
    }
    fn set(&mut self, index: u32, bits: u32, mask: u64) {
        let (word, shift) = Self::place(index, bits);
        let low = &mut self.0[word];
        *low = *low & !(low_bits(bits) << shift) | mask << shift;
        if shift + bits > 64 {
            let high = &mut self.0[Word(word.0 + 1)];
            *high = *high & !(low_bits(bits) >> (64 - shift)) | mask >> (64 - shift);
        }
    }
}

/// Masks of subunits that hold data: bit `i` for the `i`-th subunit of a mapping unit.
#[derive(Clone)]
pub struct Subunits {
    /// Subunits of a unit; 1 if none are kept.
    per_unit: u32,
    units: [u32; 2],
    /// By logical unit: what hosts have written, also if it is not on flash yet.
    written: Masks,
    /// By physical unit: what was written when it was programmed. Only if power may be cut.
    on_flash: Option<Masks>,
}

impl Subunits {
    /// Subunits of so many logical and physical units, none of which holds data; 1 for each if none
    /// are kept.
    pub fn new(per_unit: u32, units: [u32; 2]) -> Self {
        let words = if per_unit > 1 { Masks::words(units[0], per_unit) } else { 0 };
        Self { per_unit, units, written: Masks(BigColumn::zeroed(words)), on_flash: None }
    }
    /// As [`Subunits::new`], in memory that clones share.
    pub fn to_share(
        per_unit: u32,
        units: [u32; 2],
        memory: &mut MemoryFile,
        on_flash: bool,
    ) -> io::Result<Self> {
        if per_unit == 1 {
            return Ok(Self::new(per_unit, units));
        }
        let mut column = |units| memory.column(Masks::words(units, per_unit)).map(Masks);
        Ok(Self {
            per_unit,
            units,
            written: column(units[0])?,
            on_flash: if on_flash { Some(column(units[1])?) } else { None },
        })
    }
    /// As [`Subunits::new`], in a file ([`crate::map::Map::of_file`]).
    pub fn of_file(
        per_unit: u32,
        units: [u32; 2],
        file: &Arc<File>,
        place: &dyn Fn(&'static str, u64) -> Option<u64>,
    ) -> io::Result<Option<Self>> {
        let empty = Self::new(per_unit, units);
        if per_unit == 1 {
            return Ok(Some(empty));
        }
        let words = Masks::words(units[0], per_unit);
        let Some(offset) = place(WRITTEN, 8 * words as u64) else { return Ok(None) };
        let written = Masks(BigColumn::of_file(file, offset, words)?);
        Ok(Some(Self { written, ..empty }))
    }
    /// Ends the filling of memory that clones share.
    pub fn share(&mut self) {
        self.written.0.share();
        self.on_flash.iter_mut().for_each(|of| of.0.share());
    }
    /// Makes empty masks equal to `other`, which has the same length.
    pub fn copy_from(&mut self, other: &Self) {
        self.written.0.copy_from(&other.written.0);
        if let (Some(own), Some(other)) = (&mut self.on_flash, &other.on_flash) {
            own.0.copy_from(&other.0);
        }
    }
    /// The column for snapshots: name and bytes.
    pub fn column(&self) -> Option<(&'static str, &[u8])> {
        (self.per_unit > 1).then(|| (WRITTEN, self.written.0.as_bytes()))
    }
    /// Bytes of the masks once all of them are touched.
    pub fn bytes(&self) -> usize {
        self.written.0.bytes() + self.on_flash.as_ref().map_or(0, |of| of.0.bytes())
    }
    /// True if masks are kept.
    #[inline]
    pub fn are_kept(&self) -> bool {
        self.per_unit > 1
    }
    /// Subunits of a logical unit that hold data.
    pub fn written(&self, lpn: Lpn) -> u64 {
        self.written.get(lpn.0, self.per_unit)
    }
    /// Records the subunits of a logical unit that hold data.
    pub fn set_written(&mut self, lpn: Lpn, mask: u64) {
        self.written.set(lpn.0, self.per_unit, mask);
    }
    /// The mask with which a physical unit was programmed, if that is kept.
    pub fn on_flash(&self, ppn: Ppn) -> Option<u64> {
        self.on_flash.as_ref().map(|of| of.get(ppn.0, self.per_unit))
    }
    /// Records the mask with which `ppn` is programmed, if that is kept.
    pub fn program(&mut self, ppn: Ppn, mask: u64) {
        if let Some(of) = &mut self.on_flash {
            of.set(ppn.0, self.per_unit, mask);
        }
    }
    /// Records that the copy of `from` at `to` has the same mask.
    #[inline]
    pub fn copy(&mut self, from: Ppn, to: Ppn) {
        if let Some(of) = &mut self.on_flash {
            of.set(to.0, self.per_unit, of.get(from.0, self.per_unit));
        }
    }
    /// True if the masks of physical units are kept.
    pub fn are_kept_on_flash(&self) -> bool {
        self.on_flash.is_some()
    }
    /// Begins to keep the masks of physical units.
    pub fn keep_on_flash(&mut self) {
        if self.per_unit > 1 && self.on_flash.is_none() {
            let words = Masks::words(self.units[1], self.per_unit);
            self.on_flash = Some(Masks(BigColumn::zeroed(words)));
        }
    }
    /// Stops keeping them.
    pub fn drop_on_flash(&mut self) {
        self.on_flash = None;
    }
}

/// Subunits of a unit that a range of bytes has to do with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InUnit {
    /// Those that it touches, at least in part.
    pub touched: u64,
    /// Those that it covers completely.
    pub covered: u64,
}

impl Layout {
    /// True if the map knows which subunits hold data.
    #[inline]
    pub fn has_subunits(&self) -> bool {
        self.subunits > 1
    }
    /// Bytes of a subunit; of a mapping unit if there are none.
    pub fn subunit_bytes(&self) -> u64 {
        self.unit_bytes / u64::from(self.subunits)
    }
    /// All subunits of a unit.
    pub fn all_subunits(&self) -> u64 {
        low_bits(self.subunits)
    }
    /// True if the bytes `from..to` of the drive cover a whole unit.
    #[inline]
    pub fn is_whole(&self, lpn: Lpn, from: u64, to: u64) -> bool {
        let start = u64::from(lpn.0) * self.unit_bytes;
        from <= start && to >= start + self.unit_bytes
    }
    /// The subunits of a unit that the bytes `from..to` of the drive touch and cover.
    pub fn in_unit(&self, lpn: Lpn, from: u64, to: u64) -> InUnit {
        let start = u64::from(lpn.0) * self.unit_bytes;
        let [from, to] = [from, to].map(|at| at.clamp(start, start + self.unit_bytes) - start);
        let size = self.subunit_bytes();
        let between = |first: u64, behind: u64| match first < behind {
            true => low_bits((behind - first) as u32) << first,
            false => 0,
        };
        InUnit {
            touched: if from < to { between(from / size, to.div_ceil(size)) } else { 0 },
            covered: between(from.div_ceil(size), to / size),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn masks_are_what_was_set(bits in 2u32..=64, sets in prop::collection::vec((0u32..50, any::<u64>()), 1..80)) {
            let mut masks = Masks(BigColumn::zeroed(Masks::words(50, bits)));
            let mut naive = [0u64; 50];
            for (index, mask) in sets {
                let mask = mask & low_bits(bits);
                masks.set(index, bits, mask);
                naive[index as usize] = mask;
                for (at, expected) in (0..).zip(naive) {
                    prop_assert_eq!(masks.get(at, bits), expected);
                }
            }
        }
    }
}
