//! State of the pages of a private mapping, as Linux reports it. Other systems report nothing,
//! and columns are copied whole.

use std::fs::File;
use std::io;
use std::ops::Range;

/// The parts of `bytes`, which lie in a private mapping of a file, that were changed since they
/// were mapped: whole pages, clipped to `bytes`. The other pages may not have been touched at
/// all.
///
/// # Errors
/// If the system does not report it.
#[cfg(target_os = "linux")]
pub fn changed(bytes: &[u8]) -> io::Result<Vec<Range<usize>>> {
    use std::os::unix::fs::FileExt;
    /// Entries of the page map that are read at a time.
    const ENTRIES: usize = 1 << 13;
    let page = rustix::param::page_size();
    let begin = bytes.as_ptr() as usize;
    let pages = begin / page..(begin + bytes.len()).div_ceil(page);
    let map = File::open("/proc/self/pagemap")?;
    let mut entries = vec![0u64; ENTRIES];
    let mut changed: Vec<Range<usize>> = Vec::new();
    for first in pages.clone().step_by(ENTRIES) {
        let entries = &mut entries[..ENTRIES.min(pages.end - first)];
        map.read_exact_at(bytemuck::cast_slice_mut(entries), 8 * first as u64)?;
        for (number, _) in (first..).zip(&*entries).filter(|(_, entry)| is_private(**entry)) {
            let from = (number * page).saturating_sub(begin);
            let to = ((number + 1) * page - begin).min(bytes.len());
            match changed.last_mut() {
                Some(last) if last.end == from => last.end = to,
                _ => changed.push(from..to),
            }
        }
    }
    Ok(changed)
}

/// True if an entry of the page map (Documentation/admin-guide/mm/pagemap.rst of Linux) describes
/// a page of the process's own: in memory or swapped out (bits 63, 62), and not the file's (bit
/// 61).
#[cfg(target_os = "linux")]
fn is_private(entry: u64) -> bool {
    entry >> 62 != 0 && entry >> 61 & 1 == 0
}

#[cfg(not(target_os = "linux"))]
pub fn changed(_: &[u8]) -> io::Result<Vec<Range<usize>>> {
    Err(io::ErrorKind::Unsupported.into())
}

/// A file in memory that has no name and is freed with its last user.
///
/// # Errors
/// If the system has no such files, or no more of them.
#[cfg(target_os = "linux")]
pub fn unnamed_file() -> io::Result<File> {
    use rustix::fs::{MemfdFlags, memfd_create};
    Ok(memfd_create("flashscape", MemfdFlags::CLOEXEC)?.into())
}

#[cfg(not(target_os = "linux"))]
pub fn unnamed_file() -> io::Result<File> {
    Err(io::ErrorKind::Unsupported.into())
}
