//! Trims and flushes: commands without data.

use super::Device;
use super::buffer::Stage;
use super::op::OpId;
use super::request::RequestId;
use crate::config::Durability;
use ftl::Lpn;
use host::Kind;
use metrics::State;

impl Device {
    /// The firmware takes a trim in: whole units in its range lose their data,
    /// parts of units keep it (as NVMe's deallocate may).
    pub(super) fn trim(&mut self, id: RequestId) {
        let command = self.requests[id].command;
        let unit = self.ftl.layout.unit_bytes;
        let (first, behind) = (command.offset.div_ceil(unit), command.end() / unit);
        for lpn in first..behind {
            self.discard(Lpn(lpn as u32), id);
        }
        self.answer(id, self.now);
        self.admit_waiting(None);
        self.retry_starved();
    }

    /// A unit's data is given back, in the buffer and on flash.
    pub(super) fn discard(&mut self, lpn: Lpn, id: RequestId) {
        if let Some(entry) = self.buffer.find(lpn) {
            let kept = self.buffer.entry(entry);
            // What a request waits for is programmed all the same, dead.
            let droppable = kept.stage == Stage::Pending
                && kept.writer.is_none()
                && !self.buffer.is_awaited(entry);
            self.buffer.supersede_older(entry);
            if droppable {
                self.buffer.unlist(entry);
                self.buffer.forget(entry);
                self.buffer.remove(entry);
                self.end_flushes(None);
            } else {
                self.buffer.forget(entry);
            }
        }
        self.note_checkpoints();
        if self.requests[id].command.kind == Kind::WriteZeroes {
            self.ftl.zero(lpn);
        } else {
            self.ftl.trim(lpn);
        }
        self.audit_trim(id, lpn);
    }

    /// The firmware takes a flush in. Only a volatile buffer has work to do.
    pub(super) fn flush(&mut self, id: RequestId) {
        self.requests[id].since = self.now;
        if self.buffer_config.durability == Durability::Volatile && self.buffer.begin_flush(id) {
            self.pump_all();
        } else {
            self.answer(id, self.now);
        }
    }

    /// Answers the flushes whose entries are all on flash, by the end of `op` if
    /// by a program's.
    pub(super) fn end_flushes(&mut self, op: Option<OpId>) {
        while let Some(id) = self.buffer.ended_flush() {
            let waited = self.now - self.requests[id].since;
            let blame = self.requests.blame_mut(id);
            let rest = match op {
                Some(op) => blame.add_tail(self.ops.blame_ref(op), waited),
                None => waited,
            };
            blame.charge(State::BufferFull, rest);
            self.answer(id, self.now);
        }
    }
}
