//! Reads whose flash failed before they ended: they begin anew.

use crate::device::Base;
use crate::device::flash::op::Class;
use crate::device::gc::Gc;
use crate::device::ids::{OpId, RequestId};
use crate::device::port::Port;
use crate::device::request::Touches;
use crate::device::write::Write;
use ftl::{Lpn, Ppn};
use metrics::Blame;

impl Port {
    /// Continues after a page read for a host that ended on failed flash.
    #[cold]
    pub(in crate::device) fn read_failed(
        &mut self,
        base: &mut Base,
        (gc, write): (&Gc, &mut Write),
        op: OpId,
        (id, part): (RequestId, u32),
    ) {
        let units = self.units_of(base, op, id);
        let blame = base.flash.blame(op).clone();
        self.read_again(base, (gc, write), (id, part), &units, blame);
    }

    /// Units of a request that an operation has read.
    fn units_of(&self, base: &Base, op: OpId, id: RequestId) -> Vec<Lpn> {
        let (layout, op) = (&base.space.ftl.layout, base.flash.op(op));
        let (first, behind) = self.requests[id].command.units(layout);
        let slots =
            (0..layout.units_per_batch).map(|slot| layout.first_unit(op.block, op.batch).0 + slot);
        // An operation that has ended is one row further.
        let (place, row) = (base.flash.place_of(op.bin, op.batch), op.row - 1);
        let mut pieces = Vec::new();
        let mut units: Vec<Lpn> = Vec::new();
        for ppn in slots.map(Ppn) {
            let lpn = base.space.ftl.holds(ppn);
            if !(first..behind).contains(&lpn.0) {
                continue;
            }
            pieces.clear();
            base.split_whole(&mut pieces, lpn, ppn);
            let is_read = pieces.iter().any(|piece| {
                piece
                    .planes_in(op.block, row)
                    .is_some_and(|of| place.read_cells(of) & op.cells != 0)
            });
            if is_read && !units.contains(&lpn) {
                units.push(lpn);
            }
        }
        units
    }

    /// Reads units of a request anew, whose flash failed, instead of a part of it. `before` is the blame
    /// of the time until now.
    pub(super) fn read_again(
        &mut self,
        base: &mut Base,
        (gc, write): (&Gc, &mut Write),
        (id, part): (RequestId, u32),
        units: &[Lpn],
        before: Blame,
    ) {
        let class = Class::of_read(self.requests[id].priority);
        for lpn in units.iter().copied() {
            if let Some(entry) = write.buffer.find(lpn) {
                if write.serves(entry) {
                    base.audit_buffer_read(&mut self.requests, id, lpn, write.buffer.token(entry));
                } else {
                    let part = self.requests[id].parts.add(1);
                    let pool = write.buffer.defer(entry, id, part, base.time.now - before.total());
                    write.force_flush(base, pool);
                }
            } else {
                self.find(base, write, id, lpn);
            }
        }
        self.ask_found(base, (gc, write), (id, class), Vec::new(), before.clone());
        // What is in memory is there now.
        self.requests.part_done(id, part, base.time.now, &before, base.flash.blames());
        self.try_answer(base, write, id);
    }
}
