//! Columns of gigabytes: zeroed pages that take no memory until touched, in huge pages if the
//! system has them (with 4 KiB pages, a random look-up in a 4 GB map misses the TLB as well as
//! the cache).
#![allow(unsafe_code)]

mod pages;

use crate::ids::Id;
use bytemuck::Pod;
use memmap2::{MmapMut, MmapOptions};
use std::fs::File;
use std::io;
use std::marker::PhantomData;
use std::ops::{Index, IndexMut};
use std::ptr::NonNull;
use std::sync::Arc;

/// A very long zero-initialised column.
pub struct BigColumn<K, V> {
    /// The first value, in `map`; dangling if the column is empty.
    first: NonNull<V>,
    count: usize,
    /// Owns the memory.
    _map: Option<MmapMut>,
    /// The file with the unchanged values, if there is one.
    base: Option<Base>,
    key: PhantomData<(K, V)>,
}

/// Place of a column in a file.
struct Base {
    file: Arc<File>,
    offset: u64,
    /// True if changes of the column are written to the file, which no other column shares yet.
    written: bool,
}

// SAFETY: the column owns its values, and nothing else points to them.
unsafe impl<K: Send, V: Send> Send for BigColumn<K, V> {}
// SAFETY: as above; a shared column only gives shared references to them.
unsafe impl<K: Sync, V: Sync> Sync for BigColumn<K, V> {}

impl<K: Id, V: Pod> BigColumn<K, V> {
    /// A column of `count` zeroes.
    ///
    /// # Panics
    /// If the system refuses the address space.
    pub fn zeroed(count: usize) -> Self {
        let bytes = count * size_of::<V>();
        let mut map = (bytes > 0).then(|| {
            let map = MmapOptions::new()
                .len(bytes)
                .map_anon()
                .expect("the system refused the memory for a column");
            // Only advice: without huge pages the column works as well.
            #[cfg(target_os = "linux")]
            let _ = map.advise(memmap2::Advice::HugePage);
            map
        });
        let first = map.as_mut().map_or(NonNull::dangling(), beginning);
        Self { first, count, _map: map, base: None, key: PhantomData }
    }

    /// Ends the filling of a column of a [`MemoryFile`]: from now on changes stay in the column,
    /// and its clones share with it the values that neither has changed. Does nothing to other
    /// columns. If the system refuses, the column is like one without a file.
    pub fn share(&mut self) {
        if let Some(Base { file, offset, written: true }) = &self.base {
            *self = Self::of_file(file, *offset, self.count).unwrap_or_else(|_| self.clone());
        }
    }

    /// True if clones share unchanged values.
    pub fn is_shared(&self) -> bool {
        self.base.as_ref().is_some_and(|base| !base.written)
    }

    /// Makes a column of zeroes equal to `other`.
    pub fn copy_from(&mut self, other: &Self) {
        copy_apart(other.as_bytes(), bytemuck::cast_slice_mut(self.as_mut_slice()));
    }

    /// The `count` values at byte `offset` of `file`, read when they are needed. Columns of one
    /// file share its memory until they are changed; changes stay in the column.
    ///
    /// # Errors
    /// If the file is too short or cannot be mapped.
    pub fn of_file(file: &Arc<File>, offset: u64, count: usize) -> io::Result<Self> {
        // SAFETY: the mapping is private, so nobody else writes to it. Values that are read
        // before they are written come from the file, which must not be changed in place
        // meanwhile: snapshots are only written to new files. (Whoever truncates the file has the
        // process killed.)
        let map = |options: &MmapOptions| unsafe { options.map_copy(&**file) };
        Self::mapped(Base { file: file.clone(), offset, written: false }, count, map)
    }

    fn mapped(
        base: Base,
        count: usize,
        map: impl FnOnce(&MmapOptions) -> io::Result<MmapMut>,
    ) -> io::Result<Self> {
        let bytes = count * size_of::<V>();
        if base.file.metadata()?.len() < base.offset + bytes as u64 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        if bytes == 0 {
            return Ok(Self::zeroed(0));
        }
        let mut map = map(MmapOptions::new().offset(base.offset).len(bytes))?;
        let first = beginning(&mut map);
        Ok(Self { first, count, _map: Some(map), base: Some(base), key: PhantomData })
    }

    /// Number of values.
    pub fn len(&self) -> usize {
        self.count
    }
    /// True if there are no values.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }
    /// Bytes of the column once all of it is touched.
    pub fn bytes(&self) -> usize {
        self.count * size_of::<V>()
    }
    /// The values by rising id.
    #[inline]
    pub fn as_slice(&self) -> &[V] {
        // SAFETY: the mapping, which lives as long as the column and does not move, is
        // `count * size_of::<V>()` bytes long, page aligned, initialised (zeroed), and
        // `V: Pod` accepts any bytes. Without one there are no bytes.
        unsafe { std::slice::from_raw_parts(self.first.as_ptr(), self.count) }
    }
    /// The values by rising id, to change.
    #[inline]
    pub fn as_mut_slice(&mut self) -> &mut [V] {
        // SAFETY: as above, and `&mut self` makes the borrow unique.
        unsafe { std::slice::from_raw_parts_mut(self.first.as_ptr(), self.count) }
    }
    /// The values as bytes in memory order.
    pub fn as_bytes(&self) -> &[u8] {
        bytemuck::cast_slice(self.as_slice())
    }
    /// Prefetches the value at `id`.
    #[inline]
    pub fn prefetch(&self, id: K) {
        if let Some(value) = self.as_slice().get(id.index()) {
            prefetch(value);
        }
    }
}

/// Bytes that are copied or skipped at a time: a huge page of x86-64.
const PIECE_BYTES: usize = 2 << 20;

/// A copy takes memory for the values that are not zero or, if the column is in a file, for those
/// that were changed.
impl<K: Id, V: Pod> Clone for BigColumn<K, V> {
    fn clone(&self) -> Self {
        self.sharing_clone().unwrap_or_else(|| {
            let mut copy = Self::zeroed(self.count);
            copy.copy_from(self);
            copy
        })
    }
}

impl<K: Id, V: Pod> BigColumn<K, V> {
    /// A copy that shares the file, if the system tells which pages were changed.
    fn sharing_clone(&self) -> Option<Self> {
        let Base { file, offset, .. } = self.base.as_ref().filter(|_| self.is_shared())?;
        let from = self.as_bytes();
        let changed = pages::changed(from).ok()?;
        let mut copy = Self::of_file(file, *offset, self.count).ok()?;
        let into: &mut [u8] = bytemuck::cast_slice_mut(copy.as_mut_slice());
        for range in changed {
            into[range.clone()].copy_from_slice(&from[range]);
        }
        Some(copy)
    }
}

fn beginning<V>(map: &mut MmapMut) -> NonNull<V> {
    NonNull::new(map.as_mut_ptr().cast()).expect("a mapping is not at 0")
}

/// A file in memory for columns that are filled and then shared by their clones. It has no huge
/// pages (which makes random look-ups in gigabytes slower), and is freed with the last of its
/// columns.
pub struct MemoryFile {
    file: Arc<File>,
    end: u64,
}

impl MemoryFile {
    /// An empty file.
    ///
    /// # Errors
    /// If the system has no such files, or no more of them.
    pub fn new() -> io::Result<Self> {
        Ok(Self { file: Arc::new(pages::unnamed_file()?), end: 0 })
    }

    /// A column of `count` zeroes that will be filled and then shared ([`BigColumn::share`]).
    /// Until then the process must not fork and use the column on both sides.
    ///
    /// # Errors
    /// If the system refuses the memory.
    pub fn column<K: Id, V: Pod>(&mut self, count: usize) -> io::Result<BigColumn<K, V>> {
        let offset = self.end.next_multiple_of(PIECE_BYTES as u64);
        self.end = offset + (count * size_of::<V>()) as u64;
        self.file.set_len(self.end)?;
        // SAFETY: this part of the file is mapped once; nobody else knows of the file.
        let map = |options: &MmapOptions| unsafe { options.map_mut(&*self.file) };
        BigColumn::mapped(Base { file: self.file.clone(), offset, written: true }, count, map)
    }
}

/// Copies `from` into `into`, which is zero, without touching pages that stay zero. Several
/// threads copy a long column, because most of the time goes into new pages.
fn copy_apart(from: &[u8], into: &mut [u8]) {
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(8);
    let share = from.len().div_ceil(threads).next_multiple_of(PIECE_BYTES);
    if from.len() < 32 * PIECE_BYTES || threads == 1 {
        return copy_pieces(from, into);
    }
    std::thread::scope(|scope| {
        for (from, into) in from.chunks(share).zip(into.chunks_mut(share)) {
            scope.spawn(move || copy_pieces(from, into));
        }
    });
}

fn copy_pieces(from: &[u8], into: &mut [u8]) {
    for (from, into) in from.chunks(PIECE_BYTES).zip(into.chunks_mut(PIECE_BYTES)) {
        if !is_zero(from) {
            into.copy_from_slice(from);
        }
    }
}

/// True if all bytes are 0.
pub fn is_zero(bytes: &[u8]) -> bool {
    // Stops at the first run that is not zero; each run is compared as a whole.
    bytes.chunks(256).all(|run| run.iter().fold(0, |bits, byte| bits | byte) == 0)
}

impl<K: Id, V: Pod> Index<K> for BigColumn<K, V> {
    type Output = V;
    #[inline]
    fn index(&self, id: K) -> &V {
        &self.as_slice()[id.index()]
    }
}
impl<K: Id, V: Pod> IndexMut<K> for BigColumn<K, V> {
    #[inline]
    fn index_mut(&mut self, id: K) -> &mut V {
        &mut self.as_mut_slice()[id.index()]
    }
}

/// Prefetches `value`; does nothing if the processor cannot.
#[inline]
pub fn prefetch<T>(value: &T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch has no effect that a program can observe.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(value).cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = value;
}

#[cfg(test)]
mod tests {
    use super::*;
    #[cfg(target_os = "linux")]
    use std::collections::BTreeSet;

    crate::typed_id! { struct Place; }

    #[test]
    fn a_new_column_is_zero_and_keeps_what_is_written() {
        let mut column: BigColumn<Place, u32> = BigColumn::zeroed(10_000);
        assert!(column.as_slice().iter().all(|value| *value == 0));
        column[Place(9_999)] = 7;
        assert_eq!(column[Place(9_999)], 7);
        assert_eq!(column.bytes(), 40_000);
    }

    #[test]
    fn a_copy_is_equal_and_apart() {
        // Longer than one thread's share, with zeroes in between, and not a whole number of
        // pieces.
        let count = 40 * PIECE_BYTES / 4 + 3;
        let mut column: BigColumn<Place, u32> = BigColumn::zeroed(count);
        let places = [0, 5, count / 3, count / 2, count - 1];
        places.iter().for_each(|place| column[Place(*place as u32)] = *place as u32 + 1);
        let mut copy = column.clone();
        assert!(copy.as_slice() == column.as_slice());
        copy[Place(7)] = 9;
        assert_eq!(column[Place(7)], 0);
        let set = copy.as_slice().iter().filter(|value| **value != 0).count();
        assert_eq!(set, places.len() + 1);
    }

    #[test]
    fn columns_of_a_file_share_it_and_change_apart() {
        let path = std::env::temp_dir().join(format!("flashscape-column-{}", std::process::id()));
        let values: Vec<u32> = (0..4096).collect();
        std::fs::write(&path, bytemuck::cast_slice(&values)).unwrap();
        let file = Arc::new(File::open(&path).unwrap());
        std::fs::remove_file(&path).unwrap();
        let open = |offset, count| BigColumn::<Place, u32>::of_file(&file, offset, count);
        let (mut one, other) = (open(4096, 3072).unwrap(), open(4096, 3072).unwrap());
        one[Place(0)] = 7;
        assert_eq!((one[Place(0)], one[Place(1)]), (7, 1025));
        assert_eq!((other[Place(0)], other[Place(3071)]), (1024, 4095));
        assert!(open(4096, 3073).is_err(), "a value more than there are");
        let mut copy = one.clone();
        copy[Place(1)] = 8;
        assert_eq!((copy[Place(0)], copy[Place(1)], copy[Place(3071)]), (7, 8, 4095));
        assert_eq!((one[Place(1)], other[Place(1)]), (1025, 1025));
    }

    /// Pages of a column that it shares with no other.
    #[cfg(target_os = "linux")]
    fn own_pages(column: &BigColumn<Place, u32>) -> BTreeSet<usize> {
        let ranges = pages::changed(column.as_bytes()).unwrap();
        ranges.into_iter().flatten().map(|byte| byte / rustix::param::page_size()).collect()
    }
    /// Pages that contain a value of `u32::MAX`.
    #[cfg(target_os = "linux")]
    fn changed_pages(values: &[u32]) -> BTreeSet<usize> {
        let places = values.iter().enumerate().filter(|(_, value)| **value == u32::MAX);
        places.map(|(place, _)| 4 * place / rustix::param::page_size()).collect()
    }

    /// Compares clones of clones, changed at random, with plain vectors.
    #[cfg(target_os = "linux")]
    #[test]
    fn clones_share_what_none_has_changed() {
        const COUNT: usize = 300_007;
        let mut numbers = crate::Streams::new(floor::seed(5)).stream("test");
        let mut file = MemoryFile::new().unwrap();
        let mut before: BigColumn<Place, u64> = file.column(99).unwrap();
        let mut first: BigColumn<Place, u32> = file.column(COUNT).unwrap();
        let mut naive = vec![0u32; COUNT];
        before[Place(98)] = u64::MAX;
        for (place, value) in naive.iter_mut().enumerate().step_by(3) {
            *value = place as u32 + 1;
            first[Place(place as u32)] = *value;
        }
        before.share();
        first.share();
        let mut drives = vec![(first, naive)];
        for _ in 0..40 {
            let of = numbers.below(drives.len() as u64) as usize;
            let mut copy = (drives[of].0.clone(), drives[of].1.clone());
            assert_eq!(own_pages(&copy.0), changed_pages(&copy.1));
            for changed in [&mut copy, &mut drives[of]] {
                for _ in 0..3 {
                    let place = numbers.below(COUNT as u64) as usize;
                    changed.0[Place(place as u32)] = u32::MAX;
                    changed.1[place] = u32::MAX;
                }
            }
            drives.push(copy);
            assert!(drives.iter().all(|(column, naive)| column.as_slice() == naive));
        }
        assert_eq!((before[Place(98)], before[Place(0)]), (u64::MAX, 0));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_clone_of_what_is_being_made_is_apart() {
        let mut column: BigColumn<Place, u32> = MemoryFile::new().unwrap().column(5).unwrap();
        column[Place(1)] = 1;
        let copy = column.clone();
        column[Place(1)] = 2;
        column.share();
        assert_eq!((copy[Place(1)], column[Place(1)]), (1, 2));
    }

    #[test]
    fn bytes_are_those_of_the_values() {
        let mut column: BigColumn<Place, u32> = BigColumn::zeroed(2);
        column[Place(1)] = 1;
        assert_eq!(column.as_bytes()[4..], 1u32.to_ne_bytes());
        assert!(!is_zero(column.as_bytes()) && is_zero(&column.as_bytes()[..4]));
    }

    #[test]
    fn an_empty_column_is_empty() {
        let column: BigColumn<Place, u64> = BigColumn::zeroed(0);
        assert!(column.is_empty() && column.as_slice().is_empty());
    }
}
