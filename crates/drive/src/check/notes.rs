//! Notes on settings that are allowed but often not intended.

use super::flash::of_gangs;
use super::space::Start;
use super::{array, faults, pressure, scaled, windows};
use crate::experiment::Experiment;
use crate::precondition::filled_units;
use ftl::Layout;
use nand::{GangControl, Geometry, Timing};

pub fn notes(
    experiment: &Experiment,
    layout: &Layout,
    (geometry, timing): (&Geometry, &Timing),
    start: Start<'_>,
) -> Vec<String> {
    let mut notes = Vec::new();
    let is_empty = match start {
        Start::New => {
            layout.set_ids().all(|set| filled_units(&experiment.precondition, layout, set) == 0)
        }
        Start::Unknown => false,
        Start::Found(found) => found.mapped_units == 0,
    };
    if is_empty {
        notes.push("the drive is empty at first: reads of addresses that were never written take no flash time; results count these reads as having no data (unmapped)".into());
    }
    let drive = &experiment.drive;
    let is_asynchronous = |gang: nand::GangConfig| gang.control == GangControl::Asynchronous;
    if drive.geometry.gang.is_some_and(is_asynchronous) && !of_gangs(drive).contains(&true) {
        notes.push("the packages of an asynchronous gang work independently, and commands occupy the shared control lines for no time: here a gang only saves pins".into());
    }
    if let Some(wear) = &drive.ftl.wear
        && let (Some(retirement), Some(variance)) = (wear.retirement_age, wear.age_variance)
        && retirement.fraction() >= 1.0 - variance.fraction()
    {
        notes.push(format!("a block that rate-limiting would pass over (less than {:.4} % of the mean life left, ftl.wear.age_variance) is one for migration already (retirement_age {retirement}): rate-limiting acts only where migration finds no data to move", 100.0 * (1.0 - variance.fraction())).replace(".0000 %", " %"));
    }
    notes.extend(pressure::notes(experiment, layout));
    notes.extend(windows::notes(experiment, layout, geometry, timing));
    notes.extend(array::note(experiment, layout));
    notes.extend(faults::note(experiment));
    notes.extend(scaled::note(experiment, layout));
    notes
}
