//! Stripes of superblocks: the auditor computes their parity from the data of programs in the order of
//! asking, as the controller does in its memory, and compares it with what is on flash.

use super::Audit;
use super::tokens::{check_stripe, xor};
use ftl::{Batch, BlockId, Ftl, ParityPlace, Ppn};

impl Audit {
    /// Takes the parity of all stripes that are written, in whole or in part, for that of their data.
    pub(super) fn note_rows(&mut self, ftl: &Ftl) {
        for block in (0..ftl.layout.blocks()).map(BlockId) {
            for parity in parities(ftl, block) {
                let tokens: Vec<u64> =
                    slots(ftl, parity).map(|ppn| self.row_sum(ftl, ppn)).collect();
                if !ftl.is_written(parity) {
                    self.in_ram.insert((block.0, parity.batch), tokens);
                    continue;
                }
                for (ppn, token) in slots(ftl, parity).zip(tokens) {
                    self.on_flash[ppn] = token;
                }
            }
        }
    }

    /// The XOR of the other members' tokens, of a stripe given by a unit of its parity.
    fn row_sum(&self, ftl: &Ftl, parity: Ppn) -> u64 {
        let stripe = ftl.row_stripe(parity).expect("a stripe has parity");
        xor(stripe.others().map(|member| self.on_flash[member.ppn]))
    }

    /// Notes the data at a slot of a batch whose program was asked for.
    #[cold]
    pub fn bound(&mut self, ftl: &Ftl, at: Batch, slot: u32, token: u64) {
        let superblocks = ftl.layout.superblocks.as_ref().expect("there are superblocks");
        let width = ftl.stripe_width(at.block).unwrap_or(0) as u8;
        let Some((_, parity)) = superblocks.stripe_of(width, at.batch) else { return };
        let empty = || vec![0; ftl.layout.units_per_batch as usize];
        let sums = self.in_ram.entry((at.block.0, parity)).or_insert_with(empty);
        sums[slot as usize] ^= token;
    }

    /// Notes that the parity of a stripe is on flash.
    #[cold]
    pub fn row_parity_programmed(&mut self, ftl: &Ftl, at: Batch) {
        let sums = self.in_ram.remove(&(at.block.0, at.batch));
        let sums = sums.expect("audit: a stripe has data before it has parity");
        for (ppn, token) in slots(ftl, at).zip(sums) {
            self.place(&ftl.layout, ppn);
            self.on_flash[ppn] = token;
        }
    }

    /// Checks that the parity of each stripe of a block that is written completely is that of its
    /// members, those that became invalid included.
    ///
    /// # Errors
    /// The first stripe that is wrong.
    pub(super) fn check_rows(&self, ftl: &Ftl, block: BlockId) -> Result<(), String> {
        for parity in parities(ftl, block) {
            for ppn in slots(ftl, parity) {
                let stripe = ftl.row_stripe(ppn).expect("a stripe has parity");
                let mut others = stripe.others();
                let is_whole = stripe.parity() == ParityPlace::Flash(ppn)
                    && others.all(|member| member.page == ftl::PageState::Written);
                let members = stripe.others().map(|member| self.on_flash[member.ppn]);
                if is_whole && let Err(off) = check_stripe(members, self.on_flash[ppn]) {
                    return Err(format!("the parity at {ppn:?} of {block:?} is off by {off:x}"));
                }
            }
        }
        Ok(())
    }
}

/// The places of parity in a block, if it has stripes.
fn parities(ftl: &Ftl, block: BlockId) -> impl Iterator<Item = Batch> + '_ {
    let width = ftl.stripe_width(block).unwrap_or(0) as u8;
    let superblocks = ftl.layout.superblocks.as_ref();
    let all = if width > 0 { 0..ftl.layout.batches_per_block } else { 0..0 };
    let is_parity = move |batch: &u32| superblocks.is_some_and(|of| of.is_parity(width, *batch));
    all.filter(is_parity).map(move |batch| Batch { block, batch })
}

/// The units of a batch.
fn slots(ftl: &Ftl, at: Batch) -> impl Iterator<Item = Ppn> + use<> {
    let first = ftl.layout.first_unit(at.block, at.batch).0;
    (first..first + ftl.layout.units_per_batch).map(Ppn)
}
