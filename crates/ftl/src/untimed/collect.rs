//! Collection of untimed writes: victim by victim, or batch by batch at the rate of host writes.

use crate::blocks::{BARRED, Source};
use crate::ftl::Ftl;
use crate::gc::Level;
use crate::ids::{Batch, BinId, BlockId, Ppn};
use crate::streams::Stream;
use std::num::NonZeroU32;

/// Batches by which a collection prefetches map entries ahead.
const AHEAD: u32 = 4;

/// Collects a bin as its thresholds and its pacing require; returns true if the host can then write to
/// it.
#[inline]
pub(super) fn make_room(ftl: &mut Ftl, bin: BinId) -> bool {
    if ftl.follows_hosts() {
        keep_up(ftl, bin);
    } else if ftl.level(bin) != Level::Ample {
        while !ftl.has_enough(bin) && collect(ftl, bin) {}
    }
    ftl.can_bind(bin, Stream::Host)
}

/// Collects as much as keeps the space of a bin in the middle of its band.
fn keep_up(ftl: &mut Ftl, bin: BinId) {
    let middle = ftl.band().middle();
    while (ftl.units_in_reach(bin) < middle || !ftl.can_bind(bin, Stream::Host))
        && advance(ftl, bin)
    {}
}

/// Moves as many valid units of a bin's victim as fill a batch, and erases the victim if none is left.
/// Returns false if there is no victim.
fn advance(ftl: &mut Ftl, bin: BinId) -> bool {
    let next = ftl.bins[bin].left.unwrap_or(0);
    let Some(victim) = ftl.pick_victim(bin) else { return false };
    if ftl.migration(bin).is_some() {
        collect_victim(ftl, bin, victim);
        return true;
    }
    let mut moving = Move::new(bin);
    let mut wanted = ftl.layout.units_per_batch;
    let mut at = Batch { block: victim, batch: next };
    while wanted > 0
        && let Some((from, valid)) = ftl.next_valid_batch(at)
    {
        prefetch_ahead(ftl, from);
        let taken = first_bits(valid, wanted);
        moving.units(ftl, from, taken);
        ftl.map.kill_some(ftl.layout.first_unit(victim, from.batch), taken);
        ftl.blocks.standing[victim] -= taken.count_ones();
        ftl.blocks.moved[victim] += taken.count_ones();
        wanted -= taken.count_ones();
        at.batch = from.batch;
        if taken == valid {
            at.batch += 1;
        }
        if at.batch == ftl.layout.batches_per_block {
            break;
        }
    }
    moving.end(ftl);
    if ftl.blocks.valid(victim) == 0 {
        ftl.erase(victim);
    } else {
        assert!(at.batch < ftl.layout.batches_per_block, "valid data lies where nothing was moved");
        ftl.bins[bin].left = Some(at.batch);
    }
    true
}

/// The lowest `count` bits that are set in `mask`.
fn first_bits(mask: u64, count: u32) -> u64 {
    let mut left = mask;
    for _ in 0..count.min(mask.count_ones()) {
        left &= left - 1;
    }
    mask & !left
}

/// Collects one block of a bin; returns false if none gains space.
fn collect(ftl: &mut Ftl, bin: BinId) -> bool {
    let victim = ftl.pick_victim(bin);
    victim.inspect(|victim| collect_victim(ftl, bin, *victim)).is_some()
}

/// Moves the valid units of a victim and erases it, and moves cold data into it if it is worn.
pub(super) fn collect_victim(ftl: &mut Ftl, bin: BinId, victim: BlockId) {
    evacuate(ftl, bin, victim);
    while ftl.migration(bin).is_some()
        && let Some(cold) = ftl.pick_cold(bin)
    {
        evacuate(ftl, bin, cold);
    }
}

/// Moves the valid units of a block and erases it.
fn evacuate(ftl: &mut Ftl, bin: BinId, victim: BlockId) {
    let mut moving = Move::new(bin);
    for batch in 0..ftl.layout.batches_per_block {
        let at = Batch { block: victim, batch };
        prefetch_ahead(ftl, at);
        moving.units(ftl, at, ftl.valid_in_batch(at));
    }
    moving.end(ftl);
    ftl.blocks.moved[victim] += ftl.blocks.valid(victim);
    let first = ftl.layout.first_unit(victim, 0);
    ftl.map.kill_run(first, ftl.layout.units_per_block());
    ftl.blocks.standing[victim] = BARRED;
    ftl.erase(victim);
}

/// Prefetches the map entries of the valid units some batches ahead of one that is moved.
#[inline]
fn prefetch_ahead(ftl: &Ftl, of: Batch) {
    let at = Batch { batch: of.batch + AHEAD, ..of };
    if at.batch >= ftl.layout.batches_per_block {
        return;
    }
    let first = ftl.layout.first_unit(at.block, at.batch);
    let mut valid = ftl.valid_in_batch(at);
    while valid != 0 {
        ftl.map.prefetch(ftl.map.holds(Ppn(first.0 + valid.trailing_zeros())));
        valid &= valid - 1;
    }
}

/// A collection in progress: valid units go, in order, into the bin's next batches.
struct Move {
    bin: BinId,
    target: Option<(Batch, Ppn)>,
    filled: u32,
}

impl Move {
    fn new(bin: BinId) -> Self {
        Self { bin, target: None, filled: 0 }
    }

    /// Moves units of one batch, `valid` of them. Their old places stay valid: the caller makes them
    /// invalid.
    #[inline]
    fn units(&mut self, ftl: &mut Ftl, at: Batch, mut valid: u64) {
        let first = ftl.layout.first_unit(at.block, at.batch);
        while valid != 0 {
            let from = Ppn(first.0 + valid.trailing_zeros());
            let lpn = ftl.map.holds(from);
            valid &= valid - 1;
            let (_, start) = *self.target.get_or_insert_with(|| {
                let bound = ftl
                    .bind(self.bin, Stream::Gc)
                    .expect("the reserve takes a victim's valid data");
                (bound, ftl.layout.first_unit(bound.block, bound.batch))
            });
            let to = Ppn(start.0 + self.filled);
            ftl.note_copy(from, to, lpn);
            ftl.map.forward_mut()[lpn.0 as usize] = NonZeroU32::new(to.0 + 1);
            self.filled += 1;
            if self.filled == ftl.layout.units_per_batch {
                self.end(ftl);
            }
        }
    }

    /// Programs the batch that is being filled, padded if it is not full.
    fn end(&mut self, ftl: &mut Ftl) {
        let Some((at, first)) = self.target.take() else { return };
        ftl.map.set_valid(first, self.filled);
        ftl.blocks.standing[at.block] += self.filled;
        let [filled, padding] = [self.filled, ftl.layout.units_per_batch - self.filled];
        ftl.count(at.block, |tally| {
            tally.units[Source::Gc as usize] += u64::from(filled);
            tally.units[Source::Padding as usize] += u64::from(padding);
        });
        self.filled = 0;
        ftl.note_copied(None, at);
        ftl.finish_untimed(at, Stream::Gc);
    }
}
