//! The formats that are read, one file each.
//!
//! A format has a `DESCRIPTION` and a `Parser` of its lines, and a line in the registry
//! below; detection, survey and replays then know it.

mod alibaba;
mod blkparse;
mod captured;
mod disksim;
mod etw;
mod fio;
mod fio_v2;
mod fio_v3;
mod mqsim;
mod msr;
mod spc;
mod systor;
mod tencent;

use crate::columns::Fault;
use crate::options::Options;
use crate::parse::{Outcome, Parse};
use crate::row::Description;

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

            pub(crate) const fn description(self) -> &'static Description {
                match self {
                    $(Self::$format => &$module::DESCRIPTION,)+
                }
            }

        }

        /// The parser of any format: matched, not called through a table.
        #[allow(clippy::large_enum_variant, reason = "there is one for a file")]
        pub(crate) enum AnyParser {
            $($format($module::Parser),)+
        }

        impl AnyParser {
            /// A parser of `format` at the beginning of a file.
            pub(crate) fn new(format: Format, options: &Options) -> Self {
                match format {
                    $(Format::$format => Self::$format($module::Parser::new(options)),)+
                }
            }

            #[inline]
            pub(crate) fn parse(&mut self, line: &[u8]) -> Result<Outcome, Fault> {
                match self {
                    $(Self::$format(parser) => parser.parse(line),)+
                }
            }

            pub(crate) fn notes(&self) -> Vec<String> {
                match self {
                    $(Self::$format(parser) => parser.notes(),)+
                }
            }

            pub(crate) fn names(&self) -> &[String] {
                match self {
                    $(Self::$format(parser) => parser.names(),)+
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
    /// MSR Cambridge CSV: stamp (filetime, 100 ns), host, disk, `Read` or `Write`,
    /// offset, bytes, response time.
    Msr => msr,
    /// Windows ETW as text (xperf): a header between BeginHeader and EndHeader, then
    /// a row for each event, of which those of disks are read.
    Etw => etw,
    /// The text of blkparse in its default format, of Linux block devices.
    Blkparse => blkparse,
    /// fio's I/O log, version 2: file, action, offset, bytes; times by `wait` alone.
    FioV2 => fio_v2,
    /// fio's I/O log, version 3: stamp, file, action, offset, bytes.
    FioV3 => fio_v3,
    /// SPC (UMass): unit, address in blocks, bytes, R or W, seconds.
    Spc => spc,
    /// SYSTOR '17 CSV: seconds, response time, R or W, LUN, offset, bytes.
    Systor => systor,
    /// Alibaba block traces of 2020: device, R or W, offset, bytes, stamp (us).
    Alibaba => alibaba,
    /// Tencent CBS of 2018: stamp (s), sector, sectors, 0 = read or 1 = write, volume.
    Tencent => tencent,
}

impl Format {
    /// Name in configurations: `mqsim`.
    pub const fn name(self) -> &'static str {
        self.description().name
    }

    /// Name in messages: `MQSim ASCII`.
    pub const fn title(self) -> &'static str {
        self.description().title
    }

    /// Meaning of each column, with its unit.
    pub const fn columns(self) -> &'static [&'static str] {
        self.description().columns
    }

    /// The unit of the stamps of a file that is read with `options`, in nanoseconds.
    pub(crate) fn stamp_unit_ns(self, options: &Options) -> u64 {
        let description = self.description();
        description.units.stamp_unit_ns(options, description.stamp_unit_ns)
    }

    /// True if the rows of a sound file may be in another order than their stamps.
    pub const fn sorts_by_default(self) -> bool {
        self.description().sorts_by_default
    }
}
