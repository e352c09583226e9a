//! Policies of the scheduler, one file each: the order of operations on a unit ([`scheduling`]) and
//! on a channel ([`channel`]), the action of a read that waits for an erase or a program
//! ([`routing`]), and the suspension of those ([`suspension`]). A policy gets a question and
//! returns a value; the device acts on it.

pub mod channel;
pub mod routing;
pub mod scheduling;
pub mod suspension;
