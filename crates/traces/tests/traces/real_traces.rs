//! Tests of the real traces beside the workspace, against the facts in their README and the
//! papers. If they are absent the tests say so and pass.

use engine::Streams;
use host::{Issue, Kind, Source, WorkloadConfig};
use std::io::Write;
use std::path::PathBuf;
use traces::{Compression, Format, Survey, survey};

/// The path of a trace, or nothing, with a notice, if it is absent. Test harnesses
/// hide what a test prints that passes, so the notice goes past them.
fn trace(name: &str) -> Option<PathBuf> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/traces");
    let path = PathBuf::from(folder).join(name);
    if !path.exists() {
        let notice = format!("skipped: {} is absent\n", path.display());
        std::io::stderr().write_all(notice.as_bytes()).expect("there is a standard error");
        return None;
    }
    Some(path)
}

fn survey_of(name: &str) -> Option<Survey> {
    let found = survey(&trace(name)?, None).expect("the trace is sound");
    println!("{found}");
    Some(found)
}

/// Share of reads in percent, and mean bytes of a kind.
fn share(survey: &Survey, kind: Kind) -> f64 {
    survey.kinds[kind.index()].requests as f64 / survey.rows as f64 * 100.0
}

fn mean(survey: &Survey, kind: Kind) -> f64 {
    let tally = survey.kinds[kind.index()];
    tally.bytes as f64 / tally.requests as f64
}

#[test]
fn tpcc_is_mqsim_with_16_devices() {
    let Some(tpcc) = survey_of("tpcc-small.trace") else { return };
    assert_eq!((tpcc.format, tpcc.rows), (Format::Mqsim, 6_999));
    assert!((share(&tpcc, Kind::Read) - 62.6).abs() < 0.05);
    assert!((tpcc.bytes() as f64 / 6_999.0 - 8_532.0).abs() < 1.0, "8.53 KB in the mean");
    assert!((tpcc.span().as_secs_f64() - 0.136).abs() < 0.001);
    assert_eq!(tpcc.devices.len(), 16);
    let (farthest, total) =
        tpcc.devices.iter().fold((0, 0), |(far, sum), d| (d.end().max(far), d.end() + sum));
    assert!((232_000_000_000..235_000_000_000).contains(&farthest), "{farthest}");
    assert!((3_000_000_000_000..3_200_000_000_000).contains(&total), "3.1 TB: {total}");
    assert_eq!(tpcc.backwards, None);
}

#[test]
fn web_search_is_mqsim_and_nearly_all_reads() {
    let Some(search) = survey_of("wsrch-small.trace") else { return };
    // The README counts line ends; the last row has none.
    assert_eq!((search.format, search.rows), (Format::Mqsim, 24_783));
    assert!(share(&search, Kind::Read) > 99.9);
}

#[test]
fn iozone_is_disksim_and_all_writes() {
    let Some(iozone) = survey_of("iozone-100k.trace") else { return };
    assert_eq!((iozone.format, iozone.rows), (Format::Disksim, 100_000));
    assert_eq!(share(&iozone, Kind::Write), 100.0);
    assert!((mean(&iozone, Kind::Write) / 1024.0 - 360.0).abs() < 0.5);
    assert!((1e5 / iozone.span().as_secs_f64() - 106.8).abs() < 0.1);
}

#[test]
fn postmark_is_disksim_and_mostly_reads() {
    let Some(postmark) = survey_of("postmark.trace") else { return };
    assert_eq!((postmark.format, postmark.rows), (Format::Disksim, 62_257));
    assert!((share(&postmark, Kind::Read) - 83.2).abs() < 0.05);
    let kib = |kind| mean(&postmark, kind) / 1024.0;
    println!("reads {} KiB, writes {} KiB", kib(Kind::Read), kib(Kind::Write));
    assert!((kib(Kind::Read) - 98.8).abs() < 0.1 || (kib(Kind::Read) * 1.024 - 98.8).abs() < 0.1);
    assert!(
        (kib(Kind::Write) - 833.0).abs() < 1.0 || (kib(Kind::Write) * 1.024 - 833.0).abs() < 1.0
    );
    assert!((62_257.0 / postmark.span().as_secs_f64() - 126.9).abs() < 0.1);
}

#[test]
fn the_captured_traces_have_their_rows_and_replay_on_their_gibibyte() {
    for (name, rows) in
        [("start", 91), ("sqlite", 8_544), ("pginit", 2_281), ("pgbench", 25_558), ("rm", 1_056)]
    {
        let Some(found) = survey_of(&format!("captured/{name}.csv.gz")) else { return };
        assert_eq!(
            (found.format, found.rows, found.compression),
            (Format::Captured, rows, Some(Compression::Gzip))
        );
        let text = format!("name = 'x'\ntrace = {{ file = '{}' }}", found.file.display());
        let config: WorkloadConfig = toml::from_str(&text).unwrap();
        let mut source = Source::build(&config, 1 << 30, Streams::new(1)).unwrap();
        let (mut count, mut latest) = (0, engine::Span::ZERO);
        while let Some(request) = source.next().unwrap() {
            let Issue::At(at) = request.issue else { panic!("open loop by default") };
            assert!(at >= latest, "stamps are put in order");
            latest = at;
            count += 1;
        }
        assert_eq!((count, latest), (rows, found.span()), "{name}");
    }
}
