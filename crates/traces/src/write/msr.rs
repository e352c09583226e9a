//! The CSV of MSR Cambridge (SNIA IOTTA 388): `Timestamp,Hostname,DiskNumber,Type,
//! Offset,Size,ResponseTime`; stamps and response times in 100 ns, offsets and sizes in
//! bytes. It has reads and writes. What a trace does not know is written as it is
//! unknown: the host is `trace`, the response time 0. Stamps keep their origin, which
//! in the collection is the year 1601.

use super::writer::{BYTES, DATA, Writer, number, numbers};
use crate::command::Kind;
use crate::read::Format;
use crate::row::Row;

pub(super) const WRITER: Writer = Writer {
    format: Format::Msr,
    header: "",
    kinds: DATA,
    grain: BYTES,
    tick_ns: 100,
    has_devices: true,
    in_order: false,
    end_bytes: u64::MAX,
    request_bytes: u64::MAX,
    stamp_max_ns: u64::MAX,
    device_max: u32::MAX,
    device_prefix: Some("trace_"),
};

pub(super) fn write(row: &Row, out: &mut Vec<u8>) {
    let command = row.command;
    number(out, row.stamp_ns / 100);
    out.extend_from_slice(b",trace,");
    number(out, u64::from(row.device));
    let kind: &[u8] = if command.kind == Kind::Read { b",Read," } else { b",Write," };
    out.extend_from_slice(kind);
    numbers(out, b',', &[command.offset, command.bytes, 0]);
    out.push(b'\n');
}
