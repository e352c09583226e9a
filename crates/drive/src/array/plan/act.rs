//! News for a plan, and its decisions. The array acts on them.

use crate::array::members::MemberId;
use engine::{Instant, Span, typed_id};
use host::{Command, Kind};
use settings::Time;

typed_id! {
    /// A request of the host to the array, while it is under way.
    pub struct HostId;
    /// A moment of which a plan in Python wants to be told.
    pub struct WakeId;
}

/// A request of the host, and its number, which no other request has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Asked {
    /// Its place among the requests under way.
    pub id: HostId,
    /// Its number among all requests.
    pub number: u64,
    /// Its command, with addresses of the array's namespace.
    pub command: Command,
    /// Number of commands that change data before it.
    pub write: u64,
}

/// Cause of a request's wait in the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    /// Room in the cache.
    Room = 0,
    /// The turn of a member to write, or the end of a copy of the same bytes.
    Turn = 1,
    /// An answer, before a hedge was sent.
    Hedge = 2,
}

/// Number of waits.
pub const WAITS: usize = 3;

/// A moment that a plan wants to be told of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Timer {
    /// The next member writes.
    Swap,
    /// No write begins until the swap.
    Settle,
    /// A moment of a plan in Python.
    Own(WakeId),
    /// A read is hedged if it is not answered.
    Hedge(HostId),
}

/// A decision of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    /// Sends a command to a member. It is a part of a request, or none: a copy of a write that was
    /// answered. The request has waited for `after` until now. `token` comes back with its end.
    Send { to: MemberId, command: Command, of: Option<HostId>, after: Wait, token: u64 },
    /// The request has waited for this until now.
    Waited { of: HostId, wait: Wait },
    /// Serves a part of a request from the host's cache, which takes so long. The request has waited for
    /// `after` until now.
    Serve { of: HostId, takes: Span, after: Wait },
    /// The part of a request that has just ended answers it, although others are under way.
    Answer { of: HostId },
    /// Tells the plan when this moment has come; `number` is that of the request, for a hedge.
    Wake { at: Instant, timer: Timer, number: u64 },
}

/// Writes that a member may be sent before its turn begins: no more than its deterministic window
/// guarantees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allowed {
    /// Mapping units; `None` for any number.
    units: Option<u64>,
    /// Bytes of one.
    unit: u64,
}

impl Allowed {
    /// Any number.
    pub const ALL: Self = Self { units: None, unit: 1 };
    /// None.
    pub const NONE: Self = Self { units: Some(0), unit: 1 };

    /// So many units of so many bytes.
    pub fn units(units: u64, unit: u64) -> Self {
        Self { units: Some(units), unit }
    }
    /// Takes a command from it; false if that is more than is left.
    pub fn take(&mut self, command: Command) -> bool {
        let Some(left) = self.units else { return true };
        let units = match command.kind {
            Kind::Write => command.end().div_ceil(self.unit) - command.offset / self.unit,
            // A window counts writes alone, but nothing is sent to one that guarantees nothing.
            _ => 1,
        };
        let is_enough = units <= left;
        self.units = Some(if is_enough { left - units } else { left });
        is_enough
    }
}

/// Wakes the plan at the end of a period that begins now, and before that when writes settle.
pub fn begin_period(now: Instant, period: Time, settle: Option<Time>, acts: &mut Vec<Act>) {
    acts.push(Act::Wake { at: now + period.span(), timer: Timer::Swap, number: 0 });
    if let Some(settle) = settle {
        let at = now + (period.span() - settle.span());
        acts.push(Act::Wake { at, timer: Timer::Settle, number: 0 });
    }
}

/// Commands that replace data, or say that it must be kept.
pub fn changes(kind: Kind) -> bool {
    kind != Kind::Read
}

/// Number of commands under way at each member.
#[derive(Clone, Copy, Debug)]
pub struct UnderWay<'a>(pub &'a [u32]);

impl UnderWay<'_> {
    /// Commands under way at a member.
    pub fn at(&self, member: MemberId) -> u32 {
        self.0[member.0 as usize]
    }
    /// The member with the fewest, except `but`; the first of several such.
    pub fn least(&self, but: Option<MemberId>) -> MemberId {
        let all = (0..self.0.len() as u32).map(MemberId).filter(|member| Some(*member) != but);
        all.min_by_key(|member| self.at(*member)).expect("an array has members")
    }
}

/// Counts of a plan since the run began; those of other plans are 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PlanCounts {
    /// Times that the next member began to write.
    pub swaps: u64,
    /// Writes that were kept for members that lacked them.
    pub kept: u64,
    /// The most bytes of such at a time.
    pub peak_bytes: u64,
    /// Writes that waited for room in the cache, or for the end of an exchange of their bytes.
    pub delayed: u64,
    /// Reads of which the cache, or the host's memory, had all.
    pub cached: u64,
    /// Reads of which it had a part.
    pub cached_in_part: u64,
    /// Parts of reads that were computed from other members.
    pub rebuilt: u64,
    /// Hedges that were issued.
    pub hedges: u64,
    /// Of these, hedges that were sent.
    pub sent: u64,
    /// Hedges that were cancelled before they were sent.
    pub cancelled: u64,
    /// Hedges that answered their read.
    pub won: u64,
    /// Exchanges of two chunks that have ended.
    pub exchanges: u64,
    /// Bytes that members were sent to write for exchanges.
    pub copied_bytes: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_allowed_counts_the_units_that_a_write_touches() {
        let command = |kind, offset, bytes| Command { kind, offset, bytes };
        let write = |offset, bytes| command(Kind::Write, offset, bytes);
        let mut allowed = Allowed::units(4, 4096);
        // Two units in part, and then one.
        assert!(allowed.take(write(4000, 512)) && allowed.take(write(8192, 512)));
        assert!(!allowed.take(write(0, 8192)) && allowed.take(write(0, 4096)));
        assert!(!allowed.take(command(Kind::Trim, 0, 4096)));
        assert!((0..9).all(|_| { Allowed::ALL }.take(write(0, 1 << 30))));
    }
}
