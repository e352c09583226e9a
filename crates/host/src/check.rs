//! Faults of a workload's configuration by itself, all at once. Faults that depend on the
//! contents of a trace are found after its survey.

use crate::config::{
    AddressConfig, AlignConfig, ArrivalConfig, ArrivalProcess, ExponentialSize, SizeConfig, Sizing,
    StopConfig, TraceConfig, TraceMode, WorkloadConfig,
};
use crate::depth::QueueDepth;
use crate::mix::shares;
use crate::placement::foreign_settings;
use crate::region::Region;
use crate::sizes::{largest, round_up_to};
use crate::synthetic::{align_of, asks_for, differs_by_kind, sizing_of};
use settings::{Share, Size};
use traces::{Fault, Kind, SECTOR_BYTES};

/// Largest deviation of a sum of shares from 100 %, for rounding in the file: 33.33 % three times
/// is refused.
const SHARE_TOLERANCE: f64 = 1e-6;

/// The largest exponent of a Zipf distribution that is accepted.
const THETA_MAX: f64 = 3.0;

impl WorkloadConfig {
    /// True if requests arrive by a process of their own.
    pub fn is_open(&self) -> bool {
        match &self.trace {
            Some(trace) => trace.mode == TraceMode::Open,
            None => self.arrivals.is_some(),
        }
    }

    /// All faults of the configuration for a namespace (of all bytes that a drive exports, if it has one),
    /// by key. Empty if there are none.
    pub fn faults(&self, namespace: impl Into<Region>) -> Vec<Fault> {
        let namespace = namespace.into();
        let mut faults = Faults(Vec::new());
        faults.when(self.name.is_empty(), "name", "a workload needs a name");
        let problem = "stands for all initiators together in results; choose another name";
        faults.when(self.name == "all", "name", &format!("{:?} {problem}", self.name));
        let region = Region::of(self, namespace);
        let of = if self.nvm_set.is_some() { "its NVM set" } else { "the drive" };
        check_region(region, (namespace, of), &mut faults);
        match &self.trace {
            Some(trace) => check_trace(self, trace, &mut faults),
            None => check_synthetic(self, region, &mut faults),
        }
        let is_none = self.queue_depth == Some(QueueDepth::Limit(0));
        faults.when(is_none, "queue_depth", "at least 1 must be outstanding");
        let is_endless = self.queue_depth == Some(QueueDepth::Unlimited) && !self.is_open();
        let problem = "a closed loop needs a number of outstanding requests; only an open loop \
                       (arrivals, or a trace with mode = \"open\") has no limit";
        faults.when(is_endless, "queue_depth", problem);
        check_stop(self.stop.as_ref(), &mut faults);
        faults.0
    }
}

/// Faults in the order in which they are found.
struct Faults(Vec<Fault>);

impl Faults {
    fn when(&mut self, is_wrong: bool, key: &str, problem: &str) {
        if is_wrong {
            self.0.push(Fault::new(key, problem));
        }
    }

    /// Refuses a number of bytes that is not a positive multiple of the sector.
    fn sectors(&mut self, bytes: u64, key: &str) {
        let is_wrong = bytes == 0 || !bytes.is_multiple_of(SECTOR_BYTES);
        self.when(is_wrong, key, "must be a multiple of 512 B and more than 0 B");
    }
}

fn check_region(region: Region, (namespace, of): (Region, &str), faults: &mut Faults) {
    let capacity = Size::from_bytes(namespace.bytes);
    if region.end().is_none_or(|end| Some(end) > namespace.end())
        || Some(region.offset) > namespace.end()
    {
        let problem = format!("reaches beyond {of}, which exports {}", capacity.rounded());
        faults.when(true, "region", &problem);
        return;
    }
    let is_odd = !region.offset.is_multiple_of(SECTOR_BYTES);
    faults.when(is_odd, "region.offset", "must be a multiple of 512 B");
    let is_odd = !region.bytes.is_multiple_of(SECTOR_BYTES);
    faults.when(is_odd, "region.size", "must be a multiple of 512 B");
    faults.when(region.bytes == 0, "region", "is empty");
}

fn check_synthetic(config: &WorkloadConfig, region: Region, faults: &mut Faults) {
    check_mix(config, faults);
    let shares = shares(config);
    let never_writes = config.flush_every.is_some() && shares[Kind::Write.index()] == 0.0;
    faults.when(never_writes, "flush_every", "has no meaning: the workload writes nothing");
    faults.when(config.flush_every == Some(0), "flush_every", "must be at least 1");
    match &config.size {
        Some(SizeConfig::ByKind(by_kind)) => {
            for kind in Kind::ALL.into_iter().filter(|kind| asks_for(&shares, *kind)) {
                let name = kind.name();
                let problem =
                    format!("missing; size differs by kind, and there are requests of kind {name}");
                faults.when(by_kind.of(kind).is_none(), &format!("size.{name}"), &problem);
            }
            for (kind, sizing) in by_kind.given() {
                check_sizing(sizing, &format!("size.{}", kind.name()), region, faults);
            }
        }
        _ => check_sizing(sizing_of(config, Kind::Read), "size", region, faults),
    }
    match &config.align {
        None => {}
        Some(AlignConfig::All(align)) => faults.sectors(align.bytes(), "align"),
        Some(AlignConfig::ByKind(by_kind)) => {
            faults.when(by_kind.is_empty(), "align", "names no kind; write { read = \"4 KiB\" }");
            for (kind, align) in by_kind.given() {
                faults.sectors(align.bytes(), &format!("align.{}", kind.name()));
            }
        }
    }
    if let Some(addresses) = &config.addresses {
        check_addresses(addresses, &aligns(config, &shares), region, faults);
    }
    check_pace(config, faults);
}

/// Alignment of each kind that has an own one, or of all.
fn aligns(config: &WorkloadConfig, shares: &[f64; 5]) -> Vec<u64> {
    if !differs_by_kind(config) {
        return vec![align_of(config, Kind::Read)];
    }
    let kinds = Kind::ALL.into_iter().filter(|kind| asks_for(shares, *kind));
    kinds.map(|kind| align_of(config, kind)).collect()
}

fn check_pace(config: &WorkloadConfig, faults: &mut Faults) {
    let thinks = config.arrivals.is_some() && config.think_time.is_some();
    faults.when(thinks, "think_time", "has no meaning with arrivals; remove one of the two");
    let is_random = |arrivals: &ArrivalConfig| {
        arrivals.process != ArrivalProcess::Constant && arrivals.phase.is_some()
    };
    let problem = "has a meaning for constant gaps only; remove it";
    faults.when(config.arrivals.as_ref().is_some_and(is_random), "arrivals.phase", problem);
    let never_on = config.bursts.as_ref().is_some_and(|bursts| bursts.on.span().is_zero());
    faults.when(never_on, "bursts.on", "a burst needs a length");
}

fn check_mix(config: &WorkloadConfig, faults: &mut Faults) {
    match (&config.reads, &config.mix) {
        (Some(_), Some(_)) => {
            faults.when(true, "reads", "has no meaning beside mix; remove one of the two");
        }
        (None, None) => {
            let problem = "missing; write reads = \"70 %\", or mix with the share of each kind";
            faults.when(true, "reads", problem);
        }
        (Some(reads), None) => {
            let is_wrong = reads.fraction() > 1.0;
            faults.when(is_wrong, "reads", "is more than all requests: at most 100 %");
        }
        (None, Some(_)) => check_sum(shares(config).iter().sum(), "mix", faults),
    }
}

/// Refuses shares that do not add up to the whole.
fn check_sum(sum: f64, key: &str, faults: &mut Faults) {
    let is_wrong = (sum - 1.0).abs() > SHARE_TOLERANCE;
    let percent = (sum * 1e6).round().abs() / 1e4;
    faults.when(is_wrong, key, &format!("the shares add up to {percent} %, not to 100 %"));
}

/// Refuses unsound sizes, and requests that are larger than their region.
fn check_sizing(sizing: &Sizing, key: &str, region: Region, faults: &mut Faults) {
    let before = faults.0.len();
    match sizing {
        Sizing::Fixed(size) => faults.sectors(size.bytes(), key),
        Sizing::List(list) if list.is_empty() => {
            faults.when(true, key, "the list is empty; write { size, share } entries");
        }
        Sizing::List(list) => {
            for (index, entry) in list.iter().enumerate() {
                faults.sectors(entry.size.bytes(), &format!("{key}[{index}].size"));
            }
            check_sum(list.iter().map(|entry| entry.share.fraction()).sum(), key, faults);
        }
        Sizing::Exponential(config) => check_exponential(config, key, faults),
    }
    if faults.0.len() == before {
        check_room(largest(sizing, region.bytes), key, region, faults);
    }
}

fn check_room(bytes: u64, key: &str, region: Region, faults: &mut Faults) {
    // An empty region is a fault of its own.
    let is_wrong = region.bytes > 0 && bytes > region.bytes;
    let (bytes, region) = (Size::from_bytes(bytes), Size::from_bytes(region.bytes));
    let problem = format!("a request of {bytes} does not fit into the region of {region}");
    faults.when(is_wrong, key, &problem);
}

fn check_exponential(config: &ExponentialSize, key: &str, faults: &mut Faults) {
    faults.when(config.mean.bytes() == 0, &format!("{key}.mean"), "must be more than 0 B");
    let unit = round_up_to(config);
    faults.sectors(unit, &format!("{key}.round_up_to"));
    let is_odd = |max: Size| max.bytes() == 0 || unit == 0 || !max.bytes().is_multiple_of(unit);
    let unit = Size::from_bytes(unit);
    let problem = format!("must be a multiple of round_up_to ({unit}) and more than 0 B");
    faults.when(config.max.is_some_and(is_odd), &format!("{key}.max"), &problem);
}

fn check_addresses(config: &AddressConfig, aligns: &[u64], region: Region, faults: &mut Faults) {
    match *config {
        AddressConfig::Sequential {}
        | AddressConfig::Uniform {}
        | AddressConfig::Shuffled {}
        | AddressConfig::Jesd219 {} => {}
        AddressConfig::Strided { stride } => check_stride(stride, aligns, region, faults),
        AddressConfig::Zipf { theta, .. } => {
            let is_wrong = !(0.0..=THETA_MAX).contains(&theta);
            faults.when(is_wrong, "addresses.theta", "must lie between 0 (uniform) and 3");
        }
        AddressConfig::HotCold { hot_space, hot_accesses } => {
            let is_wrong = |share: Share| share.fraction() > 1.0;
            let problem = "is more than the whole: at most 100 %";
            faults.when(is_wrong(hot_space), "addresses.hot_space", problem);
            let is_nowhere = hot_space.fraction() == 0.0;
            faults.when(is_nowhere, "addresses.hot_space", "must be more than 0 %");
            faults.when(is_wrong(hot_accesses), "addresses.hot_accesses", problem);
        }
    }
}

fn check_stride(stride: Size, aligns: &[u64], region: Region, faults: &mut Faults) {
    let is_odd =
        |align: &u64| stride.bytes() == 0 || *align == 0 || !stride.bytes().is_multiple_of(*align);
    if let Some(align) = aligns.iter().copied().find(is_odd) {
        let align = Size::from_bytes(align);
        let problem = format!("must be a multiple of align ({align}) and more than 0 B");
        return faults.when(true, "addresses.stride", &problem);
    }
    let stays = region.bytes > 0 && stride.bytes() >= region.bytes;
    let region = Size::from_bytes(region.bytes);
    let problem =
        format!("is not less than the region ({region}): all requests would begin at one place");
    faults.when(stays, "addresses.stride", &problem);
}

fn check_trace(config: &WorkloadConfig, trace: &TraceConfig, faults: &mut Faults) {
    for (is_given, key) in [
        (config.reads.is_some(), "reads"),
        (config.mix.is_some(), "mix"),
        (config.flush_every.is_some(), "flush_every"),
        (config.size.is_some(), "size"),
        (config.align.is_some(), "align"),
        (config.addresses.is_some(), "addresses"),
        (config.arrivals.is_some(), "arrivals"),
        (config.bursts.is_some(), "bursts"),
    ] {
        faults.when(is_given, key, "has no meaning beside trace, which brings its own; remove it");
    }
    let closed = trace.mode == TraceMode::Closed;
    let stamps = "has no meaning with mode = \"closed\", which does not use the stamps";
    faults.when(closed && trace.time_scale.is_some(), "trace.time_scale", stamps);
    faults.when(closed && trace.disorder.is_some(), "trace.disorder", stamps);
    faults.when(closed && trace.spread.is_some(), "trace.spread", stamps);
    check_settings(trace, faults);
    let thinks = !closed && config.think_time.is_some();
    faults.when(thinks, "think_time", "has no meaning with mode = \"open\"; remove it");
    let scale_is_wrong = trace.time_scale.is_some_and(|scale| !(scale > 0.0 && scale.is_finite()));
    faults.when(scale_is_wrong, "trace.time_scale", "must be more than 0");
    let devices = trace.devices.as_deref();
    let none = devices.is_some_and(<[u32]>::is_empty);
    faults.when(none, "trace.devices", "names no device; leave it out to replay all");
    faults.when(trace.repeat == Some(0), "trace.repeat", "must be at least 1");
}

/// Refuses keys that have no meaning for the given format.
fn check_settings(trace: &TraceConfig, faults: &mut Faults) {
    for fault in trace.format.map_or(Vec::new(), |format| foreign_settings(trace, format)) {
        faults.when(true, &fault.key, &fault.problem);
    }
    for (key, size) in [("block_size", trace.block_size), ("length_unit", trace.length_unit)] {
        let is_empty = size.is_some_and(|size| size.bytes() == 0);
        faults.when(is_empty, &format!("trace.{key}"), "must be more than 0 B");
    }
}

fn check_stop(stop: Option<&StopConfig>, faults: &mut Faults) {
    let Some(stop) = stop else { return };
    let problem = "must be more than 0; leave it out for no limit";
    faults.when(stop.time.is_some_and(|time| time.span().is_zero()), "stop.time", problem);
    faults.when(stop.requests == Some(0), "stop.requests", problem);
    faults.when(stop.bytes.is_some_and(|size| size.bytes() == 0), "stop.bytes", problem);
}
