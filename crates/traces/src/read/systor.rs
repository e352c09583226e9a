//! SYSTOR '17: stamp, response time, type, LUN, offset, bytes; commas between, with a
//! header (SNIA IOTTA 4928, its readme).
//!
//! The stamp is the moment of issue in seconds since 1970, with nine digits after the
//! point that are exact to the microsecond. A type left blank is a request to which no
//! response was seen: what it asked for is unknown, so it is passed over. Rows come
//! from captured packets, and stamps may run back.

use crate::columns::{Columns, Fault, What};
use crate::command::Kind;
use crate::options::{Options, TimeUnit};
use crate::parse::{Outcome, Parse};
use crate::row::{ALL_UNITS, Description, Header, Row, ranged};
use crate::units::{Scale, Units};

pub(crate) const DESCRIPTION: Description = Description {
    name: "systor",
    title: "SYSTOR '17 CSV",
    header: Header::Optional("Timestamp,Response,IOType,LUN,Offset,Size"),
    sorts_by_default: true,
    columns: &[
        "stamp in s since 1970",
        "response time in s",
        "type, R or W or blank",
        "LUN (a device)",
        "offset in bytes",
        "length in bytes",
    ],
    passes: &["requests for nothing (length 0)", "rows without a type: no response was seen"],
    settings: ALL_UNITS,
    units: Units {
        time: Some(TimeUnit::S),
        is_decimal: true,
        is_unix_time: true,
        space: Some([1, 1]),
    },
    ..Description::PLAIN
};

/// Indices of the reasons above.
const NOTHING: u8 = 0;
const NO_TYPE: u8 = 1;

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
        let stamp_ns = columns.decimal(self.scale.stamp_ns)?;
        columns.text()?;
        let kind = match columns.text()? {
            b"R" => Kind::Read,
            b"W" => Kind::Write,
            b"" if !columns.is_at_end() => return Ok(Outcome::Pass(NO_TYPE)),
            b"" => return Err(columns.fault(What::Missing)),
            _ => return Err(columns.fault(What::UnknownOperation)),
        };
        let device = columns.whole_u32()?;
        let offset = columns.whole_times(self.scale.address_bytes)?;
        let bytes = columns.whole_times(self.scale.length_bytes)?;
        columns.end()?;
        if bytes == 0 {
            return Ok(Outcome::Pass(NOTHING));
        }
        Ok(Outcome::Row(Row { stamp_ns, device, command: ranged(kind, offset, bytes, 5)? }))
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
    fn stamps_are_seconds_with_nine_digits() {
        let command = Command { kind: Kind::Read, offset: 899_056_122_368, bytes: 131_072 };
        let row = Row { stamp_ns: 1_456_095_145_133_076_001, device: 6, command };
        let line = "1456095145.133076001,0.000806000,R,6,899056122368,131072";
        assert_eq!(parse(line), Ok(Outcome::Row(row)));
    }

    #[test]
    fn a_blank_type_is_passed_over() {
        assert_eq!(parse("1456095145.133076000,,,0,4096,512"), Ok(Outcome::Pass(NO_TYPE)));
        assert_eq!(parse("1456095145.133076000,0.1, ,0,4096,512"), Ok(Outcome::Pass(NO_TYPE)));
        assert_eq!(parse("1456095145.133076000,0.1,"), Err((2, What::Missing)));
        assert_eq!(parse("1456095145.133076000,0.1"), Err((2, What::Missing)));
    }

    #[test]
    fn faults_name_their_column() {
        assert_eq!(parse("1.0,0.1,Q,0,0,512"), Err((2, What::UnknownOperation)));
        assert_eq!(parse("x,0.1,R,0,0,512"), Err((0, What::NoDecimalNumber)));
        assert_eq!(parse("1.0,0.1,R,0,0"), Err((5, What::Missing)));
        assert_eq!(parse("1.0,0.1,R,0,0,512,1"), Err((6, What::Surplus)));
        assert_eq!(parse("1.0,0.1,R,0,0,0"), Ok(Outcome::Pass(NOTHING)));
    }
}
