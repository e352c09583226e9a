//! Blames of operations and requests that have begun. An operation that only waits needs none: it
//! takes one at its first charge. The blame of a request's only operation becomes the request's.

use engine::{Slab, typed_id};
use metrics::Blame;
use std::ops::{Index, IndexMut};

typed_id! {
    /// The place of a blame in the list of all.
    pub struct BlameId;
}

/// The blame of an operation that was not charged yet.
pub static UNCHARGED: Blame = Blame::NONE;

/// All blames.
#[derive(Clone, Default)]
pub struct Blames {
    slab: Slab<BlameId, Blame>,
}

impl Blames {
    /// Takes a blame without charges.
    #[inline]
    pub fn take(&mut self) -> BlameId {
        let id = self.slab.reuse_or_insert_with(Blame::default);
        self.slab[id].clear();
        id
    }
    /// Gives a blame back; it stays readable until it is taken again.
    #[inline]
    pub fn give_back(&mut self, id: BlameId) {
        self.slab.remove(id);
    }
    /// A blame to charge, and the blame to add to it.
    #[inline]
    pub fn pair(&mut self, one: BlameId, other: BlameId) -> (&mut Blame, &Blame) {
        self.slab.pair(one, other)
    }
    /// Bytes that they take, with room to grow.
    pub fn bytes(&self) -> u64 {
        self.slab.bytes()
    }
    /// Number of blames that are taken.
    #[cfg(test)]
    pub fn taken(&self) -> usize {
        self.slab.taken()
    }
}

impl Index<BlameId> for Blames {
    type Output = Blame;
    #[inline]
    fn index(&self, id: BlameId) -> &Blame {
        &self.slab[id]
    }
}
impl IndexMut<BlameId> for Blames {
    #[inline]
    fn index_mut(&mut self, id: BlameId) -> &mut Blame {
        &mut self.slab[id]
    }
}
