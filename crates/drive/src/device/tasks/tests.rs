use super::*;
use crate::device::flash::counters::OpKind;
use crate::device::flash::op::{Class, Owner};
use ftl::BlockId;
use metrics::Holder;
use settings::Time;

const US: u64 = 1_000;

fn tasks(most: u32) -> Tasks {
    Tasks::new(&TasksConfig { most, think: Some("10 us".parse::<Time>().expect("a time")) })
}

fn at(us: u64) -> Instant {
    Instant::from_ns(us * US)
}

fn ask(block: u32) -> Ask {
    Ask {
        slots: 0,
        kind: OpKind::Erase,
        holder: Holder::Erase,
        owner: Owner::CollectErase,
        class: Class::Background,
        bin: BinId(0),
        planes: 1,
        block: BlockId(block),
        batch: 0,
        row: 0,
        rows: 1,
        transfer: Span::ZERO,
        bytes: 0,
    }
}

fn bin(of: u32) -> Job {
    Job::Collection(BinId(of))
}

/// The next one to go on, in short: members and erases by their block, jobs by their bin.
fn next(tasks: &mut Tasks, foreground: &[u32]) -> Option<(&'static str, u32)> {
    let is_foreground = |job| foreground.iter().any(|of| job == bin(*of));
    let found = match tasks.next(at(100), 0, is_foreground)? {
        Next::Member(ask, _) => ("member", ask.block.0),
        Next::Erase(ask) => ("erase", ask.block.0),
        Next::Job(Job::Collection(of)) => ("job", of.0),
        Next::Job(job) => panic!("{job:?}"),
    };
    tasks.end_call();
    Some(found)
}

#[test]
fn a_task_lasts_until_it_has_thought() {
    let mut tasks = tasks(2);
    assert_eq!(tasks.think(), Span::from_us(10));
    assert!(tasks.take(at(0), (bin(0), Step::Read), 0));
    assert!(tasks.take(at(0), (bin(1), Step::Read), 0));
    assert!(!tasks.take(at(0), (bin(2), Step::Read), 0));
    tasks.end(at(5));
    assert!(!tasks.is_free(0) && tasks.is_free(1), "one thinks; a parked program does not count");
    assert_eq!(next(&mut tasks, &[]), None);
    tasks.thought(at(15));
    assert!(tasks.awaits(bin(2)));
    assert_eq!(next(&mut tasks, &[]), Some(("job", 2)));
    assert!(!tasks.awaits(bin(2)));
    let counts = tasks.counts(at(20));
    // Two until 5 us, one thinks until 15 us.
    assert_eq!((counts.busy_ns, counts.thinking_ns), (25_000, 10_000));
    assert_eq!((counts.full, counts.begun, counts.greatest), (Span::from_us(15), 2, 2));
}

#[test]
fn a_program_that_waits_for_a_page_is_no_task() {
    let mut tasks = tasks(1);
    assert!(tasks.take(at(0), (bin(0), Step::Program), 0));
    tasks.note_parked(at(4), 1);
    assert!(tasks.take(at(7), (bin(1), Step::Read), 1));
    tasks.end(at(10));
    tasks.thought(at(20));
    let of = |tasks: &mut Tasks, us| {
        let counts = tasks.counts(at(us));
        let us = |ns: u128| ns as u64 / US;
        (us(counts.busy_ns), us(counts.thinking_ns), counts.full, counts.greatest)
    };
    // The program until 4 us, and the read from 7 to 10 us, which is thought about until 20 us.
    assert_eq!(of(&mut tasks, 100), (4 + 3, 10, Span::from_us(4 + 3 + 10), 1));
    // The program goes on at 100 us, and is a task again.
    tasks.note_parked(at(100), 0);
    tasks.end(at(130));
    assert_eq!(of(&mut tasks, 130), (4 + 3 + 30, 10, Span::from_us(4 + 3 + 10 + 30), 1));
}

#[test]
fn a_job_that_is_called_takes_one_task_and_waits_behind_others_for_more() {
    let mut tasks = tasks(3);
    (0..3).for_each(|_| tasks.begin(at(0)));
    for job in [0, 1, 0] {
        assert!(!tasks.take(at(0), (bin(job), Step::Read), 0));
    }
    (0..3).for_each(|_| tasks.end(at(1)));
    (0..3).for_each(|_| tasks.thought(at(2)));
    let Some(Next::Job(called)) = tasks.next(at(2), 0, |_| false) else { panic!("bin 0 waits") };
    assert_eq!(called, bin(0));
    assert!(!tasks.take(at(2), (bin(0), Step::Program), 0), "it was called for a read");
    assert!(!tasks.take(at(2), (bin(2), Step::Read), 0), "others wait");
    assert!(tasks.take(at(2), (bin(0), Step::Read), 0));
    assert!(!tasks.take(at(2), (bin(0), Step::Read), 0), "bins 1 and 2 wait");
    tasks.end_call();
    // The program of bin 0 goes first, then bins 1, 2 and 0.
    let order: Vec<_> = std::iter::from_fn(|| next(&mut tasks, &[])).collect();
    assert_eq!(order, [("job", 0), ("job", 1), ("job", 2), ("job", 0)]);
    tasks.give_back(at(3));
    assert_eq!((tasks.under_way(), tasks.counts(at(3)).begun), ([0, 0], 3));
}

#[test]
fn rebuilds_take_turns_with_erases_programs_and_the_foreground() {
    let mut tasks = tasks(1);
    tasks.begin(at(0));
    for block in 0..4 {
        assert!(tasks.take_member(at(0), ask(block), 0).is_none());
    }
    for job in [7, 8, 9] {
        assert!(!tasks.take(at(0), (bin(job), Step::Read), 0));
    }
    assert!(tasks.take_erase(at(0), ask(20), 0).is_none());
    assert!(!tasks.take(at(0), (bin(6), Step::Program), 0));
    assert!(tasks.holds_members() && tasks.has_waiting());
    let mut order = Vec::new();
    let mut is_busy = true;
    loop {
        if std::mem::take(&mut is_busy) {
            tasks.end(at(100));
            tasks.thought(at(100));
        }
        let Some(found) = next(&mut tasks, &[9]) else { break };
        is_busy = found.0 != "job";
        order.push(found);
    }
    let expected = [
        ("member", 0),
        ("erase", 20),
        ("member", 1),
        ("job", 6),
        ("member", 2),
        // Bin 9 is in the foreground. Rebuilds do not wait for the background.
        ("job", 9),
        ("member", 3),
        ("job", 7),
        ("job", 8),
    ];
    assert_eq!(order, expected);
}

#[test]
fn a_power_cut_forgets_all_tasks() {
    let mut tasks = tasks(1);
    tasks.begin(at(0));
    assert!(tasks.take_erase(at(0), ask(1), 0).is_none());
    assert!(tasks.take_member(at(0), ask(2), 0).is_none());
    assert!(!tasks.take(at(0), (bin(0), Step::Program), 0));
    tasks.end(at(4));
    tasks.begin_anew(at(9));
    assert!(!tasks.has_waiting() && tasks.is_free(0));
    assert!(tasks.take(at(9), (bin(3), Step::Read), 0));
    let counts = tasks.counts(at(9));
    assert_eq!((counts.busy_ns, counts.thinking_ns), (4_000, 5_000));
}
