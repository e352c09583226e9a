//! Places of writes.

use crate::common::{Bench, Override, set};
use crate::directions::case::{Case, Scene, case};
use crate::directions::ftl::moved;
use crate::directions::requests::{PAGE, US};
use crate::poised::{page, shape};
use ::ftl::{BlockId, Lpn};
use host::Kind;
use std::collections::BTreeSet;

/// Two of each level, so that bin 8c + 4w + 2d + p is plane p of die d of package w
/// on channel c.
fn two_of_each() -> Vec<Override> {
    vec![
        set("geometry.channels", 2),
        set("geometry.packages_per_channel", 2),
        set("geometry.dies_per_package", 2),
        set("geometry.planes_per_die", 2),
    ]
}

/// The block, and the bin, of a unit.
fn block_of(bench: &Bench, lpn: u32) -> BlockId {
    let ftl = bench.device.ftl();
    ftl.layout.block(ftl.lookup(Lpn(lpn)).expect("it was written"))
}

fn bin_of(bench: &Bench, lpn: u32) -> u64 {
    u64::from(bench.device.ftl().layout.bin(block_of(bench, lpn)).0)
}

/// Number of bins that one page has been in when it is written again and again.
fn bins_of_one_page(scene: &Scene) -> u64 {
    let mut bench = scene.bench();
    let mut place = || {
        bench.alone(Kind::Write, 0, PAGE);
        bin_of(&bench, 0)
    };
    let bins: BTreeSet<u64> = (0..32).map(|_| place()).collect();
    bins.len() as u64
}

/// The bins of pages that are written once, in the order of their addresses.
fn bins_in_turn(scene: &Scene, pages: u32) -> Vec<u64> {
    let mut bench = scene.bench();
    (0..pages)
        .map(|lpn| {
            bench.alone(Kind::Write, u64::from(lpn) * PAGE, PAGE);
            bin_of(&bench, lpn)
        })
        .collect()
}

/// Three dies with a channel each, in one pool; die 0 is read for 10 x 125 us, and these reads go
/// before the programs that it gets meanwhile. Returns the dies of pages 101, 102 … that are
/// written at these moments.
fn beside_a_busy_die(scene: &Scene, at_us: &[u64]) -> Vec<u64> {
    let mut bench = scene.bench();
    for number in 0..10 {
        // The fill went round: every third page is on die 0.
        bench.submit(0, Kind::Read, 3 * number * PAGE, PAGE);
    }
    for (page, at) in (101..).zip(at_us) {
        bench.submit(at * US, Kind::Write, page * PAGE, PAGE);
    }
    bench.settle();
    (101..).zip(at_us).map(|(page, _)| bin_of(&bench, page)).collect()
}

/// The place of the page that was moved first: in the block of host writes, or apart.
fn moved_beside_host_data(scene: &Scene) -> &'static str {
    let mut bench = scene.bench();
    // Page 3 of each block stays, until the first block is collected.
    let mut numbers = (0..16).filter(|number| number % 4 != 3);
    let mut last = 0;
    while moved(&bench) == 0 {
        last = numbers.next().expect("space runs out before");
        bench.alone(Kind::Write, page(0, last), PAGE);
        bench.settle();
    }
    let block = |number: u64| block_of(&bench, (page(0, number) / PAGE) as u32);
    if block(3) == block(last) { "beside" } else { "apart" }
}

/// Spread of the erase counts of blocks that data moves through. One page is written 480 times
/// while cold data stays in 4 of 16 blocks. Then that data is rewritten, which frees unworn blocks,
/// and the page is written 160 times more: 40 blocks. By wear, the unworn blocks are taken, ten
/// times each; in turn, all blocks are taken, three times each.
fn spread_of_wear(scene: &Scene) -> u64 {
    let mut bench = scene.bench();
    for number in std::iter::repeat_n(0, 480).chain(0..16).chain(std::iter::repeat_n(0, 160)) {
        bench.alone(Kind::Write, page(0, number), PAGE);
    }
    let ftl = bench.device.ftl();
    // Cold data protects its blocks from wear under any order.
    let moving = (0..16).filter(|block| ftl.valid_units(BlockId(*block)) == 0);
    let counts: Vec<_> = moving.map(|block| ftl.erase_counts()[block as usize]).collect();
    u64::from(counts.iter().max().unwrap() - counts.iter().min().unwrap())
}

fn of_choice(at_us: &'static [u64]) -> Case {
    case("drive.ftl.allocation.choice")
        .filled()
        .given(&[set("geometry.channels", 3), set("scheduler.bypass", "drain")])
        .see("dies that writes go to beside a busy die", move |scene| {
            beside_a_busy_die(scene, at_us)
        })
}

pub fn cases() -> Vec<Case> {
    let keep = |blocks: u32| {
        ["ftl.gc.background", "ftl.gc.foreground", "ftl.gc.stop"]
            .map(|key| set(key, format!("{blocks} blocks")))
    };
    vec![
        // A page stays in its pool, and takes turns there.
        case("drive.ftl.allocation.pool")
            .given(&two_of_each())
            .see("bins that one page comes to lie in", bins_of_one_page)
            .under([("plane", 1), ("die", 2), ("package", 4), ("channel", 8), ("drive", 16)]),
        // Four channels, of which two are a gang.
        case("drive.ftl.allocation.pool")
            .given(&two_of_each())
            .given(&[
                set("geometry.channels", 4),
                set("geometry.gang", "{ channels = 2, control = 'asynchronous' }"),
                set("scheduler.rounds", "{ unit = 'gang' }"),
                set("ftl.gc.preemptible", "false"),
            ])
            .see("bins that one page comes to lie in", bins_of_one_page)
            .under([("channel", 8), ("gang", 16), ("drive", 32)]),
        // Two packages of two dies of two planes on a channel that does one thing at a time.
        case("drive.ftl.allocation.bin")
            .given(&two_of_each())
            .given(&[
                set("geometry.channels", 1),
                set("concurrency", "{ read = 'channel', program = 'channel', erase = 'channel' }"),
            ])
            .see("bins that one page comes to lie in", bins_of_one_page)
            .left_out(8)
            .under([("plane", 8), ("die", 4), ("package", 2), ("channel", 1)]),
        case("drive.ftl.allocation.stripe")
            .given(&[set("geometry.dies_per_package", 2), set("ftl.allocation.pool", "die")])
            .see("dies of six pages in turn", |scene| bins_in_turn(scene, 6))
            .left_out([0, 1, 0, 1, 0, 1])
            .under([
                ("4 KiB", [0, 1, 0, 1, 0, 1]),
                ("8 KiB", [0, 0, 1, 1, 0, 0]),
                ("12 KiB", [0, 0, 0, 1, 1, 1]),
            ]),
        // The first letter varies fastest, then the second.
        case("drive.ftl.allocation.order")
            .given(&two_of_each())
            .see("bins of four pages in turn", |scene| bins_in_turn(scene, 4))
            .under([
                ("CWDP", [0, 8, 4, 12]),
                ("WPCD", [0, 4, 1, 5]),
                ("DCPW", [0, 2, 8, 10]),
                ("PDWC", [0, 1, 2, 3]),
            ]),
        // Round-robin goes round whatever waits. Least queued are, of programs asked for
        // and not ended on dies 0, 1, 2 (die 0 does none before 1250):
        //
        //    10  0 0 0, turn 0: die 0    20  1 0 0, turn 1: die 1    30  1 1 0: die 2
        //   400  those of 1 and 2 ended at 320 and 330.  1 0 0, turn 0: die 1
        //   410  1 1 0, turn 2: die 2         420  1 1 1, turn 0: all alike, die 0
        //   430  2 1 1, turn 1: die 1         440  2 2 1, turn 2: die 2
        //   450  2 2 2, turn 0: die 0
        //
        of_choice(&[10, 20, 30, 400, 410, 420, 430, 440, 450]).under([
            ("round-robin", [0, 1, 2, 0, 1, 2, 0, 1, 2]),
            ("least-queued", [0, 1, 2, 1, 2, 0, 1, 2, 0]),
            // Die 0 has ten reads, seven after 400: more than the others ever have programs.
            ("least-busy", [1, 2, 1, 2, 1, 2, 1, 2, 1]),
        ]),
        // Of 3k + 1 pages die 0 holds one more, so that the other two have more free ones
        // until each was given one.
        of_choice(&[10, 20, 30, 40, 50, 60])
            .given(&[set("ftl.over_provisioning.exported", format!("{} B", 1_501 * PAGE))])
            .under([("round-robin", [0, 1, 2, 0, 1, 2]), ("most-free", [1, 2, 0, 1, 2, 0])]),
        case("drive.ftl.allocation.streams")
            .filled()
            .given(&shape(&keep(3)))
            .given(&[set("geometry.blocks_per_plane", 10)])
            .see("where a moved page lies", moved_beside_host_data)
            .under([("separate", "apart"), ("shared", "beside")]),
        case("drive.ftl.allocation.free_block")
            .filled()
            .given(&shape(&keep(10)))
            .given(&[set("geometry.blocks_per_plane", 16)])
            .see("difference of erase counts", spread_of_wear)
            .under([
                ("least-worn", crate::directions::case::about(1.0, 1.0)),
                ("fifo", crate::directions::case::about(13.0, 7.0)),
                // By position they are opened in turn, too.
                ("next-fit", crate::directions::case::about(13.0, 7.0)),
            ]),
    ]
}
