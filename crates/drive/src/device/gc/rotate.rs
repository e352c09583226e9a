//! Turns of collections in groups of stripes: a collection that is to choose a victim may have to wait
//! until another one of its group has erased its own ([`crate::policies::rotation`]). One for whose
//! space programs of hosts wait does not wait for its turn.

use crate::device::Base;
use crate::device::gc::Gc;
use crate::device::gc::turns::{StripeGroupId, Turns};
use crate::device::ids::OpId;
use crate::policies::rotation::Group;
use ftl::{BinId, Level};

impl Gc {
    /// True if it is a bin's turn to collect; otherwise the bin waits for that.
    pub(super) fn has_turn(&mut self, base: &mut Base, bin: BinId) -> bool {
        let permits = self.permits.as_ref().expect("collections need leave");
        // One that waits for its channels has had its turn.
        let Some(turns) = permits.turns.as_ref().filter(|_| !permits.is_claiming(bin)) else {
            return true;
        };
        let group = turns.group_of(&base.space.ftl.layout, bin);
        let others_wait = turns.waiting[group].iter().any(|other| *other != bin);
        let view = self.view(base, turns, group, |other| other != bin);
        let begins = turns.policy.begins(&Group { others_wait, ..view });
        // It may be its turn, but for those that have waited for longer.
        let is_free = turns.policy.begins(&view);
        let of_host = |id: OpId| !base.flash.op(id).is_collection();
        let is_awaited =
            base.space.is_starved(bin) || base.space.parked(bin).iter().any(|(id, _)| of_host(*id));
        let turns = self.turns_mut().expect("collections take turns");
        if begins || is_awaited {
            turns.waiting[group].retain(|other| *other != bin);
            turns.out_of_turn = (!is_free).then_some(bin);
            return true;
        }
        turns.wait(group, bin);
        false
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
        let bins = turns.pools(group).flat_map(|pool| layout.bins_of(pool).iter().copied());
        let under_way = bins.filter(|bin| counts(*bin) && self.has_begun(base, *bin)).count();
        let short = if turns.policy.looks_at_all() { short(base) } else { 0.0 };
        Group { under_way: under_way as u32, others_wait: false, short }
    }

    /// True if a bin's collection has begun: it has a victim, or waits for channels to copy.
    fn has_begun(&self, base: &Base, bin: BinId) -> bool {
        !self.is_idle(base, bin)
            || !base.space.task(bin).deferred.is_empty()
            || self.permits.as_ref().is_some_and(|permits| permits.has(bin))
    }

    /// Lets those of a bin's group ask again that wait for their turn, if one may begin.
    pub(super) fn pass_turn(&mut self, base: &mut Base, bin: BinId) {
        let Some(turns) = self.turns() else { return };
        let group = turns.group_of(&base.space.ftl.layout, bin);
        let someone_waits = !turns.waiting[group].is_empty();
        if !someone_waits || !turns.policy.begins(&self.view(base, turns, group, |_| true)) {
            return;
        }
        let turns = self.turns_mut().expect("collections take turns");
        let waiting = std::mem::take(&mut turns.waiting[group]);
        Self::ask_again(base, waiting);
    }

    /// Lets collections ask again for leave: bins in the foreground, then the others, in the order in
    /// which they came.
    pub(super) fn ask_again(base: &mut Base, mut waiting: Vec<BinId>) {
        waiting.sort_by_key(|bin| base.space.ftl.level(*bin) != Level::Foreground);
        // The bin that is added last is looked at first.
        base.space.look_at(waiting.into_iter().rev());
    }

    fn turns(&self) -> Option<&Turns> {
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
