//! A host command on its way through the drive.

use crate::audit::AuditTicket;
use crate::device::ids::RequestId;
use crate::device::join::{Aside, Join};
use engine::{Instant, Slab};
use ftl::Layout;
use host::{Command, Priority};
use metrics::Blame;
use std::ops::{Index, IndexMut};

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
    /// Its parts.
    pub parts: Join,
    /// Next mapping unit to be admitted to the buffer.
    pub cursor: u32,
    /// Units read that hold no data.
    pub unmapped: u32,
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
            parts: Join::default(),
            cursor: 0,
            unmapped: 0,
            ticket: AuditTicket::default(),
        }
    }
}

/// All requests, with their blame aside so that a new one need not be cleared.
#[derive(Clone, Default)]
pub struct Requests {
    slab: Slab<RequestId, Request>,
    blames: Vec<Blame>,
    /// Blames of critical parts, of requests with several.
    aside: Aside,
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
        }
        self.blames[id.0 as usize].clear();
        id
    }
    /// All requests that are under way.
    pub fn ids(&self) -> Vec<RequestId> {
        self.slab.ids()
    }
    /// Bytes that requests take, with room to grow.
    pub fn bytes(&self) -> u64 {
        let blames = self.blames.capacity() * size_of::<Blame>();
        self.slab.bytes() + blames as u64 + self.aside.bytes()
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
    /// A part ended at `at` with `blame`.
    #[inline]
    pub fn part_done(&mut self, id: RequestId, part: u32, at: Instant, blame: &Blame) {
        let sum = &mut self.blames[id.0 as usize];
        self.slab[id].parts.ended(part, at, blame, sum, &mut self.aside);
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
        self.slab[id].parts.settle(&mut self.blames[id.0 as usize], &mut self.aside)
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
