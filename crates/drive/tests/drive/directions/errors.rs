//! Bit errors of flash, and read recovery.

use crate::common::{Bench, Override, set};
use crate::directions::case::{Case, Scene, about, case};
use crate::directions::requests::{PAGE, US};
use host::Kind;

/// A rate of 1 error in a codeword of 512 bytes.
const ONE: f64 = 1.0 / 4096.0;
/// Senses and transfers of a page.
const READ: u64 = 125 * US;

/// Blocks of 3 cycles, programmed 2 days ago.
fn aged() -> [Override; 2] {
    [set("nand.errors.initial_cycles", 3), set("nand.errors.initial_age", "48 h")]
}

/// A codeword has 10 errors when new, and cycles^2 of wear, cycles * days^2 of retention, and cycles *
/// reads^2 of disturb.
fn law() -> Vec<Override> {
    vec![
        set("nand.errors.codeword", "512 B"),
        set("nand.errors.re_read_scale", 2.0),
        set("nand.errors.constants.base", 10.0 * ONE),
        set("nand.errors.constants.wear", format!("{{ factor = {ONE}, exponent = 2.0 }}")),
        set(
            "nand.errors.constants.retention",
            format!("{{ factor = {ONE}, cycles_exponent = 1.0, days_exponent = 2.0 }}"),
        ),
        set(
            "nand.errors.constants.disturb",
            format!("{{ factor = {ONE}, cycles_exponent = 1.0, reads_exponent = 2.0 }}"),
        ),
    ]
}

/// Thousandths of the expected errors of a codeword of a page, when its block has been read twice: 10 +
/// 9 + 12 + 12 on the drive above.
fn thousandths(scene: &Scene) -> u64 {
    let mut bench = scene.bench();
    let sum = |bench: &Bench| {
        let errors = bench.device.errors().expect("flash has errors");
        errors.mean_errors().unwrap_or(0.0) * errors.first_decodes() as f64
    };
    bench.alone(Kind::Read, 0, PAGE);
    bench.alone(Kind::Read, 8 * PAGE, PAGE);
    let before = sum(&bench);
    let words = bench.device.errors().map_or(0, |errors| errors.first_decodes()) / 2;
    bench.alone(Kind::Read, 8 * PAGE, PAGE);
    ((sum(&bench) - before) / words as f64 * 1000.0).round() as u64
}

fn of_law(parameter: &'static str) -> Case {
    let what = "errors of a codeword, in thousandths";
    case(parameter).filled().given(&law()).see(what, thousandths)
}

/// As [`of_law`], with blocks of 3 cycles and data of 2 days, as far as the case does not change
/// that.
fn of_aged(parameter: &'static str) -> Case {
    of_law(parameter).given(&aged())
}

/// Reads of a page whose codewords have a number of errors.
fn recovered(parameter: &'static str, errors: f64, more: &[Override]) -> Case {
    let flash = [
        set("nand.errors.codeword", "512 B"),
        set("nand.errors.counting", "expected"),
        set("nand.errors.corrects", 75),
        set("nand.errors.re_read_scale", 2.0),
        set("nand.errors.constants.base", errors * ONE),
        set("nand.errors.constants.wear", "{ factor = 0.0, exponent = 1.0 }"),
        set(
            "nand.errors.constants.retention",
            "{ factor = 0.0, cycles_exponent = 1.0, days_exponent = 1.0 }",
        ),
        set(
            "nand.errors.constants.disturb",
            "{ factor = 0.0, cycles_exponent = 1.0, reads_exponent = 1.0 }",
        ),
    ];
    case(parameter).filled().given(&flash).given(more)
}

fn latency(scene: &Scene) -> u64 {
    scene.bench().alone(Kind::Read, 0, PAGE).latency()
}

fn failed(scene: &Scene) -> u64 {
    u64::from(scene.bench().alone(Kind::Read, 0, PAGE).failed)
}

fn of_rate() -> Vec<Case> {
    vec![
        of_aged("drive.nand.errors.constants.base")
            .under([("0.0", 33_000), ("0.00244140625", 43_000)]),
        of_aged("drive.nand.errors.constants.wear.factor")
            .under([("0.0", 34_000), ("0.000244140625", 43_000)]),
        of_aged("drive.nand.errors.constants.wear.exponent")
            .under([("1.0", 37_000), ("2.0", 43_000)]),
        of_aged("drive.nand.errors.constants.retention.factor")
            .under([("0.0", 31_000), ("0.000244140625", 43_000)]),
        of_aged("drive.nand.errors.constants.retention.cycles_exponent")
            .under([("0.0", 35_000), ("1.0", 43_000)]),
        of_aged("drive.nand.errors.constants.retention.days_exponent")
            .under([("1.0", 37_000), ("2.0", 43_000)]),
        of_aged("drive.nand.errors.constants.disturb.factor")
            .under([("0.0", 31_000), ("0.000244140625", 43_000)]),
        of_aged("drive.nand.errors.constants.disturb.cycles_exponent")
            .under([("0.0", 35_000), ("1.0", 43_000)]),
        of_aged("drive.nand.errors.constants.disturb.reads_exponent")
            .under([("1.0", 37_000), ("2.0", 43_000)]),
        of_aged("drive.nand.errors.codeword").under([("512 B", 43_000), ("1 KiB", 86_000)]),
    ]
}

fn of_beginning() -> Vec<Case> {
    let age = || of_law("drive.nand.errors.initial_age").given(&aged()[..1]);
    vec![
        of_aged("drive.nand.errors.initial_cycles").under([("3", 43_000), ("5", 75_000)]),
        age().under([("48 h", 43_000), ("72 h", 58_000)]),
        // The greatest of these values is no draw.
        of_law("drive.nand.errors.initial_cycles.from")
            .given(&[set("nand.errors.initial_cycles.to", 20)])
            .rises(1.01, ["0", "20"]),
        of_law("drive.nand.errors.initial_cycles.to")
            .given(&[set("nand.errors.initial_cycles.from", 0)])
            .rises(1.01, ["0", "20"]),
        of_law("drive.nand.errors.initial_cycles.mean")
            .given(&[set("nand.errors.initial_cycles.deviation", 0)])
            .under([("3", 31_000), ("5", 55_000)]),
        of_law("drive.nand.errors.initial_cycles.deviation")
            .given(&[set("nand.errors.initial_cycles.mean", 20)])
            .differs(["0", "10"]),
        of_law("drive.nand.errors.initial_age.from")
            .given(&aged()[..1])
            .given(&[set("nand.errors.initial_age.to", "96 h")])
            .rises(1.01, ["0 s", "96 h"]),
        of_law("drive.nand.errors.initial_age.to")
            .given(&aged()[..1])
            .given(&[set("nand.errors.initial_age.from", "0 s")])
            .rises(1.01, ["0 s", "96 h"]),
        of_law("drive.nand.errors.initial_age.mean")
            .given(&aged()[..1])
            .given(&[set("nand.errors.initial_age.deviation", "0 s")])
            .under([("48 h", 43_000), ("72 h", 58_000)]),
        of_law("drive.nand.errors.initial_age.deviation")
            .given(&aged()[..1])
            .given(&[set("nand.errors.initial_age.mean", "48 h")])
            .differs(["0 s", "24 h"]),
        of_aged("drive.nand.errors.spread.blocks").differs(["1 %", "20 %"]),
        of_aged("drive.nand.errors.spread.pages").differs(["1 %", "20 %"]),
        of_aged("drive.nand.errors.spread.layers")
            .given(&[set("nand.errors.spread.layer_count", 2)])
            .differs(["1 %", "20 %"]),
        // The page is in the second layer of two, and in the third of four.
        of_aged("drive.nand.errors.spread.layer_count")
            .given(&[set("nand.errors.spread.layers", "20 %")])
            .differs(["2", "4"]),
    ]
}

/// A drive of eight dies on channels of their own, whose stripes have parity, and on which every
/// bit is wrong: six re-reads leave 64 errors in a codeword.
fn of_stripes(parameter: &'static str) -> Case {
    of_widths(parameter, "{ host = 8, collection = 8 }")
}

fn of_widths(parameter: &'static str, width: &str) -> Case {
    recovered(parameter, 4096.0, &[]).given(&[
        set("geometry.channels", 8),
        set("ftl.allocation.streams", "separate"),
        set("ftl.over_provisioning.reserved", "60 %"),
        set("ftl.superblock", format!("{{ dies = 8, width = {width} }}")),
    ])
}

fn re_reads(scene: &Scene) -> u64 {
    let mut bench = scene.bench();
    bench.alone(Kind::Write, 0, PAGE);
    bench.alone(Kind::Read, 0, PAGE);
    bench.device.errors().map_or(0, |errors| errors.re_reads[0])
}

pub fn cases() -> Vec<Case> {
    let one = [set("ftl.read_recovery", "{ policy = \"ladder\", re_reads = 1 }")];
    let soft_decoding =
        [set("nand.errors.soft_decoding", "{ corrects = 100, senses = 3, decode = \"40 us\" }")];
    let softly = |parameter| recovered(parameter, 190.5, &[&one[..], &soft_decoding].concat());
    let mut cases = of_rate();
    cases.extend(of_beginning());
    cases.extend([
        // Errors of the fact sheet's table after 1000 cycles; of both MLC by the same law.
        case("drive.nand.errors.chip")
            .filled()
            .given(&[
                set("nand.errors.codeword", "512 B"),
                set("nand.errors.re_read_scale", 2.0),
                set("nand.errors.initial_cycles", 1_000),
            ])
            .see("errors of a codeword", |scene| {
                let mut bench = scene.bench();
                bench.alone(Kind::Read, 0, PAGE);
                bench.device.errors().and_then(|errors| errors.mean_errors()).expect("a read")
            })
            .under([
                ("tlc-72-layer", about(8.32, 0.005)),
                ("mlc-2y-nm", about(0.360, 0.001)),
                ("mlc-3x-nm", about(3.37e-4, 1e-6)),
            ]),
        of_law("drive.nand.errors.codewords_per_page")
            .see("codewords of a page", |scene| {
                let mut bench = scene.bench();
                bench.alone(Kind::Read, 0, PAGE);
                bench.device.errors().map_or(0, |errors| errors.first_decodes())
            })
            .under([("8", 8), ("2", 2)])
            .left_out(8),
        recovered("drive.nand.errors.corrects", 200.5, &[])
            .see("a read, ns", latency)
            .under([("75", 3 * READ), ("150", 2 * READ)]),
        recovered("drive.nand.errors.re_read_scale", 200.5, &[])
            .see("a read, ns", latency)
            .under([("2.0", 3 * READ), ("3.0", 2 * READ)]),
        // Of eight codewords with 75.5 errors on average, one has more than 75 in 995 of 1000 reads, and
        // none of those after a re-read.
        recovered("drive.nand.errors.counting", 75.5, &[])
            .see("a read, ns", latency)
            .under([("drawn", 2 * READ), ("expected", READ)]),
        softly("drive.nand.errors.soft_decoding.corrects")
            .see("failed units", failed)
            .under([("100", 0), ("90", 1)]),
        softly("drive.nand.errors.soft_decoding.senses")
            .see("a read, ns", latency)
            .under([("1", 3 * READ + 40 * US), ("3", 5 * READ + 40 * US)]),
        softly("drive.nand.errors.soft_decoding.decode")
            .see("a read, ns", latency)
            .under([("0 us", 5 * READ), ("40 us", 5 * READ + 40 * US)]),
        recovered("drive.ftl.read_recovery(ladder).re_reads", 700.5, &one)
            .see("failed units", failed)
            .under([("1", 1), ("4", 0)]),
        recovered("drive.ftl.read_recovery.policy", 700.5, &[])
            .at("drive.ftl.read_recovery")
            .beside(&["drive.ftl.read_recovery(ladder).re_reads"])
            .see("failed units", failed)
            .under([("{ policy = \"ladder\", re_reads = 4 }", 0), ("{ policy = \"none\" }", 1)])
            .left_out(0),
        of_stripes("drive.ftl.read_recovery.policy")
            .at("drive.ftl.read_recovery")
            .beside(&[
                "drive.ftl.read_recovery(ladder).re_reads",
                "drive.ftl.read_recovery(conditional).protected",
            ])
            .see("re-reads", re_reads)
            .under([
                ("{ policy = \"ladder\", re_reads = 4 }", 4),
                ("{ policy = \"conditional\", protected = 2 }", 2),
            ]),
        of_stripes("drive.ftl.read_recovery(conditional).protected")
            .given(&[set("ftl.read_recovery", "{ policy = \"conditional\", protected = 1 }")])
            .see("re-reads", re_reads)
            .under([("1", 1), ("3", 3)]),
        // Hosts write without parity.
        of_widths("drive.ftl.read_recovery(conditional).unprotected", "{ collection = 8 }")
            .given(&[set("ftl.read_recovery", "{ policy = \"conditional\", protected = 1 }")])
            .see("re-reads", re_reads)
            .under([("2", 2), ("3", 3)]),
        of_stripes("drive.ftl.superblock.xor")
            .given(&[set("ftl.read_recovery", "{ policy = \"ladder\", re_reads = 0 }")])
            .see("a read that is rebuilt from memory, ns", |scene| {
                let mut bench = scene.bench();
                bench.alone(Kind::Write, 0, PAGE);
                bench.alone(Kind::Read, 0, PAGE).latency()
            })
            .under([("0 us", READ), ("7 us", READ + 7 * US)])
            .left_out(READ),
    ]);
    cases.extend(of_levels());
    cases
}

/// A read of level 15, for which the drive has a policy of its own.
fn at_level(parameter: &'static str, width: &str) -> Case {
    of_widths(parameter, width)
        .given(&[set("ftl.read_recovery", "{ policy = \"ladder\", re_reads = 6 }")])
        .see("re-reads", |scene| {
            let mut bench = scene.bench();
            bench.alone(Kind::Write, 0, PAGE);
            let now = bench.settle();
            bench.read_at_level(now, 15, 0, PAGE);
            bench.settle();
            bench.device.errors().map_or(0, |errors| errors.re_reads[0])
        })
}

fn of_levels() -> Vec<Case> {
    let both = "{ host = 8, collection = 8 }";
    let conditional =
        [set("ftl.read_recovery_levels.15", "{ policy = \"conditional\", protected = 1 }")];
    vec![
        at_level("drive.ftl.read_recovery_levels.*.policy", both)
            .at("drive.ftl.read_recovery_levels.15")
            .beside(&[
                "drive.ftl.read_recovery_levels.*(ladder).re_reads",
                "drive.ftl.read_recovery_levels.*(conditional).protected",
            ])
            .under([
                ("{ policy = \"none\" }", 0),
                ("{ policy = \"ladder\", re_reads = 4 }", 4),
                ("{ policy = \"conditional\", protected = 2 }", 2),
            ]),
        at_level("drive.ftl.read_recovery_levels.*(ladder).re_reads", both)
            .at("drive.ftl.read_recovery_levels.15.re_reads")
            .given(&[set("ftl.read_recovery_levels.15", "{ policy = \"ladder\" }")])
            .under([("1", 1), ("3", 3)])
            .left_out(6),
        at_level("drive.ftl.read_recovery_levels.*(conditional).protected", both)
            .at("drive.ftl.read_recovery_levels.15.protected")
            .given(&conditional)
            .under([("1", 1), ("3", 3)]),
        // Hosts write without parity.
        at_level("drive.ftl.read_recovery_levels.*(conditional).unprotected", "{ collection = 8 }")
            .at("drive.ftl.read_recovery_levels.15.unprotected")
            .given(&conditional)
            .under([("2", 2), ("3", 3)]),
    ]
}
