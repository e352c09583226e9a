//! Power cuts in a run: their moments, the fate of the hosts' requests, and the moment at which the
//! drive is ready again.
//!
//! While the drive is off, requests wait in the host: those of open loops from their arrival, and
//! those of closed loops from the end of their think time. Requests that were under way are lost; a
//! closed loop draws another request in the place of each when the drive is ready again.

use super::Run;
use crate::error::RunError;
use crate::horizon::LATEST;
use crate::recovery::Outage;
use engine::Instant;

impl Run {
    /// Cuts the power, or turns the drive on again, if that comes before the next request at `own`
    /// and before the next event of the drive; returns true if it did.
    #[cold]
    #[inline(never)]
    pub(super) fn power_goes_first(&mut self, own: Option<Instant>) -> Result<bool, RunError> {
        let Some(power) = &self.power else { return Ok(false) };
        let cut_at = power.stays_until();
        if let Some(up_at) = power.up_at {
            if own.is_some_and(|own| own < up_at && own <= cut_at) {
                return Ok(false);
            }
            match cut_at < up_at {
                true => self.cut_power(cut_at, true)?,
                false => self.power_up(up_at)?,
            }
            return Ok(true);
        }
        if own.is_none() && self.device.outstanding() == 0 {
            return Ok(false);
        }
        let now = self.device.now();
        if power.schedule.next_events().is_some_and(|number| power.events >= number) {
            self.cut_power(now, false)?;
            return Ok(true);
        }
        let due = [own, self.device.next_due()].into_iter().flatten().min();
        if cut_at == Instant::NEVER || due.is_some_and(|due| due <= cut_at) {
            return Ok(false);
        }
        self.cut_power(cut_at.max(now), true)?;
        Ok(true)
    }

    fn cut_power(&mut self, at: Instant, by_time: bool) -> Result<(), RunError> {
        self.measured.note_time(at, &mut self.device);
        self.device.wait(at);
        let cut = self.device.cut_power().map_err(RunError::Audit)?;
        let up_at = at + cut.outage.took;
        if up_at > LATEST {
            return Err(self.too_late(None));
        }
        let power = self.power.as_mut().expect("the power is cut");
        power.schedule.take(by_time);
        if power.up_at.is_some()
            && let Some(before) = power.outages.last_mut()
        {
            before.interrupted = true;
            before.took = at - before.at;
        }
        power.up_at = Some(up_at);
        power.outages.push(cut.outage);
        for (tag, command) in cut.lost {
            self.link.remove(command.bytes);
            self.initiators[tag as usize].outstanding -= 1;
            power.lost.push(tag);
        }
        if let Some(watch) = &mut self.watch {
            watch.lost_all();
            self.starves_at = watch.deadline();
        }
        Ok(())
    }

    /// Turns the drive on again.
    fn power_up(&mut self, at: Instant) -> Result<(), RunError> {
        self.measured.note_time(at, &mut self.device);
        self.device.power_up(at);
        let power = self.power.as_mut().expect("the power was cut");
        power.up_at = None;
        let lost = std::mem::take(&mut power.lost);
        for index in lost.into_iter().map(|index| index as usize) {
            if !self.initiators[index].source.is_open_loop() {
                self.draw(index, at)?;
            }
        }
        for index in 0..self.initiators.len() {
            self.submit_waiting(index, at)?;
        }
        Ok(())
    }

    /// Submits the requests that have waited in the host and for which the queue has a place.
    fn submit_waiting(&mut self, index: usize, at: Instant) -> Result<(), RunError> {
        while self.initiators[index].outstanding < self.initiators[index].depth {
            let initiator = &mut self.initiators[index];
            let Some((arrived, request)) = initiator.waiting.pop_front() else { break };
            self.waiting -= 1;
            self.submit(index, at, arrived, request)?;
        }
        Ok(())
    }

    /// The power cuts so far.
    pub fn outages(&self) -> &[Outage] {
        self.power.as_ref().map_or(&[], |power| power.outages())
    }
    /// Requests that were lost with the power.
    pub fn lost_requests(&self) -> u64 {
        self.outages().iter().map(|outage| u64::from(outage.lost_requests)).sum()
    }
}
