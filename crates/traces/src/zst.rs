//! Reader of Zstandard files: any number of frames one after the other, skippable ones among them
//! (RFC 8878, section 3.1), and nothing else. Other data after the last frame is distinguished
//! from a frame that was cut.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use zstd::stream::read::Decoder;

/// Bytes read at once.
const BUFFER_BYTES: usize = 256 << 10;

/// The largest window that a frame may need, as a power of two: the window of `zstd --long=31`.
const WINDOW_LOG_MAX: u32 = 31;

/// The error if data other than Zstandard follows the frames.
pub(crate) const TRAILING: &str = "something else follows the Zstandard data";

/// The contents of a Zstandard file.
pub(crate) struct Zst {
    stage: Stage,
}

enum Stage {
    /// Before a frame.
    Before(Input),
    /// Inside a frame.
    Inside(Box<Decoder<'static, Input>>),
    /// After the last, or after an error.
    Ended,
}

impl Zst {
    /// True if a file that begins with `magic` is one.
    pub fn is_begun_by(magic: [u8; 4]) -> bool {
        is_data(magic) || is_skippable(magic)
    }

    /// The contents of `file`, which is at its beginning.
    pub fn new(file: File) -> Self {
        let file = BufReader::with_capacity(BUFFER_BYTES, file);
        Self { stage: Stage::Before(Input { file, front: [0; 4], given: 4 }) }
    }
}

impl Read for Zst {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        loop {
            // After any failure the reader is at its end.
            self.stage = match std::mem::replace(&mut self.stage, Stage::Ended) {
                Stage::Ended => return Ok(0),
                Stage::Before(input) => go_on(input)?,
                Stage::Inside(mut frame) => {
                    let bytes = frame.read(into)?;
                    if bytes > 0 || into.is_empty() {
                        self.stage = Stage::Inside(frame);
                        return Ok(bytes);
                    }
                    Stage::Before(frame.finish())
                }
            }
        }
    }
}

/// Advances to the next frame with data, if there is one.
fn go_on(mut input: Input) -> io::Result<Stage> {
    loop {
        let mut magic = [0; 4];
        let length = input.read_whole(&mut magic)?;
        match (length, magic) {
            (0, _) => return Ok(Stage::Ended),
            (4, magic) if is_data(magic) => {
                input.put_back(magic);
                let mut frame = Decoder::with_buffer(input)?.single_frame();
                frame.window_log_max(WINDOW_LOG_MAX)?;
                return Ok(Stage::Inside(Box::new(frame)));
            }
            (4, magic) if is_skippable(magic) => skip(&mut input)?,
            // Tapes and some archives are filled up with zeroes.
            (_, [0, 0, 0, 0]) => {}
            (length, _) if length < 4 && is_cut(&magic[..length]) => return Err(cut()),
            _ => return Err(io::Error::other(TRAILING)),
        }
    }
}

/// True for the magic number of a frame with data.
fn is_data(magic: [u8; 4]) -> bool {
    magic == [0x28, 0xb5, 0x2f, 0xfd]
}

/// True for the magic number of a frame that says nothing about the data.
fn is_skippable(magic: [u8; 4]) -> bool {
    magic[0] & 0xf0 == 0x50 && magic[1..] == [0x2a, 0x4d, 0x18]
}

/// True for the beginning of a magic number.
fn is_cut(begin: &[u8]) -> bool {
    let data = [0x28, 0xb5, 0x2f, 0xfd];
    data.starts_with(begin)
        || begin[0] & 0xf0 == 0x50 && [0x2a, 0x4d, 0x18].starts_with(&begin[1..])
}

fn cut() -> io::Error {
    io::ErrorKind::UnexpectedEof.into()
}

/// Passes over a skippable frame after its magic number.
fn skip(input: &mut Input) -> io::Result<()> {
    let mut length = [0; 4];
    if input.read_whole(&mut length)? < length.len() {
        return Err(cut());
    }
    let length = u64::from(u32::from_le_bytes(length));
    let skipped = io::copy(&mut input.take(length), &mut io::sink())?;
    if skipped < length { Err(cut()) } else { Ok(()) }
}

/// A file of which the last four bytes read can be put back.
struct Input {
    file: BufReader<File>,
    front: [u8; 4],
    /// Number of bytes of `front` that have been read.
    given: usize,
}

impl Input {
    fn put_back(&mut self, bytes: [u8; 4]) {
        (self.front, self.given) = (bytes, 0);
    }

    /// Fills `into` as far as there are bytes, and returns how many there were.
    fn read_whole(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let mut length = 0;
        while length < into.len() {
            match self.read(&mut into[length..]) {
                Ok(0) => break,
                Ok(bytes) => length += bytes,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(length)
    }
}

impl Read for Input {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let bytes = self.fill_buf()?.read(into)?;
        self.consume(bytes);
        Ok(bytes)
    }
}

impl BufRead for Input {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        match self.given {
            4 => self.file.fill_buf(),
            given => Ok(&self.front[given..]),
        }
    }

    fn consume(&mut self, bytes: usize) {
        match self.given {
            4 => self.file.consume(bytes),
            _ => self.given += bytes,
        }
    }
}
