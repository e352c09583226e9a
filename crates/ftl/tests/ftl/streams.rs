//! Write streams: the block that each writes to, the blocks that it leaves to others, and its
//! room.

use crate::common::{self, taken_up};
use engine::Streams;
use ftl::state::Unknown;
use ftl::{BinId, BlockState, Ftl, FtlConfig, Layout, Lpn, Stream};
use proptest::prelude::*;
use serde_json::json;

const BIN: BinId = BinId(0);

/// Host and collection apart or in one block; scrubbing with collection or apart.
const TABLES: [(&str, &str); 4] =
    [("separate", "collection"), ("shared", "collection"), ("separate", "own"), ("shared", "own")];

fn config((streams, scrub): (&str, &str)) -> FtlConfig {
    common::config(json!({
        "over_provisioning": { "exported": "48 KiB" },
        "scrub": { "interval": "1 s", "choice": { "policy": "oldest" }, "stream": scrub },
        "allocation": common::allocation("drive", streams),
    }))
}

/// One plane of 6 blocks of 4 pages, each a unit.
fn firmware(table: (&str, &str)) -> Ftl {
    let config = config(table);
    let layout = Layout::new(&common::geometry(1, 6, 4096), &config, 12 * 4096).unwrap();
    Ftl::new(layout, &config, 0, Streams::new(1))
}

/// Binds the stream's next batch; returns its block and place.
fn bind(ftl: &mut Ftl, stream: Stream) -> Option<(u32, u32)> {
    ftl.bind(BIN, stream).ok().map(|at| (at.block.0, at.batch))
}

/// Binds all batches that a stream can; returns their blocks.
fn fill(ftl: &mut Ftl, stream: Stream) -> Vec<u32> {
    std::iter::from_fn(|| bind(ftl, stream)).map(|(block, _)| block).collect()
}

/// Writes a unit by a stream.
fn write(ftl: &mut Ftl, stream: Stream, lpn: u32) {
    let at = ftl.bind(BIN, stream).unwrap();
    let place = ftl.layout.first_unit(at.block, at.batch);
    ftl.note(place, Lpn(lpn));
    ftl.commit_write(Lpn(lpn), place);
    ftl.finish(at);
}

#[test]
fn streams_have_open_blocks_of_their_own_or_share_one() {
    // Free blocks are opened in turn: host, collection and scrubbing write one after the other.
    let first = [[0, 1, 1], [0, 0, 0], [0, 1, 2], [0, 0, 1]];
    let open = [2, 1, 3, 2];
    for (index, table) in TABLES.into_iter().enumerate() {
        let mut ftl = firmware(table);
        let scrub = ftl.scrub_stream();
        let blocks = [Stream::Host, Stream::Gc, scrub].map(|of| bind(&mut ftl, of).unwrap().0);
        assert_eq!(blocks, first[index], "{table:?}");
        assert_eq!(config(table).open_blocks(), open[index], "{table:?}");
        // The host continues in its block, after the streams that share it.
        let behind = first[index].iter().filter(|block| **block == 0).count() as u32;
        assert_eq!(bind(&mut ftl, Stream::Host), Some((0, behind)), "{table:?}");
    }
}

#[test]
fn the_last_free_block_is_for_what_collection_moves() {
    let mut ftl = firmware(("separate", "own"));
    assert_eq!(bind(&mut ftl, Stream::Scrub), Some((0, 0)));
    // Four blocks of four for the host; one stays.
    assert_eq!(fill(&mut ftl, Stream::Host).len(), 16);
    assert_eq!(ftl.free_blocks(BIN), 1);
    // What is left of its own block, then the reserve as a block of collection.
    assert_eq!(ftl.room(BIN, Stream::Scrub), 3 + 4);
    let scrubbed: Vec<_> = (0..4).map(|_| bind(&mut ftl, Stream::Scrub).unwrap()).collect();
    assert_eq!(scrubbed, [(0, 1), (0, 2), (0, 3), (5, 0)]);
    assert_eq!(bind(&mut ftl, Stream::Gc), Some((5, 1)));
    assert_eq!(bind(&mut ftl, Stream::Scrub), Some((5, 2)));
    assert_eq!(ftl.room(BIN, Stream::Gc), 1);
}

#[test]
fn hosts_that_share_a_block_write_nothing_to_the_reserve() {
    for scrub in ["collection", "own"] {
        let mut ftl = firmware(("shared", scrub));
        assert_eq!(fill(&mut ftl, Stream::Host).len(), 20);
        let of_scrubbing = ftl.scrub_stream();
        assert_eq!(bind(&mut ftl, of_scrubbing), Some((5, 0)), "{scrub}");
        assert_eq!(bind(&mut ftl, Stream::Host), None);
        assert_eq!(fill(&mut ftl, Stream::Gc), [5, 5, 5]);
    }
}

#[test]
fn a_snapshot_keeps_open_blocks_and_closes_those_that_no_stream_has() {
    let mut ftl = firmware(("separate", "own"));
    for (lpn, stream) in [(0, Stream::Host), (1, Stream::Gc), (2, Stream::Scrub)] {
        write(&mut ftl, stream, lpn);
    }
    let rest = ftl.rest();
    let mut same = taken_up(firmware(("separate", "own")), &ftl, &rest).unwrap();
    assert_eq!(bind(&mut same, Stream::Scrub), Some((2, 1)));
    let mut other = taken_up(firmware(("separate", "collection")), &ftl, &rest).unwrap();
    other.reconfigure(&config(("separate", "collection")), 0);
    assert_eq!(other.block_states()[..4], {
        use BlockState::{Closed, Free, Open};
        [Open, Open, Closed, Free]
    });
    other.audit().unwrap();
    assert!(other.is_at_rest());
    let of_scrubbing = other.scrub_stream();
    assert_eq!(bind(&mut other, of_scrubbing), Some((1, 1)), "with collection");
    // One of its four places holds valid data: it is collected like any other.
    assert_eq!(other.pick_victim(BIN).map(|block| block.0), Some(2));
}

#[test]
fn a_snapshot_of_fewer_streams_is_taken_up_and_one_of_more_is_not() {
    let mut ftl = firmware(("separate", "collection"));
    write(&mut ftl, Stream::Host, 0);
    write(&mut ftl, Stream::Gc, 1);
    let with_streams = |count: usize| {
        let mut rest = serde_json::to_value(ftl.rest()).unwrap();
        let open = rest["bins"][0]["open"].as_array_mut().unwrap();
        open.resize(count, serde_json::Value::Null);
        serde_json::from_value(rest).unwrap()
    };
    let mut earlier = taken_up(firmware(("separate", "own")), &ftl, &with_streams(2)).unwrap();
    let next = [Stream::Host, Stream::Gc, Stream::Scrub].map(|of| bind(&mut earlier, of).unwrap());
    assert_eq!(next, [(0, 1), (1, 1), (2, 0)]);
    let later = taken_up(firmware(("separate", "own")), &ftl, &with_streams(4));
    assert_eq!(later.err(), Some(Unknown));
}

proptest! {
    #![proptest_config(floor::cases!())]

    /// A stream can write as many batches as it has room for, each to the block that was
    /// announced before, whatever streams wrote before.
    #[test]
    fn streams_write_what_they_have_room_for(
        table in 0..TABLES.len(), before in proptest::collection::vec(0..3usize, 0..24),
    ) {
        let mut ftl = firmware(TABLES[table]);
        let streams = [Stream::Host, Stream::Gc, ftl.scrub_stream()];
        for stream in before {
            bind(&mut ftl, streams[stream]);
        }
        for stream in streams {
            let mut ftl = ftl.clone();
            for left in (1..=ftl.room(BIN, stream)).rev() {
                prop_assert!(ftl.can_bind(BIN, stream));
                prop_assert_eq!(ftl.room(BIN, stream), left);
                let next = ftl.next_block(BIN, stream).map(|block| block.0);
                prop_assert_eq!(bind(&mut ftl, stream).map(|(block, _)| block), next);
            }
            prop_assert!(!ftl.can_bind(BIN, stream));
            prop_assert_eq!(bind(&mut ftl, stream), None);
        }
    }
}
