//! Users of the drive: names, ranks, parts of the drive, kinds of request, and the beginning and
//! end of an initiator.

use crate::common::{Override, set};
use crate::directions::case::{Case, about, case};
use crate::directions::requests::{
    KIB, PAGE, READ, US, arrivals_us, count, four_sigma, latency, offsets, recorded, requests,
};
use host::Kind;

/// A workload and a run.
fn host(workload: &str, run: &str) -> String {
    format!("[[workload]]\nname = \"host\"\n{workload}\n[run]\n{run}\n")
}

/// A closed loop of reads, one by one.
fn reads(parameter: &'static str, requests: u64) -> Case {
    case(parameter)
        .filled()
        .text(host("reads = \"100 %\"", &format!("requests = {requests}")))
        .given(&[recorded()])
}

/// The drive exports so many pages.
fn exported(pages: u64) -> Override {
    set("ftl.over_provisioning.exported", format!("{} B", pages * PAGE))
}

/// Four initiators with a read each: one that occupies the die, one of normal and one of low rank
/// that wait, and behind them the one whose rank is changed.
const RANKED: &str = "[[workload]]\nname = \"ranked\"\nstart = \"30 us\"\n\
    reads = \"100 %\"\nstop = { requests = 1 }\n\
    [[workload]]\nname = \"first\"\nreads = \"100 %\"\nstop = { requests = 1 }\n\
    [[workload]]\nname = \"normal\"\nstart = \"10 us\"\nreads = \"100 %\"\nstop = { requests = 1 }\n\
    [[workload]]\nname = \"low\"\nstart = \"20 us\"\nreads = \"100 %\"\nstop = { requests = 1 }\n\
    priority = \"low\"\n[run]\nrequests = 4\n";

const REQUESTS: u64 = 1_000;

/// A mix in which one kind has a share, and another the rest.
fn of_mix(
    parameter: &'static str,
    kind: Kind,
    rest: &'static str,
    mixes: [&'static str; 2],
) -> Case {
    let counted = |share: f64| about(REQUESTS as f64 * share, four_sigma(REQUESTS as f64, share));
    let [few, many] = mixes;
    case(parameter)
        .at("workload[0].mix")
        .beside(&[rest])
        .text(host("", &format!("requests = {REQUESTS}")))
        .see("requests of the kind, of 1000", move |scene| count(&scene.run(), kind))
        .under([(few, counted(0.2)), (many, counted(0.6))])
}

fn mixes() -> Vec<Case> {
    let (read, write) = ("workload.mix.read", "workload.mix.write");
    vec![
        of_mix(
            read,
            Kind::Read,
            write,
            ["{ read = '20 %', write = '80 %' }", "{ read = '60 %', write = '40 %' }"],
        ),
        of_mix(
            write,
            Kind::Write,
            read,
            ["{ write = '20 %', read = '80 %' }", "{ write = '60 %', read = '40 %' }"],
        ),
        of_mix(
            "workload.mix.trim",
            Kind::Trim,
            write,
            ["{ trim = '20 %', write = '80 %' }", "{ trim = '60 %', write = '40 %' }"],
        ),
        of_mix(
            "workload.mix.flush",
            Kind::Flush,
            write,
            ["{ flush = '20 %', write = '80 %' }", "{ flush = '60 %', write = '40 %' }"],
        ),
        of_mix(
            "workload.mix.write_zeroes",
            Kind::WriteZeroes,
            write,
            [
                "{ write_zeroes = '20 %', write = '80 %' }",
                "{ write_zeroes = '60 %', write = '40 %' }",
            ],
        ),
    ]
}

/// The alignment of one of two kinds; the other keeps its own.
fn aligned(kind: Kind, parameter: &'static str) -> Case {
    let (name, other) = (kind.name(), if kind == Kind::Write { "read" } else { "write" });
    let workload = format!(
        "mix = {{ {name} = \"50 %\", {other} = \"50 %\" }}\nalign = {{ {other} = \"8 KiB\" }}"
    );
    case(parameter)
        .text(host(&workload, "requests = 1000"))
        .given(&[recorded()])
        .see("the greatest common divisors of the addresses of both kinds", move |scene| {
            let run = scene.run();
            let (mine, others): (Vec<_>, Vec<_>) =
                requests(&run).into_iter().partition(|request| request.command.kind == kind);
            [mine, others].map(|of| {
                of.iter().map(|request| request.command.offset).fold(0, greatest_common_divisor)
            })
        })
        .left_out([4 * KIB, 8 * KIB])
        .under([("512 B", [512, 8 * KIB]), ("12 KiB", [12 * KIB, 8 * KIB])])
}

pub fn cases() -> Vec<Case> {
    let half = REQUESTS as f64 / 2.0;
    let mut all = vec![
        reads("workload.name", 1)
            .see("the initiator's name in the results", |scene| {
                scene.run().measured().initiators()[0].name.clone()
            })
            .under([("database", "database"), ("backup", "backup")]),
        // The numbers that a workload draws depend on its name.
        reads("workload.name", 100)
            .see("the addresses of 100 requests", |scene| format!("{:?}", offsets(&scene.run())))
            .differs(["database", "backup"]),
        // The die is busy until 125 us; then the waiting reads are served by rank.
        case("workload.priority")
            .filled()
            .text(RANKED)
            .given(&[recorded()])
            .see("a read behind others of normal and of low rank, ns", |scene| {
                let run = scene.run();
                let all = requests(&run);
                latency(all.iter().find(|request| request.initiator == 0).expect("it came"))
            })
            .under([
                ("high", 2 * READ - 30 * US),
                ("normal", 3 * READ - 30 * US),
                ("low", 4 * READ - 30 * US),
            ])
            .left_out(3 * READ - 30 * US),
        // 700 errors of a codeword take four re-reads.
        reads("workload.read_recovery_level", 1)
            .given(&crate::errors::errors(700.5, 0.0))
            .given(&[
                set("nand.decode", "0 us"),
                crate::errors::ladder(3),
                set("ftl.read_recovery_levels", "{ 9 = 'ladder', 15 = 'none' }"),
            ])
            .see("a read, ns", |scene| latency(&requests(&scene.run())[0]))
            .under([("9", 5 * READ), ("15", READ), ("4", 4 * READ)])
            .left_out(4 * READ),
        reads("workload.start", 2)
            .see("when two reads come, us", |scene| arrivals_us(&scene.run()))
            .left_out([0.0, 125.0])
            .under([("0 us", [0.0, 125.0]), ("100 us", [100.0, 225.0])]),
        // Of 300 pages, a quarter is 75, and 0.5 % is one and a half, of which one counts.
        reads("workload.region.offset", 3)
            .given(&[set("workload[0].addresses", "sequential"), exported(300)])
            .see("where three reads begin", |scene| offsets(&scene.run()))
            .left_out([0, PAGE, 2 * PAGE])
            .under([
                ("25 %", [75 * PAGE, 76 * PAGE, 77 * PAGE]),
                ("0.5 %", [PAGE, 2 * PAGE, 3 * PAGE]),
                ("8 KiB", [2 * PAGE, 3 * PAGE, 4 * PAGE]),
                ("1000 KiB", [250 * PAGE, 251 * PAGE, 252 * PAGE]),
            ]),
        // At its end it starts over. Of 300 pages, 0.9 % is 2.7, of which two count.
        reads("workload.region.size", 5)
            .given(&[set("workload[0].addresses", "sequential"), exported(300)])
            .see("where five reads begin", |scene| offsets(&scene.run()))
            .left_out([0, 1, 2, 3, 4].map(|page| page * PAGE))
            .under([
                ("1 %", [0, 1, 2, 0, 1].map(|page| page * PAGE)),
                ("0.9 %", [0, 1, 0, 1, 0].map(|page| page * PAGE)),
                ("8 KiB", [0, 1, 0, 1, 0].map(|page| page * PAGE)),
                ("16 KiB", [0, 1, 2, 3, 0].map(|page| page * PAGE)),
            ]),
        case("workload.reads")
            .text(host("", &format!("requests = {REQUESTS}")))
            .see("reads of 1000 requests", |scene| count(&scene.run(), Kind::Read))
            .under([
                ("0 %", 0.0.into()),
                ("50 %", about(half, four_sigma(1e3, 0.5))),
                ("100 %", 1e3.into()),
            ]),
        // Offsets are multiples of it: the measured figure is their greatest common divisor.
        reads("workload.align", 1_000)
            .see("the greatest common divisor of the addresses", |scene| {
                offsets(&scene.run()).into_iter().fold(0, greatest_common_divisor)
            })
            .left_out(4 * KIB)
            .under([("512 B", 512), ("4 KiB", 4 * KIB), ("12 KiB", 12 * KIB)]),
        aligned(Kind::Read, "workload.align.read"),
        aligned(Kind::Write, "workload.align.write"),
        aligned(Kind::Trim, "workload.align.trim"),
        aligned(Kind::WriteZeroes, "workload.align.write_zeroes"),
        // Of 1000 requests a flush follows each nth write: 1000 / (n + 1) of them.
        case("workload.flush_every")
            .text(host("reads = \"0 %\"", "requests = 1000"))
            .see("flushes of 1000 requests", |scene| count(&scene.run(), Kind::Flush))
            .left_out(0)
            .under([("1", 500), ("3", 250), ("9", 100), ("999", 1)]),
        // Reads come 125 us apart from 0 us on.
        reads("workload.stop.time", 100)
            .see("requests", |scene| scene.run().issued())
            .left_out(100)
            .under([("500 us", 4), ("501 us", 5), ("1 ms", 8)]),
        reads("workload.stop.requests", 100)
            .see("requests", |scene| scene.run().issued())
            .left_out(100)
            .under([("5", 5), ("9", 9)]),
        reads("workload.stop.bytes", 100)
            .see("requests", |scene| scene.run().issued())
            .left_out(100)
            .under([("8 KiB", 2), ("9 KiB", 3), ("40 KiB", 10)]),
    ];
    all.extend(mixes());
    all
}

fn greatest_common_divisor(one: u64, other: u64) -> u64 {
    if other == 0 { one } else { greatest_common_divisor(other, one % other) }
}
