//! Flash operations: requests of the drive to its units.

use crate::device::blames::{BlameId, Blames, UNCHARGED};
use crate::device::flash::counters::OpKind;
use crate::device::ids::{
    EntryId, JobId, OpId, PayloadId, RebuildId, RecoveryId, RequestId, UpdateId,
};
use engine::{IdOrNone, Instant, Slab, Span};
use ftl::{Batch, BinId, BlockId, Stream};
use metrics::{Blame, Holder, Ledger, SnapshotId, Snapshots, State};
use nand::{ChannelId, GroupId};
use std::ops::{Index, IndexMut};

/// The owner of an operation, to which its end is reported.
#[derive(Clone, Copy, Debug)]
pub enum Owner {
    /// Part of a host read.
    Read(RequestId, u32),
    /// A member of a read's rebuild.
    Rebuild(RebuildId, u32),
    /// A row of the read before a partial write of a buffer entry.
    RmwRead(EntryId, u32),
    /// A row of a read for the parity of an update.
    ParityRead(UpdateId, u32),
    /// Buffer entries, and parity, being written.
    Flush(PayloadId),
    /// A member of data that is being rebuilt.
    RebuildRead(JobId, u32),
    /// Rebuilt data being written.
    RebuildWrite(PayloadId, JobId),
    /// Parity of a stripe of a superblock, whose data hosts wrote.
    StripeParity,
    /// A member of a stripe of a superblock, read to rebuild another one.
    StripeRead(RecoveryId, u32),
    /// A read of the bin's collection: the valid slots that it brings.
    CollectRead(Slots),
    /// Units that the bin's collection moves.
    CollectWrite(PayloadId),
    /// A batch that the bin's collection moves as a whole, and its old place.
    CollectMove(Batch),
    /// A collected block being erased.
    CollectErase,
    /// As `StripeParity`, of data that was moved.
    CollectParity(Stream),
    /// As `StripeRead`, for data that is moved.
    CollectStripeRead(RecoveryId, u32),
    /// Operations of scrubbing as a task of its own: a read, a program, an erase, and parity of a
    /// stripe whose last data it has written.
    ScrubRead(Slots),
    ScrubWrite(PayloadId),
    ScrubErase,
    ScrubParity,
    /// A read of a page, to find out if its block is to be scrubbed.
    PatrolRead,
    /// As `StripeRead`, for data that such a task moves.
    ScrubStripeRead(RecoveryId, u32),
    /// A batch of a victim that is transferred out to a program in another package.
    StreamOut(OpId),
    /// A batch that came from another package, and its old place.
    Streamed(Batch),
}

/// Slots of a batch: bit `i` for slot `i`. Aligned to four bytes, like all content of owners.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C, packed(4))]
pub struct Slots(u64);

impl From<u64> for Slots {
    #[inline]
    fn from(bits: u64) -> Self {
        Self(bits)
    }
}
impl Slots {
    /// The bits of the slots.
    #[inline]
    pub fn bits(self) -> u64 {
        self.0
    }
}

/// Service order of the operations of a unit; lower numbers first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// Collection for which the unit is reserved: nothing else could start.
    Reserved = 0,
    /// Host reads of high, normal and low priority.
    ReadHigh = 1,
    ReadNormal = 2,
    ReadLow = 3,
    /// Reads that a host write waits for.
    RmwRead = 4,
    /// Collection of a bin that is short of space.
    Foreground = 5,
    /// Programs of host data.
    Write = 6,
    /// Collection of a bin that is not short of space: waits for all others.
    Background = 7,
}

/// Number of classes.
pub const CLASSES: usize = Class::ALL.len();

impl Class {
    /// Every class, in the order of its number.
    pub const ALL: [Self; 8] = [
        Self::Reserved,
        Self::ReadHigh,
        Self::ReadNormal,
        Self::ReadLow,
        Self::RmwRead,
        Self::Foreground,
        Self::Write,
        Self::Background,
    ];
    /// True for host reads.
    #[inline]
    pub const fn is_read(self) -> bool {
        self as usize >= Self::ReadHigh as usize && self as usize <= Self::ReadLow as usize
    }
    /// True for classes that may go before other work, within bounds.
    #[inline]
    pub const fn is_bounded(self) -> bool {
        self as usize >= Self::ReadHigh as usize && self as usize <= Self::RmwRead as usize
    }
}

/// The reason why an operation waits for its channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AsksFor {
    /// A row of its data is to be transferred: it occupies its unit.
    Data,
    /// A command to its unit, which it occupies, to sense the next row.
    Command,
    /// Its unit and the channel, to begin.
    Both,
}

/// A flash operation, from being asked for to its end. It is small because many may wait, and
/// lies in two cache lines at most.
#[derive(Clone, Debug)]
#[repr(align(32))]
pub struct Op {
    pub owner: Owner,
    /// Channel time of each row.
    pub transfer: Span,
    /// Cells (smallest independently busy parts) of the group that it occupies.
    pub cells: u64,
    pub group: GroupId,
    pub channel: ChannelId,
    pub bin: BinId,
    /// The block; of programs, bound when they start.
    pub block: BlockId,
    /// First batch and present row: pages of the block's erase blocks.
    pub batch: u32,
    pub row: u32,
    /// Rows that are left, this one included; no layout has a batch of more than this type holds.
    pub rows_left: u16,
    /// Planes that take part in each row.
    pub planes: u8,
    pub kind: OpKind,
    pub class: Class,
    pub holder: Holder,
    /// The reason for its wait, while it waits for its channel.
    pub asks_for: AsksFor,
    /// Number of its mapping units that failed, of at most 64. Nothing fails by itself.
    pub failed: u8,
    /// Its number among all operations, in the order of asking; none once it has ended.
    pub seq: u64,
    /// Its place in the order of its channel, while it waits for that.
    pub turn: u64,
    /// The moment at which its present wait began.
    pub since: Instant,
    /// The ledger snapshot from the beginning of its wait, while the wait is measured.
    pub waits: IdOrNone<SnapshotId>,
    /// Its charges; none before the first charge.
    pub blame: IdOrNone<BlameId>,
    /// Next operation in its queue.
    pub next: IdOrNone<OpId>,
}

const _: () = assert!(size_of::<Op>() == 96, "operations that wait are small");

impl Op {
    /// True for operations of garbage collection and of scrubbing.
    #[inline]
    pub fn is_collection(&self) -> bool {
        matches!(
            self.owner,
            Owner::CollectRead(_)
                | Owner::CollectWrite(_)
                | Owner::CollectMove(_)
                | Owner::CollectErase
                | Owner::CollectParity(_)
                | Owner::CollectStripeRead(..)
                | Owner::ScrubRead(_)
                | Owner::ScrubWrite(_)
                | Owner::ScrubErase
                | Owner::ScrubParity
                | Owner::PatrolRead
                | Owner::ScrubStripeRead(..)
                | Owner::StreamOut(_)
                | Owner::Streamed(_)
        )
    }
    /// True for programs and copy-backs.
    pub fn is_program(&self) -> bool {
        matches!(self.kind, OpKind::Program | OpKind::CopyBack)
    }
    /// True for reads of other members of a stripe of a superblock.
    pub fn is_member(&self) -> bool {
        matches!(
            self.owner,
            Owner::StripeRead(..) | Owner::CollectStripeRead(..) | Owner::ScrubStripeRead(..)
        )
    }
    /// The owner of reads of members that rebuild what this operation reads.
    pub fn owner_of_members(&self) -> fn(RecoveryId, u32) -> Owner {
        if self.is_scrubbing() {
            Owner::ScrubStripeRead
        } else if self.is_collection() {
            Owner::CollectStripeRead
        } else {
            Owner::StripeRead
        }
    }
    /// True for operations of scrubbing that is a task of its own.
    #[inline]
    pub fn is_scrubbing(&self) -> bool {
        matches!(
            self.owner,
            Owner::ScrubRead(_)
                | Owner::ScrubWrite(_)
                | Owner::ScrubErase
                | Owner::ScrubParity
                | Owner::PatrolRead
                | Owner::ScrubStripeRead(..)
        )
    }
    /// The batch of a started program or of a read.
    pub fn at(&self) -> Batch {
        Batch { block: self.block, batch: self.batch }
    }
    /// The source of a program's data that has not passed the controller.
    pub fn uncorrected(&self) -> Option<Batch> {
        match self.owner {
            Owner::CollectMove(from) if self.kind == OpKind::CopyBack => Some(from),
            Owner::Streamed(from) => Some(from),
            _ => None,
        }
    }
}

/// The number of an operation that has ended.
const ENDED: u64 = u64::MAX;

/// All operations, and data apart that only some of them need.
#[derive(Clone, Default)]
pub struct Ops {
    slab: Slab<OpId, Op>,
    /// Snapshots of ledgers from the beginnings of waits.
    snapshots: Snapshots,
    /// Blames of operations that have begun, and of requests of which a part has ended.
    blames: Blames,
}

impl Ops {
    #[inline(always)]
    pub fn insert_with(&mut self, op: impl FnOnce() -> Op) -> OpId {
        self.slab.insert_with(op)
    }
    #[inline]
    pub fn remove(&mut self, id: OpId) {
        let op = &mut self.slab[id];
        op.seq = ENDED;
        if let Some(blame) = op.blame.get() {
            self.blames.give_back(blame);
        }
        self.slab.remove(id);
    }
    /// All blames, those of requests included.
    #[inline]
    pub fn blames(&mut self) -> &mut Blames {
        &mut self.blames
    }
    /// As [`Ops::blames`], read-only.
    #[inline]
    pub fn all_blames(&self) -> &Blames {
        &self.blames
    }
    /// Hands over the blame of an operation, which belongs to the caller from now on.
    #[inline]
    pub fn hand_over_blame(&mut self, id: OpId) -> BlameId {
        let blame = self.blame_id(id);
        self.slab[id].blame = IdOrNone::NONE;
        blame
    }
    #[inline]
    pub fn blame(&mut self, id: OpId) -> &mut Blame {
        let blame = self.blame_id(id);
        &mut self.blames[blame]
    }
    #[inline]
    fn blame_id(&mut self, id: OpId) -> BlameId {
        match self.slab[id].blame.get() {
            Some(blame) => blame,
            None => self.begin_blame(id),
        }
    }
    #[inline(always)]
    fn begin_blame(&mut self, id: OpId) -> BlameId {
        let blame = self.blames.take();
        self.slab[id].blame = IdOrNone::some(blame);
        blame
    }
    /// All operations, by number.
    pub fn ids(&self) -> Vec<OpId> {
        self.slab.ids()
    }
    /// Bytes that operations take, with room to grow.
    pub fn bytes(&self) -> u64 {
        self.slab.bytes() + self.snapshots.bytes() + self.blames.bytes()
    }
    /// Greatest number of operations at a time.
    pub fn most(&self) -> usize {
        self.slab.slots()
    }
    /// Charges an operation with service time. Operations of collection are charged with nothing.
    #[inline]
    pub fn charge_service(&mut self, id: OpId, state: State, span: Span) {
        if !self.slab[id].is_collection() {
            self.blame(id).charge(state, span);
        }
    }
    /// As [`Ops::charge_service`], for a read's command and the sensing after it.
    #[inline]
    pub fn charge_sensing(&mut self, id: OpId, command: Span, sense: Span) {
        if !self.slab[id].is_collection() {
            let blame = self.blame(id);
            blame.charge(State::Transfer, command);
            blame.charge(State::Sense, sense);
        }
    }
    #[inline]
    pub fn blame_ref(&self, id: OpId) -> &Blame {
        self.slab[id].blame.get().map_or(&UNCHARGED, |blame| &self.blames[blame])
    }
    /// The blame of an operation, and that of another to add to it.
    #[inline(always)]
    pub fn blame_and_other(&mut self, id: OpId, other: OpId) -> (&mut Blame, &Blame) {
        let blame = self.blame_id(id);
        self.blame_of_request(blame, other)
    }
    /// A blame of a request, and that of an operation to add to it.
    pub fn blame_of_request(&mut self, of: BlameId, id: OpId) -> (&mut Blame, &Blame) {
        match self.slab[id].blame.get() {
            Some(other) => self.blames.pair(of, other),
            None => (&mut self.blames[of], &UNCHARGED),
        }
    }

    // ---- waits -------------------------------------------------------------------------

    /// Begins the wait of an operation for the subject of a ledger, which must be settled.
    #[inline]
    pub fn begin_wait(&mut self, id: OpId, now: Instant, ledger: &mut Ledger) {
        let op = &mut self.slab[id];
        op.since = now;
        op.waits = IdOrNone::some(ledger.begin_wait(&mut self.snapshots));
    }
    /// Charges an operation with its wait, from the snapshot `began` until now. The ledger must be
    /// settled.
    #[inline(always)]
    pub fn charge_wait(&mut self, id: OpId, began: SnapshotId, ledger: &Ledger) {
        let since = self.slab[id].since;
        let blame = self.blame_id(id);
        ledger.charge_wait(&self.snapshots, began, since, &mut self.blames[blame]);
    }
    /// Forgets the snapshot from the beginning of a wait.
    #[inline]
    pub fn end_wait(&mut self, began: SnapshotId, ledger: &Ledger) {
        ledger.end_wait(&mut self.snapshots, began);
    }
    /// Snapshots of ledgers from the beginnings of waits.
    pub fn snapshots(&self) -> &Snapshots {
        &self.snapshots
    }
}

impl Index<OpId> for Ops {
    type Output = Op;
    #[inline]
    fn index(&self, id: OpId) -> &Op {
        &self.slab[id]
    }
}
impl IndexMut<OpId> for Ops {
    #[inline]
    fn index_mut(&mut self, id: OpId) -> &mut Op {
        &mut self.slab[id]
    }
}

/// The rest of a unit, which stays in its planes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rest {
    /// Its place.
    pub at: Batch,
    /// True if it may be programmed without correction.
    pub may_be_copied: bool,
}

/// The written part of a unit in a partial write: bytes `from..to`. The rest is looked up when the
/// write starts; there is none if the unit holds no data by then.
#[derive(Clone, Copy, Debug, Default)]
pub struct Part {
    pub from: u64,
    pub to: u64,
    pub rest: Option<Rest>,
    /// True if newer data is on flash, or the unit was trimmed: there is no rest.
    pub is_void: bool,
}

/// Payloads of programs: for each slot of the batch a buffer entry (or [`PARITY`] and the number of
/// parity) and its logical unit, or a logical unit and the place from which it is copied.
#[derive(Clone)]
pub struct Payloads {
    width: usize,
    counts: Slab<PayloadId, u32>,
    slots: Vec<[u32; 2]>,
    /// Parts written by in-plane read-modify-writes, by payload; empty if there are none.
    parts: Vec<Part>,
}

/// A bit that only the slots of parity have in the place of the buffer entry.
pub const PARITY: u32 = 1 << 31;

impl Payloads {
    pub fn new(units_per_batch: u32) -> Self {
        Self {
            width: units_per_batch as usize,
            counts: Slab::default(),
            slots: Vec::new(),
            parts: Vec::new(),
        }
    }
    pub fn new_empty(&mut self) -> PayloadId {
        let id = self.counts.insert(0);
        let needed = self.counts.slots() * self.width;
        if self.slots.len() < needed {
            self.slots.resize(needed, [0; 2]);
        }
        id
    }
    #[inline]
    pub fn push(&mut self, id: PayloadId, slot: [u32; 2]) {
        let count = &mut self.counts[id];
        debug_assert!((*count as usize) < self.width, "a payload fits its batch");
        self.slots[id.0 as usize * self.width + *count as usize] = slot;
        *count += 1;
    }
    /// Notes the written part of a partial write.
    pub fn set_part(&mut self, id: PayloadId, part: Part) {
        self.parts.resize(self.counts.slots(), Part::default());
        self.parts[id.0 as usize] = part;
    }
    pub fn part_mut(&mut self, id: PayloadId) -> &mut Part {
        &mut self.parts[id.0 as usize]
    }
    /// The written part last noted for a payload, if partial writes stay in their planes.
    #[inline]
    pub fn part(&self, id: PayloadId) -> Option<&Part> {
        self.parts.get(id.0 as usize)
    }
    #[inline]
    pub fn count(&self, id: PayloadId) -> u32 {
        self.counts[id]
    }
    #[inline]
    pub fn slot(&self, id: PayloadId, index: u32) -> [u32; 2] {
        self.slots[id.0 as usize * self.width + index as usize]
    }
    pub fn remove(&mut self, id: PayloadId) {
        self.counts.remove(id);
    }
}
