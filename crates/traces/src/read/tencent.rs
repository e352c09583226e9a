//! Tencent CBS of 2018: stamp, offset, length, type, volume; commas between, no header
//! (SNIA IOTTA 28064, its readme).
//!
//! **0 is a read and 1 a write.** Addresses and lengths count sectors of 512 B, stamps
//! whole seconds since 1970: up to thousands of requests share one, so a replay in
//! open mode needs `spread`.

use crate::columns::{Columns, Fault, What};
use crate::command::Kind;
use crate::options::{Options, TimeUnit};
use crate::parse::{Outcome, Parse};
use crate::row::{ALL_UNITS, Description, Header, Row, ranged};
use crate::units::{Scale, Units};

pub(crate) const DESCRIPTION: Description = Description {
    name: "tencent",
    title: "Tencent CBS trace (2018)",
    header: Header::Optional("Timestamp,Offset,Size,IOType,VolumeID"),
    stamp_unit_ns: NS_PER_S,
    columns: &[
        "stamp in s since 1970",
        "start in sectors of 512 B",
        "length in sectors of 512 B",
        "type, 0 = read, 1 = write",
        "volume number",
    ],
    passes: &["requests for nothing (length 0)"],
    settings: ALL_UNITS,
    units: Units { is_unix_time: true, ..Units::of_sectors(TimeUnit::S) },
    ..Description::PLAIN
};

const NS_PER_S: u64 = 1_000_000_000;

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
        let stamp_ns = columns.whole_times(self.scale.stamp_ns)?;
        let offset = columns.whole_times(self.scale.address_bytes)?;
        let bytes = columns.whole_times(self.scale.length_bytes)?;
        let kind = match columns.filled()? {
            b"0" => Kind::Read,
            b"1" => Kind::Write,
            _ => return Err(columns.fault(What::UnknownOperation)),
        };
        let device = columns.whole_u32()?;
        columns.end()?;
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
        Parser::new(&Options::default())
            .parse(line.as_bytes())
            .map_err(|fault| (fault.column, fault.what))
    }

    #[test]
    fn zero_is_a_read_and_one_a_write() {
        let row = |kind| {
            let command = Command { kind, offset: 12_910_952 * 512, bytes: 65_536 };
            let stamp_ns = 1_538_323_200_000_000_000;
            Ok(Outcome::Row(Row { stamp_ns, device: 1_063, command }))
        };
        assert_eq!(parse("1538323200,12910952,128,0,1063"), row(Kind::Read));
        assert_eq!(parse("1538323200,12910952,128,1,1063"), row(Kind::Write));
    }

    #[test]
    fn faults_name_their_column() {
        assert_eq!(parse("1538323200.5,8,8,0,1"), Err((0, What::NoWholeNumber)));
        assert_eq!(parse("1,8,8,2,1"), Err((3, What::UnknownOperation)));
        assert_eq!(parse("1,8,8,0"), Err((4, What::Missing)));
        assert_eq!(parse("1,8,8,0,1,1"), Err((5, What::Surplus)));
        assert_eq!(parse("18446744074,8,8,0,1"), Err((0, What::TooLarge)));
        assert_eq!(parse("1,8,0,0,1"), Ok(Outcome::Pass(0)));
    }
}
