//! Write streams: who writes, and what each may use of a bin. A new stream is a variant and a row.

/// Free blocks of a bin that only garbage collection may open, so that it always
/// has somewhere to move a victim's valid data.
pub const RESERVE: u32 = 1;

/// Who writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    /// Host writes.
    Host = 0,
    /// Pages that garbage collection moves; those of scrubbing, too, unless they have open blocks of
    /// their own.
    Gc = 1,
    /// Pages that scrubbing moves, if they have.
    Scrub = 2,
}

/// What a stream may use of a bin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// The open block that it writes to, by its place among those of a bin. Streams of the same
    /// place share it.
    pub open: usize,
    /// Free blocks that it may not open, because they are for what collection moves.
    pub leaves: u32,
    /// Free blocks below which it writes nothing, though a block is open.
    pub least: u32,
    /// Whether a worn block that takes data that lies still gets what the stream writes.
    pub migrates: bool,
    /// The stream in whose blocks it goes on if it finds no place in its own.
    pub goes_on_in: Option<Stream>,
    /// Whether it writes to the host's open block if host and collection share one.
    pub shares: bool,
}

/// The rows of all streams, where each has open blocks of its own.
const ROWS: [Row; 3] = [
    Row { open: 0, leaves: RESERVE, least: 0, migrates: false, goes_on_in: None, shares: true },
    Row { open: 1, leaves: 0, least: 0, migrates: true, goes_on_in: None, shares: true },
    // A block that is scrubbed holds up the bin's collection, which alone gains space. So what it
    // holds never waits for space: a block is chosen only if collection's places can take it.
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
    /// What the stream may use of a bin, whose streams share open blocks or do not. (Known to the
    /// compiler but for that, so that most questions cost nothing.)
    #[inline(always)]
    pub fn row(self, shared: bool) -> Row {
        let row = ROWS[self as usize];
        // Where both write to one block the reserve, once opened, is for what collection moves alone.
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
