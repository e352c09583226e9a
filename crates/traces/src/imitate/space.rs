//! Addresses of reads and writes in a synthetic trace.
//!
//! The stretches of the trace (adjacent units of similar heat) are laid out anew in random order,
//! with the gaps of the trace between them, and cut into chunks. Each chunk has an account of
//! units to be read and to be written, which accesses draw on, so that footprint and heat come
//! out as they were. Accesses sweep a chunk roughly from its first unit to its last. Then it is
//! due again after a distance drawn from those of the trace; if no chunk is due, a chunk is begun
//! that was not accessed before.

use super::deck::{Deck, scaled};
use crate::statistics::places::{half_octave, least_of};
use crate::statistics::{Growth, Layout, Stretch};
use engine::Stream;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Most units of a chunk.
const CHUNK_UNITS: u64 = 64;

/// Due chunks that are tried, because some have no room for a request.
const TRIES: usize = 6;

/// Chunks in their first sweep that are tried; many wait for the other side.
const FRESH_TRIES: usize = 48;

/// Rooms that have a class of their own; larger ones are in octaves.
const ROOMS_EXACT: u64 = 32;
const ROOMS: usize = ROOMS_EXACT as usize + 48;

/// Chunks from which the one nearest to the last request is chosen.
const CHOICES: usize = 6;

/// Read or write, as an index.
pub(super) type Side = usize;

/// Some units of a stretch.
struct Chunk {
    begin: u64,
    units: u32,
    /// End of the stretches that follow each other without a gap.
    room_end: u64,
    /// The side that goes first, if both access the chunk.
    first: Side,
    sides: [Account; 2],
}

/// Account of a chunk: its reads or writes still to come.
#[derive(Clone, Copy, Default)]
struct Account {
    /// Units still to be accessed.
    left: u64,
    /// Units that this sweep has accessed, one bit each.
    seen: u64,
    /// Sweeps that are complete.
    sweeps: u32,
    /// True if this side accesses the chunk at all.
    used: bool,
    /// Time of the next access, in units accessed by then; 0 if none is due.
    due: u64,
}

impl Account {
    /// The first unit that this sweep has not accessed.
    fn cursor(&self) -> u64 {
        u64::from(self.seen.trailing_ones())
    }

    /// True if some units were never accessed.
    fn is_fresh(&self) -> bool {
        self.used && self.sweeps == 0
    }
}

/// All chunks, and the order of accesses to them.
pub(super) struct Space {
    chunks: Vec<Chunk>,
    span_units: u64,
    /// The chunk with most room, used if no other is large enough.
    largest: usize,
    sides: [Order; 2],
}

/// The order in which one side goes to the chunks.
struct Order {
    /// Units accessed so far.
    now: u64,
    agenda: BinaryHeap<Reverse<(u64, u32)>>,
    /// Chunks in their first sweep, by room.
    fresh: Vec<Vec<u32>>,
    /// Distances, by class of heat.
    distances: Vec<Option<Deck>>,
    /// Units accessed for the first time: so far, and in the end.
    born: u64,
    births: u64,
    /// The share of them by each of equal parts of the accesses.
    growth: Vec<f64>,
    /// Units accessed in such a part.
    part_units: f64,
}

impl Space {
    /// Lays the space of a trace out over `span_units`, for `times` as many accesses.
    pub fn new(layout: &Layout, span_units: u64, times: f64, stream: &mut Stream) -> Self {
        let touched: u64 = layout.stretches.iter().map(|stretch| stretch.units).sum();
        // Gaps take only the room that the stretches leave.
        let keep = (span_units as f64 / touched.max(1) as f64).min(1.0);
        let mut stretches = each(&layout.stretches, keep, times);
        shuffle(&mut stretches, stream);
        let kept: u64 = stretches.iter().map(|stretch| stretch.units).sum();
        let gaps = gaps(layout, stretches.len(), span_units.saturating_sub(kept), stream);
        let mut chunks = chunks(&stretches, &gaps);
        for chunk in &mut chunks {
            chunk.first = usize::from(stream.chance(layout.written_first_share));
        }
        let mut room: Vec<(u64, usize)> = Vec::new();
        room.extend((0..chunks.len()).map(|at| (chunks[at].room_end - chunks[at].begin, at)));
        let largest = room.iter().max_by_key(|(room, at)| (*room, Reverse(*at)));
        let largest = largest.map_or(0, |(_, at)| *at);
        let births = |side: Side| {
            let used = chunks.iter().filter(|chunk| chunk.sides[side].used);
            used.map(|chunk| u64::from(chunk.units)).sum()
        };
        let sides = [
            Order::new(&layout.reread, &layout.read_growth, births(0), times),
            Order::new(&layout.rewrite, &layout.write_growth, births(1), times),
        ];
        let mut space = Self { chunks, span_units, largest, sides };
        for side in 0..2 {
            (0..space.chunks.len()).for_each(|at| space.put_fresh(side, at));
        }
        space
    }

    /// Units of the whole space.
    pub fn span_units(&self) -> u64 {
        self.span_units
    }

    /// True if there is nowhere to read, or to write.
    pub fn is_empty(&self) -> bool {
        self.chunks.is_empty()
    }

    /// A unit at which `units` accessed units begin, `near` a given one if possible, and its
    /// chunk. A place that `meets` another request is avoided.
    pub fn start(
        &mut self,
        side: Side,
        units: u64,
        near: Option<u64>,
        meets: &dyn Fn(u64) -> bool,
        stream: &mut Stream,
    ) -> (u64, usize) {
        let wish = Wish { side, units, meets };
        let at = if self.sides[side].is_birth_due() {
            self.fresh(&wish, near, true, stream).or_else(|| self.due(&wish))
        } else {
            self.due(&wish)
        };
        let at = at.or_else(|| self.fresh(&wish, near, false, stream));
        let at = at.unwrap_or_else(|| {
            let any = stream.below(self.chunks.len() as u64) as usize;
            if self.fits(side, any, units) { any } else { self.largest }
        });
        let chunk = &self.chunks[at];
        let begin = chunk.begin + chunk.sides[side].cursor();
        // If it would end after all used units, it begins earlier.
        (begin.min(chunk.room_end.saturating_sub(units)), at)
    }

    /// True if all units from chunk `at` up to `end` exist.
    pub fn holds(&self, at: usize, end: u64) -> bool {
        end <= self.chunks[at].room_end
    }

    /// The chunk of a unit that follows chunk `at` without a gap; `None` if the units up to `end`
    /// do not all exist, or if nothing is to be done there at present.
    pub fn onwards(&self, side: Side, at: usize, unit: u64, end: u64) -> Option<usize> {
        if end > self.chunks[at].room_end {
            return None;
        }
        let mut at = at;
        while unit >= self.chunks[at].begin + u64::from(self.chunks[at].units) {
            at += 1;
        }
        let chunk = &self.chunks[at];
        let account = chunk.sides[side];
        let is_new = account.seen >> (unit - chunk.begin) & 1 == 0;
        (account.is_fresh() || account.left > 0 && is_new).then_some(at)
    }

    /// Accesses units `begin..end`, the first in chunk `at` or after it; returns the chunk of the
    /// last.
    pub fn access(
        &mut self,
        side: Side,
        at: usize,
        begin: u64,
        end: u64,
        stream: &mut Stream,
    ) -> usize {
        let mut at = at;
        while at > 0 && begin < self.chunks[at].begin {
            at -= 1;
        }
        let mut last = at;
        while let Some(chunk) = self.chunks.get(at).filter(|chunk| chunk.begin < end) {
            let behind = end.min(chunk.begin + u64::from(chunk.units));
            let from = begin.max(chunk.begin);
            if from < behind {
                let units = (from - chunk.begin, behind - chunk.begin);
                self.draw_on(side, at, units, stream);
                last = at;
            }
            at += 1;
        }
        self.sides[side].now += end - begin;
        last
    }

    /// Draws on the account of a chunk for an access of its units `from..to`.
    fn draw_on(&mut self, side: Side, at: usize, (from, to): (u64, u64), stream: &mut Stream) {
        let order = &mut self.sides[side];
        let chunk = &mut self.chunks[at];
        let account = &mut chunk.sides[side];
        let units = to - from;
        let bits = (u64::MAX >> (u64::BITS as u64 - units)) << from;
        if account.sweeps == 0 {
            order.born += u64::from((bits & !account.seen).count_ones());
        }
        account.left = account.left.saturating_sub(units);
        account.seen |= bits;
        account.due = 0;
        if account.seen.count_ones() == chunk.units {
            account.seen = 0;
            account.sweeps += 1;
        }
        if account.is_fresh() {
            return self.put_fresh(side, at);
        }
        if account.left == 0 {
            return;
        }
        let distance = order.distance(account.sweeps, stream);
        // The other units of the sweep come in between.
        let part = if account.seen == 0 { u64::from(chunk.units) } else { units };
        let share = (u128::from(distance) * u128::from(part) / u128::from(chunk.units)) as u64;
        account.due = order.now + share.max(1);
        order.agenda.push(Reverse((account.due, at as u32)));
    }

    fn put_fresh(&mut self, side: Side, at: usize) {
        if self.chunks[at].sides[side].is_fresh() {
            let class = self.room_class_of(side, at);
            self.sides[side].fresh[class].push(at as u32);
        }
    }

    /// The chunk that is due first, has room and meets no other request.
    fn due(&mut self, wish: &Wish<'_>) -> Option<usize> {
        let side = wish.side;
        let mut aside = Vec::new();
        let mut found = None;
        while let Some(Reverse((due, at))) = self.sides[side].agenda.pop() {
            let place = at as usize;
            if self.chunks[place].sides[side].due != due {
                // It was accessed meanwhile.
                continue;
            }
            if self.suits(wish, place) {
                found = Some(place);
                break;
            }
            aside.push(Reverse((due, at)));
            if aside.len() == TRIES {
                break;
            }
        }
        self.sides[side].agenda.extend(aside);
        found
    }

    /// A chunk in its first sweep that has room: the smallest one that suffices, so that larger
    /// ones are left for larger requests.
    fn fresh(
        &mut self,
        wish: &Wish<'_>,
        near: Option<u64>,
        strictly: bool,
        stream: &mut Stream,
    ) -> Option<usize> {
        let side = wish.side;
        let mut suiting: Vec<usize> = Vec::new();
        let mut others: Vec<usize> = Vec::new();
        let mut class = room_class(wish.units);
        while class < ROOMS && others.len() < FRESH_TRIES {
            let list = &mut self.sides[side].fresh[class];
            if list.is_empty() {
                class += 1;
                continue;
            }
            let rank = stream.below(list.len() as u64) as usize;
            let at = list.swap_remove(rank) as usize;
            if !self.chunks[at].sides[side].is_fresh() || self.room_class_of(side, at) != class {
                // It was accessed meanwhile and filed again.
                continue;
            }
            if self.suits(wish, at) && self.is_its_turn(side, at) && self.is_clean(wish, at) {
                suiting.push(at);
                if suiting.len() == CHOICES {
                    break;
                }
            } else {
                others.push(at);
            }
        }
        let far = |at: usize| near.map_or(0, |near| self.chunks[at].begin.abs_diff(near));
        let cost = |at: &usize| (!self.is_behind_used(side, *at), far(*at));
        let chosen = suiting.iter().copied().min_by_key(cost);
        let mut rest = others.iter().copied();
        let chosen = chosen.or_else(|| {
            rest.find(|at| self.suits(wish, *at) && (!strictly || self.is_its_turn(side, *at)))
        });
        for at in suiting.into_iter().chain(others).filter(|at| Some(*at) != chosen) {
            self.put_fresh(side, at);
        }
        chosen
    }

    /// False for a chunk that the other side has to access first and has not yet.
    fn is_its_turn(&self, side: Side, at: usize) -> bool {
        let chunk = &self.chunks[at];
        let other = chunk.sides[1 - side];
        chunk.first == side || !other.is_fresh() || other.seen > 0
    }

    /// True if the unit before the first one to access was accessed: continuing there leaves no
    /// holes that later requests do not fit.
    fn is_behind_used(&self, side: Side, at: usize) -> bool {
        let chunk = &self.chunks[at];
        let before = at.checked_sub(1).map(|at| &self.chunks[at]);
        chunk.sides[side].seen > 0
            || before.is_none_or(|before| {
                before.begin + u64::from(before.units) < chunk.begin
                    || !before.sides[side].is_fresh()
            })
    }

    /// True if a request that starts in the chunk covers only units that were not accessed
    /// before.
    fn is_clean(&self, wish: &Wish<'_>, at: usize) -> bool {
        let chunk = &self.chunks[at];
        let begin = chunk.begin + chunk.sides[wish.side].cursor();
        let end = begin + wish.units;
        let taken = self.chunks[at..].iter().take_while(|chunk| chunk.begin < end);
        let is_clean = |chunk: &Chunk| {
            let account = chunk.sides[wish.side];
            let from = begin.saturating_sub(chunk.begin);
            let to = (end - chunk.begin).min(u64::from(chunk.units));
            let bits = (u64::MAX >> (u64::BITS as u64 - (to - from))) << from;
            account.is_fresh() && account.seen & bits == 0
        };
        taken.into_iter().all(is_clean)
    }

    fn suits(&self, wish: &Wish<'_>, at: usize) -> bool {
        let chunk = &self.chunks[at];
        let begin = chunk.begin + chunk.sides[wish.side].cursor();
        self.fits(wish.side, at, wish.units) && !(wish.meets)(begin)
    }

    fn room_class_of(&self, side: Side, at: usize) -> usize {
        let chunk = &self.chunks[at];
        room_class(chunk.room_end - chunk.begin - chunk.sides[side].cursor())
    }

    fn fits(&self, side: Side, at: usize, units: u64) -> bool {
        let chunk = &self.chunks[at];
        chunk.begin + chunk.sides[side].cursor() + units <= chunk.room_end
    }
}

/// Requirements of a request for a chunk.
struct Wish<'a> {
    side: Side,
    units: u64,
    /// Tells if a request that begins at a unit would continue another one.
    meets: &'a dyn Fn(u64) -> bool,
}

impl Order {
    fn new(distances: &[(u32, u32, u64)], growth: &Growth, births: u64, times: f64) -> Self {
        let mut by_heat: Vec<Vec<(u64, u64)>> = Vec::new();
        for (heat, class, count) in distances {
            let heat = *heat as usize;
            by_heat.resize(by_heat.len().max(heat + 1), Vec::new());
            by_heat[heat].push((u64::from(*class), *count));
        }
        let deck = |list: &Vec<(u64, u64)>| {
            let total = list.iter().map(|(_, count)| count).sum();
            (!list.is_empty()).then(|| Deck::new(list, total))
        };
        let distances = by_heat.iter().map(deck).collect();
        let all = growth.firsts.iter().sum::<u64>().max(1) as f64;
        let mut so_far = 0.0;
        let share = |firsts: &u64| {
            so_far += *firsts as f64;
            so_far / all
        };
        Self {
            now: 0,
            agenda: BinaryHeap::new(),
            fresh: vec![Vec::new(); ROOMS],
            distances,
            born: 0,
            births,
            growth: growth.firsts.iter().map(share).collect(),
            part_units: growth.part_units as f64 * times,
        }
    }

    /// True if fewer units were accessed than in the original trace at this point.
    fn is_birth_due(&self) -> bool {
        let part = self.now as f64 / self.part_units;
        let upto = |part: usize| match part {
            0 => 0.0,
            _ => self.growth.get(part - 1).or(self.growth.last()).copied().unwrap_or(1.0),
        };
        let (low, high) = (upto(part as usize), upto(part as usize + 1));
        let share = low + (high - low) * (part - libm::floor(part));
        (self.born as f64) <= share * self.births as f64
    }

    /// A distance to the next access of a unit that was accessed `before` times.
    fn distance(&mut self, before: u32, stream: &mut Stream) -> u64 {
        let heat = half_octave(u64::from(before)).min(self.distances.len().max(1) - 1);
        let lower =
            (0..=heat).rev().find(|heat| matches!(self.distances.get(*heat), Some(Some(_))));
        let Some(deck) = lower.and_then(|heat| self.distances[heat].as_mut()) else { return 1 };
        let class = deck.draw(stream) as usize;
        let (low, high) = (least_of(class), least_of(class + 1));
        low + stream.below((high - low).max(1))
    }
}

/// All stretches one by one, or only some if not all are kept.
fn each(classes: &[Stretch], keep: f64, times: f64) -> Vec<Stretch> {
    let mut all = Vec::new();
    for class in classes {
        let count = ((class.count as f64 * keep) as u64).max(1);
        let units = ((class.units as f64 * keep) as u64).max(count);
        let many =
            |number: u64| (number as f64 * times).max(f64::from(u8::from(number > 0))) as u64;
        let (reads, writes) = (many(class.reads), many(class.writes));
        let part = |of: u64, n: u64| {
            let until = |n: u64| (u128::from(of) * u128::from(n) / u128::from(count)) as u64;
            until(n + 1) - until(n)
        };
        all.extend((0..count).map(|n| Stretch {
            count: 1,
            units: part(units, n),
            reads: part(reads, n),
            writes: part(writes, n),
        }));
    }
    all
}

fn shuffle(list: &mut [Stretch], stream: &mut Stream) {
    for place in (1..list.len()).rev() {
        list.swap(place, stream.below(place as u64 + 1) as usize);
    }
}

/// The gap before each stretch but the first, `units` in total.
fn gaps(layout: &Layout, stretches: usize, units: u64, stream: &mut Stream) -> Vec<u64> {
    let wanted = stretches.saturating_sub(1);
    let list: Vec<(u64, u64)> =
        layout.gaps.iter().map(|gap| (gap.units.div_ceil(gap.count.max(1)), gap.count)).collect();
    let mut deck = Deck::new(&list, wanted as u64);
    if deck.is_empty() {
        return vec![0; wanted];
    }
    let drawn: Vec<u64> = (0..wanted).map(|_| deck.draw(stream)).collect();
    // Gaps between devices and at the end of the space are not in the list.
    let sum: u64 = drawn.iter().sum();
    if sum > units { scaled(&drawn, units) } else { drawn }
}

/// Cuts stretches into chunks and computes the room of each.
fn chunks(stretches: &[Stretch], gaps: &[u64]) -> Vec<Chunk> {
    let mut chunks: Vec<Chunk> = Vec::new();
    let mut begin = 0;
    for (stretch, gap) in stretches.iter().zip(std::iter::once(&0).chain(gaps)) {
        begin += gap;
        let mut done = 0;
        while done < stretch.units {
            let units = CHUNK_UNITS.min(stretch.units - done);
            let part = |of: u64| {
                let until =
                    |n: u64| (u128::from(of) * u128::from(n) / u128::from(stretch.units)) as u64;
                {
                    let left = until(done + units) - until(done);
                    Account { left, used: of > 0, ..Account::default() }
                }
            };
            let sides = [part(stretch.reads), part(stretch.writes)];
            chunks.push(Chunk {
                begin: begin + done,
                units: units as u32,
                room_end: 0,
                first: 0,
                sides,
            });
            done += units;
        }
        begin += stretch.units;
    }
    let mut room_end = 0;
    let mut next = u64::MAX;
    for chunk in chunks.iter_mut().rev() {
        let end = chunk.begin + u64::from(chunk.units);
        room_end = if end == next { room_end } else { end };
        next = chunk.begin;
        chunk.room_end = room_end;
    }
    chunks
}

/// The class of a room: small rooms are exact, so that fitting requests fill them.
fn room_class(units: u64) -> usize {
    if units < ROOMS_EXACT {
        return units as usize;
    }
    let octave = (units.ilog2() - ROOMS_EXACT.ilog2()) as usize;
    (ROOMS_EXACT as usize + octave).min(ROOMS - 1)
}
