//! Files that cases read.

use std::fs;
use std::sync::atomic::{AtomicU32, Ordering};

/// A file in the folder for tests; returns its path. Lists of cases are made by several
/// tests at once, so it is put in its place whole.
pub fn file(name: &str, contents: impl AsRef<[u8]>) -> &'static str {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let path = format!("{}/{name}", env!("CARGO_TARGET_TMPDIR"));
    let new = format!("{path}.{}.{number}", std::process::id());
    fs::write(&new, contents).expect("a folder for tests can be written to");
    fs::rename(&new, &path).expect("the file is put in its place");
    path.leak()
}
