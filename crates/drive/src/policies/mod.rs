//! Policies of the scheduler, one file each: what a read does that meets an erase
//! ([`routing`]), and whether an erase makes way at a safe point ([`suspension`]). A policy
//! sees what it is given and returns a value; the device acts on it.

pub mod routing;
pub mod suspension;
