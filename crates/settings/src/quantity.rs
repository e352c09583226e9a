//! "12 blocks": an exact number and the name of a unit, before anyone has said
//! which units there are.

use std::fmt;

use crate::Decimal;

/// A number and the unit written behind it, which may be empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quantity<'a> {
    /// How many.
    pub amount: Decimal,
    /// Of what; empty where the text ends behind the number.
    pub unit: &'a str,
}

impl<'a> Quantity<'a> {
    /// Takes `text` apart; blanks around either part do not matter. Nothing where
    /// it does not begin with a number.
    pub fn split(text: &'a str) -> Option<Self> {
        let text = text.trim();
        let is_number = |character: char| character.is_ascii_digit() || character == '.';
        let end = text.find(|character| !is_number(character)).unwrap_or(text.len());
        let (number, unit) = text.split_at(end);
        Some(Self { amount: Decimal::parse(number)?, unit: unit.trim_start() })
    }
}

/// Why a text is not the quantity that was asked for, with the remedy.
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
