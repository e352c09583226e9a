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
    /// Ranks of their own of some operations that are to begin, if there are any.
    pub begins: Option<Begins>,
    /// While a transfer of a larger rank waits, only transfers that waited when it could first have
    /// gone may go before it, so that nothing starves.
    pub bounded: bool,
}

/// Ranks of operations that are to begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Begins {
    /// Of a collection whose unit is reserved for it, or that goes before programs of hosts.
    pub collection: u8,
    /// A read that is not of a collection.
    pub read: u8,
}

/// Ranks the transfers that wait for a channel.
pub trait Orders {
    /// The ranks, which never change.
    fn order(&self) -> Order;
}
