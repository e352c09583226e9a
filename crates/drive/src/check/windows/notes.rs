//! Notes on windows that are allowed but often not intended.

use super::collection;
use super::rates::{asked_dtwin, least_bytes_between, mean_bytes, writes_share};
use crate::config::Durability;
use crate::experiment::Experiment;
use ftl::Layout;
use nand::{Geometry, Timing};
use settings::Size;

/// Notes on effects of windows that a user may not have intended.
pub fn notes(
    experiment: &Experiment,
    layout: &Layout,
    geometry: &Geometry,
    timing: &Timing,
) -> Vec<String> {
    if experiment.drive.ftl.windows.is_none() {
        return Vec::new();
    }
    let mut notes: Vec<String> = nobody_asks(experiment).into_iter().collect();
    notes.extend(padded(experiment, layout));
    notes.extend(in_vain(experiment, layout));
    notes.extend(collection::notes(experiment, layout, geometry, timing));
    notes
}

/// Says that a drive with windows is asked for no deterministic one. Plans for several drives choose
/// windows; one in Python may.
pub fn nobody_asks(experiment: &Experiment) -> Option<String> {
    let has_windows = experiment.drive.ftl.windows.is_some();
    let asks = experiment.array.is_some() || experiment.run.windows.is_some();
    (has_windows && !asks).then(|| "nobody asks for deterministic windows (drive.ftl.windows without run.windows): all windows of a run are non-deterministic".into())
}

/// Says of thresholds that warnings come at once, or never.
fn in_vain(experiment: &Experiment, layout: &Layout) -> Vec<String> {
    let (mut notes, host) = (Vec::new(), asked_dtwin(experiment));
    let Some(of_drive) = &experiment.drive.ftl.windows else { return notes };
    let write = u64::from(layout.units_per_batch) * layout.unit_bytes;
    let typical = least_bytes_between(experiment, layout) / write;
    if let Some(threshold) = of_drive.writes_threshold.filter(|threshold| *threshold >= typical) {
        notes.push(format!("drive.ftl.windows.writes_threshold ({threshold}) is not less than DTWIN Writes Typical of windows that begin at the background threshold ({typical}): their warning comes at the beginning"));
    }
    if let (Some(threshold), Some((key, dtwin))) = (of_drive.time_threshold, host)
        && of_drive.dtwin.span() - dtwin.span() > threshold.span()
    {
        notes.push(format!("the host ends deterministic windows after {dtwin} ({key}), before the estimate of time falls to drive.ftl.windows.time_threshold ({threshold} of {}): this warning never comes", of_drive.dtwin));
    }
    notes
}

/// Says that programs will be padded, so that deterministic windows have room for fewer writes.
fn padded(experiment: &Experiment, layout: &Layout) -> Option<String> {
    let buffer = &experiment.drive.buffer;
    if buffer.durability != Durability::None || buffer.partial_after.is_some() {
        return None;
    }
    let program = u64::from(layout.units_per_batch) * layout.unit_bytes;
    let writers =
        experiment.workload.iter().filter(|of| writes_share(of).is_some_and(|of| of > 0.0));
    let sizes = writers.map(|of| mean_bytes(of, layout.unit_bytes));
    let least = sizes.min_by(f64::total_cmp).filter(|least| *least < program as f64)?;
    Some(format!(
        "writes of {} in the mean may each be programmed alone, as a program of {} (drive.buffer.durability = \"none\"): DTWIN Writes Typical may be up to {:.1} times smaller than with full programs; choose drive.buffer.partial_after, so that programs wait for more data, or durability = \"capacitor\"",
        Size::from_bytes(least as u64).rounded(),
        Size::from_bytes(program).rounded(),
        program as f64 / least,
    ))
}
