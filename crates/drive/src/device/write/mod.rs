//! Host writes: the buffer, its flushing, and partial writes.

mod admit;
pub mod buffer;
mod by_entry;
mod discard;
mod dispatch;
mod flush;
mod lost_rest;
pub mod member;
pub mod modify;
pub mod off_flash;
mod parity;
mod subunits;
#[cfg(test)]
mod tests;
mod unit;
mod unread;
pub mod updates;
pub mod why;

use crate::config::{BufferConfig, DriveConfig, Durability};
use crate::device::ids::EntryId;
use crate::device::join::{Aside, Join};
use buffer::{Buffer, Stage};
use by_entry::ByEntry;
use engine::{Column, Instant};
use ftl::{Layout, Lpn, PartialWrites, PoolId, SetId, StripeId};
use metrics::{Blame, State};
use unread::Unread;
use updates::Updates;

/// A pool's list of entries on its way to flash.
#[derive(Clone)]
pub struct Flushing {
    /// The moment of the next poll of a partly filled batch's wait.
    partial_check: Instant,
    /// Entries listed before this moment are flushed in batches that need not be full.
    forced_until: Option<Instant>,
}

/// Host data on its way to flash.
#[derive(Clone)]
pub struct Write {
    // ---- constant ----
    /// The NVM set whose data it writes, and the number of sets.
    set: SetId,
    sets: u32,
    config: BufferConfig,
    /// True if a partial write is an in-plane read-modify-write.
    modifies: bool,
    /// True if pools are flushed once all units of a command are taken in, and not unit by unit:
    /// writes are acknowledged from flash, or data has parity.
    gathers: bool,
    // ---- state ----
    pools: Column<PoolId, Flushing>,
    /// Pools, and the blame of the last program that made room in each, if their programs are limited.
    room: Vec<(PoolId, Blame)>,
    pub(in crate::device) buffer: Buffer,
    /// True from the buffer's high mark to its low mark.
    draining: bool,
    /// The moment until which the buffer's memory is busy with copies.
    copies_until: Instant,
    /// Page reads that entries still wait for.
    rmw_reads: ByEntry<Join>,
    /// Blames of critical rows among them.
    aside: Aside,
    /// The partial write of a unit that waits for the rest of this entry to be read, or programmed.
    followers: ByEntry<EntryId>,
    /// Entries whose rest could not be read.
    unread: Unread,
    /// Updates of stripes, if data has parity.
    pub(in crate::device) updates: Option<Box<Updates>>,
    /// Blame of the earlier wait of the units of the write that is being admitted, if writes are
    /// acknowledged from flash.
    wait_for_room: Blame,
    /// True while the units of a write are taken in; and the pools that listed some.
    admitting: bool,
    listed: Vec<PoolId>,
    /// Pools by the age of their first entries, while programs of all are formed; else empty.
    by_age: Vec<(Instant, PoolId)>,
}

impl Write {
    /// Writes of an NVM set, with the set's share of the buffer.
    pub fn new(config: &DriveConfig, layout: &Layout, set: SetId) -> Self {
        let modifies = config.ftl.partial_writes == PartialWrites::Plane;
        let updates = config.ftl.parity.map(|parity| {
            let goes_round = config.scheduler.read_routing.detours().is_some();
            Updates::new(parity, goes_round, layout)
        });
        let empty = Self::empty(set, config.buffer.clone(), modifies, layout);
        Self { gathers: empty.gathers || updates.is_some(), updates, ..empty }
    }

    fn empty(set: SetId, config: BufferConfig, modifies: bool, layout: &Layout) -> Self {
        let gathers = config.durability == Durability::None;
        let units = config.units(layout);
        Self {
            set,
            sets: layout.set_count(),
            config,
            modifies,
            gathers,
            buffer: Buffer::new(units, layout.pool_count()),
            pools: Column::filled(
                Flushing { partial_check: Instant::NEVER, forced_until: None },
                layout.pool_count() as usize,
            ),
            room: Vec::new(),
            copies_until: Instant::START,
            draining: false,
            rmw_reads: ByEntry::default(),
            aside: Aside::default(),
            followers: ByEntry::default(),
            unread: Unread::default(),
            updates: None,
            wait_for_room: Blame::default(),
            admitting: false,
            listed: Vec::new(),
            by_age: Vec::new(),
        }
    }

    /// Empties the buffer, because the power is cut.
    pub(in crate::device) fn begin_anew(&mut self, layout: &Layout) {
        assert!(self.updates.is_none(), "with parity there is no recovery");
        *self = Self::empty(self.set, self.config.clone(), self.modifies, layout);
    }

    /// Updates of stripes; data must have parity.
    fn updates(&self) -> &Updates {
        self.updates.as_ref().expect("data has parity")
    }
    fn updates_mut(&mut self) -> &mut Updates {
        self.updates.as_mut().expect("data has parity")
    }
    /// The auditor's token of a member of a stripe that is not on flash, and true if it is lost.
    pub(in crate::device) fn apart(&self, lpn: Lpn) -> Option<(u64, bool)> {
        let member = self.updates.as_ref()?.off_flash.get(lpn)?;
        Some((member.token, member.is_lost && !member.is_trimmed))
    }
    /// True if a stripe has an update under way: its pages do not agree with its parity.
    pub(in crate::device) fn is_updated(&self, stripe: StripeId) -> bool {
        self.updates.as_ref().is_some_and(|updates| updates.of(stripe).is_some())
    }
    /// True if a partial write is an in-plane read-modify-write.
    pub(in crate::device) fn modifies(&self) -> bool {
        self.modifies
    }
    /// Durability of the buffer's content.
    pub(in crate::device) fn durability(&self) -> Durability {
        self.config.durability
    }
    /// True if reads are served from an entry of the buffer, which must be the whole of its unit.
    #[inline]
    pub(in crate::device) fn serves(&self, entry: EntryId) -> bool {
        self.config.read_hits && self.buffer.entry(entry).stage != Stage::Modifying
    }
    /// Copies a request's data into or out of the buffer; returns the end of the copy, and charges
    /// `blame` with it.
    #[inline]
    pub(in crate::device) fn copy(&mut self, now: Instant, blame: &mut Blame) -> Instant {
        let latency = self.config.latency.span();
        let begin = if self.config.serial { self.copies_until.max(now) } else { now };
        self.copies_until = begin + latency;
        blame.charge(State::BufferBusy, begin - now);
        blame.charge(State::Buffer, latency);
        self.copies_until
    }
    /// True if writes are acknowledged before they are on flash.
    pub(in crate::device) fn acknowledges_early(&self) -> bool {
        self.config.durability != Durability::None
    }
}
