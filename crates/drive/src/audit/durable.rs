//! Data that must survive a power cut, and the check that it has.
//!
//! A unit that was acknowledged as being on flash, or as being in a buffer that a capacitor
//! protects, must be there afterwards. For a volatile buffer this holds for units acknowledged
//! before the submission of a flush that has completed. For every buffer it holds for all units
//! whose program has ended. So the content after a cut is known, except where a program was cut off
//! between its data and its end, and where trims may be undone.

use super::tokens::{has_data, order};
use crate::config::Durability;
use crate::device::RequestId;
use ftl::Lpn;
use std::collections::BTreeMap;

/// Data and trims that survive a power cut.
#[derive(Clone, Copy, Debug)]
pub struct Survives {
    /// Durability of buffered data.
    pub durability: Durability,
    /// True if trims survive.
    pub logs_trims: bool,
    /// True if recovery scans everything that is on flash.
    pub scans: bool,
}

/// The data of a unit that a capacitor has saved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Saved {
    pub lpn: Lpn,
    /// The token of the whole unit.
    pub token: u64,
    /// For a unit whose rest had not been read: the token of the data on flash that has the rest,
    /// which is still to be read.
    pub rest: Option<u64>,
    /// Subunits that hold data, and those of the rest that are read; 0 if the map knows of none.
    pub written: u64,
    pub reads: u64,
}

/// Events of a unit since the drive was last powered on, as far as they may survive. A trim here is
/// one that may be undone; a trim that survives counts as a write without data.
#[derive(Clone, Copy, Default)]
pub(super) struct Unit {
    /// The token before power-on.
    pub(super) before: u64,
    /// The newest write whose program has ended.
    pub(super) ended: u64,
    /// The newest write that was taken in, and the newest that was acknowledged.
    pub(super) taken_in: u64,
    pub(super) acknowledged: u64,
    /// The newest write without data that was taken in, and the newest that was acknowledged.
    pub(super) emptied: u64,
    pub(super) gone: u64,
    /// The newest trim that was taken in.
    pub(super) trim: u64,
    /// Data that is on flash although its program had not ended when the power was cut.
    pub(super) surplus: u64,
}

/// Acknowledgements in their order, as far as flushes under way depend on it.
#[derive(Clone)]
pub struct Durable {
    pub(super) survives: Survives,
    /// Number of units acknowledged so far.
    acknowledged: u64,
    /// Number of them that came before a flush that has completed.
    flushed: u64,
    /// For each flush under way, the number that came before it.
    flushes: BTreeMap<RequestId, u64>,
    /// By unit, the acknowledged tokens with their number in the order; first the token before
    /// that.
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
    /// The account of a unit; `before` is its token that was acknowledged until now.
    pub(super) fn unit(&mut self, lpn: Lpn, before: u64) -> &mut Unit {
        self.units.entry(lpn).or_insert(Unit { before, ..Unit::default() })
    }
    /// True for an acknowledged write, or a trim that survives.
    fn stays(&self, is_trim: bool) -> bool {
        !is_trim || self.survives.logs_trims
    }

    pub fn flush_submitted(&mut self, id: RequestId) {
        self.flushes.insert(id, self.acknowledged);
    }
    /// Notes that a unit of a write, or of a trim, is taken in.
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
    /// Notes that a host's data is on flash.
    pub fn ended(&mut self, lpn: Lpn, token: u64, before: u64) {
        let unit = self.unit(lpn, before);
        unit.ended = unit.ended.max(token);
    }
    /// Notes that a command has completed; `before` gives the token of a unit acknowledged until
    /// now.
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
        // Older acknowledgements that this completed flush covers are not needed any more.
        let covered = |covers: &u64| *covers >= last;
        if !covered(&self.flushed) && !self.flushes.values().any(covered) {
            history.pop();
        }
        history.push((self.acknowledged, newest.max(token)));
        let flushed = self.flushed;
        let outdated = history.iter().skip(1).take_while(|(at, _)| *at <= flushed).count();
        history.drain(..outdated);
    }
    /// The token that a unit must at least have on flash because of flushes.
    fn flushed(&self, lpn: Lpn) -> u64 {
        let Some(history) = self.history.get(&lpn) else { return 0 };
        let covered = history.iter().rev().find(|(at, _)| *at <= self.flushed);
        covered.map_or(0, |(_, token)| *token)
    }

    /// The token that a unit must at least have after a power cut.
    pub(super) fn floor(&self, lpn: Lpn, unit: &Unit) -> u64 {
        let by_buffer = match self.survives.durability {
            Durability::Capacitor => unit.taken_in,
            Durability::None => unit.acknowledged,
            Durability::Volatile => self.flushed(lpn),
        };
        [unit.before, unit.ended, unit.gone, by_buffer].into_iter().max().unwrap_or(0)
    }

    /// Judges a unit that is `found` after a power cut. `on_flash` is its newest data on flash,
    /// without saved data. Returns the fault if the unit may not be `found`.
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
        // Data that was trimmed may return, as far as it is still on flash.
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
    /// The fault of a unit that is `found`; `on_flash` is its newest data on flash.
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
            // A trim of a unit without data changes nothing.
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
        // With a log of trims, no trimmed data returns.
        let mut durable = durable(Durability::None, true, true);
        durable.taken_in(LPN, trimmed(4), true, second);
        durable.unit(LPN, second).gone = trimmed(4);
        assert_eq!(verdict(&durable, second, second), Some("it is older"));
    }
}
