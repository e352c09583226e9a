//! Units that cannot be right, in every format whose files do not tell their units, and files whose
//! end was cut.
//!
//! One load is written in each unit: 200 requests of 4 to 32 KiB, 1 ms apart, in the first GiB of a
//! device. Only the right unit is read without a word.

use flate2::write::GzEncoder;
use std::io::Write;
use std::path::PathBuf;
use traces::{Format, Options, TimeUnit, Truncated, survey_with};

/// A file that is removed when the test ends.
struct Fixture(PathBuf);

impl Fixture {
    fn new(name: &str, content: impl AsRef<[u8]>) -> Self {
        let name = format!("flashscape-units-{}-{name}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::write(&path, content).unwrap();
        Self(path)
    }

    /// Mean gap in ns and bytes of the requests, with the doubts of the reader; or its refusal.
    fn read(&self, format: Option<Format>, options: &Options) -> Result<Found, String> {
        let found = survey_with(&self.0, format, options).map_err(|error| error.problem)?;
        let end = found.devices.iter().map(traces::DeviceSurvey::end).max().unwrap();
        Ok(Found {
            format: found.format,
            gap_ns: found.mean_gap().as_ns(),
            bytes: found.bytes(),
            end,
            doubts: found.doubts,
        })
    }
}

impl Drop for Fixture {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

#[derive(Debug)]
struct Found {
    format: Format,
    gap_ns: u64,
    bytes: u64,
    end: u64,
    doubts: Vec<String>,
}

const ROWS: u64 = 200;
const GAP_NS: u64 = 1_000_000;
const S: u64 = 1_000_000_000;
/// The first of January 2020.
const NOW_S: u64 = 1_577_836_800;

/// Address and length of a request, in bytes.
fn place(row: u64) -> (u64, u64) {
    (row * 7_919 % 262_144 * 4_096, 4_096 * (1 + row % 8))
}

fn total() -> (u64, u64) {
    let places = || (0..ROWS).map(place);
    let end = places().map(|(at, bytes)| at + bytes).max().unwrap();
    (places().map(|(_, bytes)| bytes).sum(), end)
}

/// A number of a unit, with six digits after the point if it has a fraction.
fn decimal(ns: u64, unit: TimeUnit) -> String {
    match unit {
        TimeUnit::S => format!("{}.{:06}", ns / S, ns % S / 1_000),
        TimeUnit::Ms => format!("{}.{:06}", ns / 1_000_000, ns % 1_000_000),
        TimeUnit::Us => format!("{}", ns / 1_000),
        TimeUnit::Ns => format!("{ns}"),
    }
}

fn whole(ns: u64, unit: TimeUnit) -> u64 {
    ns / match unit {
        TimeUnit::Ns => 1,
        TimeUnit::Us => 1_000,
        TimeUnit::Ms => 1_000_000,
        TimeUnit::S => S,
    }
}

/// A trace of the load with these units of time, addresses and lengths.
fn text(format: Format, time: TimeUnit, address: u64, length: u64) -> String {
    let row = |row: u64| {
        let (at, bytes) = place(row);
        let (at, bytes, ns) = (at / address, bytes / length, row * GAP_NS);
        let since_1970 = NOW_S * S + ns;
        match format {
            Format::Mqsim => format!("{} 0 {at} {bytes} 1\n", whole(ns, time)),
            Format::Disksim => format!("{} 0 {at} {bytes} 1\n", decimal(ns, time)),
            Format::Spc => format!("0,{at},{bytes},r,{}\n", decimal(ns, time)),
            Format::Systor => {
                format!("{},0.0001,R,0,{at},{bytes}\n", decimal(since_1970, time))
            }
            Format::Alibaba => format!("0,R,{at},{bytes},{}\n", whole(since_1970, time)),
            Format::Tencent => format!("{},{at},{bytes},0,7\n", whole(since_1970, time)),
            Format::Captured => format!("{},R,{at},{bytes}\n", ns / 1_000),
            Format::Msr => {
                format!("{},hm,0,Read,{at},{bytes},10\n", 128_166_372_003_061_629 + ns / 100)
            }
            other => panic!("{} tells its units", other.name()),
        }
    };
    let header = if format == Format::Captured { "time_us,op,offset,length\n" } else { "" };
    header.to_owned() + &(0..ROWS).map(row).collect::<String>()
}

/// Formats with their own units of time, addresses and lengths.
const OWN: [(Format, TimeUnit, u64, u64); 8] = [
    (Format::Mqsim, TimeUnit::Ns, 512, 512),
    (Format::Disksim, TimeUnit::Ms, 512, 512),
    (Format::Spc, TimeUnit::S, 512, 1),
    (Format::Systor, TimeUnit::S, 1, 1),
    (Format::Alibaba, TimeUnit::Us, 1, 1),
    (Format::Tencent, TimeUnit::S, 512, 512),
    (Format::Captured, TimeUnit::Us, 1, 1),
    (Format::Msr, TimeUnit::Ns, 1, 1),
];

#[test]
fn every_format_is_read_in_its_own_units_without_a_word() {
    for (format, time, address, length) in OWN {
        let name = format.name();
        let file = Fixture::new(&format!("own-{name}"), text(format, time, address, length));
        let found = file.read(None, &Options::default()).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert_eq!((found.format, found.doubts), (format, Vec::<String>::new()), "{name}");
        assert_eq!((found.bytes, found.end), total(), "{name}");
        let gap_ns = if format == Format::Tencent { 0 } else { GAP_NS };
        assert!(found.gap_ns.abs_diff(gap_ns) <= 1, "{name}: {}", found.gap_ns);
    }
}

/// Reads a file whose unit is not that of its format: without options it is refused with a word on
/// the option, and with the option it is the load.
fn asks(name: &str, file: &Fixture, format: Format, options: &Options, told: &[&str]) {
    let refusal = file.read(None, &Options::default()).expect_err(name);
    println!("{name}: {refusal}");
    for part in told {
        assert!(refusal.contains(part), "{name}: {part:?} is not in {refusal}");
    }
    // A format that is named is read, with a warning of the same words.
    let named =
        file.read(Some(format), &Options::default()).unwrap_or_else(|e| panic!("{name}: {e}"));
    assert!(!named.doubts.is_empty(), "{name} is read without a word");
    let right = file.read(Some(format), options).unwrap_or_else(|e| panic!("{name}: {e}"));
    assert_eq!(right.doubts, Vec::<String>::new(), "{name}");
    assert_eq!((right.bytes, right.end), total(), "{name}");
    assert!(right.gap_ns.abs_diff(GAP_NS) <= 1 || format == Format::Tencent, "{name}");
}

#[test]
fn bytes_are_not_taken_for_sectors() {
    for (format, time, ..) in OWN.into_iter().filter(|(_, _, address, _)| *address == 512) {
        let name = format.name();
        let whole = Fixture::new(&format!("bytes-{name}"), text(format, time, 1, 1));
        let bytes = Options { block_bytes: Some(1), ..Options::default() };
        if format == Format::Spc {
            // Its lengths are bytes. That all addresses are multiples of 512 is a warning alone.
            let found = whole.read(None, &Options::default()).unwrap();
            assert!(found.doubts[0].contains("block_size = \"1 B\""), "{:?}", found.doubts);
            assert_eq!(whole.read(None, &bytes).unwrap().end, total().1);
            continue;
        }
        asks(
            name,
            &whole,
            format,
            &bytes,
            &["lengths count sectors of 512 B", "block_size = \"1 B\""],
        );
        let lengths = Fixture::new(&format!("lengths-{name}"), text(format, time, 512, 1));
        let bytes = Options { length_bytes: Some(1), ..Options::default() };
        asks(name, &lengths, format, &bytes, &["length_unit = \"1 B\""]);
    }
}

#[test]
fn sectors_and_kib_are_not_taken_for_bytes() {
    for (format, time, address, length) in OWN.into_iter().filter(|(.., length)| *length == 1) {
        let name = format.name();
        for unit in [512, 1_024, 4_096] {
            let told = "lengths count bytes there";
            if address == 1 {
                let whole = Fixture::new(&format!("{unit}-{name}"), text(format, time, unit, unit));
                let options = Options { block_bytes: Some(unit), ..Options::default() };
                asks(name, &whole, format, &options, &[told, "block_size = \"512 B\""]);
            }
            let lengths =
                Fixture::new(&format!("{unit}-of-{name}"), text(format, time, address, unit));
            let options = Options { length_bytes: Some(unit), ..Options::default() };
            asks(name, &lengths, format, &options, &[told, "length_unit"]);
        }
        assert_eq!(length, 1);
    }
}

#[test]
fn seconds_are_not_taken_for_milliseconds() {
    let file = Fixture::new("s", text(Format::Disksim, TimeUnit::S, 512, 512));
    let s = Options { time_unit: Some(TimeUnit::S), ..Options::default() };
    let told = [
        "stamps count ms there, and requests come 1 us apart",
        "time_unit = \"s\"",
        "time_unit = \"ms\"",
    ];
    asks("disksim in s", &file, Format::Disksim, &s, &told);
    // Seconds since 1970, at any rate.
    let rows = |gap_ns: u64| -> String {
        let row =
            |row| format!("{} 0 {} 8 1\n", decimal(NOW_S * S + row * gap_ns, TimeUnit::S), row * 8);
        (0..ROWS).map(row).collect()
    };
    for gap_ns in [1_000_000, 30_000_000, 700_000_000] {
        let file = Fixture::new(&format!("s-{gap_ns}"), rows(gap_ns));
        let refusal = file.read(None, &Options::default()).unwrap_err();
        assert!(refusal.contains("begin at 1577836800, a time in s since 1970"), "{refusal}");
        assert_eq!(file.read(None, &s).unwrap().gap_ns, gap_ns);
    }
}

#[test]
fn times_since_1970_are_not_taken_for_filetimes() {
    let rows = |unit: TimeUnit, begin_ns: u64| -> String {
        let row = |row: u64| {
            let (at, bytes) = place(row);
            format!("{},hm,0,Read,{at},{bytes},10\n", whole(begin_ns + row * GAP_NS, unit))
        };
        (0..ROWS).map(row).collect()
    };
    for unit in [TimeUnit::S, TimeUnit::Ms, TimeUnit::Us] {
        let file = Fixture::new(&format!("msr-{unit:?}"), rows(unit, NOW_S * S));
        let refusal = file.read(None, &Options::default()).unwrap_err();
        let sign = format!("{unit:?}").to_lowercase();
        assert!(refusal.contains(&format!("say time_unit = \"{sign}\"")), "{refusal}");
        let right = Options { time_unit: Some(unit), ..Options::default() };
        let found = file.read(None, &right).unwrap();
        let gap_ns = if unit == TimeUnit::S { 0 } else { GAP_NS };
        assert_eq!(found.doubts, Vec::<String>::new(), "{unit:?}");
        assert!(found.gap_ns.abs_diff(gap_ns) <= 1, "{unit:?}: {}", found.gap_ns);
    }
    // Stamps that count from the beginning of a trace may be any number: here 2 minutes, and 30 h.
    for count in [1_200_000_000_u64, 1_080_000_000_000] {
        let row =
            |row: u64| format!("{},hm,0,Read,{},4096,10\n", count + row * 10_000, row * 4_096);
        let text: String = (0..ROWS).map(row).collect();
        let found = Fixture::new(&format!("msr-{count}"), text).read(None, &Options::default());
        assert_eq!(found.unwrap().gap_ns, GAP_NS);
    }
}

#[test]
fn whole_stamps_in_other_units_are_doubted() {
    for (format, _, address, length) in OWN {
        let units: &[TimeUnit] = match format {
            Format::Mqsim => &[TimeUnit::Us],
            Format::Spc => &[TimeUnit::Us, TimeUnit::Ns],
            Format::Systor => &[TimeUnit::Us, TimeUnit::Ns],
            Format::Tencent => &[TimeUnit::Us, TimeUnit::Ms],
            Format::Alibaba => &[TimeUnit::Ms],
            _ => &[],
        };
        for unit in units {
            let name = format!("{} in {unit:?}", format.name());
            let file = Fixture::new(&name.replace(' ', "-"), text(format, *unit, address, length));
            let sign = format!("{unit:?}").to_lowercase();
            let told = match file.read(None, &Options::default()) {
                Ok(found) => found.doubts.join("\n"),
                Err(refusal) => refusal,
            };
            println!("{name}: {told}");
            assert!(told.contains("time_unit"), "{name}: {told}");
            assert!(told.contains(&format!(" {sign}")), "{name}: {told}");
            let right = Options { time_unit: Some(*unit), ..Options::default() };
            let found = file.read(Some(format), &right).unwrap();
            assert_eq!((found.doubts, found.gap_ns), (Vec::new(), GAP_NS), "{name}");
        }
    }
}

#[test]
fn a_burst_at_the_beginning_is_no_doubt() {
    // 2,000 requests in 2 ms, and then one every millisecond.
    let stamp = |row: u64| if row < 2_000 { row * 1_000 } else { (row - 1_998) * GAP_NS };
    let row = |row| format!("{} 0 {} 8 1\n", decimal(stamp(row), TimeUnit::Ms), row * 8);
    let rows: String = (0..12_000).map(row).collect();
    let found = Fixture::new("burst", rows).read(None, &Options::default()).unwrap();
    assert_eq!((found.format, found.doubts), (Format::Disksim, Vec::<String>::new()));
}

#[test]
fn large_requests_that_may_be_sectors_are_no_doubt() {
    // Sequential writes of 1 MiB, as a copy of a file makes them.
    let row = |row| format!("{}.5 0 {} 2048 0\n", row * 3, row * 2_048);
    let rows: String = (0..ROWS).map(row).collect();
    let found = Fixture::new("large", rows).read(None, &Options::default()).unwrap();
    assert_eq!(found.bytes, ROWS << 20);
    assert!(found.doubts.iter().all(|doubt| doubt.contains("addresses")), "{:?}", found.doubts);
}

const LINES: &str = "1.0 0 0 8 0\n2.0 0 8 8 1\n3.0 0 16 8 1\n";

fn gzip(text: &str) -> Vec<u8> {
    let mut packer = GzEncoder::new(Vec::new(), flate2::Compression::default());
    packer.write_all(text.as_bytes()).unwrap();
    packer.finish().unwrap()
}

#[test]
fn a_cut_file_ends_before_its_last_line_if_told() {
    let end = Options { truncated: Some(Truncated::End), ..Options::default() };
    let refuse = Options { truncated: Some(Truncated::Refuse), ..Options::default() };
    for (name, text, rows, cut) in [
        ("whole", LINES.to_owned(), 3, false),
        ("columns", format!("{LINES}4.0 0 2"), 3, true),
        ("column", format!("{LINES}4.0 0 24 8 "), 3, true),
        ("digits", format!("{LINES}4.0 0 24 8 1"), 3, true),
        ("with-end", format!("{LINES}4.0 0 2\n"), 3, true),
        ("blank", format!("{LINES}4.0 0\n \n\n"), 3, true),
        ("blanks", format!("{LINES}  "), 3, false),
    ] {
        let file = Fixture::new(name, text);
        let found = survey_with(&file.0, None, &end).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert_eq!(found.rows, rows, "{name}");
        let passed: Vec<_> = found.passed.iter().map(|p| (p.lines, p.first_line)).collect();
        assert_eq!(passed, if cut { vec![(1, 4)] } else { vec![] }, "{name}");
        let refused = survey_with(&file.0, None, &refuse);
        if ["columns", "column", "with-end", "blank"].contains(&name) {
            let problem = refused.unwrap_err().problem;
            let told = "this is the last line: if the file was cut, truncated = \"end\" ends";
            assert!(problem.contains(told), "{name}: {problem}");
        } else {
            assert!(refused.is_ok(), "{name}");
        }
    }
    // A fault in the middle is no cut, and is refused.
    let middle = Fixture::new("middle", "1.0 0 0 8 0\n2.0 0 8\n3.0 0 16 8 1\n");
    let problem = survey_with(&middle.0, None, &end).unwrap_err().problem;
    assert!(problem.contains("is missing") && !problem.contains("last line"), "{problem}");
}

#[test]
fn cut_compressed_data_end_with_their_last_line() {
    let rows: String = (0..5_000_u64)
        .map(|row| {
            format!("{row}.{:06} 0 {} 8 1\n", row * 7_919 % 1_000_000, row * 31 % 65_537 * 8)
        })
        .collect();
    let whole = gzip(&rows);
    let file = Fixture::new("cut.gz", &whole[..whole.len() * 2 / 3]);
    let problem = survey_with(&file.0, None, &Options::default()).unwrap_err().problem;
    assert!(problem.contains("end the trace there with truncated = \"end\""), "{problem}");
    let end = Options { truncated: Some(Truncated::End), ..Options::default() };
    let found = survey_with(&file.0, None, &end).unwrap();
    assert!((2_000..4_500).contains(&found.rows), "{}", found.rows);
    // The rows are the first of the file.
    let text: String = rows.split_inclusive('\n').take(found.rows as usize).collect();
    let first = survey_with(&Fixture::new("first", text).0, None, &end).unwrap();
    assert_eq!((found.kinds, found.last_stamp), (first.kinds, first.last_stamp));
    assert_eq!(found.passed.len(), 1);
}
