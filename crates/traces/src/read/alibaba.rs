//! Alibaba block traces of 2020: device, operation, offset, bytes, stamp; commas
//! between, no header (github.com/alibaba/block-traces, its readme).
//!
//! The stamp stands last and counts microseconds since 1970.

use crate::columns::{Columns, Fault, What};
use crate::command::Kind;
use crate::options::{Options, TimeUnit};
use crate::parse::{Outcome, Parse};
use crate::row::{ALL_UNITS, Description, Header, Row, ranged};
use crate::units::{Scale, Units};

pub(crate) const DESCRIPTION: Description = Description {
    name: "alibaba",
    title: "Alibaba block trace (2020)",
    header: Header::Optional("device_id,opcode,offset,length,timestamp"),
    stamp_unit_ns: NS_PER_US,
    columns: &[
        "device number",
        "operation, R or W",
        "offset in bytes",
        "length in bytes",
        "stamp in us since 1970",
    ],
    passes: &["requests for nothing (length 0)"],
    settings: ALL_UNITS,
    units: Units {
        time: Some(TimeUnit::Us),
        is_decimal: false,
        is_unix_time: true,
        space: Some([1, 1]),
    },
    ..Description::PLAIN
};

const NS_PER_US: u64 = 1_000;

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
        let kind = match columns.filled()? {
            b"R" => Kind::Read,
            b"W" => Kind::Write,
            _ => return Err(columns.fault(What::UnknownOperation)),
        };
        let offset = columns.whole_times(self.scale.address_bytes)?;
        let bytes = columns.whole_times(self.scale.length_bytes)?;
        let stamp_ns = columns.whole_times(self.scale.stamp_ns)?;
        columns.end()?;
        if bytes == 0 {
            return Ok(Outcome::Pass(0));
        }
        Ok(Outcome::Row(Row { stamp_ns, device, command: ranged(kind, offset, bytes, 3)? }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::Command;

    fn parse(line: &str) -> Result<Outcome, (usize, What)> {
        Parser::new(&Options::default())
            .parse(line.as_bytes())
            .map_err(|fault| (fault.column, fault.what))
    }

    #[test]
    fn the_stamp_stands_last() {
        let command = Command { kind: Kind::Write, offset: 126_703_644_672, bytes: 4_096 };
        let stamp_ns = 1_577_808_000_000_626_000;
        let row = Row { stamp_ns, device: 419, command };
        assert_eq!(parse("419,W,126703644672,4096,1577808000000626"), Ok(Outcome::Row(row)));
    }

    #[test]
    fn faults_name_their_column() {
        assert_eq!(parse("0,r,0,512,1"), Err((1, What::UnknownOperation)));
        assert_eq!(parse("0,R,0,512"), Err((4, What::Missing)));
        assert_eq!(parse("0,R,0,512,1,2"), Err((5, What::Surplus)));
        assert_eq!(parse("4294967296,R,0,512,1"), Err((0, What::TooLarge)));
        assert_eq!(parse("0,R,0,0,1"), Ok(Outcome::Pass(0)));
    }
}
