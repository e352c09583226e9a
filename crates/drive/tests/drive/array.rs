//! Several drives in one run: mirrors, Rails and ping-pong, and hedged reads.

use crate::common::{Done, Override, experiment, run_fast, set};
use drive::array::{ArrayRun, Drives, PlanCounts};
use drive::device::{End, WindowCounts};
use drive::measure::{KindStats, Measured};
use drive::{Experiment, OpKind};
use engine::Streams;
use ftl::{Lpn, SetId, Source};
use host::Kind;
use metrics::{Holder, State};

const US: u64 = 1_000;
/// Durations of a read and of a write of a page on the drive of the tests.
const READ: u64 = 125 * US;
const WRITE: u64 = 300 * US;
const PAGE: u64 = 4096;

/// Runs an array to its end and checks conservation.
pub fn run_array(experiment: &Experiment) -> ArrayRun {
    let surveys: Vec<_> = experiment.workload.iter().map(|w| w.survey().expect("sound")).collect();
    let array = experiment.array.as_ref().expect("there is an array");
    let drives = Drives::prepare(experiment, array, &mut |_| true);
    let drives = drives.unwrap_or_else(|error| panic!("{error}")).expect("nobody interrupts it");
    let mut run = ArrayRun::start(experiment, &surveys, drives).expect("sound");
    while run.advance(1 << 12).unwrap_or_else(|error| panic!("{error}")) {}
    run.finish();
    let measured = run.measured();
    let mut counted = 0;
    for stats in kinds(measured) {
        let blamed: u128 = stats.bands.total().iter().map(|ns| u128::from(*ns)).sum();
        assert_eq!(blamed, stats.latency.sum_ns(), "blame sums to latency");
        counted += stats.latency.count();
    }
    if experiment.run.warm_up.is_none() {
        assert_eq!(counted, run.issued(), "every request completes exactly once");
    }
    assert!(run.drives().devices.iter().all(|device| device.outstanding() == 0));
    run
}

fn kinds(measured: &Measured) -> impl Iterator<Item = &KindStats> {
    measured.initiators().iter().flat_map(|i| i.kinds.iter().flatten()).map(|kind| &**kind)
}

pub fn stats(run: &ArrayRun, initiator: usize, kind: Kind) -> &KindStats {
    let stats = run.measured().initiators()[initiator].kinds[kind.index()].as_deref();
    stats.unwrap_or_else(|| panic!("initiator {initiator} had no {}", kind.name()))
}

pub fn blamed(stats: &KindStats, state: State) -> u64 {
    stats.bands.total()[state as usize]
}

/// Units of hosts that each member programmed.
fn programmed(run: &ArrayRun, members: u32) -> Vec<u64> {
    let of = |set| run.measured().tally_of(SetId(set)).units[Source::Host as usize];
    (0..members).map(of).collect()
}

/// An array of drives of four dies, full of random data.
fn drives(count: u32, plan: &str, more: &[Override]) -> Vec<Override> {
    let own = [
        set("geometry.channels", 4),
        set("ftl.gc.victim", "{ policy = \"d-choices\", choices = 3 }"),
        set("precondition.fill", "random"),
        set("precondition.age.overwrites", 0.5),
        set("array", format!("{{ drives = {count}, plan = {plan} }}")),
    ];
    [&own[..], more].concat()
}

const MIRROR: &str = "{ policy = \"mirror\" }";

fn load(name: &str, keys: &str) -> String {
    format!("[[workload]]\nname = \"{name}\"\n{keys}\n")
}

fn rails(period: &str, more: &str) -> String {
    format!(
        "{{ policy = \"rails\", period = \"{period}\", \
         cache = {{ size = \"64 MiB\", latency = \"1 us\" }}{more} }}"
    )
}

fn ping_pong(period: &str, more: &str) -> String {
    rails(period, more).replace("rails", "ping-pong")
}

fn rotation(period: &str, more: &str) -> String {
    rails(period, more).replace("rails", "rotation")
}

// ---- mirrors ------------------------------------------------------------------------------

#[test]
fn a_mirror_of_one_drive_is_a_run_of_one_drive() {
    let closed = load(
        "closed",
        "reads = \"50 %\"\nsize = \"4 KiB\"\nqueue_depth = 8\nthink_time = \"50 us\"",
    );
    let mix = "mix = { read = \"50 %\", write = \"40 %\", trim = \"4 %\", flush = \"3 %\", write_zeroes = \"3 %\" }";
    let open = "queue_depth = 4\narrivals = { process = \"poisson\", rate = \"2 kIOPS\" }";
    let open = load("open", &format!("{mix}\n{open}\npriority = \"high\""));
    let run = "[run]\nrequests = 4000\nwarm_up = { requests = 200 }\n";
    for more in [
        vec![],
        vec![set("buffer.durability", "capacitor"), set("buffer.size", "64 KiB")],
        vec![set("run.time", "300 ms"), set("ftl.unit", "2 KiB"), set("record.collection", true)],
    ] {
        let text = [&closed[..], &open, run].concat();
        let array = drives(1, MIRROR, &more);
        let alone: Vec<_> = array.iter().filter(|(path, _)| *path != "array").cloned().collect();
        let alone = run_fast(&experiment(&text, &alone));
        let array = run_array(&experiment(&text, &array));
        assert_eq!(array.digest(), alone.device().digest(), "{more:?}");
        assert_eq!(array.drives().devices[0].digest(), alone.device().digest());
        assert_eq!(array.now(), alone.now());
        assert_eq!(array.issued(), alone.issued());
        same_measurements(array.measured(), alone.measured());
    }
}

fn same_measurements(one: &Measured, other: &Measured) {
    assert_eq!(one.tally(), other.tally());
    assert_eq!(one.counters(), other.counters());
    assert_eq!(one.span(), other.span());
    assert_eq!(one.unit_utilisation(), other.unit_utilisation());
    assert_eq!(one.series().ends(), other.series().ends());
    for (name, values) in one.series().columns() {
        let other = other.series().column(name).expect("the same columns");
        assert_eq!(format!("{values:?}"), format!("{other:?}"), "{name}");
    }
    let figures = |of: &KindStats| (of.bands.total(), of.latency.max(), of.met, of.unmapped);
    let both: Vec<_> = kinds(one).zip(kinds(other)).collect();
    assert!(both.len() > 4, "there are many kinds of request");
    for (one, other) in both {
        assert_eq!(figures(one), figures(other));
        assert_eq!(one.latency.sum_ns(), other.latency.sum_ns());
    }
}

#[test]
fn drives_with_the_same_numbers_do_the_same() {
    let text = load("writer", "reads = \"0 %\"\nqueue_depth = 4") + "[run]\nrequests = 6000\n";
    let digests = |same: bool| {
        let array = format!("{{ drives = 2, same_numbers = {same}, plan = {MIRROR} }}");
        let run = run_array(&experiment(&text, &drives(2, MIRROR, &[set("array", array)])));
        assert_eq!(programmed(&run, 2), [6000, 6000], "each member programs every write");
        run.drives().devices.iter().map(|device| device.digest()).collect::<Vec<_>>()
    };
    let [one, other] = digests(true)[..] else { panic!("two drives") };
    assert_eq!(one, other);
    let [first, second] = digests(false)[..] else { panic!("two drives") };
    assert!(first != second, "victims are drawn apart");
}

#[test]
fn a_mirrored_write_waits_for_the_slowest_member() {
    // Two members on one channel: its second transfer waits for the first one.
    let overrides = [
        set("geometry.dies_per_package", 2),
        set("ftl.sets", "{ dies = 2 }"),
        set("array", format!("{{ drives = 1, plan = {MIRROR} }}")),
    ];
    let text = load("one", "reads = \"0 %\"") + "[run]\nrequests = 1\n";
    let run = run_array(&experiment(&text, &overrides));
    let write = stats(&run, 0, Kind::Write);
    assert_eq!(write.latency.sum_ns(), u128::from(100 * US + WRITE));
    assert_eq!(blamed(write, State::ChannelHostProgram), 100 * US);
    assert_eq!(programmed(&run, 2), [1, 1]);
}

#[test]
fn reads_go_to_the_members_in_turn_or_to_the_idle_one() {
    // Two reads at a time: two members in turn take one each.
    let text = load(
        "reader",
        "reads = \"100 %\"\nqueue_depth = 2\naddresses = { pattern = \"sequential\" }",
    ) + "[run]\nrequests = 100\n";
    for choice in ["round-robin", "least-outstanding"] {
        let plan = format!("{{ policy = \"mirror\", reads = \"{choice}\" }}");
        let overrides = [
            set("precondition.fill", "sequential"),
            set("array", format!("{{ drives = 2, plan = {plan} }}")),
        ];
        let run = run_array(&experiment(&text, &overrides));
        let reads = stats(&run, 0, Kind::Read);
        assert_eq!(reads.latency.max().map(|max| max.as_ns()), Some(READ), "{choice}");
        assert_eq!(run.elapsed().as_ns(), 50 * READ);
    }
}

// ---- hedged reads --------------------------------------------------------------------------

fn hedged(hedge: &str, load: &str) -> ArrayRun {
    let plan = match hedge {
        "" => MIRROR.to_owned(),
        _ => format!("{{ policy = \"mirror\", hedge = {hedge} }}"),
    };
    run_array(&experiment(load, &drives(2, &plan, &[set("record.slowest", 1000)])))
}

/// Reads that meet writes: most take the time of a read, and some wait for programs and erases.
fn reads_beside_writes() -> String {
    let reader = "reads = \"100 %\"\nsize = \"4 KiB\"\narrivals = { process = \"poisson\", rate = \"2 kIOPS\" }";
    let writer = "reads = \"0 %\"\nsize = \"4 KiB\"\narrivals = { process = \"poisson\", rate = \"1 kIOPS\" }";
    load("reader", reader) + &load("writer", writer) + "[run]\nrequests = 60000\n"
}

#[test]
fn hedges_at_the_95th_percentile_are_issued_for_one_read_in_twenty() {
    let text = reads_beside_writes();
    let unhedged = hedged("", &text);
    let reads = &stats(&unhedged, 0, Kind::Read).latency;
    let p95 = reads.percentile(0.95).expect("there are reads").as_ns();
    let after = format!("{{ after = \"{p95} ns\" }}");
    let run = hedged(&after, &text);
    let counts = run.plan_counts();
    let reads_of = |run: &ArrayRun| stats(run, 0, Kind::Read).latency.count();
    let share = counts.hedges as f64 / reads_of(&run) as f64;
    println!("p95 {p95} ns: {counts:?}, {share}");
    assert!((0.04..0.055).contains(&share), "{share}");
    assert_eq!(counts.sent, counts.hedges, "without a limit each is sent");
    assert!(counts.won > counts.sent / 4, "{counts:?}");
    let tail = |run: &ArrayRun| stats(run, 0, Kind::Read).latency.percentile(0.99).expect("reads");
    assert!(tail(&run) < tail(&unhedged), "{:?} {:?}", tail(&run), tail(&unhedged));
    assert!(blamed(stats(&run, 0, Kind::Read), State::HedgeDelay) >= counts.won * p95);

    // A hedge that waits in the host is cancelled when its read is answered.
    let limited = hedged(&format!("{{ after = \"{p95} ns\", below = 1 }}"), &text);
    let counts = limited.plan_counts();
    println!("below 1: {counts:?}");
    assert!(counts.cancelled > 0 && counts.won > 0);
    assert_eq!(counts.sent + counts.cancelled, counts.hedges);
}

#[test]
fn a_hedge_that_was_sent_ends_after_its_read() {
    // Three reads at once, each at a drive of its own that has one die. Each hedge waits for the read
    // that its member has begun, and comes back after the first copy.
    let text = load(
        "reader",
        "reads = \"100 %\"\nqueue_depth = 3\nsize = \"4 KiB\"\naddresses = { pattern = \"sequential\" }",
    ) + "[run]\nrequests = 3\n";
    let overrides = |hedge: &str| {
        let plan = format!("{{ policy = \"mirror\"{hedge} }}");
        let array = format!("{{ drives = 3, plan = {plan} }}");
        [set("precondition.fill", "sequential"), set("array", array)]
    };
    let run = run_array(&experiment(&text, &overrides(", hedge = { after = \"10 us\" }")));
    let counts = PlanCounts { hedges: 3, sent: 3, ..PlanCounts::default() };
    assert_eq!(run.plan_counts(), counts, "each read has a member of its own, and none is faster");
    let done: Vec<u64> = run.drives().devices.iter().map(|d| d.counters().total()).collect();
    assert_eq!(done.iter().sum::<u64>(), 6, "a hedge that was sent ends: {done:?}");
    assert_eq!(stats(&run, 0, Kind::Read).latency.max().map(|max| max.as_ns()), Some(READ));
}

/// A read whose hedge is faster, and the slowest of three reads at once. Two pages lie on one die of the
/// first drive, and on two of the second one.
pub fn a_read_that_a_hedge_answers() -> Done {
    let plan = "{ policy = \"mirror\", hedge = { after = \"10 us\" } }";
    let overrides = drives(2, plan, &[set("record.slowest", 10)]);
    let text = |pages: [u32; 3]| {
        let one = |(index, page): (usize, u32)| {
            let region = format!("region = {{ offset = \"{} KiB\", size = \"4 KiB\" }}", 4 * page);
            load(
                &format!("read {index}"),
                &format!("reads = \"100 %\"\n{region}\nstop = {{ requests = 1 }}"),
            )
        };
        pages.into_iter().enumerate().map(one).collect::<String>()
    };
    let probe = experiment(&text([0, 1, 2]), &overrides);
    let array = probe.array.as_ref().expect("there is an array");
    let made =
        Drives::prepare(&probe, array, &mut |_| true).unwrap().expect("nobody interrupts it");
    let die = |drive: usize, page: u32| {
        let ftl = made.devices[drive].ftl();
        ftl.layout.bin(ftl.layout.block(ftl.lookup(Lpn(page)).expect("it is full")))
    };
    // The first and the third read go to the first drive, and the second one to the other.
    let fits = |[one, two, three]: [u32; 3]| {
        let meet = die(0, one) == die(0, three) && die(0, two) != die(0, one);
        meet && die(1, three) != die(1, one) && die(1, three) != die(1, two)
    };
    let all = (0..8).flat_map(|one| (0..8).map(move |two| [one, two]));
    let mut all = all.flat_map(|[one, two]| (0..8).map(move |three| [one, two, three]));
    let pages = all.find(|pages| fits(*pages)).expect("pages lie apart");
    let run = run_array(&experiment(&text(pages), &overrides));
    let counts = run.plan_counts();
    assert_eq!((counts.hedges, counts.sent, counts.won), (3, 3, 1));
    slowest(&run)
}

/// The slowest request of a run.
fn slowest(run: &ArrayRun) -> Done {
    let (latency, request) = run.measured().slowest().remove(0);
    let arrived = request.arrived.as_ns();
    let mut blame: Vec<_> =
        request.blame.iter().map(|(state, span)| (*state, span.as_ns())).collect();
    blame.sort_by_key(|(state, _)| *state as u32);
    Done {
        tag: 0,
        command: request.command,
        arrived,
        finished: arrived + latency.as_ns(),
        unmapped: 0,
        failed: 0,
        met: false,
        blocked: false,
        blame,
    }
}

/// The last of three writes, under Rails with a cache for two. Members write one at a time: the first
/// one from 0 to 600 us what the cache has. From 10 ms on the second one writes; once it has the first
/// write, the cache takes the third one in, which waits for the second.
pub fn a_write_that_waits_for_room_and_its_turn() -> Done {
    let plan = rails("10 ms", ", depth = 1").replace("64 MiB", "8 KiB");
    let overrides =
        [set("array", format!("{{ drives = 2, plan = {plan} }}")), set("record.slowest", 10)];
    let keys = "reads = \"0 %\"\nqueue_depth = 3\naddresses = { pattern = \"sequential\" }";
    let text = load("writer", keys) + "[run]\nrequests = 3\n";
    slowest(&run_array(&experiment(&text, &overrides)))
}

/// A write that the cache of the host answers.
pub fn a_write_to_the_cache() -> Done {
    let array = format!("{{ drives = 2, plan = {} }}", ping_pong("10 ms", ""));
    let text = load("writer", "reads = \"0 %\"") + "[run]\nrequests = 1\n";
    slowest(&run_array(&experiment(&text, &[set("array", array)])))
}

// ---- Rails -----------------------------------------------------------------------------------

/// Writes at a constant rate, in requests a second.
fn constant(rate: u32, requests: u32) -> String {
    let arrivals = format!("arrivals = {{ process = \"constant\", rate = \"{rate} IOPS\" }}");
    let writer = format!("reads = \"0 %\"\nsize = \"4 KiB\"\n{arrivals}");
    load("writer", &writer) + &format!("[run]\nrequests = {requests}\n")
}

#[test]
fn the_cache_of_rails_peaks_at_one_or_two_periods_of_writes() {
    // Four dies program 13 000 pages a second; 1 000 a second and as many of the backlog are few.
    // 3000 writes to empty drives of 4096 pages call for no collection.
    let empty = [set("precondition.fill", "empty"), set("precondition.age", "none")];
    let mut table = crate::common::Table::new("peak of the cache, in bytes", 0.05);
    let of_period = 1000 * PAGE / 5;
    for (release, answer, periods) in [
        ("replicated", "written", 1),
        ("replicated", "cached", 1),
        ("swap-after-next", "written", 2),
    ] {
        let plan = rails("200 ms", &format!(", release = \"{release}\", answer = \"{answer}\""));
        let run = run_array(&experiment(&constant(1000, 3000), &drives(2, &plan, &empty)));
        let counts = run.plan_counts();
        table.expect(release, (periods * of_period) as f64, counts.peak_bytes as f64);
        assert_eq!(programmed(&run, 2), [3000, 3000], "each member programs every write");
        assert_eq!((counts.kept, counts.delayed), (3000, 0));
    }
    // What came in a period is written in the next one, and by the other member in the one after.
    let plan = ping_pong("200 ms", "");
    let run = run_array(&experiment(&constant(1000, 3000), &drives(2, &plan, &empty)));
    table.expect("ping-pong", (2 * of_period) as f64, run.plan_counts().peak_bytes as f64);
    assert_eq!(programmed(&run, 2), [3000, 3000]);
    table.end();
}

#[test]
fn a_full_cache_delays_writes() {
    let room = |size: &str, answer: &str| {
        let plan = rails("200 ms", &format!(", answer = \"{answer}\"")).replace("64 MiB", size);
        let run = run_array(&experiment(&constant(1000, 3000), &drives(2, &plan, &[])));
        assert_eq!(programmed(&run, 2), [3000, 3000]);
        let waited = blamed(stats(&run, 0, Kind::Write), State::HostRoom);
        (run.plan_counts(), waited)
    };
    let (counts, waited) = room("1 MiB", "written");
    assert_eq!((counts.delayed, waited), (0, 0), "a period of writes takes 800 KiB");
    for answer in ["written", "cached"] {
        let (counts, waited) = room("400 KiB", answer);
        assert!(counts.delayed > 500 && waited > 0, "{counts:?}");
        assert_eq!(counts.peak_bytes, 400 * 1024);
    }
}

#[test]
fn a_write_waits_for_its_turn_and_a_read_for_the_cache() {
    // The member that writes has one write under way at a time, and there is one die.
    let overrides = |plan: &str| [set("array", format!("{{ drives = 2, plan = {plan} }}"))];
    let text = load(
        "writer",
        "reads = \"0 %\"\nqueue_depth = 3\naddresses = { pattern = \"sequential\" }",
    ) + "[run]\nrequests = 3\n";
    let plan = rails("10 ms", ", depth = 1");
    let run = run_array(&experiment(&text, &overrides(&plan)));
    let writes = stats(&run, 0, Kind::Write);
    assert_eq!(writes.latency.sum_ns(), u128::from(WRITE + 2 * WRITE + 3 * WRITE));
    assert_eq!(blamed(writes, State::HostTurn), WRITE + 2 * WRITE);
    // The other member writes after the swap, one after the other.
    assert_eq!(run.elapsed().as_ns(), 10_000 * US + 3 * WRITE);

    let reader = load(
        "reader",
        "reads = \"100 %\"\nsize = \"8 KiB\"\nstart = \"5 ms\"\naddresses = { pattern = \"sequential\" }\nstop = { requests = 2 }",
    );
    let text = load(
        "writer",
        "reads = \"0 %\"\nsize = \"4 KiB\"\naddresses = { pattern = \"sequential\" }\nstop = { requests = 3 }",
    ) + &reader;
    let more = [set("precondition.fill", "sequential")];
    let run = run_array(&experiment(&text, &[&overrides(&plan)[..], &more].concat()));
    let counts = run.plan_counts();
    assert_eq!((counts.cached, counts.cached_in_part), (1, 1));
    let reads = stats(&run, 1, Kind::Read);
    // The first read has both pages from the cache; the second one has one from a member.
    assert_eq!(reads.latency.sum_ns(), u128::from(US + READ));
    assert_eq!(blamed(reads, State::HostCache), US);
}

#[test]
fn nothing_is_written_before_a_swap_that_settles() {
    let text = load("writer", "reads = \"0 %\"\nstart = \"5 ms\"") + "[run]\nrequests = 1\n";
    let took = |settle: &str| {
        let plan = rails("10 ms", settle);
        let overrides = [set("array", format!("{{ drives = 2, plan = {plan} }}"))];
        let run = run_array(&experiment(&text, &overrides));
        stats(&run, 0, Kind::Write).latency.sum_ns()
    };
    assert_eq!(took(""), u128::from(WRITE));
    assert_eq!(took(", settle = \"4 ms\""), u128::from(WRITE));
    // It waits for the member that writes next.
    assert_eq!(took(", settle = \"6 ms\""), u128::from(5_000 * US + WRITE));
}

#[test]
fn periods_without_anything_to_do_end_no_run() {
    // A hundred swaps pass before each write, which comes when no write may begin.
    let keys = "reads = \"0 %\"\nstart = \"100.7 ms\"\nthink_time = \"100 ms\"";
    let text = load("writer", keys) + "[run]\nrequests = 5\n";
    let plan = rails("1 ms", ", settle = \"500 us\"");
    let overrides = [set("array", format!("{{ drives = 2, plan = {plan} }}"))];
    let run = run_array(&experiment(&text, &overrides));
    assert_eq!(run.issued(), 5);
    let first = u128::from(300 * US + WRITE);
    assert!(stats(&run, 0, Kind::Write).latency.sum_ns() >= first, "the first waits for the swap");
    assert_eq!(programmed(&run, 2), [5, 5]);
}

#[test]
fn reads_are_flat_beside_ping_pong() {
    let reader = load(
        "reader",
        "reads = \"100 %\"\nsize = \"4 KiB\"\nqueue_depth = 1\nstop = { time = \"4 s\" }",
    );
    let latencies = |array: &[Override], rate: u32| {
        let arrivals = format!("arrivals = {{ process = \"poisson\", rate = \"{rate} IOPS\" }}");
        let writer =
            format!("reads = \"0 %\"\nsize = \"4 KiB\"\n{arrivals}\nstop = {{ time = \"4 s\" }}");
        let text =
            if rate > 0 { reader.clone() + &load("writer", &writer) } else { reader.clone() };
        let run = run_array(&experiment(&text, array));
        let reads = &stats(&run, 0, Kind::Read).latency;
        [reads.mean().expect("reads"), reads.percentile(0.999).expect("reads").as_ns() as f64]
    };
    let plan = ping_pong("200 ms", ", depth = 8, settle = \"20 ms\"");
    let more = [set("run.audit", false)];
    let array = drives(2, &plan, &more);
    let mirror = drives(2, MIRROR, &more);
    let quiet = latencies(&array, 0);
    println!("without writes {quiet:?}");
    for rate in [100, 400, 1000] {
        let (flat, rough) = (latencies(&array, rate), latencies(&mirror, rate));
        println!("{rate} writes a second: ping-pong {flat:?}, mirror {rough:?}");
        for (flat, quiet) in flat.iter().zip(quiet) {
            assert!(*flat <= 1.2 * quiet, "{rate}: {flat} {quiet}");
        }
    }
    let rough = latencies(&mirror, 1000);
    assert!(rough[1] > 2.0 * quiet[1], "a mirror is not flat: {rough:?}");
}

// ---- rotation ----------------------------------------------------------------------------------

#[test]
fn rotation_writes_data_and_parity_at_the_turns_of_their_members() {
    // Three members of one die. Member 0 writes first; chunk 0 lies at member 1, with parity at 0.
    let overrides = |more: &[Override]| {
        let plan = rotation("10 ms", ", chunk = \"4 KiB\"");
        let array = set("array", format!("{{ drives = 3, plan = {plan} }}"));
        [&[array, set("precondition.fill", "sequential")][..], more].concat()
    };
    let text = load("writer", "reads = \"0 %\"\naddresses = { pattern = \"sequential\" }")
        + "[run]\nrequests = 1\n";
    let run = run_array(&experiment(&text, &overrides(&[])));
    // Member 0 writes, so parity is computed from chunk 1 at member 2. It is written at once, and the
    // data in the second period.
    assert_eq!(programmed(&run, 3), [1, 1, 0]);
    assert_eq!(run.elapsed().as_ns(), 10_000 * US + WRITE);
    let reads = |run: &ArrayRun| {
        let one = |of: &drive::Device| of.counters().commands(OpKind::Read, Holder::HostRead);
        run.drives().devices.iter().map(one).collect::<Vec<u64>>()
    };
    assert_eq!(reads(&run), [0, 0, 1]);
    assert_eq!(stats(&run, 0, Kind::Write).latency.sum_ns(), u128::from(US));

    // Chunks 0 to 5 lie at members 1, 2, 2, 0, 0, 1: those at member 0 are computed from the others.
    let text = load("reader", "reads = \"100 %\"\naddresses = { pattern = \"sequential\" }")
        + "[run]\nrequests = 6\n";
    let run = run_array(&experiment(&text, &overrides(&[])));
    assert_eq!(run.plan_counts().rebuilt, 2);
    assert_eq!(reads(&run), [0, 4, 4]);
    let latency = &stats(&run, 0, Kind::Read).latency;
    assert_eq!(latency.sum_ns(), u128::from(6 * READ), "both members are read at once");
}

#[test]
fn reads_are_flat_beside_rotation() {
    let reader = load("reader", "reads = \"100 %\"\nsize = \"4 KiB\"\nstop = { time = \"4 s\" }");
    let run = |rate: u32| {
        let arrivals = format!("arrivals = {{ process = \"poisson\", rate = \"{rate} IOPS\" }}");
        let writer =
            format!("reads = \"0 %\"\nsize = \"4 KiB\"\n{arrivals}\nstop = {{ time = \"4 s\" }}");
        let text =
            if rate > 0 { reader.clone() + &load("writer", &writer) } else { reader.clone() };
        let plan = rotation("200 ms", ", depth = 8, settle = \"20 ms\", chunk = \"16 KiB\"");
        run_array(&experiment(&text, &drives(4, &plan, &[set("run.audit", false)])))
    };
    for rate in [100, 400] {
        let run = run(rate);
        let reads = &stats(&run, 0, Kind::Read).latency;
        let tail = reads.percentile(0.99).expect("reads").as_ns();
        println!("{rate}: mean {:?}, p99 {tail}, {:?}", reads.mean(), run.plan_counts());
        // A read may wait for a read of another one's data or parity, and for no more.
        assert!(tail <= 2 * READ + US, "{rate}: {tail}");
        assert!(reads.mean().expect("reads") <= 1.2 * READ as f64);
        assert!(run.plan_counts().rebuilt > 100);
        let written: u64 = programmed(&run, 4).iter().sum();
        assert_eq!(written, 2 * stats(&run, 1, Kind::Write).latency.count(), "data and parity");
        assert_eq!(run.unsettled(), 0, "members are at rest when they are read");
    }
}

/// Times of members by window, in nanoseconds, and the ends of their deterministic windows.
#[derive(Debug)]
struct Maintained {
    elapsed: u64,
    /// Times outside deterministic windows, those of them without what the host had asked for, and those
    /// in which it waited for a deterministic window.
    outside: u64,
    broken: u64,
    waited: u64,
    ends: [u64; 5],
}

impl Maintained {
    /// Time for which more than one member was outside of its deterministic window, if one always was.
    fn overlap(&self) -> i128 {
        i128::from(self.outside) - i128::from(self.elapsed)
    }
}

/// Writes at a rate beside reads, to members with windows that last 10 s.
fn maintained(count: u32, plan: &str, rate: u32, reads: &str) -> Maintained {
    let more = [
        set(
            "ftl.windows",
            format!("{{ dtwin = \"10 s\", {reads}ndwin_low = \"0 s\", ndwin_high = \"1 ms\" }}"),
        ),
        set("ftl.gc.foreground", "2 blocks"),
        set("ftl.gc.background", "3 blocks"),
        set("ftl.gc.stop", "5 blocks"),
        set("run.audit", true),
    ];
    let arrivals = format!("arrivals = {{ process = \"poisson\", rate = \"{rate} IOPS\" }}");
    let stop = "size = \"4 KiB\"\nstop = { time = \"3 s\" }";
    let text = load("reader", &format!("reads = \"100 %\"\n{stop}"))
        + &load("writer", &format!("reads = \"0 %\"\n{arrivals}\n{stop}"));
    let run = run_array(&experiment(&text, &drives(count, plan, &more)));
    let counts: Vec<_> = (run.drives().devices.iter())
        .map(|device| device.window_records(SetId(0)).expect("it has windows").0)
        .collect();
    let sum = |of: fn(&WindowCounts) -> engine::Span| -> u64 {
        counts.iter().map(|counts| of(counts).as_ns()).sum()
    };
    let elapsed = run.elapsed().as_ns();
    assert_eq!(sum(|of| of.dtwin + of.ndwin), u64::from(count) * elapsed);
    let erases: u64 = run.drives().devices.iter().map(|device| device.ftl().tally.erases).sum();
    assert!(erases > 20, "members collect: {erases}");
    let found = Maintained {
        elapsed,
        outside: sum(|of| of.ndwin),
        broken: sum(|of| of.broken),
        waited: sum(|of| of.waited),
        ends: std::array::from_fn(|end| counts.iter().map(|of| of.ends[end]).sum()),
    };
    println!("{count} members, {rate} writes a second: {found:?}");
    found
}

#[test]
fn members_are_in_maintenance_one_after_the_other() {
    let rotation = rotation("100 ms", ", depth = 8, chunk = \"16 KiB\"");
    let rails = rails("100 ms", "");
    for (count, plan, rate) in
        [(4, &rotation, 100), (4, &rotation, 900), (2, &rails, 900), (2, &rails, 1_500)]
    {
        let found = maintained(count, plan, rate, "");
        assert_eq!(found.ends[1..], [0; 4]);
        assert_eq!((found.overlap(), found.broken), (0, 0), "to the nanosecond");
        // The next one has waited for the end of what was under way.
        assert!(rate < 900 || found.waited > US, "{found:?}");
    }
}

#[test]
fn maintenance_of_members_overlaps_only_while_a_window_is_broken() {
    let rotation = rotation("100 ms", ", depth = 8, chunk = \"16 KiB\"");
    for (count, plan) in [(2, &rails("100 ms", "")), (4, &rotation)] {
        let found = maintained(count, plan, 900, "reads = 500, ");
        assert!(found.ends[End::Reads as usize] > 10 && found.broken > 1_000_000 * US);
        assert_eq!(found.overlap(), i128::from(found.broken), "to the nanosecond");
    }
}

// ---- leveling ----------------------------------------------------------------------------------

fn leveling(chunk: &str, gap: &str, more: &str) -> String {
    format!("{{ policy = \"leveling\", chunk = \"{chunk}\", gap = \"{gap}\"{more} }}")
}

/// So many writes to the first page, one after the other, beside other requests. Two drives of one die,
/// and chunks of a page that change places when one drive was written two pages more than the other.
fn writes_to_one_chunk(writes: u32, beside: &str) -> ArrayRun {
    let plan = leveling("4 KiB", "4 KiB", ", piece = \"4 KiB\", copies = \"100 %\"");
    let overrides = [
        set("precondition.fill", "sequential"),
        set("array", format!("{{ drives = 2, plan = {plan} }}")),
    ];
    let writer = format!(
        "reads = \"0 %\"\nregion = {{ size = \"4 KiB\" }}\nstop = {{ requests = {writes} }}"
    );
    run_array(&experiment(&(load("writer", &writer) + beside), &overrides))
}

/// The bytes of hosts and of copies that each member was sent to write, in pages.
fn written_pages(run: &ArrayRun) -> Vec<[u64; 2]> {
    let written = run.written().expect("the plan levels wear");
    written.iter().map(|of| [of.host / PAGE, of.copied / PAGE]).collect()
}

#[test]
fn a_write_waits_until_its_piece_is_at_its_new_place() {
    // The second write makes the plan exchange two chunks. From the end of the write on they are read at
    // both drives, and then written. The third write waits for this, and goes to the other drive.
    let run = writes_to_one_chunk(5, "");
    let copy = READ + WRITE;
    let writes = stats(&run, 0, Kind::Write);
    assert_eq!(writes.latency.sum_ns(), u128::from(5 * WRITE + copy));
    assert_eq!(blamed(writes, State::HostTurn), copy);
    assert_eq!(run.elapsed().as_ns(), 5 * WRITE + copy);
    assert_eq!(written_pages(&run), [[2, 1], [3, 1]]);
    assert_eq!(programmed(&run, 2), [3, 4], "drives program what they are sent");
    let counts =
        PlanCounts { exchanges: 1, copied_bytes: 2 * PAGE, delayed: 1, ..PlanCounts::default() };
    assert_eq!(run.plan_counts(), counts);
}

#[test]
fn reads_of_a_piece_under_way_take_its_old_place_or_the_memory() {
    let read = |start: &str| {
        let reader = format!(
            "reads = \"100 %\"\nregion = {{ size = \"4 KiB\" }}\nstart = \"{start}\"\nstop = {{ requests = 1 }}"
        );
        let run = writes_to_one_chunk(3, &load("reader", &reader));
        let reads = stats(&run, 1, Kind::Read);
        let writes = stats(&run, 0, Kind::Write);
        (run.plan_counts().cached, reads.latency.sum_ns() as u64, blamed(writes, State::HostTurn))
    };
    let copy = READ + WRITE;
    // The chunk is read from 600 to 725 us, and written until 1025.
    assert_eq!(read("800 us"), (1, US, copy));
    // This one comes while the chunk is read, and follows. The old place is not written before it ends.
    assert_eq!(read("650 us"), (0, 75 * US + READ, copy + READ));
    // A read after the last write has the new place.
    assert_eq!(read("1400 us"), (0, READ, copy));
}

#[test]
fn members_are_written_alike_beside_reads_while_one_part_of_the_data_is_hot() {
    // All writes go to the first half of the namespace, which lies at the first drive.
    let chunk = 256 << 10;
    let probe = experiment(
        &(load("any", "reads = \"0 %\"") + "[run]\nrequests = 1\n"),
        &drives(2, MIRROR, &[]),
    );
    let member = drive::check::check(&probe).expect("sound").layout.exported_bytes();
    let writer = format!(
        "reads = \"0 %\"\nsize = \"4 KiB\"\nqueue_depth = 4\nregion = {{ size = \"{} B\" }}\nstop = {{ requests = 60000 }}",
        member / chunk * chunk
    );
    println!("a member has {member} bytes");
    let text = load("writer", &writer)
        + &load(
            "reader",
            "reads = \"100 %\"\nsize = \"4 KiB\"\nthink_time = \"1 ms\"\nstop = { time = \"2 s\" }",
        );
    let run = |plan: &str| run_array(&experiment(&text, &drives(2, plan, &[])));
    let level = run(&leveling("256 KiB", "4 MiB", ", piece = \"32 KiB\", copies = \"50 %\""));
    let written = level.written().expect("the plan levels wear");
    let all = |of: &drive::array::Written| of.host + of.copied;
    let hosts: u64 = written.iter().map(|of| of.host).sum();
    println!("{written:?} {:?}", level.plan_counts());
    assert_eq!(hosts, 60_000 * PAGE);
    let copied: u64 = written.iter().map(|of| of.copied).sum();
    assert!(2 * copied <= hosts, "{copied} {hosts}");
    let apart = all(&written[0]).abs_diff(all(&written[1]));
    assert!(apart <= (4 << 20) + 2 * chunk, "{apart}");
    // Without an exchange, the second drive is written nothing.
    let never = run(&leveling("256 KiB", "100 GiB", ""));
    assert_eq!(written_pages(&never), [[60_000, 0], [0, 0]]);
    let erases = |run: &ArrayRun| {
        let of = |device: &drive::Device| device.ftl().tally.erases;
        run.drives().devices.iter().map(of).collect::<Vec<u64>>()
    };
    println!("{:?} {:?}", erases(&level), erases(&never));
}

// ---- all plans ---------------------------------------------------------------------------------

/// The plans of random arrays.
fn random_plan(pick: &mut impl FnMut(u64) -> u64) -> (u32, String) {
    let depth = format!(", depth = {}", [1, 3, 32][pick(3) as usize]);
    let settle = ["", ", settle = \"700 us\""][pick(2) as usize];
    let period = ["1 ms", "3 ms", "20 ms"][pick(3) as usize];
    let cache = ["16 KiB", "200 KiB", "64 MiB"][pick(3) as usize];
    match pick(6) {
        5 => {
            let piece = 4 << pick(3);
            let chunk = piece * [1, 4][pick(2) as usize];
            let sizes = format!("chunk = \"{chunk} KiB\", gap = \"{} KiB\"", chunk * (1 + pick(3)));
            let more = format!("piece = \"{piece} KiB\", copies = \"{}00 %\"{depth}", 1 + pick(3));
            (2 + pick(2) as u32, format!("{{ policy = \"leveling\", {sizes}, {more} }}"))
        }
        0 => {
            let reads = ["round-robin", "least-outstanding"][pick(2) as usize];
            let hedge = [
                "",
                ", hedge = { after = \"200 us\" }",
                ", hedge = { after = \"200 us\", below = 2 }",
            ];
            let hedge = hedge[pick(3) as usize];
            (2 + pick(2) as u32, format!("{{ policy = \"mirror\", reads = \"{reads}\"{hedge} }}"))
        }
        1 => (2, ping_pong(period, &format!("{depth}{settle}")).replace("64 MiB", cache)),
        2 => {
            let chunk = ["4 KiB", "32 KiB"][pick(2) as usize];
            let more = format!(", chunk = \"{chunk}\"{depth}{settle}");
            (3 + pick(2) as u32, rotation(period, &more).replace("64 MiB", cache))
        }
        _ => {
            let release = ["replicated", "swap-after-next"][pick(2) as usize];
            let answer = ["written", "cached"][pick(2) as usize];
            let more = format!(", release = \"{release}\", answer = \"{answer}\"{depth}{settle}");
            (2 + pick(2) as u32, rails(period, &more).replace("64 MiB", cache))
        }
    }
}

#[test]
fn reads_return_the_newest_data_under_every_plan() {
    for seed in floor::seeds(0, 60) {
        let mut stream = Streams::new(seed).stream("test.array");
        let mut pick = |below: u64| stream.below(below);
        let (members, plan) = random_plan(&mut pick);
        let sizes = "size = [{ size = \"4 KiB\", share = \"50 %\" }, { size = \"1 KiB\", share = \"25 %\" }, { size = \"10 KiB\", share = \"25 %\" }]\nalign = \"512 B\"";
        let mix = "mix = { read = \"50 %\", write = \"40 %\", trim = \"4 %\", flush = \"2 %\", write_zeroes = \"4 %\" }";
        let depth = [1, 4, 16][pick(3) as usize];
        let one = load(
            "one",
            &format!("{mix}\n{sizes}\nqueue_depth = {depth}\nregion = {{ size = \"64 KiB\" }}"),
        );
        let other = "reads = \"70 %\"\narrivals = { process = \"poisson\", rate = \"1 kIOPS\" }\nqueue_depth = 16\npriority = \"high\"";
        let text = one + &load("other", other) + "[run]\nrequests = 1200\n";
        let sets = pick(3) == 0 && members == 2;
        let mut overrides = drives(if sets { 1 } else { members }, &plan, &[set("seed", seed + 1)]);
        if sets {
            overrides.push(set("ftl.sets", "{ channels = 2 }"));
        }
        if pick(2) == 0 {
            // A plan that levels wear refuses buffers that lose data.
            let most = if plan.contains("leveling") { 1 } else { 2 };
            let durability = ["capacitor", "volatile"][pick(most) as usize];
            overrides.push(set("buffer.durability", durability));
            overrides.push(set("buffer.size", "256 KiB"));
        }
        println!("seed {seed}: {overrides:?}");
        let run = run_array(&experiment(&text, &overrides));
        assert_eq!(run.issued(), 1200);
        let counts = run.plan_counts();
        assert!(counts.sent + counts.cancelled <= counts.hedges, "{counts:?}");
    }
}
