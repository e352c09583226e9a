//! Windows ETW as xperf writes it as text: Microsoft's production servers, TPC-C, TPC-E
//! and Exchange traces (SNIA IOTTA 149, 158 and others; the readme of 149).
//!
//! Between `BeginHeader` and `EndHeader` a line names the columns of each kind of row;
//! commas between. Rows of disks are `DiskRead`, `DiskWrite` and `DiskFlush`, written
//! when a request **ends**: the DiskIo events are logged at completion, with the time
//! that the request took (Microsoft, `DiskIo_TypeGroup1`). Its beginning is the row
//! `DiskReadInit` and so on with the same `IrpPtr`, where the trace has those, else
//! `TimeStamp - ElapsedTime`. Times are microseconds, `ByteOffset`, `IOSize` and
//! `IrpPtr` hexadecimal. All other rows are passed over.

use crate::columns::{Fault, What, digits, hex, trim, trim_start};
use crate::command::{Command, Kind};
use crate::names::Names;
use crate::options::Options;
use crate::parse::{Outcome, Parse};
use crate::row::{Description, Header, Row, ranged};
use hashbrown::HashTable;
use memchr::memchr_iter;

pub(crate) const DESCRIPTION: Description = Description {
    name: "etw",
    title: "Windows ETW text",
    header: Header::Required("BeginHeader"),
    sorts_by_default: true,
    stamp_unit_ns: NS_PER_US,
    columns: &[
        "kind of row",
        "as the header names them: TimeStamp and ElapsedTime in us, ByteOffset and IOSize in \
         hexadecimal bytes, DiskNum the device",
    ],
    passes: &[
        "rows of events other than disk requests",
        "Init rows, which say when a request began",
        "lines that the header does not declare",
        "requests for nothing (IOSize 0)",
    ],
    ..Description::PLAIN
};

/// Indices of the reasons above.
const OTHER: u8 = 0;
const INIT: u8 = 1;
const UNDECLARED: u8 = 2;
const NOTHING: u8 = 3;

const NS_PER_US: u64 = 1_000;

/// Most columns of a row that are read; columns after `DiskNum` are not.
const COLUMNS_MAX: usize = 16;

/// The format's parser.
pub(crate) struct Parser {
    in_header: bool,
    /// The columns of the rows of disks, by [`RowKind`].
    layouts: [Option<Layout>; 6],
    /// The kinds of all other rows.
    others: Names,
    begun: HashTable<Begun>,
    by_init: u64,
    by_elapsed: u64,
    /// Requests that began before the trace did.
    early: u64,
}

/// The kinds of row that are read. An Init row is three places after the row it begins.
#[derive(Clone, Copy, PartialEq, Eq)]
enum RowKind {
    Read,
    Write,
    Flush,
    ReadInit,
    WriteInit,
    FlushInit,
}

/// Positions of the columns of a kind of row.
#[derive(Clone, Copy, Default)]
struct Layout {
    stamp: usize,
    irp: usize,
    offset: usize,
    bytes: usize,
    elapsed: usize,
    disk: usize,
    /// Number of columns that must be there, and whether a comma must follow them.
    needed: usize,
    goes_on: bool,
}

/// A request that has begun.
#[derive(Clone, Copy)]
struct Begun {
    irp: u64,
    kind: Kind,
    stamp_us: u64,
}

impl Parse for Parser {
    fn new(_: &Options) -> Self {
        Self {
            // `BeginHeader` has been read.
            in_header: true,
            layouts: [None; 6],
            others: Names::default(),
            begun: HashTable::new(),
            by_init: 0,
            by_elapsed: 0,
            early: 0,
        }
    }

    #[inline]
    fn parse(&mut self, line: &[u8]) -> Result<Outcome, Fault> {
        let line = trim_start(line);
        let length = memchr::memchr(b',', line).unwrap_or(line.len());
        let name = trim(&line[..length]);
        if self.in_header {
            return self.declare(name, line);
        }
        let Some(kind) = RowKind::of(name) else { return self.other(name) };
        let Some(layout) = self.layouts[kind as usize] else {
            return Err(Fault::new(0, What::NotDeclared));
        };
        let columns = split(line, &layout)?;
        match kind.begins() {
            Some(begins) => self.begin(begins, &layout, &columns),
            None => self.end(kind, &layout, &columns),
        }
    }

    fn notes(&self) -> Vec<String> {
        let (by_init, by_elapsed) = (self.by_init, self.by_elapsed);
        let mut notes = vec![format!(
            "rows begin at their Init row ({by_init}) or at TimeStamp - ElapsedTime ({by_elapsed})"
        )];
        if self.early > 0 {
            notes.push(format!("{} began before the trace: taken at its 0", self.early));
        }
        if !self.begun.is_empty() {
            let open = self.begun.len();
            notes.push(format!("{open} began and did not end in the trace: not replayed"));
        }
        notes
    }
}

impl Parser {
    /// A line of the header.
    #[cold]
    fn declare(&mut self, name: &[u8], line: &[u8]) -> Result<Outcome, Fault> {
        if name.eq_ignore_ascii_case(b"EndHeader") {
            self.in_header = false;
            return Ok(Outcome::Frame);
        }
        if name.is_empty() {
            return Err(Fault::new(0, What::Missing));
        }
        match RowKind::of(name) {
            Some(kind) => self.layouts[kind as usize] = Some(Layout::read(kind, line)?),
            None => {
                self.others.number(name, |name| String::from_utf8_lossy(name).into_owned());
            }
        }
        Ok(Outcome::Frame)
    }

    /// A row of another event.
    #[inline]
    fn other(&mut self, name: &[u8]) -> Result<Outcome, Fault> {
        if name.is_empty() {
            return Err(Fault::new(0, What::Missing));
        }
        if name.eq_ignore_ascii_case(b"BeginHeader") {
            return Err(Fault::new(0, What::Joined));
        }
        Ok(Outcome::Pass(if self.others.has(name) { OTHER } else { UNDECLARED }))
    }

    #[inline]
    fn begin(
        &mut self,
        kind: Kind,
        layout: &Layout,
        columns: &[&[u8]; COLUMNS_MAX],
    ) -> Result<Outcome, Fault> {
        let stamp_us = number(columns, layout.stamp, "TimeStamp in us", digits)?;
        let irp = number(columns, layout.irp, "IrpPtr", hex)?;
        let new = Begun { irp, kind, stamp_us };
        match self.begun.find_mut(hash(irp), |begun| begun.irp == irp) {
            Some(begun) => *begun = new,
            None => {
                self.begun.insert_unique(hash(irp), new, |begun| hash(begun.irp));
            }
        }
        Ok(Outcome::Pass(INIT))
    }

    #[inline]
    fn end(
        &mut self,
        row: RowKind,
        layout: &Layout,
        columns: &[&[u8]; COLUMNS_MAX],
    ) -> Result<Outcome, Fault> {
        let ended_us = number(columns, layout.stamp, "TimeStamp in us", digits)?;
        let irp = number(columns, layout.irp, "IrpPtr", hex)?;
        let elapsed_us = number(columns, layout.elapsed, "ElapsedTime in us", digits)?;
        let disk = number(columns, layout.disk, "DiskNum", digits)?;
        let kind = row.kind();
        let command = if kind == Kind::Flush {
            Some(Command::FLUSH)
        } else {
            let offset = number(columns, layout.offset, "ByteOffset in bytes", hex)?;
            let bytes = number(columns, layout.bytes, "IOSize in bytes", hex)?;
            match bytes {
                0 => None,
                bytes => Some(
                    ranged(kind, offset, bytes, layout.bytes)
                        .map_err(|fault| fault.of("IOSize in bytes"))?,
                ),
            }
        };
        let too_large = |column, meaning| Fault::new(column, What::TooLarge).of(meaning);
        let device = u32::try_from(disk).map_err(|_| too_large(layout.disk, "DiskNum"))?;
        let began_us = self.began(irp, kind, ended_us, elapsed_us);
        let stamp_ns = began_us.checked_mul(NS_PER_US);
        let stamp_ns = stamp_ns.ok_or_else(|| too_large(layout.stamp, "TimeStamp in us"))?;
        Ok(match command {
            Some(command) => Outcome::Row(Row { stamp_ns, device, command }),
            None => Outcome::Pass(NOTHING),
        })
    }

    /// Beginning of a request that has ended.
    #[inline]
    fn began(&mut self, irp: u64, kind: Kind, ended_us: u64, elapsed_us: u64) -> u64 {
        if let Ok(entry) = self.begun.find_entry(hash(irp), |begun| begun.irp == irp) {
            let (begun, _) = entry.remove();
            if begun.kind == kind && begun.stamp_us <= ended_us {
                self.by_init += 1;
                return begun.stamp_us;
            }
        }
        self.by_elapsed += 1;
        self.early += u64::from(elapsed_us > ended_us);
        ended_us.saturating_sub(elapsed_us)
    }
}

impl RowKind {
    #[inline]
    fn of(name: &[u8]) -> Option<Self> {
        Some(match name {
            b"DiskRead" => Self::Read,
            b"DiskWrite" => Self::Write,
            b"DiskFlush" => Self::Flush,
            b"DiskReadInit" => Self::ReadInit,
            b"DiskWriteInit" => Self::WriteInit,
            b"DiskFlushInit" => Self::FlushInit,
            _ => return None,
        })
    }

    #[inline]
    const fn kind(self) -> Kind {
        match self {
            Self::Read | Self::ReadInit => Kind::Read,
            Self::Write | Self::WriteInit => Kind::Write,
            Self::Flush | Self::FlushInit => Kind::Flush,
        }
    }

    /// Kind of request that an Init row begins.
    #[inline]
    const fn begins(self) -> Option<Kind> {
        match self {
            Self::Read | Self::Write | Self::Flush => None,
            Self::ReadInit | Self::WriteInit | Self::FlushInit => Some(self.kind()),
        }
    }
}

impl Layout {
    /// Positions of the columns of `kind`, from the header's line for it.
    fn read(kind: RowKind, line: &[u8]) -> Result<Self, Fault> {
        let mut layout = Self::default();
        let names = || line.split(|byte| *byte == b',').map(trim);
        let mut find = |wanted: &'static str| {
            let place = names().position(|name| name.eq_ignore_ascii_case(wanted.as_bytes()));
            let fault = Fault::new(names().count(), What::Missing).of(wanted);
            let place = place.filter(|place| *place < COLUMNS_MAX).ok_or(fault)?;
            layout.needed = layout.needed.max(place + 1);
            Ok(place)
        };
        let (stamp, irp) = (find("TimeStamp")?, find("IrpPtr")?);
        let (mut offset, mut bytes, mut elapsed, mut disk) = (0, 0, 0, 0);
        if kind.begins().is_none() {
            (elapsed, disk) = (find("ElapsedTime")?, find("DiskNum")?);
            if kind != RowKind::Flush {
                (offset, bytes) = (find("ByteOffset")?, find("IOSize")?);
            }
        }
        let goes_on = names().count() > layout.needed;
        Ok(Self { stamp, irp, offset, bytes, elapsed, disk, goes_on, ..layout })
    }
}

/// The needed columns of a row, with their blanks.
#[inline]
fn split<'a>(line: &'a [u8], layout: &Layout) -> Result<[&'a [u8]; COLUMNS_MAX], Fault> {
    let mut columns: [&[u8]; COLUMNS_MAX] = [&[]; COLUMNS_MAX];
    let (mut begin, mut count) = (0, 0);
    for comma in memchr_iter(b',', line) {
        columns[count] = &line[begin..comma];
        (begin, count) = (comma + 1, count + 1);
        if count == layout.needed {
            return Ok(columns);
        }
    }
    // The last column of a kind of row ends with the line.
    columns[count] = &line[begin..];
    if count + 1 < layout.needed || layout.goes_on {
        return Err(Fault::new(count + 1, What::Missing).of("as the header names it"));
    }
    Ok(columns)
}

/// The number in a column, which holds `meaning`.
#[inline]
fn number(
    columns: &[&[u8]; COLUMNS_MAX],
    place: usize,
    meaning: &'static str,
    read: impl FnOnce(&[u8]) -> Result<u64, What>,
) -> Result<u64, Fault> {
    read(trim(columns[place])).map_err(|what| Fault::new(place, what).of(meaning))
}

/// Pointers differ in their middle bits.
#[inline]
fn hash(irp: u64) -> u64 {
    irp.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_right(20)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = "\
        DiskRead,  TimeStamp,     Process Name ( PID),   ThreadID,             IrpPtr,   ByteOffset,     IOSize, ElapsedTime,  DiskNum, IrpFlags, DiskSvcTime, I/O Pri,  VolSnap,         FileObject, FileName
        DiskWrite,  TimeStamp,     Process Name ( PID),   ThreadID,             IrpPtr,   ByteOffset,     IOSize, ElapsedTime,  DiskNum, IrpFlags, DiskSvcTime, I/O Pri,  VolSnap,         FileObject, FileName
        DiskReadInit,  TimeStamp,     Process Name ( PID),   ThreadID,             IrpPtr
        DiskWriteInit,  TimeStamp,     Process Name ( PID),   ThreadID,             IrpPtr
        DiskFlush,  TimeStamp,     Process Name ( PID),   ThreadID,             IrpPtr,                           ElapsedTime,  DiskNum, IrpFlags, DiskSvcTime, I/O Pri
        DiskFlushInit,  TimeStamp,     Process Name ( PID),   ThreadID,             IrpPtr
        CSwitch, TimeStamp, New Process Name ( PID), New TID
EndHeader";

    /// A parser after `header`.
    fn behind(header: &str) -> Parser {
        let mut parser = Parser::new(&Options::default());
        for line in header.lines() {
            assert_eq!(parser.parse(line.as_bytes()), Ok(Outcome::Frame), "{line}");
        }
        parser
    }

    fn read(parser: &mut Parser, line: &str) -> Result<Outcome, (usize, What)> {
        parser.parse(line.as_bytes()).map_err(|fault| (fault.column, fault.what))
    }

    fn row(stamp_us: u64, device: u32, kind: Kind, offset: u64, bytes: u64) -> Outcome {
        let command = Command { kind, offset, bytes };
        Outcome::Row(Row { stamp_ns: stamp_us * 1_000, device, command })
    }

    const READ: &str = "               DiskRead,       8612,        sqlservr.exe (3984),      11844, 0xffffe288b23f1b20, 0x018f0b8000, 0x00001000,         283,        5, 0x060043,         283,       3, Original, 0xffffe288272d0d20, \"C:\\a,b\"";

    #[test]
    fn a_request_without_an_init_row_began_when_its_time_says() {
        let mut parser = behind(HEADER);
        let expected = row(8_612 - 283, 5, Kind::Read, 0x01_8f0b_8000, 4_096);
        assert_eq!(read(&mut parser, READ), Ok(expected));
        let flush = "DiskFlush, 9000, System ( 4), 12, 0xfffffa8010, 700, 1, 0x0, 690, 2";
        assert_eq!(read(&mut parser, flush), Ok(row(8_300, 1, Kind::Flush, 0, 0)));
        assert_eq!((parser.by_init, parser.by_elapsed), (0, 2));
        let early = READ.replace("8612", "200");
        assert_eq!(read(&mut parser, &early), Ok(row(0, 5, Kind::Read, 0x01_8f0b_8000, 4_096)));
        assert_eq!(parser.early, 1);
    }

    #[test]
    fn a_request_begins_at_its_init_row() {
        let mut parser = behind(HEADER);
        let init = |kind, stamp, irp| format!("{kind}, {stamp}, sqlservr.exe (3984), 11844, {irp}");
        let mine = "0xffffe288b23f1b20";
        for line in [
            init("DiskReadInit", 8_000, mine),
            init("DiskWriteInit", 8_100, "0xffffe288b23f1c20"),
            // The same request packet, used again.
            init("DiskReadInit", 8_300, mine),
        ] {
            assert_eq!(read(&mut parser, &line), Ok(Outcome::Pass(INIT)));
        }
        let expected = row(8_300, 5, Kind::Read, 0x01_8f0b_8000, 4_096);
        assert_eq!(read(&mut parser, READ), Ok(expected));
        // It ended; a second end has no beginning.
        let expected = row(8_329, 5, Kind::Read, 0x01_8f0b_8000, 4_096);
        assert_eq!(read(&mut parser, READ), Ok(expected));
        // A beginning of another kind is not this request's.
        let write = READ.replace("DiskRead", "DiskWrite");
        assert_eq!(read(&mut parser, &init("DiskReadInit", 8_500, mine)), Ok(Outcome::Pass(INIT)));
        let expected = row(8_329, 5, Kind::Write, 0x01_8f0b_8000, 4_096);
        assert_eq!(read(&mut parser, &write), Ok(expected));
        assert_eq!((parser.by_init, parser.by_elapsed, parser.begun.len()), (1, 2, 1));
    }

    #[test]
    fn the_header_says_where_columns_stand() {
        let header = "DiskWrite, DiskNum, IOSize, CPU, ByteOffset, IrpPtr, ElapsedTime, TimeStamp\nEndHeader";
        let mut parser = behind(header);
        let line = "DiskWrite, 3, 0x200, 0, 0x400, 0xabc, 10, 110";
        assert_eq!(read(&mut parser, line), Ok(row(100, 3, Kind::Write, 1_024, 512)));
        assert_eq!(read(&mut parser, READ), Err((0, What::NotDeclared)));
        let mut parser = Parser::new(&Options::default());
        let lacks = read(&mut parser, "DiskRead, TimeStamp, IrpPtr, ByteOffset, IOSize, DiskNum");
        assert_eq!(lacks, Err((6, What::Missing)));
    }

    #[test]
    fn other_rows_are_passed_over() {
        let mut parser = behind(HEADER);
        assert_eq!(read(&mut parser, "CSwitch, 12, x (1), 2"), Ok(Outcome::Pass(OTHER)));
        let line = "OS Version: 6.0.6001, Trace Size: 1KB";
        assert_eq!(read(&mut parser, line), Ok(Outcome::Pass(UNDECLARED)));
        let nothing = READ.replace("0x00001000", "0x00000000");
        assert_eq!(read(&mut parser, &nothing), Ok(Outcome::Pass(NOTHING)));
        assert_eq!(read(&mut parser, "BeginHeader"), Err((0, What::Joined)));
    }

    #[test]
    fn faults_name_their_column() {
        let fault = |from: &str, to: &str| read(&mut behind(HEADER), &READ.replace(from, to));
        assert_eq!(fault("8612", "86.12"), Err((1, What::NoWholeNumber)));
        assert_eq!(fault("0x018f0b8000", "0x018f0b800g"), Err((5, What::NoHexNumber)));
        assert_eq!(fault("0x018f0b8000", "0xffffffffffffffff"), Err((6, What::PastTheEnd)));
        assert_eq!(fault("        5,", " 4294967296,"), Err((8, What::TooLarge)));
        let cut = &READ[..READ.find(" 0x060043").unwrap() - 1];
        assert_eq!(read(&mut behind(HEADER), cut), Err((9, What::Missing)));
        assert_eq!(read(&mut behind(HEADER), "DiskReadInit, 12, x"), Err((3, What::Missing)));
    }
}
