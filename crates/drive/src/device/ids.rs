//! Ids that parts use for objects that another part owns.

use engine::typed_id;

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
