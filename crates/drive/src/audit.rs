//! The auditor: a second, simple account of what was written, against which
//! everything that the drive returns is checked.
//!
//! Every unit that a host writes (or trims) gets a token, a number that rises
//! with the order in which the drive takes writes in. Tokens travel with the
//! data: from the buffer to flash, from page to page. A read must return, for
//! each unit, the token acknowledged before the read was submitted, or a newer
//! one. Programs must be in order within a block and never on a page that was
//! not erased since.
//!
//! It costs 8 bytes for each physical unit and 16 for each logical one.

use engine::{BigColumn, Column};
use ftl::{BlockId, Ftl, Layout, Lpn, Pun};
use host::{Command, Kind};

/// What the auditor notes of a command until it completes.
#[derive(Clone, Debug, Default)]
pub struct AuditTicket {
    /// Of reads: for each unit the token that must at least be returned.
    expected: Vec<u64>,
    /// Of reads: for each unit whether it was seen.
    seen: Vec<bool>,
    /// Of writes and trims: what each unit is called, once it is taken in.
    tokens: Vec<(Lpn, u64)>,
}

/// The token of everything that was written before the account began.
const BEFORE: u64 = 1;

/// The auditor's account.
pub struct Audit {
    next_token: u64,
    /// What each physical unit holds.
    on_flash: BigColumn<Pun, u64>,
    /// The newest token acknowledged for each logical unit.
    acknowledged: BigColumn<Lpn, u64>,
    /// The newest trim of each logical unit.
    trimmed: BigColumn<Lpn, u64>,
    /// Places programmed in each block since its erase.
    programmed: Column<BlockId, u32>,
    submitted: u64,
    completed: u64,
    units_per_block: u32,
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
        let mut on_flash: BigColumn<Pun, u64> = BigColumn::zeroed(layout.physical_units() as usize);
        let mut acknowledged: BigColumn<Lpn, u64> =
            BigColumn::zeroed(layout.logical_units as usize);
        for lpn in (0..layout.logical_units).map(Lpn) {
            if let Some(pun) = ftl.lookup(lpn) {
                on_flash[pun] = BEFORE;
                acknowledged[lpn] = BEFORE;
            }
        }
        Self {
            next_token: BEFORE + 1,
            on_flash,
            acknowledged,
            trimmed: BigColumn::zeroed(layout.logical_units as usize),
            programmed,
            submitted: 0,
            completed: 0,
            units_per_block: layout.units_per_block(),
        }
    }

    /// A command enters the drive.
    pub fn submitted(&mut self, layout: &Layout, command: Command) -> AuditTicket {
        self.submitted += 1;
        let mut ticket = AuditTicket::default();
        if command.kind == Kind::Read {
            let (first, behind) = units(layout, command);
            ticket.expected = (first..behind).map(|lpn| self.acknowledged[Lpn(lpn)]).collect();
            ticket.seen = vec![false; ticket.expected.len()];
        }
        ticket
    }

    /// A unit of a write or trim is taken in; returns its token.
    pub fn taken_in(&mut self, ticket: &mut AuditTicket, lpn: Lpn) -> u64 {
        let token = self.next_token;
        self.next_token += 1;
        ticket.tokens.push((lpn, token));
        token
    }
    /// A unit is trimmed.
    pub fn trimmed(&mut self, ticket: &mut AuditTicket, lpn: Lpn) {
        let token = self.taken_in(ticket, lpn);
        self.trimmed[lpn] = token;
    }

    /// A command completes: what it wrote is acknowledged, what it read was all there.
    pub fn completed(&mut self, layout: &Layout, command: Command, ticket: AuditTicket) {
        self.completed += 1;
        for (lpn, token) in ticket.tokens {
            self.acknowledged[lpn] = self.acknowledged[lpn].max(token);
        }
        if let Some(missing) = ticket.seen.iter().position(|seen| !seen) {
            let (first, _) = units(layout, command);
            panic!(
                "audit: a read of {command:?} completed without unit {}",
                first + missing as u32
            );
        }
    }

    /// A read finds `lpn` at `pun`.
    pub fn read_flash(
        &self,
        layout: &Layout,
        command: Command,
        ticket: &mut AuditTicket,
        lpn: Lpn,
        pun: Pun,
        holds: Lpn,
    ) {
        assert_eq!(holds, lpn, "audit: {pun:?} is read as another unit than it was written as");
        self.read_token(layout, command, ticket, lpn, self.on_flash[pun], "flash");
    }
    /// A read finds `lpn` in the buffer.
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
    pub fn read_unmapped(
        &self,
        layout: &Layout,
        command: Command,
        ticket: &mut AuditTicket,
        lpn: Lpn,
    ) {
        self.read_token(layout, command, ticket, lpn, self.trimmed[lpn], "nothing");
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
        let (first, _) = units(layout, command);
        let index = (lpn.0 - first) as usize;
        let expected = ticket.expected[index];
        assert!(
            token >= expected,
            "audit: a read of {lpn:?} from {from} returns token {token}, but {expected} was acknowledged before",
        );
        ticket.seen[index] = true;
    }

    /// A host's data is on flash.
    pub fn programmed(&mut self, layout: &Layout, pun: Pun, token: u64) {
        self.place(layout, pun);
        self.on_flash[pun] = token;
    }
    /// A copy is on flash.
    pub fn copied(&mut self, layout: &Layout, from: Pun, to: Pun) {
        self.place(layout, to);
        self.on_flash[to] = self.on_flash[from];
    }
    /// Pages are programmed in order, once between erases. Batches of a block may
    /// end out of order on different planes, never by more than what is padded.
    fn place(&mut self, layout: &Layout, pun: Pun) {
        let (block, place) = layout.block_and_place(pun);
        let programmed = self.programmed[block];
        assert!(
            place >= programmed && place < self.units_per_block,
            "audit: place {place} of {block:?} is programmed after {programmed} places were",
        );
        self.programmed[block] = place + 1;
    }
    /// A block is erased.
    pub fn erased(&mut self, layout: &Layout, block: BlockId) {
        self.programmed[block] = 0;
        let first = layout.first_unit(block, 0);
        let run = first.0 as usize..(first.0 + self.units_per_block) as usize;
        self.on_flash.as_mut_slice()[run].fill(0);
    }

    /// Every command completed exactly once, but those that are outstanding.
    pub fn finish(&self, outstanding: u32) -> Result<(), String> {
        if self.submitted == self.completed + u64::from(outstanding) {
            return Ok(());
        }
        Err(format!(
            "{} commands were submitted, {} completed, {outstanding} are outstanding",
            self.submitted, self.completed
        ))
    }
}

fn units(layout: &Layout, command: Command) -> (u32, u32) {
    let first = command.offset / layout.unit_bytes;
    let behind = command.end().div_ceil(layout.unit_bytes);
    (first as u32, behind as u32)
}
