//! Memory that a run takes, and the check that this machine has it.

use crate::experiment::Experiment;
use ftl::Layout;
use host::config::{Sizing, ThinkConfig};
use host::{QueueDepth, WorkloadConfig};
use nand::Geometry;
use settings::Size;

/// Bytes that a request under way takes: the request with its blame, an operation or two, and its
/// place on the agenda, with room to grow.
const PLACE_BYTES: u64 = 1024;
/// Bytes that a read under way takes. It has no blame while it only waits: 96 bytes of its own, as
/// many for its operation, and its place on the agenda, with room to grow. (A read that has begun
/// takes more, but there are no more of those than flash units.)
const READ_BYTES: u64 = 512;
/// Bytes that each further operation of a read takes.
const OPERATION_BYTES: u64 = 256;
/// Bytes that a request waiting in the host takes, with room to grow.
pub const WAITING_BYTES: u64 = 128;
/// Greatest number of requests under way, which bounds the ids in events, with room for their
/// operations.
pub const PLACES_MOST: u64 = 1 << 26;
/// Bytes that one of the slowest requests takes with its blame.
const SLOWEST_BYTES: u64 = 640;

/// Bytes that a run takes, and bytes that are available.
#[derive(Clone, Copy, Debug)]
pub struct Memory {
    /// For the map, the reverse map and valid bits.
    pub map_bytes: u64,
    /// For blocks, units and histograms.
    pub flash_bytes: u64,
    /// For the write buffer.
    pub buffer_bytes: u64,
    /// For requests under way.
    pub queue_bytes: u64,
    /// The workload that may have the most requests under way.
    pub deepest: usize,
    /// For the slowest requests.
    pub slowest_bytes: u64,
    /// For the auditor.
    pub audit_bytes: u64,
    /// Free on this machine, if known.
    pub available_bytes: Option<u64>,
}

impl Memory {
    /// The memory for so many drives in one run. Each may get all requests at once.
    fn of_drives(mut self, drives: u64) -> Self {
        let each = [
            &mut self.map_bytes,
            &mut self.flash_bytes,
            &mut self.buffer_bytes,
            &mut self.queue_bytes,
            &mut self.audit_bytes,
        ];
        each.into_iter().for_each(|bytes| *bytes = bytes.saturating_mul(drives));
        self
    }
    /// Total.
    pub fn total(&self) -> u64 {
        self.map_bytes + self.other_bytes() + self.audit_bytes
    }
    /// All but the map and the auditor.
    pub fn other_bytes(&self) -> u64 {
        self.flash_bytes + self.buffer_bytes + self.queue_bytes + self.slowest_bytes
    }
    /// The fault if there is too little memory, with the path of the setting that takes the most.
    pub fn fault(&self) -> Option<(String, String)> {
        let available = self.available_bytes?;
        if self.total() <= available {
            return None;
        }
        let gib = |bytes: u64| bytes as f64 / f64::from(1 << 30);
        let geometry = "choose a smaller drive or a larger mapping unit";
        let parts = [
            (self.map_bytes + self.flash_bytes, "drive.geometry".to_owned(), geometry),
            (self.buffer_bytes, "drive.buffer.size".into(), "choose a smaller buffer"),
            (
                self.queue_bytes,
                format!("workload[{}].queue_depth", self.deepest),
                "choose a smaller queue depth",
            ),
            (self.slowest_bytes, "record.slowest".into(), "keep fewer of the slowest requests"),
            (self.audit_bytes, "run.audit".into(), "run without audit"),
        ];
        let (bytes, path, remedy) = parts.into_iter().max_by_key(|(bytes, ..)| *bytes)?;
        let fault = format!(
            "the run takes {:.1} GiB of memory, {:.1} GiB of them for this, and {:.1} GiB are available; {remedy}",
            gib(self.total()),
            gib(bytes),
            gib(available),
        );
        Some((path, fault))
    }
}

/// Bytes of a unit in the write buffer, and of one whose stripe is updated.
const ENTRY_BYTES: u64 = 384;
const UPDATE_BYTES: u64 = 1536;

/// The memory that an experiment takes.
pub fn memory(experiment: &Experiment, layout: &Layout, geometry: &Geometry) -> Memory {
    let (logical, physical) = (u64::from(layout.map_units), u64::from(layout.physical_units()));
    let places = |workload: &WorkloadConfig| places(workload, experiment.run.requests);
    let kept =
        u64::from(experiment.record.slowest).min(experiment.run.requests.unwrap_or(u64::MAX));
    let kinds: u64 = experiment.workload.iter().map(kinds).sum();
    let queue_bytes = |workload: &WorkloadConfig| {
        let pages = match workload.reads {
            // Written data stands in the buffer.
            Some(reads) if reads.fraction() == 0.0 => 1,
            _ => queued_bytes(workload, layout).div_ceil(layout.page_bytes).max(1),
        };
        let reads_only = workload.reads.is_some_and(|reads| reads.fraction() == 1.0);
        let bytes = if reads_only { READ_BYTES } else { PLACE_BYTES };
        places(workload).saturating_mul(bytes + (pages - 1) * OPERATION_BYTES)
    };
    let recovers = experiment.drive.recovery.is_some();
    let copy = if recovers { 8 } else { 0 };
    // A version for each physical unit, a bit for those in a checkpoint, and two logs of trims.
    let metadata = if recovers { 4 * physical + physical / 8 + logical / 4 } else { 0 };
    // A bit for each subunit, also on flash if that is kept.
    let subunits = if layout.has_subunits() { u64::from(layout.subunits) } else { 0 };
    let of_subunits = subunits * (logical + if recovers { physical } else { 0 }) / 8;
    // The auditor's masks, which are as long as a token.
    let masks = if subunits > 0 { 8 * (logical + if recovers { physical } else { 0 }) } else { 0 };
    // Progress of each lane of superblocks.
    let lanes = layout.superblocks.as_ref().map_or(0, |of| 4 * u64::from(of.lanes()));
    let by_depth = |index: &usize| queue_bytes(&experiment.workload[*index]);
    let drives = experiment.array.as_ref().map_or(1, |array| u64::from(array.drives));
    let audit = match experiment.run.audit {
        true => 8 * physical + (16 + copy) * logical + masks,
        false => 0,
    };
    let of_drive = Memory {
        map_bytes: 4 * logical + 4 * physical + physical / 8 + metadata + of_subunits,
        flash_bytes: u64::from(layout.blocks()) * (48 + lanes)
            + u64::from(geometry.planes()) * 1024
            + (32 << 20),
        buffer_bytes: u64::from(experiment.drive.buffer.units(layout))
            * u64::from(layout.set_count())
            * if experiment.drive.ftl.parity.is_some() { UPDATE_BYTES } else { ENTRY_BYTES },
        queue_bytes: experiment.workload.iter().map(queue_bytes).sum(),
        deepest: (0..experiment.workload.len()).rev().max_by_key(by_depth).unwrap_or(0),
        slowest_bytes: kept * kinds * SLOWEST_BYTES,
        audit_bytes: audit,
        available_bytes: available(),
    };
    of_drive.of_drives(drives)
}

/// Bytes of the largest request; 0 for traces, which are not read here, and for requests larger
/// than the drive, which are refused elsewhere.
pub fn largest_request(workload: &WorkloadConfig, layout: &Layout) -> u64 {
    let exported = layout.exported_bytes();
    let fits = |size: &Size| Some(size.bytes()).filter(|bytes| *bytes <= exported);
    let of = |sizing: &Sizing| match sizing {
        Sizing::Fixed(size) => fits(size).unwrap_or(0),
        Sizing::List(list) => list.iter().filter_map(|one| fits(&one.size)).max().unwrap_or(0),
        Sizing::Exponential(sizes) => {
            sizes.max.map_or(sizes.mean.bytes().saturating_mul(32), |most| most.bytes())
        }
    };
    let largest = match &workload.size {
        _ if workload.trace.is_some() => 0,
        None => 4096,
        Some(size) => size.sizings().into_iter().map(of).max().unwrap_or(0),
    };
    largest.min(exported)
}

/// Mean bytes of the requests in a full queue. If sizes differ, large requests stay longer, so this
/// is four times the mean of the drawn sizes; of kinds with sizes of their own, the largest mean.
fn queued_bytes(workload: &WorkloadConfig, layout: &Layout) -> u64 {
    let largest = largest_request(workload, layout);
    let drawn = |sizing: &Sizing| match sizing {
        Sizing::Fixed(size) => size.bytes() as f64,
        Sizing::List(list) => {
            4.0 * list.iter().map(|one| one.size.bytes() as f64 * one.share.fraction()).sum::<f64>()
        }
        Sizing::Exponential(sizes) => 4.0 * sizes.mean.bytes() as f64,
    };
    let Some(size) = &workload.size else { return largest };
    let most = size.sizings().into_iter().map(drawn).fold(0.0, f64::max);
    (most as u64).min(largest)
}

/// Most requests of a closed loop under way. (An open loop has as many as arrive; the run ends if
/// they become too many.)
pub fn places(workload: &WorkloadConfig, run_requests: Option<u64>) -> u64 {
    if workload.is_open() {
        return 0;
    }
    let stop = workload.stop.as_ref().and_then(|stop| stop.requests).unwrap_or(u64::MAX);
    // A closed loop without a limit is refused elsewhere.
    let depth = workload.queue_depth.and_then(QueueDepth::limit).unwrap_or(1);
    first_draws(workload, depth, run_requests).min(stop)
}

/// Places of a closed loop of this depth that are filled at the beginning: no more than the
/// requests that are ever issued, unless chance decides which of them come first.
pub fn first_draws(workload: &WorkloadConfig, depth: u32, run_requests: Option<u64>) -> u64 {
    let by_chance = matches!(workload.think_time, Some(ThinkConfig::Exponential(_)));
    let depth = u64::from(depth);
    if by_chance { depth } else { depth.min(run_requests.unwrap_or(u64::MAX)) }
}

/// Number of kinds of request in a workload, at most.
fn kinds(workload: &WorkloadConfig) -> u64 {
    let follows = u64::from(workload.flush_every.is_some());
    let Some(mix) = &workload.mix else {
        return if workload.trace.is_some() { 5 } else { 2 + follows };
    };
    let shares = [mix.read, mix.write, mix.trim, mix.flush, mix.write_zeroes];
    shares.iter().flatten().filter(|share| share.fraction() > 0.0).count() as u64 + follows
}

/// Bytes that the system can give without swapping, or less if a container limits this process to
/// less.
pub fn available() -> Option<u64> {
    let number = |name: &str| -> Option<u64> {
        std::fs::read_to_string(format!("/sys/fs/cgroup/{name}")).ok()?.trim().parse().ok()
    };
    let left = number("memory.max")
        .zip(number("memory.current"))
        .map(|(most, used)| most.saturating_sub(used));
    match (of_system(), left) {
        (Some(system), Some(left)) => Some(system.min(left)),
        (system, left) => system.or(left),
    }
}

fn of_system() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024)
}
