//! Time that garbage collection has between deterministic windows, beside the work that hosts cause.

use super::rates::{asked_dtwin, of_set, workloads_of, writes_share, written_in};
use crate::check::flash::program_ns;
use crate::check::space::spare_if_full;
use crate::config::Durability;
use crate::experiment::Experiment;
use ftl::{Layout, SetId};
use host::config::AddressConfig;
use host::{Region, WorkloadConfig};
use nand::{Geometry, Timing};
use settings::{Problems, Time};

const REMEDY: &str = "; choose longer non-deterministic windows (run.windows.ndwin), shorter deterministic ones (run.windows.dtwin), or fewer writes";

/// Refuses non-deterministic windows in which flash cannot even erase and program what hosts write, if
/// the run is long enough for the free space to be used up.
pub fn check(
    experiment: &Experiment,
    layout: &Layout,
    (geometry, timing): (&Geometry, &Timing),
    problems: &mut Problems,
) {
    let Some((key, _)) = asked_ndwin(experiment) else { return };
    for set in 0..layout.set_count() {
        let cycle = Cycle::of(experiment, layout, (geometry, timing), set);
        if let Some(cycle) = cycle.filter(|cycle| cycle.is_hopeless(experiment, layout)) {
            problems.push(key, cycle.told(layout) + REMEDY);
        }
    }
}

/// Says that garbage collection will probably not free in time what hosts write.
pub fn notes(
    experiment: &Experiment,
    layout: &Layout,
    geometry: &Geometry,
    timing: &Timing,
) -> Vec<String> {
    let of_set =
        |set| Cycle::of(experiment, layout, (geometry, timing), set)?.note(experiment, layout);
    (0..layout.set_count()).filter_map(of_set).collect()
}

/// Non-deterministic windows for which the host of a run asks: the setting, and the length.
fn asked_ndwin(experiment: &Experiment) -> Option<(&'static str, Time)> {
    let (of_drive, host) = (experiment.drive.ftl.windows?, experiment.run.windows?);
    Some(match host.ndwin {
        Some(ndwin) => ("run.windows.ndwin", ndwin),
        None => ("drive.ftl.windows.ndwin_high", of_drive.ndwin_high),
    })
}

/// A deterministic and a non-deterministic window of an NVM set into which open loops write at a known
/// mean rate.
struct Cycle {
    set: u32,
    ndwin: Time,
    /// Seconds of both windows.
    seconds: f64,
    /// Seconds of the non-deterministic window.
    between: f64,
    /// Bytes that hosts write in both, and in the non-deterministic window at least.
    written: f64,
    written_between: f64,
    /// Bytes per second that all flash of the set can erase, and program.
    erased: f64,
    programmed: f64,
    /// Bytes of the victims that may be under way when the non-deterministic window is over: a block
    /// of each bin.
    under_way: f64,
}

impl Cycle {
    /// `None` if nothing is written at a known rate.
    fn of(
        experiment: &Experiment,
        layout: &Layout,
        (geometry, timing): (&Geometry, &Timing),
        set: u32,
    ) -> Option<Self> {
        let (_, ndwin) = asked_ndwin(experiment)?;
        let between = ndwin.span().as_secs_f64();
        let seconds = between + asked_dtwin(experiment)?.1.span().as_secs_f64();
        let unit = layout.unit_bytes;
        let of_set = || workloads_of(experiment, set);
        let written: f64 = of_set().filter_map(|of| mean_rate(of, unit)).sum::<f64>() * seconds;
        let steady = of_set().filter(|of| of.bursts.is_none());
        let written_between = steady.filter_map(|of| written_in(of, between, unit)).sum();
        let share = layout.share_of_set(SetId(set));
        let row = (layout.row_bytes() / geometry.page_bytes) as u32;
        let units =
            |level| f64::from(geometry.planes() / geometry.planes_in(level).unwrap_or(1).max(row));
        let concurrency = &experiment.drive.concurrency;
        let physical = f64::from(layout.physical_units()) * unit as f64;
        // A unit erases blocks of so many planes at a time as one program covers.
        let block =
            physical / f64::from(geometry.blocks_per_plane) / f64::from(geometry.planes() / row);
        Some(Self {
            set,
            ndwin,
            seconds,
            between,
            written,
            written_between,
            erased: units(concurrency.erase) * share * block * 1e9
                / timing.erase.total().as_ns() as f64,
            programmed: units(concurrency.program) * share * layout.row_bytes() as f64 * 1e9
                / program_ns(timing, layout),
            under_way: f64::from(layout.bins)
                * share
                * f64::from(layout.units_per_block())
                * unit as f64,
        })
        .filter(|cycle: &Self| cycle.written > 0.0)
    }

    /// The greatest write amplification at which flash can erase and program in the non-deterministic
    /// window what both windows need; reads take no time here.
    fn most_amplification(&self) -> f64 {
        let programs = 1.0 / self.programmed;
        let time = self.between - self.written_between * programs
            + self.under_way / self.erased
            + self.written * programs;
        time / (self.written * (1.0 / self.erased + programs))
    }

    /// True if even without a move the flash cannot erase in time what hosts write, and if the run is
    /// long enough to use up all space of the set.
    fn is_hopeless(&self, experiment: &Experiment, layout: &Layout) -> bool {
        if self.most_amplification() >= 1.0 || !is_all_programmed(experiment, layout, self.set) {
            return false;
        }
        let Some(seconds) = known_length(experiment, self.set) else { return false };
        let for_erases = (self.between - self.written_between / self.programmed).max(0.0);
        let lacks = self.written - for_erases * self.erased - self.under_way;
        let physical = f64::from(layout.physical_units()) * layout.unit_bytes as f64;
        lacks * (seconds / self.seconds).floor() > physical * layout.share_of_set(SetId(self.set))
    }

    fn note(&self, experiment: &Experiment, layout: &Layout) -> Option<String> {
        let most = self.most_amplification();
        if most < 1.0 {
            return Some(self.told(layout) + REMEDY);
        }
        if !is_uniform(experiment, self.set) {
            return None;
        }
        let expected = of_uniform_writes(1.0 + spare_if_full(experiment, layout));
        (most < expected).then(|| {
            format!(
                "in non-deterministic windows of {} garbage collection can free what hosts write{} in {:.3} s only if write amplification is at most {most:.2}; that of uniform writes on the full drive is about {expected:.2} [DESNOYERS]: deterministic windows may end early or begin late{}",
                self.ndwin,
                of_set(layout, self.set).replace(" of ", " to "),
                self.seconds,
                REMEDY,
            )
        })
    }

    fn told(&self, layout: &Layout) -> String {
        format!(
            "in {} the flash{} cannot erase and program what hosts write in {:.3} s ({:.1} MB), even if garbage collection moves nothing: deterministic windows will end early or begin late",
            self.ndwin,
            of_set(layout, self.set),
            self.seconds,
            self.written / 1e6,
        )
    }
}

/// Mean bytes of mapping units per second that an open loop writes.
fn mean_rate(workload: &WorkloadConfig, unit: u64) -> Option<f64> {
    let cycle = workload.bursts.as_ref().map_or(1.0, |bursts| {
        [bursts.on, bursts.off].map(|time| time.span().as_secs_f64()).iter().sum()
    });
    Some(written_in(workload, cycle, unit)? / cycle)
}

/// True if all that hosts write is programmed, because none of it is overwritten in the buffer.
fn is_all_programmed(experiment: &Experiment, layout: &Layout, set: u32) -> bool {
    let buffer = &experiment.drive.buffer;
    let is_longer = |of: &WorkloadConfig| {
        let region = Region::of(of, experiment.namespace(layout, of));
        let is_sequential = matches!(of.addresses, Some(AddressConfig::Sequential {}));
        is_sequential && region.bytes > buffer.size.bytes()
    };
    buffer.durability == Durability::None && buffer.partial_after.is_none()
        || writers(experiment, set).all(is_longer)
}

/// The time for which all writers of a set write at least, in seconds, if it is known.
fn known_length(experiment: &Experiment, set: u32) -> Option<f64> {
    let run = &experiment.run;
    if run.bytes.is_some() || experiment.workload.iter().any(|of| of.stop.is_some()) {
        return None;
    }
    let rates = experiment.workload.iter().map(|of| Some(of.arrivals.as_ref()?.rate.per_second()));
    let of_requests = match run.requests {
        None => f64::INFINITY,
        Some(requests) => requests as f64 / rates.sum::<Option<f64>>()?,
    };
    let of_time = run.time.map_or(f64::INFINITY, |time| time.span().as_secs_f64());
    let starts = writers(experiment, set).filter_map(|of| of.start);
    let begin = starts.map(|start| start.span().as_secs_f64()).fold(0.0, f64::max);
    Some((of_requests.min(of_time) - begin).max(0.0)).filter(|seconds| seconds.is_finite())
}

fn writers(experiment: &Experiment, set: u32) -> impl Iterator<Item = &WorkloadConfig> {
    workloads_of(experiment, set).filter(|of| writes_share(of).is_none_or(|share| share > 0.0))
}

/// True if all writes of a set go to any of its addresses alike.
fn is_uniform(experiment: &Experiment, set: u32) -> bool {
    let is_uniform = |of: &WorkloadConfig| {
        of.trace.is_none()
            && of.region.is_none()
            && matches!(of.addresses, None | Some(AddressConfig::Uniform {}))
    };
    writers(experiment, set).all(is_uniform)
}

/// Write amplification of uniform writes if blocks are collected in the order of their age, which
/// greedy victims are near to: α / (α + W(-α e^-α)). Source: [DESNOYERS].
fn of_uniform_writes(physical_over_data: f64) -> f64 {
    let alpha = physical_over_data;
    if alpha <= 1.0 {
        return f64::INFINITY;
    }
    // The share of a victim that is still valid, u = exp(α (u - 1)): iterated from below, it rises to
    // the smaller solution. Write amplification is 1 / (1 - u).
    let mut valid = 0.0;
    for _ in 0..10_000 {
        valid = libm::exp(alpha * (valid - 1.0));
    }
    1.0 / (1.0 - valid)
}

#[cfg(test)]
mod tests {
    use super::of_uniform_writes;

    #[test]
    fn the_closed_form_of_uniform_writes_is_met() {
        // W(-1.25 exp(-1.25)) = -0.785787: 1.25 / (1.25 - 0.785787), and so on.
        for (alpha, expected) in [(1.25, 2.6927), (1.5, 1.7158), (2.0, 1.2550)] {
            let found = of_uniform_writes(alpha);
            assert!((found - expected).abs() < 1e-4, "{alpha}: {found}");
        }
        assert_eq!(of_uniform_writes(1.0), f64::INFINITY);
    }
}
