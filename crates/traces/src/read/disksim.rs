//! DiskSim ASCII: arrival (ms, decimal), device, first block, blocks, flags
//! (hexadecimal); blanks between (DiskSim, `iotrace_ascii_get_ioreq_event`,
//! `"%lf %d %d %d %x"`).
//!
//! **Bit 0 of the flags set is a read.** The other bits (time-critical and the
//! like) are hints to a disk scheduler and have no meaning for an SSD.

use crate::columns::{Columns, Fault, Separator, What, hex};
use crate::command::Kind;
use crate::options::TimeUnit;
use crate::parse::each_line_is_a_row;
use crate::row::{ALL_UNITS, Description, Row, ranged};
use crate::units::{Scale, Units};

pub(crate) const DESCRIPTION: Description = Description {
    name: "disksim",
    title: "DiskSim ASCII",
    separator: Separator::Blanks,
    columns: &[
        "arrival in ms",
        "device number",
        "start in blocks of 512 B",
        "length in blocks of 512 B",
        "flags in hex, bit 0 set = read",
    ],
    settings: ALL_UNITS,
    units: Units { is_decimal: true, ..Units::of_sectors(TimeUnit::Ms) },
    ..Description::PLAIN
};

each_line_is_a_row!(parse);

#[inline]
fn parse(line: &[u8], scale: &Scale) -> Result<Row, Fault> {
    let mut columns = Columns::new(line, DESCRIPTION.separator);
    let stamp_ns = columns.decimal(scale.stamp_ns)?;
    let device = columns.whole_u32()?;
    let offset = columns.whole_times(scale.address_bytes)?;
    let bytes = columns.whole_times(scale.length_bytes)?;
    let flags = columns.text()?;
    let flags = hex(flags).map_err(|what| columns.fault(what))?;
    let flags = u32::try_from(flags).map_err(|_| columns.fault(What::TooLarge))?;
    columns.end()?;
    let kind = if flags & 1 == 1 { Kind::Read } else { Kind::Write };
    Ok(Row { stamp_ns, device, command: ranged(kind, offset, bytes, 3)? })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::columns::decimal_ns;
    use crate::command::Command;
    use crate::options::Options;

    const NS_PER_MS: u64 = 1_000_000;

    fn parse(line: &[u8]) -> Result<Row, Fault> {
        super::parse(line, &DESCRIPTION.units.scale(&Options::default()))
    }

    #[test]
    fn units_may_be_others() {
        let options =
            Options { time_unit: Some(TimeUnit::S), block_bytes: Some(1), ..Options::default() };
        let scale = DESCRIPTION.units.scale(&options);
        let row = super::parse(b"1.25 2 16384 8192 1", &scale).unwrap();
        let command = Command { kind: Kind::Read, offset: 16_384, bytes: 8_192 };
        assert_eq!((row.stamp_ns, row.command), (1_250_000_000, command));
    }

    #[test]
    fn bit_0_of_the_flags_is_a_read() {
        let kind = |flags: &str| {
            let row = format!("1.0 0 8 8 {flags}");
            parse(row.as_bytes()).unwrap().command.kind
        };
        for (flags, expected) in [
            ("0", Kind::Write),
            ("1", Kind::Read),
            ("2", Kind::Write),
            ("3", Kind::Read),
            ("a", Kind::Write),
            ("b", Kind::Read),
            ("0x1F", Kind::Read),
            ("10", Kind::Write),
        ] {
            assert_eq!(kind(flags), expected, "flags {flags}");
        }
    }

    #[test]
    fn a_row_is_read_in_blocks_and_milliseconds() {
        let row = parse(b"7961.833 2 20228336 8 0").unwrap();
        assert_eq!((row.stamp_ns, row.device), (7_961_833_000, 2));
        let (offset, bytes) = (20_228_336 * 512, 4_096);
        assert_eq!(row.command, Command { kind: Kind::Write, offset, bytes });
    }

    #[test]
    fn milliseconds_become_nanoseconds_exactly() {
        for (text, ns) in [
            ("0", 0),
            ("0.1", 100_000),
            ("5265.313", 5_265_313_000),
            ("1.000001", 1_000_001),
            ("1.0000019", 1_000_001),
            (".5", 500_000),
            ("7.", 7_000_000),
            ("9007199254.740993", 9_007_199_254_740_993),
        ] {
            assert_eq!(decimal_ns(text.as_bytes(), NS_PER_MS), Ok(ns), "{text}");
        }
        for text in ["", ".", "-1", "1e3", "1.2.3", "1,5", "0x1"] {
            assert_eq!(
                decimal_ns(text.as_bytes(), NS_PER_MS),
                Err(What::NoDecimalNumber),
                "{text}"
            );
        }
        assert_eq!(decimal_ns(b"18446744073710", NS_PER_MS), Err(What::TooLarge));
    }

    #[test]
    fn faults_name_their_column() {
        let fault = |line: &[u8]| parse(line).map_err(|fault| (fault.column, fault.what));
        assert_eq!(fault(b"1.0 0 8 16"), Err((4, What::Missing)));
        assert_eq!(fault(b"1.0 0 8 16 g"), Err((4, What::NoHexNumber)));
        assert_eq!(fault(b"1.0 0 8 0 1"), Err((3, What::Empty)));
        assert_eq!(fault(b"x 0 8 1 1"), Err((0, What::NoDecimalNumber)));
    }
}
