//! Question to a rotation.

/// The collections of a group of stripes, from the point of view of one that is to choose a victim.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Group {
    /// Other collections that have begun and have not erased their victims.
    pub under_way: u32,
    /// True if others wait for their turn.
    pub others_wait: bool,
    /// Share of all bins of the drive that are short of space: at or below the foreground threshold.
    pub short: f64,
}

/// Decides if a collection may begin.
pub trait Begins {
    /// True if it may. A collection that is alone in its group, and for which
    /// no other waits, always may.
    fn begins(&self, group: &Group) -> bool;
}
