//! The agenda: what happens when, earliest first; events due together leave in
//! the order in which they were scheduled, so a run depends on its inputs only.
//!
//! An entry is one `u128`: due time (58 bits, 9 years), ticket (40 bits, 10^12
//! events), event (30 bits). One integer comparison orders two entries, and the
//! ticket doubles as the event's generation: whoever schedules keeps the ticket,
//! and an event whose ticket is no longer the kept one is stale and is dropped.

use crate::time::Instant;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

const EVENT_BITS: u32 = 30;
const TICKET_BITS: u32 = 40;
const TIME_BITS: u32 = 58;

/// The number of a scheduled event; unique in a run, rising in scheduling order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Ticket(u64);

impl Ticket {
    /// A ticket that no event ever has.
    pub const NONE: Self = Self(u64::MAX);
}

/// Something that can be due: a closed enum that packs into 30 bits.
pub trait Event: Copy {
    /// The event as a number below 2^30.
    fn pack(self) -> u32;
    /// The event that packed to `bits`.
    fn unpack(bits: u32) -> Self;
}

/// Pending events of type `E`.
pub struct Agenda<E> {
    heap: BinaryHeap<Reverse<u128>>,
    /// The heap's top was popped but still stands there: what is scheduled next
    /// takes its place, which spares a sift. Most events schedule their successor.
    top_is_gone: bool,
    next_ticket: u64,
    marker: std::marker::PhantomData<E>,
}

impl<E: Event> Default for Agenda<E> {
    fn default() -> Self {
        Self::new()
    }
}

impl<E: Event> Agenda<E> {
    /// An agenda with nothing pending.
    pub fn new() -> Self {
        Self {
            heap: BinaryHeap::with_capacity(1024),
            top_is_gone: false,
            next_ticket: 0,
            marker: std::marker::PhantomData,
        }
    }

    /// Puts `event` on the agenda for `due` and returns its ticket.
    ///
    /// # Panics
    /// After 9 years of simulated time or 10^12 events.
    #[inline]
    pub fn schedule(&mut self, due: Instant, event: E) -> Ticket {
        let ticket = self.next_ticket;
        self.next_ticket += 1;
        let bits = event.pack();
        debug_assert!(bits < 1 << EVENT_BITS, "an event packs into 30 bits");
        assert!(
            due.as_ns() >> TIME_BITS == 0 && ticket >> TICKET_BITS == 0,
            "the run is longer than the agenda can number (9 years or 10^12 events)"
        );
        let key = u128::from(due.as_ns()) << (TICKET_BITS + EVENT_BITS)
            | u128::from(ticket) << EVENT_BITS
            | u128::from(bits);
        if std::mem::take(&mut self.top_is_gone) {
            *self.heap.peek_mut().expect("what is gone still stands there") = Reverse(key);
        } else {
            self.heap.push(Reverse(key));
        }
        Ticket(ticket)
    }

    #[inline]
    fn settle(&mut self) {
        if std::mem::take(&mut self.top_is_gone) {
            self.heap.pop();
        }
    }

    /// When the next event is due, if any is pending.
    #[inline]
    pub fn next_due(&mut self) -> Option<Instant> {
        self.settle();
        self.heap
            .peek()
            .map(|Reverse(key)| Instant::from_ns((key >> (TICKET_BITS + EVENT_BITS)) as u64))
    }

    /// Takes the next event off the agenda.
    #[inline]
    pub fn pop(&mut self) -> Option<(Instant, Ticket, E)> {
        self.settle();
        let Reverse(key) = *self.heap.peek()?;
        self.top_is_gone = true;
        let due = Instant::from_ns((key >> (TICKET_BITS + EVENT_BITS)) as u64);
        let ticket = Ticket((key >> EVENT_BITS) as u64 & ((1 << TICKET_BITS) - 1));
        Some((due, ticket, E::unpack(key as u32 & ((1 << EVENT_BITS) - 1))))
    }

    /// How many events are pending, stale ones included.
    pub fn len(&self) -> usize {
        self.heap.len() - usize::from(self.top_is_gone)
    }

    /// True where nothing is pending.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
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
