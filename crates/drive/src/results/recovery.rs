//! Power cuts and recoveries, as `summary.json` has them.

use crate::recovery::Outage;
use crate::run::Run;
use serde_json::{Value, json};

/// What became of the drive in power cuts, and what it has written for them; null for a drive
/// that keeps nothing to recover by.
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
        "recovered_units": outage.units,
        "saved_units": outage.saved_units,
        "lost_requests": outage.lost_requests,
    })
}
