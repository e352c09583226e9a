//! Stand-ins against the traces that they stand for: described, imitated, described
//! again. docs/traces.md promises the bounds that are asserted here.

use host::trace::Format;
use host::trace::imitate::Wishes;
use host::trace::statistics::{KindStatistics, Statistics, measure};
use host::trace::write::{Destination, Target, imitate};
use std::path::{Path, PathBuf};

const MEMORY: u64 = 512 << 20;

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(name)
}

fn statistics(path: &Path, format: Option<Format>) -> Statistics {
    let measured = measure(path, format, MEMORY, &mut |_| true);
    measured.unwrap_or_else(|error| panic!("{error}")).expect("nobody ends it").statistics
}

/// A trace and its stand-in.
fn pair(path: &Path, seed: u64) -> (Statistics, Statistics) {
    let original = statistics(path, None);
    let name = path.file_name().unwrap().to_string_lossy().into_owned();
    let output = std::env::temp_dir().join(format!("flashscape-{}-{name}", std::process::id()));
    let wishes = Wishes { seed, ..original.model.wishes() };
    assert_eq!(original.model.faults(&wishes), []);
    let to = Destination { output: &output, target: Target::Captured, drop: &[], force: true };
    imitate(&original.model, wishes, to, &mut |_| true).unwrap().expect("nobody ends it");
    let copy = statistics(&output, Some(Format::Captured));
    std::fs::remove_file(&output).unwrap();
    (original, copy)
}

/// Figures by name.
fn figures(of: &Statistics) -> Vec<(String, f64)> {
    let mut list = vec![
        ("requests".to_owned(), of.requests as f64),
        ("bytes".to_owned(), of.bytes as f64),
        ("seconds".to_owned(), of.span_ns as f64 / 1e9),
        ("footprint MiB".to_owned(), of.footprint.touched_bytes as f64 / 1048576.0),
        ("read footprint".to_owned(), of.footprint.read_bytes as f64 / 1048576.0),
        ("written footprint".to_owned(), of.footprint.written_bytes as f64 / 1048576.0),
        ("both".to_owned(), of.footprint.both_bytes as f64 / 1048576.0),
        ("touched share".to_owned(), of.footprint.touched_share),
        ("stretches".to_owned(), of.footprint.stretches as f64),
        ("overwrite ratio".to_owned(), of.footprint.overwrite_ratio.unwrap_or(0.0)),
        ("reread ratio".to_owned(), of.footprint.reread_ratio.unwrap_or(0.0)),
        ("read after write".to_owned(), of.reuse.read_after_write_share),
        ("simultaneous".to_owned(), of.arrivals.simultaneous_share),
    ];
    if let Some(gap) = of.arrivals.gap_ns {
        list.push(("gap cov".to_owned(), gap.cov));
        list.push(("gap p50 us".to_owned(), gap.p50 as f64 / 1e3));
        list.push(("gap p99 us".to_owned(), gap.p99 as f64 / 1e3));
    }
    if let Some(hurst) = &of.arrivals.hurst {
        list.push(("hurst".to_owned(), hurst.exponent));
    }
    for window in &of.arrivals.windows {
        let ms = window.window_ns as f64 / 1e6;
        list.push((format!("idc {ms} ms"), window.dispersion.unwrap_or(0.0)));
        list.push((format!("peak {ms} ms"), window.peak_requests as f64));
    }
    for (side, hot) in
        [("", &of.hotness), ("read ", &of.read_hotness), ("write ", &of.write_hotness)]
    {
        if let Some(hot) = hot {
            list.push((format!("{side}hottest 1 %"), hot.hottest_1));
            list.push((format!("{side}hottest 10 %"), hot.hottest_10));
            list.push((format!("{side}hottest 20 %"), hot.hottest_20));
        }
    }
    for (name, spread) in [
        ("rewrite MiB", &of.reuse.rewrite_distance_bytes),
        ("reread MiB", &of.reuse.reread_distance_bytes),
    ] {
        if let Some(spread) = spread {
            list.push((format!("{name} p50"), spread.p50 as f64 / 1048576.0));
            list.push((format!("{name} p90"), spread.p90 as f64 / 1048576.0));
        }
    }
    for kind in &of.kinds {
        list.extend(of_kind(kind));
    }
    list
}

fn of_kind(of: &KindStatistics) -> Vec<(String, f64)> {
    let kind = of.kind;
    let mut list = vec![(format!("{kind} share"), of.share)];
    if let (Some(size), Some(sequence), Some(alignment)) =
        (&of.size_bytes, &of.sequence, &of.alignment)
    {
        list.push((format!("{kind} size mean"), size.mean));
        list.push((format!("{kind} size p90"), size.p90 as f64));
        list.push((format!("{kind} aligned"), alignment.aligned_4_kib_share));
        list.push((format!("{kind} sequential"), sequence.sequential_share));
        list.push((format!("{kind} contiguous"), sequence.contiguous_share));
        list.push((format!("{kind} far"), sequence.strides.far));
        list.push((format!("{kind} in place"), sequence.strides.in_place));
        if let Some(run) = sequence.run_requests {
            list.push((format!("{kind} run mean"), run.mean));
            list.push((format!("{kind} run p99"), run.p99 as f64));
        }
    }
    list
}

#[test]
fn print_all() {
    for name in [
        "traces/captured/start.csv.gz",
        "traces/captured/sqlite.csv.gz",
        "traces/captured/pginit.csv.gz",
        "traces/captured/pgbench.csv.gz",
        "traces/captured/rm.csv.gz",
        "../shared/traces/tpcc-small.trace",
        "../shared/traces/wsrch-small.trace",
        "../shared/traces/iozone-100k.trace",
        "../shared/traces/postmark.trace",
    ] {
        let path = folder(name);
        if !path.exists() {
            println!("skipped: {} is absent", path.display());
            continue;
        }
        let (original, copy) = pair(&path, 1);
        println!("== {name}");
        let copies = figures(&copy);
        for (name, value) in figures(&original) {
            let other = copies.iter().find(|(n, _)| *n == name).map_or(f64::NAN, |(_, v)| *v);
            println!("{name:22} {value:14.4} {other:14.4} {:8.3}", other / value);
        }
    }
}
