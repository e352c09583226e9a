//! What a format's parser gets and gives: one line at a time, with whatever it has
//! to remember of the lines before.

use super::columns::Fault;
use super::options::Options;
use super::row::Row;

/// What a line turned out to be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Outcome {
    /// A request.
    Row(Row),
    /// A request that wants a flush before it: two rows from one line.
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

    /// What `line` is, or what is wrong with it. A blank line may be a fault; it is
    /// passed over.
    fn parse(&mut self, line: &[u8]) -> Result<Outcome, Fault>;

    /// What was chosen or understood in a way that could be another, for people.
    fn notes(&self) -> Vec<String> {
        Vec::new()
    }

    /// The names of devices 0, 1, …, where the format has names and no numbers.
    fn names(&self) -> &[String] {
        &[]
    }
}

/// The parser of a format whose lines are requests each by itself.
macro_rules! each_line_is_a_row {
    ($parse:path) => {
        /// The format's parser.
        pub(crate) struct Parser;

        impl $crate::parse::Parse for Parser {
            fn new(_: &$crate::options::Options) -> Self {
                Self
            }

            #[inline]
            fn parse(
                &mut self,
                line: &[u8],
            ) -> Result<$crate::parse::Outcome, $crate::columns::Fault> {
                $parse(line).map($crate::parse::Outcome::Row)
            }
        }
    };
}
pub(crate) use each_line_is_a_row;
