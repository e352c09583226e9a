//! Credits against a slow model that sorts everything that waits.

use super::*;
use engine::Streams;

/// Ranks, classes, reads under way and ages that follow from numbers.
struct ByNumber {
    now: u64,
    foreground: u32,
    begun: u32,
    empty: u32,
}

impl Order for ByNumber {
    fn rank(&self, id: OpId) -> u32 {
        id.0 % 3
    }
    fn goes_first(&self, bin: BinId) -> bool {
        bin.0 & self.foreground != 0
    }
    fn has_begun(&self, read: OpId) -> bool {
        read.0 & self.begun != 0
    }
    fn since(&self, pool: PoolId) -> Option<Instant> {
        (pool.0 != self.empty).then(|| Instant::from_ns(u64::from(pool.0 * 7 % 5)))
    }
}

/// What waits, the oldest first, and the credits.
#[derive(Default)]
struct Naive {
    taken: u32,
    late: Vec<u32>,
    writers: Vec<Writer>,
    /// Reads that were asked for, each with its bin's number.
    reads: Vec<(u32, u32)>,
}

impl Naive {
    fn wait(&mut self, writer: Writer) {
        if !self.writers.contains(&writer) {
            self.writers.push(writer);
        }
    }

    /// The next one by one key for all that waits.
    fn next(&mut self, order: &ByNumber, most: u32) -> Option<Result<u32, Writer>> {
        if self.taken >= most {
            return None;
        }
        let empty = |of: &Writer| matches!(of, Writer::Pool(pool) if order.since(*pool).is_none());
        let key = |at: usize| match self.writers[at] {
            Writer::Collection(bin) if order.goes_first(bin) => (0, at as u64, 0),
            Writer::Pool(pool) => {
                let since = order.since(pool).expect("it has data") - Instant::START;
                (1, since.as_ns(), pool.0)
            }
            Writer::Collection(_) => (2, at as u64, 0),
        };
        let late = (0..self.late.len()).min_by_key(|at| (self.late[*at] % 3, *at));
        if let Some(at) = late {
            self.taken += 1;
            return Some(Ok(self.late.remove(at)));
        }
        let able = (0..self.writers.len()).filter(|at| !empty(&self.writers[*at]));
        let first = able.min_by_key(|at| key(*at))?;
        // A credit is kept for each bin in the foreground that reads, but not from others like it.
        let is_kept = |of: &&(u32, u32)| of.0 & order.foreground != 0 && of.1 & order.begun != 0;
        let bins = self.reads.iter().filter(is_kept).map(|of| of.0);
        let kept = bins.collect::<std::collections::BTreeSet<u32>>().len() as u32;
        if key(first).0 > 0 && most - self.taken <= kept {
            return None;
        }
        Some(Err(self.writers.remove(first)))
    }
}

#[test]
fn credits_go_to_what_a_sort_finds() {
    let seed = 11;
    let mut random = Streams::new(seed).stream("pressure");
    let set = SetId(1);
    for most in [1, 2, 5] {
        let mut pressure = *Pressure::new(Some(PressureConfig { programs: most }), 3).unwrap();
        let (mut naive, mut called) = (Naive::default(), 0);
        for turn in 0..20_000u64 {
            let now = Instant::from_ns(turn);
            let number = random.below(8) as u32;
            match random.below(11) {
                0 | 1 => {
                    let pool = random.below(2) == 0;
                    let writer = match pool {
                        true => Writer::Pool(PoolId(number)),
                        false => Writer::Collection(BinId(number)),
                    };
                    let is_own = |of: &&(u32, u32)| writer == Writer::Collection(BinId(of.0));
                    let others = naive.reads.iter().filter(|of| !is_own(of)).count() as u32;
                    let expected = naive.taken + others < most
                        && naive.late.is_empty()
                        && naive.writers.is_empty();
                    match expected {
                        true => naive.taken += 1,
                        false => naive.wait(writer),
                    }
                    assert_eq!(pressure.take(now, set, writer), expected, "seed {seed}, {turn}");
                }
                2 if turn % 8 == 0 => {
                    let id = turn as u32;
                    let expected = naive.taken < most;
                    match expected {
                        true => naive.taken += 1,
                        false => naive.late.push(id),
                    }
                    assert_eq!(pressure.resume(now, set, OpId(id)), expected, "seed {seed}");
                }
                9 if naive.reads.len() < 4 => {
                    let read = turn as u32;
                    naive.reads.push((number, read));
                    pressure.begin_read(set, BinId(number), OpId(read));
                }
                10 if !naive.reads.is_empty() => {
                    let (_, read) = naive.reads.swap_remove(number as usize % naive.reads.len());
                    pressure.end_read(set, OpId(read));
                }
                2..=4 if naive.taken > 0 => {
                    naive.taken -= 1;
                    pressure.give_back(now, set);
                }
                _ => {
                    let order = ByNumber {
                        now: turn,
                        foreground: random.below(8) as u32,
                        begun: random.below(8) as u32,
                        empty: random.below(9) as u32,
                    };
                    let found = pressure.next(now, set, &order).map(|next| match next {
                        Next::Late(id, _) => Ok(id.0),
                        Next::Writer(writer) => Err(writer),
                    });
                    let expected = naive.next(&order, most);
                    assert_eq!(found, expected, "seed {seed}, {} of {most}", order.now);
                    // Every other writer takes the credit that it was called for.
                    if let Some(Err(writer)) = expected
                        && turn % 2 == 0
                    {
                        assert!(pressure.take(now, set, writer), "seed {seed}");
                        naive.taken += 1;
                        called += 1;
                    }
                    pressure.end_call(set);
                    // Pools without data are forgotten when their turn comes.
                    let waits = |of: &Writer| match of {
                        Writer::Pool(pool) => pressure.awaits(set, *pool),
                        Writer::Collection(_) => true,
                    };
                    naive.writers.retain(waits);
                }
            }
            assert_eq!(pressure.taken(set), naive.taken, "seed {seed}");
            let waits = !(naive.late.is_empty() && naive.writers.is_empty());
            assert_eq!(pressure.has_waiting(set), waits, "seed {seed}");
        }
        assert!(called > 100, "{called} credits went to what waited");
        assert_eq!((pressure.taken(SetId(0)), pressure.has_waiting(SetId(2))), (0, false));
    }
}

#[test]
fn times_are_counted_by_hand() {
    let at = |us: u64| Instant::from_ns(1_000 * us);
    let mut pressure = *Pressure::new(Some(PressureConfig { programs: 2 }), 1).unwrap();
    let (set, writer) = (SetId(0), Writer::Pool(PoolId(0)));
    assert!(pressure.take(at(10), set, writer));
    assert!(pressure.take(at(30), set, writer));
    assert!(!pressure.take(at(40), set, writer));
    pressure.give_back(at(60), set);
    let order = ByNumber { now: 0, foreground: 0, begun: 0, empty: 9 };
    assert_eq!(pressure.next(at(60), set, &order), Some(Next::Writer(writer)));
    assert!(pressure.take(at(60), set, writer));
    pressure.end_call(set);
    pressure.give_back(at(70), set);
    let counts = pressure.counts(at(100), set);
    // One from 10 to 30 us and from 70 to 100, and two from 30 to 70.
    let expected = PressureCounts {
        programs: 3,
        waited: 1,
        taken_ns: 130_000,
        full: Span::from_ns(40_000),
        greatest: 2,
    };
    assert_eq!(counts, expected);
    pressure.begin_counting(at(100));
    assert_eq!(pressure.counts(at(110), set).since(&counts).taken_ns, 10_000);
    assert_eq!(pressure.counts(at(110), set).greatest, 1);
}
