//! Columns of gigabytes: zeroed pages that cost nothing until touched, backed by
//! huge pages where the system has them (a random look-up in a 4 GB map of 4 KiB
//! pages misses the TLB as well as the cache).
#![allow(unsafe_code)]

use crate::ids::Id;
use memmap2::{MmapMut, MmapOptions};
use std::marker::PhantomData;
use std::ops::{Index, IndexMut};
use std::ptr::NonNull;

/// A type for which all-zero memory is a valid value.
///
/// # Safety
/// The implementer promises that zeroed bytes are a valid value, that the type
/// has no destructor and that its alignment is at most a page.
pub unsafe trait Zeroable: Copy {}
// SAFETY: integers may have any bits; `None` is the zero of a NonZero option,
// as the standard library guarantees.
unsafe impl Zeroable for u8 {}
unsafe impl Zeroable for u16 {}
unsafe impl Zeroable for u32 {}
unsafe impl Zeroable for u64 {}
unsafe impl Zeroable for Option<std::num::NonZeroU32> {}

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

impl<K: Id, V: Zeroable> BigColumn<K, V> {
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
        // `V: Zeroable` accepts zeroes. Without one there are no bytes.
        unsafe { std::slice::from_raw_parts(self.first.as_ptr(), self.count) }
    }
    /// The values by rising id, to change.
    #[inline]
    pub fn as_mut_slice(&mut self) -> &mut [V] {
        // SAFETY: as above, and `&mut self` makes the borrow unique.
        unsafe { std::slice::from_raw_parts_mut(self.first.as_ptr(), self.count) }
    }
    /// Asks for the value at `id` to be near when it is needed.
    #[inline]
    pub fn prefetch(&self, id: K) {
        if let Some(value) = self.as_slice().get(id.index()) {
            prefetch(value);
        }
    }
}

impl<K: Id, V: Zeroable> Index<K> for BigColumn<K, V> {
    type Output = V;
    #[inline]
    fn index(&self, id: K) -> &V {
        &self.as_slice()[id.index()]
    }
}
impl<K: Id, V: Zeroable> IndexMut<K> for BigColumn<K, V> {
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
    fn an_empty_column_is_empty() {
        let column: BigColumn<Place, u64> = BigColumn::zeroed(0);
        assert!(column.is_empty() && column.as_slice().is_empty());
    }
}
