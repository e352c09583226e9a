//! The agenda: pending events, earliest first. Events due together leave by their kind, and those
//! of one kind by the sequence number of their owner. So the order depends neither on when events
//! were scheduled nor on how many others there are, and one event may stand for several.
//!
//! Most events are due a fixed time after the event that schedules them (a sense, a program, a
//! transfer), so those of one kind are due in the order in which they are scheduled: they wait in
//! a queue, their lane. An event that does not fit its lane goes to a heap. The next event is the
//! earliest of the heads of the lanes and the top of the heap, found without a branch that
//! depends on which it is.
//!
//! An entry consists of due time (58 bits, 9 years), kind (5 bits), sequence number (37 bits,
//! 1.3*10^11) and index, the thing that the event is about (27 bits). In a lane, whose entries
//! are all of one kind, an entry is two words; in the heap it is one `u128`. An event cannot be
//! cancelled: whoever schedules an event that may become stale remembers when it is due, and
//! drops it if it comes at another time.

use crate::time::Instant;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Bits of an event's index.
pub const INDEX_BITS: u32 = 27;
const SEQUENCE_BITS: u32 = 37;
const KIND_BITS: u32 = 5;
const TIME_BITS: u32 = 58;
const _: () = assert!(SEQUENCE_BITS + INDEX_BITS == 64 && TIME_BITS + KIND_BITS < 64);

/// Number of lanes.
pub const LANES: usize = 7;
/// Index of the heap among the heads, after the lanes.
const HEAP: usize = LANES;
const _: () = assert!(LANES == 7, "`first_due` plays eight heads");
/// Bits of a head that hold its lane.
const LANE_BITS: u32 = 3;
const _: () = assert!(TIME_BITS + LANE_BITS < 64 && LANES < 1 << LANE_BITS);
/// Head of an empty lane: later than all times.
const NOTHING: u64 = u64::MAX;

/// Something that can be due: a closed enum of at most 32 kinds.
pub trait Event: Copy {
    /// The kind of the events of each lane, ascending; unused lanes have any kind.
    const KINDS: [u32; LANES];
    /// The kind, below 32, and the index, the thing that the event is about, below
    /// 2^[`INDEX_BITS`].
    fn parts(self) -> (u32, u32);
    /// The event of these parts.
    fn of_parts(kind: u32, index: u32) -> Self;
    /// The lane, below [`LANES`], of events that are mostly due in the order in which they are
    /// scheduled; `None` for other events. It affects speed only.
    fn lane(self) -> Option<usize>;
}

/// An entry of a lane.
#[derive(Clone, Copy, Default)]
struct Entry {
    due: u64,
    /// The sequence number and the index.
    of: u64,
}

impl Entry {
    /// Sort key of the entries of a lane.
    #[inline]
    fn key(self) -> u128 {
        u128::from(self.due) << 64 | u128::from(self.of)
    }
    /// The entry in the form of the heap.
    #[inline]
    fn of_kind(self, kind: u32) -> u128 {
        u128::from(self.due << KIND_BITS | u64::from(kind)) << 64 | u128::from(self.of)
    }
}

/// Pending events of type `E`.
#[derive(Clone)]
pub struct Agenda<E> {
    /// Due time of the first event of each lane, and of the heap. The last bits hold the lane, so
    /// the least head belongs to the first lane with an event that is due next.
    heads: [u64; LANES + 1],
    lanes: [Lane; LANES],
    heap: BinaryHeap<Reverse<u128>>,
    scheduled: u64,
    marker: std::marker::PhantomData<E>,
}

impl<E: Event> Default for Agenda<E> {
    fn default() -> Self {
        Self::new()
    }
}

#[inline]
fn due_of(key: u128) -> u64 {
    (key >> (64 + KIND_BITS)) as u64
}

#[inline]
fn head(due: u64, lane: usize) -> u64 {
    due << LANE_BITS | lane as u64
}

/// A queue of entries: a ring of 2^n places.
#[derive(Clone, Default)]
#[repr(align(64))]
struct Lane {
    places: Box<[Entry]>,
    first: usize,
    len: usize,
    /// The last entry that was added.
    last: Entry,
}

impl Lane {
    #[inline]
    fn front(&self) -> Option<Entry> {
        // An empty ring may have no places.
        if self.len == 0 { None } else { Some(self.places[self.first & (self.places.len() - 1)]) }
    }
    #[inline(always)]
    fn push(&mut self, entry: Entry) {
        if self.len == self.places.len() {
            self.grow();
        }
        let place = (self.first + self.len) & (self.places.len() - 1);
        self.places[place] = entry;
        self.len += 1;
        self.last = entry;
    }
    /// Takes the first entry of a ring that is not empty.
    #[inline]
    fn pop(&mut self) -> Entry {
        debug_assert!(self.len > 0, "a lane with a head is not empty");
        let entry = self.places[self.first & (self.places.len() - 1)];
        self.first += 1;
        self.len -= 1;
        entry
    }
    #[cold]
    #[inline(never)]
    fn grow(&mut self) {
        let mut places: Vec<Entry> = self.iter().collect();
        places.resize((self.len * 2).max(16), Entry::default());
        (self.places, self.first) = (places.into(), 0);
    }
    fn iter(&self) -> impl Iterator<Item = Entry> + '_ {
        (0..self.len).map(|at| self.places[(self.first + at) & (self.places.len() - 1)])
    }
    fn retain(&mut self, stays: impl Fn(&Entry) -> bool) {
        let left: Vec<Entry> = self.iter().filter(stays).collect();
        *self = Self::default();
        left.into_iter().for_each(|entry| self.push(entry));
    }
}

/// The event of a kind, and the sequence number of its owner.
#[inline]
fn event_of<E: Event>(kind: u32, of: u64) -> (E, u64) {
    (E::of_parts(kind, of as u32 & ((1 << INDEX_BITS) - 1)), of >> INDEX_BITS)
}
#[inline]
fn event_of_key<E: Event>(key: u128) -> (E, u64) {
    event_of((key >> 64) as u32 & ((1 << KIND_BITS) - 1), key as u64)
}

impl<E: Event> Agenda<E> {
    /// An agenda with nothing pending.
    pub fn new() -> Self {
        Self {
            heads: [NOTHING; LANES + 1],
            lanes: Default::default(),
            heap: BinaryHeap::new(),
            scheduled: 0,
            marker: std::marker::PhantomData,
        }
    }

    /// Schedules `event` for `due`; `sequence` is the number of its owner.
    ///
    /// # Panics
    /// After 9 years of simulated time or 1.3*10^11 owners.
    #[inline(always)]
    pub fn schedule(&mut self, due: Instant, event: E, sequence: u64) {
        // If the kind is known at compile time, so are the lane and these checks.
        let ((kind, index), lane) = (event.parts(), event.lane());
        debug_assert!(kind >> KIND_BITS == 0, "an event is of one of 32 kinds");
        debug_assert!(index >> INDEX_BITS == 0, "an event names one of 2^27 things");
        debug_assert!(lane.is_none_or(|lane| E::KINDS[lane] == kind), "a lane is of one kind");
        let due = due.as_ns();
        if due >> TIME_BITS | sequence >> SEQUENCE_BITS != 0 {
            refuse();
        }
        self.scheduled += 1;
        let entry = Entry { due, of: sequence << INDEX_BITS | u64::from(index) };
        match lane {
            Some(lane) if entry.key() >= self.lanes[lane].last.key() => {
                self.lanes[lane].push(entry);
                // Entries that precede it in the lane are due no later.
                self.heads[lane] = self.heads[lane].min(head(due, lane));
            }
            _ => self.schedule_apart(entry.of_kind(kind)),
        }
    }

    #[inline(never)]
    fn schedule_apart(&mut self, key: u128) {
        self.heap.push(Reverse(key));
        self.heads[HEAP] = self.heads[HEAP].min(head(due_of(key), HEAP));
    }

    /// The least head: three rounds of comparisons, without branches.
    #[inline(always)]
    fn first(&self) -> u64 {
        let of_two = |lane: usize| self.heads[lane].min(self.heads[lane + 1]);
        of_two(0).min(of_two(2)).min(of_two(4).min(of_two(6)))
    }

    /// Due time of the next event, if any is pending.
    #[inline]
    pub fn next_due(&self) -> Option<Instant> {
        let first = self.first();
        (first != NOTHING).then(|| Instant::from_ns(first >> LANE_BITS))
    }

    /// Takes the next event off the agenda, with the sequence number of its owner.
    #[inline]
    pub fn pop(&mut self) -> Option<(Instant, E, u64)> {
        self.pop_by(Instant::NEVER)
    }

    /// Takes the next event off the agenda if it is due by `until`.
    #[inline(always)]
    pub fn pop_by(&mut self, until: Instant) -> Option<(Instant, E, u64)> {
        let first = self.first();
        let due = first >> LANE_BITS;
        if due > until.as_ns() || first == NOTHING {
            return None;
        }
        // The lanes are in the order of their kinds; the heap holds any kind.
        let mut lane = (first & ((1 << LANE_BITS) - 1)) as usize;
        if self.heads[HEAP] >> LANE_BITS == due {
            lane = self.first_of_heap_and(lane);
        }
        let (event, sequence) = if lane < LANES {
            let entry = self.lanes[lane].pop();
            self.heads[lane] = self.head_of(lane);
            event_of(E::KINDS[lane], entry.of)
        } else {
            event_of_key(self.pop_apart())
        };
        Some((Instant::from_ns(due), event, sequence))
    }

    #[inline]
    fn head_of(&self, lane: usize) -> u64 {
        self.lanes[lane].front().map_or(NOTHING, |entry| head(entry.due, lane))
    }
    fn head_of_heap(&self) -> u64 {
        self.heap.peek().map_or(NOTHING, |Reverse(key)| head(due_of(*key), HEAP))
    }

    #[inline(never)]
    fn pop_apart(&mut self) -> u128 {
        let Reverse(key) = self.heap.pop().expect("a heap with a top is not empty");
        self.heads[HEAP] = self.head_of_heap();
        key
    }

    /// The heap if its top precedes the head of `lane`, which is due at the same time; else
    /// `lane`.
    #[inline(never)]
    fn first_of_heap_and(&self, lane: usize) -> usize {
        let head = self.lanes.get(lane).and_then(Lane::front);
        let head = head.map(|entry| entry.of_kind(E::KINDS[lane]));
        let top = self.heap.peek().map(|Reverse(key)| *key);
        if head.is_none_or(|head| top.is_some_and(|top| top < head)) { HEAP } else { lane }
    }

    /// Takes off the agenda every event for which `is_off` is true.
    pub fn withdraw(&mut self, is_off: impl Fn(E) -> bool) {
        for (lane, queue) in self.lanes.iter_mut().enumerate() {
            queue.retain(|entry| !is_off(event_of(E::KINDS[lane], entry.of).0));
        }
        self.heap.retain(|Reverse(key)| !is_off(event_of_key(*key).0));
        for lane in 0..LANES {
            self.heads[lane] = self.head_of(lane);
        }
        self.heads[HEAP] = self.head_of_heap();
    }

    /// The pending events, stale ones included, in no order.
    pub fn events(&self) -> impl Iterator<Item = E> + '_ {
        self.pending().map(|(_, event)| event)
    }

    /// As [`Agenda::events`], each with its due time.
    pub fn pending(&self) -> impl Iterator<Item = (Instant, E)> + '_ {
        let of_lanes = self.lanes.iter().zip(E::KINDS).flat_map(|(queue, kind)| {
            queue.iter().map(move |entry| (entry.due, event_of(kind, entry.of).0))
        });
        let apart = self.heap.iter().map(|Reverse(key)| (due_of(*key), event_of_key(*key).0));
        of_lanes.chain(apart).map(|(due, event)| (Instant::from_ns(due), event))
    }

    /// Number of pending events, stale ones included.
    pub fn len(&self) -> usize {
        self.lanes.iter().map(|queue| queue.len).sum::<usize>() + self.heap.len()
    }

    /// True if nothing is pending.
    pub fn is_empty(&self) -> bool {
        self.next_due().is_none()
    }

    /// Number of events ever scheduled.
    pub fn scheduled(&self) -> u64 {
        self.scheduled
    }
}

#[cold]
#[inline(never)]
fn refuse() -> ! {
    panic!("the run is longer than the agenda can number (9 years or 1.3*10^11 operations)")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Kinds 0 to 10; the first have lanes.
    impl Event for u32 {
        const KINDS: [u32; LANES] = [0, 1, 2, 3, 4, 5, 6];
        fn parts(self) -> (u32, u32) {
            (self % 11, self)
        }
        fn of_parts(kind: u32, index: u32) -> u32 {
            assert_eq!(kind, index % 11);
            index
        }
        fn lane(self) -> Option<usize> {
            Some(self as usize % 11).filter(|lane| *lane < LANES)
        }
    }

    fn all<E: Event>(agenda: &mut Agenda<E>) -> Vec<(u64, E, u64)> {
        std::iter::from_fn(|| agenda.pop()).map(|(at, event, of)| (at.as_ns(), event, of)).collect()
    }

    #[test]
    fn events_leave_by_time_then_kind_then_owner() {
        let mut agenda = Agenda::new();
        for (due, event, owner) in [(20, 1, 5), (10, 9, 0), (20, 0, 7), (20, 1, 4), (10, 3, 8)] {
            agenda.schedule(Instant::from_ns(due), event, owner);
        }
        let left = [(10, 3, 8), (10, 9, 0), (20, 0, 7), (20, 1, 4), (20, 1, 5)];
        assert_eq!(all(&mut agenda), left);
    }

    proptest! {
        #![proptest_config(floor::cases!())]

        /// Compares with a plain sort, for any delays and owners and with pops in between.
        #[test]
        fn events_leave_as_if_they_had_been_sorted(
            steps in proptest::collection::vec(
                (
                    prop_oneof![Just(50u64), Just(400), Just(0), 0u64..1000],
                    prop_oneof![0u64..8, Just((1 << SEQUENCE_BITS) - 1)],
                    any::<bool>(),
                ),
                0..300,
            ),
        ) {
            let mut agenda = Agenda::new();
            let mut model: Vec<(u64, u32, u64, u32)> = Vec::new();
            let mut now = 0;
            for (number, (delay, owner, pops)) in steps.into_iter().enumerate() {
                let number = number as u32;
                agenda.schedule(Instant::from_ns(now + delay), number, owner);
                model.push((now + delay, number % 11, owner, number));
                model.sort_unstable();
                if pops {
                    let (at, event, owner) = agenda.pop().unwrap();
                    prop_assert_eq!((at.as_ns(), event % 11, owner, event), model.remove(0));
                    now = at.as_ns();
                }
                prop_assert_eq!(agenda.len(), model.len());
            }
            let rest: Vec<_> = model.iter().map(|(at, _, owner, event)| (*at, *event, *owner)).collect();
            prop_assert_eq!(all(&mut agenda), rest);
        }

        /// The order does not depend on the order of scheduling.
        #[test]
        fn events_leave_alike_however_they_were_scheduled(
            events in proptest::collection::vec((0u64..20, 0u32..100, 0u64..1000), 0..50),
            rotated in 0usize..50,
        ) {
            let left = |events: &[(u64, u32, u64)]| {
                let mut agenda = Agenda::new();
                for (due, event, owner) in events {
                    agenda.schedule(Instant::from_ns(*due), *event, *owner);
                }
                all(&mut agenda)
            };
            let mut others = events.clone();
            others.rotate_left(rotated.min(events.len()));
            prop_assert_eq!(left(&events), left(&others));
        }
    }

    #[test]
    fn an_event_is_taken_when_it_is_due_and_not_before() {
        for event in [0u32, 7] {
            let mut agenda = Agenda::new();
            agenda.schedule(Instant::from_ns(5), event, 0);
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
        let events: Vec<u32> = (0..100).map(|number| number * 37 % 100).collect();
        let due = |event: u32| u64::from(event * 7 % 50);
        for event in &events {
            agenda.schedule(Instant::from_ns(due(*event)), *event, 0);
        }
        agenda.withdraw(|event| event % 3 == 0);
        let mut model: Vec<u32> = events.into_iter().filter(|event| event % 3 != 0).collect();
        model.sort_by_key(|event| (due(*event), event % 11, *event));
        assert_eq!(agenda.len(), model.len());
        let (mut pending, mut sorted): (Vec<u32>, _) = (agenda.events().collect(), model.clone());
        pending.sort_unstable();
        sorted.sort_unstable();
        assert_eq!(pending, sorted);
        let left: Vec<u32> = all(&mut agenda).into_iter().map(|(_, event, _)| event).collect();
        assert_eq!(left, model);
    }

    #[test]
    #[should_panic(expected = "longer than the agenda can number")]
    fn time_beyond_nine_years_is_refused() {
        Agenda::new().schedule(Instant::from_ns(1 << TIME_BITS), 0u32, 0);
    }
}
