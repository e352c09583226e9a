//! Reused slots for short-lived values, so that no operation allocates memory.

use crate::ids::Id;
use std::marker::PhantomData;
use std::ops::{Index, IndexMut};

/// Most slots of a slab: an event has 27 bits for the index of one.
pub const MOST_SLOTS: usize = 1 << 27;

/// Slots that are taken and returned; the slot returned last is taken next.
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
    /// As [`Slab::insert`] with the value that `make` returns. The value is built in its slot: a
    /// large value that is built elsewhere and then copied stalls on its own stores.
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
    /// Takes a vacant slot and keeps the value that it was returned with, or adds a slot with the
    /// value that `make` returns.
    #[inline]
    pub fn reuse_or_insert_with(&mut self, make: impl FnOnce() -> V) -> K {
        match self.vacant.pop() {
            Some(slot) => K::from_index(slot as usize),
            None => self.insert_with(make),
        }
    }
    /// Returns the slot. Its value stays readable until the slot is taken again.
    #[inline]
    pub fn remove(&mut self, id: K) {
        debug_assert!(id.index() < self.slots.len(), "only a taken slot can be given back");
        self.vacant.push(id.index() as u32);
    }
    /// One value to change and another one to read.
    ///
    /// # Panics
    /// If both are the same.
    #[inline]
    pub fn pair(&mut self, one: K, other: K) -> (&mut V, &V) {
        let pair = self.slots.get_disjoint_mut([one.index(), other.index()]);
        let [one, other] = pair.expect("two slots");
        (one, other)
    }
    /// Number of taken slots.
    pub fn taken(&self) -> usize {
        self.slots.len() - self.vacant.len()
    }
    /// The taken slots in the order of their numbers. Slow: it goes through all slots.
    pub fn ids(&self) -> Vec<K> {
        let mut is_taken = vec![true; self.slots.len()];
        self.vacant.iter().for_each(|slot| is_taken[*slot as usize] = false);
        (0..self.slots.len()).filter(|slot| is_taken[*slot]).map(K::from_index).collect()
    }
    /// Bytes of all slots, reserved capacity included.
    pub fn bytes(&self) -> u64 {
        (self.slots.capacity() * size_of::<V>()) as u64
    }
    /// Number of slots, taken or vacant.
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
