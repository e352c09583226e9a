//! The flash of a new drive.

use crate::config::{DriveConfig, SchedulerConfig};
use crate::device::flash::channel::Channel;
use crate::device::flash::counters::Counters;
use crate::device::flash::ledgers::Ledgers;
use crate::device::flash::op::{Ops, Payloads};
use crate::device::flash::queue::Group;
use crate::device::flash::schedule::kinds::Schedule;
use crate::device::flash::shape::Shape;
use crate::device::flash::working::Rules;
use crate::device::flash::{BinPlace, Flash, quiet, used_channels};
use engine::{Column, Instant};
use ftl::{BinId, Layout};
use nand::{ChannelId, Geometry, GroupId, Timing, Units};
use std::collections::VecDeque;

impl Flash {
    pub fn new(config: &DriveConfig, layout: &Layout) -> Self {
        let geometry = Geometry::from(&config.geometry);
        let units = Units::new(&geometry, &config.concurrency, config.scheduler.group(&geometry))
            .expect("checked units");
        let timing = Timing::new(&config.nand, &geometry);
        let places = BinPlace::all(layout, &units);
        let uniform = places.as_slice().iter().all(BinPlace::is_uniform);
        let scheduler = &config.scheduler;
        let [erase_rules, program_rules] =
            [Rules::of_erases, Rules::of_programs].map(|of| of(scheduler));
        let commands = timing.cycles.is_some();
        let suspends = erase_rules.is_on || program_rules.is_on;
        let schedule = Schedule::new(scheduler, &units);
        Self {
            tells_reservations: config.ftl.flushes_round_gc(),
            bypass: scheduler.bypass.clone(),
            routing: scheduler.read_routing.clone(),
            suspends,
            erase_rules,
            program_rules,
            working: Column::filled(Vec::new(), units.groups as usize),
            planes_per_die: geometry.planes_per_die,
            shape: Shape::new(layout, &timing),
            ops: Ops::default(),
            payloads: Payloads::new(layout.units_per_batch),
            groups: new_groups(&units, commands),
            ledgers: Ledgers::new(&units, &places),
            transferred: None,
            holds: None,
            erased_at: Column::filled(Instant::START, layout.bins as usize),
            channels: new_channels(scheduler, &geometry),
            short_ways: schedule.begins_at_once()
                && !config.scheduler.rotation.looks_at_all()
                && !layout.has_superblocks(),
            lanes: layout.lanes(),
            queues_all: false,
            begins_at_once: schedule.begins_at_once(),
            only_serves_queues: schedule.begins_at_once()
                && config.ftl.gc.idle_gap.is_none()
                && !suspends,
            schedule,
            commands,
            channels_of: used_channels::channels_of(&places, units.groups),
            chained: 0,
            next_seq: 0,
            counters: Counters::default(),
            notes: VecDeque::new(),
            idle_gap: config.ftl.gc.idle_gap.map(|gap| gap.span()),
            streams: config.ftl.gc.streaming,
            has_scrubber: config.ftl.has_scrubber(),
            groups_of: quiet::groups_of(&places, geometry.channels),
            all_cells: u64::MAX >> (64 - units.cells_per_group),
            uniform,
            places,
            bins_of_group: bins_of_group(layout, &units),
            timing,
            units,
        }
    }
}

fn new_channels(scheduler: &SchedulerConfig, geometry: &Geometry) -> Column<ChannelId, Channel> {
    Column::filled(Channel::new(scheduler.channel.order()), geometry.channels as usize)
}

fn new_groups(units: &Units, commands: bool) -> Column<GroupId, Group> {
    Column::filled(Group::new(units.cells_per_group, commands), units.groups as usize)
}

/// The bins of each group of units, in order.
fn bins_of_group(layout: &Layout, units: &Units) -> Column<GroupId, Vec<BinId>> {
    let mut bins = Column::filled(Vec::new(), units.groups as usize);
    for bin in (0..layout.bins).map(BinId) {
        for lane in 0..layout.lanes() {
            let first = units.place(layout.first_plane(bin, lane));
            let of_group: &mut Vec<BinId> = &mut bins[first.group];
            if of_group.last() != Some(&bin) {
                of_group.push(bin);
            }
        }
    }
    bins
}
