//! Small firmware for tests, and snapshots: the state of one firmware, restored by another.

use ftl::state::{Rest, Unknown};
use ftl::{Ftl, FtlConfig};
use nand::Geometry;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Write};
use std::sync::Arc;

/// A configuration that collects greedily from one free block on; `changes` replace whole tables or
/// add some.
pub fn config(changes: Value) -> FtlConfig {
    let mut config = json!({
        "unit": "4 KiB",
        "block_planes": 1,
        "bad_blocks": { "factory": "0 %", "grown_per_erase": "0 %" },
        "allocation": allocation("drive", "separate"),
        "gc": {
            "victim": { "policy": "greedy" },
            "background": "1 block",
            "foreground": "1 block",
            "stop": "1 block",
            "preemptible": true,
            "pacing": "none",
            "copy_back": false,
            "window": 1,
        },
    });
    for (key, value) in changes.as_object().expect("a table of changes") {
        config[key] = value.clone();
    }
    serde_json::from_value(config).unwrap()
}

/// The table of allocation.
pub fn allocation(pool: &str, streams: &str) -> Value {
    json!({
        "pool": pool,
        "order": "CWDP",
        "choice": "round-robin",
        "streams": streams,
        "free_block": "fifo",
    })
}

/// Packages of one plane on a channel, with blocks of four pages.
pub fn geometry(packages: u32, blocks: u32, page_bytes: u64) -> Geometry {
    Geometry {
        channels: 1,
        gang_channels: 1,
        lanes: 1,
        packages_per_channel: packages,
        dies_per_package: 1,
        planes_per_die: 1,
        blocks_per_plane: blocks,
        pages_per_block: 4,
        page_bytes,
        spare_bytes: 0,
    }
}

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
