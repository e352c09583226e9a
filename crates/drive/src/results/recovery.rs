//! Power cuts and recoveries, as `summary.json` has them.

use crate::device::rounded;
use crate::recovery::Outage;
use crate::run::Run;
use engine::Instant;
use serde_json::{Value, json};

/// Effects of power cuts on the drive, and the writes that recovery needs; null for a drive that
/// keeps no metadata for recovery.
pub fn of_run(run: &Run) -> Value {
    let ftl = run.device().ftl();
    if !ftl.keeps_metadata() {
        return Value::Null;
    }
    let row = ftl.layout.row_bytes();
    let checkpoints = run.device().checkpoints().map(|(count, programs)| {
        json!({
            "count": count,
            "programs": count * programs,
            "bytes": count * programs * row,
        })
    });
    json!({
        "cuts": run.outages().iter().map(outage).collect::<Vec<_>>(),
        "lost_requests": run.lost_requests(),
        "checkpoints": checkpoints,
    })
}

/// A sentence saying that the power was cut between two moments, or that the drive recovered then;
/// `None` if neither happened.
pub fn cuts_between(outages: &[Outage], from: Instant, upto: Instant) -> Option<String> {
    let is_between = |outage: &&Outage| outage.at + outage.took > from && outage.at < upto;
    let moments: Vec<String> =
        outages.iter().filter(is_between).map(|of| rounded(of.at - Instant::START)).collect();
    Some(match moments.as_slice() {
        [] => return None,
        [one] => format!("the power was cut at {one} in that time"),
        [one, two] => format!("the power was cut at {one} and {two} in that time"),
        [first, ..] => {
            format!("the power was cut {} times, first at {first}, in that time", moments.len())
        }
    })
}

/// A power cut and the recovery from it.
pub fn outage(outage: &Outage) -> Value {
    let [checkpoint, scan, saved, erase] = outage.parts.map(|part| part.as_ns());
    json!({
        "at_ns": outage.at.as_ns(),
        "duration_ns": outage.took.as_ns(),
        "checkpoint_ns": checkpoint,
        "scan_ns": scan,
        "saved_ns": saved,
        "erase_ns": erase,
        "interrupted": outage.interrupted,
        "pages_scanned": outage.pages_scanned,
        "blocks_scanned": outage.blocks_scanned,
        "checkpoint_pages": outage.checkpoint_pages,
        "half_programmed": outage.half_programmed,
        "half_erased": outage.half_erased,
        "closed_early": outage.closed_early,
        "undone_blocks": outage.undone,
        "migrations_cut_off": outage.migrating,
        "recovered_units": outage.units,
        "saved_units": outage.saved_units,
        "lost_requests": outage.lost_requests,
    })
}
