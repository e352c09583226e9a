//! Sizes of requests.

use crate::common::set;
use crate::directions::case::{Case, Predicted, about, case};
use crate::directions::requests::{KIB, bytes, four_sigma, recorded, requests};
use host::Kind;

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

/// The kinds whose requests have a size, the place of that size in a configuration, and the names of
/// its parameters.
const KINDS: [(Kind, &str, [&str; 6]); 4] = [
    (
        Kind::Read,
        "workload[0].size.read",
        [
            "workload.size.read",
            "workload.size.read.size",
            "workload.size.read.share",
            "workload.size.read.mean",
            "workload.size.read.round_up_to",
            "workload.size.read.max",
        ],
    ),
    (
        Kind::Write,
        "workload[0].size.write",
        [
            "workload.size.write",
            "workload.size.write.size",
            "workload.size.write.share",
            "workload.size.write.mean",
            "workload.size.write.round_up_to",
            "workload.size.write.max",
        ],
    ),
    (
        Kind::Trim,
        "workload[0].size.trim",
        [
            "workload.size.trim",
            "workload.size.trim.size",
            "workload.size.trim.share",
            "workload.size.trim.mean",
            "workload.size.trim.round_up_to",
            "workload.size.trim.max",
        ],
    ),
    (
        Kind::WriteZeroes,
        "workload[0].size.write_zeroes",
        [
            "workload.size.write_zeroes",
            "workload.size.write_zeroes.size",
            "workload.size.write_zeroes.share",
            "workload.size.write_zeroes.mean",
            "workload.size.write_zeroes.round_up_to",
            "workload.size.write_zeroes.max",
        ],
    ),
];

/// Sizes of the requests of one kind, beside those of another kind, which stay as they are.
fn of_kind(kind: Kind, parameter: &'static str) -> Case {
    let name = kind.name();
    let other = if kind == Kind::Write { "read" } else { "write" };
    case(parameter)
        .text(format!(
            "[[workload]]\nname = \"host\"\nmix = {{ {name} = \"50 %\", {other} = \"50 %\" }}\n\
             size.{other} = \"16 KiB\"\n[run]\nrequests = 2000\n"
        ))
        .given(&[recorded()])
}

/// Bytes of the requests of a kind; those of the other kind are 16 KiB.
fn bytes_of(scene: &crate::directions::case::Scene, kind: Kind) -> Vec<u64> {
    let run = scene.run();
    let (mine, others): (Vec<_>, Vec<_>) =
        requests(&run).into_iter().partition(|request| request.command.kind == kind);
    assert!(
        others.iter().all(|request| request.command.bytes == 16 * KIB),
        "the other kind keeps its size"
    );
    mine.iter().map(|request| request.command.bytes).collect()
}

fn by_kind() -> Vec<Case> {
    let mut cases = Vec::new();
    for (kind, at, [whole, size, share, mean, unit, max]) in KINDS {
        let list = "[{ size = '4 KiB', share = '80 %' }, { size = '8 KiB', share = '20 %' }]";
        let range = move |scene: &crate::directions::case::Scene| {
            let bytes = bytes_of(scene, kind);
            [*bytes.iter().min().expect("requests"), *bytes.iter().max().expect("requests")]
        };
        let exponential = set(at, "{ mean = '8 KiB' }");
        let mean_of = move |scene: &crate::directions::case::Scene| {
            let bytes = bytes_of(scene, kind);
            bytes.iter().sum::<u64>() as f64 / (4 * KIB) as f64 / bytes.len() as f64
        };
        cases.extend([
            of_kind(kind, whole)
                .see("the smallest and the largest request of the kind", range)
                .under([("4 KiB", [4 * KIB, 4 * KIB]), ("64 KiB", [64 * KIB, 64 * KIB])]),
            of_kind(kind, size)
                .at(&format!("{at}[1].size"))
                .given(&[set(at, list)])
                .see("the smallest and the largest request of the kind", range)
                .under([("8 KiB", [4 * KIB, 8 * KIB]), ("64 KiB", [4 * KIB, 64 * KIB])]),
            // Some thousand requests are of the kind: a share of 80 % has a standard error of 1.3 %.
            of_kind(kind, share)
                .at(at)
                .see("share of small requests", move |scene| {
                    let bytes = bytes_of(scene, kind);
                    let small = bytes.iter().filter(|bytes| **bytes == 4 * KIB).count();
                    small as f64 / bytes.len() as f64
                })
                .under([
                    (list, about(0.8, 0.055)),
                    (
                        "[{ size = '4 KiB', share = '30 %' }, { size = '8 KiB', share = '70 %' }]",
                        about(0.3, 0.06),
                    ),
                ]),
            of_kind(kind, mean)
                .see("the mean of the requests of the kind, of 4 KiB", mean_of)
                .under([("4 KiB", rounded_up(1.0)), ("32 KiB", rounded_up(8.0))]),
            of_kind(kind, unit)
                .given(std::slice::from_ref(&exponential))
                .see("the smallest request of the kind", move |scene| range(scene)[0])
                .left_out(4 * KIB)
                .under([("1 KiB", KIB), ("16 KiB", 16 * KIB)]),
            of_kind(kind, max)
                .given(&[exponential])
                .see("the largest request of the kind", move |scene| range(scene)[1])
                .under([("8 KiB", 8 * KIB), ("16 KiB", 16 * KIB)]),
        ]);
    }
    cases
}

pub fn cases() -> Vec<Case> {
    let list = "[{ size = '4 KiB', share = '80 %' }, { size = '8 KiB', share = '20 %' }]";
    let exponential = set("workload[0].size", "{ mean = '8 KiB' }");
    let of_all = vec![
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
    ];
    of_all.into_iter().chain(by_kind()).collect()
}
