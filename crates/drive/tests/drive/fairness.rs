//! Reads go first, within bounds: an operation that waits behind an endless stream of reads has its
//! turn at a moment that follows from the rules, to the nanosecond. On the drive here a page is
//! sensed in 25 us, transferred in 100 and programmed in 200. Operations are numbered as they join
//! a queue; the bound is the number of the next one.

use crate::common::{Bench, Override, set};
use host::{Command, Kind, Priority};

const US: u64 = 1_000;
const PAGE: u64 = 4_096;

fn page(kind: Kind, number: u64) -> Command {
    Command { kind, offset: number * PAGE, bytes: PAGE }
}

/// Submits commands at their arrival times, in microseconds and in order; returns the times of the
/// answers.
fn answered_us(mut bench: Bench, commands: &[(u64, Command, Priority)]) -> Vec<u64> {
    let mut commands: Vec<_> = commands.iter().enumerate().collect();
    commands.sort_by_key(|(_, (at, ..))| *at);
    let mut places = Vec::new();
    for (place, (at, command, priority)) in commands {
        places.push(place);
        bench.submit_as(at * US, at * US, *command, *priority);
    }
    let done = bench.finish();
    let mut answered = vec![0; done.len()];
    for (done, place) in done.iter().zip(places) {
        assert_eq!(done.finished % US, 0, "{done:?}");
        answered[place] = done.finished / US;
    }
    answered
}

// ---- a channel ----------------------------------------------------------------

/// One channel and sixteen dies; page n is on die n mod 16.
fn one_channel() -> Bench {
    Bench::filled(&[
        set("geometry.dies_per_package", 16),
        set("geometry.blocks_per_plane", 16),
        set("ftl.allocation.pool", "die"),
    ])
}

/// Reads of dies 1 to 14 in turn, the first two at 0 and 0, then one every 100 us
/// from 31 on: as soon as one is transferred another is sensed.
fn stream_over_dies(count: u64) -> Vec<(u64, Command, Priority)> {
    (0..count)
        .map(|number| {
            let at = if number < 2 { 0 } else { 31 + 100 * (number - 2) };
            (at, page(Kind::Read, 1 + number % 14), Priority::Normal)
        })
        .collect()
}

#[test]
fn a_program_has_the_channel_after_the_reads_that_waited_when_it_could_have() {
    // Reads R0, R1, R2 … are sensed at 25, 25, 56, 156, 256 …, 100 us each. R0 has
    // the channel from 25 on. What joins its queue: R1 at 25 (number 0), the write
    // at 30 (1), R2 at 56 (2), R3 at 156 (3), R4 at 256 (4).
    //
    //   125  R1 and the write wait, R2 too: the bound becomes 3; R1 goes
    //   225  R2 < 3 goes
    //   325  R3 is not below 3: the oldest goes, which is the write
    //   425  its transfer is over; 625 programmed
    for count in [20, 60] {
        let mut commands = stream_over_dies(count);
        commands.push((30, page(Kind::Write, 0), Priority::Normal));
        let answered = answered_us(one_channel(), &commands);
        assert_eq!(answered[count as usize], 625, "{count} reads: {answered:?}");
        // First come, first served, except for the write's 100 us from R3 on.
        let expected =
            (0..count).map(|number| 25 + 100 * (number + 1) + if number < 3 { 0 } else { 100 });
        assert_eq!(answered[..count as usize], expected.collect::<Vec<_>>()[..]);
    }
}

#[test]
fn a_second_program_is_bounded_anew() {
    // As above with a second write, to die 15, at 31 before R2 (number 2; R2 is 3,
    // R3 4, R4 5, …).
    //
    //   125  bound 4; R1 (0) goes
    //   225  R2 (3) goes
    //   325  R3 (4) is not below: the first write (1) goes, the bound is lifted
    //   425  R3 and the second write wait; R4 joined at 256, R5 (6) at 356: bound 7
    //        R3, R4, R5 go, until 725
    //   725  R6 (7) is not below: the second write goes
    //   825  and is programmed by 1025
    let count = 40;
    let mut commands = vec![(30, page(Kind::Write, 0), Priority::Normal)];
    commands.push((31, page(Kind::Write, 15), Priority::Normal));
    commands.extend(stream_over_dies(count));
    let answered = answered_us(one_channel(), &commands);
    assert_eq!(answered[..2], [625, 1_025], "{answered:?}");
    assert_eq!(answered[2 + 5], 725, "R5 is the last that goes before it");
    assert_eq!(answered[2 + 6], 925);
}

#[test]
fn a_read_for_a_partial_write_has_the_channel_within_bounds_too() {
    // Units of two pages, read one after the other. A part of one on die 0 is written
    // at 5: the first page is sensed by 30 and joins as the write above (number 1).
    //
    //   325  the first page goes; 425 the second is sensed, until 450
    //   425  only reads of hosts wait: no bound; R3 (3) goes
    //   450  the second page joins (6), behind R4 (4) and R5 (5); R6 (7) at 456
    //   525  the bound is 8: R4, R5 and R6 go
    //   825  R7 is not below: the second page goes, until 925
    let mut bench = Bench::filled(&[
        set("geometry.dies_per_package", 16),
        set("geometry.blocks_per_plane", 16),
        set("ftl.allocation.pool", "die"),
        set("ftl.unit", "8 KiB"),
        set("buffer.durability", "capacitor"),
        set("buffer.flush", "{ policy = 'watermark', high = '90 %', low = '80 %' }"),
    ]);
    let read = |number: u64| Command {
        kind: Kind::Read,
        offset: 2 * (1 + number % 14) * PAGE,
        bytes: PAGE,
    };
    let mut reads = Vec::new();
    for number in 0..2 {
        reads.push(bench.submit_as(0, 0, read(number), Priority::Normal));
    }
    let part = Command { kind: Kind::Write, offset: 0, bytes: 512 };
    bench.submit_as(5 * US, 5 * US, part, Priority::Normal);
    for number in 2..40 {
        let at = (31 + 100 * (number - 2)) * US;
        reads.push(bench.submit_as(at, at, read(number), Priority::Normal));
    }
    bench.settle();
    let answered: Vec<u64> = reads.iter().map(|tag| bench.done(*tag).finished / US).collect();
    let expected: Vec<u64> = (0..40)
        .map(|number| {
            let before = if number < 3 { 0 } else { 1 } + if number < 7 { 0 } else { 1 };
            25 + 100 * (number + 1 + before)
        })
        .collect();
    assert_eq!(answered, expected);
}

// ---- a unit ---------------------------------------------------------------------

fn one_die(bypass: &str) -> Bench {
    Bench::filled(&[set("scheduler.bypass", bypass)])
}

/// Reads of one die, at 0, 10 and 30 us and then every 100 us from 130 on: each
/// takes 125, so more and more wait.
fn stream_on_a_die(count: u64, priority: Priority) -> Vec<(u64, Command, Priority)> {
    (0..count)
        .map(|number| {
            let at =
                [0, 10].get(number as usize).copied().unwrap_or(30 + 100 * (number.max(2) - 2));
            (at, page(Kind::Read, number), priority)
        })
        .collect()
}

#[test]
fn a_program_has_its_die_when_the_bypass_says() {
    // R0 holds the die from 0 to 125. Numbers: R0 0, R1 1, the write 2 (at 20), R2 3
    // (at 30), R3 4 (at 130).
    //
    //   none:  R1 at 125, then the oldest is the write: 250, programmed by 550
    //   batch: at 125 the bound is 4: R1 and R2 go; at 375 R3 is not below it and the
    //          oldest goes: the write, by 675
    //   drain: reads go until none waits: 20 reads take until 2500, the write 2800
    for (bypass, expected) in [("none", 550), ("batch", 675), ("drain", 2_800)] {
        let mut commands = vec![(20, page(Kind::Write, 40), Priority::Normal)];
        commands.extend(stream_on_a_die(20, Priority::Normal));
        let answered = answered_us(one_die(bypass), &commands);
        assert_eq!(answered[0], expected, "{bypass}: {answered:?}");
        // The reads are served in order around the write's 300 us.
        let passed = (expected - 300) / 125;
        let reads: Vec<u64> = (0..20)
            .map(|number| 125 * (number + 1) + if number < passed { 0 } else { 300 })
            .collect();
        assert_eq!(answered[1..], reads[..], "{bypass}");
    }
}

#[test]
fn a_second_program_has_its_die_within_a_bound_of_its_own() {
    // A second write (3) at 21; R2 is then 4, R3 5 … The first goes at 375 as above.
    // By 675 R3 to R8 wait (R8 came at 630): the bound lies behind R8, six reads take
    // until 1425, and the second write until 1725.
    let mut commands = vec![
        (20, page(Kind::Write, 40), Priority::Normal),
        (21, page(Kind::Write, 41), Priority::Normal),
    ];
    commands.extend(stream_on_a_die(30, Priority::Normal));
    let answered = answered_us(one_die("batch"), &commands);
    assert_eq!(answered[..2], [675, 1_725], "{answered:?}");
}

#[test]
fn a_read_of_low_priority_has_its_die_within_the_same_bound() {
    // As the write above, and shorter: 125 us. Under `none` priorities do not count.
    for (bypass, expected) in [("none", 375), ("batch", 500), ("drain", 21 * 125)] {
        let mut commands = vec![(20, page(Kind::Read, 40), Priority::Low)];
        commands.extend(stream_on_a_die(20, Priority::High));
        let answered = answered_us(one_die(bypass), &commands);
        assert_eq!(answered[0], expected, "{bypass}: {answered:?}");
    }
}

#[test]
fn a_read_before_a_partial_write_has_its_die_within_the_same_bound() {
    // Its read is of the class after those of hosts, and of one page, as a host read is. The write
    // is answered from the buffer at once; the effect is seen on the host read that it delays by
    // 125 us: R2 under `none`, R3 under `batch`.
    for (bypass, delayed) in [("none", 2), ("batch", 3), ("drain", 20)] {
        let overrides: [Override; 3] = [
            set("scheduler.bypass", bypass),
            set("buffer.durability", "capacitor"),
            set("buffer.flush", "{ policy = 'watermark', high = '90 %', low = '80 %' }"),
        ];
        let part = Command { kind: Kind::Write, offset: 40 * PAGE, bytes: 512 };
        let mut commands = vec![(20, part, Priority::Normal)];
        commands.extend(stream_on_a_die(20, Priority::Normal));
        let answered = answered_us(Bench::filled(&overrides), &commands);
        let reads: Vec<u64> = (0..20)
            .map(|number| 125 * (number + 1) + if number < delayed { 0 } else { 125 })
            .collect();
        assert_eq!(answered[1..], reads[..], "{bypass}");
    }
}
