//! Collections as placement sees them: their class, and the room that they need.

use crate::device::flash::op::{Op, Owner, Payloads};
use crate::device::space::Space;
use crate::device::space::home::Task;
use ftl::{Batch, BinId, BlockId, Level, Lpn, ONE, Pacing, Ppn, Stream};

impl Task {
    /// Whole units of an amount in 256ths. The rest is added to the next amount.
    fn whole(&mut self, amount: u32) -> u32 {
        let amount = amount + self.fraction;
        self.fraction = amount % ONE;
        amount / ONE
    }
}

impl Space {
    /// Adds debt for a host's batch that is bound in a bin. Between the background and the
    /// foreground threshold a paced collection owes moves that gain space again; while it owes some,
    /// it goes before host writes. Returns true if it does.
    #[inline]
    pub(super) fn owe(&mut self, bin: BinId) -> bool {
        if self.pacing == Pacing::None || self.ftl.level(bin) == Level::Ample {
            return false;
        }
        let follows = self.pacing == Pacing::HostRate;
        let most = self.ftl.layout.most_data_units() as i32;
        let moves = if follows { self.ftl.moves_owed(bin) } else { 0 };
        let task = &mut self.bins[bin].task;
        let moves = if follows { task.whole(moves) } else { task.pace };
        task.debt = (task.debt + moves as i32).min(most);
        if task.debt > 0 && (follows || !task.deferred.is_empty()) {
            // A collection that follows hosts has rested. Deferred erases would come too late: the
            // program that ran up this debt is about to occupy these planes.
            self.to_collect.push(bin);
        }
        task.debt > 0
    }

    /// Notes that collection has moved some units of a bin. One that follows hosts may be ahead of
    /// them by a block.
    #[inline]
    pub(in crate::device) fn pay(&mut self, bin: BinId, units: u32) {
        let least = match self.pacing {
            Pacing::HostRate => -(self.ftl.layout.most_data_units() as i32),
            Pacing::None | Pacing::Proportional => 0,
        };
        let task = &mut self.bins[bin].task;
        task.debt = (task.debt - units as i32).max(least);
    }

    /// True if collection of a bin follows hosts and has moved all that it owes. It goes on if it is in
    /// the foreground, if a program has found no page, or if it knows no victim yet.
    #[inline]
    pub(in crate::device) fn is_paid(&self, bin: BinId) -> bool {
        self.pacing == Pacing::HostRate && self.has_paid(bin)
    }

    #[inline(never)]
    fn has_paid(&self, bin: BinId) -> bool {
        let home = &self.bins[bin];
        home.task.debt <= 0
            && home.parked.is_empty()
            && self.ftl.price(bin) > 0
            && self.ftl.level(bin) != Level::Foreground
            && !self.is_starved(bin)
    }

    /// True if a block that is scrubbed delays foreground GC that an operation waits for, or that
    /// owes moves. Scrubbing pays no debt, so there must be collections in between: otherwise host
    /// writes would wait for one block after the other.
    #[cold]
    pub(super) fn scrubs_in_the_foreground(&self, bin: BinId) -> bool {
        let task = &self.bins[bin].task;
        match self.ftl.level(bin) {
            Level::Foreground => self.is_awaited(bin),
            Level::Background => task.debt > 0 && task.collected_before,
            Level::Ample => false,
        }
    }

    /// True if a block that is scrubbed delays foreground GC of its bin, or GC that owes moves, if any
    /// operation waits for that or not. There was a collection in between: see above.
    pub(in crate::device) fn scrubs_before_gc(&self, bin: BinId) -> bool {
        let task = &self.bins[bin].task;
        task.collected_before
            && match self.ftl.level(bin) {
                Level::Foreground => true,
                Level::Background => task.debt > 0,
                Level::Ample => false,
            }
    }

    /// True if a move may take a page of its bin while an older victim is being moved. Hosts may
    /// have taken space since the second victim was chosen, so the first goes first: its erase
    /// gains space for the second. With two free blocks no first victim lacks space.
    #[inline(always)]
    pub(in crate::device) fn leaves_room(
        &self,
        bin: BinId,
        is_from: impl Fn(BlockId) -> bool,
    ) -> bool {
        self.ftl.free_blocks(bin) > 1 || self.leaves_room_of_little(bin, is_from)
    }

    #[inline(never)]
    fn leaves_room_of_little(&self, bin: BinId, is_from: impl Fn(BlockId) -> bool) -> bool {
        let Some(&older) = self.bins[bin].task.draining.first() else { return true };
        let needed = self.ftl.reads_under_way(older).min(self.ftl.layout.batches_per_block);
        self.ftl.room(bin, Stream::Gc) > needed || is_from(older)
    }

    /// True if a move carries data of a block.
    pub(super) fn moves_from(&self, op: &Op, payloads: &Payloads, block: BlockId) -> bool {
        match op.owner {
            Owner::CollectMove(from) => from.block == block,
            Owner::CollectWrite(payload) => {
                let mut slots = 0..payloads.count(payload);
                let from = |slot| Ppn(payloads.slot(payload, slot)[1]);
                slots.any(|slot| self.ftl.layout.block(from(slot)) == block)
            }
            _ => false,
        }
    }

    /// The bin that a unit lies in.
    pub(in crate::device) fn bin_of(&self, ppn: Ppn) -> BinId {
        self.ftl.layout.bin(self.ftl.layout.block(ppn))
    }

    /// The bin and the batch that a unit lies in, and the planes of its block.
    pub(in crate::device) fn planes_of(&self, ppn: Ppn) -> (BinId, u32, u64) {
        let layout = &self.ftl.layout;
        let (block, place) = layout.block_and_place(ppn);
        let (batch, slot) = layout.batch_and_slot(place);
        (layout.bin(block), batch, layout.planes_of_slot(slot))
    }

    /// The batch that a unit lies in.
    pub(in crate::device) fn batch_of(&self, ppn: Ppn) -> Batch {
        let (block, place) = self.ftl.layout.block_and_place(ppn);
        Batch { block, batch: self.ftl.layout.batch_and_slot(place).0 }
    }

    /// Prefetches the data that the end of a host program will read, in two steps: the map's
    /// entries when the program starts, and the data behind them when its data has crossed the
    /// channel ([`Space::prefetch_old`]). Since the write was taken in, all of it has left the
    /// caches.
    #[inline]
    pub(super) fn prefetch_entries(&self, op: &Op, payloads: &Payloads) {
        for_each_unit(op, payloads, |lpn| self.ftl.prefetch(lpn));
    }
    /// Prefetches the data behind the map's entries: the second step of
    /// [`Space::prefetch_entries`].
    #[inline]
    pub(in crate::device) fn prefetch_old(&self, op: &Op, payloads: &Payloads) {
        for_each_unit(op, payloads, |lpn| self.ftl.prefetch_old(lpn));
    }
}

#[inline]
fn for_each_unit(op: &Op, payloads: &Payloads, touch: impl Fn(Lpn)) {
    if let Owner::Flush(payload) = op.owner {
        (0..payloads.count(payload)).for_each(|slot| touch(Lpn(payloads.slot(payload, slot)[1])));
    }
}
