//! The write buffer: host data that is not on flash yet.
//!
//! Every write passes through it, also on a drive that acknowledges from flash only: data needs a
//! place while it is being programmed. An entry is one mapping unit. A unit may have several
//! entries, of which at most one is not yet being programmed; the newest is the current data, which
//! reads find.

use crate::device::ids::{EntryId, PayloadId, RequestId};
use crate::device::space::waits::SpaceSnapshot;
use crate::device::write::by_entry::ByEntry;
use engine::{Instant, Slab};
use ftl::{Lpn, PoolId};
use hashbrown::HashTable;
use host::Priority;
use metrics::Blame;
use std::collections::VecDeque;

/// Stage of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// The rest of a partly written unit is being read.
    ReadingRest,
    /// The rest of a partly written unit stays in the planes, which are asked for an in-plane
    /// read-modify-write.
    Modifying,
    /// The in-plane read-modify-write was asked for, but before it began the unit was trimmed, or
    /// completely written to flash: there is no rest, and the programmed data belongs to no unit.
    Void,
    /// Waits in its pool's list.
    Pending,
    /// Waits until the present update of its stripe has ended.
    Behind,
    /// Is part of a program that was asked for.
    Flying,
}

/// A unit in the write buffer. A drive's buffer holds thousands, so each has left the caches when
/// it is read again: an entry has a cache line of its own, and no more.
#[derive(Clone, Debug)]
#[repr(align(64))]
pub struct Entry {
    pub lpn: Lpn,
    pub pool: PoolId,
    pub stage: Stage,
    /// Its data was overwritten or trimmed: it is programmed as invalid data.
    pub stale: bool,
    /// An older entry of the same unit that is still being programmed.
    pub older: Option<EntryId>,
    /// Flushes divide entries into epochs.
    pub epoch: u64,
    /// The part of a request to report to when it is on flash.
    pub writer: Option<(RequestId, u32)>,
    /// The moment at which it entered its pool's list.
    pub since: Instant,
    prev: Option<EntryId>,
    next: Option<EntryId>,
    /// True if its blame was begun.
    has_blame: bool,
}

const _: () = assert!(size_of::<Entry>() == 64);

/// Entries of a pool that wait to be programmed.
#[derive(Clone, Copy, Debug, Default)]
struct Waiting {
    head: Option<EntryId>,
    tail: Option<EntryId>,
    count: u32,
}

/// A read that waits for an entry to be on flash.
#[derive(Clone, Copy, Debug)]
pub struct Deferred {
    pub entry: EntryId,
    pub request: RequestId,
    pub part: u32,
    pub since: Instant,
}

/// Subunits of an entry's unit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InEntry {
    /// Those that hold data: what the host has written and the rest.
    pub written: u64,
    /// Those of the rest that are read from flash.
    pub rest: u64,
}

/// The write buffer.
#[derive(Clone)]
pub struct Buffer {
    capacity: u32,
    entries: Slab<EntryId, Entry>,
    /// Tokens of the auditor for their data, by entry.
    tokens: Vec<u64>,
    /// Versions of their data, by entry; empty if the drive keeps no versions.
    versions: Vec<u32>,
    /// Subunits of each entry; empty if the map knows of none.
    subunits: Vec<InEntry>,
    /// Programs of in-plane read-modify-writes, by entry; empty if there are none.
    programs: Vec<Option<PayloadId>>,
    /// Blame of the waits of entries for room and for reads, by entry.
    rmw_reads: Vec<Blame>,
    /// Their pools' time without space when they were listed, by entry.
    without_space: Vec<SpaceSnapshot>,
    index: HashTable<EntryId>,
    lists: Vec<Waiting>,
    pending: u32,
    pub flying: u32,
    /// Room that members of stripes beside its entries take: parity.
    lent: u32,
    /// Requests that wait for room, by priority.
    waiting: [VecDeque<RequestId>; Priority::ALL.len()],
    /// Units of these requests that are not admitted yet.
    waiting_units: u64,
    /// Reads that wait for entries to be on flash, in order.
    deferred: ByEntry<VecDeque<Deferred>>,
    epochs: VecDeque<u64>,
    first_epoch: u64,
    flushes: VecDeque<(RequestId, u64)>,
}

#[inline]
fn hash(lpn: Lpn) -> u64 {
    let mixed = u64::from(lpn.0).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed ^ mixed >> 32
}

impl Buffer {
    pub fn new(capacity: u32, pools: u32) -> Self {
        Self {
            capacity,
            entries: Slab::default(),
            tokens: Vec::new(),
            versions: Vec::new(),
            subunits: Vec::new(),
            programs: Vec::new(),
            rmw_reads: Vec::new(),
            without_space: Vec::new(),
            index: HashTable::with_capacity(capacity as usize),
            lists: vec![Waiting::default(); pools as usize],
            pending: 0,
            flying: 0,
            lent: 0,
            waiting: Default::default(),
            waiting_units: 0,
            deferred: ByEntry::default(),
            epochs: VecDeque::from([0]),
            first_epoch: 0,
            flushes: VecDeque::new(),
        }
    }

    #[inline]
    pub fn entry(&self, id: EntryId) -> &Entry {
        &self.entries[id]
    }
    #[inline]
    pub fn entry_mut(&mut self, id: EntryId) -> &mut Entry {
        &mut self.entries[id]
    }
    /// Number of units in the buffer.
    #[inline]
    pub fn used(&self) -> u32 {
        self.entries.taken() as u32 + self.lent
    }
    /// Takes room for a unit of parity, even if there is none.
    pub fn lend(&mut self) {
        self.lent += 1;
    }
    /// Gives the room of a unit of parity back.
    pub fn take_back(&mut self) {
        self.lent -= 1;
    }
    #[inline]
    pub fn is_full(&self) -> bool {
        self.used() >= self.capacity
    }
    /// Units that are still to be programmed, also those of requests that wait for room; programs that
    /// were asked for are not among them.
    pub fn units_to_program(&self) -> u32 {
        (self.used() - self.lent).saturating_sub(self.flying) + self.waiting_units as u32
    }
    /// Number of units that the buffer has room for.
    pub fn capacity(&self) -> u32 {
        self.capacity
    }
    /// Units whose current data is in the buffer.
    pub fn units(&self) -> usize {
        self.index.len()
    }
    /// The unit of an entry, if the entry is its current data.
    pub fn current(&self, id: EntryId) -> Option<Lpn> {
        let lpn = self.entries[id].lpn;
        (self.find(lpn) == Some(id)).then_some(lpn)
    }
    /// Units that wait in lists.
    pub fn pending(&self) -> u32 {
        self.pending
    }
    /// The share of the buffer that is in use.
    pub fn fill(&self) -> f64 {
        f64::from(self.used()) / f64::from(self.capacity.max(1))
    }

    /// The newest entry of a unit: its current data.
    #[inline]
    pub fn find(&self, lpn: Lpn) -> Option<EntryId> {
        if self.index.is_empty() {
            return None;
        }
        self.index.find(hash(lpn), |id| self.entries[*id].lpn == lpn).copied()
    }

    /// The oldest entry of a unit that waits in a list and that newer data has not overtaken.
    pub fn first_pending(&self, lpn: Lpn) -> Option<EntryId> {
        let all = std::iter::successors(self.find(lpn), |id| self.entries[*id].older);
        let waits = |id: &EntryId| {
            let entry = &self.entries[*id];
            entry.stage == Stage::Pending && !entry.stale
        };
        all.filter(waits).last()
    }

    /// Adds an entry as its unit's newest. The caller must have searched for `older`.
    pub fn insert(
        &mut self,
        lpn: Lpn,
        pool: PoolId,
        older: Option<EntryId>,
        (token, version): (u64, u32),
        now: Instant,
    ) -> EntryId {
        let epoch = self.first_epoch + self.epochs.len() as u64 - 1;
        *self.epochs.back_mut().expect("there is a present epoch") += 1;
        let id = self.entries.insert(Entry {
            lpn,
            pool,
            stage: Stage::ReadingRest,
            stale: false,
            older,
            epoch,
            writer: None,
            since: now,
            prev: None,
            next: None,
            has_blame: false,
        });
        if self.rmw_reads.len() < self.entries.slots() {
            self.tokens.push(0);
            self.rmw_reads.push(Blame::default());
            self.without_space.push(SpaceSnapshot::default());
        }
        self.tokens[id.0 as usize] = token;
        if version > 0 {
            self.versions.resize(self.entries.slots(), 0);
            self.versions[id.0 as usize] = version;
        }
        match older {
            Some(older) => {
                let slot = self
                    .index
                    .find_mut(hash(lpn), |id| *id == older)
                    .expect("the older entry is indexed");
                *slot = id;
            }
            None => {
                let entries = &self.entries;
                self.index.insert_unique(hash(lpn), id, |id| hash(entries[*id].lpn));
            }
        }
        id
    }

    /// The blame of an entry's waits for room and for a read.
    pub fn rmw_blame(&mut self, id: EntryId) -> &mut Blame {
        let blame = &mut self.rmw_reads[id.0 as usize];
        if !std::mem::replace(&mut self.entries[id].has_blame, true) {
            blame.clear();
        }
        blame
    }
    /// The version of an entry's data.
    #[inline]
    pub fn version(&self, id: EntryId) -> u32 {
        self.versions.get(id.0 as usize).copied().unwrap_or(0)
    }
    /// Subunits of an entry's unit. Only if the map knows of subunits.
    pub fn subunits(&self, id: EntryId) -> InEntry {
        self.subunits[id.0 as usize]
    }
    /// Notes the subunits of an entry's unit.
    pub fn set_subunits(&mut self, id: EntryId, subunits: InEntry) {
        self.subunits.resize(self.entries.slots(), InEntry::default());
        self.subunits[id.0 as usize] = subunits;
    }
    /// Notes that subunits of a unit are trimmed, in all of its entries.
    pub fn trim_subunits(&mut self, lpn: Lpn, mask: u64) {
        let mut at = self.find(lpn);
        while let Some(id) = at {
            self.subunits[id.0 as usize].written &= !mask;
            at = self.entries[id].older;
        }
    }
    /// Notes the program of an in-plane read-modify-write, if it was asked for.
    pub fn set_program(&mut self, id: EntryId, program: Option<PayloadId>) {
        self.programs.resize(self.entries.slots(), None);
        self.programs[id.0 as usize] = program;
    }
    /// The program of an in-plane read-modify-write, if it was asked for.
    pub fn program(&self, id: EntryId) -> Option<PayloadId> {
        self.programs[id.0 as usize]
    }
    /// Makes an entry's data belong to no unit, also if a recovery finds it on flash.
    pub fn make_void(&mut self, id: EntryId) {
        self.entries[id].stage = Stage::Void;
        if let Some(version) = self.versions.get_mut(id.0 as usize) {
            *version = 0;
        }
    }
    /// The current data of every unit in the buffer, in the order in which it was taken in.
    pub fn current_data(&self) -> Vec<EntryId> {
        let mut all: Vec<EntryId> = self.index.iter().copied().collect();
        all.sort_unstable_by_key(|id| self.version(*id));
        all
    }
    /// The auditor's token of an entry's data.
    pub fn token(&self, id: EntryId) -> u64 {
        self.tokens[id.0 as usize]
    }
    /// Changes the token of an entry's data.
    pub fn set_token(&mut self, id: EntryId, token: u64) {
        self.tokens[id.0 as usize] = token;
    }

    /// Puts an entry at the end of its pool's list, but in front of those of later epochs, so that
    /// a flush finds its entries at the front. Returns true if it is in front of others.
    pub fn list(&mut self, id: EntryId, now: Instant) -> bool {
        let pool = self.entries[id].pool.0 as usize;
        let epoch = self.entries[id].epoch;
        let (mut prev, mut next) = (self.lists[pool].tail, None);
        while let Some(later) = prev.filter(|prev| self.entries[*prev].epoch > epoch) {
            next = prev;
            prev = self.entries[later].prev;
        }
        let entry = &mut self.entries[id];
        entry.stage = Stage::Pending;
        entry.since = now;
        entry.prev = prev;
        entry.next = next;
        match prev {
            Some(prev) => self.entries[prev].next = Some(id),
            None => self.lists[pool].head = Some(id),
        }
        match next {
            Some(next) => self.entries[next].prev = Some(id),
            None => self.lists[pool].tail = Some(id),
        }
        self.lists[pool].count += 1;
        self.pending += 1;
        next.is_some()
    }
    /// Notes the time without space of an entry's pool so far. As long as no pool had any, nothing
    /// needs to be noted: entries begin with none.
    pub fn note_space(&mut self, id: EntryId, without_space: &SpaceSnapshot) {
        self.without_space[id.0 as usize] = *without_space;
    }
    /// The time without space of an entry's pool when the entry was listed.
    pub fn without_space(&self, id: EntryId) -> &SpaceSnapshot {
        &self.without_space[id.0 as usize]
    }
    /// Takes an entry out of its pool's list.
    pub fn unlist(&mut self, id: EntryId) {
        let (pool, prev, next) = {
            let entry = &self.entries[id];
            (entry.pool.0 as usize, entry.prev, entry.next)
        };
        match prev {
            Some(prev) => self.entries[prev].next = next,
            None => self.lists[pool].head = next,
        }
        match next {
            Some(next) => self.entries[next].prev = prev,
            None => self.lists[pool].tail = prev,
        }
        self.lists[pool].count -= 1;
        self.pending -= 1;
    }
    /// The entry of a pool that has waited longest.
    #[inline]
    pub fn head(&self, pool: PoolId) -> Option<EntryId> {
        self.lists[pool.0 as usize].head
    }
    /// Number of entries in a pool's list.
    #[inline]
    pub fn listed(&self, pool: PoolId) -> u32 {
        self.lists[pool.0 as usize].count
    }
    /// The entries in a pool's list, in order.
    pub fn waiting_in(&self, pool: PoolId) -> impl Iterator<Item = EntryId> {
        std::iter::successors(self.head(pool), |id| self.entries[*id].next)
    }
    /// The pool with the most entries waiting, of those with at most `bound`.
    #[inline(never)]
    pub fn fullest(&self, bound: u32) -> Option<PoolId> {
        let counts = self.lists.iter().map(|list| list.count);
        let most = counts.filter(|count| *count <= bound).max()?;
        let pool = self.lists.iter().position(|list| list.count == most)?;
        (most > 0).then_some(PoolId(pool as u32))
    }

    /// Makes an entry's data invalid: reads no longer find it.
    pub fn forget(&mut self, id: EntryId) {
        self.entries[id].stale = true;
        self.unindex(id);
    }
    fn unindex(&mut self, id: EntryId) {
        let lpn = self.entries[id].lpn;
        if let Ok(found) = self.index.find_entry(hash(lpn), |found| *found == id) {
            found.remove();
        }
    }
    /// Marks entries older than this one, which is on flash as the current data: they are still
    /// being programmed and will be invalid.
    pub fn supersede_older(&mut self, id: EntryId) {
        let mut at = self.entries[id].older;
        while let Some(older) = at {
            self.entries[older].stale = true;
            at = self.entries[older].older;
        }
    }
    /// Frees an entry's place. Returns true if that ended an epoch.
    pub fn remove(&mut self, id: EntryId) -> bool {
        let (lpn, older, epoch) = {
            let entry = &self.entries[id];
            (entry.lpn, entry.older, entry.epoch)
        };
        match self.find(lpn) {
            Some(newest) if newest == id => match older {
                // Only a trim leaves an older entry behind; that is not current.
                Some(_) | None => self.unindex(id),
            },
            Some(newest) => {
                let mut at = newest;
                while let Some(next) = self.entries[at].older {
                    if next == id {
                        self.entries[at].older = older;
                        break;
                    }
                    at = next;
                }
            }
            None => {}
        }
        self.entries.remove(id);
        self.epochs[(epoch - self.first_epoch) as usize] -= 1;
        self.end_epochs()
    }

    fn end_epochs(&mut self) -> bool {
        let before = self.first_epoch;
        while self.epochs.len() > 1 && self.epochs[0] == 0 {
            self.epochs.pop_front();
            self.first_epoch += 1;
        }
        self.first_epoch > before
    }

    /// Describes the content of the buffer, for an error message.
    pub fn describe(&self) -> String {
        format!(
            "{} of {} units of the buffer are used, {} of them listed and {} being programmed; \
             {} commands wait for room, {} reads for programs, {} flushes",
            self.used(),
            self.capacity,
            self.pending,
            self.flying,
            self.count_waiting(),
            self.deferred.iter().map(|(_, reads)| reads.len()).sum::<usize>(),
            self.flushes.len()
        )
    }

    // ---- requests that wait ------------------------------------------------

    pub fn wait(&mut self, id: RequestId, priority: Priority, units: u32) {
        self.waiting_units += u64::from(units);
        self.waiting[priority as usize].push_back(id);
    }
    /// Number of requests that wait for room.
    fn count_waiting(&self) -> usize {
        self.waiting.iter().map(VecDeque::len).sum()
    }
    /// True if more units wait for room than entries are being programmed; the end of each program
    /// frees room.
    pub fn is_short_of_room(&self) -> bool {
        self.waiting_units > u64::from(self.flying)
    }
    /// Counts units of waiting requests that are being admitted.
    pub fn admits(&mut self, units: u32) {
        self.waiting_units -= u64::from(units);
    }
    /// Counts units that found no room; their request still waits.
    pub fn refuses(&mut self, units: u32) {
        self.waiting_units += u64::from(units);
    }
    /// The request that is admitted next.
    pub fn next_waiting(&self) -> Option<RequestId> {
        self.waiting.iter().find_map(|queue| queue.front().copied())
    }
    /// True if a request of this priority must wait behind others.
    pub fn must_queue(&self, priority: Priority) -> bool {
        self.waiting[..=priority as usize].iter().any(|queue| !queue.is_empty())
    }
    pub fn admitted(&mut self, priority: Priority) {
        self.waiting[priority as usize].pop_front();
    }

    /// Lets a read wait for an entry; returns the entry's pool.
    pub fn defer(
        &mut self,
        entry: EntryId,
        request: RequestId,
        part: u32,
        since: Instant,
    ) -> PoolId {
        let read = Deferred { entry, request, part, since };
        match self.deferred.get_mut(entry) {
            Some(reads) => reads.push_back(read),
            None => self.deferred.put(entry, VecDeque::from([read])),
        }
        self.entries[entry].pool
    }
    /// Takes a read that waits for `entry`.
    #[inline]
    pub fn take_deferred(&mut self, entry: EntryId) -> Option<Deferred> {
        if self.deferred.had_any() { self.next_deferred(entry) } else { None }
    }
    #[cold]
    fn next_deferred(&mut self, entry: EntryId) -> Option<Deferred> {
        self.deferred.get_mut(entry)?.pop_front()
    }

    /// The entries that parts of a read wait for.
    pub fn awaited_by(&self, id: RequestId) -> impl Iterator<Item = EntryId> {
        let all = self.deferred.iter().flat_map(|(_, reads)| reads);
        all.filter(move |read| read.request == id).map(|read| read.entry)
    }
    /// Number of requests that will be admitted before this one, if it waits for room.
    pub fn ahead_of(&self, id: RequestId) -> Option<usize> {
        self.waiting.iter().flatten().position(|waiting| *waiting == id)
    }
    /// The epoch of a waiting flush: it waits for entries of this epoch and older ones.
    pub fn epoch_of_flush(&self, id: RequestId) -> Option<u64> {
        self.flushes.iter().find(|(flush, _)| *flush == id).map(|(_, epoch)| *epoch)
    }

    /// True if a read waits for `entry`.
    #[inline]
    pub fn is_awaited(&self, entry: EntryId) -> bool {
        self.deferred.had_any() && self.has_deferred(entry)
    }
    #[cold]
    fn has_deferred(&self, entry: EntryId) -> bool {
        self.deferred.get(entry).is_some_and(|reads| !reads.is_empty())
    }

    // ---- flushes -----------------------------------------------------------

    /// Begins a flush, which waits for all present entries. Returns false if there are none.
    pub fn begin_flush(&mut self, id: RequestId) -> bool {
        if self.epochs.iter().all(|count| *count == 0) {
            return false;
        }
        let epoch = self.first_epoch + self.epochs.len() as u64 - 1;
        self.epochs.push_back(0);
        self.end_epochs();
        self.flushes.push_back((id, epoch));
        true
    }
    /// A flush whose entries are all on flash.
    pub fn ended_flush(&mut self) -> Option<RequestId> {
        let (id, epoch) = *self.flushes.front()?;
        (epoch < self.first_epoch).then(|| {
            self.flushes.pop_front();
            id
        })
    }
    /// True while a flush waits.
    pub fn is_flushing(&self) -> bool {
        !self.flushes.is_empty()
    }
    /// True if a flush waits for the first entry of a pool.
    #[inline]
    pub fn flush_wants(&self, pool: PoolId) -> bool {
        self.is_flushing() && self.last_flush_wants(pool)
    }
    #[inline(never)]
    fn last_flush_wants(&self, pool: PoolId) -> bool {
        match (self.flushes.back(), self.head(pool)) {
            (Some((_, epoch)), Some(head)) => self.entries[head].epoch <= *epoch,
            _ => false,
        }
    }
}
