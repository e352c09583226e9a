//! What a channel's policy answers.

/// Ranks that a channel tells apart.
pub const RANKS: usize = 4;

/// The ranks of what may wait for a channel; 0 goes first, and within a rank the oldest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Order {
    /// Data of a host read on its way out.
    pub out_of_hosts: u8,
    /// Other data on its way out.
    pub out: u8,
    /// Data on its way to a unit that is occupied for it.
    pub into: u8,
    /// An operation that is to begin: its command, and the data of a program with it.
    pub begin: u8,
    /// While something of a larger rank waits, only what waited when that could first have gone may
    /// go before it, so that nothing starves.
    pub bounded: bool,
}

/// Ranks what waits for a channel.
pub trait Orders {
    /// The ranks, which never change.
    fn order(&self) -> Order;
}
