//! A census of the operations: what each is doing or waiting for at present. It is taken from
//! the queues and the agenda when somebody asks, so that nothing is kept for it.

use crate::device::Device;
use crate::device::event::Event;
use crate::device::flash::op::{OpId, Owner};
use crate::device::port::request::RequestId;
use crate::device::write::buffer::EntryId;
use engine::Instant;
use std::collections::BTreeMap;

/// What an operation is doing or waiting for.
#[derive(Clone, Copy, Debug)]
pub enum Doing {
    /// Waits in the queue of its group.
    AwaitsUnit,
    /// Waits for its channel.
    AwaitsChannel,
    /// A program without a place, until its bin has space.
    AwaitsSpace,
    /// Has made way for reads.
    MakesWay,
    /// Is being interrupted: it has its unit and will make way.
    Stops,
    /// Goes on until what is due then.
    Goes(Event, Instant),
}

/// What everything in a drive is doing.
#[derive(Debug, Default)]
pub struct Census {
    /// Operations.
    pub ops: BTreeMap<OpId, Doing>,
    /// Those among them that are under way or wait for a channel: no more than there are units
    /// and what has a turn beside them, however many wait.
    pub begun: Vec<OpId>,
    /// Those among them that are of collections.
    pub collections: Vec<OpId>,
    /// Requests that something is due for themselves: they are taken in or answered.
    pub requests: Vec<(RequestId, Event, Instant)>,
    /// Buffer entries whose rest is being decoded.
    pub decoded: Vec<(EntryId, Instant)>,
}

impl Device {
    /// What everything is doing at present.
    pub(in crate::device) fn census(&self) -> Census {
        let mut census = Census::default();
        let ops = &mut census.ops;
        for (_, group) in self.base.flash.groups.iter() {
            ops.extend(group.waiting(&self.base.flash.ops).map(|id| (id, Doing::AwaitsUnit)));
        }
        for (_, channel) in self.base.flash.channels.iter() {
            ops.extend(channel.waiting(&self.base.flash.ops).map(|id| (id, Doing::AwaitsChannel)));
        }
        for (_, home) in self.base.space.bins.iter() {
            ops.extend(home.parked.iter().map(|(id, _)| (*id, Doing::AwaitsSpace)));
        }
        for group in self.base.flash.groups.ids() {
            let interrupted =
                self.base.flash.working_in(group).filter(|working| working.ends.is_none());
            let doing = |is_aside| if is_aside { Doing::MakesWay } else { Doing::Stops };
            ops.extend(interrupted.map(|working| (working.op, doing(working.is_aside))));
        }
        for (due, event) in self.base.time.agenda.pending() {
            match event {
                Event::Sensed(id)
                | Event::SensedRest(id)
                | Event::Programmed(id)
                | Event::Array(id)
                | Event::CarriedOut(id)
                | Event::CarriedIn(id)
                | Event::Commanded(id) => {
                    let doing = ops.entry(id).or_insert(Doing::Goes(event, due));
                    // Of an operation that was interrupted and goes on, the later one counts.
                    if let Doing::Goes(_, until) = doing
                        && *until < due
                    {
                        *doing = Doing::Goes(event, due);
                    }
                    if let Owner::StreamOut(program) = self.base.flash.ops[id].owner {
                        // The other package is as busy with it.
                        ops.insert(program, Doing::Goes(event, due));
                    }
                }
                Event::Dispatch(id) | Event::Answer(id) | Event::Complete(id) => {
                    census.requests.push((id, event, due));
                }
                Event::Fetched(entry) => census.decoded.push((entry, due)),
                Event::Partial(_)
                | Event::Idle(_)
                | Event::Scrub
                | Event::Look(_)
                | Event::Backlog(_) => {}
            }
        }
        let waits = |doing: &Doing| matches!(doing, Doing::AwaitsUnit | Doing::AwaitsSpace);
        let begun = census.ops.iter().filter(|(_, doing)| !waits(doing));
        census.begun = begun.map(|(id, _)| *id).collect();
        let collects = |id: &&OpId| self.base.flash.ops[**id].is_collection();
        census.collections = census.ops.keys().filter(collects).copied().collect();
        census
    }
}
