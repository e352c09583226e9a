//! From text to a checked experiment: the file, the preset under it, overrides
//! over it. All faults are reported at once.

use crate::check::{Checked, check};
use crate::experiment::Experiment;
use crate::presets::{PRESETS, preset};
use settings::{Document, Problems};

/// Reads an experiment from TOML. `overrides` are pairs of a dotted path and a
/// value, as on a command line.
///
/// # Errors
/// Everything that is wrong with it.
pub fn load(
    text: &str,
    file: &str,
    overrides: &[(String, String)],
) -> Result<(Experiment, Checked), Problems> {
    load_document(Document::parse(text, file)?, overrides)
}

/// As [`load`], from JSON.
///
/// # Errors
/// Everything that is wrong with it.
pub fn load_json(
    text: &str,
    file: &str,
    overrides: &[(String, String)],
) -> Result<(Experiment, Checked), Problems> {
    load_document(Document::from_json(text, file)?, overrides)
}

fn load_document(
    mut document: Document,
    overrides: &[(String, String)],
) -> Result<(Experiment, Checked), Problems> {
    let mut faults = Problems::new(document.file());
    // An override may name another preset, so overrides come first.
    for (path, value) in overrides {
        if let Err(problems) = document.set::<Experiment>(path, value) {
            faults.problems.extend(problems.problems);
        }
    }
    if let Some(name) = document.get("drive.preset").cloned() {
        match name.as_str().map(|name| (name, preset(name))) {
            Some((_, Some(preset))) => {
                let mut base = Document::parse(preset.text, &format!("{}.toml", preset.name))?;
                if document.get("drive.ftl.over_provisioning").is_some() {
                    // Its keys exclude one another: one given here replaces the preset's.
                    base.take("ftl.over_provisioning");
                }
                document.under::<Experiment>(base, "drive")?;
            }
            _ => faults.push("drive.preset", unknown_preset(&name.to_string())),
        }
    }
    faults.or_ok(())?;
    let experiment: Experiment = document.read()?;
    let checked = check(&experiment).map_err(|mut problems| {
        problems.file = document.file().to_owned();
        document.locate(&mut problems);
        problems
    })?;
    Ok((experiment, checked))
}

fn unknown_preset(name: &str) -> String {
    let names: Vec<_> = PRESETS.iter().map(|preset| preset.name).collect();
    format!("no preset {name} (there are {})", names.join(", "))
}
