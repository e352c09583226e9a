//! Addresses of requests, and of ageing, among 1000 places of 4 KiB.

use crate::common::set;
use crate::directions::case::{Case, Predicted, Scene, all_about, case};
use crate::directions::requests::{PAGE, offsets, recorded};
use ftl::Ppn;

const PLACES: u64 = 1_000;
const DRAWS: u64 = 2_000;

/// Figures of the drawn places: the second one, the numbers in the first twentieth and in the first
/// fifth, the number that follow the one before, and the count of the most frequent one.
fn figures(draws: &[u64]) -> Vec<u64> {
    assert_eq!(draws.len() as u64, DRAWS);
    let below = |bound: u64| draws.iter().filter(|place| **place < bound).count() as u64;
    let follow = draws.windows(2).filter(|pair| pair[1] == pair[0] + 1).count() as u64;
    let mut times = [0; PLACES as usize];
    draws.iter().for_each(|place| times[*place as usize] += 1);
    let most = times.into_iter().max().unwrap_or(0);
    vec![draws[1], below(PLACES / 20), below(PLACES / 5), follow, most]
}

/// Figures of the places of requests. `of_ageing` has those of ageing: the wide drive has room for
/// all writes, so each physical unit still shows its logical unit.
fn of_requests(scene: &Scene) -> Vec<u64> {
    figures(&offsets(&scene.run()).iter().map(|offset| offset / PAGE).collect::<Vec<_>>())
}

fn of_ageing(scene: &Scene) -> Vec<u64> {
    let bench = scene.bench();
    let ftl = bench.device.ftl();
    assert_eq!(ftl.tally.erases, 0);
    let written = PLACES as u32..(PLACES + DRAWS) as u32;
    figures(&written.map(|ppn| u64::from(ftl.holds(Ppn(ppn)).0)).collect::<Vec<_>>())
}

/// A count of draws with a probability each, within four standard deviations.
fn drawn(share: f64) -> (f64, f64) {
    let draws = DRAWS as f64;
    (draws * share, crate::directions::requests::four_sigma(draws, share))
}

const ANY: (f64, f64) = (0.0, f64::MAX);

/// Probability that Zipf draws a rank up to `rank`.
fn zipf(theta: f64, rank: u64) -> f64 {
    let weight = |ranks: u64| (1..=ranks).map(|k| libm::pow(k as f64, -theta)).sum::<f64>();
    weight(rank) / weight(PLACES)
}

/// With ranks in order, rank 1 first.
fn ranked(theta: f64) -> Predicted {
    all_about(&[ANY, drawn(zipf(theta, 50)), drawn(zipf(theta, 200)), ANY, ANY])
}

/// Uniform inside two or three zones, of which the first two end at a twentieth and at a fifth of
/// the space.
fn zones(twentieth: f64, fifth: f64) -> Predicted {
    all_about(&[ANY, drawn(twentieth), drawn(fifth), ANY, ANY])
}

/// Each place twice, one behind the other.
fn sequential() -> Predicted {
    [1, DRAWS / 20, DRAWS / 5, DRAWS - 2, 2].into()
}

/// Each place twice, once in each of two random orders.
fn shuffled() -> Predicted {
    let exactly = |share: u64| (share as f64, 0.0);
    all_about(&[ANY, exactly(DRAWS / 20), exactly(DRAWS / 5), drawn(0.001), exactly(2)])
}

/// Every third place, 334 to a round: 17 of them below 50, 67 below 200. The sixth
/// round is cut short at 330.
fn every(stride: u64) -> Predicted {
    let round: Vec<u64> = (0..PLACES).step_by(stride as usize).collect();
    let draws: Vec<u64> = round.iter().copied().cycle().take(DRAWS as usize).collect();
    figures(&draws).into()
}

/// The cases of a table of addresses at one place of a configuration.
fn of(
    [pattern, stride, theta, scatter, hot_space, hot_accesses]: [&'static str; 6],
    base: impl Fn(&'static str, &'static str) -> Case,
) -> Vec<Case> {
    let hot_cold = "{ pattern = 'hot-cold', hot_space = '20 %', hot_accesses = '80 %' }";
    let zipf_in_order = "{ pattern = 'zipf', theta = 0.99, scatter = false }";
    let strided = "{ pattern = 'strided', stride = '12 KiB' }";
    let table = pattern.strip_suffix(".pattern").expect("the tag of the table");
    vec![
        base(pattern, "uniform").at(&table.replacen("workload.", "workload[0].", 1)).under([
            ("sequential", sequential()),
            (strided, every(3)),
            ("uniform", all_about(&[ANY, drawn(0.05), drawn(0.2), drawn(0.001), ANY])),
            ("shuffled", shuffled()),
            (zipf_in_order, ranked(0.99)),
            (hot_cold, zones(0.2, 0.8)),
            ("jesd219", zones(0.5, 0.8)),
        ]),
        base(stride, strided).under([
            ("8 KiB", every(2)),
            ("12 KiB", every(3)),
            ("40 KiB", every(10)),
        ]),
        base(theta, zipf_in_order).under([
            ("0.0", ranked(0.0)),
            ("0.5", ranked(0.5)),
            ("0.99", ranked(0.99)),
            ("2.0", ranked(2.0)),
        ]),
        // The first rank is drawn as often, but no longer at the first place: the fifty most
        // frequent ranks are scattered, and one of them hits a place in twenty.
        base(scatter, zipf_in_order).under([
            ("false", all_about(&[ANY, drawn(zipf(0.99, 50)), ANY, ANY, drawn(zipf(0.99, 1))])),
            ("true", all_about(&[ANY, (0.0, DRAWS as f64 / 3.0), ANY, ANY, drawn(zipf(0.99, 1))])),
        ]),
        // The hot space is a fifth, or twice that.
        base(hot_space, hot_cold).under([("20 %", zones(0.2, 0.8)), ("40 %", zones(0.1, 0.4))]),
        base(hot_accesses, hot_cold)
            .under([("80 %", zones(0.2, 0.8)), ("50 %", zones(0.125, 0.5))]),
    ]
}

pub fn cases() -> Vec<Case> {
    let wide = [
        set("geometry.blocks_per_plane", 256),
        set("ftl.over_provisioning.exported", format!("{} B", PLACES * PAGE)),
    ];
    let places = "places of 2000: the second, below 5 and 20 %, one behind the other, the most";
    let requests = |parameter, addresses: &'static str| {
        case(parameter)
            .text(format!(
                "[[workload]]\nname = \"host\"\nreads = \"100 %\"\n[run]\nrequests = {DRAWS}\n"
            ))
            .filled()
            .given(&wide)
            .given(&[recorded(), set("workload[0].addresses", addresses)])
            .see(places, of_requests)
    };
    let ageing = |parameter, addresses: &'static str| {
        let overwrites = (DRAWS / PLACES) as f64;
        case(parameter)
            .filled()
            .given(&wide)
            .given(&[
                set("precondition.age.overwrites", format!("{overwrites:?}")),
                set("precondition.age.addresses", addresses),
            ])
            .see(places, of_ageing)
    };
    let of_workload = of(
        [
            "workload.addresses.pattern",
            "workload.addresses(strided).stride",
            "workload.addresses(zipf).theta",
            "workload.addresses(zipf).scatter",
            "workload.addresses(hot-cold).hot_space",
            "workload.addresses(hot-cold).hot_accesses",
        ],
        requests,
    );
    let of_age = of(
        [
            "precondition.age.addresses.pattern",
            "precondition.age.addresses(strided).stride",
            "precondition.age.addresses(zipf).theta",
            "precondition.age.addresses(zipf).scatter",
            "precondition.age.addresses(hot-cold).hot_space",
            "precondition.age.addresses(hot-cold).hot_accesses",
        ],
        ageing,
    );
    [of_workload, of_age].into_iter().flatten().collect()
}
