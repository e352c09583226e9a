//! Footprint of a trace in the address space, and the skew of its accesses.

use super::fit;
use super::places::{Growth, Places, Sample, half_octave};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Fewest ranks through which a Zipf law is fitted.
const POINTS_MIN: usize = 5;

/// Bytes of a unit.
const UNIT: u64 = 4_096;

/// Units of a region that is in a sample or not.
const REGION_UNITS: u64 = 256;

/// Units of 4 KiB that reads and writes touch.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Footprint {
    /// Share of the address space that was counted: 1 if all of it was, less if it was sampled to
    /// save memory.
    pub sampled_share: f64,
    /// Units that are read or written, in bytes.
    pub touched_bytes: u64,
    /// Units that are read.
    pub read_bytes: u64,
    /// Units that are written.
    pub written_bytes: u64,
    /// Units that are read and written.
    pub both_bytes: u64,
    /// From the lowest byte that any request names to the end of the highest, summed
    /// over devices.
    pub span_bytes: u64,
    /// Touched over span.
    pub touched_share: f64,
    /// Units written over different units written; nothing if none is.
    pub overwrite_ratio: Option<f64>,
    /// Units read over different units read.
    pub reread_ratio: Option<f64>,
    /// Stretches of touched units without a gap.
    pub stretches: u64,
}

/// Skew of the accesses of units.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Hotness {
    /// Share of the accesses that goes to the hottest 1 % of the touched units.
    pub hottest_1: f64,
    /// To the hottest 5 %.
    pub hottest_5: f64,
    /// To the hottest 10 %.
    pub hottest_10: f64,
    /// To the hottest 20 %.
    pub hottest_20: f64,
    /// Accesses of the hottest unit.
    pub most: u64,
    /// A Zipf law, if there are enough ranks to fit one.
    pub zipf: Option<ZipfFit>,
}

/// The line through the logarithms of rank and accesses, at ranks half an octave
/// apart, down to units that are accessed twice.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct ZipfFit {
    /// The exponent: accesses fall with rank to this power.
    pub theta: f64,
    /// R² of the line. Below 0.9 or so the law describes the trace badly.
    pub r_squared: f64,
}

/// Addresses of accesses, for a synthetic trace, in units of 4 KiB.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Layout {
    /// Units of the address space, all devices together.
    pub span_units: u64,
    /// Stretches: adjacent units of similar heat.
    pub stretches: Vec<Stretch>,
    /// Gaps between stretches, in classes; the first class is of no gap at all.
    pub gaps: Vec<Gap>,
    /// Repeated reads of units: number of earlier reads of the unit, in classes of half octaves;
    /// number of units read since, in such classes; and number of accesses.
    pub reread: Vec<(u32, u32, u64)>,
    /// Repeated writes of units, with the same three numbers.
    pub rewrite: Vec<(u32, u32, u64)>,
    /// First reads of units over the trace.
    pub read_growth: Growth,
    /// First writes of units over the trace.
    pub write_growth: Growth,
    /// Share of the units both read and written that are written first.
    pub written_first_share: f64,
}

/// Stretches of similar length and heat.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stretch {
    /// Number of stretches.
    pub count: u64,
    /// Their units.
    pub units: u64,
    /// Units read from them.
    pub reads: u64,
    /// Units written to them.
    pub writes: u64,
}

/// Gaps of similar length.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Gap {
    /// Number of gaps.
    pub count: u64,
    /// Their units.
    pub units: u64,
}

/// Results of one pass over all units in order of address.
pub(super) struct Overview {
    pub footprint: Footprint,
    pub all: Option<Hotness>,
    pub reads: Option<Hotness>,
    pub writes: Option<Hotness>,
    pub layout: Layout,
}

/// Class of a stretch: half octaves of its reads and of its writes, and octave of its length, or
/// [`CUT`].
type Class = (usize, usize, u32);

/// Class of stretches of which the sample has only a part.
const CUT: u32 = u32::MAX;

impl Overview {
    pub fn of(places: &mut Places, span_bytes: u64) -> Self {
        let sample = places.sample();
        let one_in = sample.one_in();
        let reached = places.reached();
        let units_total = (places.units(false), places.units(true));
        let (reread, rewrite) = (places.distances(false), places.distances(true));
        let mut heats = Heats::default();
        let mut stretches = Stretches::new(sample);
        for (unit, reads, writes) in places.sorted() {
            if sample.has_unit(unit) {
                heats.add(reads, writes);
            }
            stretches.add(unit, reads, writes);
        }
        stretches.end();
        let bytes = |units: usize| units as u64 * one_in * UNIT;
        let touched_bytes = bytes(heats.all.len());
        // Accesses of all over units of the sample would mix two things.
        let seen = |counts: &[u32]| counts.iter().map(|count| u64::from(*count)).sum::<u64>();
        let again = |counts: &[u32], total: u64| {
            let total = if one_in == 1 { total } else { seen(counts) };
            (!counts.is_empty()).then(|| total as f64 / counts.len() as f64)
        };
        let footprint = Footprint {
            sampled_share: sample.share(),
            touched_bytes,
            read_bytes: bytes(heats.reads.len()),
            written_bytes: bytes(heats.writes.len()),
            both_bytes: bytes(heats.both),
            span_bytes,
            touched_share: (touched_bytes as f64 / span_bytes.max(1) as f64).min(1.0),
            overwrite_ratio: again(&heats.writes, units_total.1),
            reread_ratio: again(&heats.reads, units_total.0),
            stretches: stretches.apart(),
        };
        let layout = Layout {
            span_units: coarse(span_bytes.div_ceil(UNIT)),
            stretches: stretches.listed(),
            gaps: stretches.gaps(heats.all.len() as u64 * one_in, reached),
            reread,
            rewrite,
            read_growth: places.growth(false),
            write_growth: places.growth(true),
            written_first_share: places.written_first_share(),
        };
        Self {
            footprint,
            all: hotness(heats.all),
            reads: hotness(heats.reads),
            writes: hotness(heats.writes),
            layout,
        }
    }
}

/// Accesses of each unit.
#[derive(Default)]
struct Heats {
    all: Vec<u32>,
    reads: Vec<u32>,
    writes: Vec<u32>,
    both: usize,
}

impl Heats {
    fn add(&mut self, reads: u32, writes: u32) {
        self.all.push(reads.saturating_add(writes));
        self.reads.extend((reads > 0).then_some(reads));
        self.writes.extend((writes > 0).then_some(writes));
        self.both += usize::from(reads > 0 && writes > 0);
    }
}

/// Cuts the units into stretches.
///
/// In a sample, every stretch counts at its end; a gap or a length counts if both its ends are
/// sampled. A stretch of which only a part is sampled adds its units to the others of its heat;
/// their number is that of their ends.
struct Stretches {
    sample: Sample,
    classes: BTreeMap<Class, Stretch>,
    gaps: BTreeMap<usize, Gap>,
    /// Stretches of touched units, of any heat, that end in the sample.
    ends: u64,
    /// The unit before, and its heat.
    last: Option<u64>,
    heat: (usize, usize),
    open: Stretch,
    /// True if the open stretch may begin before its sampled part.
    is_cut: bool,
}

impl Default for Stretch {
    fn default() -> Self {
        Self { count: 1, units: 0, reads: 0, writes: 0 }
    }
}

impl Stretches {
    fn new(sample: Sample) -> Self {
        Self {
            sample,
            classes: BTreeMap::new(),
            gaps: BTreeMap::new(),
            ends: 0,
            last: None,
            heat: (0, 0),
            open: Stretch::default(),
            is_cut: false,
        }
    }

    fn add(&mut self, unit: u64, reads: u32, writes: u32) {
        let heat = (half_octave(u64::from(reads)), half_octave(u64::from(writes)));
        let is_counted = self.sample.has_unit(unit);
        let is_new = self.last.is_none_or(|last| last + 1 != unit) || heat != self.heat;
        if is_new {
            self.part(unit);
        } else if !is_counted {
            // It goes on outside of the sample.
            self.close(false);
        }
        self.heat = heat;
        self.last = Some(unit);
        if is_counted {
            if self.open.units == 0 {
                self.is_cut = !self.sample.sees_before(unit);
            }
            self.open.units += 1;
            self.open.reads += u64::from(reads);
            self.open.writes += u64::from(writes);
        }
    }

    /// Ends the last stretch before `unit`, where another one begins.
    fn part(&mut self, unit: u64) {
        let Some(last) = self.last else { return };
        let is_seen = self.sample.has_unit(last);
        self.close(is_seen);
        let gap = unit - last - 1;
        self.ends += u64::from(is_seen && gap > 0);
        // Between devices lies no gap.
        let is_one_device = gap < 1 << 40;
        if is_one_device && is_seen && self.sample.has_between(last, unit - 1) {
            let entry = self.gaps.entry(half_octave(gap)).or_insert(Gap { count: 0, units: 0 });
            entry.count += 1;
            entry.units += gap;
        }
    }

    /// There are no more units.
    fn end(&mut self) {
        let is_seen = self.last.is_some_and(|last| self.sample.has_unit(last));
        self.close(is_seen);
        self.ends += u64::from(is_seen);
    }

    /// Closes the open stretch: it ended, or it continues outside the sample.
    fn close(&mut self, ended: bool) {
        let open = std::mem::take(&mut self.open);
        if open.units == 0 {
            return;
        }
        let is_whole = ended && !self.is_cut;
        let length = if is_whole { open.units.ilog2() } else { CUT };
        let none = Stretch { count: 0, ..Stretch::default() };
        let sum = self.classes.entry((self.heat.0, self.heat.1, length)).or_insert(none);
        sum.count += u64::from(ended);
        sum.units += open.units;
        sum.reads += open.reads;
        sum.writes += open.writes;
    }

    /// Stretches of touched units of the whole space.
    fn apart(&self) -> u64 {
        let is_any = !self.classes.is_empty();
        (self.ends * self.sample.one_in()).max(u64::from(is_any))
    }

    fn listed(&self) -> Vec<Stretch> {
        let one_in = self.sample.one_in();
        let scaled = |s: &Stretch| Stretch {
            // If no end is sampled there is still one stretch.
            count: (s.count * one_in).max(1),
            units: s.units * one_in,
            reads: s.reads * one_in,
            writes: s.writes * one_in,
        };
        self.classes.values().map(scaled).collect()
    }

    /// Gaps of the whole space, of which `touched` units are accessed, on `devices` devices with
    /// `reached` units from the first to the last.
    fn gaps(&self, touched: u64, (devices, reached): (u64, u64)) -> Vec<Gap> {
        let one_in = self.sample.one_in();
        let scaled = |gap: &Gap| Gap { count: gap.count * one_in, units: gap.units * one_in };
        let mut gaps: BTreeMap<usize, Gap> =
            self.gaps.iter().map(|(class, gap)| (*class, scaled(gap))).collect();
        if one_in == 1 {
            return gaps.into_values().collect();
        }
        // What is not touched and lies in no gap of which both ends are seen.
        let seen = |of: fn(&Gap) -> u64| gaps.values().filter(|gap| gap.units > 0).map(of).sum();
        let (seen_count, seen_units): (u64, u64) = (seen(|gap| gap.count), seen(|gap| gap.units));
        let units = reached.saturating_sub(touched).saturating_sub(seen_units);
        let count = self.apart().saturating_sub(devices).saturating_sub(seen_count);
        // A sample of n regions is wrong about what is touched by one part in √n.
        let regions = (touched / one_in / REGION_UNITS).max(1);
        let is_doubtful = (units as f64) < 2.0 * touched as f64 / libm::sqrt(regions as f64);
        if units > 0 && (count > 0 || !is_doubtful) {
            let count = count.clamp(1, units);
            let entry = gaps.entry(half_octave(units / count));
            let entry = entry.or_insert(Gap { count: 0, units: 0 });
            (entry.count, entry.units) = (entry.count + count, entry.units + units);
        }
        gaps.into_values().collect()
    }
}

/// Rounds up to eight significant bits, which hides the exact last address.
fn coarse(units: u64) -> u64 {
    let step = 1 << (u64::BITS - units.leading_zeros()).saturating_sub(8);
    units.next_multiple_of(step)
}

fn hotness(mut counts: Vec<u32>) -> Option<Hotness> {
    if counts.is_empty() {
        return None;
    }
    counts.sort_unstable_by(|a, b| b.cmp(a));
    let total: u64 = counts.iter().map(|count| u64::from(*count)).sum();
    let share = |percent: usize| {
        let hottest = (counts.len() * percent).div_ceil(100);
        let sum: u64 = counts[..hottest].iter().map(|count| u64::from(*count)).sum();
        sum as f64 / total as f64
    };
    Some(Hotness {
        hottest_1: share(1),
        hottest_5: share(5),
        hottest_10: share(10),
        hottest_20: share(20),
        most: u64::from(counts[0]),
        zipf: zipf(&counts),
    })
}

/// The law through counts in falling order.
fn zipf(counts: &[u32]) -> Option<ZipfFit> {
    let rank = |step: i32| libm::exp2(f64::from(step) / 2.0) as usize;
    let mut points: Vec<(f64, f64)> = Vec::new();
    let mut last = 0;
    for rank in (0..).map(rank).take_while(|rank| *rank <= counts.len()) {
        let count = counts[rank - 1];
        if count < 2 {
            break;
        }
        if rank > last {
            points.push((libm::log(rank as f64), libm::log(f64::from(count))));
            last = rank;
        }
    }
    if points.len() < POINTS_MIN {
        return None;
    }
    let line = fit::line(&points)?;
    Some(ZipfFit { theta: (-line.slope).max(0.0), r_squared: line.r_squared })
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::Streams;
    use std::collections::BTreeMap;

    fn overview(places: &mut Places, requests: &[(bool, u64, u64)]) -> Overview {
        for (at, (is_write, unit, units)) in requests.iter().enumerate() {
            places.access(*is_write, 0, unit * UNIT, units * UNIT, at as u64);
        }
        Overview::of(places, 1 << 30)
    }

    #[test]
    fn units_are_counted_as_in_a_plain_map() {
        for seed in floor::seeds(0, 40) {
            let mut stream = Streams::new(seed).stream("places");
            let span = 1 + stream.below(400);
            let requests: Vec<(bool, u64, u64)> = (0..stream.below(300) + 1)
                .map(|_| (stream.chance(0.5), stream.below(span), 1 + stream.below(20)))
                .collect();
            let mut units: BTreeMap<u64, [u64; 2]> = BTreeMap::new();
            for (is_write, unit, count) in &requests {
                for unit in *unit..unit + count {
                    units.entry(unit).or_default()[usize::from(*is_write)] += 1;
                }
            }
            let with = |test: &dyn Fn(&[u64; 2]) -> bool| {
                units.values().filter(|unit| test(unit)).count() as u64 * UNIT
            };
            let found = overview(&mut Places::new(1 << 20), &requests);
            let footprint = &found.footprint;
            assert_eq!(footprint.touched_bytes, with(&|_| true), "seed {seed}");
            assert_eq!(footprint.read_bytes, with(&|u| u[0] > 0), "seed {seed}");
            assert_eq!(footprint.written_bytes, with(&|u| u[1] > 0), "seed {seed}");
            assert_eq!(footprint.both_bytes, with(&|u| u[0] > 0 && u[1] > 0), "seed {seed}");
            let apart =
                units.keys().filter(|unit| **unit == 0 || !units.contains_key(&(*unit - 1)));
            assert_eq!(footprint.stretches, apart.count() as u64, "seed {seed}");
            let mut heat: Vec<u64> = units.values().map(|u| u[0] + u[1]).collect();
            heat.sort_unstable();
            let fifth = heat.len().div_ceil(5);
            let hot: u64 = heat.iter().rev().take(fifth).sum();
            let share = hot as f64 / heat.iter().sum::<u64>() as f64;
            assert_eq!(found.all.unwrap().hottest_20, share, "seed {seed}");
            let sum = |of: fn(&Stretch) -> u64| found.layout.stretches.iter().map(of).sum::<u64>();
            assert_eq!(sum(|s| s.units) * UNIT, footprint.touched_bytes, "seed {seed}");
            assert_eq!(sum(|s| s.writes), units.values().map(|u| u[1]).sum::<u64>());
            let writes = requests.iter().filter(|r| r.0).map(|r| r.2).sum::<u64>();
            let ratio = footprint.overwrite_ratio.unwrap_or(0.0);
            let different = footprint.written_bytes / UNIT;
            assert!((ratio * different as f64 - writes as f64).abs() < 1e-6, "seed {seed}");
        }
    }

    #[test]
    fn a_law_of_zipf_is_found() {
        for theta in [0.5, 0.9, 1.2] {
            let counts: Vec<u32> =
                (1..20_000).map(|rank| (3e6 * libm::pow(f64::from(rank), -theta)) as u32).collect();
            let fit = zipf(&counts).unwrap();
            assert!((fit.theta - theta).abs() < 0.01, "{theta}: {fit:?}");
            assert!(fit.r_squared > 0.999, "{theta}: {fit:?}");
        }
        assert_eq!(zipf(&[1; 1_000]), None);
    }

    #[test]
    fn little_memory_means_a_sample_that_tells_the_same() {
        let mut stream = Streams::new(floor::seed(5)).stream("sample");
        let zipf = host::Zipf::new(1 << 20, 0.8);
        let scatter = host::Scatter::new(1 << 20);
        let requests: Vec<(bool, u64, u64)> = (0..400_000)
            .map(|_| (stream.chance(0.6), scatter.of(zipf.draw(&mut stream) - 1), 1))
            .collect();
        let exact = overview(&mut Places::new(1 << 30), &requests);
        let sampled = overview(&mut Places::new(12 << 20), &requests);
        assert_eq!(exact.footprint.sampled_share, 1.0);
        assert!(sampled.footprint.sampled_share <= 0.25);
        let near = |a: f64, b: f64, by: f64| assert!((a / b - 1.0).abs() < by, "{a} for {b}");
        let (a, b) = (&sampled.footprint, &exact.footprint);
        near(a.touched_bytes as f64, b.touched_bytes as f64, 0.03);
        near(a.both_bytes as f64, b.both_bytes as f64, 0.05);
        near(a.overwrite_ratio.unwrap(), b.overwrite_ratio.unwrap(), 0.1);
        near(sampled.all.unwrap().hottest_20, exact.all.unwrap().hottest_20, 0.1);
    }

    /// Writes extents `(first unit, units)`, in requests of up to 64 units, with memory
    /// for so many blocks.
    fn of_extents(extents: &[(u64, u64)], blocks: u64) -> Overview {
        let mut places = Places::new(blocks * crate::statistics::places::BLOCK_BYTES);
        for (first, units) in extents {
            for at in (*first..first + units).step_by(64) {
                let units = 64.min(first + units - at);
                places.access(true, 0, at * UNIT, units * UNIT, 0);
            }
        }
        Overview::of(&mut places, 1 << 50)
    }

    /// Stretches, stretches of like heat, gaps and their units, as a synthetic trace gets them.
    fn counted(overview: &Overview) -> [u64; 4] {
        let layout = &overview.layout;
        [
            overview.footprint.stretches,
            layout.stretches.iter().map(|stretch| stretch.count).sum(),
            layout.gaps.iter().map(|gap| gap.count).sum(),
            layout.gaps.iter().map(|gap| gap.units).sum(),
        ]
    }

    #[test]
    fn a_sample_tells_how_many_stretches_and_gaps_there_are() {
        let mut stream = Streams::new(floor::seed(8)).stream("extents");
        let mut random = |longest: u64, farthest: u64| {
            let mut at = 0;
            let mut extent = |_| {
                let first = at + 1 + stream.below(farthest);
                let units = 1 + stream.below(longest);
                at = first + units;
                (first, units)
            };
            (0..20_000).map(&mut extent).collect::<Vec<_>>()
        };
        // Inside of regions of 256 units, across them, and with long gaps.
        let mut cases = vec![random(40, 60), random(700, 500), random(30, 3_000)];
        // At the edges of regions: one or two of them, with one or two between.
        cases.push((0..8_000u64).map(|n| (n * 768, 256 * (1 + n % 2))).collect());
        for (case, extents) in cases.iter().enumerate() {
            let count = extents.len() as u64;
            let gaps = |pair: &[(u64, u64)]| pair[1].0 - pair[0].0 - pair[0].1;
            let gap_units: u64 = extents.windows(2).map(gaps).sum();
            assert_eq!(
                counted(&of_extents(extents, 1 << 22)),
                [count, count, count - 1, gap_units]
            );
            let sampled = of_extents(extents, 1 << 14);
            assert!(sampled.footprint.sampled_share <= 0.25, "{:?}", sampled.footprint);
            let exact = [count, count, count - 1, gap_units];
            for (is, of) in counted(&sampled).into_iter().zip(exact) {
                let ratio = is as f64 / of as f64;
                assert!((0.88..1.12).contains(&ratio), "case {case}: {is} for {of}");
            }
        }
    }

    #[test]
    fn what_goes_on_beyond_the_sample_is_one_stretch() {
        let sampled = of_extents(&[(5, 1 << 20)], 1 << 12);
        assert!(sampled.footprint.sampled_share < 0.1);
        assert_eq!(counted(&sampled), [1, 1, 0, 0]);
    }

    #[test]
    fn a_sample_is_of_all_times_alike() {
        const FEW: u64 = 512;
        const MANY: u64 = 1 << 20;
        let mut places = Places::new(1 << 20);
        let mut pass = |is_write: bool, from: u64, units: u64| {
            for unit in from..from + units {
                places.access(is_write, 0, unit * UNIT, UNIT, 0);
            }
        };
        // A few units in turn while all of them are counted, then many that are sampled.
        (0..=100).for_each(|_| pass(true, 0, FEW));
        (0..100).for_each(|_| pass(false, 0, FEW));
        (0..2).for_each(|_| pass(true, 1 << 24, MANY));
        pass(false, 1 << 28, MANY);
        assert!(places.sample().one_in() >= 64);
        let reuse = places.reuse();
        let near = |is: f64, of: f64| assert!((is / of - 1.0).abs() < 0.2, "{is} for {of}");
        // 51,200 units come again after 512, and 2^20 of them after 2^20.
        let distance = reuse.rewrite_distance_bytes.unwrap();
        near(distance.count as f64, (100 * FEW + MANY) as f64);
        near(distance.p50 as f64, (MANY * UNIT) as f64);
        near(distance.mean, (MANY * UNIT) as f64 * MANY as f64 / (100 * FEW + MANY) as f64);
        // 51,200 of the units read were written before, 2^20 were not.
        near(reuse.read_after_write_share, (100 * FEW) as f64 / (100 * FEW + MANY) as f64);
        let rewritten = places.distances(true);
        let once: u64 = rewritten.iter().filter(|(heat, ..)| *heat == 1).map(|(.., n)| n).sum();
        near(once as f64, (FEW + MANY) as f64);
        near(places.growth(true).firsts.iter().sum::<u64>() as f64, (FEW + MANY) as f64);
        // All units that are read and written are written first.
        assert_eq!(places.written_first_share(), 1.0);
    }

    #[test]
    fn wipes_count_for_nothing() {
        let mut places = Places::new(1 << 20);
        let gib = 1 << 30;
        for (offset, bytes) in [(0, UNIT), (0, UNIT), (0, gib + 1), (4 * gib, 2 * gib)] {
            places.access(true, 0, offset, bytes, 0);
        }
        assert_eq!(places.wipes, 2);
        let found = Overview::of(&mut places, 6 * gib);
        assert_eq!(found.footprint.overwrite_ratio, Some(2.0));
    }
}
