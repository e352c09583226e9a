//! Sizes of requests.

use crate::addresses::threshold;
use crate::config::{ExponentialSize, SizeShare, Sizing};
use engine::Stream;
use settings::Size;

/// A stream of request sizes in bytes.
#[derive(Clone, Debug)]
pub struct Sizes {
    stream: Stream,
    distribution: Distribution,
}

#[derive(Clone, Debug)]
enum Distribution {
    Fixed(u64),
    /// Of each size: its share plus the shares of those before it, in units of 2^-64.
    List(Vec<(u64, u64)>),
    Exponential {
        mean: f64,
        unit: u64,
        max: u64,
    },
}

/// Default unit to which sizes are rounded up.
const ROUND_UP_TO: u64 = 4096;

/// The exponential distribution exceeds this many means once in 10^14 draws.
const MEANS_MAX: u64 = 32;

impl Sizes {
    /// The sizes of `config`, at most `region_bytes`, drawn from `stream`.
    pub fn new(config: &Sizing, region_bytes: u64, stream: Stream) -> Self {
        let distribution = match config {
            Sizing::Fixed(size) => Distribution::Fixed(size.bytes()),
            Sizing::List(list) => Distribution::List(cumulative(list)),
            Sizing::Exponential(config) => Distribution::Exponential {
                mean: config.mean.bytes() as f64,
                unit: round_up_to(config),
                max: largest_exponential(config, region_bytes),
            },
        };
        Self { stream, distribution }
    }

    /// The size of the next request.
    #[inline]
    pub fn next(&mut self) -> u64 {
        match &self.distribution {
            Distribution::Fixed(bytes) => *bytes,
            Distribution::List(list) => {
                let ticket = self.stream.bits();
                let entry = list.iter().find(|(up_to, _)| ticket <= *up_to);
                entry.expect("the last size takes every ticket").1
            }
            Distribution::Exponential { mean, unit, max } => {
                let bytes = self.stream.exponential(*mean).ceil() as u64;
                // A draw of zero bytes is still a request.
                bytes.max(1).min(*max).next_multiple_of(*unit).min(*max)
            }
        }
    }
}

/// The size of the smallest request that `config` can draw.
pub(crate) fn smallest(config: &Sizing) -> u64 {
    match config {
        Sizing::Fixed(size) => size.bytes(),
        Sizing::List(list) => list.iter().map(|entry| entry.size.bytes()).min().unwrap_or(0),
        Sizing::Exponential(config) => round_up_to(config),
    }
}

/// The size of the largest request that `config` can draw in a region.
pub(crate) fn largest(config: &Sizing, region_bytes: u64) -> u64 {
    match config {
        Sizing::Fixed(size) => size.bytes(),
        Sizing::List(list) => list.iter().map(|entry| entry.size.bytes()).max().unwrap_or(0),
        Sizing::Exponential(config) => largest_exponential(config, region_bytes),
    }
}

/// The unit to which exponential sizes are rounded up, in bytes.
pub(crate) fn round_up_to(config: &ExponentialSize) -> u64 {
    config.round_up_to.map_or(ROUND_UP_TO, Size::bytes)
}

fn largest_exponential(config: &ExponentialSize, region_bytes: u64) -> u64 {
    let unit = round_up_to(config);
    let default = || {
        let whole_region = region_bytes / unit * unit;
        let means = config.mean.bytes().saturating_mul(MEANS_MAX);
        means.min(whole_region).next_multiple_of(unit).max(unit)
    };
    config.max.map_or_else(default, Size::bytes)
}

fn cumulative(list: &[SizeShare]) -> Vec<(u64, u64)> {
    let mut sum = 0.0;
    let mut entries: Vec<(u64, u64)> = list
        .iter()
        .filter(|entry| entry.share.fraction() > 0.0)
        .map(|entry| {
            sum += entry.share.fraction();
            (threshold(sum), entry.size.bytes())
        })
        .collect();
    // The shares add up to 1 but for rounding.
    entries.last_mut().expect("a list of sizes has an entry").0 = u64::MAX;
    entries
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::Streams;
    use settings::Share;

    fn draw(config: &Sizing, count: usize) -> Vec<u64> {
        let mut sizes = Sizes::new(config, 1 << 40, Streams::new(floor::seed(21)).stream("sizes"));
        (0..count).map(|_| sizes.next()).collect()
    }

    #[test]
    fn the_sheet_of_atc_2008_has_1_582_pages_in_the_mean() {
        let mean = Size::from_bytes(8 * 512);
        let config = ExponentialSize { mean, round_up_to: None, max: None };
        let sizes = draw(&Sizing::Exponential(config), 400_000);
        assert!(sizes.iter().all(|bytes| *bytes > 0 && bytes % 4096 == 0));
        let pages = sizes.iter().sum::<u64>() as f64 / 4096.0 / sizes.len() as f64;
        // Rounded up an exponential is geometric: mean 1 / (1 - 1/e), sigma
        // sqrt(1/e) / (1 - 1/e) = 0.9595.
        let expected = 1.0 / (1.0 - libm::exp(-1.0));
        let bound = 4.0 * 0.9595 / libm::sqrt(sizes.len() as f64);
        println!("seed 21: {pages} pages, expected {expected}, bound {bound}");
        assert!((pages - expected).abs() < bound);
    }

    #[test]
    fn larger_draws_are_cut() {
        let (mean, max) = (Size::from_bytes(8192), Some(Size::from_bytes(16_384)));
        let config = ExponentialSize { mean, round_up_to: None, max };
        let sizes = draw(&Sizing::Exponential(config), 1_000);
        assert_eq!(sizes.iter().max(), Some(&16_384));
    }

    #[test]
    fn a_list_keeps_its_shares() {
        let entry = |bytes, percent| SizeShare {
            size: Size::from_bytes(bytes),
            share: Share::from_percent(percent),
        };
        let list = Sizing::List(vec![entry(4096, 60), entry(512, 0), entry(65_536, 40)]);
        let sizes = draw(&list, 100_000);
        let small = sizes.iter().filter(|bytes| **bytes == 4096).count() as f64;
        // Sigma is sqrt(100000 * 0.24), about 155.
        assert!((small - 60_000.0).abs() < 4.0 * 155.0, "seed 21: {small}");
        assert!(!sizes.contains(&512), "a share of nothing never occurs");
    }
}
