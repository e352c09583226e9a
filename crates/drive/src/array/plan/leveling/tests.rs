//! Leveling with the contents of all members: the address and the write of each byte, in a model that
//! knows nothing of chunks.

use super::*;
use engine::{Span, Stream, Streams};
use std::collections::BTreeMap;

const BYTES: u64 = 32;

/// A byte: its address in the namespace, and the number of its write.
type Byte = (u64, usize);

/// A write of a host, or another command that changes data. Moments are numbers of steps.
struct Write {
    bytes: Range<u64>,
    submitted: u64,
    answered: Option<u64>,
}

/// A request of a host under way.
struct Request {
    command: Command,
    submitted: u64,
    /// The number of its write.
    write: usize,
    /// Parts that have not ended, and bytes that were sent to members.
    parts: u32,
    sent: u64,
    /// Bytes that its reads have found, and those that the memory had for it.
    found: Vec<Byte>,
    memory: BTreeMap<u64, usize>,
}

/// A command under way at a member.
struct UnderWay {
    act: Act,
    /// The bytes that a write has.
    data: Vec<Byte>,
    has_acted: bool,
}

struct Bench {
    plan: Leveling,
    stream: Stream,
    step: u64,
    members: Vec<Vec<Byte>>,
    writes: Vec<Write>,
    requests: BTreeMap<u32, Request>,
    under_way: Vec<UnderWay>,
    /// By piece: what was read of it, and from which place.
    memory: BTreeMap<u64, Vec<(MemberId, Vec<Byte>)>>,
    next: u32,
    flushes: u32,
}

impl Bench {
    fn new(seed: u64) -> Self {
        let mut stream = Streams::new(seed).stream("test.leveling");
        let members = 2 + stream.below(2) as u32;
        let piece = [2, 4, 8][stream.below(3) as usize];
        let rules = Rules {
            chunks: Chunks::new(members, 8, BYTES + 3),
            gap: 8 + stream.below(40),
            copies: Share::from_percent(100 + 100 * stream.below(3)),
            piece,
            depth: 1 + stream.below(3) as u32,
            latency: Time::from(Span::from_us(1)),
        };
        println!("seed {seed}: {rules:?}");
        let of = |member: u64| (0..BYTES).map(move |byte| (member * BYTES + byte, 0)).collect();
        Self {
            plan: Leveling::new(rules),
            stream,
            step: 0,
            members: (0..u64::from(members)).map(of).collect(),
            // What is there from the beginning.
            writes: vec![Write { bytes: 0..u64::MAX, submitted: 0, answered: Some(0) }],
            requests: BTreeMap::new(),
            under_way: Vec::new(),
            memory: BTreeMap::new(),
            next: 0,
            flushes: 0,
        }
    }

    fn all_bytes(&self) -> u64 {
        self.members.len() as u64 * BYTES
    }

    /// A request of the host. Most writes go to a few bytes, others after some time.
    fn ask(&mut self) {
        let kinds = [
            Kind::Read,
            Kind::Read,
            Kind::Write,
            Kind::Write,
            Kind::Write,
            Kind::Trim,
            Kind::Flush,
        ];
        let kind = kinds[self.stream.below(7) as usize];
        let bytes = 1 + self.stream.below(12);
        let all = self.all_bytes() - bytes;
        let hot = self.step / 300 * 17 % all;
        let offset = match self.stream.below(4) {
            0 => self.stream.below(all + 1),
            _ => (hot + self.stream.below(10)).min(all),
        };
        let command = match kind.has_range() {
            true => Command { kind, offset, bytes },
            false => Command { kind, offset: 0, bytes: 0 },
        };
        let id = HostId(self.next);
        self.next += 1;
        let write = self.writes.len();
        if kind.has_range() && kind != Kind::Read {
            let bytes = offset..offset + bytes;
            self.writes.push(Write { bytes, submitted: self.step, answered: None });
        }
        let (memory, found) = (BTreeMap::new(), Vec::new());
        let request =
            Request { command, submitted: self.step, write, parts: 0, sent: 0, found, memory };
        self.requests.insert(id.0, request);
        let mut acts = Vec::new();
        self.plan.asked(Asked { id, number: id.0.into(), command, write: 0 }, &mut acts);
        self.take(acts);
    }

    fn take(&mut self, acts: Vec<Act>) {
        for act in acts {
            match act {
                Act::Send { to, command, of: Some(of), .. } => {
                    let request = self.requests.get_mut(&of.0).expect("it is under way");
                    request.parts += 1;
                    assert_eq!(command.kind, request.command.kind);
                    // Parts of a write follow each other.
                    let first = request.command.offset + request.sent;
                    request.sent += command.bytes;
                    let data = (first..first + command.bytes).map(|byte| (byte, request.write));
                    assert!(command.end() <= BYTES, "{command:?} lies in member {to:?}");
                    self.under_way.push(UnderWay { act, data: data.collect(), has_acted: false });
                }
                Act::Send { to, command, token, .. } => {
                    let data = match command.kind {
                        Kind::Read => Vec::new(),
                        _ => self.memory_of_other(token, to),
                    };
                    self.under_way.push(UnderWay { act, data, has_acted: false });
                }
                Act::Serve { of, .. } => {
                    let in_memory = self.memory.values().flatten().flat_map(|(_, data)| data);
                    let memory = in_memory.copied().collect();
                    let request = self.requests.get_mut(&of.0).expect("it is under way");
                    assert_eq!(request.command.kind, Kind::Read);
                    request.memory = memory;
                    if request.parts == 0 {
                        self.answer(of.0);
                    }
                }
                _ => panic!("{act:?}"),
            }
        }
    }

    /// Bytes that were read for a piece at the other place.
    fn memory_of_other(&self, token: u64, to: MemberId) -> Vec<Byte> {
        let read = &self.memory[&token];
        assert_eq!(read.len(), 2, "both were read");
        read.iter().find(|(from, _)| *from != to).expect("they lie apart").1.clone()
    }

    /// A command under way acts on its member, at any moment, or ends.
    fn go_on(&mut self) {
        if self.under_way.is_empty() {
            return;
        }
        let index = self.stream.below(self.under_way.len() as u64) as usize;
        let of = &mut self.under_way[index];
        let Act::Send { to, command, of: request, token, .. } = of.act else {
            panic!("only commands are under way")
        };
        if !std::mem::replace(&mut of.has_acted, true) {
            let range = command.offset as usize..command.end() as usize;
            let bytes = &mut self.members[to.0 as usize][range];
            match (command.kind, request) {
                (Kind::Flush, _) => self.flushes += 1,
                (Kind::Read, Some(id)) => {
                    let request = self.requests.get_mut(&id.0).expect("it is under way");
                    request.found.extend_from_slice(bytes);
                }
                (Kind::Read, None) => {
                    self.memory.entry(token).or_default().push((to, bytes.to_vec()));
                }
                _ => bytes.copy_from_slice(&of.data),
            }
            return;
        }
        self.under_way.swap_remove(index);
        let is_copy = request.is_none();
        if is_copy
            && command.kind == Kind::Write
            && !self.under_way.iter().any(
                |other| matches!(other.act, Act::Send { of: None, token: of, .. } if of == token),
            )
        {
            self.memory.remove(&token);
        }
        if let Some(id) = request {
            let request = self.requests.get_mut(&id.0).expect("it is under way");
            request.parts -= 1;
            if request.parts == 0 {
                self.answer(id.0);
            }
        }
        let mut acts = Vec::new();
        self.plan.ended(token, &mut acts);
        self.take(acts);
    }

    /// A request of the host is answered: what it has read must be its bytes, each once and new enough.
    fn answer(&mut self, id: u32) {
        let request = self.requests.remove(&id).expect("it is under way");
        let Command { kind, offset, bytes } = request.command;
        if kind == Kind::Flush {
            return;
        }
        if kind != Kind::Read {
            assert_eq!(request.sent, bytes, "all bytes were written");
            self.writes[request.write].answered = Some(self.step);
            return;
        }
        let mut found: BTreeMap<u64, usize> = BTreeMap::new();
        for (byte, write) in request.found {
            assert!((offset..offset + bytes).contains(&byte), "{byte} is not of the read");
            assert_eq!(found.insert(byte, write), None, "{byte} was read twice");
        }
        for byte in offset..offset + bytes {
            let write = found.get(&byte).or_else(|| request.memory.get(&byte));
            let write = *write.unwrap_or_else(|| panic!("{byte} was not read"));
            self.check(byte, write, request.submitted);
        }
    }

    /// Checks that a byte may be that of a write: no later one was answered before the read came.
    fn check(&self, byte: u64, write: usize, since: u64) {
        let own = &self.writes[write];
        assert!(own.bytes.contains(&byte));
        let ends = own.answered.unwrap_or(u64::MAX);
        let is_newer = |other: &Write| {
            other.bytes.contains(&byte)
                && other.submitted > ends
                && other.answered.is_some_and(|answered| answered < since)
        };
        assert!(!self.writes.iter().any(is_newer), "byte {byte} of write {write} is old");
    }

    /// Every byte lies at one place, with its newest data.
    fn finish(&self) {
        let mut found: Vec<Byte> = self.members.iter().flatten().copied().collect();
        found.sort_unstable();
        let addresses: Vec<u64> = found.iter().map(|(byte, _)| *byte).collect();
        assert!(addresses.into_iter().eq(0..self.all_bytes()), "each byte has a place");
        found.into_iter().for_each(|(byte, write)| self.check(byte, write, u64::MAX));
    }
}

#[test]
fn reads_find_the_newest_data_while_chunks_change_places() {
    let mut total = PlanCounts::default();
    for seed in floor::seeds(0, 400) {
        let mut bench = Bench::new(seed);
        let share = bench.plan.rules.copies.fraction();
        while bench.step < 3000 || !bench.under_way.is_empty() {
            bench.step += 1;
            match bench.stream.below(5) {
                0 if bench.step < 3000 => bench.ask(),
                _ => bench.go_on(),
            }
            let copied: u64 = bench.plan.written().iter().map(|of| of.copied).sum();
            let hosts: u64 = bench.plan.written().iter().map(|of| of.host).sum();
            assert!(copied as f64 <= share * hosts as f64, "{copied} {hosts}");
        }
        assert!(bench.plan.is_at_rest() && bench.requests.is_empty(), "all was answered");
        bench.finish();
        let counts = bench.plan.counts();
        assert_eq!(counts.copied_bytes, 2 * 8 * counts.exchanges);
        assert!(bench.flushes.is_multiple_of(bench.members.len() as u32));
        total.exchanges += counts.exchanges;
        total.delayed += counts.delayed;
        total.cached += counts.cached;
        total.cached_in_part += counts.cached_in_part;
    }
    println!("{total:?}");
    assert!(total.exchanges > 4_000 && total.delayed > 4_000, "{total:?}");
    assert!(total.cached > 300 && total.cached_in_part > 1_000, "{total:?}");
}

// ---- the choice ----------------------------------------------------------------------------

/// A plan of two members whose commands end at once.
struct Model {
    plan: Leveling,
    next: u32,
    /// The largest difference of written bytes that was seen.
    largest: u64,
}

impl Model {
    fn new(chunk: u64, places: u64, gap: u64, copies: u64) -> Self {
        let plan = Leveling::new(Rules {
            chunks: Chunks::new(2, chunk, chunk * places),
            gap,
            copies: Share::from_percent(copies),
            piece: chunk / 4,
            depth: 4,
            latency: Time::from(Span::from_us(1)),
        });
        Self { plan, next: 0, largest: 0 }
    }
    /// A host writes a byte.
    fn write(&mut self, offset: u64) {
        let command = Command { kind: Kind::Write, offset, bytes: 1 };
        let (id, mut acts) = (HostId(self.next), Vec::new());
        self.next += 1;
        self.plan.asked(Asked { id, number: id.0.into(), command, write: 0 }, &mut acts);
        while let Some(act) = acts.pop() {
            let Act::Send { token, .. } = act else { panic!("{act:?}") };
            self.plan.ended(token, &mut acts);
        }
        self.largest = self.largest.max(self.difference());
    }
    fn difference(&self) -> u64 {
        let [one, other] = self.plan.written() else { panic!("two members") };
        (one.host + one.copied).abs_diff(other.host + other.copied)
    }
    fn copied(&self) -> u64 {
        self.plan.counts().copied_bytes
    }
}

#[test]
fn one_hot_chunk_goes_to_and_fro() {
    // All writes go to a chunk. From the moment at which the difference is larger than the gap, it takes
    // at most a chunk of writes until the plan chooses again. Then the difference falls to 0, and grows
    // to the gap at the other member: between two exchanges hosts write more than twice the gap.
    let (chunk, gap, writes) = (64, 200, 100_000);
    let mut model = Model::new(chunk, 8, gap, 100);
    for write in 0..writes {
        model.write(write % chunk);
    }
    assert!(model.largest <= gap + chunk, "{}", model.largest);
    let least = (writes - gap - chunk) / (2 * (gap + chunk));
    let most = 1 + (writes - gap) / (2 * gap);
    let exchanges = model.plan.counts().exchanges;
    assert!((least..=most).contains(&exchanges), "{exchanges}: {least} to {most}");
    assert_eq!(model.copied(), 2 * chunk * exchanges);
}

#[test]
fn two_members_are_written_alike_although_one_part_of_the_data_is_hot() {
    let (chunk, places) = (1024, 16);
    let member = chunk * places;
    for (gap, copies) in [(member / 4, 100), (member, 100), (member, 25), (4 * member, 10)] {
        let mut stream = Streams::new(floor::seed(7)).stream("test.leveling");
        let mut model = Model::new(chunk, places, gap, copies);
        let writes = 60 * member;
        for _ in 0..writes {
            model.write(stream.below(member));
        }
        // Half of the chunks must change places, in which time all that is written goes to one member at
        // most; and each exchange waits until hosts have written two chunks over the share.
        let copies = copies as f64 / 100.0;
        let bound = gap as f64 + places as f64 / 2.0 * 2.0 * chunk as f64 / copies;
        println!(
            "{gap} {copies}: {} {bound}, {}, {:?}",
            model.largest,
            model.difference(),
            model.plan.counts()
        );
        assert!(model.largest as f64 <= bound, "{} {bound}", model.largest);
        assert!(model.copied() as f64 <= copies * writes as f64);
        assert!(model.difference() <= gap + chunk, "{} {gap}", model.difference());
    }
}

#[test]
fn chunks_that_are_written_alike_stay() {
    // A difference from earlier, of which no exchange would level anything: of the recent writes each
    // chunk has 8,192 to 16,384, give or take 128, and half a chunk is 2,048.
    let (chunk, places) = (4096, 4);
    let member = chunk * places;
    let mut stream = Streams::new(floor::seed(7)).stream("test.leveling");
    let mut model = Model::new(chunk, places, member / 2, 100);
    model.plan.wear.add_host(MemberId(0), 5 * member);
    for _ in 0..100 * member {
        model.write(stream.below(2 * member));
    }
    assert!(model.difference() > 4 * member, "{}", model.difference());
    assert_eq!(model.plan.counts().exchanges, 0);
    // A workload that writes one chunk twice as much as the others gives the plan what it needs.
    for _ in 0..100 * member {
        let offset = stream.below(2 * member + chunk);
        model.write(if offset < 2 * member { offset } else { offset - 2 * member });
    }
    assert!(model.plan.counts().exchanges > 0);
}
