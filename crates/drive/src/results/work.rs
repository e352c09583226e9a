//! Figures that several parts of the results have: what flash did for a part of a drive, and how values
//! spread.

use ftl::{Layout, Source, Tally};
use serde_json::{Value, json};

/// Work of the flash for a part of a drive.
pub fn work(tally: &Tally, layout: &Layout) -> Value {
    let (of_host, all) = (tally.units[Source::Host as usize], tally.units.iter().sum::<u64>());
    json!({
        "host_bytes_programmed": of_host * layout.unit_bytes,
        "programmed_bytes": all * layout.unit_bytes,
        // Of what hosts wrote to it and was programmed.
        "write_amplification": (of_host > 0).then(|| all as f64 / of_host as f64),
        "collected_blocks": tally.collected,
        "erases": tally.erases,
        "retired": tally.retired,
    })
}

/// Mean, bounds and standard deviation of values; null if there are none.
pub fn spread(values: &[f64]) -> Value {
    if values.is_empty() {
        return Value::Null;
    }
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let variance = values.iter().map(|value| (value - mean) * (value - mean)).sum::<f64>() / count;
    json!({
        "mean": mean,
        "min": values.iter().copied().fold(f64::INFINITY, f64::min),
        "max": values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        "stddev": variance.sqrt(),
    })
}
