//! Tokens: numbers that stand for the data of a unit.

use ftl::Lpn;
use std::collections::BTreeMap;

/// Parity of stripes of superblocks that is not on flash: a token for each slot, by the parity's block
/// and batch.
pub type InRam = BTreeMap<(u32, u32), Vec<u64>>;

/// Bits of a token for its content; the bits above them are its order.
const CONTENT_BITS: u32 = 24;
const CONTENT: u64 = (1 << CONTENT_BITS) - 1;

/// The order of everything that was written before the account began.
pub const BEFORE: u64 = 1;

/// The number of a token's write (or trim) in the order in which the drive takes them in.
pub const fn order(token: u64) -> u64 {
    token >> CONTENT_BITS
}
/// False for a unit that was trimmed or never written.
pub const fn has_data(token: u64) -> bool {
    token & CONTENT != 0
}
/// The token of a whole unit that is the `order`th to be taken in.
pub const fn written(order: u64, lpn: Lpn) -> u64 {
    order << CONTENT_BITS | content(order << 32 ^ lpn.0 as u64)
}
/// The token of a trimmed unit.
pub const fn trimmed(order: u64) -> u64 {
    order << CONTENT_BITS
}
/// The token of a unit with `token` as its written part and `rest` as its rest.
pub const fn merged(token: u64, rest: u64) -> u64 {
    order(token) << CONTENT_BITS | content(token ^ mix(rest))
}
/// A check number that differs from that of a unit without data.
pub const fn content(of: u64) -> u64 {
    mix(of) & CONTENT | 1
}
/// Scatters 64 bits (the finalizer of SplitMix64).
pub const fn mix(bits: u64) -> u64 {
    let z = bits.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// The XOR of some units' tokens, as a parity unit holds it; for all members except one and the
/// parity, the token of that one.
pub fn xor(tokens: impl IntoIterator<Item = u64>) -> u64 {
    tokens.into_iter().fold(0, |sum, token| sum ^ token)
}
/// Checks that a stripe's parity is that of its members; returns the difference if not.
pub fn check_stripe(members: impl IntoIterator<Item = u64>, parity: u64) -> Result<(), u64> {
    match xor(members) ^ parity {
        0 => Ok(()),
        off => Err(off),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A stripe of four units that hosts wrote one after the other.
    fn stripe() -> [u64; 4] {
        [0, 1, 2, 3].map(|unit| written(10 + unit, Lpn(unit as u32)))
    }

    #[test]
    fn a_stripe_that_was_written_agrees_with_its_parity() {
        assert_eq!(check_stripe(stripe(), xor(stripe())), Ok(()));
        assert_eq!(check_stripe([], 0), Ok(()), "nothing written, nothing in the parity");
    }

    #[test]
    fn a_stale_parity_is_found_and_a_new_one_agrees() {
        let mut members = stripe();
        let parity = xor(members);
        let (old, new) = (members[2], written(20, Lpn(2)));
        members[2] = new;
        assert_eq!(check_stripe(members, parity), Err(old ^ new), "the parity is stale");
        // Read-modify-write: the new parity follows from the old one and the member.
        assert_eq!(check_stripe(members, parity ^ old ^ new), Ok(()));
    }

    #[test]
    fn one_member_follows_from_the_others_and_the_parity() {
        let members = stripe();
        let parity = xor(members);
        for lost in 0..4 {
            let others = (0..4).filter(|index| *index != lost).map(|index| members[index]);
            assert_eq!(xor(others.chain([parity])), members[lost]);
        }
    }

    #[test]
    fn a_trimmed_member_counts_as_zero() {
        let mut members = stripe();
        let parity = xor(members) ^ members[1];
        members[1] = 0;
        assert_eq!(check_stripe(members, parity), Ok(()));
    }

    #[test]
    fn a_part_tells_what_it_was_merged_with() {
        let (old, new, part) = (written(5, Lpn(7)), written(6, Lpn(7)), written(9, Lpn(7)));
        assert_ne!(merged(part, old), merged(part, new), "a stale rest");
        assert_ne!(merged(part, old), part, "no rest at all");
        assert_eq!(order(merged(part, old)), 9, "the order is that of the part");
        // Three parts were merged one after the other; the first counts, too.
        let last = written(11, Lpn(7));
        assert_ne!(merged(last, merged(part, old)), merged(last, merged(part, new)));
    }

    #[test]
    fn what_is_trimmed_has_no_data_and_what_is_written_has() {
        for number in 0..100_000 {
            assert!(has_data(written(number, Lpn(number as u32 % 977))));
            assert!(has_data(merged(number << CONTENT_BITS, 0)));
        }
        assert!(!has_data(trimmed(17)) && order(trimmed(17)) == 17);
    }
}
