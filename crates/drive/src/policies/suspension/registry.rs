//! The one list of ways to suspend an erase. A new one is a new file and a line here.

use super::SafePoint;
use super::at_steps::AtSteps;
use super::never::Never;
use super::python::Python;

/// Decides whether an erase makes way.
pub trait YieldAt {
    /// True where it does. Given the same safe point it returns the same.
    fn yields(&self, at: &SafePoint) -> bool;
}

settings::family! {
    /// Whether an erase makes way for reads at the end of a step.
    Suspension asks yields(at: &SafePoint) -> bool;
    /// An erase is not interrupted.
    "never" => Never,
    /// It makes way at the end of a step, as often as a bound allows.
    "at-steps" => AtSteps,
    /// A function of the user decides at the end of each step.
    "python" => Python,
}

impl Default for Suspension {
    fn default() -> Self {
        Self::Never(Never {})
    }
}

impl Suspension {
    /// True where no erase ever makes way.
    pub fn is_never(&self) -> bool {
        matches!(self, Self::Never(_))
    }
    /// What went wrong with a policy of the user.
    pub fn fault(&self) -> Option<String> {
        match self {
            Self::Python(policy) => policy.fault(),
            _ => None,
        }
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
}
