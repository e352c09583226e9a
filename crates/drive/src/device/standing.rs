//! Where a request stands: what a part of it is doing or waiting for at present, and what is in
//! the way of that, as data and in words.

use crate::device::flash::counters::OpKind;
use engine::{Instant, Span};
use ftl::{BinId, BlockId};
use metrics::Holder;
use serde::Serialize;

/// What a part of a request, or what is in its way, is doing or waiting for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// Its command or its data is on the way in: link and firmware.
    TakenIn,
    /// Waits for room in the write buffer.
    Room,
    /// Is in the write buffer, and no program was asked for yet.
    Buffer,
    /// Waits until what the write buffer holds is on flash.
    Flush,
    /// Waits for free space.
    Space,
    /// Waits for its flash unit.
    Unit,
    /// Waits for its channel.
    Channel,
    /// An erase or a program that is suspended for reads, or is about to.
    Suspended,
    /// Is at work: on its unit, its channel or in the decoder.
    Work,
    /// A collection that has nothing under way.
    #[default]
    Rest,
    /// Its answer is on the way out.
    Answered,
}

/// Where one thing stands, and what is in its way.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Standing {
    /// What it is doing or waiting for.
    pub stage: Stage,
    /// The same in words: a clause.
    pub words: String,
    /// How many parts of the request stand so.
    pub parts: u32,
    /// Its bin, where it has one.
    pub bin: Option<BinId>,
    /// The die of that.
    pub die: Option<u32>,
    /// The block, of what is bound to one.
    pub block: Option<BlockId>,
    /// What a flash operation does, and for whom.
    pub operation: Option<(OpKind, Holder)>,
    /// When what it does or waits for at present began, where that is known.
    pub since: Option<Instant>,
    /// When what it is at will be over, as far as is known.
    pub until: Option<Instant>,
    /// How often it was suspended, of an erase or a program that may be.
    pub suspensions: Option<u32>,
    /// What is in its way, the first things of it.
    pub behind: Vec<Standing>,
}

impl Standing {
    /// Something in a stage of which nothing else is known.
    pub(in crate::device) fn new(stage: Stage, words: String) -> Self {
        Self { stage, words, parts: 1, ..Self::default() }
    }

    /// True if another part of the same request stands in the same way, whichever it is.
    pub(in crate::device) fn is_like(&self, other: &Self) -> bool {
        self.words == other.words && self.block == other.block && self.behind == other.behind
    }

    /// The words, those of what is in the way of that, and so on.
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
