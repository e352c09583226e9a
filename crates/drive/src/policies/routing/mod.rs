//! Read routing. A read that waits for an erase or a program that may be suspended either asks it to
//! suspend or does not. A read of data that collection holds may go round: it is routed once, when
//! the firmware takes it in, or dispatches it after a wait for the write buffer.
//!
//! A new policy is a file here and a line of the list below: its tag, the list in error
//! messages, the schema, the documentation and the contract tests follow from the line.

mod meeting;

pub use meeting::{Detour, Hold, Meeting, Route, RouteTo};
pub use python::RouteOutside;
pub use reconstruct::Reconstruct;

settings::family! {
    /// Action of a read that meets collection, or an erase or a program that may be suspended.
    ReadRouting asks route(meeting: &Meeting) -> Route;
    /// Reads wait until the operation is over.
    "wait" => wait::Wait,
    /// Every read asks the operation to suspend.
    "suspend" => suspend::Suspend,
    /// A read asks the operation to suspend if it would wait for longer than a bound.
    "deadline" => deadline::Deadline,
    /// A read goes round data that collection holds: the data is computed from the rest of its
    /// stripe.
    "reconstruct" => reconstruct::Reconstruct,
    /// A function of the user decides.
    "python" => python::Python,
}

settings::asks_outside!(ReadRouting);

impl Default for ReadRouting {
    fn default() -> Self {
        Self::Suspend(suspend::Suspend {})
    }
}

impl ReadRouting {
    /// True if the answer may depend on the number of reads that have asked before.
    pub fn counts_those_that_ask(&self) -> bool {
        matches!(self, Self::Python(_))
    }
    /// The policy of reads that go round collection, if they may.
    pub fn detours(&self) -> Option<&Reconstruct> {
        match self {
            Self::Reconstruct(policy) => Some(policy),
            _ => None,
        }
    }
    /// True if no read ever asks.
    pub fn never_asks(&self) -> bool {
        matches!(self, Self::Wait(_))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::{Instant, Span};
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(floor::cases!())]

        /// The contract of every policy: the same answer to the same question.
        #[test]
        fn every_policy_answers_alike_twice(
            now in 0u64..1 << 40, to_safe in 1u64..10_000_000, steps_left in 0u64..9,
            suspensions in 0u32..9, asking in 0u32..9,
        ) {
            let now = Instant::from_ns(now);
            let meeting = Meeting {
                now,
                free_at: now + Span::from_ns(to_safe * (steps_left + 1)),
                safe_at: now + Span::from_ns(to_safe),
                suspensions,
                since_begun: Span::from_us(100),
                is_program: asking % 2 == 0,
                asking,
            };
            for policy in ReadRouting::all() {
                prop_assert_eq!(policy.route(&meeting), policy.route(&meeting));
                prop_assert!(!policy.never_asks() || policy.route(&meeting) == Route::Wait);
                let another = Meeting { asking: asking + 1, ..meeting };
                let same = policy.route(&another) == policy.route(&meeting);
                prop_assert!(same || policy.counts_those_that_ask());
            }
        }
    }

    #[test]
    fn every_name_is_a_tag_of_the_configuration() {
        let tags = ReadRouting::all().into_iter().map(|policy| {
            let written = serde_json::to_value(policy).unwrap();
            written["policy"].as_str().unwrap().to_owned()
        });
        assert_eq!(tags.collect::<Vec<_>>(), ReadRouting::NAMES);
    }
}
