//! The auditor: a second, simple account of what was written, against which
//! everything that the drive returns is checked.
//!
//! Every unit that a host writes (or trims) gets a token: a number that rises
//! with the order in which the drive takes writes in, and below it a check
//! number for the content. Tokens travel with the data: from the buffer to
//! flash, from page to page. The content of a unit that is written in part is
//! chained from that of what it was merged with, so that a part that was merged
//! with the wrong rest is told from the right one.
//!
//! A read must return, for each unit, what was written last. Programs must be in
//! order within a block, without gaps, and never on a page that was not erased
//! since. And tokens XOR as data does: over all units that the drive holds they
//! must give what hosts wrote, as a stripe gives its parity.
//!
//! It costs 8 bytes for each physical unit and 16 for each logical one.

mod durable;
mod power;
mod ticket;
mod tokens;

pub use durable::{Saved, Survives};
pub use ticket::AuditTicket;

use crate::device::RequestId;
use durable::Durable;
use engine::{BigColumn, Column, Instant, Span};
use ftl::{BlockId, Ftl, Layout, Lpn, Ppn};
use host::{Command, Kind};
use std::collections::BTreeMap;
use std::ops::Range;
use tokens::{BEFORE, check_stripe, has_data, merged, order, trimmed, written, xor};

// ---- the account --------------------------------------------------------------

/// The auditor's account.
#[derive(Clone)]
pub struct Audit {
    next_order: u64,
    /// What each physical unit holds.
    on_flash: BigColumn<Ppn, u64>,
    /// The newest token acknowledged for each logical unit.
    acknowledged: BigColumn<Lpn, u64>,
    /// The newest token taken in for each logical unit, or of its trim.
    newest: BigColumn<Lpn, u64>,
    /// The XOR of all `newest` that are data: what the drive must hold.
    stored: u64,
    /// Places programmed in each block since its erase.
    programmed: Column<BlockId, u32>,
    /// Commands in the drive: the number of each, by its slot.
    under_way: BTreeMap<RequestId, u64>,
    commands: u64,
    /// Number of commands in the drive, integrated over time up to `since`.
    area_ns: u128,
    since: Instant,
    /// Time from arrivals at the host to submissions.
    queued: Span,
    /// What must survive a power cut, where there may be one.
    durable: Option<Box<Durable>>,
}

impl Audit {
    /// An account of a drive as it stands: what is on flash now is taken as
    /// written and acknowledged before the beginning.
    pub fn new(ftl: &Ftl) -> Self {
        let layout = &ftl.layout;
        let programmed = Column::from_fn(layout.blocks() as usize, |block: BlockId| {
            match ftl.block_states()[block.0 as usize] {
                ftl::BlockState::Free | ftl::BlockState::Bad => 0,
                ftl::BlockState::Open => ftl.bound_units(block),
                ftl::BlockState::Closed | ftl::BlockState::Collecting => layout.units_per_block(),
            }
        });
        let logical = layout.map_units as usize;
        let mut audit = Self {
            next_order: BEFORE + 1,
            on_flash: BigColumn::zeroed(layout.physical_units() as usize),
            acknowledged: BigColumn::zeroed(logical),
            newest: BigColumn::zeroed(logical),
            stored: 0,
            programmed,
            under_way: BTreeMap::new(),
            commands: 0,
            area_ns: 0,
            since: Instant::START,
            queued: Span::ZERO,
            durable: None,
        };
        for lpn in (0..layout.map_units).map(Lpn) {
            if let Some(ppn) = ftl.lookup(lpn) {
                let token = written(BEFORE, lpn);
                audit.on_flash[ppn] = token;
                audit.acknowledged[lpn] = token;
                audit.replace(lpn, token);
            }
        }
        audit
    }

    // ---- commands -------------------------------------------------------------

    /// A command enters the drive at `at`, for which it waited since `arrived`.
    #[cold]
    pub fn submitted(
        &mut self,
        layout: &Layout,
        id: RequestId,
        command: Command,
        at: Instant,
        arrived: Instant,
    ) -> AuditTicket {
        self.integrate(at);
        self.queued += at - arrived;
        self.commands += 1;
        let earlier = self.under_way.insert(id, self.commands);
        assert!(earlier.is_none(), "audit: {id:?} is {command:?} and still another command");
        let mut ticket =
            AuditTicket { command: Some((command, self.commands)), at, ..AuditTicket::default() };
        if let Some(durable) = &mut self.durable
            && command.kind == Kind::Flush
        {
            durable.flush_submitted(id);
        }
        if command.kind == Kind::Read {
            ticket.expected =
                units(layout, command).map(|lpn| self.acknowledged[Lpn(lpn)]).collect();
            ticket.seen = vec![false; ticket.expected.len()];
        }
        ticket
    }

    /// A unit of a write is taken in; returns what the part (or all) of it that
    /// the host wrote is called. See [`Audit::merge`] for the rest.
    #[cold]
    pub fn taken_in(
        &mut self,
        layout: &Layout,
        command: Command,
        ticket: &mut AuditTicket,
        lpn: Lpn,
    ) -> u64 {
        let token = written(self.next_order, lpn);
        self.next_order += 1;
        let start = u64::from(lpn.0) * layout.unit_bytes;
        let whole = command.offset <= start && command.end() >= start + layout.unit_bytes;
        let before = self.newest[lpn];
        let complete = if whole || !has_data(before) { token } else { merged(token, before) };
        self.take_in(ticket, lpn, complete, false);
        token
    }
    /// The rest of a unit that is written in part comes from the buffer, or from
    /// flash; returns what the whole is called.
    #[cold]
    pub fn merge(&self, lpn: Lpn, token: u64, rest: u64) -> u64 {
        let whole = merged(token, rest);
        self.check_content(lpn, whole, "a merge");
        whole
    }
    /// As [`Audit::merge`] with what is on flash at `ppn`.
    #[cold]
    pub fn merge_flash(&self, lpn: Lpn, token: u64, ppn: Ppn, holds: Lpn) -> u64 {
        assert_eq!(holds, lpn, "audit: {ppn:?} is merged as another unit than it was written as");
        self.merge(lpn, token, self.on_flash[ppn])
    }
    /// A unit is trimmed, or zeroes are written to it.
    #[cold]
    pub fn trimmed(&mut self, kind: Kind, ticket: &mut AuditTicket, lpn: Lpn) {
        let token = trimmed(self.next_order);
        self.next_order += 1;
        self.take_in(ticket, lpn, token, kind == Kind::Trim);
    }
    fn take_in(&mut self, ticket: &mut AuditTicket, lpn: Lpn, token: u64, is_trim: bool) {
        self.replace(lpn, token);
        ticket.tokens.push((lpn, token));
        if let Some(durable) = &mut self.durable {
            durable.taken_in(lpn, token, is_trim, self.acknowledged[lpn]);
        }
    }
    fn replace(&mut self, lpn: Lpn, token: u64) {
        let before = std::mem::replace(&mut self.newest[lpn], token);
        self.stored ^= xor([before, token].into_iter().filter(|token| has_data(*token)));
    }

    /// A command completes: what it wrote is acknowledged, what it read was all there.
    #[cold]
    pub fn completed(
        &mut self,
        layout: &Layout,
        id: RequestId,
        command: Command,
        ticket: AuditTicket,
        now: Instant,
    ) {
        self.integrate(now);
        let number = self.under_way.remove(&id);
        assert!(
            number.is_some() && ticket.command == number.map(|number| (command, number)),
            "audit: {id:?} completes as {command:?}, under way is {number:?}, noted {:?}",
            ticket.command
        );
        assert!(ticket.at <= now, "audit: {command:?} completes before it was submitted");
        let taken_in = ticket.tokens.iter().map(|(lpn, _)| lpn.0);
        assert!(
            taken_in.eq(to_take_in(layout, command)),
            "audit: {command:?} completes with {:?} taken in",
            ticket.tokens
        );
        if let Some(durable) = &mut self.durable {
            let is_trim = command.kind == Kind::Trim;
            durable.completed(id, &ticket.tokens, is_trim, |lpn| self.acknowledged[lpn]);
        }
        for (lpn, token) in ticket.tokens {
            self.acknowledged[lpn] = self.acknowledged[lpn].max(token);
        }
        if let Some(missing) = ticket.seen.iter().position(|seen| !seen) {
            let first = units(layout, command).start;
            panic!(
                "audit: a read of {command:?} completed without unit {}",
                first + missing as u32
            );
        }
    }

    fn integrate(&mut self, now: Instant) {
        self.area_ns += self.under_way.len() as u128 * u128::from((now - self.since).as_ns());
        self.since = now;
    }
    /// Number of commands in the drive, integrated over time, and what commands
    /// waited for before they came in, both in nanoseconds: together what their
    /// latencies must sum to once all have completed (Little's law).
    pub fn outstanding_ns(&self) -> (u128, u128) {
        (self.area_ns, u128::from(self.queued.as_ns()))
    }

    // ---- reads ----------------------------------------------------------------

    /// A read finds `lpn` at `ppn`.
    #[cold]
    pub fn read_flash(
        &self,
        layout: &Layout,
        command: Command,
        ticket: &mut AuditTicket,
        lpn: Lpn,
        ppn: Ppn,
        holds: Lpn,
    ) {
        assert_eq!(holds, lpn, "audit: {ppn:?} is read as another unit than it was written as");
        self.read_token(layout, command, ticket, lpn, self.on_flash[ppn], "flash");
    }
    /// A read finds `lpn` in the buffer.
    #[cold]
    pub fn read_buffer(
        &self,
        layout: &Layout,
        command: Command,
        ticket: &mut AuditTicket,
        lpn: Lpn,
        token: u64,
    ) {
        self.read_token(layout, command, ticket, lpn, token, "the buffer");
    }
    /// A read finds `lpn` without data.
    #[cold]
    pub fn read_unmapped(
        &self,
        layout: &Layout,
        command: Command,
        ticket: &mut AuditTicket,
        lpn: Lpn,
    ) {
        let newest = self.newest[lpn];
        assert!(!has_data(newest), "audit: a read of {lpn:?} finds nothing, but it was written");
        self.read_token(layout, command, ticket, lpn, newest, "nothing");
    }
    /// A read finds `lpn` in the buffer and waits until it is on flash: what it
    /// then reads there is no older.
    #[cold]
    pub fn read_deferred(
        &self,
        layout: &Layout,
        command: Command,
        ticket: &mut AuditTicket,
        lpn: Lpn,
    ) {
        let index = (lpn.0 - units(layout, command).start) as usize;
        ticket.expected[index] = self.newest[lpn];
    }

    fn read_token(
        &self,
        layout: &Layout,
        command: Command,
        ticket: &mut AuditTicket,
        lpn: Lpn,
        token: u64,
        from: &str,
    ) {
        let index = (lpn.0 - units(layout, command).start) as usize;
        let expected = ticket.expected[index];
        assert!(
            order(token) >= order(expected),
            "audit: a read of {lpn:?} from {from} returns token {token:x}, but {expected:x} was acknowledged before",
        );
        self.check_content(lpn, token, from);
        ticket.seen[index] = true;
    }

    /// Data is what was written, as far as the account still knows that.
    fn check_content(&self, lpn: Lpn, token: u64, from: &str) {
        for known in [self.newest[lpn], self.acknowledged[lpn]] {
            assert!(
                order(token) != order(known) || token == known,
                "audit: {lpn:?} from {from} is {token:x}, but {known:x} was written: it is a part that was merged with the wrong rest",
            );
        }
    }

    // ---- flash ----------------------------------------------------------------

    /// A host's data is on flash.
    #[cold]
    pub fn programmed(&mut self, layout: &Layout, lpn: Lpn, ppn: Ppn, token: u64) {
        self.check_content(lpn, token, "a program");
        self.place(layout, ppn);
        self.on_flash[ppn] = token;
        if let Some(durable) = &mut self.durable {
            durable.ended(lpn, token, self.acknowledged[lpn]);
        }
    }
    /// A copy is on flash.
    #[cold]
    pub fn copied(&mut self, layout: &Layout, from: Ppn, to: Ppn) {
        let token = self.on_flash[from];
        assert!(has_data(token), "audit: {to:?} is a copy of {from:?}, which holds nothing");
        self.place(layout, to);
        self.on_flash[to] = token;
    }
    /// Pages are programmed in order and without gaps, once between erases. All
    /// programs of a block need the same cells, so one begins (and takes its place)
    /// when the last one has ended: they end in the order of their places, and
    /// nothing but what pads a batch is ever left out.
    fn place(&mut self, layout: &Layout, ppn: Ppn) {
        let (block, place) = layout.block_and_place(ppn);
        let programmed = self.programmed[block];
        let padded = programmed.next_multiple_of(layout.units_per_batch);
        assert!(
            place == programmed || place == padded,
            "audit: place {place} of {block:?} is programmed after {programmed} places were",
        );
        self.programmed[block] = place + 1;
    }
    /// A block is erased.
    #[cold]
    pub fn erased(&mut self, layout: &Layout, block: BlockId) {
        self.programmed[block] = 0;
        let first = layout.first_unit(block, 0);
        let run = first.0 as usize..(first.0 + layout.units_per_block()) as usize;
        self.on_flash.as_mut_slice()[run].fill(0);
    }

    // ---- the end ----------------------------------------------------------------

    /// Every command completed exactly once, but those that are outstanding; and
    /// the drive holds what hosts wrote last, all of it and nothing else.
    /// `buffered` gives what the buffer holds of a unit.
    ///
    /// # Errors
    /// The first disagreement.
    pub fn finish(
        &self,
        ftl: &Ftl,
        outstanding: u32,
        buffered: impl Fn(Lpn) -> Option<u64>,
    ) -> Result<(), String> {
        if self.under_way.len() != outstanding as usize {
            return Err(format!(
                "{outstanding} commands are outstanding, under way are {:?}",
                self.under_way
            ));
        }
        let on_flash = (0..ftl.layout.physical_units())
            .map(Ppn)
            .filter(|ppn| ftl.is_valid(*ppn) && buffered(ftl.holds(*ppn)).is_none())
            .map(|ppn| self.on_flash[ppn]);
        let in_buffer = (0..ftl.layout.map_units).filter_map(|lpn| buffered(Lpn(lpn)));
        check_stripe(on_flash.chain(in_buffer), self.stored)
            .map_err(|off| self.describe_loss(ftl, off, buffered))
    }

    /// Which unit is not what it should be, where the map leads to one.
    fn describe_loss(&self, ftl: &Ftl, off: u64, buffered: impl Fn(Lpn) -> Option<u64>) -> String {
        let stored = |lpn| {
            buffered(lpn).or_else(|| ftl.lookup(lpn).map(|ppn| self.on_flash[ppn])).unwrap_or(0)
        };
        let wanted = |lpn: Lpn| if has_data(self.newest[lpn]) { self.newest[lpn] } else { 0 };
        let mut lpns = (0..ftl.layout.map_units).map(Lpn);
        match lpns.find(|lpn| stored(*lpn) != wanted(*lpn)) {
            Some(lpn) => {
                format!(
                    "the drive holds {:x} as {lpn:?}, hosts wrote {:x}",
                    stored(lpn),
                    wanted(lpn)
                )
            }
            None => {
                format!("the XOR of all units is off by {off:x}: some valid unit is not mapped")
            }
        }
    }
}

/// The mapping units that a command touches.
fn units(layout: &Layout, command: Command) -> Range<u32> {
    let first = command.offset / layout.unit_bytes;
    let behind = command.end().div_ceil(layout.unit_bytes);
    first as u32..behind as u32
}

/// The mapping units that a command must change: all that it touches, or of trims
/// those that it covers.
fn to_take_in(layout: &Layout, command: Command) -> Range<u32> {
    match command.kind {
        Kind::Write | Kind::WriteZeroes => units(layout, command),
        Kind::Trim => {
            let first = command.offset.div_ceil(layout.unit_bytes);
            first as u32..(command.end() / layout.unit_bytes) as u32
        }
        Kind::Read | Kind::Flush => 0..0,
    }
}
