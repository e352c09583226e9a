//! Statistics of a trace, computed in one pass and a bounded amount of memory.
//!
//! [`measure`] streams the rows, in the order of their stamps, through watchers for one aspect
//! each: `arrivals` (with `cascade`), `sizes`, `sequence`, `places` (with `hotness`). Their
//! results are the same on every machine.

mod arrivals;
pub(crate) mod cascade;
pub(crate) mod counts;
mod fit;
mod hotness;
mod measure;
pub(crate) mod places;
pub(crate) mod sequence;
mod sizes;
mod summary;
mod watch;

pub use crate::progress::Progress;
pub use arrivals::{Arrivals, Hurst, Window};
pub use cascade::{Shape, Split};
pub use counts::Spread;
pub use hotness::{Footprint, Gap, Hotness, Layout, Stretch, ZipfFit};
pub use measure::{Measured, measure};
pub use places::{Growth, Reuse};
pub use sequence::{Sequence, Strides};
pub use summary::{Alignment, DeviceStatistics, Disorder, KindStatistics, Statistics};
