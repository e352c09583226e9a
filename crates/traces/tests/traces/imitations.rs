//! Tests of synthetic traces against their originals: described, imitated, described again.
//! docs/traces.md promises the bounds that are asserted here.

use std::path::{Path, PathBuf};
use traces::imitate::Wishes;
use traces::statistics::{Statistics, measure};
use traces::write::{Destination, Target, imitate};
use traces::{Format, Options};

const MEMORY: u64 = 512 << 20;

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(name)
}

fn statistics(path: &Path, format: Option<Format>) -> Statistics {
    let measured = measure(path, format, &Options::default(), MEMORY, &mut |_| true);
    measured.unwrap_or_else(|error| panic!("{error}")).expect("nobody ends it").statistics
}

/// A trace and its synthetic trace.
fn pair(path: &Path, seed: u64) -> (Statistics, Statistics) {
    pair_of(statistics(path, None), path, seed)
}

fn pair_of(original: Statistics, path: &Path, seed: u64) -> (Statistics, Statistics) {
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

/// Checks the properties that a synthetic trace keeps of a trace of a thousand requests or more,
/// as docs/traces.md lists them.
fn check(name: &str, original: &Statistics, copy: &Statistics) {
    let mut faults = Vec::new();
    let mut near = |what: &str, of: f64, is: f64, low: f64, high: f64| {
        println!("{name}: {what}: {of:.4} becomes {is:.4}");
        if !(is >= low && is <= high) {
            faults.push(format!("{what}: {of} becomes {is}, not {low} to {high}"));
        }
    };
    let mut share = |what: &str, of: f64, is: f64, low: f64, high: f64| {
        near(what, of, is, of * low, of * high);
    };
    share("requests", original.requests as f64, copy.requests as f64, 1.0, 1.0);
    share("bytes", original.bytes as f64, copy.bytes as f64, 1.0, 1.0);
    share("span", original.span_ns as f64, copy.span_ns as f64, 0.98, 1.0);
    let cov = |s: &Statistics| s.arrivals.gap_ns.unwrap().cov;
    share("gap CoV", cov(original), cov(copy), 0.75, 1.25);
    for (of, is) in original.arrivals.windows.iter().zip(&copy.arrivals.windows) {
        if let (Some(of_all), Some(is_now)) = (of.dispersion, is.dispersion) {
            let what = format!("dispersion over {} ms", of.window_ns as f64 / 1e6);
            share(&what, of_all, is_now, 0.65, 1.5);
        }
    }
    let (of, is) = (&original.footprint, &copy.footprint);
    share("footprint", of.touched_bytes as f64, is.touched_bytes as f64, 0.75, 1.02);
    if let (Some(of), Some(is)) = (of.overwrite_ratio, is.overwrite_ratio) {
        share("overwrite ratio", of, is, 0.95, 1.4);
    }
    let hot = |s: &Statistics| s.hotness.as_ref().unwrap().hottest_20;
    near("hottest 20 %", hot(original), hot(copy), hot(original) - 0.13, hot(original) + 0.13);
    for (of, is) in original.kinds.iter().zip(&copy.kinds) {
        let kind = of.kind;
        assert_eq!((kind, of.requests), (is.kind, is.requests), "{name}");
        assert_eq!(of.common_sizes, is.common_sizes, "{name}: sizes of {kind}");
        if let (Some(of), Some(is)) = (&of.alignment, &is.alignment) {
            let (of, is) = (of.begins_4_kib_share, is.begins_4_kib_share);
            near(&format!("{kind} aligned"), of, is, of - 0.03, of + 0.03);
        }
        if let (Some(of), Some(is)) = (&of.sequence, &is.sequence) {
            let (a, b) = (of.sequential_share, is.sequential_share);
            near(&format!("{kind} sequential"), a, b, a - 0.04, a + 0.04);
            let (a, b) = (of.in_place_share, is.in_place_share);
            near(&format!("{kind} in place"), a, b, a - 0.03, a + 0.03);
        }
    }
    assert!(faults.is_empty(), "{name}:\n{}", faults.join("\n"));
}

#[test]
fn synthetic_traces_keep_what_is_promised() {
    for name in [
        "traces/captured/sqlite.csv.gz",
        "traces/captured/pginit.csv.gz",
        "traces/captured/pgbench.csv.gz",
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
        check(name, &original, &copy);
    }
}

/// A file that is removed when the test ends.
struct Scratch(PathBuf);

impl Scratch {
    /// A trace of MQSim: stamp in ns, device, sector, sectors, 1 for a read.
    fn mqsim(name: &str, rows: impl Iterator<Item = [u64; 5]>) -> Self {
        let text: String = rows.map(|row| row.map(|n| n.to_string()).join(" ") + "\n").collect();
        let path = std::env::temp_dir().join(format!("{name}-{}.trace", std::process::id()));
        std::fs::write(&path, text).unwrap();
        Self(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// A sample of a few large stretches is as good a model as all of them: docs/traces.md.
#[test]
fn a_sample_makes_a_synthetic_trace_with_long_runs() {
    // 2 GiB written in order, a gap of as much, 2 GiB read in order, 512 KiB a request.
    let row = |n: u64| [n * 100_000, 0, n * 1024 + (n / 4096) * (4 << 20), 1024, n / 4096];
    let file = Scratch::mqsim("flashscape-sampled", (0..8192).map(row));
    let options = Options::default();
    let sampled = measure(&file.0, Some(Format::Mqsim), &options, 4 << 20, &mut |_| true);
    let sampled = sampled.unwrap().unwrap().statistics;
    assert!(sampled.footprint.sampled_share < 0.2);
    let (original, copy) = pair_of(sampled, &file.0, 1);
    let near = |what: &str, is: f64, low: f64, high: f64| {
        assert!((low..=high).contains(&is), "{what}: {is}");
    };
    // The exact figures: one stretch of each, 4 GiB touched of 6 GiB, all but the first
    // request of each run sequential.
    near("span", original.footprint.span_bytes as f64, 6e9, 7e9);
    for (name, found) in [("sample", &original), ("synthetic", &copy)] {
        let gib = |bytes: u64| bytes as f64 / f64::from(1 << 30);
        near(name, gib(found.footprint.touched_bytes), 2.8, 5.2);
        near(name, found.footprint.stretches as f64, 1.0, 40.0);
        for kind in &found.kinds {
            near(name, kind.sequence.as_ref().unwrap().sequential_share, 0.95, 1.0);
        }
    }
    let gaps: u64 = original.model.layout.gaps.iter().map(|gap| gap.units * 4096).sum();
    near("gaps", gaps as f64 / f64::from(1 << 30), 0.8, 3.2);
}

/// Several devices, and several streams that take turns: tests their runs in a single space that
/// is laid out anew.
#[test]
fn interleaved_streams_keep_less() {
    for (name, devices, streams, spread) in
        [("devices", 3, 1, 1 << 20), ("streams", 1, 12, 1 << 16), ("both", 3, 4, 1 << 14)]
    {
        let mut random = engine::Streams::new(floor::seed(3)).stream(name);
        let mut next = vec![0u64; (devices * streams) as usize];
        let rows = (0..6_000u64).map(|n| {
            let stream = random.below(devices * streams);
            let at = &mut next[stream as usize];
            // Two requests in five go on; hot places are near to the first.
            if !random.chance(0.4) {
                let hot = random.below(spread).min(random.below(spread)).min(random.below(spread));
                *at = (stream / devices) * spread * 8 + hot * 8;
            }
            let sectors = [8, 8, 16, 64][random.below(4) as usize];
            let row = [n * 10_000, stream % devices, *at, sectors, u64::from(random.chance(0.4))];
            *at += sectors;
            row
        });
        let file = Scratch::mqsim(&format!("flashscape-{name}"), rows);
        let original = statistics(&file.0, Some(Format::Mqsim));
        let (original, copy) = pair_of(original, &file.0, 1);
        assert_eq!((original.requests, original.bytes), (copy.requests, copy.bytes));
        let near = |what: &str, of: f64, is: f64, low: f64, high: f64| {
            println!("{name}: {what}: {of:.4} becomes {is:.4}");
            assert!((low..=high).contains(&is), "{name}: {what}: {of} becomes {is}");
        };
        let touched = |s: &Statistics| s.footprint.touched_bytes as f64;
        let of = touched(&original);
        near("footprint", of, touched(&copy), of * 0.75, of * 1.02);
        let hot = |s: &Statistics| s.hotness.as_ref().unwrap().hottest_20;
        near(
            "hottest 20 %",
            hot(&original),
            hot(&copy),
            hot(&original) - 0.2,
            hot(&original) + 0.2,
        );
        for (of, is) in original.kinds.iter().zip(&copy.kinds) {
            assert_eq!(of.common_sizes, is.common_sizes, "{name}");
            let share = |kind: &traces::statistics::KindStatistics| {
                kind.sequence.as_ref().unwrap().sequential_share
            };
            near(of.kind, share(of), share(is), share(of) - 0.12, share(of) + 0.12);
        }
    }
}

/// The synthetic trace of a trace in the repository.
fn text(wishes: impl Fn(Wishes) -> Wishes, name: &str) -> String {
    let model = statistics(&folder("traces/captured/pgbench.csv.gz"), None).model;
    let wishes = wishes(model.wishes());
    assert_eq!(model.faults(&wishes), []);
    let output = std::env::temp_dir().join(format!("flashscape-{}-{name}", std::process::id()));
    let to = Destination { output: &output, target: Target::Captured, drop: &[], force: true };
    imitate(&model, wishes, to, &mut |_| true).unwrap().unwrap();
    let text = std::fs::read_to_string(&output).unwrap();
    std::fs::remove_file(&output).unwrap();
    text
}

#[test]
fn a_seed_gives_one_synthetic_trace_and_another_seed_another() {
    let of_seed = |seed| text(|wishes| Wishes { seed, ..wishes }, &format!("seed-{seed}"));
    assert_eq!(of_seed(7), of_seed(7));
    assert_ne!(of_seed(7), of_seed(8));
}

#[test]
fn a_synthetic_trace_may_be_longer_shorter_and_smaller() {
    // Columns of the rows after the header: stamp in us, end of the range.
    let rows = |text: &str| -> Vec<(u64, u64)> {
        let number = |text: &str| text.parse::<u64>().unwrap();
        let row = |line: &str| {
            let columns: Vec<&str> = line.split(',').collect();
            (number(columns[0]), number(columns[2]) + number(columns[3]))
        };
        text.lines().skip(1).map(row).collect()
    };
    let whole = rows(&text(|wishes| wishes, "whole"));
    let half = rows(&text(|wishes| Wishes { requests: 12_779, ..wishes }, "half"));
    let double = rows(&text(|wishes| Wishes { requests: 51_116, ..wishes }, "double"));
    assert_eq!((whole.len(), half.len(), double.len()), (25_558, 12_779, 51_116));
    let lasts = |rows: &[(u64, u64)]| rows.last().unwrap().0 as f64;
    assert!((lasts(&half) / lasts(&whole) - 0.5).abs() < 0.05, "the rate stays");
    assert!((lasts(&double) / lasts(&whole) - 2.0).abs() < 0.1, "the rate stays");
    let small = rows(&text(|wishes| Wishes { span_bytes: 100 << 20, ..wishes }, "small"));
    assert!(small.iter().all(|(_, end)| *end <= 100 << 20));
    assert!(small.iter().any(|(_, end)| *end > 50 << 20));
    // Less than the 66 MiB that are in use: fewer places, accessed more often.
    let tiny = rows(&text(|wishes| Wishes { span_bytes: 16 << 20, ..wishes }, "tiny"));
    assert!(tiny.iter().all(|(_, end)| *end <= 16 << 20));
}

#[test]
fn descriptions_that_contradict_themselves_are_refused() {
    let model = statistics(&folder("traces/captured/pgbench.csv.gz"), None).model;
    let keys = |change: &dyn Fn(&mut traces::imitate::Model)| {
        let mut changed = model.clone();
        change(&mut changed);
        let faults = changed.faults(&changed.wishes());
        faults.into_iter().map(|fault| fault.key).collect::<Vec<_>>()
    };
    assert_eq!(keys(&|_| {}), [""; 0]);
    assert_eq!(keys(&|m| m.kinds[0].kind = "reed".into()), ["model.kinds[0]"]);
    assert_eq!(keys(&|m| m.kinds[1].starting[0].1 += 1), ["model.kinds[1]"]);
    assert_eq!(keys(&|m| m.arrivals.tick_ns = 0), ["model.arrivals.tick_ns"]);
    assert_eq!(keys(&|m| m.arrivals.profile[0] += 1), ["model.arrivals.profile"]);
    assert_eq!(keys(&|m| m.layout.stretches[0].units = 0), ["model.layout.stretches"]);
    assert_eq!(keys(&|m| m.layout.span_units = 1), ["span"]);
    let all = keys(&|m| {
        m.requests += 1;
        m.layout.read_growth.part_units = 0;
    });
    assert_eq!(all, ["model.requests", "model.arrivals.profile", "model.layout.read_growth"]);
}
