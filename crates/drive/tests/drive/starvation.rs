//! Requests that starve, by arithmetic: not a nanosecond before the limit, and never if an event at
//! the limit answers them.

use crate::common::{self, Override, experiment, set};
use crate::poised;
use drive::device::{Stage, Standing};
use drive::results::{Outcome, summary};
use drive::starvation::{Starved, Watch};
use drive::{Experiment, OpKind, Run, RunError};
use host::Kind;
use metrics::State;
use serde_json::Value;

const US: u64 = 1_000;
const PAGE: u64 = 4_096;

/// One request of an initiator of its own.
fn one(name: &str, is_read: bool, page: u64, at_us: u64) -> String {
    let reads = if is_read { 100 } else { 0 };
    let offset = page * PAGE;
    format!(
        "[[workload]]\nname = \"{name}\"\nreads = \"{reads} %\"\nsize = \"4 KiB\"\n\
         start = \"{at_us} us\"\nregion = {{ offset = \"{offset} B\", size = \"4 KiB\" }}\n\
         stop = {{ requests = 1 }}\n"
    )
}

/// Four writes fill a block of die 0 and a fifth, at 4000 us, opens one, so that block 0 with one
/// valid page is collected: the write is programmed by 4300, the page is read by 4425 and
/// programmed by 4725, and then the block is erased until 6225.
fn erasing(rest: &str) -> String {
    let mut text = String::from("[precondition]\nfill = \"sequential\"\n");
    for (index, number) in [0, 1, 2, 4, 5].into_iter().enumerate() {
        text += &one(&format!("w{index}"), false, 2 * number, 1_000 * index as u64);
    }
    text + rest
}

fn watched(then: &str, limit_ns: u64) -> Override {
    set("run.starvation", format!("{{ limit = \"{limit_ns} ns\", then = \"{then}\" }}"))
}

fn on_poised(text: &str, overrides: &[Override]) -> Experiment {
    experiment(text, &poised::shape(overrides))
}

/// Runs to the end, or to the request that starves.
fn run(experiment: &Experiment) -> (Run, Option<Starved>) {
    let surveys = vec![None; experiment.workload.len()];
    let mut run = Run::new(experiment, &surveys, &mut |_| true).unwrap().unwrap();
    loop {
        match run.advance(100) {
            Ok(true) => {}
            Ok(false) => return (run, None),
            Err(RunError::Starved(starved)) => return (run, Some(*starved)),
            Err(other) => panic!("{other}"),
        }
    }
}

fn told(run: &mut Run, experiment: &Experiment, complete: bool) -> Value {
    let checked = drive::check::check(experiment).unwrap();
    let surveys = vec![None; experiment.workload.len()];
    let outcome = Outcome { host_cpu_seconds: 0.0, complete };
    summary(run, experiment, &checked, &surveys, outcome)
}

fn watch(run: &Run) -> &Watch {
    run.starvation().expect("it is asked for")
}

/// A read that comes at 5000 us, during the erase: it is sensed by 6250 and answered by 6350.
fn read_behind_erase(overrides: &[Override]) -> Experiment {
    on_poised(&erasing(&one("reader", true, 2, 5_000)), overrides)
}

#[test]
fn a_request_starves_at_its_limit_and_not_where_that_is_when_it_is_answered() {
    let latency = 1_350 * US;
    let (run_whole, none) = run(&read_behind_erase(&[watched("stop", latency)]));
    assert_eq!(none, None, "what is due at the limit comes first");
    assert_eq!(watch(&run_whole).longest(run_whole.now()).as_ns(), latency);
    let (ended, starved) = run(&read_behind_erase(&[watched("stop", latency - 1)]));
    let starved = starved.expect("a nanosecond is missing");
    assert_eq!(starved.at.as_ns(), 5_000 * US + latency - 1);
    assert_eq!(ended.now(), starved.at, "the run ends there");
    assert_eq!(starved.initiator, "reader");
    assert_eq!((starved.command.kind, starved.command.offset), (Kind::Read, 2 * PAGE));
}

#[test]
fn the_limit_passes_between_events() {
    // From 4725 to 6225 no event is due except the read's arrival.
    for limit in [1, 333 * US + 7, 500 * US, 1_225 * US - 1] {
        let (ended, starved) = run(&read_behind_erase(&[watched("stop", limit)]));
        let starved = starved.expect("it starves");
        assert_eq!(ended.now(), starved.at);
        // The first write takes 300 us.
        let first = if limit < 300 * US { 0 } else { 5_000 * US };
        assert_eq!(starved.at.as_ns(), first + limit);
        assert_eq!(starved.submitted.as_ns(), first);
    }
}

fn only(standings: &[Standing]) -> &Standing {
    let [one] = standings else { panic!("one thing is told of: {standings:?}") };
    one
}

#[test]
fn a_read_behind_an_erase_says_which_and_since_when() {
    let (_, starved) = run(&read_behind_erase(&[watched("stop", 500 * US)]));
    let starved = starved.expect("it starves");
    let read = only(&starved.standings);
    assert_eq!((read.stage, read.operation.unwrap().0), (Stage::Unit, OpKind::Read));
    assert_eq!(read.since.unwrap().as_ns(), 5_000 * US);
    let erase = only(&read.behind);
    assert_eq!((erase.stage, erase.operation.unwrap().0), (Stage::Work, OpKind::Erase));
    assert_eq!((erase.die, erase.bin.unwrap().0, erase.block.unwrap().0), (Some(0), 0, 0));
    assert_eq!(erase.since.unwrap().as_ns(), 4_725 * US);
    assert_eq!(erase.until.unwrap().as_ns(), 6_225 * US);
    assert_eq!(starved.blame, [(State::UnitErase, engine::Span::from_ns(500 * US))]);
    assert_eq!(
        starved.to_string(),
        "a read of \"reader\" (4,096 bytes at byte 8,192), submitted at 5 ms, was not answered \
         within 500 us: its read waits for its unit of die 0: the erase of block 0 in bin 0 is at \
         work on die 0, for 725 us more; it began 775 us ago"
    );
}

/// As [`read_behind_erase`], with an erase of three steps that is suspended for reads. A read at
/// 5000 asks, and goes at the end of the first step (4725 + 500), which leaves two.
fn interrupted_erase(limit_us: u64) -> Experiment {
    let steps = "{ steps = 3, ramp = \"0 us\", execute = \"500 us\", recover = \"0 us\", verify = \"0 us\" }";
    let rest = one("reader", true, 2, 5_000) + &one("late", false, 18, 5_100);
    on_poised(
        &erasing(&rest),
        &[
            set("nand.erase", steps),
            set("scheduler.read_routing", "\"suspend\""),
            set("scheduler.suspension", "\"d-es\""),
            watched("stop", limit_us * US),
        ],
    )
}

#[test]
fn a_write_behind_an_interrupted_erase_says_how_often_that_was_suspended() {
    // The erase is over at 6225 + 125.
    let (_, starved) = run(&interrupted_erase(1_000));
    let starved = starved.expect("the write starves");
    assert_eq!((starved.command.kind, starved.at.as_ns()), (Kind::Write, 6_100 * US));
    let write = only(&starved.standings);
    let erase = only(&write.behind);
    assert_eq!((erase.suspensions, erase.since.unwrap().as_ns()), (Some(1), 4_725 * US));
    assert_eq!(erase.until.unwrap().as_ns(), 6_350 * US);
    // It is programmed after that, and answered at the limit.
    let (_, none) = run(&interrupted_erase(6_350 + 300 - 5_100));
    assert_eq!(none, None);
}

#[test]
fn a_write_without_room_says_which_program_makes_some() {
    // The buffer has one page, which takes 300 us to be programmed. The second write waits for the
    // first one's page, the third for both.
    let text: String = (0..3).map(|page| one(&format!("w{page}"), false, page, 0)).collect();
    let small = [set("buffer.durability", "capacitor"), set("buffer.size", "4 KiB")];
    let with = |limit| [&small[..], &[watched("stop", limit)]].concat();
    let (_, starved) = run(&experiment(&text, &with(250 * US)));
    let starved = starved.expect("it waits for 300 us");
    assert_eq!((starved.initiator.as_str(), starved.outstanding), ("w1", 2));
    let write = only(&starved.standings);
    assert_eq!((write.stage, write.since.unwrap().as_ns()), (Stage::Room, 0));
    assert!(write.words.contains("behind 0 others (1 of 1 units are used)"), "{}", write.words);
    let program = only(&write.behind);
    assert_eq!((program.stage, program.operation.unwrap().0), (Stage::Work, OpKind::Program));
    assert_eq!(program.since.unwrap().as_ns(), 100 * US);
    assert_eq!(program.until.unwrap().as_ns(), 300 * US);
    let (_, starved) = run(&experiment(&text, &with(599 * US)));
    assert_eq!(starved.expect("it waits for 600 us").initiator, "w2");
    assert_eq!(run(&experiment(&text, &with(600 * US))).1, None);
}

#[test]
fn a_flush_says_which_program_it_waits_for() {
    let flush = "[[workload]]\nname = \"flusher\"\nmix = { flush = \"100 %\" }\n\
                 start = \"10 us\"\nstop = { requests = 1 }\n";
    let text = one("writer", false, 0, 0) + flush;
    let volatile = [set("buffer.durability", "volatile"), watched("stop", 50 * US)];
    let (_, starved) = run(&experiment(&text, &volatile));
    let starved = starved.expect("it waits until 300 us");
    assert_eq!((starved.command.kind, starved.at.as_ns()), (Kind::Flush, 60 * US));
    let flush = only(&starved.standings);
    let program = only(&flush.behind);
    assert_eq!((flush.stage, program.stage), (Stage::Flush, Stage::Work));
    assert_eq!(program.until.unwrap().as_ns(), 100 * US, "it is on the channel");
}

/// A stage, and the stage and the operation of its obstacle.
type Seen = (Stage, Option<(Stage, Option<OpKind>)>);

/// States of the parts of the oldest request in the course of a run.
fn seen(experiment: &Experiment) -> Vec<Seen> {
    let surveys = vec![None; experiment.workload.len()];
    let mut run = Run::new(experiment, &surveys, &mut |_| true).unwrap().unwrap();
    let mut seen = Vec::new();
    while run.advance(1).unwrap() {
        let Some(oldest) = watch(&run).oldest() else { continue };
        for standing in run.device().standings(oldest) {
            let told = |one: &Standing| (one.stage, one.operation.map(|(kind, _)| kind));
            let behind: Vec<_> = match standing.behind.is_empty() {
                true => vec![None],
                false => standing.behind.iter().map(told).map(Some).collect(),
            };
            for found in behind.into_iter().map(|behind| (standing.stage, behind)) {
                if !seen.contains(&found) {
                    seen.push(found);
                }
            }
        }
    }
    seen
}

#[test]
fn a_write_without_space_says_what_its_collection_does() {
    // A write of two blocks and a half: two are free when collection begins.
    let text = "[precondition]\nfill = \"random\"\n[[workload]]\nname = \"host\"\n\
                reads = \"0 %\"\nsize = \"80 KiB\"\n[run]\nrequests = 60\n";
    let full = |durability: &str, more: &[Override]| {
        let drive = [
            set("geometry.blocks_per_plane", 24),
            set("geometry.pages_per_block", 8),
            set("ftl.over_provisioning.exported", "672 KiB"),
            set("buffer.durability", durability),
            set("buffer.size", "64 KiB"),
            watched("report", 3_600_000_000 * US),
        ];
        [&drive[..], more].concat()
    };
    let work = |kind| Some((Stage::Work, Some(kind)));
    // Its data waits for space, or its program does.
    let through = seen(&experiment(text, &full("none", &[])));
    for kind in [OpKind::Read, OpKind::Program, OpKind::Erase] {
        assert!(through.contains(&(Stage::Space, work(kind))), "{through:?}");
    }
    // It waits for room, which waits for space.
    let buffered =
        seen(&experiment(text, &full("capacitor", &[set("buffer.programs_per_bin", 64)])));
    assert!(buffered.contains(&(Stage::Room, Some((Stage::Space, None)))), "{buffered:?}");
    assert!(buffered.contains(&(Stage::Room, work(OpKind::Program))), "{buffered:?}");
}

#[test]
fn parts_that_wait_alike_are_told_once() {
    let text = "[precondition]\nfill = \"sequential\"\n[[workload]]\nname = \"host\"\n\
                reads = \"100 %\"\nsize = \"32 KiB\"\nqueue_depth = 1\n[run]\nrequests = 1\n";
    // Eight pages of one die: at least 25 + 800 us, as the channel transfers one at a time.
    let (_, starved) = run(&experiment(text, &[watched("stop", 100 * US)]));
    let starved = starved.expect("it takes longer");
    let told: Vec<_> = starved.standings.iter().map(|one| (one.stage, one.parts)).collect();
    assert_eq!(told, [(Stage::Work, 1), (Stage::Unit, 7)]);
}

#[test]
fn waiting_in_the_host_does_not_count() {
    // Reads take 125 us one after the other; in the host they wait ever longer.
    let text = "[precondition]\nfill = \"sequential\"\n[[workload]]\nname = \"host\"\n\
                reads = \"100 %\"\narrivals = { process = \"constant\", rate = \"100 kIOPS\" }\n\
                queue_depth = 1\nstop = { requests = 50 }\n";
    let (whole, none) = run(&experiment(text, &[watched("stop", 125 * US)]));
    assert_eq!(none, None);
    let longest = common::stats(&whole, 0, Kind::Read).latency.max().unwrap();
    assert!(longest.as_ns() > 5_000 * US, "but latency counts it: {longest}");
    assert_eq!(watch(&whole).longest(whole.now()).as_ns(), 125 * US);
}

#[test]
fn what_stops_is_partial_and_tells_what_was_outstanding() {
    let text = erasing(&(one("reader", true, 2, 5_000) + &one("writer", false, 18, 5_200)));
    let experiment = on_poised(&text, &[watched("stop", 600 * US)]);
    let (mut ended, starved) = run(&experiment);
    assert_eq!(starved.expect("the read starves").outstanding, 2);
    assert!(matches!(ended.advance(1), Err(RunError::Starved(_))), "and nothing goes on");
    let told = told(&mut ended, &experiment, false);
    assert_eq!(told["complete"], false);
    assert_eq!(told["simulated_ns"], 5_600 * US);
    let starvation = &told["starvation"];
    assert_eq!(starvation["ended_run"], true);
    assert_eq!(starvation["requests"], 1);
    assert_eq!(
        starvation["outstanding"],
        serde_json::json!([
            {"initiator": "reader", "kind": "read", "requests": 1, "oldest_ns": 600 * US},
            {"initiator": "writer", "kind": "write", "requests": 1, "oldest_ns": 400 * US},
        ])
    );
    assert_eq!(starvation["longest_ns"], 600 * US);
    let requests = |of: &Value| of["read"]["requests"].as_u64().unwrap();
    let counted: u64 = told["initiators"].as_array().unwrap().iter().map(requests).sum();
    assert_eq!(counted, 0, "what is outstanding has not completed");
    let notes = told["notes"].as_array().unwrap();
    let note = notes.iter().find_map(|note| note.as_str().filter(|note| note.contains("starv")));
    assert!(
        note.unwrap().starts_with("starvation ended the run, with 2 requests under way: a read")
    );
}

#[test]
fn what_is_reported_goes_on_and_counts_each_request_once() {
    let text = erasing(&(one("reader", true, 2, 5_000) + &one("writer", false, 18, 5_200)));
    let reported = on_poised(&text, &[watched("report", 600 * US)]);
    let (mut ended, none) = run(&reported);
    assert_eq!(none, None);
    let told = told(&mut ended, &reported, true);
    let starvation = &told["starvation"];
    assert_eq!(starvation["ended_run"], false);
    assert_eq!(starvation["requests"], 2);
    let of = |initiator: &str, kind: &str| serde_json::json!({"initiator": initiator, "kind": kind, "requests": 1});
    let starved = serde_json::json!([of("reader", "read"), of("writer", "write")]);
    assert_eq!(starvation["starved"], starved);
    assert_eq!(starvation["first"]["initiator"], "reader");
    assert_eq!(starvation["first"]["starved_ns"], 5_600 * US);
    assert_eq!(starvation["outstanding"], serde_json::json!([]));
    // The write goes when the read has ended, at 6350, and takes 300 us. (Its transfer may not
    // begin before, as the read occupies the die.)
    assert_eq!(starvation["longest_ns"], (6_650 - 5_200) * US);
    let (plain, _) = run(&on_poised(&text, &[]));
    assert_eq!(ended.device().digest(), plain.device().digest());
    assert_eq!(ended.device().events(), plain.device().events());
    assert_eq!(ended.elapsed(), plain.elapsed());
}

#[test]
fn a_drive_that_is_stuck_ends_by_the_limit() {
    // Blocks are erased once, so that space runs out.
    let text = "[precondition]\nfill = \"sequential\"\n[[workload]]\nname = \"host\"\n\
                reads = \"0 %\"\n[run]\nrequests = 100000\n";
    let worn = [set("nand.endurance", 1), set("run.audit", false)];
    let stuck = common::try_run(&experiment(text, &worn)).map(drop).unwrap_err();
    for words in ["the drive is stuck at ", "ms with ", "wore out or failed", "run.untimed = true"]
    {
        assert!(stuck.contains(words), "{words}: {stuck}");
    }
    let watched = [&worn[..], &[watched("stop", 1_000_000 * US)]].concat();
    let (ended, starved) = run(&experiment(text, &watched));
    let starved = starved.expect("nothing else ends it");
    assert_eq!(ended.now(), starved.at);
    assert_eq!(starved.standings[0].stage, Stage::Space);
    assert!(starved.why().contains("free space"), "{starved}");
}

#[test]
fn nothing_is_kept_where_nothing_is_looked_for() {
    let experiment = read_behind_erase(&[]);
    let (mut ended, _) = run(&experiment);
    assert!(ended.starvation().is_none());
    assert_eq!(told(&mut ended, &experiment, true)["starvation"], Value::Null);
}

#[test]
fn a_limit_of_nothing_is_refused() {
    let text = erasing("");
    let refused = common::try_experiment(&text, &poised::shape(&[watched("stop", 0)]));
    let refused = refused.unwrap_err();
    assert!(refused.contains("run.starvation.limit: must be more than 0"), "{refused}");
}
