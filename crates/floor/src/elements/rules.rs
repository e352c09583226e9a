//! Rules of a drive, requests to it, and results.

use std::error::Error;
use std::fmt;

/// Dimensions and behaviour of a drive.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rules {
    /// Elements of the drive. Consecutive pages lie on consecutive elements.
    pub elements: u32,
    /// Planes of an element.
    pub planes: u32,
    /// Blocks of a plane.
    pub blocks_per_plane: u32,
    /// Pages of a block. The last is its summary and holds no data.
    pub pages_per_block: u32,
    /// Share of the blocks of each plane that is not exported, in percent, rounded
    /// down to whole blocks.
    pub reserve_percent: u32,
    /// Share of free blocks at or below which cleaning begins, in percent, rounded down to whole
    /// blocks: of a plane with copy-back, of the element without.
    pub min_free_percent: u32,
    /// True if each plane writes to a block of its own and cleaning moves pages inside the plane.
    /// Otherwise the element writes to one block at a time.
    pub copy_back: bool,
    /// Groups of neighbouring planes that work at the same time. Only with
    /// copy-back; one group otherwise.
    pub parallel_units: u32,
    /// Planes to which a page may be written. Only with copy-back.
    pub pool: Pool,
    /// Distribution of block numbers over planes.
    pub mapping: Mapping,
    /// True if an element also cleans while it has no requests.
    pub background_cleaning: bool,
    /// Time from the cells into the register, in nanoseconds.
    pub read_ns: u64,
    /// Time from the register into the cells, in nanoseconds.
    pub program_ns: u64,
    /// Time to erase a block, in nanoseconds.
    pub erase_ns: u64,
    /// Time to transfer a page over the pins of the element, in nanoseconds.
    pub transfer_ns: u64,
    /// Time to transfer a summary over the pins of the element, in nanoseconds.
    pub summary_transfer_ns: u64,
    /// Time to transfer a page over the bus to the host, in nanoseconds; 0 takes no time.
    pub link_ns: u64,
    /// Most requests in progress; later ones wait at the host.
    pub outstanding: u32,
}

/// Planes to which a page may be written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pool {
    /// All planes of the page's element; the plane with the most free pages is taken.
    Element,
    /// The plane of the old version.
    Plane,
}

/// Distribution of the block numbers of an element over its planes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mapping {
    /// One plane after the other.
    Concatenated,
    /// One pair of planes after the other, alternating inside the pair.
    PairStriped,
    /// In turn over all planes.
    FullyStriped,
}

/// A request of the host.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Request {
    /// Arrival time in nanoseconds.
    pub at_ns: u64,
    /// Its first page in the drive.
    pub first_page: u64,
    /// Number of pages; at least one.
    pub pages: u32,
    /// True for a read, false for a write.
    pub is_read: bool,
}

/// Results of serving the requests.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Served {
    /// Time from arrival to completion of each request, in their order, in nanoseconds.
    pub latencies_ns: Vec<u64>,
    /// Pages that cleaning moved.
    pub pages_moved: u64,
    /// Blocks that were cleaned.
    pub cleans: u64,
    /// Time that elements were busy with cleaning, in nanoseconds. Planes that clean
    /// at the same time count once.
    pub clean_ns: u64,
    /// Page requests that had the page and direction of another of their batch, and
    /// cost nothing.
    pub duplicates: u64,
}

/// Reason why requests were not served.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Refused {
    /// These rules make no drive.
    Rules(&'static str),
    /// A request has a fault.
    Request {
        /// Its index among the requests.
        index: usize,
        /// The fault.
        problem: &'static str,
    },
    /// A block was to be opened and none was free.
    NoFreeBlock {
        /// The element.
        element: usize,
        /// The time in nanoseconds.
        at_ns: u64,
    },
    /// Cleaning never ends: its victims hold only valid pages.
    CleansInVain {
        /// The element.
        element: usize,
        /// The time in nanoseconds.
        at_ns: u64,
    },
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rules(problem) => write!(f, "{problem}"),
            Self::Request { index, problem } => write!(f, "request {index} {problem}"),
            Self::NoFreeBlock { element, at_ns } => {
                write!(f, "element {element} has no free block to open at {at_ns} ns")
            }
            Self::CleansInVain { element, at_ns } => {
                write!(f, "element {element} cleans without gain for ever at {at_ns} ns")
            }
        }
    }
}

impl Error for Refused {}
