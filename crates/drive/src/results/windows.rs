//! Windows of predictable latency: how long and how often, why deterministic ones ended, and the
//! latencies of reads in them.

use crate::device::{Device, End, WindowEvent};
use crate::run::Run;
use engine::Instant;
use ftl::SetId;
use metrics::Latency;
use serde_json::{Map, Value, json};

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
        "events": events.iter().map(event).collect::<Vec<_>>(),
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
    })
}
