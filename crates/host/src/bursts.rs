//! Alternating phases with and without new requests.

use crate::config::BurstConfig;
use engine::Span;

/// Phases of fixed lengths, beginning with an on phase. Times here are counted
/// from the start of the initiator, in nanoseconds.
#[derive(Clone, Copy, Debug)]
pub struct Bursts {
    on: u64,
    period: u64,
}

impl Bursts {
    /// The phases of `config`, whose on phase the caller has checked not to be empty.
    pub fn new(config: &BurstConfig) -> Self {
        let on = config.on.span().as_ns();
        Self { on, period: on.saturating_add(config.off.span().as_ns()) }
    }

    /// The moment at which `busy` nanoseconds of on phases have passed.
    #[inline]
    pub fn stretch(self, busy: u64) -> u64 {
        (busy / self.on).saturating_mul(self.period).saturating_add(busy % self.on)
    }

    /// The first moment of an on phase that is not before `since_start`.
    pub fn next_on(self, since_start: Span) -> Span {
        let within = since_start.as_ns() % self.period;
        if within < self.on {
            return since_start;
        }
        since_start + Span::from_ns(self.period - within)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_stands_still_in_off_phases() {
        let (on, off) = (Span::from_us(10).into(), Span::from_us(90).into());
        let bursts = Bursts::new(&BurstConfig { on, off });
        assert_eq!(bursts.stretch(9_999), 9_999);
        assert_eq!(bursts.stretch(10_000), 100_000);
        assert_eq!(bursts.stretch(25_000), 205_000);
        let next_on = |ns| bursts.next_on(Span::from_ns(ns)).as_ns();
        assert_eq!(next_on(9_999), 9_999);
        assert_eq!(next_on(10_000), 100_000);
        assert_eq!(next_on(100_000), 100_000);
    }
}
