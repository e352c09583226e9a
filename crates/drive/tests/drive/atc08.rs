//! Figures of the authors' own simulator for the baseline of "Design Tradeoffs for SSD Performance"
//! (Agrawal and others, USENIX ATC 2008), for that configuration.

use crate::common::{Table, mean_ns, run_fast, stats};
use drive::{Run, load};
use host::Kind;
use metrics::State;

/// Sizes of 5 million sequential requests, as counted by that simulator (sixteen runs: one ends at
/// the end of the region).
const SIZES_OF_RUNS: &str = "[{ size = \"4 KiB\", share = \"86.956 %\" }, \
     { size = \"8 KiB\", share = \"12.002 %\" }, { size = \"12 KiB\", share = \"1.042 %\" }]";

/// 2000 requests a second at uniform gaps, of exponential sizes with a mean of eight sectors,
/// rounded up to 4 KiB, on the full baseline drive. In that simulator the size of a sequential run
/// is drawn once, at its beginning: one run has eight sectors a request.
fn baseline(reads: u32, pattern: &str, requests: u32) -> Run {
    let size = match (pattern, requests) {
        ("sequential", 250_000) => "\"4 KiB\"",
        ("sequential", _) => SIZES_OF_RUNS,
        _ => "{ mean = \"4 KiB\" }",
    };
    let region = if reads == 0 { "region = { size = \"3593678848 B\" }\n" } else { "" };
    // The audit takes as long as the run.
    let audit = requests < 1_000_000;
    let text = format!(
        "[drive]\npreset = \"atc08\"\n[precondition]\nfill = \"sequential\"\n\
         [[workload]]\nname = \"host\"\nreads = \"{reads} %\"\nsize = {size}\n\
         addresses = {{ pattern = \"{pattern}\" }}\n{region}\
         arrivals = {{ process = \"uniform\", rate = \"2000 /s\" }}\n[run]\nrequests = {requests}\naudit = {audit}\n"
    );
    let (experiment, _) =
        load::load(&text, "atc08.toml", &[]).unwrap_or_else(|problems| panic!("{problems}"));
    run_fast(&experiment)
}

/// Parts of a request's latency, in microseconds.
fn anatomy(run: &Run, kind: Kind) {
    let stats = stats(run, 0, kind);
    let count = stats.latency.count() as f64;
    println!("  {:.4} pages a request", stats.bytes as f64 / 4096.0 / count);
    for (state, ns) in State::ALL.iter().zip(stats.bands.total()).filter(|(_, ns)| *ns > 0) {
        println!("  {:28} {:9.3} us", state.name(), ns as f64 / count / 1e3);
    }
}

#[test]
fn the_baseline_agrees_with_the_authors_simulator() {
    let mut table = Table::new("mean response in ms (seed 1)", 0.005);
    for (name, reads, pattern, requests, expected) in [
        ("sequential reads", 100, "sequential", 250_000, 0.132_511),
        ("random reads", 100, "uniform", 250_000, 0.136_118),
        ("sequential writes", 0, "sequential", 250_000, 0.310_895),
        ("random writes", 0, "uniform", 250_000, 0.329_458),
        ("sequential writes, cleaned", 0, "sequential", 5_000_000, 0.334_365),
        ("random writes, cleaned", 0, "uniform", 5_000_000, 0.593_438),
    ] {
        let run = baseline(reads, pattern, requests);
        let kind = if reads == 0 { Kind::Write } else { Kind::Read };
        table.expect(name, expected, mean_ns(&run, 0, kind) / 1e6);
        anatomy(&run, kind);
        let erases = run.measured().tally().erases;
        println!("  {erases} erases");
        assert_eq!(erases > 0, name.ends_with("cleaned"));
        assert_eq!(stats(&run, 0, kind).unmapped, 0);
    }
    table.end();
}

/// 8 data lines a channel, 5 of control a channel (or gang), and 2 a die, of which there are 16:
/// a synchronous gang's dies of a kind share theirs.
#[test]
fn a_gang_saves_pins() {
    let pins = |gang: &str| {
        let text = format!(
            "[drive]\npreset = \"atc08\"\n{gang}\n[[workload]]\nname = \"host\"\nreads = \"100 %\"\n\
             [run]\nrequests = 1\n"
        );
        let (experiment, checked) =
            load::load(&text, "gang.toml", &[]).unwrap_or_else(|problems| panic!("{problems}"));
        let derived = checked.derived(&experiment);
        let says_so = checked.notes.iter().any(|note| note.contains("only saves pins"));
        (derived["organisation"]["pins"].as_u64().expect("a number"), says_so)
    };
    let gang = |control: &str| {
        let pages = if control == "synchronous" { "[drive.ftl]\nunit = \"32 KiB\"\n" } else { "" };
        format!("[drive.geometry]\ngang = {{ channels = 8, control = \"{control}\" }}\n{pages}")
    };
    assert_eq!(pins(""), (8 * 8 + 8 * 5 + 16 * 2, false));
    assert_eq!(pins(&gang("asynchronous")), (8 * 8 + 5 + 16 * 2, true));
    assert_eq!(pins(&gang("synchronous")), (8 * 8 + 5 + 2 * 2, false));
}

#[test]
fn the_baseline_has_the_papers_capacity_and_durations() {
    let text = "[drive]\npreset = \"atc08\"\n[[workload]]\nname = \"host\"\nreads = \"100 %\"\n\
                [run]\nrequests = 1\n";
    let (experiment, checked) =
        load::load(text, "atc08.toml", &[]).unwrap_or_else(|problems| panic!("{problems}"));
    assert_eq!(checked.geometry.physical_bytes(), 32 << 30);
    // One page of 64 holds no data.
    let exported = checked.layout.exported_bytes() as f64 / (32u64 << 30) as f64;
    assert!((exported - 0.85 * 63.0 / 64.0).abs() < 1e-6, "{exported}");
    assert_eq!(checked.derived(&experiment)["organisation"]["pins"], 136, "[paper]");
    let page = checked.timing.transfer(4096);
    // 8 sectors of 512 + 16 B at 25 ns a byte.
    assert_eq!(page.as_ns(), 8 * 528 * 25);
    assert_eq!((checked.timing.read(0) + page).as_ns(), 130_600);
    assert_eq!((checked.timing.program(0) + page).as_ns(), 305_600);
    assert_eq!(checked.timing.erase.total().as_ns(), 1_500_000);
    // From 5 % of a plane's 2048 blocks until more than that are free.
    assert_eq!(checked.thresholds, [102, 102, 102]);
}
