//! Superblocks: programs over several dies, parity of their rows, collection and the common erase. On
//! the drive here a page is programmed in 100 + 200 us and read in 25 + 100, and blocks have 16 pages.

use crate::common::{BY_HAND, Bench, Override, Table, experiment, run, run_fast, set};
use drive::check::check;
use drive::{OpKind, Prepared, Run, Snapshot};
use ftl::{BlockState, Lpn, Source, Stream};
use host::Kind;
use metrics::{Holder, State};

const US: u64 = 1_000;
const PAGE: u64 = 4_096;
const PROGRAM: u64 = 300 * US;

/// Superblocks of all dies, which are on so many channels of `dies` dies each.
fn drive(channels: u32, dies: u32, width: &str, more: &[Override]) -> Vec<Override> {
    let own = [
        set("geometry.channels", channels),
        set("geometry.packages_per_channel", dies),
        set("ftl.allocation.streams", "separate"),
        set("ftl.superblock", format!("{{ dies = {}, width = {width} }}", channels * dies)),
    ];
    [&own[..], more].concat()
}

fn programs(bench: &Bench, holder: Holder) -> u64 {
    bench.device.counters().commands(OpKind::Program, holder)
}

#[test]
fn a_stripe_is_programmed_on_all_of_its_dies_at_once() {
    let mut bench = Bench::new(&drive(8, 1, "{ host = 8 }", &[]));
    for stripe in 0..16 {
        let done = bench.alone(Kind::Write, 7 * stripe * PAGE, 7 * PAGE);
        assert_eq!(done.latency(), PROGRAM, "seven dies work beside each other");
        assert_eq!(bench.device.now().as_ns(), done.finished, "and so does the eighth");
        assert_eq!(programs(&bench, Holder::HostProgram), 7 * (stripe + 1));
        assert_eq!(programs(&bench, Holder::Parity), stripe + 1);
        // Parity moves by a die from row to row.
        let parity = 7 - stripe as u32 % 8;
        let used: Vec<u32> = (0..7)
            .map(|page| {
                let ppn = bench.device.ftl().lookup(Lpn(7 * stripe as u32 + page)).unwrap();
                let (block, place) = bench.device.ftl().layout.block_and_place(ppn);
                assert_eq!((block.0, place / 8), (0, stripe as u32));
                place % 8
            })
            .collect();
        assert!(used.into_iter().eq((0..8).filter(|lane| *lane != parity)), "stripe {stripe}");
    }
    assert_eq!(bench.device.ftl().block_states()[0], BlockState::Closed);
    bench.finish();
}

#[test]
fn parity_is_transferred_after_the_data_of_its_stripe() {
    let mut bench = Bench::new(&drive(1, 4, "{ host = 4 }", &[]));
    // Three pages of data cross the one channel, and then the parity of the last one's row.
    let done = bench.alone(Kind::Write, 0, 3 * PAGE);
    assert_eq!(done.latency(), 500 * US);
    assert_eq!(bench.device.now().as_ns(), 600 * US);
    // Two pages have no parity yet; a third one completes the stripe.
    let start = bench.device.now().as_ns();
    assert_eq!(bench.alone(Kind::Write, 0, 2 * PAGE).latency(), 400 * US);
    assert_eq!(programs(&bench, Holder::Parity), 1);
    assert_eq!(bench.device.now().as_ns(), start + 400 * US);
    assert_eq!(bench.alone(Kind::Write, 0, PAGE).latency(), PROGRAM);
    assert_eq!(bench.device.now().as_ns(), start + 400 * US + 400 * US);
    assert_eq!(programs(&bench, Holder::Parity), 2);
    bench.finish();
}

#[test]
fn a_stream_without_parity_uses_all_dies_for_data() {
    let mut bench = Bench::new(&drive(4, 2, "{ collection = 8 }", &[]));
    for row in 0..3 {
        // Two dies share a channel.
        assert_eq!(bench.alone(Kind::Write, 8 * row * PAGE, 8 * PAGE).latency(), 400 * US);
    }
    assert_eq!(programs(&bench, Holder::Parity), 0);
    bench.finish();
}

#[test]
fn reads_go_to_the_die_of_their_lane() {
    let mut bench = Bench::new(&drive(8, 1, "{ host = 8 }", &[]));
    bench.alone(Kind::Write, 0, 14 * PAGE);
    // Seven pages of a row lie on seven dies; with parity in the next row's way, eight pages have two
    // on one die.
    assert_eq!(bench.alone(Kind::Read, 0, 7 * PAGE).latency(), 125 * US);
    assert_eq!(bench.alone(Kind::Read, 7 * PAGE, 7 * PAGE).latency(), 125 * US);
    assert_eq!(bench.alone(Kind::Read, 0, 14 * PAGE).latency(), 250 * US);
    bench.finish();
}

/// Mostly small random writes to a full drive.
const WORKLOAD: &str = r#"
[[workload]]
name = "host"
reads = "30 %"
size = "4 KiB"
queue_depth = 16
[run]
requests = 20000
"#;

fn busy(width: &str, more: &[Override]) -> Vec<Override> {
    let own = [
        set("precondition.fill", "random"),
        set("geometry.blocks_per_plane", 24),
        set("ftl.gc.background", "3 blocks"),
        set("ftl.gc.stop", "3 blocks"),
        set("ftl.gc.window", 8),
    ];
    drive(4, 2, width, &[&own[..], more].concat())
}

#[test]
fn whole_drives_collect_erase_and_agree_with_the_auditor() {
    for width in ["{}", "{ host = 8 }", "{ host = 4, collection = 8 }", "{ collection = 2 }"] {
        let text = WORKLOAD.replace("20000", "6000");
        let reserve = set("ftl.over_provisioning.reserved", "75 %");
        let run = run(&experiment(&text, &busy(width, &[reserve])));
        let (ftl, tally) = (run.device().ftl(), run.measured().tally());
        assert!(tally.collected > 10, "{width}: {tally:?}");
        let counters = run.measured().counters();
        let erases: u64 = [Holder::Erase].map(|by| counters.commands(OpKind::Erase, by))[0];
        let lanes = u64::from(ftl.layout.lanes());
        assert!((8 * tally.erases..=8 * tally.erases + 2 * lanes).contains(&erases), "{width}");
        let parity: u64 = tally.parity_of.iter().sum();
        assert_eq!(parity, tally.units[Source::Parity as usize]);
        for (stream, source) in [(Stream::Host, Source::Host), (Stream::Gc, Source::Gc)] {
            let share = ftl.layout.superblocks.as_ref().unwrap().width(stream);
            let found = tally.parity_of[stream as usize] as f64;
            let expected = match share {
                0 => 0.0,
                width => tally.units[source as usize] as f64 / f64::from(width - 1),
            };
            let few = 8.0 + 0.02 * expected;
            assert!((found - expected).abs() <= few, "{width} {stream:?}: {found} {expected}");
        }
    }
}

#[test]
fn all_dies_of_a_superblock_are_erased_at_once() {
    let more =
        [set("ftl.over_provisioning.exported", "64 KiB"), set("geometry.blocks_per_plane", 6)];
    let mut bench = Bench::new(&drive(8, 1, "{ host = 8 }", &more));
    // A block takes 112 pages; the first two become invalid as a whole.
    let erased = |bench: &Bench| bench.device.counters().commands(OpKind::Erase, Holder::Erase);
    let mut writes = 0;
    while erased(&bench) == 0 {
        bench.alone(Kind::Write, 0, 7 * PAGE);
        writes += 1;
        assert!(writes < 100, "a block must be erased by then");
    }
    assert_eq!(erased(&bench), 8);
    assert_eq!(bench.device.ftl().tally.erases, 1);
    bench.finish();
}

/// A loop that shares no code with the firmware: greedy cleaning of superblocks under uniform random
/// writes. A superblock is a list of rows of lanes, written from the left; one lane of each group of
/// `width` (0: none) holds parity.
struct Loop {
    width: usize,
    /// The page at each place of each superblock; `None` for parity, and for what was overwritten.
    places: Vec<Vec<Option<usize>>>,
    /// The superblock of each page.
    at: Vec<usize>,
    valid: Vec<usize>,
    free: Vec<usize>,
    /// The superblocks that take pages of the host and of cleaning.
    open: [usize; 2],
    programs: u64,
}

const LANES: usize = 8;
const ROWS: usize = 16;

impl Loop {
    fn new(blocks: usize, pages: usize, width: usize) -> Self {
        let mut free: Vec<usize> = (0..blocks).rev().collect();
        let open = [0; 2].map(|_| free.pop().expect("there are blocks"));
        let (places, valid) = (vec![Vec::new(); blocks], vec![0; blocks]);
        let mut own =
            Self { width, places, at: vec![usize::MAX; pages], valid, free, open, programs: 0 };
        (0..pages).for_each(|page| own.write(page));
        own
    }

    fn is_full(&self, stream: usize) -> bool {
        self.places[self.open[stream]].len() == LANES * ROWS
    }

    /// Programs a page, and parity that lies before or behind it.
    fn put(&mut self, stream: usize, page: usize) {
        let block = self.open[stream];
        let places = &mut self.places[block];
        let is_parity = |place: usize| {
            let (row, lane) = (place / LANES, place % LANES);
            self.width > 0 && (lane + row + 1) % self.width == 0
        };
        while is_parity(places.len()) {
            places.push(None);
            self.programs += 1;
        }
        if self.at[page] != usize::MAX {
            self.valid[self.at[page]] -= 1;
        }
        places.push(Some(page));
        self.programs += 1;
        while places.len() < LANES * ROWS && is_parity(places.len()) {
            places.push(None);
            self.programs += 1;
        }
        (self.at[page], self.valid[block]) = (block, self.valid[block] + 1);
    }

    fn write(&mut self, page: usize) {
        self.put(0, page);
        if self.is_full(0) {
            while self.free.len() <= 2 {
                self.clean();
            }
            self.open[0] = self.free.pop().expect("cleaning gains blocks");
        }
    }

    fn clean(&mut self) {
        let is_closed = |block: &usize| !self.free.contains(block) && !self.open.contains(block);
        let closed = (0..self.places.len()).filter(is_closed);
        let victim = closed.min_by_key(|block| self.valid[*block]).expect("there are full blocks");
        for page in std::mem::take(&mut self.places[victim]).into_iter().flatten() {
            if self.at[page] != victim {
                continue;
            }
            if self.is_full(1) {
                self.open[1] = self.free.remove(0);
            }
            self.put(1, page);
        }
        self.free.insert(0, victim);
    }

    /// Programs for each write, after the drive has been overwritten four times.
    fn amplification(mut self) -> f64 {
        let (pages, mut state) = (self.at.len(), 0x2545_f491_4f6c_dd1d_u64);
        let mut random = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 20) as usize % pages
        };
        (0..4 * pages).for_each(|_| self.write(random()));
        let before = self.programs;
        (0..12 * pages).for_each(|_| self.write(random()));
        (self.programs - before) as f64 / (12 * pages) as f64
    }
}

#[test]
fn parity_amplifies_writes_as_a_naive_loop_says() {
    const BLOCKS: usize = 60;
    const PAGES: usize = 4900;
    let mut table = Table::new("write amplification, greedy, uniform, superblocks", 0.015);
    let mut found = Vec::new();
    for width in [0, 8, 4] {
        let widths = match width {
            0 => "{}".to_owned(),
            width => format!("{{ host = {width}, collection = {width} }}"),
        };
        let of = |overwrites: &str| {
            let more = [
                set("geometry.blocks_per_plane", BLOCKS),
                set("ftl.over_provisioning.exported", format!("{} KiB", 4 * PAGES)),
                set("precondition.fill", "sequential"),
                set("precondition.age", format!("{{ overwrites = {overwrites} }}")),
            ];
            let text = "[[workload]]\nname = \"none\"\nreads = \"100 %\"\n[run]\nrequests = 1\n";
            let run = run_fast(&experiment(text, &drive(4, 2, &widths, &more)));
            run.device().ftl().audit().unwrap();
            run.history().preconditioned.tally
        };
        let counted = of("16.0").since(&of("4.0"));
        assert_eq!(counted.units[Source::Padding as usize], 0);
        let own = Loop::new(BLOCKS, PAGES, width).amplification();
        table.expect(&format!("width {width}"), own, counted.write_amplification());
        found.push(counted.write_amplification());
    }
    assert!(found[0] < found[1] && found[1] < found[2], "{found:?}");
    table.end();
}

#[test]
fn results_and_checks_tell_of_parity_by_its_data() {
    let geometry = [
        set("geometry.channels", 8),
        set("geometry.packages_per_channel", 4),
        set("geometry.blocks_per_plane", 256),
        set("geometry.pages_per_block", 256),
        set("geometry.page_size", "16 KiB"),
        set("ftl.unit", "16 KiB"),
        set("ftl.allocation.streams", "separate"),
    ];
    // 256 GiB on flash of this shape would be larger; the ratio is what counts: 32 and 25 GiB.
    for (width, spare) in [(None, 0.28), (Some(16), 0.20), (Some(8), 0.12)] {
        let width =
            width.map_or(String::new(), |width| format!("host = {width}, collection = {width}"));
        let own = [
            set("ftl.superblock", format!("{{ dies = 32, width = {{ {width} }} }}")),
            set("ftl.over_provisioning.exported", "25 GiB"),
        ];
        let experiment = experiment(BY_HAND, &[&geometry[..], &own].concat());
        let derived = check(&experiment).unwrap().derived(&experiment);
        let superblocks = &derived["superblocks"];
        assert_eq!(superblocks["dies"], 32);
        assert_eq!(superblocks["bytes"], 32 * 256 * (16 << 10));
        let found = superblocks["spare_if_protected"].as_f64().unwrap();
        assert!((found - spare).abs() < 0.001, "{width}: {found}");
    }
}

#[test]
fn streams_may_have_stripes_of_different_widths() {
    let text = WORKLOAD.replace("20000", "8000");
    let scrub = "{ interval = \"2 ms\", choice = \"oldest\", stream = \"own\" }";
    let more = [set("ftl.scrub", scrub), set("ftl.over_provisioning.reserved", "60 %")];
    let widths = "{ host = 8, collection = 8, scrub = 2 }";
    let run = run(&experiment(&text, &busy(widths, &more)));
    let tally = run.device().ftl().tally;
    let [host, gc, scrub] = tally.parity_of;
    assert!(host > 0 && gc > 0 && scrub > 0, "{tally:?}");
    let of = |source: Source, parity: u64| tally.units[source as usize] as f64 / parity as f64;
    assert!((of(Source::Host, host) - 7.0).abs() < 0.2, "{tally:?}");
    assert!((of(Source::Gc, gc) - 7.0).abs() < 0.7, "{tally:?}");
    assert!((of(Source::Scrub, scrub) - 1.0).abs() < 0.1, "{tally:?}");
}

#[test]
fn a_run_from_a_snapshot_is_the_run_that_preconditions_itself() {
    let text = format!("{}audit = true\n", WORKLOAD.replace("20000", "3000"));
    let more = [
        set("ftl.over_provisioning.reserved", "60 %"),
        set("precondition.age", "{ overwrites = 1.5 }"),
        set("ftl.bad_blocks", "{ factory = \"5 %\", grown_per_erase = \"0.01 %\" }"),
    ];
    let experiment = experiment(&text, &busy("{ host = 4, collection = 8 }", &more));
    let taken = Snapshot::take(&experiment, &mut |_| true).unwrap().expect("nobody ends it");
    let started = |from: Option<&Snapshot>| {
        let prepared = Prepared::new(&experiment, from, &mut |_| true).unwrap().unwrap();
        let mut run = Run::start(&experiment, &[None], prepared).unwrap();
        while run.advance(1 << 14).unwrap() {}
        run.finish();
        (run.device().digest(), run.device().ftl().tally.erases)
    };
    assert_eq!(started(None), started(Some(&taken)));
}

#[test]
fn superblocks_begin_in_step() {
    let more = [
        set("ftl.over_provisioning.reserved", "60 %"),
        set("precondition.age", "{ overwrites = 1.3 }"),
        set("precondition.in_step", true),
    ];
    let text = WORKLOAD.replace("20000", "2000");
    let run = run(&experiment(&text, &busy("{ host = 4, collection = 8 }", &more)));
    let aged = run.history().preconditioned.tally;
    assert!(aged.units[Source::Padding as usize] > 0, "open blocks were padded to their ends");
    assert!(run.measured().tally().collected > 0);
}

#[test]
fn writes_that_wait_behind_parity_are_charged_with_it() {
    let mut bench = Bench::new(&drive(1, 4, "{ host = 4 }", &[]));
    bench.submit(0, Kind::Write, 0, 3 * PAGE);
    // Parity crosses the channel from 300 us on, before the next row's first page.
    let next = bench.submit(250 * US, Kind::Write, 3 * PAGE, PAGE);
    bench.settle();
    let done = bench.done(next);
    assert_eq!(done.finished, 700 * US);
    assert_eq!(done.of(State::ChannelParity), 100 * US, "{:?}", done.blame);
    bench.finish();
}

#[test]
fn each_die_may_have_programs_in_preparation() {
    let buffer = [set("buffer.durability", "capacitor"), set("buffer.programs_per_bin", 1)];
    let mut bench = Bench::new(&drive(8, 1, "{}", &buffer));
    bench.submit(0, Kind::Write, 0, 32 * PAGE);
    bench.until(1);
    assert_eq!(programs(&bench, Holder::HostProgram), 8, "all dies work");
    assert_eq!(bench.settle(), 4 * PROGRAM);
    bench.finish();
}
