//! The auditor: a second, simple account of the writes. Everything that the drive returns is
//! checked against it.
//!
//! Every unit that a host writes (or trims) gets a token: a number that rises with the order in
//! which the drive takes writes in, and below it a check number for the content. Tokens travel with
//! the data: from the buffer to flash, from page to page. The token of a partial write is chained
//! from that of the unit that it was merged with, so that a merge with the wrong rest is detected.
//!
//! A read must return, for each unit, the data that was written last. Programs must be in order
//! within a block, without gaps, and each page must have been erased before it is programmed again.
//! Tokens are combined by XOR as data is for parity: over all units that the drive holds they must
//! equal the XOR of the hosts' writes.
//!
//! It costs 8 bytes for each physical unit and 16 for each logical one; with subunits 8 more for each
//! logical one.

mod durable;
mod power;
mod rows;
mod subunits;
mod ticket;
mod tokens;

pub use durable::{Saved, Survives};
pub use ticket::AuditTicket;

use crate::device::RequestId;
use durable::Durable;
use engine::{BigColumn, Instant, Span};
use ftl::{Batch, BlockId, Ftl, Layout, Lpn, Ppn, StripeId};
use host::{Command, Kind};
use std::collections::BTreeMap;
use std::ops::Range;
use subunits::Subunits;
use tokens::{BEFORE, InRam, check_stripe, has_data, merged, order, trimmed, written, xor};

// ---- the account --------------------------------------------------------------

/// The auditor's account.
#[derive(Clone)]
pub struct Audit {
    next_order: u64,
    /// The token of each physical unit.
    on_flash: BigColumn<Ppn, u64>,
    /// The newest token acknowledged for each logical unit.
    acknowledged: BigColumn<Lpn, u64>,
    /// The newest token taken in for each logical unit, or of its trim.
    newest: BigColumn<Lpn, u64>,
    /// The XOR of all `newest` that are data: the expected content of the drive.
    stored: u64,
    /// Places programmed in each lane of each block since its erase.
    programmed: Vec<u32>,
    /// Parity of stripes of superblocks that is not on flash.
    in_ram: InRam,
    /// Commands in the drive: the number of each, by its slot.
    under_way: BTreeMap<RequestId, u64>,
    commands: u64,
    /// Number of commands in the drive, integrated over time up to `since`.
    area_ns: u128,
    since: Instant,
    /// Time from arrivals at the host to submissions.
    queued: Span,
    /// Data that must survive a power cut, if there may be one.
    durable: Option<Box<Durable>>,
    /// Subunits that hold data, if the drive knows of them.
    subunits: Option<Box<Subunits>>,
}

impl Audit {
    /// An account of a drive in its present state: the data that is on flash now is taken as
    /// written and acknowledged before the beginning.
    pub fn new(ftl: &Ftl) -> Self {
        let layout = &ftl.layout;
        let blocks = (0..layout.blocks()).map(BlockId);
        let programmed = blocks.flat_map(|block| programmed_in(ftl, block)).collect();
        let logical = layout.map_units as usize;
        let mut audit = Self {
            next_order: BEFORE + 1,
            on_flash: BigColumn::zeroed(layout.physical_units() as usize),
            acknowledged: BigColumn::zeroed(logical),
            newest: BigColumn::zeroed(logical),
            stored: 0,
            programmed,
            in_ram: InRam::new(),
            under_way: BTreeMap::new(),
            commands: 0,
            area_ns: 0,
            since: Instant::START,
            queued: Span::ZERO,
            durable: None,
            subunits: Subunits::new(ftl).map(Box::new),
        };
        for lpn in (0..layout.host_units).map(Lpn) {
            if let Some(ppn) = ftl.lookup(lpn) {
                let token = written(BEFORE, lpn);
                audit.on_flash[ppn] = token;
                audit.acknowledged[lpn] = token;
                audit.replace(lpn, token);
            }
        }
        audit.note_parity(ftl);
        audit.note_rows(ftl);
        audit
    }

    /// Takes the parity that is on flash for that of the data.
    fn note_parity(&mut self, ftl: &Ftl) {
        let Some(stripes) = ftl.layout.stripes else { return };
        for stripe in (0..stripes.count()).map(StripeId) {
            if let Some(ppn) = ftl.lookup(stripes.parity(stripe)) {
                let data = stripes.data(stripe).filter_map(|lpn| ftl.lookup(lpn));
                self.on_flash[ppn] = xor(data.map(|ppn| self.on_flash[ppn]));
            }
        }
    }

    /// Checks that each stripe with data has the parity of its members, and no other has parity.
    ///
    /// # Errors
    /// The first stripe that is wrong.
    fn check_parity(
        &self,
        ftl: &Ftl,
        apart: impl Fn(Lpn) -> Option<(u64, bool)>,
    ) -> Result<(), String> {
        let Some(stripes) = ftl.layout.stripes else { return Ok(()) };
        for stripe in (0..stripes.count()).map(StripeId) {
            let stored = |lpn| match apart(lpn) {
                Some((token, _)) => Some(token),
                None => ftl.member(lpn).map(|ppn| self.on_flash[ppn]),
            };
            let members: Vec<u64> = stripes.data(stripe).filter_map(stored).collect();
            let parity = stored(stripes.parity(stripe));
            if parity.is_some() == members.is_empty() {
                let has = if parity.is_some() { "parity" } else { "no parity" };
                return Err(format!("{stripe:?} has {} units and {has}", members.len()));
            }
            let stored = parity.unwrap_or(0);
            check_stripe(members, stored)
                .map_err(|off| format!("the parity {stored:x} of {stripe:?} is off by {off:x}"))?;
        }
        Ok(())
    }

    // ---- commands -------------------------------------------------------------

    /// Notes a command that enters the drive at `at` and has waited for that since `arrived`.
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

    /// Notes that a unit of a write is taken in; returns the token of the part (or all) of it that
    /// the host wrote. See [`Audit::merge`] for the rest.
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
        let before = self.newest[lpn];
        let with = |is_complete| match is_complete || !has_data(before) {
            true => token,
            false => merged(token, before),
        };
        let complete = match &mut self.subunits {
            None => with(layout.is_whole(lpn, command.offset, command.end())),
            Some(subunits) => {
                let part = layout.in_unit(lpn, command.offset, command.end());
                let complete = with(subunits.is_complete(lpn, part));
                subunits.take_in(lpn, part, complete);
                complete
            }
        };
        self.take_in(ticket, lpn, complete, false);
        token
    }
    /// Merges a partial write with the rest of its unit, from the buffer or from flash; returns the
    /// token of the whole.
    #[cold]
    pub fn merge(&self, lpn: Lpn, token: u64, rest: u64) -> u64 {
        let whole = merged(token, rest);
        self.check_content(lpn, whole, "a merge");
        whole
    }
    /// As [`Audit::merge`], with the data on flash at `ppn`.
    #[cold]
    pub fn merge_flash(&self, lpn: Lpn, token: u64, ppn: Ppn, holds: Lpn) -> u64 {
        assert_eq!(holds, lpn, "audit: {ppn:?} is merged as another unit than it was written as");
        self.merge(lpn, token, self.on_flash[ppn])
    }
    /// Notes that a unit is trimmed, or that zeroes are written to it.
    #[cold]
    pub fn trimmed(&mut self, kind: Kind, ticket: &mut AuditTicket, lpn: Lpn) {
        let token = trimmed(self.next_order);
        self.next_order += 1;
        if let Some(subunits) = &mut self.subunits {
            subunits.trim(lpn);
        }
        self.take_in(ticket, lpn, token, kind == Kind::Trim);
    }
    /// Notes that a part of a unit is trimmed. If nothing is left of it, the unit must be trimmed.
    #[cold]
    pub fn trimmed_part(
        &mut self,
        ftl: &Ftl,
        command: Command,
        ticket: &mut AuditTicket,
        lpn: Lpn,
    ) {
        let part = ftl.layout.in_unit(lpn, command.offset, command.end());
        let subunits = self.subunits.as_mut().expect("the drive knows of subunits");
        if subunits.trim_part(ftl, lpn, part) && has_data(self.newest[lpn]) {
            let [first, second] = &mut ticket.emptied;
            *(if first.is_none() { first } else { second }) = Some(lpn);
        }
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

    /// Notes that a command completes: its writes are acknowledged, and its reads were all checked.
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
        // Units of which nothing is left lie at the edges of a trim.
        let whole = to_take_in(layout, command);
        let edge = |is_first| {
            let emptied = ticket.emptied.iter().flatten().map(|lpn| lpn.0);
            emptied.filter(move |lpn| (*lpn < whole.start) == is_first)
        };
        assert!(
            taken_in.eq(edge(true).chain(whole.clone()).chain(edge(false))),
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
    /// Number of commands in the drive, integrated over time, and the total time from arrival to
    /// submission, both in nanoseconds. Once all commands have completed, their latencies must sum
    /// to the total of both (Little's law).
    pub fn outstanding_ns(&self) -> (u128, u128) {
        (self.area_ns, u128::from(self.queued.as_ns()))
    }

    // ---- reads ----------------------------------------------------------------

    /// Checks a read that finds `lpn` at `ppn`.
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
    /// Checks a read of a unit that is computed from these pages of its stripe, and from members in
    /// memory whose tokens give `in_ram`.
    #[cold]
    pub fn read_rebuilt(
        &self,
        layout: &Layout,
        command: Command,
        ticket: &mut AuditTicket,
        (lpn, stored, stripe): (Lpn, u64, StripeId),
        (pages, in_ram): (impl Iterator<Item = (Ppn, Lpn)>, u64),
    ) {
        let stripes = layout.stripes.expect("data has parity");
        let on_flash = pages.map(|(ppn, holds)| {
            assert_eq!(stripes.of(holds), stripe, "audit: {lpn:?} is computed from {holds:?}");
            self.on_flash[ppn]
        });
        let token = xor(on_flash.chain([in_ram]));
        assert_eq!(token, stored, "audit: {lpn:?} of {stripe:?} is computed wrongly");
        self.read_token(layout, command, ticket, lpn, token, "its stripe");
    }
    /// Checks a read that finds `lpn` in the buffer.
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
    /// Checks a read that finds `lpn` without data.
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
    /// Notes a read that finds `lpn` in the buffer and waits until it is on flash: the data that it
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

    /// Checks that data is what was written, as far as the account still knows that.
    fn check_content(&self, lpn: Lpn, token: u64, from: &str) {
        for known in [self.newest[lpn], self.acknowledged[lpn]] {
            assert!(
                order(token) != order(known) || token == known,
                "audit: {lpn:?} from {from} is {token:x}, but {known:x} was written: it is a part that was merged with the wrong rest",
            );
        }
    }

    // ---- flash ----------------------------------------------------------------

    /// Notes that a host's data is on flash.
    #[cold]
    pub fn programmed(&mut self, layout: &Layout, lpn: Lpn, ppn: Ppn, token: u64) {
        self.check_content(lpn, token, "a program");
        self.place(layout, ppn);
        self.on_flash[ppn] = token;
        if let Some(subunits) = &mut self.subunits {
            subunits.program(lpn, ppn, token);
        }
        if let Some(durable) = &mut self.durable {
            durable.ended(lpn, token, self.acknowledged[lpn]);
        }
    }
    /// Notes that parity is on flash.
    #[cold]
    pub fn parity_programmed(&mut self, layout: &Layout, ppn: Ppn, token: u64) {
        self.place(layout, ppn);
        self.on_flash[ppn] = token;
    }
    /// Changes a bit of the token of a place on flash.
    #[cfg(test)]
    pub fn corrupt(&mut self, ppn: Ppn) {
        self.on_flash[ppn] ^= 1;
    }
    /// The token of a place on flash.
    #[cold]
    pub fn stored_at(&self, ppn: Ppn) -> u64 {
        self.on_flash[ppn]
    }
    /// Notes that a copy is on flash.
    #[cold]
    pub fn copied(&mut self, ftl: &Ftl, from: Ppn, to: Ppn) {
        let (token, layout) = (self.on_flash[from], &ftl.layout);
        // Parity, the XOR of tokens, may be any number.
        let is_parity = || layout.stripes.is_some_and(|of| of.is_parity(ftl.holds(from)));
        assert!(
            has_data(token) || is_parity(),
            "audit: {to:?} is a copy of {from:?}, which holds nothing"
        );
        self.place(layout, to);
        self.on_flash[to] = token;
        if let Some(subunits) = &mut self.subunits {
            subunits.copy(from, to);
        }
    }
    /// Checks that a copy-back moves an odd page to an odd one or an even page to an even one, and
    /// passes over one page at most.
    #[cold]
    pub fn fits(&mut self, layout: &Layout, from: Batch, to: Batch) {
        assert!(from.batch % 2 == to.batch % 2, "audit: {from:?} is copied back to {to:?}");
        let before = to.batch.saturating_sub(1) * layout.units_per_batch;
        let programmed = &mut self.programmed[lane_of(layout, to)];
        if programmed.next_multiple_of(layout.units_per_batch) == before {
            *programmed = to.batch * layout.units_per_batch;
        }
    }
    /// Checks that pages are programmed in order and without gaps, once between erases. All
    /// programs of a lane need the same flash units, so one begins (and is given its page) when
    /// the last one has ended. So they end in the order of their pages, and only padding is ever
    /// left out.
    fn place(&mut self, layout: &Layout, ppn: Ppn) {
        let (block, place) = layout.block_and_place(ppn);
        let (lane, place) = match layout.superblocks.is_some() {
            true => place_in_lane(layout, block, place),
            false => (block.0 as usize, place),
        };
        let programmed = self.programmed[lane];
        let padded = programmed.next_multiple_of(layout.units_per_batch);
        assert!(
            place == programmed || place == padded,
            "audit: place {place} of {block:?} is programmed after {programmed} places were",
        );
        self.programmed[lane] = place + 1;
    }
    /// Notes that a block is erased.
    #[cold]
    pub fn erased(&mut self, ftl: &Ftl, block: BlockId) {
        self.check_rows(ftl, block).unwrap_or_else(|fault| panic!("audit: {fault}"));
        self.in_ram.retain(|(of, _), _| *of != block.0);
        let layout = &ftl.layout;
        let lane = lane_of(layout, Batch { block, batch: 0 });
        self.programmed[lane..lane + layout.lanes() as usize].fill(0);
        let first = layout.first_unit(block, 0);
        let run = first.0 as usize..(first.0 + layout.units_per_block()) as usize;
        self.on_flash.as_mut_slice()[run].fill(0);
    }

    // ---- the end ----------------------------------------------------------------

    /// Checks that every command completed exactly once, except those that are outstanding, and
    /// that the drive holds the hosts' last writes, all of them and nothing else. `buffered` gives
    /// the token that the buffer holds for a unit, `apart` that of a member of a stripe that is not on
    /// flash, and if it is lost.
    ///
    /// # Errors
    /// The first disagreement.
    pub fn finish(
        &self,
        ftl: &Ftl,
        outstanding: u32,
        (buffered, apart): (impl Fn(Lpn) -> Option<u64>, impl Fn(Lpn) -> Option<(u64, bool)>),
    ) -> Result<(), String> {
        if self.under_way.len() != outstanding as usize {
            return Err(format!(
                "{outstanding} commands are outstanding, under way are {:?}",
                self.under_way
            ));
        }
        self.check_parity(ftl, &apart)?;
        self.subunits.as_ref().map_or(Ok(()), |subunits| subunits.finish(ftl))?;
        let mut blocks = (0..ftl.layout.blocks()).map(BlockId);
        blocks.try_for_each(|block| self.check_rows(ftl, block))?;
        let stripes = ftl.layout.stripes;
        let (has_parity, is_parity) =
            (stripes.is_some(), |lpn| stripes.is_some_and(|stripes| stripes.is_parity(lpn)));
        // Of stripes, pages that are not current may be valid, too.
        let is_data = |ppn: &Ppn| {
            let lpn = ftl.holds(*ppn);
            !is_parity(lpn) && ftl.lookup(lpn) == Some(*ppn)
        };
        let on_flash = (0..ftl.layout.physical_units())
            .map(Ppn)
            .filter(|ppn| ftl.is_valid(*ppn) && buffered(ftl.holds(*ppn)).is_none())
            .filter(|ppn| !has_parity || is_data(ppn))
            .map(|ppn| self.on_flash[ppn]);
        let elsewhere = |lpn: Lpn| {
            let lost = || apart(lpn).and_then(|(token, is_lost)| is_lost.then_some(token));
            buffered(lpn).or_else(lost)
        };
        let in_buffer = (0..ftl.layout.host_units).filter_map(|lpn| buffered(Lpn(lpn)));
        let held = xor(on_flash.chain(in_buffer));
        // Only members of stripes can be lost.
        let members = if has_parity { 0..ftl.layout.host_units } else { 0..0 };
        let members = members.map(Lpn).filter(|lpn| buffered(*lpn).is_none());
        check_stripe([held, xor(members.filter_map(&elsewhere))], self.stored)
            .map_err(|off| self.describe_loss(ftl, off, elsewhere))
    }

    /// Names the unit that is wrong, if the map leads to one.
    fn describe_loss(&self, ftl: &Ftl, off: u64, buffered: impl Fn(Lpn) -> Option<u64>) -> String {
        let stored = |lpn| {
            buffered(lpn).or_else(|| ftl.lookup(lpn).map(|ppn| self.on_flash[ppn])).unwrap_or(0)
        };
        let wanted = |lpn: Lpn| if has_data(self.newest[lpn]) { self.newest[lpn] } else { 0 };
        let mut lpns = (0..ftl.layout.host_units).map(Lpn);
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

/// Index of a batch's lane among those of all blocks.
fn lane_of(layout: &Layout, at: Batch) -> usize {
    (at.block.0 * layout.lanes() + layout.lane(at.batch)) as usize
}

/// Index of a unit's lane, and the unit's place in the lane, which is written in its own order.
#[cold]
fn place_in_lane(layout: &Layout, block: BlockId, place: u32) -> (usize, u32) {
    let (batch, slot) = layout.batch_and_slot(place);
    let row = layout.first_row(batch) / layout.rows_per_batch;
    (lane_of(layout, Batch { block, batch }), row * layout.units_per_batch + slot)
}

/// Places programmed in each lane of a block.
fn programmed_in(ftl: &Ftl, block: BlockId) -> Vec<u32> {
    let layout = &ftl.layout;
    if layout.superblocks.is_some() {
        let written = |lane| ftl.written_in(block, lane) * layout.units_per_batch;
        return (0..layout.lanes()).map(written).collect();
    }
    vec![match ftl.block_states()[block.0 as usize] {
        ftl::BlockState::Free | ftl::BlockState::Bad => 0,
        ftl::BlockState::Open => ftl.bound_units(block),
        ftl::BlockState::Closed | ftl::BlockState::Collecting => layout.units_per_block(),
    }]
}

/// The mapping units that a command touches.
fn units(layout: &Layout, command: Command) -> Range<u32> {
    let first = command.offset / layout.unit_bytes;
    let behind = command.end().div_ceil(layout.unit_bytes);
    first as u32..behind as u32
}

/// The mapping units that a command must change: all that it touches, or for a trim those that it
/// covers completely.
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
