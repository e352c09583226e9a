//! Policies of the scheduler, one file each: what a read does that meets an erase or a
//! program ([`routing`]), how those make way ([`suspension`]), and what goes before what
//! ([`scheduling`]). A policy sees what it is
//! given and returns a value; the device acts on it.

pub mod routing;
pub mod scheduling;
pub mod suspension;
