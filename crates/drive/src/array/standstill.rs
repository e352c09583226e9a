//! Standstills of closed loops whose requests go to members of an array.

use super::ArrayRun;
use super::plan::act::HostId;
use super::requests::Sent;
use crate::device::Completion;
use engine::Span;
use host::Kind;
use std::collections::BTreeSet;

impl ArrayRun {
    /// Counts the standstill of a closed loop's whole queue, if there was one before this answer.
    #[cold]
    #[inline(never)]
    pub(super) fn note_pause(&mut self, id: HostId, completion: &Completion, pause: Span) {
        let blame = &self.requests.get(id).blame;
        let initiator = &self.initiators[completion.tag as usize];
        let Some(stood) = initiator.standstill(pause, blame) else { return };
        let is_behind_one = stood.is_on_flash && self.is_behind_one(id);
        self.measured.note_standstill(completion, (stood, is_behind_one), blame);
    }

    /// True if an answered request of an initiator and all of its others are reads that members were sent
    /// and whose data lies on the same group of flash units.
    fn is_behind_one(&self, id: HostId) -> bool {
        let index = self.requests.get(id).initiator;
        let is_own = |sent: &Sent| {
            sent.of.is_some_and(|of| {
                self.requests.unanswered(of).is_some() && self.requests.get(of.0).initiator == index
            })
        };
        let all = self.sent.ids().into_iter().map(|id| self.sent[id]).filter(is_own);
        let parts: Vec<Sent> = all.chain(self.ended).collect();
        let requests: BTreeSet<u64> =
            parts.iter().filter_map(|part| part.of.map(|(_, number)| number)).collect();
        let groups: BTreeSet<_> = parts.iter().flat_map(|part| self.groups_of(part)).collect();
        requests.len() as u32 == self.initiators[index as usize].depth
            && parts.iter().all(|part| part.command.kind == Kind::Read)
            && groups.len() == 1
    }

    /// The groups of flash units that hold the data of a part, with its drive.
    fn groups_of(&self, part: &Sent) -> impl Iterator<Item = (u32, nand::GroupId)> {
        let (drive, _) = self.members.place(part.to);
        let own = self.members.command(part.to, part.command);
        self.drives.get(drive).groups_of(own).map(move |group| (drive.0, group))
    }
}
