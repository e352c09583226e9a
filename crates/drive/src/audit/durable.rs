//! What must survive a power cut, and whether it has.
//!
//! A unit that was acknowledged as being on flash, or as being in a buffer that a capacitor
//! saves, must be there afterwards. Of a volatile buffer that holds for what was acknowledged
//! before a flush was submitted that has completed; and whatever the buffer, for all whose
//! program has ended. So it is known what is there, but where a program was cut off between
//! its data and its end, and where trims may be undone.

use super::tokens::{has_data, order};
use crate::config::Durability;
use crate::device::RequestId;
use ftl::Lpn;
use std::collections::BTreeMap;

/// What a power cut leaves.
#[derive(Clone, Copy, Debug)]
pub struct Survives {
    /// Of buffered data.
    pub durability: Durability,
    /// Whether trims stay.
    pub logs_trims: bool,
    /// Whether all that is on flash is looked at.
    pub scans: bool,
}

/// What a capacitor has saved of a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Saved {
    pub lpn: Lpn,
    /// What the auditor calls the whole of it.
    pub token: u64,
    /// Of a unit whose rest had not been read: what the auditor calls the data on flash that
    /// has it. It is still to be read.
    pub rest: Option<u64>,
}

/// What came of a unit since the power was there, as far as that may survive. What is called
/// a trim here may be undone: one that stays is a write of nothing.
#[derive(Clone, Copy, Default)]
pub(super) struct Unit {
    /// What was there before.
    pub(super) before: u64,
    /// The newest write whose program has ended.
    pub(super) ended: u64,
    /// The newest write that was taken in, and that was acknowledged.
    pub(super) taken_in: u64,
    pub(super) acknowledged: u64,
    /// The newest write of nothing that was taken in, and that was acknowledged.
    pub(super) emptied: u64,
    pub(super) gone: u64,
    /// The newest trim that was taken in.
    pub(super) trim: u64,
    /// On flash though its program had not ended when the power was cut.
    pub(super) surplus: u64,
}

/// Acknowledgements in their order, as far as flushes under way tell them apart.
#[derive(Clone)]
pub struct Durable {
    pub(super) survives: Survives,
    /// Acknowledgements of units so far.
    acknowledged: u64,
    /// As many of them came before a flush that has completed.
    flushed: u64,
    /// For each flush under way, how many came before it.
    flushes: BTreeMap<RequestId, u64>,
    /// By unit, what was acknowledged and as which; at first what was there before.
    history: BTreeMap<Lpn, Vec<(u64, u64)>>,
    pub(super) units: BTreeMap<Lpn, Unit>,
}

impl Durable {
    pub(super) fn new(survives: Survives) -> Self {
        Self {
            survives,
            acknowledged: 0,
            flushed: 0,
            flushes: BTreeMap::new(),
            history: BTreeMap::new(),
            units: BTreeMap::new(),
        }
    }
    /// The account of a unit; `before` is what was acknowledged of it until now.
    pub(super) fn unit(&mut self, lpn: Lpn, before: u64) -> &mut Unit {
        self.units.entry(lpn).or_insert(Unit { before, ..Unit::default() })
    }
    /// True for what is acknowledged as no trim, or as one that stays.
    fn stays(&self, is_trim: bool) -> bool {
        !is_trim || self.survives.logs_trims
    }

    pub fn flush_submitted(&mut self, id: RequestId) {
        self.flushes.insert(id, self.acknowledged);
    }
    /// A unit of a write, or of a trim, is taken in.
    pub fn taken_in(&mut self, lpn: Lpn, token: u64, is_trim: bool, before: u64) {
        let stays = self.stays(is_trim);
        let unit = self.unit(lpn, before);
        if !stays {
            unit.trim = token;
            return;
        }
        unit.taken_in = token;
        if !has_data(token) {
            unit.emptied = token;
        }
    }
    /// A host's data is on flash.
    pub fn ended(&mut self, lpn: Lpn, token: u64, before: u64) {
        let unit = self.unit(lpn, before);
        unit.ended = unit.ended.max(token);
    }
    /// A command has completed; `before` is what was acknowledged of a unit until now.
    pub fn completed(
        &mut self,
        id: RequestId,
        tokens: &[(Lpn, u64)],
        is_trim: bool,
        before: impl Fn(Lpn) -> u64,
    ) {
        if let Some(covers) = self.flushes.remove(&id) {
            self.flushed = self.flushed.max(covers);
        }
        if !self.stays(is_trim) {
            return;
        }
        for (lpn, token) in tokens {
            let unit = self.unit(*lpn, before(*lpn));
            unit.acknowledged = unit.acknowledged.max(*token);
            if !has_data(*token) {
                unit.gone = unit.gone.max(*token);
            }
            let before = unit.before;
            self.note_history(*lpn, *token, before);
        }
    }
    fn note_history(&mut self, lpn: Lpn, token: u64, before: u64) {
        self.acknowledged += 1;
        let history = self.history.entry(lpn).or_insert_with(|| vec![(0, before)]);
        let (last, newest) = *history.last().expect("it begins with what was there");
        // What no flush covers without this one is of no interest any more.
        let covered = |covers: &u64| *covers >= last;
        if !covered(&self.flushed) && !self.flushes.values().any(covered) {
            history.pop();
        }
        history.push((self.acknowledged, newest.max(token)));
        let flushed = self.flushed;
        let outdated = history.iter().skip(1).take_while(|(at, _)| *at <= flushed).count();
        history.drain(..outdated);
    }
    /// What of a unit is on flash at least because of flushes.
    fn flushed(&self, lpn: Lpn) -> u64 {
        let Some(history) = self.history.get(&lpn) else { return 0 };
        let covered = history.iter().rev().find(|(at, _)| *at <= self.flushed);
        covered.map_or(0, |(_, token)| *token)
    }

    /// What of a unit must be there at least.
    pub(super) fn floor(&self, lpn: Lpn, unit: &Unit) -> u64 {
        let by_buffer = match self.survives.durability {
            Durability::Capacitor => unit.taken_in,
            Durability::None => unit.acknowledged,
            Durability::Volatile => self.flushed(lpn),
        };
        [unit.before, unit.ended, unit.gone, by_buffer].into_iter().max().unwrap_or(0)
    }

    /// Whether a unit may be `found` after a power cut, of which `on_flash` is the newest data
    /// there, saved data aside; if not, what is wrong.
    pub(super) fn judge(
        &self,
        unit: &Unit,
        floor: u64,
        found: u64,
        on_flash: u64,
    ) -> Result<(), &str> {
        let is_undone = unit.trim > floor;
        if !has_data(found) {
            let is_right = !has_data(floor) || is_undone || unit.emptied > floor;
            return if is_right { Ok(()) } else { Err("it is lost") };
        }
        if found == floor || found == unit.surplus && found > floor {
            return Ok(());
        }
        if order(found) == order(floor) {
            return Err("it is a part that was merged with the wrong rest");
        }
        // Of what was trimmed there is what is left.
        let was_emptied = !has_data(floor) && floor > 0;
        let is_left = if self.survives.scans { found == on_flash } else { on_flash < floor };
        if is_undone && !was_emptied && found < unit.trim && (is_left || floor == 0) {
            return Ok(());
        }
        Err(if found < floor { "it is older" } else { "that was not on flash" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::tokens::{trimmed, written};

    const LPN: Lpn = Lpn(3);

    fn durable(durability: Durability, logs_trims: bool, scans: bool) -> Durable {
        Durable::new(Survives { durability, logs_trims, scans })
    }
    /// What is said of a unit that is `found`, of which `on_flash` is the newest data there.
    fn verdict(durable: &Durable, found: u64, on_flash: u64) -> Option<&str> {
        let unit = durable.units[&LPN];
        durable.judge(&unit, durable.floor(LPN, &unit), found, on_flash).err()
    }

    #[test]
    fn what_is_on_flash_is_the_floor_before_any_flush() {
        let [first, second, third] = [2, 3, 4].map(|order| written(order, LPN));
        let mut durable = durable(Durability::Volatile, true, true);
        durable.taken_in(LPN, second, false, first);
        durable.taken_in(LPN, third, false, first);
        assert_eq!(verdict(&durable, first, first), None);
        durable.ended(LPN, second, first);
        assert_eq!(verdict(&durable, second, second), None);
        assert_eq!(verdict(&durable, first, second), Some("it is older"));
        assert_eq!(verdict(&durable, 0, second), Some("it is lost"));
        assert_eq!(verdict(&durable, third, second), Some("that was not on flash"));
        let unit = durable.units.get_mut(&LPN).unwrap();
        unit.surplus = third;
        assert_eq!(verdict(&durable, third, third), None, "between its data and its end");
        let other = second ^ 2;
        assert!(verdict(&durable, other, other).unwrap().contains("wrong rest"));
    }

    #[test]
    fn zeroes_stay_whatever_trims_do() {
        let (first, zeroes) = (written(2, LPN), trimmed(3));
        for logs_trims in [true, false] {
            let mut durable = durable(Durability::Volatile, logs_trims, true);
            durable.taken_in(LPN, zeroes, false, first);
            assert_eq!(verdict(&durable, first, first), None, "not acknowledged");
            assert_eq!(verdict(&durable, 0, first), None);
            durable.unit(LPN, first).gone = zeroes;
            assert_eq!(verdict(&durable, first, first), Some("it is older"));
            assert_eq!(verdict(&durable, 0, first), None);
            // A trim of nothing changes nothing.
            durable.taken_in(LPN, trimmed(4), true, first);
            assert_eq!(verdict(&durable, first, first), Some("it is older"));
        }
    }

    #[test]
    fn of_what_was_trimmed_there_is_what_is_left() {
        let [first, second] = [2, 3].map(|order| written(order, LPN));
        for scans in [true, false] {
            let mut durable = durable(Durability::None, false, scans);
            durable.taken_in(LPN, second, false, first);
            durable.ended(LPN, second, first);
            durable.taken_in(LPN, trimmed(4), true, first);
            assert_eq!(verdict(&durable, 0, second), None);
            assert_eq!(verdict(&durable, second, second), None);
            assert_eq!(verdict(&durable, first, second), Some("it is older"), "both are there");
            assert_eq!(verdict(&durable, first, first), None, "the newer is erased");
        }
        // Where there is a log, nothing returns.
        let mut durable = durable(Durability::None, true, true);
        durable.taken_in(LPN, trimmed(4), true, second);
        durable.unit(LPN, second).gone = trimmed(4);
        assert_eq!(verdict(&durable, second, second), Some("it is older"));
    }
}
