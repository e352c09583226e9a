//! Reasons why operations wait, found in the queues and the agenda on request, so that no extra
//! state is needed.

use crate::device::Time;
use crate::device::event::Event;
use crate::device::flash::Flash;
use crate::device::flash::counters::OpKind;
use crate::device::flash::op::{AsksFor, Op, Owner, PARITY};
use crate::device::flash::working::WorkingView;
use crate::device::ids::{EntryId, OpId};
use crate::device::standing::{Stage, Standing};
use engine::{Instant, Span};
use ftl::BinId;
use metrics::Blame;
use nand::ChannelId;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// The activity of an operation, or the reason for its wait.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Why {
    /// It waits for its unit: the operations that occupy it, the bin for whose collection it is
    /// reserved, and the number of other operations that wait in the group.
    Unit { occupied_by: Vec<OpId>, reserved_for: Option<BinId>, others: u32 },
    /// It waits for its channel, which carries data of another operation, or is reserved for the
    /// collection of a bin.
    Channel(ChannelId, Option<OpId>, Option<BinId>),
    /// A program that found no page in its bin.
    Page,
    /// A read that occupies nothing: what it has read is being decoded, or rebuilt.
    Aside,
    /// It is suspended.
    Suspended,
    /// It is about to be suspended.
    Stops,
    /// It works on its unit or, if one is named, on its channel.
    Works(Option<ChannelId>),
}

/// All operations at a moment.
pub struct Survey<'a> {
    flash: &'a Flash,
    now: Instant,
    /// By number.
    ids: Vec<OpId>,
    /// Queued operations, and the resource that each waits for: its unit or its channel.
    waits: BTreeMap<OpId, Stage>,
    /// The last event that is due for each running operation.
    works: BTreeMap<OpId, (Event, Instant)>,
    /// Operations that run, are suspended, or wait for a channel: their number is limited by the
    /// units and the queues of channels.
    begun: BTreeSet<OpId>,
}

impl Flash {
    /// A survey of all operations.
    pub(in crate::device) fn survey(&self, time: &Time) -> Survey<'_> {
        let of_op = |(due, event): (Instant, Event)| Some((event.operation()?, event, due));
        let mut events: Vec<_> = time.agenda.pending().filter_map(of_op).collect();
        // The last event counts: those of interrupted work are stale.
        events.sort_by_key(|(.., due)| Reverse(*due));
        let mut works = BTreeMap::new();
        for (id, event, due) in events {
            works.entry(id).or_insert((event, due));
            if let Owner::StreamOut(to) = self.ops[id].owner {
                // The channel carries its data to another package at the same time.
                works.entry(to).or_insert((event, due));
            }
        }
        let on_unit = self.groups.as_slice().iter().flat_map(|group| group.waiting(&self.ops));
        let channels = self.channels.as_slice().iter();
        let on_channel: Vec<_> = channels.flat_map(|channel| channel.waiting(&self.ops)).collect();
        let waits = on_unit.map(|id| (id, Stage::Unit));
        let waits = waits.chain(on_channel.iter().map(|id| (*id, Stage::Channel))).collect();
        let begun = works.keys().copied().chain(on_channel).chain(self.at_work()).collect();
        Survey { flash: self, now: time.now, ids: self.ops.ids(), waits, works, begun }
    }

    /// Adds the blame of the first operation of a request's parts so far, and of its present wait. Service that
    /// is under way is charged as a whole.
    pub(in crate::device) fn charge_so_far(
        &mut self,
        time: &Time,
        part_of: impl Fn(Owner) -> Option<u32>,
        blame: &mut Blame,
    ) {
        let parts = |id: OpId| Some((part_of(self.ops[id].owner)?, id));
        let reads = self.ops.ids().into_iter().filter_map(parts);
        let Some((_, id)) = reads.min() else { return };
        blame.add(self.ops.blame_ref(id));
        let Op { waits, since, group, cells, channel, asks_for, .. } = self.ops[id];
        let Some(began) = waits.get() else { return };
        let channel = &mut self.channels[channel];
        // An operation that is yet to begin waits for its unit, in whatever queue it is.
        let holds_unit = asks_for != AsksFor::Both;
        let ledger = if holds_unit && channel.waiting(&self.ops).any(|waiting| waiting == id) {
            channel.ledger.bring_up(time.now);
            channel.ledger.settle(time.now);
            &mut channel.ledger
        } else {
            let unit = self.ledgers.of(group, cells);
            unit.settle_with(time.now, &mut channel.ledger);
            unit
        };
        ledger.charge_wait(self.ops.snapshots(), began, since, blame);
    }
}

impl Survey<'_> {
    /// Operations of an owner, by number.
    pub fn owned(&self, is_asked: impl Fn(Owner) -> bool) -> impl Iterator<Item = OpId> {
        self.ids.iter().copied().filter(move |id| is_asked(self.flash.ops[*id].owner))
    }
    /// Operations of collections, by number.
    pub fn collections(&self) -> impl Iterator<Item = OpId> {
        self.ids.iter().copied().filter(|id| self.flash.ops[*id].is_collection())
    }
    /// Entries of the write buffer that programs carry, each with its program, by number.
    pub fn programs(&self) -> impl Iterator<Item = (OpId, EntryId)> {
        let payloads = &self.flash.payloads;
        let payload = |id: &OpId| match self.flash.ops[*id].owner {
            Owner::Flush(payload) => Some((*id, payload)),
            _ => None,
        };
        self.ids.iter().filter_map(payload).flat_map(move |(id, of)| {
            (0..payloads.count(of))
                .map(move |slot| (id, EntryId(payloads.slot(of, slot)[0])))
                .filter(|(_, entry)| entry.0 & PARITY == 0)
        })
    }

    /// The progress of an operation that may be suspended.
    fn working(&self, id: OpId) -> Option<WorkingView> {
        self.flash.working_in(self.flash.ops[id].group).find(|working| working.op == id)
    }
    /// The end of a running operation, as far as known.
    pub fn until(&self, id: OpId) -> Option<Instant> {
        let ends = || self.works.get(&id).map(|(_, ends)| *ends);
        self.working(id).map_or_else(ends, |working| working.ends)
    }

    /// The state of an operation, without words, and the reason for it.
    pub fn why(&self, id: OpId) -> (Standing, Why) {
        let op = &self.flash.ops[id];
        let working = self.working(id);
        let mut since = Some(op.since);
        let (stage, why) = match (self.waits.get(&id), working, self.works.get(&id)) {
            (Some(Stage::Unit), ..) if !self.awaits_command(id) => {
                (Stage::Unit, self.awaited_unit(id))
            }
            (Some(_), ..) => {
                let carried = self.carried_by(op.channel);
                (Stage::Channel, Why::Channel(op.channel, carried, self.flash.keeper_from(op)))
            }
            (None, Some(WorkingView { ends: None, is_aside, .. }), _) => {
                (Stage::Suspended, if is_aside { Why::Suspended } else { Why::Stops })
            }
            (None, _, Some((event, ends))) => {
                since = self.lasts(id, *event).map(|span| *ends - span);
                (Stage::Work, Why::Works(event.is_transfer().then_some(op.channel)))
            }
            (None, _, None) if op.kind == OpKind::Read => (Stage::Work, Why::Aside),
            (None, _, None) => (Stage::Space, Why::Page),
        };
        let since = working.map_or(since, |working| Some(working.began));
        let (until, suspensions) = (self.until(id), working.map(|working| working.suspensions));
        let is_bound = match op.kind {
            OpKind::Program => stage == Stage::Work,
            OpKind::Modify => matches!(stage, Stage::Work | Stage::Channel),
            _ => true,
        };
        let (block, bin) = (is_bound.then_some(op.block), Some(op.bin));
        let operation = Some((op.kind, op.holder));
        let standing = Standing::new(stage, String::new());
        (Standing { operation, bin, block, since, until, suspensions, ..standing }, why)
    }

    /// True if the unit of a queued operation is idle, and only the channel is not.
    fn awaits_command(&self, id: OpId) -> bool {
        let op = &self.flash.ops[id];
        self.flash.lacks_channel(self.now, op) && self.flash.groups[op.group].busy & op.cells == 0
    }

    /// The obstacle between an operation and its unit.
    fn awaited_unit(&self, id: OpId) -> Why {
        let op = &self.flash.ops[id];
        let group = &self.flash.groups[op.group];
        let occupies = |other: &OpId| {
            let one = &self.flash.ops[*other];
            // Its unit is reserved for a program that waits for the channel, too.
            let is_exclusive =
                one.asks_for != AsksFor::Both || group.barred & one.cells & op.cells != 0;
            is_exclusive && one.group == op.group && one.cells & op.cells != 0
        };
        let occupied_by = self.begun.iter().copied().filter(occupies).collect();
        let reserved_for = group.kept_for().filter(|bin| {
            group.reserved & op.cells != 0 && !(op.is_collection() && *bin == op.bin)
        });
        Why::Unit { occupied_by, reserved_for, others: group.queued() - 1 }
    }

    /// The operation whose data, or whose command, a channel carries.
    fn carried_by(&self, channel: ChannelId) -> Option<OpId> {
        let mut carried = self.works.iter().filter(|(id, (event, ends))| match event {
            // If the sense of a row has not begun yet, its command is on the channel.
            Event::Sensed(_) => *ends - self.flash.timing.read(self.flash.ops[**id].row) > self.now,
            _ => event.is_transfer(),
        });
        carried.find_map(|(id, _)| (self.flash.ops[*id].channel == channel).then_some(*id))
    }

    /// Duration of the work that ends with an event, if known. Work that may be suspended records
    /// its beginning itself.
    fn lasts(&self, id: OpId, event: Event) -> Option<Span> {
        let Op { kind, row, transfer, .. } = self.flash.ops[id];
        let timing = &self.flash.timing;
        match event {
            Event::CarriedIn(_) | Event::CarriedOut(_) => Some(transfer),
            Event::Sensed(_) => Some(timing.read(row)),
            _ if self.flash.is_suspendable(kind) => None,
            Event::Programmed(_) => Some(timing.program(row)),
            Event::Array(_) if kind == OpKind::Erase => Some(timing.erase.total()),
            _ => None,
        }
    }
}
