//! Random drives with NVM sets: another random drive that is cut, without what sets do not support, and
//! with a set for each of its workloads.

use super::case::Dice;
use super::superblocks::{plain_collection, without_lines};
use drive::load;

/// Cuts into parts of the channels and of the dies.
const CUTS: [[u64; 2]; 8] = [[2, 1], [1, 2], [4, 1], [2, 2], [3, 1], [1, 3], [1, 4], [3, 2]];

/// The experiment on a drive with sets, if it is sound then.
pub fn with_sets(text: &str, dice: &mut Dice<'_>) -> Option<String> {
    let (first, mut next, step) = (dice.below(8), dice.below(31), dice.below(3));
    // What a trace asks for may not fit into a set.
    if text.contains("trace = ") || text.contains("[workload.trace]") {
        return None;
    }
    let plain = plain_collection(text);
    let plain = without_lines(&plain, &["region = ", "parity = ", "superblock = ", "tasks = "]);
    let begin = plain.find("[drive.ftl]\n").expect("there is firmware") + "[drive.ftl]\n".len();
    (0..8).find_map(|turn| {
        let [channels, dies] = CUTS[((first + turn) % 8) as usize];
        let mut with = plain.clone();
        with.insert_str(begin, &format!("sets = {{ channels = {channels}, dies = {dies} }}\n"));
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
