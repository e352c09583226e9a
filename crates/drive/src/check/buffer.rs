//! Checks the size of the write buffer, and refuses settings of it that have no effect.

use crate::config::{BufferConfig, BufferOrder, DriveConfig, Durability, FlushPolicy};
use crate::device::BITS_OF_ENTRY;
use ftl::Layout;
use settings::{Problems, counted};

/// Greatest number of buffer entries, which bounds the ids in events.
const BUFFER_UNITS_MOST: u32 = 1 << 27;

/// Greatest number of entries of a buffer, or of an NVM set's share of it.
fn most_units(layout: &Layout) -> u32 {
    if layout.set_count() > 1 { 1 << BITS_OF_ENTRY } else { BUFFER_UNITS_MOST }
}

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
    let (units, sets) = (drive.buffer.units(layout), layout.set_count());
    let of_set = if sets > 1 { " in each NVM set" } else { "" };
    if units < layout.units_per_batch {
        problems.push(
            "drive.buffer.size",
            format!(
                "{} hold {}{of_set}, and one program command writes {}; at least {} bytes are needed",
                drive.buffer.size,
                counted(units, "unit"),
                layout.units_per_batch,
                u64::from(layout.units_per_batch) * layout.unit_bytes * u64::from(sets)
            ),
        );
    }
    if is_too_large(drive, layout) {
        problems.push(
            "drive.buffer.size",
            format!(
                "{} hold {units} mapping units{of_set}; at most {} are supported",
                drive.buffer.size,
                most_units(layout)
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
    drive.buffer.units(layout) > most_units(layout)
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
