//! Durations of flash commands, the rate of a channel, and endurance.

use crate::common::{Override, set};
use crate::directions::case::{Case, REFUSED, Scene, case};
use crate::directions::requests::{KIB, PAGE, READ, US, WRITE};
use crate::poised::{page, shape};
use drive::OpKind;
use host::Kind;
use metrics::Holder;

/// Reads of the first five pages of a block, one by one.
fn reads(scene: &Scene) -> Vec<u64> {
    let mut bench = scene.bench();
    (0..5).map(|row| bench.alone(Kind::Read, row * PAGE, PAGE).latency() / US).collect()
}

/// Writes of the first five pages of a block, one by one.
fn writes(scene: &Scene) -> Vec<u64> {
    let mut bench = scene.bench();
    (0..5).map(|row| bench.alone(Kind::Write, row * PAGE, PAGE).latency() / US).collect()
}

fn of_reads(parameter: &'static str) -> Case {
    case(parameter).filled().see("reads of rows 0 to 4, us", reads)
}

fn of_parts(parameter: &'static str) -> Case {
    case(parameter).filled().see("reads of parts of pages, ns", |scene| {
        let mut bench = scene.bench();
        let parts = [(0, KIB / 2), (3 * KIB / 2, KIB), (15 * KIB / 2, KIB)];
        parts.map(|(at, length)| bench.alone(Kind::Read, at, length).latency())
    })
}

/// On the drive that is one write away from collecting: the write, the move of a page and three
/// steps of an erase of 500 us each, unless overridden.
fn of_an_erase(parameter: &'static str) -> Case {
    let erase =
        "{ steps = 3, ramp = '0 us', execute = '500 us', recover = '0 us', verify = '0 us' }";
    case(parameter)
        .given(&shape(&[set("nand.erase", erase), set("precondition.fill", "sequential")]))
        .see("from a write to the end of the erase that it causes, ns", |scene| {
            let mut bench = scene.bench();
            for number in [0, 1, 2, 4] {
                bench.alone(Kind::Write, page(0, number), PAGE);
            }
            let start = bench.settle();
            bench.alone(Kind::Write, page(0, 5), PAGE);
            bench.settle() - start
        })
}

const BEFORE: u64 = WRITE + READ + WRITE;
const ERASE: u64 = 1_500 * US;

/// The first collection after writes of some pages of die 0, if pages are copied back.
fn of_copies(rewritten: &'static [u64]) -> Case {
    case("drive.nand.copy_back_pages")
        .given(&shape(&[set("precondition.fill", "sequential")]))
        .given(&[set("ftl.gc.copy_back", "true"), set("ftl.gc.preemptible", "false")])
        .see("pages without data, copies, and moves through the controller", |scene| {
            moved(scene, rewritten)
        })
}

fn moved(scene: &Scene, rewritten: &[u64]) -> [u64; 3] {
    let mut bench = scene.bench();
    for number in rewritten.iter().chain([&9]) {
        bench.alone(Kind::Write, page(0, *number), PAGE);
    }
    bench.settle();
    let counters = bench.device.counters();
    let commands = |kind, holder| counters.commands(kind, holder);
    assert_eq!(commands(OpKind::Erase, Holder::Erase), 1, "it collected once");
    [
        bench.device.ftl().tally.skipped,
        commands(OpKind::CopyBack, Holder::GcProgram),
        commands(OpKind::Program, Holder::GcProgram),
    ]
}

/// The share of the first erases that retired their block.
fn retired_by_an_erase(scene: &Scene) -> f64 {
    let mut bench = scene.bench();
    while bench.device.ftl().tally.erases < 3 {
        bench.alone(Kind::Write, 0, PAGE);
    }
    let tally = bench.device.ftl().tally;
    tally.retired as f64 / tally.erases as f64
}

/// State of a drive whose list has a figure for each page type of one kind of cell; others cannot
/// have such a list.
fn typed(scene: &Scene) -> String {
    match scene.try_experiment() {
        Ok(_) => format!("{:?}", reads(scene)),
        Err(problems) if problems.contains("drive.nand.read") => REFUSED.into(),
        Err(problems) => panic!("{problems}"),
    }
}

/// Cycles of commands that take no time.
fn cycles() -> Override {
    set("nand.command_cycles", "{ read = '0 us', program = '0 us', erase = '0 us' }")
}

pub fn cases() -> Vec<Case> {
    let typed_cell = |list: &str| {
        let given = [set("nand.read", list)];
        case("drive.nand.cell").filled().given(&given).see("reads of rows 0 to 4, us", typed)
    };
    vec![
        // Page 2 of the victim is copied behind page 0 of a block: to page 1, or to page 2.
        of_copies(&[0, 1, 3, 4])
            .left_out([0, 1, 0])
            .under([("any", [0, 1, 0]), ("odd-even", [1, 1, 0])]),
        // Copies of pages 0 and 2 would take pages 2 and 4 behind page 0, and so gain nothing: four
        // pages go, and four come.
        of_copies(&[1, 3, 4, 6])
            .left_out([0, 2, 0])
            .under([("any", [0, 2, 0]), ("odd-even", [0, 0, 2])]),
        // Row i is of type i mod the bits of a cell.
        of_reads("drive.nand.cell").at("drive.nand").beside(&["drive.nand.read"]).under([
            ("{ cell = 'slc', read = ['25 us'] }", [125, 125, 125, 125, 125]),
            ("{ cell = 'mlc', read = ['25 us', '50 us'] }", [125, 150, 125, 150, 125]),
            ("{ cell = 'tlc', read = ['25 us', '50 us', '75 us'] }", [125, 150, 175, 125, 150]),
            (
                "{ cell = 'qlc', read = ['25 us', '50 us', '75 us', '90 us'] }",
                [125, 150, 175, 190, 125],
            ),
        ]),
        // A list has a figure for each type.
        typed_cell("['25 us', '50 us']").under([
            ("slc", REFUSED),
            ("mlc", "[125, 150, 125, 150, 125]"),
            ("tlc", REFUSED),
        ]),
        typed_cell("['25 us', '50 us', '75 us']").under([
            ("mlc", REFUSED),
            ("tlc", "[125, 150, 175, 125, 150]"),
            ("qlc", REFUSED),
        ]),
        typed_cell("['25 us', '50 us', '75 us', '90 us']")
            .under([("tlc", REFUSED), ("qlc", "[125, 150, 175, 190, 125]")]),
        of_reads("drive.nand.read").given(&[set("nand.cell", "mlc")]).under([
            ("['25 us']", [125; 5]),
            ("['40 us']", [140; 5]),
            ("['25 us', '40 us']", [125, 140, 125, 140, 125]),
        ]),
        case("drive.nand.program")
            .given(&[set("nand.cell", "mlc")])
            .see("writes of rows 0 to 4, us", writes)
            .under([
                ("['200 us']", [300; 5]),
                ("['350 us']", [450; 5]),
                ("['200 us', '350 us']", [300, 450, 300, 450, 300]),
            ]),
        of_an_erase("drive.nand.erase.steps").under([
            ("1", BEFORE + 500 * US),
            ("2", BEFORE + 1_000 * US),
            ("5", BEFORE + 2_500 * US),
        ]),
        of_an_erase("drive.nand.erase.ramp")
            .under([("0 us", BEFORE + ERASE), ("10 us", BEFORE + ERASE + 30 * US)]),
        of_an_erase("drive.nand.erase.execute")
            .under([("500 us", BEFORE + ERASE), ("600 us", BEFORE + ERASE + 300 * US)]),
        of_an_erase("drive.nand.erase.recover")
            .under([("0 us", BEFORE + ERASE), ("20 us", BEFORE + ERASE + 60 * US)]),
        of_an_erase("drive.nand.erase.verify")
            .under([("0 us", BEFORE + ERASE), ("30 us", BEFORE + ERASE + 90 * US)]),
        // A row of four planes has a page's bytes. Blocks of one plane have nothing to divide.
        of_an_erase("drive.ftl.erase_planes")
            .given(&[
                set("geometry.planes_per_die", 4),
                set("geometry.page_size", "1 KiB"),
                set("ftl.block_planes", 4),
            ])
            .left_out(BEFORE + ERASE)
            .under([("4", BEFORE + ERASE), ("2", BEFORE + 2 * ERASE), ("1", BEFORE + 4 * ERASE)]),
        of_reads("drive.nand.decode").under([("0 us", [125; 5]), ("7 us", [132; 5])]),
        of_reads("drive.nand.channel").under([
            ("40.96 MB/s", [125; 5]),
            ("81.92 MB/s", [75; 5]),
            ("409.6 MB/s", [35; 5]),
        ]),
        // Of the page of two units: the first 512 B, 1 KiB from 1.5 KiB on, and from 7.5 KiB on.
        of_parts("drive.nand.codeword")
            .given(&[set("geometry.page_size", "16 KiB"), set("ftl.unit", "8 KiB")])
            .under([
                ("8 KiB", [25_000 + 200_000, 25_000 + 200_000, 25_000 + 400_000]),
                ("2 KiB", [25_000 + 50_000, 25_000 + 100_000, 25_000 + 100_000]),
                ("512 B", [25_000 + 12_500, 25_000 + 25_000, 25_000 + 25_000]),
            ]),
        // The same of a unit of two pages, where the last takes two reads, one after the other.
        of_parts("drive.nand.codeword")
            .given(&[set("ftl.unit", "16 KiB"), set("geometry.page_size", "8 KiB")])
            .under([
                ("8 KiB", [25_000 + 200_000, 25_000 + 200_000, 50_000 + 400_000]),
                ("2 KiB", [25_000 + 50_000, 25_000 + 100_000, 50_000 + 100_000]),
                ("512 B", [25_000 + 12_500, 25_000 + 25_000, 50_000 + 25_000]),
            ]),
        of_reads("drive.nand.command_cycles.read")
            .given(&[cycles()])
            .under([("0 us", [125; 5]), ("3 us", [128; 5])]),
        case("drive.nand.command_cycles.program")
            .given(&[cycles()])
            .see("writes of rows 0 to 4, us", writes)
            .under([("0 us", [300; 5]), ("4 us", [304; 5])]),
        of_an_erase("drive.nand.command_cycles.erase")
            .given(&[cycles()])
            .under([("0 us", BEFORE + ERASE), ("5 us", BEFORE + ERASE + 5 * US)]),
        // Free blocks take turns, so none of 40 is erased twice this soon. (A block that is retired
        // leaves no space, so that others are erased at once.)
        case("drive.nand.endurance")
            .given(&[
                set("geometry.blocks_per_plane", 40),
                set("geometry.pages_per_block", 4),
                set("ftl.over_provisioning.exported", "256 KiB"),
            ])
            .see("blocks retired for each of the first erases", retired_by_an_erase)
            .under([("0", 0.0), ("1", 1.0), ("2", 0.0)]),
    ]
}
