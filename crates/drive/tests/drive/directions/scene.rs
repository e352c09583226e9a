//! An experiment in which something is measured. It does not know the value of the parameter in
//! question, which reaches it through the configuration's text alone.

use crate::common::{self, Bench, Override};
use drive::presets::{PRESETS, preset};
use drive::{Experiment, Run, load};
use serde_json::Value;
use settings::{Document, Problems};

/// An experiment, as a text and its overrides.
pub struct Scene {
    text: String,
    overrides: Vec<(String, String)>,
}

impl Scene {
    /// The scene of these workloads on the small drive of the tests.
    pub fn on_small_drive(workloads: &str, given: &[Override]) -> Self {
        let (text, overrides) = common::configuration(workloads, given);
        Self { text, overrides }
    }

    /// The scene of a whole configuration.
    pub fn whole(text: &str, given: &[Override]) -> Self {
        let own = |(path, value): &Override| ((*path).to_owned(), value.clone());
        Self { text: text.to_owned(), overrides: given.iter().map(own).collect() }
    }

    /// Gives the scene a value at a path.
    pub fn with(mut self, path: &str, value: &str) -> Self {
        self.overrides.push((path.to_owned(), value.to_owned()));
        self
    }

    /// The whole configuration, even if its values contradict each other.
    pub fn resolved(&self) -> Result<Value, Problems> {
        let mut document = Document::parse(&self.text, "case.toml")?;
        for (path, value) in &self.overrides {
            document.set::<Experiment>(path, value)?;
        }
        let name = document.get("drive.preset").and_then(Value::as_str).map(str::to_owned);
        if let Some(name) = name {
            let base = preset(&name).unwrap_or(&PRESETS[0]);
            document.under::<Experiment>(Document::parse(base.text, base.name)?, "drive")?;
        }
        let experiment: Experiment = document.read()?;
        Ok(serde_json::to_value(experiment).expect("a configuration is plain data"))
    }

    /// The experiment, or all its faults.
    pub fn try_experiment(&self) -> Result<Experiment, String> {
        load::load(&self.text, "case.toml", &self.overrides)
            .map(|(experiment, _)| experiment)
            .map_err(|problems| problems.to_string())
    }

    /// The experiment.
    pub fn experiment(&self) -> Experiment {
        self.try_experiment().unwrap_or_else(|problems| panic!("{problems}"))
    }

    /// The drive, to which the test submits commands.
    pub fn bench(&self) -> Bench {
        Bench::of(&self.experiment())
    }

    /// The run, at its end.
    pub fn run(&self) -> Run {
        common::run(&self.experiment())
    }

    /// As [`Scene::run`], if the experiment or the run may be refused.
    pub fn try_run(&self) -> Result<Run, String> {
        common::try_run(&self.try_experiment()?)
    }
}
