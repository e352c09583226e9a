//! The agenda: what happens when, earliest first; events due together leave in
//! the order in which they were scheduled, so a run depends on its inputs only.
//!
//! Most events come a fixed time after the one that schedules them (a sense, a
//! program, a transfer), so those of a kind are due in the order in which they are
//! scheduled: they stand in a queue, their lane. What does not fit its lane goes to
//! a heap. The next event is the earliest of the lanes' heads and the heap's top,
//! found without a branch that depends on which it is.
//!
//! An entry is one `u128`: due time (58 bits, 9 years), ticket (39 bits, 5*10^11
//! events), event (31 bits). One integer comparison orders two entries, and the
//! ticket doubles as the event's generation: whoever schedules keeps the ticket,
//! and an event whose ticket is no longer the kept one is stale and is dropped.

use crate::bits;
use crate::time::Instant;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

const EVENT_BITS: u32 = 31;
const TICKET_BITS: u32 = 39;
const TIME_BITS: u32 = 58;

/// Number of lanes.
pub const LANES: usize = 7;
/// The heap's place among the heads, behind the lanes.
const HEAP: usize = LANES;
const _: () = assert!(LANES == 7, "`first_due` plays eight heads");
/// Due of a lane that is empty: after all time.
const NOTHING: u64 = u64::MAX;

/// The number of a scheduled event; unique in a run, rising in scheduling order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Ticket(u64);

impl Ticket {
    /// A ticket that no event ever has.
    pub const NONE: Self = Self(u64::MAX);
}

/// Something that can be due: a closed enum that packs into 31 bits.
pub trait Event: Copy {
    /// The event as a number below 2^31.
    fn pack(self) -> u32;
    /// The event that packed to `bits`.
    fn unpack(bits: u32) -> Self;
    /// The lane, below [`LANES`], of events that are mostly due in the order in which they
    /// are scheduled; `None` for others. A matter of speed alone.
    fn lane(self) -> Option<usize>;
}

/// Pending events of type `E`.
#[derive(Clone)]
pub struct Agenda<E> {
    /// When the first event of each lane is due, and then the heap's.
    heads: [u64; LANES + 1],
    /// When the last event that each lane took is due.
    tails: [u64; LANES],
    lanes: [VecDeque<u128>; LANES],
    heap: BinaryHeap<Reverse<u128>>,
    next_ticket: u64,
    marker: std::marker::PhantomData<E>,
}

impl<E: Event> Default for Agenda<E> {
    fn default() -> Self {
        Self::new()
    }
}

#[inline]
fn due_of(key: u128) -> u64 {
    (key >> (TICKET_BITS + EVENT_BITS)) as u64
}

impl<E: Event> Agenda<E> {
    /// An agenda with nothing pending.
    pub fn new() -> Self {
        Self {
            heads: [NOTHING; LANES + 1],
            tails: [0; LANES],
            lanes: Default::default(),
            heap: BinaryHeap::new(),
            next_ticket: 0,
            marker: std::marker::PhantomData,
        }
    }

    /// Puts `event` on the agenda for `due` and returns its ticket.
    ///
    /// # Panics
    /// After 9 years of simulated time or 5*10^11 events.
    #[inline]
    pub fn schedule(&mut self, due: Instant, event: E) -> Ticket {
        let ticket = self.next_ticket;
        self.next_ticket += 1;
        let (due, bits) = (due.as_ns(), event.pack());
        debug_assert!(bits < 1 << EVENT_BITS, "an event packs into 31 bits");
        assert!(
            due >> TIME_BITS == 0 && ticket >> TICKET_BITS == 0,
            "the run is longer than the agenda can number (9 years or 5*10^11 events)"
        );
        let key = u128::from(due) << (TICKET_BITS + EVENT_BITS)
            | u128::from(ticket) << EVENT_BITS
            | u128::from(bits);
        match event.lane() {
            Some(lane) if due >= self.tails[lane] => {
                self.tails[lane] = due;
                self.lanes[lane].push_back(key);
                // Where others stand before it, they are due no later.
                self.heads[lane] = self.heads[lane].min(due);
            }
            _ => self.schedule_apart(key),
        }
        Ticket(ticket)
    }

    #[inline(never)]
    fn schedule_apart(&mut self, key: u128) {
        self.heap.push(Reverse(key));
        self.heads[HEAP] = self.heads[HEAP].min(due_of(key));
    }

    /// When the next event is due: three matches after each other, without branches.
    #[inline(always)]
    fn first_due(&self) -> u64 {
        let of_two = |lane: usize| self.heads[lane].min(self.heads[lane + 1]);
        of_two(0).min(of_two(2)).min(of_two(4).min(of_two(6)))
    }

    /// When the next event is due, if any is pending.
    #[inline]
    pub fn next_due(&self) -> Option<Instant> {
        let due = self.first_due();
        (due != NOTHING).then(|| Instant::from_ns(due))
    }

    /// Takes the next event off the agenda.
    #[inline]
    pub fn pop(&mut self) -> Option<(Instant, Ticket, E)> {
        self.pop_by(Instant::NEVER)
    }

    /// Takes the next event off the agenda where it is due by `until`.
    #[inline(always)]
    pub fn pop_by(&mut self, until: Instant) -> Option<(Instant, Ticket, E)> {
        let due = self.first_due();
        if due > until.as_ns() || due == NOTHING {
            return None;
        }
        let mut first = 0u32;
        for (lane, head) in self.heads.iter().enumerate() {
            first |= u32::from(*head == due) << lane;
        }
        let mut lane = first.trailing_zeros() as usize;
        if first & (first - 1) != 0 {
            lane = self.first_scheduled(first);
        }
        let key = if lane < LANES {
            let queue = &mut self.lanes[lane];
            let key = queue.pop_front().expect("a lane with a head is not empty");
            self.heads[lane] = queue.front().map_or(NOTHING, |key| due_of(*key));
            key
        } else {
            self.pop_apart()
        };
        let ticket = Ticket((key >> EVENT_BITS) as u64 & ((1 << TICKET_BITS) - 1));
        let event = E::unpack(key as u32 & ((1 << EVENT_BITS) - 1));
        Some((Instant::from_ns(due), ticket, event))
    }

    #[inline(never)]
    fn pop_apart(&mut self) -> u128 {
        let Reverse(key) = self.heap.pop().expect("a heap with a top is not empty");
        self.heads[HEAP] = self.heap.peek().map_or(NOTHING, |Reverse(key)| due_of(*key));
        key
    }

    /// Of lanes whose heads are due together, the one whose head was scheduled first.
    #[inline(never)]
    fn first_scheduled(&self, lanes: u32) -> usize {
        let head = |lane: &usize| match self.lanes.get(*lane) {
            Some(queue) => queue.front().copied(),
            None => self.heap.peek().map(|Reverse(key)| *key),
        };
        bits(lanes).min_by_key(head).expect("there are lanes")
    }

    /// Takes every event off the agenda that `is_off` names.
    pub fn withdraw(&mut self, is_off: impl Fn(E) -> bool) {
        let stays = |key: &u128| !is_off(E::unpack(*key as u32 & ((1 << EVENT_BITS) - 1)));
        for (lane, queue) in self.lanes.iter_mut().enumerate() {
            queue.retain(stays);
            self.heads[lane] = queue.front().map_or(NOTHING, |key| due_of(*key));
        }
        self.heap.retain(|Reverse(key)| stays(key));
        self.heads[HEAP] = self.heap.peek().map_or(NOTHING, |Reverse(key)| due_of(*key));
    }

    /// The pending events, stale ones included, in no order.
    pub fn events(&self) -> impl Iterator<Item = E> + '_ {
        self.pending().map(|(_, event)| event)
    }

    /// As [`Agenda::events`], each with when it is due.
    pub fn pending(&self) -> impl Iterator<Item = (Instant, E)> + '_ {
        let keys = self.lanes.iter().flatten().chain(self.heap.iter().map(|Reverse(key)| key));
        let event = |key: u128| E::unpack(key as u32 & ((1 << EVENT_BITS) - 1));
        keys.map(move |key| (Instant::from_ns(due_of(*key)), event(*key)))
    }

    /// How many events are pending, stale ones included.
    pub fn len(&self) -> usize {
        self.lanes.iter().map(VecDeque::len).sum::<usize>() + self.heap.len()
    }

    /// True where nothing is pending.
    pub fn is_empty(&self) -> bool {
        self.next_due().is_none()
    }

    /// How many events were ever scheduled.
    pub fn scheduled(&self) -> u64 {
        self.next_ticket
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    impl Event for u32 {
        fn pack(self) -> u32 {
            self
        }
        fn unpack(bits: u32) -> u32 {
            bits
        }
        fn lane(self) -> Option<usize> {
            Some(self as usize % 11).filter(|lane| *lane < LANES)
        }
    }

    #[test]
    fn events_leave_by_time_and_ties_by_arrival() {
        let mut agenda = Agenda::new();
        for (due, event) in [(20, 1), (10, 9), (20, 0), (10, 3)] {
            agenda.schedule(Instant::from_ns(due), event);
        }
        let left: Vec<_> =
            std::iter::from_fn(|| agenda.pop()).map(|(at, _, e)| (at.as_ns(), e)).collect();
        assert_eq!(left, [(10, 9), (10, 3), (20, 1), (20, 0)]);
    }

    proptest! {
        /// Against a plain sort: whatever the delays, and with pops in between.
        #[test]
        fn events_leave_as_if_they_had_been_sorted(
            steps in proptest::collection::vec(
                (prop_oneof![Just(50u64), Just(400), Just(0), 0u64..1000], any::<bool>()),
                0..300,
            ),
        ) {
            let mut agenda = Agenda::new();
            let mut model: Vec<(u64, u32)> = Vec::new();
            let mut now = 0;
            for (number, (delay, pops)) in steps.into_iter().enumerate() {
                agenda.schedule(Instant::from_ns(now + delay), number as u32);
                model.push((now + delay, number as u32));
                model.sort_unstable();
                if pops {
                    let (at, _, event) = agenda.pop().unwrap();
                    prop_assert_eq!((at.as_ns(), event), model.remove(0));
                    now = at.as_ns();
                }
                prop_assert_eq!(agenda.len(), model.len());
            }
            let rest: Vec<_> = std::iter::from_fn(|| agenda.pop()).map(|(at, _, event)| (at.as_ns(), event)).collect();
            prop_assert_eq!(rest, model);
        }
    }

    #[test]
    fn an_event_is_taken_when_it_is_due_and_not_before() {
        for event in [0u32, 7] {
            let mut agenda = Agenda::new();
            agenda.schedule(Instant::from_ns(5), event);
            assert!(agenda.pop_by(Instant::from_ns(4)).is_none());
            assert_eq!((agenda.len(), agenda.next_due()), (1, Some(Instant::from_ns(5))));
            assert!(agenda.pop_by(Instant::from_ns(5)).is_some());
            assert!(agenda.is_empty() && agenda.pop().is_none());
        }
    }

    #[test]
    fn what_is_withdrawn_is_gone_and_the_rest_leaves_as_it_would_have() {
        let mut agenda = Agenda::new();
        // In lanes and in the heap, heads and others.
        let all: Vec<u32> = (0..100).map(|number| number * 37 % 100).collect();
        for event in &all {
            agenda.schedule(Instant::from_ns(u64::from(event * 7 % 50)), *event);
        }
        agenda.withdraw(|event| event % 3 == 0);
        let mut model: Vec<u32> = all.into_iter().filter(|event| event % 3 != 0).collect();
        model.sort_by_key(|event| event * 7 % 50);
        assert_eq!(agenda.len(), model.len());
        let (mut pending, mut sorted): (Vec<u32>, _) = (agenda.events().collect(), model.clone());
        pending.sort_unstable();
        sorted.sort_unstable();
        assert_eq!(pending, sorted);
        let left: Vec<u32> = std::iter::from_fn(|| agenda.pop()).map(|(_, _, e)| e).collect();
        assert_eq!(left, model);
    }

    #[test]
    fn a_ticket_is_what_pop_returns_for_its_event() {
        let mut agenda = Agenda::new();
        let late = agenda.schedule(Instant::from_ns(7), 5u32);
        let early = agenda.schedule(Instant::from_ns(3), 6u32);
        assert_eq!(agenda.pop().unwrap().1, early);
        assert_eq!(agenda.pop().unwrap().1, late);
    }

    #[test]
    #[should_panic(expected = "longer than the agenda can number")]
    fn time_beyond_nine_years_is_refused() {
        Agenda::new().schedule(Instant::from_ns(1 << TIME_BITS), 0u32);
    }
}
