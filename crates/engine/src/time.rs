//! Simulated time in whole nanoseconds. Moments and lengths are different types: moments are
//! subtracted, never added, so confusing the two does not compile.

use std::fmt;
use std::ops::{Add, AddAssign, Mul, Sub, SubAssign};

/// A moment of simulated time: nanoseconds since power-on.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Instant(u64);

/// A length of simulated time in nanoseconds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Span(u64);

impl Instant {
    /// Power-on.
    pub const START: Self = Self(0);
    /// Later than every moment that an agenda accepts.
    pub const NEVER: Self = Self(u64::MAX);

    /// The moment `ns` nanoseconds after power-on.
    #[inline]
    pub const fn from_ns(ns: u64) -> Self {
        Self(ns)
    }
    /// Nanoseconds since power-on.
    #[inline]
    pub const fn as_ns(self) -> u64 {
        self.0
    }
    /// The time since `earlier`, or zero if `earlier` is later.
    #[inline]
    pub const fn saturating_since(self, earlier: Self) -> Span {
        Span(self.0.saturating_sub(earlier.0))
    }
}

impl Span {
    /// No time at all.
    pub const ZERO: Self = Self(0);

    /// A span of `ns` nanoseconds.
    #[inline]
    pub const fn from_ns(ns: u64) -> Self {
        Self(ns)
    }
    /// A span of `us` microseconds.
    #[inline]
    pub const fn from_us(us: u64) -> Self {
        Self(us * 1_000)
    }
    /// A span of `ms` milliseconds.
    #[inline]
    pub const fn from_ms(ms: u64) -> Self {
        Self(ms * 1_000_000)
    }
    /// A span of `s` seconds.
    #[inline]
    pub const fn from_s(s: u64) -> Self {
        Self(s * 1_000_000_000)
    }
    /// The length in nanoseconds.
    #[inline]
    pub const fn as_ns(self) -> u64 {
        self.0
    }
    /// The length in seconds.
    #[inline]
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }
    /// True for the empty span.
    #[inline]
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }
    /// The difference, or zero if `other` is longer.
    #[inline]
    pub const fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl Add<Span> for Instant {
    type Output = Instant;
    #[inline]
    fn add(self, span: Span) -> Instant {
        Instant(self.0 + span.0)
    }
}
impl AddAssign<Span> for Instant {
    #[inline]
    fn add_assign(&mut self, span: Span) {
        self.0 += span.0;
    }
}
impl Sub<Span> for Instant {
    type Output = Instant;
    #[inline]
    fn sub(self, span: Span) -> Instant {
        debug_assert!(self.0 >= span.0, "a moment before power-on");
        Instant(self.0.wrapping_sub(span.0))
    }
}
impl Sub for Instant {
    type Output = Span;
    #[inline]
    fn sub(self, earlier: Instant) -> Span {
        debug_assert!(self.0 >= earlier.0, "a span would be negative");
        Span(self.0.wrapping_sub(earlier.0))
    }
}
impl Span {
    /// The difference; `None` if `other` is longer.
    #[inline]
    pub fn checked_sub(self, other: Self) -> Option<Self> {
        self.0.checked_sub(other.0).map(Self)
    }
}
impl Add for Span {
    type Output = Span;
    #[inline]
    fn add(self, other: Span) -> Span {
        Span(self.0 + other.0)
    }
}
impl AddAssign for Span {
    #[inline]
    fn add_assign(&mut self, other: Span) {
        self.0 += other.0;
    }
}
impl Sub for Span {
    type Output = Span;
    #[inline]
    fn sub(self, other: Span) -> Span {
        debug_assert!(self.0 >= other.0, "a span would be negative");
        Span(self.0.wrapping_sub(other.0))
    }
}
impl SubAssign for Span {
    #[inline]
    fn sub_assign(&mut self, other: Span) {
        *self = *self - other;
    }
}
impl Mul<u64> for Span {
    type Output = Span;
    #[inline]
    fn mul(self, times: u64) -> Span {
        Span(self.0 * times)
    }
}
impl std::iter::Sum for Span {
    fn sum<I: Iterator<Item = Span>>(spans: I) -> Span {
        spans.fold(Span::ZERO, Add::add)
    }
}

/// Prints with the largest unit that needs no fraction: `64 ms`, `25 us`.
impl fmt::Display for Span {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (unit, name) in [(1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "us")] {
            if self.0 >= unit && self.0.is_multiple_of(unit) {
                return write!(out, "{} {name}", self.0 / unit);
            }
        }
        write!(out, "{} ns", self.0)
    }
}
impl fmt::Debug for Span {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, out)
    }
}
impl fmt::Debug for Instant {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "@{} ns", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_prints_in_the_largest_exact_unit() {
        assert_eq!(Span::from_ms(64).to_string(), "64 ms");
        assert_eq!(Span::from_ns(130_600).to_string(), "130600 ns");
        assert_eq!(Span::ZERO.to_string(), "0 ns");
    }

    #[test]
    fn moments_subtract_to_spans() {
        let start = Instant::from_ns(10);
        assert_eq!(start + Span::from_us(1) - start, Span::from_us(1));
    }
}
