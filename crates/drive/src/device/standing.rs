//! State of a request: the activity of each part, or the resource that it waits for, and the
//! obstacles, as data and in words.

use crate::device::flash::counters::OpKind;
use engine::{Instant, Span};
use ftl::{BinId, BlockId};
use metrics::Holder;
use serde::Serialize;

/// Stage of a part of a request, or of one of its obstacles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// Its command or its data is on the way in: link and firmware.
    TakenIn,
    /// Waits for room in the write buffer.
    Room,
    /// Is in the write buffer, and no program was asked for yet.
    Buffer,
    /// Waits until the content of the write buffer is on flash.
    Flush,
    /// Waits for free space.
    Space,
    /// Waits for its flash unit.
    Unit,
    /// Waits for its channel.
    Channel,
    /// An erase or a program that is suspended for reads, or is about to be.
    Suspended,
    /// Works: on its unit, its channel or in the decoder.
    Work,
    /// A collection that has nothing under way.
    #[default]
    Rest,
    /// Its answer is on the way out.
    Answered,
}

/// State of one part or operation, and its obstacles.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Standing {
    /// Its stage.
    pub stage: Stage,
    /// Its stage in words: a clause.
    pub words: String,
    /// Number of parts of the request in this state.
    pub parts: u32,
    /// Its bin, if it has one.
    pub bin: Option<BinId>,
    /// The die of the bin.
    pub die: Option<u32>,
    /// The block, if it is bound to one.
    pub block: Option<BlockId>,
    /// Kind and source of a flash operation.
    pub operation: Option<(OpKind, Holder)>,
    /// The moment at which its stage began, if known.
    pub since: Option<Instant>,
    /// The end of its present work, as far as known.
    pub until: Option<Instant>,
    /// Number of suspensions, for an erase or a program that may be suspended.
    pub suspensions: Option<u32>,
    /// The first of its obstacles.
    pub behind: Vec<Standing>,
}

impl Standing {
    /// A state of which only the stage is known.
    pub(in crate::device) fn new(stage: Stage, words: String) -> Self {
        Self { stage, words, parts: 1, ..Self::default() }
    }

    /// True if another part of the same request is in an equal state, whichever part it is.
    pub(in crate::device) fn is_like(&self, other: &Self) -> bool {
        self.words == other.words && self.block == other.block && self.behind == other.behind
    }

    /// The words, followed by those of its obstacles, those of their obstacles, and so on.
    pub fn sentence(&self) -> String {
        match self.behind.first() {
            Some(first) => format!("{}: {}", self.words, first.sentence()),
            None => self.words.clone(),
        }
    }
}

/// A time for people: three decimals of the largest unit that fits.
pub fn rounded(span: Span) -> String {
    let ns = span.as_ns();
    let units = [(1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "us")];
    let Some((unit, name)) = units.into_iter().find(|(unit, _)| ns >= *unit) else {
        return format!("{ns} ns");
    };
    let text = format!("{:.3}", ns as f64 / unit as f64);
    format!("{} {name}", text.trim_end_matches('0').trim_end_matches('.'))
}
