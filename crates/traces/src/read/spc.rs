//! SPC, as UMass publishes traces: unit, address, bytes, operation, stamp; commas
//! between (SPC Trace File Format Specification, revision 1.0.1).
//!
//! The application storage unit (ASU) is an address space of its own: a device. The
//! address counts blocks, which are 512 B unless `block_size` says otherwise; the
//! length counts bytes. The operation is one letter in either case, the stamp seconds
//! since the start with a fraction. Blanks around columns mean nothing, and more
//! columns may follow, which nothing is made of.

use crate::columns::{Columns, Fault, What};
use crate::command::Kind;
use crate::options::{Options, TimeUnit};
use crate::parse::{Outcome, Parse};
use crate::row::{ALL_UNITS, Description, Row, ranged};
use crate::units::{SECTOR_BYTES, Scale, Units};

pub(crate) const DESCRIPTION: Description = Description {
    name: "spc",
    title: "SPC (UMass)",
    columns: &[
        "ASU (a device)",
        "address in blocks",
        "length in bytes",
        "operation, R or W",
        "stamp in s",
    ],
    passes: &["requests for nothing (length 0)"],
    settings: ALL_UNITS,
    units: Units {
        time: Some(TimeUnit::S),
        is_decimal: true,
        is_unix_time: false,
        space: Some([SECTOR_BYTES, 1]),
    },
    ..Description::PLAIN
};

/// The format's parser.
pub(crate) struct Parser {
    scale: Scale,
}

impl Parse for Parser {
    fn new(options: &Options) -> Self {
        Self { scale: DESCRIPTION.units.scale(options) }
    }

    #[inline]
    fn parse(&mut self, line: &[u8]) -> Result<Outcome, Fault> {
        let mut columns = Columns::new(line, DESCRIPTION.separator);
        let device = columns.whole_u32()?;
        let offset = columns.whole_times(self.scale.address_bytes)?;
        let bytes = columns.whole_times(self.scale.length_bytes)?;
        let kind = match columns.filled()? {
            b"R" | b"r" => Kind::Read,
            b"W" | b"w" => Kind::Write,
            _ => return Err(columns.fault(What::UnknownOperation)),
        };
        let stamp_ns = columns.decimal(self.scale.stamp_ns)?;
        if bytes == 0 {
            return Ok(Outcome::Pass(0));
        }
        Ok(Outcome::Row(Row { stamp_ns, device, command: ranged(kind, offset, bytes, 2)? }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::Command;

    fn parse(line: &str) -> Result<Outcome, (usize, What)> {
        let mut parser = Parser::new(&Options::default());
        parser.parse(line.as_bytes()).map_err(|fault| (fault.column, fault.what))
    }

    #[test]
    fn addresses_count_blocks_and_lengths_bytes() {
        let command = |kind| Command { kind, offset: 303_567 * 512, bytes: 3_584 };
        let row = |kind, stamp_ns| Row { stamp_ns, device: 3, command: command(kind) };
        let write = Ok(Outcome::Row(row(Kind::Write, 26_214_000)));
        assert_eq!(parse("3,303567,3584,w,0.026214"), write);
        assert_eq!(parse(" 3, 303567, 3584, W, 0.026214 \r"), write);
        let read = Ok(Outcome::Row(row(Kind::Read, 2_000_000_000)));
        assert_eq!(parse("3,303567,3584,r,2"), read);
        assert_eq!(parse("3,303567,3584,R,2.0,17,an extra column,"), read);
    }

    #[test]
    fn blocks_may_be_of_another_size() {
        let options = Options { block_bytes: Some(4_096), ..Options::default() };
        let Ok(Outcome::Row(row)) = Parser::new(&options).parse(b"0,10,512,R,0.0") else {
            panic!("it is a row");
        };
        assert_eq!((row.command.offset, row.command.bytes), (40_960, 512));
    }

    #[test]
    fn faults_name_their_column() {
        assert_eq!(parse("0,1,512,x,0.0"), Err((3, What::UnknownOperation)));
        assert_eq!(parse("0,1,512,R"), Err((4, What::Missing)));
        assert_eq!(parse("0,1,512,R,now"), Err((4, What::NoDecimalNumber)));
        assert_eq!(parse("-1,1,512,R,0.0"), Err((0, What::NoWholeNumber)));
        assert_eq!(parse("0,1,0,R,0.0"), Ok(Outcome::Pass(0)));
    }
}
