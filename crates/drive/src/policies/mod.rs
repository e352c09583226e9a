//! Policies of the scheduler, one file each: the order of operations on a unit ([`scheduling`]) and
//! on a channel ([`channel`]), the action of a read that meets collection, or an erase or a program
//! ([`routing`]), the suspension of those ([`suspension`]), and the turns of collections
//! ([`rotation`]). A policy gets a question and
//! returns a value; the device acts on it.

pub mod channel;
pub mod rotation;
pub mod routing;
pub mod scheduling;
pub mod suspension;
