//! Members of an array: a drive each, or an NVM set of a drive.

use engine::typed_id;
use ftl::{Layout, SetId};
use host::Command;

typed_id! {
    /// A drive of an array.
    pub struct DriveId;
    /// A member of an array: all NVM sets of the first drive come first, and so on.
    pub struct MemberId;
}

/// Members of an array whose drives have this many NVM sets, of so many bytes.
#[derive(Clone, Copy, Debug)]
pub struct Members {
    sets: u32,
    count: u32,
    bytes: u64,
}

impl Members {
    /// The members of so many drives.
    pub fn new(drives: u32, layout: &Layout) -> Self {
        let sets = layout.set_count();
        Self { sets, count: drives * sets, bytes: layout.exported_bytes() / u64::from(sets) }
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
        Command { offset: command.offset + u64::from(set.0) * self.bytes, ..command }
    }
}
