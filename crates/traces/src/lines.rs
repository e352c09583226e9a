//! The lines of a text file, plain or packed, in a fixed amount of memory.

use super::foreign::{LOOKED_AT, foreign};
use super::gzip::{self, Gzip};
use super::zst::{self, Zst};
use crate::error::TraceError;
use memchr::{memchr, memchr_iter};
use std::fs::{self, File};
use std::io::{self, Read, Seek};
use std::path::{Path, PathBuf};

/// Bytes read at once. A line must fit; no text trace comes near it.
const BUFFER_BYTES: usize = 256 << 10;

/// Byte order mark, which some editors write before the first line. It is not part of that line.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// The lines of a file, one after the other.
pub(crate) struct Lines {
    file: PathBuf,
    input: Input,
    /// A second handle of this file; its position tells the progress of reading.
    place: File,
    length: u64,
    buffer: Vec<u8>,
    /// Part of the buffer that is read and not yet returned.
    begin: usize,
    end: usize,
    /// The number of the line returned last, counted from 1.
    number: u64,
    /// Position of that line in the buffer.
    last: usize,
    /// True if that line has no end.
    is_open: bool,
    ended: bool,
    /// True if compressed data that end too early are the end of the file.
    may_be_cut: bool,
}

enum Input {
    Plain(File),
    Gzip(Box<Gzip>),
    Zstd(Box<Zst>),
}

/// Compression of a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Compression {
    /// RFC 1952.
    Gzip,
    /// RFC 8878.
    Zstd,
}

impl Compression {
    /// Its name in messages.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Gzip => "gzip",
            Self::Zstd => "Zstandard",
        }
    }
}

impl Lines {
    /// Opens a file; its first bytes, not its name, tell if it is compressed. If it `may_be_cut`,
    /// compressed data that end too early are its end.
    pub fn open(path: &Path, may_be_cut: bool) -> Result<Self, TraceError> {
        let (file, line) = (path.to_owned(), None);
        let (input, place) = match Input::open(path) {
            Ok(opened) => opened,
            Err(error) => {
                return Err(TraceError { file, line, problem: opening_problem(path, &error) });
            }
        };
        let length = place.metadata().map_or(0, |file| file.len());
        let buffer = vec![0; BUFFER_BYTES];
        let mut lines = Self {
            file,
            input,
            place,
            length,
            buffer,
            begin: 0,
            end: 0,
            number: 0,
            last: 0,
            is_open: false,
            ended: false,
            may_be_cut,
        };
        while lines.end < LOOKED_AT && !lines.ended {
            lines.refill()?;
        }
        match foreign(&lines.buffer[..lines.end]) {
            Some(problem) => {
                Err(TraceError { file: lines.file, line, problem: problem.to_owned() })
            }
            None => Ok(lines),
        }
    }

    /// The next line without its end, or nothing after the last. A last line without a line end
    /// counts.
    #[inline]
    pub fn next(&mut self) -> Result<Option<&[u8]>, TraceError> {
        loop {
            let begin = self.begin;
            if let Some(length) = memchr(b'\n', &self.buffer[begin..self.end]) {
                self.begin += length + 1;
                self.last = begin;
                self.number += 1;
                let line = &self.buffer[begin..begin + length];
                return Ok(Some(if self.number == 1 { without_mark(line) } else { line }));
            }
            if self.ended {
                self.begin = self.end;
                self.last = begin;
                self.is_open = true;
                self.number += u64::from(begin < self.end);
                let line = &self.buffer[begin..self.end];
                let line = if self.number == 1 { without_mark(line) } else { line };
                return Ok((begin < self.end).then_some(line));
            }
            self.refill()?;
        }
    }

    /// The line returned last, without its end.
    pub fn last(&self) -> &[u8] {
        let line = &self.buffer[self.last..self.begin];
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        if self.number == 1 { without_mark(line) } else { line }
    }

    /// Makes the line returned last the next one.
    pub fn step_back(&mut self) {
        if self.last < self.begin {
            self.begin = self.last;
            self.number -= 1;
        }
    }

    /// The number of the line returned last, counted from 1.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// True if the line returned last has no line end.
    pub fn is_open(&self) -> bool {
        self.is_open
    }

    /// True if nothing but blanks follows the line returned last. The lines are then at their end.
    pub fn is_last(&mut self) -> bool {
        loop {
            if !self.buffer[self.begin..self.end].iter().all(u8::is_ascii_whitespace) {
                return false;
            }
            if self.ended {
                return true;
            }
            self.begin = self.end;
            if self.refill().is_err() {
                return false;
            }
        }
    }

    /// Path of the file.
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// Compression of the file, if any.
    pub fn compression(&self) -> Option<Compression> {
        match self.input {
            Input::Plain(_) => None,
            Input::Gzip(_) => Some(Compression::Gzip),
            Input::Zstd(_) => Some(Compression::Zstd),
        }
    }

    /// The share of the file that was read, in bytes on disk.
    pub fn share(&self) -> f64 {
        let read = (&self.place).stream_position().unwrap_or(0);
        if self.length == 0 { 1.0 } else { (read as f64 / self.length as f64).min(1.0) }
    }

    /// Reads on to the end of a compressed file, where its checksum is: damage often first shows
    /// as faulty rows.
    pub fn verify(path: &Path) -> Result<(), TraceError> {
        let mut lines = Self::open(path, false)?;
        if lines.compression().is_none() {
            return Ok(());
        }
        while !lines.ended {
            lines.number += memchr_iter(b'\n', &lines.buffer[..lines.end]).count() as u64;
            // Nothing is kept, so that no line can be too long.
            lines.end = 0;
            lines.refill()?;
        }
        Ok(())
    }

    /// Moves the line that was begun to the front and reads more after it.
    fn refill(&mut self) -> Result<(), TraceError> {
        self.buffer.copy_within(self.begin..self.end, 0);
        self.end -= self.begin;
        (self.begin, self.last) = (0, 0);
        if self.end == self.buffer.len() {
            let kib = BUFFER_BYTES >> 10;
            return Err(self.error(format!("a line of more than {kib} KiB; this is no text trace")));
        }
        match self.input.read(&mut self.buffer[self.end..]) {
            Ok(0) => self.ended = true,
            Ok(bytes) => self.end += bytes,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) if self.may_be_cut && is_early_end(&error) => self.ended = true,
            Err(error) => return Err(self.error(self.reading_problem(&error))),
        }
        Ok(())
    }

    fn reading_problem(&self, error: &io::Error) -> String {
        let Some(compression) = self.compression() else {
            return format!("cannot be read: {error}");
        };
        let name = compression.name();
        if is_early_end(error) {
            return format!(
                "the {name} data end too early: the file was cut; download it again, or end the \
                 trace there with truncated = \"end\""
            );
        }
        if [gzip::TRAILING, zst::TRAILING].contains(&error.to_string().as_str()) {
            return format!(
                "the {name} data end as they should, but more bytes follow that are no {name} \
                 data; unpack the file, and pack it again"
            );
        }
        format!("the {name} data are corrupt ({error}); download the file again")
    }

    /// A fault of the next line.
    fn error(&self, problem: String) -> TraceError {
        TraceError { file: self.file.clone(), line: Some(self.number + 1), problem }
    }
}

/// True if compressed data end before their end.
fn is_early_end(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::UnexpectedEof
}

fn without_mark(line: &[u8]) -> &[u8] {
    line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line)
}

/// Reason why a file cannot be opened. A path from an experiment file was joined to the folder of
/// that file before, so the message gives the full path.
fn opening_problem(path: &Path, error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => {
            let Ok(whole) = std::path::absolute(path) else {
                return "there is no such file".to_owned();
            };
            let folder = whole.parent().filter(|folder| !folder.is_dir());
            match folder {
                Some(folder) => format!(
                    "there is no such file, because there is no folder {}; put the trace there, or \
                     say where it is (an experiment's paths begin where its own file is)",
                    folder.display()
                ),
                None if whole != path => {
                    format!("there is no such file (looked for {})", whole.display())
                }
                None => "there is no such file".to_owned(),
            }
        }
        io::ErrorKind::IsADirectory => "this is a directory, not a trace".to_owned(),
        io::ErrorKind::NotSeekable => {
            "this is not a regular file; a trace is read several times: save it to a file first"
                .to_owned()
        }
        _ => format!("cannot be opened: {error}"),
    }
}

impl Input {
    fn open(path: &Path) -> io::Result<(Self, File)> {
        // Asked before it is opened: to open a pipe waits for whoever writes to it.
        let kind = fs::metadata(path)?.file_type();
        if kind.is_dir() {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        if !kind.is_file() {
            return Err(io::ErrorKind::NotSeekable.into());
        }
        let mut file = File::open(path)?;
        let mut begin = Vec::with_capacity(4);
        file.by_ref().take(4).read_to_end(&mut begin)?;
        file.rewind()?;
        let place = file.try_clone()?;
        if begin.starts_with(&Gzip::MAGIC) {
            return Ok((Self::Gzip(Box::new(Gzip::new(file))), place));
        }
        if begin.first_chunk().is_some_and(|magic| Zst::is_begun_by(*magic)) {
            return Ok((Self::Zstd(Box::new(Zst::new(file))), place));
        }
        Ok((Self::Plain(file), place))
    }

    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Plain(file) => file.read(into),
            Self::Gzip(decoder) => decoder.read(into),
            Self::Zstd(decoder) => decoder.read(into),
        }
    }
}
