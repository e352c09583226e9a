//! Bit errors and their cost, as `summary.json` and the tables have them.

use crate::device::FirstDecodes;
use crate::measure::Measured;
use crate::run::Run;
use host::Kind;
use metrics::{HOLDERS, Holder};
use nand::errors::Fault;
use serde_json::{Map, Value, json};

/// Decoded codewords, repeated reads, and data that could not be read; null if flash has no errors.
pub fn of_run(run: &Run, measured: &Measured) -> Value {
    let Some(counters) = measured.errors() else { return Value::Null };
    let later = counters.later_decodes();
    let bits = 8 * bytes_read(measured);
    let failed = counters.unrecovered[Holder::HostRead as usize];
    // The loss of these is found by no read of a host, so it is in no rate of such reads.
    let moved: u64 =
        [Holder::GcRead, Holder::Scrub].iter().map(|of| counters.unrecovered[*of as usize]).sum();
    let over_bits = |units: f64| (bits > 0).then(|| units / bits as f64);
    json!({
        "first_decodes": {
            "codewords": counters.first_decodes(),
            "mean_errors": counters.mean_errors(),
            "host": of_reads(&counters.host),
            "internal": of_reads(&counters.internal),
        },
        "later_decodes": {
            "codewords": later,
            "mean_errors": (later > 0).then(|| mean(counters.by_errors_again(), later)),
        },
        "undecoded_reads": by_source(&counters.undecoded),
        // Those of them that met a fault of flash, by the largest part that had failed.
        "faulty_reads": Fault::ALL
            .into_iter()
            .map(|fault| (fault.name().into(), by_source(&counters.faulty[fault as usize])))
            .collect::<Map<_, _>>(),
        "re_reads": by_source(&counters.re_reads),
        "soft_decodings": by_source(&counters.soft_decodings),
        "rebuilds": by_source(&counters.rebuilds),
        "rebuild_failures": by_source(&counters.rebuild_failures),
        "reads_for_rebuilds": counters.read_for_rebuilds,
        "unrecovered_units": by_source(&counters.unrecovered),
        "poisoned_units": run.device().ftl().poisoned_units(),
        // Uncorrectable mapping units of host reads, per bit that hosts read.
        "uber": {
            "bits_read": bits,
            "units": failed,
            "moved_units": moved,
            "counted": over_bits(failed as f64),
            "expected_units": counters.expected,
            "expected": over_bits(counters.expected),
        },
    })
}

fn of_reads(first: &FirstDecodes) -> Value {
    json!({ "codewords": first.codewords(), "mean_errors": first.mean_errors() })
}

fn bytes_read(measured: &Measured) -> u64 {
    let reads = measured.kinds().filter(|(_, kind, _)| *kind == Kind::Read);
    reads.map(|(_, _, stats)| stats.bytes).sum()
}

fn mean(by_errors: &[u64], count: u64) -> f64 {
    let sum: u64 = by_errors.iter().zip(0..).map(|(words, errors)| words * errors).sum();
    sum as f64 / count as f64
}

fn by_source(counts: &[u64; HOLDERS]) -> Value {
    let named = Holder::ALL.into_iter().zip(counts).filter(|(_, count)| **count > 0);
    named.map(|(holder, count)| (holder.name().into(), json!(count))).collect::<Map<_, _>>().into()
}
