//! The CSV that flashscape's block device captures: header
//! `time_us,op,offset,length`; whole microseconds since the start, one letter,
//! bytes, bytes. `R` read, `W` write, `F` flush, `T` trim, `Z` write zeroes.
//!
//! Several threads log into one file, so stamps run back by up to milliseconds.

use crate::columns::{Columns, Fault, What};
use crate::command::{Command, Kind};
use crate::parse::each_line_is_a_row;
use crate::row::{Description, Header, Row, ranged};
use crate::units::{Scale, Units};

pub(crate) const DESCRIPTION: Description = Description {
    name: "captured",
    title: "captured CSV",
    header: Header::Required("time_us,op,offset,length"),
    sorts_by_default: true,
    stamp_unit_ns: NS_PER_US,
    columns: &["time in us", "operation, one of R W F T Z", "offset in bytes", "length in bytes"],
    settings: &["block_size", "length_unit"],
    units: Units::BYTES,
    ..Description::PLAIN
};

each_line_is_a_row!(parse);

const NS_PER_US: u64 = 1_000;

#[inline]
fn parse(line: &[u8], scale: &Scale) -> Result<Row, Fault> {
    let mut columns = Columns::new(line, DESCRIPTION.separator);
    let stamp_ns = columns.whole_times(NS_PER_US)?;
    let kind = match columns.text()? {
        b"R" => Kind::Read,
        b"W" => Kind::Write,
        b"F" => Kind::Flush,
        b"T" => Kind::Trim,
        b"Z" => Kind::WriteZeroes,
        _ => return Err(columns.fault(What::UnknownOperation)),
    };
    let offset = columns.whole_times(scale.address_bytes)?;
    let bytes = columns.whole_times(scale.length_bytes)?;
    columns.end()?;
    // A flush concerns the whole drive, whatever range was logged with it.
    let command =
        if kind == Kind::Flush { Command::FLUSH } else { ranged(kind, offset, bytes, 3)? };
    Ok(Row { stamp_ns, device: 0, command })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::Options;

    fn parse(line: &[u8]) -> Result<Row, Fault> {
        super::parse(line, &DESCRIPTION.units.scale(&Options::default()))
    }

    #[test]
    fn letters_name_the_operations() {
        let command = |line: &str| parse(line.as_bytes()).unwrap().command;
        for (letter, kind) in
            [('R', Kind::Read), ('W', Kind::Write), ('T', Kind::Trim), ('Z', Kind::WriteZeroes)]
        {
            let expected = Command { kind, offset: 4_096, bytes: 512 };
            assert_eq!(command(&format!("186,{letter},4096,512")), expected);
        }
        assert_eq!(command("186,F,0,0"), Command::FLUSH);
        assert_eq!(parse(b"186,F,0,0\r").unwrap().stamp_ns, 186_000);
    }

    #[test]
    fn faults_name_their_column() {
        let fault = |line: &[u8]| parse(line).map_err(|fault| (fault.column, fault.what));
        assert_eq!(fault(b"1,r,0,512"), Err((1, What::UnknownOperation)));
        assert_eq!(fault(b"1,RW,0,512"), Err((1, What::UnknownOperation)));
        assert_eq!(fault(b"1,R,0"), Err((3, What::Missing)));
        assert_eq!(fault(b"1,R,0,"), Err((3, What::Missing)));
        assert_eq!(fault(b"1,R,0,0"), Err((3, What::Empty)));
        assert_eq!(fault(b"1,T,0,0"), Err((3, What::Empty)));
        assert_eq!(fault(b"1,R,0,5,6"), Err((4, What::Surplus)));
        assert_eq!(fault(b"1,R,0,5,"), Err((4, What::Surplus)));
        assert_eq!(fault(b"18446744073709552,R,0,5"), Err((0, What::TooLarge)));
    }
}
