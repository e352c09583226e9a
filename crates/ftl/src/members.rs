//! Stripes of superblocks as a rebuild sees them: the other members of a unit's stripe, and its
//! parity.

use crate::ftl::Ftl;
use crate::ids::{Batch, BlockId, Ppn};
use std::ops::Range;

/// The stripe of a unit in a superblock. All of its members are units at the same slot of their
/// batches, one in each of `width` neighbouring lanes of a row.
pub struct RowStripe<'a> {
    ftl: &'a Ftl,
    block: BlockId,
    /// The batches of its members, and the one among them that is parity.
    batches: Range<u32>,
    parity: u32,
    /// The batch and the slot of the unit in question.
    batch: u32,
    slot: u32,
    /// The next batch of the block to be bound.
    next: u32,
}

/// A member of a stripe that holds data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StripeMember {
    /// Its place, whether it is written or not.
    pub ppn: Ppn,
    /// The lane of the superblock that it lies in.
    pub lane: u32,
    /// Its page.
    pub page: PageState,
}

/// State of a member's page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageState {
    /// Its program has ended: the page can be read, even if it was invalidated since.
    Written,
    /// Its program was asked for, and its data is still in the controller.
    Programming,
    /// Nothing was bound to it yet: it counts as zero in the parity so far.
    Unwritten,
}

/// Place of a stripe's parity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParityPlace {
    /// A page that can be read.
    Flash(Ppn),
    /// The memory of the controller: members are still to be written, or the program of the parity has
    /// not ended. It is the parity of all members that are not [`PageState::Unwritten`].
    Ram,
}

impl Ftl {
    /// The stripe of a unit, whether it is valid or not; `None` if its block has no parity.
    pub fn row_stripe(&self, ppn: Ppn) -> Option<RowStripe<'_>> {
        let superblocks = self.layout.superblocks.as_ref()?;
        let (block, place) = self.layout.block_and_place(ppn);
        let (batch, slot) = self.layout.batch_and_slot(place);
        let (batches, parity) = superblocks.stripe_of(self.blocks.width[block], batch)?;
        let open = &self.bins[self.layout.bin(block)].open;
        let open = open.iter().find(|open| open.block == Some(block));
        let next = match (open, self.blocks.rows_closed_early(block)) {
            (Some(open), _) => open.next,
            // It was closed when nothing was being programmed.
            (None, Some(_)) => 0,
            (None, None) => self.layout.batches_per_block,
        };
        Some(RowStripe { ftl: self, block, batches, parity, batch, slot, next })
    }

    /// The other pages of a protected batch's stripe that can be read, with the parity as the last.
    pub fn members_on_flash(&self, at: Batch) -> impl Iterator<Item = Batch> {
        let superblocks = self.layout.of_superblocks();
        let stripe = superblocks.stripe_of(self.blocks.width[at.block], at.batch);
        let (batches, parity) = stripe.expect("it is protected");
        let data = batches.filter(move |batch| ![at.batch, parity].contains(batch));
        let pages = data.chain([parity]).map(move |batch| Batch { batch, ..at });
        pages.filter(|page| self.is_written(*page))
    }

    /// The places of the other members of a unit's logical stripe, parity included, as far as they have
    /// any.
    pub fn members_placed(&self, ppn: Ppn) -> impl Iterator<Item = Ppn> {
        let (own, stripes) = (self.holds(ppn), self.layout.stripes.expect("data has parity"));
        let stripe = stripes.of(own);
        let members = stripes.data(stripe).chain([stripes.parity(stripe)]);
        members.filter(move |lpn| *lpn != own).filter_map(|lpn| self.member(lpn))
    }
}

impl RowStripe<'_> {
    /// The members that hold data, without the unit in question. Any one of them can be rebuilt from
    /// all others and the parity.
    pub fn others(&self) -> impl Iterator<Item = StripeMember> + '_ {
        let others = self.batches.clone().filter(|at| ![self.batch, self.parity].contains(at));
        others.map(|batch| StripeMember {
            ppn: self.ppn(batch),
            lane: self.ftl.layout.lane(batch),
            page: self.page(batch),
        })
    }
    /// The place of its parity.
    pub fn parity(&self) -> ParityPlace {
        match self.is_written(self.parity) {
            true => ParityPlace::Flash(self.ppn(self.parity)),
            false => ParityPlace::Ram,
        }
    }
    /// True if the unit in question is a place of parity.
    pub fn is_of_parity(&self) -> bool {
        self.batch == self.parity
    }

    fn ppn(&self, batch: u32) -> Ppn {
        Ppn(self.ftl.layout.first_unit(self.block, batch).0 + self.slot)
    }
    fn is_written(&self, batch: u32) -> bool {
        self.ftl.is_written(Batch { block: self.block, batch })
    }
    fn page(&self, batch: u32) -> PageState {
        if self.is_written(batch) {
            PageState::Written
        } else if batch < self.next {
            PageState::Programming
        } else {
            PageState::Unwritten
        }
    }
}
