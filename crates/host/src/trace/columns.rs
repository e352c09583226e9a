//! The columns of a row, read by hand from its bytes: no text is made and no
//! number goes through a float.

use std::fmt;

/// What is wrong with a row, and in which of its columns (counted from 0).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Fault {
    pub column: usize,
    pub what: What,
}

/// What is wrong with a column.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum What {
    Missing,
    Surplus,
    NoWholeNumber,
    NoDecimalNumber,
    NoHexNumber,
    TooLarge,
    UnknownOperation,
    Empty,
    PastTheEnd,
}

impl fmt::Display for What {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Missing => "is missing: the row was cut",
            Self::Surplus => "is one column too many",
            Self::NoWholeNumber => "is not a whole number",
            Self::NoDecimalNumber => "is not a decimal number (digits, perhaps with a point)",
            Self::NoHexNumber => "is not a hexadecimal number",
            Self::TooLarge => "is too large",
            Self::UnknownOperation => "is not a kind of request",
            Self::Empty => "is a request for nothing; only a flush has no length",
            Self::PastTheEnd => "makes the request end behind the last address of 64 bits",
        })
    }
}

/// What stands between two columns.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Separator {
    /// Any number of blanks and tabs.
    Blanks,
    /// One comma.
    Comma,
}

/// A cursor over the columns of a row.
pub(crate) struct Columns<'a> {
    rest: &'a [u8],
    separator: Separator,
    column: usize,
    /// True behind a comma, after which another column was to come.
    comma_last: bool,
}

impl<'a> Columns<'a> {
    /// The columns of `line`.
    #[inline]
    pub fn new(line: &'a [u8], separator: Separator) -> Self {
        Self { rest: trim(line), separator, column: 0, comma_last: false }
    }

    /// A fault of the column that was read last.
    #[inline]
    pub fn fault(&self, what: What) -> Fault {
        Fault { column: self.column - 1, what }
    }

    /// The bytes of the next column.
    #[inline]
    pub fn text(&mut self) -> Result<&'a [u8], Fault> {
        let column = self.column;
        self.column += 1;
        if self.rest.is_empty() {
            return Err(Fault { column, what: What::Missing });
        }
        let ends = |byte: &u8| match self.separator {
            Separator::Blanks => is_blank(*byte),
            Separator::Comma => *byte == b',',
        };
        let length = self.rest.iter().position(ends).unwrap_or(self.rest.len());
        let (text, behind) = self.rest.split_at(length);
        self.rest = match self.separator {
            Separator::Blanks => trim_start(behind),
            Separator::Comma => {
                self.comma_last = !behind.is_empty();
                behind.get(1..).unwrap_or(&[])
            }
        };
        Ok(text)
    }

    /// The next column as a whole number.
    #[inline]
    pub fn whole(&mut self) -> Result<u64, Fault> {
        let text = self.text()?;
        digits(text).map_err(|what| self.fault(what))
    }

    /// The next column as a whole number of 32 bits.
    #[inline]
    pub fn whole_u32(&mut self) -> Result<u32, Fault> {
        u32::try_from(self.whole()?).map_err(|_| self.fault(What::TooLarge))
    }

    /// The next column as a whole number in units of `unit`.
    #[inline]
    pub fn whole_times(&mut self, unit: u64) -> Result<u64, Fault> {
        self.whole()?.checked_mul(unit).ok_or_else(|| self.fault(What::TooLarge))
    }

    /// Refuses a row that goes on.
    #[inline]
    pub fn end(&self) -> Result<(), Fault> {
        if self.rest.is_empty() && !self.comma_last {
            return Ok(());
        }
        Err(Fault { column: self.column, what: What::Surplus })
    }
}

/// The number that decimal digits, and nothing else, write.
#[inline]
pub(crate) fn digits(text: &[u8]) -> Result<u64, What> {
    if text.is_empty() {
        return Err(What::NoWholeNumber);
    }
    let mut number: u64 = 0;
    for byte in text {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return Err(What::NoWholeNumber);
        }
        let longer = number.checked_mul(10).and_then(|n| n.checked_add(u64::from(digit)));
        number = longer.ok_or(What::TooLarge)?;
    }
    Ok(number)
}

/// The column number `column` of a row as a message shows it.
pub(crate) fn shown(line: &[u8], separator: Separator, column: usize) -> String {
    let line = trim(line);
    let text = match separator {
        Separator::Blanks => {
            line.split(|byte| is_blank(*byte)).filter(|text| !text.is_empty()).nth(column)
        }
        Separator::Comma => line.split(|byte| *byte == b',').nth(column),
    };
    let text = String::from_utf8_lossy(text.unwrap_or_default()).into_owned();
    let short: String = text.chars().take(40).collect();
    if short.len() < text.len() { format!("{short:?}…") } else { format!("{short:?}") }
}

/// A carriage return counts as a blank, so that DOS line ends do no harm.
#[inline]
fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r')
}

fn trim_start(mut text: &[u8]) -> &[u8] {
    while let [first, rest @ ..] = text
        && is_blank(*first)
    {
        text = rest;
    }
    text
}

/// The text without blanks at either end.
#[inline]
pub(crate) fn trim(text: &[u8]) -> &[u8] {
    let mut text = trim_start(text);
    while let [rest @ .., last] = text
        && is_blank(*last)
    {
        text = rest;
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_split_by_blanks_or_by_one_comma() {
        let mut blanks = Columns::new(b" 12 \t 7  x\r", Separator::Blanks);
        assert_eq!((blanks.whole(), blanks.whole()), (Ok(12), Ok(7)));
        assert_eq!(blanks.end(), Err(Fault { column: 2, what: What::Surplus }));
        assert_eq!(blanks.text(), Ok(&b"x"[..]));
        assert_eq!(blanks.end(), Ok(()));
        assert_eq!(blanks.text(), Err(Fault { column: 3, what: What::Missing }));
        let mut commas = Columns::new(b"1,,3", Separator::Comma);
        assert_eq!(commas.whole(), Ok(1));
        assert_eq!(commas.whole(), Err(Fault { column: 1, what: What::NoWholeNumber }));
    }

    #[test]
    fn numbers_are_digits_that_fit() {
        assert_eq!(digits(b"18446744073709551615"), Ok(u64::MAX));
        assert_eq!(digits(b"18446744073709551616"), Err(What::TooLarge));
        assert_eq!(digits(b"00000000000000000000000001"), Ok(1));
        for text in [&b"-1"[..], b"+1", b"1.0", b"0x1", b"", b"1e3", b"\xff"] {
            assert_eq!(digits(text), Err(What::NoWholeNumber), "{text:?}");
        }
    }
}
