//! Verdicts on the steady state of a run, its cycles, and intervals of means.

use super::duration::duration;
use super::recovery::cuts_between;
use crate::measure::{LEAST_TIME, Measured, Observed};
use crate::run::Run;
use engine::{Instant, Span};
use ftl::Layout;
use host::Kind;
use metrics::{
    COUNT_MIN, CYCLES_AFTER_CUT, CYCLES_MIN, Course, Cycles, Estimate, Reason, Space, Sums, Values,
    Verdict, estimate, steady_state,
};
use serde_json::{Value, json};
use settings::{counted, each};

/// Cycles of collection that a run should have beside those that a verdict needs: a part of one at each
/// end.
const CYCLES_MORE: f64 = 1.0;

/// Factor by which the mean latency of the last third of a run exceeds that of the first if it rises;
/// with too few cycles also that of the second third, and this that of the first.
const RISE: f64 = 1.2;

/// The steady state of a run.
pub struct Steadiness<'a> {
    observed: Option<&'a Observed>,
    latency: Verdict,
    amplification: Verdict,
    /// Cycles since latency was steady, or of all that was counted if it is not known to be.
    cycles: Cycles,
    from: usize,
    initiators: usize,
    /// Units of the blocks that are free at the end.
    free_units: u64,
    /// Power cuts, in words.
    cuts: Option<String>,
}

/// A figure of which a verdict tells.
#[derive(Clone, Copy)]
struct Figure {
    /// Samples of it.
    samples: fn(&Observed, usize) -> Vec<Sums>,
    name: &'static str,
    /// Said if there are no samples.
    without: &'static str,
    shown: fn(f64) -> String,
}

const LATENCY: Figure = Figure {
    samples: Observed::reads_and_writes,
    name: "request",
    without: "no reads or writes were counted",
    shown: duration,
};
const AMPLIFICATION: Figure = Figure {
    samples: |observed, _| observed.amplification(),
    name: "mapping unit",
    without: "nothing was programmed for hosts in the counted time",
    shown: |ratio| format!("{ratio:.2}"),
};

/// The verdicts of an untimed run.
pub fn untimed() -> Value {
    let verdict = json!({
        "reached": false,
        "from_ns": null,
        "reason": "the run took no time",
        "needed_ns": null,
    });
    json!({ "latency": verdict, "write_amplification": verdict })
}

impl<'a> Steadiness<'a> {
    /// That of a run whose measuring has ended.
    pub fn of_run(run: &'a Run, layout: &Layout) -> Self {
        let measured = run.measured();
        let end = Instant::START + run.elapsed();
        Self::new(measured, layout, cuts_between(run.outages(), measured.begun_at(), end))
    }

    /// That of one drive or several, with `cuts` of the power in words.
    pub fn new(measured: &'a Measured, layout: &Layout, cuts: Option<String>) -> Self {
        let (observed, initiators) = (measured.observed(), measured.initiators().len());
        let free_units = free_blocks(measured) * u64::from(layout.units_per_block());
        let unknown = || Verdict::NotKnown { reason: Reason::TooShort };
        let nothing = Self {
            observed,
            latency: unknown(),
            amplification: unknown(),
            cycles: Cycles { count: None, length: None },
            from: 0,
            initiators,
            free_units,
            cuts,
        };
        let Some(of) = observed else { return nothing };
        let (used, growth) = (of.used(), of.growth(layout.units_per_block()));
        let space = Space { used: &used, growth: &growth };
        let (requests, programs) = (of.reads_and_writes(initiators), of.amplification());
        let cause = space.is_used().then_some(programs.as_slice());
        let latency = steady_state(Course { figure: &requests, cause, space });
        let amplification = steady_state(Course { figure: &programs, cause: None, space });
        let from = match latency {
            Verdict::Steady { from } => from,
            Verdict::NotKnown { .. } => 0,
        };
        let cycles = Cycles::find(&requests[from..], space.since(from));
        Self { latency, amplification, cycles, from, ..nothing }
    }

    /// The verdicts on mean latency and on write amplification. They mention power cuts in the time
    /// that is not steady.
    pub fn verdicts(&self) -> Value {
        json!({
            "latency": self.verdict(&self.latency, LATENCY),
            "write_amplification": self.verdict(&self.amplification, AMPLIFICATION),
        })
    }

    /// True if latency is not known to be steady, and the mean of the last third of the run exceeds that
    /// of the first by a fifth. With too few cycles a wave may be the reason, so it must rise by that
    /// much from each third to the next.
    pub fn latency_rises(&self) -> bool {
        let Verdict::NotKnown { reason } = &self.latency else { return false };
        let Some(observed) = self.observed else { return false };
        if *reason == Reason::TooShort {
            return false;
        }
        let sums = observed.reads_and_writes(self.initiators);
        let third = sums.len() / 3;
        let mean = |part: &[Sums]| part.iter().copied().sum::<Sums>().mean();
        let [first, second, last] =
            [0, third, sums.len() - third].map(|begin| mean(&sums[begin..begin + third]));
        let is_throughout = second > RISE * first && last > RISE * second;
        last > RISE * first && (is_throughout || !matches!(reason, Reason::TooFewCycles { .. }))
    }

    /// The cycles: their number since latency was steady, and their mean length; null without any, or
    /// if no block was erased.
    pub fn cycles(&self) -> Value {
        let (Some(observed), Some(count)) = (self.observed, self.cycles.count) else {
            return Value::Null;
        };
        if observed.erases().sum::<u64>() == 0 {
            return Value::Null;
        }
        let regular = self.cycles.length.map(|length| length * self.interval(observed));
        json!({
            "count": count,
            "mean_ns": self.span(observed, self.from).as_ns() as f64 / count,
            "regular_ns": regular,
        })
    }

    /// The mean of an initiator's requests of a kind, with its interval.
    pub fn of_requests(&self, initiator: usize, kind: Kind) -> Option<Estimate> {
        self.estimate(&self.observed?.requests(initiator, kind))
    }

    /// The mean of the requests of all initiators, of these kinds.
    pub fn of_all_requests(&self, kinds: &[Kind]) -> Option<Estimate> {
        self.estimate(&self.observed?.requests_of_all(self.initiators, kinds))
    }

    /// With too few cycles the run is not known to be steady, and the interval is that of runs of
    /// this length.
    fn estimate(&self, sums: &[Sums]) -> Option<Estimate> {
        let all = sums.iter().copied().sum();
        let are_enough = self.cycles.count.is_none_or(|count| count >= CYCLES_MIN);
        let cycle = self.cycles.length.filter(|_| are_enough);
        estimate(all, &sums[self.from..], cycle)
    }

    fn span(&self, observed: &Observed, from: usize) -> Span {
        observed.moment(observed.intervals()) - observed.moment(from)
    }

    /// Mean length of an interval in nanoseconds.
    fn interval(&self, observed: &Observed) -> f64 {
        self.span(observed, 0).as_ns() as f64 / observed.intervals() as f64
    }

    fn verdict(&self, verdict: &Verdict, figure: Figure) -> Value {
        let Some(observed) = self.observed else {
            let reason = "nothing was counted";
            return json!({ "reached": false, "from_ns": null, "reason": reason, "needed_ns": null });
        };
        match verdict {
            Verdict::Steady { from } => json!({
                "reached": true,
                "from_ns": observed.moment(*from).as_ns(),
                "reason": null,
                "needed_ns": null,
            }),
            Verdict::NotKnown { reason } => {
                // A power cut is not the reason for too little time.
                let cuts = self.cuts.as_ref().filter(|_| *reason != Reason::TooShort);
                let cuts = cuts.map_or_else(String::new, |cuts| format!(" ({cuts})"));
                json!({
                    "reached": false,
                    "from_ns": null,
                    "reason": self.told(reason, figure, observed) + &cuts,
                    "needed_ns": self.needed(reason, observed).map(Span::as_ns),
                })
            }
        }
    }

    /// A reason in words.
    fn told(&self, reason: &Reason, figure: Figure, observed: &Observed) -> String {
        let shown = figure.shown;
        match reason {
            Reason::TooShort => self.too_short(figure, observed),
            Reason::TooFewCycles { cycles, needed } => self.too_few(*cycles, *needed, observed),
            Reason::Drift { before, after } => {
                let verb = if after > before { "rises" } else { "falls" };
                format!("it {verb} from {} to {}", shown(before.max(0.0)), shown(after.max(0.0)))
            }
            Reason::Step { from, before, after } => {
                let moment = time(observed.moment(*from) - Instant::START);
                format!("it is {} until {moment} and {} after that", shown(*before), shown(*after))
            }
            Reason::Spread { share, batches } => format!(
                "the means of its {batches} cycles differ by {:.0} %, and with so few at most 20 % is \
                 accepted",
                share * 100.0
            ),
            Reason::Cause(reason) => {
                let told = self.told(reason, AMPLIFICATION, observed);
                format!("write amplification changes ({told})")
            }
            Reason::Unproven { whole, from, cycles } => {
                let moment = time(observed.moment(*from) - Instant::START);
                let lack = match cycles {
                    Some(cycles) if *cycles < CYCLES_AFTER_CUT => {
                        format!(
                            "has {} GC cycles, and {CYCLES_AFTER_CUT} are needed to tell",
                            tenths(*cycles)
                        )
                    }
                    _ => "varies too much to tell".into(),
                };
                // The beginning also changes the number of cycles of the whole.
                let whole = match **whole {
                    Reason::TooFewCycles { .. } => String::new(),
                    _ => self.told(whole, figure, observed) + "; ",
                };
                format!("{whole}it may be steady from {moment} on, but the time since then {lack}")
            }
        }
    }

    fn too_short(&self, figure: Figure, observed: &Observed) -> String {
        let sums = (figure.samples)(observed, self.initiators);
        let count = sums.iter().map(|sums| sums.count).sum::<f64>() as u64;
        if count == 0 {
            return figure.without.into();
        }
        format!(
            "only {} {} counted, in {}; at least {COUNT_MIN} are needed, in at least {}",
            counted(count, figure.name),
            each(count, "was", "were"),
            time(self.span(observed, 0)),
            time(LEAST_TIME),
        )
    }

    fn too_few(&self, cycles: f64, needed: f64, observed: &Observed) -> String {
        if observed.erases().sum::<u64>() == 0 {
            return format!(
                "hosts used up free space and no block was erased, so there was no GC cycle, and \
                 {CYCLES_MIN} are needed; at this rate the free blocks last for {} more",
                duration(self.lasts(observed))
            );
        }
        let length = duration(self.span(observed, 0).as_ns() as f64 / cycles);
        let why = if needed > CYCLES_MIN { " that are not regular" } else { "" };
        format!(
            "the counted time has {} GC cycles of about {length}{why}, and {needed} are needed",
            tenths(cycles),
        )
    }

    /// Time for which the free blocks last, at the rate at which space was used.
    fn lasts(&self, observed: &Observed) -> f64 {
        let used = observed.used().iter().sum::<f64>();
        self.free_units as f64 / used * self.span(observed, 0).as_ns() as f64
    }

    /// The length of a run, with its warm-up, that is likely to show more; `None` if that is not
    /// known.
    fn needed(&self, reason: &Reason, observed: &Observed) -> Option<Span> {
        let begin = observed.moment(0) - Instant::START;
        let counted = self.span(observed, 0);
        let of = |ns: f64| Span::from_ns(ns as u64);
        let enough = CYCLES_AFTER_CUT + CYCLES_MORE;
        match reason {
            Reason::TooFewCycles { cycles, needed } if observed.erases().sum::<u64>() > 0 => {
                Some(begin + of(counted.as_ns() as f64 / cycles * (needed + CYCLES_MORE)))
            }
            Reason::Spread { batches, .. } => {
                Some(begin + of(counted.as_ns() as f64 / *batches as f64 * enough))
            }
            Reason::Unproven { from, cycles: Some(cycles), .. } if *cycles < CYCLES_AFTER_CUT => {
                let rest = self.span(observed, *from).as_ns() as f64;
                let before = observed.moment(*from) - Instant::START;
                Some(before + of(rest / cycles * enough))
            }
            _ => None,
        }
    }
}

fn time(span: Span) -> String {
    duration(span.as_ns() as f64)
}

/// A number of cycles, rounded down, so that one that is not enough never looks like enough.
fn tenths(cycles: f64) -> String {
    format!("{:.1}", (cycles * 10.0).floor() / 10.0)
}

/// Free blocks at the end of a run.
fn free_blocks(measured: &Measured) -> u64 {
    match measured.series().column("free_blocks") {
        Some(Values::U64(values)) => values.last().copied().unwrap_or(0),
        _ => 0,
    }
}
