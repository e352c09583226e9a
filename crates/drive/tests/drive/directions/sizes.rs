//! Sizes of requests.

use crate::common::set;
use crate::directions::case::{Case, Predicted, about, case};
use crate::directions::requests::{KIB, bytes, four_sigma, recorded};

const REQUESTS: f64 = 1_000.0;

fn reads(parameter: &'static str) -> Case {
    case(parameter)
        .text("[[workload]]\nname = \"host\"\nreads = \"100 %\"\n[run]\nrequests = 1000\n")
        .given(&[recorded()])
}

/// The smallest and the largest of the requests.
fn range(scene: &crate::directions::case::Scene) -> [u64; 2] {
    let bytes = bytes(&scene.run());
    [*bytes.iter().min().expect("requests"), *bytes.iter().max().expect("requests")]
}

/// The mean of an exponential of `mean` units that is rounded up to whole ones: a geometric
/// distribution, 1 / (1 - q) with q = e^(-1 / mean), and four times the standard deviation of the
/// mean of all requests, √q / (1 - q).
fn rounded_up(mean: f64) -> Predicted {
    let q = libm::exp(-1.0 / mean);
    about(1.0 / (1.0 - q), 4.0 * libm::sqrt(q) / (1.0 - q) / libm::sqrt(REQUESTS))
}

pub fn cases() -> Vec<Case> {
    let list = "[{ size = '4 KiB', share = '80 %' }, { size = '8 KiB', share = '20 %' }]";
    let exponential = set("workload[0].size", "{ mean = '8 KiB' }");
    vec![
        reads("workload.size")
            .see("the smallest and the largest request", range)
            .under([
                ("4 KiB", [4 * KIB, 4 * KIB]),
                ("512 B", [512, 512]),
                ("64 KiB", [64 * KIB, 64 * KIB]),
            ])
            .left_out([4 * KIB, 4 * KIB]),
        reads("workload.size.size")
            .at("workload[0].size[1].size")
            .given(&[set("workload[0].size", list)])
            .see("the smallest and the largest request", range)
            .under([("8 KiB", [4 * KIB, 8 * KIB]), ("64 KiB", [4 * KIB, 64 * KIB])]),
        reads("workload.size.share")
            .at("workload[0].size")
            .see("small requests of 1000", |scene| {
                let small = bytes(&scene.run()).into_iter().filter(|bytes| *bytes == 4 * KIB);
                small.count() as u64
            })
            .under([
                (list, about(800.0, four_sigma(REQUESTS, 0.8))),
                (
                    "[{ size = '4 KiB', share = '30 %' }, { size = '8 KiB', share = '70 %' }]",
                    about(300.0, four_sigma(REQUESTS, 0.3)),
                ),
            ]),
        reads("workload.size.mean")
            .see("the mean of the requests, of 4 KiB", |scene| {
                bytes(&scene.run()).iter().sum::<u64>() as f64 / (4 * KIB) as f64 / REQUESTS
            })
            .under([
                ("4 KiB", rounded_up(1.0)),
                ("8 KiB", rounded_up(2.0)),
                ("32 KiB", rounded_up(8.0)),
            ]),
        // One in so many is of a unit: nearly all of 1000 are larger than the smallest.
        reads("workload.size.round_up_to")
            .given(std::slice::from_ref(&exponential))
            .see("the smallest request", |scene| range(scene)[0])
            .left_out(4 * KIB)
            .under([("1 KiB", KIB), ("4 KiB", 4 * KIB), ("16 KiB", 16 * KIB)]),
        // A draw exceeds twice its mean in 13 % of all cases.
        reads("workload.size.max")
            .given(&[exponential])
            .see("the largest request", |scene| range(scene)[1])
            .under([("8 KiB", 8 * KIB), ("16 KiB", 16 * KIB)]),
    ]
}
