//! The slow path of channels: collections wait for them or have reserved them, or operations that
//! begin are ranked by their kinds.

use crate::device::flash::channel::{Channel, Grant, SLOW_PATH};
use crate::device::flash::op::{AsksFor, Class, Op, Ops};
use crate::device::flash::queue::Group;
use crate::policies::channel::Begins;
use nand::GroupId;

/// Kinds of operations that are to begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Beginning {
    /// Of a collection whose unit is reserved for it, or that goes before programs of hosts.
    Collection,
    /// A read that is not of a collection.
    Read,
    Other,
}

impl Beginning {
    fn of(op: &Op) -> Self {
        if matches!(op.class, Class::Reserved | Class::Foreground) {
            Self::Collection
        } else if op.class.is_read() || op.class.is_bounded() {
            Self::Read
        } else {
            Self::Other
        }
    }
    /// The kind of what begins next in a group.
    pub fn next_of(group: &Group) -> Self {
        if group.has_reservation() {
            Self::Collection
        } else if group.has_reads() {
            Self::Read
        } else if group.has_foreground() {
            Self::Collection
        } else {
            Self::Other
        }
    }
}

/// An entry of a channel's queue: rank, place in the order of asking, and the thing that waits.
type Waiting = (u8, u64, Grant);

impl Channel {
    /// As [`Channel::pop`], on the slow path; `of_group` gives the kind of what begins next in a
    /// group.
    #[inline(never)]
    pub(super) fn pop_on_slow_path(
        &mut self,
        ops: &mut Ops,
        of_group: impl Fn(GroupId) -> Beginning,
    ) -> Option<Grant> {
        let mark = self.filled & SLOW_PATH;
        self.filled &= !SLOW_PATH;
        let grant = match self.order.begins {
            None => self.pop(ops),
            Some(begins) => self.pop_by_kind(ops, begins, of_group),
        };
        self.filled |= mark;
        grant
    }

    /// Takes the next operation or group where those that begin are ranked by their kinds.
    fn pop_by_kind(
        &mut self,
        ops: &mut Ops,
        begins: Begins,
        of_group: impl Fn(GroupId) -> Beginning,
    ) -> Option<Grant> {
        let mut waiting = self.by_kind(ops, begins, of_group);
        let mut first = waiting.next()?;
        let (mut oldest, mut last_rank) = (first, first.0);
        for next in waiting {
            if (next.0, next.1) < (first.0, first.1) {
                first = next;
            }
            if next.1 < oldest.1 {
                oldest = next;
            }
            last_rank = last_rank.max(next.0);
        }
        let lower_waits = last_rank > first.0;
        self.bound =
            (lower_waits && self.order.bounded).then(|| self.bound.unwrap_or(self.next_seq));
        let mut taken = first.2;
        if self.bound.is_some_and(|bound| first.1 >= bound) {
            (taken, self.bound) = (oldest.2, None);
        }
        match taken {
            Grant::Op(id) => self.remove(ops, id),
            Grant::Group(group) => {
                self.groups.retain(|(other, _)| *other != group);
                self.note_filled(usize::from(self.order.begin));
            }
        }
        Some(taken)
    }

    /// All that waits for the channel, with ranks by kind.
    fn by_kind<'a>(
        &'a self,
        ops: &'a Ops,
        begins: Begins,
        of_group: impl Fn(GroupId) -> Beginning + 'a,
    ) -> impl Iterator<Item = Waiting> + 'a {
        let rank_of = move |of: Beginning| match of {
            Beginning::Collection => begins.collection,
            Beginning::Read => begins.read,
            Beginning::Other => self.order.begin,
        };
        let of_list = self.lists.iter().flat_map(|list| list.iter(ops)).map(move |id| {
            let op = &ops[id];
            let rank = match op.asks_for {
                AsksFor::Data => self.rank(op) as u8,
                AsksFor::Command | AsksFor::Both => rank_of(Beginning::of(op)),
            };
            (rank, op.turn, Grant::Op(id))
        });
        let of_groups = self
            .groups
            .iter()
            .map(move |(group, turn)| (rank_of(of_group(*group)), *turn, Grant::Group(*group)));
        of_list.chain(of_groups)
    }
}
