//! Windows alone, without a drive.

use super::{End, Estimates, Windows};
use engine::{Instant, Span};
use ftl::{SetId, Source, Tally, WindowsConfig};

const SET: SetId = SetId(0);

fn at(ms: u64) -> Instant {
    Instant::START + Span::from_ms(ms)
}

/// Windows of 100 ms at most, with 3 reads, and 10 ms between them; a write is 4 units.
fn windows(sets: u32) -> Windows {
    let time = |text: &str| text.parse().expect("a time");
    let config = WindowsConfig {
        dtwin: time("100 ms"),
        reads: Some(3),
        ndwin_low: time("10 ms"),
        ndwin_high: time("40 ms"),
        reads_threshold: None,
        writes_threshold: None,
        time_threshold: None,
    };
    Windows::new(config, 4, sets)
}

fn begun(units: u64) -> Windows {
    let mut windows = windows(1);
    assert_eq!(windows.ask_dtwin(at(5), SET), Some(at(5)));
    assert!(windows.defers(SET) && !windows.is_dtwin(SET));
    assert!(windows.may_begin(at(7), SET));
    assert_eq!(windows.begin(at(7), SET, (units, Tally::default())), at(107) + Span::from_ns(1));
    windows
}

#[test]
fn a_window_ends_after_the_reads_or_the_writes_that_it_guarantees() {
    let mut windows = begun(11);
    assert_eq!([(); 4].map(|()| windows.read(at(9), SET, 4_096)), [false, false, false, true]);
    // 11 units are two whole writes of 4.
    assert!(!windows.write(SET, 8));
    assert!(windows.write(SET, 1));
    windows.end(at(20), SET, End::Writes, &Tally::default());
    assert!(!windows.defers(SET) && windows.take_goes_on(SET) && !windows.take_goes_on(SET));
    assert!(!windows.read(at(9), SET, 4_096) && !windows.write(SET, 100), "no window counts");
    let (counts, _) = windows.records(at(30), SET);
    assert_eq!((counts.asked, counts.begun, counts.ends), (1, 1, [0, 0, 1, 0, 0]));
    assert_eq!((counts.dtwin, counts.ndwin), (Span::from_ms(13), Span::from_ms(7 + 10)));
    assert_eq!((counts.waited, counts.longest_wait), (Span::from_ms(2), Span::from_ms(2)));
    // It has ended by itself at 20 ms, and nobody has asked for another.
    assert_eq!(counts.broken, Span::from_ms(10));
    assert!(!windows.ask_ndwin(at(32), SET, &Tally::default()));
    assert_eq!(windows.records(at(50), SET).0.broken, Span::from_ms(12));
    let (_, events) = windows.records(at(50), SET);
    assert_eq!((events[0].why, events[0].reads, events[0].written), (End::Writes, 4, 9));
}

#[test]
fn a_window_is_broken_until_the_next_one_begins() {
    let mut windows = begun(11);
    windows.end(at(20), SET, End::Excursion, &Tally::default());
    assert!(!windows.ends_ndwin(SET), "the host has not chosen it");
    assert_eq!(windows.ask_dtwin(at(25), SET), Some(at(30)));
    assert!(windows.is_closing(SET) && !windows.ends_ndwin(SET));
    assert_eq!(windows.records(at(28), SET).0.broken, Span::from_ms(8));
    windows.begin(at(31), SET, (40, Tally::default()));
    let (counts, _) = windows.records(at(50), SET);
    assert_eq!((counts.broken, counts.waited), (Span::from_ms(11), Span::from_ms(2 + 6)));
    // One that the host ends is not broken, and the next one ends what the host has chosen.
    assert!(windows.ask_ndwin(at(50), SET, &Tally::default()));
    windows.ask_dtwin(at(51), SET);
    assert!(windows.ends_ndwin(SET));
    assert_eq!(windows.records(at(55), SET).0.broken, Span::from_ms(11));
}

#[test]
fn estimates_only_fall() {
    let mut windows = begun(40);
    let expect = |windows: &mut Windows, ms, units, reads, writes| {
        let time = Span::from_ms(107 - ms);
        let expected = Estimates { reads: Some(reads), writes, time };
        assert_eq!(windows.estimates(at(ms), SET, units), Some(expected));
    };
    expect(&mut windows, 7, 400, 3, 10);
    windows.read(at(9), SET, 4_096);
    windows.write(SET, 5);
    expect(&mut windows, 8, 400, 2, 8);
    // There is room for 3 writes only, and later for more.
    expect(&mut windows, 9, 12, 2, 3);
    expect(&mut windows, 10, 400, 2, 3);
    // What was told does not end the window.
    assert!(!windows.write(SET, 35) && windows.write(SET, 1));
    expect(&mut windows, 107, 12, 2, 0);
    assert!(windows.is_over(at(108), SET) && !windows.is_over(at(107), SET));
    windows.end(at(107), SET, End::Time, &Tally::default());
    assert_eq!(windows.estimates(at(107), SET, 12), None);
}

/// A host that asks, or that is warned, may be told less from then on. What the set guarantees stays.
#[test]
fn neither_questions_nor_warnings_change_what_is_guaranteed() {
    let mut windows = begun(40);
    let guaranteed = |windows: &Windows, units| windows.units_guaranteed(SET, units);
    // 11 units of room are two whole writes of 4.
    assert_eq!((guaranteed(&windows, 11), guaranteed(&windows, 400)), (Some(8), Some(40)));
    assert_eq!(windows.estimates(at(9), SET, 11).map(|of| of.writes), Some(2));
    assert_eq!(guaranteed(&windows, 400), Some(40));
    // The warning comes at two writes, of which the host is told.
    windows.config.writes_threshold = Some(2);
    windows.watch_writes(at(10), SET, 8);
    assert_eq!(windows.estimates(at(11), SET, 400).map(|of| of.writes), Some(2));
    assert_eq!(guaranteed(&windows, 400), Some(40));
    windows.write(SET, 5);
    assert_eq!(guaranteed(&windows, 400), Some(32));
    windows.end(at(20), SET, End::Host, &Tally::default());
    assert_eq!(guaranteed(&windows, 400), None);
}

#[test]
fn the_next_window_begins_after_the_least_time_between_them() {
    let mut windows = begun(40);
    assert_eq!(windows.ask_dtwin(at(8), SET), None, "it has one");
    assert!(windows.ask_ndwin(at(50), SET, &Tally::default()));
    assert_eq!(windows.ask_dtwin(at(51), SET), Some(at(60)));
    assert_eq!(windows.ask_dtwin(at(52), SET), None, "it was asked for");
    assert!(!windows.may_begin(at(59), SET) && windows.may_begin(at(60), SET));
    // The host gives up after 8 ms.
    assert!(!windows.ask_ndwin(at(59), SET, &Tally::default()));
    assert!(!windows.may_begin(at(60), SET) && windows.take_goes_on(SET));
    assert_eq!(windows.records(at(60), SET).0.longest_wait, Span::from_ms(8));
    assert_eq!(windows.ask_dtwin(at(70), SET), Some(at(70)));
}

#[test]
fn sets_have_windows_of_their_own() {
    let mut windows = windows(2);
    let other = SetId(1);
    windows.ask_dtwin(at(0), other);
    windows.begin(at(0), other, (4, Tally::default()));
    assert!(windows.defers(other) && !windows.defers(SET));
    assert!(!windows.write(SET, 100) && windows.write(other, 5));
    assert!(windows.is_dtwin_since(other, at(0)) && !windows.is_dtwin_since(SET, at(0)));
}

#[test]
fn reads_count_as_reads_of_four_kib() {
    let mut windows = begun(40);
    // A read of 512 B is one, and one of 5 KiB two: three are guaranteed.
    assert!(!windows.read(at(9), SET, 512) && !windows.read(at(9), SET, 5 << 10));
    assert!(windows.read(at(9), SET, 1));
    windows.end(at(20), SET, End::Reads, &Tally::default());
    assert_eq!(windows.records(at(20), SET).1[0].reads, 4);
}

#[test]
fn a_window_expects_programs_as_full_as_in_the_one_before() {
    let mut windows = begun(40);
    let mut tally = Tally::default();
    (tally.units[Source::Host as usize], tally.units[Source::Padding as usize]) = (6, 18);
    windows.end(at(20), SET, End::Host, &tally);
    let again = |windows: &mut Windows, ms: u64, tally: Tally| {
        windows.ask_dtwin(at(ms), SET);
        windows.begin(at(ms), SET, (40, tally));
        let (counts, _) = windows.records(at(ms), SET);
        let writes = windows.estimates(at(ms), SET, 40).expect("a window").writes;
        (writes, counts.writes)
    };
    // A quarter of 40 units, which are 2 whole writes of 4.
    assert_eq!(again(&mut windows, 40, tally), (2, Some((2, 10))));
    // Without writes nothing new is known.
    windows.end(at(50), SET, End::Host, &tally);
    assert_eq!(again(&mut windows, 70, tally), (2, Some((2, 10))));
    // Maintenance between windows pads programs of its own, and counts for nothing.
    tally.units[Source::Host as usize] += 30;
    windows.end(at(80), SET, End::Host, &tally);
    tally.units[Source::Padding as usize] += 90;
    assert_eq!(again(&mut windows, 100, tally), (10, Some((2, 10))));
}
