//! Rebuilds: data of a read that is computed from the rest of its stripes. A rebuild is a part of the
//! request, and a join of the reads that it needs; it ends when the last of them is decoded and the
//! data is computed. If the flash of one of them fails, the read begins anew. If the data of one cannot
//! be decoded, all that is asked for is read as it is.

use crate::device::Base;
use crate::device::flash::op::{Class, Owner};
use crate::device::gc::Gc;
use crate::device::ids::{OpId, RebuildId, RequestId};
use crate::device::join::Join;
use crate::device::pieces::Piece;
use crate::device::port::Port;
use crate::device::port::rebuilds::Rebuild;
use crate::device::write::Write;
use ftl::{Lpn, RecoveryLevel};

use metrics::{Blame, Holder, State};

impl Port {
    /// Asks for the reads of a rebuild of some units, which becomes a part of a request.
    pub(super) fn begin_rebuild(
        &mut self,
        base: &mut Base,
        (request, units): (RequestId, Vec<Lpn>),
        class: Class,
        reads: &[Piece],
    ) {
        let part = self.requests[request].parts.add(1);
        let detours = self.detours.as_mut().expect("reads go round");
        let reads_of = Join::of(reads.len() as u32);
        let before = detours.before.clone();
        let rebuild = Rebuild {
            request,
            part,
            units,
            reads: reads_of,
            blame: Blame::NONE,
            before,
            died: false,
        };
        let id = detours.rebuilds.insert(rebuild);
        for (member, piece) in reads.iter().enumerate() {
            let owner = Owner::Rebuild(id, member as u32);
            base.ask_piece(*piece, Holder::HostRead, class, owner);
        }
        if reads.is_empty() {
            // All that it needs is in memory.
            self.end_rebuild(base, id, base.time.now);
            self.requests.try_answer(request, base.flash.blames());
        }
    }

    /// Continues after a read of a rebuild has left its channel.
    #[inline(never)]
    pub(in crate::device) fn rebuild_read(
        &mut self,
        base: &mut Base,
        (gc, write): (&Gc, &mut Write),
        op: OpId,
        (id, member): (RebuildId, u32),
    ) {
        let (fails, at) = base.decoded_unless_failed(op);
        let detours = self.detours.as_mut().expect("reads go round");
        let rebuild = &mut detours.rebuilds[id];
        let (request, part) = (rebuild.request, rebuild.part);
        let is_undecoded = base.flash.op(op).failed > 0;
        if (fails || is_undecoded) && !rebuild.died {
            rebuild.died = true;
            let (units, mut before) = (std::mem::take(&mut rebuild.units), rebuild.before.clone());
            before.add(base.flash.blame(op));
            let goes_round = (!is_undecoded).then_some(gc);
            self.read_again(base, (goes_round, write), (request, part), &units, before);
        }
        let detours = self.detours.as_mut().expect("reads go round");
        let rebuild = &mut detours.rebuilds[id];
        let blame = base.flash.blame(op);
        if !rebuild.died {
            self.requests[request].blocked |= blame.has_hold();
        }
        rebuild.reads.ended(member, at, blame, &mut rebuild.blame, &mut detours.aside);
        let Some(at) = rebuild.reads.settle(&mut rebuild.blame, &mut detours.aside) else { return };
        if rebuild.died {
            detours.rebuilds.remove(id);
            return;
        }
        self.end_rebuild(base, id, at);
        self.try_answer(base, write, request);
    }

    /// Ends a rebuild whose reads are all decoded at `at`.
    fn end_rebuild(&mut self, base: &mut Base, id: RebuildId, at: engine::Instant) {
        let detours = self.detours.as_mut().expect("reads go round");
        let rebuild = &mut detours.rebuilds[id];
        let mut blame = std::mem::take(&mut rebuild.blame);
        blame.add(&rebuild.before);
        blame.charge(State::Xor, detours.xor);
        let (request, part, at) = (rebuild.request, rebuild.part, at + detours.xor);
        detours.rebuilds.remove(id);
        self.requests.part_done(request, part, at, &blame, base.flash.blames());
    }

    /// The read recovery level of the request that a rebuild is for, if it has one of its own.
    pub(in crate::device) fn recovery_level_of(&self, id: RebuildId) -> Option<RecoveryLevel> {
        let rebuilds = &self.detours.as_ref().expect("reads go round").rebuilds;
        self.requests.recovery_level(rebuilds[id].request)
    }

    /// The part of a request that an operation reads for, if it does.
    pub(in crate::device) fn part_of(&self, id: RequestId, owner: Owner) -> Option<u32> {
        let (request, part) = match owner {
            Owner::Read(request, part) => (request, part),
            Owner::Rebuild(rebuild, _) => {
                let rebuild = &self.detours.as_ref().expect("reads go round").rebuilds[rebuild];
                (rebuild.request, rebuild.part)
            }
            _ => return None,
        };
        (request == id).then_some(part)
    }
}
