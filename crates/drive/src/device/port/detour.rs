//! Reads that go round collection. When the firmware takes a read in, each of its mapping units whose
//! flash collection holds is either read all the same, or computed from the rest of its stripe.

use crate::device::Base;
use crate::device::flash::op::Class;
use crate::device::gc::Gc;
use crate::device::ids::RequestId;
use crate::device::pieces::Piece;
use crate::device::port::Port;
use crate::device::write::Write;
use crate::policies::routing::{Detour, Hold};
use engine::Span;
use ftl::{Lpn, Ppn, StripeId};
use std::collections::BTreeMap;
use std::ops::Range;

/// A unit on flash that a read asks for.
#[derive(Clone, Copy)]
struct Asked {
    lpn: Lpn,
    ppn: Ppn,
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
        if found.iter().any(|(_, ppn)| base.is_held(*ppn)) {
            self.requests[id].met = true;
            self.split_met(base, (gc, write), (id, class), &found, pieces);
        } else {
            found.iter().for_each(|unit| self.split_as_asked(base, id, *unit, pieces));
        }
        let detours = self.detours.as_mut().expect("reads may meet collection");
        detours.found = found;
        detours.found.clear();
    }

    /// The same if collection holds the flash of some.
    fn split_met(
        &mut self,
        base: &mut Base,
        (gc, write): (&Gc, &Write),
        (id, class): (RequestId, Class),
        found: &[(Lpn, Ppn)],
        pieces: &mut Vec<Piece>,
    ) {
        let hold = |ppn| gc.hold_on(base, ppn);
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
        for (unit, _) in found.iter().zip(is_source).filter(|(_, is_source)| !is_source) {
            self.split_as_asked(base, id, *unit, pieces);
        }
        if !sources.is_empty() {
            let reads = split_sources(base, sources);
            self.begin_rebuild(base, id, class, &reads);
        }
    }

    /// Adds the reads of a unit that is read as it is.
    fn split_as_asked(
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

    /// What is read if a read goes round in a stripe, of which it asks for some units.
    fn goes_round(
        &mut self,
        base: &mut Base,
        (gc, write): (&Gc, &Write),
        id: RequestId,
        stripe: StripeId,
        asked: &[Asked],
    ) -> Option<Vec<Source>> {
        let detours = self.detours.as_ref().expect("reads may meet collection");
        let policy = detours.policy.as_ref()?;
        // The first of those that are held for longest.
        let longest = asked.iter().map(Asked::rest).max().expect("it asks for some");
        let dropped = asked.iter().find(|unit| unit.hold.is_some() && unit.rest() == longest)?;
        if write.is_updated(stripe) {
            return None;
        }
        let (beside, in_ram) = beside(base, write, stripe, asked)?;
        let rest = |ppn| gc.hold_on(base, ppn).map_or(Span::ZERO, |hold| hold.rest);
        let detour = Detour {
            held: dropped.hold.expect("it is held"),
            beside: beside.iter().map(|(_, ppn)| rest(*ppn)).max().unwrap_or(Span::ZERO),
            extra: beside.len() as u32,
            read: base.flash.time_to_read(),
            rotates: detours.rotates,
        };
        if !policy.goes_round(&detour) {
            return None;
        }
        let own = self.bytes_of(base, id, dropped.lpn);
        let others = asked.iter().filter(|unit| unit.lpn != dropped.lpn);
        let mut sources: Vec<Source> =
            beside.into_iter().map(|(lpn, ppn)| Source { lpn, ppn, bytes: own.clone() }).collect();
        base.flash.count_rebuilt(sources.len() as u32);
        sources.extend(others.map(|unit| {
            let asked = self.bytes_of(base, id, unit.lpn);
            let bytes = asked.start.min(own.start)..asked.end.max(own.end);
            Source { lpn: unit.lpn, ppn: unit.ppn, bytes }
        }));
        let pages = sources.iter().map(|source| source.ppn);
        let dropped = (dropped.lpn, dropped.ppn);
        base.audit_rebuilt_read(&mut self.requests, id, dropped, (pages, in_ram));
        Some(sources)
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

/// Units of a stripe with data, and parity, except for those that are asked for: those on flash, and
/// the auditor's tokens of those in memory. `None` if the stripe has no parity.
fn beside(
    base: &Base,
    write: &Write,
    stripe: StripeId,
    asked: &[Asked],
) -> Option<(Vec<(Lpn, Ppn)>, u64)> {
    let ftl = &base.space.ftl;
    let stripes = ftl.layout.stripes?;
    let parity = stripes.parity(stripe);
    if write.in_ram(parity).is_none() && ftl.lookup(parity).is_none() {
        return None;
    }
    let is_asked = |lpn: &Lpn| asked.iter().any(|unit| unit.lpn == *lpn);
    let others = stripes.data(stripe).filter(|lpn| !is_asked(lpn)).chain([parity]);
    let (mut on_flash, mut in_ram) = (Vec::new(), 0);
    for lpn in others {
        match write.in_ram(lpn) {
            Some(token) => in_ram ^= token,
            None => on_flash.extend(ftl.member(lpn).map(|ppn| (lpn, ppn))),
        }
    }
    Some((on_flash, in_ram))
}
