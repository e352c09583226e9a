//! Description of a format that can be written, and formatting of numbers.

use crate::command::Kind;
use crate::read::Format;

/// Description of an output format.
#[derive(Clone, Copy, Debug)]
pub(super) struct Writer {
    /// The format that it writes, whose reader reads it back.
    pub format: Format,
    /// Lines in front of the first row.
    pub header: &'static str,
    /// Kinds of requests that it has.
    pub kinds: &'static [Kind],
    /// Addresses and lengths are multiples of this.
    pub grain: Grain,
    /// Stamps are multiples of this.
    pub tick_ns: u64,
    /// True if it tells devices apart.
    pub has_devices: bool,
    /// True if its readers need stamps that do not run backwards.
    pub in_order: bool,
    /// The first byte, on any device, that has no address in the format.
    pub end_bytes: u64,
    /// Bytes of a request at most.
    pub request_bytes: u64,
    /// The latest stamp that its readers take.
    pub stamp_max_ns: u64,
    /// The largest number of a device that they take.
    pub device_max: u32,
    /// Prefix of the number of a device, if devices have names.
    pub device_prefix: Option<&'static str>,
}

/// Alignment of addresses and lengths.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Grain {
    pub offset: u64,
    pub length: u64,
}

/// Reads and writes.
pub(super) const DATA: &[Kind] = &[Kind::Read, Kind::Write];

pub(super) const SECTORS: Grain = Grain { offset: 512, length: 512 };
pub(super) const BYTES: Grain = Grain { offset: 1, length: 1 };

/// Appends a number in decimal.
pub(super) fn number(out: &mut Vec<u8>, number: u64) {
    let mut digits = [0; 20];
    let mut begin = digits.len();
    let mut rest = number;
    loop {
        begin -= 1;
        digits[begin] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[begin..]);
}

/// Appends numbers with something between them.
pub(super) fn numbers(out: &mut Vec<u8>, between: u8, list: &[u64]) {
    for (index, value) in list.iter().enumerate() {
        if index > 0 {
            out.push(between);
        }
        number(out, *value);
    }
}

/// Appends nanoseconds in a unit of 10^`digits` of them: as many decimals as it takes.
pub(super) fn decimal(out: &mut Vec<u8>, ns: u64, digits: u32, least: u32) {
    let unit = 10u64.pow(digits);
    number(out, ns / unit);
    let (mut fraction, mut width) = (ns % unit, digits);
    while width > least && fraction.is_multiple_of(10) {
        (fraction, width) = (fraction / 10, width - 1);
    }
    if width > 0 {
        out.push(b'.');
        let mut place = 10u64.pow(width - 1);
        while place > 0 {
            out.push(b'0' + (fraction / place % 10) as u8);
            place /= 10;
        }
    }
}
