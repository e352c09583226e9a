//! Members of stripes that are not on flash.
//!
//! Some are in the write buffer's memory. A stripe's update may end before all of its programs have,
//! because capacitors protect the buffer: those that are left are members of their stripe as if they
//! were on flash, and are read from memory.
//!
//! Others are lost: their flash has failed and no other has room for them. The rest of the stripe
//! tells their data.

use crate::device::ids::EntryId;
use crate::device::write::unit::Unit;
use ftl::Lpn;
use std::collections::BTreeMap;

/// A member that is not on flash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OffFlash {
    /// The auditor's token of its data.
    pub(super) token: u64,
    /// Its way to flash; none for one that was trimmed and whose program has ended.
    pub(super) unit: Option<Unit>,
    /// True if it was trimmed: it is part of its stripe until the parity is written anew.
    pub(super) is_trimmed: bool,
    /// True if it is not in memory either.
    pub(super) is_lost: bool,
}

/// All members that are not on flash.
#[derive(Clone, Default)]
pub struct AllOffFlash {
    /// Each with a number that no other has or had.
    members: BTreeMap<Lpn, (u64, OffFlash)>,
    /// Members added so far.
    added: u64,
}

impl AllOffFlash {
    /// A member that is not on flash.
    pub fn get(&self, lpn: Lpn) -> Option<OffFlash> {
        self.members.get(&lpn).map(|(_, member)| *member)
    }
    /// True for a trimmed member.
    pub(super) fn is_trimmed(&self, lpn: Lpn) -> bool {
        self.members.get(&lpn).is_some_and(|(_, member)| member.is_trimmed)
    }
    /// Marks a member as trimmed; returns true if it is here and was not trimmed before.
    pub(super) fn trim(&mut self, lpn: Lpn) -> bool {
        let member = self.members.get_mut(&lpn);
        member.is_some_and(|(_, member)| !std::mem::replace(&mut member.is_trimmed, true))
    }
    /// Adds a member, instead of the earlier one of the same unit.
    pub(super) fn put(&mut self, lpn: Lpn, member: OffFlash) {
        self.added += 1;
        self.members.insert(lpn, (self.added, member));
    }
    /// A number of a member, which no other has or had.
    pub(super) fn number(&self, lpn: Lpn) -> Option<u64> {
        self.members.get(&lpn).map(|(number, _)| *number)
    }
    /// Removes a member; returns its way to flash.
    pub(super) fn forget(&mut self, lpn: Lpn) -> Option<Unit> {
        self.members.remove(&lpn)?.1.unit
    }
    /// Notes that a unit's data is on flash. It is no longer here if it was the member's; if that
    /// was trimmed, its data stays. Returns true if the data on flash is the member's, and current.
    pub(super) fn written(&mut self, lpn: Lpn, unit: Unit) -> bool {
        let member = self.members.get_mut(&lpn).map(|(_, member)| member);
        let Some(member) = member.filter(|member| member.unit == Some(unit)) else { return false };
        if member.is_trimmed {
            member.unit = None;
            return false;
        }
        self.forget(lpn);
        true
    }
    /// Entries of all members that are data.
    pub fn entries(&self) -> impl Iterator<Item = EntryId> {
        self.members.values().filter_map(|(_, member)| match member.unit? {
            Unit::Data(entry) => Some(entry),
            Unit::Parity(_) => None,
        })
    }
    /// Units of all members, in order.
    pub fn units(&self) -> impl Iterator<Item = Lpn> {
        self.members.keys().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::ids::ParityId;

    const ONE: Lpn = Lpn(1);

    fn of(entry: u32) -> OffFlash {
        OffFlash {
            token: 7,
            unit: Some(Unit::Data(EntryId(entry))),
            is_trimmed: false,
            is_lost: false,
        }
    }

    #[test]
    fn a_member_is_here_until_it_is_on_flash() {
        let mut all = AllOffFlash::default();
        all.put(ONE, of(3));
        assert_eq!((all.get(ONE), all.get(Lpn(2))), (Some(of(3)), None));
        assert!(!all.written(ONE, Unit::Data(EntryId(2))), "earlier data of the same unit");
        assert!(!all.written(ONE, Unit::Parity(ParityId(3))));
        assert!(all.written(ONE, Unit::Data(EntryId(3))));
        assert_eq!(all.units().count(), 0);
    }

    #[test]
    fn a_trimmed_member_stays_until_it_is_forgotten() {
        let mut all = AllOffFlash::default();
        assert!(!all.trim(ONE), "it is not here");
        all.put(ONE, of(3));
        assert!(all.trim(ONE) && !all.trim(ONE), "once");
        assert!(!all.written(ONE, Unit::Data(EntryId(3))), "nothing reads it");
        assert!(all.is_trimmed(ONE) && all.get(ONE).is_some());
        assert_eq!(all.forget(ONE), None, "its program has ended");
        all.put(ONE, of(4));
        assert_eq!(all.forget(ONE), Some(Unit::Data(EntryId(4))));
    }
}
