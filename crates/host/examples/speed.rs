//! Measures what requests cost: `cargo run --release -p flashscape-host --example speed`.
#![allow(clippy::disallowed_methods, reason = "a measurement of real time needs a real clock")]

use engine::Streams;
use host::{Source, WorkloadConfig, trace};
use std::fmt::Write as _;
use std::hint::black_box;
use std::time::Instant;

const CAPACITY: u64 = 64 << 30;
const REQUESTS: u64 = 20_000_000;
const ROWS: u64 = 4_000_000;

fn main() {
    for (name, rest) in [
        ("uniform 4 KiB, closed", "reads = '100 %'"),
        ("uniform 4 KiB, 70/30", "reads = '70 %'"),
        ("sequential", "reads = '0 %'\naddresses = { pattern = 'sequential' }"),
        (
            "jesd219, poisson",
            "reads = '70 %'\naddresses = { pattern = 'jesd219' }\narrivals = { process = 'poisson', rate = '2000 IOPS' }",
        ),
        ("zipf 0.99", "reads = '70 %'\naddresses = { pattern = 'zipf', theta = 0.99 }"),
        ("exponential sizes", "reads = '70 %'\nsize = { mean = '4 KiB' }"),
    ] {
        let config: WorkloadConfig = toml::from_str(&format!("name = 'speed'\n{rest}")).unwrap();
        let mut source = Source::build(&config, CAPACITY, Streams::new(1)).unwrap();
        let begun = Instant::now();
        for _ in 0..REQUESTS {
            black_box(source.next().unwrap());
        }
        let ns = begun.elapsed().as_nanos() as f64 / REQUESTS as f64;
        println!("{name:<24}{ns:6.1} ns a request");
    }
    for (format, text) in [("mqsim", mqsim()), ("disksim", disksim()), ("captured", captured())] {
        let path =
            std::env::temp_dir().join(format!("flashscape-speed-{}.{format}", std::process::id()));
        std::fs::write(&path, &text).unwrap();
        let begun = Instant::now();
        let survey = black_box(trace::survey(&path, None).unwrap());
        let surveyed = survey.rows as f64 / begun.elapsed().as_secs_f64() / 1e6;
        let config = format!("name = 'speed'\ntrace = {{ file = '{}' }}", path.display());
        let config: WorkloadConfig = toml::from_str(&config).unwrap();
        let mut source =
            Source::build_surveyed(&config, Some(&survey), CAPACITY, Streams::new(1)).unwrap();
        let begun = Instant::now();
        let mut rows = 0;
        while let Some(request) = source.next().unwrap() {
            black_box(request);
            rows += 1;
        }
        let replayed = rows as f64 / begun.elapsed().as_secs_f64() / 1e6;
        let bytes = text.len() as u64 / survey.rows;
        println!(
            "{format:<10}{bytes} B a row: survey {surveyed:.1}, replay {replayed:.1} million rows a second"
        );
        std::fs::remove_file(&path).unwrap();
    }
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
