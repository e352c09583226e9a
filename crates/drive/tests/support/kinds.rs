//! The kinds of case: the random parts of each, and the condition on which it passes.

use super::ordeal::{Bounds, Outcome, judged, run, run_both_ways};
use super::{case, figures, mutations, traces};
use drive::Experiment;
use drive::load;
use engine::Streams;
use settings::{Document, Problems};
use std::path::Path;

/// Subject of a case.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// A drive and synthetic workloads.
    Drive,
    /// A drive and traces.
    Trace,
    /// The text of an experiment, which may be anything.
    Text,
}

/// A case, ready to be run in a folder.
pub struct Case {
    /// Its subject.
    pub kind: Kind,
    /// The experiment file.
    pub text: String,
    /// Names and contents of the files that it uses.
    pub files: Vec<(String, Vec<u8>)>,
    /// True if every trace in it must be read.
    pub is_sound: bool,
}

impl Kind {
    /// Every kind.
    pub const ALL: [Self; 3] = [Self::Drive, Self::Trace, Self::Text];

    /// The kind of the case with this number.
    pub fn of(number: u64) -> Self {
        Self::ALL[(number % 3) as usize]
    }

    /// Its name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Drive => "drive",
            Self::Trace => "trace",
            Self::Text => "text",
        }
    }

    /// The dice of case `number` of a campaign: they depend on nothing else.
    pub fn dice(self, seed: u64, number: u64) -> Vec<u32> {
        let count = match self {
            Self::Drive => case::DICE,
            Self::Trace => traces::DICE,
            Self::Text => mutations::DICE,
        };
        let mut stream = Streams::new(seed).stream(&format!("case {number}"));
        (0..count).map(|_| (stream.bits() >> 32) as u32).collect()
    }

    /// The case that dice describe.
    pub fn case(self, dice: &[u32]) -> Case {
        let of_text = |text| Case { kind: self, text, files: Vec::new(), is_sound: false };
        match self {
            Self::Drive => of_text(case::experiment(dice)),
            Self::Text => of_text(mutations::text(dice)),
            Self::Trace => {
                let traces::Traced { text, files, is_sound } = traces::experiment(dice);
                Case { kind: self, text, files, is_sound }
            }
        }
    }
}

/// Mark in the first lines of a kept file.
const SOUND: &str = "# traces: sound";
const OUTCOME: &str = "# outcome: ";

impl Case {
    /// A case that was kept as `file`.
    ///
    /// # Panics
    /// If there is no such file.
    pub fn kept(kind: Kind, file: &Path) -> Self {
        let text = std::fs::read_to_string(file).expect("a case that was kept");
        let is_sound = text.lines().any(|line| line == SOUND);
        Self { kind, text, files: Vec::new(), is_sound }
    }

    /// The expected end, if the case names one.
    pub fn outcome(&self) -> Option<&str> {
        self.text.lines().find_map(|line| line.strip_prefix(OUTCOME))
    }

    /// Writes the case into a folder, with a mark in its first line if its traces are sound.
    pub fn write(&self, folder: &Path) {
        std::fs::create_dir_all(folder).expect("a folder for the case");
        let says = if self.is_sound { format!("{SOUND}\n") } else { String::new() };
        let text = [("case.toml".to_owned(), (says + &self.text).into_bytes())];
        for (name, content) in text.iter().chain(&self.files) {
            std::fs::write(folder.join(name), content).expect("room for the case");
        }
    }

    /// Runs the case; its files are in `folder`. Also returns the number of operations of
    /// collection that another one turned into.
    ///
    /// # Errors
    /// The first fault, including a panic.
    pub fn run(&self, folder: &Path) -> Result<(Outcome, u64), String> {
        let (outcome, turned) = match self.kind {
            Kind::Drive => run_both_ways(&self.text, folder)?,
            Kind::Trace => {
                let ended = run_both_ways(&self.text, folder)?;
                if let Ok((experiment, _)) = load::load(&self.text, "case.toml", &[]) {
                    judged(|| figures::taken(&experiment, folder, self.is_sound))?;
                }
                ended
            }
            Kind::Text => judged(|| of_text(&self.text, folder))?,
        };
        match outcome {
            Outcome::Untraceable(why) if self.is_sound => {
                Err(format!("a sound trace is refused: {why}"))
            }
            outcome => Ok((outcome, turned)),
        }
    }
}

/// Any text is an experiment or has problems with their positions. An experiment stays the same
/// when it is written out and read again, and runs if it is small.
fn of_text(text: &str, folder: &Path) -> Result<(Outcome, u64), String> {
    let (experiment, checked) = match load::load(text, "case.toml", &[]) {
        Ok(loaded) => loaded,
        Err(problems) => return refused(&problems).map(|outcome| (outcome, 0)),
    };
    reads_back(&experiment, text)?;
    let derived = checked.derived(&experiment);
    serde_json::to_string(&derived).map_err(|error| format!("derived: {error}"))?;
    run(&experiment, folder, true, Bounds::SHORT)
}

fn refused(problems: &Problems) -> Result<Outcome, String> {
    if problems.is_empty() || problems.file.is_empty() {
        return Err(format!("refused without a reason: {problems:?}"));
    }
    for problem in &problems.problems {
        // A fault of the whole file has no path in it.
        let is_placed = !problem.path.is_empty() || problem.line.is_some() || problems.len() == 1;
        if !is_placed || problem.message.trim().is_empty() {
            return Err(format!("a problem without a place or a reason: {problem:?}"));
        }
    }
    let said = problems.to_string();
    if said.len() > 1 << 20 {
        return Err(format!("{} bytes of problems", said.len()));
    }
    Ok(Outcome::Refused(said))
}

/// Checks that the experiment as JSON, and its text as JSON, are that experiment again.
fn reads_back(experiment: &Experiment, text: &str) -> Result<(), String> {
    let written = serde_json::to_string(experiment).map_err(|error| error.to_string())?;
    let document = Document::parse(text, "case.toml").map_err(|problems| problems.to_string())?;
    let root = serde_json::to_string(document.root()).map_err(|error| error.to_string())?;
    for (what, text) in [("resolved", &written), ("as JSON", &root)] {
        let (again, _) = load::load_json(text, "case.json", &[])
            .map_err(|problems| format!("{what} it is refused: {problems}\n{text}"))?;
        let again = serde_json::to_string(&again).map_err(|error| error.to_string())?;
        if again != written {
            return Err(format!("{what} it is another experiment:\n{written}\n{again}"));
        }
    }
    Ok(())
}
