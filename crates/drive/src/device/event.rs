//! Everything that can be due.

use super::buffer::EntryId;
use super::op::OpId;
use super::request::RequestId;
use engine::ids::Id;
use ftl::{BinId, PoolId};
use nand::GroupId;

/// What happens next.
#[derive(Clone, Copy, Debug)]
pub enum Event {
    /// The firmware has taken a command in.
    Dispatch(RequestId),
    /// A unit has sensed a row of a read.
    Sensed(OpId),
    /// A unit has sensed the rest of a row that is written in part.
    SensedRest(OpId),
    /// A unit has programmed a row.
    Programmed(OpId),
    /// A unit has erased or copied back.
    Array(OpId),
    /// A channel has carried a row of a read out.
    CarriedOut(OpId),
    /// A channel has carried a row of a program in.
    CarriedIn(OpId),
    /// A request's answer has reached the host.
    Complete(RequestId),
    /// All parts of a request are done: it goes to the host.
    Answer(RequestId),
    /// The rest of a partly written unit is decoded.
    Fetched(EntryId),
    /// A partly filled batch of a pool has waited for long enough.
    Partial(PoolId),
    /// A group may have been idle for long enough to collect.
    Idle(GroupId),
    /// Scrubbing looks at the next bin.
    Scrub,
    /// An operation that reads have asked to make way is asked again, or its unit is free of
    /// it.
    Look(OpId),
    /// Erases of a bin that wait for a burst of reads to end may begin.
    Backlog(BinId),
}

const KIND_SHIFT: u32 = 27;

impl engine::Event for Event {
    #[inline]
    fn pack(self) -> u32 {
        let (kind, index) = match self {
            Self::Dispatch(id) => (0, id.index()),
            Self::Array(id) => (1, id.index()),
            Self::CarriedOut(id) => (2, id.index()),
            Self::Complete(id) => (3, id.index()),
            Self::Partial(id) => (4, id.index()),
            Self::Idle(id) => (5, id.index()),
            Self::Answer(id) => (6, id.index()),
            Self::Fetched(id) => (7, id.index()),
            Self::Sensed(id) => (8, id.index()),
            Self::CarriedIn(id) => (9, id.index()),
            Self::Programmed(id) => (10, id.index()),
            Self::Scrub => (11, 0),
            Self::Look(id) => (12, id.index()),
            Self::Backlog(id) => (13, id.index()),
            Self::SensedRest(id) => (14, id.index()),
        };
        debug_assert!(index >> KIND_SHIFT == 0, "an event names one of 2^27 things");
        kind << KIND_SHIFT | index as u32
    }
    #[inline]
    fn unpack(bits: u32) -> Self {
        let index = (bits & ((1 << KIND_SHIFT) - 1)) as usize;
        match bits >> KIND_SHIFT {
            0 => Self::Dispatch(Id::from_index(index)),
            1 => Self::Array(Id::from_index(index)),
            2 => Self::CarriedOut(Id::from_index(index)),
            3 => Self::Complete(Id::from_index(index)),
            4 => Self::Partial(Id::from_index(index)),
            5 => Self::Idle(Id::from_index(index)),
            6 => Self::Answer(Id::from_index(index)),
            7 => Self::Fetched(Id::from_index(index)),
            8 => Self::Sensed(Id::from_index(index)),
            9 => Self::CarriedIn(Id::from_index(index)),
            10 => Self::Programmed(Id::from_index(index)),
            11 => Self::Scrub,
            12 => Self::Look(Id::from_index(index)),
            13 => Self::Backlog(Id::from_index(index)),
            14 => Self::SensedRest(Id::from_index(index)),
            kind => unreachable!("no event is of kind {kind}"),
        }
    }
    #[inline]
    fn lane(self) -> Option<usize> {
        match self {
            Self::Sensed(_) => Some(0),
            Self::Programmed(_) => Some(1),
            Self::CarriedOut(_) => Some(2),
            Self::CarriedIn(_) => Some(3),
            Self::Dispatch(_) => Some(4),
            Self::Complete(_) => Some(5),
            Self::Answer(_) => Some(6),
            Self::Array(_)
            | Self::SensedRest(_)
            | Self::Fetched(_)
            | Self::Partial(_)
            | Self::Idle(_)
            | Self::Scrub
            | Self::Look(_)
            | Self::Backlog(_) => None,
        }
    }
}
