//! Policies of the scheduler, one file each: what a read does that meets an erase or a
//! program ([`routing`]), and how those make way ([`suspension`]). A policy sees what it is
//! given and returns a value; the device acts on it.

pub mod routing;
pub mod suspension;
