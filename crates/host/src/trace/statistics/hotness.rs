//! What of the address space is used, and how unevenly.

use super::fit;
use super::places::{Growth, Places, half_octave};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Ranks that a line of Zipf is laid through, at least.
const POINTS_MIN: usize = 5;

/// Bytes of a unit.
const UNIT: u64 = 4_096;

/// Which 4 KiB units reads and writes touch.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Footprint {
    /// Share of the address space that the figures come from: 1 where all of it was
    /// counted, less where it was sampled to save memory.
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
    /// Units written over different units written; nothing where none is.
    pub overwrite_ratio: Option<f64>,
    /// Units read over different units read.
    pub reread_ratio: Option<f64>,
    /// Stretches of touched units without a gap.
    pub stretches: u64,
}

/// How unevenly units are accessed.
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
    /// A law of Zipf, where there are ranks enough to tell.
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

/// Where accesses go, for a stand-in. Units are of 4 KiB.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Layout {
    /// Units of the address space, all devices together.
    pub span_units: u64,
    /// Neighbouring units of like heat, as one.
    pub stretches: Vec<Stretch>,
    /// Gaps between stretches, in classes; the first is of no gap at all.
    pub gaps: Vec<Gap>,
    /// Of units accessed again: how often before, in classes of half octaves, how
    /// many units were read since, in such classes, and accesses.
    pub reread: Vec<(u32, u32, u64)>,
    /// The same of writes.
    pub rewrite: Vec<(u32, u32, u64)>,
    /// When units are read for the first time.
    pub read_growth: Growth,
    /// When they are written for the first time.
    pub write_growth: Growth,
    /// Of the units that are read and written, the share that is written first.
    pub written_first_share: f64,
}

/// Stretches of like length and heat.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stretch {
    /// How many.
    pub count: u64,
    /// Their units.
    pub units: u64,
    /// Units read from them.
    pub reads: u64,
    /// Units written to them.
    pub writes: u64,
}

/// Gaps of like length.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Gap {
    /// How many.
    pub count: u64,
    /// Their units.
    pub units: u64,
}

/// Looks over all units in order of address.
pub(super) struct Overview {
    pub footprint: Footprint,
    pub all: Option<Hotness>,
    pub reads: Option<Hotness>,
    pub writes: Option<Hotness>,
    pub layout: Layout,
}

/// What stretches of a class have in common: half octaves of reads and of writes,
/// octave of length.
type Class = (usize, usize, u32);

impl Overview {
    pub fn of(places: &mut Places, span_bytes: u64) -> Self {
        let one_in = places.one_in();
        let sampled_share = places.sampled_share();
        let units_total = (places.units(false), places.units(true));
        let (reread, rewrite) = (places.distances(false), places.distances(true));
        let mut heats = Heats::default();
        let mut stretches = Stretches::default();
        for (unit, reads, writes) in places.sorted() {
            heats.add(reads, writes);
            stretches.add(unit, reads, writes);
        }
        stretches.close();
        let bytes = |units: usize| units as u64 * one_in * UNIT;
        let touched_bytes = bytes(heats.all.len());
        // Accesses of all over units of the sample would mix two things.
        let seen = |counts: &[u32]| counts.iter().map(|count| u64::from(*count)).sum::<u64>();
        let again = |counts: &[u32], total: u64| {
            let total = if one_in == 1 { total } else { seen(counts) };
            (!counts.is_empty()).then(|| total as f64 / counts.len() as f64)
        };
        let footprint = Footprint {
            sampled_share,
            touched_bytes,
            read_bytes: bytes(heats.reads.len()),
            written_bytes: bytes(heats.writes.len()),
            both_bytes: bytes(heats.both),
            span_bytes,
            touched_share: (touched_bytes as f64 / span_bytes.max(1) as f64).min(1.0),
            overwrite_ratio: again(&heats.writes, units_total.1),
            reread_ratio: again(&heats.reads, units_total.0),
            stretches: stretches.apart * one_in,
        };
        let layout = Layout {
            span_units: coarse(span_bytes.div_ceil(UNIT)),
            stretches: stretches.listed(one_in),
            gaps: stretches.gaps.into_values().collect(),
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
#[derive(Default)]
struct Stretches {
    classes: BTreeMap<Class, Stretch>,
    gaps: BTreeMap<usize, Gap>,
    /// Stretches of touched units, of whatever heat.
    apart: u64,
    last: Option<u64>,
    open: Stretch,
    heat: (usize, usize),
}

impl Default for Stretch {
    fn default() -> Self {
        Self { count: 1, units: 0, reads: 0, writes: 0 }
    }
}

impl Stretches {
    fn add(&mut self, unit: u64, reads: u32, writes: u32) {
        let heat = (half_octave(u64::from(reads)), half_octave(u64::from(writes)));
        let gap = self.last.map(|last| unit - last - 1);
        if gap != Some(0) {
            self.apart += 1;
        }
        if gap != Some(0) || heat != self.heat {
            self.close();
            // Between devices, and between regions that were not sampled, lies no gap.
            if let Some(gap) = gap.filter(|gap| *gap < 1 << 40) {
                let entry = self.gaps.entry(half_octave(gap)).or_insert(Gap { count: 0, units: 0 });
                entry.count += 1;
                entry.units += gap;
            }
            self.heat = heat;
        }
        self.open.units += 1;
        self.open.reads += u64::from(reads);
        self.open.writes += u64::from(writes);
        self.last = Some(unit);
    }

    fn close(&mut self) {
        let open = std::mem::take(&mut self.open);
        if open.units == 0 {
            return;
        }
        let class = (self.heat.0, self.heat.1, open.units.ilog2());
        let none = Stretch { count: 0, ..Stretch::default() };
        let sum = self.classes.entry(class).or_insert(none);
        sum.count += 1;
        sum.units += open.units;
        sum.reads += open.reads;
        sum.writes += open.writes;
    }

    fn listed(&self, one_in: u64) -> Vec<Stretch> {
        let scaled = |s: &Stretch| Stretch {
            count: s.count * one_in,
            units: s.units * one_in,
            reads: s.reads * one_in,
            writes: s.writes * one_in,
        };
        self.classes.values().map(scaled).collect()
    }
}

/// Rounded up to eight significant bits: the last address of all is nobody's business.
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
        for seed in 0..40 {
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
        let mut stream = Streams::new(5).stream("sample");
        let zipf = crate::Zipf::new(1 << 20, 0.8);
        let scatter = crate::Scatter::new(1 << 20);
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
}
