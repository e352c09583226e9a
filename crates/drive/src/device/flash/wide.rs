//! Reads of several cells that wait: a list for each class and choice of cells. In one list for all,
//! whoever looks for a read of some cells would pass by those of others, however many wait.

use crate::device::flash::list::List;
use crate::device::flash::op::{Class, Op, Ops};
use crate::device::ids::OpId;

/// All such reads of a group. There are no more lists than choices of cells that were ever read
/// together, which are few.
#[derive(Clone, Default)]
pub struct WideReads {
    lists: Vec<Wide>,
}

/// Those of a class that wait for the same cells.
#[derive(Clone)]
pub struct Wide {
    class: Class,
    cells: u64,
    pub list: List,
}

impl WideReads {
    pub fn push_back(&mut self, ops: &mut Ops, id: OpId) {
        let Op { class, cells, .. } = ops[id];
        let place = self.place_of(class, cells).unwrap_or_else(|| {
            self.lists.push(Wide { class, cells, list: List::default() });
            self.lists.len() - 1
        });
        self.lists[place].list.push_back(ops, id);
    }
    /// Removes a read; returns whether it was the last one of its class.
    pub fn remove(&mut self, ops: &mut Ops, id: OpId) -> bool {
        let Op { class, cells, .. } = ops[id];
        let place = self.place_of(class, cells).expect("what waits is in a list");
        self.lists[place].list.remove(ops, id);
        self.of(class as usize).all(|wide| wide.list.head().is_none())
    }
    fn place_of(&self, class: Class, cells: u64) -> Option<usize> {
        self.lists.iter().position(|wide| wide.class == class && wide.cells == cells)
    }
    /// True once there was such a read.
    #[inline]
    pub fn were_there(&self) -> bool {
        !self.lists.is_empty()
    }
    /// The lists of a class.
    pub fn of(&self, class: usize) -> impl Iterator<Item = &Wide> {
        self.lists.iter().filter(move |wide| wide.class as usize == class)
    }
    /// The lists of a class whose reads need any of `cells`.
    pub fn on(&self, class: usize, cells: u64) -> impl Iterator<Item = &Wide> {
        self.of(class).filter(move |wide| wide.cells & cells != 0)
    }
    /// The oldest read of a class.
    #[inline(never)]
    pub fn oldest(&self, ops: &Ops, class: usize) -> Option<OpId> {
        self.of(class).filter_map(|wide| wide.list.head()).min_by_key(|id| ops[*id].seq)
    }
}
