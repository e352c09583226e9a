//! Whether a run was in steady state, from its time series.

use metrics::{Series, Values, Verdict, Window, steady_state};
use serde_json::{Value, json};

/// The verdicts on mean latency and on write amplification.
pub fn verdicts(series: &Series) -> Value {
    let begins: Vec<u64> = series.begins().map(|begin| begin.as_ns()).collect();
    let column = |name: &str| match series.column(name) {
        Some(Values::U64(values)) => values.as_slice(),
        _ => &[],
    };
    let host = column("host_units_programmed");
    let latency = windows(
        &[column("read_latency_sum_ns"), column("write_latency_sum_ns")],
        &[column("reads"), column("writes")],
    );
    let amplification = windows(
        &[host, column("gc_units_programmed"), column("padding_units_programmed")],
        &[host],
    );
    json!({
        "latency": verdict(&latency, &begins),
        "write_amplification": verdict(&amplification, &begins),
    })
}

/// The sums of some columns over the sums of others, each window with the row in
/// which it begins. Rows in which nothing was counted join the next one that
/// counts: what was done in them is not lost.
fn windows(totals: &[&[u64]], counts: &[&[u64]]) -> Vec<(usize, Window)> {
    let rows = totals.iter().map(|column| column.len()).max().unwrap_or(0);
    let sum = |columns: &[&[u64]], row: usize| columns.iter().map(|c| c[row]).sum::<u64>() as f64;
    let mut windows = Vec::new();
    let mut begun: Option<(usize, f64)> = None;
    for row in 0..rows {
        let (first, before) = begun.take().unwrap_or((row, 0.0));
        let (total, count) = (before + sum(totals, row), sum(counts, row));
        match count > 0.0 {
            true => windows.push((first, Window { total, count })),
            false => begun = Some((first, total)),
        }
    }
    windows
}

fn verdict(windows: &[(usize, Window)], begins: &[u64]) -> Value {
    let values: Vec<Window> = windows.iter().map(|(_, window)| *window).collect();
    match steady_state(&values) {
        Verdict::Steady { from } => {
            let begin = windows.get(from).and_then(|(row, _)| begins.get(*row));
            json!({ "reached": true, "from_ns": begin, "reason": null })
        }
        Verdict::NotReached { reason } => {
            json!({ "reached": false, "from_ns": null, "reason": reason.to_string() })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_without_a_count_join_the_next() {
        let windows = windows(&[&[4, 1, 0, 2, 9], &[0, 0, 1, 0, 0]], &[&[2, 0, 0, 4, 0]]);
        let window = |total, count| Window { total, count };
        assert_eq!(windows, [(0, window(4.0, 2.0)), (1, window(4.0, 4.0))]);
    }
}
