//! The base of all other parts: time, flash and its space.

use crate::audit::Audit;
use crate::config::DriveConfig;
use crate::device::errors::Errors;
use crate::device::flash::counters::OpKind;
use crate::device::flash::op::{Class, Owner};
use crate::device::flash::{Ask, Flash};
use crate::device::ids::{OpId, PayloadId};
use crate::device::power::persistence::Persistence;
use crate::device::space::Space;
use crate::device::space::waits::{self, SpaceSnapshot};
use crate::device::tasks::Tasks;
use crate::device::time::Time;
use engine::{Agenda, Instant, Span};
use ftl::{BinId, BlockId, BySet, Ftl, PoolId, Ppn, SetId, Source, StripeId};
use metrics::{Holder, State};
use nand::GroupId;
use std::collections::BTreeSet;

/// Time, flash, space, and the auditor who watches them.
#[derive(Clone)]
pub struct Base {
    pub time: Time,
    pub flash: Flash,
    pub space: Space,
    /// Commands submitted and not completed: collection checks if any command may wait for it.
    outstanding: u32,
    pub audit: Option<Box<Audit>>,
    /// State of recovery from power cuts, if the drive can recover.
    pub power: Option<Box<Persistence>>,
    /// Time to decode the read whose end is being handled.
    pub decode: Span,
    /// Time to compute data from the rest of its stripe in a superblock.
    pub xor: Span,
    /// Bit errors, if flash has any.
    pub errors: Option<Box<Errors>>,
    /// The firmware's tasks, if their number is limited.
    pub tasks: Option<Box<BySet<Tasks>>>,
    /// True if ends of operations concern errors, tasks, windows or the number of programs.
    pub watches_ends: bool,
    /// The loss of data for good, in words, if there was one: the drive does nothing any more.
    loss: Option<String>,
}

/// Flash that a read needs, as far as collection holds it.
pub struct Held {
    /// The unit: cells in a group.
    pub group: GroupId,
    pub cells: u64,
    /// True if collection holds the unit, and the channel.
    pub unit: bool,
    pub channel: bool,
    /// The bin for whose collection the channel is reserved, if it is.
    pub keeper: Option<BinId>,
}

impl Base {
    /// The base of a drive as `config` describes it, with the firmware in its present state.
    pub fn new(config: &DriveConfig, mut ftl: Ftl, seed: u64) -> Self {
        let mut flash = Flash::new(config, &ftl.layout);
        let errors = Errors::new(config, &ftl, seed);
        if errors.is_some() {
            flash.record_transfers();
            ftl.record_exposure();
        }
        let sets = ftl.layout.set_count();
        let tasks = config
            .ftl
            .tasks
            .as_ref()
            .map(|tasks| Box::new(BySet::from_fn(sets, |_| Tasks::new(tasks))));
        if tasks.is_some() || config.ftl.pressure.is_some() {
            flash.keep_moves_apart();
        }
        Self {
            time: Time { now: Instant::START, agenda: Agenda::new() },
            decode: flash.timing().decode,
            flash,
            watches_ends: errors.is_some()
                || tasks.is_some()
                || config.ftl.windows.is_some()
                || config.ftl.pressure.is_some(),
            errors,
            tasks,
            xor: config.ftl.superblock.map_or(config.ftl.xor(), |of| of.xor()),
            power: config.recovery.map(|of| Persistence::new(of, config, &ftl)),
            space: Space::new(config, ftl),
            outstanding: 0,
            audit: None,
            loss: None,
        }
    }
    /// Data is lost for good, because two members of a stripe are.
    #[cold]
    pub fn lose_data(&mut self, stripe: StripeId) {
        let now = crate::device::rounded(self.time.now - Instant::START);
        self.loss = Some(format!("at {now} two members of stripe {} were lost", stripe.0));
        self.time.agenda.withdraw(|_| true);
    }
    /// Loss of data for good, in words, if there was one.
    #[inline]
    pub fn loss(&self) -> Option<&str> {
        self.loss.as_deref()
    }
    /// Counts a command that has begun.
    #[inline]
    pub fn command_began(&mut self) {
        self.outstanding += 1;
    }
    /// Counts a command that has completed.
    #[inline]
    pub fn command_ended(&mut self) {
        self.outstanding -= 1;
    }
    /// Forgets all commands under way: none of them will complete.
    pub fn commands_lost(&mut self) {
        self.outstanding = 0;
    }
    /// Commands submitted and not completed.
    #[inline]
    pub fn outstanding(&self) -> u32 {
        self.outstanding
    }
    /// Asks for an operation: it starts at once if nothing is in its way.
    #[inline]
    pub fn ask(&mut self, ask: Ask) -> OpId {
        self.flash.ask(&mut self.time, &mut self.space, ask)
    }
    /// Starts the operations of a group that may start.
    #[inline]
    pub fn serve(&mut self, group: GroupId) {
        self.flash.serve(&mut self.time, &mut self.space, group);
    }
    /// Frees the parts of the group that an operation that has ended occupied.
    #[inline(always)]
    pub fn vacate(&mut self, id: OpId) {
        self.flash.vacate(id);
    }
    /// Lets others start once the owner of an operation has handled its end.
    #[inline(always)]
    pub fn leave(&mut self, id: OpId) {
        self.flash.leave(&mut self.time, &mut self.space, id);
    }
    /// Charges an operation that has left its channel with decoding; returns the end of that.
    pub fn decoded(&mut self, op: OpId) -> Instant {
        let decode = self.decode;
        self.flash.blame_mut(op).charge(State::Decode, decode);
        self.time.now + decode
    }
    /// As [`Base::decoded`], but data on failed flash is not decoded: true for that, and the end.
    pub fn decoded_unless_failed(&mut self, op: OpId) -> (bool, Instant) {
        match self.space.ftl.is_failed(self.flash.op(op).bin) {
            true => (true, self.time.now),
            false => (false, self.decoded(op)),
        }
    }
    /// True if collection holds the flash that a read of a unit needs.
    pub fn is_held(&self, ppn: Ppn) -> bool {
        let held = self.held(ppn);
        held.unit || held.channel
    }
    /// True if collection has reserved what programs in a bin need: its unit, or the channel for
    /// another one.
    pub fn keeps_programs_from(&self, bin: BinId) -> bool {
        let place = self.flash.place(bin);
        self.flash.is_kept_from(place.channel, (place.group, place.all_cells()))
    }
    /// Pools that may have bins which collection has reserved now that it has reserved the unit of a
    /// bin, or the channel.
    pub fn pools_held_with(&self, bin: BinId) -> BTreeSet<PoolId> {
        let channel = self.flash.place(bin).channel;
        let bins = self.space.bins().filter(|bin| self.flash.place(*bin).channel == channel);
        bins.map(|bin| self.space.ftl.layout.pool_of_bin(bin)).collect()
    }
    /// Flash that a read of a unit needs and that collection holds.
    pub fn held(&self, ppn: Ppn) -> Held {
        let (bin, batch, planes) = self.space.planes_of(ppn);
        let place = self.flash.place_of(bin, batch);
        let (group, channel, cells) = (place.group, place.channel, place.read_cells(planes));
        Held {
            group,
            cells,
            unit: self.flash.is_unit_held(group, cells),
            channel: self.flash.is_channel_held(self.time.now, channel, (group, cells)),
            keeper: self.flash.keeper_of(channel),
        }
    }
    /// The NVM set of a bin.
    #[inline]
    pub fn set_of_bin(&self, bin: BinId) -> SetId {
        self.space.ftl.layout.set_of_bin(bin)
    }
    /// The NVM set of a pool.
    #[inline]
    pub fn set_of_pool(&self, pool: PoolId) -> SetId {
        self.space.ftl.layout.set_of_pool(pool)
    }
    /// The NVM set of an address.
    #[inline]
    pub fn set_at(&self, offset: u64) -> SetId {
        self.space.ftl.layout.set_at(offset)
    }
    /// The group of units that a bin lies in.
    #[inline]
    pub fn group_of(&self, bin: BinId) -> GroupId {
        self.flash.place(bin).group
    }
    /// The die that a bin begins on.
    pub fn die_of(&self, bin: BinId) -> u32 {
        self.die_of_lane(bin, 0)
    }
    /// The die that a lane of a bin begins on.
    pub fn die_of_lane(&self, bin: BinId, lane: u32) -> u32 {
        self.flash.die_of(self.space.ftl.layout.first_plane(bin, lane).0)
    }
    /// The dies that a bin lies on.
    pub fn dies_of(&self, bin: BinId) -> impl Iterator<Item = u32> {
        let layout = &self.space.ftl.layout;
        let first = layout.first_plane(bin, 0).0;
        (first..first + layout.planes_per_bin()).map(|plane| self.flash.die_of(plane))
    }
    /// The class of a bin's GC operations.
    #[inline]
    pub fn class_of(&self, bin: BinId) -> Class {
        self.flash.class_of(&self.space, bin)
    }
    /// The bin whose collection asked for an operation.
    #[inline]
    pub fn job_of(&self, op: OpId) -> BinId {
        match self.flash.op(op).owner {
            Owner::Streamed(from) => self.space.ftl.layout.bin(from.block),
            _ => self.flash.op(op).bin,
        }
    }
    /// Asks for a program of a payload; its page is bound when it starts.
    pub fn ask_program(
        &mut self,
        bin: BinId,
        payload: PayloadId,
        holder: Holder,
        class: Class,
        owner: Owner,
    ) -> OpId {
        let transfer = self.flash.shape().units[self.flash.payloads.count(payload) as usize];
        self.ask_transferred(bin, transfer, holder, class, owner)
    }
    /// As [`Base::ask_program`], with a channel time of its data.
    pub fn ask_transferred(
        &mut self,
        bin: BinId,
        transfer: Span,
        holder: Holder,
        class: Class,
        owner: Owner,
    ) -> OpId {
        if self.space.binds_early() {
            return self.ask_bound(bin, holder, (class, owner), transfer);
        }
        self.ask_on_planes(OpKind::Program, bin, holder, class, owner, transfer)
    }

    /// Asks for a program of all planes of a block; its page is bound when it starts.
    #[inline(always)]
    pub fn ask_on_planes(
        &mut self,
        kind: OpKind,
        bin: BinId,
        holder: Holder,
        class: Class,
        owner: Owner,
        transfer: Span,
    ) -> OpId {
        self.ask(Ask {
            slots: 0,
            kind,
            holder,
            owner,
            class,
            bin,
            planes: self.flash.shape().all_planes,
            block: BlockId(0),
            batch: 0,
            row: 0,
            rows: self.flash.shape().rows_per_batch,
            transfer,
            bytes: 0,
        })
    }

    /// Counts the units of a program by their source, and the empty slots of its batch.
    pub fn count_units(&mut self, block: BlockId, source: Source, count: u32) {
        let padding = u64::from(self.space.ftl.layout.units_per_batch - count);
        self.space.ftl.count(block, |tally| {
            tally.units[source as usize] += u64::from(count);
            tally.units[Source::Padding as usize] += padding;
        });
    }

    // ---- waits for space ---------------------------------------------------------------

    /// Updates the time that waits for a bin's space are charged with, if there are any.
    pub fn settle_space_of(&mut self, bin: BinId) {
        if self.space.keeps_waits(bin) {
            self.keep_space_of(bin);
        }
    }
    fn keep_space_of(&mut self, bin: BinId) -> &SpaceSnapshot {
        let unit = self.flash.settled_totals(&self.time, bin);
        self.space.settle_waits(bin, self.time.now, unit)
    }
    /// The time that waits for a bin's space are charged with so far.
    pub fn space_snapshot(&mut self, bin: BinId) -> SpaceSnapshot {
        *self.keep_space_of(bin)
    }
    /// Counts a pool's time without space up to now.
    #[inline(always)]
    pub fn settle_space(&mut self, pool: PoolId) {
        let Some(bin) = self.space.blamed_for(pool) else { return };
        let present = self.space_snapshot(bin);
        self.space.count_without_space(pool, self.time.now, present);
    }
    /// The bin that takes a pool's next batch, for which a program may be requested now; if no bin has
    /// space, that is noted.
    #[inline(always)]
    pub fn choose_bin(&mut self, pool: PoolId) -> Option<BinId> {
        if self.space.pressure.is_some() && !self.takes_credit_of_pool(pool) {
            return None;
        }
        let bin = self.space.choose_bin(pool, |bin| self.flash.load(bin));
        if bin.is_none() && self.space.starves_anew(pool) {
            let blamed = self.space.blamed_bin(pool);
            let then = self.space_snapshot(blamed);
            self.space.starve(pool, blamed, then);
        }
        bin
    }
    /// Resumes a bin that has space again: its parked programs go on, and its pool after the
    /// present event.
    pub fn unpark(&mut self, bin: BinId) {
        self.space.update_home(bin);
        let parked = self.space.take_parked(bin);
        if !parked.is_empty() {
            let present = self.space_snapshot(bin);
            for (id, then) in &parked {
                if self.space.pressure.is_none() {
                    self.space.note_resumed(self.flash.op(*id));
                }
                waits::charge(then, &present, self.flash.blame_mut(*id));
            }
            self.note_resumed_moves(self.set_of_bin(bin));
        }
        let parked = parked.into_iter().map(|(id, _)| id);
        if self.space.pressure.is_some() {
            self.resume_within_limit(self.set_of_bin(bin), parked);
        } else {
            self.flash.resume(&mut self.time, &mut self.space, parked);
        }
        self.space.call_pool(self.space.ftl.layout.pool_of_bin(bin));
    }
}
