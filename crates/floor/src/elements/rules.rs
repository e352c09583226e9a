//! Rules of a drive, requests to it, and what comes of them.

use std::error::Error;
use std::fmt;

/// What the drive is made of, and how it works.
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
    /// Cleaning begins where no more than this share of blocks is free, in percent,
    /// rounded down to whole blocks: of a plane with copy-back, of the element
    /// without.
    pub min_free_percent: u32,
    /// Whether each plane writes to a block of its own and cleaning moves pages
    /// inside the plane. Otherwise the element writes to one block at a time.
    pub copy_back: bool,
    /// Groups of neighbouring planes that work at the same time. Only with
    /// copy-back; one group otherwise.
    pub parallel_units: u32,
    /// Which planes a page may be written to. Only with copy-back.
    pub pool: Pool,
    /// How block numbers are dealt out to planes.
    pub mapping: Mapping,
    /// Whether an element looks for something to clean without requests, too.
    pub background_cleaning: bool,
    /// From the cells into the register, in nanoseconds.
    pub read_ns: u64,
    /// From the register into the cells, in nanoseconds.
    pub program_ns: u64,
    /// To erase a block, in nanoseconds.
    pub erase_ns: u64,
    /// To carry a page over the pins of the element, in nanoseconds.
    pub transfer_ns: u64,
    /// To carry a summary over the pins of the element, in nanoseconds.
    pub summary_transfer_ns: u64,
    /// To carry a page over the bus to the host, in nanoseconds. At 0 it takes no time.
    pub link_ns: u64,
    /// At most so many requests are under way; later ones wait at the host.
    pub outstanding: u32,
}

/// Which planes a page may be written to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pool {
    /// All of its element: the one with the most free pages is taken.
    Element,
    /// The one that holds its old version.
    Plane,
}

/// How block numbers of an element are dealt out to its planes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mapping {
    /// One plane after the other.
    Concatenated,
    /// One pair of planes after the other, alternating inside the pair.
    PairStriped,
    /// In turn over all planes.
    FullyStriped,
}

/// What the host asks for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Request {
    /// When it arrives, in nanoseconds.
    pub at_ns: u64,
    /// Its first page in the drive.
    pub first_page: u64,
    /// How many pages; at least one.
    pub pages: u32,
    /// A read, or else a write.
    pub is_read: bool,
}

/// How the requests were served.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Served {
    /// From arrival to completion of each request, in their order, in nanoseconds.
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

/// Why requests were not served.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Refused {
    /// No drive can be made by these rules.
    Rules(&'static str),
    /// A request is at fault.
    Request {
        /// Its place among the requests.
        index: usize,
        /// What is wrong.
        problem: &'static str,
    },
    /// A block was to be opened and none was free.
    NoFreeBlock {
        /// Where.
        element: usize,
        /// When.
        at_ns: u64,
    },
    /// Cleaning goes on for ever: its victims hold valid pages alone.
    CleansInVain {
        /// Where.
        element: usize,
        /// When.
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
