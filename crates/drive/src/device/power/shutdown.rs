//! Shutdown of a drive: operations that have begun are completed, and the data in the buffer goes
//! to flash.

use crate::device::Device;
use crate::device::event::Event;
use crate::device::flash::op::Owner;
use crate::device::ids::EntryId;
use crate::device::write::Write;
use crate::device::write::buffer::Buffer;
use crate::horizon::LATEST;
use ftl::{BinChoice, Ftl, Lpn, PoolId, Untimed};

impl Device {
    /// Shuts the drive down and returns its firmware. Collection that has begun, or is due because
    /// space is short, is completed; no more of it begins in an idle gap. Buffered data is written,
    /// untimed, pool by pool in turn.
    ///
    /// # Errors
    /// If commands are under way, if a policy of the user fails, or if the drive cannot come to
    /// rest or has no space for the content of its buffer.
    pub fn shut_down(mut self, choice: BinChoice) -> Result<Ftl, String> {
        if self.base.outstanding() > 0 {
            return Err(format!("{} commands are still under way", self.base.outstanding()));
        }
        if self.base.space.ftl.has_failed_bins() {
            return Err("flash of the drive has failed, which a snapshot cannot keep".into());
        }
        // What would have failed later does not fail any more.
        self.base.time.agenda.withdraw(|event| matches!(event, Event::Fail(_)));
        self.gc.end_scrubbing(&mut self.base);
        self.gc.end_resting(&mut self.base);
        self.end_idle_collection();
        self.end_what_is_due()?;
        self.write_buffered(choice)?;
        if let Some(fault) = self.policy_fault() {
            return Err(format!("policy {fault}"));
        }
        self.base.space.ftl.settle_trims();
        self.base.space.ftl.restart_ages(self.base.time.now.as_ns());
        match self.base.space.ftl.is_at_rest() {
            true => Ok(self.base.space.ftl),
            false => Err(format!("the drive does not come to rest: {}", self.why_stuck())),
        }
    }

    /// Ends idle gaps: collection that one has begun goes on without.
    fn end_idle_collection(&mut self) {
        self.base.flash.forgo_idle_gaps();
        self.base.time.agenda.withdraw(|event| matches!(event, Event::Idle(_)));
        for bin in self.base.space.bins() {
            self.gc.end_idleness(&mut self.base, bin);
        }
        self.settle();
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
        let mut open = self.base.space.ftl.detached_units();
        let updates = self.write.iter().flat_map(|of| &of.updates);
        open.extend(updates.flat_map(|updates| updates.off_flash.units()));
        if units.len() != self.write.iter().map(|of| of.buffer.units()).sum::<usize>() {
            let what: Vec<String> = self.write.iter().map(|of| of.buffer.describe()).collect();
            let what = what.join("; ");
            return Err(format!("the drive does not come to rest: {what}"));
        }
        let mut writer = Untimed::new(&self.base.space.ftl, choice);
        // Updates that lack space end here: their stripes get new parity.
        self.base.space.ftl.drop_detached();
        for lpn in open {
            writer.renew_parity(&mut self.base.space.ftl, lpn).map_err(without_space)?;
        }
        let mut written =
            units.into_iter().map(|lpn| writer.rewrite(&mut self.base.space.ftl, lpn));
        written.try_for_each(|written| written).map_err(without_space)?;
        writer.flush(&mut self.base.space.ftl).map_err(without_space)
    }

    /// Units of a buffer at rest: those of updates that lack space, and then for each pool those of
    /// programs that were parked for want of space, and those that wait for a program.
    fn buffered(&self) -> Vec<Lpn> {
        let mut units: Vec<Lpn> = Vec::new();
        for write in self.write.iter() {
            let updates = write.updates.iter();
            let entries = updates.flat_map(|of| of.entries().chain(of.off_flash.entries()));
            units.extend(entries.filter_map(|entry| write.buffer.current(entry)));
        }
        for pool in (0..self.base.space.ftl.layout.pool_count()).map(PoolId) {
            let Write { buffer, updates, .. } = &self.write[self.base.set_of_pool(pool)];
            if updates.is_none() {
                units.extend(self.parked_units(pool, buffer));
            }
            units.extend(buffer.waiting_in(pool).filter_map(|id| buffer.current(id)));
        }
        units
    }

    /// Units of a pool's programs that were parked for want of space.
    fn parked_units(&self, pool: PoolId, buffer: &Buffer) -> Vec<Lpn> {
        let payloads = &self.base.flash.payloads;
        let bins = self.base.space.ftl.layout.bins_of(pool).iter();
        let mut units = Vec::new();
        for (op, _) in bins.flat_map(|bin| self.base.space.parked(*bin)) {
            let Owner::Flush(payload) = self.base.flash.op(*op).owner else { continue };
            let slots = 0..payloads.count(payload);
            let entries = slots.map(|slot| EntryId(payloads.slot(payload, slot)[0]));
            units.extend(entries.filter_map(|entry| buffer.current(entry)));
        }
        units
    }
}

fn without_space(pool: PoolId) -> String {
    format!("pool {} of the drive has no space left for what is in the buffer", pool.0)
}
