//! Measures the cost of requests: `cargo run --release -p flashscape-host --example speed`, with
//! the names of trace formats after `--` for those alone. Each file is read several times, and
//! the best run counts, because other programs can only slow it down. Time is processor time if
//! Linux reports it, else elapsed time.
#![allow(clippy::disallowed_methods, reason = "a measurement of real time needs a real clock")]

use engine::Streams;
use host::{Source, WorkloadConfig};
use std::fmt::Write as _;
use std::hint::black_box;
use std::time::Instant;

const CAPACITY: u64 = 64 << 30;
const REQUESTS: u64 = 20_000_000;
const ROWS: u64 = 2_000_000;

/// Times that a trace is read.
const READINGS: usize = 7;

fn main() {
    let chosen: Vec<String> = std::env::args().skip(1).collect();
    if chosen.is_empty() {
        for (name, keys) in [
            ("uniform 4 KiB", "reads = '100 %'"),
            ("uniform 4 KiB, 70/30", "reads = '70 %'"),
            ("sequential", "reads = '0 %'\naddresses = { pattern = 'sequential' }"),
            ("jesd219", "reads = '70 %'\naddresses = { pattern = 'jesd219' }"),
            ("zipf 0.99", "reads = '70 %'\naddresses = { pattern = 'zipf', theta = 0.99 }"),
            ("exponential sizes", "reads = '70 %'\nsize = { mean = '4 KiB' }"),
            ("poisson", "reads = '70 %'\narrivals = { process = 'poisson', rate = '2000 IOPS' }"),
        ] {
            synthetic(name, keys);
        }
    }
    for (format, header, line) in FORMATS {
        if chosen.is_empty() || chosen.iter().any(|name| name == format) {
            trace(format, &text(header, *line));
        }
    }
}

/// Prints the time that a request of a synthetic workload takes.
fn synthetic(name: &str, keys: &str) {
    let config: WorkloadConfig = toml::from_str(&format!("name = 'speed'\n{keys}")).unwrap();
    let mut source = Source::build(&config, CAPACITY, Streams::new(1)).unwrap();
    let begun = Instant::now();
    for _ in 0..REQUESTS {
        black_box(source.next().unwrap());
    }
    let ns = begun.elapsed().as_nanos() as f64 / REQUESTS as f64;
    println!("{name:<22}{ns:6.1} ns a request");
}

/// Prints the number of rows per second that are surveyed and replayed.
fn trace(format: &str, text: &str) {
    let name = format!("flashscape-speed-{}.{format}", std::process::id());
    let path = std::env::temp_dir().join(name);
    std::fs::write(&path, text).unwrap();
    let keys = format!(
        "name = 'speed'\n[trace]\nfile = '{}'\nformat = '{format}'\ncombine = 'fold'\n\
         out_of_range = 'wrap'\ndisorder = 'sort'",
        path.display()
    );
    let config: WorkloadConfig = toml::from_str(&keys).unwrap();
    let best = |reading: &dyn Fn()| {
        let seconds = (0..READINGS).map(|_| {
            let (begun, cpu_begun) = (Instant::now(), cpu_seconds());
            reading();
            let on_the_wall = begun.elapsed().as_secs_f64();
            cpu_begun.zip(cpu_seconds()).map_or(on_the_wall, |(begun, ended)| ended - begun)
        });
        seconds.fold(f64::INFINITY, f64::min)
    };
    let lines = text.bytes().filter(|byte| *byte == b'\n').count() as f64;
    let survey = config.survey().unwrap();
    let rows = survey.as_ref().map_or(0, |survey| survey.rows);
    let surveyed = best(&|| {
        black_box(config.survey().unwrap());
    });
    let replayed = best(&|| {
        let mut source =
            Source::build_surveyed(&config, survey.as_ref(), CAPACITY, Streams::new(1)).unwrap();
        while let Some(request) = source.next().unwrap() {
            black_box(request);
        }
    });
    let million_a_second = |seconds: f64| rows as f64 / seconds / 1e6;
    println!(
        "{format:<9} {:3} B a row: survey {:5.1} million rows, {:5.1} million lines, {:4.2} GB a \
         second; replay {:5.1} million rows",
        text.len() as u64 / rows,
        million_a_second(surveyed),
        lines / surveyed / 1e6,
        text.len() as f64 / surveyed / 1e9,
        million_a_second(replayed),
    );
    std::fs::remove_file(&path).unwrap();
}

/// The time that this thread has run.
fn cpu_seconds() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    let ns: f64 = text.split(' ').next()?.parse().ok()?;
    Some(ns / 1e9)
}

/// A request as real traces have it.
struct Made {
    /// Its position in the trace.
    row: u64,
    sector: u64,
    sectors: u64,
    is_read: bool,
    device: u64,
}

/// Writes a request as one row, or as the few lines that the format has for it.
type Line = fn(&mut String, &Made);

/// Each format with the header of its file.
const FORMATS: &[(&str, &str, Line)] = &[
    ("mqsim", "", |text, made| {
        let Made { row, sector, sectors, is_read, .. } = made;
        let at = 938_513_000 + row * 19_500;
        writeln!(text, "{at} 0 {sector} {sectors} {}", u8::from(*is_read)).unwrap();
    }),
    ("disksim", "", |text, made| {
        let Made { row, sector, sectors, is_read, .. } = made;
        let us = 7_961_833 + row * 20;
        let (ms, rest, flag) = (us / 1_000, us % 1_000, u8::from(*is_read));
        writeln!(text, "{ms}.{rest:03} 0 {sector} {sectors} {flag}").unwrap();
    }),
    ("captured", "time_us,op,offset,length\n", |text, made| {
        let (us, letter) = (made.row * 20, made.letter());
        writeln!(text, "{us},{letter},{},{}", made.offset(), made.bytes()).unwrap();
    }),
    ("msr", "", |text, made| {
        let at = 128_166_372_003_061_629 + made.row * 217;
        let kind = if made.is_read { "Read" } else { "Write" };
        let (offset, bytes) = (made.offset(), made.bytes());
        writeln!(text, "{at},hm,1,{kind},{offset},{bytes},{}", 41_286 + made.row % 900).unwrap();
    }),
    ("etw", ETW_HEADER, |text, made| {
        let (us, irp) = (made.row * 20, 0xffff_fa80_0100_0000 + made.row % 32 * 0x110);
        let kind = if made.is_read { "DiskRead" } else { "DiskWrite" };
        let init = format!("{kind}Init");
        let process = "sqlservr.exe (3984)";
        writeln!(text, "{init:>23}, {us:>10}, {process:>26}, {:>10}, {irp:#018x}", 11_844).unwrap();
        writeln!(
            text,
            "{kind:>23}, {:>10}, {process:>26}, {:>10}, {irp:#018x}, {:#012x}, {:#010x}, {:>11}, \
             {:>8}, 0x060043, {:>11}, {:>7}, Original, 0xfffffa8013d4c9f0, \"E:\\tpce\\data.mdf\"",
            us + 283,
            11_844,
            made.offset(),
            made.bytes(),
            283,
            made.device,
            281,
            3
        )
        .unwrap();
    }),
    ("blkparse", "", |text, made| {
        let (ns, rwbs) = (made.row * 19_517, if made.is_read { "R" } else { "WS" });
        for (action, behind) in [("Q", 0), ("C", 9_000)] {
            let ns = ns + behind;
            writeln!(
                text,
                "{:>3},{:<3} {:>2} {:>8} {:>5}.{:09} {:>5} {action:>2} {rwbs:>3} {} + {} [fio]",
                8,
                16,
                made.row % 8,
                made.row,
                ns / 1_000_000_000,
                ns % 1_000_000_000,
                90_790,
                made.sector,
                made.sectors
            )
            .unwrap();
        }
    }),
    ("fio-v2", "fio version 2 iolog\n/dev/nvme0n1 add\n/dev/nvme0n1 open\n", |text, made| {
        let (offset, bytes) = (made.offset(), made.bytes());
        writeln!(text, "/dev/nvme0n1 {} {offset} {bytes}", made.word()).unwrap();
    }),
    ("fio-v3", "fio version 3 iolog\n0 /dev/nvme0n1 add\n0 /dev/nvme0n1 open\n", |text, made| {
        let (offset, bytes) = (made.offset(), made.bytes());
        writeln!(text, "{} /dev/nvme0n1 {} {offset} {bytes}", made.row * 20, made.word()).unwrap();
    }),
    ("spc", "", |text, made| {
        let (s, us) = (made.row / 50_000, made.row % 50_000 * 20);
        let letter = if made.is_read { 'r' } else { 'w' };
        let Made { sector, device, .. } = made;
        writeln!(text, "{device},{sector},{},{letter},{s}.{us:06}", made.bytes()).unwrap();
    }),
    ("systor", "Timestamp,Response,IOType,LUN,Offset,Size\n", |text, made| {
        let (s, us) = (1_456_135_200 + made.row / 50_000, made.row % 50_000 * 20);
        let (letter, offset, bytes) = (made.letter(), made.offset(), made.bytes());
        let lun = made.device % 7;
        writeln!(text, "{s}.{us:06}000,0.000806000,{letter},{lun},{offset},{bytes}").unwrap();
    }),
    ("alibaba", "", |text, made| {
        let (us, letter) = (1_577_808_000_000_046 + made.row * 20, made.letter());
        writeln!(text, "{},{letter},{},{},{us}", made.device, made.offset(), made.bytes()).unwrap();
    }),
    ("tencent", "", |text, made| {
        let (s, kind) = (1_538_323_200 + made.row / 5_000, u8::from(!made.is_read));
        let Made { sector, sectors, device, .. } = made;
        writeln!(text, "{s},{sector},{sectors},{kind},{device}").unwrap();
    }),
];

const ETW_HEADER: &str = "BeginHeader
DiskRead, TimeStamp, Process Name ( PID), ThreadID, IrpPtr, ByteOffset, IOSize, ElapsedTime, DiskNum, IrpFlags, DiskSvcTime, I/O Pri, VolSnap, FileObject, FileName
DiskWrite, TimeStamp, Process Name ( PID), ThreadID, IrpPtr, ByteOffset, IOSize, ElapsedTime, DiskNum, IrpFlags, DiskSvcTime, I/O Pri, VolSnap, FileObject, FileName
DiskReadInit, TimeStamp, Process Name ( PID), ThreadID, IrpPtr
DiskWriteInit, TimeStamp, Process Name ( PID), ThreadID, IrpPtr
EndHeader
";

impl Made {
    fn offset(&self) -> u64 {
        self.sector * 512
    }

    fn bytes(&self) -> u64 {
        self.sectors * 512
    }

    fn letter(&self) -> char {
        if self.is_read { 'R' } else { 'W' }
    }

    fn word(&self) -> &'static str {
        if self.is_read { "read" } else { "write" }
    }
}

/// A file of a format. Addresses and lengths are like those of a real trace; devices
/// are a thousand, and change with every row.
fn text(header: &str, line: Line) -> String {
    let mut stream = Streams::new(2).stream("rows");
    (0..ROWS).fold(header.to_owned(), |mut text, row| {
        let (sector, sectors) = (stream.below(1 << 26), 8 + 8 * stream.below(32));
        let (is_read, device) = (stream.below(2) == 1, stream.below(1_000));
        line(&mut text, &Made { row, sector, sectors, is_read, device });
        text
    })
}
