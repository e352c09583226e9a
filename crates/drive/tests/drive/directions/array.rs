//! Several drives. Each has one die here, on which a read takes 125 us and a write 300, unless a case
//! says otherwise.

use crate::array::{blamed, run_array, stats};
use crate::common::{Override, set};
use crate::directions::case::{Case, Scene, case};
use crate::directions::requests::{READ, US, WRITE};
use crate::directions::scratch::file;
use drive::Experiment;
use drive::array::config::PlanConfig;
use drive::array::{Array, ArrayRun, Decide, Decision, MakePlan, News, Seen, Stop, Wait};
use engine::Span;
use ftl::{SetId, Source};
use host::Kind;
use metrics::State;
use std::collections::BTreeSet;
use std::fs;

const MIRROR: &str = "{ policy = \"mirror\" }";
const MS: u64 = 1_000 * US;

/// Two drives with a plan.
fn two(plan: &str) -> [Override; 1] {
    [set("array", format!("{{ drives = 2, plan = {plan} }}"))]
}

/// A plan with periods of 10 ms.
fn periods(policy: &str, more: &str) -> String {
    let cache = "cache = { size = \"1 MiB\", latency = \"1 us\" }";
    format!("{{ policy = \"{policy}\", period = \"10 ms\", {cache}{more} }}")
}

/// So many requests at once, of one kind, to pages in their order.
fn at_once(kind: &str, requests: u32) -> String {
    let reads = if kind == "reads" { "100 %" } else { "0 %" };
    format!(
        "[precondition]\nfill = \"sequential\"\n[[workload]]\nname = \"load\"\nreads = \"{reads}\"\n\
         queue_depth = {requests}\naddresses = {{ pattern = \"sequential\" }}\n\
         [run]\nrequests = {requests}\n"
    )
}

/// A figure of a run.
fn of<const N: usize>(
    figures: impl Fn(&ArrayRun) -> [u64; N] + 'static,
) -> impl Fn(&Scene) -> [u64; N] {
    move |scene| {
        let mut experiment = scene.experiment();
        find_plan(&mut experiment);
        figures(&run_array(&experiment))
    }
}

/// A plan that serves requests from the host's memory, which takes so many microseconds.
struct Serves(u64);

impl MakePlan for Serves {
    fn make(&self, _: Array) -> Result<Box<dyn Decide>, Stop> {
        Ok(Box::new(Self(self.0)))
    }
}

impl Decide for Serves {
    fn decide(&mut self, _: Seen<'_>, news: News) -> Result<Vec<Decision>, Stop> {
        let News::Asked(asked) = news else { return Ok(Vec::new()) };
        Ok(vec![Decision::Serve(asked, Span::from_us(self.0), Wait::Turn)])
    }
    fn looks(&self, news: News) -> bool {
        matches!(news, News::Asked(_))
    }
    fn mirrors(&self) -> Option<bool> {
        Some(false)
    }
}

/// Finds a plan in Python, which only Python can find, by its name in a file of the test.
fn find_plan(experiment: &mut Experiment) {
    let plan = experiment.array.as_mut().map(|array| &mut array.plan);
    let Some(PlanConfig::Python(policy)) = plan else { return };
    let outside = policy.outside();
    let text = fs::read_to_string(&outside.file).expect("it was just written");
    let mut functions = text.lines().filter_map(|line| line.split_once(' '));
    let found = functions.find(|(name, _)| *name == outside.function).expect("it is there").1;
    outside.find(Box::new(Serves(found.parse().expect("microseconds"))));
}

fn took(run: &ArrayRun) -> u64 {
    run.elapsed().as_ns()
}

fn latencies(run: &ArrayRun, kind: Kind) -> u64 {
    stats(run, 0, kind).latency.sum_ns() as u64
}

pub fn cases() -> Vec<Case> {
    let plans = [mirrors(), rails(), ping_pong(), rotation(), leveling(), python()];
    plans.into_iter().chain([whole()]).flatten().collect()
}

fn whole() -> Vec<Case> {
    let digests = |run: &ArrayRun| {
        let digests = run.drives().devices.iter().map(|device| device.digest());
        [digests.collect::<BTreeSet<u64>>().len() as u64]
    };
    let random = [
        set("geometry.channels", 4),
        set("ftl.gc.victim", "{ policy = \"random\" }"),
        set("precondition.fill", "random"),
        set("precondition.age.overwrites", 1.0),
    ];
    let writes = "[[workload]]\nname = \"load\"\nreads = \"0 %\"\nqueue_depth = 4\n\
                  [run]\nrequests = 4000\n";
    vec![
        case("array.drives")
            .given(&two(MIRROR))
            .text(at_once("reads", 8))
            .see("time of eight reads at once, ns", of(|run| [took(run)]))
            .under([("1", [8 * READ]), ("2", [4 * READ]), ("4", [2 * READ])]),
        case("array.same_numbers")
            .given(&two(MIRROR))
            .given(&random)
            .text(writes)
            .see("digests of two drives with the same writes", of(digests))
            .left_out([2])
            .under([("true", [1]), ("false", [2])]),
        case("array.plan.policy")
            .at("array")
            .beside(&["array.drives"])
            .text(at_once("writes", 1))
            .see(
                "latency of a write, and time until its members have it, ns",
                of(|run| [latencies(run, Kind::Write), took(run)]),
            )
            .under([
                ("{ drives = 2, plan = { policy = \"mirror\" } }", [WRITE, WRITE]),
                (
                    "{ drives = 2, plan = { policy = \"rails\", period = \"10 ms\", cache = { size = \"1 MiB\", latency = \"1 us\" } } }",
                    [WRITE, 10 * MS + WRITE],
                ),
                (
                    "{ drives = 2, plan = { policy = \"ping-pong\", period = \"10 ms\", cache = { size = \"1 MiB\", latency = \"1 us\" } } }",
                    [US, 20 * MS + WRITE],
                ),
                // Parity at the first member is written in the first period, and data in the second.
                (
                    "{ drives = 3, plan = { policy = \"rotation\", period = \"10 ms\", chunk = \"4 KiB\", cache = { size = \"1 MiB\", latency = \"1 us\" } } }",
                    [US, 10 * MS + WRITE],
                ),
                (
                    "{ drives = 2, plan = { policy = \"leveling\", chunk = \"4 KiB\", gap = \"4 KiB\", piece = \"4 KiB\" } }",
                    [WRITE, WRITE],
                ),
                (
                    format!("{{ drives = 2, plan = {} }}", in_python(plans()[0])).leak(),
                    [7 * US, 7 * US],
                ),
            ]),
    ]
}

/// Two files with plans.
fn plans() -> [&'static str; 2] {
    [file("plans", "soon 7\nlate 9\n"), file("other-plans", "soon 8\n")]
}

fn in_python(file: &str) -> String {
    format!("{{ policy = 'python', function = 'soon', file = '{file}' }}")
}

fn python() -> Vec<Case> {
    let [plans, others] = plans();
    let serves = |key: &'static str| {
        case(key)
            .given(&two(&in_python(plans)))
            .text(at_once("writes", 1))
            .see("latency of a write, ns", of(|run| [latencies(run, Kind::Write)]))
    };
    vec![
        serves("array.plan(python).function").under([("soon", [7 * US]), ("late", [9 * US])]),
        serves("array.plan(python).file").under([(plans, [7 * US]), (others, [8 * US])]),
    ]
}

fn mirrors() -> Vec<Case> {
    // A read of four pages goes to the first drive; one page is read at the second one, and another
    // one then at the first or again at the second.
    let long_and_short = "[precondition]\nfill = \"sequential\"\n\
        [[workload]]\nname = \"short\"\nreads = \"100 %\"\nstart = \"1 us\"\nstop = { requests = 2 }\n\
        [[workload]]\nname = \"long\"\nreads = \"100 %\"\nsize = \"16 KiB\"\nstop = { requests = 1 }\n";
    let hedges = |run: &ArrayRun| [run.plan_counts().hedges];
    let sent = |run: &ArrayRun| [run.plan_counts().sent];
    let hedged = "{ policy = \"mirror\", hedge = { after = \"10 us\" } }";
    vec![
        case("array.plan(mirror).reads")
            .given(&two(MIRROR))
            .text(long_and_short)
            .see("latencies of two short reads, ns", of(|run| [latencies(run, Kind::Read)]))
            .left_out([4 * READ + READ - US])
            .under([("round-robin", [4 * READ + READ - US]), ("least-outstanding", [2 * READ])]),
        // Two of four reads wait for the other two.
        case("array.plan(mirror).hedge.after")
            .given(&two(hedged))
            .text(at_once("reads", 4))
            .see("hedges", of(hedges))
            .under([("10 us", [4]), ("130 us", [2]), ("300 us", [0])]),
        // The first and the third read go to the first drive. With the limit a hedge of the third one
        // is sent when the second drive has answered its only read, and those of the others are not.
        case("array.plan(mirror).hedge.below")
            .given(&two(hedged))
            .text(at_once("reads", 3))
            .see("hedges that are sent", of(sent))
            .left_out([3])
            .under([("1", [1])]),
    ]
}

/// Cases that Rails and ping-pong share: the key of a size, and a figure.
fn cache(policy: &'static str, names: [&'static str; 2]) -> [Case; 2] {
    let early = if policy == "rails" { ", answer = \"cached\"" } else { "" };
    let plan = periods(policy, early);
    [
        case(names[0])
            .given(&two(&plan))
            .text(at_once("writes", 5))
            .see("writes that wait for room", of(|run| [run.plan_counts().delayed]))
            .under([("8 KiB", [3]), ("20 KiB", [0])]),
        case(names[1])
            .given(&two(&plan))
            .text(at_once("writes", 1))
            .see("latency of a write, ns", of(|run| [latencies(run, Kind::Write)]))
            .under([("1 us", [US]), ("5 us", [5 * US])]),
    ]
}

fn rails() -> Vec<Case> {
    // Writes at 5, 15.3 and 25.6 ms.
    let apart = "[[workload]]\nname = \"load\"\nreads = \"0 %\"\nstart = \"5 ms\"\nthink_time = \"10 ms\"\n\
                 [run]\nrequests = 3\n";
    let alone =
        "[[workload]]\nname = \"load\"\nreads = \"0 %\"\nstart = \"5 ms\"\n[run]\nrequests = 1\n";
    let turns = |run: &ArrayRun| [blamed(stats(run, 0, Kind::Write), State::HostTurn)];
    let plan = periods("rails", "");
    let mut cases = vec![
        case("array.plan(rails).period")
            .given(&two(&plan))
            .text(at_once("writes", 1))
            .see("time until all members have a write, ns", of(|run| [took(run)]))
            .under([("10 ms", [10 * MS + WRITE]), ("20 ms", [20 * MS + WRITE])]),
        case("array.plan(rails).release")
            .given(&two(&plan))
            .text(apart)
            .see("most bytes in the cache", of(|run| [run.plan_counts().peak_bytes]))
            .left_out([4096])
            .under([("replicated", [4096]), ("swap-after-next", [8192])]),
        case("array.plan(rails).answer")
            .given(&two(&plan))
            .text(alone)
            .see("latency of a write, ns", of(|run| [latencies(run, Kind::Write)]))
            .left_out([WRITE])
            .under([("written", [WRITE]), ("cached", [US])]),
        case("array.plan(rails).depth")
            .given(&two(&plan))
            .text(at_once("writes", 3))
            .see("waits of three writes for their turn, ns", of(turns))
            .left_out([0])
            .under([("1", [3 * WRITE]), ("2", [WRITE]), ("3", [0])]),
        case("array.plan(rails).settle")
            .given(&two(&plan))
            .text(alone)
            .see("latency of a write, ns", of(|run| [latencies(run, Kind::Write)]))
            .left_out([WRITE])
            .under([("4 ms", [WRITE]), ("6 ms", [5 * MS + WRITE])]),
    ];
    cases.extend(cache(
        "rails",
        ["array.plan(rails).cache.size", "array.plan(rails).cache.latency"],
    ));
    cases
}

fn ping_pong() -> Vec<Case> {
    let plan = periods("ping-pong", "");
    let time = "time until all members have the writes, ns";
    let names = ["array.plan(ping-pong).cache.size", "array.plan(ping-pong).cache.latency"];
    let mut cases = vec![
        case("array.plan(ping-pong).period")
            .given(&two(&plan))
            .text(at_once("writes", 1))
            .see(time, of(|run| [took(run)]))
            .under([("10 ms", [20 * MS + WRITE]), ("20 ms", [40 * MS + WRITE])]),
        case("array.plan(ping-pong).depth")
            .given(&two(&plan))
            .given(&[set("geometry.channels", 4)])
            .text(at_once("writes", 3))
            .see(time, of(|run| [took(run)]))
            .left_out([20 * MS + WRITE])
            .under([("1", [20 * MS + 3 * WRITE]), ("3", [20 * MS + WRITE])]),
        // From 4 ms on no write begins: 14 of 20 have by then, and the rest goes two periods later.
        case("array.plan(ping-pong).settle")
            .given(&two(&periods("ping-pong", ", depth = 1")))
            .text(at_once("writes", 20))
            .see(time, of(|run| [took(run)]))
            .left_out([20 * MS + 20 * WRITE])
            .under([("6 ms", [40 * MS + 6 * WRITE])]),
    ];
    cases.extend(cache("ping-pong", names));
    cases
}

/// The first chunk lies at the second of three members, and its parity at the first one, which writes
/// first.
fn rotation() -> Vec<Case> {
    let three = |more: &str| {
        let plan = periods("rotation", &format!(", chunk = \"16 KiB\"{more}"));
        [set("array", format!("{{ drives = 3, plan = {plan} }}"))]
    };
    let time = "time until the members have data and parity, ns";
    let programmed = |run: &ArrayRun| {
        let of = |set| run.measured().tally_of(SetId(set)).units[Source::Host as usize];
        [0, 1, 2].map(of)
    };
    let large = "[precondition]\nfill = \"sequential\"\n[[workload]]\nname = \"load\"\nreads = \"0 %\"\n\
                 size = \"8 KiB\"\naddresses = { pattern = \"sequential\" }\n[run]\nrequests = 1\n";
    let late = "[precondition]\nfill = \"sequential\"\n[[workload]]\nname = \"load\"\nreads = \"0 %\"\n\
                start = \"5 ms\"\naddresses = { pattern = \"sequential\" }\n[run]\nrequests = 1\n";
    vec![
        case("array.plan(rotation).period")
            .given(&three(""))
            .text(at_once("writes", 1))
            .see(time, of(|run| [took(run)]))
            .under([("10 ms", [10 * MS + WRITE]), ("20 ms", [20 * MS + WRITE])]),
        // Two chunks of a row have one parity, which is written for each.
        case("array.plan(rotation).chunk")
            .given(&three(""))
            .text(large)
            .see("pages that each member programs", of(programmed))
            .under([("4 KiB", [2, 1, 1]), ("8 KiB", [2, 2, 0])]),
        case("array.plan(rotation).cache.size")
            .given(&three(""))
            .text(at_once("writes", 5))
            .see("writes that wait for room", of(|run| [run.plan_counts().delayed]))
            .under([("16 KiB", [3]), ("40 KiB", [0])]),
        case("array.plan(rotation).cache.latency")
            .given(&three(""))
            .text(at_once("writes", 1))
            .see("latency of a write, ns", of(|run| [latencies(run, Kind::Write)]))
            .under([("1 us", [US]), ("5 us", [5 * US])]),
        case("array.plan(rotation).depth")
            .given(&three(""))
            .given(&[set("geometry.channels", 4)])
            .text(at_once("writes", 3))
            .see(time, of(|run| [took(run)]))
            .left_out([10 * MS + WRITE])
            .under([("1", [10 * MS + 3 * WRITE]), ("3", [10 * MS + WRITE])]),
        // The parity waits for the next turn of its member.
        case("array.plan(rotation).settle")
            .given(&three(""))
            .text(late)
            .see(time, of(|run| [took(run)]))
            .left_out([10 * MS + WRITE])
            .under([("4 ms", [10 * MS + WRITE]), ("6 ms", [30 * MS + WRITE])]),
    ]
}

/// Writes to the first chunk, one after the other. After some of them it changes places with a chunk of
/// the second drive: it is read, and then written, and the write that comes meanwhile waits.
fn leveling() -> Vec<Case> {
    let two = |chunk: &str, more: &str| {
        let sizes = format!("chunk = \"{chunk} KiB\", gap = \"{chunk} KiB\"");
        two(&format!("{{ policy = \"leveling\", {sizes}, piece = \"4 KiB\"{more} }}"))
    };
    let writer = "[[workload]]\nname = \"writer\"\nreads = \"0 %\"\nregion = { size = \"4 KiB\" }\n\
                  stop = { requests = 5 }\n";
    let filled = |loads: &str| format!("[precondition]\nfill = \"sequential\"\n{loads}");
    let (from, second) = ("region = { size", "region = { offset = \"4 KiB\", size");
    let exchanges = |run: &ArrayRun| [run.plan_counts().exchanges];
    let copied = |run: &ArrayRun| [run.plan_counts().copied_bytes];
    let waits = |run: &ArrayRun| [blamed(stats(run, 0, Kind::Write), State::HostTurn)];
    let all = ", copies = \"100 %\"";
    // From 725 to 1025 us the memory has the chunk.
    let reader = "[[workload]]\nname = \"reader\"\nreads = \"100 %\"\nregion = { size = \"4 KiB\" }\n\
                  start = \"800 us\"\nstop = { requests = 1 }\n";
    vec![
        // A choice is due after a chunk of writes. Two of 4 KiB differ by more than one of 4 KiB, and
        // four by more than one of 8 KiB.
        case("array.plan(leveling).chunk")
            .given(
                &two("4", ", copies = \"100 %\"")
                    .map(|(key, plan)| (key, plan.replace("gap = \"4", "gap = \"8"))),
            )
            .text(filled(writer))
            .see("bytes that are copied", of(copied))
            .under([("4 KiB", [8192]), ("8 KiB", [16384])]),
        case("array.plan(leveling).gap")
            .given(&two("4", all))
            .text(filled(writer))
            .see("exchanges", of(exchanges))
            .under([("4 KiB", [1]), ("16 KiB", [1]), ("20 KiB", [0])]),
        // Two pages are copied for five.
        case("array.plan(leveling).copies")
            .given(&two("4", ""))
            .text(filled(writer))
            .see("exchanges", of(exchanges))
            .left_out([0])
            .under([("39 %", [0]), ("40 %", [1])]),
        // The last write waits until the first piece, or both at once, are read and written.
        case("array.plan(leveling).piece")
            .given(&two("8", &format!("{all}, depth = 1")))
            .text(filled(writer))
            .see("wait for a piece, ns", of(waits))
            .under([("4 KiB", [READ + WRITE]), ("8 KiB", [2 * (READ + WRITE)])]),
        // The last write is to the second piece, which is copied when the write has ended, or when the
        // first piece has, too. The pieces lie on two dies.
        case("array.plan(leveling).depth")
            .given(&two("8", all))
            .given(&[set("geometry.channels", 4)])
            .text(filled(writer).replace("requests = 5", "requests = 4").replace(from, second))
            .see("time until the chunk is copied, ns", of(|run| [took(run)]))
            .left_out([4 * WRITE + READ + WRITE])
            .under([("1", [3 * WRITE + 2 * (READ + WRITE)]), ("2", [4 * WRITE + READ + WRITE])]),
        case("array.plan(leveling).latency")
            .given(&two("4", all))
            .text(filled(&(reader.to_owned() + writer)))
            .see("latency of a read, ns", of(|run| [latencies(run, Kind::Read)]))
            .left_out([US])
            .under([("1 us", [US]), ("5 us", [5 * US])]),
    ]
}
