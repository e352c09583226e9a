//! Families of policies. Each family is one list, from which follow the modules, the tags of the
//! configuration, the names in messages, the schema, the page of the documentation, and the
//! contract tests.

/// Declares a family: a module for each of its policies, in files beside the declaring one, an
/// enum of them, tagged by `policy` in a configuration, and the one method that calls them,
/// dispatched statically.
///
/// A policy is a line: its description, its tag, its file without `.rs`, and its type there. The
/// crate that declares a family depends on `serde` and `schemars`. A second method, without
/// arguments, may follow the first after `, and`.
#[macro_export]
macro_rules! family {
    // From here on the arguments of the method are one token, to be repeated for each policy.
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

            /// Calls the policy.
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
        $(#[$about:meta])* $family:ident asks $ask:ident($($argument:ident: $type:ty),*) -> $answer:ty,
            and $more:ident() -> $told:ty;
        $($(#[$doc:meta])* $tag:literal => $module:ident::$policy:ident,)+
    ) => {
        $crate::family! {
            $(#[$about])* $family asks $ask($($argument: $type),*) -> $answer;
            $($(#[$doc])* $tag => $module::$policy,)+
        }

        impl $family {
            /// Calls the second method of the policy.
            pub fn $more(&self) -> $told {
                match self { $(Self::$policy(policy) => policy.$more(),)+ }
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

/// Gives a family the error of its policy `Python`, which calls code of the user.
#[macro_export]
macro_rules! asks_outside {
    ($family:ident) => {
        impl $family {
            /// The error of a user's policy, if there was one.
            pub fn fault(&self) -> Option<String> {
                match self {
                    Self::Python(policy) => policy.fault(),
                    _ => None,
                }
            }
        }
    };
}
