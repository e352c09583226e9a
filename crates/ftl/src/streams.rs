//! Write streams: the sources of writes, and the use that each may make of a bin. A new stream is
//! a variant and a row.

/// Free blocks of a bin that only garbage collection may open, so that it always has a place for
/// the valid data of a victim.
pub const RESERVE: u32 = 1;

/// Source of writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    /// Host writes.
    Host = 0,
    /// Pages that garbage collection moves; also those of scrubbing, unless scrubbing has open
    /// blocks of its own.
    Gc = 1,
    /// Pages that scrubbing moves, if it has open blocks of its own.
    Scrub = 2,
}

/// Use that a stream may make of a bin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// Index of its open block among those of a bin. Streams with the same index share the block.
    pub open: usize,
    /// Free blocks that it may not open, because they are reserved for the moves of collection.
    pub leaves: u32,
    /// Free blocks below which it may not write, even to an open block.
    pub least: u32,
    /// True if its data may go to the worn block of a migration, which takes cold data.
    pub migrates: bool,
    /// The stream whose blocks it uses when it finds no place in its own.
    pub goes_on_in: Option<Stream>,
    /// True if it writes to the host's open block if host and collection share one.
    pub shares: bool,
}

/// The rows of all streams if each has open blocks of its own.
const ROWS: [Row; 3] = [
    Row { open: 0, leaves: RESERVE, least: 0, migrates: false, goes_on_in: None, shares: true },
    Row { open: 1, leaves: 0, least: 0, migrates: true, goes_on_in: None, shares: true },
    // A scrub delays the collection of its bin, and only collection gains space. So the moves of
    // a scrub must never wait for space: a block is chosen only if collection's places can take
    // its valid data.
    Row {
        open: 2,
        leaves: RESERVE,
        least: 0,
        migrates: false,
        goes_on_in: Some(Stream::Gc),
        shares: false,
    },
];

/// Number of streams.
pub const STREAMS: usize = ROWS.len();

impl Stream {
    /// Use that the stream may make of a bin; `shared` says if host and collection share open
    /// blocks. (The compiler knows all but that, so most queries cost nothing.)
    #[inline(always)]
    pub fn row(self, shared: bool) -> Row {
        let row = ROWS[self as usize];
        // If both write to one block, the reserve, once opened, is only for the moves of
        // collection.
        if shared && row.shares { Row { open: 0, least: row.leaves, ..row } } else { row }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_that_share_write_to_one_block_and_leave_the_reserve_to_collection() {
        let [host, gc] = [Stream::Host, Stream::Gc].map(|stream| stream.row(false));
        assert_ne!(host.open, gc.open);
        assert_eq!((host.leaves, host.least), (RESERVE, 0));
        let [shared_host, shared_gc] = [Stream::Host, Stream::Gc].map(|stream| stream.row(true));
        assert_eq!(shared_host.open, shared_gc.open);
        assert_eq!((shared_host.leaves, shared_host.least), (RESERVE, RESERVE));
        for row in [gc, shared_gc] {
            assert_eq!((row.leaves, row.least, row.migrates), (0, 0, true));
        }
    }

    #[test]
    fn scrubbing_keeps_a_block_apart_and_leaves_the_reserve_to_collection() {
        for shared in [false, true] {
            let [host, gc, scrub] =
                [Stream::Host, Stream::Gc, Stream::Scrub].map(|stream| stream.row(shared));
            assert!(![host.open, gc.open].contains(&scrub.open));
            assert_eq!((scrub.leaves, scrub.least, scrub.migrates), (RESERVE, 0, false));
            assert_eq!(scrub.goes_on_in, Some(Stream::Gc));
        }
    }
}
