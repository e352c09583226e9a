//! Lists of operations that wait, in the order of asking.

use crate::device::flash::op::{Class, Ops};
use crate::device::ids::OpId;
use engine::IdOrNone;

/// A list of operations, linked through [`crate::device::flash::op::Op::next`].
#[derive(Clone, Copy, Debug, Default)]
pub struct List {
    head: Option<OpId>,
    tail: Option<OpId>,
    len: u32,
}

impl List {
    #[inline]
    pub fn head(&self) -> Option<OpId> {
        self.head
    }
    /// Number of operations in the list.
    pub fn len(&self) -> u32 {
        self.len
    }
    #[inline]
    pub fn push_back(&mut self, ops: &mut Ops, id: OpId) {
        ops[id].next = IdOrNone::NONE;
        match self.tail {
            Some(tail) => ops[tail].next = IdOrNone::some(id),
            None => self.head = Some(id),
        }
        self.tail = Some(id);
        self.len += 1;
    }
    /// Puts an operation that was taken back to its place by age, which is near the head.
    pub fn put_back(&mut self, ops: &mut Ops, id: OpId) {
        let mut before = None;
        let mut after = self.head;
        while let Some(older) = after.filter(|at| ops[*at].seq < ops[id].seq) {
            before = Some(older);
            after = ops[older].next.get();
        }
        ops[id].next = after.into();
        match before {
            Some(before) => ops[before].next = IdOrNone::some(id),
            None => self.head = Some(id),
        }
        if after.is_none() {
            self.tail = Some(id);
        }
        self.len += 1;
    }
    #[inline]
    pub fn pop_front(&mut self, ops: &Ops) -> Option<OpId> {
        let id = self.head?;
        self.len -= 1;
        self.head = ops[id].next.get();
        if self.head.is_none() {
            self.tail = None;
        }
        Some(id)
    }
    /// Removes an operation that is in the list.
    pub fn remove(&mut self, ops: &mut Ops, id: OpId) {
        let mut before = None;
        let mut at = self.head;
        while at.is_some_and(|at| at != id) {
            before = at;
            at = at.and_then(|at| ops[at].next.get());
        }
        let next = ops[id].next.get();
        self.len -= 1;
        match before {
            Some(before) => ops[before].next = next.into(),
            None => self.head = next,
        }
        if next.is_none() {
            self.tail = before;
        }
    }
    /// The operations in the list, in order.
    pub fn iter<'a>(&self, ops: &'a Ops) -> impl Iterator<Item = OpId> + use<'a> {
        std::iter::successors(self.head, |id| ops[*id].next.get())
    }
    /// Moves all operations of `other` into this list and changes their class; both lists are in
    /// the order of asking.
    pub fn take_in(&mut self, ops: &mut Ops, other: &mut Self, class: Class) {
        if other.head.is_none() {
            return;
        }
        let mut merged = Self::default();
        loop {
            let is_older =
                |theirs: OpId| self.head.is_none_or(|mine| ops[theirs].seq < ops[mine].seq);
            let from_other = other.head.is_some_and(is_older);
            let list = if from_other { &mut *other } else { &mut *self };
            let Some(id) = list.pop_front(ops) else { break };
            if from_other {
                ops[id].class = class;
            }
            merged.push_back(ops, id);
        }
        *self = merged;
    }
}
