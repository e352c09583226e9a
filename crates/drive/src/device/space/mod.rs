//! Space: the firmware's state, where writes go, and what waits for free pages.

pub mod placing;
pub mod waits;

use engine::Column;
use ftl::{BinId, Ftl, PoolId};

/// The firmware, its pools and bins, and what waits for space.
#[derive(Clone)]
pub struct Space {
    pub(in crate::device) ftl: Ftl,
    /// What keeps the bins' collections from giving space.
    pub(in crate::device) spaces: Column<BinId, waits::Space>,
    pub(in crate::device) pools: Column<PoolId, placing::Pool>,
    pub(in crate::device) bins: Column<BinId, placing::Home>,
    /// Bins whose need for collection is looked at when the present event is over.
    pub(in crate::device) to_collect: Vec<BinId>,
    /// Bins without space for a write that waits, and without a victim so far.
    pub(in crate::device) starved: Vec<BinId>,
    /// Bins in which a partial write that stays in its planes was set aside for want of space.
    pub(in crate::device) parked_modifies: Vec<BinId>,
    /// True once a pool was without space.
    pub(in crate::device) was_starved: bool,
}

impl Space {
    pub fn new(choice: ftl::BinChoice, ftl: Ftl) -> Self {
        let layout = &ftl.layout;
        Self {
            spaces: Column::from_fn(layout.bins as usize, |_| waits::Space::default()),
            pools: Column::from_fn(layout.pool_count() as usize, |pool| {
                placing::Pool::new(choice, layout.bins_of(pool).len())
            }),
            bins: Column::from_fn(layout.bins as usize, |_| placing::Home::default()),
            to_collect: Vec::new(),
            starved: Vec::new(),
            parked_modifies: Vec::new(),
            was_starved: false,
            ftl,
        }
    }
}
