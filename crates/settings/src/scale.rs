//! The units of a kind of quantity, as data.
//!
//! The scale of a type is a constant, and is part of the type's JSON schema under [`KEYWORD`]. So
//! the walk can check quantities of other crates, which it does not know, and report all faults
//! at once in the same words as the type itself.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::names;
use crate::{Decimal, Quantity, Refusal};

/// The keyword that carries a scale in a JSON schema.
pub(crate) const KEYWORD: &str = "x-quantity";

/// One unit of a [`Scale`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unit<'a> {
    /// Spelling of the unit.
    pub name: &'a str,
    /// Its size in the smallest unit.
    pub factor: u64,
    /// The smallest unit, if a quantity must be a whole number of it that fits 64 bits.
    pub whole: Option<&'a str>,
    /// Accepted, but not shown to the user: another spelling.
    pub hidden: bool,
}

impl<'a> Unit<'a> {
    /// A unit whose quantities must be whole multiples of `smallest`.
    pub const fn whole(name: &'a str, factor: u64, smallest: &'a str) -> Self {
        Self { name, factor, whole: Some(smallest), hidden: false }
    }

    /// A unit for which every number is valid.
    pub const fn any(name: &'a str, factor: u64) -> Self {
        Self { name, factor, whole: None, hidden: false }
    }

    /// Hides the unit, as a spelling that lists leave out.
    pub const fn hidden(self) -> Self {
        Self { hidden: true, ..self }
    }
}

/// The units of one kind of quantity.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Scale<'a> {
    /// Name of the quantity in one word: "time".
    pub noun: &'a str,
    /// An example: "25 us". Remedies propose its unit.
    pub example: &'a str,
    /// Every spelling that is accepted.
    #[serde(borrow)]
    pub units: Cow<'a, [Unit<'a>]>,
    /// True if zero is refused.
    pub positive: bool,
    /// The unit that other programs leave out, if they agree on one: bytes.
    #[serde(default)]
    pub bare: Option<&'a str>,
}

impl<'a> Scale<'a> {
    /// A scale that allows zero.
    pub const fn new(noun: &'a str, example: &'a str, units: &'a [Unit<'a>]) -> Self {
        Self { noun, example, units: Cow::Borrowed(units), positive: false, bare: None }
    }

    /// Lets the scale refuse zero.
    pub const fn positive(mut self) -> Self {
        self.positive = true;
        self
    }

    /// Gives the scale the unit that is proposed for a bare number.
    pub const fn bare(mut self, unit: &'a str) -> Self {
        self.bare = Some(unit);
        self
    }

    /// Reads `text`; the amount is returned in the smallest unit.
    pub fn read(&self, text: &str) -> Result<(Decimal, Unit<'a>), Refusal> {
        let shown = format!("{text:?}");
        if text.trim_start().starts_with('-') {
            return Err(Refusal::new(format!("{shown} is negative")));
        }
        let Some(quantity) = Quantity::split(text) else {
            return Err(Refusal::new(format!(
                "{shown} is not a {} (write for example {:?})",
                self.noun, self.example
            )));
        };
        if quantity.unit.is_empty() {
            return Err(self.unit_missing(&shown, quantity.amount));
        }
        let Some(unit) = self.units.iter().find(|unit| unit.name == quantity.unit) else {
            return Err(self.unit_unknown(&shown, quantity.unit));
        };
        let too_large = || Refusal::new(format!("{shown} is too large"));
        let amount = quantity.amount.times(unit.factor).ok_or_else(too_large)?;
        if let Some(smallest) = unit.whole {
            if amount.has_fraction() {
                return Err(Refusal::new(format!("{shown} is not a whole number of {smallest}")));
            }
            amount.whole().ok_or_else(too_large)?;
        }
        if self.positive && amount.is_zero() {
            return Err(Refusal::new(format!("{shown} must be more than zero")));
        }
        Ok((amount, *unit))
    }

    /// The refusal of a number without quotes, printed as `shown`.
    pub fn refuse_bare(&self, shown: &str) -> Refusal {
        match Decimal::parse(shown) {
            Some(amount) => self.unit_missing(shown, amount),
            None if shown.starts_with('-') => Refusal::new(format!("{shown} is negative")),
            None => Refusal::new(format!("{shown} has no unit ({})", self.choice())),
        }
    }

    fn unit_missing(&self, shown: &str, amount: Decimal) -> Refusal {
        let units: Vec<&str> = self.visible().collect();
        let remedy = match (units.as_slice(), self.bare, amount.whole()) {
            // 0.07 without a unit may mean a fraction; both readings are offered.
            (["%"], ..) if amount.to_f64() < 1.0 && !amount.is_zero() => {
                let percent = amount.times(100).unwrap_or(amount);
                format!("write \"{percent} %\" or \"{amount} %\"")
            }
            ([only], ..) => format!("write \"{amount} {only}\""),
            (_, Some(unit), Some(whole)) => {
                let plain = format!("{amount} {unit}");
                let short = Some(self.write(whole)).filter(|short| *short != plain);
                let short = short.map_or(String::new(), |short| format!(" or {short:?}"));
                format!("{}; as {unit}: {plain:?}{short}", self.choice())
            }
            // Any guess among several units is wrong by a factor of thousands.
            _ => self.choice(),
        };
        Refusal::new(format!("{shown} has no unit ({remedy})"))
    }

    /// The units, for a message.
    fn choice(&self) -> String {
        format!("one of {}", self.visible().collect::<Vec<_>>().join(", "))
    }

    fn unit_unknown(&self, shown: &str, unit: &str) -> Refusal {
        let valid: Vec<&str> = self.visible().collect();
        let begins = |name: &&&str| name.to_lowercase().starts_with(&unit.to_lowercase());
        // "5 %" of what? "4 K" of which kind? The nearest name would be a guess.
        let longer: Vec<&str> = valid.iter().filter(begins).copied().collect();
        let is_short = longer.iter().all(|name| name.len() > unit.len());
        let remedy = match longer.as_slice() {
            [] => names::remedy(unit, &valid),
            _ if !is_short => names::remedy(unit, &valid),
            _ => names::propose(&longer, &valid),
        };
        Refusal::new(format!("{shown}: no unit {unit:?}{remedy}"))
    }

    /// The units to show to a user.
    pub(crate) fn visible(&self) -> impl Iterator<Item = &'a str> {
        self.units.iter().filter(|unit| !unit.hidden).map(|unit| unit.name)
    }

    /// `amount` in the largest unit that needs no fraction; of equal units the first.
    pub fn write(&self, amount: u64) -> String {
        let exact = |unit: &&Unit<'_>| amount.is_multiple_of(unit.factor) && !unit.hidden;
        let fitting = |unit: &&Unit<'_>| unit.factor == 1 || amount >= unit.factor;
        let candidates = self.units.iter().filter(exact).filter(fitting);
        let unit = candidates.rev().max_by_key(|unit| unit.factor);
        let unit = unit.expect("a scale of whole amounts has a smallest unit");
        format!("{} {}", amount / unit.factor, unit.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LENGTHS: Scale<'static> = Scale::new(
        "length",
        "8 blocks",
        &[Unit::whole("blocks", 1, "blocks"), Unit::whole("rows", 16, "blocks"), Unit::any("%", 1)],
    );

    fn refusal(scale: &Scale<'_>, text: &str) -> String {
        scale.read(text).unwrap_err().to_string()
    }

    #[test]
    fn amounts_come_in_the_smallest_unit() {
        let (amount, unit) = LENGTHS.read("2.5 rows").unwrap();
        assert_eq!((amount.whole(), unit.name), (Some(40), "rows"));
        assert_eq!(LENGTHS.read("0.5 %").unwrap().0.to_f64(), 0.5);
    }

    #[test]
    fn every_refusal_says_what_is_wrong() {
        assert_eq!(refusal(&LENGTHS, "12"), r#""12" has no unit (one of blocks, rows, %)"#);
        assert_eq!(
            refusal(&LENGTHS, "12 row"),
            r#""12 row": no unit "row" (did you mean "rows"? valid: blocks, rows, %)"#
        );
        assert_eq!(
            refusal(&LENGTHS, "12 rwos"),
            r#""12 rwos": no unit "rwos" (did you mean "rows"? valid: blocks, rows, %)"#
        );
        assert_eq!(
            refusal(&LENGTHS, "many"),
            r#""many" is not a length (write for example "8 blocks")"#
        );
        assert_eq!(refusal(&LENGTHS, "-1 rows"), r#""-1 rows" is negative"#);
        assert_eq!(refusal(&LENGTHS, "1.3 rows"), r#""1.3 rows" is not a whole number of blocks"#);
        assert_eq!(
            refusal(&LENGTHS, "18446744073709551616 blocks"),
            r#""18446744073709551616 blocks" is too large"#
        );
        assert_eq!(refusal(&LENGTHS.positive(), "0 rows"), r#""0 rows" must be more than zero"#);
    }

    #[test]
    fn a_bare_number_is_refused_with_its_unit() {
        assert_eq!(
            LENGTHS.refuse_bare("800").to_string(),
            "800 has no unit (one of blocks, rows, %)"
        );
        assert_eq!(
            LENGTHS.bare("blocks").refuse_bare("32").to_string(),
            r#"32 has no unit (one of blocks, rows, %; as blocks: "32 blocks" or "2 rows")"#
        );
        assert_eq!(LENGTHS.refuse_bare("-8").to_string(), "-8 is negative");
        assert_eq!(
            LENGTHS.refuse_bare("1e300").to_string(),
            "1e300 has no unit (one of blocks, rows, %)"
        );
    }

    #[test]
    fn a_scale_travels_through_a_schema() {
        let text = serde_json::to_string(&LENGTHS).unwrap();
        let arrived: Scale<'_> = serde_json::from_str(&text).unwrap();
        assert_eq!(arrived.noun, LENGTHS.noun);
        assert_eq!(arrived.units[..], LENGTHS.units[..]);
        assert_eq!(refusal(&arrived, "12"), refusal(&LENGTHS, "12"));
    }
}
