//! Placement of a trace's addresses on the drive.

use crate::config::{Combine, OutOfRange, TraceConfig};
use crate::error::HostError;
use crate::region::Region;
use settings::Size;
use traces::{Command, DeviceSurvey, Fault, Format, Options, Row, Survey, TraceError};

/// Devices that are placed one after the other begin at multiples of this.
const DEVICE_ALIGN: u64 = 1 << 20;

/// Moved offsets are multiples of this, as file systems' are.
const MOVED_ALIGN: u64 = 4096;

/// Maps a trace's (device, offset) to the drive's bytes.
#[derive(Clone, Debug)]
pub(crate) struct Placement {
    /// The replayed devices, ascending, and the beginning of each.
    bases: Vec<(u32, u64)>,
    /// Position in `bases` of the device of the last row.
    last: usize,
    fit: Fit,
    region: Region,
}

/// Conversion of an offset in the trace's space to one in the region.
#[derive(Clone, Copy, Debug)]
enum Fit {
    AsIs,
    Wrap { modulus: u64 },
    Scale { begin: u64, span: u64 },
}

/// The accessed part of a trace's space.
struct Extent {
    begin: u64,
    end: u64,
    farthest: Option<DeviceSurvey>,
}

impl Placement {
    /// Places the devices that `config` chooses on `region`.
    ///
    /// # Errors
    /// If the devices do not fit.
    pub fn plan(config: &TraceConfig, survey: &Survey, region: Region) -> Result<Self, HostError> {
        let devices = chosen(config, survey);
        let (bases, extent) = lay_out(&devices, config.combine)
            .ok_or_else(|| trace_error(survey, None, "the devices exceed 2^64 bytes".to_owned()))?;
        let fits = extent.end <= region.bytes;
        let fit = match config.out_of_range {
            _ if fits => Fit::AsIs,
            OutOfRange::Refuse => return Err(refuse(survey, &extent, region)),
            OutOfRange::Wrap => Fit::Wrap { modulus: region.bytes / MOVED_ALIGN * MOVED_ALIGN },
            OutOfRange::Scale => {
                Fit::Scale { begin: extent.begin, span: extent.end - extent.begin }
            }
        };
        let largest = devices.iter().map(|device| device.largest_bytes).max().unwrap_or(0);
        let size = Size::from_bytes(region.bytes);
        if !fits && largest > region.bytes {
            let problem =
                format!("a request of {largest} B does not fit into the region of {size} at all");
            return Err(trace_error(survey, None, problem));
        }
        if !fits && region.bytes < MOVED_ALIGN {
            let problem = format!(
                "it reaches beyond the region of {size}, and addresses are moved by multiples of \
                 {MOVED_ALIGN} B, for which that is too small; choose a larger region"
            );
            return Err(trace_error(survey, None, problem));
        }
        Ok(Self { bases, last: 0, fit, region })
    }

    /// The command for a row on the drive, or nothing if its device is not replayed. A command
    /// beyond the region is returned unchanged: the survey has excluded it, unless the file has
    /// changed since.
    #[inline]
    pub fn place(&mut self, row: &Row) -> Option<Command> {
        let base = self.base(row.device)?;
        if !row.command.kind.has_range() {
            return Some(self.region.flush());
        }
        let bytes = row.command.bytes;
        let offset = base.saturating_add(row.command.offset);
        let last = self.region.bytes.saturating_sub(bytes);
        let offset = match self.fit {
            Fit::AsIs => offset,
            Fit::Wrap { modulus } => (offset % modulus).min(last),
            Fit::Scale { begin, span } => {
                let from_begin = u128::from(offset.saturating_sub(begin));
                let scaled = from_begin * u128::from(self.region.bytes) / u128::from(span);
                (scaled as u64 / MOVED_ALIGN * MOVED_ALIGN).min(last)
            }
        };
        let offset = offset.saturating_add(self.region.offset);
        Some(Command { offset, ..row.command })
    }

    /// True if a command lies inside the region.
    #[inline]
    pub fn contains(&self, command: Command) -> bool {
        let end = command.offset.saturating_add(command.bytes);
        end <= self.region.offset + self.region.bytes
    }

    #[inline]
    fn base(&mut self, device: u32) -> Option<u64> {
        if let Some((known, base)) = self.bases.get(self.last)
            && *known == device
        {
            return Some(*base);
        }
        self.last = self.bases.binary_search_by_key(&device, |(known, _)| *known).ok()?;
        Some(self.bases[self.last].1)
    }
}

/// Faults in the choice of devices, given the content of the file.
pub(crate) fn faults(config: &TraceConfig, survey: &Survey) -> Vec<Fault> {
    // If the format was given, the configuration has been checked for it.
    let mut faults = match config.format {
        None => foreign_settings(config, survey.format),
        Some(_) => Vec::new(),
    };
    let exists = |device: &u32| survey.devices.iter().any(|known| known.device == *device);
    let listed = config.devices.iter().flatten();
    let missing: Vec<String> =
        listed.filter(|device| !exists(device)).map(u32::to_string).collect();
    if !missing.is_empty() {
        let problem =
            format!("the trace has no device {} (it has {})", missing.join(", "), known(survey));
        faults.push(Fault::new("trace.devices", problem));
    }
    let count = chosen(config, survey).len();
    if count > 1 {
        let several = format!("the trace has requests for {count} devices");
        let choice = "choose some with devices = [...], or write combine = \"concatenate\" (one \
                      behind the other), \"fold\" (all in one place) or \"separate\" (an \
                      initiator each)";
        match config.combine {
            None => faults.push(Fault::new("trace.combine", format!("{several}: {choice}"))),
            Some(Combine::Separate) => {
                let problem = format!("{several}: expand the workload before building it");
                faults.push(Fault::new("trace.combine", problem));
            }
            Some(Combine::Concatenate | Combine::Fold) => {}
        }
    }
    faults
}

/// The devices of a trace, as far as a message can list them.
fn known(survey: &Survey) -> String {
    let shown = 16;
    let labels = survey.devices.iter().take(shown).map(|d| survey.device_label(d.device));
    let mut list = labels.map(|label| label.trim_end().to_owned()).collect::<Vec<_>>().join(", ");
    if survey.devices.len() > shown {
        list += &format!(" and {} more", survey.devices.len() - shown);
    }
    list
}

/// The keys of `config` that have no meaning for `format`.
pub(crate) fn foreign_settings(config: &TraceConfig, format: Format) -> Vec<Fault> {
    let fault = |key: &str| Fault::new(format!("trace.{key}"), Options::no_meaning(key, format));
    config.options().foreign_to(format).into_iter().map(fault).collect()
}

/// The devices that `config` chooses, ascending.
pub(crate) fn chosen(config: &TraceConfig, survey: &Survey) -> Vec<DeviceSurvey> {
    let is_chosen = |known: &&DeviceSurvey| {
        config.devices.as_ref().is_none_or(|devices| devices.contains(&known.device))
    };
    survey.devices.iter().filter(is_chosen).copied().collect()
}

/// The beginning of each device, and the accessed part of the whole; nothing if the whole is
/// beyond 64 bits.
fn lay_out(
    devices: &[DeviceSurvey],
    combine: Option<Combine>,
) -> Option<(Vec<(u32, u64)>, Extent)> {
    let mut bases = Vec::with_capacity(devices.len());
    let mut extent = Extent { begin: u64::MAX, end: 0, farthest: None };
    let mut base: u64 = 0;
    for device in devices {
        bases.push((device.device, base));
        let end = base.checked_add(device.end())?;
        // A device with flushes only takes no room, wherever it begins.
        if device.farthest.is_some() {
            extent.begin = extent.begin.min(base.checked_add(device.begin)?);
            if end > extent.end {
                extent.end = end;
                extent.farthest = Some(*device);
            }
        }
        if combine == Some(Combine::Concatenate) {
            base = end.checked_next_multiple_of(DEVICE_ALIGN)?;
        }
    }
    Some((bases, extent))
}

/// The refusal of a trace that is larger than its region.
fn refuse(survey: &Survey, extent: &Extent, region: Region) -> HostError {
    let device = extent.farthest.expect("an extent beyond the region has a farthest request");
    let farthest = device.farthest.expect("its device has a request with a range");
    let (offset, bytes, end) = (farthest.offset, farthest.bytes, extent.end);
    let place = if survey.devices.len() > 1 {
        format!("{offset} + {bytes} B of device {}", device.device)
    } else {
        format!("{offset} + {bytes} B")
    };
    let problem = format!(
        "the request for {place} ends at {end} B, beyond the {} B ({}) of the drive or region; \
         write out_of_range = \"wrap\" (modulo) or \"scale\" (linear)",
        region.bytes,
        Size::from_bytes(region.bytes)
    );
    trace_error(survey, Some(farthest.line), problem)
}

fn trace_error(survey: &Survey, line: Option<u64>, problem: String) -> HostError {
    TraceError { file: survey.file.clone(), line, problem }.into()
}
