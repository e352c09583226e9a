//! Windows of predictable latency: how long and how often, why deterministic ones ended, and the
//! latencies of reads in them.

use crate::device::{Device, End, WindowCounts, WindowEvent, rounded};
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
        "writes_typical": counts.writes.map(|(least, most)| json!({ "least": least, "most": most })),
        "events": events.iter().map(event).collect::<Vec<_>>(),
    })
}

/// A note on deterministic windows that ended by themselves, or that nobody asked for.
pub fn note<'d>(devices: impl Iterator<Item = &'d Device>) -> Option<String> {
    let mut all = WindowCounts::default();
    let mut has_windows = false;
    for device in devices {
        let sets = (0..device.ftl().layout.set_count()).map(SetId);
        for (counts, _) in sets.filter_map(|set| device.window_records(set)) {
            has_windows = true;
            all.asked += counts.asked;
            all.begun += counts.begun;
            all.broken += counts.broken;
            all.ends.iter_mut().zip(counts.ends).for_each(|(all, of)| *all += of);
        }
    }
    if has_windows && all.asked == 0 {
        return Some("nobody asked for deterministic windows (drive.ftl.windows without run.windows): the whole run was non-deterministic".into());
    }
    let by_itself = |end: &&End| **end != End::Host && all.ends[**end as usize] > 0;
    let causes: Vec<String> = End::ALL
        .iter()
        .filter(by_itself)
        .map(|end| format!("{} by {}", all.ends[*end as usize], end.words()))
        .collect();
    let ended = all.ends.iter().sum::<u64>() - all.ends[End::Host as usize];
    (ended > 0).then(|| {
        format!(
            "{ended} of {} ended by {}, not by the host ({}), and their sets had none for {} in all until the host asked for another window",
            counted(all.begun, "deterministic window"),
            each(ended, "itself", "themselves"),
            causes.join(", "),
            rounded(all.broken),
        )
    })
}

fn latency(latency: &Latency) -> Value {
    json!({ "count": latency.count(), "latency_ns": latency.to_json() })
}

fn event(event: &WindowEvent) -> Value {
    json!({
        "at_ns": (event.at - Instant::START).as_ns(),
        "end": event.why.name(),
        "reads": event.reads,
        "written_units": event.written,
        "writes_typical": event.writes,
    })
}
