//! Sequential requests: those that begin at the end of earlier ones, by device and kind.
//!
//! A request that begins at the beginning of the one before (of its kind on its device) is in
//! place: it replaces that one and counts as nothing else. Any other request is sequential if it
//! begins at the end of one of the last 32 requests that no other has continued yet; the newest
//! such request counts. A run is a request that is not sequential, with all that continue it one
//! after the other.

use super::counts::{Counts, Spread};
use serde::Serialize;

/// Requests of a kind and device that may still be continued.
pub(crate) const REACH: usize = 32;

/// Classes of the age of the continued request: 1, 2, 3 to 4, … 17 to 32.
pub(crate) const AGES: usize = 6;

/// Marks an end that no request has.
const NOWHERE: u64 = 0;

/// Sequentiality of the requests of a kind.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Sequence {
    /// Share that begins where the last request of the kind and device began.
    pub in_place_share: f64,
    /// Share that continues one of the last 32 requests of the kind and device.
    pub sequential_share: f64,
    /// Share that continues the last one.
    pub contiguous_share: f64,
    /// Requests of a run.
    pub run_requests: Option<Spread>,
    /// Bytes of a run.
    pub run_bytes: Option<Spread>,
    /// Beginnings of requests relative to the end or beginning of the one before (of the kind and
    /// device); shares that add up to 1.
    pub strides: Strides,
    /// Share of requests whose distance from the beginning of the one before equals that one's
    /// distance from its own predecessor, and that are not contiguous.
    pub constant_stride_share: f64,
}

/// Shares of requests by their beginning.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Strides {
    /// At the beginning of the one before.
    pub in_place: f64,
    /// At its end.
    pub contiguous: f64,
    /// Elsewhere, up to 64 KiB after its end.
    pub ahead_64_kib: f64,
    /// Farther ahead, up to 1 MiB.
    pub ahead_1_mib: f64,
    /// Up to 64 KiB before its end.
    pub back_64_kib: f64,
    /// Farther back, up to 1 MiB.
    pub back_1_mib: f64,
    /// Up to 64 MiB away, either way.
    pub within_64_mib: f64,
    /// Farther away.
    pub far: f64,
}

/// Relation of a request to those before it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Step {
    /// It begins somewhere else.
    Starts,
    /// It begins at the end of a recent one.
    Continues,
    /// It begins at the beginning of the last one.
    InPlace,
}

/// The last requests of a kind on a device.
struct Ring {
    ends: [u64; REACH],
    requests: [u32; REACH],
    bytes: [u64; REACH],
    /// Place of the next request, which overwrites the oldest.
    next: usize,
    begin: u64,
    stride: i128,
    seen: u64,
}

/// Follows the requests of a kind on all devices.
pub(super) struct Follower {
    rings: Vec<Option<Box<Ring>>>,
    total: u64,
    contiguous: u64,
    constant_stride: u64,
    strides: [u64; 8],
    pub ages: [u64; AGES],
    pub run_requests: Counts,
    run_bytes: Counts,
}

impl Follower {
    pub fn new() -> Self {
        Self {
            rings: Vec::new(),
            total: 0,
            contiguous: 0,
            constant_stride: 0,
            strides: [0; 8],
            ages: [0; AGES],
            run_requests: Counts::new(),
            run_bytes: Counts::new(),
        }
    }

    /// Adds a request to device number `device` of the list; returns its relation to earlier
    /// ones.
    #[inline]
    pub fn add(&mut self, device: usize, offset: u64, bytes: u64) -> Step {
        if self.rings.len() <= device {
            self.rings.resize_with(device + 1, || None);
        }
        let ring = self.rings[device].get_or_insert_with(|| Box::new(Ring::new()));
        self.total += 1;
        if ring.seen > 0 {
            self.strides[ring.place_of(offset)] += 1;
            self.constant_stride += u64::from(ring.is_constant_stride(offset));
        }
        if ring.seen > 0 && ring.begin == offset {
            ring.again(offset, bytes);
            return Step::InPlace;
        }
        let age = ring.find(offset);
        let (requests, run_bytes) = age.map_or((0, 0), |age| ring.take(age));
        if let Some(age) = age {
            self.contiguous += u64::from(age == 1);
            self.ages[age_class(age)] += 1;
        }
        if let Some((requests, bytes)) =
            ring.push(offset, bytes, requests.saturating_add(1), run_bytes.saturating_add(bytes))
        {
            self.run_requests.add(u64::from(requests));
            self.run_bytes.add(bytes);
        }
        if age.is_some() { Step::Continues } else { Step::Starts }
    }

    /// Requests that start elsewhere: those within 64 MiB of the end of the one before, and those
    /// farther away.
    pub fn near_and_far(&self) -> [u64; 2] {
        [self.strides[2..7].iter().sum(), self.strides[7]]
    }

    pub fn sequential(&self) -> u64 {
        self.ages.iter().sum()
    }

    /// The last runs end with the trace.
    pub fn finish(&mut self) -> Sequence {
        for ring in self.rings.iter().flatten() {
            for place in (0..REACH).filter(|place| ring.ends[*place] != NOWHERE) {
                self.run_requests.add(u64::from(ring.requests[place]));
                self.run_bytes.add(ring.bytes[place]);
            }
        }
        self.rings.clear();
        let compared = self.strides.iter().sum::<u64>().max(1) as f64;
        let share = |class: usize| self.strides[class] as f64 / compared;
        let total = self.total.max(1) as f64;
        Sequence {
            in_place_share: self.strides[1] as f64 / total,
            sequential_share: self.sequential() as f64 / total,
            contiguous_share: self.contiguous as f64 / total,
            run_requests: self.run_requests.spread(),
            run_bytes: self.run_bytes.spread(),
            strides: Strides {
                in_place: share(1),
                contiguous: share(0),
                ahead_64_kib: share(2),
                ahead_1_mib: share(3),
                back_64_kib: share(4),
                back_1_mib: share(5),
                within_64_mib: share(6),
                far: share(7),
            },
            constant_stride_share: self.constant_stride as f64 / total,
        }
    }
}

/// The class of an age from 1 to 32.
#[inline]
pub(crate) fn age_class(age: usize) -> usize {
    age.next_power_of_two().ilog2() as usize
}

impl Ring {
    fn new() -> Self {
        Self {
            ends: [NOWHERE; REACH],
            requests: [0; REACH],
            bytes: [0; REACH],
            next: 0,
            begin: 0,
            stride: 0,
            seen: 0,
        }
    }

    /// Age (1 for the last) of a request that ended here and may be continued.
    #[inline]
    fn find(&self, offset: u64) -> Option<usize> {
        if offset == NOWHERE {
            return None;
        }
        let mut found: u32 = 0;
        for (place, end) in self.ends.iter().enumerate() {
            found |= u32::from(*end == offset) << place;
        }
        // The newest in the highest bit.
        let by_age = found.rotate_right(self.next as u32);
        (found != 0).then(|| by_age.leading_zeros() as usize + 1)
    }

    /// Continues a request, which no other can continue then.
    #[inline]
    fn take(&mut self, age: usize) -> (u32, u64) {
        let place = (self.next + REACH - age) % REACH;
        self.ends[place] = NOWHERE;
        (self.requests[place], self.bytes[place])
    }

    /// Adds a request; returns requests and bytes of the run that this ends, because it is out of
    /// reach now.
    #[inline]
    fn push(&mut self, begin: u64, length: u64, requests: u32, bytes: u64) -> Option<(u32, u64)> {
        let place = self.next;
        let ended =
            (self.ends[place] != NOWHERE).then(|| (self.requests[place], self.bytes[place]));
        self.ends[place] = begin + length;
        (self.requests[place], self.bytes[place]) = (requests, bytes);
        self.next = (place + 1) % REACH;
        self.stride = i128::from(begin) - i128::from(self.begin);
        self.begin = begin;
        self.seen += 1;
        ended
    }

    /// Replaces the last request by one at the same place, perhaps with another length.
    #[inline]
    fn again(&mut self, begin: u64, length: u64) {
        self.ends[(self.next + REACH - 1) % REACH] = begin + length;
        self.stride = 0;
        self.seen += 1;
    }

    #[inline]
    fn is_constant_stride(&self, offset: u64) -> bool {
        self.seen > 1
            && i128::from(offset) - i128::from(self.begin) == self.stride
            && self.stride != 0
            && offset != self.last_end()
    }

    fn last_end(&self) -> u64 {
        // A request that was continued ended where its successor began.
        let place = (self.next + REACH - 1) % REACH;
        self.ends[place]
    }

    /// The class of `Strides` that a request belongs to.
    #[inline]
    fn place_of(&self, offset: u64) -> usize {
        let end = self.last_end();
        if offset == self.begin {
            return 1;
        }
        if offset == end {
            return 0;
        }
        let is_ahead = offset > end;
        match (offset.abs_diff(end), is_ahead) {
            (..=0x1_0000, true) => 2,
            (..=0x10_0000, true) => 3,
            (..=0x1_0000, false) => 4,
            (..=0x10_0000, false) => 5,
            (..=0x400_0000, _) => 6,
            _ => 7,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::Streams;

    /// Every earlier request in a list, the last 32 of it searched.
    fn naive(all: &[(u64, u64)]) -> (Vec<Step>, Vec<u64>) {
        let mut steps = Vec::new();
        let mut requests: Vec<(u64, u64)> = Vec::new();
        let mut runs: Vec<u64> = Vec::new();
        let mut run_of: Vec<usize> = Vec::new();
        let mut taken: Vec<bool> = Vec::new();
        for (offset, bytes) in all {
            if requests.last().is_some_and(|last| last.0 == *offset) {
                requests.last_mut().unwrap().1 = *bytes;
                *taken.last_mut().unwrap() = false;
                steps.push(Step::InPlace);
                continue;
            }
            let index = requests.len();
            let ends_here = |i: &usize| requests[*i].0 + requests[*i].1 == *offset && !taken[*i];
            match (index.saturating_sub(32)..index).rev().find(ends_here) {
                Some(before) => {
                    taken[before] = true;
                    run_of.push(run_of[before]);
                    runs[run_of[before]] += 1;
                    steps.push(Step::Continues);
                }
                None => {
                    run_of.push(runs.len());
                    runs.push(1);
                    steps.push(Step::Starts);
                }
            }
            requests.push((*offset, *bytes));
            taken.push(false);
        }
        runs.sort_unstable();
        (steps, runs)
    }

    #[test]
    fn runs_are_those_of_a_search_through_the_last_32() {
        for seed in floor::seeds(0, 100) {
            let mut stream = Streams::new(seed).stream("runs");
            let places = 2 + stream.below(60);
            let requests: Vec<(u64, u64)> = (0..stream.below(400) + 2)
                .map(|_| (stream.below(places) * 512, (1 + stream.below(3)) * 512))
                .collect();
            let (expected, expected_runs) = naive(&requests);
            let mut follower = Follower::new();
            let found: Vec<Step> =
                requests.iter().map(|(offset, bytes)| follower.add(0, *offset, *bytes)).collect();
            assert_eq!(found, expected, "seed {seed}");
            let sequence = follower.finish();
            let runs: Vec<u64> =
                follower.run_requests.filled().flat_map(|(n, c)| vec![n; c as usize]).collect();
            assert_eq!(runs, expected_runs, "seed {seed}");
            let share = expected.iter().filter(|step| **step == Step::Continues).count() as f64
                / requests.len() as f64;
            assert_eq!(sequence.sequential_share, share, "seed {seed}");
        }
    }

    #[test]
    fn strides_are_told_apart() {
        let mut follower = Follower::new();
        let (kib, mib) = (1 << 10, 1 << 20);
        // From the second on: contiguous, in place, ahead, ahead, back, back, near, far.
        let begins = [
            100 * mib,
            100 * mib + 4 * kib,
            100 * mib + 4 * kib,
            100 * mib + 12 * kib,
            100 * mib + 512 * kib,
            100 * mib + 500 * kib,
            100 * mib,
            120 * mib,
            900 * mib,
        ];
        begins.iter().for_each(|begin| {
            follower.add(3, *begin, 4 * kib);
        });
        let strides = follower.finish().strides;
        let eighth = 1.0 / 8.0;
        assert_eq!(
            strides,
            Strides {
                in_place: eighth,
                contiguous: eighth,
                ahead_64_kib: eighth,
                ahead_1_mib: eighth,
                back_64_kib: eighth,
                back_1_mib: eighth,
                within_64_mib: eighth,
                far: eighth,
            }
        );
        let mut even = Follower::new();
        (0..10).for_each(|n| {
            even.add(0, n * 64 * kib, 4 * kib);
        });
        // The first two have nothing to compare with; the third sets the measure... of two.
        assert_eq!(even.finish().constant_stride_share, 0.8);
    }
}
