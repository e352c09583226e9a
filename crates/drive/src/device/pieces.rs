//! Ranges of units as reads of pages.

use crate::device::Base;
use crate::device::flash::Ask;
use crate::device::flash::counters::OpKind;
use crate::device::flash::op::{Class, Owner};
use crate::device::ids::OpId;
use ftl::{Batch, BlockId, Lpn, Ppn};
use metrics::Holder;
use nand::PlaneId;

/// A part of one row that one read operation reads.
#[derive(Clone, Copy, Debug)]
pub struct Piece {
    block: BlockId,
    batch: u32,
    row: u32,
    planes: u64,
    /// Codewords of them that it transfers.
    words: u32,
    /// Slots of the units that these are of.
    slots: u64,
}

impl Piece {
    /// Its planes, if it senses this row of a block.
    pub fn planes_in(&self, block: BlockId, row: u32) -> Option<u64> {
        (self.block == block && self.row == row).then_some(self.planes)
    }
    /// True if it senses a page.
    pub fn has(&self, at: Batch, row: u32, plane: u64) -> bool {
        (self.block, self.batch, self.row) == (at.block, at.batch, row)
            && self.planes >> plane & 1 == 1
    }
}

impl Base {
    /// Asks for one piece.
    #[inline]
    pub fn ask_piece(&mut self, piece: Piece, holder: Holder, class: Class, owner: Owner) -> OpId {
        let ask = self.read_of_piece(piece, holder, class, owner);
        self.ask(ask)
    }

    /// The request for one piece; an erase of its block waits until it is read.
    #[inline]
    pub fn read_of_piece(
        &mut self,
        piece: Piece,
        holder: Holder,
        class: Class,
        owner: Owner,
    ) -> Ask {
        self.space.ftl.begin_read(piece.block);
        Ask {
            slots: piece.slots,
            kind: OpKind::Read,
            holder,
            owner,
            class,
            bin: self.space.ftl.layout.bin(piece.block),
            planes: piece.planes,
            block: piece.block,
            batch: piece.batch,
            row: piece.row,
            rows: 1,
            transfer: self.flash.shape().words[piece.words as usize],
            bytes: self.flash.shape().bytes_of(piece.words),
        }
    }

    /// Adds the pieces for a whole unit to `pieces`.
    pub fn split_whole(&self, pieces: &mut Vec<Piece>, lpn: Lpn, ppn: Ppn) {
        let unit = self.space.ftl.layout.unit_bytes;
        let start = u64::from(lpn.0) * unit;
        self.split(pieces, lpn, ppn, start, start + unit);
        self.audit_pieces(pieces, lpn, ppn, start, start + unit);
    }

    /// Adds the pieces for some subunits of a unit to `pieces`; for the whole unit if there are no
    /// subunits.
    pub fn split_parts(&self, pieces: &mut Vec<Piece>, lpn: Lpn, ppn: Ppn, parts: u64) {
        let layout = &self.space.ftl.layout;
        if !layout.has_subunits() {
            return self.split_whole(pieces, lpn, ppn);
        }
        let start = u64::from(lpn.0) * layout.unit_bytes;
        for range in self.flash.shape().ranges(parts, layout.subunit_bytes()) {
            let [from, to] = [start + range.start, start + range.end];
            self.split(pieces, lpn, ppn, from, to);
            self.audit_pieces(pieces, lpn, ppn, from, to);
        }
    }

    /// Adds the pieces for a unit's bytes `from..to` (of the drive) to `pieces`.
    pub fn split(&self, pieces: &mut Vec<Piece>, lpn: Lpn, ppn: Ppn, from: u64, to: u64) {
        let layout = &self.space.ftl.layout;
        let (block, place) = layout.block_and_place(ppn);
        let (batch, slot) = layout.batch_and_slot(place);
        let start = u64::from(lpn.0) * layout.unit_bytes;
        if layout.unit_bytes > layout.page_bytes {
            return self.split_pages(pieces, (start, slot), Batch { block, batch }, from, to);
        }
        // A batch is a row.
        let (row, planes) = (layout.row_in_lane(batch), layout.planes_of_slot(slot));
        let words = self.flash.shape().words_of(start, from, to);
        self.add(pieces, Piece { block, batch, row, planes, words, slots: 1 << slot });
    }

    /// As [`Base::split`], for a unit of several pages, which begins at `start`: only those that the
    /// range touches.
    #[inline(never)]
    fn split_pages(
        &self,
        pieces: &mut Vec<Piece>,
        (start, slot): (u64, u32),
        Batch { block, batch }: Batch,
        from: u64,
        to: u64,
    ) {
        let (layout, shape) = (&self.space.ftl.layout, self.flash.shape());
        let slots = 1 << slot;
        let first = from.saturating_sub(start) / layout.page_bytes;
        let behind = (to.min(start + layout.unit_bytes) - start).div_ceil(layout.page_bytes);
        for page in first..behind {
            let in_batch = u64::from(slot) * (layout.unit_bytes / layout.page_bytes) + page;
            let row = layout.first_row(batch) + (in_batch / u64::from(layout.block_planes)) as u32;
            let planes = 1 << (in_batch % u64::from(layout.block_planes));
            let words = shape.words_of(start + page * layout.page_bytes, from, to);
            self.add(pieces, Piece { block, batch, row, planes, words, slots });
        }
    }

    /// Adds a piece, joined with the last if one sensing serves both: the same page, or planes that
    /// a read occupies together anyway.
    fn add(&self, pieces: &mut Vec<Piece>, piece: Piece) {
        if let Some(last) = pieces.last_mut()
            && (last.block, last.batch, last.row) == (piece.block, piece.batch, piece.row)
            && (last.planes == piece.planes || self.read_together(&piece, last.planes))
        {
            last.planes |= piece.planes;
            last.words += piece.words;
            last.slots |= piece.slots;
            return;
        }
        pieces.push(piece);
    }

    fn read_together(&self, piece: &Piece, planes: u64) -> bool {
        let layout = &self.space.ftl.layout;
        let first = layout.first_plane(layout.bin(piece.block), layout.lane(piece.batch)).0;
        let cells =
            |planes: u64| self.flash.units().place(PlaneId(first + planes.trailing_zeros())).read;
        cells(planes) == cells(piece.planes)
    }
}
