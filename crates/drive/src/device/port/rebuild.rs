//! Rebuilds: data of a read that is computed from the rest of its stripes. A rebuild is a part of the
//! request, and a join of the reads that it needs; it ends when the last of them is decoded and the
//! data is computed.

use crate::device::Base;
use crate::device::flash::op::{Class, Owner};
use crate::device::ids::{OpId, RebuildId, RequestId};
use crate::device::join::Join;
use crate::device::pieces::Piece;
use crate::device::port::Port;
use crate::device::port::rebuilds::Rebuild;
use crate::device::write::Write;
use metrics::{Blame, Holder, State};

impl Port {
    /// Asks for the reads of a rebuild, which becomes a part of a request.
    pub(super) fn begin_rebuild(
        &mut self,
        base: &mut Base,
        request: RequestId,
        class: Class,
        reads: &[Piece],
    ) {
        let part = self.requests[request].parts.add(1);
        let detours = self.detours.as_mut().expect("reads go round");
        let rebuild =
            Rebuild { request, part, reads: Join::of(reads.len() as u32), blame: Blame::NONE };
        let id = detours.rebuilds.insert(rebuild);
        for (member, piece) in reads.iter().enumerate() {
            let owner = Owner::Rebuild(id, member as u32);
            base.ask_piece(*piece, Holder::HostRead, class, owner);
        }
    }

    /// Continues after a read of a rebuild has left its channel.
    #[inline(never)]
    pub(in crate::device) fn rebuild_read(
        &mut self,
        base: &mut Base,
        write: &Write,
        op: OpId,
        (id, member): (RebuildId, u32),
    ) {
        let at = base.decoded(op);
        let detours = self.detours.as_mut().expect("reads go round");
        let rebuild = &mut detours.rebuilds[id];
        let (request, part) = (rebuild.request, rebuild.part);
        let blame = base.flash.blame(op);
        self.requests[request].blocked |= blame.has_hold();
        rebuild.reads.fail(base.flash.op(op).failed.into());
        rebuild.reads.ended(member, at, blame, &mut rebuild.blame, &mut detours.aside);
        let Some(at) = rebuild.reads.settle(&mut rebuild.blame, &mut detours.aside) else { return };
        rebuild.blame.charge(State::Xor, detours.xor);
        if rebuild.reads.failed() > 0 {
            self.requests.part_failed(request, rebuild.reads.failed());
        }
        let (at, blame) = (at + detours.xor, std::mem::take(&mut rebuild.blame));
        detours.rebuilds.remove(id);
        self.requests.part_done(request, part, at, &blame, base.flash.blames());
        self.try_answer(base, write, request);
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
