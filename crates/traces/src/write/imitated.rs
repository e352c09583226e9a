//! A synthetic trace written to a file.

use super::sink::Sink;
use super::target::{Lack, Target};
use crate::command::Kind;
use crate::error::TraceError;
use crate::imitate::{Model, SyntheticTrace, Wishes};
use crate::progress::Progress;
use settings::counted;
use std::collections::BTreeMap;
use std::path::Path;

/// Rows between two reports.
const REPORT_ROWS: u64 = 1 << 16;

/// Result of writing a synthetic trace.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Imitated {
    /// Requests in the file.
    pub written: u64,
    /// Requests whose range or stamp was rounded to what the format has.
    pub rounded: u64,
    /// Requests of each kind that the format does not have, left out, by [`Kind::index`].
    pub dropped: [u64; Kind::ALL.len()],
}

/// Destination of a synthetic trace.
#[derive(Clone, Copy, Debug)]
pub struct Destination<'a> {
    /// The file.
    pub output: &'a Path,
    /// Its format.
    pub target: Target,
    /// Kinds to leave out.
    pub drop: &'a [Kind],
    /// True to replace an existing file.
    pub force: bool,
}

/// Writes a synthetic trace from a checked model ([`Model::faults`]); nothing if `tell` has ended
/// it by returning false.
pub fn imitate(
    model: &Model,
    wishes: Wishes,
    to: Destination<'_>,
    tell: &mut dyn FnMut(Progress) -> bool,
) -> Result<Option<Imitated>, TraceError> {
    let Destination { output, target, drop, force } = to;
    let faults = lacking(model, target, drop);
    if !faults.is_empty() {
        return Err(refusal(output, target, &faults));
    }
    let mut sink = Sink::create(output, target, force)?;
    let mut synthetic = SyntheticTrace::new(model, wishes);
    let mut done = Imitated { written: 0, rounded: 0, dropped: [0; Kind::ALL.len()] };
    let mut lacks: BTreeMap<Lack, u64> = BTreeMap::new();
    let mut made = 0u64;
    while let Some(row) = synthetic.next() {
        made += 1;
        let share = made as f64 / wishes.requests as f64;
        if made.is_multiple_of(REPORT_ROWS) && !tell(Progress { requests: made, share }) {
            return Ok(None);
        }
        if drop.contains(&row.command.kind) {
            done.dropped[row.command.kind.index()] += 1;
            continue;
        }
        let fitting = target.rounded(row);
        if let Some(lack) = target.lacks(&fitting) {
            *lacks.entry(lack).or_default() += 1;
            continue;
        }
        done.rounded += u64::from(fitting != row);
        done.written += 1;
        sink.put(&fitting)?;
    }
    if !lacks.is_empty() {
        let explained = |(lack, count): (&Lack, &u64)| {
            format!("{}: {}", counted(*count, "request"), target.explained(*lack))
        };
        return Err(refusal(output, target, &lacks.iter().map(explained).collect::<Vec<_>>()));
    }
    if done.written == 0 {
        return Err(refusal(output, target, &["no request is left to write".into()]));
    }
    sink.finish()?;
    Ok(Some(done))
}

fn refusal(output: &Path, target: Target, faults: &[String]) -> TraceError {
    let name = target.title();
    let listed: String = faults.iter().map(|fault| format!("\n  {fault}")).collect();
    let problem = format!("the synthetic trace cannot be written as {name}:{listed}");
    TraceError { file: output.to_owned(), line: None, problem }
}

/// Kinds that the format does not have and that are not to be left out.
fn lacking(model: &Model, target: Target, drop: &[Kind]) -> Vec<String> {
    let has = |kind: &Kind| model.kinds.iter().any(|known| known.kind == kind.name());
    let missing = |kind: &&Kind| !target.writer().kinds.contains(kind) && !drop.contains(kind);
    let kinds = Kind::ALL.iter().filter(|kind| has(kind)).filter(missing);
    kinds.map(|kind| target.explained(Lack::Kind(*kind))).collect()
}
