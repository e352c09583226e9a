//! Operations of a group that wait for several of its cells and not for all: a list for each class
//! and choice of cells. In one common list, operations for some cells would wait for those of other
//! cells, and each search would pass by all others.

use crate::device::flash::list::List;
use crate::device::flash::op::{CLASSES, Class, Op, Ops};
use crate::device::ids::OpId;

/// All such operations of a group. A list is kept when it is empty, so there is one for each choice
/// of cells that was ever asked for: a few for programs and erases, and more for collection's reads
/// of partial rows if each occupies only the planes that it needs.
#[derive(Clone, Default)]
pub struct Wide {
    /// Classes that have waiting operations: bit `i` for class `i`.
    waiting: u32,
    classes: [Vec<(u64, List)>; CLASSES],
}

impl Wide {
    pub fn push_back(&mut self, ops: &mut Ops, id: OpId) {
        let Op { class, cells, .. } = ops[id];
        self.list_for(class, cells).push_back(ops, id);
    }
    /// Puts an operation that was taken back to its place by age.
    pub fn put_back(&mut self, ops: &mut Ops, id: OpId) {
        let Op { class, cells, .. } = ops[id];
        self.list_for(class, cells).put_back(ops, id);
    }
    /// Removes an operation that is in its list.
    pub fn remove(&mut self, ops: &mut Ops, id: OpId) {
        let (class, cells) = (ops[id].class as usize, ops[id].cells);
        let mut lists = self.classes[class].iter_mut();
        let (_, list) = lists.find(|(of, _)| *of == cells).expect("it stands in a list");
        list.remove(ops, id);
        if self.heads(class).next().is_none() {
            self.waiting &= !(1 << class);
        }
    }
    /// Changes the class of all operations of a class, each at its place by age.
    pub fn become_of(&mut self, ops: &mut Ops, from: Class, to: Class) {
        self.waiting &= !(1 << from as u32);
        for (cells, mut list) in std::mem::take(&mut self.classes[from as usize]) {
            if list.head().is_some() {
                self.list_for(to, cells).take_in(ops, &mut list, to);
            }
        }
    }
    /// The list for an operation of a class and choice of cells.
    fn list_for(&mut self, class: Class, cells: u64) -> &mut List {
        self.waiting |= 1 << class as u32;
        let lists = &mut self.classes[class as usize];
        let place = lists.iter().position(|(of, _)| *of == cells).unwrap_or_else(|| {
            lists.push((cells, List::default()));
            lists.len() - 1
        });
        &mut lists[place].1
    }

    /// True if an operation of a class waits.
    #[inline]
    pub fn has(&self, class: usize) -> bool {
        self.waiting >> class & 1 == 1
    }
    /// The lists of a class, which may be empty.
    pub fn lists(&self, class: usize) -> impl Iterator<Item = &List> {
        self.classes[class].iter().map(|(_, list)| list)
    }
    /// The lists of a class whose operations need any of `cells`.
    pub fn on(&self, class: usize, cells: u64) -> impl Iterator<Item = &List> {
        let on_them = self.classes[class].iter().filter(move |(of, _)| of & cells != 0);
        on_them.map(|(_, list)| list)
    }
    /// The oldest operation of a class for each choice of cells.
    #[inline]
    pub fn heads(&self, class: usize) -> impl Iterator<Item = OpId> {
        self.lists(class).filter_map(List::head)
    }
    /// As [`Wide::heads`], for those that need none of `cells`.
    #[inline]
    pub fn heads_off(&self, class: usize, cells: u64) -> impl Iterator<Item = OpId> {
        let off_them = self.classes[class].iter().filter(move |(of, _)| of & cells == 0);
        off_them.filter_map(|(_, list)| list.head())
    }
    /// True if an operation of its class needs some of the same cells and was asked for before
    /// `id`.
    #[inline(never)]
    pub fn stands_before(&self, ops: &Ops, id: OpId) -> bool {
        let op = &ops[id];
        let mut heads = self.on(op.class as usize, op.cells).filter_map(List::head);
        heads.any(|other| ops[other].seq < op.seq)
    }
}
