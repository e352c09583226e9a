//! The flash units that commands need, and how those units spent their time: for closed loops, whose
//! whole queue may wait for one of them.

use super::Device;
use super::ids::RequestId;
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

    /// True if `command` and all commands with this tag that have not completed are reads, and the data of
    /// all of them lie in one group of units.
    pub fn read_one_group(&self, command: Command, tag: u32) -> bool {
        let mut group = None;
        // Mostly a few commands show that there are several groups.
        let is_there = |command: Command, group: &mut Option<GroupId>| {
            let is_same = |of| *group.get_or_insert(of) == of;
            command.kind == Kind::Read && self.groups_of(command).all(is_same)
        };
        let requests = &self.port.requests;
        let is_other = |id: &RequestId| requests[*id].tag == tag;
        is_there(command, &mut group)
            && requests
                .ids()
                .into_iter()
                .filter(is_other)
                .all(|id| is_there(requests[id].command, &mut group))
            && group.is_some()
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
