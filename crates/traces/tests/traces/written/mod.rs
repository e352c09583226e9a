//! A plain writer of every trace format, which shares nothing with the readers. Tests
//! of this crate and of the drive use it.
#![allow(dead_code, reason = "each test file uses a part of it")]

use std::fmt::Write as _;
use traces::Format;
use traces::{Command, Kind};

/// Abilities of a format: its kinds of request, and whether its stamps are finer than seconds.
pub fn can(format: Format) -> (&'static [Kind], bool) {
    use Kind::{Flush, Read, Trim, Write};
    match format {
        Format::Captured | Format::Blkparse | Format::FioV2 | Format::FioV3 => {
            (&[Read, Write, Trim, Flush], true)
        }
        Format::Etw => (&[Read, Write, Flush], true),
        Format::Tencent => (&[Read, Write], false),
        _ => (&[Read, Write], true),
    }
}

/// True if the format has devices.
pub fn has_devices(format: Format) -> bool {
    format != Format::Captured
}

/// A request: its time in microseconds, its device and its command.
pub type Meant = (u64, u32, Command);

/// The requests as a file of the format.
pub fn written(format: Format, rows: &[Meant]) -> String {
    let mut text = match format {
        Format::Captured => "time_us,op,offset,length\n".to_owned(),
        Format::FioV2 => "fio version 2 iolog\n".to_owned(),
        Format::FioV3 => "fio version 3 iolog\n".to_owned(),
        Format::Systor => "Timestamp,Response,IOType,LUN,Offset,Size\n".to_owned(),
        Format::Etw => "BeginHeader\n\
             DiskRead, TimeStamp, IrpPtr, ByteOffset, IOSize, ElapsedTime, DiskNum\n\
             DiskWrite, TimeStamp, IrpPtr, ByteOffset, IOSize, ElapsedTime, DiskNum\n\
             DiskFlush, TimeStamp, IrpPtr, ElapsedTime, DiskNum\n\
             DiskReadInit, TimeStamp, IrpPtr\nDiskWriteInit, TimeStamp, IrpPtr\n\
             DiskFlushInit, TimeStamp, IrpPtr\nCSwitch, TimeStamp, New Process\nEndHeader\n"
            .to_owned(),
        _ => String::new(),
    };
    let mut waited = 0;
    for (index, (us, device, command)) in rows.iter().enumerate() {
        beside(format, index, (*us, *device, *command), &mut text);
        let Command { kind, offset, bytes } = *command;
        let (sector, sectors) = (offset / 512, bytes / 512);
        let (s, rest) = (us / 1_000_000, us % 1_000_000);
        let is_read = kind == Kind::Read;
        let letter = if is_read { 'R' } else { 'W' };
        match format {
            Format::Mqsim => {
                let digit = u8::from(is_read);
                writeln!(text, "{} {device} {sector} {sectors} {digit}", us * 1_000)
            }
            Format::Disksim => {
                let flags = if is_read { "3" } else { "2" };
                let (ms, us) = (us / 1_000, us % 1_000);
                writeln!(text, "{ms}.{us:03} {device} {sector} {sectors} {flags}")
            }
            Format::Captured => {
                let letter = ['R', 'W', 'T', 'F'][kind.index()];
                writeln!(text, "{us},{letter},{offset},{bytes}")
            }
            Format::Msr => {
                let word = if is_read { "Read" } else { "Write" };
                writeln!(text, "{},host,{device},{word},{offset},{bytes},99", us * 10)
            }
            Format::Etw => {
                let (ended, irp) = (us + 70, irp(index));
                // Where an Init row says when it began, the time that it took is another.
                let took = if has_init(index) { 40 } else { 70 };
                match kind {
                    Kind::Flush => writeln!(text, "DiskFlush, {ended}, {irp}, {took}, {device}"),
                    _ => {
                        let word = if is_read { "DiskRead" } else { "DiskWrite" };
                        let range = format!("{offset:#x}, {bytes:#x}");
                        writeln!(text, "{word}, {ended}, {irp}, {range}, {took}, {device}")
                    }
                }
            }
            // The flush is part of the write after it.
            Format::Blkparse if flushes_first(rows, index + 1) => Ok(()),
            Format::Blkparse if kind == Kind::Flush => {
                writeln!(text, "  8,{device:<3}  0  1 {s:>5}.{rest:06}000  7  Q FWS [x]")
            }
            Format::Blkparse => {
                // Some writes are through to the medium.
                let rwbs = match kind {
                    Kind::Write if flushes_first(rows, index) => ["FW", "FWFSM"][index % 2],
                    Kind::Write => ["WS", "WFS"][index % 2],
                    Kind::Read => "RS",
                    _ => "D",
                };
                let stamp = format!("{s:>5}.{rest:06}000");
                writeln!(
                    text,
                    "  8,{device:<3}  0  1 {stamp}  7  Q {rwbs} {sector} + {sectors} [x]"
                )
            }
            Format::FioV2 | Format::FioV3 => {
                let word = ["read", "write", "trim", "sync"][kind.index()];
                if format == Format::FioV2 {
                    writeln!(text, "f{device} wait {} 0", us - waited).unwrap();
                    waited = *us;
                } else {
                    write!(text, "{us} ").unwrap();
                }
                writeln!(text, "f{device} {word} {offset} {bytes}")
            }
            Format::Spc => writeln!(text, "{device},{sector},{bytes},{letter},{s}.{rest:06}"),
            Format::Systor => {
                writeln!(text, "{s}.{rest:06}000,0.1,{letter},{device},{offset},{bytes}")
            }
            Format::Alibaba => writeln!(text, "{device},{letter},{offset},{bytes},{us}"),
            Format::Tencent => {
                let digit = u8::from(!is_read);
                writeln!(text, "{s},{sector},{sectors},{digit},{device}")
            }
        }
        .unwrap();
    }
    if format == Format::Blkparse {
        text += "CPU0 (sda):\n Reads Queued:           1,        4KiB\t Writes Queued:   2,  8KiB\n\
            Throughput (R/W): 0KiB/s / 11KiB/s\nEvents (sda): 10 entries\n\
            Skips: 0 forward (0 -   0.0%)\n";
    }
    text
}

/// True for a write that comes with the flush before it: one request of Linux.
fn flushes_first(rows: &[Meant], write: usize) -> bool {
    let (Some((us, device, command)), Some(before)) = (rows.get(write), write.checked_sub(1))
    else {
        return false;
    };
    let (us_before, device_before, flush) = &rows[before];
    (us, device) == (us_before, device_before)
        && (flush.kind, command.kind) == (Kind::Flush, Kind::Write)
}

/// The request packet of a row of ETW.
fn irp(index: usize) -> String {
    format!("{:#x}", 0xffff_fa80_1000_0000_u64 + 64 * index as u64)
}

/// True if a row of ETW has an Init row.
fn has_init(index: usize) -> bool {
    index % 3 == 1
}

/// Writes lines that are no replayable requests: other events, and requests for nothing. A file
/// begins with a request.
fn beside(format: Format, index: usize, (us, device, command): Meant, text: &mut String) {
    let word = match command.kind {
        Kind::Read => "DiskRead",
        Kind::Flush => "DiskFlush",
        _ => "DiskWrite",
    };
    match format {
        Format::Etw => {
            if has_init(index) {
                writeln!(text, "{word}Init, {us}, {}", irp(index)).unwrap();
            }
            if index % 5 == 4 {
                writeln!(text, "CSwitch, {us}, idle (0)").unwrap();
                writeln!(text, "DiskRead, {us}, 0xabc, 0x1000, 0x0, 0, {device}").unwrap();
            }
        }
        Format::Blkparse if index % 3 == 2 => {
            let stamp = format!("{:>5}.{:06}000", us / 1_000_000, us % 1_000_000);
            for event in [
                "G R 8 + 8 [x]",
                "P N [x]",
                "m N cfq7 insert",
                "D WS 64 + 16 [x]",
                "C WS 64 + 16 [0]",
                "Q N [x]",
                "Q R [x]",
                "Q R 8 + 0 [x]",
            ] {
                writeln!(text, "  8,{device:<3}  0  1 {stamp}  7  {event}").unwrap();
            }
        }
        _ => {}
    }
}
