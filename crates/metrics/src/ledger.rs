//! Ledgers: what a resource has been doing, as cumulative time by state. A
//! request that must wait copies the totals on arrival and subtracts them when
//! it is served, which blames its wait in constant time, however long the queue.

use crate::blame::{Blame, HOLDERS, Holder, LEDGER_STATES, State};
use engine::{Instant, Span};

/// The totals of a ledger at a moment.
pub type Snapshot = [Span; LEDGER_STATES];

/// What a resource is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Doing {
    /// Nothing, and nobody is kept from it.
    Nothing,
    /// Something that whoever waits is to be charged with.
    Busy(State),
    /// Idle while the operation whose turn it is waits for the channel.
    AwaitsChannel,
}

/// The ledger of a unit or a channel. Every operation changes it, mostly in its
/// first cache line: waits for units come first among the states.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub struct Ledger {
    since: Instant,
    /// States with time in their totals: bit `i` for state `i`.
    touched: u64,
    doing: Doing,
    totals: Snapshot,
    /// The channel's totals by holder when `since` was, while the channel is awaited.
    channel: [Span; HOLDERS],
}

impl Default for Ledger {
    fn default() -> Self {
        Self {
            totals: [Span::ZERO; LEDGER_STATES],
            touched: 0,
            doing: Doing::Nothing,
            since: Instant::START,
            channel: [Span::ZERO; HOLDERS],
        }
    }
}

impl Ledger {
    /// From now on waits are charged to `state`.
    #[inline]
    pub fn occupy(&mut self, now: Instant, state: State) {
        self.settle(now);
        self.doing = Doing::Busy(state);
    }
    /// From now on the resource is idle.
    #[inline]
    pub fn release(&mut self, now: Instant) {
        self.settle(now);
        self.doing = Doing::Nothing;
    }
    /// What went on until now was not kept: the resource is idle, and its totals go on from here.
    pub fn restart(&mut self, now: Instant) {
        self.doing = Doing::Nothing;
        self.since = now;
    }
    /// From now on waits are charged to whatever holds the channel. Settle with
    /// [`Ledger::settle_with`] before the totals are next looked at.
    pub fn await_channel(&mut self, now: Instant, channel: &mut Ledger) {
        self.settle(now);
        self.doing = Doing::AwaitsChannel;
        self.channel = channel.held(now);
    }
    /// What waits are charged to at present, if not to nothing or to the channel.
    #[inline]
    pub fn state(&self) -> Option<State> {
        if let Doing::Busy(state) = self.doing { Some(state) } else { None }
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
        self.since = now;
    }
    /// Brings the totals up to `now` where the channel may be awaited: the time
    /// since is charged as the channel was busy, the rest to [`State::Order`].
    pub fn settle_with(&mut self, now: Instant, channel: &mut Ledger) {
        if !self.awaits_channel() {
            return self.settle(now);
        }
        let present = channel.held(now);
        let mut rest = now - self.since;
        for holder in Holder::ALL {
            let busy = present[holder as usize] - self.channel[holder as usize];
            let state = holder.on_channel() as usize;
            self.totals[state] += busy;
            self.touched |= 1u64 << state;
            rest -= busy;
        }
        self.totals[State::Order as usize] += rest;
        self.touched |= 1u64 << State::Order as u32;
        self.channel = present;
        self.since = now;
    }
    /// The channel is no longer awaited.
    pub fn stop_awaiting(&mut self, now: Instant, channel: &mut Ledger) {
        self.settle_with(now, channel);
        self.doing = Doing::Nothing;
    }

    /// A channel's totals at `now`, by who held it.
    #[inline]
    fn held(&mut self, now: Instant) -> [Span; HOLDERS] {
        self.settle(now);
        Holder::ALL.map(|holder| self.totals[holder.on_channel() as usize])
    }
    /// The totals at `now`.
    #[inline]
    pub fn snapshot(&mut self, now: Instant) -> Snapshot {
        self.settle(now);
        self.totals
    }
    /// The totals as of the last settling.
    #[inline]
    pub fn totals(&self) -> &Snapshot {
        &self.totals
    }

    /// Charges `blame` with a wait of `waited`, which began when the totals were
    /// `earlier` and ends now; time in which the resource was idle is
    /// [`State::Order`]. Settle first.
    ///
    /// # Panics
    /// Where the resource was held for longer than `waited`.
    pub fn charge_wait(&self, earlier: &Snapshot, waited: Span, blame: &mut Blame) {
        let mut rest = waited;
        let mut left = self.touched;
        while left != 0 {
            let index = left.trailing_zeros() as usize;
            left &= left - 1;
            let busy = self.totals[index] - earlier[index];
            blame.charge(State::ALL[index], busy);
            rest = rest.checked_sub(busy).expect("a wait is as long as what filled it");
        }
        blame.charge(State::Order, rest);
    }

    /// Time that the resource was held by operations, of all kinds.
    pub fn busy(&self, unit: bool) -> Span {
        let state = if unit { Holder::on_unit } else { Holder::on_channel };
        let held: Span =
            Holder::ALL.iter().map(|holder| self.totals[state(*holder) as usize]).sum();
        // A channel is never held so; a unit is until an interrupted operation has freed it.
        if unit { held + self.totals[State::Suspended as usize] } else { held }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ns: u64) -> Instant {
        Instant::from_ns(ns)
    }

    #[test]
    fn a_wait_is_charged_to_what_held_the_unit() {
        let mut unit = Ledger::default();
        unit.occupy(at(0), State::UnitErase);
        let arrived = unit.snapshot(at(40));
        unit.release(at(100));
        unit.occupy(at(110), State::UnitGcRead);
        unit.release(at(150));
        let mut blame = Blame::default();
        unit.charge_wait(&arrived, Span::from_ns(110), &mut blame);
        assert_eq!(blame.of(State::UnitErase), Span::from_ns(60));
        assert_eq!(blame.of(State::UnitGcRead), Span::from_ns(40));
        assert_eq!(blame.of(State::Order), Span::from_ns(10));
        assert_eq!(blame.total(), Span::from_ns(110));
    }

    #[test]
    fn a_unit_that_awaits_its_channel_charges_what_the_channel_carried() {
        let (mut unit, mut channel) = (Ledger::default(), Ledger::default());
        channel.occupy(at(0), State::ChannelHostRead);
        unit.await_channel(at(10), &mut channel);
        unit.settle_with(at(20), &mut channel);
        let arrived = *unit.totals();
        channel.release(at(35));
        channel.occupy(at(40), State::ChannelGcProgram);
        unit.stop_awaiting(at(60), &mut channel);
        let mut blame = Blame::default();
        unit.charge_wait(&arrived, Span::from_ns(40), &mut blame);
        assert_eq!(blame.of(State::ChannelHostRead), Span::from_ns(15));
        assert_eq!(blame.of(State::ChannelGcProgram), Span::from_ns(20));
        assert_eq!(blame.of(State::Order), Span::from_ns(5));
    }
}
