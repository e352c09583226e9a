//! Starvation: requests that the drive has had for longer than a limit and has not answered.
//!
//! The limit is that of a host's driver: age counts from the submission to the drive, as the
//! time-out of NVMe drivers does, and not from the arrival at the host, as latency does. A request
//! starves at the moment at which its age reaches the limit, unless an event of that moment answers
//! it. So the watch must be polled before time passes [`Watch::deadline`].
//!
//! Requests that are under way form a list in the order of their submission, linked through a
//! column by id. The oldest is the head of the list, and a request costs the same however many
//! there are.

use crate::device::{Device, RequestId, Standing, rounded};
use crate::experiment::{StarvationConfig, Then};
use engine::ids::Id;
use engine::{Instant, Span};
use host::{Command, Kind};
use metrics::State;
use settings::{counted, grouped};
use std::fmt;

/// Advice to a user whose run should not end in this way.
pub const REMEDY: &str =
    "give a longer run.starvation.limit, or run.starvation.then = \"report\" to go on";

/// Looks for requests that starve.
#[derive(Clone, Debug)]
pub struct Watch {
    limit: Span,
    then: Then,
    /// By id, of the requests that are under way.
    requests: Vec<Linked>,
    oldest: Option<RequestId>,
    newest: Option<RequestId>,
    /// The oldest request that has not starved: all before it in the list have.
    next: Option<RequestId>,
    /// The moment at which that request starves; `Instant::NEVER` if there is none.
    deadline: Instant,
    /// Requests that have starved.
    starved: Vec<Tallied>,
    /// The greatest age at which a request was answered.
    longest: Span,
    first: Option<Box<Starved>>,
}

/// A request that is under way, between the one submitted before it and the one after.
#[derive(Clone, Copy, Debug)]
struct Linked {
    submitted: Instant,
    initiator: u32,
    kind: Kind,
    before: Option<RequestId>,
    after: Option<RequestId>,
}

/// A request that starved, and the obstacles at that moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Starved {
    /// The moment at which it reached the limit.
    pub at: Instant,
    /// The limit, which is its age.
    pub limit: Span,
    /// Its initiator's name.
    pub initiator: String,
    /// The submitter's tag.
    pub tag: u32,
    /// The command.
    pub command: Command,
    /// The moment at which the host wanted to submit it.
    pub arrived: Instant,
    /// The moment at which the drive got it.
    pub submitted: Instant,
    /// Its blame so far.
    pub blame: Vec<(State, Span)>,
    /// The states of its unfinished parts.
    pub standings: Vec<Standing>,
    /// Requests under way then, this one included.
    pub outstanding: u32,
}

/// Requests of one initiator and kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tallied {
    /// The initiator's index.
    pub initiator: u32,
    /// The kind.
    pub kind: Kind,
    /// Number of requests.
    pub requests: u64,
    /// The age of the oldest; only for requests that are under way.
    pub oldest: Option<Span>,
}

impl Watch {
    /// Nothing under way yet.
    pub fn new(config: &StarvationConfig) -> Self {
        Self {
            limit: config.limit.span(),
            then: config.then,
            requests: Vec::new(),
            oldest: None,
            newest: None,
            next: None,
            deadline: Instant::NEVER,
            starved: Vec::new(),
            longest: Span::ZERO,
            first: None,
        }
    }

    // ---- requests come and go ------------------------------------------------

    /// Adds a request that was submitted to the drive, after all others.
    pub fn submitted(&mut self, id: RequestId, at: Instant, initiator: u32, kind: Kind) {
        let before = self.newest;
        let linked = Linked { submitted: at, initiator, kind, before, after: None };
        if id.index() >= self.requests.len() {
            // Ids are given from 0 on, so each entry between is set before it is read.
            self.requests.resize(id.index() + 1, linked);
        }
        self.requests[id.index()] = linked;
        match before {
            Some(before) => self.requests[before.index()].after = Some(id),
            None => self.oldest = Some(id),
        }
        self.newest = Some(id);
        if self.next.is_none() {
            self.watch_next(Some(id));
        }
    }

    /// Removes a request that was answered; its id must not have been reused yet.
    pub fn answered(&mut self, id: RequestId, at: Instant) {
        let Linked { submitted, before, after, .. } = self.requests[id.index()];
        self.longest = self.longest.max(at - submitted);
        match before {
            Some(before) => self.requests[before.index()].after = after,
            None => self.oldest = after,
        }
        match after {
            Some(after) => self.requests[after.index()].before = before,
            None => self.newest = before,
        }
        if self.next == Some(id) {
            self.watch_next(after);
        }
    }

    /// Removes all requests: the power was cut.
    pub fn lost_all(&mut self) {
        (self.oldest, self.newest) = (None, None);
        self.watch_next(None);
    }

    /// Makes a request the next that may starve.
    fn watch_next(&mut self, id: Option<RequestId>) {
        self.next = id;
        let starves = |id: RequestId| self.requests[id.index()].submitted + self.limit;
        self.deadline = id.map_or(Instant::NEVER, starves);
    }

    /// The moment at which the next request starves, unless an event until then answers it;
    /// `Instant::NEVER` if no request under way can starve.
    #[inline]
    pub fn deadline(&self) -> Instant {
        self.deadline
    }

    /// Lets requests starve: the drive has come to [`Watch::deadline`], and no more events are due
    /// by then. `name` gives the name of an initiator. Returns the first of these requests if it is
    /// to end the run.
    ///
    /// # Panics
    /// If no request is under way that could starve.
    pub fn starve(&mut self, device: &mut Device, name: impl Fn(u32) -> String) -> Option<Starved> {
        let at = self.deadline;
        let id = self.next.expect("a request is under way");
        let ends = self.then == Then::Stop;
        // Only the first request is described, because the search takes time.
        let starved = (ends || self.first.is_none()).then(|| self.describe(device, id, name));
        if self.first.is_none() {
            self.first.clone_from(&starved);
        }
        self.count_starved(at);
        starved.filter(|_| ends).map(|starved| *starved)
    }

    /// Counts all requests that starve at a moment.
    fn count_starved(&mut self, at: Instant) {
        while let Some(id) = self.next.filter(|_| self.deadline == at) {
            let request = self.requests[id.index()];
            tally(&mut self.starved, &request, None);
            self.watch_next(request.after);
        }
    }

    /// Describes the obstacles of the request that starves now.
    fn describe(
        &self,
        device: &mut Device,
        id: RequestId,
        name: impl Fn(u32) -> String,
    ) -> Box<Starved> {
        let Linked { submitted, initiator, .. } = self.requests[id.index()];
        let (command, tag, arrived) = device.request(id);
        Box::new(Starved {
            at: self.deadline,
            limit: self.limit,
            initiator: name(initiator),
            tag,
            command,
            arrived,
            submitted,
            blame: device.blame_so_far(id).iter().collect(),
            standings: device.standings(id),
            outstanding: device.outstanding(),
        })
    }

    // ---- findings --------------------------------------------------------

    /// The age at which requests starve.
    pub fn limit(&self) -> Span {
        self.limit
    }
    /// The reaction to a request that starves.
    pub fn then(&self) -> Then {
        self.then
    }
    /// The first request that starved; among several at a moment, the one that was submitted first.
    pub fn first(&self) -> Option<&Starved> {
        self.first.as_deref()
    }
    /// The request that ended the run, if one did.
    pub fn ended_by(&self) -> Option<&Starved> {
        self.first().filter(|_| self.then == Then::Stop)
    }
    /// Requests that starved, by initiator and kind.
    pub fn starved(&self) -> impl Iterator<Item = Tallied> + '_ {
        self.starved.iter().copied()
    }
    /// Requests that are under way at `now`, by initiator and kind.
    pub fn outstanding(&self, now: Instant) -> Vec<Tallied> {
        let mut found = Vec::new();
        let after = |id: &RequestId| self.requests[id.index()].after;
        for id in std::iter::successors(self.oldest, after) {
            let request = &self.requests[id.index()];
            // The oldest request comes first.
            tally(&mut found, request, Some(now - request.submitted));
        }
        found
    }
    /// The request that has been under way for longest.
    pub fn oldest(&self) -> Option<RequestId> {
        self.oldest
    }
    /// The greatest age that a request had when it was answered, or has at `now`.
    pub fn longest(&self, now: Instant) -> Span {
        let oldest = self.oldest.map(|id| now - self.requests[id.index()].submitted);
        self.longest.max(oldest.unwrap_or(Span::ZERO))
    }
    /// Bytes that the watch takes, with room to grow.
    pub fn bytes(&self) -> u64 {
        (self.requests.capacity() * size_of::<Linked>()) as u64
    }
}

/// Counts a request among those of its initiator and kind; `age` is kept for the first only.
fn tally(all: &mut Vec<Tallied>, request: &Linked, age: Option<Span>) {
    let Linked { initiator, kind, .. } = *request;
    let key = |one: &Tallied| (one.initiator, one.kind.index());
    match all.binary_search_by_key(&(initiator, kind.index()), key) {
        Ok(place) => all[place].requests += 1,
        Err(place) => all.insert(place, Tallied { initiator, kind, requests: 1, oldest: age }),
    }
}

impl Starved {
    /// The state that the request was waiting in, in a sentence.
    pub fn why(&self) -> String {
        let Some(first) = self.standings.first() else { return "nothing is known of it".into() };
        let others: u32 = self.standings.iter().map(|standing| standing.parts).sum::<u32>() - 1;
        match others {
            0 => first.sentence(),
            _ => format!("{} (and {})", first.sentence(), counted(others, "more part")),
        }
    }
}

/// Names the request, the time since its submission, and the reason.
impl fmt::Display for Starved {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Command { kind, offset, bytes } = self.command;
        let what = match kind {
            Kind::WriteZeroes => "write-zeroes",
            other => other.name(),
        };
        write!(out, "a {what} of \"{}\"", self.initiator)?;
        if kind.has_range() {
            write!(out, " ({} bytes at byte {})", grouped(bytes), grouped(offset))?;
        }
        let (limit, begun) = (rounded(self.limit), rounded(self.submitted - Instant::START));
        write!(out, ", submitted at {begun}, was not answered within {limit}: {}", self.why())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::ids::Id;
    use proptest::prelude::*;
    use settings::Time;

    const LIMIT: u64 = 100;

    fn watch() -> Watch {
        let limit = Time::from(Span::from_ns(LIMIT));
        Watch::new(&StarvationConfig { limit, then: Then::Report })
    }

    proptest! {
        #![proptest_config(floor::cases!())]

        /// The watch agrees with a plain list in any order of answers: the same oldest request, the
        /// same moment at which the next one starves, and each starves once. Ids are reused, the
        /// last one given back first.
        #[test]
        fn the_oldest_is_known_at_any_moment(
            steps in proptest::collection::vec((0u64..60, 0usize..12), 0..200),
        ) {
            let mut watch = watch();
            let mut under_way: Vec<(RequestId, u64, bool)> = Vec::new();
            let mut vacant: Vec<RequestId> = (0..200).rev().map(Id::from_index).collect();
            let (mut now, mut starved, mut longest) = (0, 0, 0);
            for (passes, choice) in steps {
                now += passes;
                let due = |(_, at, told): &(RequestId, u64, bool)| (!told).then_some(at + LIMIT);
                let next = under_way.iter().filter_map(due).min();
                prop_assert_eq!(
                    watch.deadline(),
                    next.map_or(Instant::NEVER, Instant::from_ns)
                );
                while watch.deadline().as_ns() <= now {
                    let id = watch.next.unwrap();
                    let at = watch.deadline().as_ns();
                    watch.count_starved(watch.deadline());
                    for one in under_way.iter_mut().filter(|(_, since, _)| since + LIMIT == at) {
                        prop_assert!(!std::mem::replace(&mut one.2, true), "{id:?} again");
                        starved += 1;
                    }
                }
                if choice < under_way.len() {
                    let (id, at, _) = under_way.remove(choice);
                    watch.answered(id, Instant::from_ns(now));
                    longest = longest.max(now - at);
                    vacant.push(id);
                } else {
                    let id = vacant.pop().unwrap();
                    watch.submitted(id, Instant::from_ns(now), 0, Kind::Read);
                    under_way.push((id, now, false));
                }
                prop_assert_eq!(watch.oldest(), under_way.first().map(|(id, ..)| *id));
                let oldest = under_way.first().map_or(0, |(_, at, _)| now - at);
                prop_assert_eq!(watch.longest(Instant::from_ns(now)).as_ns(), longest.max(oldest));
                let tallied: u64 = watch.outstanding(Instant::from_ns(now)).iter().map(|t| t.requests).sum();
                prop_assert_eq!(tallied, under_way.len() as u64);
            }
            prop_assert_eq!(watch.starved().map(|one| one.requests).sum::<u64>(), starved);
        }
    }
}
