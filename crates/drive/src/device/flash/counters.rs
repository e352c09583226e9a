//! Counts of flash operations.

use engine::Span;
use metrics::{HOLDERS, Holder};
use nand::Strain;

/// Kind of a flash operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpKind {
    /// Senses a row and transfers it out.
    Read = 0,
    /// Transfers a row in and programs it.
    Program = 1,
    /// Senses a row and programs it elsewhere in its planes, off the channel.
    CopyBack = 2,
    /// Reads a row, merges data from the channel into it and programs both elsewhere in its planes
    /// (an in-plane read-modify-write).
    Modify = 3,
    /// Erases a block.
    Erase = 4,
}

/// Number of kinds.
pub const KINDS: usize = 5;

impl OpKind {
    /// Every kind, in the order of its number.
    pub const ALL: [Self; KINDS] =
        [Self::Read, Self::Program, Self::CopyBack, Self::Modify, Self::Erase];
    /// The name used in results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Read => "reads",
            Self::Program => "programs",
            Self::CopyBack => "copy_backs",
            Self::Modify => "modifies",
            Self::Erase => "erases",
        }
    }
}

/// Flash operations by kind and source. A multi-plane command counts once, and its planes are
/// counted separately.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    commands: [[u64; HOLDERS]; KINDS],
    planes: [[u64; HOLDERS]; KINDS],
    /// Blocks collected.
    pub collections: u64,
    /// Total time of these collections, from the choice of the block to the end of its erase.
    pub collecting: Span,
    /// Time of the longest of these collections.
    pub longest_collection: Span,
    /// Pages that streamed from package to package while their block was collected.
    pub streamed: u64,
    /// Mapping units that were computed from the rest of their stripes.
    pub rebuilt: u64,
    /// Mapping units that were read in addition for these computations.
    pub read_beside: u64,
    /// Mapping units of data that counted as placed while collection held their flash.
    pub held_data: u64,
    /// Mapping units of parity that counted as placed while collection held their flash.
    pub held_parity: u64,
    /// Mapping units that were programmed again because their flash had failed.
    pub retried: u64,
    /// Mapping units that were not programmed because their flash had failed and no other had room.
    pub degraded: u64,
    /// Mapping units on failed flash that reads computed from the rest of their stripes.
    pub computed_lost: u64,
    /// Victims that were chosen out of turn, because programs of hosts waited for space.
    pub out_of_turn: u64,
    /// Number of suspensions of erases.
    pub suspensions: u64,
    /// Number of suspensions of programs.
    pub program_suspensions: u64,
    /// Erases for the end of whose step a read had to wait.
    pub deferrals: u64,
    /// Programs for the end of whose step a read had to wait.
    pub program_deferrals: u64,
    /// Number of times that an erase let reads go first that would have interrupted it at the
    /// moment at which it began or resumed.
    pub put_offs: u64,
    /// Number of times that a program let reads go first that would have interrupted it at the
    /// moment at which it began or resumed.
    pub program_put_offs: u64,
    /// Pairs of ramp and recovery that interruptions added.
    pub extra_ramps: u64,
    /// Pulses that were given up and are repeated as a whole.
    pub extra_pulses: u64,
}

impl Counters {
    /// Counts one command on `planes` planes.
    #[inline]
    pub fn count(&mut self, kind: OpKind, holder: Holder, planes: u8) {
        self.commands[kind as usize][holder as usize] += 1;
        self.planes[kind as usize][holder as usize] += u64::from(planes);
    }
    /// Counts a block that was collected.
    pub fn collected(&mut self, took: Span) {
        self.collections += 1;
        self.collecting += took;
        self.longest_collection = self.longest_collection.max(took);
    }
    /// Counts a unit that is computed from the rest of its stripe, and the units that are read besides.
    pub fn rebuilt(&mut self, beside: u32) {
        self.rebuilt += 1;
        self.read_beside += u64::from(beside);
    }
    /// Counts a unit that counts as placed while collection holds its flash: parity, or data.
    pub fn held(&mut self, is_parity: bool) {
        match is_parity {
            true => self.held_parity += 1,
            false => self.held_data += 1,
        }
    }
    /// Counts an erase, or a program, for the end of whose step a read waits for the first time.
    pub fn deferred(&mut self, is_program: bool) {
        match is_program {
            true => self.program_deferrals += 1,
            false => self.deferrals += 1,
        }
    }
    /// Counts an erase, or a program, that lets reads go first before it begins or resumes.
    pub fn put_off(&mut self, is_program: bool) {
        match is_program {
            true => self.program_put_offs += 1,
            false => self.put_offs += 1,
        }
    }
    /// Counts a suspension of an erase, or of a program.
    pub fn suspended(&mut self, is_program: bool) {
        match is_program {
            true => self.program_suspensions += 1,
            false => self.suspensions += 1,
        }
    }
    /// Counts an interruption that has worn a block.
    pub fn strain(&mut self, strain: Strain) {
        self.extra_ramps += u64::from(strain.ramps);
        self.extra_pulses += u64::from(strain.pulses);
    }
    /// Commands of a kind by a source.
    pub fn commands(&self, kind: OpKind, holder: Holder) -> u64 {
        self.commands[kind as usize][holder as usize]
    }
    /// Pages (or erase blocks) of a kind by a source: each plane counts.
    pub fn planes(&self, kind: OpKind, holder: Holder) -> u64 {
        self.planes[kind as usize][holder as usize]
    }
    /// All commands.
    pub fn total(&self) -> u64 {
        self.commands.iter().flatten().sum()
    }
    /// All commands except erases, those of scrubbing, and those that may follow from scrubbing alone:
    /// re-reads and parity.
    pub fn but_for_scrubbing(&self) -> u64 {
        let but_erases = &self.commands[..OpKind::Erase as usize];
        let follow = [Holder::Scrub, Holder::ReRead, Holder::Parity];
        let others = |of: &[u64; HOLDERS]| {
            of.iter().sum::<u64>() - follow.map(|holder| of[holder as usize]).iter().sum::<u64>()
        };
        but_erases.iter().map(others).sum()
    }
    /// Counts since `earlier`; the longest collection is the longest since
    /// [`super::Device::begin_counting`].
    pub fn since(&self, earlier: &Self) -> Self {
        let minus = |a: &[[u64; HOLDERS]; KINDS], b: &[[u64; HOLDERS]; KINDS]| {
            std::array::from_fn(|kind| {
                std::array::from_fn(|holder| a[kind][holder] - b[kind][holder])
            })
        };
        Self {
            commands: minus(&self.commands, &earlier.commands),
            planes: minus(&self.planes, &earlier.planes),
            collections: self.collections - earlier.collections,
            collecting: self.collecting - earlier.collecting,
            longest_collection: self.longest_collection,
            streamed: self.streamed - earlier.streamed,
            out_of_turn: self.out_of_turn - earlier.out_of_turn,
            retried: self.retried - earlier.retried,
            degraded: self.degraded - earlier.degraded,
            computed_lost: self.computed_lost - earlier.computed_lost,
            held_data: self.held_data - earlier.held_data,
            held_parity: self.held_parity - earlier.held_parity,
            rebuilt: self.rebuilt - earlier.rebuilt,
            read_beside: self.read_beside - earlier.read_beside,
            put_offs: self.put_offs - earlier.put_offs,
            program_put_offs: self.program_put_offs - earlier.program_put_offs,
            deferrals: self.deferrals - earlier.deferrals,
            program_deferrals: self.program_deferrals - earlier.program_deferrals,
            suspensions: self.suspensions - earlier.suspensions,
            program_suspensions: self.program_suspensions - earlier.program_suspensions,
            extra_ramps: self.extra_ramps - earlier.extra_ramps,
            extra_pulses: self.extra_pulses - earlier.extra_pulses,
        }
    }
    /// The counts of two drives together.
    pub fn plus(&self, other: &Self) -> Self {
        let plus = |a: &[[u64; HOLDERS]; KINDS], b: &[[u64; HOLDERS]; KINDS]| {
            std::array::from_fn(|kind| {
                std::array::from_fn(|holder| a[kind][holder] + b[kind][holder])
            })
        };
        Self {
            commands: plus(&self.commands, &other.commands),
            planes: plus(&self.planes, &other.planes),
            collections: self.collections + other.collections,
            collecting: self.collecting + other.collecting,
            longest_collection: self.longest_collection.max(other.longest_collection),
            streamed: self.streamed + other.streamed,
            out_of_turn: self.out_of_turn + other.out_of_turn,
            retried: self.retried + other.retried,
            degraded: self.degraded + other.degraded,
            computed_lost: self.computed_lost + other.computed_lost,
            held_data: self.held_data + other.held_data,
            held_parity: self.held_parity + other.held_parity,
            rebuilt: self.rebuilt + other.rebuilt,
            read_beside: self.read_beside + other.read_beside,
            put_offs: self.put_offs + other.put_offs,
            program_put_offs: self.program_put_offs + other.program_put_offs,
            deferrals: self.deferrals + other.deferrals,
            program_deferrals: self.program_deferrals + other.program_deferrals,
            suspensions: self.suspensions + other.suspensions,
            program_suspensions: self.program_suspensions + other.program_suspensions,
            extra_ramps: self.extra_ramps + other.extra_ramps,
            extra_pulses: self.extra_pulses + other.extra_pulses,
        }
    }
}
