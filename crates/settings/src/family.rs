//! Families of policies: one list each, from which follow the modules, the tags of the
//! configuration, the names in messages, the schema, the page of the documentation, and the
//! contract tests.

/// Declares a family: a module for each of its policies, in files beside the one that
/// declares it, an enum of them, tagged by `policy` in a configuration, and the one method
/// through which they are asked, dispatched statically.
///
/// A policy is a line: what it does, its tag, its file without `.rs`, and its type there.
/// The room that declares a family depends on `serde` and `schemars`.
#[macro_export]
macro_rules! family {
    // What the method passes on is one token from here on, to be repeated for each policy.
    (
        @passing $passed:tt
        $(#[$about:meta])* $family:ident asks $ask:ident($($argument:ident: $type:ty),*) -> $answer:ty;
        $($(#[$doc:meta])* $tag:literal => $module:ident::$policy:ident,)+
    ) => {
        $(mod $module;)+

        $(#[$about])*
        #[derive(Clone, Debug, ::serde::Serialize, ::serde::Deserialize, ::schemars::JsonSchema)]
        #[serde(tag = "policy")]
        pub enum $family {
            $($(#[$doc])* #[serde(rename = $tag)] $policy($module::$policy),)+
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
                vec![$(Self::$policy($module::$policy::default())),+]
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

/// Lets a family say what went wrong with its policy `Python`, which asks code of the user.
#[macro_export]
macro_rules! asks_outside {
    ($family:ident) => {
        impl $family {
            /// What went wrong with a policy of the user.
            pub fn fault(&self) -> Option<String> {
                match self {
                    Self::Python(policy) => policy.fault(),
                    _ => None,
                }
            }
        }
    };
}
