//! The lines of a text file, plain or gzip, in a fixed amount of memory.

use crate::error::TraceError;
use flate2::read::MultiGzDecoder;
use memchr::memchr;
use std::fs::File;
use std::io::{self, BufReader, Read, Seek};
use std::path::{Path, PathBuf};

/// Bytes read at once. A line must fit; no text trace comes near it.
const BUFFER_BYTES: usize = 256 << 10;

/// What a gzip file begins with (RFC 1952, section 2.3.1).
const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];

/// The lines of a file, one after the other.
pub(crate) struct Lines {
    file: PathBuf,
    input: Input,
    buffer: Vec<u8>,
    /// What of the buffer is read and not yet handed out.
    begin: usize,
    end: usize,
    /// The number of the line handed out last, counted from 1.
    number: u64,
    ended: bool,
}

enum Input {
    Plain(File),
    Gzip(Box<MultiGzDecoder<BufReader<File>>>),
}

impl Lines {
    /// Opens a file; what it begins with, not its name, says whether it is gzip.
    pub fn open(path: &Path) -> Result<Self, TraceError> {
        let input = Input::open(path).map_err(|error| TraceError {
            file: path.to_owned(),
            line: None,
            problem: match error.kind() {
                io::ErrorKind::NotFound => {
                    "there is no such file; a relative path counts from the directory \
                     that flashscape was started in"
                        .to_owned()
                }
                io::ErrorKind::IsADirectory => "this is a directory, not a trace".to_owned(),
                _ => format!("cannot be opened: {error}"),
            },
        })?;
        let buffer = vec![0; BUFFER_BYTES];
        Ok(Self { file: path.to_owned(), input, buffer, begin: 0, end: 0, number: 0, ended: false })
    }

    /// The next line without its end, or nothing behind the last. A last line
    /// without a line end counts.
    #[inline]
    pub fn next(&mut self) -> Result<Option<&[u8]>, TraceError> {
        loop {
            let begin = self.begin;
            if let Some(length) = memchr(b'\n', &self.buffer[begin..self.end]) {
                self.begin += length + 1;
                self.number += 1;
                return Ok(Some(&self.buffer[begin..begin + length]));
            }
            if self.ended {
                self.begin = self.end;
                self.number += u64::from(begin < self.end);
                return Ok((begin < self.end).then(|| &self.buffer[begin..self.end]));
            }
            self.refill()?;
        }
    }

    /// The number of the line handed out last, counted from 1.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Where the file is.
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// True for a gzip file.
    pub fn is_compressed(&self) -> bool {
        matches!(self.input, Input::Gzip(_))
    }

    /// Moves the line that was begun to the front and reads more behind it.
    fn refill(&mut self) -> Result<(), TraceError> {
        self.buffer.copy_within(self.begin..self.end, 0);
        self.end -= self.begin;
        self.begin = 0;
        if self.end == self.buffer.len() {
            let kib = BUFFER_BYTES >> 10;
            return Err(self.error(format!("a line of more than {kib} KiB; this is no text trace")));
        }
        match self.input.read(&mut self.buffer[self.end..]) {
            Ok(0) => self.ended = true,
            Ok(bytes) => self.end += bytes,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(self.error(self.reading_problem(&error))),
        }
        Ok(())
    }

    fn reading_problem(&self, error: &io::Error) -> String {
        match (self.is_compressed(), error.kind()) {
            (true, io::ErrorKind::UnexpectedEof) => {
                "the gzip data end too early: the file was cut; fetch it again".to_owned()
            }
            (true, _) => format!("the gzip data are corrupt ({error}); fetch the file again"),
            (false, _) => format!("cannot be read: {error}"),
        }
    }

    /// A fault of the line that would come next.
    fn error(&self, problem: String) -> TraceError {
        TraceError { file: self.file.clone(), line: Some(self.number + 1), problem }
    }
}

impl Input {
    fn open(path: &Path) -> io::Result<Self> {
        let mut file = File::open(path)?;
        if file.metadata()?.is_dir() {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        let mut magic = Vec::with_capacity(2);
        file.by_ref().take(2).read_to_end(&mut magic)?;
        file.rewind()?;
        if magic == GZIP_MAGIC {
            let buffered = BufReader::with_capacity(BUFFER_BYTES, file);
            return Ok(Self::Gzip(Box::new(MultiGzDecoder::new(buffered))));
        }
        Ok(Self::Plain(file))
    }

    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Plain(file) => file.read(into),
            Self::Gzip(decoder) => decoder.read(into),
        }
    }
}
