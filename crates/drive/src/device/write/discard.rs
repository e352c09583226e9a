//! Discarded data, and flushes.

use crate::config::Durability;
use crate::device::Base;
use crate::device::ids::{OpId, RequestId};
use crate::device::request::Requests;
use crate::device::write::Write;
use crate::device::write::buffer::Stage;
use ftl::Lpn;
use host::Kind;
use metrics::State;

impl Write {
    /// Discards a unit's data, in the buffer and on flash.
    pub(in crate::device) fn discard(
        &mut self,
        base: &mut Base,
        requests: &mut Requests,
        lpn: Lpn,
        id: RequestId,
    ) {
        if let Some(entry) = self.buffer.find(lpn) {
            let kept = self.buffer.entry(entry);
            // Data that a request waits for is programmed nevertheless, as invalid data.
            let droppable = kept.stage == Stage::Pending
                && kept.writer.is_none()
                && !self.buffer.is_awaited(entry);
            self.buffer.supersede_older(entry);
            self.void_parts(base, Some(entry));
            if droppable {
                self.buffer.unlist(entry);
                self.buffer.forget(entry);
                self.buffer.remove(entry);
                self.end_flushes(base, requests, None);
            } else {
                self.buffer.forget(entry);
            }
        }
        base.note_checkpoints();
        base.space.ftl.forget_written(lpn);
        if self.updates.is_some() {
            self.trim_member(base, lpn);
        } else if requests[id].command.kind == Kind::WriteZeroes {
            base.space.ftl.zero(lpn);
        } else {
            base.space.ftl.trim(lpn);
        }
        base.audit_trim(requests, id, lpn);
    }

    /// Takes a flush in. Only a volatile buffer has work to do.
    pub(in crate::device) fn flush(
        &mut self,
        base: &mut Base,
        requests: &mut Requests,
        id: RequestId,
    ) {
        requests[id].since = base.time.now;
        if self.config.durability == Durability::Volatile && self.buffer.begin_flush(id) {
            self.flush_pools(base);
        } else {
            requests.answer(id, base.time.now);
        }
    }

    /// Answers the flushes whose entries are all on flash, by the end of `op` if it was a
    /// program's.
    pub(in crate::device) fn end_flushes(
        &mut self,
        base: &mut Base,
        requests: &mut Requests,
        op: Option<OpId>,
    ) {
        while let Some(id) = self.buffer.ended_flush() {
            end_flush(base, requests, op, id);
        }
    }
}

/// Answers a flush whose entries are all on flash.
#[inline(never)]
fn end_flush(base: &mut Base, requests: &mut Requests, op: Option<OpId>, id: RequestId) {
    let waited = base.time.now - requests[id].since;
    let blame = requests.blame_id(id, base.flash.blames());
    let rest = match op {
        Some(op) => {
            let (blame, other) = base.flash.blame_of_request(blame, op);
            blame.add_tail(other, waited)
        }
        None => waited,
    };
    base.flash.blames()[blame].charge(State::BufferFull, rest);
    requests.answer(id, base.time.now);
}
