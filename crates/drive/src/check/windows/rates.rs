//! Bytes that hosts write in windows at a known rate, and the space that windows can count on.

use crate::experiment::Experiment;
use ftl::{Layout, SetId, Thresholds};
use host::config::Sizing;
use host::{Kind, WorkloadConfig};
use settings::{Problems, Time};

/// Bytes that hosts can write to an NVM set between the background threshold, at which collection goes
/// on, and the foreground one: what its deterministic windows can count on.
pub fn bytes_between(experiment: &Experiment, layout: &Layout, set: u32) -> u64 {
    let [foreground, background, _] = Thresholds::new(&experiment.drive.ftl.gc, layout).in_blocks();
    let bins = layout.bin_count_of_set(SetId(set));
    u64::from(background.saturating_sub(foreground))
        * u64::from(bins)
        * u64::from(layout.data_units(ftl::Stream::Host))
        * layout.unit_bytes
}

/// The same for the NVM set that has the least.
pub fn least_bytes_between(experiment: &Experiment, layout: &Layout) -> u64 {
    let of_sets = (0..layout.set_count()).map(|set| bytes_between(experiment, layout, set));
    of_sets.min().expect("a drive is a set")
}

/// Refuses deterministic windows in which the known rate of writes fills the space that collection keeps
/// free before: what lies between the background threshold, at which it goes on, and the foreground one.
pub fn check(experiment: &Experiment, layout: &Layout, problems: &mut Problems) {
    let Some((key, dtwin)) = asked_dtwin(experiment) else { return };
    for set in 0..layout.set_count() {
        let bytes = bytes_between(experiment, layout, set);
        let written = written_to(experiment, layout, set, dtwin.span().as_secs_f64());
        if written > bytes as f64 {
            problems.push(key, format!(
                "in {dtwin} hosts write {:.1} MB, and between the background and the foreground threshold of drive.ftl.gc the drive has {:.1} MB{} free; choose a shorter time, or raise drive.ftl.gc.background",
                written / 1e6,
                bytes as f64 / 1e6,
                of_set(layout, set),
            ));
        }
    }
}

/// Deterministic windows for which the host of a run asks: the setting, and the length.
pub fn asked_dtwin(experiment: &Experiment) -> Option<(&'static str, Time)> {
    let (of_drive, host) = (experiment.drive.ftl.windows?, experiment.run.windows?);
    Some(match host.dtwin {
        Some(dtwin) => ("run.windows.dtwin", dtwin),
        None => ("drive.ftl.windows.dtwin", of_drive.dtwin),
    })
}

/// The name of an NVM set in sentences, after a space; nothing without sets.
pub fn of_set(layout: &Layout, set: u32) -> String {
    if layout.set_count() > 1 { format!(" of NVM set {}", set + 1) } else { String::new() }
}

/// The workloads of an NVM set.
pub fn workloads_of(experiment: &Experiment, set: u32) -> impl Iterator<Item = &WorkloadConfig> {
    experiment.workload.iter().filter(move |of| of.nvm_set.unwrap_or(1) == set + 1)
}

/// Bytes of mapping units that open loops write to an NVM set in so many seconds, at most.
pub fn written_to(experiment: &Experiment, layout: &Layout, set: u32, seconds: f64) -> f64 {
    let of_each = |of| written_in(of, seconds, layout.unit_bytes);
    workloads_of(experiment, set).filter_map(of_each).sum()
}

/// Bytes of mapping units that a workload writes in so many seconds, at most of its mean rate and its
/// bursts, if its file says so.
pub fn written_in(workload: &WorkloadConfig, seconds: f64, unit: u64) -> Option<f64> {
    let arrivals = workload.arrivals.as_ref()?;
    let at_work = workload.bursts.as_ref().map_or(seconds, |bursts| {
        let [on, off] = [bursts.on, bursts.off].map(|time| time.span().as_secs_f64());
        let cycles = (seconds / (on + off)).floor();
        cycles * on + (seconds - cycles * (on + off)).min(on)
    });
    let requests = arrivals.rate.per_second() * at_work * writes_share(workload)?;
    Some(requests * mean_bytes(workload, unit))
}

/// Share of writes among the requests of a workload; `None` for traces.
pub fn writes_share(workload: &WorkloadConfig) -> Option<f64> {
    match (&workload.mix, workload.reads) {
        (Some(mix), _) => Some(mix.write.map_or(0.0, |share| share.fraction())),
        (None, Some(reads)) => Some(1.0 - reads.fraction()),
        (None, None) => None,
    }
}

/// Mean bytes of the mapping units of a write that begins at the beginning of one.
pub fn mean_bytes(workload: &WorkloadConfig, unit: u64) -> f64 {
    let whole = |bytes: u64| (bytes.div_ceil(unit) * unit) as f64;
    match workload.size.as_ref().and_then(|size| size.of(Kind::Write)) {
        None => whole(4096),
        Some(Sizing::Fixed(size)) => whole(size.bytes()),
        Some(Sizing::List(sizes)) => {
            sizes.iter().map(|one| whole(one.size.bytes()) * one.share.fraction()).sum()
        }
        Some(Sizing::Exponential(sizes)) => whole(sizes.mean.bytes()),
    }
}
