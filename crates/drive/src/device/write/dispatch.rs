//! Reads that have waited until their data was on flash: if reads go round collection, the host's side
//! decides then if they do.

use crate::device::Base;
use crate::device::dispatched::{Dispatch, Dispatched};
use crate::device::flash::Note;
use crate::device::ids::RequestId;
use crate::device::request::Requests;
use ftl::{Lpn, Ppn};
use metrics::Blame;

impl Requests {
    /// Handles a part of a read whose data is on flash now, after a wait with this blame. Returns true
    /// if it is dispatched when the present event is over.
    #[cold]
    #[inline(never)]
    pub(in crate::device) fn routes_later(
        &mut self,
        base: &mut Base,
        (request, part): (RequestId, u32),
        (lpn, ppn): (Lpn, Ppn),
        before: &Blame,
    ) -> bool {
        if self.dispatch == Dispatch::Records {
            self[request].met |= base.is_held(ppn);
            return false;
        }
        self.dispatched.push(Dispatched { request, part, lpn, ppn, before: before.clone() });
        base.flash.note(Note::Dispatched);
        true
    }
}
