//! A power cut: volatile state is lost, operations under way on flash are half done, and the drive
//! recovers from the data on media.

use crate::audit::Saved;
use crate::device::Device;
use crate::device::event::Event;
use crate::device::flash::counters::OpKind;
use crate::device::flash::op::{AsksFor, Op, Owner};
use crate::device::ids::{EntryId, OpId};
use crate::device::power::Cut;
use crate::device::write::buffer::Stage;
use crate::recovery::Outage;
use engine::{Instant, Span};
use ftl::recovery::{Fault, Interrupted, MapFrom};
use ftl::{Batch, Lpn, Ppn, Source};
use host::Command;
use metrics::Holder;
use std::collections::BTreeMap;

/// Progress of an operation that has begun.
#[derive(Clone, Copy)]
enum Phase {
    /// One of its rows is being transferred to the array, or waits for that.
    Transfer,
    /// The array works on it, until that moment if known.
    Array(Option<Instant>),
}

/// Data of a unit's slot that is on flash.
enum Data {
    /// Data of a host: its unit, and the entry of the buffer.
    Host(Lpn, EntryId),
    /// A copy.
    Copy(Lpn, Ppn),
}

impl Device {
    /// Cuts the power now, after the events that are due now. Everything volatile is lost; the
    /// drive is off until [`Device::power_up`], which must be called after the time that its
    /// recovery takes.
    ///
    /// # Errors
    /// If an audited drive has lost data that it must keep, or holds older data.
    ///
    /// # Panics
    /// If the drive keeps nothing to recover by (`drive.recovery`).
    pub fn cut_power(&mut self) -> Result<Cut, String> {
        assert!(!self.port.has_done(), "completions are taken before the power is cut");
        let persistence = self.base.power.as_ref().expect("the drive can recover");
        if let Some(earlier) = persistence.off {
            // The drive begins anew with the data on media, which has not changed. Only the first
            // cut reports the operations that it interrupted.
            let outage = earlier.begun_anew(self.base.time.now);
            return Ok(Cut { outage, lost: Vec::new() });
        }
        self.base.note_checkpoints();
        let cut = self.note_interrupted();
        let saved = if self.saves_buffer() { self.save_buffer() } else { Vec::new() };
        let lost = self.lose_requests();
        self.lose_all_volatile();
        let persistence = self.base.power.as_mut().expect("the drive can recover");
        let means = persistence.means();
        let loses = means.fault == Some(Fault::LosesDump);
        persistence.saved = if loses { Vec::new() } else { saved };
        let mut outage = Outage {
            at: self.base.time.now,
            half_programmed: cut.torn.len() as u32,
            half_erased: cut.half_erased.len() as u32,
            migrating: self
                .base
                .space
                .bins()
                .filter(|bin| self.base.space.ftl.migration(*bin).is_some())
                .count() as u32,
            saved_units: persistence.saved.len() as u32,
            lost_requests: lost.len() as u32,
            ..Outage::default()
        };
        let mut looks = Vec::new();
        let recovered = self.base.space.ftl.recover(&cut, means, &mut |look| looks.push(look));
        if self.base.audit.is_some() {
            recovered.erased.iter().for_each(|block| self.base.audit_erase(*block));
        }
        outage.closed_early = recovered.closed;
        outage.undone = recovered.undone;
        outage.units = recovered.units;
        self.time_recovery(&looks, &recovered.erased, &mut outage);
        if let Some((lpn, ppn)) = recovered.unread {
            return Err(format!(
                "{lpn:?} is at {ppn:?}, which was not read, nor is it in the checkpoint"
            ));
        }
        self.prove_recovery()?;
        let took = outage.took.as_ns() << 8 | u64::from(outage.lost_requests);
        self.port.mix([outage.at.as_ns(), took]);
        self.base.power.as_mut().expect("it recovers").off = Some(outage);
        Ok(Cut { outage, lost })
    }

    /// Turns the drive on: it has recovered by `at` and serves commands from then on.
    ///
    /// # Panics
    /// If the power was not cut.
    pub fn power_up(&mut self, at: Instant) {
        self.base.time.now = self.base.time.now.max(at);
        let persistence = self.base.power.as_mut().expect("the power was cut");
        let outage = persistence.off.take().expect("the power was cut");
        persistence.off_for += self.base.time.now - outage.at;
        persistence.off_times.push((outage.at, self.base.time.now));
        let saved = std::mem::take(&mut persistence.saved);
        self.firmware_changed();
        let mut entries = Vec::new();
        for Saved { lpn, token, rest, written, reads } in saved {
            let (pool, version) =
                (self.base.space.ftl.layout.pool(lpn), self.base.space.ftl.take_version());
            let entry = self.write.whole_mut().buffer.insert(
                lpn,
                pool,
                None,
                (token, version),
                self.base.time.now,
            );
            self.write.whole_mut().take_saved(&mut self.base, lpn, entry, (written, reads));
            let place =
                || self.base.space.ftl.lookup(lpn).expect("a part was written to what is on flash");
            entries.push((entry, rest.map(|_| place())));
        }
        for (entry, rest) in entries {
            match rest {
                Some(ppn) => self.write.whole_mut().read_rest(&mut self.base, entry, ppn),
                None => self.write.whole_mut().entry_ready(&mut self.base, entry),
            }
        }
        self.base.space.look_at(self.base.space.bins());
        self.settle();
    }

    /// True from a power cut until the drive serves commands again.
    pub fn is_off(&self) -> bool {
        self.base.power.as_ref().is_some_and(|persistence| persistence.off.is_some())
    }

    // ---- what was under way --------------------------------------------------------

    /// The operations that have begun to change flash, each once, in the order of their
    /// numbers.
    fn under_way(&self) -> BTreeMap<OpId, Phase> {
        let mut found = BTreeMap::new();
        for (due, event) in self.base.time.agenda.pending() {
            let (op, phase) = match event {
                Event::Programmed(op) | Event::Array(op) => (op, Phase::Array(Some(due))),
                Event::CarriedIn(op) | Event::SensedRest(op) => (op, Phase::Transfer),
                // The others have not changed anything yet.
                Event::Commanded(op) if self.base.flash.op(op).kind == OpKind::Modify => {
                    (op, Phase::Transfer)
                }
                _ => continue,
            };
            found.insert(op, phase);
        }
        let waiting = self.base.flash.that_wait_for_channels();
        found.extend(waiting.filter(|op| self.holds_unit(*op)).map(|op| (op, Phase::Transfer)));
        // Their events may be stale.
        found.extend(self.base.flash.at_work().map(|op| (op, Phase::Array(None))));
        found.retain(|op, _| self.base.flash.op(*op).kind != OpKind::Read);
        found
    }

    /// True if a program that waits for its channel has begun before.
    fn holds_unit(&self, id: OpId) -> bool {
        let op = self.base.flash.op(id);
        op.kind != OpKind::Read && op.asks_for != AsksFor::Both
    }

    /// Notes the data that interrupted programs have left on flash.
    fn note_interrupted(&mut self) -> Interrupted {
        let map = self.base.power.as_ref().expect("the drive can recover").means().map;
        let mut cut = Interrupted::default();
        let under_way = self.under_way();
        // Between two commands of an erase some planes of the block are erased.
        let mut begun = self.base.flash.op_ids();
        begun.retain(|id| self.base.flash.op(*id).kind == OpKind::Erase);
        begun.retain(|id| under_way.contains_key(id) || self.base.flash.op(*id).batch > 0);
        cut.half_erased.extend(begun.iter().map(|id| self.base.flash.op(*id).block));
        for (id, phase) in under_way {
            let op = self.base.flash.op(id);
            if op.kind == OpKind::Erase {
                continue;
            }
            let at = op.at();
            let is_whole = op.row == self.base.space.ftl.layout.rows_per_block;
            let rows = if is_whole {
                self.base.space.ftl.layout.rows_per_batch
            } else {
                self.rows_touched(op, phase)
            };
            if rows == 0 {
                continue;
            }
            // A map in memory does not include operations that have not ended.
            let is_found = is_whole && map != MapFrom::Memory;
            self.note_left(id, at, is_found);
            if is_found {
                self.count_whole(id, at);
                cut.whole.push(at);
            } else {
                cut.torn.push((at, rows));
            }
        }
        cut.half_erased.sort_unstable();
        cut
    }

    /// Number of rows of an operation that are no longer erased.
    fn rows_touched(&self, op: &Op, phase: Phase) -> u32 {
        let target = op.batch * self.base.space.ftl.layout.rows_per_batch;
        match phase {
            Phase::Transfer => op.row - target,
            Phase::Array(Some(due)) if op.kind == OpKind::CopyBack => {
                // It senses each row before it programs it; `left` is the time after a sense.
                let (mut left, mut rows) = (Span::ZERO, self.base.space.ftl.layout.rows_per_batch);
                while rows > 0 {
                    left += self.base.flash.timing().program(target + rows - 1);
                    if due - self.base.time.now < left {
                        break;
                    }
                    rows -= 1;
                    left += self.base.flash.timing().read(op.row + rows);
                }
                rows
            }
            Phase::Array(_) => op.row + 1 - target,
        }
    }

    /// Notes the metadata that a program has left, and the data if it is complete.
    fn note_left(&mut self, id: OpId, at: Batch, is_whole: bool) {
        let first = self.base.space.ftl.layout.first_unit(at.block, at.batch).0;
        if let Owner::CollectMove(from) = self.base.flash.op(id).owner
            && self.base.flash.op(id).kind == OpKind::CopyBack
            && is_whole
        {
            self.base.audit_fit(from, at);
        }
        for (slot, data) in self.carried_by(id).into_iter().enumerate() {
            let ppn = Ppn(first + slot as u32);
            match data {
                Data::Host(lpn, entry) => {
                    let write = self.write.whole();
                    let (version, token) = (write.buffer.version(entry), write.buffer.token(entry));
                    self.base.space.ftl.note(ppn, lpn);
                    self.base.space.ftl.note_version(ppn, version);
                    write.note_subunits(&mut self.base, entry, ppn);
                    if is_whole {
                        self.base.audit_survived(lpn, ppn, token);
                    }
                }
                Data::Copy(lpn, from) => {
                    self.base.space.ftl.note_copy(from, ppn, lpn);
                    if is_whole {
                        self.base.audit_copy(from, ppn);
                    }
                }
            }
            if !is_whole {
                self.base.audit_torn(ppn);
            }
        }
    }

    /// Counts the units of a program whose data is on flash.
    fn count_whole(&mut self, id: OpId, at: Batch) {
        let op = self.base.flash.op(id);
        let from = op.uncorrected().or_else(|| self.base.flash.copied_inside(id));
        let source = match op.holder {
            Holder::HostProgram => Source::Host,
            Holder::Scrub => Source::Scrub,
            _ => Source::Gc,
        };
        self.base.space.ftl.note_copied(from, at);
        let count = self.carried_by(id).len() as u32;
        let tally = &mut self.base.space.ftl.tally;
        tally.units[source as usize] += u64::from(count);
        tally.units[Source::Padding as usize] +=
            u64::from(self.base.space.ftl.layout.units_per_batch - count);
    }

    /// The payload of a program, slot by slot.
    fn carried_by(&self, id: OpId) -> Vec<Data> {
        match self.base.flash.op(id).owner {
            Owner::Flush(payload) => (0..self.base.flash.payloads.count(payload))
                .map(|slot| EntryId(self.base.flash.payloads.slot(payload, slot)[0]))
                .map(|entry| Data::Host(self.write.whole().buffer.entry(entry).lpn, entry))
                .collect(),
            Owner::CollectWrite(payload) => (0..self.base.flash.payloads.count(payload))
                .map(|slot| self.base.flash.payloads.slot(payload, slot))
                .map(|[lpn, from]| Data::Copy(Lpn(lpn), Ppn(from)))
                .collect(),
            Owner::CollectMove(from) | Owner::Streamed(from) => {
                let first = self.base.space.ftl.layout.first_unit(from.block, from.batch).0;
                (first..first + self.base.space.ftl.layout.units_per_batch)
                    .map(|ppn| Data::Copy(self.base.space.ftl.holds(Ppn(ppn)), Ppn(ppn)))
                    .collect()
            }
            _ => Vec::new(),
        }
    }

    /// Data that a capacitor saves. For a unit whose rest is still being read from flash, this is
    /// the written part: the rest is read again when the drive is on again.
    fn save_buffer(&self) -> Vec<Saved> {
        let is_part = |id| self.write.whole().buffer.entry(id).stage == Stage::ReadingRest;
        let rest = |lpn| match (&self.base.audit, self.base.space.ftl.lookup(lpn)) {
            (Some(audit), Some(ppn)) => audit.token_at(ppn),
            _ => 0,
        };
        let save = |id| {
            let write = self.write.whole();
            let lpn = write.buffer.entry(id).lpn;
            let (written, reads) = write.parts_of(&self.base, id);
            let rest = is_part(id).then(|| rest(lpn));
            Saved { lpn, token: write.buffer.token(id), rest, written, reads }
        };
        self.write.whole().buffer.current_data().into_iter().map(save).collect()
    }

    // ---- lost state -----------------------------------------------------------------

    /// Removes commands that were under way and will never complete.
    fn lose_requests(&mut self) -> Vec<(u32, Command)> {
        let now = self.base.time.now;
        let mut lost = Vec::new();
        for id in self.port.requests.ids() {
            let request = &self.port.requests[id];
            let arrived = request.arrived;
            lost.push((request.tag, request.command));
            if let Some(audit) = &mut self.base.audit {
                audit.lost(id, self.port.requests.ticket(id), arrived, now);
            }
        }
        self.base.commands_lost();
        lost
    }

    fn lose_all_volatile(&mut self) {
        let Self { base, gc, write, port, failures: _, rebuilding: _ } = self;
        let layout = &base.space.ftl.layout;
        base.time.agenda.withdraw(|_| true);
        base.flash.begin_anew(base.time.now, layout);
        gc.begin_anew(layout);
        write.iter_mut().for_each(|of| of.begin_anew(layout));
        base.space.begin_anew();
        if let Some(errors) = &mut base.errors {
            errors.begin_anew();
        }
        if let Some(tasks) = &mut base.tasks {
            tasks.iter_mut().for_each(|of| of.begin_anew(base.time.now));
        }
        port.begin_anew();
    }

    // ---- remaining data -----------------------------------------------------------------

    /// Lets the auditor check that no data is lost that must be kept, that no older data is there,
    /// and that the map is sound.
    fn prove_recovery(&mut self) -> Result<(), String> {
        let persistence = self.base.power.as_ref().expect("it recovers");
        let Some(audit) = &mut self.base.audit else { return Ok(()) };
        audit.recovered(&self.base.space.ftl, &persistence.saved)?;
        self.base.space.ftl.audit()
    }
}
