//! Snapshots in files: a magic number, the length and checksum of a header in JSON, the header, and
//! the columns, each aligned to 4 KiB. Numbers are little-endian. Zeros are left out as holes if
//! the file system supports that.

use crate::check::Found;
use crate::device::empty_firmware;
use crate::history::Origin;
use engine::is_zero;
use ftl::Ftl;
use ftl::state::{Rest, Unknown};
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The first bytes of a file; the last of them is the version of the format.
const MAGIC: [u8; 8] = *b"flsnap\0\x02";

/// Columns begin at multiples of this.
const ALIGN: u64 = 4096;

/// Bytes that are read and written at a time.
const PIECE_BYTES: usize = 2 << 20;

/// Greatest length of a header.
const HEADER_MOST: u64 = 1 << 30;

/// A file without a usable snapshot.
#[derive(Debug, thiserror::Error)]
#[error("{}: {problem}", file.display())]
pub struct Damaged {
    /// The file.
    pub file: PathBuf,
    /// The fault, and the remedy.
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

/// Faults while a column is read.
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

/// A file with a verified snapshot. The file must not change during the lifetime of this value and
/// of every drive that was started from it.
pub struct Kept {
    path: PathBuf,
    /// The file that the maps of drives lie in.
    file: Arc<File>,
    /// A second handle of this file; one reader at a time moves its position.
    input: Mutex<File>,
    header: Header,
    /// The beginning of each column, in the order of the header.
    places: Vec<u64>,
}

/// The origin of the snapshot in a file.
///
/// # Errors
/// If there is no such file, or none with a snapshot.
pub fn info(path: &Path) -> Result<Origin, Damaged> {
    Kept::open(path).map(|kept| kept.header.origin)
}

/// As [`info`], with the facts about the drive that the check of an experiment needs.
///
/// # Errors
/// If there is no such file, or none with a snapshot.
pub fn content(path: &Path) -> Result<(Origin, Found), Damaged> {
    Kept::open(path).map(|kept| {
        let found = kept.found();
        (kept.header.origin, found)
    })
}

/// Bytes that identify the content of a snapshot's file. Only the beginning of the file is read:
/// its header, which has the checksums of all the rest.
///
/// # Errors
/// If there is no such file, or none with a snapshot.
pub fn header(path: &Path) -> Result<Vec<u8>, Damaged> {
    let kept = Kept::open(path)?;
    serde_json::to_vec(&kept.header)
        .map_err(|error| damaged(path, Fault::Io(io::Error::other(error))))
}

impl Kept {
    /// Opens a file and reads its header.
    fn open(path: &Path) -> Result<Self, Damaged> {
        let opened = File::open(path).map_err(Fault::Io).and_then(|mut file| {
            let header = read_header(&mut file)?;
            let places = places(&header, file.stream_position()?, file.metadata()?.len())?;
            Ok(Self {
                path: path.to_owned(),
                file: Arc::new(file.try_clone()?),
                input: Mutex::new(file),
                header,
                places,
            })
        });
        opened.map_err(|fault| damaged(path, fault))
    }

    /// Opens a file and verifies all checksums. `ongoing` gets the share that is read, from 0 to 1,
    /// and stops the reading by returning false, in which case `None` is returned.
    ///
    /// # Errors
    /// If there is no such file, or none with a whole snapshot.
    pub fn read(
        path: &Path,
        ongoing: &mut dyn FnMut(f64) -> bool,
    ) -> Result<Option<Self>, Damaged> {
        let kept = Self::open(path)?;
        let total: u64 = kept.header.columns.iter().map(|column| column.bytes).sum();
        let mut done = 0;
        let mut piece = vec![0; PIECE_BYTES];
        let mut input = kept.input();
        for (column, place) in kept.header.columns.iter().zip(&kept.places) {
            let mut left = column.bytes;
            let mut crc = crc32fast::Hasher::new();
            let fault = |fault| damaged(path, fault);
            input.seek(SeekFrom::Start(*place)).map_err(|error| fault(Fault::Io(error)))?;
            while left > 0 {
                let piece = &mut piece[..PIECE_BYTES.min(left as usize)];
                input.read_exact(piece).map_err(|error| fault(Fault::Io(error)))?;
                crc.update(piece);
                left -= piece.len() as u64;
                done += piece.len() as u64;
                if !ongoing(done as f64 / total.max(1) as f64) {
                    return Ok(None);
                }
            }
            if crc.finalize() != column.crc32 {
                let problem = format!("the checksum of {} is wrong", column.name);
                return Err(fault(Fault::Other(problem)));
            }
        }
        drop(input);
        // This shows that the columns are those of its drive.
        kept.firmware()?;
        Ok(Some(kept))
    }

    fn input(&self) -> MutexGuard<'_, File> {
        self.input.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The origin of the snapshot.
    pub fn origin(&self) -> &Origin {
        &self.header.origin
    }

    /// Facts about the drive that the check of an experiment needs.
    pub fn found(&self) -> Found {
        let Header { origin, rest, .. } = &self.header;
        Found { mapped_units: origin.mapped_units, bad_blocks: rest.bad_blocks() }
    }

    /// The firmware that was kept. Its map stays in the file, and all drives that are made from it
    /// share that memory, until they change it.
    ///
    /// # Errors
    /// If the file holds values that its drive cannot have, or has become unreadable.
    pub fn firmware(&self) -> Result<Ftl, Damaged> {
        let Origin { drive, seed, .. } = &self.header.origin;
        let mut ftl = empty_firmware(drive, *seed);
        self.fill(&mut ftl).map_err(|fault| damaged(&self.path, fault))?;
        Ok(ftl)
    }

    fn fill(&self, ftl: &mut Ftl) -> Result<(), Fault> {
        let find = |name: &str| {
            let mut columns = self.header.columns.iter().zip(&self.places);
            columns.find(|(column, _)| column.name == name)
        };
        let mut input = self.input();
        let place = |name, bytes| {
            let found = find(name).filter(|(column, _)| column.bytes == bytes);
            found.map(|(_, place)| *place)
        };
        ftl.take_columns(&self.header.rest, &self.file, &place, &mut |name, into| {
            let found = find(name).filter(|(column, _)| column.bytes == into.len() as u64);
            let (_, place) = found
                .ok_or_else(|| Fault::Other(format!("{name} is not as long as its drive's")))?;
            input.seek(SeekFrom::Start(*place))?;
            Ok(input.read_exact(into)?)
        })
    }
}

/// The beginning of each column in a file of `length` bytes, which ends with the last column.
fn places(header: &Header, behind_header: u64, length: u64) -> Result<Vec<u64>, Fault> {
    let mut end = Some(behind_header);
    let place = |column: &Column| {
        let begin = end?.checked_next_multiple_of(ALIGN)?;
        end = begin.checked_add(column.bytes);
        Some(begin)
    };
    let places: Option<Vec<u64>> = header.columns.iter().map(place).collect();
    match (places, end) {
        (Some(places), Some(end)) if end == length => Ok(places),
        (Some(_), Some(end)) if end < length => {
            let more = length - end;
            let problem = format!("{more} bytes stand behind its end: take the snapshot anew");
            Err(Fault::Other(problem))
        }
        _ => Err(Fault::Io(io::ErrorKind::UnexpectedEof.into())),
    }
}

/// Writes a snapshot to a file that is empty.
///
/// # Errors
/// If the file cannot be written.
pub fn write(file: &mut File, origin: &Origin, ftl: &Ftl) -> io::Result<()> {
    if cfg!(target_endian = "big") {
        return Err(io::Error::other("snapshots are written by little-endian machines only"));
    }
    let mut columns = Vec::new();
    ftl.give_columns(&mut |name, bytes| {
        let crc32 = crc32fast::hash(bytes);
        columns.push(Column { name: name.into(), bytes: bytes.len() as u64, crc32 });
        Ok::<_, io::Error>(())
    })?;
    let header = Header { origin: origin.clone(), rest: ftl.rest(), columns };
    let header = serde_json::to_vec(&header).map_err(io::Error::other)?;
    file.write_all(&MAGIC)?;
    file.write_all(&(header.len() as u64).to_le_bytes())?;
    file.write_all(&crc32fast::hash(&header).to_le_bytes())?;
    file.write_all(&header)?;
    let mut end = file.stream_position()?;
    ftl.give_columns(&mut |_, bytes| {
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
