//! Host reads and their cost.

use crate::device::Base;
use crate::device::flash::op::{Class, Owner};
use crate::device::gc::Gc;
use crate::device::ids::{EntryId, OpId, RequestId};
use crate::device::pieces::Piece;
use crate::device::port::Port;
use crate::device::request::Touches;
use crate::device::write::Write;
use ftl::Lpn;
use host::Priority;
use metrics::{Blame, Holder, State};

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

impl Port {
    /// Takes a read in: buffer hits, unmapped units, page reads.
    pub(in crate::device) fn read(
        &mut self,
        base: &mut Base,
        gc: &Gc,
        write: &mut Write,
        id: RequestId,
    ) {
        let request = &self.requests[id];
        let command = request.command;
        let class = Class::of_read(request.priority);
        let (first, behind) = command.units(&base.space.ftl.layout);
        let mut pieces = std::mem::take(&mut self.pieces);
        pieces.clear();
        let mut hits = 0;
        for lpn in (first..behind).map(Lpn) {
            if let Some(entry) = write.buffer.find(lpn) {
                if write.serves(entry) {
                    let token = write.buffer.token(entry);
                    base.audit_buffer_read(&mut self.requests, id, lpn, token);
                    hits += 1;
                    if write.is_unread(entry) {
                        self.requests.part_failed(id, 1);
                    }
                } else {
                    base.audit_deferred_read(&mut self.requests, id, lpn);
                    self.defer_read(base, write, id, entry);
                }
                continue;
            }
            if self.detours.is_some() {
                self.find(base, write, id, lpn);
                continue;
            }
            match base.space.ftl.lookup(lpn) {
                Some(ppn) if base.space.ftl.is_poisoned(ppn) => {
                    base.audit_flash_read(&mut self.requests, id, lpn, ppn);
                    self.requests.part_failed(id, 1);
                }
                Some(ppn) => {
                    base.audit_flash_read(&mut self.requests, id, lpn, ppn);
                    base.split(&mut pieces, lpn, ppn, command.offset, command.end());
                    base.audit_pieces(&pieces, lpn, ppn, command.offset, command.end());
                }
                None => {
                    base.audit_unmapped_read(&mut self.requests, id, lpn);
                    self.requests[id].unmapped += 1;
                }
            }
        }
        if self.detours.is_some() {
            self.split_found(base, (gc, write), (id, class), &mut pieces);
        }
        self.begin_parts(base, write, id, class, &pieces, hits > 0);
        self.pieces = pieces;
    }

    /// Notes a unit that a read asks for and that is not in the buffer, if reads may go round
    /// collection or failed flash.
    #[inline(never)]
    pub(super) fn find(&mut self, base: &mut Base, write: &Write, id: RequestId, lpn: Lpn) {
        let detours = self.detours.as_mut().expect("reads may go round");
        match base.space.ftl.lookup(lpn) {
            Some(ppn) if base.space.ftl.is_poisoned(ppn) => {
                base.audit_flash_read(&mut self.requests, id, lpn, ppn);
                self.requests.part_failed(id, 1);
            }
            Some(ppn) => {
                let is_lost = base.space.ftl.is_lost(ppn);
                detours.found.push((lpn, (!is_lost).then_some(ppn)));
                base.audit_flash_read(&mut self.requests, id, lpn, ppn);
            }
            None if write.is_lost(base, lpn) => detours.found.push((lpn, None)),
            None => {
                base.audit_unmapped_read(&mut self.requests, id, lpn);
                self.requests[id].unmapped += 1;
            }
        }
    }

    /// Asks for the last parts of a read: pieces, and buffer hits and unmapped units, which are one
    /// part, done after a buffer access.
    #[inline(always)]
    fn begin_parts(
        &mut self,
        base: &mut Base,
        write: &mut Write,
        id: RequestId,
        class: Class,
        pieces: &[Piece],
        has_hits: bool,
    ) {
        let parts = &mut self.requests[id].parts;
        let from_buffer = has_hits || (pieces.is_empty() && parts.made() == 0);
        let next = parts.add(pieces.len() as u32 + u32::from(from_buffer));
        parts.close();
        for (part, piece) in pieces.iter().enumerate() {
            base.ask_piece(*piece, Holder::HostRead, class, Owner::Read(id, next + part as u32));
        }
        if from_buffer {
            let mut blame = Blame::default();
            let copied = write.copy(base.time.now, &mut blame);
            let part = next + pieces.len() as u32;
            self.requests.part_done(id, part, copied, &blame, base.flash.blames());
            self.try_answer(base, write, id);
        } else if pieces.is_empty() {
            // All of it may have been computed from what is in memory.
            self.try_answer(base, write, id);
        }
    }

    /// Continues after a page read for a host has left its channel.
    #[inline]
    pub(in crate::device) fn read_ended(
        &mut self,
        base: &mut Base,
        write: &Write,
        op: OpId,
        (id, part): (RequestId, u32),
    ) {
        let decode = base.decode;
        let at = base.time.now + decode;
        let failed = base.flash.op(op).failed;
        if failed > 0 {
            self.requests.part_failed(id, failed.into());
        }
        if self.detours.is_some() && base.flash.blame(op).has_hold() {
            self.requests[id].blocked = true;
        }
        let blame = base.flash.hand_over_blame(op);
        let blames = base.flash.blames();
        blames[blame].charge(State::Decode, decode);
        let ended = self.requests.part_done_with(id, part, at, blame, blames);
        if let Some(at) = ended {
            self.answer(base, write, id, at);
        }
    }

    /// Lets a read that may not be served from the buffer wait until the entry is on flash, and
    /// forces its flush.
    fn defer_read(&mut self, base: &mut Base, write: &mut Write, id: RequestId, entry: EntryId) {
        let part = self.requests[id].parts.add(1);
        let pool = write.buffer.defer(entry, id, part, base.time.now);
        write.force_flush(base, pool);
    }

    /// Takes a trim in: whole units in its range lose their data. Parts of units keep it (as NVMe's
    /// deallocate may), unless the map knows of subunits.
    pub(in crate::device) fn trim(&mut self, base: &mut Base, write: &mut Write, id: RequestId) {
        let command = self.requests[id].command;
        let unit = base.space.ftl.layout.unit_bytes;
        let (first, behind) = (command.offset.div_ceil(unit), command.end() / unit);
        let has_parts = base.space.ftl.layout.has_subunits();
        if has_parts && !command.offset.is_multiple_of(unit) {
            let lpn = base.space.ftl.layout.unit_at(command.offset);
            write.trim_part(base, &mut self.requests, lpn, id);
        }
        for lpn in first..behind {
            write.discard(base, &mut self.requests, Lpn(lpn as u32), id);
        }
        if has_parts && !command.end().is_multiple_of(unit) && first <= behind {
            let lpn = base.space.ftl.layout.unit_at(command.end());
            write.trim_part(base, &mut self.requests, lpn, id);
        }
        write.end_trims(base);
        self.answer(base, write, id, base.time.now);
        write.admit_waiting(base, &mut self.requests, None);
        base.space.retry_starved(base.set_at(self.requests[id].command.offset));
    }
}
