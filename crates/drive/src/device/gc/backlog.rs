//! Erases that wait for the end of a burst of reads: they do not begin before no host read
//! has used their unit for a while, and then run one after the other. Space comes first: a
//! bin that is short of it waits for nothing.

use crate::device::Base;
use crate::device::flash::op::Class;
use crate::device::gc::Gc;
use engine::{Instant, Span, bits};
use ftl::{BinId, BlockId};
use metrics::State;

/// Erases of a bin that are ready and wait: when they are next looked at.
#[derive(Clone)]
pub struct Backlog {
    /// How long host reads had used the unit at the last look.
    read: Span,
    look: Instant,
}

impl Default for Backlog {
    fn default() -> Self {
        Self { read: Span::ZERO, look: Instant::NEVER }
    }
}

impl Gc {
    /// A victim is ready to be erased: it is, or waits for the reads to become fewer.
    pub(in crate::device) fn erase_or_defer(
        &mut self,
        base: &mut Base,
        bin: BinId,
        block: BlockId,
    ) {
        match self.erase_batching {
            Some(batching) if base.class_of(bin) == Class::Soft => {
                base.space.bins[bin].task.deferred.push(block);
                let count = base.space.bins[bin].task.deferred.len() as u32;
                if count >= batching.most() {
                    self.clear_backlog(base, bin);
                } else if count == 1 {
                    self.watch_backlog(base, bin, batching.quiet.span());
                }
            }
            _ => {
                self.ask_erase(base, bin, block);
                self.clear_backlog(base, bin);
            }
        }
    }

    fn watch_backlog(&mut self, base: &mut Base, bin: BinId, quiet: Span) {
        let (read, _) = self.use_by_reads(base, bin);
        let look = base.time.now + quiet;
        base.time.agenda.schedule(look, crate::device::event::Event::Backlog(bin), bin.0.into());
        let backlog = &mut self.backlogs[bin];
        (backlog.read, backlog.look) = (read, look);
    }

    /// How long host reads have used the cells that a bin's erases take so far, and whether
    /// one waits for them.
    fn use_by_reads(&mut self, base: &mut Base, bin: BinId) -> (Span, bool) {
        let place = &base.flash.places[bin];
        let group = place.group;
        let mut read = Span::ZERO;
        for cell in bits(place.erase) {
            let ledger = base.flash.ledgers.of(group, 1 << cell);
            ledger.settle_with(base.time.now, &mut base.flash.channels[place.channel].ledger);
            read += ledger.totals()[State::UnitHostRead as usize];
        }
        let waits =
            base.flash.groups[group].reads_on(&base.flash.ops, place.erase, true).next().is_some();
        (read, waits)
    }

    pub(in crate::device) fn backlog_due(&mut self, base: &mut Base, bin: BinId) {
        if self.backlogs[bin].look != base.time.now {
            return;
        }
        let batching = self.erase_batching.expect("only a drive that batches erases looks");
        let (read, waits) = self.use_by_reads(base, bin);
        if waits || read > self.backlogs[bin].read {
            self.watch_backlog(base, bin, batching.quiet.span());
        } else {
            self.clear_backlog(base, bin);
            self.note_space(base, bin);
        }
    }

    /// All erases of a bin that wait for a burst to end wait for it no longer.
    pub(in crate::device) fn clear_backlog(&mut self, base: &mut Base, bin: BinId) {
        if self.erase_batching.is_none() {
            return;
        }
        let backlog = &mut self.backlogs[bin];
        backlog.look = Instant::NEVER;
        for block in std::mem::take(&mut base.space.bins[bin].task.deferred) {
            self.ask_erase(base, bin, block);
        }
    }
}
