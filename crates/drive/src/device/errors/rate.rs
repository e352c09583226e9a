//! The raw bit error rate of a page at the moment at which it is read.

use crate::config::DriveConfig;
use engine::{Instant, Streams};
use ftl::{Age, Batch, BlockId, Ftl};
use nand::NandConfig;
use nand::errors::{Mechanisms, NS_OF_DAY, OfCycles, Spread};

/// Numbers of reads whose power is kept.
const READS_KEPT: usize = 1 << 16;

/// Rates of a drive's pages.
#[derive(Clone)]
pub struct Rates {
    // ---- constant ----
    mechanisms: Mechanisms,
    spread: Spread,
    /// The part of read disturb that depends on reads, by their number.
    of_reads: Vec<f64>,
    /// For the wear of interruptions.
    nand: NandConfig,
    // ---- state ----
    /// What follows from the cycles of each erase block, as long as these are the same.
    erase_blocks: Vec<EraseBlock>,
}

/// What follows from the cycles of an erase block.
#[derive(Clone, Copy, Default)]
struct EraseBlock {
    /// Erases of the block when this was computed, plus one; 0 if it never was.
    erases: u32,
    of_cycles: OfCycles,
}

impl Rates {
    pub fn new(config: &DriveConfig, ftl: &Ftl, streams: Streams) -> Self {
        let errors = config.nand.errors.as_ref().expect("flash has errors");
        let mechanisms = errors.mechanisms().expect("checked constants");
        let erase_blocks = ftl.layout.blocks() as usize * ftl.layout.erase_blocks() as usize;
        Self {
            spread: Spread::new(errors, streams, config.geometry.pages_per_block),
            of_reads: (0..READS_KEPT as u64).map(|reads| mechanisms.of_reads(reads)).collect(),
            nand: config.nand.clone(),
            erase_blocks: vec![EraseBlock::default(); erase_blocks],
            mechanisms,
        }
    }

    /// The rate of a page: a row of an erase block.
    #[inline]
    pub fn of(&mut self, ftl: &Ftl, now: Instant, page: Batch, plane: u32, row: u32) -> f64 {
        let (at, block) = (ftl.erase_block(page, plane), page.block);
        if self.erase_blocks[at].erases != ftl.erases_of(block) + 1 {
            self.renew(ftl, block, at);
        }
        let of_cycles = self.erase_blocks[at].of_cycles;
        let reads = ftl.disturbed(at) as usize;
        let of_reads = match self.of_reads.get(reads) {
            Some(power) => *power,
            None => self.mechanisms.of_reads(reads as u64),
        };
        let of_days =
            if of_cycles.retention > 0.0 { self.of_days(ftl, now, block, at) } else { 0.0 };
        let rate = of_cycles.rate(of_days, of_reads);
        if !self.spread.differs_by_page() && ftl.strain().is_empty() {
            return rate;
        }
        self.differing(ftl, block, at, row, rate)
    }

    /// The part of retention that depends on time.
    #[inline]
    fn of_days(&self, ftl: &Ftl, now: Instant, block: BlockId, erase_block: usize) -> f64 {
        let ns = match ftl.age(block, now.as_ns()) {
            Age::Since(ns) => ns as f64,
            Age::SinceBefore(ns) => ns as f64 + self.spread.initial_age_ns(erase_block as u64),
        };
        self.mechanisms.of_days(ns / NS_OF_DAY)
    }

    /// Computes again what follows from the cycles of an erase block.
    #[cold]
    #[inline(never)]
    fn renew(&mut self, ftl: &Ftl, block: BlockId, at: usize) {
        let erases = ftl.erases_of(block);
        let cycles = self.spread.initial_cycles(at as u64).saturating_add(erases);
        let OfCycles { fixed, retention, disturb } = self.mechanisms.of_cycles(cycles);
        let factor = self.spread.of_block(at as u64);
        let of_cycles = OfCycles {
            fixed: factor * fixed,
            retention: factor * retention,
            disturb: factor * disturb,
        };
        self.erase_blocks[at] = EraseBlock { erases: erases + 1, of_cycles };
    }

    /// A rate with what pages and interruptions add.
    #[inline(never)]
    fn differing(&self, ftl: &Ftl, block: BlockId, at: usize, row: u32, rate: f64) -> f64 {
        let ramps = ftl.strain().get(block.0 as usize).map_or(0, |[ramps, _]| *ramps);
        let of_page = self.spread.of_page(at as u64, row);
        (rate * of_page * self.nand.error_rate_factor(ramps)).min(1.0)
    }
}
