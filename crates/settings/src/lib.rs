//! Configuration text as typed values, with every fault reported at once.
//!
//! A [`Document`] is parsed TOML that remembers the line of each key. Presets
//! go [`under`](Document::under) it and command-line overrides are
//! [`set`](Document::set) on top of it. [`read`](Document::read) then walks it
//! along the JSON schema of the wanted type and turns it into that type, or
//! returns all its [`Problems`], each with its path, its line and a remedy.
//!
//! Numbers with a unit are [`Measure`]s: [`Time`], [`Size`], [`Rate`], [`Share`], [`Extent`], [`Frequency`],
//! and those of other crates.
//!
//! Rules for a configuration type, so that the walk understands it: keys in snake_case, names of
//! variants in kebab-case, choices with parameters as internally tagged enums (`#[serde(tag =
//! "policy")]`), of which at most one is flattened into a table. A renamed key keeps its former
//! name as well: `x-renamed` in the schema. Unknown keys are refused whether or not the type says
//! `deny_unknown_fields`.

mod decimal;
mod document;
#[doc(hidden)]
pub mod expansion;
mod extent;
mod family;
mod frequency;
mod json;
mod layer;
mod measure;
mod names;
mod outside;
mod path;
mod plural;
mod problem;
mod quantity;
mod rate;
mod renamed;
mod scale;
mod schema;
mod shape;
mod share;
mod size;
mod source;
mod time;
mod walk;

pub use decimal::Decimal;
pub use document::{Document, current_path};
pub use extent::Extent;
pub use frequency::Frequency;
pub use measure::Measure;
pub use names::remedy;
pub use outside::Outside;
pub use plural::{counted, each, grouped};
pub use problem::{Problem, Problems};
pub use quantity::{Quantity, Refusal};
pub use rate::Rate;
pub use scale::{Scale, Unit};
pub use schema::{schema, schema_under_presets};
pub use share::Share;
pub use size::Size;
pub use time::Time;
