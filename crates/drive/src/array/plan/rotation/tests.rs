//! Rotation with the contents of all members, and parity that is computed from what was read.

use super::*;
use engine::{Span, Stream, Streams};
use settings::Size;
use std::collections::BTreeMap;

const MEMBERS: u32 = 4;
const CHUNK: u64 = 4;
const ROWS: u64 = 3;
const BYTES: u64 = CHUNK * ROWS;

/// Bytes of several members from which something is computed, with the numbers of those that the
/// cache has.
#[derive(Clone, Debug)]
pub struct Parts(Vec<(MemberId, Range<u64>, Option<u64>)>);

impl Parts {
    fn of(members: &[MemberId], bytes: &Range<u64>, known: &[Ranges]) -> Self {
        let of = |member: &MemberId| {
            let (member, parts) = (*member, known[member.0 as usize].within(bytes.clone()));
            parts.into_iter().map(move |(part, number)| (member, part, number))
        };
        Self(members.iter().flat_map(of).collect())
    }
}

/// Computations that the plan begins, and those that it has ended.
#[derive(Clone, Debug)]
pub enum Logged {
    /// The parity of an update with this number.
    Begun((UpdateId, u64), Parts),
    /// It is known.
    Ended(u64),
    /// Bytes of a member, from the others; and the reads for it.
    Rebuilt((MemberId, Range<u64>), Parts, Vec<BesideId>),
}

impl Logged {
    pub fn begun(
        of: (UpdateId, u64),
        members: &[MemberId],
        bytes: &Range<u64>,
        known: &[Ranges],
    ) -> Self {
        Self::Begun(of, Parts::of(members, bytes, known))
    }
}

impl Rotation {
    pub fn log_rebuilt(&mut self, member: MemberId, bytes: &Range<u64>, before: usize) {
        let parts = Parts::of(&self.others(&[member]), bytes, &self.newest);
        let reads = self.reading[before..].to_vec();
        self.log.push(Logged::Rebuilt((member, bytes.clone()), parts, reads));
    }
}

/// A sum over members by byte, and the bytes that are still to be read.
#[derive(Clone, Debug, Default)]
struct Sum {
    sums: BTreeMap<u64, u64>,
    missing: Vec<(MemberId, u64)>,
}

impl Sum {
    /// A read of a member has ended.
    fn read(&mut self, member: MemberId, bytes: Range<u64>, flash: &[u64; BYTES as usize]) {
        for byte in bytes {
            let at = self.missing.iter().position(|of| *of == (member, byte));
            self.missing.swap_remove(at.expect("what is read is missing"));
            *self.sums.entry(byte).or_default() ^= flash[byte as usize];
        }
    }
}

/// Members with contents: a number for each byte, and parity that is the XOR of the data.
struct Bench {
    plan: Rotation,
    stream: Stream,
    /// By member and byte: the newest data that the host wrote, and what is on flash.
    newest: Vec<[u64; BYTES as usize]>,
    flash: Vec<[u64; BYTES as usize]>,
    /// By number of an update and byte: its data, and the parity with all updates up to it.
    made: BTreeMap<(u64, u64), [u64; 2]>,
    /// Parity that is being computed, by the update and its number.
    parity: BTreeMap<(u64, u64), Sum>,
    /// Data that is being computed from others, and what it must be.
    rebuilt: Vec<(Sum, BTreeMap<u64, u64>, Vec<BesideId>)>,
    checked: [u64; 2],
    under_way: Vec<Act>,
    requests: u32,
}

impl Bench {
    fn new(seed: u64) -> Self {
        let stripes = Stripes { members: MEMBERS, chunk: CHUNK };
        let none = Time::from(Span::ZERO);
        let cache = CacheConfig { size: Size::from_bytes(1 << 20), latency: none };
        let period = Time::from(Span::from_us(1));
        let rules = Rules { stripes, period, settle: None, cache, depth: 3 };
        Self {
            plan: Rotation::new(rules),
            stream: Streams::new(seed).stream("test.rotation"),
            newest: vec![[0; BYTES as usize]; MEMBERS as usize],
            flash: vec![[0; BYTES as usize]; MEMBERS as usize],
            made: BTreeMap::new(),
            parity: BTreeMap::new(),
            rebuilt: Vec::new(),
            checked: [0; 2],
            under_way: Vec::new(),
            requests: 0,
        }
    }

    /// A request of the host.
    fn ask(&mut self) {
        let offset = self.stream.below(BYTES * 3 - 6);
        let kind = [Kind::Read, Kind::Write, Kind::Write][self.stream.below(3) as usize];
        let command = Command { kind, offset, bytes: 1 + self.stream.below(6) };
        self.requests += 1;
        let (id, number) = (HostId(self.requests), u64::from(self.requests));
        let mut acts = Vec::new();
        let next = self.plan.next;
        self.plan.asked(Asked { id, number, command, write: 0 }, &mut acts);
        self.accept(command, next);
        self.take(acts);
    }

    /// Notes the data and parity of the updates of a write that was taken in.
    fn accept(&mut self, command: Command, first: u64) {
        let pieces = self.plan.rules.stripes.pieces(command);
        for (number, piece) in (first..self.plan.next).zip(pieces) {
            for byte in piece.bytes {
                let at = byte as usize;
                let data = self.stream.bits();
                self.newest[piece.member.0 as usize][at] = data;
                let parity = piece.parity.0 as usize;
                self.newest[parity][at] = 0;
                let sum = self.newest.iter().fold(0, |sum, of| sum ^ of[at]);
                self.newest[parity][at] = sum;
                self.made.insert((number, byte), [data, sum]);
            }
        }
    }

    /// The sum of what the cache has of some parts; the rest is missing.
    fn sum(&self, parts: &Parts) -> Sum {
        let mut sum = Sum::default();
        for (member, bytes, number) in &parts.0 {
            for byte in bytes.clone() {
                match number {
                    None => sum.missing.push((*member, byte)),
                    Some(number) => {
                        let made =
                            self.made[&(*number, byte)][usize::from(is_parity(*member, byte))];
                        *sum.sums.entry(byte).or_default() ^= made;
                    }
                }
            }
        }
        sum
    }

    /// Computes what the plan computes, and compares it with what it must be.
    fn follow(&mut self) {
        for logged in std::mem::take(&mut self.plan.log) {
            match logged {
                Logged::Begun((id, number), parts) => {
                    let sum = self.sum(&parts);
                    self.parity.insert((id.0.into(), number), sum);
                }
                Logged::Ended(number) => {
                    let all: Vec<_> = self.parity.keys().copied().collect();
                    let key = all.into_iter().find(|(_, of)| *of == number).expect("it began");
                    let sum = self.parity.remove(&key).expect("it began");
                    assert_eq!(sum.missing, [], "read for update {number}");
                    for (byte, sum) in sum.sums {
                        let [data, parity] = self.made[&(number, byte)];
                        assert_eq!(data ^ sum, parity, "parity of update {number}, byte {byte}");
                        self.checked[0] += 1;
                    }
                }
                Logged::Rebuilt((member, bytes), parts, reads) => {
                    let newest = &self.newest[member.0 as usize];
                    let expected = bytes.map(|byte| (byte, newest[byte as usize])).collect();
                    self.rebuilt.push((self.sum(&parts), expected, reads));
                    self.end_rebuilt();
                }
            }
        }
    }

    /// Compares data that is computed from all others now.
    fn end_rebuilt(&mut self) {
        for (sum, expected, _) in self.rebuilt.extract_if(.., |(sum, ..)| sum.missing.is_empty()) {
            assert_eq!(sum.sums, expected, "data computed from the others");
            self.checked[1] += expected.len() as u64;
        }
    }

    fn take(&mut self, acts: Vec<Act>) {
        self.follow();
        for act in acts {
            match act {
                Act::Send { to, token, .. } => {
                    let updates = token & (UPDATE | BESIDE) != 0;
                    assert!(!updates || to != self.plan.writer, "the member that writes is read");
                    self.under_way.push(act);
                }
                Act::Serve { .. } | Act::Wake { .. } => {}
                // The cache is never full here, and nothing is hedged.
                _ => panic!("{act:?}"),
            }
        }
    }

    /// One of the commands under way ends.
    fn end_one(&mut self) {
        if self.under_way.is_empty() {
            return;
        }
        let index = self.stream.below(self.under_way.len() as u64) as usize;
        let Act::Send { to, command, token, .. } = self.under_way.swap_remove(index) else {
            panic!("only commands are under way");
        };
        let mut acts = Vec::new();
        if command.kind == Kind::Read {
            self.read(to, command.offset..command.end(), token);
            self.plan.read_ended(token, &mut acts);
        } else {
            let number = self.plan.entries[EntryId(token as u32)].number;
            for byte in command.offset..command.end() {
                let made = self.made[&(number, byte)];
                self.flash[to.0 as usize][byte as usize] = made[usize::from(is_parity(to, byte))];
            }
            self.plan.written(to, token, &mut acts);
        }
        self.take(acts);
    }

    /// A read for something that is computed has ended.
    fn read(&mut self, to: MemberId, bytes: Range<u64>, token: u64) {
        let flash = &self.flash[to.0 as usize];
        if token & UPDATE != 0 {
            let id = token & u64::from(u32::MAX);
            let mut of_id = self.parity.range_mut((id, 0)..=(id, u64::MAX));
            of_id.next().expect("the update reads").1.read(to, bytes, flash);
        } else if token & BESIDE != 0 {
            let id = BesideId(token as u32);
            // The newest one, as ids are used again.
            let of = self.rebuilt.iter_mut().rfind(|(.., reads)| reads.contains(&id));
            of.expect("data is computed").0.read(to, bytes, flash);
            self.end_rebuilt();
        }
    }
}

fn is_parity(member: MemberId, byte: u64) -> bool {
    byte / CHUNK % u64::from(MEMBERS) == u64::from(member.0)
}

#[test]
fn what_is_read_gives_parity_and_the_data_of_the_member_that_writes() {
    let mut checked = [0, 0];
    for seed in floor::seeds(0, 300) {
        println!("seed {seed}");
        let mut bench = Bench::new(seed);
        let mut now = Instant::START;
        for step in 0..600 {
            match bench.stream.below(8) {
                0 if step < 500 => bench.ask(),
                1 => {
                    now += Span::from_us(1);
                    let mut acts = Vec::new();
                    bench.plan.woken(now, Timer::Swap, &mut acts);
                    bench.plan.allow(Allowed::ALL, &mut acts);
                    bench.take(acts);
                }
                _ => bench.end_one(),
            }
        }
        while !bench.plan.is_at_rest() || !bench.under_way.is_empty() {
            bench.end_one();
            if bench.under_way.is_empty() {
                let mut acts = Vec::new();
                bench.plan.woken(now, Timer::Swap, &mut acts);
                bench.plan.allow(Allowed::ALL, &mut acts);
                bench.take(acts);
            }
        }
        assert_eq!(bench.plan.bytes, 0, "the cache is empty");
        assert_eq!(bench.flash, bench.newest, "every member has its data and parity");
        assert!(bench.parity.is_empty() && bench.rebuilt.is_empty(), "all was computed");
        checked = [0, 1].map(|of| checked[of] + bench.checked[of]);
    }
    println!("{checked:?} bytes of parity, and of data of the member that writes");
    assert!(checked[0] > 10_000 && checked[1] > 1_000);
}
