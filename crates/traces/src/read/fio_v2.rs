//! fio's I/O log, version 2: a first line that says so, then `file action` or
//! `file action offset length`; blanks between (fio, `read_iolog` in `iolog.c`, and
//! "Trace file format v2" in its HOWTO).
//!
//! Offsets and lengths are bytes. There are no stamps: time passes in lines
//! `file wait time`, and a log without them is one moment, fit for `mode = "closed"`
//! alone. The documentation has a wait last for so many microseconds (`waits = "gaps"`);
//! the program waits until so many milliseconds after its start (`waits = "moments"`,
//! `time_unit = "ms"`). The documentation is followed unless the configuration says
//! otherwise.

use super::fio::{self, Action};
use crate::columns::{Columns, Fault, Separator, What};
use crate::names::Names;
use crate::options::{Options, TimeUnit, Waits};
use crate::parse::{Outcome, Parse};
use crate::row::{Description, Header};

pub(crate) const DESCRIPTION: Description = Description {
    name: "fio-v2",
    title: "fio I/O log, version 2",
    header: Header::Required("fio version 2 iolog"),
    stamp_unit_ns: TimeUnit::Us.ns(),
    separator: Separator::Blanks,
    columns: &[
        "file",
        "action (read, write, trim, sync, datasync, wait, add, open, close)",
        "offset in bytes",
        "length in bytes",
    ],
    passes: fio::PASSES,
    settings: &["time_unit", "waits"],
    ..Description::PLAIN
};

/// The format's parser.
pub(crate) struct Parser {
    files: Names,
    unit: TimeUnit,
    waits: Waits,
    /// Present time of the log, in nanoseconds.
    now_ns: u64,
    /// Waits so far.
    waited: u64,
}

impl Parse for Parser {
    fn new(options: &Options) -> Self {
        Self {
            files: Names::default(),
            unit: options.time_unit.unwrap_or(TimeUnit::Us),
            waits: options.waits.unwrap_or(Waits::Gaps),
            now_ns: 0,
            waited: 0,
        }
    }

    #[inline]
    fn parse(&mut self, line: &[u8]) -> Result<Outcome, Fault> {
        let mut columns = Columns::new(line, DESCRIPTION.separator);
        let file = columns.text()?;
        match Action::of(&mut columns)? {
            Action::Ranged(kind) => {
                fio::request(&mut columns, (self.now_ns, file, kind), &mut self.files, 3)
            }
            Action::Flush => Ok(fio::flush(self.now_ns, file, &mut self.files)),
            Action::Wait => self.wait(&mut columns),
            Action::Pass(reason) => Ok(Outcome::Pass(reason)),
        }
    }

    fn notes(&self) -> Vec<String> {
        if self.waited == 0 {
            return vec!["the log has no wait lines and so no times".to_owned()];
        }
        let (unit, waited) = (self.unit.sign(), self.waited);
        let meaning = match self.waits {
            Waits::Gaps => "each is a duration",
            Waits::Moments => "each ends at that time after the beginning",
        };
        vec![format!("{waited} waits in {unit} (time_unit), {meaning} (waits)")]
    }

    fn names(&self) -> &[String] {
        self.files.names()
    }
}

impl Parser {
    /// Advances the time. A length after the time has no meaning.
    fn wait(&mut self, columns: &mut Columns<'_>) -> Result<Outcome, Fault> {
        let time = columns.whole_times(self.unit.ns()).map_err(|fault| fault.of("wait"))?;
        let now_ns = match self.waits {
            Waits::Gaps => self.now_ns.checked_add(time),
            Waits::Moments => Some(self.now_ns.max(time)),
        };
        self.now_ns = now_ns.ok_or_else(|| columns.fault(What::TooLarge).of("wait"))?;
        self.waited += 1;
        Ok(Outcome::Frame)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::{Command, Kind};
    use crate::row::Row;

    const LOG: [&str; 9] = [
        "/dev/a add",
        "/dev/a open",
        "/dev/a read 4096 512",
        "/dev/a wait 200 0",
        "b write 0 8192",
        "/dev/a wait 300",
        "/dev/a trim 0 4096",
        "b datasync 0 0",
        "/dev/a close",
    ];

    fn read(options: &Options) -> (Vec<Row>, Vec<String>) {
        let mut parser = Parser::new(options);
        let rows = LOG.iter().filter_map(|line| match parser.parse(line.as_bytes()) {
            Ok(Outcome::Row(row)) => Some(row),
            Ok(Outcome::Pass(fio::WAIT)) => panic!("{line}: version 2 waits"),
            Ok(_) => None,
            Err(fault) => panic!("{line}: {fault:?}"),
        });
        (rows.collect(), parser.names().to_vec())
    }

    #[test]
    fn files_are_devices_and_waits_add_up() {
        let (rows, names) = read(&Options::default());
        let row = |stamp_ns, device, kind, offset, bytes| Row {
            stamp_ns,
            device,
            command: Command { kind, offset, bytes },
        };
        let expected = [
            row(0, 0, Kind::Read, 4_096, 512),
            row(200_000, 1, Kind::Write, 0, 8_192),
            row(500_000, 0, Kind::Trim, 0, 4_096),
            row(500_000, 1, Kind::Flush, 0, 0),
        ];
        assert_eq!((&rows[..], &names[..]), (&expected[..], &["/dev/a".into(), "b".into()][..]));
    }

    #[test]
    fn waits_may_be_moments_and_milliseconds() {
        let stamps = |waits, time_unit| {
            let options = Options { waits, time_unit, ..Options::default() };
            read(&options).0.iter().map(|row| row.stamp_ns).collect::<Vec<_>>()
        };
        let (moments, ms) = (Some(Waits::Moments), Some(TimeUnit::Ms));
        assert_eq!(stamps(moments, None), [0, 200_000, 300_000, 300_000]);
        assert_eq!(stamps(None, ms), [0, 200_000_000, 500_000_000, 500_000_000]);
        assert_eq!(stamps(moments, ms), [0, 200_000_000, 300_000_000, 300_000_000]);
    }

    #[test]
    fn faults_name_their_column() {
        let fault = |line: &str| {
            let parsed = Parser::new(&Options::default()).parse(line.as_bytes());
            parsed.map_err(|fault| (fault.column, fault.what))
        };
        assert_eq!(fault("a"), Err((1, What::Missing)));
        assert_eq!(fault("a punch 0 512"), Err((1, What::UnknownOperation)));
        assert_eq!(fault("a read 0"), Err((3, What::Missing)));
        assert_eq!(fault("a read 0 512 7"), Err((4, What::Surplus)));
        assert_eq!(fault("a wait soon"), Err((2, What::NoWholeNumber)));
        assert_eq!(fault("a wait 18446744073709552"), Err((2, What::TooLarge)));
        assert_eq!(fault("a read 0 0"), Ok(Outcome::Pass(fio::NOTHING)));
        assert_eq!(fault("a sync_file_range 0 512"), Ok(Outcome::Pass(fio::FILE_RANGE)));
    }
}
