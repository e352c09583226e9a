//! Random drives that limit the firmware's tasks: another random drive, without what the limit does not
//! support.

use super::case::Dice;
use super::superblocks::plain_collection;
use drive::check::check;
use drive::load;

/// The experiment with a limit of tasks, if it is sound then.
pub fn with_tasks(text: &str, dice: &mut Dice<'_>) -> Option<String> {
    let most = dice.of(&[1, 1, 2, 3, 8, 1_000_000]);
    let think = dice.of(&["", ", think = \"0 us\"", ", think = \"10 us\"", ", think = \"700 us\""]);
    let limited = |text: &str| {
        let mut with = text.to_owned();
        let begin = with.find("[drive.ftl]\n").expect("there is firmware") + "[drive.ftl]\n".len();
        with.insert_str(begin, &format!("tasks = {{ most = {most}{think} }}\n"));
        let (experiment, _) = load::load(&with, "case.toml", &[]).ok()?;
        check(&experiment).is_ok().then_some(with)
    };
    limited(text).or_else(|| limited(&plain_collection(text)))
}
