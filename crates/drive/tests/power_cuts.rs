//! Power cuts at random moments of random drives. Each time the auditor checks that no acknowledged
//! data is lost, that no older data comes back, and that the map is sound.
//!
//! A run of each drive without a cut gives its length and its number of events; then the power is
//! cut somewhere in that range, once or up to three times.

mod support;

use drive::recovery::{Outage, PowerCut, PowerCuts};
use drive::{Experiment, Run, RunError, load};
use engine::{Span, Stream, Streams};
use ftl::BlockState;
use settings::Time;
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use support::case::{self, Dice};
use support::kinds::Kind;
use support::ordeal::judged;

/// Cuts of a usual run, and the seed.
const CUTS: u64 = 200;
const SEED: u64 = 1;
/// Number of drives after which each kind of cut must have occurred.
const DRIVES: u64 = 400;
/// Events after which a run is taken to repeat itself without end; the events of a case are some
/// hundred thousand.
const EVENTS: u64 = 4_000_000;

/// Results of many cuts.
#[derive(Default)]
struct Tally {
    drives: u64,
    cuts: u64,
    /// Sums over all recoveries, by name.
    sums: BTreeMap<&'static str, u64>,
    /// Number of runs by the way in which they ended.
    ends: BTreeMap<&'static str, u64>,
    findings: Vec<String>,
}

impl Tally {
    fn add(&mut self, experiment: &Experiment, outages: &[Outage]) {
        self.cuts += outages.len() as u64;
        let ftl = &experiment.drive.ftl;
        for outage in outages {
            let is_torn = outage.half_programmed > 0;
            let of_several_planes = u64::from(is_torn && ftl.block_planes > 1);
            let has_checkpoint = outage.checkpoint_pages > 0 && !outage.interrupted;
            for (name, count) in [
                ("half-programmed", u64::from(outage.half_programmed)),
                ("half-erased", u64::from(outage.half_erased)),
                ("closed early", u64::from(outage.closed_early)),
                ("undone", u64::from(outage.undone)),
                ("lost requests", u64::from(outage.lost_requests)),
                ("saved units", u64::from(outage.saved_units)),
                ("in recovery", u64::from(outage.interrupted)),
                ("migrating", u64::from(outage.migrating)),
                ("torn on several planes", of_several_planes),
                (
                    "changed since a checkpoint",
                    u64::from(has_checkpoint && outage.blocks_scanned > 0),
                ),
                ("with a program under way", u64::from(is_torn)),
                ("with an erase under way", u64::from(outage.half_erased > 0)),
            ] {
                *self.sums.entry(name).or_default() += count;
            }
        }
    }
}

/// The experiment of a case, without power cuts but able to recover; `None` if it is refused.
fn drive_of(number: u64, seed: u64) -> Option<(Experiment, Stream)> {
    let mut dice = Kind::Drive.dice(seed, number);
    // No power cut of the case's own.
    dice[case::DICE - case::PART] = 0;
    let mut text = case::experiment(&dice);
    let mut numbers = Streams::new(seed).stream(&format!("cuts {number}"));
    let more: Vec<u32> = (0..case::PART).map(|_| (numbers.bits() >> 32) as u32).collect();
    let mut more = Dice::new(&more);
    case::recovery(&mut text, &mut more);
    // Features that are rare otherwise: summaries, and data that moves to worn blocks.
    let rare: &[(&str, &str)] = match more.below(6) {
        4 => &[("drive.ftl.summary_page", "true")],
        5 => &[("drive.nand.endurance", "60"), ("drive.ftl.wear", "{ retirement_age = \"99 %\" }")],
        _ => &[],
    };
    let rare: Vec<_> = rare.iter().map(|(path, of)| ((*path).into(), (*of).into())).collect();
    let with_rare = load::load(&text, "case.toml", &rare).ok();
    let loaded = with_rare.or_else(|| load::load(&text, "case.toml", &[]).ok());
    loaded.map(|(mut experiment, _)| {
        experiment.run.audit = true;
        (experiment, numbers)
    })
}

/// The end of a run: completed, or stuck because blocks have failed. The rest of such a drive may
/// have no room for its data; and if a block has gone bad with its erase, there may be no copy any
/// more of the data for the last block (docs/model/power-cuts.md). Any other end is an error, and
/// so is a run that does not end.
fn end(mut run: Run) -> Result<(Run, &'static str), String> {
    let mut events = 0u64;
    loop {
        match run.advance(1 << 12) {
            Ok(true) if events > EVENTS => {
                let now = run.device().now();
                return Err(format!("{EVENTS} events and no end at {now:?}: it goes in circles"));
            }
            Ok(true) => events += 1 << 12,
            Ok(false) => return Ok((run, "completed")),
            Err(RunError::Stuck { .. }) if has_worn_out(&run) => return Ok((run, "worn out")),
            Err(error) => return Err(error.to_string()),
        }
    }
}

/// True if a block went bad with an erase, and not in the factory.
fn has_worn_out(run: &Run) -> bool {
    let ftl = run.device().ftl();
    let erases = ftl.erase_counts().iter();
    ftl.block_states()
        .iter()
        .zip(erases)
        .any(|(state, erases)| *state == BlockState::Bad && *erases > 0)
}

fn started(experiment: &Experiment) -> Result<Option<Run>, String> {
    let surveys = vec![None; experiment.workload.len()];
    match Run::new(experiment, &surveys, &mut |_| true) {
        Ok(run) => Ok(run),
        Err(RunError::NoSpace(_)) => Ok(None),
        Err(error) => Err(error.to_string()),
    }
}

/// A run with power cuts.
struct Cut {
    ended: &'static str,
    experiment: Experiment,
    outages: Vec<Outage>,
    /// Pages that streamed from package to package.
    streamed: u64,
}

/// Cuts the power of a case's drive at random.
fn cut_at_random(number: u64, seed: u64) -> Result<Option<Cut>, String> {
    let Some((mut experiment, mut numbers)) = drive_of(number, seed) else { return Ok(None) };
    let Some(run) = started(&experiment)? else { return Ok(None) };
    let (whole, ended) = end(run)?;
    if ended != "completed" {
        return Ok(None);
    }
    let (time, events) = (whole.elapsed().as_ns().max(1), whole.device().events().max(1));
    let count = 1 + numbers.below(3);
    let cuts = (0..count).map(|_| match numbers.below(2) {
        0 => PowerCut {
            at: Some(Time::from(Span::from_ns(numbers.below(time)))),
            ..PowerCut::default()
        },
        _ => PowerCut { after_events: Some(numbers.below(events)), ..PowerCut::default() },
    });
    experiment.run.power_cut = Some(PowerCuts::Several(cuts.collect()));
    // A run with cuts takes longer, so a limit in time is removed.
    experiment.run.time = None;
    let run = started(&experiment)?.ok_or("without a cut it had space")?;
    let (run, ended) = end(run)?;
    let outages = run.outages().to_vec();
    let streamed = run.device().counters().streamed;
    Ok(Some(Cut { ended, experiment, outages, streamed }))
}

/// Cuts the power of drives until there were `cuts` cuts.
fn campaign(seed: u64, cuts: u64) -> Tally {
    let tally = Mutex::new(Tally::default());
    let next = AtomicU64::new(0);
    let work = || {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if tally.lock().unwrap().cuts >= cuts {
                return;
            }
            let result = judged(|| cut_at_random(number, seed));
            let mut tally = tally.lock().unwrap();
            match result {
                Ok(Some(cut)) => {
                    tally.drives += 1;
                    *tally.ends.entry(cut.ended).or_default() += 1;
                    tally.add(&cut.experiment, &cut.outages);
                    *tally.sums.entry("pages streamed").or_default() += cut.streamed;
                }
                Ok(None) => *tally.ends.entry("not cut").or_default() += 1,
                Err(problem) => {
                    println!("finding: seed {seed}, case {number}: {problem}");
                    tally.findings.push(format!("seed {seed}, case {number}: {problem}"));
                }
            }
        }
    };
    let jobs = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|threads| {
        for _ in 0..jobs {
            threads.spawn(work);
        }
    });
    tally.into_inner().unwrap()
}

fn judge(seed: u64, cuts: u64) {
    println!("at least {cuts} power cuts");
    let tally = campaign(seed, cuts);
    println!("{} power cuts of {} drives; runs: {:?}", tally.cuts, tally.drives, tally.ends);
    println!("{:#?}", tally.sums);
    assert!(
        tally.findings.is_empty(),
        "{} findings:\n{}",
        tally.findings.len(),
        tally.findings.join("\n")
    );
    for name in ["half-programmed", "half-erased", "saved units", "lost requests"] {
        assert!(tally.sums[name] > 0, "nothing was {name}");
    }
    let rare = [
        "undone",
        "in recovery",
        "migrating",
        "pages streamed",
        "torn on several planes",
        "changed since a checkpoint",
    ];
    for name in rare.into_iter().filter(|_| tally.drives >= DRIVES) {
        assert!(tally.sums[name] > 0, "nothing was {name}, with {} drives", tally.drives);
    }
}

fn of_environment(name: &str, usual: u64) -> u64 {
    let given = std::env::var(format!("FLASHSCAPE_POWER_{name}"));
    given.map_or(usual, |given| given.parse().expect("a whole number"))
}

#[test]
fn nothing_is_lost_in_random_power_cuts() {
    judge(floor::seed(SEED), CUTS);
}

/// `make power-cuts SEED=7 CUTS=10000`
#[test]
#[ignore = "ten thousand power cuts take minutes"]
fn nothing_is_lost_in_ten_thousand_power_cuts() {
    judge(floor::seed(SEED), of_environment("CUTS", 10_000));
}

/// One case again: `FLASHSCAPE_POWER_CASE=12`.
#[test]
#[ignore = "a case that was found"]
fn a_case_again() {
    let (number, seed) = (of_environment("CASE", 0), floor::seed(SEED));
    match cut_at_random(number, seed) {
        Ok(Some(cut)) => println!("{}: {:#?}", cut.ended, cut.outages),
        Ok(None) => println!("not cut"),
        Err(problem) => panic!("seed {seed}, case {number}: {problem}"),
    }
}
