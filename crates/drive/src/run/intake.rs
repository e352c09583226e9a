//! Requests on their way from the initiators into the drive, and back.

use super::Run;
use super::faults;
use super::initiator::{AT_ONE_MOMENT, Drawn};
use crate::check::{PLACES_MOST, WAITING_BYTES};
use crate::device::{Completion, RequestId};
use crate::error::RunError;
use crate::horizon::LATEST;
use engine::{Agenda, Instant, Span};
use ftl::RecoveryLevel;
use host::Kind;

impl Run {
    #[inline]
    pub(super) fn may_issue(&self, at: Instant) -> bool {
        self.stop_time.is_none_or(|stop| at < stop)
            && self.issued < self.stop_requests
            && self.issued_bytes < self.stop_bytes
    }

    #[inline]
    fn count_issued(&mut self, request: Drawn) {
        self.issued += 1;
        self.issued_bytes += request.command.bytes;
        if self.issued >= self.stop_requests || self.issued_bytes >= self.stop_bytes {
            // The remaining requests would not be issued, so the run need not wait for them.
            self.agenda = Agenda::new();
            self.initiators.iter_mut().for_each(|initiator| initiator.stopped = true);
        }
    }

    /// Draws an initiator's next request, which is issued at once or waits for its moment. In a
    /// closed loop its place in the queue has been free since `free`.
    #[inline]
    pub(super) fn draw(&mut self, index: usize, free: Instant) -> Result<(), RunError> {
        let initiator = &mut self.initiators[index];
        let Some((at, request)) = initiator.draw(free)? else { return Ok(()) };
        let is_open = initiator.source.is_open_loop();
        if !self.may_issue(at) {
            self.initiators[index].stopped = true;
        } else if at > LATEST {
            return Err(self.too_late(Some(index)));
        } else if at == self.device.now() && !is_open && self.begun {
            self.count_issued(request);
            self.submit(index, at, at, request)?;
        } else {
            let coming = self.coming.insert((index as u32, request));
            let sequence = self.agenda.scheduled();
            self.agenda.schedule(at.max(self.device.now()), coming, sequence);
        }
        Ok(())
    }

    /// Takes the request whose moment has come.
    pub(super) fn arrive(&mut self) -> Result<(), RunError> {
        let (now, id, _) = self.agenda.pop().expect("a request was coming");
        let (index, request) = self.coming[id];
        let is_off = self.power.as_ref().is_some_and(|power| power.up_at().is_some());
        self.coming.remove(id);
        let index = index as usize;
        let initiator = &mut self.initiators[index];
        let is_open = initiator.source.is_open_loop();
        if !self.may_issue(now) {
            self.initiators[index].stopped = true;
            return Ok(());
        }
        self.count_issued(request);
        let initiator = &mut self.initiators[index];
        if !is_open && is_off {
            // Its place in the queue is free; the request waits only for the drive's power.
            initiator.waiting.push_back((now, request));
            self.waiting += 1;
            return Ok(());
        }
        if !is_open {
            return self.submit(index, now, now, request);
        }
        let waiting = initiator.waiting.len() as u64;
        initiator.backlog.arrive(u64::from(initiator.outstanding) + waiting);
        if initiator.outstanding >= initiator.depth || is_off {
            initiator.waiting.push_back((now, request));
            self.waiting += 1;
        } else {
            self.submit(index, now, now, request)?;
        }
        let watched = self.watch.as_ref().map_or(0, |watch| watch.bytes());
        let bytes = self.device.bytes_under_way() + watched + self.waiting * WAITING_BYTES;
        let most = self.device.most_operations() as u64 + u64::from(self.device.outstanding());
        if most > PLACES_MOST || bytes > self.backlog_bytes {
            return Err(self.overloaded(index));
        }
        self.draw(index, now)
    }

    #[inline]
    pub(super) fn submit(
        &mut self,
        index: usize,
        now: Instant,
        arrived: Instant,
        request: Drawn,
    ) -> Result<(), RunError> {
        if !self.link.add(request.command.bytes) {
            return Err(faults::link_busy(&self.initiators[index]));
        }
        let initiator = &mut self.initiators[index];
        initiator.outstanding += 1;
        let priority = initiator.source.priority();
        let id = self.device.submit(now, arrived, request.command, priority, index as u32);
        if let Some(log) = &mut self.measured.log {
            log.submitted(id, request.number);
        }
        if !self.is_plain {
            self.note_submitted(id, now, index, request.command.kind);
        }
        Ok(())
    }

    /// Chooses the read recovery level of a request that was submitted, and watches it, as far as that is
    /// asked for.
    #[cold]
    #[inline(never)]
    fn note_submitted(&mut self, id: RequestId, now: Instant, index: usize, kind: Kind) {
        if let Some(level) = self.initiators[index].source.read_recovery_level() {
            self.device.read_at_level(id, RecoveryLevel::try_from(level).expect("a checked level"));
        }
        if self.watch.is_some() {
            self.watch_submitted(id, now, index, kind);
        }
    }

    #[inline]
    pub(super) fn collect_completions(&mut self) -> Result<(), RunError> {
        // A submission may complete at once and add to the device's list.
        while self.device.has_done() {
            let mut completions = std::mem::take(&mut self.completions);
            self.device.take_done(&mut completions);
            for completion in &completions {
                // Recorded before anything is submitted, which may reuse the slot of the blame.
                self.measured.record(completion, self.device.blame(completion.id));
                let initiator = &mut self.initiators[completion.tag as usize];
                if let Some(pause) = initiator.answered(completion.finished) {
                    self.note_pause(completion, pause);
                }
            }
            if self.device.records_holds() {
                self.measured.count_met(&completions);
            }
            if self.watch.is_some() {
                self.watch_answered(&completions);
            }
            if self.windows.is_some() {
                self.record_in_windows(&completions);
            }
            for completion in completions.drain(..) {
                self.link.remove(completion.command.bytes);
                self.completed(completion.tag as usize, completion.finished)?;
            }
            self.completions = completions;
        }
        Ok(())
    }

    /// Counts the standstill of a closed loop's whole queue, if there was one before this answer.
    #[cold]
    #[inline(never)]
    fn note_pause(&mut self, completion: &Completion, pause: Span) {
        let blame = self.device.blame(completion.id);
        let initiator = &self.initiators[completion.tag as usize];
        let Some(stood) = initiator.standstill(pause, blame) else { return };
        let is_behind_one =
            stood.is_on_flash && self.device.read_one_group(completion.command, completion.tag);
        self.measured.note_standstill(completion, (stood, is_behind_one), blame);
    }

    #[inline]
    fn completed(&mut self, index: usize, now: Instant) -> Result<(), RunError> {
        let initiator = &mut self.initiators[index];
        initiator.outstanding -= 1;
        if initiator.source.is_open_loop() {
            if let Some((arrived, request)) = initiator.waiting.pop_front() {
                self.waiting -= 1;
                self.submit(index, now, arrived, request)?;
            }
            return Ok(());
        }
        if !initiator.is_bounded {
            let (at, completions) = initiator.standing;
            initiator.standing = if at == now { (at, completions + 1) } else { (now, 1) };
            if completions >= AT_ONE_MOMENT && at == now {
                return Err(faults::stands_still(initiator));
            }
        }
        self.draw(index, now)
    }
}
