//! Random drives with NVM sets: another random drive that is cut, without what sets do not support, and
//! with a set for each of its workloads.

use super::case::Dice;
use super::superblocks::without_lines;
use drive::{Experiment, Run, load};
use ftl::SetId;
use host::config::StopConfig;

/// Cuts into parts of the channels and of the dies.
const CUTS: [[u64; 2]; 8] = [[2, 1], [1, 2], [4, 1], [2, 2], [3, 1], [1, 3], [1, 4], [3, 2]];

/// The experiment on a drive with sets, if it is sound then.
pub fn with_sets(text: &str, dice: &mut Dice<'_>) -> Option<String> {
    let (first, mut next, step) = (dice.below(8), dice.below(31), dice.below(3));
    // What a trace asks for may not fit into a set.
    if text.contains("trace = ") || text.contains("[workload.trace]") {
        return None;
    }
    let plain = without_joins(text);
    let has_levels = plain.contains("\nread_recovery_levels = { 0 = ");
    let levels = [0; 31].map(|_| if has_levels { dice.of(&[4, 15, 0]) } else { 4 });
    let begin = plain.find("[drive.ftl]\n").expect("there is firmware") + "[drive.ftl]\n".len();
    (0..8).find_map(|turn| {
        let [channels, dies] = CUTS[((first + turn) % 8) as usize];
        let mut with = plain.clone();
        let levels = match has_levels {
            true => format!(", read_recovery_levels = {:?}", &levels[..(channels * dies) as usize]),
            false => String::new(),
        };
        let sets = format!("sets = {{ channels = {channels}, dies = {dies}{levels} }}\n");
        with.insert_str(begin, &sets);
        let mut cut = String::new();
        for line in with.lines() {
            cut.push_str(line);
            cut.push('\n');
            if line == "[[workload]]" {
                cut.push_str(&format!("nvm_set = {}\n", next % (channels * dies) + 1));
                next += step;
            }
        }
        load::load(&cut, "case.toml", &[]).is_ok().then_some(cut)
    })
}

/// The experiment without what does not know of sets.
pub fn without_joins(text: &str) -> String {
    let mut with = text.to_owned();
    for (begin, end) in [
        ("idle_gap = \"", ", "),
        ("at_once = {", "}, "),
        (", reserve_until = \"stop", "\""),
        ("background_begins = \"", ", "),
    ] {
        if let Some(from) = with.find(begin) {
            let from_end = from + begin.len();
            let to = from_end + with[from_end..].find(end).expect("it ends") + end.len();
            with.replace_range(from..to, "");
        }
    }
    for (joined, plain) in [
        ("blocking = \"channel\"", "blocking = \"plane\""),
        ("blocking = \"controller\"", "blocking = \"plane\""),
        ("partial_writes = \"plane\"", "partial_writes = \"controller\""),
    ] {
        with = with.replace(joined, plain);
    }
    without_lines(&with, &["region = ", "parity = ", "superblock = ", "rounds = "])
}

/// Requests of each workload of an experiment whose sets are compared.
const REQUESTS: u64 = 400;

/// The experiment with a link that takes no time and workloads that end by themselves, if its sets
/// share nothing then and several of them work.
pub fn apart(text: &str) -> Option<Experiment> {
    let (mut experiment, _) = load::load(text, "case.toml", &[]).ok()?;
    let dies = experiment.drive.ftl.sets.as_ref()?.dies;
    experiment.drive.link = Default::default();
    (experiment.run.requests, experiment.run.time, experiment.run.bytes) = (None, None, None);
    experiment.run.warm_up = None;
    experiment.run.power_cut = None;
    for workload in &mut experiment.workload {
        workload.stop = Some(StopConfig { time: None, requests: Some(REQUESTS), bytes: None });
    }
    let first = experiment.workload[0].nvm_set;
    let works = experiment.workload.iter().any(|workload| workload.nvm_set != first);
    (dies == 1 && works && drive::check::check(&experiment).is_ok()).then_some(experiment)
}

/// Compares what each set does beside the others with what it does alone. Returns the number of sets
/// that were compared; none if flash wore out or lost data.
///
/// # Errors
/// The set that does something else, and its digests.
pub fn compare(experiment: &Experiment) -> Result<u32, String> {
    let Some(beside) = to_its_end(experiment) else { return Ok(0) };
    let mut sets: Vec<u32> = experiment.workload.iter().filter_map(|of| of.nvm_set).collect();
    sets.sort_unstable();
    sets.dedup();
    for set in &sets {
        let mut own = experiment.clone();
        own.workload.retain(|workload| workload.nvm_set == Some(*set));
        let Some(alone) = to_its_end(&own) else { return Ok(0) };
        // The drive works on beside other sets after the last request of this one, so counts differ.
        let of = |run: &Run| run.device().digest_of(SetId(set - 1));
        if of(&alone) != of(&beside) {
            return Err(format!(
                "set {set}: {:016x} alone, {:016x} beside",
                of(&alone),
                of(&beside)
            ));
        }
    }
    Ok(sets.len() as u32)
}

/// The run, unless flash wore out or lost data.
fn to_its_end(experiment: &Experiment) -> Option<Run> {
    let surveys = vec![None; experiment.workload.len()];
    let mut run = Run::new(experiment, &surveys, &mut |_| true).ok()??;
    loop {
        match run.advance(1 << 12) {
            Ok(true) => {}
            Ok(false) => return Some(run),
            Err(_) => return None,
        }
    }
}
