//! Frequencies of events.

use std::fmt;

use crate::{Decimal, Measure, Scale, Unit, measure};

/// Events per second: "2000 IOPS", "2 kIOPS", "50 k/s", "0.5 /s".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frequency {
    per_second: Decimal,
}

impl Frequency {
    /// The frequency of this many events per second.
    pub fn from_per_second(events: u64) -> Self {
        Self { per_second: events.into() }
    }

    /// Number of events per second.
    pub fn per_second(self) -> f64 {
        self.per_second.to_f64()
    }
}

impl Measure for Frequency {
    const SCALE: Scale<'static> = Scale::new(
        "frequency",
        "2000 IOPS",
        &[
            Unit::any("IOPS", 1),
            Unit::any("kIOPS", 1_000),
            Unit::any("MIOPS", 1_000_000),
            Unit::any("/s", 1),
            Unit::any("k/s", 1_000),
            Unit::any("M/s", 1_000_000),
        ],
    )
    .positive();

    fn from_amount(per_second: Decimal, _: Unit<'static>) -> Self {
        Self { per_second }
    }
}

impl fmt::Display for Frequency {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} /s", self.per_second)
    }
}

measure!(Frequency);

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn frequencies_are_per_second() {
        let per_second = |text: &str| text.parse::<Frequency>().unwrap().per_second();
        assert_eq!(per_second("2000 IOPS"), 2_000.0);
        assert_eq!(per_second("2 kIOPS"), 2_000.0);
        assert_eq!(per_second("1.5 MIOPS"), 1_500_000.0);
        assert_eq!(per_second("50 k/s"), 50_000.0);
        assert_eq!(per_second("0.5 /s"), 0.5);
        assert_eq!(Frequency::from_per_second(8).to_string(), "8 /s");
    }

    #[test]
    fn refusals_name_the_remedy() {
        let refusal = |text: &str| text.parse::<Frequency>().unwrap_err().to_string();
        assert_eq!(
            refusal("2000"),
            r#""2000" has no unit (one of IOPS, kIOPS, MIOPS, /s, k/s, M/s)"#
        );
        assert_eq!(refusal("0 IOPS"), r#""0 IOPS" must be more than zero"#);
        assert_eq!(
            refusal("2 KIOPS"),
            "\"2 KIOPS\": no unit \"KIOPS\" (did you mean \"kIOPS\"? \
             valid: IOPS, kIOPS, MIOPS, /s, k/s, M/s)"
        );
    }

    proptest! {
        #![proptest_config(floor::cases!())]

        #[test]
        fn printing_round_trips(thousandths in 1_u64..) {
            let text = format!("{}.{:03} /s", thousandths / 1_000, thousandths % 1_000);
            let frequency: Frequency = text.parse().unwrap();
            prop_assert_eq!(frequency.to_string().parse::<Frequency>().unwrap(), frequency);
        }
    }
}
