//! MQSim ASCII: reads (1) and writes (0) in sectors of 512 B, stamps in ns. MQSim
//! schedules each row when it reads it, so stamps must not run backwards. It reads stamps
//! as signed 64-bit numbers and lengths as 32-bit ones.

use super::writer::{DATA, SECTORS, Writer, numbers};
use crate::command::Kind;
use crate::read::Format;
use crate::row::Row;
use crate::units::SECTOR_BYTES;

/// The latest stamp that MQSim's `strtoll` takes.
const STAMP_MAX: u64 = i64::MAX as u64;

pub(super) const WRITER: Writer = Writer {
    format: Format::Mqsim,
    header: "",
    kinds: DATA,
    grain: SECTORS,
    tick_ns: 1,
    has_devices: true,
    in_order: true,
    end_bytes: u64::MAX,
    request_bytes: u32::MAX as u64 * SECTOR_BYTES,
    stamp_max_ns: STAMP_MAX,
    device_max: u32::MAX,
    device_prefix: None,
};

pub(super) fn write(row: &Row, out: &mut Vec<u8>) {
    let command = row.command;
    let (start, length) = (command.offset / SECTOR_BYTES, command.bytes / SECTOR_BYTES);
    let kind = u64::from(command.kind == Kind::Read);
    numbers(out, b' ', &[row.stamp_ns, u64::from(row.device), start, length, kind]);
    out.push(b'\n');
}
