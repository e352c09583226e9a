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
    /// Values that follow from the cycles of each erase block, as long as these cycles are the
    /// same.
    erase_blocks: Vec<EraseBlock>,
}

/// Values that follow from the cycles of an erase block.
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
        let of_reads = self.of_reads(ftl.disturbed(at));
        let of_days =
            if of_cycles.retention > 0.0 { self.of_days(ftl, now, block, at) } else { 0.0 };
        let rate = of_cycles.rate(of_days, of_reads);
        if !self.spread.differs_by_page() && ftl.strain().is_empty() {
            return rate;
        }
        self.differing(ftl, block, at, row, rate)
    }

    /// The rate of the worst erase block of a block, without what differs from page to page.
    pub fn worst(&mut self, ftl: &Ftl, now: Instant, block: BlockId) -> f64 {
        let (first, reads) =
            (ftl.erase_block(Batch { block, batch: 0 }, 0), ftl.disturbed_of(block));
        let ages_alike = self.spread.ages_alike();
        let of_days = if ages_alike { self.of_days(ftl, now, block, first) } else { 0.0 };
        let is_even = ages_alike && self.spread.is_even();
        let most = [reads.iter().copied().max().expect("a block has an erase block")];
        // If erase blocks differ in their reads alone, the most read one is the worst.
        let examined = if is_even { &most[..] } else { reads };
        let mut worst = 0.0;
        for (index, reads) in examined.iter().enumerate() {
            let at = first + index;
            if self.erase_blocks[at].erases != ftl.erases_of(block) + 1 {
                self.renew(ftl, block, at);
            }
            let of_days = if ages_alike { of_days } else { self.of_days(ftl, now, block, at) };
            let rate = self.erase_blocks[at].of_cycles.rate(of_days, self.of_reads(*reads));
            worst = f64::max(worst, rate);
        }
        if ftl.strain().is_empty() {
            return worst;
        }
        let [ramps, _] = ftl.strain()[block.0 as usize];
        (worst * self.nand.error_rate_factor(ramps)).min(1.0)
    }

    /// Nanoseconds since the first program of a block; of its oldest data, if that was there at the
    /// beginning.
    pub fn age(&self, ftl: &Ftl, now: Instant, block: BlockId) -> u64 {
        match ftl.age(block, now.as_ns()) {
            Age::Since(ns) => ns,
            Age::SinceBefore(ns) => {
                let first = ftl.erase_block(Batch { block, batch: 0 }, 0) as u64;
                let count = ftl.layout.erase_blocks();
                let all = if self.spread.ages_alike() { 1 } else { u64::from(count) };
                let ages = (first..first + all).map(|at| self.spread.initial_age_ns(at));
                ns + ages.fold(0.0, f64::max) as u64
            }
        }
    }

    /// The part of read disturb that depends on reads.
    #[inline]
    fn of_reads(&self, reads: u32) -> f64 {
        match self.of_reads.get(reads as usize) {
            Some(power) => *power,
            None => self.mechanisms.of_reads(reads.into()),
        }
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
