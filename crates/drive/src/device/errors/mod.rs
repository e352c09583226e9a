//! Bit errors: what a read finds, and what happens to data that cannot be decoded.
//!
//! When the last row of a read has left its channel, `Device::route` asks [`Errors::read`] before
//! it tells the owner. If the data can be decoded, or no step of recovery is left, the owner goes on
//! as ever. Otherwise the operation frees its unit, is decoded in vain, and begins anew: it stays
//! the same operation until its owner gets it, so owners know nothing of recovery.

mod counters;
mod decay;
mod faults;
mod faulty;
mod rate;
mod rebuild;
mod recover;
mod stripes;
mod summed;
mod words;

pub use counters::{ErrorCounters, FirstDecodes};

use crate::config::DriveConfig;
use crate::device::ids::{OpId, RecoveryId};
use crate::device::join::{Aside, Join};
use engine::{IdOrNone, Instant, Slab, Span, Stream, Streams};
use faults::Faults;
use ftl::read_recovery::ReadRecovery;
use ftl::scrub::{Needs, Polled};
use ftl::{Batch, BinId, BySet, Ftl, RecoveryLevel, RecoveryLevels, SetId};
use metrics::{Blame, Holder};
use nand::Geometry;
use nand::errors::{Code, Counting, SoftDecoding, Wrong, thin};
use rate::Rates;
use std::collections::BTreeSet;
use std::ops::Range;
use words::Words;

/// Errors of a drive's flash, and reads that are being recovered.
#[derive(Clone)]
pub struct Errors {
    // ---- constant ----
    /// Bits of a codeword.
    bits: u32,
    code: Option<Code>,
    soft_decoder: Option<(SoftDecoding, Code)>,
    counting: Counting,
    re_read_scale: f64,
    /// Bytes of a page for which one codeword is decoded.
    bytes_per_word: u64,
    policy: ReadRecovery,
    /// Policies of reads of hosts with another read recovery level.
    levels: RecoveryLevels,
    /// Read recovery levels of NVM sets.
    of_sets: BySet<RecoveryLevel>,
    faults: Option<Box<Faults>>,
    /// Codewords of a mapping unit, as far as it lies in one row.
    words_of_unit: u32,
    // ---- state ----
    rates: Rates,
    /// Random numbers, by NVM set.
    numbers: BySet<Stream>,
    recoveries: Slab<RecoveryId, Recovery>,
    /// The recovery of each operation, by its number.
    of_operation: Vec<IdOrNone<RecoveryId>>,
    /// Codewords of the present read that cannot be decoded, kept for its memory.
    wrong: Vec<Wrong>,
    counters: ErrorCounters,
    /// Units that the read of a member did not get, until that read is handled.
    lost_of_member: BTreeSet<u32>,
    /// Blames of critical members.
    aside: Aside,
    decay: decay::Columns,
    /// Re-reads that the read needed which goes to its owner next.
    last_re_reads: u32,
}

/// A read whose data could not be decoded so far.
#[derive(Clone)]
struct Recovery {
    /// The codewords that could not be decoded.
    wrong: Vec<Wrong>,
    re_reads: u32,
    /// True once soft decoding was begun.
    softly: bool,
    /// Senses of soft decoding that are still to come.
    senses_left: u32,
    /// The source of the first read, and its read recovery level.
    holder: Holder,
    level: RecoveryLevel,
    /// The NVM set of what is read.
    set: SetId,
    /// True once a fault of flash was met.
    is_faulty: bool,
    /// Time of sensing and transfers that was charged before the present attempt.
    served: [Span; 2],
    /// The operation that reads.
    op: OpId,
    rebuild: Rebuild,
    /// Reads of the other members of its stripe, units that these did not get, and their blame.
    members: Join,
    /// True if no stripe can tell the data, although it has parity.
    is_unprotected: bool,
    /// The unit of the read that each member tells, if there is a stripe for each unit.
    of_member: Vec<u32>,
    lost: BTreeSet<u32>,
    blame: Blame,
}

impl Recovery {
    /// The recovery of an operation, with nothing known yet.
    fn of(op: OpId) -> Self {
        Self {
            wrong: Vec::new(),
            re_reads: 0,
            softly: false,
            senses_left: 0,
            holder: Holder::HostRead,
            level: RecoveryLevel::DEFAULT,
            set: SetId(0),
            is_faulty: false,
            served: [Span::ZERO; 2],
            op,
            rebuild: Rebuild::No,
            members: Join::default(),
            is_unprotected: false,
            of_member: Vec::new(),
            lost: BTreeSet::new(),
            blame: Blame::NONE,
        }
    }
}

/// Progress of the rebuild of what a read could not decode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rebuild {
    No,
    /// It begins when the last attempt has been decoded in vain.
    Due,
    /// The other members are read.
    UnderWay,
    /// None: the read is itself one of others that tell the data, and its owner gets to know that it
    /// failed when the last attempt has been decoded.
    InVain,
}

/// A read as errors see it.
#[derive(Clone, Copy, Debug)]
pub struct ReadOf {
    pub at: Batch,
    /// First row, and number of rows.
    pub row: u32,
    pub rows: u32,
    /// Planes of each row, counted from the bin's first.
    pub planes: u64,
    /// Codewords of each row that were transferred.
    pub words: Words,
    pub holder: Holder,
    /// True if a host lacks what this read does not bring.
    pub is_wanted: bool,
    pub level: RecoveryLevel,
    /// The NVM set that it reads from.
    pub set: SetId,
}

impl Errors {
    /// Errors as `config` describes them, if flash has any.
    pub fn new(config: &DriveConfig, ftl: &Ftl, seed: u64) -> Option<Box<Self>> {
        let errors = config.nand.errors.as_ref()?;
        let geometry = Geometry::from(&config.geometry);
        let streams = Streams::new(seed);
        let bits = (errors.codeword.bytes() * 8) as u32;
        let words = errors.words_per_page(geometry.page_bytes);
        Some(Box::new(Self {
            bits,
            code: errors.corrects.map(|corrects| Code::new(bits, corrects)),
            soft_decoder: errors.soft_decoding.map(|of| (of, Code::new(bits, of.corrects))),
            counting: errors.counting,
            re_read_scale: errors.re_read_scale,
            bytes_per_word: geometry.page_bytes / u64::from(words),
            policy: config.ftl.read_recovery.clone().unwrap_or_default(),
            levels: config.ftl.read_recovery_levels.clone().unwrap_or_default(),
            of_sets: BySet::from_fn(ftl.layout.set_count(), |set| match &config.ftl.sets {
                None => RecoveryLevel::DEFAULT,
                Some(sets) => sets.read_recovery_level(set),
            }),
            faults: Faults::new(config, ftl, streams),
            words_of_unit: ((ftl.layout.unit_bytes.min(ftl.layout.row_bytes())
                / (geometry.page_bytes / u64::from(words)))
            .max(1)) as u32,
            rates: Rates::new(config, ftl, streams),
            numbers: BySet::from_fn(ftl.layout.set_count(), |set| match ftl.layout.sets {
                None => streams.stream("errors.reads"),
                Some(_) => streams.stream(&format!("errors.reads.set-{}", set.0)),
            }),
            recoveries: Slab::default(),
            of_operation: Vec::new(),
            wrong: Vec::new(),
            counters: ErrorCounters::new(bits),
            lost_of_member: BTreeSet::new(),
            aside: Aside::default(),
            decay: decay::Columns::default(),
            last_re_reads: 0,
        }))
    }

    /// Forgets all reads under way, because the power is cut.
    pub fn begin_anew(&mut self) {
        self.recoveries = Slab::default();
        self.of_operation.clear();
    }
    /// The decay of a bin's blocks, as far as a policy of scrubbing needs it.
    pub fn decay(&mut self, ftl: &Ftl, now: Instant, bin: BinId, needs: Needs) -> Polled<'_> {
        self.decay.at((&mut self.rates, self.bits), (ftl, now), bin, needs)
    }
    pub fn counters(&self) -> &ErrorCounters {
        &self.counters
    }

    /// True if reads of hosts may have a read recovery level of their own.
    #[inline]
    pub fn has_levels(&self) -> bool {
        !self.levels.is_empty()
    }
    /// The read recovery level of a set.
    pub fn level_of(&self, set: SetId) -> RecoveryLevel {
        self.of_sets[set]
    }
    /// The policy of reads of a level.
    #[inline]
    fn policy_of(&self, level: RecoveryLevel) -> &ReadRecovery {
        self.levels.of(level).unwrap_or(&self.policy)
    }

    /// Re-reads of the read that goes to its owner now.
    pub fn last_re_reads(&self) -> u32 {
        self.last_re_reads
    }

    /// Reads for the first time: finds the codewords that cannot be decoded, and counts what was read.
    fn read(&mut self, ftl: &Ftl, now: Instant, read: &ReadOf) {
        self.wrong.clear();
        let mut worst = None;
        for (row, plane, words) in read.pages(&ftl.layout) {
            match self.fault((ftl, now), read.at, plane, row) {
                Some(fault) if !words.is_empty() => {
                    worst = worst.max(Some(fault));
                    self.find_faulty(words);
                }
                _ => self.read_page((ftl, now), read, [plane, row], words),
            }
        }
        if let Some(fault) = worst {
            self.counters.faulty[fault as usize][read.holder as usize] += 1;
        }
    }

    /// Reads the codewords of a page without a fault for the first time.
    #[inline]
    fn read_page(
        &mut self,
        (ftl, now): (&Ftl, Instant),
        read: &ReadOf,
        [plane, row]: [u32; 2],
        range: Range<u32>,
    ) {
        let words = range.end - range.start;
        let rate = self.rates.of(ftl, now, read.at, plane, row);
        self.counters.decoded_first(read.holder, rate, words);
        if read.is_wanted && words > 0 {
            self.counters.expected +=
                self.expected_units((ftl, now), read, [plane, row], (rate, words));
        }
        self.find_wrong(read.set, rate, words, range.start);
    }

    /// Adds the codewords of a page that cannot be decoded; `first` is the number of its first.
    #[inline]
    fn find_wrong(&mut self, set: SetId, rate: f64, words: u32, first: u32) {
        let Some(code) = &mut self.code else { return };
        let found = self.wrong.len();
        match self.counting {
            Counting::Drawn => {
                code.decode(rate, words, &mut self.numbers[set], &mut self.wrong);
            }
            Counting::Expected => {
                let errors = (f64::from(code.errors().bits()) * rate) as u32;
                if errors > code.corrects() {
                    self.wrong.extend((0..words).map(|word| Wrong { word, errors }));
                }
            }
        }
        self.wrong[found..].iter_mut().for_each(|wrong| wrong.word += first);
    }

    /// Decodes what a re-read has read: each error of a codeword that could not be decoded is kept
    /// with the same probability.
    fn decode_again(&mut self, id: RecoveryId) {
        let (recovery, scale) = (&mut self.recoveries[id], self.re_read_scale);
        let numbers = &mut self.numbers[recovery.set];
        let most = self.code.as_ref().map_or(u32::MAX, Code::corrects);
        for wrong in recovery.wrong.iter_mut().filter(|wrong| !wrong.is_faulty()) {
            wrong.errors = match self.counting {
                Counting::Drawn => thin(wrong.errors, scale, numbers),
                Counting::Expected => (f64::from(wrong.errors) / scale) as u32,
            };
            self.counters.decoded_again(wrong.errors);
        }
        recovery.wrong.retain(|wrong| wrong.is_faulty() || wrong.errors > most);
    }

    /// Decodes softly what could not be decoded.
    fn decode_softly(&mut self, id: RecoveryId) {
        let (_, code) = self.soft_decoder.as_ref().expect("the code has soft decoding");
        let most = code.corrects();
        self.recoveries[id].wrong.retain(|wrong| wrong.errors > most);
    }

    /// True if the data of a read is being rebuilt, so that its own operation is over.
    pub fn is_rebuilt(&self, op: OpId) -> bool {
        let recovery = self.recovery_of(op).map(|id| &self.recoveries[id]);
        recovery.is_some_and(|recovery| recovery.rebuild == Rebuild::UnderWay)
    }

    /// The recovery of an operation, if there is one.
    #[inline]
    fn recovery_of(&self, op: OpId) -> Option<RecoveryId> {
        self.of_operation.get(op.0 as usize).and_then(|id| id.get())
    }
}
