//! Members of stripes, and where their data is.

use crate::device::Base;
use crate::device::write::Write;
use ftl::{Lpn, Ppn, StripeId};

/// A member of a stripe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Member {
    OnFlash(Lpn, Ppn),
    /// In memory only, with the auditor's token of its data.
    InRam(u64),
    /// Lost: the rest of its stripe tells its data, which has this token.
    Lost(u64),
}

impl Member {
    /// True if it is on flash.
    pub fn is_on_flash(&self) -> bool {
        matches!(self, Self::OnFlash(..))
    }
    /// True if it can be had without the rest of its stripe.
    pub fn is_there(&self) -> bool {
        !matches!(self, Self::Lost(_))
    }
}

/// The identity of lost data of a unit: newer data of the same unit has another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    /// Of the page that it was on.
    Page(Ppn),
    /// Of data that was never on flash.
    Number(u64),
}

/// Members of a stripe from which another one is computed.
pub struct Others {
    /// Members on flash.
    pub on_flash: Vec<(Lpn, Ppn)>,
    /// The auditor's tokens of those in memory, combined.
    pub in_ram: u64,
}

impl Others {
    /// True if one of them cannot be read.
    pub fn has_poison(&self, base: &Base) -> bool {
        self.on_flash.iter().any(|(_, ppn)| base.space.ftl.is_poisoned(*ppn))
    }
}

impl Write {
    /// The member of a stripe that a unit is: its current data, or that of a trimmed unit which is part
    /// of the parity.
    pub(in crate::device) fn member(&self, base: &Base, lpn: Lpn) -> Option<Member> {
        if let Some(member) = self.updates.as_ref().and_then(|updates| updates.off_flash.get(lpn)) {
            let as_it_is = if member.is_lost { Member::Lost } else { Member::InRam };
            return Some(as_it_is(member.token));
        }
        let ppn = base.space.ftl.member(lpn)?;
        Some(match base.space.ftl.is_lost(ppn) {
            true => Member::Lost(base.audit_stored(ppn)),
            false => Member::OnFlash(lpn, ppn),
        })
    }

    /// True if a unit that is not mapped has data all the same, which the rest of its stripe tells.
    pub(in crate::device) fn is_lost(&self, base: &Base, lpn: Lpn) -> bool {
        base.space.ftl.has_failed_bins() && self.apart(lpn).is_some_and(|(_, is_lost)| is_lost)
    }

    /// The identity of a unit's data, if it is lost and the unit was not trimmed.
    pub(in crate::device) fn lost_version(&self, base: &Base, lpn: Lpn) -> Option<Version> {
        if let Some(ppn) = base.space.ftl.lookup(lpn) {
            return base.space.ftl.is_lost(ppn).then_some(Version::Page(ppn));
        }
        let number = || self.updates().off_flash.number(lpn).map(Version::Number);
        self.is_lost(base, lpn).then(number)?
    }

    /// Notes that a unit whose data was lost is at `ppn` now.
    pub(in crate::device) fn rebuilt(&mut self, base: &mut Base, lpn: Lpn, ppn: Ppn) {
        self.updates_mut().off_flash.forget(lpn);
        base.space.ftl.commit_write(lpn, ppn);
    }

    /// The auditor's token of a unit that is lost.
    pub(in crate::device) fn lost_token(&self, base: &Base, lpn: Lpn) -> u64 {
        match self.member(base, lpn) {
            Some(Member::Lost(token)) => token,
            _ => unreachable!("{lpn:?} is not lost"),
        }
    }

    /// The members of a stripe, parity included, but for some units; `None` if one of them is lost, or
    /// the stripe has no parity.
    pub(in crate::device) fn others(
        &self,
        base: &Base,
        stripe: StripeId,
        but_for: impl Fn(Lpn) -> bool,
    ) -> Option<Others> {
        let stripes = base.space.ftl.layout.stripes?;
        let parity = stripes.parity(stripe);
        self.member(base, parity)?;
        let mut others = Others { on_flash: Vec::new(), in_ram: 0 };
        for lpn in stripes.data(stripe).chain([parity]).filter(|lpn| !but_for(*lpn)) {
            match self.member(base, lpn) {
                Some(Member::OnFlash(lpn, ppn)) => others.on_flash.push((lpn, ppn)),
                Some(Member::InRam(token)) => others.in_ram ^= token,
                Some(Member::Lost(_)) => return None,
                None => {}
            }
        }
        Some(others)
    }
}
