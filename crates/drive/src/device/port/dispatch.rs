//! Reads that have waited until their data was on flash, and that the firmware dispatches then: like
//! others, they may meet collection and go round it.

use crate::device::Base;
use crate::device::dispatched::Dispatched;
use crate::device::flash::op::{Class, Owner};
use crate::device::gc::Gc;
use crate::device::ids::RequestId;
use crate::device::pieces::Piece;
use crate::device::port::Port;
use crate::device::write::Write;
use ftl::{BySet, Lpn, Ppn};
use metrics::{Blame, Holder};

impl Port {
    /// Dispatches the reads whose data is on flash now; units of the same read together.
    #[cold]
    pub(in crate::device) fn dispatch_deferred(
        &mut self,
        base: &mut Base,
        (gc, write): (&Gc, &BySet<Write>),
    ) {
        let mut left = std::mem::take(&mut self.requests.dispatched);
        while let Some(first) = left.first() {
            let id = first.request;
            let (own, others) = left.into_iter().partition(|unit| unit.request == id);
            left = others;
            let set = base.set_at(self.requests[id].command.offset);
            self.dispatch_units(base, (gc, &write[set]), id, own);
        }
    }

    fn dispatch_units(
        &mut self,
        base: &mut Base,
        (gc, write): (&Gc, &Write),
        id: RequestId,
        units: Vec<Dispatched>,
    ) {
        let class = Class::of_read(self.requests[id].priority);
        // All have waited since the read was taken in.
        let before = units[0].before.clone();
        self.requests[id].blocked |= before.has_hold();
        let mut pieces = Vec::new();
        for &Dispatched { lpn, ppn, .. } in &units {
            base.audit_flash_read(&mut self.requests, id, lpn, ppn);
            if base.space.ftl.is_poisoned(ppn) {
                self.requests.part_failed(id, 1);
            } else if base.space.ftl.lookup(lpn) == Some(ppn) {
                self.found(lpn, ppn);
            } else {
                // Newer data is on its way, so the rest of the stripe does not tell this.
                self.requests[id].met |= base.is_held(ppn);
                self.split_as_asked(base, id, (lpn, ppn), &mut pieces);
            }
        }
        self.ask_found(base, (gc, write), (id, class), pieces, before.clone());
        for unit in units {
            let blames = base.flash.blames();
            self.requests.part_done(id, unit.part, base.time.now, &before, blames);
        }
        self.try_answer(base, write, id);
    }

    /// Asks for the reads of units that were found on flash, besides `pieces`, as further parts of a
    /// read. `before` is the blame of the time until now.
    pub(super) fn ask_found(
        &mut self,
        base: &mut Base,
        (gc, write): (&Gc, &Write),
        (id, class): (RequestId, Class),
        mut pieces: Vec<Piece>,
        before: Blame,
    ) {
        let detours = self.detours.as_mut().expect("reads may go round");
        detours.before = before;
        self.split_found(base, (gc, write), (id, class), &mut pieces);
        let detours = self.detours.as_mut().expect("reads may go round");
        let before = std::mem::take(&mut detours.before);
        self.ask_pieces(base, (id, class), pieces, &before);
    }

    /// Asks for further parts of a read.
    pub(super) fn ask_pieces(
        &mut self,
        base: &mut Base,
        (id, class): (RequestId, Class),
        pieces: Vec<Piece>,
        before: &Blame,
    ) {
        let first = self.requests[id].parts.add(pieces.len() as u32);
        for (next, piece) in (first..).zip(pieces) {
            let op = base.ask_piece(piece, Holder::HostRead, class, Owner::Read(id, next));
            base.flash.blame_mut(op).add(before);
        }
    }

    /// Notes a unit that is on flash, of the read that is being split.
    fn found(&mut self, lpn: Lpn, ppn: Ppn) {
        let detours = self.detours.as_mut().expect("reads may go round");
        detours.found.push((lpn, Some(ppn)));
    }
}
