//! Erases that wait for the end of a burst of reads: they do not begin until no host read has used
//! their unit for a while, and then run one after the other. Space has priority: the erases of a
//! bin that is short of space do not wait.

use crate::device::Base;
use crate::device::flash::op::Class;
use crate::device::gc::Gc;
use crate::device::gc::gate::{Leave, Maintenance};
use engine::Instant;
use ftl::{BinId, BlockId};

impl Gc {
    /// Erases a victim that is ready, or lets it wait for the burst of reads to end.
    pub(in crate::device) fn erase_or_defer(
        &mut self,
        base: &mut Base,
        bin: BinId,
        block: BlockId,
    ) {
        let waiting = base.space.task(bin).deferred.len() as u32;
        match self.asks_leave(base, bin, Maintenance::Erase { waiting }) {
            Leave::Go if base.class_of(bin) == Class::Background => {
                // Erases that have waited go first.
                self.clear_backlog(base, bin);
                self.ask_erase(base, bin, block);
            }
            Leave::Go => {
                self.ask_erase(base, bin, block);
                self.clear_backlog(base, bin);
            }
            Leave::NotBefore(look) => {
                base.space.task_mut(bin).deferred.push(block);
                if waiting == 0 {
                    self.watch_backlog(base, bin, look);
                }
                if self.permits.is_some() {
                    // Others may have their turn now, unless the bin's collection goes on.
                    base.space.look_at([bin]);
                }
            }
            Leave::Queue => unreachable!("erases wait for a time"),
        }
    }

    fn watch_backlog(&mut self, base: &mut Base, bin: BinId, look: Instant) {
        let read = base.flash.host_reads_of(&base.time, bin);
        base.time.agenda.schedule(look, crate::device::event::Event::Backlog(bin), bin.0.into());
        let backlog = &mut self.backlogs[bin];
        (backlog.read, backlog.look) = (read, look);
    }

    pub(in crate::device) fn backlog_due(&mut self, base: &mut Base, bin: BinId) {
        if self.backlogs[bin].look != base.time.now {
            return;
        }
        match self.asks_leave(base, bin, Maintenance::Erases) {
            Leave::NotBefore(look) => self.watch_backlog(base, bin, look),
            Leave::Go => {
                self.end_backlog(base, bin);
                self.note_space(base, bin);
            }
            Leave::Queue => unreachable!("erases wait for a time"),
        }
    }

    /// Lets the erases of a bin begin that need not wait for the end of a burst any more: at once, or
    /// when it is their turn.
    pub(in crate::device) fn end_backlog(&mut self, base: &mut Base, bin: BinId) {
        if self.permits.is_some() && !self.may_erase(base, bin) {
            self.backlogs[bin].awaits_turn = true;
        } else {
            self.clear_backlog(base, bin);
        }
    }

    /// Ends the wait of all erases of a bin for the end of a burst.
    pub(in crate::device) fn clear_backlog(&mut self, base: &mut Base, bin: BinId) {
        if self.erase_batching.is_none() {
            return;
        }
        let backlog = &mut self.backlogs[bin];
        (backlog.look, backlog.awaits_turn) = (Instant::NEVER, false);
        for block in std::mem::take(&mut base.space.task_mut(bin).deferred) {
            self.ask_erase(base, bin, block);
        }
    }
}
