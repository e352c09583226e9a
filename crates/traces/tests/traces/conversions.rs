//! Tests of written traces: read back, they have the same requests, and requests that a format
//! cannot express are refused. They are read back twice: by the test itself, from the definition
//! of the format, and by the readers of this crate.

use engine::{Span, Streams};
use flate2::read::GzDecoder;
use std::io::Read;
use std::path::{Path, PathBuf};
use traces::Kind;
use traces::write::{Choices, Target, convert};
use traces::{Event, Format, Options, Spread, TimeUnit};

/// Stamp (ns), device, kind, offset, bytes.
type Request = (u64, u32, Kind, u64, u64);

/// A folder that is removed when the test ends.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let name = format!("flashscape-convert-{}-{name}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.0.join(name);
        std::fs::write(&path, text).unwrap();
        path
    }

    fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(&self.0).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<String> = names.collect();
        names.sort();
        names
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn converted(input: &Path, output: &Path, target: Target, choices: &Choices) -> Result<(), String> {
    let done = convert(input, output, target, choices, &mut |_| true);
    done.map(|done| drop(done.expect("nobody ends it"))).map_err(|error| error.to_string())
}

/// Reads a file by the definition of its format.
fn read(path: &Path, target: Target) -> Vec<Request> {
    let bytes = std::fs::read(path).unwrap();
    let ending = path.extension().and_then(|ending| ending.to_str());
    let text = match ending {
        Some("gz") => {
            let mut text = String::new();
            GzDecoder::new(&bytes[..]).read_to_string(&mut text).unwrap();
            text
        }
        Some("zst") => String::from_utf8(zstd::decode_all(&bytes[..]).unwrap()).unwrap(),
        _ => String::from_utf8(bytes).unwrap(),
    };
    text.lines().filter_map(|line| request(line, target)).collect()
}

fn request(line: &str, target: Target) -> Option<Request> {
    let number = |text: &str| text.parse::<u64>().unwrap();
    // Decimals, digit by digit.
    let decimal = |text: &str, digits: usize| {
        let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
        number(whole) * 10u64.pow(digits as u32) + number(&format!("{fraction:0<digits$}"))
    };
    let commas: Vec<&str> = line.split(',').collect();
    let blanks: Vec<&str> = line.split(' ').collect();
    let data = |is_read: bool| if is_read { Kind::Read } else { Kind::Write };
    Some(match target {
        Target::Captured => {
            let kind = match *commas.get(1)? {
                "R" => Kind::Read,
                "W" => Kind::Write,
                "T" => Kind::Trim,
                "F" => Kind::Flush,
                "Z" => Kind::WriteZeroes,
                _ => return None,
            };
            (number(commas[0]) * 1_000, 0, kind, number(commas[2]), number(commas[3]))
        }
        Target::Mqsim => {
            let [stamp, device, start, length, kind] = [0, 1, 2, 3, 4].map(|at| number(blanks[at]));
            (stamp, device as u32, data(kind == 1), start * 512, length * 512)
        }
        Target::Disksim => {
            let [device, start, length, flags] = [1, 2, 3, 4].map(|at| number(blanks[at]));
            let stamp = decimal(blanks[0], 6);
            (stamp, device as u32, data(flags & 1 == 1), start * 512, length * 512)
        }
        Target::Msr => {
            assert_eq!(commas.len(), 7);
            let [stamp, device, offset, bytes] = [0, 2, 4, 5].map(|at| number(commas[at]));
            (stamp * 100, device as u32, data(commas[3] == "Read"), offset, bytes)
        }
        Target::Spc => {
            assert_eq!(commas.len(), 5);
            let [device, start, bytes] = [0, 1, 2].map(|at| number(commas[at]));
            (decimal(commas[4], 9), device as u32, data(commas[3] == "R"), start * 512, bytes)
        }
        Target::FioV3 => {
            let kind = match *blanks.get(2)? {
                "read" => Kind::Read,
                "write" => Kind::Write,
                "trim" => Kind::Trim,
                "sync" => Kind::Flush,
                _ => return None,
            };
            let device = blanks[1].strip_prefix("device").unwrap();
            let (offset, bytes) = (number(blanks[3]), number(blanks[4]));
            (number(blanks[0]) * 1_000, device.parse().unwrap(), kind, offset, bytes)
        }
    })
}

/// Reads and writes in MQSim's format, in sectors and nanoseconds, and the same as requests.
fn random(seed: u64, devices: u64) -> (String, Vec<Request>) {
    let mut stream = Streams::new(seed).stream("conversions");
    let mut stamp = stream.below(1 << 40) * 1_000;
    let mut text = String::new();
    let mut requests = Vec::new();
    for _ in 0..1 + stream.below(300) {
        // Whole microseconds, which all formats have.
        stamp += stream.below(10_000) * 1_000;
        let (device, is_read) = (stream.below(devices), stream.chance(0.5));
        let (start, length) = (stream.below(1 << 30), 1 + stream.below(2_000));
        text += &format!("{stamp} {device} {start} {length} {}\n", u64::from(is_read));
        let kind = if is_read { Kind::Read } else { Kind::Write };
        requests.push((stamp, device as u32, kind, start * 512, length * 512));
    }
    (text, requests)
}

fn forced(format: traces::Format) -> Choices {
    Choices { format: Some(format), force: true, ..Choices::default() }
}

#[test]
fn every_format_says_the_same_as_its_source() {
    let folder = Folder::new("same");
    for seed in floor::seeds(0, 30) {
        for target in Target::ALL {
            let devices = if *target == Target::Captured { 1 } else { 5 };
            let (text, requests) = random(seed, devices);
            let input = folder.file("in", &text);
            for ending in ["", ".gz", ".zst"] {
                let output = folder.0.join(format!("out{ending}"));
                let choices = forced(Format::Mqsim);
                converted(&input, &output, *target, &choices).unwrap();
                assert_eq!(read(&output, *target), requests, "{target}{ending}, seed {seed}");
            }
        }
    }
    assert_eq!(folder.names(), ["in", "out", "out.gz", "out.zst"], "nothing else is left");
}

/// The reader of a writer's output.
fn reader(target: Target) -> Format {
    *Format::ALL.iter().find(|format| format.name() == target.name()).expect("it has one")
}

#[test]
fn every_writer_has_a_reader_of_its_name_and_title() {
    for target in Target::ALL {
        assert_eq!(reader(*target).title(), target.title());
    }
}

/// MQSim's rows with devices numbered in order of appearance, as readers number devices with
/// names.
fn numbered(text: &str) -> String {
    let mut seen: Vec<&str> = Vec::new();
    let mut numbered = String::new();
    for line in text.lines() {
        let columns: Vec<&str> = line.split(' ').collect();
        let device = seen.iter().position(|known| *known == columns[1]).unwrap_or_else(|| {
            seen.push(columns[1]);
            seen.len() - 1
        });
        numbered += &format!("{} {device} {}\n", columns[0], columns[2..].join(" "));
    }
    numbered
}

#[test]
fn there_and_back_again_is_the_same_file() {
    let folder = Folder::new("back");
    let (there, back) = (folder.0.join("there"), folder.0.join("back"));
    for seed in floor::seeds(100, 20) {
        for target in Target::ALL {
            let has_names = matches!(target, Target::Msr | Target::FioV3);
            let (text, _) = random(seed, if *target == Target::Captured { 1 } else { 4 });
            let input = folder.file("in", &text);
            converted(&input, &there, *target, &forced(Format::Mqsim)).unwrap();
            converted(&there, &back, Target::Mqsim, &forced(reader(*target))).unwrap();
            let wanted = if has_names { numbered(&text) } else { text };
            assert_eq!(std::fs::read_to_string(&back).unwrap(), wanted, "{target}, seed {seed}");
        }
    }
}

/// Requests of all kinds, at any byte, as the captured CSV has them.
fn captured(seed: u64, kinds: &[char]) -> String {
    let mut stream = Streams::new(seed).stream("captured");
    let mut text = "time_us,op,offset,length\n".to_owned();
    let mut us = stream.below(1 << 40);
    for _ in 0..1 + stream.below(300) {
        us += stream.below(10_000);
        let kind = kinds[stream.below(kinds.len() as u64) as usize];
        let (offset, bytes) = match kind {
            'F' => (0, 0),
            _ => (stream.below(1 << 40), 1 + stream.below(1 << 20)),
        };
        text += &format!("{us},{kind},{offset},{bytes}\n");
    }
    text
}

#[test]
fn bytes_and_other_kinds_come_back_where_a_format_has_them() {
    let folder = Folder::new("bytes");
    let (there, back) = (folder.0.join("there"), folder.0.join("back"));
    for seed in floor::seeds(200, 20) {
        for (target, kinds) in [
            (Target::Captured, &['R', 'W', 'T', 'F', 'Z'][..]),
            (Target::FioV3, &['R', 'W', 'T', 'F']),
            (Target::Msr, &['R', 'W']),
        ] {
            let text = captured(seed, kinds);
            let input = folder.file("in", &text);
            converted(&input, &there, target, &forced(Format::Captured)).unwrap();
            converted(&there, &back, Target::Captured, &forced(reader(target))).unwrap();
            assert_eq!(std::fs::read_to_string(&back).unwrap(), text, "{target}, seed {seed}");
        }
    }
}

#[test]
fn the_readers_options_are_taken_and_foreign_ones_refused() {
    let folder = Folder::new("options");
    let output = folder.0.join("out");
    let stamps = |input: &str, options: Options| {
        let input = folder.file("in", input);
        let choices = Choices { options, force: true, ..Choices::default() };
        let done = convert(&input, &output, Target::Mqsim, &choices, &mut |_| true)?;
        let read = read(&output, Target::Mqsim);
        let stamps: Vec<(u64, u64)> = read.iter().map(|r| (r.0, r.3)).collect();
        Ok::<_, traces::TraceError>((stamps, done.expect("nobody ends it")))
    };
    let fio = "fio version 3 iolog\n5 a add\n5 a write 0 4096\n7 b write 512 4096\n";
    let (found, done) = stamps(fio, Options::default()).unwrap();
    assert_eq!(found, [(5_000, 0), (7_000, 512)]);
    let [passed] = done.remarks.passed[..] else { panic!("one reason") };
    assert_eq!((passed.lines, passed.first_line), (1, 2));
    assert_eq!(done.remarks.names, ["a", "b"]);
    assert_eq!(done.notes, ["names of devices have become numbers: 0 = a, 1 = b"]);
    let ms = Options { time_unit: Some(TimeUnit::Ms), ..Options::default() };
    assert_eq!(stamps(fio, ms).unwrap().0, [(5_000_000, 0), (7_000_000, 512)]);
    // Whole seconds: three requests in one are a third of a second apart, rounded down.
    let coarse = "9,0,8,0,7\n9,8,8,0,7\n9,16,8,0,7\n10,24,8,0,7\n";
    let spread = Options { spread: Some(Spread::Uniform), ..Options::default() };
    let second = 1_000_000_000;
    let thirds = [9 * second, 9 * second + 333_333_333, 9 * second + 666_666_666, 10 * second];
    let (found, _) = stamps(coarse, spread).unwrap();
    assert_eq!(found.iter().map(|(ns, _)| *ns).collect::<Vec<_>>(), thirds);
    let both =
        Options { event: Some(Event::Complete), block_bytes: Some(512), ..Options::default() };
    let refusal = stamps(fio, both).unwrap_err().to_string();
    for part in [
        "event has no meaning for fio I/O log, version 3, only for the formats blkparse; remove it",
        "block_size has no meaning",
    ] {
        assert!(refusal.contains(part), "{part:?} is not in {refusal}");
    }
    let spc = Options { block_bytes: Some(4_096), ..Options::default() };
    assert_eq!(stamps("0,2,512,R,1\n", spc).unwrap().0, [(second, 8_192)]);
    let zero = Options { block_bytes: Some(0), ..Options::default() };
    let refusal = stamps("0,2,512,R,1\n", zero).unwrap_err().to_string();
    assert!(refusal.contains("block_size must be more than 0 B"), "{refusal}");
}

const MIXED: &str = "time_us,op,offset,length\n\
    10,R,0,4096\n20,W,4096,512\n30,F,0,0\n15,W,8192,1000\n40,T,0,4096\n50,Z,0,8192\n60,T,4096,512\n";

#[test]
fn all_that_cannot_be_said_is_refused_at_once() {
    let folder = Folder::new("refused");
    let (input, output) = (folder.file("in.csv", MIXED), folder.0.join("out"));
    let refusal = converted(&input, &output, Target::Mqsim, &Choices::default()).unwrap_err();
    for part in [
        "cannot be written as MQSim ASCII without loss:",
        "2 requests, the first in line 6: MQSim ASCII has no trim; leave them out with --drop trim",
        "1 request, the first in line 4: MQSim ASCII has no flush",
        "1 request, the first in line 7: MQSim ASCII has no write-zeroes",
        "1 request, the first in line 5: MQSim ASCII has addresses and lengths in multiples of 512 B",
    ] {
        assert!(refusal.contains(part), "{part:?} is not in {refusal}");
    }
    assert_eq!(folder.names(), ["in.csv"], "a refusal leaves no file");
    let drop = vec![Kind::Trim, Kind::Flush, Kind::WriteZeroes];
    let rounding = Choices { drop: drop.clone(), round: true, ..Choices::default() };
    let refusal = converted(&input, &output, Target::Mqsim, &rounding).unwrap_err();
    assert!(refusal.contains("put them in order with --sort"), "{refusal}");
    let sorting = Choices { sort: true, ..rounding };
    converted(&input, &output, Target::Mqsim, &sorting).unwrap();
    let text = std::fs::read_to_string(&output).unwrap();
    assert_eq!(text, "10000 0 0 8 1\n15000 0 16 2 0\n20000 0 8 1 0\n");
}

#[test]
fn disorder_and_devices_are_refused_where_a_format_has_neither() {
    let folder = Folder::new("disorder");
    let (output, backwards) =
        (folder.0.join("out"), "time_us,op,offset,length\n20,R,0,512\n10,R,0,512\n");
    let input = folder.file("back.csv", backwards);
    let refusal = converted(&input, &output, Target::FioV3, &Choices::default()).unwrap_err();
    assert!(
        refusal.contains("1 request, the first in line 3: fio I/O log, version 3 needs stamps"),
        "{refusal}"
    );
    // Stamps count from the earliest, wherever it stands.
    let rebased = Choices { rebase: true, force: true, ..Choices::default() };
    converted(&input, &output, Target::Captured, &rebased).unwrap();
    let stamps = |output: &Path| {
        read(output, Target::Captured).iter().map(|request| request.0).collect::<Vec<_>>()
    };
    assert_eq!(stamps(&output), [10_000, 0]);
    // What is left out does not count: the earliest of devices 1 and 2 comes second.
    let input = folder.file("left-out", "9000 0 0 8 1\n3000 1 0 8 1\n2000 1 0 8 1\n1000 0 0 8 1\n");
    let one = Choices { devices: Some(vec![1]), format: Some(Format::Mqsim), ..rebased };
    converted(&input, &output, Target::Captured, &one).unwrap();
    assert_eq!(stamps(&output), [1_000, 0]);
    let refusal = converted(&input, &output, Target::Mqsim, &one).unwrap_err();
    assert!(refusal.contains("MQSim ASCII needs stamps that do not run backwards"), "{refusal}");
    std::fs::remove_file(&output).unwrap();
    let several = folder.file("several", "5000 1 0 8 1\n6000 2 8 8 0\n7000 1 8 8 0\n");
    let mqsim = forced(Format::Mqsim);
    let refusal = converted(&several, &output, Target::Captured, &mqsim).unwrap_err();
    assert!(
        refusal.contains("1 request, the first in line 2: captured CSV cannot tell"),
        "{refusal}"
    );
    let one = Choices { devices: Some(vec![1]), ..mqsim.clone() };
    let done = convert(&several, &output, Target::Captured, &one, &mut |_| true).unwrap().unwrap();
    assert_eq!((done.read, done.written, done.not_asked_for), (3, 2, 1));
    assert_eq!(done.notes, ["captured CSV has no devices: device 1 has become 0"]);
    let absent = Choices { devices: Some(vec![3]), ..mqsim };
    let refusal = converted(&several, &output, Target::Captured, &absent).unwrap_err();
    assert!(refusal.contains("has no device 3 (it has 1, 2)"), "{refusal}");
}

#[test]
fn stamps_are_cut_to_a_window_stretched_and_counted_anew() {
    let folder = Folder::new("window");
    let input = folder.file("in", "1000 0 0 8 1\n2000 0 8 8 1\n4000 0 16 8 1\n9000 0 24 8 1\n");
    let output = folder.0.join("out");
    let window = Choices {
        start: Some(Span::from_ns(1_000)),
        end: Some(Span::from_ns(8_000)),
        ..forced(Format::Mqsim)
    };
    let stamps = |choices: &Choices| {
        converted(&input, &output, Target::Mqsim, choices).unwrap();
        read(&output, Target::Mqsim).iter().map(|request| request.0).collect::<Vec<_>>()
    };
    assert_eq!(stamps(&window), [2_000, 4_000]);
    let rebased = Choices { rebase: true, ..window.clone() };
    assert_eq!(stamps(&rebased), [0, 2_000]);
    let stretched = Choices { time_scale: Some(1.5), ..rebased };
    assert_eq!(stamps(&stretched), [0, 3_000]);
    let stretched = Choices { time_scale: Some(2.0), ..window };
    assert_eq!(stamps(&stretched), [3_000, 7_000]);
}

#[test]
fn numbers_that_a_reader_would_not_take_are_refused() {
    let folder = Folder::new("limits");
    let output = folder.0.join("out");
    // 2^63 - 1 is the largest that MQSim reads; the stamp of MSR counts 100 ns.
    let late = folder
        .file("late", "92233720368547758,h,0,Read,0,512,1\n92233720368547759,h,0,Read,0,512,1\n");
    let refusal = converted(&late, &output, Target::Mqsim, &forced(Format::Msr)).unwrap_err();
    assert!(
        refusal.contains("1 request, the first in line 2: MQSim ASCII has no stamps after")
            && refusal.contains("--rebase"),
        "{refusal}"
    );
    let rebased = Choices { rebase: true, ..forced(Format::Msr) };
    converted(&late, &output, Target::Mqsim, &rebased).unwrap();
    assert_eq!(read(&output, Target::Mqsim).iter().map(|r| r.0).collect::<Vec<_>>(), [0, 100]);
    // Sectors of a request are a 32-bit number.
    let lines = |sectors: [u64; 2]| sectors.map(|n| format!("0,R,0,{}\n", n * 512)).concat();
    let long = folder.file("long", &(CAPTURED.to_owned() + &lines([u64::from(u32::MAX), 1 << 32])));
    let refusal = converted(&long, &output, Target::Mqsim, &forced(Format::Captured)).unwrap_err();
    assert!(
        refusal.contains("1 request, the first in line 3: MQSim ASCII has no requests"),
        "{refusal}"
    );
    // DiskSim's numbers are signed.
    let devices = folder.file("devices", "0 2147483647 0 8 1\n0 2147483648 0 8 1\n");
    let refusal =
        converted(&devices, &output, Target::Disksim, &forced(Format::Mqsim)).unwrap_err();
    assert!(
        refusal.contains(
            "1 request, the first in line 2: DiskSim ASCII has no device numbers above 2147483647"
        ),
        "{refusal}"
    );
}

const CAPTURED: &str = "time_us,op,offset,length\n";

#[test]
fn numbers_that_become_names_are_noted() {
    let folder = Folder::new("renamed");
    let input = folder.file("in", "0 3 0 8 1\n5 0 0 8 1\n");
    let notes = |input: &Path, target| {
        let output = folder.0.join("out");
        let choices = forced(Format::Mqsim);
        let choices = Choices { round: true, ..choices };
        convert(input, &output, target, &choices, &mut |_| true).unwrap().unwrap().notes
    };
    let msr = notes(&input, Target::Msr);
    assert!(msr.len() == 1 && msr[0].contains(": 0 = trace_0, 3 = trace_3;"), "{msr:?}");
    let fio = notes(&input, Target::FioV3);
    assert!(fio.len() == 2 && fio[0].contains(": 0 = device0, 3 = device3;"), "{fio:?}");
    assert_eq!(notes(&input, Target::Spc), [""; 0]);
    // fio begins with the first request, whatever its stamp.
    let late = folder.file("late", "3600000000000 0 0 8 1\n");
    assert_eq!(notes(&late, Target::FioV3), [""; 0]);
}

/// fio takes a stamp of 0 for none, and drops the gap behind it.
#[test]
fn a_log_for_fio_has_no_stamp_of_0() {
    let folder = Folder::new("shifted");
    let rows = "2500000 0 0 8 1\n4000000 0 8 8 1\n";
    for (name, text, rebase, expected) in [
        ("late", rows, false, [2_500, 4_000]),
        ("rebased", rows, true, [1, 1_501]),
        ("zero", "0 0 0 8 1\n1500000 0 8 8 1\n", false, [1, 1_501]),
    ] {
        let (input, output) = (folder.file(name, text), folder.0.join("out"));
        let choices = Choices { rebase, ..forced(Format::Mqsim) };
        let done = convert(&input, &output, Target::FioV3, &choices, &mut |_| true);
        let notes = done.unwrap().unwrap().notes;
        let log = std::fs::read_to_string(&output).unwrap();
        let stamps: Vec<u64> = log
            .lines()
            .filter(|line| line.contains("read"))
            .map(|line| line.split(' ').next().unwrap().parse().unwrap())
            .collect();
        assert_eq!(stamps, expected, "{name}");
        let is_shifted = notes.iter().any(|note| note.contains("all stamps are 1 us later"));
        assert_eq!(is_shifted, expected[0] == 1, "{name}: {notes:?}");
    }
}

#[cfg(unix)]
#[test]
fn links_are_followed_and_other_files_refused() {
    let folder = Folder::new("links");
    let input = folder.file("in", "0 0 0 8 1\n");
    let (real, link) = (folder.file("real", "old"), folder.0.join("link"));
    std::os::unix::fs::symlink(&real, &link).unwrap();
    converted(&input, &link, Target::Mqsim, &forced(Format::Mqsim)).unwrap();
    assert!(link.is_symlink());
    assert_eq!(std::fs::read_to_string(&real).unwrap(), "0 0 0 8 1\n");
    let nowhere = folder.0.join("nowhere");
    std::os::unix::fs::symlink(folder.0.join("absent"), &nowhere).unwrap();
    let refusal = converted(&input, &nowhere, Target::Mqsim, &forced(Format::Mqsim)).unwrap_err();
    assert!(refusal.contains("leads nowhere"), "{refusal}");
    let refusal = converted(&input, Path::new("/dev/null"), Target::Mqsim, &forced(Format::Mqsim))
        .unwrap_err();
    assert!(refusal.contains("no regular file"), "{refusal}");
    assert_eq!(folder.names(), ["in", "link", "nowhere", "real"]);
}

#[test]
fn a_file_is_whole_or_not_there_and_none_is_overwritten() {
    let folder = Folder::new("whole");
    let text = "0 0 0 8 1\n".repeat(200_000);
    let (input, output) = (folder.file("in", &text), folder.file("out", "precious"));
    let mqsim = Choices { format: Some(Format::Mqsim), ..Choices::default() };
    let refusal = converted(&input, &output, Target::Msr, &mqsim).unwrap_err();
    assert!(refusal.ends_with("there is such a file; choose another name, or --force"));
    let force = Choices { force: true, ..mqsim };
    // Whoever is told may end it: then all is as it was.
    let ended = convert(&input, &output, Target::Msr, &force, &mut |at| at.share > 1.0);
    assert_eq!(ended.unwrap(), None);
    assert_eq!(std::fs::read_to_string(&output).unwrap(), "precious");
    assert_eq!(folder.names(), ["in", "out"]);
}
