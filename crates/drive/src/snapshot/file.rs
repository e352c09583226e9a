//! Snapshots in files: a magic number, the length and checksum of a header in JSON, the
//! header, and the columns, each from a multiple of 4 KiB on. Numbers are little-endian.
//! What is zero is left out where the file system can do that.

use super::{Origin, Snapshot};
use engine::is_zero;
use ftl::state::{Rest, Unknown};
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// What a file begins with; the last byte is the version of the format.
const MAGIC: [u8; 8] = *b"flsnap\0\x01";

/// Columns begin at multiples of this.
const ALIGN: u64 = 4096;

/// Bytes that are read and written at a time.
const PIECE_BYTES: usize = 2 << 20;

/// More is no header.
const HEADER_MOST: u64 = 1 << 30;

/// A file that holds no snapshot that can be used.
#[derive(Debug, thiserror::Error)]
#[error("{}: {problem}", file.display())]
pub struct Damaged {
    /// The file.
    pub file: PathBuf,
    /// What is wrong, and what to do.
    pub problem: String,
}

#[derive(Serialize, Deserialize)]
struct Header {
    origin: Origin,
    rest: Rest,
    columns: Vec<Column>,
}

#[derive(Serialize, Deserialize)]
struct Column {
    name: String,
    bytes: u64,
    crc32: u32,
}

/// What can go wrong while a column is read.
enum Fault {
    Io(io::Error),
    Other(String),
}

impl From<io::Error> for Fault {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}
impl From<Unknown> for Fault {
    fn from(_: Unknown) -> Self {
        Self::Other("it holds what no drive has".into())
    }
}

/// Where the snapshot in a file comes from.
///
/// # Errors
/// Where there is no such file, or none with a snapshot.
pub fn info(path: &Path) -> Result<Origin, Damaged> {
    open(path).map(|(_, header)| header.origin)
}

impl Snapshot {
    /// Writes the snapshot to a file, which is made new.
    ///
    /// # Errors
    /// Where the file cannot be written.
    pub fn write(&self, file: &mut File) -> io::Result<()> {
        if cfg!(target_endian = "big") {
            return Err(io::Error::other("snapshots are written by little-endian machines only"));
        }
        let mut columns = Vec::new();
        self.ftl.give_columns(&mut |name, bytes| {
            let crc32 = crc32fast::hash(bytes);
            columns.push(Column { name: name.into(), bytes: bytes.len() as u64, crc32 });
            Ok::<_, io::Error>(())
        })?;
        let header = Header { origin: self.origin.clone(), rest: self.ftl.rest(), columns };
        let header = serde_json::to_vec(&header).map_err(io::Error::other)?;
        file.write_all(&MAGIC)?;
        file.write_all(&(header.len() as u64).to_le_bytes())?;
        file.write_all(&crc32fast::hash(&header).to_le_bytes())?;
        file.write_all(&header)?;
        let mut end = file.stream_position()?;
        self.ftl.give_columns(&mut |_, bytes| {
            let begin = end.next_multiple_of(ALIGN);
            file.seek(SeekFrom::Start(begin))?;
            for piece in bytes.chunks(PIECE_BYTES) {
                match is_zero(piece) {
                    true => drop(file.seek(SeekFrom::Current(piece.len() as i64))?),
                    false => file.write_all(piece)?,
                }
            }
            end = begin + bytes.len() as u64;
            Ok::<_, io::Error>(())
        })?;
        file.set_len(end)?;
        file.sync_all()
    }

    /// Reads a snapshot from a file. `ongoing` is told how much is read, from 0 to 1, and
    /// ends it by returning false, in which case `None` is returned.
    ///
    /// # Errors
    /// Where there is no such file, or none with a whole snapshot.
    pub fn read(
        path: &Path,
        ongoing: &mut dyn FnMut(f64) -> bool,
    ) -> Result<Option<Self>, Damaged> {
        let (mut file, header) = open(path)?;
        let mut snapshot = Self::empty(header.origin);
        let total: u64 = header.columns.iter().map(|column| column.bytes).sum();
        let mut columns = header.columns.iter();
        let (mut done, mut ended, mut scratch) = (0, false, vec![0; PIECE_BYTES]);
        let read = snapshot.ftl.take_columns(&header.rest, &mut |name, into| {
            let column = columns
                .next()
                .filter(|column| column.name == name && column.bytes == into.len() as u64);
            let column = column
                .ok_or_else(|| Fault::Other(format!("{name} is not as long as its drive's")))?;
            let begin = file.stream_position()?.next_multiple_of(ALIGN);
            file.seek(SeekFrom::Start(begin))?;
            let mut crc = crc32fast::Hasher::new();
            for into in into.chunks_mut(PIECE_BYTES) {
                let piece = &mut scratch[..into.len()];
                file.read_exact(piece)?;
                crc.update(piece);
                // Memory that stays zero is not taken.
                if !is_zero(piece) {
                    into.copy_from_slice(piece);
                }
                done += piece.len() as u64;
                if !ended && !ongoing(done as f64 / total.max(1) as f64) {
                    ended = true;
                    return Err(Fault::Other(String::new()));
                }
            }
            match crc.finalize() == column.crc32 {
                true => Ok(()),
                false => Err(Fault::Other(format!("the checksum of {name} is wrong"))),
            }
        });
        match read {
            Ok(()) => Ok(Some(snapshot)),
            Err(_) if ended => Ok(None),
            Err(fault) => Err(damaged(path, fault)),
        }
    }
}

/// Opens a file and reads its header; the file is then behind it.
fn open(path: &Path) -> Result<(File, Header), Damaged> {
    let mut file = File::open(path).map_err(|error| damaged(path, Fault::Io(error)))?;
    let header = read_header(&mut file).map_err(|fault| damaged(path, fault))?;
    Ok((file, header))
}

fn read_header(file: &mut File) -> Result<Header, Fault> {
    let length = file.metadata()?.len();
    let mut magic = [0; 8];
    let mut input = BufReader::new(&mut *file);
    let is_ours = length >= 20 && {
        input.read_exact(&mut magic)?;
        magic[..7] == MAGIC[..7]
    };
    if !is_ours {
        return Err(Fault::Other("this is no snapshot of a drive".into()));
    }
    if magic[7] != MAGIC[7] {
        let problem = format!(
            "it was written in version {} of the format, which this version of flashscape does \
             not read (it reads {}); take it anew",
            magic[7], MAGIC[7]
        );
        return Err(Fault::Other(problem));
    }
    let mut number = [0; 8];
    input.read_exact(&mut number)?;
    let bytes = u64::from_le_bytes(number);
    let mut crc = [0; 4];
    input.read_exact(&mut crc)?;
    if bytes > HEADER_MOST || bytes > length {
        return Err(Fault::Other("its header is longer than the file: it was cut".into()));
    }
    let mut text = vec![0; bytes as usize];
    input.read_exact(&mut text)?;
    if crc32fast::hash(&text) != u32::from_le_bytes(crc) {
        return Err(Fault::Other("the checksum of its header is wrong".into()));
    }
    let header: Header = serde_json::from_slice(&text).map_err(|error| {
        Fault::Other(format!("another version of flashscape wrote it ({error}); take it anew"))
    })?;
    drop(input);
    file.seek(SeekFrom::Start(MAGIC.len() as u64 + 12 + bytes))?;
    Ok(header)
}

fn damaged(path: &Path, fault: Fault) -> Damaged {
    let problem = match fault {
        Fault::Io(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
            "the file ends too early: it was cut; take the snapshot anew".into()
        }
        Fault::Io(error) if error.kind() == io::ErrorKind::NotFound => {
            "there is no such file".to_owned()
        }
        Fault::Io(error) => format!("cannot be read: {error}"),
        Fault::Other(problem) => problem,
    };
    Damaged { file: path.to_owned(), problem }
}
