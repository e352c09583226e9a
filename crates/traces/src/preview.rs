//! A first pass over a trace for facts that must be known before the main pass. It reports its
//! progress.

use super::detect::empty;
use super::input::Input;
use super::progress::Progress;
use super::remarks::Remarks;
use super::survey::{Repeats, Stamps};
use crate::error::TraceError;
use std::collections::BTreeSet;

/// Rows between two reports.
const REPORT_ROWS: u64 = 1 << 16;

/// Result of a first pass over all rows.
pub(crate) struct Preview {
    /// The earliest stamp.
    pub first_ns: u64,
    /// Rows with a stamp before one that came earlier.
    pub backwards: u64,
    /// The largest distance by which a stamp lies behind an earlier one.
    pub largest_step_ns: u64,
    pub devices: BTreeSet<u32>,
    /// Resolution of the stamps.
    pub stamps: Stamps,
    /// Remarks of the reader on the file.
    pub remarks: Remarks,
}

impl Preview {
    /// Reads all rows; nothing if `tell` has ended it by returning false.
    pub fn of(
        input: &Input<'_>,
        tell: &mut dyn FnMut(Progress) -> bool,
    ) -> Result<Option<Self>, TraceError> {
        let mut rows = input.rows()?;
        let unit_ns = input.stamp_unit_ns();
        let mut repeats = Repeats::new();
        let mut found = Self {
            first_ns: u64::MAX,
            backwards: 0,
            largest_step_ns: 0,
            devices: BTreeSet::new(),
            stamps: repeats.found(unit_ns),
            remarks: Remarks::default(),
        };
        let (mut requests, mut latest, mut device) = (0u64, 0, None);
        while let Some(row) = rows.next()? {
            requests += 1;
            repeats.add(row.stamp_ns);
            found.first_ns = found.first_ns.min(row.stamp_ns);
            if row.stamp_ns < latest {
                found.backwards += 1;
                found.largest_step_ns = found.largest_step_ns.max(latest - row.stamp_ns);
            }
            latest = latest.max(row.stamp_ns);
            if device != Some(row.device) {
                device = Some(row.device);
                found.devices.insert(row.device);
            }
            if requests.is_multiple_of(REPORT_ROWS)
                && !tell(Progress { requests, share: rows.share() })
            {
                return Ok(None);
            }
        }
        if requests == 0 {
            return Err(empty(input.path, &rows.passed()));
        }
        found.stamps = repeats.found(unit_ns);
        found.remarks = rows.remarks();
        Ok(Some(found))
    }
}
