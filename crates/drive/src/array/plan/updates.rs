//! Updates of parity: those that read, and those that wait until no earlier one has the same bytes of a
//! row.

use super::stripes::Piece;
use engine::{Slab, typed_id};
use host::Kind;
use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;

typed_id! {
    /// An update of parity that reads.
    pub struct UpdateId;
}

/// An update of parity.
#[derive(Clone, Debug)]
pub struct Update {
    /// Its number, in the order of writes.
    pub number: u64,
    pub kind: Kind,
    pub piece: Piece,
}

/// An update that reads, and its reads that have not ended.
#[derive(Clone, Debug)]
struct Reading {
    update: Update,
    reads: u32,
}

/// Updates of a row of chunks.
#[derive(Default)]
struct Row {
    reading: Vec<UpdateId>,
    waiting: VecDeque<Update>,
}

/// All updates.
pub struct Updates {
    /// Bytes of a chunk. No piece lies in two rows.
    chunk: u64,
    slab: Slab<UpdateId, Reading>,
    /// Rows that have updates, by their number.
    rows: BTreeMap<u64, Row>,
}

impl Updates {
    pub fn new(chunk: u64) -> Self {
        Self { chunk, slab: Slab::default(), rows: BTreeMap::new() }
    }
    fn row_of(&self, bytes: &Range<u64>) -> u64 {
        bytes.start / self.chunk
    }
    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }
    /// True if the parity of some of these bytes, which lie in one row, is being computed.
    pub fn meet(&self, bytes: &Range<u64>) -> bool {
        let Some(row) = self.rows.get(&self.row_of(bytes)) else { return false };
        self.meets_reading(row, bytes) || row.waiting.iter().any(|of| meet(&of.piece.bytes, bytes))
    }
    fn meets_reading(&self, row: &Row, bytes: &Range<u64>) -> bool {
        row.reading.iter().any(|id| meet(&self.slab[*id].update.piece.bytes, bytes))
    }

    /// Lets an update wait for those before it.
    pub fn wait(&mut self, update: Update) {
        let row = self.row_of(&update.piece.bytes);
        self.rows.entry(row).or_default().waiting.push_back(update);
    }
    /// Begins the reads of an update.
    pub fn begin(&mut self, update: Update, reads: u32) -> UpdateId {
        let row = self.row_of(&update.piece.bytes);
        let id = self.slab.insert(Reading { update, reads });
        self.rows.entry(row).or_default().reading.push(id);
        id
    }
    /// Counts a read that has ended; true if it was the last one.
    pub fn read_ended(&mut self, id: UpdateId) -> bool {
        let reading = &mut self.slab[id];
        reading.reads -= 1;
        reading.reads == 0
    }
    /// Ends an update, which has read all.
    pub fn end(&mut self, id: UpdateId) -> Update {
        let update = self.slab[id].update.clone();
        self.slab.remove(id);
        let row = self.row_of(&update.piece.bytes);
        let of = self.rows.get_mut(&row).expect("it has an update");
        of.reading.retain(|other| *other != id);
        if of.reading.is_empty() && of.waiting.is_empty() {
            self.rows.remove(&row);
        }
        update
    }
    /// Takes the first update of the row of some bytes that need not wait any more.
    pub fn take_ready(&mut self, bytes: &Range<u64>) -> Option<Update> {
        let row = self.row_of(bytes);
        let of = self.rows.get(&row)?;
        let is_free = |at: usize| {
            let bytes = &of.waiting[at].piece.bytes;
            let before = of.waiting.iter().take(at);
            !self.meets_reading(of, bytes)
                && !before.map(|before| &before.piece.bytes).any(|before| meet(before, bytes))
        };
        let at = (0..of.waiting.len()).find(|at| is_free(*at))?;
        let of = self.rows.get_mut(&row)?;
        let ready = of.waiting.remove(at);
        if of.reading.is_empty() && of.waiting.is_empty() {
            self.rows.remove(&row);
        }
        ready
    }
}

/// True if two ranges have bytes in common.
pub fn meet(one: &Range<u64>, other: &Range<u64>) -> bool {
    one.start < other.end && other.start < one.end
}
