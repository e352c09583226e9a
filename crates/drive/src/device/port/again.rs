//! Reads that begin anew: their flash failed before they ended, or they went round collection in vain.

use crate::device::Base;
use crate::device::flash::op::Class;
use crate::device::gc::Gc;
use crate::device::ids::{OpId, RequestId};
use crate::device::port::Port;
use crate::device::request::Touches;
use crate::device::write::Write;
use ftl::Lpn;
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
        self.read_again(base, (Some(gc), write), (id, part), &units, blame);
    }

    /// Units of a request that an operation has read.
    fn units_of(&self, base: &Base, op: OpId, id: RequestId) -> Vec<Lpn> {
        let (first, behind) = self.requests[id].command.units(&base.space.ftl.layout);
        let wanted = |lpn: Lpn| (first..behind).contains(&lpn.0);
        base.units_of_row(base.flash.op(op), wanted).into_iter().map(|(lpn, _)| lpn).collect()
    }

    /// Reads units of a request anew instead of a part of it, as they are without `gc`: nothing goes
    /// round then. `before` is the blame of the time until now.
    pub(super) fn read_again(
        &mut self,
        base: &mut Base,
        (gc, write): (Option<&Gc>, &mut Write),
        (id, part): (RequestId, u32),
        units: &[Lpn],
        before: Blame,
    ) {
        let class = Class::of_read(self.requests[id].priority);
        for lpn in units.iter().copied() {
            if let Some(entry) = write.buffer.find(lpn) {
                if write.serves(entry) {
                    base.audit_buffer_read(&mut self.requests, id, lpn, write.buffer.token(entry));
                    if write.is_unread(entry) {
                        self.requests.part_failed(id, 1);
                    }
                } else {
                    let part = self.requests[id].parts.add(1);
                    let pool = write.buffer.defer(entry, id, part, base.time.now - before.total());
                    write.force_flush(base, pool);
                }
            } else {
                self.find(base, write, id, lpn);
            }
        }
        match gc {
            Some(gc) => self.ask_found(base, (gc, write), (id, class), Vec::new(), before.clone()),
            None => self.ask_as_found(base, (id, class), &before),
        }
        // What is in memory is there now.
        self.requests.part_done(id, part, base.time.now, &before, base.flash.blames());
        self.try_answer(base, write, id);
    }

    /// Asks for the units that were found, as they are.
    fn ask_as_found(&mut self, base: &mut Base, (id, class): (RequestId, Class), before: &Blame) {
        let detours = self.detours.as_mut().expect("reads go round");
        let found = std::mem::take(&mut detours.found);
        let mut pieces = Vec::new();
        for (lpn, ppn) in found {
            let ppn = ppn.expect("no flash fails beside bit errors");
            self.split_as_asked(base, id, (lpn, ppn), &mut pieces);
        }
        self.ask_pieces(base, (id, class), pieces, before);
    }
}
