//! Has the run settled? A drive begins in a state that its workload did not
//! make, and what it does until then says nothing about later. Given the means
//! of equal windows, two independent rules answer:
//!
//! - MSER-5 finds *where* the settled part begins: it cuts where the mean of the
//!   rest is known best. Cutting a bias away sharpens that mean, cutting more
//!   than that blurs it (White, An effective truncation heuristic for bias
//!   reduction in simulation output, Simulation 69(6), 1997; on batches of five:
//!   White, Cobb and Spratt, A comparison of five steady-state truncation
//!   heuristics for simulation, Winter Simulation Conference 2000).
//! - The measurement window of the SNIA specification, which people who test
//!   real drives use, says *whether* the last five windows are flat.

use std::fmt;

/// Windows to a batch; the 5 of MSER-5.
const BATCH: usize = 5;

/// The last five cuts are not tried: of so few batches some are alike by chance,
/// and the rule would take them for a very well known mean (Hoad, Robinson and
/// Davies, Automating warm-up length estimation, Journal of the Operational
/// Research Society 61, 2010).
const BATCHES_KEPT: usize = 5;

/// With fewer batches there would be no cut in the second half to be found.
const BATCHES_MIN: usize = 2 * BATCHES_KEPT;

/// Windows in the SNIA measurement window.
const PTS_WINDOWS: usize = 5;

/// Whether a series has settled.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Verdict {
    /// It has, from this window on.
    Steady {
        /// The first settled window.
        from: usize,
    },
    /// It has not, or too little was seen to say so.
    NotReached {
        /// Why not.
        reason: Reason,
    },
}

/// Why a series is not said to have settled.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Reason {
    /// The rule needs more windows.
    TooFewWindows {
        /// How many there are.
        windows: usize,
        /// How many it takes.
        needed: usize,
    },
    /// A window has no finite mean.
    Undefined {
        /// The first such window.
        window: usize,
    },
    /// The best cut lies in the second half: what remains is not much longer than
    /// the settling, and may be settling still.
    StillSettling {
        /// The best cut.
        from: usize,
    },
    /// The last five windows lie too far apart.
    Spread {
        /// Greatest minus least, as a share of the mean.
        share: f64,
    },
    /// The last five windows rise or fall.
    Trend {
        /// What the fitted line rises or falls by, as a share of the mean.
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
                    "the last {PTS_WINDOWS} windows spread over {:.0} % of their mean",
                    share * 100.0
                )
            }
            Self::Trend { share } => {
                write!(
                    out,
                    "the last {PTS_WINDOWS} windows change by {:.0} % of their mean",
                    share * 100.0
                )
            }
        }
    }
}

/// Where MSER-5 cuts `windows`, as the index of the first window that is kept (a
/// multiple of five). On ties the earliest cut is taken. `None` with fewer than
/// 50 windows. All windows must be finite. Up to four windows at the end, which
/// fill no batch, are not looked at.
pub fn mser5(windows: &[f64]) -> Option<usize> {
    let batches: Vec<f64> =
        windows.chunks_exact(BATCH).map(|batch| batch.iter().sum::<f64>() / BATCH as f64).collect();
    if batches.len() < BATCHES_MIN {
        return None;
    }
    // From the back, so that one pass with running moments (Welford) does for all
    // cuts: the statistic of a cut is the squared error of the mean of the rest,
    // up to a factor: the sum of squared deviations over the squared count.
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

/// Whether `windows` have settled by [`mser5`], and from which window on: a cut in
/// the second half counts as not reached, as its authors advise.
pub fn steady_state(windows: &[f64]) -> Verdict {
    if let Some(reason) = undefined(windows) {
        return Verdict::NotReached { reason };
    }
    let Some(from) = mser5(windows) else {
        let reason = Reason::TooFewWindows { windows: windows.len(), needed: BATCHES_MIN * BATCH };
        return Verdict::NotReached { reason };
    };
    if 2 * from >= windows.len() / BATCH * BATCH {
        return Verdict::NotReached { reason: Reason::StillSettling { from } };
    }
    Verdict::Steady { from }
}

/// Whether the last five `windows` are flat by the definition of steady state in
/// the SNIA Solid State Storage Performance Test Specification 2.0: their range is
/// at most 20 % of their mean, and the line fitted to them by least squares rises
/// or falls by at most 10 % of their mean from the first to the last.
///
/// The specification applies it to throughput and latency in rounds of a minute,
/// with all caches flushed and the drive preconditioned as it says; here it is
/// applied to any series, write amplification above all, so a verdict is like that
/// of the specification and no certificate of it.
pub fn pts_steady(windows: &[f64]) -> Verdict {
    let Some(from) = windows.len().checked_sub(PTS_WINDOWS) else {
        let reason = Reason::TooFewWindows { windows: windows.len(), needed: PTS_WINDOWS };
        return Verdict::NotReached { reason };
    };
    let last = &windows[from..];
    if let Some(reason) = undefined(windows) {
        return Verdict::NotReached { reason };
    }
    let mean = last.iter().sum::<f64>() / PTS_WINDOWS as f64;
    let greatest = last.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let least = last.iter().copied().fold(f64::INFINITY, f64::min);
    // Places from -2 to 2; their squares add up to 10.
    let slope = (0..).zip(last).map(|(place, y)| f64::from(place - 2) * y).sum::<f64>() / 10.0;
    let trend = (slope * (PTS_WINDOWS - 1) as f64).abs();
    let spread = greatest - least;
    // Not divided by the mean: a series of zeroes is flat.
    if spread > 0.20 * mean.abs() {
        return Verdict::NotReached { reason: Reason::Spread { share: spread / mean.abs() } };
    }
    if trend > 0.10 * mean.abs() {
        return Verdict::NotReached { reason: Reason::Trend { share: trend / mean.abs() } };
    }
    Verdict::Steady { from }
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
        #[test]
        fn the_cut_is_that_of_the_printed_rule(
            windows in prop::collection::vec(0.0f64..10.0, 50..200),
        ) {
            prop_assert_eq!(mser5(&windows).unwrap(), mser5_as_printed(&windows));
        }
    }

    fn noise(count: usize) -> Vec<f64> {
        let mut stream = Streams::new(13).stream("noise");
        (0..count).map(|_| stream.unit() - 0.5).collect()
    }

    #[test]
    fn a_settled_series_is_kept_whole() {
        assert_eq!(steady_state(&[3.0; 60]), Verdict::Steady { from: 0 });
        let Verdict::Steady { from } = steady_state(&noise(1_000)) else {
            panic!("noise is steady")
        };
        // How much noise alone may cut: no more than a quarter.
        assert!(from < 250, "cut at {from}");
    }

    #[test]
    fn a_step_is_cut_where_it_is() {
        // 40 windows at 9, then 160 at 3: the cut is exact, as no batch is mixed.
        let windows: Vec<f64> = (0..200).map(|w| if w < 40 { 9.0 } else { 3.0 }).collect();
        assert_eq!(steady_state(&windows), Verdict::Steady { from: 40 });
    }

    #[test]
    fn a_decay_into_noise_is_cut_where_noise_prevails() {
        // Write amplification that climbs to 4 with a time constant of 20 windows:
        // after 20 * ln(3 / 0.1) = 68 windows it is within the noise's 0.1.
        let climb = |w: usize| 4.0 - 3.0 * libm::exp(-(w as f64) / 20.0);
        let windows: Vec<f64> =
            noise(400).iter().enumerate().map(|(w, n)| climb(w) + 0.2 * n).collect();
        let Verdict::Steady { from } = steady_state(&windows) else { panic!("it settles") };
        assert!((40..=120).contains(&from), "cut at {from}");
    }

    #[test]
    fn what_keeps_climbing_has_not_settled() {
        let ramp: Vec<f64> = (0..200).map(f64::from).collect();
        // The last cut that is tried: five batches, 25 windows, remain.
        assert_eq!(
            steady_state(&ramp),
            Verdict::NotReached { reason: Reason::StillSettling { from: 175 } }
        );
        let late_step: Vec<f64> = (0..200).map(|w| if w < 100 { 9.0 } else { 3.0 }).collect();
        assert_eq!(
            steady_state(&late_step),
            Verdict::NotReached { reason: Reason::StillSettling { from: 100 } }
        );
        let shortest: Vec<f64> = (0..50).map(f64::from).collect();
        assert!(matches!(steady_state(&shortest), Verdict::NotReached { .. }));
    }

    #[test]
    fn too_little_or_undefined_is_not_settled() {
        let reason = Reason::TooFewWindows { windows: 49, needed: 50 };
        assert_eq!(steady_state(&[1.0; 49]), Verdict::NotReached { reason });
        let mut windows = [1.0; 50];
        windows[7] = f64::NAN;
        let reason = Reason::Undefined { window: 7 };
        assert_eq!(steady_state(&windows), Verdict::NotReached { reason });
        assert_eq!(pts_steady(&windows), Verdict::NotReached { reason });
    }

    #[test]
    fn the_measurement_window_is_the_last_five() {
        let flat = [500.0, 1.0, 100.0, 110.0, 90.0, 110.0, 90.0];
        // Range 20 of mean 100, on the bound; slope (-2*100 - 110 + 110 + 2*90)/10
        // = -2, over four steps 8.
        assert_eq!(pts_steady(&flat), Verdict::Steady { from: 2 });
    }

    #[test]
    fn the_measurement_window_refuses_spread_and_trend() {
        // Range 21 of mean 100.
        let spread = [100.0, 110.5, 89.5, 110.5, 89.5];
        let reason = Reason::Spread { share: 0.21 };
        assert_eq!(pts_steady(&spread), Verdict::NotReached { reason });
        // A line that rises by 12 about 100: range 12, trend 12.
        let trend = [94.0, 97.0, 100.0, 103.0, 106.0];
        let reason = Reason::Trend { share: 0.12 };
        assert_eq!(pts_steady(&trend), Verdict::NotReached { reason });
        let gentle = [95.0, 97.5, 100.0, 102.5, 105.0];
        assert_eq!(pts_steady(&gentle), Verdict::Steady { from: 0 });
    }

    #[test]
    fn the_measurement_window_knows_few_windows_and_zeroes() {
        let reason = Reason::TooFewWindows { windows: 4, needed: 5 };
        assert_eq!(pts_steady(&[1.0; 4]), Verdict::NotReached { reason });
        assert_eq!(pts_steady(&[0.0; 5]), Verdict::Steady { from: 0 });
    }

    #[test]
    fn a_reason_reads_as_a_sentence() {
        assert_eq!(
            Reason::Spread { share: 0.214 }.to_string(),
            "the last 5 windows spread over 21 % of their mean"
        );
    }
}
