//! Typed ids and the columns that they index, so that a block cannot index a plane.

use std::marker::PhantomData;
use std::ops::{Index, IndexMut};

/// An id that numbers things densely from 0.
pub trait Id: Copy + Eq + Ord {
    /// The thing's place in a column.
    fn index(self) -> usize;
    /// The id of the thing at `index`.
    fn from_index(index: usize) -> Self;
}

/// Declares a 32-bit id type: `typed_id! { /// A die. pub struct DieId; }`.
#[macro_export]
macro_rules! typed_id {
    ($($(#[$doc:meta])* $vis:vis struct $name:ident;)+) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        $vis struct $name(pub u32);
        impl $crate::ids::Id for $name {
            #[inline]
            fn index(self) -> usize { self.0 as usize }
            #[inline]
            fn from_index(index: usize) -> Self { Self(index as u32) }
        }
    )+};
}

/// An id or none, in the four bytes of an id: an option takes eight.
#[derive(Debug)]
pub struct IdOrNone<K> {
    /// The id's index; `u32::MAX` if there is none.
    index: u32,
    key: PhantomData<K>,
}

impl<K: Id> IdOrNone<K> {
    /// No id.
    pub const NONE: Self = Self { index: u32::MAX, key: PhantomData };
    /// An id.
    #[inline]
    pub fn some(id: K) -> Self {
        Self { index: id.index() as u32, key: PhantomData }
    }
    /// The id, if there is one.
    #[inline]
    pub fn get(self) -> Option<K> {
        if self.is_none() { None } else { Some(K::from_index(self.index as usize)) }
    }
    /// The id, which must exist. If there is none, the result has no thing, so a look-up of it
    /// panics.
    #[inline]
    pub fn expected(self) -> K {
        K::from_index(self.index as usize)
    }
    /// True if there is none.
    #[inline]
    pub fn is_none(self) -> bool {
        self.index == u32::MAX
    }
    /// Takes the id, if there is one, and leaves none.
    #[inline]
    pub fn take(&mut self) -> Option<K> {
        std::mem::replace(self, Self::NONE).get()
    }
}

impl<K> Clone for IdOrNone<K> {
    #[inline]
    fn clone(&self) -> Self {
        *self
    }
}
impl<K> Copy for IdOrNone<K> {}
impl<K> PartialEq for IdOrNone<K> {
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        self.index == other.index
    }
}
impl<K> Eq for IdOrNone<K> {}
impl<K: Id> From<Option<K>> for IdOrNone<K> {
    #[inline]
    fn from(id: Option<K>) -> Self {
        id.map_or(Self::NONE, Self::some)
    }
}

/// One fact about every thing of a kind, indexed by its typed id.
#[derive(Clone, Debug)]
pub struct Column<K, V> {
    values: Vec<V>,
    key: PhantomData<K>,
}

impl<K: Id, V> Column<K, V> {
    /// A column of `count` equal values.
    pub fn filled(value: V, count: usize) -> Self
    where
        V: Clone,
    {
        Self { values: vec![value; count], key: PhantomData }
    }
    /// A column computed from each id.
    pub fn from_fn(count: usize, value: impl FnMut(K) -> V) -> Self {
        Self { values: (0..count).map(K::from_index).map(value).collect(), key: PhantomData }
    }
    /// Number of things.
    pub fn len(&self) -> usize {
        self.values.len()
    }
    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }
    /// The values by rising id.
    pub fn as_slice(&self) -> &[V] {
        &self.values
    }
    /// The values by rising id, to change.
    pub fn as_mut_slice(&mut self) -> &mut [V] {
        &mut self.values
    }
    /// Every id with its value.
    pub fn iter(&self) -> impl Iterator<Item = (K, &V)> {
        self.values.iter().enumerate().map(|(index, value)| (K::from_index(index), value))
    }
    /// Every id.
    pub fn ids(&self) -> impl Iterator<Item = K> + use<K, V> {
        (0..self.values.len()).map(K::from_index)
    }
}

impl<K: Id, V> Index<K> for Column<K, V> {
    type Output = V;
    #[inline]
    fn index(&self, id: K) -> &V {
        &self.values[id.index()]
    }
}
impl<K: Id, V> IndexMut<K> for Column<K, V> {
    #[inline]
    fn index_mut(&mut self, id: K) -> &mut V {
        &mut self.values[id.index()]
    }
}
