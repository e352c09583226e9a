//! Traces written: one file a format, each with what the format cannot say.
//!
//! A writer turns a row into a line, or says why it cannot ([`Lack`]). `sink` has the
//! file: compressed by its name, and whole or not there. `convert` goes from one file
//! to another and counts what is lacking.

mod captured;
mod convert;
mod disksim;
mod fio_v3;
mod imitated;
mod mqsim;
mod msr;
mod sink;
mod spc;

pub use convert::{Choices, Converted, convert};
pub use imitated::{Destination, Imitated, imitate};

use super::Format;
use super::row::Row;
use crate::command::Kind;
use std::fmt;

/// What a format that is written says of itself.
#[derive(Clone, Copy, Debug)]
struct Writer {
    /// The format that it writes, whose reader reads it back.
    format: Format,
    /// Lines in front of the first row.
    header: &'static str,
    /// Kinds of requests that it has.
    kinds: &'static [Kind],
    /// Addresses and lengths are multiples of this.
    grain: Grain,
    /// Stamps are multiples of this.
    tick_ns: u64,
    /// True where it tells devices apart.
    has_devices: bool,
    /// True where its readers need stamps that do not run backwards.
    in_order: bool,
    /// The first byte that it has no address for, on any device.
    end_bytes: u64,
    /// Bytes of a request at most.
    request_bytes: u64,
    /// The latest stamp that its readers take.
    stamp_max_ns: u64,
    /// The largest number of a device that they take.
    device_max: u32,
    /// What stands before the number of a device, where devices have names.
    device_prefix: Option<&'static str>,
}

/// What addresses and lengths are multiples of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Grain {
    offset: u64,
    length: u64,
}

/// Why a row cannot be written.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Lack {
    /// The format has no such request.
    Kind(Kind),
    /// It has no such address or length.
    Grain,
    /// It has no such stamp.
    Stamp,
    /// It needs stamps in order.
    Order,
    /// It cannot tell several devices apart.
    Device,
    /// The address is too large for it.
    Far,
    /// The request is too large for it.
    Long,
    /// The stamp is too late for it.
    Late,
    /// The device's number is too large for it.
    Number,
}

/// Declares the formats that can be written.
macro_rules! registry {
    ($($(#[$doc:meta])* $target:ident => $module:ident,)+) => {
        /// A format that traces are written in.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub enum Target {
            $($(#[$doc])* $target,)+
        }

        impl Target {
            /// Every format.
            pub const ALL: &[Self] = &[$(Self::$target,)+];

            const fn writer(self) -> &'static Writer {
                match self {
                    $(Self::$target => &$module::WRITER,)+
                }
            }

            /// Appends a line for a row that the format can express.
            fn write(self, row: &Row, out: &mut Vec<u8>) {
                match self {
                    $(Self::$target => $module::write(row, out),)+
                }
            }
        }
    };
}

registry! {
    /// The CSV that flashscape captures.
    Captured => captured,
    /// MQSim ASCII.
    Mqsim => mqsim,
    /// DiskSim ASCII.
    Disksim => disksim,
    /// The CSV of MSR Cambridge.
    Msr => msr,
    /// SPC trace format 1.0.
    Spc => spc,
    /// fio's I/O log, version 3.
    FioV3 => fio_v3,
}

impl Target {
    /// How the command line writes it.
    pub const fn name(self) -> &'static str {
        self.writer().format.name()
    }

    /// How messages call it.
    pub const fn title(self) -> &'static str {
        self.writer().format.title()
    }

    /// The format of a name.
    pub fn of(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|target| target.name() == name)
    }

    /// What is lost of a row, apart from what depends on other rows.
    fn lacks(self, row: &Row) -> Option<Lack> {
        let writer = self.writer();
        let command = row.command;
        if !writer.kinds.contains(&command.kind) {
            return Some(Lack::Kind(command.kind));
        }
        if !command.offset.is_multiple_of(writer.grain.offset)
            || !command.bytes.is_multiple_of(writer.grain.length)
        {
            return Some(Lack::Grain);
        }
        if command.end() > writer.end_bytes {
            return Some(Lack::Far);
        }
        if command.bytes > writer.request_bytes {
            return Some(Lack::Long);
        }
        if row.stamp_ns > writer.stamp_max_ns {
            return Some(Lack::Late);
        }
        if row.device > writer.device_max {
            return Some(Lack::Number);
        }
        (!row.stamp_ns.is_multiple_of(writer.tick_ns)).then_some(Lack::Stamp)
    }

    /// The row with stamp and range as the format has them: the stamp earlier, the range
    /// larger.
    fn rounded(self, mut row: Row) -> Row {
        let Writer { grain, tick_ns, .. } = *self.writer();
        row.stamp_ns -= row.stamp_ns % tick_ns;
        let end = row.command.end();
        row.command.offset -= row.command.offset % grain.offset;
        let bytes = end - row.command.offset;
        let larger = bytes.checked_next_multiple_of(grain.length);
        // At the very end of 64 bits there is no room to round up: that is lacking.
        let fits = larger.filter(|larger| row.command.offset.checked_add(*larger).is_some());
        row.command.bytes = fits.unwrap_or(bytes);
        row
    }

    /// What a lack means, and what to do about it.
    fn explained(self, lack: Lack) -> String {
        let writer = self.writer();
        let title = self.title();
        match lack {
            Lack::Kind(kind) => {
                let name = kind.name().replace('_', "-");
                format!("{title} has no {name}; leave them out with --drop {name}")
            }
            Lack::Grain => {
                let Grain { offset, length } = writer.grain;
                let of_both = if offset == length {
                    format!("addresses and lengths in multiples of {offset} B")
                } else {
                    format!("addresses in multiples of {offset} B")
                };
                format!("{title} has {of_both}; make ranges larger with --round")
            }
            Lack::Stamp => {
                format!(
                    "{title} has stamps in multiples of {}; make them earlier with --round",
                    engine::Span::from_ns(writer.tick_ns)
                )
            }
            Lack::Order => {
                format!(
                    "{title} needs stamps that do not run backwards; put them in order with --sort"
                )
            }
            Lack::Device => {
                format!("{title} cannot tell devices apart; choose one with --devices N")
            }
            Lack::Far => format!(
                "{title} has no addresses from byte {} on; leave such devices out with --devices",
                writer.end_bytes
            ),
            Lack::Long => {
                format!("{title} has no requests of more than {} B", writer.request_bytes)
            }
            Lack::Late => format!(
                "{title} has no stamps after {} ns; let them count from the first request with \
                 --rebase",
                writer.stamp_max_ns
            ),
            Lack::Number => format!(
                "{title} has no device numbers above {}; leave such devices out with --devices",
                writer.device_max
            ),
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.name())
    }
}

/// Reads and writes.
const DATA: &[Kind] = &[Kind::Read, Kind::Write];

const SECTORS: Grain = Grain { offset: 512, length: 512 };
const BYTES: Grain = Grain { offset: 1, length: 1 };

/// Appends a number in decimal.
fn number(out: &mut Vec<u8>, number: u64) {
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
fn numbers(out: &mut Vec<u8>, between: u8, list: &[u64]) {
    for (index, value) in list.iter().enumerate() {
        if index > 0 {
            out.push(between);
        }
        number(out, *value);
    }
}

/// Appends nanoseconds in a unit of 10^`digits` of them: as many decimals as it takes.
fn decimal(out: &mut Vec<u8>, ns: u64, digits: u32, least: u32) {
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
