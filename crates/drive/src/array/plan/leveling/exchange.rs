//! An exchange of two chunks while hosts read and write them: piece by piece, through the host's memory.

use super::chunks::{ChunkId, Place};
use crate::array::members::MemberId;
use std::ops::Range;

/// State of the same piece of both chunks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// It lies at its old place.
    Old,
    /// It waits until writes of hosts that are under way have ended.
    Clearing,
    /// It is read. So many reads have not ended.
    Reading(u32),
    /// The memory has it. It waits until reads of hosts that are under way have ended.
    Kept,
    /// It is written to the place of the other one. So many writes have not ended.
    Writing(u32),
    /// It lies at its new place.
    New,
}

/// Bytes of a member.
pub type Bytes = (MemberId, Range<u64>);

/// An exchange under way.
pub struct Exchange {
    // ---- constant ----
    pub chunks: [ChunkId; 2],
    /// The places from which the chunks come.
    from: [Place; 2],
    chunk_bytes: u64,
    piece_bytes: u64,
    // ---- state ----
    stages: Vec<Stage>,
    /// Pieces under way, in the order in which they began.
    under_way: Vec<u32>,
    /// The next piece that begins.
    next: u32,
}

impl Exchange {
    pub fn new(
        chunks: [ChunkId; 2],
        from: [Place; 2],
        (chunk_bytes, piece_bytes): (u64, u64),
    ) -> Self {
        let pieces = (chunk_bytes / piece_bytes) as usize;
        Self {
            chunks,
            from,
            chunk_bytes,
            piece_bytes,
            stages: vec![Stage::Old; pieces],
            under_way: Vec::new(),
            next: 0,
        }
    }

    /// True if all pieces lie at their new places.
    pub fn is_over(&self) -> bool {
        self.under_way.is_empty() && self.next as usize == self.stages.len()
    }
    /// Pieces under way.
    pub fn under_way(&self) -> &[u32] {
        &self.under_way
    }
    /// The state of a piece.
    pub fn stage(&self, piece: u32) -> Stage {
        self.stages[piece as usize]
    }
    /// Begins the next piece, if there is one and fewer than `depth` are under way.
    pub fn begin_piece(&mut self, depth: u32) -> bool {
        let may = (self.under_way.len() as u32) < depth && (self.next as usize) < self.stages.len();
        if may {
            self.stages[self.next as usize] = Stage::Clearing;
            self.under_way.push(self.next);
            self.next += 1;
        }
        may
    }
    /// Sets the state of a piece under way, which ends if it is [`Stage::New`].
    pub fn set_stage(&mut self, piece: u32, stage: Stage) {
        self.stages[piece as usize] = stage;
        if stage == Stage::New {
            self.under_way.retain(|of| *of != piece);
        }
    }
    /// A read or write of a piece has ended; returns its state.
    pub fn copy_ended(&mut self, piece: u32) -> Stage {
        let stage = match self.stage(piece) {
            Stage::Reading(1) => Stage::Kept,
            Stage::Reading(left) => Stage::Reading(left - 1),
            Stage::Writing(1) => Stage::New,
            Stage::Writing(left) => Stage::Writing(left - 1),
            stage => panic!("a piece that is {stage:?} copies nothing"),
        };
        self.set_stage(piece, stage);
        stage
    }

    /// The bytes of a piece at the old place of each chunk.
    pub fn bytes(&self, piece: u32) -> [Bytes; 2] {
        self.from.map(|place| {
            let start =
                u64::from(place.index) * self.chunk_bytes + u64::from(piece) * self.piece_bytes;
            (place.member, start..start + self.piece_bytes)
        })
    }

    /// The state of a byte of a chunk, the place of its piece, and the first byte of the chunk behind
    /// the piece; `None` if the chunk is another one.
    pub fn find(&self, chunk: ChunkId, byte: u64) -> Option<(Stage, Place, u64)> {
        let side = self.chunks.iter().position(|of| *of == chunk)?;
        let piece = (byte / self.piece_bytes) as u32;
        let stage = self.stage(piece);
        let place = self.from[if stage == Stage::New { 1 - side } else { side }];
        Some((stage, place, u64::from(piece + 1) * self.piece_bytes))
    }
}
