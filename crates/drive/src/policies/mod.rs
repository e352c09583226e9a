//! Policies of the scheduler, one file each: what goes before what on a unit ([`scheduling`]) and
//! on a channel ([`channel`]), what a read does that meets an erase or a program ([`routing`]),
//! and how those are suspended ([`suspension`]). A policy sees what it is given and returns a value;
//! the device acts on it.

pub mod channel;
pub mod routing;
pub mod scheduling;
pub mod suspension;
