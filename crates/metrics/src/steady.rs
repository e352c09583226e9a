//! Steady state. A drive begins in a state that does not come from its workload, and a workload may
//! change what it finds. Is a figure at the end of a run still what it was at the beginning?
//!
//! A run is taken for steady unless it shows that it is not. It is compared in batches of whole
//! [cycles](crate::Cycles), so that waves of collection, which come for ever, are no change:
//!
//! - with fewer than three cycles of collection there is no verdict: a run that uses up free space,
//!   or has seen one wave, does not show what comes next. If cycles are not regular, six are needed;
//! - a line through the batches must not rise or fall, and no split may divide them into two parts
//!   of different means (Quandt, Tests of the hypothesis that a linear regression system obeys two
//!   separate regimes, Journal of the American Statistical Association 55, 1960), beyond what their
//!   spread explains. Changes below 5 % are accepted;
//! - few batches cannot tell chance from change. With up to seven, the rounds of the SNIA
//!   specification must agree, and with up to five they alone decide;
//! - whatever its cycles, a run must not end on a level that it never had before.
//!
//! A run that fails is tried again without its first tenth, two tenths, … up to a half (Heidelberger
//! and Welch, Simulation run length control in the presence of an initial transient, Operations
//! Research 31, 1983). The burden of proof is then with the rest: it must have ten cycles, and a
//! rise or fall of half of what was left out must be excluded.

use crate::cycles::{Found, Space};
use crate::student;
use crate::sums::{Sums, running};

/// Fewest intervals of time that can be judged.
pub const INTERVALS_MIN: usize = 20;

/// Fewest samples that can be judged.
pub const COUNT_MIN: f64 = 50.0;

/// Fewest cycles of collection: one may be the first or the last of its kind.
pub const CYCLES_MIN: f64 = 3.0;

/// Fewest cycles of collection if they are not regular. Then batches differ in their share of cycles, and
/// fewer of them than the tests need say nothing of a trend.
const IRREGULAR_MIN: f64 = TESTED_MIN as f64;

/// Fewest cycles of collection after a beginning that was left out.
pub const CYCLES_AFTER_CUT: f64 = 10.0;

/// Fewest batches after a beginning that was left out.
const BATCHES_AFTER_CUT: usize = 8;

/// Batches of a long run: of one with regular cycles, and of another one, in which longer batches
/// make it likelier that they do not depend on each other.
const BATCHES: f64 = 20.0;
const BATCHES_IRREGULAR: f64 = 10.0;

/// Fewest batches of a new level. A single one that differs may be an event; but not in what is left
/// when a beginning was left out, which may have lasted longer.
const LEVEL_MIN: usize = 2;
const LEVEL_MIN_AFTER_CUT: usize = 1;

/// Most batches that must be like the rounds of the specification.
const ROUNDS: usize = 7;

/// Fewest batches that are tested for a line and a split. These tests hardly find a change in fewer
/// than [`BATCHES_AFTER_CUT`].
const TESTED_MIN: usize = 6;

/// Chances of calling a steady run unsteady, by the line and by the split. The line has the greater one:
/// what goes on changing is worse than a step that is over.
const MISTAKE_OF_LINE: f64 = 0.02;
const MISTAKE_OF_SPLIT: f64 = 0.01;

/// Change, as a share, that is accepted in the figure, and in write amplification if the figure is
/// another one.
const ACCEPTED: f64 = 0.05;
const ACCEPTED_OF_CAUSE: f64 = 0.2;

/// Parts of a run in which levels are compared.
const LEVELS: usize = 50;

/// Factor by which a last level must exceed the range of all earlier ones to be new.
const NEW: f64 = 2.0;

/// Verdict on the steady state of a figure.
#[derive(Clone, PartialEq, Debug)]
pub enum Verdict {
    /// The figure is steady from this interval on.
    Steady {
        /// The first steady interval.
        from: usize,
    },
    /// The figure is not known to be steady.
    NotKnown {
        /// The reason.
        reason: Reason,
    },
}

/// Reason why a figure is not known to be steady.
#[derive(Clone, PartialEq, Debug)]
pub enum Reason {
    /// The run is too short, or has counted too little.
    TooShort,
    /// Free space was used, and there were too few cycles of collection.
    TooFewCycles {
        /// Number of cycles.
        cycles: f64,
        /// Number that is needed.
        needed: f64,
    },
    /// The line that fits the batches rises or falls.
    Drift {
        /// Its beginning.
        before: f64,
        /// Its end.
        after: f64,
    },
    /// The figure has another level from an interval on.
    Step {
        /// The first interval of the new level.
        from: usize,
        /// The mean before.
        before: f64,
        /// The mean since then.
        after: f64,
    },
    /// The few batches differ too much.
    Spread {
        /// Greatest mean less the least, as a share of all.
        share: f64,
        /// Number of batches.
        batches: usize,
    },
    /// Write amplification, on which the figure depends, is not steady.
    Cause(Box<Self>),
    /// The figure changed at the beginning, and the rest is too short, or varies too much, to show
    /// that it does not go on.
    Unproven {
        /// The reason why the whole is not steady.
        whole: Box<Self>,
        /// The first interval of the rest.
        from: usize,
        /// Cycles of collection in the rest, if space was used.
        cycles: Option<f64>,
    },
}

/// A figure of a run in intervals of equal length, and what it depends on.
#[derive(Clone, Copy, Debug)]
pub struct Course<'a> {
    /// The figure.
    pub figure: &'a [Sums],
    /// Write amplification, if the figure is another one.
    pub cause: Option<&'a [Sums]>,
    /// Use of free space.
    pub space: Space<'a>,
}

impl Course<'_> {
    fn since(self, from: usize) -> Self {
        Self {
            figure: &self.figure[from..],
            cause: self.cause.map(|cause| &cause[from..]),
            space: self.space.since(from),
        }
    }
}

/// Tests if a figure is steady, and from which interval on.
pub fn steady_state(course: Course<'_>) -> Verdict {
    let whole = match judged(course, LEVEL_MIN) {
        Ok(_) => return Verdict::Steady { from: 0 },
        Err(reason) => reason,
    };
    let count = course.figure.len();
    let mut flat = None;
    for from in (1..=5).map(|tenths| count * tenths / 10) {
        let rest = judged(course.since(from), LEVEL_MIN_AFTER_CUT);
        let Ok(rest) = rest else { continue };
        let [before, after] = [&course.figure[..from], &course.figure[from..]]
            .map(|part| part.iter().copied().sum::<Sums>().mean());
        if rest.proves_more_than(after - before) {
            return Verdict::Steady { from };
        }
        flat = flat.or(Some((from, rest.cycles)));
    }
    let reason = match flat {
        Some((from, cycles)) => Reason::Unproven { whole: Box::new(whole), from, cycles },
        None => whole,
    };
    Verdict::NotKnown { reason }
}

/// A part of a run that does not show that it is unsteady.
struct Flat {
    batches: Batches,
    /// Cycles of collection, if space was used.
    cycles: Option<f64>,
}

impl Flat {
    /// True if the part is long enough to exclude that it goes on to change by half of what it
    /// differs from the beginning that was left out.
    fn proves_more_than(&self, left_out: f64) -> bool {
        self.cycles.is_none_or(|cycles| cycles >= CYCLES_AFTER_CUT)
            && self.batches.excludes(left_out.abs())
    }
}

/// Judges a part of a run, in which a new level has so many batches at least.
fn judged(course: Course<'_>, least: usize) -> Result<Flat, Reason> {
    let count: f64 = course.figure.iter().map(|interval| interval.count).sum();
    if course.figure.len() < INTERVALS_MIN || count < COUNT_MIN {
        return Err(Reason::TooShort);
    }
    let found = Found::new(course.figure, course.space);
    if let Some(count) = found.cycles.count {
        enough(count, found.collects_regularly)?;
    }
    let edges = edges(course.figure.len(), found);
    let batches = Batches::new(course.figure, &edges);
    level(course.figure)?;
    batches.judged(least)?;
    if let Some(cause) = course.cause {
        let of_cause = Batches::new(cause, &edges).judged_as_cause(least);
        of_cause.map_err(|reason| Reason::Cause(Box::new(reason)))?;
    }
    Ok(Flat { batches, cycles: found.cycles.count })
}

/// Fails with too few cycles of collection.
fn enough(cycles: f64, are_regular: bool) -> Result<(), Reason> {
    let least = if are_regular { CYCLES_MIN } else { IRREGULAR_MIN };
    // One that has hardly any may turn out to be regular.
    let needed = if cycles < CYCLES_MIN { CYCLES_MIN } else { least };
    if cycles < needed { Err(Reason::TooFewCycles { cycles, needed }) } else { Ok(()) }
}

/// Edges of batches: of whole cycles if they are regular, so that the last one is complete. Else
/// there are no more batches than cycles, as neighbours in a cycle depend on each other. They still
/// hold whole cycles of a figure that repeats.
fn edges(intervals: usize, found: Found) -> Vec<usize> {
    let all = intervals as f64;
    // The length of a unit that is not divided, the number of units, and that of batches.
    let (unit, units, count) = match found.cycles.length {
        Some(length) => {
            let several = (all / length / BATCHES).floor().max(1.0);
            let count = (all / (several * length)).floor();
            (several * length, count, count)
        }
        None => {
            let most = BATCHES_IRREGULAR;
            let count = found.cycles.count.unwrap_or(most).min(most).floor();
            match found.of_figure {
                Some(length) => {
                    let units = (all / length).floor();
                    (length, units, count.min(units))
                }
                None => (all / count, count, count),
            }
        }
    };
    let units_before = |batch: usize| (batch as f64 * units / count).floor();
    let edge = |batch: usize| (all - (units - units_before(batch)) * unit).round() as usize;
    (0..=count as usize).map(edge).collect()
}

/// Fails if the last of [`LEVELS`] parts of a run lie far outside the range of all earlier ones, or
/// all later ones outside that of the first. Batches do not see it: one of them that differs may be
/// chance, and there may be few. Two parts or more are a level; one may be an event.
fn level(figure: &[Sums]) -> Result<(), Reason> {
    let parts = LEVELS.min(figure.len() / 2);
    let running = running(figure);
    let edge = |part: usize| figure.len() * part / parts;
    let of = |part: usize| running[edge(part + 1)] - running[edge(part)];
    let sums: Vec<(usize, Sums)> = (0..parts)
        .map(|part| (edge(part), of(part)))
        .filter(|(_, sums)| sums.count > 0.0)
        .collect();
    let means: Vec<f64> = sums.iter().map(|(_, sums)| sums.mean()).collect();
    let backwards: Vec<f64> = means.iter().rev().copied().collect();
    let least = ACCEPTED * running[figure.len()].mean().abs();
    let split = new_level(&means, least)
        .or_else(|| new_level(&backwards, least).map(|split| means.len() - split));
    let Some(split) = split else { return Ok(()) };
    let mean = |part: &[(usize, Sums)]| part.iter().map(|(_, sums)| *sums).sum::<Sums>().mean();
    let (before, after) = (mean(&sums[..split]), mean(&sums[split..]));
    Err(Reason::Step { from: sums[split].0, before, after })
}

/// The place in the second half from which on all values lie beyond the earlier ones, on one side.
fn new_level(means: &[f64], least: f64) -> Option<usize> {
    let is_split = |split: &usize| {
        let mut sorted = means[..*split].to_vec();
        sorted.sort_by(f64::total_cmp);
        let median = sorted[split / 2];
        let range = (median - sorted[0]).max(sorted[split - 1] - median);
        let beyond = (NEW * range).max(least);
        let later = &means[*split..];
        later.iter().all(|mean| mean - median > beyond)
            || later.iter().all(|mean| median - mean > beyond)
    };
    let splits = means.len().div_ceil(2)..means.len().saturating_sub(1);
    splits.into_iter().filter(|split| *split > 0).find(is_split)
}

/// Means of batches, and the interval in which each begins.
struct Batches {
    means: Vec<f64>,
    begins: Vec<usize>,
}

impl Batches {
    /// A batch that counted nothing adds its total to the next one.
    fn new(figure: &[Sums], edges: &[usize]) -> Self {
        let running = running(figure);
        let (mut means, mut begins) = (Vec::new(), Vec::new());
        let mut begin = edges[0];
        for edge in &edges[1..] {
            let sums = running[*edge] - running[begin];
            if sums.count > 0.0 {
                means.push(sums.mean());
                begins.push(begin);
                begin = *edge;
            }
        }
        Self { means, begins }
    }

    fn judged(&self, least: usize) -> Result<(), Reason> {
        if self.means.len() <= ROUNDS {
            self.rounds()?;
        }
        if self.means.len() >= TESTED_MIN { self.tested(ACCEPTED, least) } else { Ok(()) }
    }

    /// Judges what another figure depends on: a few batches say too little.
    fn judged_as_cause(&self, least: usize) -> Result<(), Reason> {
        if self.means.len() >= TESTED_MIN { self.tested(ACCEPTED_OF_CAUSE, least) } else { Ok(()) }
    }

    /// Steady state by rounds, as defined in the SNIA Solid State Storage Performance Test
    /// Specification 2.0: their range must be at most 20 % of their mean, and the line fitted to
    /// them by least squares must rise or fall by at most 10 % of their mean from the first to the
    /// last.
    ///
    /// The specification applies this to throughput and latency in rounds of a minute, with all
    /// caches flushed and the drive preconditioned as it prescribes. Here a round is a cycle, so a
    /// verdict resembles that of the specification but is no certificate of it.
    fn rounds(&self) -> Result<(), Reason> {
        let batches = self.means.len();
        if batches < 2 {
            return Err(Reason::TooShort);
        }
        let line = Line::through(&self.means);
        let mean = line.mean.abs();
        let greatest = self.means.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let least = self.means.iter().copied().fold(f64::INFINITY, f64::min);
        // Not divided by the mean: a series of zeroes is flat.
        if greatest - least > 0.20 * mean {
            return Err(Reason::Spread { share: (greatest - least) / mean, batches });
        }
        if line.rise.abs() > 0.10 * mean {
            return Err(Reason::Drift { before: line.begin(), after: line.end() });
        }
        Ok(())
    }

    /// Tests for a line that rises or falls, and for two levels, on a logarithmic scale if that is
    /// possible: a change is a factor, and a mean that is twice as large varies twice as much.
    fn tested(&self, accepted: f64, least: usize) -> Result<(), Reason> {
        let is_positive = self.means.iter().all(|mean| *mean > 0.0);
        let scale = self.means.iter().map(|mean| mean.abs()).fold(0.0, f64::max);
        let scaled = |mean: &f64| match is_positive {
            true => libm::log(*mean),
            false => mean / scale.max(f64::MIN_POSITIVE),
        };
        let values: Vec<f64> = self.means.iter().map(scaled).collect();
        let line = Line::through(&values);
        if line.rise.abs() > accepted && line.chance(&values) < MISTAKE_OF_LINE {
            let shown = |value: f64| if is_positive { libm::exp(value) } else { value * scale };
            return Err(Reason::Drift { before: shown(line.begin()), after: shown(line.end()) });
        }
        let split = Split::best(&values, least);
        if split.change.abs() > accepted && split.chance(&values, least) < MISTAKE_OF_SPLIT {
            let mean = |part: &[f64]| part.iter().sum::<f64>() / part.len() as f64;
            return Err(Reason::Step {
                from: self.begins[split.at],
                before: mean(&self.means[..split.at]),
                after: mean(&self.means[split.at..]),
            });
        }
        Ok(())
    }

    /// True if a rise or fall of half of `change`, or of a tenth, is excluded with 95 %.
    fn excludes(&self, change: f64) -> bool {
        if self.means.len() < BATCHES_AFTER_CUT {
            return false;
        }
        let line = Line::through(&self.means);
        let freedom = self.means.len() as u32 - 2;
        let most = line.rise.abs() + student::quantile(0.95, freedom) * line.error(&self.means);
        most <= (change / 2.0).max(0.10 * line.mean.abs())
    }
}

/// The line that least squares fit to equally spaced values.
struct Line {
    mean: f64,
    /// Rise from the first value to the last.
    rise: f64,
    count: usize,
}

impl Line {
    fn through(values: &[f64]) -> Self {
        let count = values.len();
        let mean = values.iter().sum::<f64>() / count as f64;
        let products: f64 =
            values.iter().enumerate().map(|(at, value)| place(at, count) * (value - mean)).sum();
        let rise = products / squares(count) * (count - 1) as f64;
        Self { mean, rise, count }
    }

    fn begin(&self) -> f64 {
        self.mean - self.rise / 2.0
    }
    fn end(&self) -> f64 {
        self.mean + self.rise / 2.0
    }

    fn rest(&self, values: &[f64]) -> Vec<f64> {
        let slope = self.rise / (self.count - 1) as f64;
        let on_line = |at: usize| self.mean + slope * place(at, self.count);
        values.iter().enumerate().map(|(at, value)| value - on_line(at)).collect()
    }

    /// The standard error of the rise.
    fn error(&self, values: &[f64]) -> f64 {
        let rest = self.rest(values);
        let variance = squared(&rest) / (self.count - 2) as f64 / squares(self.count);
        variance.sqrt() * (self.count - 1) as f64 * widening(&rest)
    }

    /// The chance of such a rise if there is none.
    fn chance(&self, values: &[f64]) -> f64 {
        student::two_sided(self.rise / self.error(values), self.count as u32 - 2)
    }
}

/// The place of a value, from the middle.
fn place(at: usize, count: usize) -> f64 {
    at as f64 - (count - 1) as f64 / 2.0
}

/// The sum of squared places.
fn squares(count: usize) -> f64 {
    let count = count as f64;
    count * (count * count - 1.0) / 12.0
}

/// The division of values into two parts whose means differ most, by their spread.
struct Split {
    /// Number of values before.
    at: usize,
    /// Mean of the values after it, less that of those before.
    change: f64,
    /// Change over its standard error.
    ratio: f64,
}

impl Split {
    fn best(values: &[f64], least: usize) -> Self {
        let split = |at: usize| {
            let (before, after) = values.split_at(at);
            let means = [before, after].map(|part| part.iter().sum::<f64>() / part.len() as f64);
            let within = squared(&Self::rest(values, at, means));
            let shares = 1.0 / before.len() as f64 + 1.0 / after.len() as f64;
            let error = (within / (values.len() - 2) as f64 * shares).sqrt();
            let change = means[1] - means[0];
            let ratio = if change == 0.0 { 0.0 } else { change / error };
            Self { at, change, ratio }
        };
        let more = |a: &Self, b: &Self| a.ratio.abs().total_cmp(&b.ratio.abs());
        (least..=values.len() - least).map(split).max_by(more).expect("there are enough values")
    }

    fn rest(values: &[f64], at: usize, means: [f64; 2]) -> Vec<f64> {
        values.iter().enumerate().map(|(n, value)| value - means[usize::from(n >= at)]).collect()
    }

    /// The chance of a split like this one if there is none: at most that of any one, times their
    /// number.
    fn chance(&self, values: &[f64], least: usize) -> f64 {
        let mean = |part: &[f64]| part.iter().sum::<f64>() / part.len() as f64;
        let means = [mean(&values[..self.at]), mean(&values[self.at..])];
        let ratio = self.ratio / widening(&Self::rest(values, self.at, means));
        let splits = (values.len() + 1 - 2 * least) as f64;
        splits * student::two_sided(ratio, values.len() as u32 - 2)
    }
}

fn squared(values: &[f64]) -> f64 {
    values.iter().map(|value| value * value).sum()
}

/// Factor by which errors grow since each value resembles the one before, if it does beyond chance:
/// that of a process in which it is `r` times that value plus noise.
fn widening(rest: &[f64]) -> f64 {
    let (all, count) = (squared(rest), rest.len() as f64);
    if all == 0.0 {
        return 1.0;
    }
    let products: f64 = rest.windows(2).map(|pair| pair[0] * pair[1]).sum();
    // Deviations from what was fitted to the same values look too independent.
    let resemblance = (products / all + 2.0 / count).min(0.8);
    if resemblance < ONE_SIDED_95 / count.sqrt() {
        return 1.0;
    }
    ((1.0 + resemblance) / (1.0 - resemblance)).sqrt()
}

/// Value that a normal variate does not exceed in 95 of 100 cases.
const ONE_SIDED_95: f64 = 1.645;

#[cfg(test)]
mod tests;
