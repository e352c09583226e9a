//! Ids that parts use for objects that another part owns.

use engine::typed_id;
use ftl::SetId;

typed_id! {
    /// An operation.
    pub struct OpId;
    /// The units that a program carries.
    pub struct PayloadId;
    /// A command in the drive.
    pub struct RequestId;
    /// A unit in the write buffer.
    pub struct EntryId;
    /// An update of a stripe.
    pub struct UpdateId;
    /// Parity of a stripe on its way to flash.
    pub struct ParityId;
    /// Data on failed flash that is being rebuilt.
    pub struct JobId;
    /// A failure of flash.
    pub struct FailureId;
    /// A read whose data could not be decoded so far.
    pub struct RecoveryId;
    /// Data of a read that is computed from the rest of its stripes.
    pub struct RebuildId;
}

/// Bits of an entry's number where the drive has NVM sets, each with entries of its own.
pub const BITS_OF_ENTRY: u32 = 22;

/// An entry among those of all of `sets` NVM sets: a drive without sets has the entry itself.
#[inline]
pub fn tagged(set: SetId, sets: u32, entry: EntryId) -> EntryId {
    if sets == 1 {
        return entry;
    }
    assert!(entry.0 >> BITS_OF_ENTRY == 0, "a set has fewer entries");
    EntryId(set.0 << BITS_OF_ENTRY | entry.0)
}
/// The set and the entry that [`tagged`] has joined.
#[inline]
pub fn of_tagged(sets: u32, tagged: EntryId) -> (SetId, EntryId) {
    if sets == 1 {
        return (SetId(0), tagged);
    }
    (SetId(tagged.0 >> BITS_OF_ENTRY), EntryId(tagged.0 & ((1 << BITS_OF_ENTRY) - 1)))
}
