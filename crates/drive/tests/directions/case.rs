//! A case: an experiment, a parameter of it, values for that parameter, and what the
//! model says must be seen under each of them.
//!
//! The scene of a case is given the experiment without being told the value, which
//! reaches it through the configuration's text alone. Which parameters a case changes
//! is found by comparing the configurations that it makes, so it cannot claim another.

use crate::common::{self, BY_HAND, Bench, Override, set};
use crate::schema::Parameters;
use drive::presets::{PRESETS, preset};
use drive::{Experiment, Run, load};
use serde_json::Value;
use settings::Document;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::ops::RangeInclusive;

// ---- what is seen, and what is predicted -----------------------------------------

/// What a scene has measured.
#[derive(Clone, Debug, PartialEq)]
pub enum Seen {
    Figures(Vec<f64>),
    Words(String),
}

/// What must be seen.
#[derive(Clone, Debug)]
pub enum Predicted {
    /// Figures, each within its bounds.
    Figures(Vec<RangeInclusive<f64>>),
    Words(String),
    /// At least, or at most, so many times the first figure under the value before;
    /// any under the first value.
    Times(RangeInclusive<f64>),
    /// Whatever is not seen under another value.
    Unlike,
}

impl Predicted {
    /// Whether a scene has seen this; `before` is what it saw under the value before.
    fn holds(&self, seen: &Seen, before: Option<&Seen>) -> bool {
        match (self, seen, before) {
            (Self::Figures(bounds), Seen::Figures(figures), _) => {
                bounds.len() == figures.len()
                    && bounds.iter().zip(figures).all(|(bounds, figure)| bounds.contains(figure))
            }
            (Self::Words(words), Seen::Words(seen), _) => words == seen,
            (Self::Times(_), Seen::Figures(_), None) | (Self::Unlike, ..) => true,
            (Self::Times(times), Seen::Figures(now), Some(Seen::Figures(before))) => {
                times.contains(&(now[0] / before[0]))
            }
            _ => false,
        }
    }

    /// Whether nothing that is seen can be as both predict.
    fn excludes(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Figures(one), Self::Figures(other)) => {
                let apart = |(one, other): (&RangeInclusive<f64>, &RangeInclusive<f64>)| {
                    one.end() < other.start() || other.end() < one.start()
                };
                one.len() != other.len() || one.iter().zip(other).any(apart)
            }
            (Self::Words(one), Self::Words(other)) => one != other,
            (Self::Times(times), Self::Times(_)) => !times.contains(&1.0),
            (Self::Unlike, _) | (_, Self::Unlike) => true,
            _ => std::mem::discriminant(self) != std::mem::discriminant(other),
        }
    }
}

impl fmt::Display for Predicted {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::Figures(bounds) => f.debug_list().entries(bounds).finish(),
            Self::Words(words) => write!(f, "\"{words}\""),
            Self::Times(times) => write!(f, "{times:?} times that under the value before"),
            Self::Unlike => write!(f, "unlike the others"),
        }
    }
}

/// A figure within `most` of what it must be in the mean.
pub fn about(mean: f64, most: f64) -> Predicted {
    Predicted::Figures(vec![mean - most..=mean + most])
}

/// Figures, each with what it may differ by.
pub fn all_about(figures: &[(f64, f64)]) -> Predicted {
    let bounds = figures.iter().map(|(mean, most)| mean - most..=mean + most);
    Predicted::Figures(bounds.collect())
}

macro_rules! figures {
    ($($number:ty),+) => {$(
        impl From<$number> for Seen {
            fn from(figure: $number) -> Self {
                Self::Figures(vec![figure as f64])
            }
        }
        impl From<Vec<$number>> for Seen {
            fn from(figures: Vec<$number>) -> Self {
                Self::Figures(figures.into_iter().map(|figure| figure as f64).collect())
            }
        }
        impl<const N: usize> From<[$number; N]> for Seen {
            fn from(figures: [$number; N]) -> Self {
                Vec::from(figures).into()
            }
        }
    )+};
}

figures!(u64, f64);

impl From<&str> for Seen {
    fn from(words: &str) -> Self {
        Self::Words(words.to_owned())
    }
}

impl From<String> for Seen {
    fn from(words: String) -> Self {
        Self::Words(words)
    }
}

/// What is known to the last digit.
impl<T: Into<Seen>> From<T> for Predicted {
    fn from(exactly: T) -> Self {
        match exactly.into() {
            Seen::Figures(figures) => {
                Self::Figures(figures.into_iter().map(|figure| figure..=figure).collect())
            }
            Seen::Words(words) => Self::Words(words),
        }
    }
}

// ---- a case ---------------------------------------------------------------------------

type Measure = Box<dyn Fn(&Scene) -> Seen>;

/// A parameter that is changed, and what that must do.
pub struct Case {
    parameter: &'static str,
    at: String,
    beside: Vec<&'static str>,
    given: Vec<Override>,
    text: String,
    is_whole: bool,
    /// What is measured.
    what: &'static str,
    measure: Measure,
    /// Values as a command line sets them, or nothing where the key is left out.
    values: Vec<(Option<&'static str>, Predicted)>,
}

/// A case for the parameter called so (see `schema`).
pub fn case(parameter: &'static str) -> Case {
    let tag_value = |rest: &str| rest.find(')').map_or(rest.len(), |end| end + 1);
    let mut at = String::new();
    for (index, part) in parameter.split('(').enumerate() {
        at.push_str(if index == 0 { part } else { &part[tag_value(part)..] });
    }
    Case {
        parameter,
        at: at.replacen("workload.", "workload[0].", 1),
        beside: Vec::new(),
        given: Vec::new(),
        text: BY_HAND.to_owned(),
        is_whole: false,
        what: "",
        measure: Box::new(|_| panic!("a case measures something")),
        values: Vec::new(),
    }
}

impl Case {
    /// Sets the value at another path than the parameter's own: at a table, because
    /// other keys of it must change with this one.
    pub fn at(mut self, path: &str) -> Self {
        self.at = path.to_owned();
        self
    }

    /// Parameters that change with this one, because they must.
    pub fn beside(mut self, parameters: &[&'static str]) -> Self {
        self.beside.extend_from_slice(parameters);
        self
    }

    /// What is set beside the small drive of the tests.
    pub fn given(mut self, overrides: &[Override]) -> Self {
        self.given.extend_from_slice(overrides);
        self
    }

    /// The drive is full of data, in the order of addresses.
    pub fn filled(self) -> Self {
        self.given(&[set("precondition.fill", "sequential")])
    }

    /// The workloads and the run; without it commands come by hand.
    pub fn text(mut self, text: impl Into<String>) -> Self {
        self.text = text.into();
        self
    }

    /// The whole configuration, without the small drive of the tests.
    pub fn whole(mut self, text: &str) -> Self {
        self.is_whole = true;
        self.text(text)
    }

    /// What is measured, in words, and how.
    pub fn see<S: Into<Seen>>(
        mut self,
        what: &'static str,
        measure: impl Fn(&Scene) -> S + 'static,
    ) -> Self {
        self.what = what;
        self.measure = Box::new(move |scene| measure(scene).into());
        self
    }

    /// What must be seen under each value.
    pub fn under<const N: usize, P: Into<Predicted>>(
        mut self,
        values: [(&'static str, P); N],
    ) -> Self {
        self.values.extend(values.map(|(value, predicted)| (Some(value), predicted.into())));
        self
    }

    /// What must be seen where the key is left out.
    pub fn left_out(mut self, predicted: impl Into<Predicted>) -> Self {
        self.values.push((None, predicted.into()));
        self
    }

    /// The figure rises by at least a factor from value to value.
    pub fn rises<const N: usize>(self, factor: f64, values: [&'static str; N]) -> Self {
        self.under(values.map(|value| (value, Predicted::Times(factor..=f64::INFINITY))))
    }

    /// The figure falls by at least a factor from value to value.
    pub fn falls<const N: usize>(self, factor: f64, values: [&'static str; N]) -> Self {
        self.under(values.map(|value| (value, Predicted::Times(0.0..=factor.recip()))))
    }

    /// Something else is seen under each value; what, is for chance to say.
    pub fn differs<const N: usize>(self, values: [&'static str; N]) -> Self {
        self.under(values.map(|value| (value, Predicted::Unlike)))
    }

    // ---- what it changes ---------------------------------------------------------

    fn scene(&self, value: Option<&'static str>) -> Scene<'_> {
        let mut overrides = self.given.clone();
        if let Some(value) = value {
            overrides.push((self.at.clone().leak(), value.to_owned()));
        }
        Scene { case: self, overrides }
    }

    /// What the case is about and what it changes, by value, or what is wrong with it.
    pub fn changes(&self, known: &Parameters) -> Result<Changes, String> {
        if !known.words.contains_key(self.parameter) {
            return Err(format!("{self}: the configuration has no such parameter"));
        }
        let mut configurations = Vec::new();
        for (value, _) in &self.values {
            let resolved = self.scene(*value).resolved().map_err(|error| {
                format!("{self}: {} cannot be set to {}: {error}", self.at, shown(*value))
            })?;
            configurations.push(known.values(&resolved));
        }
        let changed = changed(&configurations);
        if !changed.contains(self.parameter) {
            return Err(format!("{self}: its values do not change it"));
        }
        let table = self.parameter.rsplit_once('.').map_or("", |(table, _)| table);
        let may_change = |name: &str| {
            let is_beside = |given: &str| name == given || Parameters::is_below(name, given);
            name == self.parameter
                || name.strip_prefix(table).is_some_and(|rest| rest.starts_with('('))
                || self.beside.iter().any(|given| is_beside(given))
        };
        let others: Vec<_> = changed.iter().filter(|name| !may_change(name)).cloned().collect();
        if !others.is_empty() {
            return Err(format!("{self}: it changes {} as well", others.join(", ")));
        }
        let words = configurations.iter().flat_map(|given| given.get(self.parameter));
        let words = words.flatten().map(|word| match word {
            Value::String(word) => word.clone(),
            other => other.to_string(),
        });
        Ok(Changes { parameter: self.parameter, values: words.collect() })
    }

    // ---- whether it is as predicted ------------------------------------------------

    /// Runs the scene under every value.
    pub fn check(&self) -> Result<(), String> {
        println!("{self}: {}", self.what);
        let mut seen: Vec<Seen> = Vec::new();
        for (value, predicted) in &self.values {
            let found = (self.measure)(&self.scene(*value));
            println!("  {}: {found:?}", shown(*value));
            if !predicted.holds(&found, seen.last()) {
                let value = shown(*value);
                return Err(format!(
                    "{self} = {value}: {}: predicted {predicted}, seen {found:?}",
                    self.what
                ));
            }
            seen.push(found);
        }
        for (index, (value, predicted)) in self.values.iter().enumerate() {
            let mut others = (0..seen.len()).filter(|other| *other != index);
            let differs = |other: usize| {
                seen[other] != seen[index] && predicted.excludes(&self.values[other].1)
            };
            let is_told_apart = match predicted {
                Predicted::Unlike => others.clone().count() > 0 && others.all(differs),
                _ => others.any(differs),
            };
            if !is_told_apart {
                let value = shown(*value);
                return Err(format!(
                    "{self} = {value}: {}: the same is seen or predicted under the other values",
                    self.what
                ));
            }
        }
        Ok(())
    }
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}", self.parameter)
    }
}

fn shown(value: Option<&str>) -> &str {
    value.unwrap_or("(left out)")
}

/// The parameters that differ between any of the configurations.
fn changed(configurations: &[BTreeMap<String, Vec<Value>>]) -> BTreeSet<String> {
    let names: BTreeSet<&String> = configurations.iter().flat_map(|given| given.keys()).collect();
    let differs = |name: &&String| {
        configurations.windows(2).any(|pair| pair[0].get(*name) != pair[1].get(*name))
    };
    names.into_iter().filter(differs).cloned().collect()
}

/// A parameter, and the values that it takes in a case.
#[derive(Debug)]
pub struct Changes {
    pub parameter: &'static str,
    pub values: BTreeSet<String>,
}

// ---- a scene -------------------------------------------------------------------------

/// An experiment of a case, under one of its values.
pub struct Scene<'c> {
    case: &'c Case,
    overrides: Vec<Override>,
}

impl Scene<'_> {
    fn configuration(&self) -> (String, Vec<(String, String)>) {
        if self.case.is_whole {
            let own = |(path, value): &Override| ((*path).to_owned(), value.clone());
            return (self.case.text.clone(), self.overrides.iter().map(own).collect());
        }
        common::configuration(&self.case.text, &self.overrides)
    }

    /// The whole configuration, whether or not its values contradict each other.
    fn resolved(&self) -> Result<Value, String> {
        let (text, overrides) = self.configuration();
        let mut document =
            Document::parse(&text, "case.toml").map_err(|error| error.to_string())?;
        for (path, value) in &overrides {
            document.set::<Experiment>(path, value).map_err(|error| error.to_string())?;
        }
        let name = document.get("drive.preset").and_then(Value::as_str).map(str::to_owned);
        if let Some(name) = name {
            let base = preset(&name).unwrap_or(&PRESETS[0]);
            let base = Document::parse(base.text, base.name).map_err(|error| error.to_string())?;
            document.under::<Experiment>(base, "drive").map_err(|error| error.to_string())?;
        }
        let experiment: Experiment = document.read().map_err(|error| error.to_string())?;
        Ok(serde_json::to_value(experiment).expect("a configuration is plain data"))
    }

    /// The experiment, or all that is wrong with it.
    pub fn try_experiment(&self) -> Result<Experiment, String> {
        let (text, overrides) = self.configuration();
        load::load(&text, "case.toml", &overrides)
            .map(|(experiment, _)| experiment)
            .map_err(|problems| problems.to_string())
    }

    /// The experiment.
    pub fn experiment(&self) -> Experiment {
        self.try_experiment().unwrap_or_else(|problems| panic!("{problems}"))
    }

    /// The drive, to which commands come by hand.
    pub fn bench(&self) -> Bench {
        Bench::of(&self.experiment())
    }

    /// The run, at its end.
    pub fn run(&self) -> Run {
        common::run(&self.experiment())
    }

    /// As [`Scene::run`], where the experiment or the run may be refused.
    pub fn try_run(&self) -> Result<Run, String> {
        common::try_run(&self.try_experiment()?)
    }
}
