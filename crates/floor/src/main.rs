//! `floor`: measures the floors on this machine, best of three repetitions.
#![allow(
    clippy::disallowed_methods,
    reason = "this program measures; it models nothing that could see the wall clock"
)]

use floor::{BareFtl, Random, event_loop};
use serde_json::{Value, json};
use std::io::{ErrorKind, Write};
use std::process::ExitCode;
use std::time::Instant;

const USAGE: &str = "\
floor: how fast a bare FTL and a bare event loop are on this machine

  --blocks N            blocks of the drive (4096)
  --pages-per-block N   a power of two up to 8192 (1024)
  --spare SHARE         share of the physical pages that the host cannot address (0.125)
  --writes N            overwrites in a repetition (20000000)
  --events N            events in a repetition (20000000)
  --seed N              of all random numbers (1)
  --json                one JSON object a line
";

const REPETITIONS: u32 = 3;
/// Addresses that are drawn before they are written.
const BATCH: usize = 256;
const PENDING: [u32; 2] = [16, 256];

struct Options {
    blocks: u32,
    pages_per_block: u32,
    spare: f64,
    writes: u64,
    events: u64,
    seed: u64,
    json: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            blocks: 4096,
            pages_per_block: 1024,
            spare: 0.125,
            writes: 20_000_000,
            events: 20_000_000,
            seed: 1,
            json: false,
        }
    }
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.iter().any(|argument| argument == "--help") {
        print!("{USAGE}");
        return ExitCode::SUCCESS;
    }
    let figures = parse(arguments).and_then(|options| Ok((measure(&options)?, options.json)));
    let (figures, json) = match figures {
        Ok(measured) => measured,
        Err(problem) => {
            eprintln!("floor: {problem}\n\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    let text: String = figures.iter().map(|figure| shown(figure, json)).collect();
    match std::io::stdout().write_all(text.as_bytes()) {
        // The reader of the output may have seen enough.
        Err(problem) if problem.kind() != ErrorKind::BrokenPipe => {
            eprintln!("floor: {problem}");
            ExitCode::FAILURE
        }
        _ => ExitCode::SUCCESS,
    }
}

fn parse(arguments: Vec<String>) -> Result<Options, String> {
    let mut options = Options::default();
    let mut arguments = arguments.into_iter();
    while let Some(name) = arguments.next() {
        if name == "--json" {
            options.json = true;
            continue;
        }
        let mut value = || arguments.next().ok_or(format!("{name} needs a value"));
        match name.as_str() {
            "--blocks" => options.blocks = number(&name, &value()?)?,
            "--pages-per-block" => options.pages_per_block = number(&name, &value()?)?,
            "--spare" => options.spare = number(&name, &value()?)?,
            "--writes" => options.writes = number(&name, &value()?)?,
            "--events" => options.events = number(&name, &value()?)?,
            "--seed" => options.seed = number(&name, &value()?)?,
            _ => return Err(format!("there is no option {name}")),
        }
    }
    check(&options)?;
    Ok(options)
}

fn number<N: std::str::FromStr>(name: &str, text: &str) -> Result<N, String> {
    text.parse().map_err(|_| format!("{name}: {text:?} is not such a number"))
}

fn check(options: &Options) -> Result<(), String> {
    let Options { blocks, pages_per_block, spare, writes, events, .. } = *options;
    if !pages_per_block.is_power_of_two() || pages_per_block > 8192 {
        return Err("--pages-per-block must be a power of two up to 8192".into());
    }
    if blocks == 0 || u64::from(blocks) * u64::from(pages_per_block) >= u64::from(u32::MAX) {
        return Err("the drive must have between 1 and 2^32 - 2 pages".into());
    }
    if !(0.0..1.0).contains(&spare) {
        return Err("--spare must be a share from 0 to below 1".into());
    }
    if writes == 0 || events == 0 {
        return Err("nothing to measure: --writes and --events must not be 0".into());
    }
    Ok(())
}

fn measure(options: &Options) -> Result<Vec<Value>, String> {
    let mut figures = ftl_floor(options)?.to_vec();
    figures.extend(PENDING.map(|pending| event_floor(options, pending)));
    Ok(figures)
}

fn ftl_floor(options: &Options) -> Result<[Value; 2], String> {
    let pages = options.blocks * options.pages_per_block;
    let logical_pages = (f64::from(pages) * (1.0 - options.spare)) as u32;
    let page_bits = options.pages_per_block.trailing_zeros();
    let new = || BareFtl::new(options.blocks, page_bits, logical_pages);
    let mut ftl = new().map_err(|problem| format!("{problem}: raise --spare"))?;

    let fill = |ftl: &mut BareFtl| (0..logical_pages).for_each(|page| ftl.write(page));
    // The memory is the system's to provide when it is first touched; so only the
    // drive that was filled once before is timed.
    fill(&mut ftl);
    let fill_seconds = best(|| fill(&mut ftl));

    let mut random = Random::new(options.seed);
    let mut overwrite = |ftl: &mut BareFtl, writes: u64| {
        let mut pages = [0; BATCH];
        for first in (0..writes).step_by(BATCH) {
            let batch = &mut pages[..(writes - first).min(BATCH as u64) as usize];
            batch.iter_mut().for_each(|page| *page = random.below(logical_pages));
            ftl.write_all(batch);
        }
    };
    // Four times over every page: past the transient that the fill left behind.
    overwrite(&mut ftl, 4 * u64::from(logical_pages));
    let moved_before = ftl.moved();
    let seconds_per_page = (0..REPETITIONS)
        .map(|_| {
            let moved_before = ftl.moved();
            let seconds = seconds(|| overwrite(&mut ftl, options.writes));
            seconds / (options.writes + ftl.moved() - moved_before) as f64
        })
        .fold(f64::INFINITY, f64::min);
    let written = options.writes * u64::from(REPETITIONS);
    let programmed = written + ftl.moved() - moved_before;

    let sequential = json!({
        "floor": "ftl_sequential_overwrite",
        "logical_pages": logical_pages,
        "ns_per_page_programmed": fill_seconds * 1e9 / f64::from(logical_pages),
    });
    let random = json!({
        "floor": "ftl_random_overwrite",
        "blocks": options.blocks,
        "pages_per_block": options.pages_per_block,
        "logical_pages": logical_pages,
        "writes": written,
        "seed": options.seed,
        "ns_per_page_programmed": seconds_per_page * 1e9,
        "write_amplification": programmed as f64 / written as f64,
        "checksum": format!("{:016x}", ftl.checksum()),
    });
    Ok([sequential, random])
}

fn event_floor(options: &Options, pending: u32) -> Value {
    let mut sum = event_loop(pending, options.events / 10, options.seed);
    let seconds = best(|| sum = event_loop(pending, options.events, options.seed));
    json!({
        "floor": "event_loop",
        "pending": pending,
        "events": options.events,
        "seed": options.seed,
        "ns_per_event": seconds * 1e9 / options.events as f64,
        "checksum": format!("{:016x}", sum as u64),
    })
}

fn best(mut work: impl FnMut()) -> f64 {
    (0..REPETITIONS).map(|_| seconds(&mut work)).fold(f64::INFINITY, f64::min)
}

fn seconds(work: impl FnOnce()) -> f64 {
    let begin = Instant::now();
    work();
    begin.elapsed().as_secs_f64()
}

fn shown(figure: &Value, json: bool) -> String {
    if json {
        return format!("{figure}\n");
    }
    let text = |value: &Value| match value {
        Value::String(text) => text.clone(),
        Value::Number(number) if number.is_f64() => {
            format!("{:.3}", number.as_f64().unwrap_or(0.0))
        }
        other => other.to_string(),
    };
    let fields = figure.as_object().into_iter().flatten().enumerate();
    fields
        .map(|(place, (name, value))| match place {
            0 => format!("{}\n", text(value)),
            _ => format!("  {name:<24}{}\n", text(value)),
        })
        .collect()
}
