//! Looking in: what the drive says of itself.

use crate::device::{Counters, Device, RequestId};
use engine::Instant;
use ftl::Ftl;
use host::Command;
use metrics::Blame;

impl Device {
    /// The firmware's state.
    pub fn ftl(&self) -> &Ftl {
        &self.base.space.ftl
    }
    /// The firmware's state, for preconditioning a drive that is idle.
    ///
    /// # Panics
    /// If commands are outstanding.
    pub fn ftl_mut(&mut self) -> &mut Ftl {
        assert!(
            self.base.outstanding() == 0 && self.base.time.agenda.is_empty(),
            "only a quiescent drive is preconditioned"
        );
        &mut self.base.space.ftl
    }
    /// True if the auditor watches.
    pub fn is_audited(&self) -> bool {
        self.base.audit.is_some()
    }
    /// Whether writes of a part of a unit leave the rest of it in its planes.
    pub(crate) fn modifies(&self) -> bool {
        self.write.modifies()
    }
    /// The blame of a completed request; valid until the next submission.
    #[inline]
    pub fn blame(&self, id: RequestId) -> &Blame {
        self.port.requests.blame(id, self.base.flash.all_blames())
    }
    /// True if what waits has nothing to hope for from scrubbing, which goes on: no poll took
    /// a block, and nothing else is due; or each block was written anew twice and nothing went on.
    #[inline]
    pub fn scrubs_in_vain(&self) -> bool {
        self.gc.scrubs_in_vain(&self.base)
    }
    /// Commands submitted and not completed.
    pub fn outstanding(&self) -> u32 {
        self.base.outstanding()
    }
    /// What the auditor has counted of requests outstanding and queued, in request-nanoseconds.
    pub fn audited_outstanding_ns(&self) -> Option<(u128, u128)> {
        self.base.audit.as_ref().map(|audit| audit.outstanding_ns())
    }
    /// The moment that the drive has reached.
    pub fn now(&self) -> Instant {
        self.base.time.now
    }
    /// True if the drive holds data of a unit, in its buffer or on flash.
    pub fn has_data(&self, lpn: ftl::Lpn) -> bool {
        self.write.buffer.find(lpn).is_some() || self.base.space.ftl.lookup(lpn).is_some()
    }
    /// Flash operations so far.
    pub fn counters(&self) -> &Counters {
        self.base.flash.counters()
    }
    /// What is the longest is the longest from now on.
    pub fn begin_counting(&mut self) {
        self.base.flash.begin_counting();
    }
    /// Bytes that commands and what they cause take while they are under way.
    pub fn bytes_under_way(&self) -> u64 {
        self.base.flash.bytes() + self.port.requests.bytes()
    }
    /// Flash operations that were under way or waited at a time, at most.
    pub fn most_operations(&self) -> usize {
        self.base.flash.most_operations()
    }
    /// What went wrong with a policy of the user, if anything did.
    pub fn policy_fault(&self) -> Option<String> {
        self.base.space.ftl.policy_fault().or_else(|| self.base.flash.policy_fault())
    }
    /// Operations of collection that another one turned into.
    pub fn chained(&self) -> u64 {
        self.base.flash.chained()
    }
    /// A running hash of every completion, or, untimed, of every command and what the
    /// firmware did for it: equal digests, equal runs.
    pub fn digest(&self) -> u64 {
        self.port.digest()
    }
    /// How long each unit was busy so far, by unit.
    pub fn unit_busy(&mut self) -> Vec<engine::Span> {
        self.base.flash.unit_busy(&self.base.time)
    }
    /// How long each channel was busy so far, by channel.
    pub fn channel_busy(&mut self) -> Vec<engine::Span> {
        self.base.flash.channel_busy(&self.base.time)
    }
    /// Events handled or pending so far.
    pub fn events(&self) -> u64 {
        self.base.time.agenda.scheduled()
    }
    /// True if writes are acknowledged before they are on flash.
    pub fn acknowledges_early(&self) -> bool {
        self.write.acknowledges_early()
    }

    /// A request that has not completed: its command, what the submitter called it, and when
    /// it arrived.
    pub fn request(&self, id: RequestId) -> (Command, u32, Instant) {
        let request = &self.port.requests[id];
        (request.command, request.tag, request.arrived)
    }

    /// Why nothing goes on although commands are outstanding, for the error that
    /// ends such a run.
    pub fn why_stuck(&self) -> String {
        self.base.space.why_stuck().unwrap_or_else(|| {
            let (commands, buffer) = (self.base.outstanding(), self.write.buffer.describe());
            format!("{commands} commands wait and nothing is under way; {buffer}")
        })
    }
}
