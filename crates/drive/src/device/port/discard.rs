//! Trims and flushes: commands without data.

use crate::config::Durability;
use crate::device::Device;
use crate::device::flash::op::OpId;
use crate::device::port::request::RequestId;
use crate::device::write::buffer::Stage;
use ftl::Lpn;
use host::Kind;
use metrics::State;

impl Device {
    /// The firmware takes a trim in: whole units in its range lose their data,
    /// parts of units keep it (as NVMe's deallocate may).
    pub(in crate::device) fn trim(&mut self, id: RequestId) {
        let command = self.port.requests[id].command;
        let unit = self.base.space.ftl.layout.unit_bytes;
        let (first, behind) = (command.offset.div_ceil(unit), command.end() / unit);
        for lpn in first..behind {
            self.discard(Lpn(lpn as u32), id);
        }
        self.answer(id, self.base.time.now);
        self.admit_waiting(None);
        self.retry_starved();
    }

    /// A unit's data is given back, in the buffer and on flash.
    pub(in crate::device) fn discard(&mut self, lpn: Lpn, id: RequestId) {
        if let Some(entry) = self.write.buffer.find(lpn) {
            let kept = self.write.buffer.entry(entry);
            // What a request waits for is programmed all the same, dead.
            let droppable = kept.stage == Stage::Pending
                && kept.writer.is_none()
                && !self.write.buffer.is_awaited(entry);
            self.write.buffer.supersede_older(entry);
            if droppable {
                self.write.buffer.unlist(entry);
                self.write.buffer.forget(entry);
                self.write.buffer.remove(entry);
                self.end_flushes(None);
            } else {
                self.write.buffer.forget(entry);
            }
        }
        self.note_checkpoints();
        if self.port.requests[id].command.kind == Kind::WriteZeroes {
            self.base.space.ftl.zero(lpn);
        } else {
            self.base.space.ftl.trim(lpn);
        }
        self.audit_trim(id, lpn);
    }

    /// The firmware takes a flush in. Only a volatile buffer has work to do.
    pub(in crate::device) fn flush(&mut self, id: RequestId) {
        self.port.requests[id].since = self.base.time.now;
        if self.write.config.durability == Durability::Volatile && self.write.buffer.begin_flush(id)
        {
            self.pump_all();
        } else {
            self.answer(id, self.base.time.now);
        }
    }

    /// Answers the flushes whose entries are all on flash, by the end of `op` if
    /// by a program's.
    pub(in crate::device) fn end_flushes(&mut self, op: Option<OpId>) {
        while let Some(id) = self.write.buffer.ended_flush() {
            let waited = self.base.time.now - self.port.requests[id].since;
            let blame = self.port.requests.blame_mut(id);
            let rest = match op {
                Some(op) => blame.add_tail(self.base.flash.ops.blame_ref(op), waited),
                None => waited,
            };
            blame.charge(State::BufferFull, rest);
            self.answer(id, self.base.time.now);
        }
    }
}
