//! DiskSim ASCII: reads (bit 0 of the flags set) and writes in blocks of 512 B, stamps
//! in ms with as many decimals as it takes for a nanosecond. DiskSim reads numbers of
//! devices, blocks and lengths as signed 32-bit ones, and stamps must not run backwards.

use super::writer::{DATA, SECTORS, Writer, decimal, numbers};
use crate::command::Kind;
use crate::read::Format;
use crate::row::Row;
use crate::units::SECTOR_BYTES;

/// The largest number that DiskSim's `%d` takes.
const BLOCKS_MAX: u64 = i32::MAX as u64;

pub(super) const WRITER: Writer = Writer {
    format: Format::Disksim,
    header: "",
    kinds: DATA,
    grain: SECTORS,
    tick_ns: 1,
    has_devices: true,
    in_order: true,
    end_bytes: BLOCKS_MAX * SECTOR_BYTES,
    request_bytes: BLOCKS_MAX * SECTOR_BYTES,
    stamp_max_ns: u64::MAX,
    device_max: i32::MAX as u32,
    device_prefix: None,
};

pub(super) fn write(row: &Row, out: &mut Vec<u8>) {
    let command = row.command;
    let (start, length) = (command.offset / SECTOR_BYTES, command.bytes / SECTOR_BYTES);
    let flags = u64::from(command.kind == Kind::Read);
    decimal(out, row.stamp_ns, 6, 3);
    out.push(b' ');
    numbers(out, b' ', &[u64::from(row.device), start, length, flags]);
    out.push(b'\n');
}
