//! Credits against a slow model that sorts everything that waits.

use super::*;
use engine::Streams;

/// Ranks, classes, reads under way and ages that follow from numbers.
struct ByNumber {
    now: u64,
    foreground: u32,
    scrubs_first: u32,
    begun: u32,
    empty: u32,
}

impl Order for ByNumber {
    fn rank(&self, id: OpId) -> u32 {
        id.0 % 3
    }
    fn goes_first(&self, writer: Writer) -> bool {
        match writer {
            Writer::Pool(_) => false,
            Writer::Collection(bin) => bin.0 & self.foreground != 0,
            Writer::Scrubbing(bin) => bin.0 & self.scrubs_first != 0,
        }
    }
    fn keeps(&self, writer: Writer) -> bool {
        self.goes_first(writer) && writer != Writer::Scrubbing(BinId(5))
    }
    fn has_begun(&self, read: OpId) -> bool {
        read.0 & self.begun != 0
    }
    fn since(&self, pool: PoolId) -> Option<Instant> {
        (pool.0 != self.empty).then(|| Instant::from_ns(u64::from(pool.0 * 7 % 5)))
    }
}

/// A naive model: queues with the oldest first, and the credits.
#[derive(Default)]
struct Naive {
    taken: u32,
    late: Vec<u32>,
    writers: Vec<Writer>,
    /// Reads that were asked for.
    reads: Vec<(Writer, u32)>,
    /// Programs of host data that began while scrubbing waited, one by one.
    hosts: Vec<PoolId>,
}

impl Naive {
    fn wait(&mut self, writer: Writer) {
        if !self.writers.contains(&writer) {
            self.writers.push(writer);
        }
    }

    fn begin(&mut self, writer: Writer) {
        self.taken += 1;
        match writer {
            Writer::Pool(pool) if self.writers.iter().any(scrubs) => self.hosts.push(pool),
            Writer::Scrubbing(_) => self.hosts.clear(),
            _ => {}
        }
    }

    /// The next one by one key for all that waits.
    fn next(&mut self, order: &ByNumber, most: u32) -> Option<Result<u32, Writer>> {
        if self.taken >= most {
            return None;
        }
        let empty = |of: &Writer| matches!(of, Writer::Pool(pool) if order.since(*pool).is_none());
        let key = |at: usize| match self.writers[at] {
            writer if order.goes_first(writer) => (0, at as u64, 0),
            Writer::Scrubbing(_) if self.hosts.len() >= 16 => (1, at as u64, 0),
            Writer::Pool(pool) => {
                let since = order.since(pool).expect("it has data") - Instant::START;
                (2, since.as_ns(), pool.0)
            }
            _ => (3, at as u64, 0),
        };
        let late = (0..self.late.len()).min_by_key(|at| (self.late[*at] % 3, *at));
        if let Some(at) = late {
            self.taken += 1;
            return Some(Ok(self.late.remove(at)));
        }
        let able = (0..self.writers.len()).filter(|at| !empty(&self.writers[*at]));
        let first = able.min_by_key(|at| key(*at))?;
        // A credit is kept for each bin in the foreground that reads, but not from others like it.
        let is_kept = |of: &&(Writer, u32)| order.keeps(of.0) && of.1 & order.begun != 0;
        let readers = self.reads.iter().filter(is_kept).map(|of| format!("{:?}", of.0));
        let kept = readers.collect::<std::collections::BTreeSet<String>>().len() as u32;
        if key(first).0 > 0 && most - self.taken <= kept {
            return None;
        }
        Some(Err(self.writers.remove(first)))
    }
}

fn scrubs(writer: &Writer) -> bool {
    matches!(writer, Writer::Scrubbing(_))
}

/// A pool, or GC or scrubbing of a bin.
fn writer(kind: u64, number: u32) -> Writer {
    match kind {
        0 | 1 => Writer::Pool(PoolId(number)),
        2 => Writer::Collection(BinId(number)),
        _ => Writer::Scrubbing(BinId(number)),
    }
}

#[test]
fn credits_go_to_what_a_sort_finds() {
    let seed = floor::seed(11);
    let mut random = Streams::new(seed).stream("pressure");
    let set = SetId(1);
    for most in [1, 2, 5] {
        let mut pressure = *Pressure::new(Some(PressureConfig { programs: most }), 3).unwrap();
        let (mut naive, mut called, mut turns) = (Naive::default(), 0, 0);
        for turn in 0..40_000u64 {
            let now = Instant::from_ns(turn);
            let number = random.below(8) as u32;
            // Now and then hosts write without a pause, and programs take long.
            let hosts_write = turn / 4_000 % 2 == 1;
            match random.below(11) {
                0 | 1 => {
                    let writer = match hosts_write && random.below(8) > 0 {
                        true => Writer::Pool(PoolId(number)),
                        false => writer(random.below(4), number),
                    };
                    let is_own = |of: &&(Writer, u32)| writer == of.0;
                    let others = naive.reads.iter().filter(|of| !is_own(of)).count() as u32;
                    let expected = naive.taken + others < most
                        && naive.late.is_empty()
                        && naive.writers.is_empty();
                    match expected {
                        true => naive.begin(writer),
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
                    let writer = writer(2 + random.below(2), number);
                    naive.reads.push((writer, read));
                    pressure.begin_read(set, writer, OpId(read));
                }
                10 if !naive.reads.is_empty() => {
                    let (_, read) = naive.reads.swap_remove(number as usize % naive.reads.len());
                    pressure.end_read(set, OpId(read));
                }
                2..=4 if naive.taken > 0 && (!hosts_write || random.below(6) == 0) => {
                    naive.taken -= 1;
                    pressure.give_back(now, set);
                }
                _ => {
                    let order = ByNumber {
                        now: turn,
                        foreground: random.below(8) as u32 * u32::from(!hosts_write),
                        scrubs_first: random.below(8) as u32 * u32::from(!hosts_write),
                        begun: random.below(8) as u32,
                        empty: random.below(9) as u32,
                    };
                    let found = pressure.next(now, set, &order).map(|next| match next {
                        Next::Late(id, _) => Ok(id.0),
                        Next::Writer(writer) => Err(writer),
                    });
                    let expected = naive.next(&order, most);
                    assert_eq!(found, expected, "seed {seed}, {} of {most}", order.now);
                    // Every other writer takes the credit that it was called for, and hosts do.
                    if let Some(Err(writer)) = expected
                        && (turn % 2 == 0 || hosts_write)
                    {
                        assert!(pressure.take(now, set, writer), "seed {seed}");
                        turns += u32::from(scrubs(&writer) && naive.hosts.len() >= 16);
                        naive.begin(writer);
                        called += 1;
                    }
                    pressure.end_call(set);
                    // Pools without data are forgotten when their turn comes.
                    let waits = |of: &Writer| match of {
                        Writer::Pool(pool) => pressure.awaits(set, *pool),
                        _ => true,
                    };
                    naive.writers.retain(waits);
                }
            }
            assert_eq!(pressure.taken(set), naive.taken, "seed {seed}");
            let waits = !(naive.late.is_empty() && naive.writers.is_empty());
            assert_eq!(pressure.has_waiting(set), waits, "seed {seed}");
        }
        assert!(called > 100, "{called} credits went to what waited");
        println!("{called} credits went to what waited, {turns} of them to scrubbing in its turn");
        assert!(turns > 5, "{turns} credits went to scrubbing after 16 programs of hosts");
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
    let order = ByNumber { now: 0, foreground: 0, scrubs_first: 0, begun: 0, empty: 9 };
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
