//! Requests on their way from the initiators to the plan, and back. The rules are those of a run of one
//! drive ([`crate::run`]).

use super::event::Event;
use super::plan::Plan;
use super::plan::act::Timer;
use super::{ArrayRun, Coming};
use crate::check::{PLACES_MOST, WAITING_BYTES};
use crate::device::RequestId;
use crate::error::RunError;
use crate::horizon::LATEST;
use crate::run::faults;
use crate::run::initiator::{AT_ONE_MOMENT, Drawn};
use engine::ids::Id;
use engine::{Instant, Slab};

/// Most wakes of a plan in Python in a row while nothing else is to come, or at one moment.
const WAKES_MOST: u32 = 1_000_000;

impl ArrayRun {
    fn may_issue(&self, at: Instant) -> bool {
        self.stop_time.is_none_or(|stop| at < stop)
            && self.issued < self.stop_requests
            && self.issued_bytes < self.stop_bytes
    }

    fn count_issued(&mut self, request: Drawn) {
        self.issued += 1;
        self.issued_bytes += request.command.bytes;
        if self.issued >= self.stop_requests || self.issued_bytes >= self.stop_bytes {
            // The remaining requests would not be issued, so the run need not wait for them.
            self.coming = Slab::default();
            self.initiators.iter_mut().for_each(|initiator| initiator.stopped = true);
        }
    }

    /// Draws an initiator's next request, which is issued at once or waits for its moment. In a closed
    /// loop its place in the queue has been free since `free`.
    pub(super) fn draw(&mut self, index: usize, free: Instant) -> Result<(), RunError> {
        let initiator = &mut self.initiators[index];
        let Some((at, request)) = initiator.draw(free)? else { return Ok(()) };
        let is_open = initiator.source.is_open_loop();
        if !self.may_issue(at) {
            self.initiators[index].stopped = true;
        } else if at > LATEST {
            return Err(self.too_late(Some(index)));
        } else if at == free && !is_open && self.begun {
            self.count_issued(request);
            self.submit(index, at, at, request)?;
        } else {
            let coming = self.coming.insert((index as u32, request));
            let sequence = self.agenda.scheduled();
            self.agenda.schedule(at.max(free), Event::Arrival(coming.0), sequence);
        }
        Ok(())
    }

    /// The next event of the host.
    pub(super) fn happen(&mut self) -> Result<(), RunError> {
        let (now, event, number) = self.agenda.pop().expect("something is due");
        self.now = now;
        match event {
            Event::Timer(timer) => {
                // Of the plan's periods; hedges of reads long answered are none.
                if matches!(timer, Timer::Swap | Timer::Settle) {
                    self.idle_periods += 1;
                }
                if matches!(timer, Timer::Own(_)) {
                    self.count_own_wake(now);
                }
                self.wake(timer, number);
                Ok(())
            }
            Event::Served(id) => {
                self.idle_periods = 0;
                self.served(id)
            }
            // Without requests to come it is one that is not issued.
            Event::Arrival(_) if self.coming.taken() == 0 => Ok(()),
            Event::Arrival(index) => {
                self.idle_periods = 0;
                self.arrive(now, Coming(index))
            }
        }
    }

    /// Counts a wake of a plan in Python, which must not wait for nothing.
    fn count_own_wake(&mut self, now: Instant) {
        let waits = self.coming.taken() == 0 && self.sent.taken() == 0;
        let is_again = std::mem::replace(&mut self.last_wake, now) == now;
        let is_vain = is_again || waits && self.serving.taken() == 0;
        self.own_wakes = if is_vain { self.own_wakes + 1 } else { 0 };
        if self.own_wakes > WAKES_MOST
            && let Plan::Outside(outside) = &mut self.plan
        {
            outside.fail(&format!("was woken {WAKES_MOST} times while nothing else was to come"));
        }
    }

    /// Takes the request whose moment has come.
    fn arrive(&mut self, now: Instant, id: Coming) -> Result<(), RunError> {
        let (index, request) = self.coming[id];
        self.coming.remove(id);
        let index = index as usize;
        let is_open = self.initiators[index].source.is_open_loop();
        if !self.may_issue(now) {
            self.initiators[index].stopped = true;
            return Ok(());
        }
        self.count_issued(request);
        if !is_open {
            return self.submit(index, now, now, request);
        }
        let initiator = &mut self.initiators[index];
        let waiting = initiator.waiting.len() as u64;
        initiator.backlog.arrive(u64::from(initiator.outstanding) + waiting);
        if initiator.outstanding >= initiator.depth {
            initiator.waiting.push_back((now, request));
            self.waiting += 1;
        } else {
            self.submit(index, now, now, request)?;
        }
        let of_drives: u64 = self.drives.devices.iter().map(|of| of.bytes_under_way()).sum();
        let bytes = of_drives + self.requests.bytes() + self.waiting * WAITING_BYTES;
        let under_way = self.requests.under_way();
        if under_way > PLACES_MOST || bytes > self.backlog_bytes {
            let initiator = &self.initiators[index];
            return Err(faults::overloaded(initiator, now, under_way + self.waiting));
        }
        self.draw(index, now)
    }

    fn submit(
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
        let asked = self.requests.insert(index as u32, request.command, priority, (arrived, now));
        if let Some(log) = &mut self.measured.log {
            log.submitted(RequestId::from_index(asked.id.index()), request.number);
        }
        self.ask(asked);
        Ok(())
    }

    /// A request of an initiator was answered.
    pub(super) fn completed(&mut self, index: usize, now: Instant) -> Result<(), RunError> {
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
