//! Places of requests and their data in the write buffer.

use crate::device::Time;
use crate::device::event::Event;
use crate::device::ids::of_tagged;
use crate::device::ids::{EntryId, RequestId, UpdateId};
use crate::device::write::Write;
use crate::device::write::buffer::Stage;
use engine::Instant;
use ftl::{Lpn, PoolId, Stripes};

/// The obstacle of a request before its data, if it has any, is taken in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admission {
    /// Room in the buffer, behind `ahead` other requests.
    Room { ahead: usize, used: u32, capacity: u32 },
    /// The programs of all entries up to an epoch.
    Flush { epoch: u64 },
}

/// Place of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The rest of its unit is being read, or decoded.
    Rest(EntryId),
    /// In a pool's list, since that moment.
    List(PoolId, Instant),
    /// In an update of its stripe, or behind one.
    Update(UpdateId),
    /// In a program.
    Program(EntryId),
}

impl Write {
    /// The obstacle of a request before its data is taken in.
    pub(in crate::device) fn admission(&self, id: RequestId) -> Option<Admission> {
        let (used, capacity) = (self.buffer.used(), self.buffer.capacity());
        let room = self.buffer.ahead_of(id).map(|ahead| Admission::Room { ahead, used, capacity });
        room.or_else(|| Some(Admission::Flush { epoch: self.buffer.epoch_of_flush(id)? }))
    }

    /// Entries that a request waits for: for a read, data that is not complete; for a write that is
    /// acknowledged from flash, its own data. `flying` are the entries that programs carry.
    pub(in crate::device) fn awaited_by(
        &self,
        id: RequestId,
        time: &Time,
        flying: &[EntryId],
    ) -> Vec<EntryId> {
        let is_own = |entry: &EntryId| {
            self.buffer.entry(*entry).writer.is_some_and(|(writer, _)| writer == id)
        };
        let listed = self.pools.ids().flat_map(|pool| self.buffer.waiting_in(pool));
        let in_updates: Vec<EntryId> =
            self.updates.iter().flat_map(|updates| updates.entries()).collect();
        let ready = self.updates.iter().flat_map(|updates| updates.ready_entries());
        let alone = ready.filter(|entry| !in_updates.contains(entry));
        let unprogrammed =
            in_updates.iter().copied().filter(|entry| !flying.contains(entry)).chain(alone);
        let all = self.incomplete(time).chain(listed).chain(unprogrammed);
        let all = all.chain(flying.iter().copied());
        self.buffer.awaited_by(id).chain(all.filter(is_own)).collect()
    }

    /// Entries whose units are not complete: the rest is being read or decoded.
    pub(in crate::device) fn incomplete(&self, time: &Time) -> impl Iterator<Item = EntryId> {
        let read = self.rmw_reads.iter().map(|(entry, _)| entry);
        let decoded = time.agenda.pending().filter_map(|(_, event)| match event {
            Event::RestRead(tagged) => {
                let (set, entry) = of_tagged(self.sets, tagged);
                (set == self.set).then_some(entry)
            }
            _ => None,
        });
        read.chain(decoded).chain(self.followers.iter().map(|(_, entry)| *entry))
    }

    /// The first entry of each pool's list.
    pub(in crate::device) fn first_listed(&self) -> impl Iterator<Item = (PoolId, EntryId)> {
        self.pools.ids().filter_map(|pool| Some((pool, self.buffer.head(pool)?)))
    }

    /// True if an entry is of an epoch, or of one before.
    pub(in crate::device) fn is_up_to(&self, epoch: u64, entry: EntryId) -> bool {
        self.buffer.entry(entry).epoch <= epoch
    }

    /// Place of an entry; one that waits for an older entry has the place of that.
    pub(in crate::device) fn place_of(
        &self,
        stripes: Option<Stripes>,
        mut entry: EntryId,
    ) -> Place {
        while let Some((older, _)) = self.followers.iter().find(|(_, own)| **own == entry) {
            entry = older;
        }
        let kept = self.buffer.entry(entry);
        match kept.stage {
            Stage::ReadingRest => Place::Rest(entry),
            Stage::Pending => Place::List(kept.pool, kept.since),
            Stage::Behind => self
                .update_of_stripe(stripes, kept.lpn)
                .map_or(Place::Program(entry), Place::Update),
            Stage::Modifying | Stage::Void | Stage::Flying => Place::Program(entry),
        }
    }

    /// The present update of an entry's stripe.
    pub(in crate::device) fn update_of_entry(
        &self,
        stripes: Option<Stripes>,
        entry: EntryId,
    ) -> Option<UpdateId> {
        self.update_of_stripe(stripes, self.buffer.entry(entry).lpn)
    }

    /// The present update of a unit's stripe.
    fn update_of_stripe(&self, stripes: Option<Stripes>, lpn: Lpn) -> Option<UpdateId> {
        self.updates.as_ref()?.of(stripes?.of(lpn))
    }
}
