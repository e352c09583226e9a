//! Reads that go round collection, or failed flash. When the firmware takes a read in, each of its
//! mapping units whose flash collection holds is either read all the same, or computed from the rest of
//! its stripe. A lost one is computed.

use crate::device::Base;
use crate::device::flash::op::Class;
use crate::device::gc::Gc;
use crate::device::ids::RequestId;
use crate::device::pieces::Piece;
use crate::device::port::Port;
use crate::device::write::Write;
use crate::device::write::member::Others;
use crate::policies::routing::{Detour, Hold};
use engine::Span;
use ftl::{Lpn, Ppn, StripeId};
use std::collections::BTreeMap;
use std::ops::Range;

/// A unit that a read asks for: on flash, or lost.
#[derive(Clone, Copy)]
struct Asked {
    lpn: Lpn,
    /// Its page, if it has one that can be read.
    ppn: Option<Ppn>,
    hold: Option<Hold>,
}

impl Asked {
    fn rest(&self) -> Span {
        self.hold.map_or(Span::ZERO, |hold| hold.rest)
    }
}

/// A unit that is read for a rebuild: all bytes of the unit that the read asks for, or that must be
/// computed.
struct Source {
    lpn: Lpn,
    ppn: Ppn,
    bytes: Range<u64>,
}

impl Port {
    /// Splits the units that were found on flash: adds the reads of what is read as it is to `pieces`,
    /// and begins a rebuild if some units are computed.
    #[inline(never)]
    pub(super) fn split_found(
        &mut self,
        base: &mut Base,
        (gc, write): (&Gc, &Write),
        (id, class): (RequestId, Class),
        pieces: &mut Vec<Piece>,
    ) {
        let detours = self.detours.as_mut().expect("reads may meet collection");
        let found = std::mem::take(&mut detours.found);
        let is_held = found.iter().any(|(_, ppn)| ppn.is_some_and(|ppn| base.is_held(ppn)));
        if is_held {
            self.requests[id].met = true;
        }
        if is_held || found.iter().any(|(_, ppn)| ppn.is_none()) {
            self.split_met(base, (gc, write), (id, class), &found, pieces);
        } else {
            found.iter().for_each(|(lpn, ppn)| {
                self.split_as_asked(base, id, (*lpn, ppn.expect("none is lost")), pieces);
            });
        }
        let detours = self.detours.as_mut().expect("reads may meet collection");
        detours.found = found;
        detours.found.clear();
    }

    /// Splits units that were found, of which collection holds some or some are lost.
    fn split_met(
        &mut self,
        base: &mut Base,
        (gc, write): (&Gc, &Write),
        (id, class): (RequestId, Class),
        found: &[(Lpn, Option<Ppn>)],
        pieces: &mut Vec<Piece>,
    ) {
        let hold = |ppn: Option<Ppn>| gc.hold_on(base, ppn?);
        let asked: Vec<Asked> =
            found.iter().map(|&(lpn, ppn)| Asked { lpn, ppn, hold: hold(ppn) }).collect();
        let (mut sources, mut is_source) = (Vec::new(), vec![false; asked.len()]);
        for (stripe, members) in by_stripe(base, &asked) {
            let units: Vec<Asked> = members.iter().map(|at| asked[*at]).collect();
            if let Some(of_stripe) = self.goes_round(base, (gc, write), id, stripe, &units) {
                sources.extend(of_stripe);
                members.iter().for_each(|at| is_source[*at] = true);
            }
        }
        let mut computed = Vec::new();
        for (&(lpn, ppn), is_source) in found.iter().zip(is_source) {
            match ppn {
                Some(ppn) if !is_source => self.split_as_asked(base, id, (lpn, ppn), pieces),
                _ => computed.push(lpn),
            }
        }
        if !computed.is_empty() {
            let reads = split_sources(base, sources);
            self.begin_rebuild(base, (id, computed), class, &reads);
        }
    }

    /// Adds the reads of a unit that is read as it is.
    pub(super) fn split_as_asked(
        &self,
        base: &Base,
        id: RequestId,
        (lpn, ppn): (Lpn, Ppn),
        pieces: &mut Vec<Piece>,
    ) {
        let command = self.requests[id].command;
        base.split(pieces, lpn, ppn, command.offset, command.end());
        base.audit_pieces(pieces, lpn, ppn, command.offset, command.end());
    }

    /// Units to read if a read goes round in a stripe, of which it asks for some units; `None` if
    /// it does not.
    fn goes_round(
        &mut self,
        base: &mut Base,
        (gc, write): (&Gc, &Write),
        id: RequestId,
        stripe: StripeId,
        asked: &[Asked],
    ) -> Option<Vec<Source>> {
        let lost = asked.iter().find(|unit| unit.ppn.is_none());
        let dropped = lost.or_else(|| longest(asked))?;
        let others = write.others(base, stripe, |lpn| asked.iter().any(|unit| unit.lpn == lpn));
        let others = others.filter(|others| !others.has_poison(base));
        if lost.is_none() && !self.gains(base, (gc, write), stripe, (dropped, others.as_ref()?)) {
            return None;
        }
        // Without them the data is lost for good, and the run ends.
        debug_assert!(others.is_some() || base.loss().is_some());
        let others = others?;
        let stored = match dropped.ppn {
            Some(ppn) => base.audit_stored(ppn),
            None => write.lost_token(base, dropped.lpn),
        };
        let own = self.bytes_of(base, id, dropped.lpn);
        let beside = others.on_flash.iter();
        let mut sources: Vec<Source> =
            beside.map(|&(lpn, ppn)| Source { lpn, ppn, bytes: own.clone() }).collect();
        match lost {
            Some(_) => base.flash.count_computed_lost(),
            None => base.flash.count_rebuilt(sources.len() as u32),
        }
        sources.extend(asked.iter().filter(|unit| unit.lpn != dropped.lpn).filter_map(|unit| {
            let asked = self.bytes_of(base, id, unit.lpn);
            let bytes = asked.start.min(own.start)..asked.end.max(own.end);
            Some(Source { lpn: unit.lpn, ppn: unit.ppn?, bytes })
        }));
        let pages = sources.iter().map(|source| source.ppn);
        let from = (pages, others.in_ram);
        base.audit_rebuilt_read(&mut self.requests, id, (dropped.lpn, stored), from);
        Some(sources)
    }

    /// True if it is allowed to compute a unit that collection holds from others of its stripe, and
    /// the policy says so.
    fn gains(
        &self,
        base: &Base,
        (gc, write): (&Gc, &Write),
        stripe: StripeId,
        (dropped, others): (&Asked, &Others),
    ) -> bool {
        let detours = self.detours.as_ref().expect("reads may meet collection");
        let Some(policy) = detours.policy.as_ref().filter(|_| !write.is_updated(stripe)) else {
            return false;
        };
        let rest = |ppn| gc.hold_on(base, ppn).map_or(Span::ZERO, |hold| hold.rest);
        let beside = others.on_flash.iter();
        policy.goes_round(&Detour {
            held: dropped.hold.expect("it is held"),
            beside: beside.map(|(_, ppn)| rest(*ppn)).max().unwrap_or(Span::ZERO),
            extra: others.on_flash.len() as u32,
            read: base.flash.time_to_read(),
            rotates: detours.rotates,
        })
    }

    /// Bytes of a unit, from its beginning, that a read asks for.
    fn bytes_of(&self, base: &Base, id: RequestId, lpn: Lpn) -> Range<u64> {
        let bytes = base.space.ftl.layout.unit_bytes;
        let (command, start) = (self.requests[id].command, u64::from(lpn.0) * bytes);
        let within = |byte: u64| byte.clamp(start, start + bytes) - start;
        within(command.offset)..within(command.end())
    }
}

/// The reads of a rebuild; neighbours on one page are read together.
fn split_sources(base: &Base, mut sources: Vec<Source>) -> Vec<Piece> {
    sources.sort_by_key(|source| source.lpn);
    let mut reads = Vec::new();
    let unit = base.space.ftl.layout.unit_bytes;
    for Source { lpn, ppn, bytes: Range { start, end } } in sources {
        let begins = u64::from(lpn.0) * unit;
        base.split(&mut reads, lpn, ppn, begins + start, begins + end);
        base.audit_pieces(&reads, lpn, ppn, begins + start, begins + end);
    }
    reads
}

/// Places of the units of each stripe in a list; none without parity.
fn by_stripe(base: &Base, asked: &[Asked]) -> BTreeMap<StripeId, Vec<usize>> {
    let mut places = BTreeMap::<_, Vec<usize>>::new();
    let Some(stripes) = base.space.ftl.layout.stripes else { return places };
    for (at, unit) in asked.iter().enumerate() {
        places.entry(stripes.of(unit.lpn)).or_default().push(at);
    }
    places
}

/// The first of the units that are held for longest, if any are.
fn longest(asked: &[Asked]) -> Option<&Asked> {
    let longest = asked.iter().map(Asked::rest).max().expect("it asks for some");
    asked.iter().find(|unit| unit.hold.is_some() && unit.rest() == longest)
}
