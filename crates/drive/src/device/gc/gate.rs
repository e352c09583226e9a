//! The gate: it decides if maintenance may begin. It is asked for a victim, for a poll of scrubbing
//! and for erases, never for a single move, nor for a wear migration. A victim or a poll that may
//! not begin is asked for again when an operation of its bin or its group has ended, or when another
//! collection gives its permit or its turn back; erases are asked for again at the time that the
//! answer names.

use crate::device::Base;
use crate::device::flash::op::Class;
use crate::device::gc::Gc;
use engine::Instant;
use ftl::{BinId, Level, ReserveUntil, Stream};

/// Maintenance that is about to begin in a bin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Maintenance {
    /// The collection of a victim.
    Collection,
    /// A poll of scrubbing.
    Scrub,
    /// The erase of one more block, in addition to `waiting` ones.
    Erase { waiting: u32 },
    /// The erases that have waited.
    Erases,
}

/// Answer of the gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leave {
    Go,
    /// It waits, and is asked for again at that time: an answer for erases alone.
    NotBefore(Instant),
    /// It waits until the obstacle has ended: an answer for victims and polls alone.
    Queue,
}

impl Gc {
    /// Decides if maintenance of a bin may begin.
    pub(in crate::device) fn asks_leave(
        &mut self,
        base: &mut Base,
        bin: BinId,
        of: Maintenance,
    ) -> Leave {
        if self.windows.is_some()
            && let Some(answer) = self.answer_by_window(base, bin, of)
        {
            return answer;
        }
        let is_free = match of {
            Maintenance::Collection => {
                !self.leaves_space_to_scrubbing(base, bin)
                    && self.is_unit_free(base, bin)
                    && self.is_permitted(base, bin)
            }
            Maintenance::Scrub if self.scrubber.is_some() => {
                base.space.ftl.level(bin) != Level::Foreground
            }
            Maintenance::Scrub => {
                (!base.space.is_awaited(bin) || Self::has_space_for_look(base, bin))
                    && !self.collection_comes_first(base, bin)
                    && self.has_turn_to_scrub(base, bin)
            }
            Maintenance::Erase { waiting } => return self.begins_burst(base, bin, waiting),
            Maintenance::Erases => return self.ends_burst(base, bin),
        };
        if is_free { Leave::Go } else { Leave::Queue }
    }

    /// The answer by the window of the bin's set, if it decides: nothing begins in a deterministic window,
    /// or shortly before, but foreground GC, which ends the window. Erases that wait are not put off
    /// when the window is about to begin.
    #[cold]
    #[inline(never)]
    fn answer_by_window(&mut self, base: &mut Base, bin: BinId, of: Maintenance) -> Option<Leave> {
        let set = base.set_of_bin(bin);
        let windows = self.windows.as_ref().expect("a drive with windows");
        if !windows.defers(set) {
            return None;
        }
        match of {
            Maintenance::Erase { .. } | Maintenance::Erases => Some(Leave::Go),
            Maintenance::Collection if base.space.ftl.level(bin) == Level::Foreground => {
                if windows.is_dtwin(set) {
                    self.excursion(base, set);
                }
                None
            }
            Maintenance::Collection | Maintenance::Scrub => Some(Leave::Queue),
        }
    }

    /// True if a bin's unit can be reserved for its collection, is reserved for it already, or need
    /// not be; in rounds, only between two batches. Reads for which an operation is suspended go
    /// before a reservation, as that operation does.
    fn is_unit_free(&self, base: &Base, bin: BinId) -> bool {
        if base.flash.calls_collection() {
            return base.flash.may_choose(bin);
        }
        let group = base.group_of(bin);
        self.config.preemptible
            || !base.flash.is_reserved(group) && !base.flash.has_suspended(group)
            || self.reserves_until == ReserveUntil::Stop && base.flash.is_kept_for(bin)
    }

    /// True if a poll of scrubbing may use space that host programs of the bin wait for. Without
    /// space a poll would not gain any. With space, one poll after the other would keep it from the
    /// programs, so they have a turn after each poll.
    fn has_space_for_look(base: &Base, bin: BinId) -> bool {
        let has_space = base.space.ftl.can_bind(bin, Stream::Host);
        base.space.ftl.level(bin) != Level::Foreground
            && !(has_space && base.space.task(bin).scrubbed_last)
    }

    /// True while a bin's collection waits for leave and goes before the next poll: it waits for channels
    /// that it reserves, or it is its turn after a scrubbed block. It will have a permit. Its channel may
    /// never be quiet, so that it keeps one poll waiting, and not the one after that.
    fn collection_comes_first(&self, base: &Base, bin: BinId) -> bool {
        let is_next = || base.space.task(bin).scrubs;
        self.claims_channels(bin)
            || self.permits.as_ref().is_some_and(|permits| permits.is_waiting(bin)) && is_next()
            || self.await_quiet.contains(&bin) && is_next() && !self.jobs[bin].look_is_late
    }

    /// Lets erases wait for a burst of reads to end, unless space is short or many erases wait.
    fn begins_burst(&mut self, base: &mut Base, bin: BinId, waiting: u32) -> Leave {
        match self.erase_batching {
            Some(batching)
                if base.class_of(bin) == Class::Background && waiting + 1 < batching.most() =>
            {
                Leave::NotBefore(base.time.now + batching.quiet.span())
            }
            _ => Leave::Go,
        }
    }

    /// Ends a burst if no host read has used the unit since the last poll, and none waits.
    fn ends_burst(&mut self, base: &mut Base, bin: BinId) -> Leave {
        let batching = self.erase_batching.expect("only a drive that batches erases looks");
        let is_over = !base.flash.awaits_read(bin)
            && self.backlogs[bin].read == base.flash.host_reads_of(&base.time, bin);
        if is_over { Leave::Go } else { Leave::NotBefore(base.time.now + batching.quiet.span()) }
    }
}
