//! Answer of a channel's policy.

/// Ranks that a channel tells apart.
pub const RANKS: usize = 4;

/// The ranks of transfers that wait for a channel; 0 goes first, and within a rank the oldest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Order {
    /// Data of a host read on its way out.
    pub out_of_hosts: u8,
    /// Other data on its way out.
    pub out: u8,
    /// Data on its way to a unit that is occupied for it.
    pub into: u8,
    /// An operation that is to begin: its command, and for a program its data.
    pub begin: u8,
    /// While a transfer of a larger rank waits, only transfers that waited when it could first have
    /// gone may go before it, so that nothing starves.
    pub bounded: bool,
}

/// Ranks the transfers that wait for a channel.
pub trait Orders {
    /// The ranks, which never change.
    fn order(&self) -> Order;
}
