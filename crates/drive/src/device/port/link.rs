//! The link to the host: each direction carries one request at a time, first
//! come, first served. (A half-duplex link is one direction for both; a bus
//! has rules of its own.)

use super::bus::Bus;
use crate::config::{Duplex, LinkConfig};
use engine::{Instant, Span};
use metrics::{Blame, State};
use settings::Rate;

/// The moment at which each direction is free again.
#[derive(Clone)]
pub struct Link {
    rate: Option<Rate>,
    duplex: Duplex,
    free: [Instant; 2],
    /// State of the bus, if the link is one.
    pub(super) bus: Option<Box<Bus>>,
    // The last size and its duration: most workloads have few sizes, and the
    // division would cost more than the rest of the link.
    last: (u64, Span),
}

impl Link {
    pub fn new(config: &LinkConfig) -> Self {
        Self {
            rate: config.rate,
            duplex: config.duplex.unwrap_or_default(),
            free: [Instant::START; 2],
            bus: (config.duplex == Some(Duplex::Bus)).then(Box::default),
            last: (0, Span::ZERO),
        }
    }
    /// Ends all transfers.
    pub fn clear(&mut self) {
        self.free = [Instant::START; 2];
        self.bus = self.bus.take().map(|_| Box::default());
    }
    /// True if both directions share the link.
    pub fn is_shared(&self) -> bool {
        self.duplex != Duplex::Full && self.rate.is_some()
    }
    /// True if requests need the link to begin and to end.
    #[inline]
    pub fn is_bus(&self) -> bool {
        self.bus.is_some()
    }
    /// Transfers `bytes` to the drive from `at` on; returns the end of the transfer.
    #[inline]
    pub fn down(&mut self, at: Instant, bytes: u64, blame: &mut Blame) -> Instant {
        self.carry(0, at, bytes, blame)
    }
    /// Transfers `bytes` to the host.
    #[inline]
    pub fn up(&mut self, at: Instant, bytes: u64, blame: &mut Blame) -> Instant {
        let direction = if self.duplex == Duplex::Half { 0 } else { 1 };
        self.carry(direction, at, bytes, blame)
    }

    #[inline]
    fn carry(&mut self, direction: usize, at: Instant, bytes: u64, blame: &mut Blame) -> Instant {
        if self.rate.is_none() {
            return at;
        }
        let span = self.time_of(bytes);
        let begin = at.max(self.free[direction]);
        let end = begin + span;
        self.free[direction] = end;
        blame.charge(State::LinkBusy, begin - at);
        blame.charge(State::Link, span);
        end
    }

    /// Transfer time of `bytes`.
    #[inline]
    pub fn time_of(&mut self, bytes: u64) -> Span {
        let Some(rate) = self.rate else { return Span::ZERO };
        if self.last.0 != bytes {
            self.last = (bytes, rate.transfer(bytes));
        }
        self.last.1
    }
}
