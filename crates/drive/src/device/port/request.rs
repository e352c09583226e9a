//! A host command on its way through the drive.

use crate::audit::AuditTicket;
use engine::{Instant, Slab, typed_id};
use ftl::Layout;
use host::{Command, Priority};
use metrics::Blame;
use std::ops::{Index, IndexMut};

typed_id! {
    /// A command in the drive.
    pub struct RequestId;
}

/// A command that has completed.
#[derive(Clone, Copy, Debug)]
pub struct Completion {
    /// Its id, free for reuse; [`super::Device::blame`] still knows it.
    pub id: RequestId,
    /// What the submitter called it.
    pub tag: u32,
    /// The command.
    pub command: Command,
    /// When the host wanted to submit it.
    pub arrived: Instant,
    /// When its answer reached the host.
    pub finished: Instant,
    /// Mapping units read that were never written (or trimmed).
    pub unmapped: u32,
}

/// State of a command in the drive.
#[derive(Clone)]
pub struct Request {
    // ---- constant ----
    pub command: Command,
    pub priority: Priority,
    pub tag: u32,
    pub arrived: Instant,
    /// Its number among all commands.
    pub number: u64,
    // ---- state ----
    /// When its present stage began.
    pub since: Instant,
    /// Parts that are under way.
    pub parts_left: u32,
    /// Parts made so far; also the index of the next.
    pub parts: u32,
    /// True once no more parts will be made.
    pub complete_set: bool,
    /// Next mapping unit to be admitted to the buffer.
    pub cursor: u32,
    /// Units read that hold no data.
    pub unmapped: u32,
    /// When the last part so far ended, and which it was: the critical path.
    pub critical_at: Instant,
    pub critical_part: u32,
    /// What the auditor noted at submission.
    pub ticket: AuditTicket,
}

impl Request {
    pub fn new(
        command: Command,
        priority: Priority,
        tag: u32,
        arrived: Instant,
        at: Instant,
    ) -> Self {
        Self {
            command,
            priority,
            tag,
            arrived,
            number: 0,
            since: at,
            parts_left: 0,
            parts: 0,
            complete_set: false,
            cursor: 0,
            unmapped: 0,
            critical_at: Instant::START,
            critical_part: 0,
            ticket: AuditTicket::default(),
        }
    }
}

/// All requests, with their blame aside so that a new one need not be cleared.
#[derive(Clone, Default)]
pub struct Requests {
    slab: Slab<RequestId, Request>,
    blames: Vec<Blame>,
    criticals: Vec<Blame>,
    /// How many there were so far.
    count: u64,
    /// Those that are to be answered after the present event, and when they were done.
    pub(in crate::device) ready: Vec<(RequestId, Instant)>,
}

impl Requests {
    #[inline]
    pub fn insert(&mut self, mut request: Request) -> RequestId {
        request.number = self.count;
        self.count += 1;
        let id = self.slab.insert(request);
        if self.blames.len() < self.slab.slots() {
            self.blames.push(Blame::default());
            self.criticals.push(Blame::default());
        }
        self.blames[id.0 as usize].clear();
        self.criticals[id.0 as usize].clear();
        id
    }
    /// All requests that are under way.
    pub fn ids(&self) -> Vec<RequestId> {
        self.slab.ids()
    }
    /// Bytes that requests take, with room to grow.
    pub fn bytes(&self) -> u64 {
        let aside = self.blames.capacity() + self.criticals.capacity();
        self.slab.bytes() + (aside * size_of::<Blame>()) as u64
    }
    /// Gives the slot back; its blame stays readable until it is taken again.
    #[inline]
    pub fn remove(&mut self, id: RequestId) {
        self.slab.remove(id);
    }
    #[inline]
    pub fn blame(&self, id: RequestId) -> &Blame {
        &self.blames[id.0 as usize]
    }
    #[inline]
    pub fn blame_mut(&mut self, id: RequestId) -> &mut Blame {
        &mut self.blames[id.0 as usize]
    }
    /// A part ended at `at` with `blame`. Of parts that end last together, the
    /// one made first is the critical one.
    #[inline]
    pub fn part_done(&mut self, id: RequestId, part: u32, at: Instant, blame: &Blame) {
        let request = &mut self.slab[id];
        request.parts_left -= 1;
        if request.complete_set && request.parts == 1 {
            // The only part is the critical one.
            (request.critical_at, request.critical_part) = (at, WHOLE);
            return self.blames[id.0 as usize].add(blame);
        }
        let first = request.critical_at == Instant::START;
        if first
            || at > request.critical_at
            || (at == request.critical_at && part < request.critical_part)
        {
            request.critical_at = at;
            request.critical_part = part;
            let critical = &mut self.criticals[id.0 as usize];
            critical.clear();
            critical.add(blame);
        }
    }
    /// A request is done at `at`: it is answered after the present event.
    pub fn answer(&mut self, id: RequestId, at: Instant) {
        self.ready.push((id, at));
    }
    /// Has a request answered if all its parts are done.
    pub fn try_answer(&mut self, id: RequestId) {
        if let Some(at) = self.settle(id) {
            self.answer(id, at);
        }
    }
    /// Where all parts are done: charges the critical one's blame and returns
    /// when it ended.
    #[inline]
    pub fn settle(&mut self, id: RequestId) -> Option<Instant> {
        let request = &self.slab[id];
        if request.parts_left > 0 || !request.complete_set {
            return None;
        }
        if request.parts != 1 || request.critical_part != WHOLE {
            self.blames[id.0 as usize].add(&self.criticals[id.0 as usize]);
        }
        Some(request.critical_at)
    }
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

/// The critical part of a request that has only one: its blame is the request's already.
const WHOLE: u32 = u32::MAX;

/// What a command touches.
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
