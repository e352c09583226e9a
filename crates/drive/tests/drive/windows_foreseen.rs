//! Windows of predictable latency that `check` knows will break, or will probably break.

use crate::common::{Override, set, try_experiment};
use crate::directions::scratch;
use drive::check::{check, notes_on_traces};

/// 64 blocks of 64 KiB on one die: a page of 4 KiB is programmed in 300 us, a block erased in 1.5 ms.
fn drive(dtwin: &str, ndwin: &str) -> Vec<Override> {
    vec![
        set("ftl.windows", "{ dtwin = \"1 s\", ndwin_low = \"0 s\", ndwin_high = \"50 ms\" }"),
        set("run.windows", format!("{{ dtwin = \"{dtwin}\", ndwin = \"{ndwin}\" }}")),
        set("ftl.gc.foreground", "2 blocks"),
        set("ftl.gc.background", "4 blocks"),
        set("ftl.gc.stop", "8 blocks"),
    ]
}

/// Writes at a constant rate.
fn writes(rate: u32, requests: u32) -> String {
    format!(
        "[precondition]\nfill = \"sequential\"\n[[workload]]\nname = \"w\"\nreads = \"0 %\"\n\
         arrivals = {{ process = \"constant\", rate = \"{rate} IOPS\" }}\n[run]\nrequests = {requests}\n"
    )
}

/// The notes on an experiment, or its problems.
fn told(text: &str, overrides: &[Override]) -> Result<Vec<String>, String> {
    let experiment = try_experiment(text, overrides)?;
    Ok(check(&experiment).map_err(|problems| problems.to_string())?.notes)
}

#[test]
fn windows_between_which_flash_cannot_erase_what_is_written_are_refused() {
    // 500 pages a second. In N ms between windows of 60 ms the die programs for 0.15 N ms, and has the
    // rest for the erases of (60 + N) / 32 blocks at 1.5 ms, one of which may end later: N is 1.634 ms.
    let words = "cannot erase and program what hosts write";
    let with = |ndwin: &str, requests| told(&writes(500, requests), &drive("60 ms", ndwin));
    for (ndwin, is_short) in [("1.62 ms", true), ("1.65 ms", false)] {
        let notes = with(ndwin, 1_000).expect("a short run is allowed");
        assert_eq!(notes.iter().any(|note| note.contains(words)), is_short, "{ndwin}: {notes:?}");
    }
    // In 1 ms there is time for 0.57 of 1.91 blocks, and one more: 0.34 blocks are missing in each cycle
    // of 61 ms, and 64 blocks after 188.6 of these, or 5,753 writes.
    assert!(with("1 ms", 5_700).expect("a short run").iter().any(|note| note.contains(words)));
    let refused = with("1 ms", 5_800).expect_err("a long run");
    assert!(refused.contains("run.windows.ndwin: in 1 ms the flash cannot erase"), "{refused}");
    assert!(
        refused.contains("0.061 s (0.1 MB), even if garbage collection moves nothing"),
        "{refused}"
    );
    // Data that a buffer takes may be overwritten there.
    let mut buffered = drive("60 ms", "1 ms");
    buffered.push(set("buffer.durability", "capacitor"));
    assert!(told(&writes(500, 5_800), &buffered).is_ok());
    // Sequential writes are not, unless all that they write fits into it.
    buffered.push(set("buffer.size", "64 KiB"));
    let sequential = |region: &str| {
        let with = format!("addresses = {{ pattern = \"sequential\" }}\n{region}reads =");
        told(&writes(500, 5_800).replace("reads =", &with), &buffered)
    };
    assert!(sequential("").is_err());
    assert!(sequential("region = { size = \"68 KiB\" }\n").is_err());
    assert!(sequential("region = { size = \"64 KiB\" }\n").is_ok());
    // Writes that begin late have less time: 11.4 of 11.6 s are too short, as above.
    let late = |start: &str| {
        let text = writes(500, 5_800).replace("reads =", &format!("start = \"{start}\"\nreads ="));
        told(&text, &drive("60 ms", "1 ms"))
    };
    assert!(late("200 ms").is_ok() && late("10 ms").is_err());
}

#[test]
fn a_note_tells_the_write_amplification_that_windows_leave_time_for() {
    let note = |ndwin: &str, more: &[Override]| {
        let all = [&drive("60 ms", ndwin)[..], more].concat();
        let notes = told(&writes(500, 1_000), &all).expect("it is allowed");
        notes.into_iter().find(|note| note.contains("only if write amplification is at most"))
    };
    // 10 ms: programs of 35 pages in 10.5 ms and erases of 2.1875 blocks in 3.28125 ms for each unit of
    // write amplification. There are 10 - 1.5 + 1.5 ms, and what is programmed once: 20.5 / 13.78125.
    let told = note("10 ms", &[]).expect("a note");
    assert!(told.contains("in 0.070 s only if write amplification is at most 1.49;"), "{told}");
    // At 1 s there are 850 + 1.5 + 159 ms for 159 + 49.7 ms: more than enough.
    assert_eq!(note("1 s", &[]), None);
    // Sequential writes have a write amplification of 1.
    let sequential =
        writes(500, 1_000).replace("reads =", "addresses = { pattern = \"sequential\" }\nreads =");
    let notes = self::told(&sequential, &drive("60 ms", "10 ms")).expect("it is allowed");
    assert!(!notes.iter().any(|note| note.contains("write amplification")), "{notes:?}");
}

#[test]
fn a_note_tells_of_writes_that_are_programmed_alone() {
    let note = |more: &[Override]| {
        let all =
            [&drive("50 ms", "50 ms")[..], &[set("geometry.page_size", "16 KiB")], more].concat();
        let notes = told(&writes(100, 100), &all).expect("it is allowed");
        notes.into_iter().find(|note| note.contains("programmed alone"))
    };
    let told = note(&[]).expect("a note");
    assert!(
        told.contains(
            "writes of 4 KiB in the mean may each be programmed alone, as a program of 16 KiB"
        ),
        "{told}"
    );
    assert!(told.contains("be up to 4.0 times smaller than with full programs"), "{told}");
    assert_eq!(note(&[set("buffer.partial_after", "10 ms")]), None);
    assert_eq!(note(&[set("buffer.durability", "capacitor")]), None);
    assert_eq!(note(&[set("geometry.page_size", "4 KiB")]), None);
    // Without windows padding is told of by a run.
    assert_eq!(note(&[set("ftl.windows", "none"), set("run.windows", "none")]), None);
}

#[test]
fn a_note_tells_that_nobody_asks_for_windows() {
    let has = |overrides: &[Override]| {
        let notes = told(&writes(100, 100), overrides).expect("it is allowed");
        notes.iter().any(|note| note.contains("nobody asks for deterministic windows"))
    };
    let drive = drive("50 ms", "50 ms");
    assert!(!has(&drive));
    assert!(has(&[&drive[..], &[set("run.windows", "none")]].concat()));
    assert!(
        !has(&[&drive[..], &[set("ftl.windows", "none"), set("run.windows", "none")]].concat())
    );
}

#[test]
fn a_trace_is_read_for_what_it_writes_in_windows() {
    // 400 writes of 4 KiB, one each ms; among them 40 more in 10 ms, and reads.
    let mut rows = String::from("time_us,op,offset,length\n");
    for ms in 0..400 {
        rows += &format!("{},W,{},4096\n{},R,0,65536\n", 1_000 * ms, ms * 4_096, 1_000 * ms + 1);
        if (200..210).contains(&ms) {
            (1..5).for_each(|k| rows += &format!("{},W,0,512\n", 1_000 * ms + 200 * k));
        }
    }
    let file = scratch::file("foreseen.csv", &rows);
    let note = |dtwin: &str, trace: &str| {
        let text = format!(
            "[precondition]\nfill = \"sequential\"\n[[workload]]\nname = \"t\"\ntrace = {{ file = {file:?}{trace} }}\n"
        );
        let experiment = try_experiment(&text, &drive(dtwin, "100 ms")).expect("it is sound");
        let checked = check(&experiment).expect("it is sound");
        let workload = &experiment.workload[0];
        let survey = workload.survey().expect("a sound trace").expect("a trace");
        notes_on_traces(&experiment, &checked.layout, workload, &survey).expect("a sound trace")
    };
    // Two blocks of 16 pages lie between the thresholds. In 15 ms the busiest stretch has 16 + 40 pages.
    let told = note("15 ms", "").expect("a note");
    let words = "in 15 ms (run.windows.dtwin) it writes 0.1 MB in the mean and 0.2 MB at most, and 0.1 MB lie";
    assert!(told.contains(words) && told.contains("some deterministic windows may end"), "{told}");
    // 440 pages in 399 ms: 32 of them in 29.02 ms.
    assert!(
        note("29 ms", "").is_some_and(|told| told.contains("some deterministic windows may end"))
    );
    assert!(note("30 ms", "").is_some_and(|told| told.contains("most deterministic windows end")));
    // At a fifth of the speed 10 of the 40 more fall into 12 ms, with three others.
    assert_eq!(note("12 ms", ", time_scale = 5.0"), None);
    // In a closed loop stamps are not used.
    assert_eq!(note("30 ms", ", mode = \"closed\""), None);
}
