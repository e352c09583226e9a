//! One request of a trace, and the description of a format.

use super::columns::{Fault, Separator, What};
use crate::command::{Command, Kind};
use crate::units::Units;

/// One row, in the units that the simulator uses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Row {
    /// The stamp in nanoseconds, from the trace's own origin.
    pub stamp_ns: u64,
    /// The device's number; 0 if the format has none.
    pub device: u32,
    /// The request, its offset counted from the start of the device.
    pub command: Command,
}

/// Description of a format.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Description {
    /// Name in configurations.
    pub name: &'static str,
    /// Name in messages.
    pub title: &'static str,
    /// The first line, if the format has one.
    pub header: Header,
    /// True if rows may be in another order than their stamps without any damage: several writers
    /// log into one file, or a request is logged when it ends, with the moment at which it began.
    pub sorts_by_default: bool,
    /// The unit of the stamps, as far as the format fixes it.
    pub stamp_unit_ns: u64,
    /// Separator between two columns.
    pub separator: Separator,
    /// Meaning of each column, with its unit.
    pub columns: &'static [&'static str],
    /// Reasons for which a line may be passed over;
    /// [`Outcome::Pass`](super::parse::Outcome::Pass) has an index into this.
    pub passes: &'static [&'static str],
    /// The keys of the configuration that have a meaning for this format alone.
    pub settings: &'static [&'static str],
    /// Units in which its columns count, unless options say otherwise.
    pub units: Units,
}

impl Description {
    /// Default values of a description.
    pub const PLAIN: Self = Self {
        name: "",
        title: "",
        header: Header::None,
        sorts_by_default: false,
        stamp_unit_ns: 1,
        separator: Separator::Comma,
        columns: &[],
        passes: &[],
        settings: &[],
        units: Units::TOLD,
    };
}

/// The first line of a format.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Header {
    /// The first line is a row.
    None,
    /// A file must begin with it.
    Required(&'static str),
    /// Some files begin with it.
    Optional(&'static str),
}

impl Header {
    /// True if `line` is this text, ignoring case and blanks.
    pub fn is(text: &str, line: &[u8]) -> bool {
        let mut rest = text.bytes().filter(|byte| !byte.is_ascii_whitespace());
        let line = line.iter().filter(|byte| !byte.is_ascii_whitespace());
        line.into_iter().all(|byte| rest.next().is_some_and(|b| b.eq_ignore_ascii_case(byte)))
            && rest.next().is_none()
    }
}

/// The keys of a format whose stamps, addresses and lengths may have other units.
pub(crate) const ALL_UNITS: &[&str] = &["time_unit", "block_size", "length_unit"];

/// A command with a range; a fault is charged to `column`, which holds the length.
#[inline]
pub(crate) fn ranged(kind: Kind, offset: u64, bytes: u64, column: usize) -> Result<Command, Fault> {
    if bytes == 0 {
        return Err(Fault::new(column, What::Empty));
    }
    if offset.checked_add(bytes).is_none() {
        return Err(Fault::new(column, What::PastTheEnd));
    }
    Ok(Command { kind, offset, bytes })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_is_known_whatever_its_case_and_blanks() {
        for line in ["a,Bc", " A , bC\r", "a,bc"] {
            assert!(Header::is("a,Bc", line.as_bytes()), "{line}");
        }
        for line in ["", "a", "a,Bcd", "a;Bc"] {
            assert!(!Header::is("a,Bc", line.as_bytes()), "{line}");
        }
    }
}
