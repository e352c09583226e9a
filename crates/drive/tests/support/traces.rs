//! Random traces for random drives: files of every format, replayed in every way,
//! several at once, and sometimes damaged.

use super::case::{Dice, Shape, begin_workload, experiment_of, region, workload};
use super::written::{Meant, can, has_devices, written};
use engine::{Stream, Streams};
use host::{Command, Kind};
use std::fmt::Write;
use traces::Format;

/// Dice that a trace takes.
const PART: usize = 48;
/// Dice that a case takes.
pub const DICE: usize = super::case::DICE + 3 * PART;

/// An experiment with traces.
pub struct Traced {
    /// Its text.
    pub text: String,
    /// Names and contents of the traces.
    pub files: Vec<(String, Vec<u8>)>,
    /// False if a reader may refuse one: it is damaged, runs backwards, or must be
    /// guessed.
    pub is_sound: bool,
}

/// The experiment that `dice` describe: its first initiator replays a trace, and most others do,
/// too.
pub fn experiment(dice: &[u32]) -> Traced {
    let (of_drive, of_traces) = dice.split_at(super::case::DICE);
    let mut of_traces = of_traces.chunks(PART).map(Dice::new);
    let mut files = Vec::new();
    let mut is_sound = true;
    let text = experiment_of(of_drive, &mut |text, own, shape, index| {
        begin_workload(text, own, index);
        let mut dice = of_traces.next().expect("there are dice for every trace");
        if index > 0 && dice.once_in(3) {
            return workload(text, own, shape);
        }
        // The exported size may be a unit less if it is given as a share.
        let shown = shape.exported.saturating_sub(shape.unit).max(shape.unit);
        let sectors = region(text, own, shown / 512);
        let name = format!("w{index}.trace");
        let trace = trace(text, &mut dice, shape, sectors, &name);
        is_sound &= trace.is_sound;
        files.push((name, trace.content));
    });
    Traced { text: with_rare_scrubbing(&text), files, is_sound }
}

/// Traces last for hours, in which polls of scrubbing would be without number.
fn with_rare_scrubbing(text: &str) -> String {
    let mut is_scrubbing = false;
    let lines = text.lines().map(|line| {
        is_scrubbing =
            if line.starts_with('[') { line == "[drive.ftl.scrub]" } else { is_scrubbing };
        match is_scrubbing && line.starts_with("interval") {
            true => "interval = \"60 s\"",
            false => line,
        }
    });
    lines.map(|line| format!("{line}\n")).collect()
}

struct Trace {
    content: Vec<u8>,
    is_sound: bool,
}

/// Properties of the rows of a trace.
struct Manner {
    rows: u64,
    /// Units of addresses and sizes in sectors.
    align: u64,
    /// Sectors of the largest request, and the range of its offsets.
    largest: u64,
    span: u64,
    devices: u64,
    /// Most microseconds between rows.
    gap: u64,
    /// True if stamps sometimes run backwards.
    disordered: bool,
    origin: u64,
}

fn trace(text: &mut String, dice: &mut Dice<'_>, shape: &Shape, sectors: u64, name: &str) -> Trace {
    let format = dice.of(Format::ALL);
    let unit = (shape.unit / 512).min(sectors);
    let align = dice.of(&[unit, 1, (shape.page / 512).min(sectors), 8.min(sectors)]);
    let largest = dice.of(&[1, 2, 9, 40]).min(sectors / align).max(1) * align;
    let beyond = dice.once_in(4);
    let manner = Manner {
        rows: dice.between(1, 200),
        align,
        largest,
        span: if beyond { sectors.saturating_mul(dice.between(2, 1000)) } else { sectors },
        devices: if has_devices(format) { dice.of(&[1, 1, 2, 5]) } else { 1 },
        gap: dice.of(&[50, 0, 1, 1_000, 100_000]),
        disordered: dice.once_in(8),
        origin: dice.of(&[0, 1, 1_000_000, 128_166_372_003_061_629 / 10]),
    };
    let rows = rows(format, &manner, dice);
    let mut content = written(format, &rows).into_bytes();
    let mut is_sound = !manner.disordered && !rows.is_empty();
    let is_given = !dice.once_in(8);
    is_sound &= is_given;
    let mut said = format;
    if dice.once_in(8) {
        is_sound = false;
        damage(&mut content, dice);
        if dice.once_in(3) {
            said = dice.of(Format::ALL);
        }
    }
    let from = text.len();
    write!(text, "trace = {{ file = \"{name}\"").unwrap();
    if is_given {
        write!(text, ", format = \"{}\"", said.name()).unwrap();
    }
    let is_closed = replay(text, dice, manner.devices);
    let fit = if beyond {
        dice.of(&["wrap", "scale", "wrap", "scale", "refuse"])
    } else {
        dice.of(&["refuse", "wrap"])
    };
    write!(text, ", out_of_range = \"{fit}\"").unwrap();
    settings(text, dice, said);
    writeln!(text, " }}").unwrap();
    is_sound &= !may_be_refused(&text[from..], beyond) && sectors >= 8;
    if is_closed || dice.once_in(3) {
        writeln!(text, "queue_depth = {}", dice.of(&[1, 2, 7, 32])).unwrap();
    }
    if is_closed && dice.once_in(2) {
        writeln!(text, "think_time = \"{} us\"", dice.between(0, 400)).unwrap();
    }
    Trace { content, is_sound }
}

/// True if the settings may ask for events that a sound trace lacks, or for too large a range.
fn may_be_refused(asked: &str, beyond: bool) -> bool {
    let has = |words: &str| asked.contains(words);
    let reaches = beyond || has("concatenate") || has("block_size");
    let fits = !reaches || !has("out_of_range = \"refuse\"");
    // Only events of the queue are written, and stamps of files are in microseconds.
    !fits || has("dispatch") || has("complete") || has("\"ms\"")
}

/// Writes the settings of a trace's replay; returns true for a closed loop.
fn replay(text: &mut String, dice: &mut Dice<'_>, devices: u64) -> bool {
    let is_closed = dice.once_in(3);
    if is_closed {
        write!(text, ", mode = \"closed\"").unwrap();
    } else {
        if dice.once_in(2) {
            let scale = dice.of(&["1.0", "0.001", "0.3", "7.5", "1e-9", "300.0"]);
            write!(text, ", time_scale = {scale}").unwrap();
        }
        if dice.once_in(2) {
            write!(text, ", disorder = \"{}\"", dice.of(&["sort", "refuse"])).unwrap();
        }
        if dice.once_in(2) {
            write!(text, ", spread = \"{}\"", dice.of(&["uniform", "none"])).unwrap();
        }
    }
    if devices > 1 || dice.once_in(4) {
        let combine = dice.of(&["fold", "concatenate", "separate"]);
        write!(text, ", combine = \"{combine}\"").unwrap();
    }
    if dice.once_in(5) {
        write!(text, ", devices = [{}]", dice.of(&["0", "0, 1", "1, 0", "3", "0, 0"])).unwrap();
    }
    if dice.once_in(3) {
        write!(text, ", repeat = {}", dice.between(1, 4)).unwrap();
    }
    is_closed
}

/// Writes settings of some formats, for those, and sometimes for others.
fn settings(text: &mut String, dice: &mut Dice<'_>, format: Format) {
    let stray = dice.once_in(40);
    if (format == Format::Blkparse || stray) && dice.once_in(2) {
        let event = dice.of(&["queue", "queue", "queue", "queue", "dispatch", "complete"]);
        write!(text, ", event = \"{event}\"").unwrap();
    }
    if (matches!(format, Format::FioV2 | Format::FioV3) || stray) && dice.once_in(2) {
        write!(text, ", time_unit = \"{}\"", dice.of(&["us", "ms"])).unwrap();
    }
    if (format == Format::FioV2 || stray) && dice.once_in(2) {
        write!(text, ", waits = \"{}\"", dice.of(&["gaps", "moments"])).unwrap();
    }
    if (format == Format::Spc || stray) && dice.once_in(2) {
        write!(text, ", block_size = \"{} B\"", dice.of(&[512, 1, 100, 4096])).unwrap();
    }
}

/// The rows, drawn from a stream of their own, so that fewer rows are a part of the same ones.
fn rows(format: Format, manner: &Manner, dice: &mut Dice<'_>) -> Vec<Meant> {
    let mut stream = Streams::new(dice.below(1 << 32)).stream("rows");
    let (kinds, is_fine) = can(format);
    let mut us = manner.origin;
    let mut rows: Vec<Meant> =
        (0..manner.rows).map(|_| row(&mut stream, kinds, manner, &mut us)).collect();
    if !is_fine {
        rows.iter_mut().for_each(|row| row.0 -= row.0 % 1_000_000);
    }
    if format == Format::FioV2 {
        // Its waits cannot run backwards.
        rows.sort_by_key(|row| row.0);
    }
    rows
}

fn row(stream: &mut Stream, kinds: &[Kind], manner: &Manner, us: &mut u64) -> Meant {
    *us += stream.below(manner.gap + 1);
    let back = if manner.disordered && stream.chance(0.1) { stream.below(3_000) } else { 0 };
    let device = stream.below(manner.devices) as u32;
    let sectors = (1 + stream.below(manner.largest / manner.align)) * manner.align;
    let places = (manner.span - sectors) / manner.align;
    let offset = stream.below(places + 1) * manner.align * 512;
    let command = match kinds[stream.below(kinds.len() as u64) as usize] {
        Kind::Flush => Command::FLUSH,
        kind => Command { kind, offset, bytes: sectors * 512 },
    };
    (us.saturating_sub(back), device, command)
}

/// Cuts a file, flips bytes of it, or moves some of it elsewhere.
fn damage(content: &mut Vec<u8>, dice: &mut Dice<'_>) {
    for _ in 0..dice.between(1, 3) {
        if content.is_empty() {
            return;
        }
        let at = dice.below(content.len() as u64) as usize;
        match dice.below(6) {
            0 => content.truncate(at),
            1 => content[at] ^= 1 << dice.below(8),
            2 => content[at] = dice.of(b"\0,\n 9-.\xffR\t"),
            3 => content.insert(at, dice.of(b"0987\n,-e \xc3")),
            4 => drop(content.remove(at)),
            _ => {
                let end = (at + 40).min(content.len());
                let part = content[at..end].to_vec();
                let to = dice.below(content.len() as u64) as usize;
                content.splice(to..to, part);
            }
        }
    }
}
