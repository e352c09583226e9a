//! Polls of the task: when they come, and the blocks that they begin.

use crate::device::Base;
use crate::device::event::Event;
use crate::device::gc::Gc;
use crate::device::gc::gate::{Leave, Maintenance};
use crate::device::gc::scrubber::state::{ScrubJob, Scrubber};
use crate::device::tasks::{Job, Step};
use engine::Instant;
use ftl::{BinId, BlockId};

impl Gc {
    pub(super) fn scrubber(&mut self) -> &mut Scrubber {
        self.scrubber.as_mut().expect("scrubbing is a task of its own")
    }
    pub(super) fn scrub_job(&mut self, bin: BinId) -> &mut ScrubJob {
        &mut self.scrubber().jobs[bin]
    }

    /// Polls a bin as soon as that may be.
    pub(in crate::device::gc) fn poll_when_possible(&mut self, base: &mut Base, bin: BinId) {
        let scrubber = self.scrubber();
        if !scrubber.pending.contains(&bin) {
            scrubber.pending.push_back(bin);
        }
        self.go_on_polling(base);
    }

    /// Polls the bins whose polls are pending and that may begin a block, the oldest poll first.
    #[cold]
    pub(in crate::device::gc) fn go_on_polling(&mut self, base: &mut Base) {
        let mut index = 0;
        while let Some(bin) = self.scrubber().pending.get(index).copied() {
            if self.awaits_rate(base) {
                return;
            }
            let job = self.scrub_job(bin);
            let is_busy = job.block.is_some() || job.patrolled.is_some();
            if is_busy || self.asks_leave(base, bin, Maintenance::Scrub) != Leave::Go {
                index += 1;
                continue;
            }
            let patrols = base.space.ftl.scrub_needs().patrol.is_some();
            if patrols && !base.takes_task(Job::Patrol(base.set_of_bin(bin)), Step::Read) {
                return;
            }
            self.scrubber().pending.remove(index);
            match self.poll(base, bin) {
                Some(block) => {
                    self.note_progress(base);
                    match patrols {
                        false => self.begin_block(base, bin, block),
                        true => self.patrol(base, bin, block),
                    }
                }
                None if patrols => base.give_task_back(base.set_of_bin(bin)),
                None => {}
            }
        }
    }

    /// True if the rate does not allow the next block yet; it is begun when it does.
    fn awaits_rate(&mut self, base: &mut Base) -> bool {
        let scrubber = self.scrubber();
        if scrubber.due <= base.time.now {
            return false;
        }
        if scrubber.event_at == Instant::NEVER {
            scrubber.event_at = scrubber.due;
            base.time.agenda.schedule(scrubber.due, Event::ScrubAgain, 0);
        }
        true
    }

    /// The rate allows the next block.
    pub(in crate::device) fn scrub_again(&mut self, base: &mut Base) {
        self.scrubber().event_at = Instant::NEVER;
        self.go_on_polling(base);
    }

    /// Begins to scrub a block that was taken.
    pub(super) fn begin_block(&mut self, base: &mut Base, bin: BinId, block: BlockId) {
        let scrubber = self.scrubber();
        if let Some(rate) = scrubber.rate {
            let layout = &base.space.ftl.layout;
            let bytes = u64::from(base.space.ftl.valid_units(block)) * layout.unit_bytes;
            scrubber.due = scrubber.due.max(base.time.now) + rate.transfer(bytes);
        }
        let job = &mut scrubber.jobs[bin];
        (job.block, job.next, job.is_read) = (Some(block), 0, false);
        self.scrub_on(base, bin);
    }
}
