//! Counts of errors, re-reads and data that could not be read.

use metrics::{HOLDERS, Holder};
use nand::errors::{Binomial, Code, Fault};

/// Codewords that some reads decoded for the first time.
#[derive(Clone, Debug)]
pub struct FirstDecodes {
    /// Bits of a codeword.
    bits: u32,
    /// Codewords by the cell of their rate ([`Code::cell`]), and the sum of the places of their rates in
    /// the cell.
    cells: Vec<(u64, f64)>,
    /// Sum of their rates.
    rates: f64,
}

impl FirstDecodes {
    fn new(bits: u32) -> Self {
        Self { bits, cells: vec![(0, 0.0); Code::CELLS], rates: 0.0 }
    }
    #[inline]
    fn add(&mut self, rate: f64, words: u32) {
        let (cell, within) = Code::cell(rate);
        let (count, places) = &mut self.cells[cell];
        *count += u64::from(words);
        *places += f64::from(words) * within;
        self.rates += f64::from(words) * rate;
    }

    /// Number of codewords.
    pub fn codewords(&self) -> u64 {
        self.cells.iter().map(|(count, _)| count).sum()
    }
    /// Mean of their expected errors; `None` if none was decoded.
    pub fn mean_errors(&self) -> Option<f64> {
        let count = self.codewords();
        (count > 0).then(|| f64::from(self.bits) * self.rates / count as f64)
    }
    /// Expected number of codewords, by their errors: bit errors are drawn only for codewords that
    /// cannot be decoded, and this follows from the rates of all.
    pub fn by_errors(&self) -> Vec<f64> {
        let errors = Binomial::new(self.bits);
        let mut expected = vec![0.0; self.bits as usize + 1];
        for (cell, (count, places)) in self.cells.iter().enumerate() {
            if *count == 0 {
                continue;
            }
            // The two ends of a cell share its codewords so that their mean rate is right.
            for (rate, words) in
                [(Code::rate_of(cell), *count as f64 - places), (Code::rate_of(cell + 1), *places)]
            {
                errors.add_to(&mut expected, rate, words);
            }
        }
        expected
    }
    fn since(&self, earlier: &Self) -> Self {
        let cells = self.cells.iter().zip(&earlier.cells);
        Self {
            bits: self.bits,
            cells: cells.map(|(now, then)| (now.0 - then.0, now.1 - then.1)).collect(),
            rates: self.rates - earlier.rates,
        }
    }
}

/// Decoded codewords and their errors, and what recovery did.
#[derive(Clone, Debug)]
pub struct ErrorCounters {
    /// Codewords that reads of hosts decoded for the first time.
    pub host: FirstDecodes,
    /// Codewords that reads of the drive itself decoded for the first time.
    pub internal: FirstDecodes,
    /// Codewords decoded again, by their errors.
    again: Vec<u64>,
    /// Reads that could not be decoded at first, by the source of the read.
    pub undecoded: [u64; HOLDERS],
    /// Undecoded reads that met a fault, by the largest part that failed ([`Fault`]) and by the
    /// source of the read. A fault may also come while a read is being recovered.
    pub faulty: [[u64; HOLDERS]; Fault::ALL.len()],
    /// Re-reads, by the source of the read.
    pub re_reads: [u64; HOLDERS],
    /// Soft decodings, by the source of the read.
    pub soft_decodings: [u64; HOLDERS],
    /// Reads for whose data the rest of its stripe was read, by the source of the read.
    pub rebuilds: [u64; HOLDERS],
    /// Rebuilds that failed because another member could not be read, either, by the source of the
    /// read.
    pub rebuild_failures: [u64; HOLDERS],
    /// Reads of other members.
    pub read_for_rebuilds: u64,
    /// Mapping units that could not be read at all, by the source of the read.
    pub unrecovered: [u64; HOLDERS],
    /// Expected number of such units in reads of hosts, because of bit errors: the sum of their
    /// probabilities.
    pub expected: f64,
}

impl ErrorCounters {
    /// Counters of codewords of so many bits.
    pub fn new(bits: u32) -> Self {
        Self {
            host: FirstDecodes::new(bits),
            internal: FirstDecodes::new(bits),
            again: vec![0; bits as usize + 1],
            undecoded: [0; HOLDERS],
            faulty: [[0; HOLDERS]; Fault::ALL.len()],
            re_reads: [0; HOLDERS],
            soft_decodings: [0; HOLDERS],
            rebuilds: [0; HOLDERS],
            rebuild_failures: [0; HOLDERS],
            read_for_rebuilds: 0,
            unrecovered: [0; HOLDERS],
            expected: 0.0,
        }
    }
    /// Counts codewords that a read decodes for the first time.
    #[inline]
    pub fn decoded_first(&mut self, holder: Holder, rate: f64, words: u32) {
        let first = if holder == Holder::HostRead { &mut self.host } else { &mut self.internal };
        first.add(rate, words);
    }
    /// Counts a codeword that is decoded again.
    pub fn decoded_again(&mut self, errors: u32) {
        self.again[errors as usize] += 1;
    }
    /// Counts a step for a read of a source.
    pub fn count(of: &mut [u64; HOLDERS], holder: Holder) {
        of[holder as usize] += 1;
    }

    /// Codewords decoded for the first time, of all reads.
    pub fn first_decodes(&self) -> u64 {
        self.host.codewords() + self.internal.codewords()
    }
    /// Codewords decoded again.
    pub fn later_decodes(&self) -> u64 {
        self.again.iter().sum()
    }
    /// Mean of the expected errors at the first decode of a codeword, of all reads; `None` if none was
    /// decoded.
    pub fn mean_errors(&self) -> Option<f64> {
        let (count, rates) = (self.first_decodes(), self.host.rates + self.internal.rates);
        (count > 0).then(|| f64::from(self.host.bits) * rates / count as f64)
    }
    /// Codewords decoded again, by their errors.
    pub fn by_errors_again(&self) -> &[u64] {
        &self.again
    }
    /// Counts since `earlier`.
    pub fn since(&self, earlier: &Self) -> Self {
        let minus = |now: &[u64; HOLDERS], then: &[u64; HOLDERS]| {
            std::array::from_fn(|holder| now[holder] - then[holder])
        };
        let again = self.again.iter().zip(&earlier.again);
        Self {
            host: self.host.since(&earlier.host),
            internal: self.internal.since(&earlier.internal),
            again: again.map(|(now, then)| now - then).collect(),
            undecoded: minus(&self.undecoded, &earlier.undecoded),
            faulty: std::array::from_fn(|fault| minus(&self.faulty[fault], &earlier.faulty[fault])),
            re_reads: minus(&self.re_reads, &earlier.re_reads),
            soft_decodings: minus(&self.soft_decodings, &earlier.soft_decodings),
            rebuilds: minus(&self.rebuilds, &earlier.rebuilds),
            rebuild_failures: minus(&self.rebuild_failures, &earlier.rebuild_failures),
            read_for_rebuilds: self.read_for_rebuilds - earlier.read_for_rebuilds,
            unrecovered: minus(&self.unrecovered, &earlier.unrecovered),
            expected: self.expected - earlier.expected,
        }
    }
}
