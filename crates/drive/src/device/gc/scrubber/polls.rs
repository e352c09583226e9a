//! Polls of the task: when they come, and the blocks that they begin.

use crate::device::Base;
use crate::device::event::Event;
use crate::device::gc::Gc;
use crate::device::gc::gate::{Leave, Maintenance};
use crate::device::gc::scrubber::state::{Polls, ScrubJob, Scrubber};
use crate::device::tasks::{Job, Step};
use engine::Instant;
use ftl::{BinId, BlockId, SetId};

impl Gc {
    pub(super) fn scrubber(&mut self) -> &mut Scrubber {
        self.scrubber.as_mut().expect("scrubbing is a task of its own")
    }
    fn polls(&mut self, set: SetId) -> &mut Polls {
        &mut self.scrubber().polls[set]
    }
    pub(super) fn scrub_job(&mut self, bin: BinId) -> &mut ScrubJob {
        &mut self.scrubber().jobs[bin]
    }

    /// Polls a bin as soon as that may be.
    pub(in crate::device::gc) fn poll_when_possible(&mut self, base: &mut Base, bin: BinId) {
        let set = base.set_of_bin(bin);
        let pending = &mut self.polls(set).pending;
        if !pending.contains(&bin) {
            pending.push_back(bin);
        }
        self.go_on_polling(base, set);
    }

    /// Polls the bins of a set whose polls are pending and that may begin a block, the oldest poll first.
    #[cold]
    pub(in crate::device::gc) fn go_on_polling(&mut self, base: &mut Base, set: SetId) {
        let mut index = 0;
        while let Some(bin) = self.polls(set).pending.get(index).copied() {
            if self.awaits_rate(base, set) {
                return;
            }
            let job = self.scrub_job(bin);
            let is_busy = job.block.is_some() || job.patrolled.is_some();
            if is_busy || self.asks_leave(base, bin, Maintenance::Scrub) != Leave::Go {
                index += 1;
                continue;
            }
            let patrols = base.space.ftl.scrub_needs().patrol.is_some();
            if patrols && !base.takes_task(Job::Patrol(set), Step::Read) {
                return;
            }
            self.polls(set).pending.remove(index);
            match self.poll(base, bin) {
                Some(block) => {
                    self.note_progress(base, bin);
                    match patrols {
                        false => self.begin_block(base, bin, block),
                        true => self.patrol(base, bin, block),
                    }
                }
                None if patrols => base.give_task_back(set),
                None => {}
            }
        }
    }

    /// True if the rate does not allow the next block of a set yet; it is begun when it does.
    fn awaits_rate(&mut self, base: &mut Base, set: SetId) -> bool {
        let polls = self.polls(set);
        if polls.due <= base.time.now {
            return false;
        }
        if polls.event_at == Instant::NEVER {
            polls.event_at = polls.due;
            base.time.agenda.schedule(polls.due, Event::ScrubAgain(set), 0);
        }
        true
    }

    /// The rate allows the next block of a set.
    pub(in crate::device) fn scrub_again(&mut self, base: &mut Base, set: SetId) {
        self.polls(set).event_at = Instant::NEVER;
        self.go_on_polling(base, set);
    }

    /// Begins to scrub a block that was taken.
    pub(super) fn begin_block(&mut self, base: &mut Base, bin: BinId, block: BlockId) {
        let scrubber = self.scrubber();
        if let Some(rate) = scrubber.rate {
            let layout = &base.space.ftl.layout;
            let bytes = u64::from(base.space.ftl.valid_units(block)) * layout.unit_bytes;
            let polls = &mut scrubber.polls[layout.set_of_bin(bin)];
            polls.due = polls.due.max(base.time.now) + rate.transfer(bytes);
        }
        let job = &mut scrubber.jobs[bin];
        (job.block, job.next, job.is_read) = (Some(block), 0, false);
        self.scrub_on(base, bin);
    }
}
