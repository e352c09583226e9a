//! Measures what requests cost: `cargo run --release -p flashscape-host --example speed`.
#![allow(clippy::disallowed_methods, reason = "a measurement of real time needs a real clock")]

use engine::Streams;
use host::{Source, WorkloadConfig};
use std::fmt::Write as _;
use std::hint::black_box;
use std::time::Instant;

const CAPACITY: u64 = 64 << 30;
const REQUESTS: u64 = 20_000_000;
const ROWS: u64 = 4_000_000;

fn main() {
    for (name, keys) in [
        ("uniform 4 KiB", "reads = '100 %'"),
        ("uniform 4 KiB, 70/30", "reads = '70 %'"),
        ("sequential", "reads = '0 %'\naddresses = { pattern = 'sequential' }"),
        ("jesd219", "reads = '70 %'\naddresses = { pattern = 'jesd219' }"),
        ("zipf 0.99", "reads = '70 %'\naddresses = { pattern = 'zipf', theta = 0.99 }"),
        ("exponential sizes", "reads = '70 %'\nsize = { mean = '4 KiB' }"),
        ("poisson", "reads = '70 %'\narrivals = { process = 'poisson', rate = '2000 IOPS' }"),
    ] {
        synthetic(name, keys);
    }
    for (format, text) in [("mqsim", mqsim()), ("disksim", disksim()), ("captured", captured())] {
        trace(format, &text);
    }
}

/// Prints the time that a request of a synthetic workload takes.
fn synthetic(name: &str, keys: &str) {
    let config: WorkloadConfig = toml::from_str(&format!("name = 'speed'\n{keys}")).unwrap();
    let mut source = Source::build(&config, CAPACITY, Streams::new(1)).unwrap();
    let begun = Instant::now();
    for _ in 0..REQUESTS {
        black_box(source.next().unwrap());
    }
    let ns = begun.elapsed().as_nanos() as f64 / REQUESTS as f64;
    println!("{name:<22}{ns:6.1} ns a request");
}

/// Prints how many rows a second are surveyed and replayed.
fn trace(format: &str, text: &str) {
    let name = format!("flashscape-speed-{}.{format}", std::process::id());
    let path = std::env::temp_dir().join(name);
    std::fs::write(&path, text).unwrap();
    let keys = format!("name = 'speed'\ntrace = {{ file = '{}' }}", path.display());
    let config: WorkloadConfig = toml::from_str(&keys).unwrap();
    let million_a_second = |begun: Instant| ROWS as f64 / begun.elapsed().as_secs_f64() / 1e6;

    let begun = Instant::now();
    let survey = config.survey().unwrap();
    let surveyed = million_a_second(begun);

    let mut source =
        Source::build_surveyed(&config, survey.as_ref(), CAPACITY, Streams::new(1)).unwrap();
    let begun = Instant::now();
    for _ in 0..ROWS {
        black_box(source.next().unwrap().expect("the trace has so many rows"));
    }
    let replayed = million_a_second(begun);

    let bytes = text.len() as u64 / ROWS;
    println!(
        "{format:<9} rows of {bytes} B: survey {surveyed:.1}, replay {replayed:.1} million a second"
    );
    std::fs::remove_file(&path).unwrap();
}

/// Addresses and lengths like those of a real trace, in sectors.
fn requests() -> impl Iterator<Item = (u64, u64, u64)> {
    let mut stream = Streams::new(2).stream("rows");
    (0..ROWS).map(move |_| (stream.below(1 << 26), 8 + 8 * stream.below(32), stream.below(2)))
}

fn mqsim() -> String {
    requests().enumerate().fold(String::new(), |mut text, (row, (at, length, kind))| {
        writeln!(text, "{} 0 {at} {length} {kind}", 938_513_000 + row * 19_500).unwrap();
        text
    })
}

fn disksim() -> String {
    requests().enumerate().fold(String::new(), |mut text, (row, (at, length, kind))| {
        let us = 7_961_833 + row * 20;
        writeln!(text, "{}.{:03} 0 {at} {length} {kind}", us / 1_000, us % 1_000).unwrap();
        text
    })
}

fn captured() -> String {
    let header = "time_us,op,offset,length\n".to_owned();
    requests().enumerate().fold(header, |mut text, (row, (at, length, kind))| {
        let letter = if kind == 0 { 'W' } else { 'R' };
        writeln!(text, "{},{letter},{},{}", row * 20, at * 512, length * 512).unwrap();
        text
    })
}
