//! The link to the host: one bus for all.

use std::collections::VecDeque;

/// Use of the bus by a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Turn {
    /// To begin: with its data, if it is a write.
    Begin(usize),
    /// To end: with its data, if it is a read.
    End(usize),
}

/// The bus, and the requests that wait for it. Finished requests go first, in the order in which
/// they finished; then new ones, in the order of their arrival.
#[derive(Clone, Debug)]
pub(super) struct Bus {
    page_ns: u64,
    is_free: bool,
    done: VecDeque<usize>,
    new: VecDeque<usize>,
}

impl Bus {
    pub fn new(page_ns: u64) -> Self {
        Self { page_ns, is_free: true, done: VecDeque::new(), new: VecDeque::new() }
    }
    pub fn ask(&mut self, turn: Turn) {
        match turn {
            Turn::Begin(request) => self.new.push_back(request),
            Turn::End(request) => self.done.push_back(request),
        }
    }
    /// Takes the next turn, if the bus is free and a request waits.
    pub fn next(&mut self) -> Option<Turn> {
        if !self.is_free {
            return None;
        }
        let turn = match self.done.pop_front() {
            Some(request) => Turn::End(request),
            None => Turn::Begin(self.new.pop_front()?),
        };
        self.is_free = false;
        Some(turn)
    }
    pub fn release(&mut self) {
        self.is_free = true;
    }
    /// Time for which the data of this many pages occupy the bus, in nanoseconds.
    pub fn takes_ns(&self, pages: u32) -> u64 {
        u64::from(pages) * self.page_ns
    }
}
