//! The flash array: units, channels, the operations that use them, and the order of those.

mod again;
mod carry;
pub mod channel;
mod command;
pub mod counters;
mod doors;
pub mod end;
mod hold_times;
mod holds;
mod kept;
mod lanes;
pub mod ledgers;
mod list;
mod modify;
mod new;
pub mod op;
mod place;
pub mod queue;
mod quiet;
mod reads;
mod reservation;
mod schedule;
mod shape;
mod slow_path;
mod start;
mod suspend;
#[cfg(test)]
mod tests;
mod turn;
mod used_channels;
pub mod why;
mod wide;
pub mod working;

pub use place::{Ask, BinPlace, PlaceId, Transferred};

use crate::device::ids::OpId;
use crate::policies::routing::ReadRouting;
use crate::policies::scheduling::Bypass;
use channel::Channel;
use counters::Counters;
use engine::{Column, Instant, Span};
use ftl::{Batch, BinId, BlockId, Layout, Lpn, SetId};
use hold_times::Holds;
use ledgers::Ledgers;
use metrics::{Holder, Snapshot};
use nand::{ChannelId, GroupId, Strain, Timing, Units};
use op::{Class, Op, Ops, Payloads, Rest};
use queue::Group;
use schedule::kinds::Schedule;
use shape::Shape;
use std::collections::VecDeque;
use used_channels::UsedChannels;
use working::{Rules, Working};

/// Questions of flash to placement, which decides as late as possible: the page of a program is
/// bound when the program starts. Nothing else in flash depends on space.
pub trait Placement {
    /// True if a program would find a page.
    fn has_page(&self, op: &Op, payloads: &Payloads) -> bool;
    /// Binds a program to its page, if there is one.
    fn bind(&mut self, op: &mut Op, payloads: &Payloads) -> Bound;
    /// Parks a program that is next but finds no page: it is in no queue until it is resumed.
    /// `unit` is the activity of its unit so far.
    fn park(&mut self, now: Instant, id: OpId, op: &Op, unit: &Snapshot);
    /// The class of a bin's GC operations; `is_reserved` says if the bin's unit is reserved for it.
    fn class_of(&self, bin: BinId, is_reserved: impl FnOnce() -> bool) -> Class;
    /// The class of a bin's operations of scrubbing, if that is a task of its own.
    fn class_of_scrubbing(&self, bin: BinId) -> Class;
    /// True if GC of a bin goes before programs of host data, even if a block is being scrubbed.
    fn collects_in_the_foreground(&self, bin: BinId) -> bool;
    /// True if the last block that was taken in a bin was taken to be scrubbed.
    fn scrubs(&self, bin: BinId) -> bool;
    /// True if a batch that `writer` moves would still be copied to the planes that it lies on.
    fn may_copy_back(&self, writer: Holder, bin: BinId, from: Batch) -> bool;
    /// The place of the rest of a unit that is written in part.
    fn rest_of(&self, lpn: Lpn) -> Option<Rest>;
    /// The demand of a bin for more space.
    fn wants(&self, bin: BinId) -> Wanted;
    /// Chooses again the bin of a host program that was meant for `bin`: a bin of the same group
    /// and pool. `turns` are the places of the bins whose turn it is.
    fn place_again(&mut self, bin: BinId, among: &[BinId], turns: &mut [usize]) -> BinId;
}

/// Result of binding a program to a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// There is no page.
    Nowhere,
    /// It has a page.
    Here,
    /// It has a page, and its bin's collection owes work for it: the bin's GC is in the foreground
    /// from now on.
    Owing,
}

/// Demand of a bin for more space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// It has enough.
    Nothing,
    /// It has less than the level at which collection stops, so collection may use an idle gap.
    More,
    /// Collection must begin, or go on.
    Now,
}

/// News for other parts, delivered after the present event and before any time passes.
#[derive(Clone, Copy, Debug)]
pub enum Note {
    /// A read of a collection is being transferred out, and may stream to another package.
    CarriesOut(OpId),
    /// A partial write has started, and the rest of its unit is known.
    PartStarted(OpId),
    /// A copy-back of a bin became a read.
    TurnedToRead(BinId),
    /// A suspended operation of a group has resumed.
    Resumed(GroupId),
    /// An interruption has worn a block.
    Strained(BlockId, Strain),
    /// The batch of a group has ended: collection may choose victims.
    RoundEnded(GroupId),
    /// A channel is reserved for the collection of a bin, which waited for it.
    ChannelKept(BinId),
    /// Collections wait until their channels have nothing to do for hosts: they ask again once all
    /// else of the present event is over.
    AwaitsQuiet,
    /// A bin's unit is reserved for its collection, if writes do not wait for that.
    Reserved(BinId),
    /// Updates of stripes end because collection holds their last units.
    UpdatesEnded,
    /// The data of reads is on flash that have waited for that.
    Dispatched,
    /// An NVM set may have fewer programs outstanding than it may have, and what would request one waits.
    Credits(SetId),
}

/// Units, channels and operations.
#[derive(Clone)]
pub struct Flash {
    // ---- constant ----
    timing: Timing,
    /// True if other parts are told of reservations of units.
    tells_reservations: bool,
    units: Units,
    planes_per_die: u32,
    bypass: Bypass,
    routing: ReadRouting,
    erase_rules: Rules,
    program_rules: Rules,
    /// True if any erase or program may be suspended.
    suspends: bool,
    bins_of_group: Column<GroupId, Vec<BinId>>,
    places: Column<PlaceId, BinPlace>,
    /// Lanes of a bin.
    lanes: u32,
    /// True if, in every bin, any read and program occupies the same parts of the group.
    uniform: bool,
    /// True if an operation that would go next anyway may skip the queue, and an operation of
    /// collection may turn into the next one. Not with a rotation that looks at the space of all
    /// bins: each move that ends asks it again.
    short_ways: bool,
    /// True if even operations that could begin at once are queued first, because commands need the
    /// channel.
    queues_all: bool,
    /// True if operations begin without being queued, if nothing is in their way.
    begins_at_once: bool,
    /// True if a group without queued operations need not be served: no operation is suspended,
    /// waits for its turn elsewhere, or begins because of an idle gap.
    only_serves_queues: bool,
    /// True if commands take cycles of the channel, and so need it to begin.
    commands: bool,
    /// The channels that each group uses.
    channels_of: Column<GroupId, UsedChannels>,
    /// All cells, that is, all smallest independently busy parts, of one group.
    all_cells: u64,
    shape: Shape,
    /// Idle time after which a group is reported as idle, if it ever is.
    idle_gap: Option<Span>,
    /// The groups of each channel.
    groups_of: Column<ChannelId, Vec<GroupId>>,
    /// True if pages that collection reads may stream to another package.
    streams: bool,
    /// True if scrubbing is a task of its own.
    has_scrubber: bool,
    // ---- state ----
    schedule: Schedule,
    ops: Ops,
    /// Payloads of programs: the owner leaves one here with its request, and takes it back at the
    /// end.
    pub(in crate::device) payloads: Payloads,
    groups: Column<GroupId, Group>,
    ledgers: Ledgers,
    /// Parts of rows that reads transfer, by operation, if errors depend on them.
    transferred: Option<Vec<Transferred>>,
    /// Time for which collection holds units, if it is recorded.
    holds: Option<Box<Holds>>,
    /// End of the latest erase of each bin that cannot be suspended.
    erased_at: Column<BinId, Instant>,
    channels: Column<ChannelId, Channel>,
    /// Erases and programs that are under way and may be suspended, with their progress.
    working: Column<GroupId, Vec<Working>>,
    /// Number of operations that another one turned into.
    chained: u64,
    /// Order in which operations are asked for.
    next_seq: u64,
    counters: Counters,
    notes: VecDeque<Note>,
}

impl Flash {
    /// Releases all units.
    fn release_units(&mut self, now: Instant) {
        for group in self.groups.ids() {
            // Packages of a gang wait for channels of their own.
            let lanes = self.lanes;
            let lanes_of = |bin: &BinId| (bin.0 * lanes..(bin.0 + 1) * lanes).map(PlaceId);
            for place in self.bins_of_group[group].iter().flat_map(lanes_of) {
                let place = &self.places[place];
                if place.group != group {
                    continue;
                }
                let cells = place.read_cells(self.shape.all_planes);
                let channel = &mut self.channels[place.channel].ledger;
                self.ledgers.follow(now, group, cells, &self.groups[group], channel);
            }
        }
    }

    /// Stops all units and channels, and all waits, because the power is cut. Their busy times are
    /// kept.
    pub(in crate::device) fn begin_anew(&mut self, now: Instant, layout: &Layout) {
        // All fields are named, so that the compiler reports one that is added later.
        #[rustfmt::skip]
        let Self {
            timing: _, lanes: _, tells_reservations: _, units: _, planes_per_die: _, bypass: _, routing: _, erase_rules: _,
            program_rules: _, suspends: _, bins_of_group: _, uniform: _, short_ways: _,
            queues_all: _, begins_at_once: _,
            only_serves_queues: _, commands: _, channels_of: _, all_cells: _, shape: _, idle_gap: _,
            streams: _, has_scrubber: _, groups_of: _,
            // Counts go on.
            chained: _, next_seq: _, counters: _,
            // State that begins anew.
            places: _, schedule: _, ops: _, payloads: _, groups: _, ledgers: _, holds: _, channels: _,
            transferred: _, working: _, erased_at: _, notes: _,
        } = self;
        for group in self.groups.ids() {
            self.note_reserved(now, group, self.groups[group].reserved, false);
        }
        self.erased_at.as_mut_slice().fill(Instant::START);
        self.ops = Ops::default();
        self.payloads = Payloads::new(layout.units_per_batch);
        for group in self.groups.ids() {
            self.groups[group] = Group::new(self.units.cells_per_group, self.commands);
            self.ledgers.unwatch_all(group);
        }
        self.ledgers.forget_waits();
        self.places.as_mut_slice().iter_mut().for_each(|place| place.is_watched = false);
        self.release_units(now);
        self.channels.as_mut_slice().iter_mut().for_each(|channel| channel.clear(now));
        self.working.as_mut_slice().iter_mut().for_each(Vec::clear);
        self.schedule = self.schedule.begun_anew();
        self.notes.clear();
    }
}
