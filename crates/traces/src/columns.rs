//! The columns of a row, parsed by hand from its bytes: no string is allocated and no number goes
//! through a float.

use memchr::memchr;
use std::fmt;

/// Fault of a row, and the column that it is in (counted from 0).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Fault {
    pub column: usize,
    pub what: What,
    /// Meaning of the column, if it depends on the kind of row.
    pub meaning: Option<&'static str>,
}

impl Fault {
    /// A fault of a column whose meaning is the same in every row.
    #[inline]
    pub const fn new(column: usize, what: What) -> Self {
        Self { column, what, meaning: None }
    }

    /// The fault of a column that holds `meaning` in a row of this kind.
    #[inline]
    pub const fn of(self, meaning: &'static str) -> Self {
        Self { meaning: Some(meaning), ..self }
    }
}

/// Fault of a column.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum What {
    Missing,
    Surplus,
    NoWholeNumber,
    NoDecimalNumber,
    NoHexNumber,
    TooLarge,
    UnknownOperation,
    UnknownFlags,
    UnknownLine,
    NotDeclared,
    Joined,
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
            Self::UnknownFlags => "is not made of the letters R W D N F A S M B E",
            Self::UnknownLine => "begins neither an event nor a line of the summary",
            Self::NotDeclared => "is a row whose columns the header does not declare",
            Self::Joined => {
                "is a second header: files were joined, and the stamps of each count from its own \
                 beginning; split the file in front of this line"
            }
            Self::Empty => "is a request for nothing; only a flush has no length",
            Self::PastTheEnd => "makes the request end behind the last address of 64 bits",
        })
    }
}

/// Separator between two columns.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Separator {
    /// Any number of blanks and tabs.
    Blanks,
    /// One comma, perhaps with blanks around it.
    Comma,
}

impl Separator {
    #[inline]
    fn is(self, byte: u8) -> bool {
        match self {
            Self::Blanks => is_blank(byte),
            Self::Comma => byte == b',',
        }
    }
}

/// A cursor over the columns of a row.
pub(crate) struct Columns<'a> {
    rest: &'a [u8],
    separator: Separator,
    column: usize,
    /// True after a comma: another column must follow.
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
        Fault::new(self.column - 1, what)
    }

    /// The bytes of the next column, without blanks around them.
    #[inline(always)]
    pub fn text(&mut self) -> Result<&'a [u8], Fault> {
        let column = self.column;
        self.column += 1;
        if self.rest.is_empty() && !self.comma_last {
            return Err(Fault::new(column, What::Missing));
        }
        let ends = |byte: &u8| self.separator.is(*byte);
        let length = self.rest.iter().position(ends).unwrap_or(self.rest.len());
        let text = &self.rest[..length];
        self.go_behind(length);
        Ok(match self.separator {
            Separator::Blanks => text,
            Separator::Comma => trim(text),
        })
    }

    /// As [`Columns::text`], but an empty column is a fault: the row was cut.
    #[inline]
    pub fn filled(&mut self) -> Result<&'a [u8], Fault> {
        match self.text()? {
            [] if self.rest.is_empty() => Err(self.fault(What::Missing)),
            text => Ok(text),
        }
    }

    /// The bytes of the next two columns and of the comma between them.
    #[inline]
    pub fn two_texts(&mut self) -> Result<&'a [u8], Fault> {
        let before = self.rest;
        self.filled()?;
        self.filled()?;
        let length = before.len() - self.rest.len();
        let both = &before[..length];
        Ok(both.strip_suffix(b",").unwrap_or(both))
    }

    /// The next column as a whole number.
    #[inline(always)]
    pub fn whole(&mut self) -> Result<u64, Fault> {
        if let Some((number, length)) = leading_digits(self.rest)
            && self.rest.get(length).is_none_or(|byte| self.separator.is(*byte))
        {
            self.column += 1;
            self.go_behind(length);
            return Ok(number);
        }
        let text = self.filled()?;
        digits(text).map_err(|what| self.fault(what))
    }

    /// The next column as a whole number of 32 bits.
    #[inline]
    pub fn whole_u32(&mut self) -> Result<u32, Fault> {
        u32::try_from(self.whole()?).map_err(|_| self.fault(What::TooLarge))
    }

    /// The next column as a whole number in units of `unit`.
    #[inline(always)]
    pub fn whole_times(&mut self, unit: u64) -> Result<u64, Fault> {
        self.whole()?.checked_mul(unit).ok_or_else(|| self.fault(What::TooLarge))
    }

    /// The next column as a decimal number of a unit of `unit_ns`, in nanoseconds.
    #[inline]
    pub fn decimal(&mut self, unit_ns: u64) -> Result<u64, Fault> {
        let text = self.filled()?;
        decimal_ns(text, unit_ns).map_err(|what| self.fault(what))
    }

    /// True if the next column begins with `byte`.
    #[inline]
    pub fn begins_with(&self, byte: u8) -> bool {
        self.rest.first() == Some(&byte)
    }

    /// True after the last column.
    #[inline]
    pub fn is_at_end(&self) -> bool {
        self.rest.is_empty() && !self.comma_last
    }

    /// Refuses a row with further columns.
    #[inline]
    pub fn end(&self) -> Result<(), Fault> {
        if self.is_at_end() {
            return Ok(());
        }
        Err(Fault::new(self.column, What::Surplus))
    }

    /// Skips a column of `length` bytes and the separator after it.
    #[inline(always)]
    fn go_behind(&mut self, length: usize) {
        let behind = &self.rest[length..];
        match self.separator {
            Separator::Blanks => self.rest = trim_start(behind),
            Separator::Comma => {
                self.comma_last = !behind.is_empty();
                self.rest = trim_start(behind.get(1..).unwrap_or(&[]));
            }
        }
    }
}

/// Eight digits as a number: pairs are joined to pairs, all at once.
#[inline(always)]
fn eight_digits(text: &[u8]) -> Option<u64> {
    let chunk: [u8; 8] = text.get(..8)?.try_into().ok()?;
    let chunk = u64::from_le_bytes(chunk);
    // The bytes of digits are 0x30 to 0x39: their upper halves stay 3 when 6 is added.
    // A byte from 0xfa carries into the next, and fails the first test by itself.
    let upper = chunk & 0xf0f0_f0f0_f0f0_f0f0;
    let upper_of_more = chunk.wrapping_add(0x0606_0606_0606_0606) & 0xf0f0_f0f0_f0f0_f0f0;
    if upper != 0x3030_3030_3030_3030 || upper_of_more != 0x3030_3030_3030_3030 {
        return None;
    }
    let ones = chunk & 0x0f0f_0f0f_0f0f_0f0f;
    let twos = (ones.wrapping_mul(10) + (ones >> 8)) & 0x00ff_00ff_00ff_00ff;
    let fours = (twos.wrapping_mul(100) + (twos >> 16)) & 0x0000_ffff_0000_ffff;
    Some((fours.wrapping_mul(10_000) + (fours >> 32)) & 0xffff_ffff)
}

/// The number at the beginning of `text` and the number of its digits: at most 19, which always
/// fit. Nothing if there is no digit.
#[inline(always)]
fn leading_digits(text: &[u8]) -> Option<(u64, usize)> {
    let (mut number, mut length) = (0, 0);
    while length < 16
        && let Some(eight) = eight_digits(&text[length..])
    {
        number = number * 100_000_000 + eight;
        length += 8;
    }
    while length < 19
        && let Some(byte) = text.get(length)
        && byte.is_ascii_digit()
    {
        number = number * 10 + u64::from(byte - b'0');
        length += 1;
    }
    (length > 0).then_some((number, length))
}

/// The number in a text of decimal digits only.
#[inline]
pub(crate) fn digits(text: &[u8]) -> Result<u64, What> {
    match leading_digits(text) {
        Some((number, length)) if length == text.len() => Ok(number),
        Some(_) => many_digits(text),
        None => Err(What::NoWholeNumber),
    }
}

/// As [`digits`], for numbers that may not fit.
#[cold]
fn many_digits(text: &[u8]) -> Result<u64, What> {
    if !text.iter().all(u8::is_ascii_digit) {
        return Err(What::NoWholeNumber);
    }
    let join = |number: u64, byte: &u8| number.checked_mul(10)?.checked_add(u64::from(byte - b'0'));
    text.iter().try_fold(0, join).ok_or(What::TooLarge)
}

/// A decimal number of a unit of `unit_ns`, in nanoseconds, digit by digit: a float would turn
/// 0.1 ms into 100000.00000000001 ns. Digits below a nanosecond are cut off. `unit_ns` is a power
/// of ten.
#[inline]
pub(crate) fn decimal_ns(text: &[u8], unit_ns: u64) -> Result<u64, What> {
    let (whole, fraction) = match memchr(b'.', text) {
        Some(point) => (&text[..point], &text[point + 1..]),
        None => (text, &[][..]),
    };
    if whole.is_empty() && fraction.is_empty() {
        return Err(What::NoDecimalNumber);
    }
    let decimal = |what| if what == What::TooLarge { what } else { What::NoDecimalNumber };
    let whole = if whole.is_empty() { 0 } else { digits(whole).map_err(decimal)? };
    let ns = if fraction.is_empty() { 0 } else { fraction_ns(fraction, unit_ns)? };
    whole.checked_mul(unit_ns).and_then(|whole| whole.checked_add(ns)).ok_or(What::TooLarge)
}

#[inline]
fn fraction_ns(fraction: &[u8], unit_ns: u64) -> Result<u64, What> {
    let (mut ns, mut unit, mut length) = (0, unit_ns, 0);
    if unit == 1_000_000_000
        && let Some(eight) = eight_digits(fraction)
    {
        (ns, unit, length) = (eight * 10, 10, 8);
    }
    for byte in &fraction[length..] {
        if !byte.is_ascii_digit() {
            return Err(What::NoDecimalNumber);
        }
        unit /= 10;
        ns += u64::from(byte - b'0') * unit;
    }
    Ok(ns)
}

/// The number in a text of hexadecimal digits, with or without `0x`.
#[inline]
pub(crate) fn hex(text: &[u8]) -> Result<u64, What> {
    let text = text.strip_prefix(b"0x").or(text.strip_prefix(b"0X")).unwrap_or(text);
    if text.is_empty() {
        return Err(What::NoHexNumber);
    }
    // Without their zeroes, numbers that fit have 16 digits at most.
    let zeroes = text.iter().take_while(|byte| **byte == b'0').count();
    let fits = text.len() - zeroes <= 16;
    let (mut number, mut all) = (0u64, 0u8);
    for byte in text {
        let digit = HEX_DIGITS[*byte as usize];
        all |= digit;
        number = number << 4 | u64::from(digit & 0xf);
    }
    match (all <= 0xf, fits) {
        (false, _) => Err(What::NoHexNumber),
        (true, false) => Err(What::TooLarge),
        (true, true) => Ok(number),
    }
}

/// The value of each byte as a hexadecimal digit; 0xff for other bytes.
const HEX_DIGITS: [u8; 256] = {
    let mut values = [0xff; 256];
    let mut digit = 0;
    while digit < 16 {
        values[b"0123456789abcdef"[digit] as usize] = digit as u8;
        values[b"0123456789ABCDEF"[digit] as usize] = digit as u8;
        digit += 1;
    }
    values
};

/// The column number `column` of a row as a message shows it.
pub(crate) fn shown(line: &[u8], separator: Separator, column: usize) -> String {
    let line = trim(line);
    let text = match separator {
        Separator::Blanks => {
            line.split(|byte| is_blank(*byte)).filter(|text| !text.is_empty()).nth(column)
        }
        Separator::Comma => line.split(|byte| *byte == b',').nth(column).map(trim),
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

#[inline]
pub(crate) fn trim_start(mut text: &[u8]) -> &[u8] {
    while let Some(rest) = text.strip_prefix(b"        ") {
        text = rest;
    }
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
        assert_eq!(blanks.end(), Err(Fault::new(2, What::Surplus)));
        assert_eq!(blanks.text(), Ok(&b"x"[..]));
        assert_eq!(blanks.end(), Ok(()));
        assert_eq!(blanks.text(), Err(Fault::new(3, What::Missing)));
        let mut commas = Columns::new(b"1,,3", Separator::Comma);
        assert_eq!(commas.whole(), Ok(1));
        assert_eq!(commas.whole(), Err(Fault::new(1, What::NoWholeNumber)));
        let mut commas = Columns::new(b" 1 , b ,\t3 \r", Separator::Comma);
        assert_eq!((commas.whole(), commas.text(), commas.whole()), (Ok(1), Ok(&b"b"[..]), Ok(3)));
        assert_eq!(commas.end(), Ok(()));
        let mut cut = Columns::new(b"1,", Separator::Comma);
        assert_eq!((cut.whole(), cut.text(), cut.is_at_end()), (Ok(1), Ok(&b""[..]), true));
        let mut pair = Columns::new(b"7,hm, 1 ,x", Separator::Comma);
        assert_eq!((pair.whole(), pair.two_texts()), (Ok(7), Ok(&b"hm, 1 "[..])));
        assert_eq!((pair.text(), pair.end()), (Ok(&b"x"[..]), Ok(())));
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

    #[test]
    fn digits_are_read_alike_however_many_there_are() {
        let text = "9876543210123456789";
        for length in 1..=text.len() {
            for begin in 0..=text.len() - length {
                let part = &text[begin..begin + length];
                assert_eq!(digits(part.as_bytes()), Ok(part.parse::<u64>().unwrap()), "{part}");
            }
        }
        // Every other byte at every place ends the number.
        for place in 0..19 {
            for byte in (0..=u8::MAX).filter(|byte| !byte.is_ascii_digit()) {
                let mut damaged = text.as_bytes().to_vec();
                damaged[place] = byte;
                assert_eq!(digits(&damaged), Err(What::NoWholeNumber), "{byte} at {place}");
            }
        }
    }

    #[test]
    fn decimals_become_nanoseconds_exactly() {
        for (text, ns) in [
            ("0", 0),
            ("0.000000001", 1),
            ("1456135200.013118000", 1_456_135_200_013_118_000),
            ("1456095145.1330760009", 1_456_095_145_133_076_000),
            ("3.5", 3_500_000_000),
            (".25", 250_000_000),
            ("7.", 7_000_000_000),
            ("18446744073.709551615", u64::MAX),
        ] {
            assert_eq!(decimal_ns(text.as_bytes(), 1_000_000_000), Ok(ns), "{text}");
        }
        for text in ["", ".", "-1", "1e3", "1.2.3", "1.0000000x", "1.00000000x", "0x1"] {
            let read = decimal_ns(text.as_bytes(), 1_000_000_000);
            assert_eq!(read, Err(What::NoDecimalNumber), "{text}");
        }
        assert_eq!(decimal_ns(b"18446744073.709551616", 1_000_000_000), Err(What::TooLarge));
    }

    #[test]
    fn hexadecimal_numbers_have_a_prefix_or_none() {
        for (text, number) in [("0x018f0b8000", 0x01_8f0b_8000), ("1F", 31), ("0Xab", 171)] {
            assert_eq!(hex(text.as_bytes()), Ok(number), "{text}");
        }
        assert_eq!(hex(b"0xffffffffffffffff"), Ok(u64::MAX));
        assert_eq!(hex(b"0x1ffffffffffffffff"), Err(What::TooLarge));
        for text in ["", "0x", "g", "0x1 2", "-1"] {
            assert_eq!(hex(text.as_bytes()), Err(What::NoHexNumber), "{text}");
        }
    }
}
