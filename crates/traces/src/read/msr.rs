//! MSR Cambridge CSV: stamp, host, disk, type, offset, bytes, response time; commas
//! between, no header in the files as published (SNIA IOTTA 387, its readme).
//!
//! Stamps are Windows filetimes: units of 100 ns since 1601. They say when a request
//! was issued, but rows were logged when it ended, so stamps may run back. A host and
//! a disk together are a device, `hm_1`, as the files are named. The response time
//! (100 ns, too) is that of the disks traced; nothing is made of it.

use crate::columns::{Columns, Fault, What, trim};
use crate::command::Kind;
use crate::names::Names;
use crate::options::{Options, TimeUnit};
use crate::parse::{Outcome, Parse};
use crate::row::{ALL_UNITS, Description, Header, Row, ranged};
use crate::units::{Scale, Units};

pub(crate) const DESCRIPTION: Description = Description {
    name: "msr",
    title: "MSR Cambridge CSV",
    header: Header::Optional("Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime"),
    sorts_by_default: true,
    stamp_unit_ns: FILETIME_NS,
    columns: &[
        "stamp in 100 ns (filetime)",
        "host",
        "disk number",
        "type, Read or Write",
        "offset in bytes",
        "length in bytes",
        "response time in 100 ns",
    ],
    passes: &["requests for nothing (length 0)"],
    settings: ALL_UNITS,
    units: Units::BYTES,
    ..Description::PLAIN
};

const FILETIME_NS: u64 = 100;

/// The format's parser.
pub(crate) struct Parser {
    devices: Names,
    stamp_ns: u64,
    scale: Scale,
}

impl Parse for Parser {
    fn new(options: &Options) -> Self {
        let stamp_ns = options.time_unit.map_or(FILETIME_NS, TimeUnit::ns);
        Self { devices: Names::default(), stamp_ns, scale: DESCRIPTION.units.scale(options) }
    }

    #[inline]
    fn parse(&mut self, line: &[u8]) -> Result<Outcome, Fault> {
        let mut columns = Columns::new(line, DESCRIPTION.separator);
        let stamp_ns = columns.whole_times(self.stamp_ns)?;
        let place = columns.two_texts()?;
        let kind = match columns.filled()? {
            b"Read" => Kind::Read,
            b"Write" => Kind::Write,
            text if text.eq_ignore_ascii_case(b"read") => Kind::Read,
            text if text.eq_ignore_ascii_case(b"write") => Kind::Write,
            _ => return Err(columns.fault(What::UnknownOperation)),
        };
        let offset = columns.whole_times(self.scale.address_bytes)?;
        let bytes = columns.whole_times(self.scale.length_bytes)?;
        columns.whole()?;
        columns.end()?;
        if bytes == 0 {
            return Ok(Outcome::Pass(0));
        }
        let command = ranged(kind, offset, bytes, 5)?;
        let device = self.devices.number(place, host_and_disk);
        Ok(Outcome::Row(Row { stamp_ns, device, command }))
    }

    fn names(&self) -> &[String] {
        self.devices.names()
    }
}

/// `hm_1` for `hm, 1`.
fn host_and_disk(place: &[u8]) -> String {
    let parts = place.split(|byte| *byte == b',').map(trim);
    parts.map(String::from_utf8_lossy).collect::<Vec<_>>().join("_")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::Command;

    fn read(lines: &[&str]) -> Vec<Row> {
        let mut parser = Parser::new(&Options::default());
        let rows = lines.iter().map(|line| match parser.parse(line.as_bytes()) {
            Ok(Outcome::Row(row)) => row,
            other => panic!("{line}: {other:?}"),
        });
        rows.collect()
    }

    #[test]
    fn a_stamp_counts_100_ns_and_the_rest_bytes() {
        let row = read(&["128166372003061629,hm,1,Write,2822144,8192,41286"])[0];
        assert_eq!(row.stamp_ns, 12_816_637_200_306_162_900);
        let command = Command { kind: Kind::Write, offset: 2_822_144, bytes: 8_192 };
        assert_eq!((row.device, row.command), (0, command));
    }

    #[test]
    fn a_host_and_a_disk_are_a_device() {
        let mut parser = Parser::new(&Options::default());
        let lines = ["usr,2", "usr,0", "proj,2", " usr , 2", "usr,0"];
        let devices =
            lines.map(|place| match parser.parse(format!("1,{place},read,0,512,7\r").as_bytes()) {
                Ok(Outcome::Row(row)) => row.device,
                other => panic!("{place}: {other:?}"),
            });
        assert_eq!(devices, [0, 1, 2, 0, 1]);
        assert_eq!(parser.names(), ["usr_2", "usr_0", "proj_2"]);
    }

    #[test]
    fn faults_name_their_column() {
        let fault = |line: &str| {
            let parsed = Parser::new(&Options::default()).parse(line.as_bytes());
            parsed.map_err(|fault| (fault.column, fault.what))
        };
        assert_eq!(fault("1.5,hm,1,Read,0,512,7"), Err((0, What::NoWholeNumber)));
        assert_eq!(fault("1,hm,1,Rd,0,512,7"), Err((3, What::UnknownOperation)));
        assert_eq!(fault("1,hm,1,Read,-1,512,7"), Err((4, What::NoWholeNumber)));
        assert_eq!(fault("1,hm,1,Read,0,512"), Err((6, What::Missing)));
        assert_eq!(fault("1,hm,1,Read,0,512,"), Err((6, What::Missing)));
        assert_eq!(fault("1,hm,1,Read,0,512,7,8"), Err((7, What::Surplus)));
        assert_eq!(fault("1,hm"), Err((2, What::Missing)));
        assert_eq!(fault("1,hm,1,Read,18446744073709551615,512,7"), Err((5, What::PastTheEnd)));
        assert_eq!(fault("1,hm,1,Read,0,0,7"), Ok(Outcome::Pass(0)));
    }
}
