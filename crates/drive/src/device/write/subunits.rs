//! Writes to a drive whose map knows the subunits of mapping units that hold data: a partial write reads
//! the rest only if some of it holds data, and only that.

use crate::device::Base;
use crate::device::ids::{EntryId, PayloadId, RequestId};
use crate::device::request::Requests;
use crate::device::write::Write;
use crate::device::write::buffer::InEntry;
use crate::device::write::unit::Unit;
use engine::Span;
use ftl::Lpn;
use host::Command;

/// The part of a unit that a command writes.
#[derive(Clone, Copy)]
pub(super) struct Part {
    /// True if nothing else of the unit is needed: it is the whole, or the rest holds no data.
    pub is_complete: bool,
    touched: u64,
    rest: u64,
}

impl Write {
    /// The part of a unit that a command writes; `is_whole` if it is all of it.
    #[inline]
    pub(super) fn part_of(base: &Base, lpn: Lpn, command: Command, is_whole: bool) -> Part {
        let ftl = &base.space.ftl;
        if !ftl.layout.has_subunits() {
            return Part { is_complete: is_whole, touched: 0, rest: 0 };
        }
        let of = ftl.layout.in_unit(lpn, command.offset, command.end());
        let rest = ftl.written(lpn) & !of.covered;
        Part { is_complete: rest == 0, touched: of.touched, rest }
    }

    /// Notes that a part of a unit is taken in, as an entry of its own or in place of its data.
    #[inline]
    pub(super) fn note_part(&mut self, base: &mut Base, lpn: Lpn, entry: EntryId, part: Part) {
        if base.space.ftl.layout.has_subunits() {
            self.keep_part(base, lpn, entry, part);
        }
    }
    #[inline(never)]
    fn keep_part(&mut self, base: &mut Base, lpn: Lpn, entry: EntryId, part: Part) {
        base.space.ftl.add_written(lpn, part.touched);
        let written = base.space.ftl.written(lpn);
        self.buffer.set_subunits(entry, InEntry { written, rest: part.rest });
    }
    /// The same for a part that replaces a part of an entry's data. The rest of the entry is read
    /// already, or will be.
    #[inline]
    pub(super) fn note_overwriting(&mut self, base: &mut Base, entry: EntryId, part: Part) {
        if base.space.ftl.layout.has_subunits() {
            let lpn = self.buffer.entry(entry).lpn;
            let rest = self.buffer.subunits(entry).rest;
            self.keep_part(base, lpn, entry, Part { rest, ..part });
        }
    }

    /// Subunits that hold data of an entry's unit, and those that are read from flash; 0 if the map knows
    /// of none.
    pub(in crate::device) fn parts_of(&self, base: &Base, entry: EntryId) -> (u64, u64) {
        if !base.space.ftl.layout.has_subunits() {
            return (0, 0);
        }
        let InEntry { written, rest } = self.buffer.subunits(entry);
        (written, rest)
    }
    /// Takes back what a capacitor has saved of the subunits of an entry's unit.
    pub(in crate::device) fn take_saved(
        &mut self,
        base: &mut Base,
        lpn: Lpn,
        entry: EntryId,
        (written, rest): (u64, u64),
    ) {
        if base.space.ftl.layout.has_subunits() {
            base.space.ftl.set_written(lpn, written);
            self.buffer.set_subunits(entry, InEntry { written, rest });
        }
    }

    /// Subunits of an entry's rest that are read from flash; all of them if the map knows of none.
    pub(super) fn rest_of(&self, base: &Base, entry: EntryId) -> u64 {
        match base.space.ftl.layout.has_subunits() {
            true => self.buffer.subunits(entry).rest,
            false => base.space.ftl.layout.all_subunits(),
        }
    }

    /// Notes that an entry's data is at a place on flash, where its subunits tell which parts there are.
    #[inline]
    pub(in crate::device) fn note_subunits(&self, base: &mut Base, entry: EntryId, ppn: ftl::Ppn) {
        if base.space.ftl.layout.has_subunits() {
            base.space.ftl.note_subunits(ppn, self.buffer.subunits(entry).written);
        }
    }

    /// Channel time of a program: that of its units, or of their parts that hold data.
    #[inline]
    pub(super) fn transfer_of(&self, base: &Base, payload: PayloadId) -> Span {
        let layout = &base.space.ftl.layout;
        if layout.has_subunits() && layout.rows_per_batch == 1 {
            return self.transfer_of_parts(base, payload);
        }
        base.flash.shape().units[base.flash.payloads.count(payload) as usize]
    }
    #[inline(never)]
    fn transfer_of_parts(&self, base: &Base, payload: PayloadId) -> Span {
        let (layout, shape) = (&base.space.ftl.layout, base.flash.shape());
        let parts_of = |slot| match self.unit_of(base.flash.payloads.slot(payload, slot)[0]) {
            Unit::Data(entry) => self.buffer.subunits(entry).written,
            Unit::Parity(_) => layout.all_subunits(),
        };
        let slots = 0..base.flash.payloads.count(payload);
        let words: u32 =
            slots.map(|slot| shape.words_of_parts(parts_of(slot), layout.subunit_bytes())).sum();
        shape.words[words as usize]
    }
    /// The unit of a slot in a program's payload.
    fn unit_of(&self, slot: u32) -> Unit {
        match self.updates.is_some() {
            true => Unit::of_slot(slot),
            false => Unit::Data(EntryId(slot)),
        }
    }

    /// Trims a part of a unit: the subunits that the command covers hold no data any more. A unit that
    /// holds none is trimmed.
    #[cold]
    pub(in crate::device) fn trim_part(
        &mut self,
        base: &mut Base,
        requests: &mut Requests,
        lpn: Lpn,
        id: RequestId,
    ) {
        let command = requests[id].command;
        let covered = base.space.ftl.layout.in_unit(lpn, command.offset, command.end()).covered;
        let has_data = base.space.ftl.written(lpn) != 0
            || self.buffer.find(lpn).is_some()
            || base.space.ftl.lookup(lpn).is_some();
        if covered == 0 || !has_data {
            return;
        }
        self.buffer.trim_subunits(lpn, covered);
        let left = base.space.ftl.trim_subunits(lpn, covered);
        base.audit_trim_part(requests, id, lpn);
        if left == 0 {
            self.discard(base, requests, lpn, id);
        }
    }
}
