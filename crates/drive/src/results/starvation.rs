//! Report on requests that starve.

use crate::device::{OpKind, Standing, rounded};
use crate::experiment::Then;
use crate::run::Run;
use crate::starvation::{Starved, Tallied, Watch};
use engine::Instant;
use serde_json::{Map, Value, json};
use settings::counted;

/// `starvation` of the summary; null if the run does not look for such requests.
pub fn of_run(run: &Run) -> Value {
    let name = |index: u32| run.measured().initiators()[index as usize].name.as_str();
    run.starvation().map_or(Value::Null, |watch| table(watch, run.now(), name))
}

/// Findings until `now`; `name` gives the name of an initiator.
pub fn table<'n>(watch: &Watch, now: Instant, name: impl Fn(u32) -> &'n str) -> Value {
    let tallied = |one: &Tallied| {
        let mut table = Map::new();
        table.insert("initiator".into(), name(one.initiator).into());
        table.insert("kind".into(), one.kind.name().into());
        table.insert("requests".into(), one.requests.into());
        if let Some(age) = one.oldest {
            table.insert("oldest_ns".into(), age.as_ns().into());
        }
        Value::from(table)
    };
    let starved: Vec<Tallied> = watch.starved().collect();
    json!({
        "limit_ns": watch.limit().as_ns(),
        "then": match watch.then() {
            Then::Stop => "stop",
            Then::Report => "report",
        },
        "ended_run": watch.ended_by().is_some(),
        "requests": starved.iter().map(|one| one.requests).sum::<u64>(),
        "starved": starved.iter().map(tallied).collect::<Vec<_>>(),
        "first": watch.first().map(record),
        "longest_ns": watch.longest(now).as_ns(),
        "outstanding": watch.outstanding(now).iter().map(tallied).collect::<Vec<_>>(),
    })
}

/// A request that starved, and its obstacles at that moment.
pub fn record(starved: &Starved) -> Value {
    let blame: Map<String, Value> = starved
        .blame
        .iter()
        .map(|(state, span)| (state.name().into(), span.as_ns().into()))
        .collect();
    json!({
        "initiator": starved.initiator,
        "kind": starved.command.kind.name(),
        "offset_bytes": starved.command.offset,
        "length_bytes": starved.command.bytes,
        "arrived_ns": starved.arrived.as_ns(),
        "submitted_ns": starved.submitted.as_ns(),
        "starved_ns": starved.at.as_ns(),
        "age_ns": starved.limit.as_ns(),
        "outstanding": starved.outstanding,
        "why": starved.why(),
        "standings": starved.standings.iter().map(standing).collect::<Vec<_>>(),
        "blame_ns": blame,
    })
}

fn standing(one: &Standing) -> Value {
    let operation = one.operation.map(|(kind, _)| match kind {
        OpKind::Read => "read",
        OpKind::Program => "program",
        OpKind::CopyBack => "copy_back",
        OpKind::Modify => "modify",
        OpKind::Erase => "erase",
    });
    json!({
        "stage": one.stage,
        "words": one.words,
        "parts": one.parts,
        "operation": operation,
        "source": one.operation.map(|(_, holder)| holder.name()),
        "die": one.die,
        "bin": one.bin.map(|bin| bin.0),
        "block": one.block.map(|block| block.0),
        "since_ns": one.since.map(Instant::as_ns),
        "until_ns": one.until.map(Instant::as_ns),
        "suspensions": one.suspensions,
        "behind": one.behind.iter().map(standing).collect::<Vec<_>>(),
    })
}

/// A note on requests that starved, if any did.
pub fn note(run: &Run) -> Option<String> {
    let watch = run.starvation()?;
    let first = watch.first()?;
    let limit = rounded(watch.limit());
    if watch.ended_by().is_some() {
        let under_way = counted(first.outstanding, "request");
        return Some(format!("starvation ended the run, with {under_way} under way: {first}"));
    }
    let requests: u64 = watch.starved().map(|one| one.requests).sum();
    let longest = rounded(watch.longest(run.now()));
    let whose = counted(requests, "request");
    Some(format!(
        "starvation: {whose} reached the age of {limit} (run.starvation.limit), the oldest one of \
         {longest}; the first: {first}"
    ))
}
