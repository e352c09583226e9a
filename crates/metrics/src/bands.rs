//! Blame by latency: the states of requests with about the same latency, so that "why p99.9" has
//! an answer for any number of requests.

use crate::blame::{Blame, STATES};
use engine::Span;

/// Bands to each power of two, as a power of two: a band is at most 1.6 % of its
/// lower edge wide.
const BANDS_BITS: u32 = 6;

/// Requests of about the same latency.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Band {
    /// Number of requests.
    pub requests: u64,
    /// Requests that met collection, if that is recorded.
    pub met: u64,
    /// Requests that waited for collection, if that is recorded.
    pub blocked: u64,
    /// Nanoseconds by [`crate::State`], summed over all of them.
    pub blame_ns: [u64; STATES],
}

impl Default for Band {
    fn default() -> Self {
        Self { requests: 0, met: 0, blocked: 0, blame_ns: [0; STATES] }
    }
}

/// Requests of one kind, by bands of latency.
#[derive(Clone, Debug, Default)]
pub struct Bands {
    bands: Vec<Band>,
}

impl Bands {
    /// Counts a request, whose latency is the sum of its blame.
    #[inline]
    pub fn record(&mut self, latency: Span, blame: &Blame) {
        let index = band_of(latency.as_ns());
        if index >= self.bands.len() {
            self.bands.resize(index + 1, Band::default());
        }
        let band = &mut self.bands[index];
        band.requests += 1;
        blame.add_ns_to(&mut band.blame_ns);
    }

    /// Counts a request that was recorded, if it met collection or waited for it.
    #[cold]
    pub fn count_met(&mut self, latency: Span, met: bool, blocked: bool) {
        let band = &mut self.bands[band_of(latency.as_ns())];
        band.met += u64::from(met);
        band.blocked += u64::from(blocked);
    }

    /// Nanoseconds by state, over all requests.
    pub fn total(&self) -> [u64; STATES] {
        let mut total = [0; STATES];
        for band in &self.bands {
            for (sum, ns) in total.iter_mut().zip(band.blame_ns) {
                *sum += ns;
            }
        }
        total
    }

    /// Each band with requests, with its least and greatest latency in nanoseconds, from the
    /// shortest.
    pub fn iter(&self) -> impl Iterator<Item = (u64, u64, &Band)> {
        let described = |(index, band)| (low_of(index), low_of(index + 1) - 1, band);
        self.bands.iter().enumerate().filter(|(_, band)| band.requests > 0).map(described)
    }
}

/// The band of a latency. Below 2^6 each has one of its own; above, a power of
/// two is divided evenly into 2^6.
#[inline]
fn band_of(ns: u64) -> usize {
    if ns >> BANDS_BITS == 0 {
        return ns as usize;
    }
    let shift = u64::BITS - 1 - BANDS_BITS - ns.leading_zeros();
    ((shift as usize) << BANDS_BITS) + (ns >> shift) as usize
}

/// The least latency of a band.
fn low_of(band: usize) -> u64 {
    if band >> BANDS_BITS <= 1 {
        return band as u64;
    }
    let shift = (band >> BANDS_BITS) - 1;
    ((band - (shift << BANDS_BITS)) as u64) << shift
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::State;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(floor::cases!())]

        #[test]
        fn a_band_holds_its_latencies(ns in 0u64..1 << 58) {
            let band = band_of(ns);
            prop_assert!(low_of(band) <= ns && ns < low_of(band + 1));
            let width = low_of(band + 1) - low_of(band);
            prop_assert!(width == 1 || width * 64 <= low_of(band));
        }
    }

    #[test]
    fn bands_divide_each_power_of_two_evenly() {
        let edges: Vec<u64> = [63, 64, 127, 128, 129, 191, 192, 193].map(low_of).to_vec();
        // 64 bands from 64 to 128, then 64 of 2 from 128 to 256, then 64 of 4.
        assert_eq!(edges, [63, 64, 127, 128, 130, 254, 256, 260]);
    }

    #[test]
    fn requests_of_a_band_are_blamed_together() {
        let mut bands = Bands::default();
        for (sense, erase) in [(200, 0), (201, 0), (100, 900)] {
            let mut blame = Blame::default();
            blame.charge(State::Sense, Span::from_ns(sense));
            blame.charge(State::UnitErase, Span::from_ns(erase));
            bands.record(blame.total(), &blame);
        }
        let found: Vec<_> = bands
            .iter()
            .map(|(low, high, band)| {
                let of = |state: State| band.blame_ns[state as usize];
                (low, high, band.requests, of(State::Sense), of(State::UnitErase))
            })
            .collect();
        assert_eq!(found, [(200, 201, 2, 401, 0), (1000, 1007, 1, 100, 900)]);
        assert_eq!(bands.total()[State::Sense as usize], 501);
    }
}
