//! The flash array: units, channels, the operations that use them, and who goes first.

mod carry;
pub mod channel;
mod command;
pub mod counters;
mod doors;
pub mod end;
pub mod ledgers;
mod list;
mod modify;
mod new;
pub mod op;
mod place;
pub mod queue;
mod reads;
mod schedule;
mod shape;
mod start;
mod suspend;
#[cfg(test)]
mod tests;
mod turn;
pub mod why;
mod wide;
pub mod working;

pub use place::{Ask, BinPlace};

use crate::device::ids::OpId;
use crate::policies::routing::ReadRouting;
use crate::policies::scheduling::Bypass;
use channel::Channel;
use counters::Counters;
use engine::{Column, Instant, Span};
use ftl::{Batch, BinId, BlockId, Layout, Lpn};
use ledgers::Ledgers;
use metrics::{Holder, Snapshot};
use nand::{ChannelId, GroupId, Strain, Timing, Units};
use op::{Class, Op, Ops, Payloads, Rest};
use queue::Group;
use schedule::kinds::Schedule;
use shape::Shape;
use std::collections::VecDeque;
use working::{Rules, Working};

/// What flash asks of placement, because it is decided as late as possible: the page of a program
/// when that starts. Nothing else in flash knows of space.
pub trait Placement {
    /// True if a program would find a page.
    fn has_page(&self, op: &Op, payloads: &Payloads) -> bool;
    /// Binds a program to its page, if there is one.
    fn bind(&mut self, op: &mut Op, payloads: &Payloads) -> Bound;
    /// A program whose turn has come finds no page: it stands in no queue until it is resumed.
    /// `unit` is what its unit has been doing so far.
    fn park(&mut self, now: Instant, id: OpId, op: &Op, unit: &Snapshot);
    /// The class of a bin's GC operations; `is_reserved` says whether the bin's unit
    /// is reserved for it.
    fn class_of(&self, bin: BinId, is_reserved: impl FnOnce() -> bool) -> Class;
    /// True if a batch that `writer` moves would still be copied to the planes that it lies on.
    fn may_copy_back(&self, writer: Holder, bin: BinId, from: Batch) -> bool;
    /// Where the rest of a unit is that is written in part.
    fn rest_of(&self, lpn: Lpn) -> Option<Rest>;
    /// Whether a bin could do with more space.
    fn wants(&self, bin: BinId) -> Wanted;
    /// The bin of a group and of the same pool that a host program goes to which was meant for
    /// `bin`; `turns` are the places among the bins whose turn it is.
    fn place_again(&mut self, bin: BinId, among: &[BinId], turns: &mut [usize]) -> BinId;
}

/// What became of a program that asked for a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// There is none.
    Nowhere,
    /// It has one.
    Here,
    /// It has one, and its bin's collection owes work for that: its GC is in the foreground from now on.
    Owing,
}

/// How much a bin could do with more space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// It has enough.
    Nothing,
    /// It has less than where collection stops: an idle gap is welcome.
    More,
    /// Collection has to begin, or to go on.
    Now,
}

/// What others hear of after the present event; no time passes before.
#[derive(Clone, Copy, Debug)]
pub enum Note {
    /// A read of a collection is being carried out, and may stream to another package.
    CarriesOut(OpId),
    /// A partial write has started, with the rest that it found.
    PartStarted(OpId),
    /// A copy-back of a bin became a read.
    TurnedToRead(BinId),
    /// An interruption has worn a block.
    Strained(BlockId, Strain),
    /// The batch of a group has ended: collection may choose.
    RoundEnded(GroupId),
}

/// Units, channels and operations.
#[derive(Clone)]
pub struct Flash {
    // ---- constant ----
    timing: Timing,
    units: Units,
    planes_per_die: u32,
    bypass: Bypass,
    routing: ReadRouting,
    erase_rules: Rules,
    program_rules: Rules,
    /// Whether any erase or program may be suspended.
    suspends: bool,
    bins_of_group: Column<GroupId, Vec<BinId>>,
    places: Column<BinId, BinPlace>,
    /// True if, in every bin, any read and program occupies the same cells.
    uniform: bool,
    /// Whether what would go next anyway may pass by the queue, and operations of
    /// collection turn into each other.
    short_ways: bool,
    /// Whether even operations that would begin at once are queued before, where commands need the
    /// channel.
    queues_all: bool,
    /// True if operations begin without having stood in a queue, if nothing is in their way.
    begins_at_once: bool,
    /// True if a group of which nothing is queued need not be served: nothing is suspended,
    /// waits for its turn elsewhere, or begins because of an idle gap.
    only_serves_queues: bool,
    /// Whether commands take cycles of the channel, and so need it to begin; and then the
    /// channels that operations of each group use.
    commands: bool,
    channels_of: Column<GroupId, Vec<ChannelId>>,
    /// Every cell of a group.
    all_cells: u64,
    shape: Shape,
    /// How long a group does nothing before it is told of, if it ever is.
    idle_gap: Option<Span>,
    /// Whether what reads of collections carry out may stream to another package.
    streams: bool,
    // ---- state ----
    schedule: Schedule,
    ops: Ops,
    /// What programs carry: whoever asks for one leaves it here, and takes it back.
    pub(in crate::device) payloads: Payloads,
    groups: Column<GroupId, Group>,
    ledgers: Ledgers,
    channels: Column<ChannelId, Channel>,
    /// Erases and programs that are under way and may be suspended, and how far each has come.
    working: Column<GroupId, Vec<Working>>,
    /// Operations that another one turned into.
    chained: u64,
    /// Order in which operations are asked for.
    next_seq: u64,
    counters: Counters,
    notes: VecDeque<Note>,
}

impl Flash {
    /// Nothing holds any unit from now on.
    fn release_units(&mut self, now: Instant) {
        for group in self.groups.ids() {
            // Packages of a gang wait for channels of their own.
            for bin in &self.bins_of_group[group] {
                let place = &self.places[*bin];
                let cells = place.read_cells(self.shape.all_planes);
                let channel = &mut self.channels[place.channel].ledger;
                self.ledgers.follow(now, group, cells, &self.groups[group], channel);
            }
        }
    }

    /// The power is cut: no unit and no channel works any more, and nothing waits. How long they
    /// did is still known.
    pub(in crate::device) fn begin_anew(&mut self, now: Instant, layout: &Layout) {
        // All fields, so that the compiler tells of one that is added later.
        #[rustfmt::skip]
        let Self {
            timing: _, units: _, planes_per_die: _, bypass: _, routing: _, erase_rules: _,
            program_rules: _, suspends: _, bins_of_group: _, uniform: _, short_ways: _,
            queues_all: _, begins_at_once: _,
            only_serves_queues: _, commands: _, channels_of: _, all_cells: _, shape: _, idle_gap: _,
            streams: _,
            // What they count goes on.
            chained: _, next_seq: _, counters: _,
            // What begins anew.
            places: _, schedule: _, ops: _, payloads: _, groups: _, ledgers: _, channels: _,
            working: _, notes: _,
        } = self;
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
