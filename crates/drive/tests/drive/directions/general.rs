//! The experiment as a whole, and presets.

use crate::common::{self, set};
use crate::directions::case::{Case, case};
use crate::directions::requests::PAGE;
use drive::results::{Outcome, summary};
use drive::{Experiment, load};
use host::Kind;

/// The title in the summary of a run.
fn title(experiment: &Experiment) -> String {
    let text = serde_json::to_string(experiment).expect("plain data");
    let (_, checked) = load::load_json(&text, "case.json", &[]).expect("it is sound");
    let mut run = common::run(experiment);
    let outcome = Outcome { host_cpu_seconds: 0.0, complete: true };
    summary(&mut run, experiment, &checked, &[None], outcome)["title"].to_string()
}

const PRESET: &str = "[drive]\npreset = \"dc-tlc\"\n[[workload]]\nname = \"host\"\n\
    reads = \"100 %\"\n[run]\nrequests = 1\n";

pub fn cases() -> Vec<Case> {
    vec![
        case("title")
            .see("the title in the summary", |scene| title(&scene.experiment()))
            .left_out("null")
            .under([("a full drive", "\"a full drive\""), ("an empty one", "\"an empty one\"")]),
        // Random choices are drawn anew.
        case("seed")
            .filled()
            .given(&[set("workload[0].arrivals", "{ process = 'poisson', rate = '1 kIOPS' }")])
            .given(&[set("run.requests", 100)])
            .see("the digest of all requests", |scene| {
                format!("{:016x}", scene.run().device().digest())
            })
            .differs(["1", "2", "18446744073709551615"]),
        // Fewer and shorter blocks: durations do not depend on them. Of dc-tlc:
        // firmware 5 us, 7 cycles of 25 ns and 100 ns, tR 50 us, 4 KiB and an eighth at 1600 MB/s,
        // decoding 5 us, and 4 KiB at 7 GB/s. Of atc08: 25 us, 8 x 528 B at 25 ns, 4 KiB at 2^31 B/s.
        case("drive.preset")
            .whole(PRESET)
            .beside(&["drive"])
            .filled()
            .given(&[
                set("drive.geometry.blocks_per_plane", 64),
                set("drive.geometry.pages_per_block", 4),
                set("drive.ftl.over_provisioning.reserved", "50 %"),
                set("drive.buffer.size", "256 KiB"),
            ])
            .see("a read, ns", |scene| scene.bench().alone(Kind::Read, 0, PAGE).latency())
            .under([
                ("dc-tlc", 5_000 + 275 + 50_000 + 2_880 + 5_000 + 585),
                ("atc08", 25_000 + 105_600 + 1_907),
                // 3 us twice, 4 KiB and a 32nd at 1000 MB/s, 4 KiB at 3.2 GB/s.
                ("atc19", 3_000 + 3_000 + 4_224 + 1_280),
                // 7 cycles of 25 ns, tR 40 us, and 4 KiB at 25 ns a byte; no firmware and no link.
                ("fast17", 175 + 40_000 + 102_400),
                // tR 50 us, 4 KiB at 667 MB/s, decoding 10 us; no commands, no firmware and no link.
                ("fast19", 50_000 + 6_141 + 10_000),
            ]),
    ]
}
