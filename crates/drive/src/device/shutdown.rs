//! The end of a drive's day: what it has begun is ended, and what is in the buffer goes
//! to flash.

use super::Device;
use crate::horizon::LATEST;
use ftl::{BinChoice, Ftl, PoolId, Untimed};

impl Device {
    /// Shuts the drive down and returns its firmware. Collection that is under way or due
    /// goes on to its end; buffered data is written, without time, its pools in turn.
    ///
    /// # Errors
    /// Where commands are under way, where a policy of the user fails, or where the drive
    /// cannot come to rest.
    pub fn shut_down(mut self, choice: BinChoice) -> Result<Ftl, String> {
        if self.outstanding > 0 {
            return Err(format!("{} commands are still under way", self.outstanding));
        }
        self.end_scrubbing();
        while let Some(due) = self.next_due() {
            if due > LATEST {
                return Err("the drive's own work goes on beyond 4.5 years".into());
            }
            self.step();
        }
        let mut writer = Untimed::new(&self.ftl, choice);
        for pool in (0..self.ftl.layout.pool_count()).map(PoolId) {
            let waiting = self.buffer.waiting_in(pool);
            let mut written = waiting.map(|lpn| writer.write(&mut self.ftl, lpn));
            written.try_for_each(|written| written).map_err(without_space)?;
        }
        writer.flush(&mut self.ftl).map_err(without_space)?;
        if let Some(fault) = self.policy_fault() {
            return Err(format!("policy {fault}"));
        }
        match self.ftl.is_at_rest() {
            true => Ok(self.ftl),
            false => Err(format!("the drive does not come to rest: {}", self.why_stuck())),
        }
    }
}

fn without_space(pool: PoolId) -> String {
    format!("pool {} of the drive has no space left for what is in the buffer", pool.0)
}
