//! Lengths of simulated time, whole in nanoseconds.

use std::fmt;

use engine::Span;

use crate::{Decimal, Measure, Scale, Unit, measure};

/// A length of time: "25 us", "1.5 ms", "64 ms", "0 us".
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Time(Span);

impl Time {
    /// The length as a span of simulated time.
    pub const fn span(self) -> Span {
        self.0
    }
}

impl From<Span> for Time {
    fn from(span: Span) -> Self {
        Self(span)
    }
}

impl Measure for Time {
    const SCALE: Scale<'static> = Scale::new(
        "time",
        "25 us",
        &[
            Unit::whole("ns", 1, "ns"),
            Unit::whole("us", 1_000, "ns"),
            // The micro sign and the Greek letter look alike.
            Unit::whole("\u{b5}s", 1_000, "ns").hidden(),
            Unit::whole("\u{3bc}s", 1_000, "ns").hidden(),
            Unit::whole("ms", 1_000_000, "ns"),
            Unit::whole("s", 1_000_000_000, "ns"),
            Unit::whole("min", 60_000_000_000, "ns"),
            Unit::whole("h", 3_600_000_000_000, "ns"),
            // A day of 24 hours.
            Unit::whole("d", 86_400_000_000_000, "ns"),
        ],
    );

    fn from_amount(amount: Decimal, _: Unit<'static>) -> Self {
        Self(Span::from_ns(amount.whole().expect("the scale takes whole nanoseconds only")))
    }
}

impl fmt::Display for Time {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(out)
    }
}

measure!(Time);

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn times_are_whole_nanoseconds() {
        let ns = |text: &str| text.parse::<Time>().unwrap().span().as_ns();
        assert_eq!(ns("25 us"), 25_000);
        assert_eq!(ns("25 µs"), 25_000);
        assert_eq!(ns("25 μs"), 25_000);
        assert_eq!(ns("1.5 ms"), 1_500_000);
        assert_eq!(ns("0.001 us"), 1);
        assert_eq!(ns("2 s"), 2_000_000_000);
        assert_eq!(ns("0 us"), 0);
        assert_eq!(ns("3ns"), 3);
        assert_eq!(ns("1.5 min"), 90_000_000_000);
        assert_eq!(ns("2 h"), 7_200_000_000_000);
        assert_eq!(ns("30 d"), ns("720 h"));
        assert_eq!(ns("0.5 d"), ns("12 h"));
    }

    #[test]
    fn refusals_name_the_remedy() {
        let refusal = |text: &str| text.parse::<Time>().unwrap_err().to_string();
        assert_eq!(refusal("800"), r#""800" has no unit (one of ns, us, ms, s, min, h, d)"#);
        assert_eq!(refusal("0.0005 us"), r#""0.0005 us" is not a whole number of ns"#);
        assert!(refusal("3 m").contains(r#"did you mean "ms" or "min"?"#));
        assert_eq!(
            refusal("3 days"),
            r#""3 days": no unit "days" (valid: ns, us, ms, s, min, h, d)"#
        );
        assert_eq!(refusal("6000000 h"), r#""6000000 h" is too large"#);
        // 2^64 ns are 213,503.98 days.
        assert_eq!(refusal("213504 d"), r#""213504 d" is too large"#);
    }

    proptest! {
        #![proptest_config(floor::cases!())]

        #[test]
        fn printing_round_trips(ns: u64) {
            let time = Time::from(Span::from_ns(ns));
            prop_assert_eq!(time.to_string().parse::<Time>().unwrap(), time);
        }
    }
}
