//! MQSim ASCII: arrival (ns), device, first sector, sectors, type; blanks between.
//!
//! **0 is a write and 1 a read** (MQSim, `ASCII_Trace_Definition.h`): the
//! opposite of what most formats with numbered operations do.

use crate::columns::{Columns, Fault, Separator, What};
use crate::command::Kind;
use crate::options::TimeUnit;
use crate::parse::each_line_is_a_row;
use crate::row::{ALL_UNITS, Description, Row, ranged};
use crate::units::{Scale, Units};

pub(crate) const DESCRIPTION: Description = Description {
    name: "mqsim",
    title: "MQSim ASCII",
    separator: Separator::Blanks,
    columns: &[
        "arrival in ns",
        "device number",
        "start in sectors of 512 B",
        "length in sectors of 512 B",
        "type, 0 = write, 1 = read",
    ],
    settings: ALL_UNITS,
    units: Units::of_sectors(TimeUnit::Ns),
    ..Description::PLAIN
};

each_line_is_a_row!(parse);

#[inline]
fn parse(line: &[u8], scale: &Scale) -> Result<Row, Fault> {
    let mut columns = Columns::new(line, DESCRIPTION.separator);
    let stamp_ns = columns.whole_times(scale.stamp_ns)?;
    let device = columns.whole_u32()?;
    let offset = columns.whole_times(scale.address_bytes)?;
    let bytes = columns.whole_times(scale.length_bytes)?;
    let kind = match columns.text()? {
        b"0" => Kind::Write,
        b"1" => Kind::Read,
        _ => return Err(columns.fault(What::UnknownOperation)),
    };
    columns.end()?;
    Ok(Row { stamp_ns, device, command: ranged(kind, offset, bytes, 3)? })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::Command;
    use crate::options::Options;

    fn parse(line: &[u8]) -> Result<Row, Fault> {
        super::parse(line, &DESCRIPTION.units.scale(&Options::default()))
    }

    #[test]
    fn units_may_be_others() {
        let options = Options {
            time_unit: Some(TimeUnit::Ms),
            block_bytes: Some(4_096),
            length_bytes: Some(1),
            ..Options::default()
        };
        let row = super::parse(b"7 4 3 8192 1", &DESCRIPTION.units.scale(&options)).unwrap();
        let command = Command { kind: Kind::Read, offset: 3 * 4_096, bytes: 8_192 };
        assert_eq!((row.stamp_ns, row.command), (7_000_000, command));
    }

    #[test]
    fn zero_is_a_write_and_one_a_read() {
        let write = parse(b"938513000 4 264719034 16 0").unwrap();
        assert_eq!((write.stamp_ns, write.device), (938_513_000, 4));
        let (offset, bytes) = (264_719_034 * 512, 8_192);
        assert_eq!(write.command, Command { kind: Kind::Write, offset, bytes });
        assert_eq!(parse(b"0 0 0 1 1").unwrap().command.kind, Kind::Read);
    }

    #[test]
    fn faults_name_their_column() {
        let fault = |line: &[u8]| parse(line).map_err(|fault| (fault.column, fault.what));
        assert_eq!(fault(b"1 0 8 16"), Err((4, What::Missing)));
        assert_eq!(fault(b"1 0 8 16 2"), Err((4, What::UnknownOperation)));
        assert_eq!(fault(b"1 0 8 16 1 9"), Err((5, What::Surplus)));
        assert_eq!(fault(b"1.5 0 8 16 1"), Err((0, What::NoWholeNumber)));
        assert_eq!(fault(b"1 0 8 0 1"), Err((3, What::Empty)));
        assert_eq!(fault(b"1 4294967296 8 1 1"), Err((1, What::TooLarge)));
        assert_eq!(fault(b"1 0 36028797018963968 1 1"), Err((2, What::TooLarge)));
        assert_eq!(fault(b"1 0 36028797018963967 2 1"), Err((3, What::PastTheEnd)));
    }
}
