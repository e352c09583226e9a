//! Pools: the bins that host writes may go to, in turn.

use crate::device::space::waits::{self, SpaceSnapshot};
use engine::Instant;
use ftl::{BinChoice, BinId};

/// Placement state of a pool's writes.
#[derive(Clone)]
pub struct Pool {
    pub(super) choice: BinChoice,
    /// Place of the bin whose turn it is.
    pub(super) turn: usize,
    /// Bins that can take a program, by their place: bit `i` of word `i / 64`.
    available: Vec<u64>,
    /// Bins with space for another batch, even if they cannot take it now.
    pub(super) roomy: u32,
    /// Time in which no bin of the pool had space, by charge.
    pub(in crate::device) without_space: SpaceSnapshot,
    /// The moment up to which that is counted; the start if there was no such time.
    pub(in crate::device) without_space_until: Instant,
    /// While no bin has space: the bin whose collection is blamed, and the state of its waits at
    /// the moment up to which the time is counted.
    pub(in crate::device) starved: Option<(BinId, SpaceSnapshot)>,
    /// The moment since which data could be programmed but for the limit of outstanding programs, and up
    /// to which that time is counted in `without_space`.
    pub(super) held: Option<Instant>,
}

impl Pool {
    pub fn new(choice: BinChoice, bins: usize) -> Self {
        let available = vec![0; bins.div_ceil(64)];
        Self {
            choice,
            turn: 0,
            available,
            roomy: 0,
            without_space: SpaceSnapshot::default(),
            without_space_until: Instant::START,
            starved: None,
            held: None,
        }
    }

    /// A copy of the pool in its initial state.
    pub fn begun_anew(&self, bins: usize) -> Self {
        Self::new(self.choice, bins)
    }

    pub(super) fn set_available(&mut self, place: u32, available: bool) {
        let word = &mut self.available[place as usize / 64];
        let bit = 1u64 << (place % 64);
        *word = if available { *word | bit } else { *word & !bit };
    }

    /// The first place of an available bin, from the turn on and around.
    pub(super) fn next_in_turn(&self) -> Option<usize> {
        let (word, bit) = (self.turn / 64, self.turn % 64);
        let here = self.available[word] & u64::MAX << bit;
        if here != 0 {
            return Some(word * 64 + here.trailing_zeros() as usize);
        }
        // In the turn's own word, the remaining places lie before the turn.
        let first_of = |words: &[u64]| {
            let index = words.iter().position(|left| *left != 0)?;
            Some(index * 64 + words[index].trailing_zeros() as usize)
        };
        let after = first_of(&self.available[word + 1..]).map(|place| (word + 1) * 64 + place);
        after.or_else(|| first_of(&self.available[..=word]))
    }

    /// Counts the time for which data has waited for the limit of outstanding programs; `goes_on` if it
    /// does so from now on.
    pub(super) fn settle_hold(&mut self, now: Instant, goes_on: bool) {
        if let Some(since) = self.held {
            waits::add_limited(&mut self.without_space, now - since);
            self.without_space_until = now;
        }
        self.held = goes_on.then_some(now);
    }

    /// The places of available bins, in turn.
    pub(in crate::device) fn in_turn(&self) -> impl Iterator<Item = usize> + '_ {
        let places = self.available.len() * 64;
        let available = |place: &usize| self.available[place / 64] >> (place % 64) & 1 == 1;
        (self.turn..places).chain(0..self.turn).filter(available)
    }
}
