//! An untimed run, for wear and write amplification alone: writes and trims go straight to the
//! firmware, one after the other, as in preconditioning; reads do nothing. It ends as any run does,
//! or when the drive is worn out.

use super::Run;
use super::untimed_state::UntimedState;
use crate::device::Touches;
use crate::error::RunError;
use engine::Instant;
use ftl::{Lpn, PoolId};
use host::{Command, Issue, Kind};

impl Run {
    /// Bytes that had been requested when the drive was worn out, in an untimed run.
    pub fn worn_out(&self) -> Option<u64> {
        self.untimed.as_ref().and_then(|run| run.worn_out)
    }

    /// Advances by this many requests; returns true if there is more to do.
    pub(super) fn go_on_untimed(&mut self, requests: u64) -> Result<bool, RunError> {
        let mut state = self.untimed.take().expect("an untimed run");
        let mut goes_on = Ok(!state.has_ended);
        if !self.begun {
            (0..self.initiators.len()).try_for_each(|index| self.draw_next(&mut state, index))?;
            self.begun = true;
        }
        for _ in 0..if state.has_ended { 0 } else { requests } {
            goes_on = self.one_untimed(&mut state);
            if !matches!(goes_on, Ok(true)) {
                break;
            }
        }
        if let Ok(false) = goes_on
            && !state.has_ended
        {
            state.has_ended = true;
            if state.worn_out.is_none() && state.writer.flush(self.device.firmware()).is_err() {
                state.worn_out = Some(self.issued_bytes);
            }
            self.device.note_work(&self.device.ftl().tally.since(&state.begun));
            self.device.note_end(state.worn_out);
        }
        self.untimed = Some(state);
        goes_on
    }

    /// Draws an initiator's next request, whose moment follows from that of the last one.
    fn draw_next(&mut self, state: &mut UntimedState, index: usize) -> Result<(), RunError> {
        let initiator = &mut self.initiators[index];
        let last = state.next[index].map_or(Instant::START, |(at, ..)| at);
        state.next[index] = None;
        let Some(request) = initiator.source.next()? else { return Ok(()) };
        let at = Instant::START
            + match request.issue {
                Issue::At(since) => since,
                Issue::After(think) => initiator.source.earliest(last + think - Instant::START),
            };
        let is_late =
            initiator.source.deadline().is_some_and(|deadline| at >= Instant::START + deadline);
        if !is_late {
            initiator.drawn += 1;
            state.next[index] = Some((at, initiator.drawn, request.command));
        }
        Ok(())
    }

    fn one_untimed(&mut self, state: &mut UntimedState) -> Result<bool, RunError> {
        let due = |(index, next): (usize, &Option<(Instant, u64, Command)>)| {
            next.map(|(at, drawn, _)| (at, drawn, index))
        };
        let Some((at, _, index)) = state.next.iter().enumerate().filter_map(due).min() else {
            return Ok(false);
        };
        if !self.may_issue(at) {
            return Ok(false);
        }
        let (_, _, command) = state.next[index].expect("it is due");
        self.issued += 1;
        self.issued_bytes += command.bytes;
        if self.carry_out(state, command).is_err() {
            self.device.note_untimed(command, true);
            state.worn_out = Some(self.issued_bytes);
            return Ok(false);
        }
        let tally = self.device.ftl().tally;
        let has_worked = tally != state.noted;
        self.device.note_untimed(command, has_worked);
        if has_worked {
            state.noted = tally;
            self.device.note_work(&tally.since(&state.begun));
        }
        self.measured.count_untimed(index, command);
        self.draw_next(state, index)?;
        Ok(true)
    }

    fn carry_out(&mut self, state: &mut UntimedState, command: Command) -> Result<(), PoolId> {
        let ftl = self.device.firmware();
        let (first, behind) = command.units(&ftl.layout);
        let unit = ftl.layout.unit_bytes;
        let whole = |lpn: &u32| {
            let start = u64::from(*lpn) * unit;
            command.offset <= start && command.end() >= start + unit
        };
        match command.kind {
            Kind::Read | Kind::Flush => Ok(()),
            Kind::Write => (first..behind).try_for_each(|lpn| state.write(ftl, Lpn(lpn), command)),
            Kind::Trim | Kind::WriteZeroes => {
                // Data that waits for a full batch is written first; otherwise the trimmed data
                // would come back.
                state.writer.flush(ftl)?;
                let mut trimmed = (first..behind).filter(whole);
                trimmed.try_for_each(|lpn| state.writer.trim(ftl, Lpn(lpn)))?;
                let mut parts = (first..behind).map(Lpn).filter(|lpn| !whole(&lpn.0));
                match command.kind {
                    Kind::Trim => parts.try_for_each(|lpn| state.trim_part(ftl, lpn, command)),
                    _ => parts.try_for_each(|lpn| state.write(ftl, lpn, command)),
                }
            }
        }
    }
}
