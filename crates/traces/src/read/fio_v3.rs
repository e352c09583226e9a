//! fio's I/O log, version 3: a first line that says so, then `stamp file action` or
//! `stamp file action offset length`; blanks between (fio, `log_io_u` and `read_iolog`
//! in `iolog.c`).
//!
//! Offsets and lengths are bytes. The documentation gives stamps no unit; the program
//! writes microseconds since the start of the job. Versions that read them as
//! milliseconds have existed, and files made by hand for those: `time_unit = "ms"`.

use super::fio::{self, Action};
use crate::columns::{Columns, Fault, Separator};
use crate::names::Names;
use crate::options::{Options, TimeUnit};
use crate::parse::{Outcome, Parse};
use crate::row::{Description, Header};

pub(crate) const DESCRIPTION: Description = Description {
    name: "fio-v3",
    title: "fio I/O log, version 3",
    header: Header::Required("fio version 3 iolog"),
    stamp_unit_ns: TimeUnit::Us.ns(),
    separator: Separator::Blanks,
    columns: &[
        "stamp",
        "file",
        "action (read, write, trim, sync, datasync, add, open, close)",
        "offset in bytes",
        "length in bytes",
    ],
    passes: fio::PASSES,
    settings: &["time_unit"],
    ..Description::PLAIN
};

/// The format's parser.
pub(crate) struct Parser {
    files: Names,
    unit: TimeUnit,
}

impl Parse for Parser {
    fn new(options: &Options) -> Self {
        let unit = options.time_unit.unwrap_or(TimeUnit::Us);
        Self { files: Names::default(), unit }
    }

    #[inline]
    fn parse(&mut self, line: &[u8]) -> Result<Outcome, Fault> {
        let mut columns = Columns::new(line, DESCRIPTION.separator);
        let stamp_ns = columns.whole_times(self.unit.ns())?;
        let file = columns.text()?;
        match Action::of(&mut columns)? {
            Action::Ranged(kind) => {
                fio::request(&mut columns, (stamp_ns, file, kind), &mut self.files, 4)
            }
            Action::Flush => Ok(fio::flush(stamp_ns, file, &mut self.files)),
            Action::Wait => Ok(Outcome::Pass(fio::WAIT)),
            Action::Pass(reason) => Ok(Outcome::Pass(reason)),
        }
    }

    fn notes(&self) -> Vec<String> {
        vec![format!("stamps in {} (time_unit)", self.unit.sign())]
    }

    fn names(&self) -> &[String] {
        self.files.names()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::columns::What;
    use crate::command::{Command, Kind};
    use crate::row::Row;

    fn parse(parser: &mut Parser, line: &str) -> Result<Outcome, (usize, What)> {
        parser.parse(line.as_bytes()).map_err(|fault| (fault.column, fault.what))
    }

    #[test]
    fn stamps_are_microseconds_unless_told() {
        for (time_unit, stamp_ns) in [(None, 1_234_000), (Some(TimeUnit::Ms), 1_234_000_000)] {
            let mut parser = Parser::new(&Options { time_unit, ..Options::default() });
            let command = Command { kind: Kind::Write, offset: 65_536, bytes: 4_096 };
            let row = Row { stamp_ns, device: 0, command };
            let read = parse(&mut parser, "1234 /dev/nvme0n1 write 65536 4096");
            assert_eq!(read, Ok(Outcome::Row(row)));
            assert_eq!(parser.names(), ["/dev/nvme0n1"]);
        }
    }

    #[test]
    fn lines_without_a_request_are_passed_over_by_reason() {
        let mut parser = Parser::new(&Options::default());
        let mut read = |line| parse(&mut parser, line);
        for line in ["0 a add", "0 a open", "9 a close", "9 a stat 0 0"] {
            assert_eq!(read(line), Ok(Outcome::Pass(fio::FILES)), "{line}");
        }
        assert_eq!(read("5 a wait 10"), Ok(Outcome::Pass(fio::WAIT)));
        assert_eq!(read("5 a trim 0 0"), Ok(Outcome::Pass(fio::NOTHING)));
        let flush = Row { stamp_ns: 7_000, device: 0, command: Command::FLUSH };
        assert_eq!(read("7 a sync 0 0"), Ok(Outcome::Row(flush)));
    }

    #[test]
    fn faults_name_their_column() {
        let fault = |line| parse(&mut Parser::new(&Options::default()), line);
        assert_eq!(fault("a read 0 512"), Err((0, What::NoWholeNumber)));
        assert_eq!(fault("1 a reed 0 512"), Err((2, What::UnknownOperation)));
        assert_eq!(fault("1 a read 0"), Err((4, What::Missing)));
        assert_eq!(fault("1 a read 0 512 9"), Err((5, What::Surplus)));
    }
}
