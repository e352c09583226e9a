//! Names of units, blocks, bins and pools, and of a batch in a block.

use engine::typed_id;

typed_id! {
    /// A logical unit: a piece of the host's address space.
    pub struct Lpn;
    /// A physical unit: a place on flash that holds one logical unit.
    pub struct Ppn;
    /// A block of the firmware (see the vocabulary of the crate).
    pub struct BlockId;
    /// A bin of blocks: `block_planes` planes of one die, or several such sets.
    pub struct BinId;
    /// A set of bins among which a unit may be placed.
    pub struct PoolId;
    /// An NVM set.
    pub struct SetId;
    /// A logical stripe.
    pub struct StripeId;
}

/// A place for one batch of units in a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Batch {
    /// The block.
    pub block: BlockId,
    /// The batch's place in the block's order of writing.
    pub batch: u32,
}
