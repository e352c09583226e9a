//! Common parts of both versions of fio's I/O log: the actions, and files as devices (fio,
//! `iolog.c`, and "Trace file format" in its HOWTO).

use crate::columns::{Columns, Fault, What};
use crate::command::{Command, Kind};
use crate::names::Names;
use crate::parse::Outcome;
use crate::row::{Row, ranged};

/// Reasons for which a line may be passed over.
pub(crate) const PASSES: &[&str] = &[
    "requests for nothing (length 0)",
    "add, open, close and the like of files",
    "sync_file_range, which sends nothing to a drive",
    "waits, which version 3 does not have",
];

/// Indices of the reasons above.
pub(crate) const NOTHING: u8 = 0;
pub(crate) const FILES: u8 = 1;
pub(crate) const FILE_RANGE: u8 = 2;
pub(crate) const WAIT: u8 = 3;

/// Action of a line.
pub(crate) enum Action {
    /// A request with a range after it.
    Ranged(Kind),
    /// A flush, whatever follows it.
    Flush,
    /// A wait.
    Wait,
    /// Nothing that a drive sees.
    Pass(u8),
}

impl Action {
    /// The action that the next column names.
    #[inline]
    pub fn of(columns: &mut Columns<'_>) -> Result<Self, Fault> {
        Ok(match columns.text()? {
            b"read" => Self::Ranged(Kind::Read),
            b"write" => Self::Ranged(Kind::Write),
            b"trim" => Self::Ranged(Kind::Trim),
            b"sync" | b"datasync" | b"syncfs" => Self::Flush,
            b"wait" => Self::Wait,
            b"add" | b"open" | b"close" | b"unlink" | b"stat" => Self::Pass(FILES),
            b"sync_file_range" => Self::Pass(FILE_RANGE),
            _ => return Err(columns.fault(What::UnknownOperation)),
        })
    }
}

/// The row of a request to `file`, with the range in the next two columns; the second of them is
/// `last`.
#[inline]
pub(crate) fn request(
    columns: &mut Columns<'_>,
    (stamp_ns, file, kind): (u64, &[u8], Kind),
    files: &mut Names,
    last: usize,
) -> Result<Outcome, Fault> {
    let offset = columns.whole()?;
    let bytes = columns.whole()?;
    columns.end()?;
    if bytes == 0 {
        return Ok(Outcome::Pass(NOTHING));
    }
    let command = ranged(kind, offset, bytes, last)?;
    Ok(Outcome::Row(Row { stamp_ns, device: number(files, file), command }))
}

/// The row of a flush of `file`.
#[inline]
pub(crate) fn flush(stamp_ns: u64, file: &[u8], files: &mut Names) -> Outcome {
    Outcome::Row(Row { stamp_ns, device: number(files, file), command: Command::FLUSH })
}

fn number(files: &mut Names, file: &[u8]) -> u32 {
    files.number(file, |file| String::from_utf8_lossy(file).into_owned())
}
