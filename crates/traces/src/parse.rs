//! Interface of a format's parser: it takes one line at a time, and keeps what it needs of the
//! lines before.

use super::columns::Fault;
use super::options::Options;
use super::row::Row;

/// Result of parsing a line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Outcome {
    /// A request.
    Row(Row),
    /// A request that needs a flush before it: two rows from one line.
    FlushFirst(Row),
    /// A line that is no request to replay, by the index of the reason among
    /// [`Description::passes`](super::row::Description::passes). It is counted.
    Pass(u8),
    /// A line of the format's own framework, such as its header.
    Frame,
}

/// The parser of a format.
pub(crate) trait Parse {
    /// A parser at the beginning of a file.
    fn new(options: &Options) -> Self;

    /// Parses `line`. A blank line may be reported as a fault; the caller skips it.
    fn parse(&mut self, line: &[u8]) -> Result<Outcome, Fault>;

    /// Choices and interpretations of the parser that could be different, for people.
    fn notes(&self) -> Vec<String> {
        Vec::new()
    }

    /// The names of devices 0, 1, …, if the format has names and no numbers.
    fn names(&self) -> &[String] {
        &[]
    }
}

/// The parser of a format whose lines are requests each by itself.
macro_rules! each_line_is_a_row {
    ($parse:path) => {
        /// The format's parser.
        pub(crate) struct Parser {
            scale: $crate::units::Scale,
        }

        impl $crate::parse::Parse for Parser {
            fn new(options: &$crate::options::Options) -> Self {
                Self { scale: DESCRIPTION.units.scale(options) }
            }

            #[inline]
            fn parse(
                &mut self,
                line: &[u8],
            ) -> Result<$crate::parse::Outcome, $crate::columns::Fault> {
                $parse(line, &self.scale).map($crate::parse::Outcome::Row)
            }
        }
    };
}
pub(crate) use each_line_is_a_row;
