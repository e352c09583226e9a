//! The beginning of updates: data that is due, and what the buffer holds beside it.

use crate::config::Durability;
use crate::device::Base;
use crate::device::flash::Note;
use crate::device::ids::{EntryId, OpId, UpdateId};
use crate::device::write::Write;
use crate::device::write::buffer::Stage;
use crate::device::write::member::Member;
use crate::device::write::unit::Unit;
use crate::device::write::updates::Update;
use ftl::{PoolId, StripeId};

impl Write {
    /// Begins updates for a pool's entries that are due, and programs what is ready.
    #[inline(never)]
    pub(in crate::device::write) fn update_due(
        &mut self,
        base: &mut Base,
        pool: PoolId,
        after: Option<OpId>,
    ) {
        loop {
            while self.takes_more(pool) && self.is_due(base, pool) {
                for _ in 0..base.space.ftl.layout.units_per_batch {
                    let Some(head) = self.buffer.head(pool) else { break };
                    self.begin_with(base, head);
                }
            }
            // A program that is asked for makes room for further updates.
            if !self.form_ready(base, pool, after) {
                break;
            }
        }
        self.tolerate_ready(base, pool);
        self.watch_partial(base, pool);
    }

    /// True if a pool has less than a program in preparation. A drive that acknowledges from flash
    /// holds nothing back.
    fn takes_more(&self, pool: PoolId) -> bool {
        let updates = self.updates();
        self.config.durability == Durability::None
            || updates.ready[pool].len() as u32 + updates.coming[pool] < updates.batch
    }

    /// Begins the update of an entry's stripe. If that has an update, the entry waits behind it.
    fn begin_with(&mut self, base: &mut Base, entry: EntryId) {
        let kept = self.buffer.entry(entry);
        let (lpn, stale, pool) = (kept.lpn, kept.stale, kept.pool);
        if stale {
            // It was trimmed, but a request waits for it: it is programmed as invalid data.
            self.fly(entry);
            if base.space.ftl.has_failed(pool) {
                self.updates_mut().lost.push(Unit::Data(entry));
                return base.flash.note(Note::UpdatesEnded);
            }
            self.updates_mut().ready[pool].push_back(Unit::Data(entry));
            return;
        }
        let stripe = base.space.ftl.layout.stripes.expect("data has parity").of(lpn);
        match self.updates().of(stripe) {
            None => self.begin_update(base, stripe, Some(entry)),
            Some(update) => {
                self.put_behind(entry, update);
            }
        }
    }

    /// Lets an entry wait for the end of its stripe's update.
    fn put_behind(&mut self, entry: EntryId, update: UpdateId) {
        self.buffer.unlist(entry);
        self.buffer.entry_mut(entry).stage = Stage::Behind;
        self.updates_mut().updates[update].later.push(entry);
    }

    /// Takes an entry out of its list, to program it.
    fn fly(&mut self, entry: EntryId) {
        self.buffer.unlist(entry);
        self.buffer.entry_mut(entry).stage = Stage::Flying;
        self.buffer.flying += 1;
    }

    /// Begins the update of a stripe, which leaves out trimmed members: with the data of `due` and of
    /// the other members that waits in lists, or (if nothing is due) with no new data.
    pub(super) fn begin_update(&mut self, base: &mut Base, stripe: StripeId, due: Option<EntryId>) {
        let stripes = base.space.ftl.layout.stripes.expect("data has parity");
        let mut update = Update::new(stripe);
        let mut stays = false;
        for lpn in stripes.data(stripe) {
            let entry = due.and_then(|_| self.buffer.first_pending(lpn));
            let is_hole = entry.is_none() && self.is_hole(base, lpn);
            update.entries.extend(entry);
            update.holes.extend(is_hole.then_some(lpn));
            stays |= entry.is_none() && !is_hole && self.member(base, lpn).is_some();
        }
        // An older entry of the same unit goes first.
        debug_assert!(due.is_none() || !update.entries.is_empty(), "something is written");
        update.drops = update.entries.is_empty() && !stays;
        update.left = update.entries.len() as u32 + u32::from(!update.drops);
        let layout = &base.space.ftl.layout;
        let of_parity = (!update.drops).then(|| layout.pool(stripes.parity(stripe)));
        for entry in update.entries.clone() {
            self.fly(entry);
            let pool = self.buffer.entry(entry).pool;
            self.updates_mut().coming[pool] += 1;
        }
        let updates = self.updates_mut();
        of_parity.into_iter().for_each(|pool| updates.coming[pool] += 1);
        updates.of_holes += u32::from(due.is_none());
        let id = updates.updates.insert(update);
        updates.of_stripe.insert(stripe, id);
        self.read_for_parity(base, id);
    }

    /// The members that give the new parity of an update with the fewest reads.
    pub(super) fn needed(&self, base: &Base, id: UpdateId) -> Vec<Member> {
        let update = &self.updates().updates[id];
        if update.drops {
            return Vec::new();
        }
        let stripes = base.space.ftl.layout.stripes.expect("data has parity");
        let mut entries = update.entries.iter().map(|entry| self.buffer.entry(*entry).lpn);
        // Members that change, and those that do not.
        let (mut old, mut clean) = (Vec::new(), Vec::new());
        for lpn in stripes.data(update.stripe) {
            let changes = entries.clone().any(|own| own == lpn) || update.holes.contains(&lpn);
            if changes { &mut old } else { &mut clean }.extend(self.member(base, lpn));
        }
        debug_assert!(entries.all(|lpn| stripes.of(lpn) == update.stripe));
        let of_parity = self.member(base, stripes.parity(update.stripe));
        let is_held = |member: &Member| match member {
            Member::OnFlash(_, ppn) => self.updates().goes_round && base.is_held(*ppn),
            Member::InRam(_) | Member::Lost(_) => false,
        };
        let ftl = &base.space.ftl;
        let is_readable = |member: &Member| match member {
            Member::OnFlash(_, ppn) => !ftl.is_poisoned(*ppn),
            other => other.is_there(),
        };
        choose_reads(old, clean, of_parity, (Member::is_on_flash, is_held, is_readable))
    }
}

/// The members that give the new parity of a stripe with the fewest reads: the data that leaves it and
/// the old parity, or (only if fewer of them are on flash) the data that stays. If collection holds
/// some of these and none of the others, the others: reads go round collection. The others, too, if
/// one of these is lost or poisoned.
pub(super) fn choose_reads<T>(
    mut old: Vec<T>,
    clean: Vec<T>,
    parity: Option<T>,
    (is_read, is_held, is_there): (impl Fn(&T) -> bool, impl Fn(&T) -> bool, impl Fn(&T) -> bool),
) -> Vec<T> {
    old.extend(parity);
    let reads = |of: &[T]| of.iter().filter(|member| is_read(member)).count();
    let old_is_best = reads(&old) <= reads(&clean);
    let (fewest, others) = if old_is_best { (old, clean) } else { (clean, old) };
    let is_whole = |of: &[T]| of.iter().all(&is_there);
    match [is_whole(&fewest), is_whole(&others)] {
        [true, false] => return fewest,
        [false, true] => return others,
        _ => {}
    }
    let goes_round = fewest.iter().any(&is_held) && !others.iter().any(is_held);
    if goes_round { others } else { fewest }
}
