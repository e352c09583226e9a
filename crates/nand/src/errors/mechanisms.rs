//! The raw bit error rate as a sum of power laws. Source: equation 1 of [FAST19].

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Constants of the raw bit error rate: the rate of new flash, and what wear, retention and read
/// disturb add.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Mechanisms {
    /// Rate of new flash: ε.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub base: f64,
    /// Rate that program and erase cycles add.
    pub wear: Wear,
    /// Rate that time without power to the cell adds.
    pub retention: Retention,
    /// Rate that reads of the block add.
    pub disturb: Disturb,
}

/// Wear: `factor * cycles ^ exponent`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Wear {
    /// α.
    #[schemars(range(min = 0.0))]
    pub factor: f64,
    /// k.
    #[schemars(range(min = 0.0, max = 10.0))]
    pub exponent: f64,
}

/// Retention: `factor * cycles ^ cycles_exponent * days ^ days_exponent`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Retention {
    /// β.
    #[schemars(range(min = 0.0))]
    pub factor: f64,
    /// m.
    #[schemars(range(min = 0.0, max = 10.0))]
    pub cycles_exponent: f64,
    /// n.
    #[schemars(range(min = 0.0, max = 10.0))]
    pub days_exponent: f64,
}

/// Read disturb: `factor * cycles ^ cycles_exponent * reads ^ reads_exponent`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Disturb {
    /// γ.
    #[schemars(range(min = 0.0))]
    pub factor: f64,
    /// p.
    #[schemars(range(min = 0.0, max = 10.0))]
    pub cycles_exponent: f64,
    /// q.
    #[schemars(range(min = 0.0, max = 10.0))]
    pub reads_exponent: f64,
}

impl Mechanisms {
    /// The raw bit error rate of a block after `cycles` program and erase cycles, `days` after its
    /// first program, with `reads` pages sensed since its erase; at most 1.
    pub fn rate(&self, cycles: u32, days: f64, reads: u64) -> f64 {
        let of_cycles = self.of_cycles(cycles);
        of_cycles.rate(self.of_days(days), self.of_reads(reads))
    }

    /// The parts of the rate that depend on cycles.
    pub fn of_cycles(&self, cycles: u32) -> OfCycles {
        let cycles = f64::from(cycles);
        OfCycles {
            fixed: self.base + self.wear.factor * libm::pow(cycles, self.wear.exponent),
            retention: self.retention.factor * libm::pow(cycles, self.retention.cycles_exponent),
            disturb: self.disturb.factor * libm::pow(cycles, self.disturb.cycles_exponent),
        }
    }
    /// The part of retention that depends on time.
    #[inline]
    pub fn of_days(&self, days: f64) -> f64 {
        libm::pow(days, self.retention.days_exponent)
    }
    /// The part of read disturb that depends on reads.
    #[inline]
    pub fn of_reads(&self, reads: u64) -> f64 {
        libm::pow(reads as f64, self.disturb.reads_exponent)
    }
    /// Constants below 0 or not a number, by key.
    pub fn faults(&self) -> Vec<(&'static str, String)> {
        let Self { base, wear, retention, disturb } = self;
        [
            ("base", *base),
            ("wear.factor", wear.factor),
            ("wear.exponent", wear.exponent),
            ("retention.factor", retention.factor),
            ("retention.cycles_exponent", retention.cycles_exponent),
            ("retention.days_exponent", retention.days_exponent),
            ("disturb.factor", disturb.factor),
            ("disturb.cycles_exponent", disturb.cycles_exponent),
            ("disturb.reads_exponent", disturb.reads_exponent),
        ]
        .into_iter()
        .filter(|(_, value)| !(value.is_finite() && *value >= 0.0))
        .map(|(key, value)| {
            (key, format!("{value} is no constant of a rate; give a number of at least 0"))
        })
        .collect()
    }
}

/// The parts of a block's rate that follow from its cycles.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct OfCycles {
    /// The rate of new flash and of wear.
    pub fixed: f64,
    /// Factor of retention.
    pub retention: f64,
    /// Factor of read disturb.
    pub disturb: f64,
}

impl OfCycles {
    /// The raw bit error rate, from the parts that depend on time and on reads; at most 1.
    #[inline]
    pub fn rate(&self, of_days: f64, of_reads: f64) -> f64 {
        (self.fixed + self.retention * of_days + self.disturb * of_reads).min(1.0)
    }
}

#[cfg(test)]
mod tests {
    use crate::errors::Chip;
    use libm::pow;

    /// Bits of a codeword of 512 bytes.
    const BITS: f64 = 4096.0;

    /// The figures of the fact sheet, to the digits given there.
    #[test]
    fn expected_errors_of_tlc_are_those_of_the_paper() {
        let tlc = Chip::Tlc72Layer.mechanisms();
        let none = [(1_000, 8.32), (3_000, 27.5), (5_000, 67.2)];
        let thousand = [(1_000, 28.5), (3_000, 56.5), (5_000, 101.5)];
        for (reads, expected) in [(0, none), (1_000, thousand)] {
            for (cycles, errors) in expected {
                let got = BITS * tlc.rate(cycles, 0.0, reads);
                assert!((got - errors).abs() < 0.05, "{cycles} cycles, {reads} reads: {got}");
            }
        }
        assert!(BITS * tlc.rate(1_000, 0.0, 10_000) > 1_000.0);
    }

    #[test]
    fn expected_errors_of_both_mlc_are_those_of_the_paper() {
        let mlc = Chip::Mlc2yNm.mechanisms();
        for (reads, errors) in [(0, 1.3), (1_000, 2.0), (10_000, 3.4), (100_000, 7.6)] {
            let got = BITS * mlc.rate(10_000, 0.0, reads);
            assert!((got - errors).abs() < 0.05, "{reads} reads: {got}");
        }
        for (days, errors) in [(30.0, 3.0), (60.0, 18.6), (90.0, 68.1)] {
            let got = BITS * mlc.rate(10_000, days, 0);
            assert!((got - errors).abs() < 0.05, "{days} days: {got}");
        }
        let older = Chip::Mlc3xNm.mechanisms();
        for (reads, errors) in [(0, 0.6), (1_000, 0.6), (10_000, 1.8), (100_000, 33.0)] {
            let got = BITS * older.rate(50_000, 0.0, reads);
            assert!((got - errors).abs() < 0.06 * errors.max(1.0), "{reads} reads: {got}");
        }
    }

    /// Figure 3b of the paper: after a year the flash of 2y nm has lost everything. Days are the
    /// unit of time: hours or seconds would give other rates.
    #[test]
    fn a_year_of_retention_ruins_mlc_of_2y_nm_but_not_tlc() {
        assert_eq!(Chip::Mlc2yNm.mechanisms().rate(10_000, 365.0, 0), 1.0);
        let tlc = Chip::Tlc72Layer.mechanisms().rate(10_000, 365.0, 0);
        assert!((tlc - 0.069).abs() < 0.0005, "{tlc}");
    }

    #[test]
    fn the_parts_add_up_to_the_rate() {
        let tlc = Chip::Tlc72Layer.mechanisms();
        for (cycles, days, reads) in [(0, 0f64, 0), (1, 3.5, 17), (5_000, 40.0, 900)] {
            let (c, r) = (f64::from(cycles), reads as f64);
            let expected = 1.48e-3
                + 3.90e-10 * pow(c, 2.05)
                + 6.28e-5 * pow(c, 0.14) * pow(days, 0.54)
                + 3.73e-9 * pow(c, 0.33) * pow(r, 1.71);
            let got = tlc.rate(cycles, days, reads);
            assert!((got / expected - 1.0).abs() < 1e-12, "{got} {expected}");
        }
    }
}
