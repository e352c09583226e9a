//! Schedulers: when operations that wait begin. Which of them goes first where several may is the
//! rule of [`crate::policies::scheduling`].
//!
//! A new one is a file here, a line of the list below, and its key in `SchedulerConfig`.

mod free;
mod round;
mod rounds;

use crate::config::SchedulerConfig;
use crate::device::Time;
use crate::device::flash::{Flash, Placement};
use crate::device::ids::OpId;
use ftl::BinId;
use nand::{GroupId, Units};

/// When the operations of a group begin. It keeps what it needs from one moment to the next; flash
/// owns units, channels and queues, and starts what it is told to with `begin`.
trait Scheduler: Sized {
    /// Whether an operation that finds its unit free begins without standing in a queue. It is
    /// then what this scheduler would have chosen.
    const BEGINS_AT_ONCE: bool;
    /// Whether it says when collection may choose victims.
    const CALLS_COLLECTION: bool;

    /// The scheduler that a configuration asks for, if it is this one.
    fn new(config: &SchedulerConfig, units: &Units) -> Option<Self>;
    /// The same to which nothing has happened yet.
    fn begun_anew(&self) -> Self;
    /// An operation is asked for that cannot begin at once.
    fn enqueue<P: Placement>(flash: &mut Flash, time: &mut Time, p: &mut P, id: OpId);
    /// A unit of a group, or a channel for which it waits, has fallen free, or something waits
    /// there anew.
    fn serve<P: Placement>(flash: &mut Flash, time: &mut Time, p: &mut P, group: GroupId);
    /// True where collection of a bin may choose a victim, as far as this scheduler goes.
    fn may_choose(&self, flash: &Flash, bin: BinId) -> bool;
}

macro_rules! schedulers {
    ($($(#[$about:meta])* $name:ident in $file:ident;)+) => {
        /// When operations begin.
        #[derive(Clone)]
        pub(super) enum Schedule {
            $($(#[$about])* $name($file::$name),)+
        }

        impl Schedule {
            /// The scheduler that a configuration asks for: the first that it names.
            pub fn new(config: &SchedulerConfig, units: &Units) -> Self {
                let none = None;
                $(let none = none.or_else(|| $file::$name::new(config, units).map(Self::$name));)+
                none.expect("operations that nothing else schedules are free")
            }
            /// The same to which nothing has happened yet.
            pub fn begun_anew(&self) -> Self {
                match self { $(Self::$name(of) => Self::$name(of.begun_anew()),)+ }
            }
            /// Whether an operation that finds its unit free begins without standing in a queue.
            pub fn begins_at_once(&self) -> bool {
                match self { $(Self::$name(_) => $file::$name::BEGINS_AT_ONCE,)+ }
            }
            /// Whether it says when collection may choose victims.
            pub fn calls_collection(&self) -> bool {
                match self { $(Self::$name(_) => $file::$name::CALLS_COLLECTION,)+ }
            }
        }

        impl Flash {
            #[inline(never)]
            pub(super) fn enqueue_by_schedule<P: Placement>(
                &mut self,
                time: &mut Time,
                p: &mut P,
                id: OpId,
            ) {
                match self.schedule {
                    $(Schedule::$name(_) => $file::$name::enqueue(self, time, p, id),)+
                }
            }
            #[inline(never)]
            pub(super) fn serve_by_schedule<P: Placement>(
                &mut self,
                time: &mut Time,
                p: &mut P,
                group: GroupId,
            ) {
                match self.schedule {
                    $(Schedule::$name(_) => $file::$name::serve(self, time, p, group),)+
                }
            }
            /// True where the scheduler lets collection of a bin choose a victim.
            pub(in crate::device) fn may_choose(&self, bin: BinId) -> bool {
                match &self.schedule {
                    $(Schedule::$name(of) => of.may_choose(self, bin),)+
                }
            }
        }
    };
}

schedulers! {
    /// In rounds: one operation on each unit of a group, and no other before all have ended.
    Rounds in rounds;
    /// Each as soon as its unit is free, and its channel where commands take cycles.
    Free in free;
}

impl Flash {
    /// True where the scheduler says when collection may choose victims.
    #[inline]
    pub(in crate::device) fn calls_collection(&self) -> bool {
        self.schedule.calls_collection()
    }
}
