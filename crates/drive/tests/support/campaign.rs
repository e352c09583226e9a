//! Many cases over all cores: each is a function of the campaign's seed and of its number. A case
//! that fails is shrunk and written to a folder, from which it can be kept as a test. A watchdog
//! names a case that does not end, and ends the process.

use super::kinds::{Case, Kind};
use super::ordeal::Outcome;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Settings of a campaign.
#[derive(Clone)]
pub struct Campaign {
    /// The seed that all cases are derived from.
    pub seed: u64,
    /// The number of the first case.
    pub first: u64,
    /// Number of cases.
    pub cases: u64,
    /// Only cases of this kind, if given.
    pub only: Option<Kind>,
    /// Only cases with this in their text, if given.
    pub has: Option<&'static str>,
    /// Threads.
    pub jobs: u64,
    /// Folder for findings.
    pub folder: PathBuf,
    /// Longest time of a case.
    pub patience: Duration,
    /// True if progress is printed.
    pub is_told: bool,
}

/// Results of a campaign.
#[derive(Default)]
pub struct Tally {
    /// Number of cases by kind and outcome.
    pub outcomes: BTreeMap<(&'static str, &'static str), u64>,
    /// Operations of collection that turned into others.
    pub turned: u64,
    /// Findings, a text each.
    pub findings: Vec<String>,
}

/// A case under way.
struct UnderWay {
    number: u64,
    since: Instant,
}

impl Campaign {
    /// Runs all cases.
    pub fn run(&self) -> Tally {
        std::fs::create_dir_all(&self.folder).expect("a folder for findings");
        let next = AtomicU64::new(self.first);
        let done = AtomicBool::new(false);
        let tally = Mutex::new(Tally::default());
        let desks: Vec<Mutex<Option<UnderWay>>> =
            (0..self.jobs).map(|_| Mutex::new(None)).collect();
        let work = |job: usize| self.work(job, &next, &desks[job], &tally);
        let work = &work;
        std::thread::scope(|threads| {
            let watchdog = threads.spawn(|| self.watch(&desks, &tally, &done));
            let workers: Vec<_> =
                (0..desks.len()).map(|job| threads.spawn(move || work(job))).collect();
            let ended: Vec<_> = workers.into_iter().map(|worker| worker.join()).collect();
            done.store(true, Ordering::Relaxed);
            watchdog.join().expect("the watchdog only looks");
            ended.into_iter().for_each(|ended| ended.expect("a worker outlives its cases"));
        });
        tally.into_inner().expect("nobody panics with it")
    }

    /// The work of one thread.
    fn work(
        &self,
        job: usize,
        next: &AtomicU64,
        desk: &Mutex<Option<UnderWay>>,
        tally: &Mutex<Tally>,
    ) {
        let folder =
            std::env::temp_dir().join(format!("flashscape-fuzz-{}-{job}", std::process::id()));
        // The name of the case remains, whatever ends the process.
        let note = self.folder.join(format!("running-{job}"));
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= self.first + self.cases {
                break;
            }
            let kind = Kind::of(number);
            if self.only.is_some_and(|only| only != kind) {
                continue;
            }
            let dice = kind.dice(self.seed, number);
            if self.has.is_some_and(|has| !kind.case(&dice).text.contains(has)) {
                continue;
            }
            *desk.lock().unwrap() = Some(UnderWay { number, since: now() });
            std::fs::write(&note, self.name(number)).expect("room for a note");
            let result = run(kind, &dice, &folder);
            if let Err(problem) = &result {
                self.shrink(number, dice, problem, &folder, desk);
            }
            *desk.lock().unwrap() = None;
            tally.lock().unwrap().add(kind, result, || self.name(number));
        }
        let _ = std::fs::remove_file(note);
        let _ = std::fs::remove_dir_all(folder);
    }

    /// Name of a case in reports, sufficient to run it again.
    fn name(&self, number: u64) -> String {
        format!("seed {}, case {number} ({})", self.seed, Kind::of(number).name())
    }

    /// Shrinks a failing case as long as it fails, and writes it down.
    fn shrink(
        &self,
        number: u64,
        dice: Vec<u32>,
        problem: &str,
        folder: &Path,
        desk: &Mutex<Option<UnderWay>>,
    ) {
        let kind = Kind::of(number);
        let place = self.folder.join(format!("{}-{}-{number}", kind.name(), self.seed));
        println!("finding: {}: {problem}\n  in {}", self.name(number), place.display());
        // First unchanged, in case that shrinking does not end.
        self.keep(&place, number, &kind.case(&dice), problem);
        let until = now() + SHRINKING;
        let mut last = problem.to_owned();
        let smaller = smaller(dice, &mut |dice| {
            *desk.lock().unwrap() = Some(UnderWay { number, since: now() });
            if now() > until {
                return false;
            }
            match run(kind, dice, folder) {
                // Another fault is another finding.
                Err(found) if is_like(&found, problem) => {
                    last = found;
                    true
                }
                _ => false,
            }
        });
        self.keep(&place, number, &kind.case(&smaller), &last);
    }

    fn keep(&self, place: &Path, number: u64, case: &Case, problem: &str) {
        case.write(place);
        let text = format!("{}\n{problem}\n", self.name(number));
        std::fs::write(place.join("finding.txt"), text).expect("room for the finding");
    }

    /// Watches the time of cases and reports progress.
    fn watch(&self, desks: &[Mutex<Option<UnderWay>>], tally: &Mutex<Tally>, done: &AtomicBool) {
        let (begun, mut told) = (now(), now());
        while !done.load(Ordering::Relaxed) {
            std::thread::sleep(Duration::from_millis(50));
            for desk in desks {
                let endless = desk.lock().unwrap().as_ref().and_then(|under_way| {
                    (under_way.since.elapsed() > self.patience).then_some(under_way.number)
                });
                if let Some(number) = endless {
                    self.give_up(number);
                }
            }
            if self.is_told && told.elapsed() > TELLING {
                told = now();
                let tally = tally.lock().unwrap();
                let cases: u64 = tally.outcomes.values().sum();
                println!(
                    "{cases} of {} cases, {:.0} a second, {} findings",
                    self.cases,
                    cases as f64 / begun.elapsed().as_secs_f64(),
                    tally.findings.len()
                );
            }
        }
    }

    /// Gives up on a case that does not end: only the end of the process can end it.
    fn give_up(&self, number: u64) -> ! {
        let kind = Kind::of(number);
        let place = self.folder.join(format!("{}-{}-{number}", kind.name(), self.seed));
        let problem = format!("no end after {} s", self.patience.as_secs());
        println!("finding: {}: {problem}\n  in {}", self.name(number), place.display());
        if !place.exists() {
            self.keep(&place, number, &kind.case(&kind.dice(self.seed, number)), &problem);
        }
        std::process::exit(1);
    }
}

/// Longest time of shrinking a failing case.
const SHRINKING: Duration = Duration::from_secs(60);
/// Time between two lines of progress.
const TELLING: Duration = Duration::from_secs(10);

#[allow(clippy::disallowed_methods, reason = "a hang is one by the clock on the wall")]
fn now() -> Instant {
    Instant::now()
}

fn run(kind: Kind, dice: &[u32], folder: &Path) -> Result<(Outcome, u64), String> {
    super::ordeal::judged(|| {
        let case = kind.case(dice);
        if !case.files.is_empty() {
            case.write(folder);
        }
        case.run(folder)
    })
}

/// True if two problems are the same, up to figures in them.
fn is_like(one: &str, other: &str) -> bool {
    let words = |text: &str| -> String {
        text.lines().next().unwrap_or("").chars().filter(|c| !c.is_ascii_digit()).take(60).collect()
    };
    words(one) == words(other)
}

/// Dice that still fail, with as many of them as small as possible: whole stretches are set to zero
/// at first, then single dice are halved.
pub fn smaller(mut dice: Vec<u32>, fails: &mut dyn FnMut(&[u32]) -> bool) -> Vec<u32> {
    let mut stretch = 64;
    while stretch > 0 {
        for from in (0..dice.len()).step_by(stretch) {
            let to = (from + stretch).min(dice.len());
            if dice[from..to].iter().all(|die| *die == 0) {
                continue;
            }
            let mut less = dice.clone();
            less[from..to].fill(0);
            if fails(&less) {
                dice = less;
            }
        }
        stretch /= 2;
    }
    for index in 0..dice.len() {
        while dice[index] > 0 {
            let mut less = dice.clone();
            less[index] /= 2;
            if !fails(&less) {
                break;
            }
            dice = less;
        }
    }
    dice
}

impl Tally {
    fn add(
        &mut self,
        kind: Kind,
        result: Result<(Outcome, u64), String>,
        name: impl FnOnce() -> String,
    ) {
        let outcome = match result {
            Ok((outcome, turned)) => {
                self.turned += turned;
                outcome.name()
            }
            Err(problem) => {
                self.findings.push(format!("{}: {problem}", name()));
                "finding"
            }
        };
        *self.outcomes.entry((kind.name(), outcome)).or_default() += 1;
    }

    /// Cases of a kind with an outcome.
    pub fn count(&self, kind: Kind, outcome: &str) -> u64 {
        self.outcomes
            .iter()
            .filter(|((of, ended), _)| *of == kind.name() && *ended == outcome)
            .map(|(_, count)| count)
            .sum()
    }

    /// A table of all outcomes.
    pub fn told(&self) -> String {
        let line = |((kind, outcome), count): (&(&str, &str), &u64)| {
            format!("  {kind:<6} {outcome:<28} {count:>8}\n")
        };
        self.outcomes.iter().map(line).collect()
    }
}
