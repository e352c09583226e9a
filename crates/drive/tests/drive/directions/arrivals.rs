//! Arrivals of requests: open and closed loops, queues and bursts.

use crate::common::{Override, set};
use crate::directions::case::{Case, about, case};
use crate::directions::requests::{READ, US, arrivals_us, latency, recorded, requests};
use drive::measure::SlowRequest;

fn reads(parameter: &'static str, requests: u64, workload: &[Override]) -> Case {
    case(parameter)
        .filled()
        .text(format!(
            "[[workload]]\nname = \"host\"\nreads = \"100 %\"\n[run]\nrequests = {requests}\n"
        ))
        .given(&[recorded()])
        .given(workload)
}

const TWO: &str = "[[workload]]\nname = \"first\"\nreads = \"100 %\"\nstop.requests = 50\n\
    arrivals = { process = \"constant\", rate = \"100 IOPS\" }\n\
    [[workload]]\nname = \"second\"\nreads = \"100 %\"\nstop.requests = 50\n\
    arrivals = { process = \"constant\", rate = \"100 IOPS\" }\n";

/// The mean of figures, and their standard deviation over it.
fn mean_and_spread(figures: &[f64]) -> [f64; 2] {
    let count = figures.len() as f64;
    let mean = figures.iter().sum::<f64>() / count;
    let square = figures.iter().map(|figure| (figure - mean) * (figure - mean)).sum::<f64>();
    [mean, libm::sqrt(square / count) / mean]
}

/// Times between the arrivals of a run, in us.
fn gaps(run: &drive::Run) -> Vec<f64> {
    arrivals_us(run).windows(2).map(|pair| pair[1] - pair[0]).collect()
}

pub fn cases() -> Vec<Case> {
    let constant = set("workload[0].arrivals", "{ process = 'constant', rate = '10 kIOPS' }");
    let phases = [constant.clone(), set("workload[0].bursts", "{ on = '200 us', off = '1 ms' }")];
    let longest = |scene: &crate::directions::case::Scene| {
        requests(&scene.run()).iter().map(latency).max().expect("there were reads")
    };
    vec![
        // Equal gaps have no spread, exponential ones that of their mean, and uniform
        // ones from nothing to twice the mean a root of three less.
        reads(
            "workload.arrivals.process",
            4_000,
            &[set("workload[0].arrivals", "{ process = 'poisson', rate = '100 IOPS' }")],
        )
        .see("the spread of the gaps over their mean", |scene| {
            mean_and_spread(&gaps(&scene.run()))[1]
        })
        .under([
            ("constant", about(0.0, 1e-9)),
            ("uniform", about(1.0 / libm::sqrt(3.0), 0.05)),
            ("poisson", about(1.0, 0.1)),
        ]),
        reads("workload.arrivals.rate", 5, &[constant])
            .see("when five reads come, us", |scene| arrivals_us(&scene.run()))
            .under([
                ("10 kIOPS", [0.0, 100.0, 200.0, 300.0, 400.0]),
                ("1 kIOPS", [0.0, 1e3, 2e3, 3e3, 4e3]),
            ]),
        // Two workloads of one rate with constant gaps of 10 ms: their requests come together, or
        // as far apart as their phases, of which each is uniform over a gap.
        case("workload.arrivals.phase")
            .filled()
            .text(TWO)
            .given(&[recorded()])
            .see("requests of the second that come with one of the first, of 50", |scene| {
                let run = scene.run();
                let all = requests(&run);
                let of =
                    |initiator| all.iter().filter(move |request| request.initiator == initiator);
                let together = |other: &&SlowRequest| of(0).any(|one| one.arrived == other.arrived);
                of(1).filter(together).count() as u64
            })
            .left_out(50)
            .under([("start", 50), ("random", 0)]),
        // One die: of 64 that come together, the last waits for all.
        reads("workload.queue_depth", 64, &[])
            .see("the longest of 64 reads, ns", longest)
            .left_out(READ)
            .under([("1", READ), ("4", 4 * READ), ("32", 32 * READ)]),
        // All come at once, and wait in the host or in the drive.
        reads(
            "workload.queue_depth",
            8,
            &[set("workload[0].arrivals", "{ process = 'constant', rate = '1000 MIOPS' }")],
        )
        .see("time that 8 reads at once wait in the host, us", |scene| {
            let run = scene.run();
            let all = requests(&run);
            let waits = all.iter().flat_map(|request| &request.blame);
            let waits = waits.filter(|(state, _)| *state == metrics::State::QueueDepth);
            // But for the nanoseconds between them.
            waits.map(|(_, span)| (span.as_ns() + 10) / US).sum::<u64>()
        })
        .left_out(0)
        .under([
            ("none", 0),
            // The nth begins when the one before it has ended.
            ("1", 125 * (1 + 2 + 3 + 4 + 5 + 6 + 7)),
            // The nth comes in when the fourth before it has ended.
            ("4", 125 * (1 + 2 + 3 + 4)),
        ]),
        reads("workload.think_time", 3, &[])
            .see("when three reads come, us", |scene| arrivals_us(&scene.run()))
            .left_out([0.0, 125.0, 250.0])
            .under([("0 us", [0.0, 125.0, 250.0]), ("75 us", [75.0, 275.0, 475.0])]),
        // Exponential: the mean of 2000 gaps, which are a read longer, within four of
        // its standard deviations.
        reads("workload.think_time.mean", 2_001, &[])
            .see("the mean time between reads, us", |scene| mean_and_spread(&gaps(&scene.run()))[0])
            .under([
                ("100 us", about(225.0, 4.0 * 100.0 / libm::sqrt(2e3))),
                ("300 us", about(425.0, 4.0 * 300.0 / libm::sqrt(2e3))),
            ]),
        // Arrivals 100 us apart; the arrival clock stops between bursts.
        reads("workload.bursts.on", 5, &phases)
            .see("when five reads come, us", |scene| arrivals_us(&scene.run()))
            .under([
                ("200 us", [0.0, 100.0, 1_200.0, 1_300.0, 2_400.0]),
                ("400 us", [0.0, 100.0, 200.0, 300.0, 1_400.0]),
            ]),
        reads("workload.bursts.off", 5, &phases)
            .see("when five reads come, us", |scene| arrivals_us(&scene.run()))
            .under([
                ("1 ms", [0.0, 100.0, 1_200.0, 1_300.0, 2_400.0]),
                ("2 ms", [0.0, 100.0, 2_200.0, 2_300.0, 4_400.0]),
            ]),
        // A closed loop issues nothing between bursts: reads at 0 and 125 us, and the
        // next when the second ends, or with the next burst.
        reads(
            "workload.bursts.on",
            4,
            &[set("workload[0].bursts", "{ on = '200 us', off = '1 ms' }")],
        )
        .see("when four reads come, us", |scene| arrivals_us(&scene.run()))
        .under([
            ("200 us", [0.0, 125.0, 1_200.0, 1_325.0]),
            ("300 us", [0.0, 125.0, 250.0, 1_300.0]),
        ]),
    ]
}
