//! Runs an experiment to its end under audit and says what went wrong, if
//! anything did.

use drive::{Device, Experiment, Run, RunError, load};

/// How an experiment ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Everything asked for was done.
    Completed(Box<Account>),
    /// `check` refused it, with these problems.
    Refused(String),
    /// Blocks wore out until what was left could not hold the data: no fault.
    WornOut,
}

/// What a run did, as far as two runs of an experiment must agree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Account {
    digest: u64,
    events: u64,
    counters: drive::Counters,
    tally: ftl::Tally,
    erase_counts: Vec<u32>,
    /// Of each initiator's requests, by kind and latency.
    blame: Vec<String>,
}

/// Events after which a run counts as endless; the longest takes a tenth of it.
const EVENTS_MOST: u64 = 1_500_000;

/// Runs the experiment of `text`, with or without the device's short ways; also
/// returns how many operations of collection another one turned into.
///
/// # Errors
/// What is wrong, where something is; also where it panicked, as the auditor and
/// the blame do.
pub fn run(text: &str, short_ways: bool) -> Result<(Outcome, u64), String> {
    std::panic::catch_unwind(|| attempt(text, short_ways)).unwrap_or_else(|panic| {
        let said = panic.downcast_ref::<String>().cloned();
        Err(said.unwrap_or_else(|| match panic.downcast_ref::<&str>() {
            Some(said) => (*said).to_owned(),
            None => "a panic without words".to_owned(),
        }))
    })
}

fn attempt(text: &str, short_ways: bool) -> Result<(Outcome, u64), String> {
    match load::load(text, "case.toml", &[]) {
        Err(problems) => Ok((Outcome::Refused(problems.to_string()), 0)),
        Ok((experiment, _)) => run_checked(&experiment, short_ways),
    }
}

fn run_checked(experiment: &Experiment, short_ways: bool) -> Result<(Outcome, u64), String> {
    let surveys = vec![None; experiment.workload.len()];
    let mut run = match Run::new(experiment, &surveys, &mut |_| true) {
        Ok(run) => run.expect("nobody ends it"),
        // Blocks may have worn out during preconditioning, out of sight.
        Err(RunError::NoSpace(_)) if wears(experiment) => return Ok((Outcome::WornOut, 0)),
        Err(error) => return Err(error.to_string()),
    };
    if !short_ways {
        run.device_mut().forgo_short_ways();
    }
    let mut events = 0;
    loop {
        match run.advance(1 << 14) {
            Ok(true) => {}
            Ok(false) => break,
            Err(RunError::Stuck { .. }) if is_worn(run.device(), experiment) => {
                return Ok((Outcome::WornOut, run.device().chained()));
            }
            Err(error) => return Err(error.to_string()),
        }
        events += 1 << 14;
        if events > EVENTS_MOST {
            return Err(format!("no end after {events} events, {} requests", run.issued()));
        }
    }
    run.finish();
    account_for_all(&run)?;
    let blame = run.measured().kinds().map(|(name, kind, stats)| {
        format!("{name} {kind:?} {:?}", stats.bands.iter().collect::<Vec<_>>())
    });
    let device = run.device();
    let account = Account {
        digest: device.digest(),
        events: device.events(),
        counters: *device.counters(),
        tally: device.ftl().tally,
        erase_counts: device.ftl().erase_counts().to_vec(),
        blame: blame.collect(),
    };
    let chained = device.chained();
    if short_ways {
        restart(run, experiment)?;
    }
    Ok((Outcome::Completed(Box::new(account)), chained))
}

/// Shuts the drive down and starts it again: its map is sound, and what it holds can be
/// read and overwritten.
fn restart(run: Run, experiment: &Experiment) -> Result<(), String> {
    let worn = is_worn(run.device(), experiment);
    let snapshot = match run.into_snapshot(experiment) {
        Ok(snapshot) => snapshot,
        Err(_) if worn => return Ok(()),
        Err(error) => return Err(error.to_string()),
    };
    snapshot.firmware().map_err(|error| error.to_string())?.audit()?;
    let mut again = experiment.clone();
    again.run.requests = Some(again.run.requests.map_or(50, |most| most.min(50)));
    again.run.warm_up = None;
    let prepared = drive::Prepared::new(&again, Some(&snapshot), &mut |_| true);
    let prepared = prepared.map_err(|error| error.to_string())?.expect("nobody ends it");
    let surveys = vec![None; again.workload.len()];
    let mut run = Run::start(&again, &surveys, prepared).map_err(|error| error.to_string())?;
    loop {
        match run.advance(1 << 14) {
            Ok(true) => {}
            Ok(false) => return Ok(()),
            Err(RunError::Stuck { .. }) if is_worn(run.device(), experiment) => return Ok(()),
            Err(error) => return Err(format!("started again: {error}")),
        }
    }
}

/// True where blocks may be retired during a run.
fn wears(experiment: &Experiment) -> bool {
    experiment.drive.nand.endurance > 0
        || experiment.drive.ftl.bad_blocks.grown_per_erase.fraction() > 0.0
}

/// True where blocks were retired since the drive was new.
fn is_worn(device: &Device, experiment: &Experiment) -> bool {
    let new = Device::new(&experiment.drive, experiment.seed);
    wears(experiment) && device.ftl().tally.retired > new.ftl().tally.retired
}

/// What was counted adds up: requests, and the blame of each kind.
fn account_for_all(run: &Run) -> Result<(), String> {
    if run.device().outstanding() > 0 {
        return Err(format!("{} requests never completed", run.device().outstanding()));
    }
    let mut counted = 0;
    for kind in run.measured().initiators().iter().flat_map(|initiator| &initiator.kinds) {
        let Some(stats) = kind else { continue };
        counted += stats.latency.count();
    }
    if counted > run.issued() {
        return Err(format!("{counted} completions of {} requests", run.issued()));
    }
    Ok(())
}
