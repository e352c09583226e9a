//! Watches one row after the other, and returns the statistics at the end.

use super::arrivals;
use super::hotness::Overview;
use super::places::{DEVICES_MAX, Places};
use super::sequence::{Follower, Step};
use super::sizes::{self, Sizes};
use super::summary::{Alignment, DeviceStatistics, Disorder, KindStatistics, Statistics};
use crate::command::Kind;
use crate::imitate::{KindModel, Model};
use crate::row::Row;
use crate::units::SECTOR_BYTES;
use settings::{counted, each};
use std::collections::BTreeMap;

/// Common sizes that are listed.
const COMMON: usize = 8;

const PAGE: u64 = 4_096;

/// Phases of a request in a unit of 4 KiB: the sector in which it begins.
pub(crate) const PHASES: usize = 8;

const KINDS: usize = Kind::ALL.len();

/// Watches all aspects of a trace.
pub(super) struct Watch {
    arrivals: arrivals::Watch,
    kinds: [OfKind; KINDS],
    devices: Vec<DeviceStatistics>,
    last_device: usize,
    index_of: BTreeMap<u32, usize>,
    places: Places,
    first_ns: u64,
    bytes: u64,
    requests: u64,
    /// Number of times that each kind follows each kind.
    follows: [[u64; KINDS]; KINDS],
    last_kind: Option<usize>,
}

/// Watches requests of one kind.
struct OfKind {
    requests: u64,
    bytes: u64,
    starting: Sizes,
    continuing: Sizes,
    again: Sizes,
    follower: Follower,
    aligned: u64,
    begins_aligned: u64,
    /// All bits that are set in an address.
    address_bits: u64,
    phases: [u64; PHASES],
}

impl Watch {
    /// Watches stamps from `first_ns` on that are assumed to be multiples of a tick.
    pub fn new(first_ns: u64, tick_ns: u64, memory_bytes: u64) -> Self {
        Self {
            arrivals: arrivals::Watch::new(tick_ns),
            kinds: std::array::from_fn(|_| OfKind::new()),
            devices: Vec::new(),
            last_device: 0,
            index_of: BTreeMap::new(),
            places: Places::new(memory_bytes),
            first_ns,
            bytes: 0,
            requests: 0,
            follows: [[0; KINDS]; KINDS],
            last_kind: None,
        }
    }

    /// Adds the next row, whose stamp is not before that of the row before. `None` if all bytes
    /// together are more than 2^64.
    #[inline]
    pub fn add(&mut self, row: &Row) -> Option<()> {
        let command = row.command;
        let since_first = row.stamp_ns - self.first_ns;
        self.bytes = self.bytes.checked_add(command.bytes)?;
        self.requests += 1;
        self.arrivals.add(since_first, command.bytes);
        let kind = command.kind.index();
        if let Some(last) = self.last_kind.replace(kind) {
            self.follows[last][kind] += 1;
        }
        let device = self.device_index(row.device);
        self.last_device = device;
        self.devices[device].add(row);
        let of_kind = &mut self.kinds[kind];
        of_kind.requests += 1;
        of_kind.bytes += command.bytes;
        if command.kind.has_range() {
            of_kind.add(device, command.offset, command.bytes);
        }
        if matches!(command.kind, Kind::Read | Kind::Write) {
            let is_write = command.kind == Kind::Write;
            self.places.access(is_write, device, command.offset, command.bytes, since_first);
        }
        Some(())
    }

    /// The unit of time that all stamps so far are multiples of; 0 if all are alike.
    pub fn divisor_ns(&self) -> u64 {
        self.arrivals.divisor_ns()
    }

    /// Devices keep the index of their first appearance.
    #[inline]
    fn device_index(&mut self, device: u32) -> usize {
        if self.devices.get(self.last_device).is_some_and(|known| known.device == device) {
            return self.last_device;
        }
        *self.index_of.entry(device).or_insert_with(|| {
            let none = DeviceStatistics {
                device,
                requests: 0,
                bytes: 0,
                begin_bytes: u64::MAX,
                end_bytes: 0,
            };
            self.devices.push(none);
            self.devices.len() - 1
        })
    }

    pub fn finish(mut self, backwards: Option<Disorder>) -> Statistics {
        let span_ns = self.arrivals.span_ns();
        let arrivals = self.arrivals.finish();
        let shape = self.arrivals.cascade.finish();
        let span_bytes = self.devices.iter().map(DeviceStatistics::span).sum();
        let overview = Overview::of(&mut self.places, span_bytes);
        let requests = self.requests;
        let mut kinds = Vec::new();
        let mut models = Vec::new();
        for (kind, of_kind) in Kind::ALL.iter().zip(&mut self.kinds) {
            if of_kind.requests > 0 {
                let (figures, model) = of_kind.finish(*kind, requests);
                kinds.push(figures);
                models.push(model);
            }
        }
        let notes = self.notes(&backwards);
        let mut devices = self.devices;
        devices.sort_by_key(|device| (std::cmp::Reverse(device.requests), device.device));
        devices.iter_mut().for_each(|d| d.begin_bytes = d.begin_bytes.min(d.end_bytes));
        Statistics {
            requests,
            bytes: self.bytes,
            span_ns,
            backwards,
            kinds,
            devices,
            arrivals,
            footprint: overview.footprint,
            hotness: overview.all,
            read_hotness: overview.reads,
            write_hotness: overview.writes,
            reuse: self.places.reuse(),
            notes,
            model: Model {
                requests,
                follows: self.follows,
                kinds: models,
                arrivals: shape,
                layout: overview.layout,
            },
        }
    }

    fn notes(&self, backwards: &Option<Disorder>) -> Vec<String> {
        let mut notes = Vec::new();
        if self.places.sample().one_in() > 1 {
            notes.push(format!(
                "footprint, hotness and reuse come from a sample: one in {} regions of 1 MiB, \
                 as all of them do not fit the memory given; more memory makes it larger",
                self.places.sample().one_in()
            ));
        }
        if backwards.is_some_and(|disorder| !disorder.sorted) {
            notes.push(
                "stamps run backwards too far to be sorted; each counts as the latest before it"
                    .to_owned(),
            );
        }
        if self.places.wipes > 0 {
            notes.push(format!(
                "{} of more than 1 GiB {} not in footprint, hotness and reuse",
                counted(self.places.wipes, "request"),
                each(self.places.wipes, "is", "are")
            ));
        }
        if self.devices.len() > DEVICES_MAX {
            notes.push(format!("devices after the first {DEVICES_MAX} share one footprint"));
        }
        let divisor = self.arrivals.divisor_ns();
        // Stamps that count as others say nothing about the unit.
        let are_own = backwards.is_none_or(|disorder| disorder.sorted);
        if are_own && divisor >= 1_000_000 && self.requests > 100 {
            notes.push(format!(
                "stamps are multiples of {} ms: gaps and bursts below that are unknown",
                divisor as f64 / 1e6
            ));
        }
        notes
    }
}

impl OfKind {
    fn new() -> Self {
        Self {
            requests: 0,
            bytes: 0,
            starting: Sizes::new(),
            continuing: Sizes::new(),
            again: Sizes::new(),
            follower: Follower::new(),
            aligned: 0,
            begins_aligned: 0,
            address_bits: 0,
            phases: [0; PHASES],
        }
    }

    #[inline]
    fn add(&mut self, device: usize, offset: u64, bytes: u64) {
        self.address_bits |= offset | bytes;
        self.aligned += u64::from((offset | bytes).is_multiple_of(PAGE));
        self.begins_aligned += u64::from(offset.is_multiple_of(PAGE));
        match self.follower.add(device, offset, bytes) {
            Step::Continues => self.continuing.add(bytes),
            Step::InPlace => self.again.add(bytes),
            Step::Starts => {
                self.starting.add(bytes);
                self.phases[(offset % PAGE / SECTOR_BYTES) as usize] += 1;
            }
        }
    }

    fn finish(&mut self, kind: Kind, of_all: u64) -> (KindStatistics, KindModel) {
        let (starting, continuing) = (self.starting.list(), self.continuing.list());
        let again = self.again.list();
        let list = sizes::joined(&sizes::joined(&starting, &continuing), &again);
        let mut common = list.clone();
        common.sort_by_key(|(bytes, requests)| (std::cmp::Reverse(*requests), *bytes));
        common.truncate(COMMON);
        let requests = self.requests as f64;
        let ranged = kind.has_range();
        let alignment = Alignment {
            aligned_4_kib_share: self.aligned as f64 / requests,
            begins_4_kib_share: self.begins_aligned as f64 / requests,
            least_bytes: 1 << self.address_bits.trailing_zeros().min(63),
        };
        let sequence = self.follower.finish();
        let figures = KindStatistics {
            kind: kind.name(),
            requests: self.requests,
            share: requests / of_all as f64,
            bytes: self.bytes,
            size_bytes: sizes::spread(&list),
            common_sizes: common,
            alignment: ranged.then_some(alignment),
            sequence: ranged.then_some(sequence),
        };
        let model = KindModel {
            kind: kind.name().to_owned(),
            requests: self.requests,
            starting,
            continuing,
            again,
            near_and_far: self.follower.near_and_far(),
            ages: self.follower.ages,
            runs: self.follower.run_requests.filled().collect(),
            phases: self.phases,
        };
        (figures, model)
    }
}

impl DeviceStatistics {
    #[inline]
    fn add(&mut self, row: &Row) {
        self.requests += 1;
        self.bytes += row.command.bytes;
        if row.command.kind.has_range() {
            self.begin_bytes = self.begin_bytes.min(row.command.offset);
            self.end_bytes = self.end_bytes.max(row.command.end());
        }
    }

    fn span(&self) -> u64 {
        self.end_bytes.saturating_sub(self.begin_bytes)
    }
}
