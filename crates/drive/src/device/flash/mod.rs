//! The flash array: units, channels, the operations that use them, and who goes first.

mod array;
pub mod channel;
pub mod counters;
pub mod ledgers;
pub mod op;
pub mod queue;
pub mod rounds;
pub mod rows;
pub mod suspend;

pub use array::{Ask, BinPlace};

use crate::config::{Bypass, DriveConfig};
use crate::policies::routing::ReadRouting;
use channel::Channel;
use counters::Counters;
use engine::Column;
use ftl::{BinId, Layout};
use ledgers::Ledgers;
use nand::{ChannelId, Geometry, GroupId, Timing, Units};
use op::{Ops, Payloads};
use queue::Group;
use rows::RowTiming;

/// Units, channels and operations.
#[derive(Clone)]
pub struct Flash {
    // ---- constant ----
    pub(in crate::device) timing: Timing,
    pub(in crate::device) units: Units,
    pub(in crate::device) planes_per_die: u32,
    pub(in crate::device) bypass: Bypass,
    pub(in crate::device) routing: ReadRouting,
    pub(in crate::device) erase_rules: suspend::Rules,
    pub(in crate::device) program_rules: suspend::Rules,
    /// Whether any erase or program may make way.
    pub(in crate::device) suspends: bool,
    pub(in crate::device) bins_of_group: Column<GroupId, Vec<BinId>>,
    pub(in crate::device) places: Column<BinId, BinPlace>,
    /// True where, in every bin, any read and program occupies the same cells.
    pub(in crate::device) uniform: bool,
    /// Whether what would go next anyway may pass by the queue, and operations of
    /// collection turn into each other.
    pub(in crate::device) short_ways: bool,
    /// Every cell of a group.
    pub(in crate::device) all_cells: u64,
    pub(in crate::device) rows: RowTiming,
    // ---- state ----
    /// The rounds in which operations go, if they do.
    pub(in crate::device) rounds: Option<rounds::Rounds>,
    pub(in crate::device) ops: Ops,
    pub(in crate::device) payloads: Payloads,
    pub(in crate::device) groups: Column<GroupId, Group>,
    pub(in crate::device) ledgers: Ledgers,
    pub(in crate::device) channels: Column<ChannelId, Channel>,
    /// Erases and programs that are under way and may make way, and how far each has come.
    pub(in crate::device) working: Column<GroupId, Vec<suspend::Working>>,
    /// Operations that another one turned into.
    pub(in crate::device) chained: u64,
    /// Order in which operations are asked for.
    pub(in crate::device) next_seq: u64,
    pub(in crate::device) counters: Counters,
}

impl Flash {
    pub fn new(config: &DriveConfig, layout: &Layout) -> Self {
        let geometry = Geometry::from(&config.geometry);
        let units = Units::new(&geometry, &config.concurrency, config.scheduler.group(&geometry))
            .expect("checked units");
        let timing = Timing::new(&config.nand, &geometry);
        let mut bins_of_group = Column::filled(Vec::new(), units.groups as usize);
        for bin in (0..layout.bins).map(BinId) {
            bins_of_group[units.place(layout.first_plane(bin)).group].push(bin);
        }
        let places =
            Column::from_fn(layout.bins as usize, |bin| BinPlace::new(bin, layout, &units));
        let uniform = places.as_slice().iter().all(BinPlace::is_uniform);
        let erase_rules = suspend::Rules::of_erases(&config.scheduler);
        let program_rules = suspend::Rules::of_programs(&config.scheduler);
        let scheduler = &config.scheduler;
        Self {
            bypass: scheduler.bypass,
            routing: scheduler.read_routing.clone(),
            suspends: erase_rules.is_on || program_rules.is_on,
            rounds: scheduler
                .rounds
                .map(|rounds| rounds::Rounds::new(rounds, units.groups, units.cells_per_group)),
            erase_rules,
            program_rules,
            working: Column::filled(Vec::new(), units.groups as usize),
            planes_per_die: geometry.planes_per_die,
            rows: RowTiming::new(layout, &timing),
            ops: Ops::default(),
            payloads: Payloads::new(layout.units_per_batch),
            groups: Column::from_fn(units.groups as usize, |_| Group::new(units.cells_per_group)),
            ledgers: Ledgers::new(&units, &places),
            channels: Column::from_fn(geometry.channels as usize, |_| Channel::default()),
            short_ways: scheduler.rounds.is_none(),
            chained: 0,
            next_seq: 0,
            counters: Counters::default(),
            all_cells: u64::MAX >> (64 - units.cells_per_group),
            uniform,
            places,
            bins_of_group,
            timing,
            units,
        }
    }
}
