//! Traces: requests that real programs made, read from a file.
//!
//! `read` has the formats, one file each. A file is streamed, never kept whole in memory: `lines`
//! splits it, `rows` parses, `detect` finds the format, `plausible` doubts units, `survey` reads it once to learn its
//! content, `order` sorts the stamps, and `spread` separates equal ones. For statistics and
//! conversions `input` describes the file, and `preview` collects the facts that must be known
//! before the main pass.

mod columns;
mod command;
mod detect;
mod error;
mod foreign;
mod gzip;
pub mod imitate;
mod input;
mod lines;
mod meaning;
mod names;
mod options;
mod order;
mod parse;
mod plausible;
mod preview;
mod progress;
mod read;
mod remarks;
mod row;
mod rows;
mod spread;
pub mod statistics;
mod survey;
mod units;
pub mod write;
mod zst;

pub use command::{Command, Kind};
pub use error::{Fault, TraceError};
pub use lines::Compression;
pub use options::{Event, Options, Spread, TimeUnit, Truncated, Waits};
pub use read::Format;
pub use remarks::{Passed, Remarks};
pub use row::Row;
pub use spread::Spreading;
pub use survey::{
    Backwards, DeviceSurvey, Farthest, Stamps, Survey, Tally, glance, survey, survey_with,
};
pub use units::SECTOR_BYTES;
