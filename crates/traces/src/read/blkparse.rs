//! The text of blkparse in its default format, `%D %2c %8s %5T.%9t %5p %2a %3d` and
//! what the action adds: device, CPU, sequence number, seconds, process, action, RWBS,
//! then mostly `sector + sectors [process]`; blanks between (blkparse(1); blktrace,
//! `blkparse_fmt.c`).
//!
//! A request leaves an event at each of its stations, and one of them is taken as the
//! request: queue (Q) by default, which is what programs and file systems asked for;
//! dispatch (D) is what the drive was sent after merging and scheduling; complete (C)
//! is when it was done. The others are passed over.
//!
//! **RWBS** is one letter for the direction, with F (flush first) before it and marks
//! after it: `R` read, `W` write, `D` discard, `N` none of these. A flush is an F
//! without data. `FW` with data is a flush and then the write. An F after the direction
//! (FUA) and B (barrier, older kernels) ask for durability that a simulated drive does not
//! offer by request: they are counted. S (sync), A (ahead), M (metadata) are hints to
//! schedulers, and E marks a secure discard.

use crate::columns::{Columns, Fault, Separator, What, decimal_ns, digits, trim};
use crate::command::{Command, Kind};
use crate::names::Names;
use crate::options::{Event, Options};
use crate::parse::{Outcome, Parse};
use crate::row::{Description, Row, ranged};
use crate::units::SECTOR_BYTES;
use settings::counted;

pub(crate) const DESCRIPTION: Description = Description {
    name: "blkparse",
    title: "blkparse text",
    sorts_by_default: true,
    separator: Separator::Blanks,
    columns: &[
        "device, major,minor",
        "CPU",
        "sequence number",
        "stamp in s",
        "process",
        "action",
        "RWBS",
        "start in sectors of 512 B",
        "+",
        "length in sectors of 512 B",
        "process or error",
    ],
    passes: PASSES,
    settings: &["event"],
    ..Description::PLAIN
};

/// First the actions in the order of [`ACTIONS`].
const PASSES: &[&str] = &[
    "queue events (Q)",
    "dispatch events (D)",
    "completion events (C)",
    "requests moved to another device (A): where both were traced, they come twice, and devices \
     = [...] chooses",
    "bounce events (B)",
    "front merges (F)",
    "allocations of a request (G)",
    "insertions into the queue (I)",
    "back merges (M)",
    "plug events (P)",
    "sleeps for lack of a request structure (S)",
    "unplugs by timer (T)",
    "unplug events (U)",
    "splits (X)",
    "requeues (R)",
    "messages (m)",
    "commands that neither read, write, discard nor flush (N)",
    "requests without data that are no flush",
    "lines of the summary",
];

/// Actions by their first letter.
const ACTIONS: &[u8; 16] = b"QDCABFGIMPSTUXRm";

/// Indices of the reasons after the actions.
const NEITHER: u8 = 16;
const NO_DATA: u8 = 17;
const SUMMARY: u8 = 18;

const NS_PER_S: u64 = 1_000_000_000;

/// The format's parser.
pub(crate) struct Parser {
    event: Event,
    devices: Names,
    in_summary: bool,
    forced: u64,
    barriers: u64,
    flushes_first: u64,
}

/// Content of the RWBS column.
#[derive(Default)]
struct Rwbs {
    /// Nothing for N.
    kind: Option<Kind>,
    flush_first: bool,
    forced: bool,
    barrier: bool,
}

impl Parse for Parser {
    fn new(options: &Options) -> Self {
        Self {
            event: options.event.unwrap_or(Event::Queue),
            devices: Names::default(),
            in_summary: false,
            forced: 0,
            barriers: 0,
            flushes_first: 0,
        }
    }

    #[inline]
    fn parse(&mut self, line: &[u8]) -> Result<Outcome, Fault> {
        let mut columns = Columns::new(line, DESCRIPTION.separator);
        let device = columns.text()?;
        if !is_device(device) {
            return self.summary(line);
        }
        columns.whole()?;
        columns.whole()?;
        let stamp = columns.text()?;
        columns.whole()?;
        let action = columns.text()?;
        let place = ACTIONS.iter().position(|known| *known == action[0]);
        let place = place.ok_or_else(|| columns.fault(What::UnknownOperation))?;
        if place != self.event.place() {
            return Ok(Outcome::Pass(place as u8));
        }
        let stamp_ns = decimal_ns(stamp, NS_PER_S).map_err(|what| Fault::new(3, what))?;
        let rwbs = Rwbs::read(columns.text()?).ok_or_else(|| columns.fault(What::UnknownFlags))?;
        let range = range(&mut columns)?;
        let device = self.devices.number(device, |d| String::from_utf8_lossy(d).into_owned());
        let row = |command| Row { stamp_ns, device, command };
        let Some((offset, bytes)) = range else {
            return Ok(match rwbs {
                Rwbs { flush_first: true, .. } => Outcome::Row(row(Command::FLUSH)),
                Rwbs { kind: None, .. } => Outcome::Pass(NEITHER),
                _ => Outcome::Pass(NO_DATA),
            });
        };
        let Some(kind) = rwbs.kind else { return Ok(Outcome::Pass(NEITHER)) };
        let row = row(ranged(kind, offset, bytes, 9)?);
        self.forced += u64::from(rwbs.forced);
        self.barriers += u64::from(rwbs.barrier);
        self.flushes_first += u64::from(rwbs.flush_first);
        Ok(if rwbs.flush_first { Outcome::FlushFirst(row) } else { Outcome::Row(row) })
    }

    fn notes(&self) -> Vec<String> {
        let event = match self.event {
            Event::Queue => "queue events (Q)",
            Event::Dispatch => "dispatch events (D)",
            Event::Complete => "completion events (C)",
        };
        let mut notes = vec![format!("requests are the {event}; select others with event = ...")];
        let (forced, barriers, first) = (self.forced, self.barriers, self.flushes_first);
        if first > 0 {
            notes.push(format!("{} with a flush before: two rows each", counted(first, "request")));
        }
        if forced > 0 {
            notes.push(format!(
                "{} for unit access (FUA): replayed without FUA",
                counted(forced, "request")
            ));
        }
        if barriers > 0 {
            notes.push(format!(
                "{} as a barrier (B): replayed as ordinary requests",
                counted(barriers, "request")
            ));
        }
        notes
    }

    fn names(&self) -> &[String] {
        self.devices.names()
    }
}

impl Parser {
    /// A line that does not begin with a device: it belongs to the summary after the events, or
    /// to the text that `blkparse -v` writes before them.
    #[cold]
    fn summary(&mut self, line: &[u8]) -> Result<Outcome, Fault> {
        let text = trim(line);
        let begins = |with: &&[u8]| text.starts_with(with);
        let heads: [&[u8]; 3] = [b"CPU", b"Total (", b"Throughput ("];
        let parts: [&[u8]; 11] = [
            b"Reads ",
            b"Read ",
            b"Writes ",
            b"Write ",
            b"PC ",
            b"IO unplugs",
            b"Timer unplugs",
            b"Events (",
            b"Skips: ",
            b"Input file ",
            b"Trace started",
        ];
        self.in_summary |= heads.iter().any(begins);
        // With -s, a line before each part names a process.
        let is_process = self.in_summary && text.ends_with(b")");
        if self.in_summary && heads.iter().any(begins) || parts.iter().any(begins) || is_process {
            return Ok(Outcome::Pass(SUMMARY));
        }
        Err(Fault::new(0, What::UnknownLine))
    }
}

impl Event {
    /// The place of its letter in [`ACTIONS`].
    const fn place(self) -> usize {
        match self {
            Self::Queue => 0,
            Self::Dispatch => 1,
            Self::Complete => 2,
        }
    }
}

impl Rwbs {
    /// Nothing if a letter is unknown or there is more than one direction.
    #[inline]
    fn read(letters: &[u8]) -> Option<Self> {
        let mut rwbs = Self::default();
        let mut has_direction = false;
        for letter in letters {
            match letter {
                b'R' | b'W' | b'D' | b'N' if has_direction => return None,
                b'R' => rwbs.kind = Some(Kind::Read),
                b'W' => rwbs.kind = Some(Kind::Write),
                b'D' => rwbs.kind = Some(Kind::Trim),
                b'N' => {}
                b'F' if has_direction => rwbs.forced = true,
                b'F' => rwbs.flush_first = true,
                b'B' => rwbs.barrier = true,
                b'S' | b'A' | b'M' | b'E' => {}
                _ => return None,
            }
            has_direction |= matches!(letter, b'R' | b'W' | b'D' | b'N');
        }
        Some(rwbs)
    }
}

/// True for `8,16`.
#[inline]
fn is_device(text: &[u8]) -> bool {
    let comma = text.iter().position(|byte| *byte == b',');
    let is_number = |text: &[u8]| digits(text).is_ok();
    comma.is_some_and(|comma| is_number(&text[..comma]) && is_number(&text[comma + 1..]))
}

/// Offset and bytes of `sector + sectors`; nothing if there is no such range, as with
/// flushes, commands passed through and completions of either.
#[inline]
fn range(columns: &mut Columns<'_>) -> Result<Option<(u64, u64)>, Fault> {
    if columns.is_at_end() || columns.begins_with(b'[') || columns.begins_with(b'(') {
        return Ok(None);
    }
    let offset = columns.whole_times(SECTOR_BYTES)?;
    if !columns.is_at_end() && !columns.begins_with(b'+') {
        return Ok(None);
    }
    columns.text()?;
    let bytes = columns.whole_times(SECTOR_BYTES)?;
    // The process or the error code follows; without it the number may be cut.
    columns.text()?;
    Ok((bytes > 0).then_some((offset, bytes)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Outcome, (usize, What)> {
        let mut parser = Parser::new(&Options::default());
        parser.parse(line.as_bytes()).map_err(|fault| (fault.column, fault.what))
    }

    /// A queue event of device 8,16 with this RWBS and what follows it.
    fn event(rwbs: &str, rest: &str) -> Result<Outcome, (usize, What)> {
        parse(&format!("  8,16   3       11     0.009507758   697  Q {rwbs:>3} {rest}"))
    }

    fn row(kind: Kind, offset: u64, bytes: u64) -> Row {
        Row { stamp_ns: 9_507_758, device: 0, command: Command { kind, offset, bytes } }
    }

    #[test]
    fn the_direction_is_a_letter() {
        let range = "223490 + 8 [kjournald]";
        for (rwbs, kind) in [
            ("R", Kind::Read),
            ("RA", Kind::Read),
            ("RSM", Kind::Read),
            ("W", Kind::Write),
            ("WS", Kind::Write),
            ("WFSM", Kind::Write),
            ("WB", Kind::Write),
            ("D", Kind::Trim),
            ("DS", Kind::Trim),
            ("DE", Kind::Trim),
        ] {
            let expected = Outcome::Row(row(kind, 223_490 * 512, 4_096));
            assert_eq!(event(rwbs, range), Ok(expected), "{rwbs}");
        }
        assert_eq!(event("N", range), Ok(Outcome::Pass(NEITHER)));
        for rwbs in ["RW", "Q", "r", "W-"] {
            assert_eq!(event(rwbs, range), Err((6, What::UnknownFlags)), "{rwbs}");
        }
    }

    #[test]
    fn a_flush_is_an_f_before_the_direction() {
        let flush = Ok(Outcome::Row(row(Kind::Flush, 0, 0)));
        for rwbs in ["FN", "FWS", "F", "FF", "FWFS"] {
            assert_eq!(event(rwbs, "[xfsaild/sdb]"), flush, "{rwbs}");
        }
        let first = Ok(Outcome::FlushFirst(row(Kind::Write, 8 * 512, 8_192)));
        assert_eq!(event("FWFS", "8 + 16 [jbd2/sdb1-8]"), first);
        assert_eq!(event("FWSM", "8 + 16 [jbd2/sdb1-8]"), first);
    }

    #[test]
    fn what_asks_for_no_data_is_passed_over() {
        assert_eq!(event("WS", "[fsync]"), Ok(Outcome::Pass(NO_DATA)));
        assert_eq!(event("W", "8 + 0 [dd]"), Ok(Outcome::Pass(NO_DATA)));
        assert_eq!(event("N", "0 (00 ..) [kworker/4:2]"), Ok(Outcome::Pass(NEITHER)));
        assert_eq!(event("R", "36 (12 00 00 00 24 00 ..) [hald]"), Ok(Outcome::Pass(NO_DATA)));
    }

    #[test]
    fn other_events_are_passed_over_by_their_letter() {
        let line = |action| format!("8,0 0 1 0.5 7 {action} WS 8 + 8 [x]");
        for (place, letter) in ACTIONS.iter().enumerate().skip(1) {
            let read = parse(&line(char::from(*letter).to_string()));
            assert_eq!(read, Ok(Outcome::Pass(place as u8)));
            let named = PASSES[place].contains(&format!("({})", char::from(*letter)));
            assert!(named, "{}", PASSES[place]);
        }
        assert_eq!(parse(&line("UT".into())), Ok(Outcome::Pass(12)));
        assert_eq!(parse(&line("Y".into())), Err((5, What::UnknownOperation)));
        let message = "8,0 1 0 0.000009969 0 m N cfq workload slice:300";
        assert_eq!(parse(message), Ok(Outcome::Pass(15)));
        let remap = "8,0 3 10 0.009 697 A W 223490 + 8 <- (8,1) 223427";
        assert_eq!(parse(remap), Ok(Outcome::Pass(3)));
    }

    #[test]
    fn any_station_may_be_the_request() {
        let lines = [
            "8,0 1 1 0.000000001 9 Q R 0 + 8 [a]",
            "8,0 1 2 0.000000002 9 D R 0 + 16 (    1234) [a]",
            "8,0 1 3 0.000000003 0 C R 0 + 16 (    5678) [0]",
            "8,0 1 4 0.000000004 0 C FWS 0 [0]",
        ];
        for (event, stamps) in
            [(Event::Queue, &[1][..]), (Event::Dispatch, &[2]), (Event::Complete, &[3, 4])]
        {
            let options = Options { event: Some(event), ..Options::default() };
            let mut parser = Parser::new(&options);
            let read = lines.iter().map(|line| parser.parse(line.as_bytes()).unwrap());
            let rows = read.filter_map(|outcome| match outcome {
                Outcome::Row(row) => Some(row.stamp_ns),
                _ => None,
            });
            assert_eq!(rows.collect::<Vec<_>>(), stamps, "{event:?}");
        }
    }

    #[test]
    fn the_summary_is_passed_over_and_other_text_is_not() {
        let mut parser = Parser::new(&Options::default());
        let mut read = |line: &str| parser.parse(line.as_bytes()).map_err(|fault| fault.what);
        assert_eq!(read("fio (1234)"), Err(What::UnknownLine));
        for line in [
            "CPU0 (sda):",
            " Reads Queued:           0,        0KiB\t Writes Queued:       8,763,  352,192KiB",
            " PC Reads Queued:        0,        0KiB\t PC Writes Queued:        0,        0KiB",
            " IO unplugs:         3,092        \t Timer unplugs:           0",
            "Total (8,0):",
            "Throughput (R/W): 0KiB/s / 5,872KiB/s",
            "Events (sde): 39,850 entries",
            "Skips: 0 forward (0 -   0.0%)",
            "fio (1234)",
        ] {
            assert_eq!(read(line), Ok(Outcome::Pass(SUMMARY)), "{line}");
        }
        assert_eq!(read("hello world"), Err(What::UnknownLine));
    }

    #[test]
    fn faults_name_their_column() {
        assert_eq!(event("R", "8 + 8"), Err((10, What::Missing)));
        assert_eq!(event("R", "8 +"), Err((9, What::Missing)));
        assert_eq!(event("R", "8"), Err((8, What::Missing)));
        assert_eq!(event("R", "x + 8 [a]"), Err((7, What::NoWholeNumber)));
        assert_eq!(parse("8,0 0 1 now 7 Q R 8 + 8 [a]"), Err((3, What::NoDecimalNumber)));
        assert_eq!(parse("8,0 0 1 0.5 7"), Err((5, What::Missing)));
    }
}
