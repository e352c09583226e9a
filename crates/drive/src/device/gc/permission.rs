//! Time of a permit: from the first copy of a collection until it has copied all, with the channels
//! that it reserves. The erase needs no permit.

use crate::device::Base;
use crate::device::gc::Gc;
use crate::device::gc::job::Course;
use crate::device::tasks::Job;
use ftl::{BinId, Level};
use nand::ChannelId;

impl Gc {
    /// True if a bin's collection may copy: it has a permit, and the channels that it reserves.
    pub(super) fn is_permitted(&mut self, base: &mut Base, bin: BinId) -> bool {
        if self.permits.is_none() {
            return true;
        }
        if !self.has_turn(base, bin) {
            return false;
        }
        if self.has_copied(bin) && self.permits.as_ref().is_some_and(|of| of.has_waiting()) {
            // Others have a turn between two victims.
            self.end_permit(base, bin, true);
            return false;
        }
        let permits = self.permits.as_mut().expect("there are permits");
        let own = base.flash.place(bin).channel;
        if !permits.take(bin, own) && !self.takes_over(base, bin, own) {
            return false;
        }
        let permits = self.permits.as_mut().expect("there are permits");
        let mut has_all = true;
        for channel in permits.channels(own) {
            has_all &= base.flash.claim(&mut base.time, &base.space, channel, bin);
        }
        if has_all {
            permits.begin(bin);
        }
        has_all
    }

    /// Takes the permit of a collection in the background that still waits for its channels, for one
    /// in the foreground; returns true if there was one.
    #[inline(never)]
    fn takes_over(&mut self, base: &mut Base, bin: BinId, own: ChannelId) -> bool {
        let is_foreground = |base: &Base, bin| base.space.ftl.level(bin) == Level::Foreground;
        if !is_foreground(base, bin) {
            return false;
        }
        let permits = self.permits.as_ref().expect("there are permits");
        let is_full = permits.is_channel_full(own);
        let other = permits.claiming().find(|other| {
            !is_foreground(base, *other) && (!is_full || base.flash.place(*other).channel == own)
        });
        let Some(other) = other else { return false };
        self.end_permit(base, other, true);
        self.permits.as_mut().expect("there are permits").take(bin, own)
    }

    /// Ends a bin's wait for channels, if it has a permit and waits for some.
    pub(super) fn end_claim(&mut self, base: &mut Base, bin: BinId) {
        if self.claims_channels(bin) {
            self.end_permit(base, bin, false);
        }
    }

    /// True if a bin's collection has its permit and waits for channels that it reserves. Until then
    /// no block of the bin is scrubbed: the collection must be able to begin when it has them all.
    pub(super) fn claims_channels(&self, bin: BinId) -> bool {
        self.permits.as_ref().is_some_and(|permits| permits.is_claiming(bin))
    }

    /// True if a bin has a permit and has copied all that it was to copy.
    fn has_copied(&self, bin: BinId) -> bool {
        let job = &self.jobs[bin];
        !job.is_moving()
            && job.writes == 0
            && self.permits.as_ref().is_some_and(|permits| permits.is_used(bin))
    }

    /// True if a bin's collection waits for a permit, for channels, or for its turn.
    pub(super) fn awaits_permit(&self, base: &Base, bin: BinId) -> bool {
        self.permits.as_ref().is_some_and(|permits| permits.is_waiting(bin))
            || self.awaits_turn(base, bin)
    }

    /// Returns a bin's permit if it has copied all that it was to copy.
    fn return_permit(&mut self, base: &mut Base, bin: BinId) {
        if self.has_copied(bin) {
            self.end_permit(base, bin, false);
        }
    }

    /// Gives back what a bin's collection does not need any more, so that others may begin.
    #[inline(never)]
    pub(super) fn let_others_begin(&mut self, base: &mut Base, bin: BinId) {
        self.return_permit(base, bin);
        if self.backlogs[bin].awaits_turn {
            self.end_backlog(base, bin);
        }
        let job = &self.jobs[bin];
        let is_under_way =
            job.under_way() + job.erases > 0 || base.awaits_task(Job::Collection(bin));
        if job.course == Course::Idle && job.victim.is_some() && !is_under_way {
            self.pause(base, bin);
        }
        self.pass_turn(base, bin);
    }

    /// Re-evaluates the turn of a bin that has more free space than it needs: erases may wait for it,
    /// or not need it any more. True if the bin's collection goes on, or if a poll waits for its turn.
    #[inline(never)]
    pub(super) fn asks_again(&mut self, base: &mut Base, bin: BinId) -> bool {
        let is_running = base.space.task(bin).running;
        if !is_running {
            self.let_others_begin(base, bin);
        }
        is_running || self.jobs[bin].look && self.turns().is_some()
    }

    /// Pauses a collection that yields to other operations and has nothing under way.
    #[cold]
    fn pause(&mut self, base: &mut Base, bin: BinId) {
        if !base.space.task(bin).draining.is_empty() {
            return;
        }
        self.jobs[bin].course = Course::IdlePaused;
        if self.permits.as_ref().is_some_and(|permits| permits.has(bin)) {
            self.end_permit(base, bin, false);
        }
    }

    /// True if a collection that an idle gap began, or that has paused, does not go on now.
    #[inline(never)]
    pub(super) fn rests(&mut self, base: &mut Base, bin: BinId) -> bool {
        if self.yields(base, bin) {
            return true;
        }
        if !self.jobs[bin].course.is_paused() {
            return false;
        }
        if !self.is_permitted(base, bin) {
            return true;
        }
        self.note_turn(base, bin);
        let job = &mut self.jobs[bin];
        job.course = if job.course.yields() { Course::Idle } else { Course::Needed };
        false
    }

    /// Lets a collection begin for which a channel has been reserved, or gives the channel back if
    /// it is no longer needed.
    pub(in crate::device) fn channel_kept(&mut self, base: &mut Base, bin: BinId) {
        self.collect_if_needed(base, bin);
        let permits = self.permits.as_ref().expect("only permits claim channels");
        let has_all = (permits.channels(base.flash.place(bin).channel))
            .all(|channel| base.flash.has_channel(channel, bin));
        if permits.is_claiming(bin) && has_all {
            self.end_permit(base, bin, false);
        }
    }

    /// Ends a bin's permit, and lets those ask again that wait for one. `again` adds the bin to
    /// them.
    fn end_permit(&mut self, base: &mut Base, bin: BinId, again: bool) {
        let permits = self.permits.as_mut().expect("there are permits");
        let own = base.flash.place(bin).channel;
        permits.give_back(bin, own);
        for channel in permits.channels(own) {
            base.flash.give_channel_back(&mut base.time, &mut base.space, channel, bin);
        }
        let mut waiting = permits.take_waiting();
        waiting.extend(again.then_some(bin));
        Self::ask_again(base, waiting, &[]);
        self.pass_turn(base, bin);
    }
}
