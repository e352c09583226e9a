//! What a scheduling policy is asked, and what it answers.

/// An operation would go next by its class: of the highest class that may start the oldest.
#[derive(Clone, Copy, Debug)]
pub struct Asking {
    /// Whether it is of a class that may go before others within bounds only: a read.
    pub is_bounded: bool,
    /// Its number in the order of asking.
    pub number: u64,
    /// Whether operations of lower classes wait, but for background collection.
    pub others_wait: bool,
    /// The bound that the policy last set for the group.
    pub bound: Option<u64>,
    /// The number that the next operation will have.
    pub next: u64,
}

/// Who goes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// The operation goes; the group keeps this bound.
    Goes {
        /// What was asked for from this number on goes before lower classes no more.
        bound: Option<u64>,
    },
    /// What has waited for longest goes, of whatever class, and nothing before it; the group
    /// keeps no bound any more once it has gone.
    Oldest,
}

/// Decides whether an operation goes before others whose turn it may be.
pub trait Turns {
    /// Given the same question it gives the same answer. Where bounds do not bind the operation,
    /// that depends neither on its number nor on the next one: the device asks before the
    /// operation has one, too.
    fn turn(&self, asking: &Asking) -> Turn;
}
