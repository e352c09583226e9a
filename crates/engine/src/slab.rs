//! Reused slots for short-lived things, so that none is allocated per operation.

use crate::ids::Id;
use std::marker::PhantomData;
use std::ops::{Index, IndexMut};

/// Most slots a slab has: what an event has room for to name one of them.
pub const MOST_SLOTS: usize = 1 << 27;

/// Slots that are taken and given back; the last one given back is the next taken.
#[derive(Clone, Debug)]
pub struct Slab<K, V> {
    slots: Vec<V>,
    vacant: Vec<u32>,
    key: PhantomData<K>,
}

impl<K: Id, V> Default for Slab<K, V> {
    fn default() -> Self {
        Self { slots: Vec::new(), vacant: Vec::new(), key: PhantomData }
    }
}

impl<K: Id, V> Slab<K, V> {
    /// Puts `value` into a vacant slot, or into a new one.
    #[inline]
    pub fn insert(&mut self, value: V) -> K {
        self.insert_with(|| value)
    }
    /// As [`Slab::insert`] of what `make` returns, which is built in its place: a
    /// large value that is put together elsewhere and then copied stalls on its
    /// own stores.
    #[inline(always)]
    pub fn insert_with(&mut self, make: impl FnOnce() -> V) -> K {
        if let Some(slot) = self.vacant.pop() {
            self.slots[slot as usize] = make();
            return K::from_index(slot as usize);
        }
        assert!(self.slots.len() < MOST_SLOTS, "more than {MOST_SLOTS} things are under way");
        self.slots.push(make());
        K::from_index(self.slots.len() - 1)
    }
    /// Takes a vacant slot with the value that it was given back with, or a new one with what
    /// `make` returns.
    #[inline]
    pub fn reuse_or_insert_with(&mut self, make: impl FnOnce() -> V) -> K {
        match self.vacant.pop() {
            Some(slot) => K::from_index(slot as usize),
            None => self.insert_with(make),
        }
    }
    /// Gives the slot back. Its value stays readable until the slot is taken again.
    #[inline]
    pub fn remove(&mut self, id: K) {
        debug_assert!(id.index() < self.slots.len(), "only a taken slot can be given back");
        self.vacant.push(id.index() as u32);
    }
    /// One value to change, and another one.
    ///
    /// # Panics
    /// Where they are the same.
    #[inline]
    pub fn pair(&mut self, one: K, other: K) -> (&mut V, &V) {
        let pair = self.slots.get_disjoint_mut([one.index(), other.index()]);
        let [one, other] = pair.expect("two slots");
        (one, other)
    }
    /// How many slots are taken.
    pub fn taken(&self) -> usize {
        self.slots.len() - self.vacant.len()
    }
    /// The slots that are taken, in the order of their numbers. Takes its time.
    pub fn ids(&self) -> Vec<K> {
        let mut is_taken = vec![true; self.slots.len()];
        self.vacant.iter().for_each(|slot| is_taken[*slot as usize] = false);
        (0..self.slots.len()).filter(|slot| is_taken[*slot]).map(K::from_index).collect()
    }
    /// Bytes that all slots take, with room to grow.
    pub fn bytes(&self) -> u64 {
        (self.slots.capacity() * size_of::<V>()) as u64
    }
    /// How many slots there are, taken or vacant.
    pub fn slots(&self) -> usize {
        self.slots.len()
    }
}

impl<K: Id, V> Index<K> for Slab<K, V> {
    type Output = V;
    #[inline]
    fn index(&self, id: K) -> &V {
        &self.slots[id.index()]
    }
}
impl<K: Id, V> IndexMut<K> for Slab<K, V> {
    #[inline]
    fn index_mut(&mut self, id: K) -> &mut V {
        &mut self.slots[id.index()]
    }
}
