//! Faults of flash, which no re-read mends: pages whose program went wrong, word lines and dies.
//!
//! A fault at random follows from the seed, the erase block, its erases and the page, so nothing is
//! kept in memory. The caller numbers erase blocks over the drive, and knows which pages are
//! programmed.

use engine::{Hash, Instant, Streams};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use settings::{Share, Time};

/// Faults of flash, which make data undecodable for good. Grown bad blocks are in
/// `ftl.bad_blocks`.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FaultsConfig {
    /// Probability that the program of a page goes wrong, so that its data cannot be decoded.
    /// Default: 0 %.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page_per_program: Option<Share>,
    /// Probability that the program of a page makes its word line fail, so that the data of none of
    /// its pages can be decoded. Default: 0 %.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub word_line_per_program: Option<Share>,
    /// Failures of each die per hour of simulated time. Default: 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0, max = 1e15))]
    pub die_per_hour: Option<f64>,
    /// Pages with a fault: `[{ plane = 3, block = 5, page = 7 }]`. Default: none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pages: Vec<PageFault>,
    /// Word lines with a fault: `[{ plane = 3, block = 5, word_line = 2 }]`. Default: none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub word_lines: Vec<WordLineFault>,
    /// Dies that fail: `[{ die = 3, at = "1 s" }]`. Default: none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dies: Vec<DieFault>,
}

/// A page whose data cannot be decoded.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PageFault {
    /// The number of its plane: planes of a die follow each other, then dies, packages and channels.
    pub plane: u32,
    /// The number of its block in the plane.
    pub block: u32,
    /// The number of the page in the block.
    pub page: u32,
    /// Erases of the block after which the fault begins. Default: 0, it is there from the first
    /// program on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from_erases: Option<u32>,
}

/// A word line whose data cannot be decoded.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WordLineFault {
    /// The number of its plane, as for pages.
    pub plane: u32,
    /// The number of its block in the plane.
    pub block: u32,
    /// The number of the word line in the block: page `i` is in word line `i` / bits per cell.
    pub word_line: u32,
    /// Erases of the block after which the fault begins, as for pages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from_erases: Option<u32>,
}

/// A die that fails.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DieFault {
    /// The number of the die: dies of a package follow each other, then packages and channels.
    pub die: u32,
    /// The moment, in simulated time from the beginning of the run.
    pub at: Time,
}

/// The part of flash whose fault makes data undecodable, from the smallest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fault {
    /// A page.
    Page,
    /// A word line.
    WordLine,
    /// A die.
    Die,
}

impl Fault {
    /// Every part, in the order of its number.
    pub const ALL: [Self; 3] = [Self::Page, Self::WordLine, Self::Die];

    /// Its name in results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Page => "page",
            Self::WordLine => "word_line",
            Self::Die => "die",
        }
    }
}

/// Pages of an erase block, by a number of the block over the drive and its erases.
#[derive(Clone, Copy, Debug)]
pub struct Programmed {
    /// The erase block.
    pub block: u64,
    /// Its erases.
    pub erases: u32,
    /// Pages that were programmed since the last one; they were programmed in order.
    pub pages: u32,
}

/// Faults at random of pages and word lines, of a drive with a seed.
#[derive(Clone, Debug)]
pub struct RandomFaults {
    page: Option<(f64, Hash)>,
    word_line: Option<(f64, Hash)>,
    pages_per_block: u64,
    /// Pages of a word line.
    pages_per_word_line: u32,
}

impl RandomFaults {
    /// The faults that `config` describes.
    pub fn new(
        config: &FaultsConfig,
        streams: Streams,
        pages_per_block: u32,
        pages_per_word_line: u32,
    ) -> Self {
        let chance = |share: Option<Share>, name| {
            let fraction = share.map_or(0.0, Share::fraction);
            (fraction > 0.0).then(|| (fraction, streams.hash(name)))
        };
        Self {
            page: chance(config.page_per_program, "faults.pages"),
            word_line: chance(config.word_line_per_program, "faults.word-lines"),
            pages_per_block: pages_per_block.into(),
            pages_per_word_line,
        }
    }

    /// True if a page of an erase block is in a word line that failed, when this page or another one
    /// of it was programmed.
    pub fn is_in_failed_word_line(&self, of: Programmed, page: u32) -> bool {
        let Some(chance) = self.word_line else { return false };
        let first = page - page % self.pages_per_word_line;
        let behind = (first + self.pages_per_word_line).min(of.pages);
        (first..behind).any(|page| self.is_drawn(chance, of, page))
    }

    /// True if the program of a page of an erase block went wrong.
    pub fn is_faulty_page(&self, of: Programmed, page: u32) -> bool {
        self.page.is_some_and(|chance| self.is_drawn(chance, of, page))
    }

    fn is_drawn(&self, (share, hash): (f64, Hash), of: Programmed, page: u32) -> bool {
        let place = of.block * self.pages_per_block + u64::from(page);
        hash.unit(hash.bits(of.erases.into()) ^ place) < share
    }
}

impl FaultsConfig {
    /// The moment at which each of `dies` dies fails, which may be never: the first of those that are
    /// listed and one at random. Empty if no die ever fails.
    pub fn ends_of_dies(&self, streams: Streams, dies: u32) -> Vec<Instant> {
        let rate = self.die_per_hour.unwrap_or(0.0);
        if rate <= 0.0 && self.dies.is_empty() {
            return Vec::new();
        }
        let hash = streams.hash("faults.dies");
        let at_random = |die: u32| {
            // 1 - u lies in (0, 1], so the logarithm is finite.
            let hours = -libm::log(1.0 - hash.unit(die.into())) / rate;
            Instant::from_ns((hours * NS_OF_HOUR) as u64)
        };
        let mut ends: Vec<Instant> = match rate > 0.0 {
            true => (0..dies).map(at_random).collect(),
            false => vec![Instant::NEVER; dies as usize],
        };
        for DieFault { die, at } in &self.dies {
            let end = &mut ends[*die as usize];
            *end = (*end).min(Instant::START + at.span());
        }
        ends
    }
}

/// Nanoseconds of an hour.
const NS_OF_HOUR: f64 = 3_600e9;

#[cfg(test)]
mod tests {
    use super::*;

    fn config(text: &str) -> FaultsConfig {
        serde_json::from_str(text).expect("faults")
    }
    fn random(text: &str, seed: u64) -> RandomFaults {
        RandomFaults::new(&config(text), Streams::new(seed), 64, 3)
    }
    /// Fails unless `count` of `of` draws is within 4.5 deviations of a binomial distribution.
    fn assert_share(count: usize, of: u32, p: f64) {
        let n = f64::from(of);
        let deviation = (n * p * (1.0 - p)).sqrt();
        assert!((count as f64 - n * p).abs() < 4.5 * deviation, "{count} of {of}, {p}");
    }

    #[test]
    fn as_many_pages_are_faulty_as_the_probability_says() {
        for (text, p) in [("0.01 %", 1e-4), ("2 %", 0.02), ("70 %", 0.7)] {
            let faults = random(&format!(r#"{{ "page_per_program": "{text}" }}"#), 11);
            // By blocks, by erases of one block, and by both.
            for (blocks, erases) in [(16_384, 1), (1, 16_384), (128, 128)] {
                let faulty = |at: u32| {
                    let (block, rest) = (u64::from(at / 64 % blocks), at / 64 / blocks);
                    assert!(rest < erases);
                    let of = Programmed { block, erases: rest, pages: 64 };
                    faults.is_faulty_page(of, at % 64)
                };
                let all = blocks * erases * 64;
                assert_share((0..all).filter(|at| faulty(*at)).count(), all, p);
            }
        }
        let none = random(r#"{ "page_per_program": "0 %" }"#, 11);
        let all = random(r#"{ "page_per_program": "100 %" }"#, 11);
        for block in 0..1000 {
            let of = Programmed { block, erases: 0, pages: 64 };
            assert_eq!((none.is_faulty_page(of, 3), all.is_faulty_page(of, 3)), (false, true));
        }
    }

    /// A word line of n programmed pages has failed with 1 - (1 - p)^n.
    #[test]
    fn a_word_line_fails_with_any_of_its_programs() {
        let faults = random(r#"{ "word_line_per_program": "10 %" }"#, 12);
        for written in 1..=3 {
            let fails = |block: u32| {
                let of = Programmed { block: block.into(), erases: 7, pages: 30 + written };
                let of_pages = [30, 31, 32].map(|page| faults.is_in_failed_word_line(of, page));
                assert!(of_pages.iter().all(|of_page| *of_page == of_pages[0]));
                of_pages[0]
            };
            let count = (0..100_000).filter(|block| fails(*block)).count();
            assert_share(count, 100_000, 1.0 - 0.9f64.powi(written as i32));
        }
        // The last word line of 64 pages has one page only.
        let short = |block: &u32| {
            let of = Programmed { block: (*block).into(), erases: 0, pages: 64 };
            faults.is_in_failed_word_line(of, 63)
        };
        assert_share((0..100_000).filter(short).count(), 100_000, 0.1);
    }

    #[test]
    fn a_word_line_stays_failed_until_the_next_erase() {
        let faults = random(r#"{ "word_line_per_program": "10 %" }"#, 13);
        let mut anew = 0;
        for block in 0..10_000 {
            let of = |erases, pages| Programmed { block, erases, pages };
            let fails = |of| faults.is_in_failed_word_line(of, 0);
            assert!(!fails(of(0, 1)) || fails(of(0, 2)), "pages that follow do not mend it");
            anew += usize::from(fails(of(0, 3)) && fails(of(1, 3)));
        }
        // Both of two independent programs of three pages.
        assert_share(anew, 10_000, (1.0 - 0.9f64.powi(3)).powi(2));
    }

    #[test]
    fn dies_fail_at_exponential_times_or_when_the_list_says() {
        let per_hour = config(r#"{ "die_per_hour": 7200.0 }"#);
        let ends = per_hour.ends_of_dies(Streams::new(floor::seed(14)), 100_000);
        // Half a second each: the mean, and the share that is alive after that time.
        let mean = ends.iter().map(|end| end.as_ns() as f64).sum::<f64>() / 1e5;
        assert!((mean / 0.5e9 - 1.0).abs() < 4.0 / 1e5f64.sqrt(), "{mean}");
        let alive = ends.iter().filter(|end| end.as_ns() > 500_000_000).count();
        assert_share(alive, 100_000, libm::exp(-1.0));

        let listed = config(r#"{ "dies": [{ "die": 2, "at": "1 s" }] }"#);
        let ends = listed.ends_of_dies(Streams::new(14), 4);
        let second = Instant::from_ns(1_000_000_000);
        assert_eq!(ends, [Instant::NEVER, Instant::NEVER, second, Instant::NEVER]);
        assert!(config("{}").ends_of_dies(Streams::new(14), 4).is_empty());
        let never = config(r#"{ "die_per_hour": 0.0 }"#);
        assert!(never.ends_of_dies(Streams::new(14), 4).is_empty());
    }
}
