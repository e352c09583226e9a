//! Members of an array: a drive each, or an NVM set of a drive.

use crate::namespaces;
use engine::ids::Id;
use engine::typed_id;
use ftl::{Layout, SetId};
use host::Command;

typed_id! {
    /// A drive of an array.
    pub struct DriveId;
    /// A member of an array: all NVM sets of the first drive come first, and so on.
    pub struct MemberId;
}

/// Members of an array whose drives have this many NVM sets.
#[derive(Clone, Debug)]
pub struct Members {
    sets: u32,
    count: u32,
    /// First byte of each NVM set in its drive.
    begins: Vec<u64>,
}

impl Members {
    /// The members of so many drives.
    pub fn new(drives: u32, layout: &Layout) -> Self {
        let sets = layout.set_count();
        let begins = layout.set_ids().map(|set| namespaces::of_set(layout, set).offset);
        Self { sets, count: drives * sets, begins: begins.collect() }
    }
    /// Number of members.
    pub fn count(&self) -> u32 {
        self.count
    }
    /// The drive and the NVM set of a member.
    pub fn place(&self, member: MemberId) -> (DriveId, SetId) {
        (DriveId(member.0 / self.sets), SetId(member.0 % self.sets))
    }
    /// The command that a member's drive gets for one of the array.
    pub fn command(&self, member: MemberId, command: Command) -> Command {
        let (_, set) = self.place(member);
        Command { offset: command.offset + self.begins[set.index()], ..command }
    }
}
