//! Bytes that members were sent to write, and the choice of two chunks that change places.
//!
//! An exchange writes as much to either member, so it does not change by how much one was written more
//! than the other. It changes what they will be written. So the plan predicts: it adds the recent
//! writes of hosts, which may come again, to the difference that there is.

use super::chunks::{ChunkId, Map};
use crate::array::members::MemberId;
use settings::Share;

/// The counts of chunks are halved each time that hosts have written so many times the bytes of a member.
const MEMORY: u64 = 4;

/// Constants of the choice.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Bytes of a chunk, and of a member.
    pub chunk: u64,
    pub member: u64,
    /// The difference of written bytes above which chunks change places.
    pub gap: u64,
    /// Most bytes that are copied for each byte of hosts.
    pub copies: Share,
}

/// Bytes that a member was sent to write.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Written {
    /// Bytes of hosts.
    pub host: u64,
    /// Bytes that the plan has copied.
    pub copied: u64,
}

impl Written {
    fn all(&self) -> u64 {
        self.host + self.copied
    }
}

/// Counts of writes, by member and by chunk.
pub struct Wear {
    limits: Limits,
    members: Vec<Written>,
    /// Recent bytes of hosts in each chunk.
    recent: Vec<u64>,
    /// Bytes of hosts, and the numbers of these at which counts are halved and a choice is due.
    hosts: u64,
    halves_at: u64,
    chooses_at: u64,
}

impl Wear {
    pub fn new(limits: Limits, members: u32, chunks: u64) -> Self {
        Self {
            limits,
            members: vec![Written::default(); members as usize],
            recent: vec![0; chunks as usize],
            hosts: 0,
            halves_at: MEMORY * limits.member,
            chooses_at: limits.chunk,
        }
    }

    /// Bytes of each member.
    pub fn members(&self) -> &[Written] {
        &self.members
    }
    /// Bytes that the plan has copied.
    pub fn copied(&self) -> u64 {
        self.members.iter().map(|written| written.copied).sum()
    }
    /// A member is sent bytes of a host.
    pub fn add_host(&mut self, member: MemberId, bytes: u64) {
        self.members[member.0 as usize].host += bytes;
    }
    /// A member is sent a copy.
    pub fn add_copy(&mut self, member: MemberId, bytes: u64) {
        self.members[member.0 as usize].copied += bytes;
    }
    /// A host writes bytes of a chunk, wherever it lies.
    pub fn add_recent(&mut self, chunk: ChunkId, bytes: u64) {
        self.recent[chunk.0 as usize] += bytes;
        self.hosts += bytes;
        if self.hosts >= self.halves_at {
            self.halves_at += MEMORY * self.limits.member;
            self.recent.iter_mut().for_each(|bytes| *bytes /= 2);
        }
    }

    /// Two chunks that change places, if a choice is due and an exchange is of use: one of the member
    /// that was written most, and one of the member that was written least.
    pub fn choose(&mut self, map: &Map) -> Option<[ChunkId; 2]> {
        if self.hosts < self.chooses_at {
            return None;
        }
        self.chooses_at = self.hosts + self.limits.chunk;
        let copied = self.copied() + 2 * self.limits.chunk;
        let may_copy = self.hosts as f64 * self.limits.copies.fraction();
        let [most, least] = self.apart()?;
        if copied as f64 > may_copy {
            return None;
        }
        let predicted = self.difference([most, least]) + signed(self.recent_at(map, most))
            - signed(self.recent_at(map, least));
        if predicted <= signed(self.limits.gap) {
            return None;
        }
        let cold = *map.at(least).iter().min_by_key(|chunk| self.recent_of(**chunk))?;
        let hot = self.fitting(map.at(most), self.recent_of(cold), predicted)?;
        Some([hot, cold])
    }

    /// The member that was written most and the one that was written least, if they lie apart.
    fn apart(&self) -> Option<[MemberId; 2]> {
        let members = || (0..self.members.len() as u32).map(MemberId);
        let all = |member: &MemberId| self.members[member.0 as usize].all();
        let most = members().rev().max_by_key(all)?;
        let least = members().min_by_key(all)?;
        (self.difference([most, least]) > signed(self.limits.gap)).then_some([most, least])
    }

    fn difference(&self, members: [MemberId; 2]) -> i64 {
        let [one, other] = members.map(|member| signed(self.members[member.0 as usize].all()));
        one - other
    }

    fn recent_of(&self, chunk: ChunkId) -> u64 {
        self.recent[chunk.0 as usize]
    }

    fn recent_at(&self, map: &Map, member: MemberId) -> u64 {
        map.at(member).iter().map(|chunk| self.recent_of(*chunk)).sum()
    }

    /// The chunk whose exchange with a cold one brings the predicted difference closest to 0; the first
    /// of several such. Hosts have written it by half a chunk more than the cold one, or more.
    fn fitting(&self, chunks: &[ChunkId], cold: u64, predicted: i64) -> Option<ChunkId> {
        let moved = |chunk: ChunkId| signed(self.recent_of(chunk)) - signed(cold);
        let is_of_use = |chunk: &ChunkId| {
            2 * moved(*chunk) >= signed(self.limits.chunk) && moved(*chunk) < predicted
        };
        let left = |chunk: &ChunkId| (predicted - 2 * moved(*chunk)).abs();
        chunks.iter().copied().filter(is_of_use).min_by_key(left)
    }
}

fn signed(bytes: u64) -> i64 {
    i64::try_from(bytes).expect("less than 2^63 bytes are written")
}
