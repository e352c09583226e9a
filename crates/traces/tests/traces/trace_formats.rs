//! Tests of each trace format with a file made by hand from its documentation: the rows,
//! detection among all formats, lines passed over, settings, and damaged and compressed files.

use engine::{Span, Streams};
use flate2::write::GzEncoder;
use host::{Command, Issue, Kind, Source, WorkloadConfig};
use std::io::Write;
use std::path::PathBuf;
use traces::{Compression, Event, Format, Options, Spread, Survey, TimeUnit, Truncated, Waits};
use traces::{survey, survey_with};

const MQSIM: &str = "938513000 0 0 8 0\n938828000 0 8 8 1\n";
const DISKSIM: &str = "10.5 0 0 8 0\n11.0 0 8 8 1\n12.25 0 16 16 0\n";
const CAPTURED: &str = "time_us,op,offset,length\n0,R,4096,4096\n30,W,0,8192\n40,F,0,0\n";

const MSR: &str = "\
128166372003061629,hm,1,Read,383496192,32768,58000
128166372003061639,usr,0,Write,0,4096,41286
128166372003061634,hm,1,Write,8192,512,1000
";

const ETW: &str = "\
BeginHeader
               DiskRead,  TimeStamp,     Process Name ( PID),   ThreadID,             IrpPtr,   ByteOffset,     IOSize, ElapsedTime,  DiskNum, IrpFlags, DiskSvcTime, I/O Pri,  VolSnap,         FileObject, FileName
              DiskWrite,  TimeStamp,     Process Name ( PID),   ThreadID,             IrpPtr,   ByteOffset,     IOSize, ElapsedTime,  DiskNum, IrpFlags, DiskSvcTime, I/O Pri,  VolSnap,         FileObject, FileName
           DiskReadInit,  TimeStamp,     Process Name ( PID),   ThreadID,             IrpPtr
              DiskFlush,  TimeStamp,     Process Name ( PID),   ThreadID,             IrpPtr,                           ElapsedTime,  DiskNum, IrpFlags, DiskSvcTime, I/O Pri
                CSwitch,  TimeStamp, New Process Name ( PID),    New TID
EndHeader
OS Version: 6.0.6001, Trace Size: 12KB, Events Lost: 0
           DiskReadInit,       1000,       sqlservr.exe ( 812),       4412, 0xfffffa80106c4010
                CSwitch,       1010,       sqlservr.exe ( 812),       4416
              DiskWrite,       1300,             System (   4),         88, 0xfffffa80106c5010, 0x0000010000, 0x00002000,         250,        1, 0x060043,         240,       3, Original, 0xfffffa8013d4c9f0, \"D:\\log, part 2.ldf\"
               DiskRead,       1450,       sqlservr.exe ( 812),       4412, 0xfffffa80106c4010, 0x018f0b8000, 0x00001000,         449,        0, 0x060043,         440,       3, Original, 0xfffffa8013d4c9f0, \"E:\\data.mdf\"
              DiskFlush,       2000,             System (   4),         88, 0xfffffa80106c6010,         100,        1, 0x000000,          90,       2
           DiskReadInit,       2100,       sqlservr.exe ( 812),       4412, 0xfffffa80106c4010
";

const BLKPARSE: &str = "\
  8,16   1        1     0.000000000   697  A   W 223490 + 8 <- (8,17) 223427
  8,16   1        2     0.000001829   697  Q   W 223490 + 8 [kjournald]
  8,16   1        3     0.000003446   697  G   W 223490 + 8 [kjournald]
  8,16   1        4     0.000004205   697  P   N [kjournald]
  8,16   1        0     0.000004300     0  m   N cfq697 insert_request
  8,16   1        5     0.000009648   697  D   W 223490 + 16 [kjournald]
  8,16   1        6     0.000500000   701  Q FWFSM 64 + 8 [jbd2/sdb1-8]
259,0    0        1     0.000499000   800  Q   D 4096 + 2048 [fstrim]
  8,16   1        7     0.000600000   701  Q FWS [sync]
  8,16   1        8     0.000700000     0  C   W 223490 + 16 [0]
CPU1 (sdb):
 Reads Queued:           0,        0KiB\t Writes Queued:           2,        8KiB
Throughput (R/W): 0KiB/s / 11KiB/s
Events (sdb): 10 entries
Skips: 0 forward (0 -   0.0%)
";

const FIO_V2: &str = "\
fio version 2 iolog
/dev/sda add
/dev/sda open
/dev/sda write 4096 8192
/dev/sda wait 300 0
/dev/sdb read 0 512
/dev/sda wait 200 0
/dev/sda datasync 0 0
/dev/sda trim 8192 4096
/dev/sda close
";

const FIO_V3: &str = "\
fio version 3 iolog
0 /dev/sda add
2 /dev/sda open
15 /dev/sda read 65536 4096
40 /dev/sdb write 0 512
41 /dev/sda sync 0 0
90 /dev/sda close
";

const SPC: &str = "\
0,20941264,8192,W,0.551706
1, 20939840, 8192, r, 0.554041
0,20939808,512,w,0.556202,extra
";

const SYSTOR: &str = "\
Timestamp,Response,IOType,LUN,Offset,Size
1456135200.013118000,0.000806000,R,4,899056122368,131072
1456135200.013117000,,,4,4096,512
1456135200.013120000,0.000100000,W,0,8192,4096
";

const ALIBABA: &str = "\
0,R,126703661056,4096,1577808000000046
419,W,19496058880,77824,1577808000000426
";

const TENCENT: &str = "\
1538323200,12910952,128,0,1063
1538323200,6338688,8,1,1627
1538323201,1904106400,384,0,1063
";

const FIXTURES: [(Format, &str); 12] = [
    (Format::Mqsim, MQSIM),
    (Format::Disksim, DISKSIM),
    (Format::Captured, CAPTURED),
    (Format::Msr, MSR),
    (Format::Etw, ETW),
    (Format::Blkparse, BLKPARSE),
    (Format::FioV2, FIO_V2),
    (Format::FioV3, FIO_V3),
    (Format::Spc, SPC),
    (Format::Systor, SYSTOR),
    (Format::Alibaba, ALIBABA),
    (Format::Tencent, TENCENT),
];

/// A file that is removed when the test ends.
struct Fixture(PathBuf);

impl Fixture {
    fn new(name: &str, content: impl AsRef<[u8]>) -> Self {
        let name = format!("flashscape-formats-{}-{name}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::write(&path, content).unwrap();
        Self(path)
    }

    fn config(&self, keys: &str) -> WorkloadConfig {
        let file = self.0.display();
        let text = format!("name = 'replay'\n[trace]\nfile = '{file}'\n{keys}");
        toml::from_str(&text).unwrap_or_else(|error| panic!("{error}"))
    }

    fn survey(&self) -> Survey {
        survey(&self.0, None).unwrap_or_else(|error| panic!("{error}"))
    }

    /// Requests of a replay, with their times in nanoseconds.
    fn replay(&self, keys: &str) -> Vec<(u64, Command)> {
        let source = Source::build(&self.config(keys), 1 << 50, Streams::new(1));
        let mut source = source.unwrap_or_else(|error| panic!("{error}"));
        let requests = std::iter::from_fn(|| source.next().unwrap());
        let timed = requests.map(|request| match request.issue {
            Issue::At(at) => (at.as_ns(), request.command),
            Issue::After(_) => panic!("a closed-loop request"),
        });
        timed.collect()
    }

    fn times(&self, keys: &str) -> Vec<u64> {
        self.replay(keys).iter().map(|(at, _)| *at).collect()
    }

    /// The refusal, without the path in front of it.
    fn refusal(&self, keys: &str) -> String {
        let source = Source::build(&self.config(keys), 1 << 50, Streams::new(1));
        let error = source.err().expect("it is refused").to_string();
        error.replace(&self.0.display().to_string(), "FILE")
    }
}

impl Drop for Fixture {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

fn command(kind: Kind, offset: u64, bytes: u64) -> Command {
    Command { kind, offset, bytes }
}

fn gzip(text: &str) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(text.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

fn zstd(text: &str) -> Vec<u8> {
    let mut encoder = zstd::Encoder::new(Vec::new(), 3).unwrap();
    encoder.include_checksum(true).unwrap();
    encoder.write_all(text.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

/// A frame that says nothing about the data (RFC 8878, section 3.1.2).
fn skippable(nibble: u8, length: u32) -> Vec<u8> {
    let mut frame = vec![0x50 | nibble, 0x2a, 0x4d, 0x18];
    frame.extend(length.to_le_bytes());
    frame.resize(8 + length as usize, b'\n');
    frame
}

#[test]
fn every_format_has_a_fixture() {
    let formats: Vec<Format> = FIXTURES.iter().map(|(format, _)| *format).collect();
    assert_eq!(formats, Format::ALL);
}

#[test]
fn a_file_is_known_as_its_format_and_as_no_other() {
    for (format, text) in FIXTURES {
        let name = format.name();
        for (how, content) in [
            ("plain", text.as_bytes().to_vec()),
            ("marked", format!("\u{feff}{text}").into_bytes()),
            ("dos", text.replace('\n', "\r\n").into_bytes()),
            ("blanks", format!("\n \n{}\n", text.replace('\n', "\n\n")).into_bytes()),
            ("gzip", gzip(text)),
            ("zstd", zstd(text)),
        ] {
            let file = Fixture::new(&format!("{how}-{name}"), content);
            assert_eq!(file.survey().format, format, "{name}, {how}");
        }
        let file = Fixture::new(&format!("forced-{name}"), text);
        for forced in Format::ALL.iter().filter(|forced| **forced != format) {
            if (format, *forced) == (Format::Mqsim, Format::Disksim) {
                // Whole numbers are decimal ones, too: it is their size that tells.
                continue;
            }
            let error = survey(&file.0, Some(*forced)).unwrap_err();
            let hint = format!("the file looks like format = {name:?}");
            let told = error.problem.contains(&hint);
            assert!(told, "{name} read as {}: {error}", forced.name());
        }
    }
}

#[test]
fn header_lines_that_some_files_have_are_passed() {
    for (format, header, text) in [
        (Format::Msr, "Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime", MSR),
        (Format::Alibaba, "device_id, opcode, offset, length, timestamp", ALIBABA),
        (Format::Tencent, "timestamp,offset,size,iotype,volumeid", TENCENT),
    ] {
        let without = Fixture::new(&format!("bare-{}", format.name()), text).survey();
        let file = Fixture::new(&format!("header-{}", format.name()), format!("{header}\n{text}"));
        let with = file.survey();
        assert_eq!((with.format, with.rows), (format, without.rows));
        let last = with.devices[0].farthest.unwrap().line;
        assert_eq!(last, without.devices[0].farthest.unwrap().line + 1, "lines count it");
    }
    let bare = SYSTOR.split_once('\n').unwrap().1;
    assert_eq!(Fixture::new("bare-systor", bare).survey().rows, 2);
}

#[test]
fn msr_counts_100_ns_from_the_first_and_devices_by_name() {
    let file = Fixture::new("msr", MSR);
    let found = file.survey();
    assert_eq!((found.rows, &found.names[..]), (3, &["hm_1".to_owned(), "usr_0".to_owned()][..]));
    assert_eq!(found.first_stamp.as_ns(), 12_816_637_200_306_162_900);
    let announcement = found.to_string();
    assert!(
        announcement.contains("device 0 = hm_1  2 rows, bytes 8192 to 383528960"),
        "{announcement}"
    );
    let expected = [
        (0, command(Kind::Read, 383_496_192, 32_768)),
        (500, command(Kind::Write, 8_192, 512)),
        (1_000, command(Kind::Write, 0, 4_096)),
    ];
    assert_eq!(file.replay("combine = 'fold'"), expected);
    assert_eq!(file.replay("devices = [1]"), expected[2..]);
    let refusal = file.refusal("devices = [2]");
    assert!(refusal.contains("no device 2 (it has 0 = hm_1, 1 = usr_0)"), "{refusal}");
}

#[test]
fn etw_begins_requests_at_their_init_row_or_by_their_time() {
    let file = Fixture::new("etw", ETW);
    let found = file.survey();
    let passed: Vec<(&str, u64, u64)> =
        found.passed.iter().map(|p| (p.reason, p.lines, p.first_line)).collect();
    let expected = [
        ("rows of events other than disk requests", 1, 10),
        ("Init rows, which say when a request began", 2, 9),
        ("lines that the header does not declare", 1, 8),
    ];
    assert_eq!(passed, expected);
    let notes = found.notes.join("\n");
    assert!(notes.contains("Init row (1) or at TimeStamp - ElapsedTime (2)"), "{notes}");
    assert!(notes.contains("1 began and did not end in the trace"), "{notes}");
    let expected = [
        (0, command(Kind::Read, 0x01_8f0b_8000, 4_096)),
        (50_000, command(Kind::Write, 65_536, 8_192)),
        (900_000, Command::FLUSH),
    ];
    assert_eq!(file.replay("combine = 'fold'"), expected);
}

#[test]
fn blkparse_takes_one_event_as_the_request() {
    let file = Fixture::new("blkparse", BLKPARSE);
    let found = file.survey();
    assert_eq!(found.names, ["8,16", "259,0"]);
    let announcement = found.to_string();
    for told in [
        "requests are the queue events (Q)",
        "1 request with a flush before",
        "1 request for unit access (FUA)",
        "passed    1 line, the first 6: dispatch events (D)",
        "passed    1 line, the first 5: messages (m)",
        "passed    5 lines, the first 11: lines of the summary",
        "1 runs backwards, first in line 8",
    ] {
        assert!(announcement.contains(told), "{told} in:\n{announcement}");
    }
    let queued = [
        (0, command(Kind::Write, 223_490 * 512, 4_096)),
        (497_171, command(Kind::Trim, 4_096 * 512, 1 << 20)),
        (498_171, Command::FLUSH),
        (498_171, command(Kind::Write, 64 * 512, 4_096)),
        (598_171, Command::FLUSH),
    ];
    assert_eq!(file.replay("combine = 'fold'"), queued);
    let larger = [(0, command(Kind::Write, 223_490 * 512, 8_192))];
    assert_eq!(file.replay("event = 'dispatch'"), larger);
    assert_eq!(file.replay("event = 'complete'"), larger);
    let stamp = |event| {
        let options = Options { event: Some(event), ..Options::default() };
        survey_with(&file.0, None, &options).unwrap().first_stamp.as_ns()
    };
    assert_eq!([Event::Dispatch, Event::Complete].map(stamp), [9_648, 700_000]);
}

#[test]
fn a_trace_without_the_event_says_which_it_has() {
    let file = Fixture::new("no-queue", "8,16 1 5 0.000009648 697 D W 223490 + 16 [x]\n");
    let expected =
        "FILE: the trace has no rows to replay; passed over: 1 line: dispatch events (D)";
    assert_eq!(file.refusal(""), expected);
    assert_eq!(file.refusal("format = 'blkparse'"), expected);
    assert_eq!(file.replay("event = 'dispatch'").len(), 1);
}

#[test]
fn fio_waits_or_has_stamps() {
    let v2 = Fixture::new("fio2", FIO_V2);
    let expected = [
        (0, command(Kind::Write, 4_096, 8_192)),
        (300_000, command(Kind::Read, 0, 512)),
        (500_000, Command::FLUSH),
        (500_000, command(Kind::Trim, 8_192, 4_096)),
    ];
    assert_eq!(v2.replay("combine = 'fold'"), expected);
    let times = |keys: &str| v2.times(&format!("combine = 'fold'\n{keys}"));
    assert_eq!(times("waits = 'moments'"), [0, 300_000, 300_000, 300_000]);
    assert_eq!(times("time_unit = 'ms'"), [0, 300_000_000, 500_000_000, 500_000_000]);
    assert!(v2.survey().notes[0].contains("2 waits in us"), "{:?}", v2.survey().notes);

    let v3 = Fixture::new("fio3", FIO_V3);
    let expected = [
        (0, command(Kind::Read, 65_536, 4_096)),
        (25_000, command(Kind::Write, 0, 512)),
        (26_000, Command::FLUSH),
    ];
    assert_eq!(v3.replay("combine = 'fold'"), expected);
    assert_eq!(v3.times("combine = 'fold'\ntime_unit = 'ms'"), [0, 25_000_000, 26_000_000]);
    assert_eq!(v3.survey().names, ["/dev/sda", "/dev/sdb"]);
}

#[test]
fn a_log_without_waits_is_one_moment_and_says_so() {
    let text: String = FIO_V2
        .lines()
        .filter(|line| !line.contains("wait"))
        .fold(String::new(), |text, line| text + line + "\n");
    let found = Fixture::new("fio-still", text).survey();
    let announcement = found.to_string();
    assert!(announcement.contains("the log has no wait lines and so no times"), "{announcement}");
    assert!(announcement.contains("all rows have one stamp"), "{announcement}");
}

#[test]
fn spc_counts_blocks_and_seconds() {
    let file = Fixture::new("spc", SPC);
    let expected = [
        (0, command(Kind::Write, 20_941_264 * 512, 8_192)),
        (2_335_000, command(Kind::Read, 20_939_840 * 512, 8_192)),
        (4_496_000, command(Kind::Write, 20_939_808 * 512, 512)),
    ];
    assert_eq!(file.replay("combine = 'fold'"), expected);
    let larger = file.replay("combine = 'fold'\nblock_size = '4 KiB'");
    let offsets: Vec<u64> = larger.iter().map(|(_, command)| command.offset).collect();
    assert_eq!(offsets, [20_941_264, 20_939_840, 20_939_808].map(|block: u64| block * 4_096));
    assert_eq!(larger[0].1.bytes, 8_192, "lengths count bytes all the same");
    let devices: Vec<u32> = file.survey().devices.iter().map(|device| device.device).collect();
    assert_eq!(devices, [0, 1]);
}

#[test]
fn systor_stamps_are_exact_and_blank_types_are_counted() {
    let file = Fixture::new("systor", SYSTOR);
    let found = file.survey();
    assert_eq!(found.first_stamp.as_ns(), 1_456_135_200_013_118_000);
    assert_eq!((found.passed[0].lines, found.passed[0].first_line), (1, 3));
    assert!(found.passed[0].reason.contains("no response"), "{:?}", found.passed);
    let expected = [
        (0, command(Kind::Read, 899_056_122_368, 131_072)),
        (2_000, command(Kind::Write, 8_192, 4_096)),
    ];
    assert_eq!(file.replay("combine = 'fold'"), expected);
}

#[test]
fn alibaba_counts_microseconds_and_bytes() {
    let file = Fixture::new("alibaba", ALIBABA);
    let expected = [
        (0, command(Kind::Read, 126_703_661_056, 4_096)),
        (380_000, command(Kind::Write, 19_496_058_880, 77_824)),
    ];
    assert_eq!(file.replay("combine = 'fold'"), expected);
    let devices: Vec<u32> = file.survey().devices.iter().map(|device| device.device).collect();
    assert_eq!(devices, [0, 419]);
}

#[test]
fn tencent_has_0_for_a_read_and_1_for_a_write() {
    let file = Fixture::new("tencent", TENCENT);
    let expected = [
        (0, command(Kind::Read, 12_910_952 * 512, 65_536)),
        (0, command(Kind::Write, 6_338_688 * 512, 4_096)),
        (1_000_000_000, command(Kind::Read, 1_904_106_400 * 512, 196_608)),
    ];
    assert_eq!(file.replay("combine = 'fold'"), expected);
}

#[test]
fn rows_of_one_stamp_can_be_spread_over_its_unit() {
    let second = |s: u64, rows: u64| {
        (0..rows).map(move |row| format!("{},{},8,{},7\n", 1_538_323_200 + s, row * 8, row % 2))
    };
    let text: String = second(0, 4).chain(second(2, 1)).chain(second(3, 3)).collect();
    let file = Fixture::new("spread", text);
    let announcement = file.survey().to_string();
    let warning = "stamps are whole multiples of 1 s: up to 4 requests come at once; spread = ";
    assert!(announcement.contains(warning), "{announcement}");
    const S: u64 = 1_000_000_000;
    let as_they_are = [0, 0, 0, 0, 2 * S, 3 * S, 3 * S, 3 * S];
    assert_eq!(file.times(""), as_they_are);
    assert_eq!(file.times("spread = 'none'"), as_they_are);
    let spread =
        [0, S / 4, S / 2, 3 * S / 4, 2 * S, 3 * S, 3 * S + 333_333_333, 3 * S + 666_666_666];
    let keys = "spread = 'uniform'";
    assert_eq!(file.times(keys), spread);
    // Commands keep their order; the next pass follows the last second.
    let offsets: Vec<u64> = file.replay(keys).iter().map(|(_, c)| c.offset / 4_096).collect();
    assert_eq!(offsets, [0, 1, 2, 3, 0, 0, 1, 2]);
    let again = file.times("spread = 'uniform'\nrepeat = 2");
    assert_eq!(again[..8], spread);
    assert_eq!(again[8..], spread.map(|at| at + 4 * S));
    let told = survey_with(&file.0, None, &file.config(keys).trace.unwrap().options()).unwrap();
    assert!(told.to_string().contains("spread evenly over 1 s"), "{told}");
    assert_eq!(told.options.spread, Some(Spread::Uniform));
}

#[test]
fn coarse_stamps_are_seen_in_any_format() {
    let text = "0,0,512,R,5\n0,1,512,R,5\n0,2,512,R,7\n";
    let file = Fixture::new("coarse-spc", text);
    let found = file.survey();
    assert_eq!((found.stamps.unit, found.stamps.repeated), (Span::from_ms(1_000), 1));
    assert!(found.to_string().contains("whole multiples of 1 s"), "{found}");
    assert_eq!(file.times("spread = 'uniform'"), [0, 500_000_000, 2_000_000_000]);
    let fine = Fixture::new("fine-spc", text.replace(",7\n", ",7.000001\n")).survey();
    assert_eq!(fine.stamps.unit.as_ns(), 1_000);
    assert!(!fine.to_string().contains("warning"), "{fine}");
}

/// Formats whose files do not tell the units of addresses and lengths.
const OF_UNITS: &[Format] = &[
    Format::Mqsim,
    Format::Disksim,
    Format::Captured,
    Format::Msr,
    Format::Spc,
    Format::Systor,
    Format::Alibaba,
    Format::Tencent,
];

#[test]
fn settings_of_other_formats_are_refused() {
    for (format, text) in FIXTURES {
        for (key, setting, formats) in [
            ("event", "event = 'dispatch'", &[Format::Blkparse][..]),
            (
                "time_unit",
                "time_unit = 'ns'",
                &[
                    Format::FioV2,
                    Format::FioV3,
                    Format::Mqsim,
                    Format::Disksim,
                    Format::Msr,
                    Format::Spc,
                    Format::Systor,
                    Format::Alibaba,
                    Format::Tencent,
                ],
            ),
            ("waits", "waits = 'moments'", &[Format::FioV2]),
            ("block_size", "block_size = '2 KiB'\nout_of_range = 'wrap'", OF_UNITS),
            ("length_unit", "length_unit = '512 B'", OF_UNITS),
        ] {
            let file = Fixture::new(&format!("settings-{key}-{}", format.name()), text);
            for given in [String::new(), format!("format = '{}'\n", format.name())] {
                let keys = format!("combine = 'fold'\ndisorder = 'sort'\n{given}{setting}");
                if formats.contains(&format) {
                    file.replay(&keys);
                    continue;
                }
                let refusal = file.refusal(&keys);
                let told = format!("trace.{key}: has no meaning for {}", format.title());
                assert!(refusal.contains(&told), "{refusal}");
            }
        }
    }
    let file = Fixture::new("settings", TENCENT);
    let refusal = file.refusal("mode = 'closed'\nspread = 'uniform'\ncombine = 'fold'");
    assert!(refusal.contains("trace.spread: has no meaning with mode = \"closed\""), "{refusal}");
    for key in ["block_size", "length_unit"] {
        let refusal = file.refusal(&format!("format = 'spc'\n{key} = '0 B'"));
        assert!(refusal.contains(&format!("trace.{key}: must be more than 0 B")), "{refusal}");
    }
}

#[test]
fn options_of_the_library_are_those_of_the_configuration() {
    let file = Fixture::new("options", FIO_V2);
    let keys = "event = 'complete'\ntime_unit = 'ms'\nwaits = 'gaps'\nblock_size = '1 KiB'\n\
                length_unit = '1 B'\nspread = 'none'\ntruncated = 'end'";
    let expected = Options {
        event: Some(Event::Complete),
        time_unit: Some(TimeUnit::Ms),
        waits: Some(Waits::Gaps),
        block_bytes: Some(1_024),
        length_bytes: Some(1),
        spread: Some(Spread::None),
        truncated: Some(Truncated::End),
    };
    assert_eq!(file.config(keys).trace.unwrap().options(), expected);
}

#[test]
fn requests_for_nothing_are_counted_and_not_replayed() {
    for (name, text) in [
        ("msr", "1,hm,1,Read,0,0,7\n2,hm,1,Read,0,512,7\n"),
        ("alibaba", "0,R,0,0,1\n0,R,0,512,1\n"),
        ("tencent", "1,0,0,0,1\n1,0,1,0,1\n"),
        ("spc", "0,0,0,R,1.0\n0,0,512,R,1.0\n"),
        ("systor", "1.0,0.1,R,0,0,0\n1.0,0.1,R,0,0,512\n"),
        ("fio-v3", "fio version 3 iolog\n1 a read 0 0\n2 a read 0 512\n"),
    ] {
        let found = Fixture::new(&format!("nothing-{name}"), text).survey();
        assert_eq!((found.format.name(), found.rows), (name, 1));
        assert_eq!(found.passed[0].lines, 1, "{name}");
        assert!(found.passed[0].reason.contains("nothing"), "{name}");
    }
}

#[test]
fn damaged_rows_are_refused_with_line_and_column() {
    for (name, text, from, to, expected) in [
        (
            "msr",
            MSR,
            ",usr,0,Write",
            ",usr,0,Trim",
            "FILE:2: column 4 (type, Read or Write): \"Trim\"",
        ),
        ("etw", ETW, "0x0000010000", "0x00000x0000", "FILE:11: column 6 (ByteOffset in bytes)"),
        ("blk", BLKPARSE, "FWFSM", "FWXSM", "FILE:7: column 7 (RWBS): \"FWXSM\" is not made of"),
        (
            "blk-end",
            BLKPARSE,
            "[sync]\n",
            "[sync]\n8,16 1 7\n",
            "FILE:10: column 4 (stamp in s) is missing",
        ),
        ("fio2", FIO_V2, "wait 300", "wait soon", "FILE:5: column 3 (wait): \"soon\" is not"),
        ("fio3", FIO_V3, "40 /dev/sdb write", "40 /dev/sdb wrote", "FILE:5: column 3 (action"),
        ("spc", SPC, ", r,", ", read,", "FILE:2: column 4 (operation, R or W): \"read\" is not"),
        ("systor", SYSTOR, ",W,0", ",W,x", "FILE:4: column 4 (LUN (a device)): \"x\""),
        ("alibaba", ALIBABA, "77824,", "", "FILE:2: column 5 (stamp in us since 1970) is missing"),
        (
            "tencent",
            TENCENT,
            "8,1,1627",
            "8,2,1627",
            "FILE:2: column 4 (type, 0 = read, 1 = write): \"2\"",
        ),
    ] {
        let damaged = text.replacen(from, to, 1);
        assert_ne!(damaged, text, "{name}");
        let refusal = Fixture::new(&format!("damaged-{name}"), damaged).refusal("");
        assert!(refusal.starts_with(expected), "{name}: {refusal}");
    }
}

#[test]
fn files_that_are_no_text_say_what_they_are() {
    let utf_16: Vec<u8> = MSR.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let marked = [&[0xff, 0xfe][..], &utf_16].concat();
    let mut tar = vec![0; 1_024];
    tar[..3].copy_from_slice(b"msr");
    tar[257..262].copy_from_slice(b"ustar");
    let tar = String::from_utf8(tar).unwrap();
    for (name, content, told) in [
        ("utf-16", utf_16, "this is UTF-16 text"),
        ("marked", marked, "this is UTF-16 text"),
        ("zip", b"PK\x03\x04\x14\x00".to_vec(), "this is a zip archive"),
        ("tgz", gzip(&tar), "this is a tar archive"),
    ] {
        let file = Fixture::new(name, content);
        for keys in ["", "format = 'msr'"] {
            let refusal = file.refusal(keys);
            assert!(refusal.starts_with(&format!("FILE: {told}")), "{refusal}");
        }
    }
}

#[test]
fn zstandard_frames_may_follow_one_another_and_nothing_else_may() {
    let read = |content: Vec<u8>| {
        let file = Fixture::new("frames", content);
        survey(&file.0, Some(Format::Disksim)).map(|found| {
            assert_eq!(found.compression, Some(Compression::Zstd));
            found.rows
        })
    };
    let (first, second) = (zstd("1.0 0 0 8 0\n"), zstd("2.0 0 8 8 1\n"));
    assert_eq!(read([first.clone(), second.clone()].concat()).unwrap(), 2);
    let skipped = [skippable(0, 12), first.clone(), skippable(15, 70_000), second.clone()].concat();
    assert_eq!(read([skipped, skippable(3, 0)].concat()).unwrap(), 2);
    assert_eq!(read([first.clone(), vec![0; 700_001]].concat()).unwrap(), 1);
    for garbage in [&b"x"[..], b"more", &[b'x'; 4_096]] {
        let refusal = read([&first, garbage].concat()).unwrap_err().to_string();
        assert!(refusal.contains("more bytes follow that are no Zstandard data"), "{refusal}");
    }
    let long_skip = skippable(1, 100);
    for cut in
        [&second[..3], &second[..8], &second[..second.len() - 1], &long_skip[..60], &long_skip[..6]]
    {
        let refusal = read([&first, cut].concat()).unwrap_err().to_string();
        assert!(
            refusal.contains("the Zstandard data end too early: the file was cut"),
            "{refusal}"
        );
    }
}

#[test]
fn a_damaged_zstandard_file_says_so_and_not_what_its_rows_became() {
    let text: String = (0..20_000u64).map(|n| format!("{n}.5 0 {} 8 1\n", n * n % 977)).collect();
    let packed = zstd(&text);
    let mut told = 0;
    for at in (20..packed.len()).step_by(997) {
        let mut damaged = packed.clone();
        damaged[at] ^= 0x10;
        let refusal = Fixture::new("flipped", damaged).refusal("format = 'disksim'");
        assert!(refusal.contains("the Zstandard data "), "byte {at}: {refusal}");
        told += 1;
    }
    assert!(told > 10);
}
