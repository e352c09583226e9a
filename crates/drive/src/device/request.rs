//! A host command on its way through the drive.

use crate::audit::AuditTicket;
use crate::config::FirmwareConfig;
use crate::device::blames::{BlameId, Blames};
use crate::device::dispatched::{Dispatch, Dispatched};
use crate::device::ids::RequestId;
use crate::device::join::{Aside, Join};
use engine::{IdOrNone, Instant, Slab, Span};
use ftl::Layout;
use ftl::RecoveryLevel;
use host::{Command, Kind, Priority};
use metrics::{Blame, State};
use std::ops::{Index, IndexMut};

/// A command that has completed.
#[derive(Clone, Copy, Debug)]
pub struct Completion {
    /// Its id, free for reuse; [`super::Device::blame`] still knows it.
    pub id: RequestId,
    /// The submitter's tag.
    pub tag: u32,
    /// The command.
    pub command: Command,
    /// The moment at which the host wanted to submit it.
    pub arrived: Instant,
    /// The moment at which its answer reached the host.
    pub finished: Instant,
    /// Mapping units read that were never written (or trimmed).
    pub unmapped: u32,
    /// Mapping units whose data the command did not get: the host gets an error.
    pub failed: u32,
    /// True for a read of data whose unit or channel collection held when the firmware took the read
    /// in, or dispatched it after a wait for the write buffer. Only if that is recorded, or reads go
    /// round collection.
    pub met: bool,
    /// True for a read that, after any detour, waited for a unit or a channel that collection held.
    /// Recorded as `met` is.
    pub blocked: bool,
}

/// State of a command in the drive. It is small because many may wait, and lies in two cache lines
/// at most.
#[derive(Clone)]
#[repr(align(32))]
pub struct Request {
    // ---- constant ----
    pub command: Command,
    pub priority: Priority,
    pub tag: u32,
    pub arrived: Instant,
    /// Its number among all commands.
    pub number: u64,
    // ---- state ----
    /// The moment at which its present stage began.
    pub since: Instant,
    /// Its parts.
    pub parts: Join,
    /// Next mapping unit to be admitted to the buffer.
    pub cursor: u32,
    /// Units read that hold no data.
    pub unmapped: u32,
    /// True for a read that met collection, and for one that waited for it.
    pub met: bool,
    pub blocked: bool,
    /// Its charges; none as long as they follow from its times alone.
    blame: IdOrNone<BlameId>,
}

const _: () = assert!(size_of::<Request>() == 96, "requests that wait are small");

impl Request {
    #[inline(always)]
    pub fn new(
        command: Command,
        priority: Priority,
        tag: u32,
        arrived: Instant,
        at: Instant,
        number: u64,
    ) -> Self {
        Self {
            command,
            priority,
            tag,
            arrived,
            number,
            since: at,
            parts: Join::default(),
            cursor: 0,
            unmapped: 0,
            met: false,
            blocked: false,
            blame: IdOrNone::NONE,
        }
    }
}

/// All requests, and data apart that only some of them need.
#[derive(Clone)]
pub struct Requests {
    // ---- constant ----
    firmware: FirmwareConfig,
    /// Consequences of the dispatch of reads that have waited for the write buffer.
    pub(in crate::device) dispatch: Dispatch,
    // ---- state ----
    slab: Slab<RequestId, Request>,
    /// The blame of the request that completed last, and those of others that have completed since
    /// the host last got completions.
    spent: IdOrNone<BlameId>,
    spent_beside: Vec<BlameId>,
    /// Notes of the auditor at submission; empty without auditor.
    tickets: Vec<AuditTicket>,
    /// Numbers of requests with a read recovery level of their own, and that level, by the slot that the
    /// request has or had.
    levels: Vec<(u64, RecoveryLevel)>,
    /// Blames of critical parts, for requests with several parts.
    aside: Aside,
    /// Number of requests so far.
    count: u64,
    /// Requests that are to be answered after the present event, and the moments at which they were
    /// done.
    pub(in crate::device) ready: Vec<(RequestId, Instant)>,
    /// Parts of reads that have waited for the write buffer and are dispatched after the present event.
    pub(in crate::device) dispatched: Vec<Dispatched>,
}

impl Requests {
    pub fn new(firmware: FirmwareConfig) -> Self {
        Self {
            firmware,
            dispatch: Dispatch::Nothing,
            dispatched: Vec::new(),
            slab: Slab::default(),
            spent: IdOrNone::NONE,
            spent_beside: Vec::new(),
            tickets: Vec::new(),
            levels: Vec::new(),
            aside: Aside::default(),
            count: 0,
            ready: Vec::new(),
        }
    }
    /// Forgets all requests.
    pub fn begin_anew(&mut self) {
        *self = Self { dispatch: self.dispatch, ..Self::new(self.firmware) };
    }
    /// Time that the firmware takes for a command.
    #[inline]
    pub fn overhead(&self, kind: Kind) -> Span {
        self.firmware.overhead(kind)
    }
    #[inline]
    pub fn insert_with(&mut self, request: impl FnOnce(u64) -> Request) -> RequestId {
        let number = self.count;
        self.count += 1;
        self.slab.insert_with(|| request(number))
    }
    /// Number of requests under way.
    pub fn under_way(&self) -> u32 {
        self.slab.taken() as u32
    }
    /// All requests that are under way.
    pub fn ids(&self) -> Vec<RequestId> {
        self.slab.ids()
    }
    /// Bytes that requests take, with room to grow.
    pub fn bytes(&self) -> u64 {
        self.slab.bytes() + self.aside.bytes()
    }
    /// Gives the slot back. Its blame stays readable until the slot is taken again and, after the
    /// host has taken its completions, another request completes.
    #[inline]
    pub fn remove(&mut self, id: RequestId, is_first: bool, blames: &mut Blames) {
        let before = std::mem::replace(&mut self.spent, self.slab[id].blame);
        self.slab.remove(id);
        if !is_first || !self.spent_beside.is_empty() || before.is_none() {
            return self.spend_beside(before, is_first, blames);
        }
        blames.give_back(before.expected());
    }
    #[inline(never)]
    fn spend_beside(&mut self, before: IdOrNone<BlameId>, is_first: bool, blames: &mut Blames) {
        self.spent_beside.extend(before.get());
        if is_first {
            self.spent_beside.drain(..).for_each(|spent| blames.give_back(spent));
        }
    }

    // ---- blame -------------------------------------------------------------------------

    /// Begins the blame of a submitted request: charges it with the time before the submission, of
    /// which the drive was off for `off`. For a read of a drive that was on, its times give these
    /// charges.
    pub fn begin_blame(&mut self, id: RequestId, off: Span, blames: &mut Blames) -> BlameId {
        let blame = blames.take();
        let request = &mut self.slab[id];
        request.blame = IdOrNone::some(blame);
        charge_beginning(&mut blames[blame], request, off, &self.firmware);
        blame
    }
    /// The blame of a request.
    #[inline]
    pub fn blame_id(&mut self, id: RequestId, blames: &mut Blames) -> BlameId {
        let blame = self.slab[id].blame.get();
        blame.unwrap_or_else(|| self.begin_blame(id, Span::ZERO, blames))
    }
    /// The charges of a request, for adding to them.
    #[inline]
    pub fn blame_mut<'a>(&mut self, id: RequestId, blames: &'a mut Blames) -> &'a mut Blame {
        let blame = self.blame_id(id, blames);
        &mut blames[blame]
    }
    /// The charges of a request that has completed.
    #[inline]
    pub fn blame<'a>(&self, id: RequestId, blames: &'a Blames) -> &'a Blame {
        &blames[self.slab[id].blame.expected()]
    }
    /// The charges of a request so far.
    pub fn blame_so_far(&self, id: RequestId, blames: &Blames) -> Blame {
        let request = &self.slab[id];
        if let Some(blame) = request.blame.get() {
            return blames[blame].clone();
        }
        let mut blame = Blame::NONE;
        charge_beginning(&mut blame, request, Span::ZERO, &self.firmware);
        blame
    }

    // ---- parts -------------------------------------------------------------------------

    /// Ends a part at `at` with `blame`.
    pub fn part_done(
        &mut self,
        id: RequestId,
        part: u32,
        at: Instant,
        blame: &Blame,
        blames: &mut Blames,
    ) {
        let parts = &mut self.slab[id].parts;
        if parts.ended_alone(at) {
            self.blame_mut(id, blames).add(blame);
        } else {
            parts.ended_of_several(part, at, blame, &mut self.aside);
        }
    }
    /// Counts units of a part that failed; the part ends nevertheless.
    #[cold]
    pub fn part_failed(&mut self, id: RequestId, units: u32) {
        self.slab[id].parts.fail(units);
    }
    /// Ends a part at `at` and hands its blame over, which becomes the request's if it is the only
    /// part. Returns the moment at which all parts ended, if they have.
    #[inline]
    pub fn part_done_with(
        &mut self,
        id: RequestId,
        part: u32,
        at: Instant,
        blame: BlameId,
        blames: &mut Blames,
    ) -> Option<Instant> {
        let request = &mut self.slab[id];
        if !request.parts.is_single() || !request.blame.is_none() {
            return self.part_done_of_several(id, part, at, blame, blames);
        }
        request.parts.ended_alone(at);
        debug_assert_eq!(request.command.kind, Kind::Read, "only reads wait without a blame");
        request.blame = IdOrNone::some(blame);
        charge_beginning(&mut blames[blame], request, Span::ZERO, &self.firmware);
        Some(at)
    }
    #[inline(never)]
    fn part_done_of_several(
        &mut self,
        id: RequestId,
        part: u32,
        at: Instant,
        blame: BlameId,
        blames: &mut Blames,
    ) -> Option<Instant> {
        let parts = &mut self.slab[id].parts;
        if parts.ended_alone(at) {
            let sum = self.blame_id(id, blames);
            let (sum, blame) = blames.pair(sum, blame);
            sum.add(blame);
        } else {
            parts.ended_of_several(part, at, &blames[blame], &mut self.aside);
        }
        blames.give_back(blame);
        self.settle(id, blames)
    }
    /// Notes that a request is done at `at`: it is answered after the present event.
    pub fn answer(&mut self, id: RequestId, at: Instant) {
        self.ready.push((id, at));
    }
    /// Lets a request be answered if all its parts are done.
    pub fn try_answer(&mut self, id: RequestId, blames: &mut Blames) {
        if let Some(at) = self.settle(id, blames) {
            self.answer(id, at);
        }
    }
    /// Charges the critical part's blame and returns the moment at which that part ended, if all
    /// parts are done.
    pub fn settle(&mut self, id: RequestId, blames: &mut Blames) -> Option<Instant> {
        let parts = &self.slab[id].parts;
        if !parts.is_over() {
            return None;
        }
        if let Some(at) = parts.settled_alone() {
            return Some(at);
        }
        let blame = self.blame_id(id, blames);
        self.slab[id].parts.settle(&mut blames[blame], &mut self.aside)
    }

    // ---- the auditor -------------------------------------------------------------------

    /// Stores a note of the auditor on a request that was submitted.
    #[inline]
    pub fn set_ticket(&mut self, id: RequestId, ticket: AuditTicket) {
        if self.tickets.len() < self.slab.slots() {
            self.tickets.resize_with(self.slab.slots(), AuditTicket::default);
        }
        self.tickets[id.0 as usize] = ticket;
    }
    /// Gives a read that was submitted a read recovery level of its own.
    pub fn set_recovery_level(&mut self, id: RequestId, level: RecoveryLevel) {
        if self.levels.len() < self.slab.slots() {
            self.levels.resize(self.slab.slots(), (u64::MAX, RecoveryLevel::DEFAULT));
        }
        self.levels[id.0 as usize] = (self.slab[id].number, level);
    }
    /// The read recovery level of a request, if it has one of its own: how hard the drive tries to read
    /// its data.
    pub fn recovery_level(&self, id: RequestId) -> Option<RecoveryLevel> {
        match self.levels.get(id.0 as usize) {
            Some(&(number, level)) if number == self.slab[id].number => Some(level),
            _ => None,
        }
    }
    /// The auditor's note on a request.
    pub fn ticket(&mut self, id: RequestId) -> &mut AuditTicket {
        &mut self.tickets[id.0 as usize]
    }
}

/// Charges the time before the submission of a request, and the time of the firmware for it. No
/// other work has begun between the submission and its first charge.
#[inline]
fn charge_beginning(blame: &mut Blame, request: &Request, off: Span, firmware: &FirmwareConfig) {
    if !off.is_zero() {
        blame.charge(State::PowerOff, off);
    }
    blame.charge(State::QueueDepth, request.since - request.arrived - off);
    blame.charge(State::Firmware, firmware.overhead(request.command.kind));
}

impl Index<RequestId> for Requests {
    type Output = Request;
    #[inline]
    fn index(&self, id: RequestId) -> &Request {
        &self.slab[id]
    }
}
impl IndexMut<RequestId> for Requests {
    #[inline]
    fn index_mut(&mut self, id: RequestId) -> &mut Request {
        &mut self.slab[id]
    }
}

/// The mapping units that a command touches.
pub trait Touches {
    /// The first mapping unit and the one behind the last.
    fn units(&self, layout: &Layout) -> (u32, u32);
}

impl Touches for Command {
    #[inline]
    fn units(&self, layout: &Layout) -> (u32, u32) {
        (layout.unit_at(self.offset).0, layout.unit_at(self.end() + (layout.unit_bytes - 1)).0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use settings::Time;

    /// A firmware that takes no time.
    fn firmware() -> FirmwareConfig {
        let none = Time::from(Span::ZERO);
        FirmwareConfig { read: none, write: none, trim: none, flush: none }
    }

    #[test]
    fn reads_that_only_wait_are_small() {
        const READS: u64 = 1 << 14;
        let mut requests = Requests::new(firmware());
        let command = Command { kind: Kind::Read, offset: 0, bytes: 4096 };
        for ns in 0..READS {
            let at = Instant::from_ns(ns);
            requests
                .insert_with(|number| Request::new(command, Priority::Normal, 0, at, at, number));
        }
        assert_eq!(requests.bytes(), READS * 96);
    }

    #[test]
    fn blames_are_used_again_once_the_host_has_looked() {
        let (mut requests, mut blames) = (Requests::new(firmware()), Blames::default());
        let command = Command { kind: Kind::Read, offset: 0, bytes: 4096 };
        let mut begin = |ns: u64| {
            let at = Instant::from_ns(ns);
            let id = requests.insert_with(|number| {
                Request::new(command, Priority::Normal, 0, Instant::START, at, number)
            });
            requests.begin_blame(id, Span::ZERO, &mut blames);
            id
        };
        let ids = [begin(7), begin(8), begin(9)];
        requests.remove(ids[0], true, &mut blames);
        requests.remove(ids[1], false, &mut blames);
        assert_eq!(blames.taken(), 3, "the host has not looked at them");
        for (id, ns) in ids.into_iter().zip([7, 8, 9]) {
            assert_eq!(requests.blame(id, &blames).total(), Span::from_ns(ns));
        }
        requests.remove(ids[2], true, &mut blames);
        assert_eq!(blames.taken(), 1, "that of the last is looked at next");
    }
}
