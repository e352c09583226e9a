//! Parts of a whole, written in percent so that 7 and 0.07 are not confused.

use std::fmt;

use crate::{Decimal, Measure, Scale, Unit, measure};

/// A part of something: "7 %" or "0.5 %". May exceed the whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    percent: Decimal,
}

impl Share {
    /// A share of this many whole percent.
    pub fn from_percent(percent: u64) -> Self {
        Self { percent: percent.into() }
    }

    /// The share that is this fraction; nothing if it is negative or not a finite number.
    pub fn from_fraction(fraction: f64) -> Option<Self> {
        Some(Self { percent: Decimal::from_f64(fraction)?.times(100)? })
    }

    /// The share of a whole number, exact but for a fraction, which is rounded down.
    pub fn of(self, whole: u64) -> u64 {
        self.percent.hundredth().times_rounded_down(whole)
    }

    /// The share as a fraction: 0.07 for "7 %".
    pub fn fraction(self) -> f64 {
        self.percent.hundredth().to_f64()
    }
}

impl Measure for Share {
    const SCALE: Scale<'static> = Scale::new("share", "7 %", &[Unit::any("%", 1)]);

    fn from_amount(percent: Decimal, _: Unit<'static>) -> Self {
        Self { percent }
    }
}

impl fmt::Display for Share {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} %", self.percent)
    }
}

measure!(Share);

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn percent_become_fractions() {
        let fraction = |text: &str| text.parse::<Share>().unwrap().fraction();
        assert_eq!(fraction("7 %"), 0.07);
        assert_eq!(fraction("0.5%"), 0.005);
        assert_eq!(fraction("100 %"), 1.0);
        assert_eq!(fraction("150 %"), 1.5);
        assert_eq!(Share::from_percent(28).fraction(), 0.28);
        assert_eq!(Share::from_fraction(0.127).unwrap().to_string(), "12.7 %");
        assert_eq!(Share::from_fraction(-0.1), None);
        assert_eq!(Share::from_fraction(f64::NAN), None);
    }

    #[test]
    fn a_share_of_a_whole_is_exact() {
        let of = |text: &str, whole| text.parse::<Share>().unwrap().of(whole);
        assert_eq!(of("10 %", 30), 3, "in binary, 0.1 is a little more or less");
        assert_eq!(of("33.3 %", 1_000), 333);
        assert_eq!(of("100 %", u64::MAX), u64::MAX);
        assert_eq!(of("200 %", u64::MAX), u64::MAX);
        assert_eq!(of("50 %", 3), 1);
    }

    #[test]
    fn a_number_alone_is_refused() {
        let refusal = |text: &str| text.parse::<Share>().unwrap_err().to_string();
        assert_eq!(refusal("7"), r#""7" has no unit (write "7 %")"#);
        let bare = |shown: &str| Share::SCALE.refuse_bare(shown).to_string();
        assert_eq!(bare("7"), r#"7 has no unit (write "7 %")"#);
        assert_eq!(bare("0.07"), r#"0.07 has no unit (write "7 %" or "0.07 %")"#);
        assert_eq!(bare("0"), r#"0 has no unit (write "0 %")"#);
    }

    proptest! {
        #![proptest_config(floor::cases!())]

        #[test]
        fn printing_round_trips(whole in 0_u32.., fraction in 0_u32..) {
            let share: Share = format!("{whole}.{fraction} %").parse().unwrap();
            prop_assert_eq!(share.to_string().parse::<Share>().unwrap(), share);
        }
    }
}
