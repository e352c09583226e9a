//! The auditor of an array: each read gets what was acknowledged before it was submitted. The auditor
//! of each drive shows that the drive returns what it has acknowledged; here it is checked that the
//! part of a read that a member is sent lies where that member has acknowledged the newest write
//! that the host knows of.

use super::members::MemberId;
use super::ranges::Ranges;
use host::Command;
use std::collections::BTreeMap;

/// Writes by number, as the host and each member know them.
#[derive(Default)]
pub struct Audit {
    /// The newest writes that the host was told of.
    acknowledged: Ranges,
    /// By write: number of those that had come when the host was told of it.
    told_at: BTreeMap<u64, u64>,
    /// The newest ones that each member has acknowledged.
    members: Vec<Ranges>,
}

impl Audit {
    pub fn new(members: u32) -> Self {
        let members = (0..members).map(|_| Ranges::default()).collect();
        Self { acknowledged: Ranges::default(), told_at: BTreeMap::new(), members }
    }
    /// A command that changes data was answered to the host, when so many had come.
    pub fn answered(&mut self, command: Command, number: u64, come: u64) {
        self.told_at.insert(number, come);
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
            if let Some((at, _)) = has.into_iter().find(|(_, has)| *has < newest) {
                return Err(format!(
                    "member {} is read at bytes {} to {}, and lacks write {} there, which the host was told of",
                    member.0,
                    at.start,
                    at.end,
                    newest.unwrap_or_default()
                ));
            }
        }
        Ok(())
    }
    /// A member is sent a write, or another command that changes data.
    ///
    /// # Errors
    /// If it has a newer one of the same bytes, which came after the host was told of this one. Of two
    /// that were under way together, either may be the last.
    pub fn write(&self, member: MemberId, command: Command, number: u64) -> Result<(), String> {
        if !command.kind.has_range() {
            return Ok(());
        }
        let has = self.members[member.0 as usize].within(command.offset..command.end());
        let told_at = self.told_at.get(&number).copied().unwrap_or(u64::MAX);
        let is_newer = |has: u64| has > number && told_at <= has;
        match has.into_iter().find(|(_, has)| has.is_some_and(is_newer)) {
            None => Ok(()),
            Some((at, has)) => Err(format!(
                "member {} is sent write {number} at bytes {} to {}, and has the newer write {} there",
                member.0,
                at.start,
                at.end,
                has.unwrap_or_default()
            )),
        }
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
        audit.answered(write(0), 0, 2);
        assert_eq!(audit.read(MemberId(1), read), Ok(()));
        audit.answered(write(8), 1, 2);
        assert_eq!(audit.read(MemberId(0), read), Ok(()));
        let fault = audit.read(MemberId(1), read).expect_err("the second write is missing");
        assert!(
            fault.starts_with("member 1 is read at bytes 8 to 12, and lacks write 1 there"),
            "{fault}"
        );
        assert!(audit.finish().is_err());
        audit.written(MemberId(1), write(8), 1);
        assert_eq!(audit.write(MemberId(1), write(8), 1), Ok(()));
        // They were under way together.
        assert_eq!(audit.write(MemberId(1), write(4), 0), Ok(()));
        audit.answered(write(0), 0, 1);
        let fault = audit.write(MemberId(1), write(4), 0).expect_err("a newer one is there");
        let words = "member 1 is sent write 0 at bytes 8 to 12, and has the newer write 1 there";
        assert_eq!(fault, words);
        assert_eq!(audit.finish(), Ok(()));
    }
}
