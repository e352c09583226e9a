//! SPC trace format 1.0.1: `ASU,LBA,Size,Opcode,Timestamp`; the address in blocks of
//! 512 B, the size in bytes, seconds with as many decimals as it takes, six at least. It
//! has reads and writes; the ASU is the device.

use super::writer::{DATA, Grain, Writer, decimal, numbers};
use crate::command::Kind;
use crate::read::Format;
use crate::row::Row;
use crate::units::SECTOR_BYTES;

pub(super) const WRITER: Writer = Writer {
    format: Format::Spc,
    header: "",
    kinds: DATA,
    grain: Grain { offset: SECTOR_BYTES, length: 1 },
    tick_ns: 1,
    has_devices: true,
    in_order: false,
    end_bytes: u64::MAX,
    request_bytes: u64::MAX,
    stamp_max_ns: u64::MAX,
    device_max: u32::MAX,
    device_prefix: None,
};

pub(super) fn write(row: &Row, out: &mut Vec<u8>) {
    let command = row.command;
    let start = command.offset / SECTOR_BYTES;
    numbers(out, b',', &[u64::from(row.device), start, command.bytes]);
    let kind: &[u8] = if command.kind == Kind::Read { b",R," } else { b",W," };
    out.extend_from_slice(kind);
    decimal(out, row.stamp_ns, 9, 6);
    out.push(b'\n');
}
