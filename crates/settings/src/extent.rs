//! Amounts of data that may be a share of something.

use std::fmt;

use crate::size::UNITS as SIZES;
use crate::{Decimal, Measure, Scale, Share, Size, Unit, measure};

/// Alignment of an extent that is a share.
const ALIGNMENT: u64 = 4_096;

/// Bytes, or a share of a whole: "1 GiB", "25 %".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// So many bytes.
    Bytes(Size),
    /// A share of the whole.
    Share(Share),
}

impl Extent {
    /// The bytes if the whole has so many. A share is rounded down to a multiple of 4 KiB, but all of
    /// the whole is all.
    pub fn of(self, whole: u64) -> u64 {
        match self {
            Self::Bytes(size) => size.bytes(),
            Self::Share(share) => match share.of(whole) {
                bytes if bytes == whole => whole,
                bytes => bytes / ALIGNMENT * ALIGNMENT,
            },
        }
    }
}

impl From<Size> for Extent {
    fn from(size: Size) -> Self {
        Self::Bytes(size)
    }
}

/// All units of sizes, and the one of shares.
const UNITS: [Unit<'static>; SIZES.len() + 1] = {
    let mut units = [Unit::any("%", 1); SIZES.len() + 1];
    let mut at = 0;
    while at < SIZES.len() {
        units[at] = SIZES[at];
        at += 1;
    }
    units
};

impl Measure for Extent {
    const SCALE: Scale<'static> = Scale::new("size", "1 GiB", &UNITS).bare("B");

    fn from_amount(amount: Decimal, unit: Unit<'static>) -> Self {
        match unit.name {
            "%" => Self::Share(Share::from_amount(amount, unit)),
            _ => Self::Bytes(Size::from_amount(amount, unit)),
        }
    }
}

impl fmt::Display for Extent {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bytes(size) => size.fmt(out),
            Self::Share(share) => share.fmt(out),
        }
    }
}

measure!(Extent);

#[cfg(test)]
mod tests {
    use super::*;

    fn extent(text: &str) -> Extent {
        text.parse().unwrap()
    }

    #[test]
    fn an_extent_prints_as_it_is_read() {
        for text in ["1 GiB", "25 %", "12.5 %", "4 kB", "0 B"] {
            assert_eq!(extent(text).to_string(), text);
        }
    }

    #[test]
    fn a_share_is_rounded_down_to_4_kib() {
        assert_eq!(extent("1 GiB").of(100), 1 << 30);
        assert_eq!(extent("25 %").of(1 << 30), 1 << 28);
        // A tenth of 2 GB is 48,828.125 times 4 KiB.
        assert_eq!(extent("10 %").of(2_000_000_000), 48_828 * 4_096);
        assert_eq!(extent("100 %").of(2_000_000_512), 2_000_000_512);
        assert_eq!(extent("0 %").of(1 << 30), 0);
    }

    #[test]
    fn quarters_neither_overlap_nor_leave_more_than_4_kib() {
        let whole = 150_000_640;
        let (quarter, begins) = (extent("25 %").of(whole), ["0 %", "25 %", "50 %", "75 %"]);
        let begins = begins.map(|text| extent(text).of(whole));
        for pair in begins.windows(2) {
            assert!(
                (pair[0] + quarter..pair[0] + quarter + 4_097).contains(&pair[1]),
                "{begins:?}"
            );
        }
        assert!(begins[3] + quarter <= whole);
    }

    #[test]
    fn refusals_list_both_kinds_of_unit() {
        let refusal = |text: &str| text.parse::<Extent>().unwrap_err().to_string();
        let units = "B, KiB, MiB, GiB, TiB, kB, MB, GB, TB, %";
        assert!(refusal("64").contains(&format!("one of {units}")), "{}", refusal("64"));
        assert!(refusal("5 blocks").contains(&format!("valid: {units}")));
    }
}
