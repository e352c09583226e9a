//! Host reads: splitting a range into page reads, and what each costs.

use crate::device::Device;
use crate::device::flash::Ask;
use crate::device::flash::counters::OpKind;
use crate::device::flash::op::{Class, OpId, Owner};
use crate::device::port::request::{RequestId, Touches};
use crate::device::write::buffer::{EntryId, Stage};
use ftl::{BlockId, Lpn, Pun};
use host::Priority;
use metrics::{Blame, Holder, State};
use nand::PlaneId;

/// What one read operation will fetch: part of one row.
#[derive(Clone, Copy, Debug)]
pub struct Piece {
    block: BlockId,
    batch: u32,
    row: u32,
    planes: u64,
    chunks: u32,
}

impl Piece {
    /// True where it senses a page.
    pub fn has(&self, block: BlockId, row: u32, plane: u64) -> bool {
        self.block == block && self.row == row && self.planes >> plane & 1 == 1
    }
}

impl Class {
    /// The class of host reads of a priority.
    pub const fn of_read(priority: Priority) -> Self {
        match priority {
            Priority::High => Self::ReadHigh,
            Priority::Normal => Self::ReadNormal,
            Priority::Low => Self::ReadLow,
        }
    }
}

impl Device {
    /// The firmware takes a read in: buffer hits, unmapped units, page reads.
    pub(in crate::device) fn read(&mut self, id: RequestId) {
        let request = &self.port.requests[id];
        let command = request.command;
        let class = Class::of_read(request.priority);
        let (first, behind) = command.units(&self.base.space.ftl.layout);
        let mut pieces = std::mem::take(&mut self.port.pieces);
        pieces.clear();
        let mut hits = 0;
        for lpn in (first..behind).map(Lpn) {
            if let Some(entry) = self.write.buffer.find(lpn) {
                let is_whole = self.write.buffer.entry(entry).stage != Stage::Modifying;
                if self.write.config.read_hits && is_whole {
                    self.audit_buffer_read(id, lpn, entry);
                    hits += 1;
                } else {
                    self.audit_deferred_read(id, lpn);
                    self.defer_read(id, entry);
                }
                continue;
            }
            match self.base.space.ftl.lookup(lpn) {
                Some(pun) => {
                    self.audit_flash_read(id, lpn, pun);
                    self.split(&mut pieces, lpn, pun, command.offset, command.end());
                    self.audit_pieces(&pieces, lpn, pun, command.offset, command.end());
                }
                None => {
                    self.audit_unmapped_read(id, lpn);
                    self.port.requests[id].unmapped += 1;
                }
            }
        }
        // Buffer hits and unmapped units are one part, done after a buffer access.
        let from_buffer = hits > 0 || (pieces.is_empty() && self.port.requests[id].parts == 0);
        let request = &mut self.port.requests[id];
        let next = request.parts;
        request.parts += pieces.len() as u32 + u32::from(from_buffer);
        request.parts_left += pieces.len() as u32 + u32::from(from_buffer);
        request.complete_set = true;
        for (part, piece) in pieces.iter().enumerate() {
            self.ask_piece(*piece, Holder::HostRead, class, Owner::Read(id, next + part as u32));
        }
        if from_buffer {
            let mut blame = Blame::default();
            let latency = self.write.config.latency.span();
            blame.charge(State::Buffer, latency);
            self.port.requests.part_done(
                id,
                next + pieces.len() as u32,
                self.base.time.now + latency,
                &blame,
            );
            self.try_answer(id);
        }
        self.port.pieces = pieces;
    }

    /// Asks for one piece; an erase of its block waits until it is read.
    pub(in crate::device) fn ask_piece(
        &mut self,
        piece: Piece,
        holder: Holder,
        class: Class,
        owner: Owner,
    ) -> OpId {
        self.base.space.ftl.begin_read(piece.block);
        self.ask(Ask {
            kind: OpKind::Read,
            holder,
            owner,
            class,
            bin: self.base.space.ftl.layout.bin(piece.block),
            planes: piece.planes,
            block: piece.block,
            batch: piece.batch,
            row: piece.row,
            rows: 1,
            transfer: self.base.flash.rows.chunks[piece.chunks as usize],
        })
    }

    /// Adds what a unit's bytes `from..to` (of the drive) need to `pieces`.
    pub(in crate::device) fn split(
        &self,
        pieces: &mut Vec<Piece>,
        lpn: Lpn,
        pun: Pun,
        from: u64,
        to: u64,
    ) {
        let layout = &self.base.space.ftl.layout;
        let (block, place) = layout.block_and_place(pun);
        let (batch, slot) = layout.batch_and_slot(place);
        if layout.unit_bytes <= layout.page_bytes {
            let (row, planes) = (batch, layout.planes_of_slot(slot));
            return self.add(pieces, Piece { block, batch, row, planes, chunks: 1 });
        }
        // A unit of several pages: only those that the range touches.
        let start = u64::from(lpn.0) * layout.unit_bytes;
        let first = from.saturating_sub(start) / layout.page_bytes;
        let behind = (to.min(start + layout.unit_bytes) - start).div_ceil(layout.page_bytes);
        for page in first..behind {
            let in_batch = u64::from(slot) * (layout.unit_bytes / layout.page_bytes) + page;
            let row =
                batch * layout.rows_per_batch + (in_batch / u64::from(layout.block_planes)) as u32;
            let plane = in_batch % u64::from(layout.block_planes);
            self.add(pieces, Piece { block, batch, row, planes: 1 << plane, chunks: 1 });
        }
    }

    /// Adds a piece, joined with the last where one sensing serves both: the same
    /// page, or planes that a read occupies together anyway.
    fn add(&self, pieces: &mut Vec<Piece>, piece: Piece) {
        if let Some(last) = pieces.last_mut()
            && last.block == piece.block
            && last.row == piece.row
            && (last.planes == piece.planes
                || self.read_together(piece.block, last.planes, piece.planes))
        {
            last.planes |= piece.planes;
            last.chunks += piece.chunks;
            return;
        }
        pieces.push(piece);
    }

    fn read_together(&self, block: BlockId, one: u64, other: u64) -> bool {
        let first = self.base.space.ftl.layout.first_plane(self.base.space.ftl.layout.bin(block)).0;
        let cells = |planes: u64| {
            self.base.flash.units.place(PlaneId(first + planes.trailing_zeros())).read
        };
        cells(one) == cells(other)
    }

    /// A page read for a host has left its channel.
    #[inline]
    pub(in crate::device) fn read_ended(&mut self, op: OpId, id: RequestId, part: u32) {
        let decode = self.base.flash.timing.decode;
        self.base.flash.ops.blame(op).charge(State::Decode, decode);
        let block = self.base.flash.ops[op].block;
        self.unpin(block);
        self.part_done(id, part, self.base.time.now + decode, op);
    }

    /// A read of a block is over; the block may have waited for it to be erased.
    #[inline]
    pub(in crate::device) fn unpin(&mut self, block: BlockId) {
        if self.base.space.ftl.end_read(block) {
            self.erase_if_ready(block);
        }
    }

    /// A read that may not be served from the buffer waits until the entry is on
    /// flash, and hurries it there.
    fn defer_read(&mut self, id: RequestId, entry: EntryId) {
        let request = &mut self.port.requests[id];
        let part = request.parts;
        request.parts += 1;
        request.parts_left += 1;
        let pool = self.write.buffer.defer(entry, id, part, self.base.time.now);
        self.hurry(pool);
    }
}
