//! Requests from a trace. The drive exports 3 MiB.

use crate::case::{Case, REFUSED, Scene, case};
use crate::common::{Override, set};
use crate::requests::{arrivals_us, offsets, recorded};
use crate::scratch::file;
use drive::Run;

const KIB: u64 = 1_024;

/// A trace in a file of its own, called `name`; returns what sets it.
fn trace(name: &str, rows: &str) -> Override {
    let file = file(&format!("{name}.trace"), rows);
    set("workload[0].trace", format!("{{ file = '{file}' }}"))
}

fn replay(parameter: &'static str, trace: Override) -> Case {
    case(parameter).filled().text("[[workload]]\nname = \"host\"\n").given(&[trace, recorded()])
}

/// What `of_run` sees of a replay, or the words for a trace that is refused because of
/// this.
fn or_refused(
    scene: &Scene,
    because: &str,
    words: &str,
    of_run: impl Fn(&Run) -> String,
) -> String {
    match scene.try_run() {
        Ok(run) => of_run(&run),
        Err(refusal) if refusal.contains(because) => words.into(),
        Err(other) => panic!("{other}"),
    }
}

/// When requests come, in us.
fn arrivals(run: &Run) -> String {
    format!("{:?}", arrivals_us(run))
}

/// What a trace comes to that a policy refuses.
const ERROR: &str = "an error";

/// Two reads 300 us apart in each format, of pages 0 and 1.
const FORMATS: &[(&str, &str)] = &[
    ("mqsim", "938513000 0 0 8 1\n938813000 0 8 8 1\n"),
    ("disksim", "10.5 0 0 8 1\n10.8 0 8 8 1\n"),
    ("captured", "time_us,op,offset,length\n7,R,0,4096\n307,R,4096,4096\n"),
];

/// The format is found, or given; as another the file cannot be read.
fn of_format((format, rows): &(&'static str, &str)) -> Case {
    let other = if *format == "captured" { "mqsim" } else { "captured" };
    replay("workload.trace.format", trace(format, rows))
        .see("when requests come, us", |scene| or_refused(scene, ".trace", REFUSED, arrivals))
        .left_out("[0.0, 300.0]")
        .under([(*format, "[0.0, 300.0]"), (other, REFUSED)])
}

/// Whole numbers are a row in two formats, in nanoseconds and in milliseconds.
fn either() -> Case {
    replay("workload.trace.format", trace("either", "0 0 0 8 1\n5 0 8 8 1\n"))
        .see("when requests come, us", |scene| or_refused(scene, "ambiguous", ERROR, arrivals))
        .left_out(ERROR)
        .under([("mqsim", "[0.0, 0.005]"), ("disksim", "[0.0, 5000.0]")])
}

/// Reads at 0, 300 and 1000 us, of pages 0, 1 and 2.
const STAMPED: &str = "time_us,op,offset,length\n7,R,0,4096\n307,R,4096,4096\n1007,R,8192,4096\n";
/// Two pages of device 0, and one of device 3.
const DEVICES: &str = "0 0 0 8 1\n1000000 0 8 8 1\n2000000 3 16 8 1\n";

pub fn cases() -> Vec<Case> {
    let stamped = || trace("stamped", STAMPED);
    let devices = |keys: &str| {
        let file = file("devices.trace", DEVICES);
        set("workload[0].trace", format!("{{ file = '{file}', format = 'mqsim'{keys} }}"))
    };
    let few = file("few.trace", "time_us,op,offset,length\n0,R,0,4096\n");
    let many = file("many.trace", STAMPED);
    // Asked for are 0 to 6 MiB, twice the drive.
    let far = "time_us,op,offset,length\n0,R,0,4096\n1,R,5242880,4096\n2,R,6287360,4096\n";
    let mut all = vec![
        replay("workload.trace.file", trace("few", "time_us,op,offset,length\n0,R,0,4096\n"))
            .see("requests", |scene| scene.run().issued())
            .under([(few, 1), (many, 3)]),
        either(),
        // By the stamps, or each when the one before it has ended.
        replay("workload.trace.mode", stamped())
            .see("when requests come, us", |scene| arrivals_us(&scene.run()))
            .left_out([0.0, 300.0, 1_000.0])
            .under([("open", [0.0, 300.0, 1_000.0]), ("closed", [0.0, 125.0, 250.0])]),
        replay("workload.trace.time_scale", stamped())
            .see("when requests come, us", |scene| arrivals_us(&scene.run()))
            .left_out([0.0, 300.0, 1_000.0])
            .under([
                ("0.5", [0.0, 150.0, 500.0]),
                ("1.0", [0.0, 300.0, 1_000.0]),
                ("2.0", [0.0, 600.0, 2_000.0]),
            ]),
        replay(
            "workload.trace.disorder",
            trace("disorder", "time_us,op,offset,length\n0,R,0,4096\n9,R,0,4096\n5,R,0,4096\n"),
        )
        .see("when requests come, us", |scene| or_refused(scene, "disorder", ERROR, arrivals))
        .left_out("[0.0, 5.0, 9.0]")
        .under([("refuse", ERROR), ("sort", "[0.0, 5.0, 9.0]")]),
        replay("workload.trace.devices", devices(", combine = 'fold'"))
            .see("where requests begin", |scene| offsets(&scene.run()))
            .left_out(vec![0, 4 * KIB, 8 * KIB])
            .under([
                ("[0]", vec![0, 4 * KIB]),
                ("[3]", vec![8 * KIB]),
                ("[0, 3]", vec![0, 4 * KIB, 8 * KIB]),
            ]),
        // The second device begins at 1 MiB, or where the first does.
        replay("workload.trace.combine", devices(""))
            .see("initiators, and where requests begin", |scene| {
                let run = scene.run();
                [vec![run.measured().initiators().len() as u64], offsets(&run)].concat()
            })
            .under([
                ("concatenate", [1, 0, 4 * KIB, 1_032 * KIB]),
                ("fold", [1, 0, 4 * KIB, 8 * KIB]),
                ("separate", [2, 0, 4 * KIB, 8 * KIB]),
            ]),
        // Modulo 3 MiB, or halved.
        replay("workload.trace.out_of_range", trace("far", far))
            .see("where requests begin", |scene| {
                or_refused(scene, "out_of_range", ERROR, |run| format!("{:?}", offsets(run)))
            })
            .left_out(ERROR)
            .under([
                ("refuse", ERROR),
                ("wrap", "[0, 2097152, 3141632]"),
                ("scale", "[0, 2621440, 3141632]"),
            ]),
        // Three rows over 1000 us; a mean gap of 500 us behind the last, once more.
        replay("workload.trace.repeat", stamped())
            .see("when the last request comes, us, and their number", |scene| {
                let arrivals = arrivals_us(&scene.run());
                [*arrivals.last().expect("requests"), arrivals.len() as f64]
            })
            .left_out([1_000.0, 3.0])
            .under([("1", [1_000.0, 3.0]), ("2", [2_500.0, 6.0]), ("3", [4_000.0, 9.0])]),
    ];
    all.extend(FORMATS.iter().map(of_format));
    all
}
