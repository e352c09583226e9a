//! Data rates, in whole bytes per second.

use std::fmt;

use engine::Span;

use crate::{Decimal, Measure, Scale, Unit, measure};

/// A data rate: "3.2 GB/s", "1 GiB/s", or "333 MT/s" on an 8-bit bus, on which a transfer is one
/// byte. Never zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rate(u64);

impl Rate {
    /// The speed of this many bytes per second.
    ///
    /// # Panics
    /// If it is zero: such a transfer would never end.
    pub const fn from_bytes_per_second(bytes: u64) -> Self {
        assert!(bytes > 0, "a rate is more than zero");
        Self(bytes)
    }

    /// Number of bytes per second.
    pub const fn bytes_per_second(self) -> u64 {
        self.0
    }

    /// Time of transferring `bytes`, to the nearest nanosecond; halves round up.
    ///
    /// # Panics
    /// If that is more than the 584 years which a [`Span`] can store.
    pub fn transfer(self, bytes: u64) -> Span {
        let rate = u128::from(self.0);
        let doubled = u128::from(bytes) * 2_000_000_000;
        let nanoseconds = (doubled + rate) / (2 * rate);
        Span::from_ns(nanoseconds.try_into().expect("a transfer is shorter than 584 years"))
    }
}

impl Measure for Rate {
    const SCALE: Scale<'static> = Scale::new(
        "rate",
        "400 MB/s",
        &[
            Unit::whole("B/s", 1, "B/s"),
            Unit::whole("kB/s", 1_000, "B/s"),
            Unit::whole("KB/s", 1_000, "B/s").hidden(),
            Unit::whole("MB/s", 1_000_000, "B/s"),
            Unit::whole("GB/s", 1_000_000_000, "B/s"),
            Unit::whole("KiB/s", 1 << 10, "B/s"),
            Unit::whole("MiB/s", 1 << 20, "B/s"),
            Unit::whole("GiB/s", 1 << 30, "B/s"),
            Unit::whole("MT/s", 1_000_000, "B/s"),
            Unit::whole("GT/s", 1_000_000_000, "B/s"),
        ],
    )
    .positive();

    fn from_amount(amount: Decimal, _: Unit<'static>) -> Self {
        Self(amount.whole().expect("the scale takes whole bytes per second only"))
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&Self::SCALE.write(self.0))
    }
}

measure!(Rate);

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn rate(text: &str) -> Rate {
        text.parse().unwrap()
    }

    #[test]
    fn rates_are_bytes_per_second() {
        assert_eq!(rate("3.2 GB/s").bytes_per_second(), 3_200_000_000);
        assert_eq!(rate("40 MB/s").bytes_per_second(), 40_000_000);
        assert_eq!(rate("1 GiB/s").bytes_per_second(), 1_073_741_824);
        assert_eq!(rate("333 MT/s").bytes_per_second(), 333_000_000);
        assert_eq!(rate("2.4 GT/s").bytes_per_second(), 2_400_000_000);
        assert_eq!(rate("2.4 GT/s").to_string(), "2400 MB/s");
    }

    #[test]
    fn transfers_round_to_the_nearest_nanosecond() {
        // 16384 B / 333 MB/s = 49201.2 ns; 4096 B / 3.2 GB/s = 1280 ns.
        assert_eq!(rate("333 MT/s").transfer(16_384), Span::from_ns(49_201));
        assert_eq!(rate("3.2 GB/s").transfer(4_096), Span::from_ns(1_280));
        // 1 B / 2 GB/s = 0.5 ns goes up, 1 B / 2.4 GB/s = 0.42 ns goes down.
        assert_eq!(rate("2 GB/s").transfer(1), Span::from_ns(1));
        assert_eq!(rate("2.4 GB/s").transfer(1), Span::ZERO);
        assert_eq!(rate("2 GB/s").transfer(0), Span::ZERO);
        // 16 EiB at 16 EiB/s: one second, and no overflow on the way.
        assert_eq!(Rate::from_bytes_per_second(u64::MAX).transfer(u64::MAX), Span::from_s(1));
    }

    #[test]
    fn refusals_name_the_remedy() {
        let refusal = |text: &str| text.parse::<Rate>().unwrap_err().to_string();
        let units = "B/s, kB/s, MB/s, GB/s, KiB/s, MiB/s, GiB/s, MT/s, GT/s";
        assert_eq!(refusal("333"), format!("\"333\" has no unit (one of {units})"));
        assert_eq!(refusal("0 MB/s"), r#""0 MB/s" must be more than zero"#);
        assert_eq!(
            refusal("40 MB"),
            format!("\"40 MB\": no unit \"MB\" (did you mean \"MB/s\"? valid: {units})")
        );
    }

    proptest! {
        #![proptest_config(floor::cases!())]

        #[test]
        fn printing_round_trips(bytes in 1..=u64::MAX) {
            let rate = Rate::from_bytes_per_second(bytes);
            prop_assert_eq!(rate.to_string().parse::<Rate>().unwrap(), rate);
        }

        #[test]
        fn a_transfer_is_within_half_a_nanosecond(bytes in 0_u64..1 << 40, rate in 1_000..1_u64 << 40) {
            let span = Rate::from_bytes_per_second(rate).transfer(bytes);
            let moved = u128::from(span.as_ns()) * u128::from(rate);
            let wanted = u128::from(bytes) * 1_000_000_000;
            prop_assert!(moved.abs_diff(wanted) * 2 <= u128::from(rate));
        }
    }
}
