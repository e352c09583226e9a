//! Columns of gigabytes: zeroed pages that cost nothing until touched, backed by
//! huge pages where the system has them (a random look-up in a 4 GB map of 4 KiB
//! pages misses the TLB as well as the cache).
#![allow(unsafe_code)]

use crate::ids::Id;
use bytemuck::Pod;
use memmap2::{MmapMut, MmapOptions};
use std::fs::File;
use std::io;
use std::marker::PhantomData;
use std::ops::{Index, IndexMut};
use std::ptr::NonNull;

/// A very long zero-initialised column.
pub struct BigColumn<K, V> {
    /// The first value, in `map`; dangling where there are none.
    first: NonNull<V>,
    count: usize,
    /// Owns the memory.
    _map: Option<MmapMut>,
    key: PhantomData<(K, V)>,
}

// SAFETY: the column owns its values, and nothing else points to them.
unsafe impl<K: Send, V: Send> Send for BigColumn<K, V> {}
// SAFETY: as above; a shared column only gives shared references to them.
unsafe impl<K: Sync, V: Sync> Sync for BigColumn<K, V> {}

impl<K: Id, V: Pod> BigColumn<K, V> {
    /// A column of `count` zeroes.
    ///
    /// # Panics
    /// Where the system refuses the address space.
    pub fn zeroed(count: usize) -> Self {
        let bytes = count * size_of::<V>();
        let mut map = (bytes > 0).then(|| {
            let map = MmapOptions::new()
                .len(bytes)
                .map_anon()
                .expect("the system refused the memory for a column");
            // An advice: where it is refused the column works all the same.
            #[cfg(target_os = "linux")]
            let _ = map.advise(memmap2::Advice::HugePage);
            map
        });
        let first = match &mut map {
            Some(map) => NonNull::new(map.as_mut_ptr().cast()).expect("a mapping is not at 0"),
            None => NonNull::dangling(),
        };
        Self { first, count, _map: map, key: PhantomData }
    }

    /// The `count` values that stand in `file` from byte `offset` on, read when they are
    /// needed. Columns of one file share its memory until they are changed; changes stay
    /// in the column.
    ///
    /// # Errors
    /// Where the file is too short or cannot be mapped.
    pub fn of_file(file: &File, offset: u64, count: usize) -> io::Result<Self> {
        let bytes = count * size_of::<V>();
        if file.metadata()?.len() < offset + bytes as u64 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        if bytes == 0 {
            return Ok(Self::zeroed(0));
        }
        // SAFETY: the mapping is private, so that nobody else writes to it. What is read
        // before it is written comes from the file, which must not be changed in place
        // meanwhile: snapshots are written to new files only. (Whoever cuts the file off
        // has the process killed.)
        let mut map = unsafe { MmapOptions::new().offset(offset).len(bytes).map_copy(file)? };
        let first = NonNull::new(map.as_mut_ptr().cast()).expect("a mapping is not at 0");
        Ok(Self { first, count, _map: Some(map), key: PhantomData })
    }

    /// How many values there are.
    pub fn len(&self) -> usize {
        self.count
    }
    /// True where there are none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }
    /// Bytes that the column takes once all of it was touched.
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
    /// The values as they lie in memory.
    pub fn as_bytes(&self) -> &[u8] {
        bytemuck::cast_slice(self.as_slice())
    }
    /// Asks for the value at `id` to be near when it is needed.
    #[inline]
    pub fn prefetch(&self, id: K) {
        if let Some(value) = self.as_slice().get(id.index()) {
            prefetch(value);
        }
    }
}

/// Bytes that are copied, or left out, at a time: a huge page of x86-64.
const PIECE_BYTES: usize = 2 << 20;

/// A copy takes the memory of what is not zero.
impl<K: Id, V: Pod> Clone for BigColumn<K, V> {
    fn clone(&self) -> Self {
        let mut copy = Self::zeroed(self.count);
        copy_apart(self.as_bytes(), bytemuck::cast_slice_mut(copy.as_mut_slice()));
        copy
    }
}

/// Copies `from` into `into`, which is zero, without touching what stays zero. Long
/// ones are copied by several threads: most of the time goes into new pages.
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

/// True where all bytes are 0.
pub fn is_zero(bytes: &[u8]) -> bool {
    // Ends at the first run that is not; each is compared as a whole.
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

/// Asks the processor to bring `value` near; does nothing where it cannot.
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
        // Longer than what one thread copies, with zeroes between, and no whole piece.
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
        let file = File::open(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        let open = |offset, count| BigColumn::<Place, u32>::of_file(&file, offset, count);
        let (mut one, other) = (open(4096, 3072).unwrap(), open(4096, 3072).unwrap());
        one[Place(0)] = 7;
        assert_eq!((one[Place(0)], one[Place(1)]), (7, 1025));
        assert_eq!((other[Place(0)], other[Place(3071)]), (1024, 4095));
        assert!(open(4096, 3073).is_err(), "a value more than there are");
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
