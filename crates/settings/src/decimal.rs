//! Exact decimal numbers. A binary float would turn "0.1 us" into nearly 100 ns; here a quantity
//! stays as it was written until its type defines the precision.

use std::fmt;

/// An exact number that is not negative: `digits / 10^places`.
///
/// Kept without trailing zeros, so that equal numbers are equal values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decimal {
    digits: u128,
    places: u32,
}

impl Decimal {
    /// Reads digits with at most one point between them; nothing if the text is anything else or
    /// has more digits than fit.
    pub fn parse(text: &str) -> Option<Self> {
        let (whole, fraction) = match text.split_once('.') {
            Some((_, "")) => return None,
            Some(parts) => parts,
            None => (text, ""),
        };
        if whole.is_empty() {
            return None;
        }
        let mut digits = 0_u128;
        for character in whole.chars().chain(fraction.chars()) {
            let digit = character.to_digit(10)?;
            digits = digits.checked_mul(10)?.checked_add(digit.into())?;
        }
        Some(Self::new(digits, fraction.len() as u32))
    }

    /// The shortest decimal that reads back as `value`; nothing if it is
    /// negative, not a number, or needs more digits than fit.
    pub fn from_f64(value: f64) -> Option<Self> {
        if value.is_sign_negative() && value != 0.0 {
            return None;
        }
        Self::parse(&value.abs().to_string())
    }

    fn new(mut digits: u128, mut places: u32) -> Self {
        while places > 0 && digits.is_multiple_of(10) {
            digits /= 10;
            places -= 1;
        }
        Self { digits, places }
    }

    /// The product with `factor`; nothing if that has too many digits.
    pub fn times(self, factor: u64) -> Option<Self> {
        Some(Self::new(self.digits.checked_mul(factor.into())?, self.places))
    }

    /// A hundredth of the number, as "7 %" is of 7.
    pub fn hundredth(self) -> Self {
        Self::new(self.digits, self.places + 2)
    }

    /// The product with `factor`, rounded down; the greatest number if that does not fit.
    pub fn times_rounded_down(self, factor: u64) -> u64 {
        let product = self.digits.checked_mul(factor.into());
        match product.zip(10_u128.checked_pow(self.places)) {
            Some((product, scale)) => (product / scale).try_into().unwrap_or(u64::MAX),
            // More digits than any file has.
            None => (self.to_f64() * factor as f64) as u64,
        }
    }

    /// The value if it has no fraction and fits.
    pub fn whole(self) -> Option<u64> {
        if self.places == 0 { self.digits.try_into().ok() } else { None }
    }

    /// True if digits follow the point.
    pub const fn has_fraction(self) -> bool {
        self.places > 0
    }

    /// True for zero.
    pub const fn is_zero(self) -> bool {
        self.digits == 0
    }

    /// The float nearest to it.
    pub fn to_f64(self) -> f64 {
        let text = format!("{}e-{}", self.digits, self.places);
        text.parse().expect("digits and an exponent are a float")
    }
}

impl From<u64> for Decimal {
    fn from(whole: u64) -> Self {
        Self::new(whole.into(), 0)
    }
}

impl fmt::Display for Decimal {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let places = self.places as usize;
        if places == 0 {
            return write!(out, "{}", self.digits);
        }
        let digits = format!("{:0>1$}", self.digits, places + 1);
        let (whole, fraction) = digits.split_at(digits.len() - places);
        write!(out, "{whole}.{fraction}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn decimal(text: &str) -> Decimal {
        Decimal::parse(text).unwrap()
    }

    #[test]
    fn trailing_zeros_do_not_matter() {
        assert_eq!(decimal("1.50"), decimal("01.5"));
        assert_eq!(decimal("100").to_string(), "100");
        assert_eq!(decimal("0.050").to_string(), "0.05");
    }

    #[test]
    fn only_digits_around_one_point_are_a_number() {
        for text in ["", ".", "1.", ".5", "1.2.3", "-1", "1e3", "1_000", "٣"] {
            assert_eq!(Decimal::parse(text), None, "{text}");
        }
        assert_eq!(Decimal::parse(&"9".repeat(40)), None);
    }

    #[test]
    fn products_are_exact() {
        assert_eq!(decimal("1.5").times(1_000).unwrap().whole(), Some(1_500));
        assert_eq!(decimal("0.0005").times(1_000).unwrap().to_string(), "0.5");
        assert_eq!(decimal("7").hundredth().to_f64(), 0.07);
        assert_eq!(decimal("18446744073709551616").whole(), None);
    }

    proptest! {
        #![proptest_config(floor::cases!())]

        #[test]
        fn printing_round_trips(digits: u128, places in 0_u32..40) {
            let number = Decimal::new(digits, places);
            prop_assert_eq!(Decimal::parse(&number.to_string()), Some(number));
        }

        #[test]
        fn floats_survive(value in 0.0..1e15_f64) {
            if let Some(number) = Decimal::from_f64(value) {
                prop_assert_eq!(number.to_f64(), value);
            }
        }
    }
}
