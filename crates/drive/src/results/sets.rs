//! NVM sets: what each has done, and a digest of its completions.

use crate::measure::Measured;
use crate::run::Run;
use ftl::{SetId, Source, Tally};
use serde_json::{Value, json};

/// Figures of each set, numbered from 1; null without sets.
pub fn of_run(run: &Run, measured: &Measured) -> Value {
    let device = run.device();
    let layout = &device.ftl().layout;
    let Some(sets) = &layout.sets else { return Value::Null };
    let bytes = |units: u32| u64::from(units) * layout.unit_bytes;
    let of_set = |set: SetId| {
        let tally = measured.tally_of(set);
        json!({
            "set": set.0 + 1,
            "exported_bytes": bytes(sets.units(set)),
            "programmed_bytes": tally.units.iter().sum::<u64>() * layout.unit_bytes,
            "write_amplification": amplification(&tally),
            "collected_blocks": tally.collected,
            "erases": tally.erases,
            "retired": tally.retired,
            "digest": format!("{:016x}", device.digest_of(set)),
        })
    };
    (0..sets.count()).map(SetId).map(of_set).collect::<Vec<_>>().into()
}

/// Units programmed for each unit of hosts that was programmed; `None` if there was none.
fn amplification(tally: &Tally) -> Option<f64> {
    let of_hosts = tally.units[Source::Host as usize];
    (of_hosts > 0).then(|| tally.units.iter().sum::<u64>() as f64 / of_hosts as f64)
}
