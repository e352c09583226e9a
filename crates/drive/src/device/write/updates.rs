//! Updates of stripes: what each reads, programs and waits for ([`super::parity`]).

use crate::device::ids::{EntryId, OpId, ParityId, UpdateId};
use crate::device::join::{Aside, Join};
use crate::device::space::waits::SpaceSnapshot;
use crate::device::write::off_flash::AllOffFlash;
use crate::device::write::unit::Unit;
use engine::{Column, Instant, Slab, Span};
use ftl::{BinId, Layout, Lpn, ParityConfig, ParityFlush, PoolId, StripeId};
use metrics::Blame;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// An update of a stripe.
#[derive(Clone)]
pub struct Update {
    pub(super) stripe: StripeId,
    /// New data of members.
    pub(super) entries: Vec<EntryId>,
    /// Trimmed members that the new parity leaves out.
    pub(super) holes: Vec<Lpn>,
    /// True if no member has data any more: parity is dropped.
    pub(super) drops: bool,
    /// Entries that wait for the end of the update.
    pub(super) later: Vec<EntryId>,
    /// Reads for parity that are under way.
    pub(super) reads: Join,
    /// Time that its units have waited for parity.
    pub(super) blame: Blame,
    /// Token of the parity.
    pub(super) token: u64,
    /// The parity, from the moment at which it is known until it is on flash.
    pub(super) parity: Option<ParityId>,
    /// Units that count as placed before they are on flash.
    pub(super) held: Vec<Unit>,
    /// Units that count as placed because no flash has room for them: the rest of the stripe tells
    /// their data.
    pub(super) lost: Vec<Unit>,
    /// True if flash failed that a read for parity needed: others are read instead.
    pub(super) reads_again: bool,
    /// True if a member cannot be read that the new parity needs: that will tell nothing.
    pub(super) unread: bool,
    /// Units that are not placed.
    pub(super) left: u32,
}

impl Update {
    /// An update of a stripe that has not begun.
    pub(super) fn new(stripe: StripeId) -> Self {
        Self {
            stripe,
            entries: Vec::new(),
            holes: Vec::new(),
            drops: false,
            later: Vec::new(),
            reads: Join::default(),
            blame: Blame::default(),
            token: 0,
            parity: None,
            held: Vec::new(),
            lost: Vec::new(),
            reads_again: false,
            unread: false,
            left: 0,
        }
    }
}

/// Parity of a stripe from the moment at which it is known until it is on flash.
#[derive(Clone)]
pub(super) struct Parity {
    pub(super) stripe: StripeId,
    pub(super) token: u64,
    /// True if it was computed without a member that could not be read.
    pub(super) is_void: bool,
    /// The update that it is part of, until that ends.
    pub(super) update: Option<UpdateId>,
    /// The pool that it is to be written to.
    pub(super) pool: PoolId,
    /// The moment at which it may be programmed, and the time without space of its pool then.
    pub(super) ready: Instant,
    pub(super) without_space: SpaceSnapshot,
}

/// Updates of stripes.
#[derive(Clone)]
pub struct Updates {
    // ---- constant ----
    /// Time to compute the parity of a stripe.
    pub(super) xor: Span,
    /// True if reads go round collection.
    pub(super) goes_round: bool,
    /// True if units count as placed while collection holds their flash.
    pub(super) tolerates: bool,
    /// Units of a program.
    pub(super) batch: u32,
    // ---- state ----
    pub(super) updates: Slab<UpdateId, Update>,
    pub(super) of_stripe: BTreeMap<StripeId, UpdateId>,
    /// Parity on its way to flash.
    pub(super) parities: Slab<ParityId, Parity>,
    /// Members of stripes that are in memory only.
    pub(in crate::device) off_flash: AllOffFlash,
    /// Programs that are asked for, by pool, if it matters if collection holds their flash.
    pub(super) asked: Column<PoolId, Vec<(OpId, BinId)>>,
    /// Units that may be programmed, by pool.
    pub(super) ready: Column<PoolId, VecDeque<Unit>>,
    /// Units of updates that are not ready, by pool.
    pub(super) coming: Column<PoolId, u32>,
    /// Updates of which the last unit is placed.
    pub(super) ended: Vec<UpdateId>,
    /// Entries whose rest is computed from the rest of their stripes.
    pub(super) computing: BTreeSet<EntryId>,
    /// Members in memory that have been lost.
    pub(super) lost: Vec<Unit>,
    /// Trimmed units whose pages are kept.
    pub(super) holes: VecDeque<Lpn>,
    /// Updates because of holes alone.
    pub(super) of_holes: u32,
    /// Blames of critical reads.
    pub(super) aside: Aside,
}

impl Updates {
    /// No update yet.
    pub fn new(config: ParityConfig, goes_round: bool, layout: &Layout) -> Box<Self> {
        let pools = layout.pool_count() as usize;
        Box::new(Self {
            xor: config.xor.map_or(Span::ZERO, |xor| xor.span()),
            goes_round,
            tolerates: config.flush == ParityFlush::GcTolerant,
            batch: layout.units_per_batch,
            updates: Slab::default(),
            of_stripe: BTreeMap::new(),
            parities: Slab::default(),
            off_flash: AllOffFlash::default(),
            asked: Column::filled(Vec::new(), pools),
            ready: Column::from_fn(pools, |_| VecDeque::new()),
            coming: Column::filled(0, pools),
            ended: Vec::new(),
            computing: BTreeSet::new(),
            lost: Vec::new(),
            holes: VecDeque::new(),
            of_holes: 0,
            aside: Aside::default(),
        })
    }

    /// The update of a stripe, if there is one.
    pub fn of(&self, stripe: StripeId) -> Option<UpdateId> {
        self.of_stripe.get(&stripe).copied()
    }
    /// The update that a unit is part of, if it is part of one.
    pub(super) fn of_unit(&self, stripe: StripeId, unit: Unit) -> Option<UpdateId> {
        match unit {
            Unit::Data(entry) => {
                self.of(stripe).filter(|id| self.updates[*id].entries.contains(&entry))
            }
            Unit::Parity(id) => self.parities[id].update,
        }
    }
    /// Counts a unit of an update as placed, if it did not count before.
    pub(super) fn count_placed(&mut self, id: UpdateId) {
        let update = &mut self.updates[id];
        update.left -= 1;
        if update.left == 0 {
            self.ended.push(id);
        }
    }
    /// Ends an update: its stripe may have another one.
    pub(super) fn end(&mut self, id: UpdateId) -> Update {
        let stripe = self.updates[id].stripe;
        let update = std::mem::replace(&mut self.updates[id], Update::new(stripe));
        self.updates.remove(id);
        self.of_stripe.remove(&stripe);
        update
    }
    /// Entries in updates and behind them, stripe by stripe.
    pub fn entries(&self) -> impl Iterator<Item = EntryId> {
        self.of_stripe.values().flat_map(|id| {
            let update = &self.updates[*id];
            update.entries.iter().chain(&update.later).copied()
        })
    }
    /// Entries that are ready, in updates or alone.
    pub fn ready_entries(&self) -> impl Iterator<Item = EntryId> {
        self.ready.as_slice().iter().flatten().filter_map(|unit| match unit {
            Unit::Data(entry) => Some(*entry),
            Unit::Parity(_) => None,
        })
    }
    /// True if units of a pool should be programmed now: they fill a batch, or no more come soon.
    pub(super) fn forms(&self, pool: PoolId) -> bool {
        let ready = self.ready[pool].len() as u32;
        ready >= self.batch || ready > 0 && self.coming[pool] == 0
    }
}
