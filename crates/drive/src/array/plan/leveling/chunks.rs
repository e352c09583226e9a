//! Chunks of the namespace: the member and the place of each.

use crate::array::members::MemberId;
use engine::typed_id;
use host::Command;
use std::ops::Range;

typed_id! {
    /// A chunk of the namespace.
    pub struct ChunkId;
}

/// Chunks of an array whose members hold parts of its namespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chunks {
    /// Number of members.
    pub members: u32,
    /// Bytes of a chunk.
    pub bytes: u64,
    /// Chunks at each member.
    pub places: u64,
}

impl Chunks {
    /// The chunks of members of so many bytes, in whole chunks.
    pub fn new(members: u32, bytes: u64, member_bytes: u64) -> Self {
        Self { members, bytes, places: member_bytes / bytes }
    }
    /// Number of chunks.
    pub fn count(&self) -> u64 {
        u64::from(self.members) * self.places
    }
    /// Bytes of a member in whole chunks.
    pub fn member_bytes(&self) -> u64 {
        self.places * self.bytes
    }
    /// Bytes of the namespace.
    pub fn all_bytes(&self) -> u64 {
        self.count() * self.bytes
    }
    /// Bytes that the host needs for the map of chunks and the counts of their writes.
    pub fn host_bytes(&self) -> u64 {
        let by_chunk = size_of::<Place>() + size_of::<ChunkId>() + size_of::<u64>();
        self.count() * by_chunk as u64
    }
    /// The chunks of a command, each with the bytes that it has in common with the command.
    pub fn of(&self, command: Command) -> impl Iterator<Item = (ChunkId, Range<u64>)> + use<> {
        let (bytes, mut next, end) = (self.bytes, command.offset, command.end());
        std::iter::from_fn(move || {
            (next < end).then(|| {
                let chunk = next / bytes;
                let part = next..end.min((chunk + 1) * bytes);
                next = part.end;
                (ChunkId(chunk as u32), part)
            })
        })
    }
}

/// A place for a chunk at a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    pub member: MemberId,
    pub index: u32,
}

/// The place of each chunk, and the chunk at each place.
pub struct Map {
    chunks: Chunks,
    places: Vec<Place>,
    at: Vec<Vec<ChunkId>>,
}

impl Map {
    /// Each member holds a part of the namespace, in order.
    pub fn new(chunks: Chunks) -> Self {
        let places = chunks.places as u32;
        let members = 0..chunks.members;
        let of = |member: u32| (0..places).map(move |index| ChunkId(member * places + index));
        let place =
            |member: u32| (0..places).map(move |index| Place { member: MemberId(member), index });
        Self {
            chunks,
            places: members.clone().flat_map(place).collect(),
            at: members.map(|member| of(member).collect()).collect(),
        }
    }
    /// The chunks.
    pub fn chunks(&self) -> Chunks {
        self.chunks
    }
    /// The place of a chunk.
    pub fn place(&self, chunk: ChunkId) -> Place {
        self.places[chunk.0 as usize]
    }
    /// The chunks at a member, by their places.
    pub fn at(&self, member: MemberId) -> &[ChunkId] {
        &self.at[member.0 as usize]
    }
    /// Gives each of two chunks the place of the other one.
    pub fn exchange(&mut self, [one, other]: [ChunkId; 2]) {
        self.places.swap(one.0 as usize, other.0 as usize);
        for chunk in [one, other] {
            let Place { member, index } = self.place(chunk);
            self.at[member.0 as usize][index as usize] = chunk;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use host::Kind;

    #[test]
    fn chunks_lie_in_order_and_have_each_other_s_place_after_an_exchange() {
        let chunks = Chunks::new(3, 8, 35);
        assert_eq!((chunks.places, chunks.count(), chunks.all_bytes()), (4, 12, 96));
        let mut map = Map::new(chunks);
        let place = |member, index| Place { member: MemberId(member), index };
        assert_eq!(
            [0, 3, 4, 11].map(|chunk| map.place(ChunkId(chunk))),
            [place(0, 0), place(0, 3), place(1, 0), place(2, 3)]
        );
        map.exchange([ChunkId(1), ChunkId(10)]);
        map.exchange([ChunkId(10), ChunkId(7)]);
        assert_eq!(
            [1, 7, 10].map(|chunk| map.place(ChunkId(chunk))),
            [place(2, 2), place(0, 1), place(1, 3)]
        );
        for chunk in (0..12).map(ChunkId) {
            let Place { member, index } = map.place(chunk);
            assert_eq!(map.at(member)[index as usize], chunk);
        }
    }

    #[test]
    fn a_command_over_a_border_has_two_chunks() {
        let chunks = Chunks::new(2, 8, 16);
        let command = Command { kind: Kind::Write, offset: 6, bytes: 12 };
        let of: Vec<_> = chunks.of(command).collect();
        assert_eq!(of, [(ChunkId(0), 6..8), (ChunkId(1), 8..16), (ChunkId(2), 16..18)]);
    }
}
