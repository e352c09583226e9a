//! Notes, in sentences, on facts about a run that its user often did not intend.

use super::recovery::cuts_between;
use crate::array::ArrayRun;
use crate::check::{Checked, note_on_faults};
use crate::device::OpKind;
use crate::experiment::Experiment;
use crate::measure::Measured;
use crate::precondition::Preconditioned;
use crate::recovery::Outage;
use crate::run::{Backlog, Run};
use engine::Instant;
use ftl::Ftl;
use metrics::Holder;
use serde_json::Value;
use settings::{counted, each, grouped};

/// Share of the counted time that may lie before the steady state.
const UNSETTLED: f64 = 0.05;

/// Number of slowest requests of which a note says how many a warm-up would leave out.
const SLOWEST: usize = 10;

/// Factor by which the erases of a time exceed its share of the run, from which leaving it out would
/// hide them.
const MORE_THAN_ITS_SHARE: f64 = 1.5;

/// Standard deviations by which the number of slowest requests in a time exceeds what chance puts there,
/// from which leaving it out would hide them: the 10 slowest may lie anywhere.
const MORE_THAN_CHANCE: f64 = 2.0;

/// Share of an open loop's requests that may be waiting when the last one arrives.
const BACKLOG: f64 = 0.05;

/// Share of them if latency rises over the run: then fewer show that requests come faster than the
/// drive serves them.
const BACKLOG_IF_LATENCY_RISES: f64 = 0.005;

/// Least number of waiting requests that a note mentions.
const BACKLOG_MIN: u64 = 64;

/// Verdicts that notes depend on.
#[derive(Clone, Copy)]
pub struct Judged<'a> {
    /// The verdicts on the steady state, as in the summary.
    pub steady: &'a Value,
    /// True if latency is not steady, and rises.
    pub latency_rises: bool,
}

/// The notes on a run whose measuring has ended.
pub fn notes(
    run: &Run,
    experiment: &Experiment,
    checked: &Checked,
    judged: Judged<'_>,
) -> Vec<String> {
    let mut notes = checked.notes.clone();
    if experiment.run.untimed {
        notes.push("the run took no time: there are no latencies, and what the drive's settings say of time had no effect".into());
        notes.extend(worn_out(run));
        return notes;
    }
    let measured = run.measured();
    notes.extend(super::starvation::note(run));
    notes.extend(nothing_counted(measured));
    notes.extend(cuts_to_come(run, experiment));
    notes.extend(super::failures::notes(run, experiment));
    notes.extend(note_on_faults(experiment, run.device().now() - Instant::START));
    notes.extend(super::scrub::note(run, experiment));
    notes.extend(super::windows::notes(std::iter::once(run.device()), experiment));
    notes.extend(no_erase(measured, &[run.device().ftl()], experiment));
    notes.extend(not_aged(&run.history().preconditioned));
    notes.extend(unsettled(measured, run.outages(), judged.steady));
    notes.extend(super::closed_loop::notes(measured, experiment, run.device()));
    notes.extend(overloads(run.backlogs(), judged.latency_rises));
    notes
}

/// The notes on a run of several drives, which were preconditioned like the first one.
pub fn of_array(
    run: &ArrayRun,
    experiment: &Experiment,
    checked: &Checked,
    judged: Judged<'_>,
) -> Vec<String> {
    let mut notes = checked.notes.clone();
    let measured = run.measured();
    let drives: Vec<&Ftl> = run.drives().devices.iter().map(|device| device.ftl()).collect();
    notes.extend(nothing_counted(measured));
    notes.extend(super::windows::notes(run.drives().devices.iter(), experiment));
    notes.extend(no_erase(measured, &drives, experiment));
    notes.extend(not_aged(&run.drives().histories[0].preconditioned));
    notes.extend(unsettled(measured, &[], judged.steady));
    notes.extend(super::closed_loop::notes(measured, experiment, &run.drives().devices[0]));
    notes.extend(overloads(run.backlogs(), judged.latency_rises));
    notes
}

/// Bytes in powers of ten with three digits, as results show them.
fn bytes_told(bytes: u64) -> String {
    let scale = ["B", "kB", "MB", "GB", "TB", "PB", "EB"];
    let mut place = 0;
    let mut amount = bytes as f64;
    while amount >= 999.5 && place + 1 < scale.len() {
        (amount, place) = (amount / 1e3, place + 1);
    }
    let digits = match amount {
        _ if place == 0 || amount.fract() == 0.0 => 0,
        amount if amount < 9.995 => 2,
        amount if amount < 99.95 => 1,
        _ => 0,
    };
    format!("{amount:.digits$} {}", scale[place])
}

fn worn_out(run: &Run) -> Option<String> {
    let bytes = run.worn_out()?;
    let bad = run.device().ftl().tally.retired;
    Some(format!(
        "the drive was worn out after {} had been asked for: {} {} bad, and there is no space for more data",
        bytes_told(bytes),
        counted(bad, "block"),
        each(bad, "is", "are"),
    ))
}

fn nothing_counted(measured: &Measured) -> Option<String> {
    let counted = measured.initiators().iter().flat_map(|initiator| initiator.kinds.iter());
    if counted.flatten().next().is_some() {
        return None;
    }
    Some(match measured.is_warm() {
        false => "the run ended before its warm-up was over: nothing was counted".into(),
        true => "no request was counted: none that arrived after the warm-up has completed".into(),
    })
}

fn cuts_to_come(run: &Run, experiment: &Experiment) -> Option<String> {
    let all = experiment.run.power_cut.as_ref()?.all().len();
    let came = run.outages().len();
    (came < all).then(|| {
        let of = |count: usize| counted(count as u64, "power cut");
        match (came, all) {
            (0, 1) => "the run ended before its power cut".into(),
            (0, _) => format!("the run ended before the first of its {}", of(all)),
            _ => format!("the run ended after {came} of its {}", of(all)),
        }
    })
}

fn no_erase(measured: &Measured, drives: &[&Ftl], experiment: &Experiment) -> Option<String> {
    let tally = measured.tally();
    let begun = measured.counters().commands(OpKind::Erase, Holder::Erase);
    if begun > 0 || tally.erases > 0 || tally.units.iter().sum::<u64>() == 0 {
        return None;
    }
    let was_new = drives.iter().all(|ftl| ftl.tally.erases == 0);
    Some(match was_new && experiment.precondition.age.is_none() {
        true => {
            "no garbage collection happened, before the run or in it: latencies are those of a new \
                 drive (precondition with fill and age brings it to a used state)"
                .into()
        }
        false => {
            "no block was erased while the run was counted: its tail has no erases, and its write \
                  amplification is not that of a longer run"
                .into()
        }
    })
}

fn not_aged(done: &Preconditioned) -> Option<String> {
    if done.steady != Some(false) {
        return None;
    }
    let amplification = match done.write_amplification {
        Some(amplification) => format!("was {amplification:.3} in its last window"),
        None => "could not be measured".into(),
    };
    Some(format!(
        "ageing ended with precondition.age.overwrites, before write amplification was steady: it {amplification}"
    ))
}

/// A note on figures that were not steady from the beginning of the counted time on. One warm-up leaves
/// out what comes before the later of them.
fn unsettled(measured: &Measured, outages: &[Outage], steady: &Value) -> Option<String> {
    let (begun, span) = (measured.begun_at(), measured.span());
    let share =
        |at: Instant| at.saturating_since(begun).as_ns() as f64 / span.as_ns().max(1) as f64;
    let figures = [("latency", "mean latency"), ("write_amplification", "write amplification")];
    let late: Vec<(Instant, &str)> = figures
        .into_iter()
        .filter_map(|(key, what)| Some((Instant::from_ns(steady[key]["from_ns"].as_u64()?), what)))
        .filter(|(at, _)| share(*at) > UNSETTLED)
        .collect();
    let at = late.iter().map(|(at, _)| *at).max()?;
    let what: Vec<&str> = late.iter().map(|(_, what)| *what).collect();
    // A warm-up would not leave out the disturbance by a power cut.
    let why = cuts_between(outages, begun, at).unwrap_or_else(|| warm_up(measured, at, share(at)));
    Some(format!(
        "{:.0} % of the counted time lies before {} {} steady, {:.3} s after the run's beginning; {why}",
        100.0 * share(at),
        what.join(" and "),
        each(what.len() as u64, "was", "were"),
        at.as_ns() as f64 / 1e9,
    ))
}

/// The effect of a warm-up until `at`, which lies after this share of the counted time, with what it
/// would leave out beside the beginning. It is no advice if it would hide the tail.
fn warm_up(measured: &Measured, at: Instant, share: f64) -> String {
    let slowest = measured.slowest();
    let slowest = &slowest[..slowest.len().min(SLOWEST)];
    let early = slowest.iter().filter(|(_, request)| request.arrived < at).count();
    let [erased, erases] = measured.observed().map_or([0, 0], |of| of.erases_until(at));
    let mut lost = Vec::new();
    if erased > 0 {
        lost.push(format!("{erased} of {}", counted(erases, "erase")));
    }
    if early > 0 {
        lost.push(format!("{early} of the {} slowest requests", slowest.len()));
    }
    let (rows, all) = (slowest.len() as f64, erases as f64);
    let by_chance = rows * share + MORE_THAN_CHANCE * (rows * share * (1.0 - share)).sqrt();
    let has_slowest = early as f64 > by_chance;
    let has_erases = erased as f64 > MORE_THAN_ITS_SHARE * share * all && erased as f64 > all / 4.0;
    if has_slowest || has_erases {
        let is_all = early == slowest.len() && erased == erases;
        return format!(
            "that time has {}, so a longer warm-up would hide {}",
            lost.join(" and "),
            if is_all { "the whole tail" } else { "a part of the tail" }
        );
    }
    let lost =
        if lost.is_empty() { String::new() } else { format!(", with {}", lost.join(" and ")) };
    match slowest.is_empty() {
        // Nothing tells when the tail happened.
        true => format!(
            "record.slowest = 10 would show if a longer warm-up, which would leave it out{lost}, hides a \
             part of the tail"
        ),
        false => format!("a longer warm-up would leave it out{lost}"),
    }
}

fn overloads<'a>(
    backlogs: impl Iterator<Item = (&'a str, Backlog)>,
    latency_rises: bool,
) -> Vec<String> {
    let share = if latency_rises { BACKLOG_IF_LATENCY_RISES } else { BACKLOG };
    let of = |(name, backlog): (&str, Backlog)| {
        let grows = backlog.at_last > backlog.at_half + backlog.at_half / 2;
        let is_large = backlog.at_last as f64 > share * backlog.arrived as f64;
        (grows && is_large && backlog.at_last >= BACKLOG_MIN).then(|| {
            format!(
                "overload: {} of the {} requests of \"{name}\" had not completed when the last one came, and the backlog grew throughout: the workload is overloaded, and percentiles reflect the run's length only",
                grouped(backlog.at_last),
                grouped(backlog.arrived),
            )
        })
    };
    backlogs.filter_map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::bytes_told;

    #[test]
    fn bytes_have_three_digits_in_powers_of_ten() {
        let told = [0, 999, 1_000, 1_920_000_000_000, 16_777_216, 999_600].map(bytes_told);
        assert_eq!(told, ["0 B", "999 B", "1 kB", "1.92 TB", "16.8 MB", "1.00 MB"]);
    }
}
