//! Arrivals of requests: by a process of their own (open loop), or some time after a place in the
//! queue became free (closed loop).

use crate::bursts::Bursts;
use crate::config::{ArrivalProcess, Phase, ThinkConfig, WorkloadConfig};
use crate::request::Issue;
use engine::{Span, Stream, Streams};

/// A stream of issue times.
#[derive(Clone, Debug)]
pub struct Arrivals {
    stream: Stream,
    process: Process,
}

#[derive(Clone, Debug)]
enum Process {
    /// `gap` and `mean_gap` are in nanoseconds; `start` since the start of the run.
    Open {
        gaps: ArrivalProcess,
        mean_gap: f64,
        clock: Clock,
        start: u64,
        bursts: Option<Bursts>,
    },
    ThinkFixed(Span),
    ThinkExponential {
        mean: f64,
    },
}

/// A sum of fractional gaps without drift: whole nanoseconds, and a fraction below one that never
/// loses bits to a large sum.
#[derive(Clone, Copy, Debug)]
struct Clock {
    whole: u64,
    fraction: f64,
}

impl Clock {
    /// Advances by `ns` and returns the whole nanoseconds.
    #[inline]
    fn advance(&mut self, ns: f64) -> u64 {
        let sum = self.fraction + ns;
        let whole = sum as u64;
        // A clock at its end stays there; no run is that long.
        self.whole = self.whole.saturating_add(whole);
        self.fraction = sum - whole as f64;
        self.whole
    }
}

impl Arrivals {
    /// The arrivals of `config`, with random numbers from `streams`.
    pub fn new(config: &WorkloadConfig, streams: Streams) -> Self {
        let stream = |what: &str| streams.stream(&format!("workload.{}.{what}", config.name));
        Self { stream: stream("arrivals"), process: Process::new(config, stream("phase")) }
    }

    /// Issue time of the next request.
    #[inline]
    pub fn next(&mut self) -> Issue {
        match &mut self.process {
            Process::ThinkFixed(span) => Issue::After(*span),
            Process::ThinkExponential { mean } => {
                let ns = self.stream.exponential(*mean).round();
                Issue::After(Span::from_ns(ns as u64))
            }
            Process::Open { gaps, mean_gap, clock, start, bursts } => {
                let at = match gaps {
                    ArrivalProcess::Constant => {
                        let now = clock.whole;
                        clock.advance(*mean_gap);
                        now
                    }
                    ArrivalProcess::Poisson => clock.advance(self.stream.exponential(*mean_gap)),
                    ArrivalProcess::Uniform => clock.advance(self.stream.unit() * 2.0 * *mean_gap),
                };
                let at = bursts.map_or(at, |bursts| bursts.stretch(at));
                Issue::At(Span::from_ns(start.saturating_add(at)))
            }
        }
    }
}

impl Process {
    fn new(config: &WorkloadConfig, mut phase: Stream) -> Self {
        if let Some(arrivals) = &config.arrivals {
            let mean_gap = 1e9 / arrivals.rate.per_second();
            let mut clock = Clock { whole: 0, fraction: 0.0 };
            if arrivals.phase == Some(Phase::Random) {
                clock.advance(phase.unit() * mean_gap);
            }
            return Self::Open {
                gaps: arrivals.process,
                mean_gap,
                clock,
                start: config.start.map_or(0, |start| start.span().as_ns()),
                bursts: config.bursts.as_ref().map(Bursts::new),
            };
        }
        match &config.think_time {
            None => Self::ThinkFixed(Span::ZERO),
            Some(ThinkConfig::Fixed(time)) => Self::ThinkFixed(time.span()),
            Some(ThinkConfig::Exponential(config)) => {
                Self::ThinkExponential { mean: config.mean.span().as_ns() as f64 }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{ArrivalConfig, BurstConfig, ExponentialTime};
    use settings::Frequency;

    fn open(process: ArrivalProcess, per_second: u64) -> WorkloadConfig {
        let rate = Frequency::from_per_second(per_second);
        WorkloadConfig {
            arrivals: Some(ArrivalConfig { process, rate, phase: None }),
            ..WorkloadConfig::default()
        }
    }

    fn moments(config: &WorkloadConfig, count: usize) -> Vec<u64> {
        let mut arrivals = Arrivals::new(config, Streams::new(floor::seed(41)));
        let at = |issue| match issue {
            Issue::At(span) | Issue::After(span) => span.as_ns(),
        };
        (0..count).map(|_| at(arrivals.next())).collect()
    }

    /// Mean and standard deviation of the gaps, in units of the mean gap.
    fn gaps(process: ArrivalProcess) -> (f64, f64) {
        let moments = moments(&open(process, 2_000), 200_001);
        let gaps: Vec<f64> = moments.windows(2).map(|w| (w[1] - w[0]) as f64 / 5e5).collect();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        let square = gaps.iter().map(|gap| (gap - mean) * (gap - mean)).sum::<f64>();
        (mean, libm::sqrt(square / gaps.len() as f64))
    }

    #[test]
    fn gaps_have_the_mean_and_the_spread_of_their_process() {
        // Four standard errors of 200,000 gaps, and ample room for the spread.
        for (process, sigma) in [
            (ArrivalProcess::Constant, 0.0),
            (ArrivalProcess::Poisson, 1.0),
            (ArrivalProcess::Uniform, 1.0 / libm::sqrt(3.0)),
        ] {
            let (mean, spread) = gaps(process);
            println!("seed 41, {process:?}: mean {mean}, spread {spread} ({sigma})");
            assert!((mean - 1.0).abs() <= 4.0 * sigma / 447.2);
            assert!((spread - sigma).abs() <= 0.02);
        }
    }

    #[test]
    fn a_gap_that_is_no_whole_number_does_not_drift() {
        let moments = moments(&open(ArrivalProcess::Constant, 3), 3_000_001);
        assert_eq!(moments[0], 0);
        assert!(moments[3_000_000].abs_diff(1_000_000_000_000_000) <= 1);
    }

    #[test]
    fn a_random_phase_is_uniform_over_a_gap_and_keeps_the_gaps() {
        let mut config = open(ArrivalProcess::Constant, 2_000);
        config.arrivals.as_mut().unwrap().phase = Some(Phase::Random);
        let mut sum = 0.0;
        for seed in 0..1_000 {
            let mut arrivals = Arrivals::new(&config, Streams::new(seed));
            let [first, second] = [arrivals.next(), arrivals.next()].map(|issue| match issue {
                Issue::At(span) => span.as_ns(),
                Issue::After(_) => panic!("an open loop issues at a time"),
            });
            assert!(first < 500_000, "seed {seed}: {first}");
            assert_eq!(second - first, 500_000, "seed {seed}");
            sum += first as f64;
        }
        // The mean of 1,000 uniform draws: 250 us, with a standard error of 500 / sqrt(12,000) us.
        assert!((sum / 1e3 - 250_000.0).abs() < 4.0 * 4_564.0, "{sum}");
    }

    #[test]
    fn arrivals_come_in_the_on_phases_at_the_full_rate() {
        let mut config = open(ArrivalProcess::Constant, 1_000_000);
        let (on, off) = (Span::from_us(2).into(), Span::from_us(8).into());
        config.bursts = Some(BurstConfig { on, off });
        config.start = Some(Span::from_us(100).into());
        let expected = [100_000, 101_000, 110_000, 111_000, 120_000];
        assert_eq!(moments(&config, 5), expected);
    }

    #[test]
    fn thinking_takes_its_mean() {
        let mean = Span::from_us(100).into();
        let think_time = Some(ThinkConfig::Exponential(ExponentialTime { mean }));
        let config = WorkloadConfig { think_time, ..WorkloadConfig::default() };
        let times = moments(&config, 100_000);
        let mean = times.iter().sum::<u64>() as f64 / 1e5;
        assert!((mean - 1e5).abs() < 4.0 * 1e5 / 316.2, "seed 41: {mean}");
    }
}
