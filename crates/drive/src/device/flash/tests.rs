//! Flash alone, as in a data sheet: the conditions under which an operation may start, and the
//! order. Placement is a fake that has a page, or none.

use super::counters::OpKind;
use super::op::{Class, Op, Ops, Owner, Payloads, Rest};
use super::queue::Group;
use super::why::Why;
use super::{Ask, Bound, Flash, Note, Placement, Wanted};
use crate::config::DriveConfig;
use crate::device::Time;
use crate::device::event::Event;
use crate::device::ids::{OpId, RequestId};
use crate::device::standing::{Stage, Standing};
use engine::{Agenda, Instant, Span};
use ftl::{Batch, BinId, BlockId, Lpn};
use metrics::{Holder, Snapshot, State};
use nand::{ChannelId, GroupId};

/// Sense 25 us, 100 us for a page on the channel, program 200 us, erase 1500 us.
const DRIVE: &str = include_str!("../../../tests/drive/common/drive.toml");
const SENSE: u64 = 25;
const CARRY: u64 = 100;
const PROGRAM: u64 = 200;
const ERASE: u64 = 1500;

/// Placement that has as many pages as it is given.
#[derive(Default)]
struct Pages {
    left: u32,
    parked: Vec<OpId>,
    foreground: bool,
    /// Bins that are being scrubbed.
    scrubs: Vec<BinId>,
    /// True if the bins want more space.
    is_short: bool,
}

impl Placement for Pages {
    fn has_page(&self, _: &Op, _: &Payloads) -> bool {
        self.left > 0
    }
    fn bind(&mut self, op: &mut Op, _: &Payloads) -> Bound {
        let Some(left) = self.left.checked_sub(1) else { return Bound::Nowhere };
        (self.left, op.block, op.batch, op.row) = (left, BlockId(0), 0, 0);
        Bound::Here
    }
    fn park(&mut self, _: Instant, id: OpId, _: &Op, _: &Snapshot) {
        self.parked.push(id);
    }
    fn class_of(&self, bin: BinId, is_reserved: impl FnOnce() -> bool) -> Class {
        match (is_reserved(), self.foreground && !self.scrubs(bin)) {
            (true, _) => Class::Reserved,
            (false, true) => Class::Foreground,
            (false, false) => Class::Background,
        }
    }
    fn class_of_scrubbing(&self, _: BinId) -> Class {
        Class::Background
    }
    fn collects_in_the_foreground(&self, _: BinId) -> bool {
        self.foreground
    }
    fn scrubs(&self, bin: BinId) -> bool {
        self.scrubs.contains(&bin)
    }
    fn may_copy_back(&self, _: Holder, _: BinId, _: Batch) -> bool {
        true
    }
    fn rest_of(&self, _: Lpn) -> Option<Rest> {
        None
    }
    fn wants(&self, _: BinId) -> Wanted {
        if self.is_short { Wanted::More } else { Wanted::Nothing }
    }
    fn place_again(&mut self, bin: BinId, _: &[BinId], _: &mut [usize]) -> BinId {
        bin
    }
}

/// A flash array with a clock of its own.
struct Chip {
    time: Time,
    flash: Flash,
    pages: Pages,
    /// End times and numbers of operations: slots are used again, numbers are not.
    ended: Vec<(u64, u64)>,
    /// Moments at which groups had been idle for long enough.
    idle: Vec<(u64, GroupId)>,
    /// Rows of the next operation.
    rows: u32,
}

/// An operation and its number.
#[derive(Clone, Copy, Debug)]
struct Asked {
    id: OpId,
    number: u64,
}

impl Chip {
    fn new(settings: &str) -> Self {
        let settings = settings.split(';').filter_map(|one| one.trim().split_once(" = "));
        let workload = "[[workload]]\nname = \"none\"\nreads = \"100 %\"\nqueue_depth = 1\n[run]\nrequests = 1\n";
        let mut given: Vec<(String, String)> =
            settings.map(|(key, value)| (format!("drive.{key}"), value.to_owned())).collect();
        given.push(("drive.ftl.over_provisioning.reserved".into(), "25 %".into()));
        let (experiment, _) = crate::load::load(&format!("{DRIVE}{workload}"), "chip.toml", &given)
            .unwrap_or_else(|problems| panic!("{problems}"));
        let config: DriveConfig = experiment.drive;
        let ftl = crate::device::empty_firmware(&config, 1);
        Self {
            time: Time { now: Instant::START, agenda: Agenda::new() },
            flash: Flash::new(&config, &ftl.layout),
            pages: Pages { left: u32::MAX, ..Pages::default() },
            ended: Vec::new(),
            idle: Vec::new(),
            rows: 1,
        }
    }

    fn ask(&mut self, at: u64, kind: OpKind, class: Class, bin: u32) -> Asked {
        self.ask_planes(at, kind, class, bin, 1)
    }

    /// As [`Chip::ask`], for some planes of the bin.
    fn ask_planes(&mut self, at: u64, kind: OpKind, class: Class, bin: u32, planes: u64) -> Asked {
        self.until(at);
        let (holder, owner) = match (kind, class) {
            (OpKind::Read, Class::Background | Class::Foreground | Class::Reserved) => {
                (Holder::GcRead, Owner::CollectRead(1.into()))
            }
            (OpKind::Read, _) => (Holder::HostRead, Owner::Read(RequestId(0), 0)),
            (OpKind::Erase, _) => (Holder::Erase, Owner::CollectErase),
            (_, Class::Background | Class::Foreground | Class::Reserved) => {
                (Holder::GcProgram, Owner::CollectMove(Batch { block: BlockId(0), batch: 0 }))
            }
            _ => (Holder::HostProgram, Owner::Flush(self.flash.payloads.new_empty())),
        };
        let transfer = self.flash.shape.of_row();
        let ask = Ask {
            slots: 0,
            kind,
            holder,
            owner,
            class,
            bin: BinId(bin),
            planes,
            block: BlockId(0),
            batch: 0,
            row: 0,
            rows: self.rows,
            transfer,
            bytes: 0,
        };
        let number = self.flash.next_seq;
        let id = self.flash.ask(&mut self.time, &mut self.pages, ask);
        Asked { id, number }
    }
    fn read(&mut self, at: u64, bin: u32) -> Asked {
        self.ask(at, OpKind::Read, Class::ReadNormal, bin)
    }
    fn program(&mut self, at: u64, bin: u32) -> Asked {
        self.ask(at, OpKind::Program, Class::Write, bin)
    }
    fn erase(&mut self, at: u64, bin: u32) -> Asked {
        self.ask(at, OpKind::Erase, Class::Background, bin)
    }

    /// Lets time pass up to and including `at`, in microseconds.
    fn until(&mut self, at: u64) {
        self.until_ns(at * 1_000);
    }
    fn until_ns(&mut self, at: u64) {
        while let Some((due, event, sequence)) = self.time.agenda.pop_by(Instant::from_ns(at)) {
            self.time.now = due;
            let (time, flash, pages) = (&mut self.time, &mut self.flash, &mut self.pages);
            let ended = match event {
                Event::Sensed(op) => {
                    flash.want_transfer(time, op);
                    None
                }
                Event::CarriedOut(op) => flash.carried_out(time, pages, op),
                Event::CarriedIn(op) => {
                    flash.carried_in(time, pages, op);
                    None
                }
                Event::Commanded(op) => {
                    flash.commanded(time, pages, op);
                    None
                }
                Event::Programmed(op) => flash.programmed_beside_reads(time, pages, op, sequence),
                Event::Array(op) => flash.array_ended(time, op, sequence),
                Event::Freed(channel) => {
                    flash.freed(time, pages, channel);
                    None
                }
                Event::Poll(op) => {
                    flash.poll_due(time, pages, op, sequence);
                    None
                }
                Event::Idle(group) => {
                    if flash.has_been_idle(time, group) {
                        self.idle.push((due.as_ns(), group));
                    }
                    None
                }
                other => panic!("{other:?} is not of flash"),
            };
            if let Some(ended) = ended {
                self.ended.push((due.as_ns(), flash.ops[ended.id].seq));
                flash.vacate(ended.id);
                flash.leave(time, pages, ended.id);
            }
        }
        self.time.now = self.time.now.max(Instant::from_ns(at));
    }

    /// The state of an operation, and the reason for it.
    fn why(&self, asked: Asked) -> (Standing, Why) {
        self.flash.survey(&self.time).why(asked.id)
    }

    /// Checks that an operation ends at this moment, and not a nanosecond before or after.
    fn assert_ends(&mut self, asked: Asked, at: u64) {
        self.until(at);
        assert_eq!(self.end_of(asked), at * 1_000);
    }

    /// End of an operation, in nanoseconds; `u64::MAX` if it has not ended.
    fn end_of(&self, asked: Asked) -> u64 {
        let ended = self.ended.iter().find(|(_, number)| *number == asked.number);
        ended.map_or(u64::MAX, |(at, _)| *at)
    }
}

#[test]
fn a_read_takes_its_sense_and_its_transfer() {
    let mut chip = Chip::new("");
    let read = chip.read(10, 0);
    chip.assert_ends(read, 10 + SENSE + CARRY);
}

/// Cycles of 1 us before a read, 2 before a program, 3 before an erase.
const CYCLES: &str =
    "nand.command_cycles = { read = \"1 us\", program = \"2 us\", erase = \"3 us\" }";

#[test]
fn cycles_come_before_each_command() {
    let mut chip = Chip::new(CYCLES);
    let read = chip.read(0, 0);
    chip.assert_ends(read, 1 + SENSE + CARRY);
    let program = chip.program(1_000, 0);
    chip.assert_ends(program, 1_000 + 2 + CARRY + PROGRAM);
    let erase = chip.erase(2_000, 0);
    chip.assert_ends(erase, 2_000 + 3 + ERASE);
}

#[test]
fn an_idle_unit_is_commanded_when_its_channel_falls_free() {
    let mut chip = Chip::new(&format!("geometry.dies_per_package = 2; {CYCLES}"));
    let first = chip.read(0, 0);
    // The first is carried from 26 to 126; without cycles the second would be sensed meanwhile.
    let second = chip.read(30, 1);
    chip.assert_ends(first, 1 + SENSE + CARRY);
    chip.assert_ends(second, 126 + 1 + SENSE + CARRY);
}

#[test]
fn what_begins_is_chosen_when_unit_and_channel_are_free() {
    let mut chip = Chip::new(&format!("geometry.dies_per_package = 2; {CYCLES}"));
    chip.read(0, 0);
    // Both find their die idle and the channel busy until 126. The read came later.
    let program = chip.program(30, 1);
    let read = chip.read(40, 1);
    chip.assert_ends(read, 126 + 1 + SENSE + CARRY);
    chip.assert_ends(program, 252 + 2 + CARRY + PROGRAM);
}

#[test]
fn groups_are_commanded_in_the_order_of_asking() {
    let mut chip = Chip::new(&format!("geometry.dies_per_package = 3; {CYCLES}"));
    chip.read(0, 0);
    let (second, third) = (chip.read(40, 2), chip.read(50, 1));
    // Commands from 126 and 127 on; data from 152 and 252 on.
    chip.assert_ends(second, 126 + 1 + SENSE + CARRY);
    chip.assert_ends(third, 252 + CARRY);
}

#[test]
fn a_wait_for_an_idle_unit_is_charged_to_its_channel() {
    let mut chip = Chip::new(&format!("geometry.dies_per_package = 2; {CYCLES}"));
    chip.read(0, 0);
    let second = chip.read(30, 1);
    chip.until(200);
    let blame = chip.flash.ops.blame_ref(second.id);
    assert_eq!(blame.of(State::ChannelHostRead), Span::from_ns(96_000));
    assert_eq!(blame.of(State::Transfer), Span::from_ns(101_000));
}

#[test]
fn a_unit_that_awaits_the_command_of_another_erase_is_not_busy() {
    let mut chip = Chip::new(&format!("geometry.dies_per_package = 2; {CYCLES}"));
    let erase = chip.erase(0, 0);
    let read = chip.read(1, 1);
    chip.assert_ends(erase, 3 + ERASE);
    chip.assert_ends(read, 3 + 1 + SENSE + CARRY);
    let blame = chip.flash.ops.blame_ref(read.id);
    assert_eq!(blame.of(State::ChannelCommand), Span::from_ns(2_000));
    // The command is part of the time that the erase occupies its unit.
    let busy = chip.flash.unit_busy(&chip.time);
    let busy: Vec<u64> = busy.iter().map(|span| span.as_ns() / 1_000).collect();
    assert_eq!(busy, [3 + ERASE, 1 + SENSE + CARRY]);
    let channel = chip.flash.channel_busy(&chip.time)[0].as_ns() / 1_000;
    assert_eq!(channel, 3 + 1 + CARRY);
}

/// Reads of three dies keep their channel busy for 12 ms. A program of a fourth asks for it at once.
#[test]
fn no_policy_of_channels_lets_a_program_starve() {
    for (policy, cycles) in [
        ("'out-first'", ""),
        ("'data-first'", ""),
        ("'commands-first'", ""),
        ("'data-first'", CYCLES),
        ("{ policy = 'data-first', strict = true }", CYCLES),
    ] {
        let mut chip = Chip::new(&format!(
            "geometry.dies_per_package = 4; scheduler.channel = {policy}; {cycles}"
        ));
        let reads: Vec<_> = (0..120).map(|read| chip.read(0, 1 + read % 3)).collect();
        chip.rows = 2;
        let program = chip.program(1, 0);
        chip.until(20_000);
        let last = reads.into_iter().map(|read| chip.end_of(read)).max().unwrap() / 1_000;
        assert!(last > 12_000, "{policy}: {last}");
        // For each of its two rows it waits for a page of each die, and as long again.
        let end = chip.end_of(program) / 1_000;
        assert!(end < 2 * (6 * (SENSE + CARRY) + CARRY) + PROGRAM, "{policy}: {end}");
    }
}

/// Ends, in microseconds, of three operations for which a channel becomes free at 390: a read that
/// is to begin asked for it at 295, the second row of a program at 300, and data of a read at 305.
fn ends_under(channel: &str) -> [u64; 3] {
    let mut chip = Chip::new(&format!(
        "geometry.dies_per_package = 4; scheduler.channel = \"{channel}\"; \
         nand.command_cycles = {{ read = \"0 us\", program = \"0 us\", erase = \"0 us\" }}"
    ));
    chip.rows = 2;
    let program = chip.program(0, 1);
    chip.rows = 1;
    // Its data have the channel from 290 on.
    chip.read(265, 0);
    let data = chip.read(280, 2);
    let begins = chip.read(295, 3);
    chip.until(2_000);
    [begins, program, data].map(|asked| chip.end_of(asked) / 1_000)
}

#[test]
fn a_policy_says_who_gets_a_channel_that_falls_free() {
    // Data until 490, then by age: the command, which takes no time, and the row until 590.
    assert_eq!(ends_under("out-first"), [690, 590 + PROGRAM, 490]);
    // Data until 490, the row until 590, and only then the command.
    assert_eq!(ends_under("data-first"), [590 + SENSE + CARRY, 590 + PROGRAM, 490]);
    // The command at 390, then data until 490. The data that the command brings at 415 comes after
    // the row, which was waiting at 390: the row has the channel until 590.
    assert_eq!(ends_under("commands-first"), [690, 590 + PROGRAM, 490]);
    // The command at 390, the row until 490, data until 590, and then the data of the command.
    assert_eq!(ends_under("by-age"), [690, 490 + PROGRAM, 590]);
}

#[test]
fn a_unit_serves_one_operation_after_the_other() {
    let mut chip = Chip::new("");
    let first = chip.read(0, 0);
    let second = chip.read(1, 0);
    chip.assert_ends(first, SENSE + CARRY);
    chip.assert_ends(second, 2 * (SENSE + CARRY));
}

#[test]
fn units_work_at_once_and_share_their_channel() {
    let mut chip = Chip::new("geometry.dies_per_package = 2");
    let (first, second) = (chip.read(0, 0), chip.read(0, 1));
    chip.assert_ends(first, SENSE + CARRY);
    chip.assert_ends(second, SENSE + 2 * CARRY);
}

#[test]
fn channels_share_nothing() {
    let mut chip = Chip::new("geometry.channels = 2");
    let (first, second) = (chip.read(0, 0), chip.read(0, 1));
    chip.assert_ends(first, SENSE + CARRY);
    chip.assert_ends(second, SENSE + CARRY);
}

#[test]
fn a_program_waits_for_its_channel_and_a_read_may_take_its_unit_meanwhile() {
    let mut chip = Chip::new("geometry.dies_per_package = 2");
    let other = chip.read(0, 1);
    // The channel is busy from 25 to 125.
    let program = chip.program(30, 0);
    let read = chip.read(40, 0);
    chip.assert_ends(other, SENSE + CARRY);
    // It has sensed by 65 and has the channel at 125.
    chip.assert_ends(read, SENSE + 2 * CARRY);
    chip.assert_ends(program, SENSE + 3 * CARRY + PROGRAM);
}

#[test]
fn reads_that_wait_when_a_writes_turn_comes_go_first_and_later_ones_do_not() {
    let mut chip = Chip::new("scheduler.bypass = \"batch\"");
    let first = chip.read(0, 0);
    let program = chip.program(1, 0);
    let bypasses = chip.read(2, 0);
    let late = chip.read(SENSE + CARRY + 1, 0);
    chip.assert_ends(first, 125);
    chip.assert_ends(bypasses, 250);
    chip.assert_ends(program, 250 + CARRY + PROGRAM);
    chip.assert_ends(late, 550 + 125);
}

#[test]
fn without_bypass_all_goes_by_age_and_with_drain_reads_always_go_first() {
    for (bypass, order) in [("none", [0, 1, 2]), ("drain", [0, 2, 1])] {
        let mut chip = Chip::new(&format!("scheduler.bypass = \"{bypass}\""));
        let asked = [chip.read(0, 0), chip.program(1, 0), chip.read(2, 0)];
        chip.until(1_000);
        let ended: Vec<u64> = chip.ended.iter().map(|(_, id)| *id).collect();
        assert_eq!(ended, order.map(|at: usize| asked[at].number), "{bypass}");
    }
}

#[test]
fn a_program_without_a_page_is_set_aside_and_keeps_nobody_waiting() {
    let mut chip = Chip::new("");
    chip.pages.left = 0;
    let program = chip.program(0, 0);
    assert_eq!(chip.pages.parked, [program.id]);
    let read = chip.read(5, 0);
    chip.assert_ends(read, 5 + SENSE + CARRY);
    chip.until(200);
    chip.pages.left = 1;
    chip.flash.resume(&mut chip.time, &mut chip.pages, [program.id].into_iter());
    chip.assert_ends(program, 200 + CARRY + PROGRAM);
}

#[test]
fn of_programs_that_were_set_aside_the_oldest_goes_first() {
    let mut chip = Chip::new("");
    chip.pages.left = 0;
    let older = chip.program(0, 0);
    let younger = chip.program(1, 0);
    chip.until(200);
    chip.pages.left = 2;
    let parked = std::mem::take(&mut chip.pages.parked);
    assert_eq!(parked, [older.id, younger.id]);
    chip.flash.resume(&mut chip.time, &mut chip.pages, parked.into_iter());
    chip.assert_ends(older, 200 + CARRY + PROGRAM);
    chip.assert_ends(younger, 200 + 2 * (CARRY + PROGRAM));
}

#[test]
fn a_reserved_unit_serves_its_collection_alone() {
    let mut chip = Chip::new("");
    chip.flash.reserve(&chip.time, BinId(0));
    let read = chip.read(0, 0);
    let moved = chip.ask(10, OpKind::Read, Class::Reserved, 0);
    chip.assert_ends(moved, 10 + SENSE + CARRY);
    chip.until(500);
    assert!(
        chip.ended.iter().all(|(_, id)| *id != read.number),
        "its unit is idle, and not for it"
    );
    assert!(chip.flash.give_back(&chip.time, BinId(0)));
    chip.flash.serve(&mut chip.time, &mut chip.pages, GroupId(0));
    chip.assert_ends(read, 500 + SENSE + CARRY);
    let blame = chip.flash.ops.blame_ref(read.id);
    // The collection's own read occupied the unit in between.
    assert_eq!(blame.of(State::Reserved), Span::from_us(500 - 125));
    assert_eq!(blame.of(State::UnitGcRead), Span::from_us(125));
}

/// Three dies on a channel. A program of die 1 crosses it until 100 us; meanwhile a collection of
/// die 0 claims it, and a read of die 2 is sensed and waits for it.
fn claimed(foreground: bool) -> (Chip, Asked) {
    let mut chip = Chip::new(DIES);
    chip.pages.foreground = foreground;
    chip.program(0, 1);
    chip.until(10);
    assert!(!chip.flash.claim(&mut chip.time, &chip.pages, ChannelId(0), BinId(0)));
    let read = chip.read(20, 2);
    (chip, read)
}

const DIES: &str = "geometry.dies_per_package = 3";

fn give_channel_back(chip: &mut Chip, at: u64) {
    chip.until(at);
    chip.flash.give_channel_back(&mut chip.time, &mut chip.pages, ChannelId(0), BinId(0));
}

#[test]
fn a_foreground_collection_gets_the_channel_before_transfers_that_wait() {
    let (mut chip, read) = claimed(true);
    chip.until(99);
    assert!(!chip.flash.has_channel(ChannelId(0), BinId(0)));
    chip.until(100);
    assert!(chip.flash.has_channel(ChannelId(0), BinId(0)));
    assert!(matches!(chip.flash.next_note(), Some(Note::ChannelKept(BinId(0)))));
    give_channel_back(&mut chip, 300);
    chip.assert_ends(read, 300 + CARRY);
    let blame = chip.flash.ops.blame_ref(read.id);
    assert_eq!(blame.of(State::ChannelHostProgram), Span::from_us(100 - 45));
    assert_eq!(blame.of(State::Reserved), Span::from_us(200));
}

#[test]
fn a_background_collection_gets_the_channel_when_nothing_waits_for_it() {
    let (mut chip, read) = claimed(false);
    chip.assert_ends(read, 100 + CARRY);
    assert!(chip.flash.has_channel(ChannelId(0), BinId(0)));
    give_channel_back(&mut chip, 300);
    assert!(!chip.flash.has_channel(ChannelId(0), BinId(0)));
}

#[test]
fn a_foreground_collection_gets_the_channel_at_once_after_a_scrubbed_block() {
    let (mut chip, read) = claimed(true);
    chip.pages.scrubs = vec![BinId(0)];
    chip.until(100);
    assert!(chip.flash.has_channel(ChannelId(0), BinId(0)));
    give_channel_back(&mut chip, 300);
    chip.assert_ends(read, 300 + CARRY);
}

#[test]
fn a_background_collection_goes_after_hosts_and_before_scrubbing() {
    let mut chip = Chip::new("geometry.dies_per_package = 4");
    chip.program(0, 1);
    chip.until(10);
    assert!(!chip.flash.claim(&mut chip.time, &chip.pages, ChannelId(0), BinId(0)));
    let moved = chip.ask(20, OpKind::Read, Class::Background, 2);
    let read = chip.read(30, 3);
    chip.pages.scrubs = vec![BinId(2)];
    // The channel is free at 100 us; both reads are sensed by then.
    chip.assert_ends(read, 100 + CARRY);
    assert!(chip.flash.has_channel(ChannelId(0), BinId(0)));
    give_channel_back(&mut chip, 300);
    chip.assert_ends(moved, 300 + CARRY);
}

#[test]
fn a_background_collection_goes_after_moves_that_are_not_of_scrubbing() {
    let mut chip = Chip::new(DIES);
    chip.program(0, 1);
    chip.until(10);
    assert!(!chip.flash.claim(&mut chip.time, &chip.pages, ChannelId(0), BinId(0)));
    let moved = chip.ask(20, OpKind::Read, Class::Background, 2);
    chip.assert_ends(moved, 100 + CARRY);
    assert!(chip.flash.has_channel(ChannelId(0), BinId(0)));
}

#[test]
fn a_claim_that_is_no_longer_needed_reserves_nothing() {
    let (mut chip, read) = claimed(true);
    give_channel_back(&mut chip, 50);
    chip.assert_ends(read, 100 + CARRY);
    assert!(!chip.flash.has_channel(ChannelId(0), BinId(0)));
}

#[test]
fn operations_of_the_unit_leave_the_channel_that_is_reserved_for_it() {
    let mut chip = Chip::new(DIES);
    chip.pages.foreground = true;
    chip.program(0, 1);
    // It occupies the unit of the collection, which therefore needs it to go on.
    let own = chip.read(10, 0);
    chip.until(20);
    assert!(!chip.flash.claim(&mut chip.time, &chip.pages, ChannelId(0), BinId(0)));
    let other = chip.read(20, 2);
    chip.assert_ends(own, 100 + CARRY);
    give_channel_back(&mut chip, 300);
    chip.assert_ends(other, 300 + CARRY);
    // Of the wait from 45 us on, the channel carried the other read from 100 to 200 us.
    let blame = chip.flash.ops.blame_ref(other.id);
    assert_eq!(blame.of(State::ChannelHostRead), Span::from_us(CARRY));
    assert_eq!(blame.of(State::Reserved), Span::from_us(100));
}

#[test]
fn background_gc_waits_for_all_others_until_it_comes_to_the_foreground() {
    for foreground in [false, true] {
        let mut chip = Chip::new("");
        let first = chip.read(0, 0);
        let moved = chip.ask(1, OpKind::Read, Class::Background, 0);
        let program = chip.program(2, 0);
        if foreground {
            chip.flash.raise_background(GroupId(0));
        }
        chip.assert_ends(first, 125);
        match foreground {
            true => chip.assert_ends(moved, 250),
            false => chip.assert_ends(program, 125 + CARRY + PROGRAM),
        }
    }
}

#[test]
fn a_wait_is_charged_to_what_occupied_the_unit() {
    let mut chip = Chip::new("");
    chip.erase(0, 0);
    let read = chip.read(100, 0);
    chip.assert_ends(read, ERASE + SENSE + CARRY);
    let blame = chip.flash.ops.blame_ref(read.id);
    assert_eq!(blame.of(State::UnitErase), Span::from_us(ERASE - 100));
    assert_eq!(blame.of(State::Sense), Span::from_us(SENSE));
    assert_eq!(blame.total(), Span::from_us(ERASE - 100 + SENSE + CARRY));
}

#[test]
fn an_erase_is_suspended_at_the_end_of_its_step_and_not_before() {
    // Three steps of 500 us, with nothing around them.
    let mut chip = Chip::new(
        "nand.erase = { steps = 3, ramp = \"0 us\", execute = \"500 us\", recover = \"0 us\", \
         verify = \"0 us\" }; scheduler.suspension = \"d-es\"",
    );
    let erase = chip.erase(0, 0);
    let read = chip.read(100, 0);
    chip.assert_ends(read, 500 + SENSE + CARRY);
    chip.assert_ends(erase, ERASE + SENSE + CARRY);
    assert_eq!((chip.flash.counters.suspensions, chip.flash.counters.deferrals), (1, 1));
}

#[test]
fn rounds_begin_together_and_wait_for_the_slowest() {
    let mut chip = Chip::new(
        "geometry.planes_per_die = 2; concurrency.read = \"plane\"; \
         concurrency.program = \"plane\"; concurrency.erase = \"plane\"; \
         ftl.gc.preemptible = false; \
         scheduler.rounds = { unit = \"die\", collect = \"when-asked\" }",
    );
    let alone = chip.read(0, 0);
    // They wait for the round to end, though the other plane is idle.
    let (second, third) = (chip.read(1, 1), chip.read(2, 0));
    chip.assert_ends(alone, SENSE + CARRY);
    chip.assert_ends(second, 125 + SENSE + CARRY);
    chip.assert_ends(third, 125 + SENSE + 2 * CARRY);
}

#[test]
fn an_idle_gap_is_told_after_the_gap_only_where_space_is_wanted() {
    let mut chip = Chip::new("ftl.gc.idle_gap = \"1 ms\"");
    chip.read(0, 0);
    chip.until(10_000);
    assert_eq!(chip.idle, [], "the bin has enough");
    chip.pages.is_short = true;
    // The second read begins within the gap after the first.
    let first = chip.read(10_000, 0);
    chip.assert_ends(first, 10_000 + SENSE + CARRY);
    let second = chip.read(11_000, 0);
    chip.assert_ends(second, 11_000 + SENSE + CARRY);
    chip.until(20_000);
    assert_eq!(chip.idle, [((11_000 + SENSE + CARRY + 1_000) * 1_000, GroupId(0))]);
}

#[test]
fn what_streams_is_noted_and_nothing_waits_for_the_note() {
    let mut chip = Chip::new("");
    chip.flash.streams = true;
    let read = chip.read(0, 0);
    chip.until(SENSE);
    assert!(matches!(chip.flash.notes.pop_front(), Some(Note::CarriesOut(op)) if op == read.id));
    chip.assert_ends(read, SENSE + CARRY);
}

/// The reason of an operation that waits for its unit, with no reservation.
fn behind(occupied_by: &[Asked], others: u32) -> Why {
    let occupied_by = occupied_by.iter().map(|asked| asked.id).collect();
    Why::Unit { occupied_by, reserved_for: None, others }
}

fn at(us: u64) -> Option<Instant> {
    Some(Instant::from_ns(us * 1_000))
}

#[test]
fn a_read_behind_an_erase_names_it_and_the_erase_says_when_it_is_over() {
    let mut chip = Chip::new("");
    let erase = chip.erase(0, 0);
    let (read, program) = (chip.read(100, 0), chip.program(200, 0));
    let (standing, why) = chip.why(read);
    assert_eq!((standing.stage, standing.since, why), (Stage::Unit, at(100), behind(&[erase], 1)));
    // It waits for the erase, whichever goes next, and is bound to no block yet.
    let (standing, why) = chip.why(program);
    assert_eq!((standing.block, why), (None, behind(&[erase], 1)));
    let (standing, why) = chip.why(erase);
    assert_eq!((standing.since, standing.until, why), (at(0), at(ERASE), Why::Works(None)));
    assert_eq!(standing.suspensions, None, "it is never suspended");
}

#[test]
fn a_sensed_read_waits_for_the_channel_and_names_what_that_carries() {
    let mut chip = Chip::new("geometry.dies_per_package = 2");
    let (first, second) = (chip.read(0, 0), chip.read(0, 1));
    chip.until(SENSE);
    assert_eq!(chip.why(second).1, Why::Channel(ChannelId(0), Some(first.id), None));
    let (standing, why) = chip.why(first);
    assert_eq!(why, Why::Works(Some(ChannelId(0))));
    assert_eq!((standing.since, standing.until), (at(SENSE), at(SENSE + CARRY)));
}

#[test]
fn a_read_of_an_idle_unit_that_is_reserved_names_the_collection() {
    let mut chip = Chip::new("");
    chip.flash.reserve(&chip.time, BinId(0));
    let read = chip.read(0, 0);
    let reserved_for = Some(BinId(0));
    assert_eq!(chip.why(read).1, Why::Unit { occupied_by: vec![], reserved_for, others: 0 });
}

#[test]
fn a_program_without_a_page_says_so() {
    let mut chip = Chip::new("");
    chip.pages.left = 0;
    let program = chip.program(0, 0);
    let (standing, why) = chip.why(program);
    assert_eq!((standing.stage, standing.block, why), (Stage::Space, None, Why::Page));
}

#[test]
fn a_suspended_erase_says_how_often_and_not_when_it_is_over() {
    let mut chip = Chip::new(
        "nand.erase = { steps = 3, ramp = \"0 us\", execute = \"500 us\", recover = \"0 us\", \
         verify = \"0 us\" }; scheduler.suspension = \"d-es\"",
    );
    let erase = chip.erase(0, 0);
    chip.read(100, 0);
    chip.until(500);
    let (standing, why) = chip.why(erase);
    assert_eq!((standing.stage, why), (Stage::Suspended, Why::Suspended));
    assert_eq!((standing.since, standing.until, standing.suspensions), (at(0), None, Some(1)));
    chip.until(500 + SENSE + CARRY);
    let (standing, why) = chip.why(erase);
    assert_eq!((standing.until, why), (at(ERASE + SENSE + CARRY), Why::Works(None)));
}

#[test]
fn a_read_that_waits_for_a_round_has_an_idle_unit() {
    let mut chip = Chip::new(
        "geometry.planes_per_die = 2; concurrency.read = \"plane\"; \
         concurrency.program = \"plane\"; concurrency.erase = \"plane\"; \
         ftl.gc.preemptible = false; \
         scheduler.rounds = { unit = \"die\", collect = \"when-asked\" }",
    );
    let alone = chip.read(0, 0);
    let (idle, busy) = (chip.read(1, 1), chip.read(2, 0));
    assert_eq!((chip.why(idle).1, chip.why(busy).1), (behind(&[], 1), behind(&[alone], 1)));
}

#[test]
fn a_group_of_64_units_keeps_what_waits_for_several_apart() {
    let mut chip = Chip::new(
        "geometry.packages_per_channel = 16; geometry.planes_per_die = 4; \
         geometry.blocks_per_plane = 16; ftl.allocation.bin = \"plane\"; \
         concurrency.read = \"plane\"; concurrency.program = \"die\"; concurrency.erase = \"die\"; \
         ftl.gc.preemptible = false; scheduler.rounds = { unit = \"channel\" }",
    );
    let busy = chip.read(0, 0);
    // The next round: a read of plane 0; the program of die 0, planes 0 to 3, comes after it.
    let (program, read) = (chip.program(1, 1), chip.read(2, 0));
    chip.assert_ends(busy, SENSE + CARRY);
    chip.assert_ends(read, 125 + SENSE + CARRY);
    chip.assert_ends(program, 250 + CARRY + PROGRAM);
}

/// Bytes of a read that only waits, without its request.
const WAITING_READ: u64 = 100;

#[test]
fn reads_that_only_wait_are_small_and_their_memory_is_used_again() {
    let mut chip = Chip::new("");
    const READS: u64 = 1 << 14;
    let wait = |chip: &mut Chip, from: u64| {
        for at in 0..READS {
            chip.read(from + at / 16, 0);
        }
    };
    wait(&mut chip, 0);
    assert!(chip.flash.groups[GroupId(0)].queued() > READS as u32 - 20, "all but some wait");
    let bytes = chip.flash.ops.bytes();
    assert!(bytes <= READS * WAITING_READ, "{bytes} bytes for {READS} reads");
    let behind = READS * (SENSE + CARRY) + READS;
    chip.until(behind);
    assert_eq!(chip.flash.groups[GroupId(0)].queued(), 0);
    wait(&mut chip, behind);
    assert_eq!(chip.flash.ops.bytes(), bytes, "the second time takes no more than the first");
}

/// A die of two pairs of planes, each with blocks of its own. Reads occupy the planes that they
/// need, programs a pair and erases all.
const TWO_PAIRS: &str = "geometry.planes_per_die = 4; ftl.block_planes = 2; \
     concurrency.read = \"plane\"; concurrency.program = \"plane-pair\"; \
     concurrency.erase = \"die\"";

/// A die of eight planes with blocks on four each. Reads occupy the planes that they need, so that
/// choices of cells overlap in part.
const TWO_FOURS: &str = "geometry.planes_per_die = 8; ftl.block_planes = 4; \
     concurrency.read = \"plane\"; concurrency.program = \"die\"; concurrency.erase = \"die\"";

/// Changes to a group before it chooses.
#[derive(Clone, Debug)]
struct Moment {
    busy: u64,
    wanted: u64,
    barred: u64,
    /// Cells of operations for which the channel is free.
    open: u64,
    raises: bool,
    /// The chosen operation that goes back to its place, if any.
    puts_back: Option<usize>,
}

/// Some of `cells` cells, reserved for the collection of a bin, or none.
fn kept(cells: u32) -> impl proptest::strategy::Strategy<Value = Option<(u64, BinId)>> {
    use proptest::strategy::Strategy;
    let kept = (1..1u64 << cells, 0u32..2).prop_map(|(cells, bin)| (cells, BinId(bin)));
    proptest::option::weighted(0.3, kept)
}

/// Moments of a group with `cells` cells.
fn moments(cells: u32) -> impl proptest::strategy::Strategy<Value = Vec<Moment>> {
    use proptest::{bool::ANY, collection::vec, option::weighted, strategy::Strategy};
    let all = 1u64 << cells;
    let some = move || proptest::prop_oneof![proptest::strategy::Just(0), 0..all];
    let open = proptest::prop_oneof![proptest::strategy::Just(all - 1), 0..all];
    let moment = (some(), some(), some(), open, ANY, weighted(0.3, 0usize..24));
    let moment = moment.prop_map(|(busy, wanted, barred, open, raises, puts_back)| {
        let wanted = wanted & !busy;
        Moment { busy, wanted, barred: wanted & barred, open, raises, puts_back }
    });
    vec(moment, 1..16)
}

proptest::proptest! {
    #![proptest_config(floor::cases!())]

    /// The reads that an operation may be suspended for are those of a scan of all waiting ones.
    #[test]
    fn reads_that_wait_are_found_as_by_a_scan(
        asked in proptest::collection::vec((0u32..2, 1u64..4, 0usize..6), 0..40),
        cells in 1u64..16,
        open in 0u64..16,
        hosts_only: bool,
        before in 0u64..45,
        taken in 0usize..6,
    ) {
        let kinds = [
            (OpKind::Read, Class::ReadHigh),
            (OpKind::Read, Class::ReadNormal),
            (OpKind::Read, Class::ReadLow),
            (OpKind::Read, Class::RmwRead),
            (OpKind::Read, Class::Background),
            (OpKind::Program, Class::Write),
        ];
        let mut chip = Chip::new(TWO_PAIRS);
        assert_eq!(chip.flash.place(BinId(1)).group, GroupId(0));
        chip.ask(0, OpKind::Erase, Class::Foreground, 0);
        for (bin, planes, at) in asked {
            let (kind, class) = kinds[at];
            chip.ask_planes(0, kind, class, bin, planes);
        }
        // As if the erase were suspended.
        let flash = &mut chip.flash;
        let group = &mut flash.groups[GroupId(0)];
        (group.busy, group.barred) = (0, 15);
        let given = |seq: u64| if seq < before { open } else { 0 };
        for _ in 0..=taken {
            let ops = &flash.ops;
            let of = |id: &OpId| (ops[*id].class as usize, ops[*id].seq);
            let is_asked_for = |id: &OpId| {
                let of_hosts = ops[*id].class.is_read();
                let is_asked_for = of_hosts || !hosts_only;
                is_asked_for && ops[*id].kind == OpKind::Read && ops[*id].cells & cells != 0
            };
            let waiting: Vec<OpId> = group.waiting(ops).filter(is_asked_for).collect();
            let may_start = |id: &&OpId| {
                let given = given(ops[**id].seq);
                ops[**id].cells & cells & given != 0 && ops[**id].cells & !given == 0
            };
            let first = waiting.iter().filter(may_start).min_by_key(|id| of(id)).copied();
            proptest::prop_assert_eq!(group.count_reads_on(ops, cells, hosts_only), waiting.len() as u32);
            proptest::prop_assert_eq!(group.has_reads_on(ops, cells, hosts_only), !waiting.is_empty());
            proptest::prop_assert_eq!(
                group.has_read_before(ops, cells, hosts_only, before),
                waiting.iter().any(|id| ops[*id].seq < before)
            );
            let found = group.first_read_on(ops, cells, hosts_only, given, |_| true);
            proptest::prop_assert_eq!(found, first);
            let Some(found) = found else { break };
            group.take_out(&mut flash.ops, found);
        }
    }

    /// Choices agree with the rules of the model's section on scheduling, applied to all waiting
    /// ones.
    #[test]
    fn what_goes_next_is_as_by_the_rules(
        bypass in 0usize..3,
        asked in proptest::collection::vec((0u32..2, 1u64..4, 0usize..KINDS.len()), 0..24),
        kept in kept(4),
        moments in moments(4),
    ) {
        choose_as_by_the_rules(TWO_PAIRS, BYPASSES[bypass], &asked, kept, &moments)?;
    }

    /// As above, if choices of cells overlap in part.
    #[test]
    fn what_goes_next_is_as_by_the_rules_where_choices_overlap(
        bypass in 0usize..3,
        asked in proptest::collection::vec((0u32..2, 1u64..16, 0usize..KINDS.len()), 0..24),
        kept in kept(8),
        moments in moments(8),
    ) {
        choose_as_by_the_rules(TWO_FOURS, BYPASSES[bypass], &asked, kept, &moments)?;
    }

    /// An operation that skips the queue is the one that the queue would have chosen, once the
    /// operations before it on other cells have been taken.
    #[test]
    fn what_passes_by_the_queue_is_what_it_would_choose(
        asked in proptest::collection::vec((0u32..2, 1u64..4, 0usize..6), 0..12),
        probe in (0u32..2, 1u64..4, proptest::bool::ANY),
        busy in 0u64..16,
        wanted in 0u64..16,
    ) {
        let classes = [
            (OpKind::Read, Class::ReadHigh),
            (OpKind::Read, Class::ReadLow),
            (OpKind::Read, Class::Background),
            (OpKind::Read, Class::Foreground),
            (OpKind::Program, Class::Write),
            (OpKind::Erase, Class::Foreground),
        ];
        let mut chip = Chip::new(TWO_PAIRS);
        chip.ask(0, OpKind::Erase, Class::Foreground, 0);
        for (bin, planes, at) in asked {
            let (kind, class) = classes[at];
            chip.ask_planes(0, kind, class, bin, planes);
        }
        let (bin, planes, is_read) = probe;
        let kind = if is_read { OpKind::Read } else { OpKind::Erase };
        let probe = chip.ask_planes(0, kind, Class::Foreground, bin, planes).id;
        let flash = &mut chip.flash;
        let (ops, bypass, next) = (&mut flash.ops, &flash.bypass, flash.next_seq);
        let group = &mut flash.groups[GroupId(0)];
        group.take_out(ops, probe);
        (group.busy, group.wanted) = (busy, wanted & !busy);
        let passes_by = group.goes_first(&ops[probe], bypass);
        group.push_back(ops, probe);
        let mut chosen = group.pick(ops, bypass, next, |_| true).map(|pick| pick.op);
        while let Some(other) = chosen.filter(|op| ops[*op].cells & ops[probe].cells == 0) {
            group.take(ops, other);
            group.busy |= ops[other].cells;
            chosen = group.pick(ops, bypass, next, |_| true).map(|pick| pick.op);
        }
        // It may refuse to skip although the queue would choose it, and never the other way round.
        proptest::prop_assert!(!passes_by || chosen == Some(probe), "{:?} for {:?}", chosen, probe);
    }
}

const BYPASSES: [&str; 3] = ["none", "drain", "batch"];
/// Operations that the rules are tested with.
const KINDS: [(OpKind, Class); 9] = [
    (OpKind::Read, Class::ReadHigh),
    (OpKind::Read, Class::ReadNormal),
    (OpKind::Read, Class::ReadLow),
    (OpKind::Read, Class::RmwRead),
    (OpKind::Program, Class::Write),
    (OpKind::Program, Class::Foreground),
    (OpKind::Erase, Class::Foreground),
    (OpKind::Program, Class::Background),
    (OpKind::Read, Class::Background),
];

/// Lets a group choose again and again, and compares each choice with the rules.
fn choose_as_by_the_rules(
    drive: &str,
    bypass: &str,
    asked: &[(u32, u64, usize)],
    kept: Option<(u64, BinId)>,
    moments: &[Moment],
) -> Result<(), proptest::test_runner::TestCaseError> {
    let mut chip = Chip::new(&format!("{drive}; scheduler.bypass = \"{bypass}\""));
    chip.ask(0, OpKind::Erase, Class::Foreground, 0);
    for (bin, planes, at) in asked {
        let (kind, mut class) = KINDS[*at];
        let is_collection = matches!(class, Class::Foreground | Class::Background);
        if is_collection && kept.is_some_and(|(_, of)| of == BinId(*bin)) {
            class = Class::Reserved;
        }
        // A host read occupies a plane, or the cells of a program; a read of collection the cells
        // it needs.
        let is_unit = drive == TWO_PAIRS || !class.is_bounded();
        let planes = if is_unit { *planes } else { planes & planes.wrapping_neg() };
        chip.ask_planes(0, kind, class, *bin, planes);
    }
    let flash = &mut chip.flash;
    let (ops, next) = (&mut flash.ops, flash.next_seq);
    let group = &mut flash.groups[GroupId(0)];
    let (mut bound, mut taken) = (None, Vec::new());
    if let Some((cells, bin)) = kept {
        group.keep(cells, bin);
    }
    for moment in moments {
        (group.busy, group.wanted, group.barred) = (moment.busy, moment.wanted, moment.barred);
        if moment.raises {
            group.raise_background(ops, false);
        }
        if let Some(at) = moment.puts_back.filter(|_| !taken.is_empty()) {
            group.put_back(ops, taken.swap_remove(at % taken.len()));
        }
        let open = |op: &Op| op.cells & !moment.open == 0;
        let expected = chosen_by_the_rules(group, ops, bypass, &mut bound, next, kept, open);
        let chosen = group.pick(ops, &flash.bypass, next, open).map(|pick| pick.op);
        proptest::prop_assert_eq!(chosen, expected);
        if let Some(chosen) = chosen {
            group.take(ops, chosen);
            taken.push(chosen);
        }
    }
    Ok(())
}

/// The operation that goes next, from all that wait; `kept` are cells reserved for the collection
/// of a bin, and `open` says if the channel of an operation is free for it.
fn chosen_by_the_rules(
    group: &Group,
    ops: &Ops,
    bypass: &str,
    bound: &mut Option<u64>,
    next: u64,
    kept: Option<(u64, BinId)>,
    open: impl Fn(&Op) -> bool,
) -> Option<OpId> {
    let mut waiting: Vec<OpId> = group.waiting(ops).collect();
    waiting.sort_by_key(|id| ops[*id].seq);
    let is_free_for = |op: &Op| {
        let wanted = if op.class.is_read() { group.barred } else { group.wanted };
        let is_kept = |(cells, bin): (u64, BinId)| {
            cells & op.cells != 0 && !(bin == op.bin && op.is_collection())
        };
        op.cells & (group.busy | wanted) == 0 && !kept.is_some_and(is_kept)
    };
    let fits = |id: &OpId| {
        let op = &ops[*id];
        let stands_before = |other: &OpId| {
            let other = &ops[*other];
            other.seq < op.seq && other.class == op.class && other.cells & op.cells != 0
        };
        is_free_for(op) && open(op) && !waiting.iter().any(stands_before)
    };
    let of_class = |class: u32| waiting.iter().filter(move |id| ops[**id].class as u32 == class);
    let ranked = |id: &&OpId| ops[**id].class != Class::Background;
    if !waiting.iter().any(|id| ranked(&id)) {
        return of_class(Class::Background as u32).copied().find(fits);
    }
    // Foreground GC is older than any host program; an operation with a reserved unit has no age.
    let aged = |id: &&OpId| ranked(id) && ops[**id].class != Class::Reserved;
    let first = waiting.iter().filter(aged).min_by_key(|id| ops[**id].seq).copied();
    let by_age = match first {
        Some(id) if ops[id].class == Class::Write => {
            of_class(Class::Foreground as u32).next().copied().or(first)
        }
        _ => first,
    };
    let by_class =
        (0..Class::Background as u32).find_map(|class| of_class(class).copied().find(fits));
    match (bypass, by_class) {
        (_, Some(id)) if ops[id].class == Class::Reserved => by_class,
        ("none", Some(_)) => by_age.filter(fits),
        ("batch", Some(id)) => {
            let class = ops[id].class;
            if !waiting.iter().any(|id| ops[*id].class > class && ranked(&id)) {
                *bound = None;
                return by_class;
            }
            if !class.is_bounded() {
                return by_class;
            }
            let reads_before = *bound.get_or_insert(next);
            if ops[id].seq < reads_before {
                return by_class;
            }
            let by_age = by_age.filter(fits);
            if by_age.is_some() {
                *bound = None;
            }
            by_age
        }
        _ => by_class,
    }
}
