//! Files that cases read.

use std::fs::{self, File};
use std::io::{self, Write};
use std::sync::atomic::{AtomicU32, Ordering};

/// A file in the folder for tests; returns its path.
pub fn file(name: &str, contents: &str) -> &'static str {
    written(name, |file| file.write_all(contents.as_bytes()))
}

/// As [`file`], written by `write`. Several tests make lists of cases at once, so the file is moved
/// to its place when it is complete.
pub fn written(name: &str, write: impl FnOnce(&mut File) -> io::Result<()>) -> &'static str {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let path = format!("{}/{name}", env!("CARGO_TARGET_TMPDIR"));
    let new = format!("{path}.{}.{number}", std::process::id());
    let mut file = File::create_new(&new).expect("a folder for tests can be written to");
    write(&mut file).expect("there is space");
    fs::rename(&new, &path).expect("the file is put in its place");
    path.leak()
}
