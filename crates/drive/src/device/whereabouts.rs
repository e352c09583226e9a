//! The flash units that commands need, and how those units spent their time: for closed loops, whose
//! whole queue may wait for one of them.

use super::Device;
use super::request::Touches;
use engine::Span;
use ftl::{Lpn, SetId};
use host::{Command, Kind};
use metrics::State;
use nand::GroupId;
use std::collections::BTreeSet;

impl Device {
    /// Time so far for which waits for each unit were charged to a state.
    pub fn unit_spent(&mut self, state: State) -> Vec<Span> {
        self.base.flash.unit_spent(&self.base.time, state)
    }

    /// The numbers of the units that the blocks of an NVM set lie on.
    pub fn units_of_set(&self, set: SetId) -> BTreeSet<usize> {
        let (base, flash) = (&self.base, &self.base.flash);
        let bins = base.space.bins().filter(|bin| base.set_of_bin(*bin) == set);
        let groups = |bin| (0..flash.lanes()).map(move |lane| flash.place_of(bin, lane).group);
        bins.flat_map(groups).flat_map(|group| flash.units_of(group)).collect()
    }

    /// The groups of units that hold the data of a read and of all commands with this tag that have not
    /// completed; `None` if one of them is no read.
    pub fn groups_of_reads(&self, command: Command, tag: u32) -> Option<BTreeSet<GroupId>> {
        let requests = self.port.requests.ids().into_iter().map(|id| &self.port.requests[id]);
        let others = requests.filter(|request| request.tag == tag).map(|request| request.command);
        let all: Vec<Command> = others.chain([command]).collect();
        let are_reads = all.iter().all(|command| command.kind == Kind::Read);
        are_reads.then(|| all.into_iter().flat_map(|command| self.groups_of(command)).collect())
    }

    /// The groups of units that hold the data of a range.
    pub fn groups_of(&self, command: Command) -> impl Iterator<Item = GroupId> {
        let (first, behind) = command.units(&self.base.space.ftl.layout);
        let places = (first..behind).filter_map(|lpn| self.base.space.ftl.lookup(Lpn(lpn)));
        places.map(|ppn| {
            let (bin, batch, _) = self.base.space.planes_of(ppn);
            self.base.flash.place_of(bin, batch).group
        })
    }
}
