//! Traces: requests that real programs made, read from a file.
//!
//! `read` has the formats, one file each. A file is streamed, never kept whole in memory:
//! `lines` cuts it up, `rows` parses, `detect` finds the format, `survey` reads it once
//! to know what is in it, `order` puts the stamps in order, and `spread` takes equal
//! ones apart. For statistics and conversions `input` says what a file is, and
//! `preview` what must be known of it before it is gone through.

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
mod preview;
mod progress;
mod read;
mod remarks;
mod row;
mod rows;
mod spread;
pub mod statistics;
mod survey;
pub mod write;
mod zst;

pub use command::{Command, Kind};
pub use error::{Fault, TraceError};
pub use lines::Compression;
pub use options::{Event, Options, Spread, TimeUnit, Waits};
pub use read::Format;
pub use remarks::{Passed, Remarks};
pub use row::Row;
pub use spread::Spreading;
pub use survey::{
    Backwards, DeviceSurvey, Farthest, Stamps, Survey, Tally, glance, survey, survey_with,
};
