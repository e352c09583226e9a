//! Question to a scheduling policy, and its answers.

/// An operation that would go next by its class: the oldest of the highest class that may start.
#[derive(Clone, Copy, Debug)]
pub struct Asking {
    /// True for a read, whose class may go before others within bounds only.
    pub is_bounded: bool,
    /// Its number in the order of asking.
    pub number: u64,
    /// True if operations of lower classes wait, other than background collection.
    pub others_wait: bool,
    /// The bound that the policy last set for the group.
    pub bound: Option<u64>,
    /// The number that the next operation will have.
    pub next: u64,
}

/// The operation that goes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// The operation goes; the group keeps this bound.
    Goes {
        /// Operations with this number or a later one no longer go before lower classes.
        bound: Option<u64>,
    },
    /// The operation that has waited longest goes, of whatever class, and nothing before it; the
    /// group has no bound any more once it has gone.
    Oldest,
}

/// Decides if an operation goes before others that may be due.
pub trait Turns {
    /// Decides on an operation. The same question always gets the same answer. If bounds do not
    /// bind the operation, the answer depends neither on its number nor on the next one, because
    /// the device also asks before the operation has a number.
    fn turn(&self, asking: &Asking) -> Turn;
}
