//! Inspection of a drive.

use crate::device::gc::turn::Found;
use crate::device::{
    Counters, Device, ErrorCounters, PressureCounts, RequestId, ScrubCounts, TaskCounts,
};
use engine::Instant;
use ftl::{Ftl, SetId};
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
    /// Counts of errors, if flash has any.
    pub fn errors(&self) -> Option<&ErrorCounters> {
        self.base.errors.as_ref().map(|errors| errors.counters())
    }
    /// True if the drive is audited.
    pub fn is_audited(&self) -> bool {
        self.base.audit.is_some()
    }
    /// True if a partial write is an in-plane read-modify-write.
    pub(crate) fn modifies(&self) -> bool {
        self.write.first().modifies()
    }
    /// The blame of a completed request; valid until the next submission.
    #[inline]
    pub fn blame(&self, id: RequestId) -> &Blame {
        self.port.requests.blame(id, self.base.flash.all_blames())
    }
    /// True if scrubbing, which goes on, will not help the waiting commands: no poll took a block,
    /// and no other event is due; or each block was rewritten twice without any progress.
    #[inline]
    pub fn scrubs_in_vain(&self) -> bool {
        self.gc.scrubs_in_vain(&self.base)
    }
    /// Counts of scrubbing, if there is any.
    pub fn scrub_counts(&self) -> Option<ScrubCounts> {
        self.gc.scrubbing().map(|turns| turns.iter().map(|turn| turn.counts()).sum())
    }
    /// Counts of scrubbing by NVM set, if there is any.
    pub fn scrub_counts_of_sets(&self) -> Option<Vec<ScrubCounts>> {
        self.gc.scrubbing().map(|turns| turns.iter().map(|turn| turn.counts()).collect())
    }
    /// The highest expected errors that the last polls of scrubbing found, and the blocks above the
    /// policy's limit that they did not take.
    pub fn scrub_found(&self) -> Option<(f64, u32)> {
        let found: Found = self.gc.scrubbing()?.iter().map(|turn| turn.found()).sum();
        Some((found.highest, found.left))
    }
    /// Counts of the firmware's tasks by NVM set, if their number is limited.
    pub fn task_counts(&mut self) -> Option<Vec<TaskCounts>> {
        self.base.task_counts()
    }
    /// Counts of an NVM set's programs, if the number of outstanding ones is limited.
    pub fn pressure_counts(&mut self, set: SetId) -> Option<PressureCounts> {
        self.base.pressure_counts(set)
    }
    /// Commands submitted and not completed.
    pub fn outstanding(&self) -> u32 {
        self.base.outstanding()
    }
    /// The auditor's count of requests outstanding and queued, in request-nanoseconds.
    pub fn audited_outstanding_ns(&self) -> Option<(u128, u128)> {
        self.base.audit.as_ref().map(|audit| audit.outstanding_ns())
    }
    /// The moment that the drive has reached.
    pub fn now(&self) -> Instant {
        self.base.time.now
    }
    /// True if the drive holds data of a unit, in its buffer or on flash.
    pub fn has_data(&self, lpn: ftl::Lpn) -> bool {
        let write = &self.write[self.base.space.ftl.layout.set_of(lpn)];
        write.buffer.find(lpn).is_some()
            || self.base.space.ftl.lookup(lpn).is_some()
            || write.is_lost(&self.base, lpn)
    }
    /// Flash operations so far.
    pub fn counters(&self) -> &Counters {
        self.base.flash.counters()
    }
    /// Begins to record the reads that meet collection ([`super::Completion::met`]), and the time for
    /// which collection holds each unit.
    pub fn record_collection(&mut self) {
        self.port.record_collection();
        self.base.flash.record_holds(&self.base.time);
    }
    /// True if reads that meet collection are recorded.
    #[inline]
    pub fn records_holds(&self) -> bool {
        self.port.records_holds()
    }
    /// Time for which collection has held each unit since that is recorded.
    pub fn unit_held(&mut self) -> Option<Vec<engine::Span>> {
        self.base.flash.unit_held(&self.base.time)
    }
    /// Bins of whose collection a flash operation is under way, or waits.
    pub fn bins_at_collection(&self) -> std::collections::BTreeSet<ftl::BinId> {
        let ops = self.base.flash.op_ids().into_iter().map(|id| self.base.flash.op(id));
        ops.filter(|op| op.is_collection()).map(|op| op.bin).collect()
    }
    /// Begins a new maximum of the longest collection.
    pub fn begin_counting(&mut self) {
        self.base.flash.begin_counting();
        if let Some(tasks) = &mut self.base.tasks {
            tasks.iter_mut().for_each(|of| of.begin_counting(self.base.time.now));
        }
        if let Some(pressure) = &mut self.base.space.pressure {
            pressure.begin_counting(self.base.time.now);
        }
    }
    /// Bytes that commands and their operations take while they are under way.
    pub fn bytes_under_way(&self) -> u64 {
        self.base.flash.bytes() + self.port.requests.bytes()
    }
    /// Greatest number of flash operations that were under way or waiting at a time.
    pub fn most_operations(&self) -> usize {
        self.base.flash.most_operations()
    }
    /// The fault of a policy of the user, if there was one.
    pub fn policy_fault(&self) -> Option<String> {
        self.base.space.ftl.policy_fault().or_else(|| self.base.flash.policy_fault())
    }
    /// Number of operations of collection that another one turned into.
    pub fn chained(&self) -> u64 {
        self.base.flash.chained()
    }
    /// A running hash of every completion, or, in an untimed run, of every command and the
    /// firmware's work for it. Equal runs have equal digests.
    pub fn digest(&self) -> u64 {
        self.port.digest()
    }
    /// A running hash of every completion of an NVM set. With a free link and free firmware, and if
    /// no channel is shared, it does not depend on what happens in other sets.
    pub fn digest_of(&self, set: ftl::SetId) -> u64 {
        self.port.digest_of(set)
    }
    /// Busy time so far, by unit.
    pub fn unit_busy(&mut self) -> Vec<engine::Span> {
        self.base.flash.unit_busy(&self.base.time)
    }
    /// Busy time so far, by channel.
    pub fn channel_busy(&mut self) -> Vec<engine::Span> {
        self.base.flash.channel_busy(&self.base.time)
    }
    /// Events handled or pending so far.
    pub fn events(&self) -> u64 {
        self.base.time.agenda.scheduled()
    }
    /// True if writes are acknowledged before they are on flash.
    pub fn acknowledges_early(&self) -> bool {
        self.write.first().acknowledges_early()
    }

    /// A request that has not completed: its command, the submitter's tag, and the moment of its
    /// arrival.
    pub fn request(&self, id: RequestId) -> (Command, u32, Instant) {
        let request = &self.port.requests[id];
        (request.command, request.tag, request.arrived)
    }

    /// The reason why commands are outstanding but nothing goes on, for the error that ends such a
    /// run.
    pub fn why_stuck(&self) -> String {
        self.base.space.why_stuck().unwrap_or_else(|| {
            let commands = self.base.outstanding();
            let buffers: Vec<String> = self.write.iter().map(|of| of.buffer.describe()).collect();
            format!("{commands} commands wait and nothing is under way; {}", buffers.join("; "))
        })
    }
}
