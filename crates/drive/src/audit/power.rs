//! Account of the auditor across power cuts: lost commands, and the data found by recovery.

use super::Audit;
use super::durable::{Durable, Saved, Survives, Unit};
use super::ticket::AuditTicket;
use super::tokens::{has_data, order, trimmed, written};
use crate::device::RequestId;
use engine::{BigColumn, Instant};
use ftl::{Ftl, Layout, Lpn, Ppn};
use std::collections::BTreeMap;

impl Audit {
    /// Prepares for power cuts. The data that is on flash by now gets tokens from its versions, so
    /// that invalid data is older than valid data.
    pub fn expect_cuts(&mut self, ftl: &Ftl, survives: Survives) {
        let mut durable = Durable::new(survives);
        for ppn in (0..ftl.layout.physical_units()).map(Ppn) {
            let (lpn, version) = (ftl.holds(ppn), u64::from(ftl.version(ppn)));
            if version > 0 {
                self.on_flash[ppn] = written(version, lpn);
                self.next_order = self.next_order.max(version + 1);
            }
        }
        for ppn in (0..ftl.layout.physical_units()).map(Ppn) {
            let lpn = ftl.holds(ppn);
            if ftl.is_valid(ppn) {
                self.acknowledged[lpn] = self.on_flash[ppn];
                self.replace(lpn, self.on_flash[ppn]);
            } else if ftl.version(ppn) > 0 && ftl.lookup(lpn).is_none() && !survives.logs_trims {
                // It was trimmed; the time of that is not known.
                durable.unit(lpn, 0).trim = trimmed(self.next_order);
            }
        }
        self.durable = Some(Box::new(durable));
        if let Some(subunits) = &mut self.subunits {
            subunits.expect_cuts(ftl, survives.logs_trims);
        }
    }

    /// Notes that the power is cut and a command that was under way will never complete. It does
    /// not count as having been in the drive.
    pub fn lost(&mut self, id: RequestId, ticket: &AuditTicket, arrived: Instant, now: Instant) {
        self.integrate(now);
        let number = self.under_way.remove(&id);
        assert_eq!(number, ticket.command.map(|(_, number)| number), "audit: {id:?} is lost");
        self.area_ns -= u128::from((now - ticket.at).as_ns());
        self.queued = self.queued.checked_sub(ticket.at - arrived).expect("it was counted");
    }

    /// Notes that a place holds nothing but noise.
    pub fn torn(&mut self, ppn: Ppn) {
        self.on_flash[ppn] = 0;
    }
    /// Notes that a host's data is on flash although its program has not ended.
    pub fn survived(&mut self, layout: &Layout, lpn: Lpn, ppn: Ppn, token: u64) {
        self.check_content(lpn, token, "a program");
        self.place(layout, ppn);
        self.on_flash[ppn] = token;
        if let Some(subunits) = &mut self.subunits {
            subunits.program(lpn, ppn, token);
        }
        let durable = self.durable.as_mut().expect("the power may be cut");
        let unit = durable.unit(lpn, self.acknowledged[lpn]);
        unit.surplus = unit.surplus.max(token);
    }
    /// The token of the data at a place.
    pub fn token_at(&self, ppn: Ppn) -> u64 {
        self.on_flash[ppn]
    }

    /// The newest data of each unit that is anywhere on flash, by this account.
    fn newest_on_flash(&self, ftl: &Ftl) -> BigColumn<Lpn, u64> {
        let mut newest = BigColumn::<Lpn, u64>::zeroed(ftl.layout.map_units as usize);
        for ppn in (0..ftl.layout.physical_units()).map(Ppn) {
            if has_data(self.on_flash[ppn]) {
                let of = &mut newest[ftl.holds(ppn)];
                *of = self.on_flash[ppn].max(*of);
            }
        }
        newest
    }

    /// Checks that a drive that has recovered holds what it must and nothing else, and continues
    /// with its present content. `saved` is the data that a capacitor has saved.
    ///
    /// # Errors
    /// The first unit that is missing or differs.
    pub fn recovered(&mut self, ftl: &Ftl, saved: &[Saved]) -> Result<(), String> {
        let newest = self.newest_on_flash(ftl);
        let saved: BTreeMap<Lpn, Saved> = saved.iter().map(|of| (of.lpn, *of)).collect();
        let earlier = self.durable.take().expect("the power may be cut");
        let mut durable = Durable::new(earlier.survives);
        for lpn in (0..ftl.layout.map_units).map(Lpn) {
            let found = self.found(ftl, lpn, saved.get(&lpn))?;
            let before = self.acknowledged[lpn];
            let unit = earlier.units.get(&lpn).copied();
            let unit = unit.unwrap_or(Unit { before, ..Unit::default() });
            let floor = earlier.floor(lpn, &unit);
            earlier.judge(&unit, floor, found, newest[lpn]).map_err(|what| {
                format!(
                    "after the power cut {lpn:?} is {found:x}, {floor:x} must be there (of {:x}): {what}",
                    self.newest[lpn]
                )
            })?;
            if let Some(subunits) = &mut self.subunits {
                let saved = saved.get(&lpn).map(|of| (of.token, of.written));
                subunits.recovered(ftl, lpn, saved)?;
            }
            if !has_data(found) && unit.trim > floor {
                // A later cut may still undo the trim.
                durable.units.insert(lpn, Unit { surplus: 0, ..unit });
            }
            let nothing = trimmed(order(self.newest[lpn]));
            let found = if has_data(found) { found } else { nothing };
            self.acknowledged[lpn] = found;
            self.replace(lpn, found);
        }
        self.durable = Some(Box::new(durable));
        Ok(())
    }

    /// The token of a unit after a recovery; 0 if it holds nothing.
    fn found(&self, ftl: &Ftl, lpn: Lpn, saved: Option<&Saved>) -> Result<u64, String> {
        let on_flash = match ftl.lookup(lpn) {
            Some(ppn) if ftl.holds(ppn) != lpn || !has_data(self.on_flash[ppn]) => {
                let (holds, token) = (ftl.holds(ppn), self.on_flash[ppn]);
                return Err(format!("{lpn:?} is mapped to {holds:?}, token {token:x}"));
            }
            Some(ppn) => self.on_flash[ppn],
            None => 0,
        };
        let Some(saved) = saved else { return Ok(on_flash) };
        match saved.rest.filter(|rest| *rest != on_flash) {
            Some(rest) => Err(format!(
                "a part of {lpn:?} was saved, whose rest is {rest:x}, but on flash is {on_flash:x}"
            )),
            None => Ok(saved.token),
        }
    }
}
