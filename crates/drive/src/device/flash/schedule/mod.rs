//! Schedulers: they decide when waiting operations begin. The policies of
//! [`crate::policies::scheduling`] decide which goes first if several may.
//!
//! A new one is a file here and a variant in `kinds.rs`, for which the compiler asks for the rest,
//! and its key in `SchedulerConfig`.

mod free;
pub mod kinds;
mod round;
mod rounds;

use crate::device::Time;
use crate::device::flash::schedule::kinds::Schedule;
use crate::device::flash::{Flash, Placement};
use crate::device::ids::OpId;
use ftl::BinId;
use nand::GroupId;

impl Flash {
    /// Queues an operation that cannot begin at once.
    #[inline(never)]
    pub(super) fn enqueue_by_schedule<P: Placement>(
        &mut self,
        time: &mut Time,
        p: &mut P,
        id: OpId,
    ) {
        match self.schedule {
            Schedule::Rounds(_) => self.enqueue_for_round(time, p, id),
            Schedule::Free => unreachable!("what is free begins at once, or stands in its queue"),
        }
    }

    /// Serves a group: one of its units, or a channel for which it waits, has become free, or a new
    /// operation waits.
    #[inline(never)]
    pub(super) fn serve_by_schedule<P: Placement>(
        &mut self,
        time: &mut Time,
        p: &mut P,
        group: GroupId,
    ) {
        match self.schedule {
            Schedule::Rounds(_) => self.serve_in_rounds(time, p, group),
            Schedule::Free => self.serve_free(time, p, group),
        }
    }

    /// True if the scheduler lets collection of a bin choose a victim.
    pub(in crate::device) fn may_choose(&self, bin: BinId) -> bool {
        match &self.schedule {
            Schedule::Rounds(rounds) => {
                rounds.is_choosing(self.places[self.first_place(bin)].group) && self.is_free(bin)
            }
            Schedule::Free => true,
        }
    }

    /// True if the scheduler decides when collection may choose victims.
    #[inline]
    pub(in crate::device) fn calls_collection(&self) -> bool {
        self.schedule.calls_collection()
    }
}
