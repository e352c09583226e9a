//! Checkpoints while the drive runs.

use crate::device::{Base, Device};
use crate::recovery::TrimDurability;
use ftl::Source;

impl Base {
    /// Tells the firmware of the checkpoints that have come due.
    #[inline]
    pub fn note_checkpoints(&mut self) {
        if self.power.as_ref().is_some_and(|persistence| persistence.checkpoint_rows > 0) {
            self.note_some_checkpoints();
        }
    }

    #[cold]
    #[inline(never)]
    fn note_some_checkpoints(&mut self) {
        let Some(persistence) = &self.power else { return };
        let units = self.space.ftl.tally.units[Source::Host as usize];
        let count = persistence.checkpoints(self.time.now, units);
        let notes_trims = persistence.config.trims == TrimDurability::Volatile;
        self.space.ftl.note_checkpoints(count, notes_trims);
    }

    /// Begins checkpoints at the start of time: the drive was filled and aged, or shut down.
    pub fn begin_checkpoints(&mut self) {
        let units = self.space.ftl.tally.units[Source::Host as usize];
        if let Some(persistence) = &mut self.power {
            persistence.began_at.get_or_insert(units);
        }
        self.note_checkpoints();
    }
}

impl Device {
    /// Number of checkpoints since the run began, and of the programs that each takes.
    pub fn checkpoints(&self) -> Option<(u64, u64)> {
        let persistence = self.base.power.as_ref()?;
        let units = self.base.space.ftl.tally.units[Source::Host as usize];
        let count = persistence.checkpoints(self.base.time.now, units);
        (count > 0).then(|| (u64::from(count) - 1, persistence.checkpoint_rows))
    }
}
