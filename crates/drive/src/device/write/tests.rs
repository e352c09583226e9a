//! The write buffer alone, with no flash behind it.

use super::Write;
use super::buffer::{Buffer, Stage};
use super::why::{Admission, Place};
use crate::device::ids::{EntryId, RequestId};
use engine::Instant;
use ftl::{Lpn, PoolId};
use host::Priority;

const POOL: PoolId = PoolId(0);

fn at(us: u64) -> Instant {
    Instant::from_ns(us * 1_000)
}

/// Takes a unit in and lists it, as after a write of the whole unit.
fn take(buffer: &mut Buffer, lpn: u32) -> EntryId {
    let older = buffer.find(Lpn(lpn));
    let id = buffer.insert(Lpn(lpn), POOL, older, (u64::from(lpn), 0), at(0));
    buffer.list(id, at(0));
    id
}

/// The units that a pool would program next, in order.
fn listed(buffer: &Buffer) -> Vec<u32> {
    buffer.waiting_in(POOL).map(|id| buffer.entry(id).lpn.0).collect()
}

/// Asks for a program of an entry.
fn fly(buffer: &mut Buffer, id: EntryId) {
    buffer.unlist(id);
    buffer.entry_mut(id).stage = Stage::Flying;
}

#[test]
fn units_leave_in_the_order_in_which_they_came() {
    let mut buffer = Buffer::new(4, 1);
    let entries = [7, 3, 5].map(|lpn| take(&mut buffer, lpn));
    assert_eq!(listed(&buffer), [7, 3, 5]);
    buffer.unlist(entries[1]);
    assert_eq!((listed(&buffer), buffer.listed(POOL)), (vec![7, 5], 2));
}

#[test]
fn it_is_full_with_what_is_being_programmed() {
    let mut buffer = Buffer::new(2, 1);
    let first = take(&mut buffer, 1);
    take(&mut buffer, 2);
    fly(&mut buffer, first);
    assert!(buffer.is_full());
    buffer.remove(first);
    assert!(!buffer.is_full());
}

#[test]
fn the_newest_entry_of_a_unit_is_what_reads_find() {
    let mut buffer = Buffer::new(4, 1);
    let old = take(&mut buffer, 9);
    fly(&mut buffer, old);
    let new = take(&mut buffer, 9);
    assert_eq!(buffer.find(Lpn(9)), Some(new));
    // The older program ends last: it is not the current data any more.
    buffer.supersede_older(new);
    assert!(buffer.entry(old).stale && !buffer.entry(new).stale);
    buffer.remove(new);
    assert_eq!(buffer.find(Lpn(9)), None);
}

#[test]
fn an_older_entry_that_ends_first_leaves_the_newer_one() {
    let mut buffer = Buffer::new(4, 1);
    let old = take(&mut buffer, 9);
    fly(&mut buffer, old);
    let new = take(&mut buffer, 9);
    buffer.remove(old);
    assert_eq!((buffer.find(Lpn(9)), buffer.entry(new).older), (Some(new), None));
}

#[test]
fn a_flush_waits_for_what_was_there_and_not_for_what_came_after() {
    let mut buffer = Buffer::new(4, 1);
    let flush = RequestId(3);
    assert!(!buffer.begin_flush(flush), "an empty buffer has nothing to flush");
    let before = take(&mut buffer, 1);
    assert!(buffer.begin_flush(flush));
    let after = take(&mut buffer, 2);
    assert!(buffer.flush_wants(POOL));
    fly(&mut buffer, before);
    assert!(!buffer.flush_wants(POOL), "the first that waits came after the flush");
    assert_eq!(buffer.ended_flush(), None);
    buffer.remove(before);
    assert_eq!(buffer.ended_flush(), Some(flush));
    assert_eq!(listed(&buffer), [2]);
    assert!(!buffer.is_flushing() && !buffer.entry(after).stale);
}

#[test]
fn what_is_listed_late_goes_before_units_of_later_flushes() {
    let mut buffer = Buffer::new(4, 1);
    // The rest of unit 1 is still being read when a flush and unit 2 come.
    let partial = buffer.insert(Lpn(1), POOL, None, (0, 0), at(0));
    assert!(buffer.begin_flush(RequestId(0)));
    take(&mut buffer, 2);
    assert!(buffer.list(partial, at(5)), "it stands before others");
    assert_eq!(listed(&buffer), [1, 2]);
}

#[test]
fn writes_of_higher_priority_are_let_in_first() {
    let mut buffer = Buffer::new(1, 1);
    buffer.wait(RequestId(1), Priority::Low, 1);
    buffer.wait(RequestId(2), Priority::High, 1);
    assert_eq!(buffer.next_waiting(), Some(RequestId(2)));
    assert!(buffer.must_queue(Priority::Low) && buffer.must_queue(Priority::High));
    buffer.admitted(Priority::High);
    assert!(!buffer.must_queue(Priority::High));
    assert_eq!(buffer.ahead_of(RequestId(1)), Some(0));
}

#[test]
fn a_trim_makes_an_entry_nobodys_data() {
    let mut buffer = Buffer::new(2, 1);
    let id = take(&mut buffer, 4);
    fly(&mut buffer, id);
    buffer.forget(id);
    assert_eq!((buffer.find(Lpn(4)), buffer.current(id)), (None, None));
    assert_eq!(buffer.used(), 1, "it is being programmed all the same");
}

/// The write part of a drive with a buffer of four units.
fn write() -> Write {
    let drive = include_str!("../../../tests/drive/common/drive.toml");
    let workload =
        "[[workload]]\nname = \"none\"\nreads = \"100 %\"\nqueue_depth = 1\n[run]\nrequests = 1\n";
    let given = [
        ("drive.ftl.over_provisioning.reserved".to_owned(), "25 %".to_owned()),
        ("drive.buffer.size".to_owned(), "16 KiB".to_owned()),
    ];
    let loaded = crate::load::load(&format!("{drive}{workload}"), "buffer.toml", &given);
    let (experiment, _) = loaded.unwrap_or_else(|problems| panic!("{problems}"));
    let ftl = crate::device::empty_firmware(&experiment.drive, 1);
    Write::new(&experiment.drive, &ftl.layout, ftl::SetId(0))
}

#[test]
fn a_request_that_waits_says_for_what() {
    let mut write = write();
    let (first, flush) = (take(&mut write.buffer, 1), RequestId(0));
    assert!(write.buffer.begin_flush(flush));
    let later = take(&mut write.buffer, 2);
    write.buffer.wait(RequestId(1), Priority::Normal, 1);
    write.buffer.wait(RequestId(2), Priority::Normal, 1);
    let room = Admission::Room { ahead: 1, used: 2, capacity: 4 };
    assert_eq!(write.admission(RequestId(2)), Some(room));
    let Some(Admission::Flush { epoch }) = write.admission(flush) else { panic!("it waits") };
    assert!(write.is_up_to(epoch, first) && !write.is_up_to(epoch, later));
    assert_eq!(write.admission(RequestId(3)), None);
}

#[test]
fn an_entry_that_waits_for_an_older_one_stands_where_that_does() {
    let mut write = write();
    let older = take(&mut write.buffer, 1);
    assert_eq!(write.place_of(None, older), Place::List(POOL, at(0)));
    fly(&mut write.buffer, older);
    let entry = write.buffer.insert(Lpn(1), POOL, Some(older), (0, 0), at(5));
    assert_eq!(write.place_of(None, entry), Place::Rest(entry));
    write.follow(older, entry);
    assert_eq!(write.place_of(None, entry), Place::Program(older));
}

#[test]
fn an_update_takes_the_oldest_data_that_waits_and_that_nothing_has_overtaken() {
    let mut buffer = Buffer::new(8, 1);
    assert_eq!(buffer.first_pending(Lpn(9)), None);
    let flying = take(&mut buffer, 9);
    fly(&mut buffer, flying);
    assert_eq!(buffer.first_pending(Lpn(9)), None);
    let [second, third] = [0; 2].map(|_| take(&mut buffer, 9));
    assert_eq!(buffer.first_pending(Lpn(9)), Some(second));
    // The third is on flash before the second.
    buffer.supersede_older(third);
    assert_eq!(buffer.first_pending(Lpn(9)), Some(third));
    buffer.entry_mut(third).stage = Stage::Behind;
    assert_eq!(buffer.first_pending(Lpn(9)), None);
}
