//! A small drive that is one write away from collecting, for tests of collection and of its effects
//! on other operations.
//!
//! Two dies share a channel, and each has a pool of its own: pages 2n lie on die 0, pages 2n + 1 on
//! die 1. A die has 8 blocks of 4 pages, and 16 pages of data fill blocks 0 to 3.

use crate::common::{Bench, Override, set};
use host::Kind;

pub const PAGE: u64 = 4_096;

/// The byte offset of a die's page.
pub fn page(die: u64, number: u64) -> u64 {
    (2 * number + die) * PAGE
}

/// The drive's shape, with thresholds at 2 blocks, and overrides.
pub fn shape(overrides: &[Override]) -> Vec<Override> {
    let mut all = vec![
        set("geometry.dies_per_package", 2),
        set("geometry.blocks_per_plane", 8),
        set("geometry.pages_per_block", 4),
        set("ftl.over_provisioning.exported", format!("{} B", 32 * PAGE)),
        set("ftl.allocation.pool", "die"),
        set("ftl.gc.background", "2 blocks"),
        set("ftl.gc.foreground", "2 blocks"),
        set("ftl.gc.stop", "2 blocks"),
    ];
    all.extend_from_slice(overrides);
    all
}

/// The drive full of data, with 4 blocks free on each die.
pub fn filled(overrides: &[Override]) -> Bench {
    Bench::filled(&shape(overrides))
}

/// The drive after pages 0, 1, 2 and 4 were rewritten to block 4 of die 0: block 0 has one valid
/// page (3), and the next write opens block 5, which leaves 2 free. Returns the moment at which
/// everything had ended.
pub fn poised(overrides: &[Override]) -> (Bench, u64) {
    let mut bench = filled(overrides);
    for number in [0, 1, 2, 4] {
        bench.alone(Kind::Write, page(0, number), PAGE);
    }
    let now = bench.settle();
    (bench, now)
}
