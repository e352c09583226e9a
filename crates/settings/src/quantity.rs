//! "12 blocks": an exact number and the name of a unit, before the valid units are known.

use std::fmt;

use crate::Decimal;

/// A number and the unit written after it, which may be empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quantity<'a> {
    /// The number.
    pub amount: Decimal,
    /// The unit; empty if the text ends after the number.
    pub unit: &'a str,
}

impl<'a> Quantity<'a> {
    /// Splits `text`; blanks around either part are ignored. Nothing if it does not begin with a
    /// number.
    pub fn split(text: &'a str) -> Option<Self> {
        let text = text.trim();
        let is_number = |character: char| character.is_ascii_digit() || character == '.';
        let end = text.find(|character| !is_number(character)).unwrap_or(text.len());
        let (number, unit) = text.split_at(end);
        Some(Self { amount: Decimal::parse(number)?, unit: unit.trim_start() })
    }
}

/// Reason why a text is not the requested quantity, with the remedy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal(String);

impl Refusal {
    /// A refusal with this message.
    pub fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

impl std::error::Error for Refusal {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_ends_where_the_unit_begins() {
        let twelve = Decimal::from(12);
        for text in ["12 blocks", "12blocks", "  12   blocks "] {
            assert_eq!(Quantity::split(text), Some(Quantity { amount: twelve, unit: "blocks" }));
        }
        assert_eq!(Quantity::split("12"), Some(Quantity { amount: twelve, unit: "" }));
        assert_eq!(Quantity::split("blocks"), None);
        assert_eq!(Quantity::split("-12 blocks"), None);
        assert_eq!(Quantity::split("1.2.3 s"), None);
    }
}
