//! Whether a run was in steady state, from its time series.

use metrics::{Series, Values, Verdict, pts_steady, steady_state};
use serde_json::{Value, json};

/// The verdict on mean latency (MSER-5) and on write amplification (the criterion
/// of SNIA's Performance Test Specification).
pub fn verdicts(series: &Series) -> Value {
    let begins: Vec<u64> = series.begins().map(|begin| begin.as_ns()).collect();
    let column = |name: &str| match series.column(name) {
        Some(Values::U64(values)) => values.as_slice(),
        _ => &[],
    };
    let means = windows(
        column("read_latency_sum_ns"),
        column("write_latency_sum_ns"),
        column("reads"),
        column("writes"),
    );
    let programmed = windows(
        column("gc_units_programmed"),
        column("padding_units_programmed"),
        column("host_units_programmed"),
        &[],
    );
    json!({
        "latency": verdict(steady_state(&values(&means)), &means, &begins),
        "write_amplification": verdict(pts_steady(&values(&programmed)), &programmed, &begins),
    })
}

/// (row, (a + b) / (c + d)) for the rows in which something was counted.
fn windows(a: &[u64], b: &[u64], c: &[u64], d: &[u64]) -> Vec<(usize, f64)> {
    let at = |column: &[u64], row: usize| column.get(row).copied().unwrap_or(0);
    (0..a.len())
        .filter(|row| at(c, *row) + at(d, *row) > 0)
        .map(|row| (row, (at(a, row) + at(b, row)) as f64 / (at(c, row) + at(d, row)) as f64))
        .collect()
}

fn values(windows: &[(usize, f64)]) -> Vec<f64> {
    windows.iter().map(|(_, value)| *value).collect()
}

fn verdict(verdict: Verdict, windows: &[(usize, f64)], begins: &[u64]) -> Value {
    match verdict {
        Verdict::Steady { from } => {
            let begin = windows.get(from).and_then(|(row, _)| begins.get(*row));
            json!({ "reached": true, "from_ns": begin, "reason": null })
        }
        Verdict::NotReached { reason } => {
            json!({ "reached": false, "from_ns": null, "reason": reason.to_string() })
        }
    }
}
