//! The map from logical to physical units, its reverse, and the valid bits of physical units: the
//! most accessed data of the firmware, 8 bytes and a bit for each unit.

use crate::ids::{Lpn, Ppn};
use crate::subunits::Subunits;
use engine::{BigColumn, MemoryFile, low_bits, typed_id};
use std::fs::File;
use std::io;
use std::num::NonZeroU32;
use std::sync::Arc;

typed_id! { struct Word; }

/// The physical unit of each logical unit, and the reverse.
#[derive(Clone)]
pub struct Map {
    // A physical number is stored plus one, so that zeroed memory means unmapped.
    forward: BigColumn<Lpn, Option<NonZeroU32>>,
    reverse: BigColumn<Ppn, u32>,
    valid: BigColumn<Word, u64>,
    // Number of the host write of each physical unit; empty if versions are not kept.
    versions: BigColumn<Ppn, u32>,
    /// Subunits of each unit that hold data, if they are kept.
    pub(crate) subunits: Subunits,
}

/// Names of the columns in snapshots.
const FORWARD: &str = "map.forward";
const REVERSE: &str = "map.reverse";
const VALID: &str = "map.live";
const VERSIONS: &str = "map.versions";

impl Map {
    /// An empty map.
    pub fn new(logical: u32, physical: u32, subunits: u32) -> Self {
        Self {
            forward: BigColumn::zeroed(logical as usize),
            reverse: BigColumn::zeroed(physical as usize),
            // One word more, so that a read of bits may cross the end of a word.
            valid: BigColumn::zeroed(physical as usize / 64 + 2),
            versions: BigColumn::zeroed(0),
            subunits: Subunits::new(subunits, [logical, physical]),
        }
    }

    /// An empty map in memory that clones share once the map is filled ([`Map::share`]); with
    /// versions, if they are kept.
    ///
    /// # Errors
    /// If the system refuses such memory.
    pub fn to_share(
        [logical, physical]: [u32; 2],
        subunits: u32,
        versions: bool,
    ) -> io::Result<Self> {
        let mut memory = MemoryFile::new()?;
        let versioned = if versions { physical as usize } else { 0 };
        Ok(Self {
            forward: memory.column(logical as usize)?,
            reverse: memory.column(physical as usize)?,
            valid: memory.column(physical as usize / 64 + 2)?,
            versions: memory.column(versioned)?,
            subunits: Subunits::to_share(subunits, [logical, physical], &mut memory, versions)?,
        })
    }

    /// Ends the filling of a map of [`Map::to_share`].
    pub fn share(&mut self) {
        self.forward.share();
        self.reverse.share();
        self.valid.share();
        self.versions.share();
        self.subunits.share();
    }

    /// True if clones share the unchanged parts of the map.
    pub fn is_shared(&self) -> bool {
        self.forward.is_shared()
    }

    /// Makes an empty map equal to `other`, which has the same length.
    pub fn copy_from(&mut self, other: &Self) {
        self.forward.copy_from(&other.forward);
        self.reverse.copy_from(&other.reverse);
        self.valid.copy_from(&other.valid);
        self.versions.copy_from(&other.versions);
        self.subunits.copy_from(&other.subunits);
    }

    /// The map in a file. `place` returns the offset in the file of each column, given its name
    /// and its size; `None` if it has no offset for one of them.
    pub fn of_file(
        [logical, physical]: [u32; 2],
        subunits: u32,
        versions: bool,
        file: &Arc<File>,
        place: &dyn Fn(&'static str, u64) -> Option<u64>,
    ) -> io::Result<Option<Self>> {
        let words = physical as usize / 64 + 2;
        let places = [
            place(FORWARD, 4 * u64::from(logical)),
            place(REVERSE, 4 * u64::from(physical)),
            place(VALID, 8 * words as u64),
        ];
        let [Some(forward), Some(reverse), Some(valid)] = places else { return Ok(None) };
        let versions = match versions.then(|| place(VERSIONS, 4 * u64::from(physical))) {
            None => BigColumn::zeroed(0),
            Some(None) => return Ok(None),
            Some(Some(place)) => BigColumn::of_file(file, place, physical as usize)?,
        };
        let Some(subunits) = Subunits::of_file(subunits, [logical, physical], file, place)? else {
            return Ok(None);
        };
        Ok(Some(Self {
            subunits,
            forward: BigColumn::of_file(file, forward, logical as usize)?,
            reverse: BigColumn::of_file(file, reverse, physical as usize)?,
            valid: BigColumn::of_file(file, valid, words)?,
            versions,
        }))
    }

    /// The physical unit of a logical unit.
    #[inline]
    pub fn lookup(&self, lpn: Lpn) -> Option<Ppn> {
        self.forward[lpn].map(|stored| Ppn(stored.get() - 1))
    }
    /// Prefetches the entry of `lpn`.
    #[inline]
    pub fn prefetch(&self, lpn: Lpn) {
        self.forward.prefetch(lpn);
    }
    /// Prefetches the valid bit of `ppn`.
    #[inline]
    pub fn prefetch_valid(&self, ppn: Ppn) {
        self.valid.prefetch(Word(ppn.0 / 64));
    }
    /// Maps `lpn` to `ppn` and returns its previous place.
    #[inline]
    pub fn point(&mut self, lpn: Lpn, ppn: Ppn) -> Option<Ppn> {
        let entry = &mut self.forward[lpn];
        std::mem::replace(entry, NonZeroU32::new(ppn.0 + 1)).map(|stored| Ppn(stored.get() - 1))
    }
    /// Removes the mapping of `lpn` and returns its previous place.
    #[inline]
    pub fn unmap(&mut self, lpn: Lpn) -> Option<Ppn> {
        self.forward[lpn].take().map(|stored| Ppn(stored.get() - 1))
    }
    /// The logical unit that `ppn` was last written with.
    #[inline]
    pub fn holds(&self, ppn: Ppn) -> Lpn {
        Lpn(self.reverse[ppn])
    }
    /// Records that `ppn` is written with `lpn`.
    #[inline]
    pub fn note(&mut self, ppn: Ppn, lpn: Lpn) {
        self.reverse[ppn] = lpn.0;
    }
    /// The reverse map of a run of physical units.
    #[inline]
    pub fn notes_mut(&mut self, first: Ppn, count: u32) -> &mut [u32] {
        &mut self.reverse.as_mut_slice()[first.0 as usize..][..count as usize]
    }
    /// The forward map: 0 for an unmapped unit, else the physical number plus one.
    #[inline]
    pub fn forward_mut(&mut self) -> &mut [Option<NonZeroU32>] {
        self.forward.as_mut_slice()
    }

    /// True if `ppn` holds the current data of a logical unit.
    #[inline]
    pub fn is_valid(&self, ppn: Ppn) -> bool {
        self.valid[Word(ppn.0 / 64)] >> (ppn.0 % 64) & 1 == 1
    }
    /// Valid bits of `count` (at most 64) units from `first` on.
    #[inline(always)]
    pub fn valid_bits(&self, first: Ppn, count: u32) -> u64 {
        let (word, shift) = (first.0 / 64, first.0 % 64);
        let mut bits = self.valid[Word(word)] >> shift;
        if shift + count > 64 {
            bits |= self.valid[Word(word + 1)] << (64 - shift);
        }
        bits & low_bits(count)
    }
    /// The first valid unit from `first` on and before `end`.
    #[inline(always)]
    pub fn first_valid(&self, first: Ppn, end: Ppn) -> Option<Ppn> {
        let mut word = first.0 / 64;
        let mut bits = self.valid[Word(word)] & u64::MAX << (first.0 % 64);
        while bits == 0 {
            word += 1;
            if word >= end.0.div_ceil(64) {
                return None;
            }
            bits = self.valid[Word(word)];
        }
        let found = word * 64 + bits.trailing_zeros();
        (found < end.0).then_some(Ppn(found))
    }
    /// Makes `count` (at most 64) units from `first` on valid.
    #[inline]
    pub fn set_valid(&mut self, first: Ppn, count: u32) {
        let (word, shift) = (first.0 / 64, first.0 % 64);
        self.valid[Word(word)] |= low_bits(count) << shift;
        if shift + count > 64 {
            self.valid[Word(word + 1)] |= low_bits(count) >> (64 - shift);
        }
    }
    /// Makes the units that `mask` names, from `first` on, valid.
    #[inline]
    pub fn set_some_valid(&mut self, first: Ppn, mask: u64) {
        let (word, shift) = (first.0 / 64, first.0 % 64);
        self.valid[Word(word)] |= mask << shift;
        if shift > 0 && mask >> (64 - shift) != 0 {
            self.valid[Word(word + 1)] |= mask >> (64 - shift);
        }
    }
    /// Makes the units that `mask` names, from `first` on, invalid.
    ///
    /// # Panics
    /// If one of them is invalid already.
    #[inline]
    pub fn kill_some(&mut self, first: Ppn, mask: u64) {
        let (word, shift) = (first.0 / 64, first.0 % 64);
        let mut kill = |word: u32, bits: u64| {
            let valid = &mut self.valid[Word(word)];
            assert!(*valid & bits == bits, "only valid data can become invalid");
            *valid ^= bits;
        };
        kill(word, mask << shift);
        if shift > 0 && mask >> (64 - shift) != 0 {
            kill(word + 1, mask >> (64 - shift));
        }
    }
    /// Makes `ppn` invalid.
    ///
    /// # Panics
    /// If it is invalid already.
    #[inline]
    pub fn kill(&mut self, ppn: Ppn) {
        let word = &mut self.valid[Word(ppn.0 / 64)];
        let bit = 1u64 << (ppn.0 % 64);
        assert!(*word & bit != 0, "only valid data can become invalid");
        *word ^= bit;
    }
    /// Makes a run of units invalid, valid or not.
    pub fn kill_run(&mut self, first: Ppn, count: u32) {
        let mut at = first.0;
        let end = first.0 + count;
        while at < end {
            let shift = at % 64;
            let run = (64 - shift).min(end - at);
            self.valid[Word(at / 64)] &= !(low_bits(run) << shift);
            at += run;
        }
    }
    /// The columns by name, as bytes in memory order.
    pub fn columns(&self) -> impl Iterator<Item = (&'static str, &[u8])> {
        let versions = (VERSIONS, self.versions.as_bytes());
        [
            (FORWARD, self.forward.as_bytes()),
            (REVERSE, self.reverse.as_bytes()),
            (VALID, self.valid.as_bytes()),
        ]
        .into_iter()
        .chain((!self.versions.is_empty()).then_some(versions))
        .chain(self.subunits.column())
    }
    /// Bytes of the map once all of it is touched.
    pub fn bytes(&self) -> usize {
        let columns = [self.forward.bytes(), self.reverse.bytes(), self.valid.bytes()];
        columns.iter().sum::<usize>() + self.versions.bytes() + self.subunits.bytes()
    }

    // ---- versions ---------------------------------------------------------

    /// Begins to keep versions; all valid data counts as version 1.
    pub fn keep_versions(&mut self) {
        if self.versions.is_empty() {
            self.versions = BigColumn::zeroed(self.reverse.len());
            for ppn in (0..self.reverse.len() as u32).map(Ppn) {
                if self.is_valid(ppn) {
                    self.versions[ppn] = 1;
                }
            }
        }
    }
    /// Stops keeping versions.
    pub fn drop_versions(&mut self) {
        self.versions = BigColumn::zeroed(0);
    }
    /// Version of `ppn`: the number of the host write that wrote it; 0 if the metadata on flash
    /// tells nothing about it.
    #[inline]
    pub fn version(&self, ppn: Ppn) -> u32 {
        self.versions.as_slice().get(ppn.0 as usize).copied().unwrap_or(0)
    }
    /// Records the version of `ppn`, if versions are kept.
    #[inline]
    pub fn set_version(&mut self, ppn: Ppn, version: u32) {
        if let Some(place) = self.versions.as_mut_slice().get_mut(ppn.0 as usize) {
            *place = version;
        }
    }
    /// Records that the copy of `from` at `to` has the same version.
    #[inline]
    pub fn copy_version(&mut self, from: Ppn, to: Ppn) {
        if !self.versions.is_empty() {
            self.versions[to] = self.versions[from];
            self.subunits.copy(from, to);
        }
    }
    /// Clears the versions of a run of units.
    pub fn clear_versions(&mut self, first: Ppn, count: u32) {
        if !self.versions.is_empty() {
            self.versions.as_mut_slice()[first.0 as usize..][..count as usize].fill(0);
        }
    }
    /// All valid bits.
    pub fn valid_words(&self) -> &[u64] {
        self.valid.as_slice()
    }
    /// Removes all mappings but keeps the reverse map.
    pub fn lose_mapping(&mut self) {
        self.forward = BigColumn::zeroed(self.forward.len());
        self.lose_valid();
    }
    /// Makes everything invalid.
    pub fn lose_valid(&mut self) {
        self.valid = BigColumn::zeroed(self.valid.len());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(floor::cases!())]

        #[test]
        fn valid_bits_are_what_was_set(first in 0u32..200, count in 1u32..=64, mask: u64) {
            let mut map = Map::new(1, 400, 1);
            map.set_valid(Ppn(first), count);
            for ppn in 0..400 {
                prop_assert_eq!(map.is_valid(Ppn(ppn)), (first..first + count).contains(&ppn));
            }
            prop_assert_eq!(map.valid_bits(Ppn(first), count), low_bits(count));
            for (from, end) in [(0, 400), (0, first), (0, first + 1), (first + 1, 400), (first + count, 400)] {
                let naive = (from..end).map(Ppn).find(|ppn| map.is_valid(*ppn));
                prop_assert_eq!(map.first_valid(Ppn(from), Ppn(end)), naive);
            }
            let some = mask & low_bits(count);
            map.kill_some(Ppn(first), some);
            prop_assert_eq!(map.valid_bits(Ppn(first), count), low_bits(count) & !some);
            map.set_some_valid(Ppn(first), some);
            prop_assert_eq!(map.valid_bits(Ppn(first), count), low_bits(count));
            map.kill_run(Ppn(first), count);
            prop_assert!((0..400).all(|ppn| !map.is_valid(Ppn(ppn))));
        }
    }

    #[test]
    #[should_panic(expected = "only valid data can become invalid")]
    fn data_dies_once() {
        Map::new(1, 64, 1).kill(Ppn(3));
    }
}
