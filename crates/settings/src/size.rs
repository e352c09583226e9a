//! Amounts of data, whole in bytes.

use std::fmt;

use crate::{Decimal, Measure, Scale, Unit, measure};

/// An amount of data: "4 KiB" is 4096 bytes, "4 kB" is 4000.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Size(u64);

impl Size {
    /// A size of this many bytes.
    pub const fn from_bytes(bytes: u64) -> Self {
        Self(bytes)
    }

    /// Number of bytes.
    pub const fn bytes(self) -> u64 {
        self.0
    }

    /// The size for messages: with one decimal in the largest binary unit, and as written if that
    /// is not exact.
    pub fn rounded(self) -> String {
        let exact = self.to_string();
        let units = ["TiB", "GiB", "MiB", "KiB"].into_iter().zip([40, 30, 20, 10]);
        let largest = units.into_iter().find(|(_, shift)| self.0 >> shift > 0);
        let Some((unit, shift)) = largest else { return exact };
        let amount = format!("{:.1}", self.0 as f64 / (1u64 << shift) as f64);
        let rounded = format!("{} {unit}", amount.strip_suffix(".0").unwrap_or(&amount));
        if rounded == exact { exact } else { format!("{rounded} ({exact})") }
    }
}

/// Units of amounts of data.
pub(crate) const UNITS: [Unit<'static>; 10] = [
    Unit::whole("B", 1, "B"),
    Unit::whole("KiB", 1 << 10, "B"),
    Unit::whole("MiB", 1 << 20, "B"),
    Unit::whole("GiB", 1 << 30, "B"),
    Unit::whole("TiB", 1 << 40, "B"),
    Unit::whole("kB", 1_000, "B"),
    Unit::whole("KB", 1_000, "B").hidden(),
    Unit::whole("MB", 1_000_000, "B"),
    Unit::whole("GB", 1_000_000_000, "B"),
    Unit::whole("TB", 1_000_000_000_000, "B"),
];

impl Measure for Size {
    const SCALE: Scale<'static> = Scale::new("size", "4 KiB", &UNITS).bare("B");

    fn from_amount(amount: Decimal, _: Unit<'static>) -> Self {
        Self(amount.whole().expect("the scale takes whole bytes only"))
    }
}

impl fmt::Display for Size {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&Self::SCALE.write(self.0))
    }
}

measure!(Size);

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn binary_and_decimal_units_differ() {
        let bytes = |text: &str| text.parse::<Size>().unwrap().bytes();
        assert_eq!(bytes("4 KiB"), 4_096);
        assert_eq!(bytes("4 kB"), 4_000);
        assert_eq!(bytes("4 KB"), 4_000);
        assert_eq!(bytes("1.5 GiB"), 1_610_612_736);
        assert_eq!(bytes("0.96 TB"), 960_000_000_000);
        assert_eq!(bytes("2 TiB"), 2_199_023_255_552);
        assert_eq!(bytes("512 B"), 512);
    }

    #[test]
    fn large_sizes_are_told_in_large_units() {
        let text = |bytes| Size::from_bytes(bytes).rounded();
        assert_eq!(text(877_360 << 10), "856.8 MiB (877360 KiB)");
        assert_eq!(text(3 << 30), "3 GiB");
        assert_eq!(text((3 << 30) + 512), "3 GiB (3221225984 B)");
        assert_eq!(text(1_536), "1.5 KiB (1536 B)");
        assert_eq!(text(960_000_000_000), "894.1 GiB (960 GB)");
        assert_eq!(text(512), "512 B");
    }

    #[test]
    fn the_largest_exact_unit_is_written() {
        let text = |bytes| Size::from_bytes(bytes).to_string();
        assert_eq!(text(16_384), "16 KiB");
        assert_eq!(text(960_000_000_000), "960 GB");
        assert_eq!(text(1_000), "1 kB");
        assert_eq!(text(1_025), "1025 B");
        assert_eq!(text(0), "0 B");
    }

    #[test]
    fn refusals_name_the_remedy() {
        let refusal = |text: &str| text.parse::<Size>().unwrap_err().to_string();
        let units = "one of B, KiB, MiB, GiB, TiB, kB, MB, GB, TB";
        assert_eq!(refusal("64"), format!("\"64\" has no unit ({units}; as B: \"64 B\")"));
        assert_eq!(
            refusal("4096"),
            format!("\"4096\" has no unit ({units}; as B: \"4096 B\" or \"4 KiB\")")
        );
        assert!(refusal("4K").contains(r#"did you mean "KiB" or "kB"?"#));
        assert_eq!(refusal("0.3 B"), r#""0.3 B" is not a whole number of B"#);
        assert_eq!(
            refusal("4 Kib"),
            "\"4 Kib\": no unit \"Kib\" (did you mean \"KiB\"? \
             valid: B, KiB, MiB, GiB, TiB, kB, MB, GB, TB)"
        );
    }

    proptest! {
        #![proptest_config(floor::cases!())]

        #[test]
        fn printing_round_trips(bytes: u64, zeros in 0_u32..40) {
            let size = Size::from_bytes(bytes >> zeros << zeros);
            prop_assert_eq!(size.to_string().parse::<Size>().unwrap(), size);
        }
    }
}
