//! The reservation of a channel for a collection that copies.

use crate::device::flash::op::Op;
use crate::device::ids::OpId;
use engine::Instant;
use ftl::BinId;
use nand::GroupId;
use std::collections::VecDeque;

/// The reservation of a channel.
#[derive(Clone)]
pub struct Kept {
    /// The bin that is being collected.
    pub(super) bin: BinId,
    /// The unit that may use the channel: the cells on which the bin is collected.
    pub(super) group: GroupId,
    pub(super) cells: u64,
    /// End of the unit's present use of the channel, as of a channel that is not reserved.
    pub(super) busy_until: Instant,
    /// Operations of the unit that wait for the channel, the oldest first.
    pub(super) waiting: VecDeque<OpId>,
}

impl Kept {
    /// True if the unit uses the channel.
    pub(super) fn is_busy(&self, now: Instant) -> bool {
        self.busy_until > now
    }
    #[inline(never)]
    pub(super) fn is_closed_to(&self, now: Instant, op: &Op) -> bool {
        self.is_busy(now) || !self.is_for(op)
    }
    /// True for operations of the unit: those that occupied it before may have to leave the
    /// channel before the collection can begin.
    pub(super) fn is_for(&self, op: &Op) -> bool {
        self.is_for_cells(op.group, op.cells)
    }
    /// True for operations of the group that need these units.
    pub(super) fn is_for_cells(&self, group: GroupId, cells: u64) -> bool {
        group == self.group && cells & self.cells != 0
    }
    /// Notes that an operation of the unit waits for the channel, as of a channel that is not
    /// reserved. Operations of other units need no event: they wait for the end of the reservation.
    pub(super) fn awaited(&mut self) -> Option<Instant> {
        if self.waiting.is_empty() || self.busy_until == Instant::NEVER {
            return None;
        }
        Some(std::mem::replace(&mut self.busy_until, Instant::NEVER))
    }
    /// Begins a use of the channel, which lasts until it is released.
    pub(super) fn take(&mut self, now: Instant) {
        assert!(!self.is_busy(now), "a channel carries one thing at a time");
        self.busy_until = Instant::NEVER;
    }
}
