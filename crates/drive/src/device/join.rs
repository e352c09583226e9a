//! Joins: operations that are waited for together, such as the parts of a request or the rows of a
//! partly written unit. The waiting party owns the join; it continues with the time and the blame
//! of the member that ended last, the critical one.

use engine::{IdOrNone, Instant, Slab, typed_id};
use metrics::Blame;

typed_id! {
    /// Place of the blame of a critical member.
    struct AsideId;
}

/// Marks the member count of a join that gets no more members.
const WHOLE: u32 = 1 << 31;

/// Members that are waited for together. A join of one member needs no separate state.
#[derive(Clone, Debug)]
pub struct Join {
    /// Members made so far, with [`WHOLE`] once no more come; and the number that have not ended.
    made: u32,
    left: u32,
    /// Mapping units of members that failed, critical or not.
    failed: u32,
    /// The critical member so far, of several.
    aside: IdOrNone<AsideId>,
    /// The moment at which the critical member ended.
    at: Instant,
}

impl Default for Join {
    fn default() -> Self {
        Self { made: 0, left: 0, failed: 0, aside: IdOrNone::NONE, at: Instant::START }
    }
}

/// The critical members of joins.
#[derive(Clone, Default)]
pub struct Aside {
    slab: Slab<AsideId, Critical>,
}

/// The member of a join that has ended last so far.
#[derive(Clone, Default)]
struct Critical {
    member: u32,
    blame: Blame,
}

impl Aside {
    /// Bytes that they take, with room to grow.
    pub fn bytes(&self) -> u64 {
        self.slab.bytes()
    }
}

impl Join {
    /// A join of `members` members, and no more.
    pub fn of(members: u32) -> Self {
        Self { made: members | WHOLE, left: members, ..Self::default() }
    }
    /// Adds members; returns the number of the first.
    #[inline]
    pub fn add(&mut self, members: u32) -> u32 {
        let first = self.made();
        self.made += members;
        self.left += members;
        first
    }
    /// Splits a member into several: itself and the added ones; returns the number of the first of
    /// these.
    pub fn split(&mut self, into: u32) -> u32 {
        self.add(into - 1)
    }
    /// No more members come.
    #[inline]
    pub fn close(&mut self) {
        self.made |= WHOLE;
    }
    /// Members made so far.
    #[inline]
    pub fn made(&self) -> u32 {
        self.made & !WHOLE
    }
    /// Counts units of a member that failed; the member ends nevertheless.
    #[cold]
    pub fn fail(&mut self, units: u32) {
        self.failed += units;
    }
    /// Units of its members that failed so far. The owner of the join reports it to its own owner.
    #[inline]
    pub fn failed(&self) -> u32 {
        self.failed
    }
    /// True once all members have ended and no more come.
    #[inline]
    pub fn is_over(&self) -> bool {
        self.left == 0 && self.made & WHOLE != 0
    }

    /// Ends a member at `at`, with `blame`. The blame of an only member goes to `sum` at once.
    /// Among members that end last together, the one made first is the critical one.
    #[inline]
    pub fn ended(
        &mut self,
        member: u32,
        at: Instant,
        blame: &Blame,
        sum: &mut Blame,
        aside: &mut Aside,
    ) {
        if self.ended_alone(at) {
            return sum.add(blame);
        }
        self.ended_of_several(member, at, blame, aside);
    }

    /// True if there is one member, and no more come.
    #[inline]
    pub fn is_single(&self) -> bool {
        self.made == 1 | WHOLE
    }
    /// Ends a member at `at`; returns true if it is the only one. If not,
    /// [`Join::ended_of_several`] must follow with its blame.
    #[inline]
    pub fn ended_alone(&mut self, at: Instant) -> bool {
        assert!(self.left > 0, "a member ends once");
        self.left -= 1;
        if self.is_single() {
            self.at = at;
        }
        self.is_single()
    }

    /// Ends a member of several.
    #[inline(never)]
    pub fn ended_of_several(&mut self, member: u32, at: Instant, blame: &Blame, aside: &mut Aside) {
        let kept = match self.aside.get() {
            Some(kept) => kept,
            None => aside.slab.reuse_or_insert_with(Critical::default),
        };
        let critical = &mut aside.slab[kept];
        let is_later = at > self.at || at == self.at && member < critical.member;
        if !self.aside.is_none() && !is_later {
            return;
        }
        self.aside = IdOrNone::some(kept);
        (self.at, critical.member) = (at, member);
        critical.blame.clear();
        critical.blame.add(blame);
    }

    /// End of the only member, if all have ended and there was but one.
    #[inline]
    pub fn settled_alone(&self) -> Option<Instant> {
        (self.is_over() && self.aside.is_none()).then_some(self.at)
    }

    /// Settles a join whose members have all ended: adds the critical one's blame to `sum`, and
    /// returns the moment at which it ended. Returns `None` before that.
    #[inline]
    pub fn settle(&mut self, sum: &mut Blame, aside: &mut Aside) -> Option<Instant> {
        if !self.is_over() {
            return None;
        }
        if let Some(kept) = self.aside.take() {
            sum.add(&aside.slab[kept].blame);
            aside.slab.remove(kept);
        }
        Some(self.at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::Span;
    use metrics::State;
    use proptest::prelude::*;

    fn sensed(ns: u64) -> Blame {
        let mut blame = Blame::default();
        blame.charge(State::Sense, Span::from_ns(ns));
        blame
    }

    #[test]
    fn one_member_needs_nothing_aside() {
        let (mut join, mut sum, mut aside) = (Join::of(1), Blame::default(), Aside::default());
        join.ended(0, Instant::from_ns(7), &sensed(7), &mut sum, &mut aside);
        assert_eq!(join.settle(&mut sum, &mut aside), Some(Instant::from_ns(7)));
        assert_eq!((sum.total(), aside.slab.slots()), (Span::from_ns(7), 0));
    }

    #[test]
    fn a_join_that_others_may_join_goes_on_when_the_last_has_ended() {
        let (mut join, mut sum, mut aside) = (Join::default(), Blame::default(), Aside::default());
        assert_eq!(join.add(1), 0);
        join.ended(0, Instant::from_ns(9), &sensed(9), &mut sum, &mut aside);
        assert_eq!(join.settle(&mut sum, &mut aside), None, "more may come");
        assert_eq!(join.add(1), 1);
        join.close();
        join.ended(1, Instant::from_ns(4), &sensed(4), &mut sum, &mut aside);
        assert_eq!(join.settle(&mut sum, &mut aside), Some(Instant::from_ns(9)));
        assert_eq!((sum.total(), aside.slab.taken()), (Span::from_ns(9), 0));
    }

    #[test]
    fn units_of_all_members_that_failed_are_counted() {
        let (mut join, mut sum, mut aside) = (Join::of(3), Blame::default(), Aside::default());
        // The critical member is not the one that failed.
        for (member, ns, failed) in [(0, 5, 2), (1, 9, 0), (2, 7, 1)] {
            join.fail(failed);
            join.ended(member, Instant::from_ns(ns), &sensed(ns), &mut sum, &mut aside);
        }
        assert_eq!(join.settle(&mut sum, &mut aside), Some(Instant::from_ns(9)));
        assert_eq!((join.failed(), sum.total()), (3, Span::from_ns(9)));
        // Failures of a member of another join are passed on to that join.
        let mut above = Join::of(1);
        above.fail(join.failed());
        assert_eq!(above.failed(), 3);
    }

    #[test]
    #[should_panic(expected = "a member ends once")]
    fn a_member_does_not_end_twice() {
        let (mut join, mut sum, mut aside) = (Join::of(1), Blame::default(), Aside::default());
        (0..2).for_each(|_| join.ended(0, Instant::START, &sensed(1), &mut sum, &mut aside));
    }

    proptest! {
        #![proptest_config(floor::cases!())]

        /// Agrees with a plain maximum: in any order of ends the last member counts, and among
        /// several the one made first.
        #[test]
        fn the_critical_member_is_the_last_to_end(
            ends in proptest::collection::vec(1u64..6, 1..8), order in any::<u64>(),
        ) {
            let (mut sum, mut aside) = (Blame::default(), Aside::default());
            let mut join = Join::of(ends.len() as u32);
            let mut members: Vec<usize> = (0..ends.len()).collect();
            members.sort_by_key(|member| order.rotate_left(7 * *member as u32) % 97);
            for member in members {
                // Its blame identifies the member.
                let blame = sensed(1000 + member as u64);
                join.ended(member as u32, Instant::from_ns(ends[member]), &blame, &mut sum, &mut aside);
            }
            let last = *ends.iter().max().unwrap();
            let first_made = ends.iter().position(|end| *end == last).unwrap() as u64;
            prop_assert_eq!(join.settle(&mut sum, &mut aside), Some(Instant::from_ns(last)));
            prop_assert_eq!(sum.total(), Span::from_ns(1000 + first_made));
        }
    }
}
