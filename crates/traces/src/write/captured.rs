//! The captured CSV: all five kinds, bytes, whole microseconds. It has no devices.

use super::writer::{BYTES, Writer, number, numbers};
use crate::command::Kind;
use crate::read::Format;
use crate::row::Row;

pub(super) const WRITER: Writer = Writer {
    format: Format::Captured,
    header: "time_us,op,offset,length\n",
    kinds: &Kind::ALL,
    grain: BYTES,
    tick_ns: 1_000,
    has_devices: false,
    in_order: false,
    end_bytes: u64::MAX,
    request_bytes: u64::MAX,
    stamp_max_ns: u64::MAX,
    device_max: u32::MAX,
    device_prefix: None,
};

pub(super) fn write(row: &Row, out: &mut Vec<u8>) {
    let letter = match row.command.kind {
        Kind::Read => b'R',
        Kind::Write => b'W',
        Kind::Flush => b'F',
        Kind::Trim => b'T',
        Kind::WriteZeroes => b'Z',
    };
    number(out, row.stamp_ns / 1_000);
    out.extend([b',', letter, b',']);
    numbers(out, b',', &[row.command.offset, row.command.bytes]);
    out.push(b'\n');
}
