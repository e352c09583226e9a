//! Order of the operations of a unit.

use crate::common::{Bench, Override, set};
use crate::directions::case::{Case, Scene, case};
use crate::directions::requests::{PAGE, US};
use crate::directions::scratch::file;
use crate::poised::{page, shape};
use drive::Experiment;
use drive::policies::routing::{Meeting, ReadRouting, RouteOutside};
use drive::policies::suspension::{Asked, InterruptOutside, Interruption, Suspension};
use host::Kind;
use settings::Outside;
use std::fs;

/// Reads come to a die at 0, 30 and 130 us, and a write at 20. The first read ends at 125. With
/// `none` the write is next. With `batch` the read that was waiting with the write goes before it.
/// With `drain` all reads do.
pub fn cases() -> Vec<Case> {
    let bypass = case("drive.scheduler.bypass.policy")
        .filled()
        .see("a write beside reads, us", |scene| {
            let mut bench = scene.bench();
            bench.submit(0, Kind::Read, 0, PAGE);
            let write = bench.submit(20 * US, Kind::Write, 20 * PAGE, PAGE);
            bench.submit(30 * US, Kind::Read, PAGE, PAGE);
            bench.submit(130 * US, Kind::Read, 2 * PAGE, PAGE);
            bench.settle();
            bench.done(write).finished / US
        })
        .under([("none", 125 + 300), ("batch", 2 * 125 + 300), ("drain", 3 * 125 + 300)]);
    let mut cases = routing_cases();
    cases.extend([bypass, channel_case(), beginning_case(), strict_case()]);
    cases
}

/// One channel, five dies. Data of the first read has the channel from 25 to 125; data of the
/// second asks for it at 35, the write at 40, data of the third read at 45 and of the fourth at
/// 130. By age the write goes before the third, and with commands first before all that wait; by
/// default, and with data first, it goes after those that waited at 125.
fn channel_case() -> Case {
    case("drive.scheduler.channel.policy")
        .filled()
        .given(&[
            set("geometry.dies_per_package", 5),
            set("geometry.blocks_per_plane", 16),
            set("ftl.allocation.pool", "die"),
        ])
        .see("a write beside reads of other dies, us", |scene| {
            let mut bench = scene.bench();
            bench.submit(0, Kind::Read, 0, PAGE);
            bench.submit(10 * US, Kind::Read, PAGE, PAGE);
            bench.submit(20 * US, Kind::Read, 2 * PAGE, PAGE);
            let write = bench.submit(40 * US, Kind::Write, 4 * PAGE, PAGE);
            bench.submit(105 * US, Kind::Read, 3 * PAGE, PAGE);
            bench.settle();
            bench.done(write).finished / US
        })
        .under([
            ("out-first", 425 + 200),
            ("data-first", 425 + 200),
            ("commands-first", 225 + 200),
            ("reads-first", 425 + 200),
            ("by-age", 325 + 200),
        ])
}

/// One channel, three dies, and commands of 10 us. Data of the first read has the channel from 35 to
/// 135 us. Data of the second has waited since 47, the third read since 60, a write since 50. With
/// reads first the third begins next, and then the second's data goes. The third's data asks at 170,
/// after the write could first have gone, so the write goes before it.
fn beginning_case() -> Case {
    case("drive.scheduler.channel.policy")
        .filled()
        .given(&[
            set("geometry.dies_per_package", 4),
            set("geometry.blocks_per_plane", 16),
            set("ftl.allocation.pool", "die"),
            set("nand.command_cycles", "{ read = '10 us', program = '10 us', erase = '10 us' }"),
        ])
        .see("a read, one that waits to begin, and a write, us", |scene| {
            let mut bench = scene.bench();
            bench.submit(0, Kind::Read, 0, PAGE);
            let second = bench.submit(12 * US, Kind::Read, PAGE, PAGE);
            let write = bench.submit(50 * US, Kind::Write, 3 * PAGE, PAGE);
            let third = bench.submit(60 * US, Kind::Read, 2 * PAGE, PAGE);
            bench.settle();
            [second, third, write].map(|tag| bench.done(tag).finished / US)
        })
        .under([
            // The third begins from 135 to 145; the write is sent from 245 to 355.
            ("reads-first", [245, 245 + 110 + 100, 245 + 110 + 200]),
            // The second's data first; then, by age, the write from 235 to 345, and the third.
            ("data-first", [235, 235 + 110 + 10 + 25 + 100, 235 + 110 + 200]),
        ])
}

/// One channel, five dies, and commands that need it. Data of the first read has it from 25 to 125,
/// then those of the second and the third, which have waited since. The write has waited since 40;
/// data of a fourth read, whose page takes 150 us, asks at 165. That data waits for the write's
/// program to be sent, unless data goes first in any case.
fn strict_case() -> Case {
    case("drive.scheduler.channel(data-first).strict")
        .filled()
        .given(&[
            set("geometry.dies_per_package", 5),
            set("geometry.blocks_per_plane", 16),
            set("ftl.allocation.pool", "die"),
            set("nand.cell", "mlc"),
            set("nand.read", "[\"25 us\", \"150 us\"]"),
            set("nand.program", "[\"200 us\", \"200 us\"]"),
            set("nand.command_cycles", "{ read = \"0 us\", program = \"0 us\", erase = \"0 us\" }"),
            set("scheduler.channel", "{ policy = \"data-first\" }"),
        ])
        .see("a write beside reads of other dies, us", |scene| {
            let mut bench = scene.bench();
            bench.submit(0, Kind::Read, 0, PAGE);
            bench.submit(10 * US, Kind::Read, PAGE, PAGE);
            bench.submit(15 * US, Kind::Read, 8 * PAGE, PAGE);
            bench.submit(20 * US, Kind::Read, 2 * PAGE, PAGE);
            let write = bench.submit(40 * US, Kind::Write, 4 * PAGE, PAGE);
            bench.settle();
            bench.done(write).finished / US
        })
        .under([("false", 425 + 200), ("true", 525 + 200)])
        .left_out(425 + 200)
}

// ---- erases that are suspended -----------------------------------------------------------

/// A policy in Python, which only Python can find; here it is a number in a file of the test.
struct AtLeast(u32);

impl RouteOutside for AtLeast {
    fn asks(&self, meeting: &Meeting) -> Result<bool, String> {
        Ok(meeting.suspensions >= self.0)
    }
}

impl InterruptOutside for AtLeast {
    fn interrupts(&self, asked: &Asked) -> Result<Interruption, String> {
        Ok(match asked.at_safe_point && asked.steps_done >= self.0 {
            true => Interruption::AtStepEnd,
            false => Interruption::GoOn,
        })
    }
}

fn found<P: ?Sized>(outside: &mut Outside<P>, policy: impl FnOnce(AtLeast) -> Box<P>) {
    let text = fs::read_to_string(&outside.file).expect("it was just written");
    let mut functions = text.lines().filter_map(|line| line.split_once(' '));
    let number = functions.find(|(name, _)| *name == outside.function).expect("it is there").1;
    outside.find(policy(AtLeast(number.parse().expect("a number"))));
}

pub fn find_outside(experiment: &mut Experiment) {
    let scheduler = &mut experiment.drive.scheduler;
    if let ReadRouting::Python(python) = &mut scheduler.read_routing {
        found(python.outside(), |policy| Box::new(policy));
    }
    for suspension in [&mut scheduler.suspension, &mut scheduler.program_suspension] {
        if let Suspension::Python(python) = suspension {
            found(python.outside(), |policy| Box::new(policy));
        }
    }
}

/// Two files with policies.
pub fn functions() -> [&'static str; 2] {
    let functions = file("schedulers", "always 0\nlater 2\nnever 9\n");
    let others = file("other-schedulers", "always 2\nnever 0\n");
    [functions, others]
}

/// On the drive that is one write away from collecting: that write, and its time. A block is erased
/// from 725 us after it on.
pub fn collecting(scene: &Scene) -> (Bench, u64) {
    let mut experiment = scene.experiment();
    find_outside(&mut experiment);
    let mut bench = Bench::of(&experiment);
    for number in [0, 1, 2, 4] {
        bench.alone(Kind::Write, page(0, number), PAGE);
    }
    let start = bench.settle();
    bench.submit(start, Kind::Write, page(0, 5), PAGE);
    (bench, start)
}

/// Answers to reads that come 1000 and 1300 us after a write, in us after it. The write causes the
/// erase of a block in three steps of 500 us from 725 on; a read takes 125 us.
fn reads_beside_an_erase(scene: &Scene) -> [u64; 2] {
    let (mut bench, start) = collecting(scene);
    let reads = [(1_000, 1), (1_300, 2)]
        .map(|(at, number)| bench.submit(start + at * US, Kind::Read, page(0, number), PAGE));
    bench.settle();
    reads.map(|read| (bench.done(read).finished - start) / US)
}

const ROUTING: &str = "drive.scheduler.read_routing.policy";
const SUSPENSION: &str = "drive.scheduler.suspension.policy";

fn beside_an_erase(parameter: &'static str, more: &[Override]) -> Case {
    let steps = "{ steps = 3, ramp = \"0 us\", execute = \"500 us\", recover = \"0 us\", verify = \"0 us\" }";
    let given = [&[set("nand.erase", steps)], more].concat();
    case(parameter)
        .filled()
        .given(&shape(&given))
        .see("two reads beside an erase, us", reads_beside_an_erase)
}

/// Steps end at 1225, 1725 and 2225. If the erase is suspended at the first of these it resumes at
/// 1350, and the end of its second step is at 1850.
fn routing_cases() -> Vec<Case> {
    let waits = [2_350, 2_475];
    let once = [1_350, 2_475];
    let twice = [1_350, 1_975];
    let [functions, others] = functions();
    let python = |function: &str| -> &str {
        format!("{{ policy = 'python', function = '{function}', file = '{functions}' }}").leak()
    };
    let scheduler = |routing: &str, suspension: &str| -> &str {
        format!("{{ bypass = 'batch', read_routing = {routing}, suspension = {suspension} }}")
            .leak()
    };
    let never = scheduler("'wait'", "'baseline'");
    let at_steps = set("scheduler.suspension", "d-es");
    vec![
        beside_an_erase(ROUTING, &[]).at("drive.scheduler").beside(&[SUSPENSION]).under([
            (never, waits),
            (scheduler("'suspend'", "'d-es'"), twice),
            // At 1000 the erase has 1225 us to go; at 1350, with 1000 to go, the second read
            // decides.
            (scheduler("{ policy = 'deadline', within = '1100 us' }", "'d-es'"), once),
            (scheduler(python("later"), "'d-es'"), waits),
        ]),
        beside_an_erase(
            "drive.scheduler.read_routing(deadline).within",
            std::slice::from_ref(&at_steps),
        )
        .given(&[set("scheduler.read_routing", "{ policy = 'deadline', within = '1400 us' }")])
        .under([("999 us", twice), ("1100 us", once), ("1225 us", waits)]),
        beside_an_erase(
            "drive.scheduler.read_routing(python).function",
            std::slice::from_ref(&at_steps),
        )
        .given(&[set("scheduler.read_routing", python("always"))])
        .under([("always", twice), ("later", waits)]),
        beside_an_erase("drive.scheduler.read_routing(python).file", &[at_steps])
            .given(&[set("scheduler.read_routing", python("always"))])
            .under([(functions, twice), (others, waits)]),
    ]
}
