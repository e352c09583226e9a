//! Other uses of the traces of a case: figures, another format, a synthetic trace. The results
//! depend on the contents of a file alone.

use drive::Experiment;
use engine::{Stream, Streams};
use host::Kind;
use std::path::Path;
use traces::imitate::Wishes;
use traces::statistics::{Statistics, measure};
use traces::write::{Choices, Destination, Target, convert, imitate};
use traces::{TraceError, survey};

/// Most requests of a synthetic trace that is longer or shorter than its trace.
const ROWS_MAX: u64 = 400;

/// Duration from which a trace may have no synthetic trace, as after damage: 146 years.
const LONG_NS: u64 = 1 << 62;

/// Range of addresses from which a trace may have no synthetic trace: 4 EiB.
const WIDE_BYTES: u64 = 1 << 62;

/// Measures each trace of an experiment, converts it, and makes a synthetic trace for it. Its files
/// are in `folder`; if they are sound, all of this succeeds.
///
/// # Errors
/// The first fault.
pub fn taken(experiment: &Experiment, folder: &Path, is_sound: bool) -> Result<(), String> {
    for trace in experiment.workload.iter().filter_map(|workload| workload.trace.as_ref()) {
        let file = folder.join(&trace.file);
        let Ok(content) = std::fs::read(&file) else { continue };
        let hash = content
            .iter()
            .fold(7u64, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3));
        let mut stream = Streams::new(hash).stream("figures");
        // With few blocks, as if it were too large for the memory.
        let memory = if stream.chance(0.5) { 1 << 20 } else { 1 };
        let measured = measure(&file, trace.format, &trace.options(), memory, &mut |_| true);
        let measured = match measured {
            Ok(measured) => measured.expect("nobody ends it"),
            Err(error) if is_sound => return Err(format!("a sound trace has no figures: {error}")),
            Err(error) => {
                names(&error, &file)?;
                continue;
            }
        };
        add_up(&measured.statistics)?;
        let out = folder.join("taken.out");
        let target = Target::ALL[stream.below(Target::ALL.len() as u64) as usize];
        let choices =
            Choices { format: trace.format, options: trace.options(), ..Choices::default() };
        converted(&file, &out, target, choices, measured.statistics.requests, &mut stream)?;
        check_synthetic(&measured.statistics, &out, target, &mut stream)?;
    }
    Ok(())
}

/// Checks that parts of the figures sum to the whole.
fn add_up(found: &Statistics) -> Result<(), String> {
    let requests = |sum: u64| {
        let is_whole = sum == found.requests;
        is_whole.then_some(()).ok_or_else(|| format!("{sum} of {} requests", found.requests))
    };
    requests(found.kinds.iter().map(|kind| kind.requests).sum())?;
    requests(found.devices.iter().map(|device| device.requests).sum())?;
    let footprint = &found.footprint;
    let most = footprint.read_bytes.saturating_add(footprint.written_bytes);
    if most != footprint.touched_bytes + footprint.both_bytes {
        return Err(format!("parts that are not the whole: {footprint:?}"));
    }
    let shares = [footprint.touched_share, found.reuse.read_after_write_share];
    if shares.iter().any(|share| !(0.0..=1.0).contains(share)) {
        return Err(format!("no shares: {shares:?}"));
    }
    serde_json::to_string(found).map(drop).map_err(|error| error.to_string())
}

/// Checks that the result of a conversion can be read back.
fn converted(
    file: &Path,
    out: &Path,
    target: Target,
    choices: Choices,
    requests: u64,
    stream: &mut Stream,
) -> Result<(), String> {
    let choices = Choices {
        round: stream.chance(0.8),
        sort: stream.chance(0.5),
        rebase: stream.chance(0.5),
        time_scale: stream.chance(0.3).then_some(1.5),
        drop: if stream.chance(0.7) { vec![Kind::Trim, Kind::Flush] } else { Vec::new() },
        force: true,
        ..choices
    };
    let done = match convert(file, out, target, &choices, &mut |_| true) {
        Ok(done) => done.expect("nobody ends it"),
        Err(error) => return names(&error, file),
    };
    let left = done.dropped.iter().sum::<u64>() + done.not_asked_for;
    if done.read != requests || done.written + left != requests {
        return Err(format!("{requests} requests are converted as {done:?}"));
    }
    read_back(out, target, done.written)
}

/// Checks that a synthetic trace can be made of every measured trace, and has as many requests.
fn check_synthetic(
    found: &Statistics,
    out: &Path,
    target: Target,
    stream: &mut Stream,
) -> Result<(), String> {
    let model = &found.model;
    let usual = model.wishes();
    let requests = if stream.chance(0.5) { usual.requests } else { 1 + stream.below(ROWS_MAX) };
    let wishes = Wishes { requests, seed: stream.bits(), ..usual };
    let faults = model.faults(&usual);
    if !faults.is_empty() && (found.span_ns >= LONG_NS || usual.span_bytes > WIDE_BYTES) {
        return Ok(());
    }
    if !faults.is_empty() {
        return Err(format!("a description is refused: {faults:?}"));
    }
    let drop = [Kind::Trim, Kind::Flush, Kind::WriteZeroes];
    let to = Destination { output: out, target, drop: &drop, force: true };
    let done = match imitate(model, wishes, to, &mut |_| true) {
        Ok(done) => done.expect("nobody ends it"),
        Err(error) => return names(&error, out),
    };
    if done.written + done.dropped.iter().sum::<u64>() != requests {
        return Err(format!("a synthetic trace of {requests} requests is {done:?}"));
    }
    read_back(out, target, done.written)
}

fn read_back(out: &Path, target: Target, rows: u64) -> Result<(), String> {
    let format = traces::Format::ALL.iter().find(|format| format.name() == target.name());
    let survey = survey(out, format.copied()).map_err(|error| format!("written, then: {error}"))?;
    let is_whole = survey.rows == rows;
    is_whole.then_some(()).ok_or_else(|| format!("{rows} rows are written, {} read", survey.rows))
}

fn names(error: &TraceError, file: &Path) -> Result<(), String> {
    let is_named = error.file == file && !error.problem.is_empty();
    is_named.then_some(()).ok_or_else(|| format!("an error of another file: {error}"))
}
