//! Ledgers: cumulative time of a resource by state. A request that must wait copies the totals on
//! arrival and subtracts them when it is served. This blames its wait in constant time, however
//! long the queue.

use crate::blame::{Blame, HOLDERS, Holder, LEDGER_STATES, State};
use engine::{IdOrNone, Instant, Slab, Span, typed_id};

/// The totals of a ledger at a moment.
pub type Snapshot = [Span; LEDGER_STATES];

typed_id! {
    /// The totals of a ledger at the beginning of a wait for its resource.
    pub struct SnapshotId;
}

/// Totals of ledgers at the beginnings of waits. Waits that begin during one uninterrupted
/// activity of a resource share them: meanwhile only the time of that activity grows.
#[derive(Clone, Debug, Default)]
pub struct Snapshots {
    slab: Slab<SnapshotId, Shared>,
}

/// Totals with which several waits began, without the time of one state.
#[derive(Clone, Debug)]
struct Shared {
    totals: Snapshot,
    /// Time of these totals.
    at: Instant,
    /// Activity of the resource since then, at the beginning of each wait.
    state: State,
    /// Number of waits that share the totals.
    waits: u32,
}

impl Default for Shared {
    fn default() -> Self {
        Self {
            totals: [Span::ZERO; LEDGER_STATES],
            at: Instant::START,
            state: State::Order,
            waits: 0,
        }
    }
}

impl Snapshots {
    /// Bytes of the totals, reserved capacity included.
    pub fn bytes(&self) -> u64 {
        self.slab.bytes()
    }
    /// Number of totals in use.
    pub fn taken(&self) -> usize {
        self.slab.taken()
    }
}

/// Activity of a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Doing {
    /// Idle: nobody has to wait.
    Nothing,
    /// Occupied: waits are charged to this state.
    Busy(State),
    /// Occupied until a known time, then idle.
    Lapses(State),
    /// Idle while the operation whose turn it is waits for the channel.
    AwaitsChannel,
}

/// Waits for channels among the states, as bits.
const ON_CHANNEL: u64 = ((1 << HOLDERS) - 1) << HOLDERS;

/// The ledger of a unit or a channel. Every operation changes it, mostly in its first cache line,
/// because waits for units come first among the states.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub struct Ledger {
    since: Instant,
    /// States with time in their totals: bit `i` for state `i`.
    touched: u64,
    doing: Doing,
    /// The totals with which the last wait began; kept even when it is over.
    latest: IdOrNone<SnapshotId>,
    totals: Snapshot,
    /// Totals of the channel by holder at the time `since`, while the channel is awaited.
    channel: [Span; HOLDERS],
    /// Total of the time for which the idle channel was reserved, at the time `since`, while the
    /// channel is awaited.
    reserved: Span,
    /// Time at which the resource becomes idle by itself.
    lapses: Instant,
}

impl Default for Ledger {
    fn default() -> Self {
        Self {
            totals: [Span::ZERO; LEDGER_STATES],
            touched: 0,
            doing: Doing::Nothing,
            latest: IdOrNone::NONE,
            since: Instant::START,
            channel: [Span::ZERO; HOLDERS],
            reserved: Span::ZERO,
            lapses: Instant::NEVER,
        }
    }
}

impl Ledger {
    /// Charges waits to `state` from now on.
    #[inline]
    pub fn occupy(&mut self, now: Instant, state: State) {
        self.settle(now);
        self.doing = Doing::Busy(state);
    }
    /// Charges waits to `state` from now on; from `until` on the resource is idle. Afterwards
    /// [`Ledger::bring_up`] must be called before anything else.
    #[inline]
    pub fn occupy_until(&mut self, now: Instant, state: State, until: Instant) {
        self.settle(now);
        self.doing = Doing::Lapses(state);
        self.lapses = until;
    }
    /// Makes the resource idle from now on.
    #[inline]
    pub fn release(&mut self, now: Instant) {
        self.settle(now);
        self.doing = Doing::Nothing;
    }
    /// Restarts the totals from here with an idle resource; the time until now was not recorded.
    pub fn restart(&mut self, now: Instant) {
        self.doing = Doing::Nothing;
        self.since = now;
    }
    /// Charges waits to whatever occupies the channel from now on. [`Ledger::settle_with`] must
    /// be called before the totals are read.
    pub fn await_channel(&mut self, now: Instant, channel: &mut Ledger) {
        self.settle(now);
        self.doing = Doing::AwaitsChannel;
        self.channel = *channel.by_holder(now);
        self.reserved = channel.totals[State::Reserved as usize];
    }
    /// The state that waits are charged to at present; `None` if the resource is idle or the
    /// channel is awaited.
    #[inline]
    pub fn state(&self) -> Option<State> {
        match self.doing {
            Doing::Busy(state) | Doing::Lapses(state) => Some(state),
            Doing::Nothing | Doing::AwaitsChannel => None,
        }
    }
    /// True while the channel is awaited.
    #[inline]
    pub fn awaits_channel(&self) -> bool {
        self.doing == Doing::AwaitsChannel
    }

    /// Brings the totals up to `now`.
    #[inline]
    pub fn settle(&mut self, now: Instant) {
        debug_assert!(!self.awaits_channel(), "a ledger that awaits a channel settles with it");
        if let Doing::Busy(state) = self.doing {
            self.totals[state as usize] += now - self.since;
            self.touched |= 1u64 << state as u32;
        }
        debug_assert!(self.since == now || !self.may_lapse(), "what may lapse is brought up");
        self.since = now;
    }
    #[inline]
    fn may_lapse(&self) -> bool {
        matches!(self.doing, Doing::Lapses(_))
    }
    /// Brings the totals of a channel, which may have become idle by itself, up to `now`. Must be
    /// called before any other use of its ledger.
    #[inline]
    pub fn bring_up(&mut self, now: Instant) {
        if let Doing::Lapses(state) = self.doing {
            self.bring_up_lapsing(now, state);
        }
    }
    #[inline(never)]
    fn bring_up_lapsing(&mut self, now: Instant, state: State) {
        self.totals[state as usize] += now.min(self.lapses) - self.since;
        self.touched |= 1u64 << state as u32;
        if now >= self.lapses {
            self.doing = Doing::Nothing;
        }
        self.since = now;
    }
    /// Brings the totals up to `now` if the channel may be awaited: the time since then is
    /// charged to the holders of the channel and to its reservation, the rest to [`State::Order`].
    #[inline]
    pub fn settle_with(&mut self, now: Instant, channel: &mut Ledger) {
        if self.awaits_channel() {
            self.settle_awaiting(now, channel);
        } else {
            self.settle(now);
        }
    }
    #[inline(never)]
    fn settle_awaiting(&mut self, now: Instant, channel: &mut Ledger) {
        let present = channel.by_holder(now);
        let mut rest = now - self.since;
        // All holders, whether they have used the channel or not, and one after the other: the
        // totals of all would not fit the registers.
        let totals = self.totals[HOLDERS..].first_chunk_mut::<HOLDERS>().expect("they follow");
        for holder in 0..HOLDERS {
            let busy = present[holder] - self.channel[holder];
            self.channel[holder] = present[holder];
            totals[holder] += busy;
            rest -= busy;
        }
        self.touched |= channel.touched & ON_CHANNEL;
        if channel.totals[State::Reserved as usize] != self.reserved {
            rest -= self.settle_reserved(channel.totals[State::Reserved as usize]);
        }
        self.totals[State::Order as usize] += rest;
        self.touched |= 1u64 << State::Order as u32;
        self.since = now;
    }
    /// Charges the time for which the idle channel was reserved; returns it.
    #[cold]
    fn settle_reserved(&mut self, total: Span) -> Span {
        let reserved = total - self.reserved;
        self.totals[State::Reserved as usize] += reserved;
        self.touched |= 1u64 << State::Reserved as u32;
        self.reserved = total;
        reserved
    }
    /// Stops awaiting the channel.
    #[inline]
    pub fn stop_awaiting(&mut self, now: Instant, channel: &mut Ledger) {
        self.settle_with(now, channel);
        self.doing = Doing::Nothing;
    }

    /// Totals of a channel at `now` by holder.
    #[inline]
    fn by_holder(&mut self, now: Instant) -> &[Span; HOLDERS] {
        self.bring_up(now);
        self.settle(now);
        self.totals[HOLDERS..].first_chunk().expect("waits for channels follow those for units")
    }
    /// The totals at the last settling.
    #[inline]
    pub fn totals(&self) -> &Snapshot {
        &self.totals
    }

    // ---- waits -------------------------------------------------------------------------

    /// Begins a wait for the resource. Settle first, and end the wait with [`Ledger::end_wait`].
    #[inline]
    pub fn begin_wait(&mut self, of: &mut Snapshots) -> SnapshotId {
        if let Some(id) = self.latest.get() {
            let shared = &mut of.slab[id];
            let state = shared.state as usize;
            if self.totals[state] - shared.totals[state] == self.since - shared.at {
                // The activity has not changed, so all other totals are the same.
                shared.waits += 1;
                return id;
            }
        }
        self.begin_wait_anew(of)
    }
    #[inline(never)]
    fn begin_wait_anew(&mut self, of: &mut Snapshots) -> SnapshotId {
        // If waits still need the latest totals, these keep them.
        let unused = self.latest.get().filter(|id| of.slab[*id].waits == 0);
        let id = unused.unwrap_or_else(|| of.slab.reuse_or_insert_with(Shared::default));
        self.latest = IdOrNone::some(id);
        let shared = &mut of.slab[id];
        // Field by field: a tuple would be built elsewhere first.
        shared.totals = self.totals;
        shared.at = self.since;
        shared.state = self.waited_for();
        shared.waits = 1;
        id
    }
    /// The state to which a wait that begins now is charged first.
    #[inline]
    fn waited_for(&self) -> State {
        self.state().unwrap_or(State::Order)
    }
    /// Ends a wait that began with `id`.
    #[inline]
    pub fn end_wait(&self, of: &mut Snapshots, id: SnapshotId) {
        let shared = &mut of.slab[id];
        shared.waits -= 1;
        if shared.waits == 0 && self.latest != IdOrNone::some(id) {
            of.slab.remove(id);
        }
    }
    /// Removes the totals of all waits; nothing waits any more.
    pub fn forget_waits(&mut self) {
        self.latest = IdOrNone::NONE;
    }

    /// Charges `blame` with a wait that began at `since` with the totals `id`, and ends now or
    /// continues; time in which the resource was idle is charged to [`State::Order`]. Settle
    /// first.
    ///
    /// # Panics
    /// If the resource was occupied for longer than the wait.
    pub fn charge_wait(&self, of: &Snapshots, id: SnapshotId, since: Instant, blame: &mut Blame) {
        let earlier = &of.slab[id];
        let mut rest = self.since - since;
        // The activity had already lasted for a while when the wait began.
        let first = earlier.state;
        let busy = self.totals[first as usize] - earlier.totals[first as usize];
        let busy = busy - (since - earlier.at);
        blame.charge(first, busy);
        rest -= busy;
        let mut left = self.touched & !(1 << first as u32);
        while left != 0 {
            let index = left.trailing_zeros() as usize;
            left &= left - 1;
            let busy = self.totals[index] - earlier.totals[index];
            blame.charge(State::ALL[index], busy);
            rest = rest.checked_sub(busy).expect("a wait is as long as what filled it");
        }
        blame.charge(State::Order, rest);
    }

    /// Time in which operations of all kinds occupied the resource.
    pub fn busy(&self, unit: bool) -> Span {
        let state = if unit { Holder::on_unit } else { Holder::on_channel };
        let occupied: Span =
            Holder::ALL.iter().map(|holder| self.totals[state(*holder) as usize]).sum();
        // A unit is occupied in this state until an interrupted operation has freed it.
        if unit { occupied + self.totals[State::Suspended as usize] } else { occupied }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn at(ns: u64) -> Instant {
        Instant::from_ns(ns)
    }

    /// The blame of a wait that began at `since` with `id` and ends now.
    fn charged(ledger: &Ledger, of: &Snapshots, id: SnapshotId, since: u64) -> Blame {
        let mut blame = Blame::default();
        ledger.charge_wait(of, id, at(since), &mut blame);
        blame
    }

    #[test]
    fn a_wait_is_charged_to_what_occupied_the_unit() {
        let (mut unit, mut of) = (Ledger::default(), Snapshots::default());
        unit.occupy(at(0), State::UnitErase);
        unit.settle(at(40));
        let arrived = unit.begin_wait(&mut of);
        unit.release(at(100));
        unit.occupy(at(110), State::UnitGcRead);
        unit.release(at(150));
        let blame = charged(&unit, &of, arrived, 40);
        assert_eq!(blame.of(State::UnitErase), Span::from_ns(60));
        assert_eq!(blame.of(State::UnitGcRead), Span::from_ns(40));
        assert_eq!(blame.of(State::Order), Span::from_ns(10));
        assert_eq!(blame.total(), Span::from_ns(110));
    }

    #[test]
    fn a_unit_that_awaits_its_channel_charges_what_the_channel_carried() {
        let (mut unit, mut channel) = (Ledger::default(), Ledger::default());
        let mut of = Snapshots::default();
        channel.occupy(at(0), State::ChannelHostRead);
        unit.await_channel(at(10), &mut channel);
        unit.settle_with(at(20), &mut channel);
        let arrived = unit.begin_wait(&mut of);
        channel.release(at(35));
        channel.occupy(at(40), State::ChannelGcProgram);
        unit.stop_awaiting(at(60), &mut channel);
        let blame = charged(&unit, &of, arrived, 20);
        assert_eq!(blame.of(State::ChannelHostRead), Span::from_ns(15));
        assert_eq!(blame.of(State::ChannelGcProgram), Span::from_ns(20));
        assert_eq!(blame.of(State::Order), Span::from_ns(5));
    }

    #[test]
    fn a_channel_that_lapses_is_idle_from_then_on() {
        let (mut unit, mut channel) = (Ledger::default(), Ledger::default());
        let mut of = Snapshots::default();
        channel.occupy_until(at(10), State::ChannelHostRead, at(40));
        unit.await_channel(at(20), &mut channel);
        let arrived = unit.begin_wait(&mut of);
        // Looked at in the middle of it and after it.
        unit.settle_with(at(30), &mut channel);
        unit.stop_awaiting(at(100), &mut channel);
        let blame = charged(&unit, &of, arrived, 20);
        assert_eq!(blame.of(State::ChannelHostRead), Span::from_ns(20));
        assert_eq!(blame.of(State::Order), Span::from_ns(60));
        assert_eq!(channel.busy(false), Span::from_ns(30));
        // It is released at the moment at which it would have lapsed.
        channel.occupy_until(at(100), State::ChannelGcProgram, at(130));
        channel.bring_up(at(130));
        channel.release(at(130));
        assert_eq!(channel.busy(false), Span::from_ns(60));
    }

    #[test]
    fn waits_share_totals_until_the_unit_does_something_else() {
        let (mut unit, mut of) = (Ledger::default(), Snapshots::default());
        let mut begin = |unit: &mut Ledger, ns| {
            unit.settle(at(ns));
            unit.begin_wait(&mut of)
        };
        unit.occupy(at(0), State::UnitHostRead);
        let first = begin(&mut unit, 5);
        // One read follows another without a break.
        unit.release(at(30));
        unit.occupy(at(30), State::UnitHostRead);
        assert_eq!(begin(&mut unit, 45), first);
        unit.occupy(at(60), State::UnitErase);
        let second = begin(&mut unit, 70);
        assert_ne!(second, first);
        assert_eq!(begin(&mut unit, 80), second);
        unit.end_wait(&mut of, first);
        unit.end_wait(&mut of, first);
        assert_eq!(of.taken(), 1, "nobody needs the first totals any more");
        unit.end_wait(&mut of, second);
        unit.end_wait(&mut of, second);
        assert_eq!(of.taken(), 1, "the last are used again");
        assert_eq!(unit.begin_wait(&mut of), second);
        assert_eq!(of.bytes() / size_of::<Shared>() as u64, 4);
    }

    proptest! {
        #![proptest_config(floor::cases!())]

        /// Compares with a complete history: each wait is charged with the activity during it.
        #[test]
        fn a_wait_is_charged_with_the_history_of_its_time(
            steps in proptest::collection::vec((0u64..4, 0usize..4, any::<bool>()), 1..60),
        ) {
            const DOES: [Option<State>; 4] =
                [None, Some(State::UnitHostRead), Some(State::UnitErase), Some(State::Reserved)];
            let (mut unit, mut of) = (Ledger::default(), Snapshots::default());
            let (mut now, mut history, mut waits) = (0, Vec::new(), Vec::new());
            for (length, does, begins) in steps {
                match DOES[does] {
                    None => unit.release(at(now)),
                    Some(state) => unit.occupy(at(now), state),
                }
                history.extend((0..length).map(|_| DOES[does].unwrap_or(State::Order)));
                now += length;
                unit.settle(at(now));
                if begins {
                    waits.push((unit.begin_wait(&mut of), now));
                } else if !waits.is_empty() {
                    let (id, since) = waits.remove(does % waits.len());
                    let blame = charged(&unit, &of, id, since);
                    unit.end_wait(&mut of, id);
                    for state in State::ALL {
                        let lasted = history[since as usize..].iter().filter(|did| **did == state);
                        prop_assert_eq!(blame.of(state), Span::from_ns(lasted.count() as u64));
                    }
                }
                prop_assert!(of.taken() <= waits.len() + 1);
            }
        }
    }
}
