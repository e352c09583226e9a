//! Steady state. A drive begins in a state that does not come from its workload, and the time
//! until it settles says nothing about the time after. Two rules detect the steady state, one
//! after the other:
//!
//! - MSER-5 finds the *beginning* of a steady part: it cuts at the point after which the mean is
//!   known best. Cutting a bias away sharpens the mean, cutting more blurs it (White, An
//!   effective truncation heuristic for bias reduction in simulation output, Simulation 69(6),
//!   1997; on batches of five: White, Cobb and Spratt, A comparison of five steady-state
//!   truncation heuristics for simulation, Winter Simulation Conference 2000).
//! - MSER-5 assumes that the end is steady: if the last windows are out of line, every cut blurs
//!   the mean, and it cuts nothing. So the rest must also be flat: its fifths must meet the rule
//!   by which testers of real drives accept five rounds (the measurement window of the SNIA
//!   specification).

use std::fmt;

/// Windows per batch; the 5 of MSER-5.
const BATCH: usize = 5;

/// Cuts at the end that are not tried, because a few batches may be alike by chance, and the rule
/// would take their mean for very well known (Hoad, Robinson and Davies, Automating warm-up
/// length estimation, Journal of the Operational Research Society 61, 2010).
const BATCHES_KEPT: usize = 5;

/// Fewest batches; with fewer no cut could lie in the second half.
const BATCHES_MIN: usize = 2 * BATCHES_KEPT;

/// Rounds in the SNIA measurement window.
const ROUNDS: usize = 5;

/// Measurement over a stretch of time: the mean is `total / count`, and stretches are joined by
/// adding both.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Window {
    /// A total, such as the sum of latencies.
    pub total: f64,
    /// A count, such as the number of requests.
    pub count: f64,
}

impl Window {
    fn mean(self) -> f64 {
        self.total / self.count
    }
}

/// Verdict on the steady state of a series.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Verdict {
    /// The series is steady from this window on.
    Steady {
        /// The first steady window.
        from: usize,
    },
    /// The series is not steady, or too short to tell.
    NotReached {
        /// The reason.
        reason: Reason,
    },
}

/// Reason why a series is not called steady.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Reason {
    /// The rule needs more windows.
    TooFewWindows {
        /// Number of windows.
        windows: usize,
        /// Number of windows needed.
        needed: usize,
    },
    /// A window has no finite mean.
    Undefined {
        /// The first such window.
        window: usize,
    },
    /// The best cut lies in the second half: the rest is not much longer than the settling, and
    /// may still be settling.
    StillSettling {
        /// The best cut.
        from: usize,
    },
    /// The fifths of the rest after the best cut lie too far apart.
    Spread {
        /// Greatest minus least, as a share of their mean.
        share: f64,
    },
    /// The fifths of the rest after the best cut rise or fall.
    Trend {
        /// Rise or fall of the fitted line, as a share of their mean.
        share: f64,
    },
}

impl fmt::Display for Reason {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::TooFewWindows { windows, needed } => {
                write!(out, "only {windows} windows were seen and {needed} are needed")
            }
            Self::Undefined { window } => write!(out, "window {window} has no finite mean"),
            Self::StillSettling { from } => {
                write!(
                    out,
                    "it may be settling still: the best cut, at window {from}, lies in the second half"
                )
            }
            Self::Spread { share } => {
                write!(
                    out,
                    "its mean over {ROUNDS} equal stretches of time spreads by {:.0} %",
                    share * 100.0
                )
            }
            Self::Trend { share } => {
                write!(
                    out,
                    "its mean over {ROUNDS} equal stretches of time rises or falls by {:.0} %",
                    share * 100.0
                )
            }
        }
    }
}

/// Cut of MSER-5 in `windows`, as the index of the first window that is kept (a multiple of
/// five). On ties the earliest cut is taken. `None` with fewer than 50 windows. All windows must
/// be finite. Up to four windows at the end, which fill no batch, are ignored.
pub fn mser5(windows: &[f64]) -> Option<usize> {
    let batches: Vec<f64> =
        windows.chunks_exact(BATCH).map(|batch| batch.iter().sum::<f64>() / BATCH as f64).collect();
    if batches.len() < BATCHES_MIN {
        return None;
    }
    // Backwards, so that one pass with running moments (Welford) computes all cuts. The statistic
    // of a cut is, up to a factor, the squared error of the mean of the rest: the sum of squared
    // deviations over the squared count.
    let (mut mean, mut deviations) = (0.0, 0.0);
    let (mut best, mut best_cut) = (f64::INFINITY, 0);
    for (cut, batch) in batches.iter().enumerate().rev() {
        let kept = (batches.len() - cut) as f64;
        let before = batch - mean;
        mean += before / kept;
        deviations += before * (batch - mean);
        let statistic = deviations / (kept * kept);
        if batches.len() - cut >= BATCHES_KEPT && statistic <= best {
            (best, best_cut) = (statistic, cut);
        }
    }
    Some(best_cut * BATCH)
}

/// Tests if `windows` are steady, and from which window on. They are steady from the cut of
/// [`mser5`] if the cut lies in the first half (a later cut counts as none, as the authors of the
/// rule advise) and the rest is flat.
pub fn steady_state(windows: &[Window]) -> Verdict {
    let means: Vec<f64> = windows.iter().map(|window| window.mean()).collect();
    if let Some(reason) = undefined(&means) {
        return Verdict::NotReached { reason };
    }
    let Some(from) = mser5(&means) else {
        let reason = Reason::TooFewWindows { windows: windows.len(), needed: BATCHES_MIN * BATCH };
        return Verdict::NotReached { reason };
    };
    if 2 * from >= windows.len() / BATCH * BATCH {
        return Verdict::NotReached { reason: Reason::StillSettling { from } };
    }
    match unevenness(&rounds(&windows[from..])) {
        Some(reason) => Verdict::NotReached { reason },
        None => Verdict::Steady { from },
    }
}

/// The means of the fifths of `windows`.
fn rounds(windows: &[Window]) -> [f64; ROUNDS] {
    std::array::from_fn(|round| {
        let bound = |round: usize| round * windows.len() / ROUNDS;
        let of_round = &windows[bound(round)..bound(round + 1)];
        let add =
            |a: Window, b: &Window| Window { total: a.total + b.total, count: a.count + b.count };
        of_round.iter().fold(Window { total: 0.0, count: 0.0 }, add).mean()
    })
}

/// Violation of steady state by rounds, as defined in the SNIA Solid State Storage Performance
/// Test Specification 2.0: their range must be at most 20 % of their mean, and the line fitted to
/// them by least squares must rise or fall by at most 10 % of their mean from the first to the
/// last.
///
/// The specification applies this to throughput and latency in rounds of a minute, with all
/// caches flushed and the drive preconditioned as it prescribes. Here rounds are as long as the
/// run allows, so a verdict resembles that of the specification but is no certificate of it.
fn unevenness(rounds: &[f64; ROUNDS]) -> Option<Reason> {
    let mean = rounds.iter().sum::<f64>() / ROUNDS as f64;
    let greatest = rounds.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let least = rounds.iter().copied().fold(f64::INFINITY, f64::min);
    // Places from -2 to 2; their squares add up to 10.
    let slope = (0..).zip(rounds).map(|(place, y)| f64::from(place - 2) * y).sum::<f64>() / 10.0;
    let trend = (slope * (ROUNDS - 1) as f64).abs();
    let spread = greatest - least;
    // Not divided by the mean: a series of zeroes is flat.
    if spread > 0.20 * mean.abs() {
        return Some(Reason::Spread { share: spread / mean.abs() });
    }
    (trend > 0.10 * mean.abs()).then(|| Reason::Trend { share: trend / mean.abs() })
}

fn undefined(windows: &[f64]) -> Option<Reason> {
    let window = windows.iter().position(|mean| !mean.is_finite())?;
    Some(Reason::Undefined { window })
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::Streams;
    use proptest::prelude::*;

    /// The rule as its authors print it: for each cut, the mean and the squared
    /// deviations of what is left, anew.
    fn mser5_as_printed(windows: &[f64]) -> usize {
        let batches: Vec<f64> =
            windows.chunks_exact(5).map(|batch| batch.iter().sum::<f64>() / 5.0).collect();
        let statistic = |cut: usize| {
            let kept = &batches[cut..];
            let count = kept.len() as f64;
            let mean = kept.iter().sum::<f64>() / count;
            kept.iter().map(|y| (y - mean) * (y - mean)).sum::<f64>() / (count * count)
        };
        let cuts = 0..=batches.len() - 5;
        5 * cuts.min_by(|a, b| statistic(*a).total_cmp(&statistic(*b))).unwrap()
    }

    proptest! {
        #![proptest_config(floor::cases!())]

        #[test]
        fn the_cut_is_that_of_the_printed_rule(
            windows in prop::collection::vec(0.0f64..10.0, 50..200),
        ) {
            prop_assert_eq!(mser5(&windows).unwrap(), mser5_as_printed(&windows));
        }
    }

    /// Noise about 10, each window as heavy as the other.
    fn noise(count: usize) -> Vec<f64> {
        let mut stream = Streams::new(floor::seed(13)).stream("noise");
        (0..count).map(|_| 9.5 + stream.unit()).collect()
    }

    fn judged(means: &[f64]) -> Verdict {
        let windows: Vec<_> = means.iter().map(|m| Window { total: 4.0 * m, count: 4.0 }).collect();
        steady_state(&windows)
    }

    #[test]
    fn a_settled_series_is_kept_whole() {
        assert_eq!(judged(&[3.0; 60]), Verdict::Steady { from: 0 });
        assert_eq!(judged(&[0.0; 60]), Verdict::Steady { from: 0 });
        let Verdict::Steady { from } = judged(&noise(1_000)) else { panic!("noise is steady") };
        // How much noise alone may cut: no more than a quarter.
        assert!(from < 250, "cut at {from}");
    }

    #[test]
    fn a_step_is_cut_where_it_is() {
        // 40 windows at 9, then 160 at 3: the cut is exact, as no batch is mixed.
        let windows: Vec<f64> = (0..200).map(|w| if w < 40 { 9.0 } else { 3.0 }).collect();
        assert_eq!(judged(&windows), Verdict::Steady { from: 40 });
    }

    #[test]
    fn a_decay_into_noise_is_cut_where_noise_prevails() {
        // Write amplification that climbs to 4 with a time constant of 20 windows:
        // after 20 * ln(3 / 0.1) = 68 windows it is within the noise's 0.1.
        let climb = |w: usize| 4.0 - 3.0 * libm::exp(-(w as f64) / 20.0);
        let windows: Vec<f64> =
            noise(400).iter().enumerate().map(|(w, n)| climb(w) + 0.2 * (n - 10.0)).collect();
        let Verdict::Steady { from } = judged(&windows) else { panic!("it settles") };
        assert!((40..=120).contains(&from), "cut at {from}");
    }

    #[test]
    fn what_keeps_climbing_has_not_settled() {
        let ramp: Vec<f64> = (0..200).map(f64::from).collect();
        // The last cut that is tried: five batches, 25 windows, remain.
        assert_eq!(
            judged(&ramp),
            Verdict::NotReached { reason: Reason::StillSettling { from: 175 } }
        );
        let late_step: Vec<f64> = (0..200).map(|w| if w < 100 { 9.0 } else { 3.0 }).collect();
        assert_eq!(
            judged(&late_step),
            Verdict::NotReached { reason: Reason::StillSettling { from: 100 } }
        );
        let shortest: Vec<f64> = (0..50).map(f64::from).collect();
        assert!(matches!(judged(&shortest), Verdict::NotReached { .. }));
    }

    #[test]
    fn an_end_that_is_out_of_line_has_not_settled() {
        // A buffer that overflows at last: 190 windows at 1, then 10 at 1000. Every
        // cut blurs the mean of the rest, so MSER-5 alone keeps all. Fifths of 1, 1,
        // 1, 1 and (30 + 10000) / 40 = 250.75 spread over 249.75 of a mean of 50.95.
        let overflow: Vec<f64> = (0..200).map(|w| if w < 190 { 1.0 } else { 1000.0 }).collect();
        assert_eq!(mser5(&overflow), Some(0));
        let Verdict::NotReached { reason: Reason::Spread { share } } = judged(&overflow) else {
            panic!("its end is out of line")
        };
        assert!((share - 249.75 / 50.95).abs() < 1e-9, "{share}");
    }

    #[test]
    fn a_drift_within_noise_has_not_settled() {
        // From 10 to 12 under noise of half: the spread is within a fifth.
        let drift: Vec<f64> =
            noise(200).iter().enumerate().map(|(w, n)| n + 2.0 * w as f64 / 200.0).collect();
        assert!(
            matches!(
                judged(&drift),
                Verdict::NotReached { reason: Reason::Trend { .. } | Reason::StillSettling { .. } }
            ),
            "{:?}",
            judged(&drift)
        );
    }

    #[test]
    fn windows_weigh_what_they_counted() {
        // Every fifth window has one slow request where others have 99 fast ones:
        // by requests the mean is the same everywhere, wherever the slow ones lie.
        let window = |slow: bool| match slow {
            true => Window { total: 50.0, count: 1.0 },
            false => Window { total: 99.0, count: 99.0 },
        };
        // In the first half each fifth, in the second each tenth.
        let windows: Vec<_> =
            (0..200).map(|w| window(w % if w < 100 { 5 } else { 10 } == 0)).collect();
        assert_eq!(steady_state(&windows), Verdict::Steady { from: 0 });
    }

    #[test]
    fn too_little_or_undefined_is_not_settled() {
        let reason = Reason::TooFewWindows { windows: 49, needed: 50 };
        assert_eq!(judged(&[1.0; 49]), Verdict::NotReached { reason });
        let mut windows = [1.0; 50];
        windows[7] = f64::NAN;
        let reason = Reason::Undefined { window: 7 };
        assert_eq!(judged(&windows), Verdict::NotReached { reason });
    }

    #[test]
    fn rounds_are_fifths_by_what_they_counted() {
        let windows: Vec<_> =
            (0..12).map(|w| Window { total: f64::from(w), count: f64::from(w % 2 + 1) }).collect();
        // 0 1 | 2 3 | 4 5 6 | 7 8 | 9 10 11, with counts 1 2 1 2 …
        assert_eq!(rounds(&windows), [1.0 / 3.0, 5.0 / 3.0, 15.0 / 4.0, 15.0 / 3.0, 30.0 / 5.0]);
    }

    #[test]
    fn rounds_may_not_spread_or_drift() {
        // Range 20 of mean 100, on the bound; slope (-2*100 - 110 + 110 + 2*90)/10
        // = -2, over four steps 8.
        assert_eq!(unevenness(&[100.0, 110.0, 90.0, 110.0, 90.0]), None);
        // Range 21 of mean 100.
        let spread = [100.0, 110.5, 89.5, 110.5, 89.5];
        assert_eq!(unevenness(&spread), Some(Reason::Spread { share: 0.21 }));
        // A line that rises by 12 about 100: range 12, trend 12.
        let trend = [94.0, 97.0, 100.0, 103.0, 106.0];
        assert_eq!(unevenness(&trend), Some(Reason::Trend { share: 0.12 }));
        assert_eq!(unevenness(&[95.0, 97.5, 100.0, 102.5, 105.0]), None);
        assert_eq!(unevenness(&[0.0; 5]), None);
    }

    #[test]
    fn a_reason_reads_as_a_sentence() {
        assert_eq!(
            Reason::Spread { share: 0.214 }.to_string(),
            "its mean over 5 equal stretches of time spreads by 21 %"
        );
    }
}
