//! Requests from a trace. The drive exports 3 MiB.

use crate::common::{Override, set};
use crate::directions::case::{Case, REFUSED, Scene, case};
use crate::directions::requests::{arrivals_us, bytes, offsets, recorded};
use crate::directions::scratch::file;
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

/// The measurement `of_run` of a replay, or a word if the trace is refused with this message.
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

/// Arrivals of requests, in us.
fn arrivals(run: &Run) -> String {
    format!("{:?}", arrivals_us(run))
}

/// Measurement for a trace that a policy refuses.
const ERROR: &str = "an error";

/// Two reads of pages 0 and 1 in each format, and their arrivals.
const FORMATS: &[(&str, &str, &str)] = &[
    ("mqsim", "938513000 0 0 8 1\n938813000 0 8 8 1\n", "[0.0, 300.0]"),
    ("disksim", "10.5 0 0 8 1\n10.8 0 8 8 1\n", "[0.0, 300.0]"),
    ("captured", "time_us,op,offset,length\n7,R,0,4096\n307,R,4096,4096\n", "[0.0, 300.0]"),
    (
        "msr",
        "128166372003061629,hm,1,Read,0,4096,58000\n128166372003064629,hm,1,Read,4096,4096,41\n",
        "[0.0, 300.0]",
    ),
    ("etw", ETW, "[0.0, 300.0]"),
    ("blkparse", BLKPARSE, "[0.0, 300.0]"),
    ("fio-v2", FIO_V2, "[0.0, 300.0, 700.0]"),
    ("fio-v3", FIO_V3, "[0.0, 300.0]"),
    ("spc", SPC, "[0.0, 300.0]"),
    (
        "systor",
        "Timestamp,Response,IOType,LUN,Offset,Size\n1456135200.000000000,0.0008,R,4,0,4096\n\
         1456135200.000300000,0.0008,R,4,4096,4096\n",
        "[0.0, 300.0]",
    ),
    ("alibaba", "0,R,0,4096,1577808000000000\n0,R,4096,4096,1577808000000300\n", "[0.0, 300.0]"),
    // Whole seconds.
    ("tencent", "1538323200,0,8,0,7\n1538323201,8,8,0,7\n", "[0.0, 1000000.0]"),
];

/// Requests begin at their end less their duration.
const ETW: &str = "BeginHeader
DiskRead, TimeStamp, Process Name ( PID), ThreadID, IrpPtr, ByteOffset, IOSize, ElapsedTime, DiskNum, IrpFlags, DiskSvcTime, I/O Pri, VolSnap, FileObject, FileName
EndHeader
DiskRead, 1300, System (   4), 88, 0xfffffa80106c5010, 0x0000000000, 0x00001000, 100, 0, 0x060043, 90, 3, Original, 0xfffffa8013d4c9f0, \"D:\\a\"
DiskRead, 1700, System (   4), 88, 0xfffffa80106c5010, 0x0000001000, 0x00001000, 200, 0, 0x060043, 90, 3, Original, 0xfffffa8013d4c9f0, \"D:\\a\"
";

/// Queued 300 us apart, dispatched 400 us apart, and completed 700.
const BLKPARSE: &str = "\
  8,16   1        1     0.000000000   697  Q   R 0 + 8 [x]
  8,16   1        2     0.000100000   697  D   R 0 + 8 [x]
  8,16   1        3     0.000200000   697  C   R 0 + 8 [0]
  8,16   1        4     0.000300000   697  Q   R 8 + 8 [x]
  8,16   1        5     0.000500000   697  D   R 8 + 8 [x]
  8,16   1        6     0.000900000   697  C   R 8 + 8 [0]
";

/// A wait of 300, and one of 400.
const FIO_V2: &str = "fio version 2 iolog\n/dev/sda add\n/dev/sda open\n\
    /dev/sda read 0 4096\n/dev/sda wait 300 0\n/dev/sda read 4096 4096\n\
    /dev/sda wait 400 0\n/dev/sda read 0 4096\n/dev/sda close\n";
const FIO_V3: &str = "fio version 3 iolog\n0 /dev/sda add\n2 /dev/sda open\n\
    15 /dev/sda read 0 4096\n315 /dev/sda read 4096 4096\n400 /dev/sda close\n";
const CUT: &str = "0,0,4096,R,0.500000\n0,8,4096,R,0.5003";
const SPC: &str = "0,0,4096,R,0.500000\n0,8,4096,R,0.500300\n";

/// A case in which the format is detected, or given; with another format the file cannot be read.
fn of_format((format, rows, expected): &(&'static str, &str, &'static str)) -> Case {
    let other = if *format == "captured" { "mqsim" } else { "captured" };
    replay("workload.trace.format", trace(format, rows))
        .see("when requests come, us", |scene| or_refused(scene, ".trace", REFUSED, arrivals))
        .left_out(*expected)
        .under([(*format, *expected), (other, REFUSED)])
}

/// Interpretation of a file if its format leaves it open.
fn options() -> Vec<Case> {
    let arrivals = |parameter, trace| {
        replay(parameter, trace).see("when requests come, us", |scene| arrivals_us(&scene.run()))
    };
    vec![
        // Two requests in one second, half a second apart.
        arrivals(
            "workload.trace.spread",
            trace("equal", "1538323200,0,8,0,7\n1538323200,8,8,0,7\n"),
        )
        .left_out([0.0, 0.0])
        .under([("none", [0.0, 0.0]), ("uniform", [0.0, 500_000.0])]),
        arrivals("workload.trace.event", trace("events", BLKPARSE)).left_out([0.0, 300.0]).under([
            ("queue", [0.0, 300.0]),
            ("dispatch", [0.0, 400.0]),
            ("complete", [0.0, 700.0]),
        ]),
        arrivals("workload.trace.time_unit", trace("stamps", FIO_V3)).left_out([0.0, 300.0]).under(
            [("ns", [0.0, 0.3]), ("us", [0.0, 300.0]), ("ms", [0.0, 300_000.0]), ("s", [0.0, 3e8])],
        ),
        // One after the other, or both from the beginning.
        arrivals("workload.trace.waits", trace("waits", FIO_V2))
            .left_out([0.0, 300.0, 700.0])
            .under([("gaps", [0.0, 300.0, 700.0]), ("moments", [0.0, 300.0, 400.0])]),
        replay("workload.trace.block_size", trace("blocks", SPC))
            .see("where requests begin", |scene| offsets(&scene.run()))
            .left_out([0, 8 * 512])
            .under([("512 B", [0, 8 * 512]), ("4 KiB", [0, 32 * KIB])]),
        replay("workload.trace.length_unit", trace("lengths", SPC))
            .see("the sizes of requests", |scene| bytes(&scene.run()))
            .left_out([4 * KIB, 4 * KIB])
            .under([("1 B", [4 * KIB, 4 * KIB]), ("2 B", [8 * KIB, 8 * KIB])]),
        // The last line has no end: a digit may be missing.
        replay("workload.trace.truncated", trace("cut", CUT))
            .see("requests", |scene| scene.run().issued())
            .left_out(2)
            .under([("refuse", 2), ("end", 1)]),
    ]
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
    // The trace asks for 0 to 6 MiB, twice the drive.
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
        // The second device begins at 1 MiB, or at the beginning of the first.
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
        // Three rows over 1000 us; after a mean gap of 500 us behind the last, they are repeated.
        replay("workload.trace.repeat", stamped())
            .see("when the last request comes, us, and their number", |scene| {
                let arrivals = arrivals_us(&scene.run());
                [*arrivals.last().expect("requests"), arrivals.len() as f64]
            })
            .left_out([1_000.0, 3.0])
            .under([("1", [1_000.0, 3.0]), ("2", [2_500.0, 6.0]), ("3", [4_000.0, 9.0])]),
    ];
    all.extend(FORMATS.iter().map(of_format));
    all.extend(options());
    all
}
