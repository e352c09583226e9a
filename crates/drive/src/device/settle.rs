//! Handling of due events: the parts that are told, and the effects at the same moment.

use super::Device;
use super::base::Base;
use super::event::Event;
use super::flash::Note;
use super::flash::end::Ended;
use super::flash::op::Owner;
use super::gc::Gc;
use super::ids::{OpId, RequestId, of_tagged};
use super::port::Port;
use super::write::Write;
use ftl::Stream;
use host::Kind;

impl Device {
    /// Handles an event that is due now; returns the operation that it ended, if any.
    #[inline(always)]
    pub(super) fn happen(&mut self, event: Event, sequence: u64) -> Option<Ended> {
        let Self { base, gc, write, port, .. } = self;
        let (time, flash, space) = (&mut base.time, &mut base.flash, &mut base.space);
        match event {
            Event::Sensed(op) => flash.want_transfer(time, op),
            Event::CarriedOut(op) => return flash.carried_out(time, space, op),
            Event::CarriedIn(op) => {
                space.prefetch_old(flash.op(op), &flash.payloads);
                flash.carried_in(time, space, op);
            }
            Event::Commanded(op) => flash.commanded(time, space, op),
            Event::Freed(channel) => flash.freed(time, space, channel),
            Event::Programmed(op) if flash.suspends() => {
                return flash.programmed_beside_reads(time, space, op, sequence);
            }
            Event::Programmed(op) => return flash.programmed(time, space, op),
            Event::Array(op) if flash.suspends() => return flash.array_ended(time, op, sequence),
            Event::Array(op) => return flash.array_over(time, op),
            Event::SensedRest(op) => flash.rest_sensed(time, space, op),
            Event::Poll(op) => flash.poll_due(time, space, op, sequence),
            Event::Dispatch(request) => self.dispatch(request),
            Event::Answer(request) => port.send(base, request, base.time.now),
            Event::Complete(request) if port.needs_bus() => port.complete_by_bus(base, request),
            Event::Complete(request) => port.complete(base, request),
            Event::Crossed(request) => port.crossed(base, request),
            Event::Undecoded(op) => return self.undecoded(op),
            Event::RestRead(entry) => {
                let (set, entry) = of_tagged(write.count(), entry);
                write[set].entry_ready(base, entry);
            }
            Event::ParityKnown(update) => {
                write.whole_mut().parity_known(base, &mut port.requests, update);
            }
            Event::Partial(pool) => write[base.set_of_pool(pool)].partial_due(base, pool),
            Event::Idle(group) => gc.idle_due(base, group),
            Event::Scrub(set) => gc.scrub_due(base, set),
            Event::ScrubAgain(set) => gc.scrub_again(base, set),
            Event::Think(set) => gc.thought(base, set),
            Event::Fail(_) | Event::Rebuild | Event::Rebuilt(_) => self.happen_to_failed(event),
            Event::Backlog(bin) => gc.backlog_due(base, bin),
            Event::Window(set) => self.window_due(set),
        }
        None
    }

    /// Handles an event of flash that fails, or has failed.
    #[cold]
    #[inline(never)]
    fn happen_to_failed(&mut self, event: Event) {
        let Self { base, write, rebuilding, .. } = self;
        match event {
            Event::Fail(failure) => self.fail(failure),
            Event::Rebuild => rebuilding.go_on(base, write.whole_mut()),
            Event::Rebuilt(job) => rebuilding.program(base, job),
            _ => unreachable!("an event of failed flash"),
        }
    }

    #[inline]
    fn dispatch(&mut self, id: RequestId) {
        if self.gc.windows.is_some() {
            self.count_in_window(self.port.requests[id].command);
        }
        let Self { base, gc, write, port, .. } = self;
        let command = &port.requests[id].command;
        let write = &mut write[base.set_at(command.offset)];
        match command.kind {
            Kind::Read => port.read(base, gc, write, id),
            Kind::Write | Kind::WriteZeroes => write.admit(base, &mut port.requests, id),
            Kind::Trim => port.trim(base, write, id),
            Kind::Flush => write.flush(base, &mut port.requests, id),
        }
    }

    /// Reports the end of an operation to its owner, and then lets others start.
    #[inline(never)]
    pub(super) fn route(&mut self, ended: Ended) {
        if self.base.watches_ends && self.begins_again(ended) {
            return;
        }
        let Self { base, gc, write, port, .. } = self;
        let id = ended.id;
        let write = &mut write[base.set_of_bin(base.flash.op(id).bin)];
        match ended.owner {
            Owner::Read(request, part) => {
                end_read(base, gc, id);
                if base.space.ftl.is_failed(base.flash.op(id).bin) {
                    port.read_failed(base, (gc, write), id, (request, part));
                } else {
                    port.read_ended(base, write, id, (request, part));
                }
            }
            Owner::Rebuild(..) | Owner::RmwRead(..) | Owner::ParityRead(..) => {
                end_side_read(base, gc, write, port, id);
            }
            Owner::Flush(payload) => {
                base.vacate(id);
                write.flushed(base, &mut port.requests, id, payload);
            }
            Owner::CollectErase => {
                base.vacate(id);
                gc.erased(base, id);
            }
            Owner::RebuildRead(..)
            | Owner::RebuildWrite(..)
            | Owner::StripeParity
            | Owner::CollectParity(_)
            | Owner::StripeRead(..)
            | Owner::CollectStripeRead(..)
            | Owner::ScrubStripeRead(..)
            | Owner::ScrubRead(_)
            | Owner::ScrubWrite(_)
            | Owner::ScrubErase
            | Owner::ScrubParity
            | Owner::PatrolRead => self.end_of_rare(id),
            owner => {
                if !gc.ended(base, id, owner) {
                    return;
                }
            }
        }
        self.base.leave(id);
    }

    /// Reports the end of an operation of the rebuild, of the parity of a superblock, or of scrubbing
    /// as a task of its own.
    #[cold]
    #[inline(never)]
    fn end_of_rare(&mut self, id: OpId) {
        let Self { base, gc, write, rebuilding, .. } = self;
        match base.flash.op(id).owner {
            Owner::RebuildRead(job, member) => {
                end_read(base, gc, id);
                rebuilding.read_ended(base, id, (job, member));
            }
            Owner::RebuildWrite(payload, job) => {
                base.vacate(id);
                rebuilding.written(base, write.whole_mut(), id, (payload, job));
            }
            Owner::StripeParity => {
                base.vacate(id);
                base.parity_ended(id, Stream::Host);
            }
            Owner::CollectParity(stream) => {
                base.vacate(id);
                base.parity_ended(id, stream);
            }
            Owner::StripeRead(recovery, member)
            | Owner::CollectStripeRead(recovery, member)
            | Owner::ScrubStripeRead(recovery, member) => {
                end_read(base, gc, id);
                self.member_read(id, (recovery, member));
            }
            Owner::ScrubParity => {
                base.vacate(id);
                base.parity_ended(id, Stream::Scrub);
            }
            _ => gc.scrub_ended(base, id),
        }
    }

    /// Handles the effects at the same moment, in this order: answers; notes of flash; bins whose
    /// space has changed, the last one first; partial writes without space; pools whose bins may
    /// take programs again; idle groups, if data has become invalid; collections that wait for a quiet
    /// channel.
    #[inline(always)]
    pub(super) fn settle(&mut self) {
        let left = self.port.requests.ready.len()
            | self.base.flash.note_count()
            | self.base.space.change_count();
        if left != 0 {
            self.settle_all();
        }
    }

    #[inline(never)]
    fn settle_all(&mut self) {
        let Self { base, gc, write, port, .. } = self;
        loop {
            if !port.requests.ready.is_empty() {
                port.answer_ready(base, write);
            } else if let Some(note) = base.flash.next_note() {
                match note {
                    Note::CarriesOut(op) => gc.stream_if_possible(base, op),
                    Note::PartStarted(op) => {
                        let set = base.set_of_bin(base.flash.op(op).bin);
                        write[set].part_started(base, op);
                    }
                    Note::TurnedToRead(bin) => {
                        gc.turned_to_read(bin);
                        base.give_credit_back(bin);
                    }
                    Note::Credits(set) => gc.go_on_with_credits(base, &mut write[set], set),
                    Note::Strained(block, strain) => {
                        base.space.ftl.note_strain(block, strain.ramps, strain.pulses);
                    }
                    Note::Resumed(group) => gc.resumed(base, group),
                    Note::RoundEnded(group) => gc.collect_in_round(base, group),
                    Note::ChannelKept(bin) => {
                        gc.channel_kept(base, bin);
                        write[base.set_of_bin(bin)].tolerate(base, bin);
                    }
                    Note::AwaitsQuiet => return self.settle_and_ask(),
                    Note::Reserved(bin) => write[base.set_of_bin(bin)].tolerate(base, bin),
                    Note::Dispatched => port.dispatch_deferred(base, (gc, write)),
                    Note::UpdatesEnded => {
                        write.whole_mut().end_updates(base, &mut port.requests);
                    }
                }
            } else if let Some(bin) = base.space.next_to_collect() {
                gc.collect_if_needed(base, bin);
                if base.tasks.is_some() {
                    // A program that waits for space has given its task back.
                    gc.go_on_with_tasks(base, base.set_of_bin(bin));
                }
                // A program that waits for space has given its credit back.
                base.call_for_credits(bin);
                if base.space.has_parked_parts() {
                    write[base.set_of_bin(bin)].turn_parked_away(base, &mut port.requests);
                }
            } else if let Some(pool) = base.space.next_due_pool() {
                write[base.set_of_pool(pool)].flush_pool(base, pool);
            } else if base.space.take_died() {
                gc.retry_thwarted(base);
            } else {
                gc.audit_pressure(base, write);
                break;
            }
        }
        if self.base.space.is_watched() {
            self.watch_windows();
        }
    }
}

impl Device {
    /// Handles all other effects, and then lets collections go on that wait for quiet channels.
    #[cold]
    #[inline(never)]
    fn settle_and_ask(&mut self) {
        loop {
            self.settle_all();
            if !self.gc.ask_for_quiet(&mut self.base) {
                return;
            }
        }
    }
}

/// Frees the units of a read that is not of collection, and lets its block be erased.
#[inline(always)]
fn end_read(base: &mut Base, gc: &mut Gc, id: OpId) {
    base.vacate(id);
    let block = base.flash.op(id).block;
    base.space.ftl.note_sensed(block, 1);
    gc.unpin(base, block);
}

/// Reports the end of a read that a request needs beside its own data.
#[inline(never)]
fn end_side_read(base: &mut Base, gc: &mut Gc, write: &mut Write, port: &mut Port, id: OpId) {
    end_read(base, gc, id);
    match base.flash.op(id).owner {
        Owner::Rebuild(rebuild, member) => {
            port.rebuild_read(base, (gc, write), id, (rebuild, member))
        }
        Owner::RmwRead(entry, row) => write.rest_read(base, id, (entry, row)),
        Owner::ParityRead(update, row) => write.parity_read(base, id, (update, row)),
        _ => unreachable!("a read beside the data of a request"),
    }
}
