//! Random sound experiments: a row of dice becomes the text of an experiment file. With every die
//! at zero it is the simplest drive with the simplest workload, so that a failing case shrinks
//! towards it.

use super::array::{with_array, with_leveling};
use super::faults::with_faults;
use super::pressure::with_pressure;
use super::scrubber::with_scrubber;
use super::sets::with_sets;
use super::subunits::with_subunits;
use super::superblocks::with_superblocks;
use super::tasks::with_tasks;
use super::windows::{with_thresholds, with_windows};
use drive::check::check;
use drive::load;
use std::fmt::Write;

/// Dice for each part of an experiment; a part that needs more starts again with the first.
pub const PART: usize = 24;
/// Parts: flash, firmware, collection, buffer, surroundings, precondition, run, three workloads,
/// and power.
const PARTS: usize = 11;
/// Dice that a case takes.
pub const DICE: usize = PART * PARTS;

/// The dice of one part.
pub struct Dice<'d> {
    dice: &'d [u32],
    next: usize,
}

impl<'d> Dice<'d> {
    /// Dice that are drawn in their order, and again from the first.
    pub fn new(dice: &'d [u32]) -> Self {
        Self { dice, next: 0 }
    }
    /// A number below `count`, evenly spread, and 0 for a die at zero.
    pub fn below(&mut self, count: u64) -> u64 {
        let die = self.dice[self.next % self.dice.len()];
        self.next += 1;
        (u64::from(die) * count) >> 32
    }
    pub fn between(&mut self, least: u64, most: u64) -> u64 {
        least + self.below(most - least + 1)
    }
    pub fn of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len() as u64) as usize]
    }
    /// True in one case of `cases`, never for a die at zero.
    pub fn once_in(&mut self, cases: u64) -> bool {
        self.below(cases) == cases - 1
    }
}

/// Facts about earlier parts that later parts need.
pub struct Shape {
    bins: u64,
    blocks: u64,
    /// Bytes of a page.
    pub page: u64,
    /// Bytes of a mapping unit.
    pub unit: u64,
    batch_units: u64,
    block_units: u64,
    /// Erases of a bin that may wait for each other.
    waiting_erases: u64,
    /// Levels that operations may go in rounds of; true for those that hold several units.
    rounds: Vec<(&'static str, bool)>,
    /// True if pages may stream between packages.
    may_stream: bool,
    /// True if each batch may be copied back.
    copies_all: bool,
    /// True if partial writes stay in their planes.
    modifies: bool,
    /// Bytes that the drive exports.
    pub exported: u64,
}

/// Writes an initiator, from its own dice, its name and its index.
pub type Initiate<'i> = dyn FnMut(&mut String, &mut Dice<'_>, &Shape, u64) + 'i;

/// The experiment that `dice` describe, as text.
pub fn experiment(dice: &[u32]) -> String {
    experiment_of(dice, &mut |text, dice, shape, index| {
        begin_workload(text, dice, index);
        workload(text, dice, shape);
    })
}

/// As [`experiment`], with initiators of the caller's.
pub fn experiment_of(dice: &[u32], initiate: &mut Initiate<'_>) -> String {
    let mut parts = dice.chunks(PART).map(Dice::new);
    let mut part = || parts.next().expect("there are dice for every part");
    let mut text = String::new();
    let shape = flash_and_firmware(&mut text, &mut part(), &mut part(), &mut part());
    buffer(&mut text, &mut part(), &shape);
    surroundings(&mut text, &mut part(), &shape);
    precondition(&mut text, &mut part(), &shape);
    let mut run = part();
    let initiators = run.between(1, 3);
    for index in 0..initiators {
        initiate(&mut text, &mut part(), &shape, index);
    }
    writeln!(text, "[run]\nrequests = {}\naudit = true", run.between(20, 1500)).unwrap();
    if run.once_in(4) {
        writeln!(text, "time = \"{} ms\"", run.between(1, 200)).unwrap();
    }
    if run.once_in(4) {
        writeln!(text, "warm_up = {{ requests = {} }}", run.between(1, 100)).unwrap();
    }
    let records = run.once_in(3);
    let mut power = Dice::new(&dice[(PARTS - 1) * PART..]);
    if text.contains("\nparity = ") {
        detours(&mut text, &mut power);
        tolerate(&mut text, &mut power);
        fail(&mut text, &mut power);
    } else if power.once_in(3) {
        // The power is not cut after the run.
        let kinds = if text.contains("\ntime = ") { 2 } else { 3 };
        let cut = |dice: &mut Dice<'_>| match dice.below(kinds) {
            0 => format!("{{ after_events = {} }}", dice.below(4_000)),
            1 => format!("{{ at = \"{} us\" }}", dice.below(1_000)),
            _ => format!("{{ within = \"{} us\" }}", dice.of(&[300, 5_000, 40_000, 900_000])),
        };
        let count = power.between(1, 3);
        let cuts: Vec<String> = (0..count).map(|_| cut(&mut power)).collect();
        writeln!(text, "power_cut = [{}]", cuts.join(", ")).unwrap();
        recovery(&mut text, &mut power);
    }
    if power.once_in(2) {
        try_with(&mut text, "\ndecode = ", "\ncopy_back_pages = \"odd-even\"\ndecode = ");
    }
    errors(&mut text, &mut power);
    if records {
        writeln!(text, "[record]\ncollection = true").unwrap();
    }
    if power.once_in(4)
        && let Some(with) = with_superblocks(&text, shape.exported, &mut power)
    {
        text = with;
    }
    if power.once_in(3)
        && let Some(with) = with_scrubber(&text, &mut power)
    {
        text = with;
    }
    if power.once_in(4)
        && let Some(with) = with_tasks(&text, &mut power)
    {
        text = with;
    }
    if power.once_in(2)
        && let Some(with) = with_faults(&text, &mut power)
    {
        text = with;
    }
    if power.once_in(4)
        && let Some(with) = with_sets(&text, &mut power)
    {
        text = with;
    }
    if power.once_in(4)
        && let Some(with) = with_windows(&text, &mut power)
    {
        text = with;
    }
    if power.once_in(4)
        && let Some(with) = with_array(&text, &mut power)
    {
        text = with;
    }
    // Sets and windows are for a host that wants reads first.
    let cases = if text.contains("\nsets = {") || text.contains("\nwindows = {") { 2 } else { 4 };
    if power.once_in(cases)
        && let Some(with) = with_pressure(&text, &mut power)
    {
        text = with;
    }
    with_thresholds(&mut text, &mut power);
    if text.starts_with("array = {")
        && power.once_in(3)
        && let Some(with) = with_leveling(&text, &mut power)
    {
        text = with;
    }
    if power.once_in(3)
        && let Some(with) = with_subunits(&text, shape.unit, &mut power)
    {
        text = with;
    }
    text
}

/// Gives flash bit errors, from few to more than can be read, if the drive can have them.
fn errors(text: &mut String, dice: &mut Dice<'_>) {
    if !dice.once_in(2) {
        return;
    }
    let chip = dice.of(&["tlc-72-layer", "mlc-2y-nm", "mlc-3x-nm"]);
    let (cycles, corrects) =
        (dice.of(&[0, 3_000, 20_000, 200_000]), dice.of(&[0, 4, 75, 120, 400]));
    let counting = dice.of(&["drawn", "drawn", "expected"]);
    let spread = dice.of(&["", ", spread = { blocks = \"30 %\", pages = \"20 %\" }"]);
    let softly = match dice.below(3) {
        2 => format!(
            ", soft_decoding = {{ corrects = {}, senses = {}, decode = \"20 us\" }}",
            corrects + 50,
            dice.between(1, 4)
        ),
        _ => String::new(),
    };
    let errors = format!(
        "\nerrors = {{ chip = \"{chip}\", codeword = \"512 B\", corrects = {corrects}, \
         counting = \"{counting}\", re_read_scale = 2.0, initial_cycles = {cycles}{softly}{spread} }}"
    );
    let mut with = text.replacen("\ndecode = ", &format!("{errors}\ndecode = "), 1);
    if !softly.is_empty() || dice.once_in(2) {
        let policy =
            format!("read_recovery = {{ policy = \"ladder\", re_reads = {} }}\n", dice.below(5));
        let begin = with.find("[drive.ftl]\n").expect("there is firmware") + "[drive.ftl]\n".len();
        with.insert_str(begin, &policy);
    }
    if is_sound(&with) {
        *text = with;
    }
}

/// Lets collections of a drive with parity take turns, and reads go round them, or not.
fn detours(text: &mut String, dice: &mut Dice<'_>) {
    let rotation = dice.of(&["", "", "rotating", "dynamic"]);
    if !rotation.is_empty() && !text.contains("\nrounds = {") {
        let begin = text.find("[drive.scheduler]\n").expect("there is a scheduler");
        let rotation = format!("rotation = \"{rotation}\"\n");
        text.insert_str(begin + "[drive.scheduler]\n".len(), &rotation);
    }
    let convert = dice.of(&["", "", "profitable", "always", "always"]);
    if convert.is_empty() {
        return;
    }
    let mut with = text.clone();
    if let Some(begin) = with.find("\nread_routing = ") {
        let line = with[begin + 1..].find('\n').expect("it ends");
        with.replace_range(begin..begin + 1 + line, "");
    }
    let begin = with.find("[drive.scheduler]\n").expect("there is a scheduler");
    let routing =
        format!("read_routing = {{ policy = \"reconstruct\", convert = \"{convert}\" }}\n");
    with.insert_str(begin + "[drive.scheduler]\n".len(), &routing);
    // Pools that share flash units with their neighbours do not allow it.
    let useless = |fault: String| fault.contains("no read can go round");
    let loaded = load::load(&with, "case.toml", &[]).map_err(|problems| problems.to_string());
    if !loaded.err().is_some_and(useless) {
        *text = with;
    }
}

/// Lets updates of stripes end without units that collection holds, if the drive can do that.
fn tolerate(text: &mut String, dice: &mut Dice<'_>) {
    let can = ["durability = \"capacitor\"", "preemptible = false"];
    if can.iter().all(|line| text.contains(line)) && dice.once_in(2) {
        let key = "\nparity = { ";
        let begin = text.find(key).expect("data has parity") + key.len();
        text.insert_str(begin, "flush = \"gc-tolerant\", ");
    }
}

/// Lets flash of a drive with parity fail, unless the drive's pools do not allow it.
fn fail(text: &mut String, dice: &mut Dice<'_>) {
    if !dice.once_in(2) {
        return;
    }
    let rebuild = match dice.below(4) {
        0 => "\"none\"".to_owned(),
        1 => {
            let rate = dice.between(64, 100_000);
            format!("{{ policy = \"background\", rate = \"{rate} KiB/s\" }}")
        }
        _ => format!("{{ policy = \"background\", at_once = {} }}", dice.between(1, 9)),
    };
    let latest = dice.of(&[0, 500, 3_000, 20_000, 100_000]);
    let what = dice.of(&["plane", "plane", "die", "channel"]);
    let (at, number) = (dice.below(latest + 1), dice.below(4));
    let mut with = text.clone();
    for (key, value) in [
        ("\nparity = { ", format!("rebuild = {rebuild}, ")),
        ("\n[run]\n", format!("failures = [{{ at = \"{at} us\", {what} = {number} }}]\n")),
    ] {
        let begin = with.find(key).expect("data has parity, and there is a run") + key.len();
        with.insert_str(begin, &value);
    }
    if is_sound(&with) {
        *text = with;
    }
}

fn is_sound(text: &str) -> bool {
    load::load(text, "case.toml", &[]).is_ok_and(|(experiment, _)| check(&experiment).is_ok())
}

/// Replaces a text, if the experiment is sound then.
fn try_with(text: &mut String, old: &str, new: &str) {
    let with = text.replacen(old, new, 1);
    if with != *text && is_sound(&with) {
        *text = with;
    }
}

/// Writes the settings of a drive's recovery.
pub fn recovery(text: &mut String, dice: &mut Dice<'_>) {
    if let Some(begin) = text.find("\nparity = ") {
        // With parity there is no recovery.
        let line = text[begin + 1..].find('\n').expect("it ends");
        text.replace_range(begin..begin + 1 + line, "");
    }
    let checkpoint = match dice.below(2) {
        0 => format!("every = \"{} us\"", dice.between(50, 20_000)),
        _ => format!("units = {}", dice.between(1, 500)),
    };
    let map = match dice.below(5) {
        0..=1 => "\"scan\"".to_owned(),
        2..=3 => format!("{{ policy = \"checkpoint\", {checkpoint} }}"),
        _ => "\"persistent\"".to_owned(),
    };
    let trims = match map.contains("persistent") {
        true => "logged",
        false if text.contains("partial_writes = \"plane\"") => "logged",
        false => dice.of(&["logged", "volatile"]),
    };
    writeln!(text, "[drive.recovery]\nmap = {map}\ntrims = \"{trims}\"").unwrap();
}

const LEVELS: [&str; 5] = ["plane", "plane-pair", "die", "package", "channel"];

fn flash_and_firmware(
    text: &mut String,
    flash: &mut Dice<'_>,
    firmware: &mut Dice<'_>,
    gc: &mut Dice<'_>,
) -> Shape {
    let [channels, packages, dies] = [4, 2, 2].map(|most| flash.between(1, most));
    let planes: u64 = flash.of(&[1, 2, 4, 3]);
    let blocks = flash.between(12, 40);
    let pages = flash.between(2, 16);
    let page = flash.of(&[4096, 8192, 16384]);
    let spare = flash.of(&[0, 128, 1024]);
    writeln!(
        text,
        "[drive.geometry]\nchannels = {channels}\npackages_per_channel = {packages}\n\
         dies_per_package = {dies}\nplanes_per_die = {planes}\nblocks_per_plane = {blocks}\n\
         pages_per_block = {pages}\npage_size = \"{page} B\"\npage_spare = \"{spare} B\""
    )
    .unwrap();

    let has_gang = channels.is_multiple_of(2) && flash.once_in(3);
    let control = flash.of(&["asynchronous", "asynchronous", "synchronous"]);
    if has_gang {
        writeln!(text, "gang = {{ channels = 2, control = \"{control}\" }}").unwrap();
    }
    // Synchronous channels are one channel with larger pages.
    let are_one = has_gang && control == "synchronous";
    let has_gang = has_gang && !are_one;
    let (channels, page) = if are_one { (channels / 2, page * 2) } else { (channels, page) };
    let block_planes = {
        let divisors: Vec<u64> =
            (1..=planes).filter(|count| planes.is_multiple_of(*count)).collect();
        flash.of(&divisors)
    };
    let planes_in = [1, 2, planes, planes * dies, planes * dies * packages];
    let levels_from = |least: u64| -> Vec<usize> {
        let fits =
            |level: &usize| (*level != 1 || planes.is_multiple_of(2)) && planes_in[*level] >= least;
        (0..LEVELS.len()).filter(fits).collect()
    };
    let levels = [1, block_planes, block_planes].map(|least| flash.of(&levels_from(least)));
    let [read, program, erase] = levels.map(|level| LEVELS[level]);
    let in_units = levels.map(|level| planes_in[level]);
    writeln!(
        text,
        "[drive.concurrency]\nread = \"{read}\"\nprogram = \"{program}\"\nerase = \"{erase}\""
    )
    .unwrap();
    nand(text, flash);

    let row = page * block_planes;
    let units: Vec<u64> = [page, page / 2, page / 4, row, row / 2, row * 2, row * 4, row * pages]
        .into_iter()
        .filter(|unit| page.is_multiple_of(*unit) || unit.is_multiple_of(page))
        .filter(|unit| {
            row.is_multiple_of(*unit)
                || (unit.is_multiple_of(row) && pages.is_multiple_of(unit / row))
        })
        .collect();
    let unit = firmware.of(&units);
    let batch_units = (row / unit).max(1);
    let summary_page = unit <= row && pages > 2 && firmware.once_in(4);
    let block_units = (pages - u64::from(summary_page)) * row / unit;
    let pools: &[&str] = match has_gang {
        true => &["gang"],
        false => &["drive", "plane", "die", "package", "channel"],
    };
    let pool = firmware.of(pools);
    // A bin is no larger than its pool, nor than any unit.
    const BINS: [(&str, usize); 4] = [("plane", 0), ("die", 2), ("package", 3), ("channel", 4)];
    let most = BINS.iter().find(|(name, _)| *name == pool).map_or(4, |(_, level)| *level);
    let fits = |(_, level): &&(&str, usize)| {
        *level == 0 || *level <= most && planes_in[*level] <= *in_units.iter().min().unwrap()
    };
    let of_bins: Vec<_> = BINS.iter().filter(fits).collect();
    let (bin, level) = **firmware.of(&of_bins.iter().collect::<Vec<_>>());
    let homes = (planes_in[level] / block_planes).max(1);
    let bins = channels * packages * dies * planes / block_planes / homes;
    let blocks = blocks * homes;
    let mut shape = Shape {
        bins,
        blocks,
        page,
        unit,
        batch_units,
        block_units,
        waiting_erases: 0,
        rounds: levels_from(*in_units.iter().max().unwrap())
            .into_iter()
            .map(|level| (LEVELS[level], planes_in[level] > *in_units.iter().min().unwrap()))
            .chain(has_gang.then_some(("gang", true)))
            .collect(),
        may_stream: {
            let packages_of_pool = match pool {
                "drive" => channels * packages,
                "gang" => 2 * packages,
                "channel" => packages,
                _ => 1,
            };
            packages_of_pool > 1 && unit <= row && !levels.contains(&4)
        },
        copies_all: homes == 1,
        exported: 0,
        modifies: batch_units == 1 && homes == 1 && firmware.once_in(3),
    };

    let order = firmware.of(&["CWDP", "PDWC", "WCPD", "DPCW", "CDPW"]);
    let choice = firmware.of(&["round-robin", "least-queued", "most-free"]);
    let streams = firmware.of(&["separate", "shared"]);
    let free_block = firmware.of(&["least-worn", "fifo", "next-fit"]);
    let stripe = match firmware.below(4) {
        3 if pool != "drive" => format!("stripe = \"{} B\", ", unit * firmware.between(1, 9)),
        _ => String::new(),
    };
    let factory = firmware.of(&[0, 0, 0, 1, 3]);
    let grown = firmware.of(&["0", "0", "0", "0.01", "0.1", "1"]);
    let partial_writes = if shape.modifies { "plane" } else { "controller" };
    writeln!(
        text,
        "[drive.ftl]\nunit = \"{unit} B\"\nblock_planes = {block_planes}\n\
         summary_page = {summary_page}\npartial_writes = \"{partial_writes}\"\n\
         bad_blocks = {{ factory = \"{factory} %\", grown_per_erase = \"{grown} %\" }}\n\
         allocation = {{ pool = \"{pool}\", bin = \"{bin}\", {stripe}order = \"{order}\", choice = \"{choice}\", \
         streams = \"{streams}\", free_block = \"{free_block}\" }}"
    )
    .unwrap();

    let stop = collection(text, gc, &mut shape);
    // As `check` counts: blocks that are bad, open, or free above the stop threshold.
    let bad = blocks as f64 * factory as f64 / 100.0;
    let bad = (bad + 3.0 * bad.sqrt()) as u64;
    let open = if streams == "shared" { 1 } else { 2 };
    let most = blocks.saturating_sub(bad + open + stop + 1).max(1);
    let data = shape.bins
        * (most * shape.block_units)
            .min((most + 1) * (shape.block_units - shape.batch_units + 1) - 1);
    let tightness = firmware.between(40, 105).min(100);
    let all = data * tightness / 100;
    let physical = blocks * bins * block_units * unit;
    let pools = match pool {
        "drive" => 1,
        "gang" | "channel" => channels / if pool == "gang" { 2 } else { 1 },
        "package" => channels * packages,
        "die" => channels * packages * dies,
        _ => bins,
    };
    let width = parity_width(gc, pools);
    // Units of updates may be on flash twice, and pools may differ by the units of a stripe.
    let twice = shape.bins * (8 * shape.batch_units + 2 + 8 + 9);
    let (all, parity) = match width {
        Some(width) if partial_writes == "controller" && all > twice => (all - twice, Some(width)),
        _ => (all, None),
    };
    if let Some(width) = parity {
        let xor = gc.of(&["", ", xor = \"3 us\""]);
        writeln!(text, "parity = {{ width = {width}{xor} }}").unwrap();
    }
    let exported = match parity {
        Some(width) => (all / width * (width - 1)).max(1) * unit,
        None => all.max(1) * unit,
    };
    shape.exported = exported;
    let exported_with_parity = all.max(1) * unit;
    let key = match firmware.below(4) {
        2 => format!(
            "reserved = \"{:.6} %\"",
            100.0 * (1.0 - exported_with_parity as f64 / physical as f64)
        ),
        3 => format!(
            "spare = \"{:.6} %\"",
            100.0 * (physical as f64 / exported_with_parity as f64 - 1.0)
        ),
        _ => format!("exported = \"{exported} B\""),
    };
    writeln!(text, "over_provisioning = {{ {key} }}").unwrap();
    if !text.contains("endurance = 0\n") && firmware.once_in(2) {
        let ages = [
            "retirement_age = \"99 %\"",
            "retirement_age = \"85 %\", age_variance = \"20 %\"",
            "age_variance = \"2 %\"",
            "age_variance = \"2 %\", rate_window = \"10 %\"",
        ];
        writeln!(text, "wear = {{ {} }}", firmware.of(&ages)).unwrap();
    }
    if block_planes > 1 && firmware.once_in(3) {
        writeln!(text, "erase_planes = 1").unwrap();
    }
    shape
}

/// Members of a stripe, if data has parity.
fn parity_width(dice: &mut Dice<'_>, pools: u64) -> Option<u64> {
    let widths: Vec<u64> =
        (2..=pools.min(64)).filter(|width| pools.is_multiple_of(*width)).collect();
    (!widths.is_empty() && dice.once_in(3)).then(|| dice.of(&widths))
}

fn nand(text: &mut String, dice: &mut Dice<'_>) {
    let (cell, bits) = dice.of(&[("slc", 1), ("mlc", 2), ("tlc", 3), ("qlc", 4)]);
    let mut times = |least: u64, most: u64| {
        let count = if dice.once_in(2) { bits } else { 1 };
        let list: Vec<_> =
            (0..count).map(|_| format!("\"{} us\"", dice.between(least, most))).collect();
        list.join(", ")
    };
    let (read, program) = (times(10, 80), times(50, 900));
    let steps = dice.between(1, 5);
    let execute = dice.between(100, 900);
    let [ramp, recover, verify] = [0; 3].map(|_| dice.of(&[0, 1, 30, 150]));
    let decode = dice.of(&[0, 3, 40]);
    let channel = dice.of(&["100 MB/s", "40 MB/s", "1600 MT/s", "4800 MT/s"]);
    let endurance = dice.of(&[0, 0, 0, 1000, 20]);
    writeln!(
        text,
        "[drive.nand]\ncell = \"{cell}\"\nread = [{read}]\nprogram = [{program}]\n\
         erase = {{ steps = {steps}, ramp = \"{ramp} us\", execute = \"{execute} us\", \
         recover = \"{recover} us\", verify = \"{verify} us\" }}\ndecode = \"{decode} us\"\n\
         channel = \"{channel}\"\nendurance = {endurance}"
    )
    .unwrap();
}

/// Writes the collection's settings; returns the stop threshold in blocks.
fn collection(text: &mut String, dice: &mut Dice<'_>, shape: &mut Shape) -> u64 {
    let victim = match dice.below(7) {
        0 => "\"greedy\"".to_owned(),
        1 => "\"cost-benefit\"".to_owned(),
        2 => "\"random\"".to_owned(),
        3 => "\"fifo\"".to_owned(),
        4 => format!("{{ policy = \"windowed-greedy\", window = {} }}", dice.between(1, 12)),
        _ => format!(
            "{{ policy = \"d-choices\", choices = {}, among = \"{}\" }}",
            dice.between(1, 12),
            dice.of(&["gaining", "all"])
        ),
    };
    let foreground = dice.between(1, 3);
    let background = foreground + dice.below(3);
    let stop = background + dice.below(3);
    let form = dice.below(5);
    let percent = |blocks: u64| match form {
        // It may be a part of a block, but no less than a page.
        4 => blocks - 1 + 100u64.div_ceil(shape.blocks * shape.block_units),
        _ => (100 * blocks).div_ceil(shape.blocks),
    };
    let threshold = |blocks: u64| match form {
        2 => format!("{} % of blocks", percent(blocks)),
        3 | 4 => format!("{} % of pages", percent(blocks)),
        _ => format!("{blocks} blocks"),
    };
    let pages = |count: u64| percent(count) * shape.blocks * shape.block_units / 100;
    let in_blocks = |count: u64| match form {
        2 => percent(count) * shape.blocks / 100,
        3 | 4 => pages(count).div_ceil(shape.block_units),
        _ => count,
    };
    shape.waiting_erases = match form {
        // The drive may round a threshold down by one.
        3 | 4 => (pages(stop) - pages(foreground)).saturating_sub(1).div_ceil(shape.block_units),
        _ => in_blocks(stop) - in_blocks(foreground),
    };
    let idle_gap = match dice.below(3) {
        2 => format!("idle_gap = \"{} us\", ", dice.of(&[0, 100, 2000])),
        _ => String::new(),
    };
    let least_gain = match dice.below(4) {
        0 if stop > foreground || !idle_gap.is_empty() => {
            format!("least_gain = \"{} % of pages\", ", dice.between(1, 100))
        }
        1 if stop > foreground || !idle_gap.is_empty() => {
            format!(
                "least_gain = \"{} pages\", ",
                dice.between(1, (shape.block_units * shape.unit / shape.page).max(1))
            )
        }
        _ => String::new(),
    };
    let preemptible = dice.of(&[
        "true",
        "false",
        "false, reserve_until = \"stop\"",
        "false, reserve_until = \"copied\"",
    ]);
    let blocking = match (preemptible, dice.below(4)) {
        ("true", _) | (_, 0 | 1) => "plane",
        (_, 2) => "channel",
        _ => "controller",
    };
    let at_once = match (blocking, dice.below(6)) {
        ("plane", 0) => "at_once = { channel = 1 }, ",
        ("plane", 1) => "at_once = { channel = 2, drive = 3 }, ",
        ("plane" | "channel", 2) => "at_once = { drive = 1 }, ",
        _ => "",
    };
    let copy_back = match dice.of(&["false", "true", "true, copy_back_most = 2"]) {
        "true" if shape.modifies => "false, copy_back_most = 1",
        copy_back => copy_back,
    };
    let may_wait = blocking != "controller" && !preemptible.contains("stop");
    let background_begins = match background > foreground && may_wait && dice.once_in(4) {
        true => "background_begins = \"quiet-channel\", ",
        false => "",
    };
    let window = dice.between(1, 4);
    let may_stream = shape.may_stream
        && (copy_back.starts_with("false") || !shape.copies_all)
        && !shape.modifies;
    let streaming = may_stream && blocking == "plane" && dice.once_in(2);
    if streaming || blocking != "plane" || !at_once.is_empty() {
        shape.rounds.clear();
    }
    let pacing = match dice.of(&["none", "proportional", "host-rate"]) {
        "host-rate" if background == foreground || !background_begins.is_empty() => "proportional",
        pacing => pacing,
    };
    writeln!(
        text,
        "gc = {{ victim = {victim}, background = \"{}\", foreground = \"{}\", stop = \"{}\", {idle_gap}{least_gain}{at_once}{background_begins}\
         blocking = \"{blocking}\", preemptible = {preemptible}, copy_back = {copy_back}, streaming = {streaming}, window = {window}, \
         pacing = \"{pacing}\" }}",
        threshold(background),
        threshold(foreground),
        threshold(stop),
    )
    .unwrap();
    // Collection in the background may end early.
    if least_gain.is_empty() { in_blocks(stop) } else { in_blocks(dice.of(&[foreground, stop])) }
}

fn buffer(text: &mut String, dice: &mut Dice<'_>, shape: &Shape) {
    let durability = match dice.of(&["volatile", "none", "capacitor"]) {
        _ if shape.modifies => "none",
        durability => durability,
    };
    let batch = shape.batch_units * shape.unit;
    let size = batch * dice.between(1, 8) + shape.unit * dice.below(3);
    let flush = match dice.below(2) {
        1 if durability != "none" => {
            let (high, low) = dice.of(&[(50, 10), (100, 0), (90, 80), (1, 0)]);
            format!("{{ policy = \"watermark\", high = \"{high} %\", low = \"{low} %\" }}")
        }
        _ => "\"eager\"".to_owned(),
    };
    let order = if durability == "none" { "fifo" } else { dice.of(&["fifo", "lru"]) };
    let latency = dice.of(&[1, 0, 10]);
    let programs = dice.between(1, 4);
    let read_hits = dice.of(&[true, false]);
    writeln!(
        text,
        "[drive.buffer]\ndurability = \"{durability}\"\nsize = \"{size} B\"\n\
         latency = \"{latency} us\"\nflush = {flush}\norder = \"{order}\"\n\
         read_hits = {read_hits}"
    )
    .unwrap();
    if durability != "none" {
        writeln!(text, "programs_per_bin = {programs}").unwrap();
    }
    if latency > 0 && dice.once_in(3) {
        writeln!(text, "serial = true").unwrap();
    }
    if dice.once_in(3) {
        writeln!(text, "partial_after = \"{} us\"", dice.of(&[0, 50, 3000])).unwrap();
    }
}

/// Writes the settings of the suspension of erases, or programs, or both.
fn suspension(text: &mut String, dice: &mut Dice<'_>, waiting_erases: u64) {
    // The shortest erase takes 100 us, and the shortest program 50: any deadline may be missed.
    let routing = match dice.of(&["suspend", "suspend", "20 us", "0 s", "49 us"]) {
        "suspend" => "\"suspend\"".to_owned(),
        within => format!("{{ policy = \"deadline\", within = \"{within}\" }}"),
    };
    writeln!(text, "read_routing = {routing}").unwrap();
    if waiting_erases > 0 && dice.once_in(3) {
        let quiet = dice.between(1, 900);
        let most = match dice.between(1, waiting_erases) {
            1 => String::new(),
            most => format!(", most = {most}"),
        };
        writeln!(text, "erase_batching = {{ quiet = \"{quiet} us\"{most} }}").unwrap();
    }
    let of_erases = dice.below(3) > 0;
    if of_erases {
        let steps = (1..6).find(|steps| text.contains(&format!("steps = {steps},")));
        suspends(text, dice, "suspension", steps.expect("erases have steps"));
    }
    if !of_erases || dice.once_in(2) {
        let steps = dice.of(&[2, 3, 7]);
        suspends(text, dice, "program_suspension", steps);
        let [ramp, recover, verify] = [0; 3].map(|_| dice.of(&[0, 1, 2]));
        writeln!(
            text,
            "[drive.nand.program_steps]\nsteps = {steps}\nramp = \"{ramp} us\"\n\
             recover = \"{recover} us\"\nverify = \"{verify} us\""
        )
        .unwrap();
    }
}

fn suspends(text: &mut String, dice: &mut Dice<'_>, key: &str, steps: u64) {
    let policies = ["es", "ideal-es", "i-es", "t-es", "t-es, ", "t-es, after", "d-es", "d-es"];
    let count = if steps > 1 { 8 } else { 6 };
    let policy = policies[dice.below(count) as usize];
    let policy = match policy {
        "t-es, " => "t-es\", after = \"0 s".to_owned(),
        "t-es, after" => format!("t-es\", after = \"{} us", dice.between(1, 5_000)),
        policy => policy.to_owned(),
    };
    writeln!(text, "{key} = {{ policy = \"{policy}\" }}").unwrap();
    if dice.once_in(2) {
        let by = dice.of(&["host-reads", "reads"]);
        // No more than there are safe points.
        let most = match dice.below(steps.max(2)) {
            0 => String::new(),
            most => format!(", most = {most}"),
        };
        let gap = dice.of(&["", "", ", gap = \"90 us\""]);
        writeln!(text, "{key}_bounds = {{ by = \"{by}\"{most}{gap} }}").unwrap();
    }
}

/// Writes the surroundings; returns true if priorities have an effect.
fn surroundings(text: &mut String, dice: &mut Dice<'_>, shape: &Shape) {
    let yields = [
        "preemptible = true",
        "reserve_until",
        "idle_gap",
        "proportional",
        "streaming = true",
        "at_once",
        "quiet-channel",
        "\"channel\"",
        "\"controller\"",
    ];
    let threshold = |key: &str| {
        let from = text.find(key).map_or(0, |at| at + key.len());
        text[from..].split('"').nth(1).unwrap_or_default().to_owned()
    };
    let is_sharp = threshold("background = ") == threshold("foreground = ");
    let in_rounds = is_sharp && !yields.iter().any(|key| text.contains(key)) && dice.once_in(2);
    let bypass = dice.of(if in_rounds { &["batch"] } else { &["none", "batch", "drain"] });
    let duplex = dice.of(&["full", "half", "bus"]);
    let times: [u64; 4] = [0; 4].map(|_| dice.of(&[0, 2, 30]));
    let [read, write, trim, flush] = times;
    writeln!(text, "[drive.scheduler]\nbypass = \"{bypass}\"").unwrap();
    if dice.once_in(2) {
        let channel =
            dice.of(&["out-first", "data-first", "commands-first", "by-age", "reads-first"]);
        writeln!(text, "channel = \"{channel}\"").unwrap();
    }
    if in_rounds {
        let ((unit, several), collect) =
            (dice.of(&shape.rounds), dice.of(&["when-asked", "at-once"]));
        let most = match dice.between(1, 5) {
            most if several => format!(", most = {most}"),
            _ => String::new(),
        };
        writeln!(text, "rounds = {{ unit = \"{unit}\", collect = \"{collect}\"{most} }}").unwrap();
    } else if ["preemptible = true", "\"copied\""].iter().any(|key| text.contains(key))
        && dice.once_in(2)
    {
        suspension(text, dice, shape.waiting_erases);
    } else if dice.once_in(2) {
        let routing = dice.of(&["wait", "suspend"]);
        writeln!(text, "read_routing = \"{routing}\"\nsuspension = \"baseline\"").unwrap();
    }
    if !in_rounds && !text.contains("reserve_until = \"stop\"") && dice.once_in(3) {
        let interval = dice.of(&["300 us", "5 ms", "40 ms"]);
        let choice = dice.of(&["oldest", "most-read", "most-read"]);
        let reads = if choice == "oldest" { "" } else { dice.of(&[", reads = 1", ", reads = 20"]) };
        let stream = dice.of(&["collection", "own"]);
        writeln!(
            text,
            "[drive.ftl.scrub]\ninterval = \"{interval}\"\nstream = \"{stream}\"\n\
             choice = {{ policy = \"{choice}\"{reads} }}"
        )
        .unwrap();
    }
    if !text.contains("\"synchronous\"") && dice.once_in(3) {
        *text = text.replace("\ndecode = ", "\ncodeword = \"512 B\"\ndecode = ");
    }
    if !text.contains("streaming = true") && dice.once_in(3) {
        let [read, program, erase] = [0; 3].map(|_| dice.of(&[0, 0, 290, 361, 40_000]));
        writeln!(
            text,
            "[drive.nand.command_cycles]\nread = \"{read} ns\"\nprogram = \"{program} ns\"\n\
             erase = \"{erase} ns\""
        )
        .unwrap();
    }
    writeln!(text, "[drive.link]").unwrap();
    if dice.once_in(2) {
        writeln!(text, "duplex = \"{duplex}\"\nrate = \"{}\"", dice.of(&["7 GB/s", "300 MB/s"]))
            .unwrap();
    }
    writeln!(
        text,
        "[drive.firmware]\nread = \"{read} us\"\nwrite = \"{write} us\"\n\
         trim = \"{trim} us\"\nflush = \"{flush} us\""
    )
    .unwrap();
}

fn precondition(text: &mut String, dice: &mut Dice<'_>, shape: &Shape) {
    let fill = dice.of(&["empty", "sequential", "random"]);
    writeln!(text, "[precondition]\nfill = \"{fill}\"").unwrap();
    if fill == "empty" {
        return;
    }
    if dice.once_in(3) {
        writeln!(text, "share = \"{} %\"", dice.between(1, 100)).unwrap();
    }
    if dice.once_in(2) {
        let addresses = addresses(dice, shape.unit);
        let steady = dice.once_in(3);
        let tenths = dice.between(0, 30);
        writeln!(
            text,
            "age = {{ overwrites = {}.{}, until_steady = {steady}, addresses = {addresses} }}",
            tenths / 10,
            tenths % 10
        )
        .unwrap();
    }
    if dice.once_in(6) {
        writeln!(text, "[clone]\nnumber = {}", dice.between(1, 1000)).unwrap();
        let (from, more) = (dice.between(0, 10), dice.between(0, 10));
        if from + more > 0 {
            let (from, to) = (from as f64 / 10.0, (from + more) as f64 / 10.0);
            writeln!(text, "overwrites = {{ from = {from:?}, to = {to:?} }}").unwrap();
        }
    }
}

fn addresses(dice: &mut Dice<'_>, align: u64) -> String {
    match dice.below(6) {
        0 => "{ pattern = \"uniform\" }".to_owned(),
        1 => "{ pattern = \"sequential\" }".to_owned(),
        2 => {
            let stride = align * dice.between(1, 9);
            format!("{{ pattern = \"strided\", stride = \"{stride} B\" }}")
        }
        3 => {
            let (tenths, scatter) = (dice.between(0, 19), dice.of(&[true, false]));
            let (ones, tenths) = (tenths / 10, tenths % 10);
            format!("{{ pattern = \"zipf\", theta = {ones}.{tenths}, scatter = {scatter} }}")
        }
        4 => {
            let (hot, accesses) = (dice.between(1, 60), dice.between(50, 100));
            format!(
                "{{ pattern = \"hot-cold\", hot_space = \"{hot} %\", hot_accesses = \"{accesses} %\" }}"
            )
        }
        _ => "{ pattern = \"jesd219\" }".to_owned(),
    }
}

/// Writes an initiator's name and priority.
pub fn begin_workload(text: &mut String, dice: &mut Dice<'_>, index: u64) {
    let priority = dice.of(&["normal", "high", "low"]);
    writeln!(text, "[[workload]]\nname = \"w{index}\"\npriority = \"{priority}\"").unwrap();
    if dice.once_in(5) {
        writeln!(text, "start = \"{} us\"", dice.of(&[0, 1, 300, 20_000])).unwrap();
    }
    if dice.once_in(6) {
        let limit = match dice.below(3) {
            0 => format!("requests = {}", dice.between(1, 300)),
            1 => format!("time = \"{} us\"", dice.between(1, 50_000)),
            _ => format!("bytes = \"{} B\"", dice.between(1, 1 << 24)),
        };
        writeln!(text, "stop = {{ {limit} }}").unwrap();
    }
}

/// Writes a synthetic workload of an initiator.
pub fn workload(text: &mut String, dice: &mut Dice<'_>, shape: &Shape) {
    let mix = dice.of(&[
        [0, 100, 0, 0, 0],
        [50, 50, 0, 0, 0],
        [40, 50, 5, 5, 0],
        [30, 30, 20, 5, 15],
        [90, 10, 0, 0, 0],
        [10, 70, 0, 20, 0],
        [20, 40, 30, 0, 10],
        [100, 0, 0, 0, 0],
        [5, 5, 5, 5, 80],
    ]);
    let [read, write, trim, flush, zeroes] = mix;
    writeln!(
        text,
        "mix = {{ read = \"{read} %\", write = \"{write} %\", trim = \"{trim} %\", \
         flush = \"{flush} %\", write_zeroes = \"{zeroes} %\" }}"
    )
    .unwrap();

    // Sizes in sectors, up to what fits into the region.
    let sectors = shape.exported / 512;
    let region = self::region(text, dice, sectors);
    let row = shape.batch_units * shape.unit / 512;
    let size = |dice: &mut Dice<'_>| {
        let sectors = match dice.below(5) {
            0 => shape.unit / 512,
            1 => shape.page / 512,
            2 => dice.between(1, 16),
            3 => dice.between(1, 2 * row),
            _ => dice.between(1, 12 * row),
        };
        sectors.min(region) * 512
    };
    let align = match dice.below(6) {
        0..=2 => {
            let size = size(dice);
            writeln!(text, "size = \"{size} B\"").unwrap();
            size
        }
        3 | 4 => {
            let [one, other] = [0; 2].map(|_| size(dice));
            writeln!(
                text,
                "size = [{{ size = \"{one} B\", share = \"60 %\" }}, \
                 {{ size = \"{other} B\", share = \"40 %\" }}]"
            )
            .unwrap();
            one.min(other)
        }
        _ => {
            let mean = size(dice);
            writeln!(text, "size = {{ mean = \"{mean} B\", round_up_to = \"512 B\" }}").unwrap();
            512
        }
    };
    let align = match dice.below(3) {
        2 => {
            writeln!(text, "align = \"512 B\"").unwrap();
            512
        }
        _ => align,
    };
    let addresses = addresses(dice, align);
    writeln!(text, "addresses = {addresses}").unwrap();
    pace(text, dice);
}

/// May write a region; returns its sectors.
pub fn region(text: &mut String, dice: &mut Dice<'_>, sectors: u64) -> u64 {
    if !dice.once_in(3) {
        return sectors;
    }
    let offset = dice.below(sectors);
    let region = dice.between(1, sectors - offset);
    let (from, bytes) = (offset * 512, region * 512);
    writeln!(text, "region = {{ offset = \"{from} B\", size = \"{bytes} B\" }}").unwrap();
    region
}

fn pace(text: &mut String, dice: &mut Dice<'_>) {
    if dice.once_in(3) {
        let process = dice.of(&["poisson", "constant", "uniform"]);
        let rate = dice.of(&["2 kIOPS", "20 kIOPS", "500 kIOPS"]);
        writeln!(text, "arrivals = {{ process = \"{process}\", rate = \"{rate}\" }}").unwrap();
        if dice.once_in(2) {
            writeln!(text, "queue_depth = {}", dice.between(1, 32)).unwrap();
        }
    } else {
        writeln!(text, "queue_depth = {}", dice.of(&[1, 2, 7, 32])).unwrap();
        match dice.below(4) {
            2 => writeln!(text, "think_time = \"{} us\"", dice.between(0, 400)).unwrap(),
            3 => {
                writeln!(text, "think_time = {{ mean = \"{} us\" }}", dice.between(1, 900)).unwrap()
            }
            _ => {}
        }
    }
    if dice.once_in(4) {
        writeln!(text, "bursts = {{ on = \"300 us\", off = \"5 ms\" }}").unwrap();
    }
}
