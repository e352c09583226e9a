//! Verdicts on the steady state of a run, from its time series.

use super::recovery::cuts_between;
use crate::run::Run;
use engine::Instant;
use metrics::{Reason, Series, Values, Verdict, Window, steady_state};
use serde_json::{Value, json};
use settings::{counted, each};

/// Mean number of erases in each bin below which there is no verdict on write amplification: one
/// for each of the five rounds that are compared. With fewer erases the verdict would depend on
/// which bins happened to be collected in a round; with none the drive only uses up space that was
/// free before.
const ERASES_PER_BIN: u64 = 5;

/// The verdicts on mean latency and on write amplification of a run on a drive of `bins` bins. They
/// mention power cuts in the time that is not steady.
pub fn verdicts(run: &Run, bins: u32) -> Value {
    let measured = run.measured();
    let cuts = cuts_between(run.outages(), measured.begun_at(), Instant::START + run.elapsed());
    of_series(measured.series(), bins, cuts.as_deref())
}

/// The verdicts for an untimed run.
pub fn untimed() -> Value {
    let verdict = json!({ "reached": false, "from_ns": null, "reason": "the run took no time" });
    json!({ "latency": verdict, "write_amplification": verdict })
}

/// The verdicts from a time series; `cuts` names power cuts.
pub fn of_series(series: &Series, bins: u32, cuts: Option<&str>) -> Value {
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
    let of_amplification = verdict(&amplification, &begins, cuts);
    json!({
        "latency": verdict(&latency, &begins, cuts),
        "write_amplification": with_erases(of_amplification, &begins, column("erases"), bins),
    })
}

/// Withdraws a verdict of steadiness if too few blocks were erased since the steady state began.
fn with_erases(verdict: Value, begins: &[u64], erases: &[u64], bins: u32) -> Value {
    let Some(from) = verdict["from_ns"].as_u64() else { return verdict };
    let since = begins.iter().zip(erases).filter(|(begin, _)| **begin >= from);
    let erased: u64 = since.map(|(_, erases)| erases).sum();
    let needed = ERASES_PER_BIN * u64::from(bins);
    if erased >= needed {
        return verdict;
    }
    let reason = format!(
        "it may be steady from {} s on, but only {} {} erased since then and {needed} are needed \
         ({ERASES_PER_BIN} for each bin)",
        seconds(from),
        counted(erased, "block"),
        each(erased, "was", "were"),
    );
    json!({ "reached": false, "from_ns": null, "reason": reason })
}

/// The sums of some columns over the sums of others, each window with the row in which it begins. A
/// row without counts joins the next row that has some, so that its work is not lost.
fn windows(totals: &[&[u64]], counts: &[&[u64]]) -> Vec<(usize, Window)> {
    let rows = totals.iter().map(|column| column.len()).max().unwrap_or(0);
    let sum = |columns: &[&[u64]], row: usize| {
        columns.iter().filter_map(|c| c.get(row)).sum::<u64>() as f64
    };
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

fn verdict(windows: &[(usize, Window)], begins: &[u64], cuts: Option<&str>) -> Value {
    let values: Vec<Window> = windows.iter().map(|(_, window)| *window).collect();
    match steady_state(&values) {
        Verdict::Steady { from } => {
            let begin = windows.get(from).and_then(|(row, _)| begins.get(*row));
            json!({ "reached": true, "from_ns": begin, "reason": null })
        }
        Verdict::NotReached { reason } => {
            // A power cut is not the reason for too few intervals.
            let cuts = cuts.filter(|_| !matches!(reason, Reason::TooFewWindows { .. }));
            let cuts = cuts.map_or_else(String::new, |cuts| format!(" ({cuts})"));
            let reason = told(&reason, windows, begins) + &cuts;
            json!({ "reached": false, "from_ns": null, "reason": reason })
        }
    }
}

/// A reason in times and intervals: the user sees those, and no windows.
fn told(reason: &Reason, windows: &[(usize, Window)], begins: &[u64]) -> String {
    match *reason {
        Reason::TooFewWindows { windows, needed } => format!(
            "only {} of the time series {} what it is taken from, and {needed} are needed (run longer, \
             or choose a shorter record.interval)",
            counted(windows as u64, "interval"),
            each(windows as u64, "has", "have"),
        ),
        Reason::StillSettling { from } => {
            let begin = windows.get(from).and_then(|(row, _)| begins.get(*row));
            let [until, of] = [begin, begins.last()].map(|ns| seconds(*ns.unwrap_or(&0)));
            format!("still drifting until {until} s of {of} s; run longer")
        }
        _ => reason.to_string(),
    }
}

/// A time in seconds, without zeros at its end.
fn seconds(ns: u64) -> String {
    let text = format!("{:.4}", ns as f64 / 1e9);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::Instant;
    use metrics::{Field, Merge};

    #[test]
    fn without_erases_write_amplification_is_not_steady() {
        // Sixty rows of the same amplification, and an erase in each of the last ten:
        // enough for two bins, too few for three.
        let fields = ["host_units_programmed", "gc_units_programmed", "erases"]
            .map(|name| Field::u64(name, Merge::Sum));
        let mut series = Series::new(Instant::START, 4096, fields);
        for row in 0..60u64 {
            let end = Instant::from_ns(10 * (row + 1));
            series.append(end, &[8.into(), 24.into(), u64::from(row >= 50).into()]);
        }
        let verdict = |bins| of_series(&series, bins, None)["write_amplification"].clone();
        assert_eq!(verdict(2)["from_ns"], 0);
        assert_eq!(verdict(3)["reached"], false);
        let reason = verdict(3)["reason"].to_string();
        let said = "from 0 s on, but only 10 blocks were erased since then and 15 are needed";
        assert!(reason.contains(said), "{reason}");
    }

    #[test]
    fn rows_without_a_count_join_the_next() {
        let windows = windows(&[&[4, 1, 0, 2, 9], &[0, 0, 1, 0, 0]], &[&[2, 0, 0, 4, 0]]);
        let window = |total, count| Window { total, count };
        assert_eq!(windows, [(0, window(4.0, 2.0)), (1, window(4.0, 4.0))]);
    }
}
