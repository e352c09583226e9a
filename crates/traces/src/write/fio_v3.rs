//! fio's iolog, version 3 (fio 3.31 and later, `iolog.c`): `timestamp file action offset
//! length`, in microseconds and bytes. It has reads, writes, trims and flushes (`sync`),
//! no write-zeroes; the length is read as a 32-bit number. A device is a file called
//! `deviceN`, which is announced before its first request; a run of fio needs
//! `replay_redirect` or files of these names. Stamps must not run backwards: fio takes
//! such a gap as none.

use super::writer::{BYTES, Writer, number, numbers};
use crate::command::Kind;
use crate::read::Format;
use crate::row::Row;

pub(super) const WRITER: Writer = Writer {
    format: Format::FioV3,
    header: "fio version 3 iolog\n",
    kinds: &[Kind::Read, Kind::Write, Kind::Trim, Kind::Flush],
    grain: BYTES,
    tick_ns: 1_000,
    has_devices: true,
    in_order: true,
    end_bytes: u64::MAX,
    request_bytes: u32::MAX as u64,
    stamp_max_ns: u64::MAX,
    device_max: u32::MAX,
    device_prefix: Some("device"),
};

pub(super) fn write(row: &Row, out: &mut Vec<u8>) {
    let action: &[u8] = match row.command.kind {
        Kind::Read => b" read ",
        Kind::Write => b" write ",
        Kind::Trim => b" trim ",
        Kind::Flush | Kind::WriteZeroes => b" sync ",
    };
    number(out, row.stamp_ns / 1_000);
    out.extend_from_slice(b" device");
    number(out, u64::from(row.device));
    out.extend_from_slice(action);
    numbers(out, b' ', &[row.command.offset, row.command.bytes]);
    out.push(b'\n');
}

/// Writes the line before the first request to a device.
pub(super) fn announce(row: &Row, out: &mut Vec<u8>) {
    for action in [&b" add\n"[..], b" open\n"] {
        number(out, row.stamp_ns / 1_000);
        out.extend_from_slice(b" device");
        number(out, u64::from(row.device));
        out.extend_from_slice(action);
    }
}
