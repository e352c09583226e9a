//! Suspension: an erase has come to the end of a step, and reads have asked it to make
//! way. It does, or goes on.
//!
//! A new policy is a file here and a line of the list below: its tag, the list in error
//! messages, the schema, the documentation and the contract tests follow from the line.

pub use python::YieldOutside;

use engine::{Instant, Span};

/// An erase between two of its steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SafePoint {
    /// Now.
    pub now: Instant,
    /// Steps that are done, and that are left; one each at least.
    pub steps_done: u32,
    /// See `steps_done`.
    pub steps_left: u32,
    /// How long a step takes.
    pub step: Span,
    /// Reads that wait for the unit and have asked; one at least.
    pub asking: u32,
    /// How long ago the first of them asked.
    pub waited: Span,
    /// How often this erase has made way before.
    pub suspensions: u32,
    /// Time since this erase began.
    pub since_begun: Span,
    /// True where collection goes before host writes: its bin is at the urgent threshold,
    /// or in debt.
    pub urgent: bool,
}

/// Decides whether an erase makes way.
pub trait YieldAt {
    /// True where it does. Given the same safe point it returns the same.
    fn yields(&self, at: &SafePoint) -> bool;
}

settings::family! {
    /// Whether an erase makes way for reads at the end of a step.
    Suspension asks yields(at: &SafePoint) -> bool;
    /// An erase is not interrupted.
    "never" => never::Never,
    /// It makes way at the end of a step, as often as a bound allows.
    "at-steps" => at_steps::AtSteps,
    /// A function of the user decides at the end of each step.
    "python" => python::Python,
}

settings::asks_outside!(Suspension);

impl Default for Suspension {
    fn default() -> Self {
        Self::Never(never::Never {})
    }
}

impl Suspension {
    /// True where no erase ever makes way.
    pub fn is_never(&self) -> bool {
        matches!(self, Self::Never(_))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::{Instant, Span};
    use proptest::prelude::*;

    proptest! {
        /// The contract of every policy: the same answer to the same question.
        #[test]
        fn every_policy_answers_alike_twice(
            steps_done in 1u32..9, steps_left in 1u32..9, asking in 1u32..9, suspensions in 0u32..9, urgent: bool,
        ) {
            let at = SafePoint {
                now: Instant::from_ns(1_000_000),
                steps_done,
                steps_left,
                step: Span::from_us(100),
                asking,
                waited: Span::from_us(50),
                suspensions,
                since_begun: Span::from_us(900),
                urgent,
            };
            for policy in Suspension::all() {
                prop_assert_eq!(policy.yields(&at), policy.yields(&at));
                prop_assert!(!(policy.is_never() && policy.yields(&at)));
            }
        }
    }
    #[test]
    fn every_name_is_a_tag_of_the_configuration() {
        let tags = Suspension::all().into_iter().map(|policy| {
            let written = serde_json::to_value(policy).unwrap();
            written["policy"].as_str().unwrap().to_owned()
        });
        assert_eq!(tags.collect::<Vec<_>>(), Suspension::NAMES);
    }
}
