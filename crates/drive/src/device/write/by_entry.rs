//! Values that only some entries of the buffer have, found by the entry in constant time.

use crate::device::ids::EntryId;

/// Values of some entries.
#[derive(Clone)]
pub struct ByEntry<T> {
    slots: Vec<Option<T>>,
}

impl<T> Default for ByEntry<T> {
    fn default() -> Self {
        Self { slots: Vec::new() }
    }
}

impl<T> ByEntry<T> {
    /// Stores the value of an entry that has none.
    pub fn put(&mut self, id: EntryId, of: T) {
        let slot = id.0 as usize;
        if self.slots.len() <= slot {
            self.slots.resize_with(slot + 1, || None);
        }
        let before = self.slots[slot].replace(of);
        assert!(before.is_none(), "an entry has one at a time");
    }
    #[inline]
    pub fn get(&self, id: EntryId) -> Option<&T> {
        self.slots.get(id.0 as usize)?.as_ref()
    }
    pub fn get_mut(&mut self, id: EntryId) -> Option<&mut T> {
        self.slots.get_mut(id.0 as usize)?.as_mut()
    }
    /// Removes the value of an entry.
    #[inline]
    pub fn take(&mut self, id: EntryId) -> Option<T> {
        if self.had_any() { self.take_out(id) } else { None }
    }
    #[cold]
    fn take_out(&mut self, id: EntryId) -> Option<T> {
        self.slots.get_mut(id.0 as usize)?.take()
    }
    /// True once an entry had a value.
    #[inline]
    pub fn had_any(&self) -> bool {
        !self.slots.is_empty()
    }
    /// All entries with a value. Slow.
    pub fn iter(&self) -> impl Iterator<Item = (EntryId, &T)> {
        let all = self.slots.iter().enumerate();
        all.filter_map(|(slot, of)| Some((EntryId(slot as u32), of.as_ref()?)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_has_what_was_put_until_it_is_taken() {
        let mut all = ByEntry::default();
        all.put(EntryId(5), 'a');
        all.put(EntryId(2), 'b');
        assert_eq!((all.get(EntryId(5)), all.get(EntryId(4))), (Some(&'a'), None));
        *all.get_mut(EntryId(5)).unwrap() = 'c';
        assert_eq!(all.iter().collect::<Vec<_>>(), [(EntryId(2), &'b'), (EntryId(5), &'c')]);
        assert_eq!(
            (all.take(EntryId(5)), all.take(EntryId(5)), all.take(EntryId(9))),
            (Some('c'), None, None)
        );
        all.put(EntryId(5), 'd');
        assert_eq!(all.get(EntryId(5)), Some(&'d'));
    }

    #[test]
    #[should_panic(expected = "an entry has one at a time")]
    fn nothing_is_put_over_another() {
        let mut all = ByEntry::default();
        all.put(EntryId(0), 1);
        all.put(EntryId(0), 2);
    }
}
