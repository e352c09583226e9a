//! A case: an experiment, one of its parameters, values for that parameter, and the model's
//! prediction for each value.
//!
//! The parameters that a case changes are found by comparing the configurations that it makes, so
//! it cannot claim another one.

pub use crate::directions::predicted::{Predicted, REFUSED, about, all_about};
pub use crate::directions::scene::Scene;

use crate::common::{BY_HAND, Override, set};
use crate::directions::predicted::Seen;
use crate::directions::schema::Parameters;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

type Measure = Box<dyn Fn(&Scene) -> Seen>;

/// A parameter that is changed, and the predicted effects.
pub struct Case {
    parameter: &'static str,
    at: String,
    beside: Vec<&'static str>,
    given: Vec<Override>,
    text: String,
    is_whole: bool,
    /// Name of the measured figure.
    what: &'static str,
    measure: Measure,
    /// Values as a command line sets them, or nothing if the key is left out.
    values: Vec<(Option<&'static str>, Predicted)>,
}

/// A case for a parameter (its names are in `schema`).
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
    /// Sets the value at another path than the parameter's own: at a table, because other keys of
    /// it must change with this one.
    pub fn at(mut self, path: &str) -> Self {
        self.at = path.to_owned();
        self
    }

    /// Parameters that must change together with this one.
    pub fn beside(mut self, parameters: &[&'static str]) -> Self {
        self.beside.extend_from_slice(parameters);
        self
    }

    /// Overrides of the small drive of the tests.
    pub fn given(mut self, overrides: &[Override]) -> Self {
        self.given.extend_from_slice(overrides);
        self
    }

    /// The drive is full of data, in the order of addresses.
    pub fn filled(self) -> Self {
        self.given(&[set("precondition.fill", "sequential")])
    }

    /// The workloads and the run; without it the test submits the commands.
    pub fn text(mut self, text: impl Into<String>) -> Self {
        self.text = text.into();
        self
    }

    /// The whole configuration, without the small drive of the tests.
    pub fn whole(mut self, text: &str) -> Self {
        self.is_whole = true;
        self.text(text)
    }

    /// The measured figure, in words, and its measurement.
    pub fn see<S: Into<Seen>>(
        mut self,
        what: &'static str,
        measure: impl Fn(&Scene) -> S + 'static,
    ) -> Self {
        self.what = what;
        self.measure = Box::new(move |scene| measure(scene).into());
        self
    }

    /// The predicted figure for each value.
    pub fn under<const N: usize, P: Into<Predicted>>(
        mut self,
        values: [(&'static str, P); N],
    ) -> Self {
        self.values.extend(values.map(|(value, predicted)| (Some(value), predicted.into())));
        self
    }

    /// The predicted figure if the key is left out.
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

    /// The figure differs for each value; chance determines it.
    pub fn differs<const N: usize>(self, values: [&'static str; N]) -> Self {
        self.under(values.map(|value| (value, Predicted::Unlike)))
    }

    /// Name of its parameter.
    pub fn name(&self) -> &'static str {
        self.parameter
    }

    /// The complete configuration under each value that can be set.
    pub fn resolved(&self) -> Vec<Value> {
        let values = self.values.iter().map(|(value, _)| *value);
        values.filter_map(|value| self.scene(value).resolved().ok()).collect()
    }

    // ---- what it changes ---------------------------------------------------------

    fn scene(&self, value: Option<&str>) -> Scene {
        let scene = match self.is_whole {
            true => Scene::whole(&self.text, &self.given),
            false => Scene::on_small_drive(&self.text, &self.given),
        };
        match value {
            Some(value) => scene.with(&self.at, value),
            None => scene,
        }
    }

    /// Subject and changed parameters of the case, by value, or its fault.
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
        let predicted = self.values.iter().map(|(_, predicted)| predicted);
        let does_something = |predicted: &Predicted| !predicted.is(REFUSED);
        let words = configurations
            .iter()
            .zip(predicted)
            .filter(|(_, predicted)| does_something(predicted))
            .filter_map(|(given, _)| given.get(self.parameter))
            .flatten()
            .map(|word| word.as_str().map_or_else(|| word.to_string(), str::to_owned));
        Ok(Changes { parameter: self.parameter, values: words.collect() })
    }

    // ---- the check against the prediction ------------------------------------------------

    /// Runs the scene under every value.
    pub fn check(&self) -> Result<(), String> {
        println!("{self}: {}", self.what);
        let mut seen: Vec<Seen> = Vec::new();
        for (value, predicted) in &self.values {
            let found = (self.measure)(&self.scene(*value));
            println!("  {}: {found}", shown(*value));
            if !predicted.holds(&found, seen.last()) {
                let value = shown(*value);
                return Err(format!(
                    "{self} = {value}: {}: predicted {predicted}, seen {found}",
                    self.what
                ));
            }
            seen.push(found);
        }
        self.tells_apart(&seen)
    }

    /// Fails if two values have the same effect.
    fn tells_apart(&self, seen: &[Seen]) -> Result<(), String> {
        for (index, (value, predicted)) in self.values.iter().enumerate() {
            let mut others = (0..seen.len()).filter(|other| *other != index);
            let differs = |other: usize| {
                seen[other] != seen[index] && predicted.excludes(&self.values[other].1)
            };
            let is_told_apart = match predicted {
                Predicted::Unlike => seen.len() > 1 && others.all(differs),
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
