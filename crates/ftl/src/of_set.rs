//! State of an NVM set that the firmware keeps apart: counts, the clock of collection, and random
//! numbers. A drive without sets has none of it.

use crate::blocks::Tally;
use crate::ids::SetId;
use engine::ids::Id;
use engine::{Stream, Streams};
use serde::{Deserialize, Serialize};

/// State of a set. What happens in a set follows from it alone, whatever other sets do.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct OfSet {
    /// Counts of its programs and erases, which are among those of the drive.
    pub tally: Tally,
    /// Fingerprint of its erased blocks in order.
    #[serde(default)]
    pub erased: u64,
    victim_numbers: Stream,
    bad_numbers: Stream,
}

/// The state of `count` new sets; of none if the drive is one set.
pub(crate) fn of_sets(count: u32, streams: Streams) -> Vec<OfSet> {
    let of = |set| {
        let [victim_numbers, bad_numbers] = numbers(set, streams);
        OfSet { tally: Tally::default(), erased: 0, victim_numbers, bad_numbers }
    };
    if count > 1 { (0..count).map(of).collect() } else { Vec::new() }
}

/// The random numbers of a set from their beginning.
fn numbers(set: u32, streams: Streams) -> [Stream; 2] {
    ["gc.victim", "bad-blocks.grown"].map(|name| streams.stream(&format!("{name}.set-{set}")))
}

/// Begins the random numbers of sets anew.
pub(crate) fn begin_streams(of_sets: &mut [OfSet], streams: Streams) {
    for (set, of) in (0..).zip(of_sets) {
        [of.victim_numbers, of.bad_numbers] = numbers(set, streams);
    }
}

/// The random numbers of a bin's victims, and of erases that fail there.
#[inline]
pub(crate) fn numbers_of<'a>(
    [victims, failures]: [&'a mut Stream; 2],
    of_sets: &'a mut [OfSet],
    set: SetId,
) -> [&'a mut Stream; 2] {
    match of_sets.get_mut(set.index()) {
        Some(of) => [&mut of.victim_numbers, &mut of.bad_numbers],
        None => [victims, failures],
    }
}
