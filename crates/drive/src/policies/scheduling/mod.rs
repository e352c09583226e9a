//! Scheduling of a group of units: the operations that may go before one whose turn it is. Classes
//! rank operations; a policy limits how far rank goes before age.
//!
//! A new policy is a file here and a line of the list below: its tag, the list in error
//! messages, the schema, the documentation and the contract tests follow from the line.

mod turn;

pub use turn::{Asking, Turn, Turns};

settings::family! {
    /// Priority of reads over other operations. Under every policy background collection waits for
    /// all other operations.
    Bypass asks turn(asking: &Asking) -> Turn;
    /// First come, first served.
    "none" => none::InOrder,
    /// Reads go first; once another operation could have gone, only reads that were waiting by then
    /// go before it, so that nothing starves.
    "batch" => batch::Batch,
    /// Reads go first until none waits.
    "drain" => drain::Drain,
}

impl Bypass {
    /// True if operations go in the order in which they were asked for.
    pub fn keeps_order(&self) -> bool {
        let asking =
            Asking { is_bounded: true, number: 0, others_wait: true, bound: None, next: 1 };
        self.turn(&asking) == Turn::Oldest
    }
    /// True if reads that come later than an operation's turn never go before it.
    pub fn is_bounded(&self) -> bool {
        let asking =
            Asking { is_bounded: true, number: 1, others_wait: true, bound: Some(1), next: 2 };
        self.turn(&asking) == Turn::Oldest
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(floor::cases!())]

        /// The contract of every policy: the same question gets the same answer; an operation that
        /// is alone goes, unless all go by age; a bound never moves, and an operation that goes by
        /// it is below it; the number of an operation that no bound binds has no effect.
        #[test]
        fn every_policy_keeps_its_contract(
            is_bounded: bool, others_wait: bool, number in 0u64..100, bound in proptest::option::of(0u64..100),
        ) {
            let asking = Asking { is_bounded, number, others_wait, bound, next: 100 };
            for policy in Bypass::all() {
                let turn = policy.turn(&asking);
                prop_assert_eq!(turn, policy.turn(&asking));
                if !is_bounded {
                    for (number, next) in [(0, 1), (number, u64::MAX), (u64::MAX, u64::MAX)] {
                        prop_assert_eq!(turn, policy.turn(&Asking { number, next, ..asking }));
                    }
                }
                if let Turn::Goes { bound: Some(after) } = turn {
                    prop_assert!(bound.is_none_or(|before| after == before));
                    prop_assert!(number < after || !is_bounded || !policy.is_bounded());
                }
                if !others_wait && !policy.keeps_order() {
                    prop_assert_eq!(turn, Turn::Goes { bound: None });
                }
            }
        }
    }

    #[test]
    fn every_name_is_a_tag_of_the_configuration() {
        let tags = Bypass::all().into_iter().map(|policy| {
            let written = serde_json::to_value(policy).unwrap();
            written["policy"].as_str().unwrap().to_owned()
        });
        assert_eq!(tags.collect::<Vec<_>>(), Bypass::NAMES);
    }

    #[test]
    fn orders_are_told_apart() {
        let told =
            Bypass::all().into_iter().map(|policy| (policy.keeps_order(), policy.is_bounded()));
        assert_eq!(told.collect::<Vec<_>>(), [(true, true), (false, true), (false, false)]);
    }
}
