//! Power cuts: their configuration, the recovery of the drive, and the report on both.

use engine::{Instant, Span, Streams};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use settings::Time;

// ---- recovery of the drive ---------------------------------------------------

/// Means of recovery: the metadata that a drive keeps on media, beside its data.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RecoveryConfig {
    /// Source of the map after a power cut. Default: `scan`.
    #[serde(default)]
    pub map: MapRecovery,
    /// Durability of trims. Default: `logged`.
    #[serde(default)]
    pub trims: TrimDurability,
}

/// Source of the map after a power cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "policy", rename_all = "kebab-case", deny_unknown_fields)]
pub enum MapRecovery {
    /// From the metadata of all pages; if blocks have summaries (`ftl.summary_page`), from one page
    /// of each full block.
    Scan {},
    /// From the last copy of the map on flash, and from the blocks that were open when it was
    /// written or have been opened or erased since.
    Checkpoint {
        /// Time between two copies. This or `units`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        every: Option<Time>,
        /// Mapping units of the host programmed between two copies. This or `every`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(range(min = 1))]
        units: Option<u64>,
    },
    /// From byte-addressable non-volatile memory (PCM, MRAM) that holds the map: nothing is read.
    Persistent {},
}

impl Default for MapRecovery {
    fn default() -> Self {
        Self::Scan {}
    }
}

/// Durability of trims.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TrimDurability {
    /// Trims are written to a log at once: trimmed data stays trimmed.
    #[default]
    Logged,
    /// Data that was trimmed may return after a power cut.
    Volatile,
}

// ---- the moments of power cuts ------------------------------------------------

/// A power cut, or several.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum PowerCuts {
    /// Several.
    Several(Vec<PowerCut>),
    /// One. (Behind the list: serde takes an empty list for a table without keys.)
    One(PowerCut),
}

impl PowerCuts {
    /// All of them, with their paths below `run`.
    pub fn all(&self) -> Vec<(String, &PowerCut)> {
        match self {
            Self::One(cut) => vec![("power_cut".into(), cut)],
            Self::Several(cuts) => {
                let path = |(index, cut)| (format!("power_cut[{index}]"), cut);
                cuts.iter().enumerate().map(path).collect()
            }
        }
    }
}

/// The moment of a power cut: exactly one key.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("minProperties" = 1, "maxProperties" = 1))]
pub struct PowerCut {
    /// At this simulated time, after the events that are due then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Time>,
    /// After this many events of the drive since the run began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after_events: Option<u64>,
    /// At a random moment before this time; the seed determines it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub within: Option<Time>,
}

/// The cuts that are still to come.
#[derive(Clone, Debug)]
pub struct Schedule {
    /// Moments, the next one last.
    times: Vec<Instant>,
    /// Numbers of events, the next one last.
    events: Vec<u64>,
}

impl Schedule {
    /// The cuts of a configuration.
    pub fn new(cuts: Option<&PowerCuts>, streams: Streams) -> Self {
        let mut moments = streams.stream("power-cut");
        let (mut times, mut events) = (Vec::new(), Vec::new());
        for (_, cut) in cuts.map(PowerCuts::all).unwrap_or_default() {
            let drawn = cut.within.map(|within| moments.below(within.span().as_ns()));
            let at = cut.at.map(|at| at.span().as_ns()).or(drawn);
            times.extend(at.map(Instant::from_ns));
            events.extend(cut.after_events);
        }
        times.sort_unstable_by(|one, other| other.cmp(one));
        events.sort_unstable_by(|one, other| other.cmp(one));
        Self { times, events }
    }
    /// The next moment.
    pub fn next_time(&self) -> Option<Instant> {
        self.times.last().copied()
    }
    /// The next number of events.
    pub fn next_events(&self) -> Option<u64> {
        self.events.last().copied()
    }
    /// Takes the next cut by time, or else by number of events, off the schedule: it has happened.
    pub fn take(&mut self, by_time: bool) {
        if by_time {
            self.times.pop().map(drop)
        } else {
            self.events.pop().map(drop)
        };
    }
}

// ---- the report -------------------------------------------------------------------

/// A power cut and the recovery from it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outage {
    /// The moment at which the power was cut.
    pub at: Instant,
    /// Time from the cut until commands are served again.
    pub took: Span,
    /// Parts of that time, one after the other: reading the checkpoint, the metadata and the data
    /// that a capacitor saved, and erases.
    pub parts: [Span; 4],
    /// Pages whose metadata was read, each plane's by itself.
    pub pages_scanned: u64,
    /// Blocks that hold these pages.
    pub blocks_scanned: u64,
    /// Pages of the checkpoint that were read.
    pub checkpoint_pages: u64,
    /// Programs that were found half done.
    pub half_programmed: u32,
    /// Erases that were found half done.
    pub half_erased: u32,
    /// Open blocks that were closed before they were full.
    pub closed_early: u32,
    /// Destination blocks of collection that were erased because collection had no other free
    /// space.
    pub undone: u32,
    /// Mapping units that were found on flash.
    pub units: u32,
    /// Mapping units that were found in the data that a capacitor saved.
    pub saved_units: u32,
    /// Bins in which wear-leveling was moving data to a worn block.
    pub migrating: u32,
    /// Commands that were under way and never complete.
    pub lost_requests: u32,
    /// True if the power was cut again before the recovery was over.
    pub interrupted: bool,
}

impl Outage {
    /// A cut before the recovery from this one was over. The new recovery reads and erases as much
    /// again, but commands and operations were under way only at the first cut.
    pub fn begun_anew(self, at: Instant) -> Self {
        Self {
            at,
            half_programmed: 0,
            half_erased: 0,
            closed_early: 0,
            undone: 0,
            migrating: 0,
            lost_requests: 0,
            interrupted: false,
            ..self
        }
    }
}
