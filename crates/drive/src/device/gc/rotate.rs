//! Turns of collections in groups of stripes: a collection that is to choose a victim may have to wait
//! until another one of its group has erased its own ([`crate::policies::rotation`]). One for whose
//! space programs of hosts wait does not wait for its turn. A poll of scrubbing waits for its turn, too:
//! if it only kept others waiting, dense scrubbing would keep them from collecting for ever.

use crate::device::Base;
use crate::device::gc::Gc;
use crate::device::gc::turns::{StripeGroupId, Turns};
use crate::device::ids::OpId;
use crate::policies::rotation::Group;
use ftl::{BinId, Level};
use metrics::Holder;

impl Gc {
    /// True if it is a bin's turn to collect; otherwise the bin waits for that.
    pub(super) fn has_turn(&mut self, base: &mut Base, bin: BinId) -> bool {
        let is_needed = self.is_needed(base, bin);
        self.takes_turn(base, bin, is_needed)
    }

    /// True if it is a bin's turn to scrub a block, or if there are no turns; otherwise the bin waits for
    /// that.
    pub(super) fn has_turn_to_scrub(&mut self, base: &mut Base, bin: BinId) -> bool {
        self.turns().is_none() || self.takes_turn(base, bin, false)
    }

    fn takes_turn(&mut self, base: &mut Base, bin: BinId, is_needed: bool) -> bool {
        let permits = self.permits.as_ref().expect("collections need leave");
        // One that waits for its channels has had its turn.
        let Some(turns) = permits.turns.as_ref().filter(|_| !permits.is_claiming(bin)) else {
            return true;
        };
        let group = turns.group_of(&base.space.ftl.layout, bin);
        // One that other groups keep from collecting is not waited for.
        let mut others = turns.waiting[group].iter().filter(|other| **other != bin);
        let others_wait = others.any(|other| self.is_free_elsewhere(base, turns, *other));
        let view = self.view(base, turns, group, |other| other != bin);
        let is_free_elsewhere = self.is_free_elsewhere(base, turns, bin);
        let begins = is_free_elsewhere && turns.policy.begins(&Group { others_wait, ..view });
        // It may be its turn, but for those that have waited for longer.
        let is_free = is_free_elsewhere && turns.policy.begins(&view);
        let turns = self.turns_mut().expect("collections take turns");
        if begins || is_needed {
            turns.waits_no_more(group, bin);
            turns.out_of_turn = (!is_free).then_some(bin);
            return true;
        }
        // Only a poll waits although space is needed.
        let in_need = self.is_needed(base, bin);
        self.turns_mut().expect("collections take turns").wait(group, bin, in_need);
        false
    }

    /// True if the collection of a bin is not to wait for its turn: programs of hosts wait for space,
    /// and no collection under way will gain it.
    fn is_needed(&self, base: &Base, bin: BinId) -> bool {
        let of_host = |id: OpId| {
            let op = base.flash.op(id);
            !op.is_collection() && op.holder != Holder::Rebuild
        };
        if self.has_begun(base, bin) {
            return false;
        }
        base.space.parked(bin).iter().any(|(id, _)| of_host(*id))
            || base.space.is_starved(bin) && self.is_first_of_pool(base, bin)
    }

    /// True if no bin of a pool is collected, and a bin is one of those that gain space soonest.
    fn is_first_of_pool(&self, base: &Base, bin: BinId) -> bool {
        let layout = &base.space.ftl.layout;
        let bins = layout.bins_of(layout.pool_of_bin(bin));
        let has_backlog = |bin: BinId| !base.space.task(bin).deferred.is_empty();
        !bins.iter().any(|of| self.has_begun(base, *of))
            && (has_backlog(bin) || !bins.iter().any(|of| has_backlog(*of)))
    }

    /// True if erases of a bin that have waited for the end of a burst may begin: something of its
    /// collection is under way, or it is the bin's turn. Otherwise the bin waits for that.
    pub(super) fn may_erase(&mut self, base: &mut Base, bin: BinId) -> bool {
        if self.turns().is_none() || base.space.task(bin).deferred.is_empty() {
            return true;
        }
        if !self.has_begun(base, bin) {
            if !self.has_turn(base, bin) {
                return false;
            }
            self.note_turn(base, bin);
        }
        true
    }

    /// True if nothing keeps a bin from collecting in groups of which it has members because the flash
    /// of other bins failed.
    fn is_free_elsewhere(&self, base: &Base, turns: &Turns, bin: BinId) -> bool {
        let mut groups = turns.groups_beside(base, bin);
        groups.all(|of| turns.policy.begins(&self.view(base, turns, of, |other| other != bin)))
    }

    /// Counts a victim of a bin if it was chosen out of turn.
    pub(super) fn note_turn(&mut self, base: &mut Base, bin: BinId) {
        if self.turns_mut().and_then(|turns| turns.out_of_turn.take()) == Some(bin) {
            base.flash.count_out_of_turn();
        }
    }

    /// A group in which nobody waits, and in which some of its bins count.
    fn view(
        &self,
        base: &Base,
        turns: &Turns,
        group: StripeGroupId,
        counts: impl Fn(BinId) -> bool,
    ) -> Group {
        let layout = &base.space.ftl.layout;
        let hosts = base.space.guests.hosts_of(group.0);
        let pools = turns.pools(group).chain(hosts);
        let bins = pools.flat_map(|pool| layout.bins_of(pool).iter().copied());
        let under_way = bins.filter(|bin| counts(*bin) && self.has_begun(base, *bin)).count();
        let short = if turns.policy.looks_at_all() { short(base) } else { 0.0 };
        Group { under_way: under_way as u32, others_wait: false, short }
    }

    /// True if a bin's collection is under way: it has a victim and has not paused, or waits for
    /// channels to copy. Erases that wait for the end of a burst are not under way.
    fn has_begun(&self, base: &Base, bin: BinId) -> bool {
        !self.is_idle(base, bin) && !self.jobs[bin].course.is_paused()
            || self.permits.as_ref().is_some_and(|permits| permits.has(bin))
    }

    /// Lets those of a bin's group ask again that wait for their turn, if one may begin.
    pub(super) fn pass_turn(&mut self, base: &mut Base, bin: BinId) {
        let Some(turns) = self.turns() else { return };
        if base.space.guests.has_hosts() {
            // They may wait in any group, because bins may belong to several.
            let groups: Vec<StripeGroupId> = turns.waiting.ids().collect();
            groups.into_iter().for_each(|group| self.pass_turn_in(base, group));
        } else {
            let group = turns.group_of(&base.space.ftl.layout, bin);
            self.pass_turn_in(base, group);
        }
    }

    fn pass_turn_in(&mut self, base: &mut Base, group: StripeGroupId) {
        let turns = self.turns().expect("collections take turns");
        let mut waiting = turns.waiting[group].iter();
        let begins = |bin: BinId| {
            self.is_free_elsewhere(base, turns, bin)
                && turns.policy.begins(&self.view(base, turns, group, |_| true))
        };
        let needs = |bin: BinId| !turns.waits_in_need(bin) && self.is_needed(base, bin);
        if !waiting.any(|bin| begins(*bin) || needs(*bin)) {
            return;
        }
        let turns = self.turns_mut().expect("collections take turns");
        let waiting = std::mem::take(&mut turns.waiting[group]);
        let mut passed_over = turns.passed_over(&waiting);
        passed_over.retain(|bin| self.jobs[*bin].look);
        Self::ask_again(base, waiting, &passed_over);
    }

    /// Lets collections ask again for leave: bins in the foreground and those that were `passed_over`
    /// with a poll of scrubbing, then the others, in the order in which they came.
    pub(super) fn ask_again(base: &mut Base, mut waiting: Vec<BinId>, passed_over: &[BinId]) {
        waiting.sort_by_key(|bin| {
            base.space.ftl.level(*bin) != Level::Foreground && !passed_over.contains(bin)
        });
        // The bin that is added last is looked at first.
        base.space.look_at(waiting.into_iter().rev());
    }

    pub(super) fn turns(&self) -> Option<&Turns> {
        self.permits.as_ref()?.turns.as_ref()
    }
    fn turns_mut(&mut self) -> Option<&mut Turns> {
        self.permits.as_mut()?.turns.as_mut()
    }

    /// True if a bin's collection waits for its turn.
    pub(super) fn awaits_turn(&self, base: &Base, bin: BinId) -> bool {
        self.turns().is_some_and(|turns| {
            turns.waiting[turns.group_of(&base.space.ftl.layout, bin)].contains(&bin)
        })
    }
}

/// Share of all bins that are short of space.
fn short(base: &Base) -> f64 {
    let ftl = &base.space.ftl;
    let bins = (0..ftl.layout.bins).map(BinId);
    let short = bins.filter(|bin| ftl.level(*bin) == Level::Foreground).count();
    short as f64 / f64::from(ftl.layout.bins)
}
