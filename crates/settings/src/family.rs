//! Families of policies: one list each, from which follow the tags of the configuration,
//! the names in messages, the schema, the page of the documentation, and the contract tests.

/// Declares a family: an enum of its policies, tagged by `policy` in a configuration, and
/// the one method through which they are asked, dispatched statically.
///
/// The room that declares it depends on `serde` and `schemars`.
#[macro_export]
macro_rules! family {
    // What the method passes on is one token from here on, to be repeated for each policy.
    (
        @passing $passed:tt
        $(#[$about:meta])* $family:ident asks $ask:ident($($argument:ident: $type:ty),*) -> $answer:ty;
        $($(#[$doc:meta])* $tag:literal => $policy:ident,)+
    ) => {
        $(#[$about])*
        #[derive(Clone, Debug, ::serde::Serialize, ::serde::Deserialize, ::schemars::JsonSchema)]
        #[serde(tag = "policy")]
        pub enum $family {
            $($(#[$doc])* #[serde(rename = $tag)] $policy($policy),)+
        }

        impl $family {
            /// The names of all policies.
            pub const NAMES: &[&str] = &[$($tag),+];

            /// Asks the policy.
            #[inline]
            pub fn $ask(&self, $($argument: $type),*) -> $answer {
                match self { $(Self::$policy(policy) => policy.$ask $passed,)+ }
            }

            /// Every policy with its default settings, for the contract tests.
            pub fn all() -> Vec<Self> {
                vec![$(Self::$policy($policy::default())),+]
            }
        }
    };
    (
        $(#[$about:meta])* $family:ident asks $ask:ident($($argument:ident: $type:ty),*) -> $answer:ty;
        $($policies:tt)+
    ) => {
        $crate::family! {
            @passing ($($argument),*)
            $(#[$about])* $family asks $ask($($argument: $type),*) -> $answer;
            $($policies)+
        }
    };
}
