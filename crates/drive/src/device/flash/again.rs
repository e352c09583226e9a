//! Reads that begin anew because their data could not be decoded, and what errors need to know of a
//! read beside the operation itself.

use crate::device::Time;
use crate::device::flash::op::{AsksFor, Owner};
use crate::device::flash::place::{Ask, Transferred};
use crate::device::flash::{Flash, Placement};
use crate::device::ids::OpId;
use metrics::Holder;

impl Flash {
    /// Begins to record the parts of rows that reads transfer.
    pub(in crate::device) fn record_transfers(&mut self) {
        self.transferred.get_or_insert_default();
        // A read that cannot be decoded does not turn into a program.
        self.short_ways = false;
    }
    /// Records what an operation transfers.
    #[inline(never)]
    pub(super) fn note_transferred(&mut self, id: OpId, ask: &Ask) {
        let Ask { planes, rows, .. } = *ask;
        let (bytes, slots) = match ask.owner {
            Owner::CollectRead(slots) | Owner::ScrubRead(slots) => {
                let slots = slots.bits();
                (u64::from(slots.count_ones()) * self.shape.unit_in_row, slots)
            }
            _ => (ask.bytes, ask.slots),
        };
        let all = self.transferred.as_mut().expect("it is recorded");
        if all.len() <= id.0 as usize {
            all.resize(id.0 as usize + 1, Transferred::default());
        }
        all[id.0 as usize] = Transferred { planes, bytes, slots, rows };
    }
    /// The part of each row that an operation transfers.
    #[inline]
    pub(in crate::device) fn transferred(&self, id: OpId) -> Transferred {
        self.transferred.as_ref().expect("it is recorded")[id.0 as usize]
    }

    /// Frees the units of a read that will begin anew, and lets others start.
    pub(in crate::device) fn step_aside<P: Placement>(
        &mut self,
        time: &mut Time,
        p: &mut P,
        id: OpId,
    ) {
        self.vacate(id);
        let op = &self.ops[id];
        let (group, cells, channel) = (op.group, op.cells, op.channel);
        self.serve(time, p, group);
        self.note_vacated(time, group, cells, channel);
    }

    /// Lets an operation that has freed its units hold none when it ends.
    pub(in crate::device) fn hold_nothing(&mut self, id: OpId) {
        self.ops[id].cells = 0;
    }

    /// True if an operation freed its units before it ended.
    pub(in crate::device) fn holds_nothing(&self, id: OpId) -> bool {
        self.ops[id].cells == 0
    }

    /// Lets a read begin anew. It is older than all that waits in its class, so it goes first there.
    pub(in crate::device) fn begin_again<P: Placement>(
        &mut self,
        time: &mut Time,
        p: &mut P,
        id: OpId,
    ) {
        let rows = self.transferred(id).rows;
        let op = &mut self.ops[id];
        op.row -= rows;
        op.rows_left = rows as u16;
        op.holder = Holder::ReRead;
        op.asks_for = AsksFor::Data;
        op.since = time.now;
        let group = op.group;
        self.begin_wait(time, id);
        self.requeue(p, id);
        if self.has_work(group) {
            // Like any other read it requests the suspension of what began in the meantime.
            self.read_meets_work(time, p, id);
        }
        self.serve(time, p, group);
    }
}
