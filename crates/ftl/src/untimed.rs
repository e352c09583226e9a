//! Untimed writes: the same binding, committing and collecting, one after the other, as fast as
//! memory allows. Used to precondition a drive and to study write amplification and wear alone.

mod collect;

use crate::allocation::BinChoice;
use crate::blocks::Source;
use crate::ftl::Ftl;
use crate::ids::{Batch, BinId, Lpn, PoolId, Ppn, StripeId};
use crate::stale::Stale;
use crate::streams::Stream;
use crate::stripes::Stripes;
use collect::{collect_victim, make_room};
use engine::bits;
use engine::ids::Id;

/// Writes units to an [`Ftl`], untimed.
pub struct Untimed {
    choice: BinChoice,
    pools: Vec<Pending>,
    /// Stripes whose parity is to be written, if data has parity.
    parity: Option<Due>,
    /// Stale pages that are still to be laid, if any are.
    stale: Option<Box<Stale>>,
}

/// Stripes of one range whose parity is to be written.
struct Due {
    /// Bit `i` of word `i / 64` for the stripe at place `i` of the range.
    places: Vec<u64>,
    /// The first stripe of the range; `None` if nothing is due.
    first: Option<StripeId>,
}

impl Due {
    fn new(stripes: &Stripes) -> Self {
        Self { places: vec![0; stripes.in_range().div_ceil(64) as usize], first: None }
    }

    /// Notes a stripe; returns false if stripes of another range are due.
    fn note(&mut self, stripes: &Stripes, stripe: StripeId) -> bool {
        let place = stripes.place_in_range(stripe);
        let first = StripeId(stripe.0 - place);
        if self.first.is_some_and(|other| other != first) {
            return false;
        }
        self.first = Some(first);
        self.places[place as usize / 64] |= 1 << (place % 64);
        true
    }

    /// Takes the stripes that are due, in order.
    fn take(&mut self) -> Vec<StripeId> {
        let Some(first) = self.first.take() else { return Vec::new() };
        let words = self.places.iter_mut().enumerate();
        let places = words.flat_map(|(word, of)| {
            bits(std::mem::take(of)).map(move |bit| word as u32 * 64 + bit as u32)
        });
        places.map(|place| StripeId(first.0 + place)).collect()
    }
}

/// Units of a pool that wait for a full batch, and the bin whose turn is next.
struct Pending {
    units: Vec<Lpn>,
    turn: usize,
    /// Batches that bins take before the others have a turn: the bin's place and their number.
    leads: Vec<(usize, u32)>,
}

impl Pending {
    /// The place of the bin that takes the next batch before the others have a turn.
    #[cold]
    fn take_lead(&mut self) -> usize {
        let (place, batches) = self.leads.last_mut().expect("a bin leads");
        let place = *place;
        *batches -= 1;
        if *batches == 0 {
            self.leads.pop();
        }
        place
    }
}

impl Untimed {
    /// A writer for `ftl` that chooses bins by `choice`. No program waits in an untimed run, so
    /// the least queued bin is the next in turn.
    pub fn new(ftl: &Ftl, choice: BinChoice) -> Self {
        let batch = ftl.layout.units_per_batch as usize;
        let pools = (0..ftl.layout.pool_count())
            .map(|_| Pending { units: Vec::with_capacity(batch), turn: 0, leads: Vec::new() })
            .collect();
        let parity = ftl.layout.stripes.map(|stripes| Due::new(&stripes));
        Self { choice, pools, parity, stale: None }
    }

    /// Makes a share of each bin's pages stale while units are written: the first blocks that the
    /// host opens begin with stale pages, a share `of_block` of each, until a share `share` of all
    /// pages of the bin is stale. Both round up to whole batches.
    pub fn lay_stale(&mut self, ftl: &Ftl, share: f64, of_block: f64) {
        self.stale = Some(Box::new(Stale::new(ftl, share, of_block)));
    }

    /// Ends [`Untimed::lay_stale`]; returns the stale batches. All units must be written.
    ///
    /// # Errors
    /// The first bin that was written too little for its stale pages.
    pub fn end_stale(&mut self) -> Result<u64, BinId> {
        self.stale.take().map_or(Ok(0), |stale| stale.laid())
    }

    /// Brings the bins of each pool out of step: the next writes give each bin a random number of
    /// batches, less than a block, before the bins take turns again. Otherwise bins that take turns
    /// would open their blocks at the same moment, for ever. No bin takes more than `most` batches.
    pub fn stagger(&mut self, ftl: &Ftl, numbers: &mut engine::Stream, most: u32) {
        let below = u64::from(ftl.layout.batches_per_block.min(most.saturating_add(1)));
        for (pool, pending) in (0..).map(PoolId).zip(&mut self.pools) {
            let bins = ftl.layout.bins_of(pool).len();
            if bins > 1 {
                let leads = (0..bins).map(|place| (place, numbers.below(below) as u32));
                pending.leads = leads.filter(|(_, batches)| *batches > 0).collect();
            }
        }
    }

    /// Writes a logical unit as a whole; it is mapped when its batch is full. The parity of its stripe
    /// follows before a stripe of another range is written.
    ///
    /// # Errors
    /// If no bin of a pool has room or can collect some.
    #[inline]
    pub fn write(&mut self, ftl: &mut Ftl, lpn: Lpn) -> Result<(), PoolId> {
        if ftl.layout.has_subunits() {
            ftl.set_written(lpn, ftl.layout.all_subunits());
        }
        self.rewrite(ftl, lpn)
    }

    /// As [`Untimed::write`], with the subunits that hold data by now.
    ///
    /// # Errors
    /// As there.
    #[inline]
    pub fn rewrite(&mut self, ftl: &mut Ftl, lpn: Lpn) -> Result<(), PoolId> {
        if self.parity.is_some() {
            self.renew_parity(ftl, lpn)?;
        }
        self.put(ftl, lpn)
    }

    /// Removes the mapping of a unit. All units must be written ([`Untimed::flush`]).
    ///
    /// # Errors
    /// If no bin of a pool has room for parity or can collect some.
    pub fn trim(&mut self, ftl: &mut Ftl, lpn: Lpn) -> Result<(), PoolId> {
        if self.parity.is_some() {
            self.renew_parity(ftl, lpn)?;
        }
        ftl.forget_written(lpn);
        ftl.trim(lpn);
        Ok(())
    }

    /// Notes that the stripe of a unit needs new parity, and writes that of another range's stripes.
    ///
    /// # Errors
    /// If no bin of a pool has room or can collect some.
    #[inline(never)]
    pub fn renew_parity(&mut self, ftl: &mut Ftl, lpn: Lpn) -> Result<(), PoolId> {
        let stripes = ftl.layout.stripes.expect("data has parity");
        let due = self.parity.as_mut().expect("data has parity");
        let stripe = stripes.of(lpn);
        if due.note(&stripes, stripe) {
            return Ok(());
        }
        self.write_parity(ftl, &stripes)?;
        let due = self.parity.as_mut().expect("data has parity");
        assert!(due.note(&stripes, stripe), "nothing is due");
        Ok(())
    }

    /// Writes the parity that is due. Parity of a stripe without data is dropped.
    fn write_parity(&mut self, ftl: &mut Ftl, stripes: &Stripes) -> Result<(), PoolId> {
        let due = self.parity.as_mut().expect("data has parity").take();
        for (place, stripe) in due.iter().enumerate() {
            let parity = stripes.parity(*stripe);
            if !stripes.data(*stripe).any(|lpn| self.is_written(ftl, lpn)) {
                ftl.trim(parity);
            } else if let Err(pool) = self.put(ftl, parity) {
                let left = self.parity.as_mut().expect("data has parity");
                due[place..].iter().for_each(|stripe| {
                    left.note(stripes, *stripe);
                });
                return Err(pool);
            }
        }
        Ok(())
    }

    /// True if a unit has data, or will have some when its batch is full.
    fn is_written(&self, ftl: &Ftl, lpn: Lpn) -> bool {
        ftl.lookup(lpn).is_some() || self.pools[ftl.layout.pool(lpn).index()].units.contains(&lpn)
    }

    /// Adds a unit to the batch of its pool.
    #[inline]
    fn put(&mut self, ftl: &mut Ftl, lpn: Lpn) -> Result<(), PoolId> {
        let pool = ftl.layout.pool(lpn);
        let pending = &mut self.pools[pool.0 as usize];
        pending.units.push(lpn);
        if pending.units.len() == ftl.layout.units_per_batch as usize {
            self.program(ftl, pool)?;
        }
        Ok(())
    }

    /// Writes `count` logical units from `first` on, in order.
    ///
    /// # Errors
    /// If no bin of a pool has room or can collect some.
    pub fn write_run(&mut self, ftl: &mut Ftl, first: Lpn, count: u32) -> Result<(), PoolId> {
        (first.0..first.0 + count).try_for_each(|lpn| self.write(ftl, Lpn(lpn)))
    }

    /// Writes a part of a unit by an in-plane read-modify-write if its planes have room or can
    /// collect some, else as a whole unit. Each unit fills a batch.
    ///
    /// # Errors
    /// If no bin of its pool has room or can collect some.
    pub fn modify(&mut self, ftl: &mut Ftl, lpn: Lpn) -> Result<(), PoolId> {
        let bin = ftl.lookup(lpn).map(|ppn| ftl.layout.bin(ftl.layout.block(ppn)));
        let Some(bin) = bin.filter(|bin| make_room(ftl, *bin)) else {
            return self.rewrite(ftl, lpn);
        };
        // Collection may have moved the unit.
        let (block, place) = ftl.layout.block_and_place(ftl.lookup(lpn).expect("it has data"));
        let from = Batch { block, batch: ftl.layout.batch_and_slot(place).0 };
        let copied = ftl.may_be_copied(from).then_some(from);
        let to = ftl.bind(bin, Stream::Host).expect("room was made");
        commit_batch(ftl, to, copied, &[lpn], Source::Host);
        Ok(())
    }

    /// Writes the parity that is due and the waiting units, and pads batches that are not full.
    ///
    /// # Errors
    /// If no bin of a pool has room or can collect some.
    pub fn flush(&mut self, ftl: &mut Ftl) -> Result<(), PoolId> {
        if let Some(stripes) = ftl.layout.stripes {
            self.write_parity(ftl, &stripes)?;
        }
        for pool in 0..self.pools.len() {
            if !self.pools[pool].units.is_empty() {
                self.program(ftl, PoolId(pool as u32))?;
            }
        }
        Ok(())
    }

    /// Brings all bins into step: gives each bin new open blocks for the host
    /// and for collection, and collects until just enough blocks are free beside them. Open blocks
    /// are padded before. A bin that is free enough without collection keeps its free blocks.
    ///
    /// # Errors
    /// The bin in which no victim gains the space for this. All units must be written.
    pub fn align(&mut self, ftl: &mut Ftl) -> Result<(), BinId> {
        assert!(
            self.pools.iter().all(|pool| pool.units.is_empty()),
            "what waits is flushed before"
        );
        let streams = ftl.streams_of_bins();
        for bin in (0..ftl.layout.bins).map(BinId) {
            while ftl.has_left(bin) || !ftl.has_enough_for(bin, streams.len() as u32) {
                let victim = ftl.pick_any_victim(bin).ok_or(bin)?;
                collect_victim(ftl, bin, victim);
            }
            for stream in streams {
                renew(ftl, bin, *stream);
            }
        }
        Ok(())
    }

    fn program(&mut self, ftl: &mut Ftl, pool: PoolId) -> Result<(), PoolId> {
        let bin = self.choose_bin(ftl, pool).ok_or(pool)?;
        if let Some(stale) = &mut self.stale {
            stale.lay(ftl, bin);
        }
        let batch = ftl.bind(bin, Stream::Host).expect("the chosen bin has room");
        let pending = &mut self.pools[pool.0 as usize];
        commit_batch(ftl, batch, None, &pending.units, Source::Host);
        pending.units.clear();
        Ok(())
    }

    /// The bin that takes the pool's next batch, collected first if needed.
    #[inline]
    fn choose_bin(&mut self, ftl: &mut Ftl, pool: PoolId) -> Option<BinId> {
        let bins = ftl.layout.bins_of(pool).len();
        let pending = &mut self.pools[pool.0 as usize];
        if !pending.leads.is_empty() {
            pending.turn = pending.take_lead();
        }
        let turn = pending.turn;
        let after = |place: usize, step: usize| {
            if place + step < bins { place + step } else { place + step - bins }
        };
        let first = match self.choice {
            // Nothing waits, and nothing is under way.
            BinChoice::RoundRobin | BinChoice::LeastQueued | BinChoice::LeastBusy => turn,
            // `max_by_key` takes the last of equal bins; in reverse turn order that is the first.
            BinChoice::MostFree => (0..bins)
                .rev()
                .map(|step| after(turn, step))
                .max_by_key(|place| ftl.free_units(ftl.layout.bins_of(pool)[*place]))
                .expect("a pool has bins"),
        };
        for step in 0..bins {
            let place = after(first, step);
            let bin = ftl.layout.bins_of(pool)[place];
            if make_room(ftl, bin) {
                self.pools[pool.0 as usize].turn = after(place, 1);
                return Some(bin);
            }
        }
        None
    }
}

/// Pads the open block of a stream to its end and opens another one. The bin has a free block for it.
fn renew(ftl: &mut Ftl, bin: BinId, stream: Stream) {
    while ftl.is_open(bin, stream) {
        let at = ftl.bind(bin, stream).expect("an open block has room");
        ftl.pad(at);
        ftl.finish_parity(at, stream);
    }
    ftl.open_block(bin, stream).expect("enough blocks are free");
}

/// Commits a bound batch that is written with `units`; `from` is the batch that was copied back,
/// if any.
fn commit_batch(ftl: &mut Ftl, at: Batch, from: Option<Batch>, units: &[Lpn], source: Source) {
    let first = ftl.layout.first_unit(at.block, at.batch);
    let count = units.len() as u32;
    // Set valid before the loop: a unit that comes twice in a batch invalidates its first copy.
    ftl.map.set_valid(first, count);
    ftl.blocks.standing[at.block] += count;
    for (note, lpn) in ftl.map.notes_mut(first, count).iter_mut().zip(units) {
        *note = lpn.0;
    }
    ftl.note_versions(first, count);
    ftl.note_all_written(first, units);
    let mut fresh = 0;
    for (slot, lpn) in units.iter().enumerate() {
        match ftl.map.point(*lpn, Ppn(first.0 + slot as u32)) {
            Some(old) => {
                ftl.map.kill(old);
                let block = ftl.layout.block(old);
                ftl.blocks.standing[block] -= 1;
            }
            None => {
                fresh += 1;
                if let Some(persist) = &mut ftl.persist {
                    persist.note_fresh(*lpn);
                }
            }
        }
    }
    ftl.count_mapped(fresh);
    ftl.note_copied(from, at);
    let parity = match &ftl.layout.stripes {
        Some(stripes) => units.iter().filter(|lpn| stripes.is_parity(**lpn)).count() as u32,
        None => 0,
    };
    let padding = u64::from(ftl.layout.units_per_batch - count);
    ftl.count(at.block, |tally| {
        tally.units[source as usize] += u64::from(count - parity);
        tally.units[Source::Parity as usize] += u64::from(parity);
        tally.units[Source::Padding as usize] += padding;
    });
    ftl.finish_untimed(at, Stream::Host);
}
