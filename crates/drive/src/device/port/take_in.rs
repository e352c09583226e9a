//! The path of a command into the drive, and of its completion out.

use crate::device::RequestId;
use crate::device::blames::Blames;
use crate::device::port::Port;
use crate::device::request::{Completion, Request};
use engine::ids::Id;
use engine::{Instant, Span};
use ftl::SetId;
use host::{Command, Kind};

impl Port {
    /// Takes a command in at `at`; its host waited for `off` for the drive to be on, and `new`
    /// makes its request. Returns the moment at which the firmware has handled it. A write's data
    /// crosses the link before that; a link that is a bus is asked for later.
    #[inline(always)]
    pub(in crate::device) fn take_in(
        &mut self,
        blames: &mut Blames,
        command: Command,
        at: Instant,
        off: Span,
        new: impl FnOnce(u64) -> Request,
    ) -> (RequestId, Instant) {
        let id = self.requests.insert_with(new);
        let mut ready = at;
        if command.kind != Kind::Read || !off.is_zero() {
            let blame = self.requests.begin_blame(id, off, blames);
            if command.kind == Kind::Write && !self.link.is_bus() {
                ready = self.link.down(at, command.bytes, &mut blames[blame]);
            }
        }
        (id, ready + self.requests.overhead(command.kind))
    }

    /// The completions since the last call, in order, in exchange for an empty vector of the
    /// caller.
    #[inline]
    pub(in crate::device) fn take_done(&mut self, into: &mut Vec<Completion>) {
        std::mem::swap(&mut self.done, into);
    }
    /// True if there are any completions.
    #[inline]
    pub(in crate::device) fn has_done(&self) -> bool {
        !self.done.is_empty()
    }

    /// Mixes figures of a run into the digest.
    pub(in crate::device) fn mix(&mut self, figures: impl IntoIterator<Item = u64>) {
        figures.into_iter().for_each(|figure| self.digest.mix(figure));
    }
    /// A running hash of every completion of an NVM set; of the drive without sets.
    pub(in crate::device) fn digest_of(&self, set: SetId) -> u64 {
        self.digests_of_sets.get(set.index()).unwrap_or(&self.digest).finish()
    }
    /// A running hash of every completion and of all figures that were mixed in.
    pub(in crate::device) fn digest(&self) -> u64 {
        self.digest.finish()
    }

    /// Forgets all commands, because the power is cut.
    pub(in crate::device) fn begin_anew(&mut self) {
        self.requests.begin_anew();
        if let Some(detours) = &mut self.detours {
            detours.clear();
        }
        self.link.clear();
    }
}
