//! Addresses of requests in a region. A place is a multiple of the alignment; the patterns choose
//! places, and a request that would cross the end of the region is moved back to the last place
//! where it fits.

use crate::config::AddressConfig;
use crate::scatter::Scatter;
use crate::zipf::Zipf;
use engine::Stream;

/// A stream of offsets from the start of a region.
#[derive(Clone, Debug)]
pub struct Addresses {
    stream: Stream,
    pattern: Pattern,
    align: u64,
    region_bytes: u64,
    /// The last size, and the number of places where it fits: saves a division while the size
    /// stays the same.
    last_bytes: u64,
    last_places: u64,
}

#[derive(Clone, Debug)]
enum Pattern {
    Sequential { cursor: u64 },
    Strided { cursor: u64, stride: u64 },
    Uniform,
    Shuffled(Shuffle),
    Zipf { ranks: Zipf, scatter: Option<Scatter> },
    Zones(Zones),
}

/// Passes over all places, each in a random order of its own.
#[derive(Clone, Debug)]
struct Shuffle {
    places: u64,
    order: Scatter,
    /// Places of this pass that have had their turn.
    done: u64,
}

/// Zones of a region with a share of the accesses each, uniform inside.
#[derive(Clone, Debug)]
struct Zones {
    /// Of each zone: the share of the accesses to it or to a zone before it, in units of 2^-64,
    /// its first place and its number of places.
    zones: Vec<(u64, u64, u64)>,
}

/// (share of space, share of accesses) of JESD219's client zones.
const JESD219: [(f64, f64); 3] = [(0.05, 0.50), (0.15, 0.30), (0.80, 0.20)];

impl Addresses {
    /// The offsets of `config` in a region of `region_bytes`, drawn from `stream`.
    /// The caller has checked that a request fits into the region.
    pub fn new(config: &AddressConfig, region_bytes: u64, align: u64, stream: Stream) -> Self {
        let places = (region_bytes / align).max(1);
        let pattern = match *config {
            AddressConfig::Sequential {} => Pattern::Sequential { cursor: 0 },
            AddressConfig::Strided { stride } => {
                Pattern::Strided { cursor: 0, stride: stride.bytes() }
            }
            AddressConfig::Uniform {} => Pattern::Uniform,
            AddressConfig::Shuffled {} => Pattern::Shuffled(Shuffle::new(places)),
            AddressConfig::Zipf { theta, scatter } => Pattern::Zipf {
                ranks: Zipf::new(places, theta),
                scatter: scatter.then(|| Scatter::new(places)),
            },
            AddressConfig::HotCold { hot_space, hot_accesses } => {
                let (space, accesses) = (hot_space.fraction(), hot_accesses.fraction());
                let zones = [(space, accesses), (1.0 - space, 1.0 - accesses)];
                Pattern::Zones(Zones::new(&zones, places))
            }
            AddressConfig::Jesd219 {} => Pattern::Zones(Zones::new(&JESD219, places)),
        };
        Self { stream, pattern, align, region_bytes, last_bytes: 0, last_places: 0 }
    }

    /// The offset of the next request, which is for `bytes`.
    #[inline]
    pub fn next(&mut self, bytes: u64) -> u64 {
        let places = self.places_for(bytes);
        let place = match &mut self.pattern {
            Pattern::Uniform => self.stream.below(places),
            Pattern::Sequential { cursor } => step(cursor, bytes.div_ceil(self.align), places),
            Pattern::Strided { cursor, stride } => step(cursor, *stride / self.align, places),
            Pattern::Shuffled(shuffle) => shuffle.next(&mut self.stream).min(places - 1),
            Pattern::Zipf { ranks, scatter } => {
                let place = ranks.draw(&mut self.stream) - 1;
                scatter.map_or(place, |scatter| scatter.of(place)).min(places - 1)
            }
            Pattern::Zones(zones) => zones.draw(&mut self.stream).min(places - 1),
        };
        place * self.align
    }

    /// Number of places at which a request of `bytes` can begin.
    #[inline]
    fn places_for(&mut self, bytes: u64) -> u64 {
        if bytes != self.last_bytes {
            debug_assert!(bytes <= self.region_bytes, "a request is larger than its region");
            self.last_bytes = bytes;
            self.last_places = (self.region_bytes - bytes) / self.align + 1;
        }
        self.last_places
    }
}

/// The place at `cursor`, or the first place if the request does not fit there; the cursor then
/// advances by `advance`.
fn step(cursor: &mut u64, advance: u64, places: u64) -> u64 {
    let place = if *cursor < places { *cursor } else { 0 };
    *cursor = place + advance;
    place
}

impl Shuffle {
    fn new(places: u64) -> Self {
        // The first pass draws its order when it begins.
        Self { places, order: Scatter::new(places), done: places }
    }

    #[inline]
    fn next(&mut self, stream: &mut Stream) -> u64 {
        if self.done == self.places {
            self.order = Scatter::drawn(self.places, stream);
            self.done = 0;
        }
        self.done += 1;
        self.order.of(self.done - 1)
    }
}

impl Zones {
    /// Zones of these shares of space and of accesses over `places` places. Each
    /// begins on the place nearest to its share, so one may be empty in a tiny
    /// region; its accesses then go to its neighbour.
    fn new(shares: &[(f64, f64)], places: u64) -> Self {
        let mut zones = Vec::with_capacity(shares.len());
        let (mut first, mut space, mut accesses) = (0, 0.0, 0.0);
        for (index, (share_of_space, share_of_accesses)) in shares.iter().enumerate() {
            space += share_of_space;
            accesses += share_of_accesses;
            let is_last = index + 1 == shares.len();
            let end = if is_last { places } else { (space * places as f64).round() as u64 };
            if end > first {
                let up_to = if is_last { u64::MAX } else { threshold(accesses) };
                zones.push((up_to, first, end - first));
                first = end;
            }
        }
        // If the last zone is empty, the zone before it takes the rest.
        zones.last_mut().expect("a region has a place").0 = u64::MAX;
        Self { zones }
    }

    fn draw(&self, stream: &mut Stream) -> u64 {
        let ticket = stream.bits();
        let zone = self.zones.iter().find(|(up_to, ..)| ticket <= *up_to);
        let (_, first, count) = *zone.expect("the last zone takes every ticket");
        first + stream.below(count)
    }
}

/// `share` of 2^64: random bits are at most this with that probability.
pub(crate) fn threshold(share: f64) -> u64 {
    // A float converts to an integer with saturation.
    (share * 18_446_744_073_709_551_616.0) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::Streams;
    use settings::{Share, Size};

    const KIB: u64 = 1024;

    fn addresses(config: AddressConfig, region: u64, align: u64) -> Addresses {
        Addresses::new(&config, region, align, Streams::new(floor::seed(11)).stream("addresses"))
    }

    #[test]
    fn sequential_requests_follow_each_other_and_start_over_before_the_end() {
        let mut seq = addresses(AddressConfig::Sequential {}, 20 * KIB, 4 * KIB);
        let offsets: Vec<u64> = (0..4).map(|_| seq.next(8 * KIB) / KIB).collect();
        assert_eq!(offsets, [0, 8, 0, 8], "a third request would cross the end");
        assert_eq!(seq.next(4 * KIB), 16 * KIB, "a smaller one fits there");
        assert_eq!(seq.next(4 * KIB), 0);
    }

    #[test]
    fn strided_requests_begin_a_stride_apart() {
        let stride = Size::from_bytes(12 * KIB);
        let mut strided = addresses(AddressConfig::Strided { stride }, 40 * KIB, 4 * KIB);
        let offsets: Vec<u64> = (0..5).map(|_| strided.next(4 * KIB) / KIB).collect();
        assert_eq!(offsets, [0, 12, 24, 36, 0]);
    }

    #[test]
    fn uniform_reaches_the_first_and_the_last_place_and_none_beyond() {
        let mut uniform = addresses(AddressConfig::Uniform {}, 17 * KIB, 4 * KIB);
        let mut seen = [0u32; 3];
        for _ in 0..3_000 {
            let offset = uniform.next(8 * KIB);
            assert!(offset.is_multiple_of(4 * KIB) && offset + 8 * KIB <= 17 * KIB);
            seen[(offset / (4 * KIB)) as usize] += 1;
        }
        // Sigma is sqrt(3000 * 2/9), about 26.
        assert!(seen.iter().all(|count| count.abs_diff(1_000) < 104), "{seen:?}");
    }

    /// The share of accesses below each bound, in percent of the region.
    fn shares_below(config: AddressConfig, bounds: &[u64]) -> Vec<f64> {
        let region = 100_000 * 4 * KIB;
        let mut pattern = addresses(config, region, 4 * KIB);
        let draws: Vec<u64> = (0..100_000).map(|_| pattern.next(4 * KIB)).collect();
        let below = |percent| draws.iter().filter(|at| **at < region / 100 * percent).count();
        bounds.iter().map(|percent| below(*percent) as f64 / 1e5).collect()
    }

    #[test]
    fn jesd219_skews_as_the_standard_says() {
        // Half of the outer zone is 60 % of the region: 80 % + 20 % / 2.
        let shares = shares_below(AddressConfig::Jesd219 {}, &[5, 20, 60]);
        for (share, expected) in shares.iter().zip([0.5, 0.8, 0.9]) {
            // Four sigmas of 100,000 draws: at most 0.0063.
            assert!((share - expected).abs() < 0.0063, "seed 11: {shares:?}");
        }
    }

    #[test]
    fn the_hot_part_gets_its_share() {
        let (hot_space, hot_accesses) = (Share::from_percent(20), Share::from_percent(80));
        let shares = shares_below(AddressConfig::HotCold { hot_space, hot_accesses }, &[10, 20]);
        assert!((shares[0] - 0.4).abs() < 0.0063, "seed 11: {shares:?}");
        assert!((shares[1] - 0.8).abs() < 0.0063, "seed 11: {shares:?}");
    }

    #[test]
    fn scattering_moves_the_hot_places_and_keeps_their_heat() {
        let heat = |scatter| {
            let config = AddressConfig::Zipf { theta: 0.99, scatter };
            let mut pattern = addresses(config, 1_000 * 4 * KIB, 4 * KIB);
            let mut counts = vec![0u32; 1_000];
            (0..50_000).for_each(|_| counts[(pattern.next(4 * KIB) / (4 * KIB)) as usize] += 1);
            counts
        };
        let (mut in_order, mut scattered) = (heat(false), heat(true));
        assert!(in_order[..10].iter().sum::<u32>() > 3 * scattered[..10].iter().sum::<u32>());
        in_order.sort_unstable();
        scattered.sort_unstable();
        assert_eq!(in_order, scattered, "the same ranks, elsewhere");
    }

    #[test]
    fn a_tiny_region_has_no_empty_zone_to_fall_into() {
        let mut one = addresses(AddressConfig::Jesd219 {}, 4 * KIB, 4 * KIB);
        assert!((0..100).all(|_| one.next(4 * KIB) == 0));
        let (hot_space, hot_accesses) = (Share::from_percent(100), Share::from_percent(10));
        let all_hot = AddressConfig::HotCold { hot_space, hot_accesses };
        let mut two = addresses(all_hot, 8 * KIB, 4 * KIB);
        assert!((0..100).map(|_| two.next(4 * KIB)).any(|at| at == 4 * KIB));
    }
}
