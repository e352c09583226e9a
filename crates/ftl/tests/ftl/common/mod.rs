//! Snapshots in tests: the state of one firmware, restored by another.

use ftl::Ftl;
use ftl::state::{Rest, Unknown};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Write};
use std::sync::Arc;

/// Error of a snapshot's columns.
enum Failed {
    Io(io::Error),
    Unknown,
}

impl From<io::Error> for Failed {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}
impl From<Unknown> for Failed {
    fn from(_: Unknown) -> Self {
        Self::Unknown
    }
}

/// The columns of a firmware in a file, each from a multiple of 4 KiB on, with their places.
fn kept(ftl: &Ftl, path: &std::path::Path) -> BTreeMap<&'static str, (u64, Vec<u8>)> {
    let mut places = BTreeMap::new();
    let mut bytes = Vec::new();
    let give: Result<(), io::Error> = ftl.give_columns(&mut |name, column| {
        bytes.resize(bytes.len().next_multiple_of(4096), 0);
        places.insert(name, (bytes.len() as u64, column.to_vec()));
        bytes.extend_from_slice(column);
        Ok(())
    });
    give.unwrap();
    bytes.resize(bytes.len().next_multiple_of(4096), 0);
    File::create(path).unwrap().write_all(&bytes).unwrap();
    places
}

/// Restores the firmware `into` from the state of another: columns and the rest.
pub fn taken_up(mut into: Ftl, left: &Ftl, rest: &Rest) -> Result<Ftl, Unknown> {
    let (process, thread) = (std::process::id(), std::thread::current().id());
    let path = std::env::temp_dir().join(format!("flashscape-firmware-{process}-{thread:?}"));
    let columns = kept(left, &path);
    let file = Arc::new(File::open(&path).unwrap());
    let place = |name: &'static str, bytes: u64| {
        columns.get(name).filter(|(_, column)| column.len() as u64 == bytes).map(|(at, _)| *at)
    };
    let taken = into.take_columns(rest, &file, &place, &mut |name, bytes| {
        let (_, column) = columns.get(name).ok_or(Unknown)?;
        bytes.copy_from_slice(column);
        Ok::<(), Failed>(())
    });
    std::fs::remove_file(&path).unwrap();
    match taken {
        Ok(()) => Ok(into),
        Err(Failed::Unknown) => Err(Unknown),
        Err(Failed::Io(error)) => panic!("{error}"),
    }
}
