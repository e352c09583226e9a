//! An output file: compressed if its name says so, and either complete or absent.

use super::fio_v3;
use super::target::Target;
use crate::error::TraceError;
use crate::row::Row;
use flate2::Compression;
use flate2::write::GzEncoder;
use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Bytes of lines that are handed over at once.
const BUFFER_BYTES: usize = 128 << 10;

/// Writes rows into a temporary file beside the output, and renames it at the end.
pub(super) struct Sink {
    path: PathBuf,
    temporary: PathBuf,
    target: Target,
    force: bool,
    output: Option<Output>,
    buffer: Vec<u8>,
    announced: BTreeSet<u32>,
}

enum Output {
    Plain(File),
    Gzip(Box<GzEncoder<File>>),
    Zstd(Box<zstd::Encoder<'static, File>>),
}

impl Sink {
    /// Creates the file; with `force` an existing file of that name will be replaced.
    pub fn create(path: &Path, target: Target, force: bool) -> Result<Self, TraceError> {
        refuse_if_there(path, force)?;
        let path = &followed(path)?;
        let name = path.file_name().ok_or_else(|| fault(path, "this is no name of a file"))?;
        let mut hidden = std::ffi::OsString::from(format!(".unfinished-{}-", std::process::id()));
        hidden.push(name);
        let temporary = path.with_file_name(hidden);
        let output = OpenOptions::new().write(true).create(true).truncate(true).open(&temporary);
        let output = output.and_then(|file| Output::new(file, path));
        let output = output.map_err(|error| cannot(path, &error))?;
        Ok(Self {
            path: path.to_owned(),
            temporary,
            target,
            force,
            output: Some(output),
            buffer: target.writer().header.into(),
            announced: BTreeSet::new(),
        })
    }

    /// Appends a row that the format can express.
    pub fn put(&mut self, row: &Row) -> Result<(), TraceError> {
        if self.target == Target::FioV3 && self.announced.insert(row.device) {
            fio_v3::announce(row, &mut self.buffer);
        }
        self.target.write(row, &mut self.buffer);
        if self.buffer.len() >= BUFFER_BYTES { self.hand_over() } else { Ok(()) }
    }

    /// Ends the file and gives it its name.
    pub fn finish(mut self) -> Result<(), TraceError> {
        self.hand_over()?;
        let output = self.output.take().expect("a sink is finished once");
        output.finish().map_err(|error| cannot(&self.path, &error))?;
        // Another program may have created it in the meantime.
        refuse_if_there(&self.path, self.force)?;
        fs::rename(&self.temporary, &self.path).map_err(|error| cannot(&self.path, &error))
    }

    fn hand_over(&mut self) -> Result<(), TraceError> {
        let output = self.output.as_mut().expect("a sink is open until it is finished");
        let written = match output {
            Output::Plain(file) => file.write_all(&self.buffer),
            Output::Gzip(encoder) => encoder.write_all(&self.buffer),
            Output::Zstd(encoder) => encoder.write_all(&self.buffer),
        };
        self.buffer.clear();
        written.map_err(|error| cannot(&self.path, &error))
    }
}

/// Removes an unfinished file.
impl Drop for Sink {
    fn drop(&mut self) {
        self.output = None;
        let _ = fs::remove_file(&self.temporary);
    }
}

impl Output {
    fn new(file: File, path: &Path) -> io::Result<Self> {
        match path.extension().and_then(|ending| ending.to_str()) {
            Some("gz") => Ok(Self::Gzip(Box::new(GzEncoder::new(file, Compression::default())))),
            Some("zst") => {
                let mut encoder = zstd::Encoder::new(file, 0)?;
                encoder.include_checksum(true)?;
                Ok(Self::Zstd(Box::new(encoder)))
            }
            _ => Ok(Self::Plain(file)),
        }
    }

    fn finish(self) -> io::Result<()> {
        let file = match self {
            Self::Plain(file) => file,
            Self::Gzip(encoder) => encoder.finish()?,
            Self::Zstd(encoder) => encoder.finish()?,
        };
        // A full disk may show no sooner.
        file.sync_all()
    }
}

fn refuse_if_there(path: &Path, force: bool) -> Result<(), TraceError> {
    if path.is_dir() {
        return Err(fault(path, "this is a directory; name a file"));
    }
    if !force && path.exists() {
        return Err(fault(path, "there is such a file; choose another name, or --force"));
    }
    // A pipe or a device would be replaced by a file.
    if path.exists() && !path.is_file() {
        return Err(fault(path, "this is no regular file (a pipe, a device); name a file"));
    }
    Ok(())
}

/// Target of a symbolic link: the target is written, and the link stays.
fn followed(path: &Path) -> Result<PathBuf, TraceError> {
    if !path.is_symlink() {
        return Ok(path.to_owned());
    }
    fs::canonicalize(path).map_err(|_| fault(path, "this link leads nowhere; name a file"))
}

fn fault(path: &Path, problem: &str) -> TraceError {
    TraceError { file: path.to_owned(), line: None, problem: problem.to_owned() }
}

fn cannot(path: &Path, error: &io::Error) -> TraceError {
    fault(path, &format!("cannot be written: {error}"))
}
