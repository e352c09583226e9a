//! What must survive a power cut, and whether it has.
//!
//! A unit that was acknowledged as being on flash, or as being in a buffer that a capacitor
//! saves, must be there afterwards, or something newer. Of a volatile buffer that holds for
//! what was acknowledged before a flush was submitted that has completed. What was never
//! acknowledged may be there or not.

use super::{Audit, AuditTicket, BEFORE, has_data, order, written};
use crate::config::Durability;
use crate::device::RequestId;
use engine::Instant;
use ftl::{Ftl, Lpn, Pun};
use std::collections::BTreeMap;

/// What a power cut leaves.
#[derive(Clone, Copy, Debug)]
pub struct Survives {
    /// Of buffered data.
    pub durability: Durability,
    /// Whether trims stay.
    pub logs_trims: bool,
}

/// Acknowledgements in their order, as far as flushes under way tell them apart.
#[derive(Clone, Default)]
pub struct Durable {
    /// Acknowledgements of units so far.
    acknowledged: u64,
    /// As many of them came before a flush that has completed.
    flushed: u64,
    /// For each flush under way, how many came before it.
    flushes: BTreeMap<RequestId, u64>,
    /// By unit, what was acknowledged and as which; at first what was there before.
    history: BTreeMap<Lpn, Vec<(u64, u64)>>,
    /// By unit, the last trim that was taken in, and the last that was acknowledged.
    trims: BTreeMap<Lpn, [u64; 2]>,
}

impl Durable {
    pub fn flush_submitted(&mut self, id: RequestId) {
        self.flushes.insert(id, self.acknowledged);
    }
    pub fn trimmed(&mut self, lpn: Lpn, token: u64) {
        self.trims.entry(lpn).or_default()[0] = token;
    }
    /// A command has completed; `before` is what was acknowledged of a unit until now.
    pub fn completed(&mut self, id: RequestId, tokens: &[(Lpn, u64)], before: impl Fn(Lpn) -> u64) {
        if let Some(covers) = self.flushes.remove(&id) {
            self.flushed = self.flushed.max(covers);
        }
        for (lpn, token) in tokens {
            self.acknowledged += 1;
            if !has_data(*token) {
                let trim = &mut self.trims.entry(*lpn).or_default()[1];
                *trim = (*trim).max(*token);
            }
            let history = self.history.entry(*lpn).or_insert_with(|| vec![(0, before(*lpn))]);
            let (last, newest) = *history.last().expect("it begins with what was there");
            // What no flush covers without this one is of no interest any more.
            let covered = |covers: &u64| *covers >= last;
            if !covered(&self.flushed) && !self.flushes.values().any(covered) {
                history.pop();
            }
            history.push((self.acknowledged, newest.max(*token)));
            let flushed = self.flushed;
            let outdated = history.iter().skip(1).take_while(|(at, _)| *at <= flushed).count();
            history.drain(..outdated);
        }
    }
    /// What of a unit is on flash at least, with a volatile buffer.
    fn flushed(&self, lpn: Lpn) -> Option<u64> {
        let covered = self.history.get(&lpn)?.iter().rev().find(|(at, _)| *at <= self.flushed);
        Some(covered.expect("what was there before is on flash").1)
    }
}

impl Audit {
    /// From now on the power may be cut. What is dead on flash by now may return where trims
    /// are volatile.
    pub fn expect_cuts(&mut self, ftl: &Ftl) {
        self.durable = Some(Box::default());
        for pun in (0..ftl.layout.physical_units()).map(Pun) {
            if ftl.version(pun) > 0 {
                self.on_flash[pun] = written(BEFORE, ftl.holds(pun));
            }
        }
    }

    /// The power is cut: a command that was under way will never complete. It does not count
    /// as having been in the drive.
    pub fn lost(&mut self, id: RequestId, ticket: &AuditTicket, arrived: Instant, now: Instant) {
        self.integrate(now);
        let number = self.under_way.remove(&id);
        assert_eq!(number, ticket.command.map(|(_, number)| number), "audit: {id:?} is lost");
        self.area_ns -= u128::from((now - ticket.at).as_ns());
        self.queued = self.queued.checked_sub(ticket.at - arrived).expect("it was counted");
    }

    /// A place holds nothing that could be told from noise.
    pub fn torn(&mut self, pun: Pun) {
        self.on_flash[pun] = 0;
    }

    /// Proves that a drive that has recovered holds what it must and nothing older, and goes
    /// on with what it holds. `saved` is what a capacitor has saved.
    ///
    /// # Errors
    /// The first unit that is missing or is another.
    pub fn recovered(
        &mut self,
        ftl: &Ftl,
        saved: &BTreeMap<Lpn, u64>,
        survives: Survives,
    ) -> Result<(), String> {
        for lpn in (0..ftl.layout.logical_units).map(Lpn) {
            let on_flash = ftl.lookup(lpn).map(|pun| (ftl.holds(pun), self.on_flash[pun]));
            if let Some((holds, token)) = on_flash
                && (holds != lpn || !has_data(token))
            {
                return Err(format!("{lpn:?} is mapped to {holds:?}, token {token:x}"));
            }
            let found = saved.get(&lpn).copied().or(on_flash.map(|(_, token)| token));
            self.prove(lpn, found.unwrap_or(0), survives)?;
            let found = found.unwrap_or_else(|| super::trimmed(order(self.newest[lpn])));
            self.acknowledged[lpn] = found;
            self.replace(lpn, found);
        }
        *self.durable.as_mut().expect("the power may be cut").as_mut() = Durable::default();
        Ok(())
    }

    /// What of a unit must be there at least.
    fn floor(&self, lpn: Lpn, survives: Survives) -> u64 {
        let durable = self.durable.as_ref().expect("the power may be cut");
        let trim = durable.trims.get(&lpn).filter(|_| survives.logs_trims).map_or(0, |of| of[1]);
        match survives.durability {
            Durability::Capacitor => self.newest[lpn],
            Durability::None => self.acknowledged[lpn],
            Durability::Volatile => {
                durable.flushed(lpn).unwrap_or(self.acknowledged[lpn]).max(trim)
            }
        }
    }

    fn prove(&self, lpn: Lpn, found: u64, survives: Survives) -> Result<(), String> {
        let floor = self.floor(lpn, survives);
        let durable = self.durable.as_ref().expect("the power may be cut");
        let trim = durable.trims.get(&lpn).map_or(0, |of| of[0]);
        let wrong = |what: &str| {
            let newest = self.newest[lpn];
            Err(format!(
                "after the power cut {lpn:?} is {found:x}, at least {floor:x} must be there (of {newest:x}): {what}"
            ))
        };
        if !has_data(found) {
            return match has_data(floor) && trim < floor {
                true => wrong("it is lost"),
                false => Ok(()),
            };
        }
        let may_return = !survives.logs_trims && order(trim) >= order(floor) && trim > 0;
        if order(found) < order(floor) && !may_return {
            return wrong("it is older");
        }
        if order(found) > order(self.newest[lpn]) {
            return wrong("nobody wrote that");
        }
        for known in [floor, self.newest[lpn], self.acknowledged[lpn]] {
            if order(found) == order(known) && found != known {
                return wrong("it is a part that was merged with the wrong rest");
            }
        }
        Ok(())
    }
}
