//! Traces: requests that real programs made, read from a file.
//!
//! A format is a file of its own beside this one, with a `DESCRIPTION` and a
//! `parse` of one row, and a line in the registry below; detection, survey and
//! replay then know it. A file is streamed, never held in memory: `lines` cuts it
//! up, `rows` parses, `detect` finds the format, `survey` reads it once to know
//! what is in it, `placement` maps its addresses onto a drive, `order` puts the
//! stamps in order, and `replay` plays it.

mod captured;
mod columns;
mod detect;
mod disksim;
mod gzip;
pub mod imitate;
mod lines;
mod mqsim;
mod order;
mod placement;
mod preview;
pub(crate) mod replay;
mod row;
mod rows;
pub mod statistics;
mod survey;
pub mod write;

pub(crate) use placement::chosen;
pub use survey::{Backwards, DeviceSurvey, Farthest, Survey, Tally, glance, survey};

/// Declares the formats: the enum, its names and the way to each parser.
macro_rules! registry {
    ($($(#[$doc:meta])* $format:ident => $module:ident,)+) => {
        /// The format of a trace.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        #[derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
        #[serde(rename_all = "kebab-case")]
        pub enum Format {
            $($(#[$doc])* $format,)+
        }

        impl Format {
            /// Every format.
            pub const ALL: &[Self] = &[$(Self::$format,)+];

            pub(crate) const fn description(self) -> &'static row::Description {
                match self {
                    $(Self::$format => &$module::DESCRIPTION,)+
                }
            }

            #[inline]
            pub(crate) fn parse(self, line: &[u8]) -> Result<row::Row, columns::Fault> {
                match self {
                    $(Self::$format => $module::parse(line),)+
                }
            }
        }
    };
}

registry! {
    /// MQSim ASCII: arrival (ns), device, start and length (512 B sectors), type
    /// (0 = write, 1 = read).
    Mqsim => mqsim,
    /// DiskSim ASCII: arrival (ms), device, start and length (512 B blocks), flags
    /// (hex; bit 0 set = read).
    Disksim => disksim,
    /// The CSV that flashscape's block device captures: `time_us,op,offset,length`.
    Captured => captured,
}

impl Format {
    /// How configurations write it: `mqsim`.
    pub const fn name(self) -> &'static str {
        self.description().name
    }

    /// How messages call it: `MQSim ASCII`.
    pub const fn title(self) -> &'static str {
        self.description().title
    }

    /// What each column holds, with its unit.
    pub const fn columns(self) -> &'static [&'static str] {
        self.description().columns
    }
}
