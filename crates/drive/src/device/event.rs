//! All events of a device.

use crate::device::ids::{EntryId, FailureId, JobId, OpId, RequestId, UpdateId};
use engine::ids::Id;
use ftl::{BinId, PoolId, SetId};
use nand::{ChannelId, GroupId};

/// An event that is due at some time.
#[derive(Clone, Copy, Debug)]
pub enum Event {
    /// The firmware has taken a command in.
    Dispatch(RequestId),
    /// A unit has sensed a row of a read.
    Sensed(OpId),
    /// A unit has sensed the rest of a row of a partial write.
    SensedRest(OpId),
    /// A unit has programmed a row.
    Programmed(OpId),
    /// A unit has erased or copied back.
    Array(OpId),
    /// A channel has carried a row of a read out.
    CarriedOut(OpId),
    /// A channel has carried a row of a program in.
    CarriedIn(OpId),
    /// A channel has carried a command that has no data.
    Commanded(OpId),
    /// A channel that carried a command is free, and an operation waits for it.
    Freed(ChannelId),
    /// The data of a write have crossed the bus to the host.
    Crossed(RequestId),
    /// A request's answer has reached the host.
    Complete(RequestId),
    /// All parts of a request are done: it goes to the host.
    Answer(RequestId),
    /// The data of a read could not be decoded: it is read again.
    Undecoded(OpId),
    /// The rest of a partly written unit is decoded.
    RestRead(EntryId),
    /// The parity of an update is known.
    ParityKnown(UpdateId),
    /// A partly filled batch of a pool has waited for long enough.
    Partial(PoolId),
    /// A group may have been idle for long enough to collect.
    Idle(GroupId),
    /// Scrubbing polls the next bin of an NVM set.
    Scrub(SetId),
    /// The rate of scrubbing allows the next block of an NVM set.
    ScrubAgain(SetId),
    /// The firmware has decided what comes after a task of an NVM set.
    Think(SetId),
    /// A suspension request to an operation is re-evaluated, or its unit becomes free by a
    /// suspension.
    Poll(OpId),
    /// Erases of a bin that wait for a burst of reads to end may begin.
    Backlog(BinId),
    /// Flash fails.
    Fail(FailureId),
    /// More data on failed flash may be rebuilt.
    Rebuild,
    /// Data on failed flash was computed.
    Rebuilt(JobId),
    /// A window of an NVM set may begin or end.
    Window(SetId),
}

impl Event {
    /// The operation whose present work ends.
    pub fn operation(self) -> Option<OpId> {
        match self {
            Self::Sensed(id) | Self::SensedRest(id) | Self::Programmed(id) => Some(id),
            Self::Array(id) | Self::CarriedOut(id) | Self::CarriedIn(id) => Some(id),
            Self::Commanded(id) => Some(id),
            _ => None,
        }
    }
    /// True if a channel has carried a row, or a command.
    pub fn is_transfer(self) -> bool {
        matches!(self, Self::CarriedIn(_) | Self::CarriedOut(_) | Self::Commanded(_))
    }
}

impl engine::Event for Event {
    /// CarriedIn, CarriedOut, Sensed, Programmed, Answer, Complete, Dispatch.
    const KINDS: [u32; engine::LANES] = [0, 1, 4, 6, 11, 12, 14];

    /// Events that are due together are handled in the order of these numbers: first those that
    /// free a channel, then those that free a unit, then answers, then new commands, and timers
    /// last.
    #[inline]
    fn parts(self) -> (u32, u32) {
        let (kind, index) = match self {
            Self::CarriedIn(id) => (0, id.index()),
            Self::CarriedOut(id) => (1, id.index()),
            Self::Commanded(id) => (2, id.index()),
            Self::Freed(id) => (3, id.index()),
            Self::Sensed(id) => (4, id.index()),
            Self::SensedRest(id) => (5, id.index()),
            Self::Programmed(id) => (6, id.index()),
            Self::Array(id) => (7, id.index()),
            Self::Poll(id) => (8, id.index()),
            Self::Undecoded(id) => (9, id.index()),
            Self::RestRead(id) => (10, id.index()),
            Self::Answer(id) => (11, id.index()),
            Self::Complete(id) => (12, id.index()),
            Self::Crossed(id) => (13, id.index()),
            Self::Dispatch(id) => (14, id.index()),
            Self::Partial(id) => (15, id.index()),
            Self::Backlog(id) => (16, id.index()),
            Self::Idle(id) => (17, id.index()),
            Self::Scrub(id) => (18, id.index()),
            Self::ParityKnown(id) => (19, id.index()),
            Self::Fail(id) => (20, id.index()),
            Self::Rebuild => (21, 0),
            Self::Rebuilt(id) => (22, id.index()),
            Self::ScrubAgain(id) => (23, id.index()),
            Self::Think(id) => (24, id.index()),
            Self::Window(id) => (25, id.index()),
        };
        (kind, index as u32)
    }
    #[inline]
    fn of_parts(kind: u32, index: u32) -> Self {
        let index = index as usize;
        match kind {
            0 => Self::CarriedIn(Id::from_index(index)),
            1 => Self::CarriedOut(Id::from_index(index)),
            2 => Self::Commanded(Id::from_index(index)),
            3 => Self::Freed(Id::from_index(index)),
            4 => Self::Sensed(Id::from_index(index)),
            5 => Self::SensedRest(Id::from_index(index)),
            6 => Self::Programmed(Id::from_index(index)),
            7 => Self::Array(Id::from_index(index)),
            8 => Self::Poll(Id::from_index(index)),
            9 => Self::Undecoded(Id::from_index(index)),
            10 => Self::RestRead(Id::from_index(index)),
            11 => Self::Answer(Id::from_index(index)),
            12 => Self::Complete(Id::from_index(index)),
            13 => Self::Crossed(Id::from_index(index)),
            14 => Self::Dispatch(Id::from_index(index)),
            15 => Self::Partial(Id::from_index(index)),
            16 => Self::Backlog(Id::from_index(index)),
            17 => Self::Idle(Id::from_index(index)),
            18 => Self::Scrub(Id::from_index(index)),
            19 => Self::ParityKnown(Id::from_index(index)),
            20 => Self::Fail(Id::from_index(index)),
            21 => Self::Rebuild,
            22 => Self::Rebuilt(Id::from_index(index)),
            23 => Self::ScrubAgain(Id::from_index(index)),
            24 => Self::Think(Id::from_index(index)),
            25 => Self::Window(Id::from_index(index)),
            kind => unreachable!("no event is of kind {kind}"),
        }
    }
    #[inline]
    fn lane(self) -> Option<usize> {
        match self {
            Self::CarriedIn(_) => Some(0),
            Self::CarriedOut(_) => Some(1),
            Self::Sensed(_) => Some(2),
            Self::Programmed(_) => Some(3),
            Self::Answer(_) => Some(4),
            Self::Complete(_) => Some(5),
            Self::Dispatch(_) => Some(6),
            Self::Array(_)
            | Self::Commanded(_)
            | Self::Freed(_)
            | Self::SensedRest(_)
            | Self::Undecoded(_)
            | Self::RestRead(_)
            | Self::ParityKnown(_)
            | Self::Partial(_)
            | Self::Idle(_)
            | Self::Scrub(_)
            | Self::ScrubAgain(_)
            | Self::Think(_)
            | Self::Poll(_)
            | Self::Crossed(_)
            | Self::Backlog(_)
            | Self::Fail(_)
            | Self::Rebuild
            | Self::Rebuilt(_)
            | Self::Window(_) => None,
        }
    }
}
