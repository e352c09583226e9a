//! A link that is one bus for everything: a request needs it to begin and to end, and has it alone
//! while its data crosses. When the bus becomes free, completed requests go first, in the order of
//! their completion, then commands in the order of their arrival (the host bus of the simulator of
//! Agrawal and others, USENIX ATC 2008).

use crate::device::ids::RequestId;
use engine::Instant;
use std::collections::VecDeque;

/// The request that has the bus, and those that wait for it, with the beginnings of their waits.
#[derive(Clone, Default)]
pub struct Bus {
    is_taken: bool,
    done: VecDeque<(RequestId, Instant)>,
    new: VecDeque<(RequestId, Instant)>,
}

/// Use of the bus by a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Crossing {
    /// To begin: the data of a write crosses.
    Begin,
    /// To end: the data of a read crosses.
    End,
}

impl Bus {
    pub fn ask(&mut self, crossing: Crossing, id: RequestId, at: Instant) {
        match crossing {
            Crossing::Begin => self.new.push_back((id, at)),
            Crossing::End => self.done.push_back((id, at)),
        }
    }
    /// Gives the bus, if it is free, to the next request; returns that and the beginning of its
    /// wait.
    pub fn grant(&mut self) -> Option<(Crossing, RequestId, Instant)> {
        if self.is_taken {
            return None;
        }
        let end = self.done.pop_front().map(|(id, since)| (Crossing::End, id, since));
        let next =
            end.or_else(|| self.new.pop_front().map(|(id, at)| (Crossing::Begin, id, at)))?;
        self.is_taken = true;
        Some(next)
    }
    pub fn release(&mut self) {
        debug_assert!(self.is_taken, "who releases the bus had it");
        self.is_taken = false;
    }
    /// The use that a request waits for, if it waits, and the beginning of its wait.
    pub fn waits(&self, id: RequestId) -> Option<(Crossing, Instant)> {
        let since = |queue: &VecDeque<(RequestId, Instant)>| {
            queue.iter().find(|(waits, _)| *waits == id).map(|(_, since)| *since)
        };
        let begin = since(&self.new).map(|at| (Crossing::Begin, at));
        begin.or_else(|| since(&self.done).map(|at| (Crossing::End, at)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_done_goes_first_and_one_at_a_time() {
        let at = Instant::from_ns;
        let [begin, end] = [Crossing::Begin, Crossing::End];
        let mut bus = Bus::default();
        let asked = [(begin, 3, 10), (begin, 1, 20), (end, 4, 30), (begin, 5, 40), (end, 2, 50)];
        for (crossing, id, ns) in asked {
            bus.ask(crossing, RequestId(id), at(ns));
        }
        assert_eq!(bus.waits(RequestId(5)), Some((begin, at(40))));
        assert_eq!(bus.waits(RequestId(2)), Some((end, at(50))));
        assert_eq!(bus.waits(RequestId(6)), None);
        for (crossing, id, ns) in [(end, 4, 30), (end, 2, 50), (begin, 3, 10)] {
            assert_eq!(bus.grant(), Some((crossing, RequestId(id), at(ns))));
            assert_eq!(bus.grant(), None, "it is taken");
            bus.release();
        }
        // A request that is done meanwhile goes before those that wait to begin.
        bus.ask(end, RequestId(3), at(60));
        for (crossing, id, ns) in [(end, 3, 60), (begin, 1, 20), (begin, 5, 40)] {
            assert_eq!(bus.grant(), Some((crossing, RequestId(id), at(ns))));
            bus.release();
        }
        assert_eq!(bus.grant(), None, "nothing waits");
    }
}
