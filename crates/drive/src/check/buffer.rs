//! Checks the size of the write buffer, and refuses settings of it that have no effect.

use crate::config::{BufferConfig, BufferOrder, DriveConfig, Durability, FlushPolicy};
use ftl::Layout;
use settings::{Problems, counted};

/// Greatest number of buffer entries, which bounds the ids in events.
const BUFFER_UNITS_MOST: u32 = 1 << 27;

pub fn check(drive: &DriveConfig, layout: Option<&Layout>, problems: &mut Problems) {
    if let FlushPolicy::Watermark { high, low } = drive.buffer.flush {
        let path = "drive.buffer.flush";
        if low.fraction() >= high.fraction() {
            problems.push(path, format!("low ({low}) must be less than high ({high})"));
        }
        if high.fraction() > 1.0 {
            problems.push(path, format!("high ({high}) is more than the whole buffer"));
        }
    }
    let Some(layout) = layout else { return };
    let units = drive.buffer.units(layout);
    if units < layout.units_per_batch {
        problems.push(
            "drive.buffer.size",
            format!(
                "{} hold {}, and one program command writes {}; at least {} bytes are needed",
                drive.buffer.size,
                counted(units, "unit"),
                layout.units_per_batch,
                u64::from(layout.units_per_batch) * layout.unit_bytes
            ),
        );
    }
    if is_too_large(drive, layout) {
        problems.push(
            "drive.buffer.size",
            format!(
                "{} hold {units} mapping units; at most {BUFFER_UNITS_MOST} are supported",
                drive.buffer.size
            ),
        );
    }
    if drive.buffer.serial && drive.buffer.latency.span().is_zero() {
        problems.push(
            "drive.buffer.serial",
            "copies into and out of the buffer take no time; give drive.buffer.latency, or leave serial out",
        );
    }
    if drive.buffer.durability == Durability::None {
        check_written_through(&drive.buffer, problems);
    }
}

/// True if a buffer has more entries than any drive can have.
pub fn is_too_large(drive: &DriveConfig, layout: &Layout) -> bool {
    drive.buffer.units(layout) > BUFFER_UNITS_MOST
}

/// Refuses settings that have an effect only if writes are acknowledged early.
fn check_written_through(buffer: &BufferConfig, problems: &mut Problems) {
    if matches!(buffer.flush, FlushPolicy::Watermark { .. }) {
        problems.push(
            "drive.buffer.flush",
            "a drive without early acknowledgement (durability \"none\") writes at once; use \"eager\"",
        );
    }
    if buffer.programs_per_bin.is_some() {
        problems.push(
            "drive.buffer.programs_per_bin",
            "a drive without early acknowledgement (durability \"none\") asks for every program at once; leave it out",
        );
    }
    if buffer.order == BufferOrder::Lru {
        problems.push(
            "drive.buffer.order",
            "nothing is overwritten in the buffer of a drive without early acknowledgement (durability \"none\"); use \"fifo\"",
        );
    }
}
