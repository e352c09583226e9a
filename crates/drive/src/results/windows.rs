//! Windows of predictable latency: how long and how often, why deterministic ones ended, and the
//! latencies of reads in them.

use crate::check::nobody_asks;
use crate::device::{Device, End, Warning, WarningCounts, WindowCounts, WindowEvent, rounded};
use crate::experiment::Experiment;
use crate::run::Run;
use engine::Instant;
use ftl::SetId;
use metrics::Latency;
use serde_json::{Map, Value, json};
use settings::{counted, each};

/// Figures of each NVM set, numbered from 1; null without windows.
pub fn of_run(run: &Run) -> Value {
    let Some(host) = run.windows() else { return Value::Null };
    let of_set = |set: SetId| {
        let [dtwin, others] = host.reads(set);
        let mut figures = of_device(run.device(), set);
        figures["reads"] = json!({ "dtwin": latency(dtwin), "other": latency(others) });
        figures
    };
    let sets = run.device().ftl().layout.set_count();
    (0..sets).map(SetId).map(of_set).collect::<Vec<_>>().into()
}

/// Counts of the windows of an NVM set up to now; null without windows.
pub fn of_device(device: &Device, set: SetId) -> Value {
    let Some((counts, events)) = device.window_records(set) else { return Value::Null };
    let ends = End::ALL.iter().map(|end| (end.name().into(), counts.ends[*end as usize].into()));
    json!({
        "set": set.0 + 1,
        "asked": counts.asked,
        "begun": counts.begun,
        "ends": ends.collect::<Map<String, Value>>(),
        "dtwin_ns": counts.dtwin.as_ns(),
        "ndwin_ns": counts.ndwin.as_ns(),
        "waited_ns": counts.waited.as_ns(),
        "longest_wait_ns": counts.longest_wait.as_ns(),
        "broken_ns": counts.broken.as_ns(),
        "warnings": warnings(device, &counts),
        "writes_typical": counts.writes.map(|(least, most)| json!({ "least": least, "most": most })),
        "events": events.iter().map(event).collect::<Vec<_>>(),
    })
}

/// Warnings of each kind that the drive gives; null without thresholds.
fn warnings(device: &Device, counts: &WindowCounts) -> Value {
    let given = Warning::ALL.into_iter().zip(device.window_thresholds()).filter(|(_, is)| *is);
    let told = given.map(|(kind, _)| {
        let WarningCounts { count, shortest } = counts.warnings[kind as usize];
        let shortest = shortest.map(|span| span.as_ns());
        (kind.name().into(), json!({ "count": count, "shortest_ns": shortest }))
    });
    let told: Map<String, Value> = told.collect();
    if told.is_empty() { Value::Null } else { told.into() }
}

/// Notes on deterministic windows that ended by themselves, that did not begin, or that nobody asked
/// for, if that was not known before.
pub fn notes<'d>(
    devices: impl Iterator<Item = &'d Device>,
    experiment: &Experiment,
) -> Vec<String> {
    let (mut all, mut sets) = (WindowCounts::default(), 0);
    for device in devices {
        let of_device = (0..device.ftl().layout.set_count()).map(SetId);
        for (counts, _) in of_device.filter_map(|set| device.window_records(set)) {
            sets += 1;
            all.asked += counts.asked;
            all.begun += counts.begun;
            all.broken += counts.broken;
            all.waited += counts.waited;
            all.ends.iter_mut().zip(counts.ends).for_each(|(all, of)| *all += of);
        }
    }
    match (sets, all.asked) {
        (0, _) => Vec::new(),
        (_, 0) if nobody_asks(experiment).is_some() => Vec::new(),
        (_, 0) => vec![
            "nobody asked for deterministic windows: the whole run was non-deterministic".into(),
        ],
        _ => broken(&all, sets).into_iter().chain(not_begun(&all, sets)).collect(),
    }
}

/// A note on windows that ended by themselves, in so many sets.
fn broken(all: &WindowCounts, sets: u64) -> Option<String> {
    let count = |end: &End| all.ends[*end as usize];
    let by_itself = || End::ALL.iter().filter(|end| **end != End::Host && count(end) > 0);
    let ended: u64 = by_itself().map(count).sum();
    let causes: Vec<String> =
        by_itself().map(|end| format!("{} by {}", count(end), end.words())).collect();
    (ended > 0).then(|| {
        format!(
            "{ended} of {} that ended did so by {}, not by the host ({}); the host lacked them for {}{}",
            counted(all.ends.iter().sum::<u64>(), "deterministic window"),
            each(ended, "itself", "themselves"),
            causes.join(", "),
            rounded(all.broken),
            added(sets),
        )
    })
}

/// A note on windows that did not begin, in so many sets: the end of a run may cut off one in each.
fn not_begun(all: &WindowCounts, sets: u64) -> Option<String> {
    let missing = all.asked - all.begun;
    (missing > sets).then(|| {
        format!(
            "{missing} of {} that the host asked for did not begin, because maintenance went on; it waited {} for windows{}",
            counted(all.asked, "deterministic window"),
            rounded(all.waited),
            added(sets),
        )
    })
}

fn added(sets: u64) -> String {
    if sets == 1 { String::new() } else { format!(", added over {sets} sets or members") }
}

fn latency(latency: &Latency) -> Value {
    json!({ "count": latency.count(), "latency_ns": latency.to_json() })
}

fn event(event: &WindowEvent) -> Value {
    json!({
        "began_ns": (event.began - Instant::START).as_ns(),
        "at_ns": (event.at - Instant::START).as_ns(),
        "end": event.why.name(),
        "reads": event.reads,
        "written_units": event.written,
        "writes_typical": event.writes,
    })
}

#[cfg(test)]
mod tests {
    use super::{broken, not_begun};
    use crate::device::WindowCounts;
    use engine::Span;

    #[test]
    fn notes_count_windows_of_all_sets() {
        let counts = WindowCounts {
            asked: 140,
            begun: 76,
            ends: [60, 0, 9, 0, 4],
            waited: Span::from_ms(6_710),
            broken: Span::from_ms(2_500),
            ..WindowCounts::default()
        };
        let told = broken(&counts, 4).expect("13 were broken");
        let expected = "13 of 73 deterministic windows that ended did so by themselves, not by the host \
                        (9 by writes, 4 by excursions (foreground GC was due)); the host lacked them \
                        for 2.5 s, added over 4 sets or members";
        assert_eq!(told, expected);
        let told = not_begun(&counts, 1).expect("64 did not begin");
        let expected = "64 of 140 deterministic windows that the host asked for did not begin, because \
                        maintenance went on; it waited 6.71 s for windows";
        assert_eq!(told, expected);
        // The end of the run may cut off one in each set.
        assert_eq!(not_begun(&counts, 64), None);
        let whole = WindowCounts { ends: [70, 0, 0, 0, 0], ..counts };
        assert_eq!(broken(&whole, 1), None);
    }
}
