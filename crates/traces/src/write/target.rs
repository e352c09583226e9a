//! Formats that can be written: their list, and the requests that each cannot express.

use super::writer::{Grain, Writer};
use super::{captured, disksim, fio_v3, mqsim, msr, spc};
use crate::command::Kind;
use crate::row::Row;
use std::fmt;

/// Reason for which a row cannot be written.
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

            pub(super) const fn writer(self) -> &'static Writer {
                match self {
                    $(Self::$target => &$module::WRITER,)+
                }
            }

            /// Appends a line for a row that the format can express.
            pub(super) fn write(self, row: &Row, out: &mut Vec<u8>) {
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
    /// Name on the command line.
    pub const fn name(self) -> &'static str {
        self.writer().format.name()
    }

    /// Name in messages.
    pub const fn title(self) -> &'static str {
        self.writer().format.title()
    }

    /// The format with this name.
    pub fn of(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|target| target.name() == name)
    }

    /// Property of a row that the format cannot express, regardless of other rows.
    pub(super) fn lacks(self, row: &Row) -> Option<Lack> {
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

    /// The row with stamp and range rounded for the format: the stamp earlier, the range larger.
    pub(super) fn rounded(self, mut row: Row) -> Row {
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

    /// Explanation of a lack, and its remedy.
    pub(super) fn explained(self, lack: Lack) -> String {
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
