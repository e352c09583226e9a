//! The real traces replay from start to end, audited, on full drives that they fit. Those in the
//! repository must be there; if those beside it are absent, the tests say so and pass.

use crate::common::{Override, experiment, run, set};
use drive::Experiment;
use host::Kind;
use std::io::Write;
use std::path::PathBuf;

/// A file of a folder below the workspace.
fn path(folder: &str, name: &str) -> PathBuf {
    PathBuf::from(format!("{}/../../{folder}", env!("CARGO_MANIFEST_DIR"))).join(name)
}

/// The path of a trace that comes with the repository.
fn shipped(name: &str) -> String {
    let path = path("traces/captured", name);
    assert!(path.exists(), "{} is missing", path.display());
    path.display().to_string()
}

/// The path of a trace that is kept beside the repository, or `None`, with a notice, if it is
/// absent. Test harnesses hide the output of a passing test, so the notice bypasses them.
fn beside(name: &str) -> Option<String> {
    let path = path("../shared/traces", name);
    if path.exists() {
        return Some(path.display().to_string());
    }
    let notice = format!("skipped: {} is absent\n", path.display());
    std::io::stderr().write_all(notice.as_bytes()).expect("there is a standard error");
    None
}

/// Eight channels of two dies of four planes, small blocks, units as given: `blocks` determines the
/// capacity, of which `exported` is exported.
fn drive_of(unit_kib: u64, exported: &str, blocks: u64, pages: u64) -> Vec<Override> {
    vec![
        set("geometry.channels", 8),
        set("geometry.dies_per_package", 2),
        set("geometry.planes_per_die", 4),
        set("geometry.blocks_per_plane", blocks),
        set("geometry.pages_per_block", pages),
        set("geometry.page_size", "16 KiB"),
        set("geometry.page_spare", "2 KiB"),
        set("nand.channel", "1600 MT/s"),
        set("ftl.unit", format!("{unit_kib} KiB")),
        set("ftl.block_planes", 4),
        set("ftl.over_provisioning.exported", exported),
        set("ftl.gc.background", "3 blocks"),
        set("ftl.gc.stop", "3 blocks"),
        set("concurrency.read", "plane"),
        set("buffer.durability", "capacitor"),
        set("buffer.size", "16 MiB"),
        set("link.rate", "3 GB/s"),
    ]
}

/// As [`replay_file`], of a trace beside the repository; nothing if it is absent.
fn replay(name: &str, extra: &str, overrides: &[Override]) -> Option<[u64; 5]> {
    Some(replay_file(name, &beside(name)?, extra, overrides))
}

/// Replays a trace twice and compares; returns requests by kind.
fn replay_file(name: &str, file: &str, extra: &str, overrides: &[Override]) -> [u64; 5] {
    let text = format!("[[workload]]\nname = \"trace\"\ntrace = {{ file = \"{file}\"{extra} }}\n");
    let experiment: Experiment = experiment(&text, overrides);
    let survey = experiment.workload[0].survey().expect("a sound trace").expect("a trace");
    let first = run(&experiment);
    assert_eq!(first.issued(), survey.rows, "{name}: every request is issued");
    let mut requests = [0; 5];
    let mut unmapped = 0;
    for initiator in first.measured().initiators() {
        for (kind, stats) in initiator.kinds.iter().enumerate() {
            if let Some(stats) = stats {
                requests[kind] += stats.latency.count();
                unmapped += stats.unmapped;
            }
        }
    }
    for kind in Kind::ALL {
        let expected = survey.kinds[kind.index()].requests;
        assert_eq!(requests[kind.index()], expected, "{name}: {} complete", kind.name());
    }
    let measured = first.measured();
    println!(
        "{name}{extra}: {requests:?}, {unmapped} units unmapped, {:?} simulated, WA {:.3}, \
         {} erases, digest {:016x}",
        measured.span(),
        measured.tally().write_amplification(),
        measured.tally().erases,
        first.device().digest()
    );
    let full = experiment.precondition.share.is_none();
    let gives_back = requests[Kind::Trim.index()] + requests[Kind::WriteZeroes.index()] > 0;
    if full && !gives_back {
        assert_eq!(unmapped, 0, "{name}: a full drive has data everywhere");
    }
    assert_eq!(run(&experiment).device().digest(), first.device().digest(), "{name}: again");
    requests
}

fn full(mut overrides: Vec<Override>) -> Vec<Override> {
    overrides.push(set("precondition.fill", "random"));
    overrides
}

#[test]
fn iozone() {
    // 1.06 GiB overwritten about 33 times, up to 17.3 GB.
    let overrides = full(drive_of(16, "17 GiB", 160, 128));
    let Some(requests) = replay("iozone-100k.trace", "", &overrides) else { return };
    assert_eq!(requests, [0, 100_000, 0, 0, 0]);
}

#[test]
fn postmark() {
    // 6.0 GiB, up to 22.9 GB.
    let overrides = full(drive_of(16, "22 GiB", 200, 128));
    let Some(requests) = replay("postmark.trace", "", &overrides) else { return };
    assert_eq!(requests.iter().sum::<u64>(), 62_257);
}

#[test]
fn web_search() {
    let overrides = full(drive_of(16, "20 GiB", 400, 64));
    let Some(requests) = replay("wsrch-small.trace", ", combine = \"fold\"", &overrides) else {
        return;
    };
    assert!(requests[0] > 24_700);
}

#[test]
fn tpcc_with_its_devices_folded() {
    // The farthest device ends at 234 GB.
    let overrides = full(drive_of(64, "240 GB", 350, 768));
    let Some(requests) = replay("tpcc-small.trace", ", combine = \"fold\"", &overrides) else {
        return;
    };
    assert_eq!(requests.iter().sum::<u64>(), 6_999);
}

#[test]
fn tpcc_with_its_devices_one_behind_the_other() {
    // 3.1 TB in all; a hundredth of it holds data.
    let mut overrides = full(drive_of(256, "3200 GB", 1_024, 3_072 + 512));
    overrides.push(set("precondition.share", "1 %"));
    replay("tpcc-small.trace", ", combine = \"concatenate\"", &overrides);
}

#[test]
fn tpcc_with_an_initiator_for_each_device() {
    for fit in ["wrap", "scale"] {
        let overrides = full(drive_of(4, "2 GiB", 48, 64));
        let extra = format!(", combine = \"separate\", out_of_range = \"{fit}\"");
        replay("tpcc-small.trace", &extra, &overrides);
        let closed = format!("{extra}, mode = \"closed\"");
        replay("tpcc-small.trace", &closed, &overrides);
    }
}

#[test]
fn captured() {
    // A drive of 1 GiB, nearly full of stale data, with every durability class.
    for (name, rows) in
        [("start", 91), ("sqlite", 8_544), ("pginit", 2_281), ("pgbench", 25_558), ("rm", 1_056)]
    {
        for durability in ["capacitor", "volatile", "none"] {
            let mut overrides = full(drive_of(4, "1 GiB", 27, 48));
            overrides.push(set("precondition.age", "{ overwrites = 0.5 }"));
            overrides.push(set("buffer.durability", durability));
            let requests = replay_file(name, &shipped(&format!("{name}.csv.gz")), "", &overrides);
            assert_eq!(requests.iter().sum::<u64>(), rows, "{name}");
        }
    }
}
