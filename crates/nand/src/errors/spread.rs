//! Differences between blocks and pages, and the state of blocks at the beginning. All follows from
//! the seed and a number of the block or page, so that nothing is kept in memory.

use crate::errors::config::{Initial, Normal, Range};
use crate::errors::{ErrorsConfig, SpreadConfig};
use engine::{Hash, Streams};

/// Nanoseconds of a day.
pub const NS_OF_DAY: f64 = 86_400e9;

/// Values of each erase block and page of a drive. Erase blocks have a number over the drive.
#[derive(Clone, Debug)]
pub struct Spread {
    cycles: Option<(Initial<f64>, Hash)>,
    /// In nanoseconds.
    age: Option<(Initial<f64>, Hash)>,
    blocks: Option<(f64, Hash)>,
    pages: Option<(f64, Hash)>,
    layers: Vec<f64>,
    pages_per_block: u64,
}

impl<T: Copy> Initial<T> {
    fn as_numbers(self, number: impl Fn(T) -> f64) -> Initial<f64> {
        match self {
            Self::Same(of) => Initial::Same(number(of)),
            Self::Range(Range { from, to }) => {
                Initial::Range(Range { from: number(from), to: number(to) })
            }
            Self::Normal(Normal { mean, deviation }) => {
                Initial::Normal(Normal { mean: number(mean), deviation: number(deviation) })
            }
        }
    }
}

impl Initial<f64> {
    /// The value of an index; at least 0.
    fn of(self, hash: Hash, index: u64) -> f64 {
        match self {
            Self::Same(of) => of,
            Self::Range(Range { from, to }) => from + (to - from) * hash.unit(index),
            Self::Normal(Normal { mean, deviation }) => {
                (mean + deviation * hash.normal(index)).max(0.0)
            }
        }
    }
}

impl Spread {
    /// The differences that `config` describes, in a drive of this seed.
    pub fn new(config: &ErrorsConfig, streams: Streams, pages_per_block: u32) -> Self {
        let SpreadConfig { blocks, pages, layers, layer_count } = config.spread.unwrap_or_default();
        let deviation =
            |share: Option<settings::Share>, name| Some((share?.fraction(), streams.hash(name)));
        let of_layers = streams.hash("errors.layers");
        let factor = |layer: u32, of: f64| libm::exp(of * of_layers.normal(layer.into()));
        Self {
            cycles: config
                .initial_cycles
                .map(|of| (of.as_numbers(f64::from), streams.hash("errors.initial-cycles"))),
            age: config.initial_age.map(|of| {
                let ns = |time: settings::Time| time.span().as_ns() as f64;
                (of.as_numbers(ns), streams.hash("errors.initial-age"))
            }),
            blocks: deviation(blocks, "errors.blocks"),
            pages: deviation(pages, "errors.pages"),
            layers: layers.map_or_else(Vec::new, |share| {
                let count = layer_count.unwrap_or(1);
                (0..count).map(|layer| factor(layer, share.fraction())).collect()
            }),
            pages_per_block: pages_per_block.into(),
        }
    }

    /// Cycles of an erase block before the drive was new here.
    pub fn initial_cycles(&self, block: u64) -> u32 {
        self.cycles.map_or(0, |(of, hash)| libm::round(of.of(hash, block)) as u32)
    }
    /// Age of the data of an erase block at the beginning, in nanoseconds.
    pub fn initial_age_ns(&self, block: u64) -> f64 {
        self.age.map_or(0.0, |(of, hash)| of.of(hash, block))
    }
    /// True if erase blocks with equal erases have equal cycles and factors.
    #[inline]
    pub fn is_even(&self) -> bool {
        self.blocks.is_none() && self.cycles.is_none_or(|(of, _)| matches!(of, Initial::Same(_)))
    }
    /// True if the data of all erase blocks has the same age at the beginning.
    #[inline]
    pub fn ages_alike(&self) -> bool {
        self.age.is_none_or(|(of, _)| matches!(of, Initial::Same(_)))
    }
    /// Factor of an erase block's rate.
    pub fn of_block(&self, block: u64) -> f64 {
        self.blocks.map_or(1.0, |(deviation, hash)| libm::exp(deviation * hash.normal(block)))
    }
    /// True if the pages of a block differ.
    #[inline]
    pub fn differs_by_page(&self) -> bool {
        self.pages.is_some() || !self.layers.is_empty()
    }
    /// Factor of a page's rate in addition to that of its erase block.
    pub fn of_page(&self, block: u64, page: u32) -> f64 {
        let own = self.pages.map_or(1.0, |(deviation, hash)| {
            libm::exp(deviation * hash.normal(block * self.pages_per_block + u64::from(page)))
        });
        let layers = self.layers.len() as u64;
        let layer = u64::from(page) * layers / self.pages_per_block;
        own * self.layers.get(layer as usize).unwrap_or(&1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(more: &str) -> ErrorsConfig {
        let text = format!(
            r#"{{ "chip": "tlc-72-layer", "codeword": "512 B", "re_read_scale": 2.0 {more} }}"#
        );
        serde_json::from_str(&text).expect("errors")
    }

    #[test]
    fn blocks_begin_as_configured() {
        let new = |more: &str| Spread::new(&config(more), Streams::new(3), 64);
        let same = new(r#", "initial_cycles": 5000, "initial_age": "30 min""#);
        assert_eq!((same.initial_cycles(7), same.initial_age_ns(9)), (5000, 1800e9));
        let none = new("");
        assert_eq!((none.initial_cycles(7), none.initial_age_ns(9)), (0, 0.0));
        assert_eq!((none.of_block(3), none.of_page(3, 5)), (1.0, 1.0));

        let range = new(r#", "initial_cycles": { "from": 10, "to": 20 }"#);
        let cycles: Vec<u32> = (0..1000).map(|block| range.initial_cycles(block)).collect();
        assert_eq!((cycles.iter().min(), cycles.iter().max()), (Some(&10), Some(&20)));
        let normal = new(r#", "initial_cycles": { "mean": 1000, "deviation": 100 }"#);
        let mean = (0..1000).map(|block| f64::from(normal.initial_cycles(block))).sum::<f64>();
        // Four standard errors.
        assert!((mean / 1000.0 - 1000.0).abs() < 4.0 * 100.0 / 1000f64.sqrt(), "{mean}");
    }

    #[test]
    fn layers_are_the_same_in_all_blocks_and_pages_are_not() {
        let layers = Spread::new(
            &config(r#", "spread": { "layers": "20 %", "layer_count": 8 }"#),
            Streams::new(3),
            64,
        );
        for page in 0..64 {
            assert_eq!(layers.of_page(1, page), layers.of_page(2, page));
            assert_eq!(layers.of_page(1, page) == layers.of_page(1, 0), page < 8, "{page}");
        }
        let pages = Spread::new(&config(r#", "spread": { "pages": "20 %" }"#), Streams::new(3), 64);
        assert_ne!(pages.of_page(1, 5), pages.of_page(2, 5));
        let logs = |index: u64| libm::log(pages.of_page(index / 64, (index % 64) as u32));
        let squares = (0..64_000).map(|index| logs(index).powi(2)).sum::<f64>() / 64_000.0;
        // Four standard errors of a variance: sqrt(2 / n) of it.
        assert!((squares / 0.04 - 1.0).abs() < 4.0 * (2.0f64 / 64_000.0).sqrt(), "{squares}");
    }
}
