//! The auditor of an array: each read gets what was acknowledged before it was submitted. The auditor
//! of each drive shows that the drive returns what it has acknowledged; here it is checked that the
//! part of a read that a member is sent lies where that member has acknowledged the newest write
//! that the host knows of.

use super::members::MemberId;
use super::ranges::Ranges;
use host::Command;

/// Writes by number, as the host and each member know them.
#[derive(Default)]
pub struct Audit {
    /// The newest writes that the host was told of.
    acknowledged: Ranges,
    /// The newest ones that each member has acknowledged.
    members: Vec<Ranges>,
}

impl Audit {
    pub fn new(members: u32) -> Self {
        let members = (0..members).map(|_| Ranges::default()).collect();
        Self { acknowledged: Ranges::default(), members }
    }
    /// A command that changes data was answered to the host.
    pub fn answered(&mut self, command: Command, number: u64) {
        if command.kind.has_range() {
            self.acknowledged.write(command.offset..command.end(), number);
        }
    }
    /// A member has acknowledged it.
    pub fn written(&mut self, member: MemberId, command: Command, number: u64) {
        if command.kind.has_range() {
            self.members[member.0 as usize].write(command.offset..command.end(), number);
        }
    }
    /// A member is sent a part of a read.
    ///
    /// # Errors
    /// If the member lacks something.
    pub fn read(&self, member: MemberId, command: Command) -> Result<(), String> {
        let of_member = &self.members[member.0 as usize];
        for (range, newest) in self.acknowledged.within(command.offset..command.end()) {
            let has = of_member.within(range.clone());
            if let Some((at, has)) = has.into_iter().find(|(_, has)| *has < newest) {
                return Err(format!(
                    "member {} is read at bytes {at:?}, where write {newest:?} was acknowledged, and has write {has:?}",
                    member.0
                ));
            }
        }
        Ok(())
    }
    /// Checks at the end that every member has every write.
    ///
    /// # Errors
    /// If a member lacks something.
    pub fn finish(&self) -> Result<(), String> {
        let all = Command { kind: host::Kind::Read, offset: 0, bytes: u64::MAX };
        (0..self.members.len() as u32).try_for_each(|member| self.read(MemberId(member), all))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use host::Kind;

    #[test]
    fn a_read_of_what_a_member_lacks_is_a_fault() {
        let mut audit = Audit::new(2);
        let write = |offset| Command { kind: Kind::Write, offset, bytes: 8 };
        let read = Command { kind: Kind::Read, offset: 4, bytes: 8 };
        audit.written(MemberId(0), write(0), 0);
        audit.written(MemberId(0), write(8), 1);
        audit.written(MemberId(1), write(0), 0);
        // Nobody was told of the second write.
        audit.answered(write(0), 0);
        assert_eq!(audit.read(MemberId(1), read), Ok(()));
        audit.answered(write(8), 1);
        assert_eq!(audit.read(MemberId(0), read), Ok(()));
        let fault = audit.read(MemberId(1), read).expect_err("the second write is missing");
        assert!(fault.starts_with("member 1 is read at bytes 8..12"), "{fault}");
        assert!(audit.finish().is_err());
        audit.written(MemberId(1), write(8), 1);
        assert_eq!(audit.finish(), Ok(()));
    }
}
