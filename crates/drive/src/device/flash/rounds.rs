//! Operations in rounds: a group begins some on idle units together, and none before all of
//! them have ended. So the authors' simulator of ATC'08 interleaves; without rounds every
//! operation begins as soon as its unit is free.
//!
//! A batch is what waits when the one before it has ended. Its reads go first, then its
//! programs, in rounds of one operation a unit. Collection begins between batches only: one
//! bin a unit, all units together, and nothing else before they are done.

use crate::config::{RoundCollection, RoundsConfig};
use crate::device::Device;
use crate::device::flash::array::BinPlace;
use crate::device::flash::counters::OpKind;
use crate::device::flash::op::{OpId, Owner};
use engine::Column;
use ftl::{BinId, Level};
use nand::GroupId;

/// The rounds of all groups.
#[derive(Clone)]
pub struct Rounds {
    config: RoundsConfig,
    groups: Column<GroupId, Round>,
}

/// The rounds of a group.
#[derive(Clone, Default)]
struct Round {
    /// What is left of the batch, in the order of asking. It stands in the queue, too.
    batch: Vec<OpId>,
    /// True while the group collects, and while its bins choose victims for that.
    collects: bool,
    chooses: bool,
    /// The bin that is looked at first when the group next collects, by its place, for the
    /// unit of each cell.
    turns: Vec<u32>,
    /// The bin, by its place, whose turn it is to be written to: for each pool, at the place of
    /// its first bin.
    writes_to: Vec<usize>,
}

impl Rounds {
    pub fn new(config: RoundsConfig, groups: u32, cells_per_group: u32) -> Self {
        let round = Round { turns: vec![0; cells_per_group as usize], ..Round::default() };
        Self { config, groups: Column::filled(round, groups as usize) }
    }
    /// The same in which nothing has happened yet.
    pub fn begun_anew(&self, cells_per_group: u32) -> Self {
        Self::new(self.config, self.groups.len() as u32, cells_per_group)
    }
}

impl Device {
    /// True where operations go in rounds.
    #[inline]
    pub(in crate::device) fn goes_in_rounds(&self) -> bool {
        self.base.flash.rounds.is_some()
    }

    fn round(&mut self, group: GroupId) -> &mut Round {
        &mut self.base.flash.rounds.as_mut().expect("operations go in rounds").groups[group]
    }

    /// An operation is asked for: it waits for its round, or begins one.
    pub(in crate::device) fn enqueue_for_round(&mut self, id: OpId) {
        let group = self.base.flash.ops[id].group;
        self.begin_wait(id);
        self.base.flash.groups[group].push_back(&mut self.base.flash.ops, id);
        self.serve_in_rounds(group);
    }

    /// A bin is short of space: its group collects when its batch has ended.
    pub(in crate::device) fn collect_in_rounds(&mut self, bin: BinId) {
        self.serve_in_rounds(self.base.flash.places[bin].group);
    }

    /// True where a bin may choose a victim: its group is about to collect.
    pub(in crate::device) fn may_choose(&self, bin: BinId) -> bool {
        let Some(rounds) = &self.base.flash.rounds else { return true };
        let place = &self.base.flash.places[bin];
        let is_free = self.base.flash.groups[place.group].reserved & place.erase == 0;
        rounds.groups[place.group].chooses && is_free
    }

    /// Goes on where a round has ended.
    #[inline(never)]
    pub(in crate::device) fn serve_in_rounds(&mut self, group: GroupId) {
        loop {
            if self.round(group).chooses {
                return;
            }
            if self.round(group).collects {
                self.start_collection(group);
            }
            let state = &self.base.flash.groups[group];
            if state.busy | state.wanted != 0 {
                return;
            }
            let is_kept = state.reserved != 0;
            self.round(group).collects = is_kept;
            if is_kept {
                return;
            }
            if self.round(group).batch.is_empty() && self.begin_collection(group) {
                continue;
            }
            if !self.start_round(group) {
                return self.note_idle(group);
            }
        }
    }

    // ---- operations of hosts ---------------------------------------------------------

    /// Begins one operation on each unit for which one of the batch waits, all reads or all
    /// programs; returns false where nothing waits.
    fn start_round(&mut self, group: GroupId) -> bool {
        if self.round(group).batch.is_empty() {
            self.begin_batch(group);
        }
        let mut batch = std::mem::take(&mut self.round(group).batch);
        if batch.is_empty() {
            return false;
        }
        let is_read = |id: &OpId| self.base.flash.ops[*id].kind == OpKind::Read;
        let reads = batch.iter().any(is_read);
        let mut taken = 0;
        let mut chosen = Vec::new();
        batch.retain(|id| {
            let cells = self.base.flash.ops[*id].cells;
            let is_next = is_read(id) == reads && cells & taken == 0;
            if is_next {
                chosen.push(*id);
            }
            if is_read(id) == reads {
                // An older one that waits for some of the same cells goes before others.
                taken |= cells;
            }
            !is_next
        });
        self.round(group).batch = batch;
        // Units come in the order of their numbers.
        chosen.sort_by_key(|id| self.base.flash.ops[*id].cells.trailing_zeros());
        for id in chosen {
            self.base.flash.groups[group].take_out(&mut self.base.flash.ops, id);
            self.start_in_round(id);
        }
        true
    }

    /// What waits of hosts becomes the batch: where one unit is all there is the oldest
    /// operation, else all, but no more of a kind than a batch holds. Where its writes go is
    /// chosen now, as space is by now.
    fn begin_batch(&mut self, group: GroupId) {
        let batch = match self.base.flash.all_cells {
            1 => self.base.flash.groups[group]
                .oldest_of_hosts(&self.base.flash.ops)
                .into_iter()
                .collect(),
            _ => self.several(group),
        };
        let mut turns = std::mem::take(&mut self.round(group).writes_to);
        turns.resize(self.base.flash.bins_of_group[group].len(), 0);
        for id in batch.iter().copied() {
            // A partial write inside its planes stays there.
            let is_free = self.base.flash.ops[id].kind == OpKind::Program;
            if is_free && matches!(self.base.flash.ops[id].owner, Owner::Flush(_)) {
                self.base.flash.groups[group].take_out(&mut self.base.flash.ops, id);
                self.end_wait(id);
                self.choose_again(id, &mut turns);
                self.begin_wait(id);
                self.base.flash.groups[group].push_front(&mut self.base.flash.ops, id);
            }
        }
        let round = self.round(group);
        (round.batch, round.writes_to) = (batch, turns);
    }

    /// The oldest operations of hosts that wait, in order.
    fn several(&self, group: GroupId) -> Vec<OpId> {
        let waiting = self.base.flash.groups[group].waiting(&self.base.flash.ops);
        let mut all: Vec<OpId> =
            waiting.filter(|id| !self.base.flash.ops[*id].is_collection()).collect();
        all.sort_unstable_by_key(|id| self.base.flash.ops[*id].seq);
        let most = self.base.flash.rounds.as_ref().expect("operations go in rounds").config.most();
        let mut counts = [0; 2];
        let end = all.iter().position(|id| {
            let count = &mut counts[usize::from(self.base.flash.ops[*id].kind == OpKind::Read)];
            *count += 1;
            *count == most
        });
        all.truncate(end.map_or(all.len(), |end| end + 1));
        all
    }

    /// Starts an operation on idle cells, or has it wait for its channel or for space.
    fn start_in_round(&mut self, id: OpId) {
        let (group, channel, kind) = (
            self.base.flash.ops[id].group,
            self.base.flash.ops[id].channel,
            self.base.flash.ops[id].kind,
        );
        match kind {
            OpKind::Read | OpKind::Erase => self.start(id),
            OpKind::CopyBack if self.reads_instead(id) => self.start(id),
            OpKind::Program | OpKind::CopyBack | OpKind::Modify if !self.has_place(id) => {
                self.park(id)
            }
            OpKind::Modify => self.start_modify(id),
            OpKind::CopyBack => {
                self.bind(id);
                self.start(id);
            }
            OpKind::Program if self.base.flash.channels[channel].busy => {
                self.want_channel(id, group, true)
            }
            OpKind::Program => self.start_program(id),
        }
    }

    // ---- collection ------------------------------------------------------------------

    /// Begins to collect where that is due; returns whether anything is to be done for it.
    fn begin_collection(&mut self, group: GroupId) -> bool {
        let waits =
            self.base.flash.groups[group].collections(&self.base.flash.ops).next().is_some();
        if self.collects_now(group) {
            self.round(group).collects = true;
            self.round(group).chooses = true;
            for cell in 0..self.base.flash.units.cells_per_group {
                self.choose_in_unit(group, cell);
            }
            self.round(group).chooses = false;
        }
        // What waits may be an erase that a read was in the way of.
        let begins = waits || self.base.flash.groups[group].reserved != 0;
        self.round(group).collects = begins;
        begins
    }

    /// True where a group may begin to collect: for what waits, or at any time.
    fn collects_now(&self, group: GroupId) -> bool {
        let rounds = self.base.flash.rounds.as_ref().expect("operations go in rounds");
        let waits = || self.base.flash.bins_of_group[group].iter().any(|bin| self.is_awaited(*bin));
        match rounds.config.collect {
            RoundCollection::AtOnce => true,
            RoundCollection::WhenAsked => self.base.flash.groups[group].queued() > 0 || waits(),
        }
    }

    /// Has one bin of the unit that a cell is the first of choose a victim, if any needs one:
    /// they take turns.
    fn choose_in_unit(&mut self, group: GroupId, cell: u32) {
        let bins = self.base.flash.bins_of_group[group].len() as u32;
        let first = self.round(group).turns[cell as usize];
        for step in 0..bins {
            let place = (first + step) % bins;
            let bin = self.base.flash.bins_of_group[group][place as usize];
            let BinPlace { erase, .. } = self.base.flash.places[bin];
            let is_of_unit = erase.trailing_zeros() == cell;
            if is_of_unit && self.is_free_to_collect(bin) && self.needs_collection(bin) {
                self.gc.jobs[bin].begin();
                self.collect(bin);
                if self.base.flash.groups[group].reserved & erase != 0 {
                    self.round(group).turns[cell as usize] = place + 1;
                    return;
                }
            }
        }
    }

    fn is_free_to_collect(&self, bin: BinId) -> bool {
        let place = &self.base.flash.places[bin];
        self.base.flash.groups[place.group].reserved & place.erase == 0
    }

    fn needs_collection(&self, bin: BinId) -> bool {
        self.base.space.ftl.level(bin) != Level::Ample
            || self.gc.jobs[bin].is_running() && !self.base.space.ftl.has_enough(bin)
    }

    /// Starts what waits of collections and finds its cells idle.
    fn start_collection(&mut self, group: GroupId) {
        let mut all: Vec<OpId> =
            self.base.flash.groups[group].collections(&self.base.flash.ops).collect();
        all.sort_unstable_by_key(|id| self.base.flash.ops[*id].seq);
        for id in all {
            let state = &self.base.flash.groups[group];
            if (state.busy | state.wanted) & self.base.flash.ops[id].cells == 0 {
                self.base.flash.groups[group].take_out(&mut self.base.flash.ops, id);
                self.start_in_round(id);
            }
        }
    }
}
