//! Tests of traces made by hand: the requests read, the format detected, the mapping by a replay,
//! and the error for every damaged file.

use engine::Streams;
use flate2::Compression;
use flate2::write::GzEncoder;
use host::{Command, HostError, Issue, Kind, Request, Source, WorkloadConfig};
use std::io::Write;
use std::path::PathBuf;
use traces::{Format, survey};

const DISKSIM: &str = "10.5 0 0 8 0\n11.0 0 8 8 1\n12.25 0 16 16 0\n";
const MQSIM: &str = "938513000 0 0 8 0\n938828000 0 8 8 1\n";
const CAPTURED: &str =
    "time_us,op,offset,length\n0,R,4096,4096\n30,W,0,8192\n20,F,0,0\n40,T,8192,4096\n";

/// A file that is removed when the test ends.
struct Fixture(PathBuf);

impl Fixture {
    fn new(name: &str, content: impl AsRef<[u8]>) -> Self {
        let name = format!("flashscape-host-{}-{name}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::write(&path, content).unwrap();
        Self(path)
    }

    fn config(&self, keys: &str) -> WorkloadConfig {
        let file = self.0.display();
        let text = format!("name = 'replay'\n[trace]\nfile = '{file}'\n{keys}");
        toml::from_str(&text).unwrap()
    }

    fn source(&self, keys: &str, capacity: u64) -> Result<Source, HostError> {
        Source::build(&self.config(keys), capacity, Streams::new(1))
    }

    fn requests(&self, keys: &str, capacity: u64) -> Vec<Request> {
        drain(self.source(keys, capacity).unwrap_or_else(|error| panic!("{error}")))
    }

    /// The refusal, without the path in front of it.
    fn refusal(&self, keys: &str, capacity: u64) -> String {
        let error = self.source(keys, capacity).err().expect("it is refused").to_string();
        error.replace(&self.0.display().to_string(), "FILE")
    }
}

impl Drop for Fixture {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

fn drain(mut source: Source) -> Vec<Request> {
    std::iter::from_fn(|| source.next().unwrap()).collect()
}

fn gzip(text: &str) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(text.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

fn at_ns(request: &Request) -> u64 {
    match request.issue {
        Issue::At(span) => span.as_ns(),
        Issue::After(_) => panic!("a closed-loop request"),
    }
}

fn offsets(requests: &[Request]) -> Vec<u64> {
    requests.iter().map(|request| request.command.offset).collect()
}

#[test]
fn each_format_is_detected_plain_and_gzipped() {
    for (name, text, format) in [
        ("mqsim", MQSIM, Format::Mqsim),
        ("disksim", DISKSIM, Format::Disksim),
        ("captured", CAPTURED, Format::Captured),
    ] {
        let plain = Fixture::new(&format!("plain-{name}"), text);
        let packed = Fixture::new(&format!("packed-{name}"), gzip(text));
        let (plain, packed) = (survey(&plain.0, None).unwrap(), survey(&packed.0, None).unwrap());
        assert_eq!((plain.format, plain.compression), (format, None), "{}", plain.reason);
        assert_eq!(
            (packed.format, packed.compression),
            (format, Some(traces::Compression::Gzip)),
            "{}",
            packed.reason
        );
        assert_eq!(plain.kinds, packed.kinds);
    }
}

#[test]
fn whole_numbers_that_may_be_either_are_not_guessed() {
    let file = Fixture::new("ambiguous", "0 0 0 8 0\n5 0 8 8 1\n10 0 16 8 1\n");
    let refusal = file.refusal("", 1 << 20);
    assert_eq!(
        refusal,
        "FILE: the format is ambiguous: whole numbers that read as mqsim (then requests come \
         5 ns apart) or disksim (then requests come 5 ms apart); say which: format = \"mqsim\" \
         or \"disksim\", with time_unit if stamps count another unit"
    );
    let forced = |format| file.requests(&format!("format = '{format}'"), 1 << 20);
    assert_eq!(forced("mqsim").iter().map(at_ns).collect::<Vec<_>>(), [0, 5, 10]);
    assert_eq!(forced("disksim").iter().map(at_ns).collect::<Vec<_>>(), [0, 5_000_000, 10_000_000]);
}

#[test]
fn a_single_row_of_whole_numbers_is_ambiguous_too() {
    let file = Fixture::new("single", "938513000 4 264719034 16 0\n");
    assert!(file.refusal("", 1 << 40).contains("ambiguous"));
}

#[test]
fn a_survey_says_what_is_in_the_file() {
    let file = Fixture::new("survey", CAPTURED);
    let found = survey(&file.0, None).unwrap();
    assert_eq!(found.rows, 4);
    assert_eq!((found.first_stamp.as_ns(), found.last_stamp.as_ns()), (0, 40_000));
    let writes = found.kinds[Kind::Write.index()];
    assert_eq!((writes.requests, writes.bytes), (1, 8_192));
    assert_eq!((found.bytes(), found.largest_bytes()), (16_384, 8_192));
    let device = found.devices[0];
    assert_eq!((device.device, device.begin, device.end()), (0, 0, 12_288));
    assert_eq!(device.farthest.unwrap().line, 5);
    let backwards = found.backwards.unwrap();
    assert_eq!((backwards.first_line, backwards.rows), (4, 1));
    assert_eq!(backwards.largest_step.as_ns(), 10_000);
    let announcement = found.to_string();
    for part in
        ["captured CSV", "time in us", "4 over 0.000040 s", "1 runs backwards, first in line 4"]
    {
        assert!(announcement.contains(part), "{part} in:\n{announcement}");
    }
}

#[test]
fn stamps_count_from_the_first_and_can_be_stretched() {
    let file = Fixture::new("stamps", DISKSIM);
    let times = |keys| file.requests(keys, 1 << 20).iter().map(at_ns).collect::<Vec<_>>();
    assert_eq!(times(""), [0, 500_000, 1_750_000]);
    assert_eq!(times("time_scale = 2.0"), [0, 1_000_000, 3_500_000]);
    // A repetition follows one mean gap, 875 us, after the last stamp.
    assert_eq!(times("repeat = 2")[3..], [2_625_000, 3_125_000, 4_375_000]);
    let mut late = file.config("time_scale = 2.0");
    late.start = Some(engine::Span::from_ms(1).into());
    let late = drain(Source::build(&late, 1 << 20, Streams::new(1)).unwrap());
    assert_eq!(late.iter().map(at_ns).collect::<Vec<_>>(), [1_000_000, 2_000_000, 4_500_000]);
}

#[test]
fn a_closed_loop_keeps_the_order_of_the_file_and_thinks() {
    let file = Fixture::new("closed", CAPTURED);
    let mut config = file.config("mode = 'closed'");
    config.queue_depth = Some(host::QueueDepth::Limit(4));
    config.think_time =
        toml::from_str::<WorkloadConfig>("name = ''\nthink_time = '7 us'").unwrap().think_time;
    let source = Source::build(&config, 1 << 20, Streams::new(1)).unwrap();
    assert_eq!((source.queue_depth(), source.is_open_loop()), (Some(4), false));
    let requests = drain(source);
    let kinds: Vec<Kind> = requests.iter().map(|request| request.command.kind).collect();
    assert_eq!(kinds, [Kind::Read, Kind::Write, Kind::Flush, Kind::Trim]);
    assert!(requests.iter().all(|r| r.issue == Issue::After(engine::Span::from_us(7))));
}

#[test]
fn captured_stamps_are_put_in_order_unless_refused() {
    let file = Fixture::new("order", CAPTURED);
    let requests = file.requests("", 1 << 20);
    assert_eq!(requests.iter().map(at_ns).collect::<Vec<_>>(), [0, 20_000, 30_000, 40_000]);
    assert_eq!(requests[1].command, Command::FLUSH);
    let refusal = file.refusal("disorder = 'refuse'", 1 << 20);
    assert!(refusal.starts_with("FILE:4: the stamp is earlier than one before it"), "{refusal}");
}

#[test]
fn other_formats_refuse_stamps_that_run_backwards_unless_told_to_sort() {
    let text = "3.0 0 3 1 0\n1.0 0 1 1 0\n3.0 0 4 1 0\n2.0 0 2 1 0\n";
    let file = Fixture::new("backwards", text);
    let refusal = file.refusal("", 1 << 20);
    assert!(
        refusal.starts_with("FILE:2: ") && refusal.contains("disorder = \"sort\""),
        "{refusal}"
    );
    let sorted = file.requests("disorder = 'sort'", 1 << 20);
    assert_eq!(offsets(&sorted), [512, 1_024, 1_536, 2_048], "equal stamps keep their order");
}

#[test]
fn a_device_that_is_only_flushed_takes_no_room() {
    // It is the second of two, one after the other: it would begin at 1 MiB.
    let log = "fio version 3 iolog\n1 a write 4096 4096\n2 b sync 0 0\n";
    let file = Fixture::new("flushed", log);
    let keys = "combine = 'concatenate'";
    assert_eq!(offsets(&file.requests(keys, 8_192)), [4_096, 0]);
    let refused = file.refusal(keys, 4_096);
    assert!(refused.contains("4096 + 4096 B of device 0 ends at 8192 B"), "{refused}");
}

#[test]
fn a_region_too_small_for_moved_addresses_is_said_to_be() {
    let file = Fixture::new("small-region", "0 0 8 1 1\n");
    for fit in ["wrap", "scale"] {
        let keys = format!("format = 'mqsim'\nout_of_range = '{fit}'");
        let refused = file.refusal(&keys, 2_048);
        assert!(refused.contains("moved by multiples of 4096 B"), "{refused}");
    }
}

#[test]
fn devices_are_chosen_concatenated_folded_or_separated() {
    let text = "1.0 3 0 8 0\n2.0 7 8 8 0\n3.0 3 2048 8 0\n4.0 9 16 8 1\n";
    let file = Fixture::new("devices", text);
    const MIB: u64 = 1 << 20;
    let refusal = file.refusal("", 8 * MIB);
    assert!(refusal.contains("trace.combine: the trace has requests for 3 devices"), "{refusal}");
    let folded = file.requests("combine = 'fold'", 8 * MIB);
    assert_eq!(offsets(&folded), [0, 4_096, MIB, 8_192]);
    let concatenated = file.requests("combine = 'concatenate'", 8 * MIB);
    assert_eq!(offsets(&concatenated), [0, 2 * MIB + 4_096, MIB, 3 * MIB + 8_192]);
    let chosen = file.requests("devices = [7]", 8 * MIB);
    assert_eq!(offsets(&chosen), [4_096]);
    assert_eq!(at_ns(&chosen[0]), 1_000_000, "time counts from the first stamp of the file");
    let unknown = file.refusal("devices = [3, 4]", 8 * MIB);
    assert!(unknown.contains("no device 4 (it has 3, 7, 9)"), "{unknown}");

    let separate = file.config("combine = 'separate'");
    let survey = separate.survey().unwrap();
    let parts = separate.expand(survey.as_ref());
    let names: Vec<&str> = parts.iter().map(|part| part.name.as_str()).collect();
    assert_eq!(names, ["replay.3", "replay.7", "replay.9"]);
    let build = |part| Source::build_surveyed(part, survey.as_ref(), 8 * MIB, Streams::new(1));
    let last = drain(build(&parts[2]).unwrap());
    assert_eq!((last.len(), at_ns(&last[0]), last[0].command.kind), (1, 3_000_000, Kind::Read));
}

#[test]
fn devices_that_are_not_replayed_decide_nothing() {
    const MIB: u64 = 1 << 20;
    // The second device is asked for 4 MiB at once, more than the drive has.
    let file = Fixture::new("other", "1.0 0 0 8 0\n2.0 0 8192 8 0\n3.0 1 0 8192 0\n");
    let wrapped = file.requests("devices = [0]\nout_of_range = 'wrap'", 2 * MIB);
    assert_eq!(offsets(&wrapped), [0, 0]);
    let scaled = file.requests("devices = [0]\nout_of_range = 'scale'", 2 * MIB);
    // 4 MiB of 4 MiB + 4 KiB, scaled to 2 MiB: 2 MiB · 1024 / 1025 is 2,095,106.4; the
    // multiple of 4 KiB below it is 511 · 4,096.
    assert_eq!(offsets(&scaled), [0, 511 * 4_096]);
    let separate = file.config("combine = 'separate'\nout_of_range = 'wrap'");
    let survey = separate.survey().unwrap();
    let faults = separate.trace_faults(survey.as_ref().unwrap(), 2 * MIB);
    let faults: Vec<String> = faults.iter().map(ToString::to_string).collect();
    assert_eq!(faults.len(), 1, "{faults:?}");
    assert!(faults[0].contains("a request of 4194304 B does not fit"), "{faults:?}");
}

#[test]
fn names_are_told_apart_when_devices_have_theirs() {
    let file = Fixture::new("names", "1.0 0 0 8 0\n2.0 7 8 8 0\n");
    let named = |name: &str, keys: &str| WorkloadConfig { name: name.into(), ..file.config(keys) };
    let survey = file.config("").survey().unwrap();
    let clashes = |workloads: &[WorkloadConfig]| {
        let surveys = vec![survey.as_ref(); workloads.len()];
        let found = host::name_clashes(workloads, &surveys);
        found.into_iter().map(|(at, error)| (at, error.to_string())).collect::<Vec<_>>()
    };
    let separate = || named("a", "combine = 'separate'");
    assert_eq!(clashes(&[separate(), named("a.1", "combine = 'fold'"), named("a", "")]), []);
    let found = clashes(&[separate(), named("b", ""), named("a.7", "combine = 'fold'")]);
    let [(2, said)] = &found[..] else { panic!("{found:?}") };
    assert!(said.contains("would both be called \"a.7\""), "{said}");
}

#[test]
fn addresses_beyond_the_drive_are_refused_wrapped_or_scaled() {
    let text = "1.0 0 0 8 0\n2.0 0 100 16 1\n3.0 0 60 8 0\n";
    let file = Fixture::new("range", text);
    assert_eq!(
        file.refusal("", 32_768),
        "FILE:2: the request for 51200 + 8192 B ends at 59392 B, beyond the 32768 B (32 KiB) of \
         the drive or region; write out_of_range = \"wrap\" (modulo) or \"scale\" (linear)"
    );
    let wrapped = file.requests("out_of_range = 'wrap'", 32_768);
    assert_eq!(offsets(&wrapped), [0, 18_432, 28_672], "the last one would have crossed the end");
    let scaled = file.requests("out_of_range = 'scale'", 32_768);
    assert_eq!(offsets(&scaled), [0, 24_576, 16_384]);
    assert!(scaled.iter().all(|request| request.command.end() <= 32_768));
    let fits = file.requests("out_of_range = 'scale'", 65_536);
    assert_eq!(offsets(&fits), [0, 51_200, 30_720], "a trace that fits stays as it is");
    let too_small = file.refusal("out_of_range = 'wrap'", 4_096);
    assert!(too_small.contains("does not fit into the region of 4 KiB at all"), "{too_small}");
}

#[test]
fn a_region_moves_the_trace() {
    let file = Fixture::new("region", DISKSIM);
    let mut config = file.config("");
    let region = "name = ''\nregion = { offset = '1 MiB', size = '64 KiB' }";
    config.region = toml::from_str::<WorkloadConfig>(region).unwrap().region;
    let requests = drain(Source::build(&config, 1 << 21, Streams::new(1)).unwrap());
    assert_eq!(offsets(&requests), [1 << 20, (1 << 20) + 4_096, (1 << 20) + 8_192]);
}

#[test]
fn limits_end_a_trace_early() {
    let file = Fixture::new("limits", DISKSIM);
    let count = |stop: &str| {
        let mut config = file.config("");
        let text = format!("name = ''\nstop = {{ {stop} }}");
        config.stop = toml::from_str::<WorkloadConfig>(&text).unwrap().stop;
        drain(Source::build(&config, 1 << 20, Streams::new(1)).unwrap()).len()
    };
    assert_eq!(count("requests = 2"), 2);
    assert_eq!(count("bytes = '4 KiB'"), 1);
    assert_eq!(count("time = '500 us'"), 1);
    assert_eq!(count("time = '501 us'"), 2);
}

#[test]
fn blank_lines_dos_ends_and_a_last_line_without_end_do_no_harm() {
    let file = Fixture::new("blank", "1.0 0 0 8 0\r\n\n  \r\n2.0\t0  8 8 1");
    assert_eq!(file.requests("", 1 << 20).len(), 2);
}

/// Each damaged file and the beginning of its error.
#[test]
fn damaged_files_are_refused_with_line_and_remedy() {
    let cut = gzip(DISKSIM);
    for (name, content, keys, expected) in [
        ("empty", &b""[..], "", "FILE: the trace has no rows"),
        ("blank", b"\n\n", "", "FILE: the trace has no rows"),
        ("header", b"time_us,op,offset,length\n", "", "FILE: the trace has no rows"),
        (
            "cut-row",
            b"1.0 0 0 8 0\n2.0 0 8\n",
            "",
            "FILE:2: column 4 (length in blocks of 512 B) is missing: the row was cut; a DiskSim \
             ASCII row has 5 columns",
        ),
        (
            "corrupt",
            b"1.0 0 0 8 0\n2.0 0 8x 8 1\n",
            "",
            "FILE:2: column 3 (start in blocks of 512 B): \"8x\" is not a whole number",
        ),
        (
            "letter",
            b"time_us,op,offset,length\n0,R,0,512\n1,Q,0,512\n",
            "",
            "FILE:3: column 2 (operation, one of R W F T Z): \"Q\" is not a kind of request",
        ),
        (
            "nothing",
            b"1.0 0 0 0 1\n",
            "format = 'disksim'",
            "FILE:1: column 4 (length in blocks of 512 B): \"0\" is a request for nothing",
        ),
        (
            "forced",
            DISKSIM.as_bytes(),
            "format = 'mqsim'",
            "FILE:1: column 1 (arrival in ns): \"10.5\" is not a whole number (MQSim ASCII); the \
             file looks like format = \"disksim\"",
        ),
        (
            "forced-csv",
            DISKSIM.as_bytes(),
            "format = 'captured'",
            "FILE:1: a captured CSV file begins with the header",
        ),
        ("text", b"hello world\n", "", "FILE:1: the first row reads as none of the known formats"),
        ("cut-gzip", &cut[..cut.len() - 12], "format = 'disksim'", "FILE:"),
    ] {
        let file = Fixture::new(name, content);
        let refusal = file.refusal(keys, 1 << 20);
        println!("{name}: {refusal}");
        assert!(refusal.starts_with(expected), "{name}: {refusal}");
    }
}

#[test]
fn a_gzip_file_that_was_cut_says_so() {
    let text: String = (0..20_000u64).map(|n| format!("{n}.5 0 {} 8 1\n", n * n % 977)).collect();
    let mut packed = gzip(&text);
    packed.truncate(packed.len() / 2);
    let refusal = Fixture::new("cut", packed).refusal("", 1 << 30);
    assert!(refusal.contains("the gzip data end too early: the file was cut"), "{refusal}");
}

#[test]
fn the_fault_of_the_format_that_the_header_names_is_reported() {
    for header in ["time_us,op,offset,length\n", "\u{feff}time_us,op,offset,length\r\n"] {
        let refused =
            |row: &str| Fixture::new("first-row", format!("{header}{row}\n")).refusal("", 1 << 20);
        let refusal = refused("-5,W,0,4096");
        assert!(refusal.starts_with("FILE:2: column 1 (time in us): \"-5\""), "{refusal}");
        let refusal = refused("1,W,0,4096,");
        assert!(refusal.starts_with("FILE:2: column 5: \"\" is one column too many"), "{refusal}");
    }
}

#[test]
fn a_byte_order_mark_is_no_part_of_the_first_line() {
    for text in [CAPTURED, DISKSIM] {
        let file = Fixture::new("mark", format!("\u{feff}{text}"));
        assert!(!file.requests("", 1 << 20).is_empty());
    }
    let refusal = Fixture::new("mark", "\u{feff}").refusal("", 1 << 20);
    assert_eq!(refusal, "FILE: the trace has no rows");
}

#[test]
fn a_damaged_gzip_file_says_so_and_not_what_its_rows_became() {
    let text: String = (0..20_000u64).map(|n| format!("{n}.5 0 {} 8 1\n", n * n % 977)).collect();
    let packed = gzip(&text);
    let mut told = 0;
    for at in (1_000..packed.len() - 8).step_by(997) {
        let mut damaged = packed.clone();
        damaged[at] ^= 0x10;
        let refusal = Fixture::new("flipped", damaged).refusal("", 1 << 30);
        assert!(refusal.contains("the gzip data "), "byte {at}: {refusal}");
        told += 1;
    }
    assert!(told > 10);
    // A sound file keeps the faults of its rows.
    let refusal = Fixture::new("sound", gzip("1.0 0 0 8 0\n2.0 0 8x 8 1\n")).refusal("", 1 << 30);
    assert!(refusal.starts_with("FILE:2: column 3"), "{refusal}");
}

#[test]
fn gzip_members_may_follow_one_another_and_nothing_else_may() {
    let rows = |content: Vec<u8>| survey(&Fixture::new("members", content).0, None).map(|s| s.rows);
    let (first, second) = (gzip("1.0 0 0 8 0\n"), gzip("2.0 0 8 8 1\n"));
    assert_eq!(rows([first.clone(), second.clone()].concat()).unwrap(), 2);
    assert_eq!(rows([first.clone(), vec![0; 700_000]].concat()).unwrap(), 1);
    for garbage in [&b"x"[..], b"more", &[b'x'; 4096]] {
        let refusal = rows([&first, garbage].concat()).unwrap_err().to_string();
        assert!(refusal.contains("more bytes follow that are no gzip data"), "{refusal}");
    }
    let refusal = rows([first, second[..8].to_vec()].concat()).unwrap_err().to_string();
    assert!(refusal.contains("the file was cut"), "{refusal}");
}

#[test]
#[cfg(unix)]
fn only_a_regular_file_is_a_trace() {
    let config = |path: &str| -> WorkloadConfig {
        toml::from_str(&format!("name = 'x'\ntrace = {{ file = '{path}' }}")).unwrap()
    };
    for path in ["/dev/null", "/dev/zero"] {
        let error = config(path).survey().unwrap_err().to_string();
        assert!(error.contains("save it to a file first"), "{error}");
    }
}

#[test]
fn what_forbids_a_replay_is_known_from_the_survey() {
    let file = Fixture::new("forbidden", "5 0 900 8 0\n4 1 0 8 0\n");
    let faults = |keys: &str| {
        let config = file.config(keys);
        let survey = config.survey().unwrap().unwrap();
        let faults = config.trace_faults(&survey, 1 << 18);
        let texts = faults.iter().map(|fault| fault.to_string().replace('\n', " "));
        texts.collect::<Vec<_>>()
    };
    let found = faults("format = 'mqsim'");
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found[0].contains("trace.combine") && found[1].contains("earlier"), "{found:?}");
    let found = faults("format = 'mqsim'\ncombine = 'separate'\ndisorder = 'sort'");
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].contains("out_of_range"), "{found:?}");
    let sound = "format = 'mqsim'\ncombine = 'fold'\ndisorder = 'sort'\nout_of_range = 'wrap'";
    assert_eq!(faults(sound), [""; 0]);
}

#[test]
fn a_missing_file_says_so() {
    let text = "name = 'x'\ntrace = { file = '/nowhere.csv' }";
    let config: WorkloadConfig = toml::from_str(text).unwrap();
    let error = Source::build(&config, 1 << 30, Streams::new(1)).err().unwrap().to_string();
    assert_eq!(error, "/nowhere.csv: there is no such file");
    let text = text.replace("/nowhere", "nowhere");
    let config: WorkloadConfig = toml::from_str(&text).unwrap();
    let error = config.survey().unwrap_err().to_string();
    let place = std::env::current_dir().unwrap().join("nowhere.csv");
    let expected = format!("there is no such file (looked for {})", place.display());
    assert_eq!(error, format!("nowhere.csv: {expected}"));
}

#[test]
fn of_a_file_in_a_missing_folder_the_folder_is_named() {
    let here = std::env::current_dir().unwrap();
    for (file, folder) in
        [("/nowhere/trace.csv", "/nowhere".into()), ("gone/trace.csv", here.join("gone"))]
    {
        let text = format!("name = 'x'\ntrace = {{ file = '{file}' }}");
        let config: WorkloadConfig = toml::from_str(&text).unwrap();
        let error = config.survey().unwrap_err().to_string();
        let told = format!("{file}: there is no such file, because there is no folder ");
        assert!(
            error.starts_with(&format!("{told}{}; put the trace", folder.display())),
            "{error}"
        );
    }
}

#[test]
fn a_line_longer_than_the_buffer_is_no_trace() {
    let file = Fixture::new("long", vec![b'1'; 600 << 10]);
    assert!(file.refusal("format = 'mqsim'", 1 << 30).contains("this is no text trace"));
}

#[test]
fn a_file_longer_than_the_buffer_is_read_to_its_end() {
    let text: String = (0..60_000u64).map(|n| format!("{n}.5 0 {n} 8 1\n")).collect();
    let found = survey(&Fixture::new("many", &text).0, None).unwrap();
    assert_eq!((found.rows, found.devices[0].end()), (60_000, (59_999 + 8) * 512));
}
