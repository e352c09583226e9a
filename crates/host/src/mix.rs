//! Kinds of requests, drawn by their shares.

use crate::addresses::threshold;
use crate::config::{MixConfig, WorkloadConfig};
use engine::Stream;
use settings::Share;
use traces::Kind;

/// A stream of request kinds.
#[derive(Clone, Debug)]
pub struct Mix {
    stream: Stream,
    /// The kinds that occur, each with its share and that of those before it
    /// in units of 2^-64.
    kinds: Vec<(u64, Kind)>,
}

impl Mix {
    /// Kinds in these shares, which add up to 1.
    pub fn new(shares: [f64; 5], stream: Stream) -> Self {
        let mut sum = 0.0;
        let mut kinds = Vec::new();
        for kind in Kind::ALL.into_iter().filter(|kind| shares[kind.index()] > 0.0) {
            sum += shares[kind.index()];
            kinds.push((threshold(sum), kind));
        }
        kinds.last_mut().expect("some kind of request occurs").0 = u64::MAX;
        Self { stream, kinds }
    }

    /// The kind of the next request.
    #[inline]
    pub fn next(&mut self) -> Kind {
        if let [(_, only)] = self.kinds[..] {
            return only;
        }
        let ticket = self.stream.bits();
        let entry = self.kinds.iter().find(|(up_to, _)| ticket <= *up_to);
        entry.expect("the last kind takes every ticket").1
    }
}

/// The share of each kind, by [`Kind::index`]. Without a mix all are 0.
pub(crate) fn shares(config: &WorkloadConfig) -> [f64; 5] {
    if let Some(reads) = config.reads {
        return [reads.fraction(), 1.0 - reads.fraction(), 0.0, 0.0, 0.0];
    }
    let MixConfig { read, write, trim, flush, write_zeroes } =
        config.mix.clone().unwrap_or_default();
    [read, write, trim, flush, write_zeroes].map(|share| share.map_or(0.0, Share::fraction))
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::Streams;

    #[test]
    fn every_kind_comes_in_its_share() {
        let shares = [0.4, 0.3, 0.05, 0.05, 0.2];
        let mut mix = Mix::new(shares, Streams::new(floor::seed(31)).stream("mix"));
        let mut counts = [0u32; 5];
        (0..100_000).for_each(|_| counts[mix.next().index()] += 1);
        for (count, share) in counts.iter().zip(shares) {
            let sigma = libm::sqrt(1e5 * share * (1.0 - share));
            assert!((f64::from(*count) - 1e5 * share).abs() < 4.0 * sigma, "{counts:?}");
        }
    }
}
