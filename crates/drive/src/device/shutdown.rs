//! The end of a drive's day: what it has begun is ended, and what is in the buffer goes
//! to flash.

use super::Device;
use super::buffer::EntryId;
use super::event::Event;
use super::op::Owner;
use crate::horizon::LATEST;
use ftl::{BinChoice, Ftl, Lpn, PoolId, Untimed};

impl Device {
    /// Shuts the drive down and returns its firmware. Collection that has begun, or is due
    /// for want of space, goes on to its end; no more of it begins in an idle gap. Buffered
    /// data is written, without time, its pools in turn.
    ///
    /// # Errors
    /// Where commands are under way, where a policy of the user fails, or where the drive
    /// cannot come to rest, or has no space for what is in its buffer.
    pub fn shut_down(mut self, choice: BinChoice) -> Result<Ftl, String> {
        if self.outstanding > 0 {
            return Err(format!("{} commands are still under way", self.outstanding));
        }
        self.end_scrubbing();
        self.end_idle_collection();
        self.end_what_is_due()?;
        self.write_buffered(choice)?;
        if let Some(fault) = self.policy_fault() {
            return Err(format!("policy {fault}"));
        }
        self.ftl.settle_trims();
        match self.ftl.is_at_rest() {
            true => Ok(self.ftl),
            false => Err(format!("the drive does not come to rest: {}", self.why_stuck())),
        }
    }

    /// No idle gap comes any more: what one has begun goes on without.
    fn end_idle_collection(&mut self) {
        self.gc_config.idle_gap = None;
        self.agenda.withdraw(|event| matches!(event, Event::Idle(_)));
        for bin in self.jobs.ids() {
            self.jobs[bin].end_idleness();
            if !self.jobs[bin].is_idle() {
                self.collect(bin);
            }
        }
    }

    fn end_what_is_due(&mut self) -> Result<(), String> {
        while let Some(due) = self.next_due() {
            if due > LATEST {
                return Err("the drive's own work goes on beyond 4.5 years".into());
            }
            self.step();
        }
        Ok(())
    }

    /// Writes the current data of every unit that the buffer holds.
    fn write_buffered(&mut self, choice: BinChoice) -> Result<(), String> {
        let units = self.buffered();
        if units.len() != self.buffer.units() {
            let what = self.buffer.describe();
            return Err(format!("the drive does not come to rest: {what}"));
        }
        let mut writer = Untimed::new(&self.ftl, choice);
        let mut written = units.into_iter().map(|lpn| writer.write(&mut self.ftl, lpn));
        written.try_for_each(|written| written).map_err(without_space)?;
        writer.flush(&mut self.ftl).map_err(without_space)
    }

    /// Units of a buffer at rest: of each pool those of programs that were set aside for
    /// want of space, then those that wait for a program.
    fn buffered(&self) -> Vec<Lpn> {
        let mut units = Vec::new();
        for pool in (0..self.ftl.layout.pool_count()).map(PoolId) {
            let homes = self.ftl.layout.bins_of(pool).iter().map(|bin| &self.bins[*bin]);
            for (op, _) in homes.flat_map(|home| &home.parked) {
                let Owner::Flush(payload) = self.ops[*op].owner else { continue };
                let slots = 0..self.payloads.count(payload);
                let entries = slots.map(|slot| EntryId(self.payloads.slot(payload, slot)[0]));
                units.extend(entries.filter_map(|entry| self.buffer.current(entry)));
            }
            units.extend(self.buffer.waiting_in(pool).filter_map(|id| self.buffer.current(id)));
        }
        units
    }
}

fn without_space(pool: PoolId) -> String {
    format!("pool {} of the drive has no space left for what is in the buffer", pool.0)
}
