//! Cycles of a run. A drive that collects garbage does so again and again, and often all of it at
//! the same time: latencies then rise and fall for ever without any trend. Means are comparable
//! only over whole cycles.
//!
//! The clock of these cycles is the free space. Hosts use it up and collection regains it, so it
//! rises and falls once in a cycle, however noisy the latencies are. It says two things:
//!
//! - *how long* cycles are, if they are regular: the free space (or the figure itself, if something
//!   else repeats) resembles itself a cycle later, so its autocorrelation has a peak there;
//! - *how many* there were, regular or not: hosts used so many times the range over which free space
//!   moved. Bins that collect at different times need no common cycle for that.

use crate::sums::Sums;

/// Least autocorrelation at the length of a cycle. Independent values reach it by chance only if
/// they are very few.
const ALIKE: f64 = 0.5;

/// Share of the highest peak that an earlier one needs to be taken: later peaks are those of
/// several cycles, and noise makes one of them the highest.
const NEARLY: f64 = 0.8;

/// Least number of cycles in which their length is looked for.
const REPEATS: usize = 3;

/// Shortest cycle of the free space in intervals. With fewer readings in a cycle, the peak of several
/// cycles may be taken for one.
const INTERVALS_IN_CYCLE: f64 = 6.0;

/// Fewest intervals in which hosts use the range over which free space moved. If they need fewer, a
/// cycle is about as short as an interval, and what seems to repeat is a beat of the two.
const INTERVALS_IN_TURN: f64 = 3.0;

/// Use of free space in each interval, in any unit.
#[derive(Clone, Copy, Debug)]
pub struct Space<'a> {
    /// Space that was programmed, without what collection moved: hosts' data and what it costs.
    pub used: &'a [f64],
    /// Growth of the free space: space erased, less all that was programmed.
    pub growth: &'a [f64],
}

impl Space<'_> {
    /// The intervals from one on.
    pub fn since(self, from: usize) -> Self {
        Self { used: &self.used[from..], growth: &self.growth[from..] }
    }

    /// True if any space was used.
    pub fn is_used(self) -> bool {
        self.used.iter().any(|used| *used > 0.0)
    }

    /// Number of times that hosts have used the range over which free space moved.
    fn turns(self) -> f64 {
        let free = self.free();
        let most = free.iter().copied().fold(0.0, f64::max);
        let least = free.iter().copied().fold(0.0, f64::min);
        let used: f64 = self.used.iter().sum();
        if most > least { used / (most - least) } else { f64::INFINITY }
    }

    /// Length of its cycle in intervals, if it is regular and readings are close enough to show it.
    fn period(self) -> Option<f64> {
        period(&self.free()).filter(|length| *length >= INTERVALS_IN_CYCLE && self.shows(*length))
    }

    /// True if hosts need several intervals to use the range over which free space moves in a cycle
    /// of this length. The range of the whole run would not do: it may contain a slow change.
    fn shows(self, length: f64) -> bool {
        let free = self.free();
        let range = |cycle: &[f64]| {
            let most = cycle.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            most - cycle.iter().copied().fold(f64::INFINITY, f64::min)
        };
        let mut ranges: Vec<f64> = free.chunks_exact(length.ceil() as usize).map(range).collect();
        ranges.sort_by(f64::total_cmp);
        let in_interval = self.used.iter().sum::<f64>() / self.used.len() as f64;
        ranges
            .get(ranges.len() / 2)
            .is_some_and(|median| *median >= INTERVALS_IN_TURN * in_interval)
    }

    /// Free space at the end of each interval, counted from that at the beginning.
    fn free(self) -> Vec<f64> {
        let mut free = 0.0;
        let add = |growth: &f64| {
            free += growth;
            free
        };
        self.growth.iter().map(add).collect()
    }
}

/// Cycles of a part of a run.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Cycles {
    /// Number of cycles of collection; `None` if no space was used, so that none is needed.
    pub count: Option<f64>,
    /// Intervals in the cycle of which a batch holds a whole number: that of collection if it is
    /// regular, or a longer one in which the figure repeats. `None` without such a cycle. If collection
    /// is not regular, a cycle of the figure must be as long as the mean one of collection.
    pub length: Option<f64>,
}

impl Cycles {
    /// Finds the cycles of a part in which a figure had these `sums`.
    pub fn find(sums: &[Sums], space: Space<'_>) -> Self {
        Found::new(sums, space).cycles
    }
}

/// Cycles of a part, and what repeats in it.
#[derive(Clone, Copy, Debug)]
pub struct Found {
    /// The cycles.
    pub cycles: Cycles,
    /// True if collection repeats, whatever the figure does.
    pub collects_regularly: bool,
    /// Intervals after which the figure repeats.
    pub of_figure: Option<f64>,
}

impl Found {
    /// Finds them in a part in which a figure had these `sums`.
    pub fn new(sums: &[Sums], space: Space<'_>) -> Self {
        let is_used = space.is_used();
        let of_space = if is_used { space.period() } else { None };
        let mean = sums.iter().copied().sum::<Sums>().mean();
        let excess: Vec<f64> = sums.iter().map(|s| s.total - mean * s.count).collect();
        let of_figure = if mean.is_finite() { period(&excess) } else { None };
        let all = sums.len() as f64;
        let count = is_used.then(|| of_space.map_or_else(|| space.turns(), |length| all / length));
        let length = match (of_space, count) {
            // The longer cycle has several of the shorter one, so they matter less in it.
            (Some(length), _) => Some(of_figure.map_or(length, |of_figure| of_figure.max(length))),
            // Batches shorter than a cycle of collection would differ by their share of it.
            (None, Some(count)) => of_figure.filter(|length| *length >= all / count),
            (None, None) => of_figure,
        };
        let cycles = Cycles { count, length };
        Self { cycles, collects_regularly: of_space.is_some(), of_figure }
    }
}

/// Length of the cycle in which `values` repeat, in places; `None` if they do not.
pub fn period(values: &[f64]) -> Option<f64> {
    let values = without_line(values);
    let longest = values.len() / REPEATS;
    let likeness = autocorrelation(&values, longest + 1);
    // A slow course resembles itself soon after, without any cycle.
    let begin = likeness.iter().position(|r| *r < 0.0)?;
    let highest = likeness[begin..].iter().copied().fold(0.0, f64::max);
    if highest < ALIKE {
        return None;
    }
    let is_peak = |at: &usize| {
        let [before, here, after] = [at - 1, *at, at + 1].map(|at| likeness[at]);
        here >= before && here >= after && here >= NEARLY * highest
    };
    let first = (begin + 1..likeness.len() - 1).find(is_peak)?;
    Some(refined(&values, first, likeness[first]))
}

/// The length of a cycle by the peak of several cycles, as many as still resemble each other: an
/// error of half a place is the smaller, the more cycles it is shared by.
fn refined(values: &[f64], first: usize, likeness: f64) -> f64 {
    let all = autocorrelation(values, values.len() / 2);
    let mut length = summit(&all, first);
    let mut times = 2.0;
    while times * length < all.len() as f64 - 2.0 {
        let low = (times * length - length / 4.0) as usize;
        let high = ((times * length + length / 4.0) as usize + 1).min(all.len() - 1);
        let highest = (low..high).max_by(|a, b| all[*a].total_cmp(&all[*b]));
        match highest {
            Some(at) if at > low && at + 1 < high && all[at] >= likeness / 2.0 => {
                length = summit(&all, at) / times;
            }
            _ => break,
        }
        times = (times * 1.5).ceil();
    }
    length
}

/// The place of a peak, by the parabola through it and its neighbours.
fn summit(values: &[f64], at: usize) -> f64 {
    let (Some(before), Some(after)) = (values.get(at.wrapping_sub(1)), values.get(at + 1)) else {
        return at as f64;
    };
    let bend = before - 2.0 * values[at] + after;
    if bend < 0.0 { at as f64 + 0.5 * (before - after) / bend } else { at as f64 }
}

/// Deviations from the line that least squares fit.
fn without_line(values: &[f64]) -> Vec<f64> {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let place = |at: usize| at as f64 - (count - 1.0) / 2.0;
    let (mut slope, mut squares) = (0.0, 0.0);
    for (at, value) in values.iter().enumerate() {
        slope += place(at) * (value - mean);
        squares += place(at) * place(at);
    }
    let slope = if squares > 0.0 { slope / squares } else { 0.0 };
    values.iter().enumerate().map(|(at, value)| value - mean - slope * place(at)).collect()
}

/// Correlation of values with those so many places later, for each distance up to `longest`. The
/// values lie about 0.
fn autocorrelation(values: &[f64], longest: usize) -> Vec<f64> {
    let mut power = vec![0.0];
    for value in values {
        power.push(power[power.len() - 1] + value * value);
    }
    let all = power[values.len()];
    let of = |distance: usize| {
        let pairs = values.iter().zip(&values[distance..]);
        let product: f64 = pairs.map(|(one, other)| one * other).sum();
        let (early, late) = (power[values.len() - distance], all - power[distance]);
        let scale = (early * late).sqrt();
        if scale > 0.0 { product / scale } else { 0.0 }
    };
    (0..=longest.min(values.len())).map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::Streams;

    /// Free space that hosts use evenly, and that collection regains in the last third of each
    /// cycle of `length` places.
    fn sawtooth(places: usize, length: f64) -> (Vec<f64>, Vec<f64>) {
        let used = vec![1.0; places];
        let collects = |at: usize| (at as f64 % length) / length >= 2.0 / 3.0;
        let growth = (0..places).map(|at| if collects(at) { 2.0 } else { -1.0 }).collect();
        (used, growth)
    }

    fn flat(places: usize) -> Vec<Sums> {
        vec![Sums { total: 3.0, count: 1.0 }; places]
    }

    #[test]
    fn waves_of_collection_are_counted_and_measured() {
        for (places, length) in [(400, 40.0), (900, 33.5), (600, 173.0)] {
            let (used, growth) = sawtooth(places, length);
            let found = Cycles::find(&flat(places), Space { used: &used, growth: &growth });
            let expected = places as f64 / length;
            let measured = found.length.expect("they are regular");
            assert!((measured / length - 1.0).abs() < 0.01, "{measured} for {length}");
            let count = found.count.expect("space was used");
            assert!((count / expected - 1.0).abs() < 0.01, "{count} for {expected}");
        }
    }

    #[test]
    fn space_that_only_falls_is_one_cycle() {
        let (used, growth) = ([1.0; 300], [-1.0; 300]);
        let found = Cycles::find(&flat(300), Space { used: &used, growth: &growth });
        assert_eq!(found, Cycles { count: Some(1.0), length: None });
        // A single wave at its beginning: 100 places are regained, 200 used after.
        let growth: Vec<f64> = (0..300).map(|at| if at < 100 { 1.0 } else { -1.0 }).collect();
        let found = Cycles::find(&flat(300), Space { used: &used, growth: &growth });
        assert_eq!(found, Cycles { count: Some(1.5), length: None });
    }

    /// Cycles about as short as an interval, of lengths that differ by 3 %: readings meet each one
    /// a little later than the one before, and seem to show a cycle of 1.03 / 0.03 intervals.
    #[test]
    fn a_beat_of_cycles_and_readings_is_no_cycle() {
        let streams = Streams::new(floor::seed(7));
        // What free space loses at the beginning, in cycles, widens its range.
        for (number, lost) in [0.0, 20.0].into_iter().enumerate() {
            for length in [0.515, 0.97, 1.03, 1.5, 2.02] {
                let mut stream = streams.stream(&format!("{number} {length}"));
                let used = vec![1.0; 800];
                let loses = |at: usize| if at < 100 { lost * length / 100.0 } else { 0.0 };
                let mut growth: Vec<f64> = (0..800).map(|at| -1.0 - loses(at)).collect();
                let mut begin = 0.0;
                while begin < 800.0 {
                    let this = length * (0.97 + 0.06 * stream.unit());
                    // Regained evenly, in the last third.
                    for part in 0..20 {
                        let at = begin + this * (2.0 / 3.0 + f64::from(part) / 60.0);
                        if let Some(growth) = growth.get_mut(at as usize) {
                            *growth += this / 20.0;
                        }
                    }
                    begin += this;
                }
                let space = Space { used: &used, growth: &growth };
                let found = Cycles::find(&flat(800), space);
                assert_eq!(found.length, None, "{length} with {lost}");
                assert_eq!(found.count, Some(space.turns()));
                if lost == 0.0 {
                    assert!(found.count.is_some_and(|count| count > 0.5 * 800.0 / length));
                }
            }
        }
    }

    /// Bursts of 8 intervals while collection comes after 60 to 120: only a longer cycle of the
    /// figure is one that batches can hold.
    #[test]
    fn a_figure_that_repeats_makes_no_regular_collection() {
        let (mut used, mut growth) = (Vec::new(), Vec::new());
        for length in [60, 130, 40, 110, 80, 50, 120] {
            for at in 1..=length {
                used.push(60.0 / f64::from(length));
                growth.push(if at == length { 60.0 } else { 0.0 } - 60.0 / f64::from(length));
            }
        }
        let of = |length: usize| {
            let burst = |at: usize| if at % length < length / 4 { 9.0 } else { 1.0 };
            let sums: Vec<_> =
                (0..used.len()).map(|at| Sums { total: burst(at), count: 1.0 }).collect();
            Found::new(&sums, Space { used: &used, growth: &growth })
        };
        let (short, long) = (of(8), of(120));
        assert!(!short.collects_regularly && !long.collects_regularly);
        assert_eq!(short.cycles.length, None);
        assert!(short.of_figure.is_some_and(|length| (length - 8.0).abs() < 0.1));
        assert!(long.cycles.length.is_some_and(|length| (length - 120.0).abs() < 1.0), "{long:?}");
    }

    #[test]
    fn reads_alone_have_no_cycles() {
        let zeros = [0.0; 60];
        let found = Cycles::find(&flat(60), Space { used: &zeros, growth: &zeros });
        assert_eq!(found, Cycles { count: None, length: None });
    }

    #[test]
    fn what_repeats_in_the_figure_itself_is_a_cycle() {
        // Bursts of 10 places in 37, without any use of space.
        let zeros = [0.0; 500];
        let sums: Vec<_> = (0..500)
            .map(|at| Sums { total: if at % 37 < 10 { 9.0 } else { 1.0 }, count: 1.0 })
            .collect();
        let found = Cycles::find(&sums, Space { used: &zeros, growth: &zeros });
        let length = found.length.expect("it repeats");
        assert!((length - 37.0).abs() < 0.1, "{length}");
        assert_eq!(found.count, None);
    }

    #[test]
    fn independent_values_do_not_repeat() {
        let streams = Streams::new(floor::seed(71));
        let of = |run: usize| {
            let mut stream = streams.stream(&format!("run {run}"));
            let values: Vec<f64> = (0..200).map(|_| stream.unit()).collect();
            period(&values).is_some()
        };
        assert_eq!((0..200).filter(|run| of(*run)).count(), 0);
    }

    #[test]
    fn constants_and_lines_do_not_repeat() {
        assert_eq!(period(&[]), None);
        assert_eq!(period(&[4.0; 100]), None);
        let line: Vec<f64> = (0..100).map(f64::from).collect();
        assert_eq!(period(&line), None);
    }
}
