//! Requests that starve in a run: calls to the watch, and the consequences.

use super::Run;
use crate::device::{Completion, RequestId};
use crate::error::RunError;
use engine::Instant;
use host::Kind;

impl Run {
    /// True if a request starves before the next one arrives at `own` and before the next event of
    /// the drive, which may answer it. Events that are due at that very moment come first.
    #[cold]
    #[inline(never)]
    pub(super) fn starves_before(&mut self, own: Option<Instant>) -> Result<bool, RunError> {
        let at = self.starves_at;
        let next = [own, self.device.next_due()];
        // Windows come only as long as something else does.
        let window = next.iter().any(Option::is_some).then_some(self.window_at);
        if next.into_iter().chain([window]).flatten().any(|due| due <= at) {
            return Ok(false);
        }
        self.measured.note_time(at, &mut self.device);
        self.device.wait(at);
        let watch = self.watch.as_mut().expect("it said so");
        let name = |index: u32| self.initiators[index as usize].source.name().to_owned();
        let starved = watch.starve(&mut self.device, name);
        self.starves_at = watch.deadline();
        match starved {
            Some(starved) => Err(RunError::Starved(Box::new(starved))),
            None => Ok(true),
        }
    }

    /// Tells the watch of a submitted request. Out of line, as few runs look for requests that
    /// starve.
    #[cold]
    #[inline(never)]
    pub(super) fn watch_submitted(&mut self, id: RequestId, at: Instant, index: usize, kind: Kind) {
        if let Some(watch) = &mut self.watch {
            watch.submitted(id, at, index as u32, kind);
            self.starves_at = watch.deadline();
        }
    }

    /// Tells the watch of answered requests; their ids must not have been reused yet.
    #[cold]
    #[inline(never)]
    pub(super) fn watch_answered(&mut self, completions: &[Completion]) {
        if let Some(watch) = &mut self.watch {
            completions.iter().for_each(|one| watch.answered(one.id, one.finished));
            self.starves_at = watch.deadline();
        }
    }

    /// Refuses to advance once a request has starved that was to end the run.
    pub(super) fn refuse_starved(&self) -> Result<(), RunError> {
        match self.watch.as_ref().and_then(|watch| watch.ended_by()) {
            Some(starved) => Err(RunError::Starved(Box::new(starved.clone()))),
            None => Ok(()),
        }
    }
}
