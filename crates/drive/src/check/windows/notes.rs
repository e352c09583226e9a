//! Notes on windows that are allowed but often not intended.

use super::collection;
use super::rates::{asked_dtwin, mean_bytes, writes_share};
use crate::array::config::PlanConfig;
use crate::config::Durability;
use crate::experiment::Experiment;
use ftl::Layout;
use nand::{Geometry, Timing};
use settings::Size;

/// What a user of windows may not have intended.
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
    notes.extend(collection::notes(experiment, layout, geometry, timing));
    notes
}

/// Says that a drive with windows is asked for no deterministic one, as far as the configuration tells.
pub fn nobody_asks(experiment: &Experiment) -> Option<String> {
    experiment.drive.ftl.windows?;
    let plan = experiment.array.as_ref().map(|array| &array.plan);
    let asks = match plan {
        None => asked_dtwin(experiment).is_some(),
        Some(PlanConfig::Mirror { .. }) => false,
        // A plan in Python may choose windows; the other plans do.
        Some(_) => true,
    };
    (!asks).then(|| match plan {
        None => "nobody asks for deterministic windows (drive.ftl.windows without run.windows): all windows of a run are non-deterministic".into(),
        Some(_) => "nobody asks for deterministic windows (drive.ftl.windows, and a plan that chooses none): all windows of a run are non-deterministic".into(),
    })
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
    let sizes = writers.map(|of| mean_bytes(of.size.as_ref(), layout.unit_bytes));
    let least = sizes.min_by(f64::total_cmp).filter(|least| *least < program as f64)?;
    Some(format!(
        "writes of {} in the mean may each be programmed alone, as a program of {} (drive.buffer.durability = \"none\"): DTWIN Writes Typical may be up to {:.1} times smaller than with full programs; choose drive.buffer.partial_after, so that programs wait for more data, or durability = \"capacitor\"",
        Size::from_bytes(least as u64).rounded(),
        Size::from_bytes(program).rounded(),
        program as f64 / least,
    ))
}
