//! A trace file with its format and options, before its rows are read.

use super::detect::detect;
use super::options::{Options, Spread};
use super::read::Format;
use super::rows::Rows;
use super::spread::Spreading;
use super::survey::{Stamps, survey_with};
use crate::error::TraceError;
use std::path::Path;

/// A trace file in a format that is known.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Input<'a> {
    pub path: &'a Path,
    pub format: Format,
    options: Options,
}

impl<'a> Input<'a> {
    /// The file, and the reason for its format, which is detected if none is given. Options that
    /// have no meaning for the format are refused.
    pub fn of(
        path: &'a Path,
        format: Option<Format>,
        options: Options,
    ) -> Result<(Self, String), TraceError> {
        let (format, reason) = match format {
            Some(format) => (format, "as told".to_owned()),
            None => {
                let found = detect(path, &options)?;
                (found.format, found.reason)
            }
        };
        options.check(path, format)?;
        Ok((Self { path, format, options }, reason))
    }

    /// The rows in the order of the file.
    pub fn rows(&self) -> Result<Rows, TraceError> {
        Rows::open_with(self.path, self.format, &self.options)
    }

    /// The rows by stamp, if stamps run back by at most `slack_ns`. If the options ask for it,
    /// rows of equal stamps are spread over the unit in `stamps`.
    pub fn in_order(&self, slack_ns: u64, stamps: Option<Stamps>) -> Result<Spreading, TraceError> {
        let unit_ns = stamps.filter(|_| self.spreads()).map(|stamps| stamps.unit.as_ns());
        Spreading::open(self.path, self.format, &self.options, slack_ns, unit_ns)
    }

    /// The unit of the stamps in nanoseconds, as far as format and options fix it.
    pub fn stamp_unit_ns(&self) -> u64 {
        self.format.stamp_unit_ns(&self.options)
    }

    /// True if rows of equal stamps are spread.
    pub fn spreads(&self) -> bool {
        self.options.spread == Some(Spread::Uniform)
    }

    /// The error of a survey of a file that could not be read to its end; it is more specific.
    pub fn explained(&self, error: TraceError) -> TraceError {
        survey_with(self.path, Some(self.format), &self.options).err().unwrap_or(error)
    }
}
