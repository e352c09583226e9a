//! Parity over members: the addresses of an array in which one of its members holds the parity of each
//! row of chunks, in turn.

use crate::array::members::MemberId;
use host::Command;
use std::ops::Range;

/// Rows of chunks, each of a chunk at every member.
#[derive(Clone, Copy, Debug)]
pub struct Stripes {
    pub members: u32,
    /// Bytes of a chunk.
    pub chunk: u64,
}

/// A part of a command that lies in one chunk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    pub member: MemberId,
    /// The member with the parity of its row.
    pub parity: MemberId,
    /// Its bytes at its member, and those of its parity at the other one.
    pub bytes: Range<u64>,
}

impl Stripes {
    /// Bytes of data in members of so many bytes: whole rows.
    pub fn data_bytes(&self, member_bytes: u64) -> u64 {
        member_bytes / self.chunk * self.chunk * u64::from(self.members - 1)
    }
    /// Bytes at each member that rows with a range of the array's bytes take.
    pub fn rows(&self, range: Range<u64>) -> Range<u64> {
        let row = self.chunk * u64::from(self.members - 1);
        range.start / row * self.chunk..range.end.div_ceil(row).saturating_mul(self.chunk)
    }
    /// The pieces of a command.
    pub fn pieces(&self, command: Command) -> impl Iterator<Item = Piece> + use<> {
        let (of, mut next, end) = (*self, command.offset, command.end());
        std::iter::from_fn(move || {
            (next < end).then(|| {
                let upto = end.min((next / of.chunk + 1) * of.chunk);
                let piece = of.piece(next, upto - next);
                next = upto;
                piece
            })
        })
    }
    fn piece(&self, offset: u64, bytes: u64) -> Piece {
        let members = u64::from(self.members);
        let (chunk, within) = (offset / self.chunk, offset % self.chunk);
        let (row, place) = (chunk / (members - 1), chunk % (members - 1));
        let parity = row % members;
        let member = (parity + 1 + place) % members;
        let start = row * self.chunk + within;
        Piece {
            member: MemberId(member as u32),
            parity: MemberId(parity as u32),
            bytes: start..start + bytes,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use host::Kind;
    use std::collections::BTreeSet;

    #[test]
    fn each_byte_has_a_place_of_its_own() {
        let stripes = Stripes { members: 4, chunk: 8 };
        assert_eq!(stripes.data_bytes(35), 4 * 8 * 3);
        let all = Command { kind: Kind::Read, offset: 0, bytes: 96 };
        let (mut data, mut parity) = (BTreeSet::new(), BTreeSet::new());
        let mut next = 0;
        for piece in stripes.pieces(all) {
            assert_ne!(piece.member, piece.parity);
            assert_eq!(stripes.rows(next..next + 8), piece.bytes);
            next += 8;
            for byte in piece.bytes {
                assert!(byte < 32 && data.insert((piece.member, byte)), "twice: {byte}");
                parity.insert((piece.parity, byte));
            }
        }
        assert_eq!((next, data.len(), parity.len()), (96, 96, 32));
        assert!(data.is_disjoint(&parity), "data and parity lie apart");
        // Parity lies at each member alike.
        let of = |member| parity.iter().filter(|(at, _)| *at == MemberId(member)).count();
        assert_eq!([0, 1, 2, 3].map(of), [8; 4]);
        let part = Command { offset: 30, bytes: 5, ..all };
        let pieces: Vec<u64> =
            stripes.pieces(part).map(|of| of.bytes.end - of.bytes.start).collect();
        assert_eq!(pieces, [2, 3]);
    }
}
