//! Rotation: turns of collections in a group of stripes, so that the others of its planes serve reads
//! that go round collection. It is asked before each victim.
//!
//! A new policy is a file here and a line of the list below: its tag, the list in error
//! messages, the schema, the documentation and the contract tests follow from the line.

mod turns;

pub use turns::{Begins, Group};

settings::family! {
    /// Turns of collections in the planes of a group of stripes (`ftl.parity`).
    Rotation asks begins(group: &Group) -> bool;
    /// Collections begin whenever their bins need space.
    "none" => none::Free,
    /// Collections of a group take turns.
    "rotating" => rotating::Rotating,
    /// Collections of a group take turns, except while many bins of the drive are short of space.
    "dynamic" => dynamic::Dynamic,
}

impl Default for Rotation {
    fn default() -> Self {
        Self::Free(none::Free {})
    }
}

impl Rotation {
    /// True if collections ever wait for their turn.
    pub fn takes_turns(&self) -> bool {
        !matches!(self, Self::Free(_))
    }
    /// True if the answer depends on the share of bins that are short of space.
    pub fn looks_at_all(&self) -> bool {
        matches!(self, Self::Dynamic(_))
    }
    /// Most collections of a group at a time, if there is a limit.
    pub fn at_once(&self) -> Option<u32> {
        match self {
            Self::Free(_) => None,
            Self::Rotating(policy) => Some(policy.at_once),
            Self::Dynamic(policy) => Some(policy.at_once),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(floor::cases!())]

        /// The contract of every policy: the same answer to the same question; a collection that is
        /// alone begins; and one that may begin beside others may also begin beside fewer.
        #[test]
        fn every_policy_lets_one_collection_begin(
            under_way in 0u32..9, others_wait: bool, short in 0.0f64..=1.0,
        ) {
            let group = Group { under_way, others_wait, short };
            for policy in Rotation::all() {
                prop_assert_eq!(policy.begins(&group), policy.begins(&group));
                let alone = Group { under_way: 0, others_wait: false, short };
                prop_assert!(policy.begins(&alone));
                if policy.begins(&group) {
                    let fewer = Group { under_way: under_way / 2, ..group };
                    prop_assert!(policy.begins(&fewer));
                }
            }
        }
    }

    #[test]
    fn a_dynamic_rotation_ends_when_more_than_its_share_is_short() {
        let dynamic = Rotation::Dynamic(Default::default());
        let beside_one = |short| Group { under_way: 1, others_wait: true, short };
        assert!(!dynamic.begins(&beside_one(0.3)));
        assert!(dynamic.begins(&beside_one(0.301)));
    }
}
