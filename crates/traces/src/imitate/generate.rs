//! The requests of a synthetic trace, one after the other.

use super::clock::Clock;
use super::deck::{Deck, scaled};
use super::model::{KindModel, Model};
use super::space::{Side, Space};
use super::wishes::Wishes;
use crate::command::{Command, Kind};
use crate::row::Row;
use crate::statistics::sequence::{REACH, age_class};
use engine::{Stream, Streams};

const UNIT: u64 = 4_096;
const SECTOR: u64 = 512;
const KINDS: usize = Kind::ALL.len();

/// Length of a run in requests beyond which its chance to continue stays the same.
const LONG: usize = 256;

/// Most units of a request that counts as an access of data in use.
const TOUCHED_MAX: u64 = 1 << 18;

/// A synthetic trace: rows that resemble those from which the model was made.
pub struct SyntheticTrace {
    clock: Clock,
    mix: Mix,
    kinds: Vec<OfKind>,
    /// The place of each kind in `kinds`.
    place: [usize; KINDS],
    space: Space,
    stream: Stream,
}

/// Choice of the next kind.
struct Mix {
    follows: [[u64; KINDS]; KINDS],
    all: [u64; KINDS],
    left: [u64; KINDS],
    last: Option<usize>,
}

/// Requests of one kind that are to come.
struct OfKind {
    kind: Kind,
    left: u64,
    continuing_left: u64,
    starting: Deck,
    continuing: Deck,
    again: Deck,
    again_left: u64,
    /// Beginning of the last request, and its chunk.
    last: Option<(u64, usize)>,
    /// Share of starts within 64 MiB of the request before.
    near: f64,
    phases: Deck,
    /// Probability that a run continues after a number of requests.
    goes_on: Vec<f64>,
    /// Weight of the age of a request in the choice of the one to continue.
    ages: [f64; REACH],
    recent: [Recent; REACH],
    next: usize,
}

/// A request that may be continued.
#[derive(Clone, Copy, Default)]
struct Recent {
    /// End of the request; 0 if it may not be continued.
    end: u64,
    requests: usize,
    chunk: usize,
}

impl SyntheticTrace {
    /// A synthetic trace from a checked model.
    pub fn new(model: &Model, wishes: Wishes) -> Self {
        let streams = Streams::new(wishes.seed);
        let times = wishes.requests as f64 / model.requests as f64;
        let span_units = wishes.span_bytes.div_ceil(UNIT).max(1);
        let space =
            Space::new(&model.layout, span_units, times, &mut streams.stream("imitate.space"));
        let counts: Vec<u64> = model.kinds.iter().map(|kind| kind.requests).collect();
        let requests = scaled(&counts, wishes.requests);
        let mut place = [0; KINDS];
        let mut all = [0; KINDS];
        let mut kinds = Vec::new();
        for (of_kind, requests) in model.kinds.iter().zip(requests) {
            let kind = of_kind.kind();
            (place[kind.index()], all[kind.index()]) = (kinds.len(), requests);
            kinds.push(OfKind::new(of_kind, requests));
        }
        Self {
            clock: Clock::new(&model.arrivals, wishes.requests, streams.stream("imitate.clock")),
            mix: Mix { follows: model.follows, all, left: all, last: None },
            kinds,
            place,
            space,
            stream: streams.stream("imitate.requests"),
        }
    }

    /// The next request; nothing after the last.
    pub(crate) fn next(&mut self) -> Option<Row> {
        let stamp_ns = self.clock.next()?;
        let kind = self.mix.draw(&mut self.stream)?;
        let command = if Kind::ALL[kind].has_range() {
            let place = self.place[kind];
            self.kinds[place].command(&mut self.space, &mut self.stream)
        } else {
            Command::FLUSH
        };
        Some(Row { stamp_ns, device: 0, command })
    }
}

impl Mix {
    /// Draws a kind, by the previous kind and by the number of requests left.
    fn draw(&mut self, stream: &mut Stream) -> Option<usize> {
        let left = |kind: usize| self.left[kind] as f64 / self.all[kind].max(1) as f64;
        let weights: [f64; KINDS] = std::array::from_fn(|kind| {
            self.last.map_or(1.0, |last| self.follows[last][kind] as f64) * left(kind)
        });
        let kind = drawn(&weights, stream).or_else(|| {
            let weights: [f64; KINDS] = std::array::from_fn(|kind| self.left[kind] as f64);
            drawn(&weights, stream)
        })?;
        self.left[kind] -= 1;
        self.last = Some(kind);
        Some(kind)
    }
}

/// An index drawn by weight; `None` if all weights are 0.
fn drawn(weights: &[f64], stream: &mut Stream) -> Option<usize> {
    let sum: f64 = weights.iter().sum();
    if sum <= 0.0 {
        return None;
    }
    let mut rank = stream.unit() * sum;
    let mut last = None;
    for (index, weight) in weights.iter().enumerate().filter(|(_, weight)| **weight > 0.0) {
        last = Some(index);
        rank -= weight;
        if rank < 0.0 {
            break;
        }
    }
    last
}

impl OfKind {
    fn new(model: &KindModel, requests: u64) -> Self {
        let count = |list: &[(u64, u64)]| list.iter().map(|(_, count)| count).sum::<u64>();
        let counts = [&model.starting, &model.continuing, &model.again].map(|list| count(list));
        let parts = scaled(&counts, requests);
        let phases: Vec<(u64, u64)> =
            (0..).zip(model.phases).map(|(sector, count)| (sector * SECTOR, count)).collect();
        let [near, far] = model.near_and_far;
        Self {
            kind: model.kind(),
            left: requests,
            continuing_left: parts[1],
            again_left: parts[2],
            starting: Deck::new(&model.starting, parts[0]),
            continuing: Deck::new(&model.continuing, parts[1]),
            again: Deck::new(&model.again, parts[2]),
            last: None,
            near: near as f64 / (near + far).max(1) as f64,
            phases: Deck::new(&phases, parts[0]),
            goes_on: goes_on(&model.runs),
            ages: std::array::from_fn(|back| {
                let class = age_class(back + 1);
                let width = if class < 2 { 1 } else { 1 << (class - 1) };
                model.ages[class] as f64 / f64::from(width)
            }),
            recent: [Recent::default(); REACH],
            next: 0,
        }
    }

    fn command(&mut self, space: &mut Space, stream: &mut Stream) -> Command {
        let rank = stream.unit() * self.left.max(1) as f64;
        self.left -= 1;
        if rank < self.again_left as f64
            && let Some(command) = self.again(space, stream)
        {
            return command;
        }
        let continues = rank < (self.again_left + self.continuing_left) as f64;
        let found = if continues { self.continued(space, stream) } else { None };
        let (offset, bytes, requests, chunk) = found.unwrap_or_else(|| self.started(space, stream));
        self.continuing_left -= u64::from(requests > 1 && self.continuing_left > 0);
        let chunk = self.access(space, offset, bytes, chunk, stream);
        self.recent[self.next] = Recent { end: offset + bytes, requests, chunk };
        self.next = (self.next + 1) % REACH;
        self.last = Some((offset, chunk));
        Command { kind: self.kind, offset, bytes }
    }

    /// The last request once more, if possible.
    fn again(&mut self, space: &mut Space, stream: &mut Stream) -> Option<Command> {
        let (offset, chunk) = self.last?;
        if self.again.left() == 0 {
            return None;
        }
        let card = self.again.take(stream);
        let bytes = self.again.value(card);
        let end = (offset + bytes).div_ceil(UNIT);
        let fits = if self.is_placed(space, bytes) {
            space.holds(chunk, end)
        } else {
            end <= space.span_units()
        };
        if !fits {
            self.again.put_back(card);
            return None;
        }
        self.again_left -= 1;
        let chunk = self.access(space, offset, bytes, chunk, stream);
        let recent = &mut self.recent[(self.next + REACH - 1) % REACH];
        (recent.end, recent.chunk) = (offset + bytes, chunk);
        Some(Command { kind: self.kind, offset, bytes })
    }

    /// Records an access of a range; returns the chunk of its end.
    fn access(
        &self,
        space: &mut Space,
        offset: u64,
        bytes: u64,
        chunk: usize,
        stream: &mut Stream,
    ) -> usize {
        if !self.is_placed(space, bytes) {
            return chunk;
        }
        let (begin, end) = (offset / UNIT, (offset + bytes).div_ceil(UNIT));
        space.access(self.side(), chunk, begin, end, stream)
    }

    /// True if a request goes to data in use, false if it goes anywhere.
    fn is_placed(&self, space: &Space, bytes: u64) -> bool {
        matches!(self.kind, Kind::Read | Kind::Write)
            && !space.is_empty()
            && bytes.div_ceil(UNIT) <= TOUCHED_MAX
    }

    /// A request that continues an earlier one at its end, if one can be continued.
    fn continued(
        &mut self,
        space: &Space,
        stream: &mut Stream,
    ) -> Option<(u64, u64, usize, usize)> {
        if self.continuing.left() == 0 {
            return None;
        }
        let card = self.continuing.take(stream);
        let bytes = self.continuing.value(card);
        let is_placed = self.is_placed(space, bytes);
        let side = self.side();
        let mut chunks = [0; REACH];
        let mut weights = [0.0; REACH];
        for back in 0..REACH {
            let recent = self.recent[(self.next + REACH - 1 - back) % REACH];
            let end = (recent.end + bytes).div_ceil(UNIT);
            if recent.end == 0 || end > space.span_units() {
                continue;
            }
            if is_placed {
                let Some(chunk) = space.onwards(side, recent.chunk, recent.end / UNIT, end) else {
                    continue;
                };
                chunks[back] = chunk;
            }
            weights[back] = self.ages[back] * self.goes_on[recent.requests.min(LONG - 1)];
        }
        let Some(back) = drawn(&weights, stream) else {
            self.continuing.put_back(card);
            return None;
        };
        let recent = &mut self.recent[(self.next + REACH - 1 - back) % REACH];
        let found = (recent.end, bytes, recent.requests + 1, chunks[back]);
        recent.end = 0;
        Some(found)
    }

    /// A request somewhere else.
    fn started(&mut self, space: &mut Space, stream: &mut Stream) -> (u64, u64, usize, usize) {
        // A request that should continue a run but could not keeps its size.
        let decks = [&mut self.starting, &mut self.continuing, &mut self.again];
        let deck = decks.into_iter().find(|deck| deck.left() > 0);
        let deck = deck.expect("there are as many sizes as requests");
        let bytes = deck.draw(stream);
        let phase = if self.phases.is_empty() { 0 } else { self.phases.draw(stream) };
        // A request for the whole space has no choice.
        let fits = phase + bytes <= space.span_units() * UNIT;
        let phase = if fits { phase } else { 0 };
        let units = (phase + bytes).div_ceil(UNIT);
        let (unit, chunk) = if self.is_placed(space, bytes) {
            let near = self.last.filter(|_| stream.chance(self.near)).map(|(at, _)| at / UNIT);
            let ends = self.recent.map(|recent| recent.end);
            let begins = self.last.map(|(at, _)| at);
            let meets = |unit: u64| {
                let offset = unit * UNIT + phase;
                ends.contains(&offset) || begins == Some(offset)
            };
            space.start(self.side(), units, near, &meets, stream)
        } else {
            let room = space.span_units().saturating_sub(units);
            (stream.below(room + 1), 0)
        };
        let offset = unit * UNIT + phase;
        // By chance it may still continue another request.
        let newest = (1..=REACH).map(|back| (self.next + REACH - back) % REACH);
        let met = newest.into_iter().find(|place| self.recent[*place].end == offset && offset > 0);
        let requests = met.map_or(1, |place| {
            self.recent[place].end = 0;
            self.recent[place].requests + 1
        });
        (offset, bytes, requests, chunk)
    }

    fn side(&self) -> Side {
        usize::from(self.kind == Kind::Write)
    }
}

/// Probabilities that runs continue after a number of requests.
fn goes_on(runs: &[(u64, u64)]) -> Vec<f64> {
    let longer = |than: u64| {
        runs.iter().filter(|(requests, _)| *requests > than).map(|(_, runs)| runs).sum::<u64>()
            as f64
    };
    let mut likely = vec![0.0; LONG];
    for (requests, share) in likely.iter_mut().enumerate().skip(1) {
        let so_far = longer(requests as u64 - 1);
        *share = if so_far > 0.0 { longer(requests as u64) / so_far } else { 0.0 };
        // A run that is already too long may be the only one that can be continued.
        *share = share.max(1e-9);
    }
    likely
}
