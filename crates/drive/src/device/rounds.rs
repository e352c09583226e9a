//! Operations in rounds: a group begins some on idle units together, and none before all of
//! them have ended. So the authors' simulator of ATC'08 interleaves; without rounds every
//! operation begins as soon as its unit is free.
//!
//! A batch is what waits when the one before it has ended. Its reads go first, then its
//! programs, in rounds of one operation a unit. Collection begins between batches only: one
//! bin a unit, all units together, and nothing else before they are done.

use super::Device;
use super::array::BinPlace;
use super::counters::OpKind;
use super::op::{OpId, Owner};
use crate::config::{RoundCollection, RoundsConfig};
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
    /// Operations asked for before this one belong to the batch.
    until: u64,
    /// True while the group collects, and while its bins choose victims for that.
    collects: bool,
    chooses: bool,
    /// The bin that is looked at first when the group next collects, by its place, for the
    /// unit of each cell.
    turns: Vec<u32>,
    /// The bin, by its place, whose turn it is to be written to.
    writes_to: usize,
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
    pub(super) fn goes_in_rounds(&self) -> bool {
        self.rounds.is_some()
    }

    fn round(&mut self, group: GroupId) -> &mut Round {
        &mut self.rounds.as_mut().expect("operations go in rounds").groups[group]
    }

    /// An operation is asked for: it waits for its round, or begins one.
    pub(super) fn enqueue_for_round(&mut self, id: OpId) {
        let group = self.ops[id].group;
        self.begin_wait(id);
        self.groups[group].push_back(&mut self.ops, id);
        self.serve_in_rounds(group);
    }

    /// A bin is short of space: its group collects when its batch has ended.
    pub(super) fn collect_in_rounds(&mut self, bin: BinId) {
        self.serve_in_rounds(self.places[bin].group);
    }

    /// True where a bin may choose a victim: its group is about to collect.
    pub(super) fn may_choose(&self, bin: BinId) -> bool {
        let Some(rounds) = &self.rounds else { return true };
        let place = &self.places[bin];
        let is_free = self.groups[place.group].reserved & place.erase == 0;
        rounds.groups[place.group].chooses && is_free
    }

    /// Goes on where a round has ended.
    #[inline(never)]
    pub(super) fn serve_in_rounds(&mut self, group: GroupId) {
        loop {
            if self.round(group).chooses {
                return;
            }
            if self.round(group).collects {
                self.start_collection(group);
            }
            let state = &self.groups[group];
            if state.busy | state.wanted != 0 {
                return;
            }
            let is_kept = state.reserved != 0;
            self.round(group).collects = is_kept;
            if is_kept {
                return;
            }
            if !self.batch_goes_on(group) && self.begin_collection(group) {
                continue;
            }
            if !self.start_round(group) {
                return self.note_idle(group);
            }
        }
    }

    /// Operations of hosts that wait, in the order of asking.
    fn waiting_in_order(&self, group: GroupId) -> Vec<OpId> {
        let waiting = self.groups[group].waiting(&self.ops);
        let mut all: Vec<OpId> = waiting.filter(|id| !self.ops[*id].is_collection()).collect();
        all.sort_unstable_by_key(|id| self.ops[*id].seq);
        all
    }

    /// True while something of the present batch waits.
    fn batch_goes_on(&mut self, group: GroupId) -> bool {
        let until = self.round(group).until;
        let ops = &self.ops;
        self.groups[group].waiting(ops).any(|id| ops[id].seq < until && !ops[id].is_collection())
    }

    // ---- operations of hosts ---------------------------------------------------------

    /// Begins one operation on each unit for which one of the batch waits, all reads or all
    /// programs; returns false where nothing waits.
    fn start_round(&mut self, group: GroupId) -> bool {
        let waiting = self.waiting_in_order(group);
        if waiting.is_empty() {
            return false;
        }
        if !self.batch_goes_on(group) {
            self.round(group).until = self.end_of_batch(&waiting);
            self.place_writes(group, &waiting);
        }
        let until = self.round(group).until;
        let in_batch = || waiting.iter().copied().filter(|id| self.ops[*id].seq < until);
        let is_read = |id: &OpId| self.ops[*id].kind == OpKind::Read;
        let reads = in_batch().any(|id| is_read(&id));
        let mut taken = 0;
        let mut chosen = Vec::new();
        for id in in_batch().filter(|id| is_read(id) == reads) {
            // An older one that waits for some of the same cells goes before it.
            if self.ops[id].cells & taken == 0 {
                chosen.push(id);
            }
            taken |= self.ops[id].cells;
        }
        // Units come in the order of their numbers.
        chosen.sort_by_key(|id| self.ops[*id].cells.trailing_zeros());
        for id in chosen {
            self.groups[group].take_out(&mut self.ops, id);
            self.start_in_round(id);
        }
        true
    }

    /// A batch begins: where its writes go is chosen now, as space is by now.
    fn place_writes(&mut self, group: GroupId, waiting: &[OpId]) {
        let until = self.round(group).until;
        let mut turn = self.round(group).writes_to;
        for id in waiting.iter().copied() {
            let op = &self.ops[id];
            if op.seq < until && matches!(op.owner, Owner::Flush(_)) {
                self.groups[group].take_out(&mut self.ops, id);
                self.end_wait(id);
                self.choose_again(id, &mut turn);
                self.begin_wait(id);
                self.groups[group].push_back(&mut self.ops, id);
            }
        }
        self.round(group).writes_to = turn;
    }

    /// The end of a batch that begins with what waits: where one unit is all there is, one
    /// operation; else all, but no more of a kind than a batch holds.
    fn end_of_batch(&self, waiting: &[OpId]) -> u64 {
        let rounds = self.rounds.as_ref().expect("operations go in rounds");
        let most = if self.all_cells == 1 { 1 } else { rounds.config.most };
        let mut counts = [0; 2];
        for id in waiting {
            let count = &mut counts[usize::from(self.ops[*id].kind == OpKind::Read)];
            *count += 1;
            if *count == most {
                return self.ops[*id].seq + 1;
            }
        }
        self.next_seq
    }

    /// Starts an operation on idle cells, or has it wait for its channel or for space.
    fn start_in_round(&mut self, id: OpId) {
        let (group, channel, kind) = (self.ops[id].group, self.ops[id].channel, self.ops[id].kind);
        match kind {
            OpKind::Read | OpKind::Erase => self.start(id),
            OpKind::CopyBack if self.reads_instead(id) => self.start(id),
            OpKind::Program | OpKind::CopyBack if !self.has_place(id) => self.park(id),
            OpKind::CopyBack => {
                self.bind(id);
                self.start(id);
            }
            OpKind::Program if self.channels[channel].busy => self.want_channel(id, group, true),
            OpKind::Program => self.start_program(id),
        }
    }

    // ---- collection ------------------------------------------------------------------

    /// Begins to collect where that is due; returns whether anything is to be done for it.
    fn begin_collection(&mut self, group: GroupId) -> bool {
        let waits = self.groups[group].waiting(&self.ops).any(|id| self.ops[id].is_collection());
        if self.collects_now(group) {
            self.round(group).collects = true;
            self.round(group).chooses = true;
            for cell in 0..self.units.cells_per_group {
                self.choose_in_unit(group, cell);
            }
            self.round(group).chooses = false;
        }
        // What waits may be an erase that a read was in the way of.
        let begins = waits || self.groups[group].reserved != 0;
        self.round(group).collects = begins;
        begins
    }

    /// True where a group may begin to collect: for what waits, or at any time.
    fn collects_now(&self, group: GroupId) -> bool {
        let rounds = self.rounds.as_ref().expect("operations go in rounds");
        let waits = || self.bins_of_group[group].iter().any(|bin| self.is_awaited(*bin));
        match rounds.config.collect {
            RoundCollection::AtOnce => true,
            RoundCollection::WhenAsked => self.groups[group].queued() > 0 || waits(),
        }
    }

    /// Has one bin of the unit that a cell is the first of choose a victim, if any needs one:
    /// they take turns.
    fn choose_in_unit(&mut self, group: GroupId, cell: u32) {
        let bins = self.bins_of_group[group].len() as u32;
        let first = self.round(group).turns[cell as usize];
        for step in 0..bins {
            let place = (first + step) % bins;
            let bin = self.bins_of_group[group][place as usize];
            let BinPlace { erase, .. } = self.places[bin];
            let is_of_unit = erase.trailing_zeros() == cell;
            if is_of_unit && self.is_free_to_collect(bin) && self.needs_collection(bin) {
                self.jobs[bin].begin();
                self.collect(bin);
                if self.groups[group].reserved & erase != 0 {
                    self.round(group).turns[cell as usize] = place + 1;
                    return;
                }
            }
        }
    }

    fn is_free_to_collect(&self, bin: BinId) -> bool {
        let place = &self.places[bin];
        self.groups[place.group].reserved & place.erase == 0
    }

    fn needs_collection(&self, bin: BinId) -> bool {
        self.ftl.level(bin) != Level::Ample
            || self.jobs[bin].is_running() && !self.ftl.has_enough(bin)
    }

    /// Starts what waits of collections and finds its cells idle.
    fn start_collection(&mut self, group: GroupId) {
        let waiting = self.groups[group].waiting(&self.ops);
        let mut all: Vec<OpId> = waiting.filter(|id| self.ops[*id].is_collection()).collect();
        all.sort_unstable_by_key(|id| self.ops[*id].seq);
        for id in all {
            let state = &self.groups[group];
            if (state.busy | state.wanted) & self.ops[id].cells == 0 {
                self.groups[group].take_out(&mut self.ops, id);
                self.start_in_round(id);
            }
        }
    }
}
