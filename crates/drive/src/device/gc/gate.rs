//! The gate: before maintenance begins it is asked whether it may. It is asked of a victim, of a
//! look of scrubbing and of erases, never of a single move, nor of a wear migration. A victim or a
//! look that may not begin is asked of again when something of its bin or its group has ended;
//! erases at the time that the answer names.

use crate::device::Base;
use crate::device::flash::op::Class;
use crate::device::gc::Gc;
use engine::Instant;
use ftl::{BinId, Level, Stream};

/// What would begin in a bin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Maintenance {
    /// The collection of a victim.
    Collection,
    /// A poll of scrubbing.
    Scrub,
    /// The erase of one more block, beside so many that wait.
    Erase { waiting: u32 },
    /// The erases that have waited.
    Erases,
}

/// Whether it may.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leave {
    Go,
    /// It waits, and is asked of again at that time: an answer for erases alone.
    NotBefore(Instant),
    /// It waits until what is in its way has ended: an answer for victims and looks alone.
    Queue,
}

impl Gc {
    /// Whether maintenance of a bin may begin.
    pub(in crate::device) fn asks_leave(
        &mut self,
        base: &mut Base,
        bin: BinId,
        of: Maintenance,
    ) -> Leave {
        let is_free = match of {
            Maintenance::Collection => self.is_unit_free(base, bin),
            Maintenance::Scrub => {
                !base.space.is_awaited(bin) || Self::has_space_for_look(base, bin)
            }
            Maintenance::Erase { waiting } => return self.begins_burst(base, bin, waiting),
            Maintenance::Erases => return self.ends_burst(base, bin),
        };
        if is_free { Leave::Go } else { Leave::Queue }
    }

    /// True if a bin's unit can be reserved for its collection, or need not be; in rounds,
    /// between two batches.
    fn is_unit_free(&self, base: &Base, bin: BinId) -> bool {
        if base.flash.calls_collection() {
            return base.flash.may_choose(bin);
        }
        self.config.preemptible || !base.flash.is_reserved(base.group_of(bin))
    }

    /// Whether a poll may take space that host programs of the bin wait for. Where there is
    /// none it would not make any. Where there is, one poll after the other would keep it
    /// from them, so they have a turn after each.
    fn has_space_for_look(base: &Base, bin: BinId) -> bool {
        let has_space = base.space.ftl.can_bind(bin, Stream::Host);
        base.space.ftl.level(bin) != Level::Foreground
            && !(has_space && base.space.task(bin).scrubbed_last)
    }

    /// Erases wait for a burst of reads to end, unless space is short or many wait.
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

    /// A burst has ended where no host read has used the unit since the last poll, and none waits.
    fn ends_burst(&mut self, base: &mut Base, bin: BinId) -> Leave {
        let batching = self.erase_batching.expect("only a drive that batches erases looks");
        let is_over = !base.flash.awaits_read(bin)
            && self.backlogs[bin].read == base.flash.host_reads_of(&base.time, bin);
        if is_over { Leave::Go } else { Leave::NotBefore(base.time.now + batching.quiet.span()) }
    }
}
