//! Closed loops by arithmetic, and against lists that are built read by read.

use super::{ClosedLoop, Shares, Standstill};
use engine::{Span, Stream, Streams};
use metrics::{Blame, Latency, State};

fn us(us: u64) -> Span {
    Span::from_us(us)
}

fn blame(charges: &[(State, u64)]) -> Blame {
    let mut blame = Blame::default();
    charges.iter().for_each(|(state, span)| blame.charge(*state, us(*span)));
    blame
}

#[test]
fn a_standstill_is_a_pause_without_the_service_at_its_end() {
    let behind = |erase| {
        let firmware = (State::Firmware, 5);
        blame(&[firmware, (State::UnitErase, erase), (State::Sense, 50), (State::Transfer, 10)])
    };
    let of = |pause, blame: &Blame| Standstill::of(us(pause), blame);
    let flash = |lasted| Some(Standstill { lasted: us(lasted), is_on_flash: true });
    // The last request of the queue joined 1,000 us before this one was answered, which took 65 us.
    assert_eq!(of(1_000, &behind(3_000)), flash(935));
    // It waited for less than the time without an answer: the last one came after the beginning.
    assert_eq!(of(1_000, &behind(400)), flash(400));
    // Less than 100 us do not count.
    assert_eq!((of(164, &behind(3_000)), of(165, &behind(3_000))), (None, flash(100)));
    assert_eq!(of(60, &behind(3_000)), None);
    // A wait for room in the buffer is none for flash.
    let full = blame(&[(State::SpaceErase, 3_000), (State::Buffer, 5)]);
    assert_eq!(of(2_005, &full), Some(Standstill { lasted: us(2_000), is_on_flash: false }));
}

#[test]
fn a_standstill_is_split_as_its_first_answer_has_waited() {
    let mut closed = ClosedLoop::new(16, None);
    let waited = [(State::UnitErase, 3_000), (State::UnitGcProgram, 1_000), (State::Sense, 50)];
    let stood = |lasted| Standstill { lasted: us(lasted), is_on_flash: true };
    closed.note(stood(2_000), true, &blame(&waited));
    closed.note(stood(400), false, &blame(&waited));
    closed.note(stood(800), true, &blame(&waited));
    let told = |of: super::Stood| (of.count, of.time, of.longest);
    assert_eq!(told(closed.all), (3, us(3_200), us(2_000)));
    assert_eq!(told(closed.behind_one), (2, us(2_800), us(2_000)));
    let of = |state: State| closed.waits_ns[state as usize];
    assert_eq!((of(State::UnitErase), of(State::UnitGcProgram)), (2_100_000, 700_000));
    assert_eq!(closed.waits_ns.iter().sum::<u64>(), 2_800_000);
}

#[test]
fn units_count_as_often_as_hosts_read_them() {
    let unit = |erase, read| Shares { erase, read };
    // Three of four reads go to a unit that never erases.
    let shares = Shares::of_units([unit(0.0, 0.3), unit(0.04, 0.1)].into_iter()).unwrap();
    assert!((shares.erase - 0.01).abs() < 1e-12);
    assert!((shares.read - (0.3 * 0.3 + 0.1 * 0.1) / 0.4).abs() < 1e-12);
    assert_eq!(Shares::of_units([unit(0.5, 0.0)].into_iter()), None);
}

/// Reads of which some waited for an erase, recorded as by a run.
fn recorded(reads: &[(u64, bool)]) -> (ClosedLoop, Latency) {
    let (mut closed, mut latency) = (ClosedLoop::new(16, None), Latency::new());
    for (ns, has_waited) in reads {
        latency.record(Span::from_ns(*ns));
        if *has_waited {
            closed.note_erase(Span::from_ns(*ns));
        }
    }
    (closed, latency)
}

/// Reads of 70 to 80 us; a share of them waits for an erase of 3.5 ms, of which it meets a part.
fn random_reads(stream: &mut Stream, count: u64, share: f64, from: u64) -> Vec<(u64, bool)> {
    let read = |_| {
        let quick = 70_000 + stream.below(10_000);
        match stream.chance(share) {
            true => (quick + from + stream.below(3_500_000 - from), true),
            false => (quick, false),
        }
    };
    (0..count).map(read).collect()
}

/// The correction against a list to which the reads are added that were not asked for, as HdrHistogram adds
/// them: in even steps from the latency of one that was, down to the least.
#[test]
fn a_correction_is_that_of_a_list_with_all_reads() {
    let mut stream = Streams::new(floor::seed(31)).stream("closed loop");
    for (count, share, expected) in
        [(50_000, 0.002, 0.006), (50_000, 0.0005, 0.004), (20_000, 0.01, 0.015)]
    {
        let reads = random_reads(&mut stream, count, share, 2_000_000);
        let (closed, latency) = recorded(&reads);
        let met = reads.iter().filter(|(_, met)| *met).count() as f64;
        let least = reads.iter().map(|(ns, _)| *ns).min().unwrap() as f64;
        // Reads without an erase stay. Each with one stands for so many, if they are to have their share.
        let others = count as f64 - met;
        let stands_for = expected * others / (1.0 - expected) / met;
        let mut all: Vec<(f64, f64)> = Vec::new();
        for (ns, has_waited) in &reads {
            all.push((*ns as f64, 1.0));
            if *has_waited {
                let steps = 1_000;
                let step = (*ns as f64 - least) / f64::from(steps);
                let weight = (stands_for - 1.0) / f64::from(steps);
                all.extend((0..steps).map(|at| (least + (f64::from(at) + 0.5) * step, weight)));
            }
        }
        all.sort_by(|a, b| a.0.total_cmp(&b.0));
        let total: f64 = all.iter().map(|(_, weight)| weight).sum();
        let shares = Shares { erase: expected, read: 0.0 };
        let corrected = closed.corrected(&latency, shares).expect("too few reads met erases");
        for quantile in [0.5, 0.99, 0.999, 0.9999] {
            let mut passed = 0.0;
            let naive = all.iter().find(|(_, weight)| {
                passed += weight;
                passed >= quantile * total
            });
            let (naive, found) = (naive.unwrap().0, corrected.percentile(quantile).as_ns() as f64);
            assert!((found / naive - 1.0).abs() < 0.01, "{quantile}: {found}, naive {naive}");
        }
    }
}

/// Poisson arrivals see time averages: of an erase of length D in a share t of the time, a share t of the
/// reads meets a uniform rest, and reads that queue behind others make it t / (1 - read).
#[test]
fn few_reads_of_erases_tell_of_all_of_them() {
    let mut stream = Streams::new(floor::seed(37)).stream("closed loop");
    let reads = random_reads(&mut stream, 400_000, 0.0005, 0);
    let (closed, latency) = recorded(&reads);
    for (erase, read) in [(0.002, 0.0), (0.002, 0.2), (0.004, 0.1)] {
        let corrected = closed.corrected(&latency, Shares { erase, read }).expect("too few");
        // Met reads are spread: of those with a uniform rest, half of the rest each, but for themselves.
        let share = erase / (1.0 - read);
        let (kept, rest) = (0.0005 / share, 1.0 - 0.0005 / share);
        let above = |x: f64| kept * (1.0 - x) + rest * (1.0 - x + x * libm::log(x));
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..60 {
            let middle = (low + high) / 2.0;
            if share * above(middle) > 0.001 { low = middle } else { high = middle }
        }
        let expected = 75_000.0 + low * 3_500_000.0;
        let found = corrected.percentile(0.999).as_ns() as f64;
        assert!((found / expected - 1.0).abs() < 0.08, "{erase} {read}: {found}, {expected}");
    }
}

#[test]
fn reads_that_meet_as_many_erases_as_there_are_need_no_correction() {
    let mut stream = Streams::new(floor::seed(41)).stream("closed loop");
    let (closed, latency) = recorded(&random_reads(&mut stream, 50_000, 0.01, 0));
    assert!((closed.erases_met(&latency) - 0.01).abs() < 0.002);
    assert!(closed.corrected(&latency, Shares { erase: 0.005, read: 0.0 }).is_none());
    assert!(closed.corrected(&latency, Shares { erase: 0.015, read: 0.0 }).is_some());
    let (never, latency) = recorded(&[(100, false), (200, false)]);
    assert!(never.corrected(&latency, Shares { erase: 0.5, read: 0.1 }).is_none());
    let (always, latency) = recorded(&[(100, true), (200, true)]);
    assert!(always.corrected(&latency, Shares { erase: 0.5, read: 0.1 }).is_none());
}
