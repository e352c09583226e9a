//! Problems that `load` reports for an unsound file: every fault at once, each with its path, its
//! line and a remedy.

use crate::common::{BY_HAND, DRIVE, set, try_experiment};
use drive::load;
use settings::Problems;

/// The text after the drive in a sound file.
const REST: &str = r#"
[drive.ftl.over_provisioning]
reserved = "25 %"
[precondition]
fill = "sequential"
[[workload]]
name = "host"
reads = "50 %"
[run]
requests = 100
"#;

/// A sound file with some texts replaced, each of which occurs once.
fn file(replaced: &[(&str, &str)]) -> String {
    let mut text = format!("{DRIVE}{REST}");
    for (old, new) in replaced {
        assert_eq!(text.matches(old).count(), 1, "{old:?} is to be replaced once");
        text = text.replace(old, new);
    }
    text
}

/// The line of a text that occurs once.
fn line_of(text: &str, part: &str) -> u32 {
    let before = text.find(part).unwrap_or_else(|| panic!("no {part:?}"));
    assert_eq!(text.matches(part).count(), 1, "{part:?} is there once");
    text[..before].matches('\n').count() as u32 + 1
}

fn problems(text: &str) -> Problems {
    let problems = load::load(text, "ssd.toml", &[]).expect_err("it is refused");
    println!("{problems}");
    problems
}

/// Expects a problem at `path`, in the line with `part`, that contains all phrases.
#[track_caller]
fn expect(text: &str, problems: &Problems, path: &str, part: &str, phrases: &[&str]) {
    let line = line_of(text, part);
    let at_path: Vec<_> = problems.problems.iter().filter(|found| found.path == path).collect();
    let says = |message: &str| phrases.iter().all(|phrase| message.contains(phrase));
    assert!(
        at_path.iter().any(|found| found.line == Some(line) && says(&found.message)),
        "nothing at {path} in line {line} with {phrases:?} in: {problems}"
    );
    assert!(problems.to_string().contains(&format!("line {line}, {path}: ")), "{problems}");
}

/// Replaces one text and expects that one fault, in the line of `part`.
#[track_caller]
fn refuse(old: &str, new: &str, path: &str, part: &str, phrases: &[&str]) {
    refuse_all(&[(old, new)], path, part, phrases);
}

#[track_caller]
fn refuse_all(replaced: &[(&str, &str)], path: &str, part: &str, phrases: &[&str]) {
    let text = file(replaced);
    let found = problems(&text);
    expect(&text, &found, path, part, phrases);
    assert_eq!(found.len(), 1, "one fault is one problem: {found}");
}

#[test]
fn the_file_is_sound_before_anything_is_replaced() {
    if let Err(problems) = load::load(&file(&[]), "ssd.toml", &[]) {
        panic!("{problems}");
    }
}

// ---- syntax and form ------------------------------------------------------------

#[test]
fn a_misspelt_key_is_refused_with_the_one_that_was_meant() {
    let phrases = ["unknown key", "did you mean \"copy_back\"?"];
    refuse("copy_back", "copyback", "drive.ftl.gc.copyback", "copyback", &phrases);
    let phrases = ["unknown key", "did you mean \"queue_depth\"?"];
    let name = "name = \"host\"\nqueue_deph = 4";
    refuse("name = \"host\"", name, "workload[0].queue_deph", "queue_deph", &phrases);
    let phrases = ["unknown key", "did you mean \"precondition\"?"];
    refuse("[precondition]", "[preconditon]", "preconditon", "[preconditon]", &phrases);
}

#[test]
fn a_key_of_nowhere_near_is_refused_with_those_that_are_valid() {
    let phrases = ["unknown key", "valid:", "background", "foreground", "window"];
    refuse(
        "[drive.ftl.gc]",
        "[drive.ftl.gc]\nsuspend = true",
        "drive.ftl.gc.suspend",
        "suspend",
        &phrases,
    );
}

#[test]
fn a_misspelt_name_is_refused_with_the_one_that_was_meant() {
    let path = "drive.ftl.gc.victim.policy";
    let phrases = ["greddy", "did you mean \"greedy\"?", "cost-benefit"];
    refuse("policy = \"greedy\"", "policy = \"greddy\"", path, "greddy", &phrases);
    let phrases = ["\"nvram\"", "valid: none, volatile, capacitor"];
    let durability = ("durability = \"none\"", "durability = \"nvram\"");
    refuse(durability.0, durability.1, "drive.buffer.durability", "nvram", &phrases);
}

#[test]
fn a_figure_without_its_unit_is_refused_with_the_figure_to_write() {
    for (old, new, path, remedy) in [
        ("page_size = \"4 KiB\"", "page_size = 4096", "drive.geometry.page_size", "4 KiB"),
        ("decode = \"0 us\"", "decode = 7", "drive.nand.decode", "us"),
        ("channel = \"40.96 MB/s\"", "channel = \"333\"", "drive.nand.channel", "MT/s"),
        ("background = \"1 block\"", "background = \"8\"", "drive.ftl.gc.background", "blocks"),
        ("reserved = \"25 %\"", "reserved = 0.25", "drive.ftl.over_provisioning.reserved", "%"),
    ] {
        refuse(old, new, path, new, &["has no unit", remedy]);
    }
}

#[test]
fn a_value_out_of_range_is_refused_with_the_range() {
    for (old, new, path, phrases) in [
        (
            "channels = 1",
            "channels = 0",
            "drive.geometry.channels",
            ["0 is too small", "at least 1"],
        ),
        ("channels = 1", "channels = 300", "drive.geometry.channels", ["too large", "at most 256"]),
        ("window = 1", "window = 65", "drive.ftl.gc.window", ["too large", "at most 64"]),
        ("steps = 1", "steps = 0", "drive.nand.erase.steps", ["too small", "at least 1"]),
    ] {
        refuse(old, new, path, new, &phrases);
    }
}

#[test]
fn a_value_of_the_wrong_kind_is_refused() {
    let path = "drive.ftl.gc.preemptible";
    refuse("preemptible = true", "preemptible = \"yes\"", path, "\"yes\"", &["true or false"]);
    let reserved = "preemptible = true\nreserve_until = \"erase\"";
    let path = "drive.ftl.gc.reserve_until";
    refuse("preemptible = true", reserved, path, "\"erase\"", &["choose preemptible = false"]);
    let reserved = "preemptible = false\nreserve_until = \"stop\"";
    let text = file(&[("preemptible = true", reserved)]);
    let text = format!("{text}\n[drive.ftl.scrub]\ninterval = \"1 s\"\nchoice = \"oldest\"\n");
    expect(&text, &problems(&text), path, "reserve_until", &["leave scrub out"]);
    let path = "drive.geometry.channels";
    refuse("channels = 1", "channels = 1.5", path, "1.5", &["a whole number"]);
}

#[test]
fn a_missing_key_is_refused_with_the_line_of_its_table() {
    let phrases = ["missing", "such as"];
    refuse("page_spare = \"0 B\"\n", "", "drive.geometry.page_spare", "[drive.geometry]", &phrases);
}

#[test]
fn text_that_is_no_toml_is_refused_with_its_line() {
    let text = file(&[("channels = 1", "channels = = 1")]);
    let found = problems(&text);
    assert_eq!((found.len(), found.problems[0].line), (1, Some(line_of(&text, "= = 1"))));
}

// ---- contradictions: the flash --------------------------------------------

#[test]
fn figures_for_page_types_that_the_cell_lacks_are_refused() {
    let figures = "read = [\"25 us\", \"50 us\"]";
    let phrases = ["2 figures", "one for all pages", "or 1"];
    refuse("read = [\"25 us\"]", figures, "drive.nand.read", figures, &phrases);
    let phrases = ["2 figures", "or 3"];
    let tlc = [("cell = \"slc\"", "cell = \"tlc\""), ("read = [\"25 us\"]", figures)];
    refuse_all(&tlc, "drive.nand.read", figures, &phrases);
}

#[test]
fn more_flash_than_can_be_counted_is_refused() {
    let many = [
        ("channels = 1\n", "channels = 256\n"),
        ("dies_per_package = 1", "dies_per_package = 64"),
        ("planes_per_die = 1", "planes_per_die = 64"),
        ("packages_per_channel = 1", "packages_per_channel = 64"),
    ];
    refuse_all(&many, "drive.geometry", "[drive.geometry]", &["67,108,864 planes", "2^20"]);
}

#[test]
fn a_unit_that_does_not_divide_is_refused() {
    // 3 KiB neither divide 4 KiB nor are a multiple.
    let phrases = ["3072 bytes", "neither divide nor are a multiple", "4096 bytes"];
    refuse("unit = \"4 KiB\"", "unit = \"3 KiB\"", "drive.ftl.unit", "3 KiB", &phrases);
    // Three rows of 16 would be a unit.
    let phrases = ["3 rows", "do not divide the 16 rows"];
    refuse("unit = \"4 KiB\"", "unit = \"12 KiB\"", "drive.ftl.unit", "12 KiB", &phrases);
    // 128 units in a page.
    let small = [
        ("page_size = \"4 KiB\"", "page_size = \"64 KiB\""),
        ("unit = \"4 KiB\"", "unit = \"512 B\""),
    ];
    refuse_all(&small, "drive.ftl.unit", "unit = \"512 B\"", &["128 units", "at most 64"]);
}

#[test]
fn block_planes_that_do_not_divide_the_planes_are_refused() {
    let phrases = ["2 does not divide the 3 planes"];
    let planes =
        [("planes_per_die = 1", "planes_per_die = 3"), ("block_planes = 1", "block_planes = 2")];
    refuse_all(&planes, "drive.ftl.block_planes", "block_planes = 2", &phrases);
}

#[test]
fn erase_planes_that_do_not_divide_a_block_are_refused() {
    let planes = [
        ("planes_per_die = 1", "planes_per_die = 4"),
        ("block_planes = 1", "block_planes = 4\nerase_planes = 3"),
    ];
    let phrases = ["3 does not divide the 4 planes of a block"];
    refuse_all(&planes, "drive.ftl.erase_planes", "erase_planes = 3", &phrases);
}

#[test]
fn a_level_of_concurrency_that_does_not_fit_is_refused() {
    let plane =
        [("planes_per_die = 1", "planes_per_die = 4"), ("block_planes = 1", "block_planes = 4")];
    for (key, level, planes) in
        [("program", "plane", 1), ("program", "plane-pair", 2), ("erase", "plane", 1)]
    {
        let (old, new) = (format!("{key} = \"die\""), format!("{key} = \"{level}\""));
        let path = format!("drive.concurrency.{key}");
        let only = format!("a unit of only {planes}");
        let replaced = [&plane[..], &[(&old[..], &new[..])]].concat();
        refuse_all(&replaced, &path, &new, &["4 planes", &only, "choose a larger unit"]);
    }
    let odd = [
        ("planes_per_die = 1", "planes_per_die = 3"),
        ("\nread = \"die\"", "\nread = \"plane-pair\""),
    ];
    refuse_all(&odd, "drive.concurrency", "[drive.concurrency]", &["plane-pair", "even number"]);
    let wide = [
        ("planes_per_die = 1", "planes_per_die = 64"),
        ("dies_per_package = 1", "dies_per_package = 4"),
        ("\nread = \"die\"", "\nread = \"plane\""),
        ("erase = \"die\"", "erase = \"package\""),
    ];
    refuse_all(&wide, "drive.concurrency", "[drive.concurrency]", &["256 of the smallest", "64"]);
}

#[test]
fn an_order_that_is_no_permutation_is_refused() {
    let phrases = ["\"CWDD\"", "each of C, W, D and P once"];
    refuse("order = \"CWDP\"", "order = \"CWDD\"", "drive.ftl.allocation.order", "CWDD", &phrases);
}

#[test]
fn a_stripe_of_parts_of_units_is_refused() {
    let stripe = [
        ("order = \"CWDP\"", "stripe = \"6 KiB\"\norder = \"CWDP\""),
        ("pool = \"drive\"", "pool = \"die\""),
    ];
    let phrases = ["6144 bytes", "multiple of the mapping unit of 4096 bytes"];
    refuse_all(&stripe, "drive.ftl.allocation.stripe", "6 KiB", &phrases);
}

// ---- over-provisioning and thresholds ------------------------------------------------

const OVER: &str = "drive.ftl.over_provisioning";
const TABLE: &str = "[drive.ftl.over_provisioning]";

#[test]
fn exactly_one_key_of_over_provisioning_is_taken() {
    let phrases = ["exactly one of spare, reserved and exported"];
    let both = "reserved = \"25 %\"\nspare = \"7 %\"";
    refuse("reserved = \"25 %\"", both, OVER, TABLE, &phrases);
    refuse("reserved = \"25 %\"\n", "", OVER, TABLE, &phrases);
}

#[test]
fn a_drive_that_exports_all_or_nothing_is_refused() {
    for (given, exported) in [
        ("reserved = \"0 %\"", "exports 4.19 MB but its flash holds 4.19 MB"),
        ("exported = \"1 TiB\"", "exports 1.10 TB but its flash holds 4.19 MB"),
        ("reserved = \"100 %\"", "exports nothing of the 4.19 MB"),
    ] {
        refuse("reserved = \"25 %\"", given, OVER, TABLE, &[exported]);
    }
}

#[test]
fn thresholds_out_of_order_are_refused() {
    let phrases = ["1 block is", "less than the foreground threshold of 2"];
    let foreground = [
        ("foreground = \"1 block\"", "foreground = \"2 blocks\""),
        ("stop = \"1 block\"", "stop = \"2 blocks\""),
    ];
    refuse_all(&foreground, "drive.ftl.gc.background", "background = \"1 block\"", &phrases);
    let phrases = ["1 block is", "less than the background threshold of 3"];
    refuse(
        "background = \"1 block\"",
        "background = \"3 blocks\"",
        "drive.ftl.gc.stop",
        "stop = \"1 block\"",
        &phrases,
    );
    let phrases = ["at least 1 must be kept"];
    refuse(
        "foreground = \"1 block\"",
        "foreground = \"0 blocks\"",
        "drive.ftl.gc.foreground",
        "0 blocks",
        &phrases,
    );
}

#[test]
fn thresholds_that_over_provisioning_cannot_reach_are_refused_with_what_is_missing() {
    // 64 blocks, of which 48 hold data and 1 is open: 15 can be free at most. The
    // threshold is passed by one more than it names.
    let found = |foreground: u32, background: u32, stop: u32| {
        let keys = [("foreground", foreground), ("background", background), ("stop", stop)];
        let lines = keys.map(|(key, blocks)| {
            (format!("{key} = \"1 block\""), format!("{key} = \"{blocks} blocks\""))
        });
        let replaced = lines.each_ref().map(|(old, new)| (&old[..], &new[..]));
        load::load(&file(&replaced), "ssd.toml", &[]).map(|_| ()).map_err(|found| {
            let text = file(&replaced);
            println!("{found}");
            (text, found)
        })
    };
    assert!(found(14, 14, 14).is_ok() && found(1, 1, 14).is_ok());
    for (foreground, stop, what, short) in [
        (15, 15, "foreground", 1),
        (20, 20, "foreground", 6),
        (1, 15, "stop", 1),
        (1, 30, "stop", 16),
    ] {
        let (text, problems) =
            found(foreground, foreground, stop).expect_err("it cannot be reached");
        let threshold = format!(
            "the {what} threshold of {} blocks can never be passed",
            if what == "foreground" { foreground } else { stop }
        );
        let missing = match short {
            1 => "1 more spare block a bin is needed".to_owned(),
            _ => format!("{short} more spare blocks a bin are needed"),
        };
        let remedy = format!("or lower thresholds from drive.ftl.gc.{what} down");
        let phrases = [
            &threshold[..],
            "64 good blocks",
            "1 would be open",
            "48 blocks of data",
            &missing,
            &remedy,
        ];
        expect(&text, &problems, OVER, TABLE, &phrases);
        assert_eq!(problems.len(), 1, "{problems}");
    }
}

#[test]
fn stripes_spread_over_pools_and_are_written_whole() {
    // One pool, of one plane.
    let width = "drive.ftl.parity.width";
    for (given, path, line, phrases) in [
        (
            "width = 8",
            width,
            "width",
            &["8 does not divide the 1 pool", "lower level of pools"][..],
        ),
        ("width = 1", width, "width", &["at least 2"]),
    ] {
        let parity = format!("[drive.ftl.parity]\n{given}\n[drive.ftl.gc]");
        let text = file(&[("[drive.ftl.gc]", &parity)]);
        expect(&text, &problems(&text), path, line, phrases);
    }
}

#[test]
fn parity_takes_space_that_a_message_names() {
    let of = |exported: &str, buffer: &str| {
        let drive = [
            ("geometry.channels", "8"),
            ("ftl.allocation.pool", "plane"),
            ("ftl.parity.width", "8"),
            ("buffer.size", buffer),
            ("ftl.over_provisioning.exported", exported),
        ];
        let drive = drive.map(|(key, value)| set(key, value));
        try_experiment(BY_HAND, &drive).err().unwrap_or_default()
    };
    // Of 32 MiB, 30 are exported: 7680 pages, which have 1098 of parity, 4497 kB.
    let fault = of("30 MiB", "64 KiB");
    assert!(fault.contains("exports 31.5 MB, with 4.50 MB of parity beside it, but"), "{fault}");
    // 16 units of the buffer, and 8 because of trims; then as many units as a plane has.
    assert_eq!(of("16 MiB", "64 KiB"), "");
    let fault = of("16 MiB", "4 MiB");
    assert!(fault.contains("(with 1,032 units of stripes that are being updated)"), "{fault}");
    assert!(fault.contains(", or a smaller drive.buffer.size"), "{fault}");
}

#[test]
fn a_rotation_limits_something_and_a_detour_needs_parity() {
    let of = |more: &[(&'static str, &str)]| {
        let drive = [
            ("geometry.channels", "16"),
            ("ftl.allocation.pool", "plane"),
            ("ftl.over_provisioning.exported", "32 MiB"),
            ("buffer.size", "64 KiB"),
        ];
        let all = drive.iter().chain(more).map(|(key, value)| set(key, value));
        try_experiment(BY_HAND, &all.collect::<Vec<_>>()).err().unwrap_or_default()
    };
    fn rotation(text: &str) -> [(&'static str, &str); 2] {
        [("ftl.parity.width", "8"), ("scheduler.rotation", text)]
    }
    assert!(of(&[("scheduler.rotation", "rotating")]).contains("no groups of stripes"));
    assert!(of(&[("scheduler.read_routing", "reconstruct")]).contains("there is no parity"));
    // Groups are of 8 planes, of 16.
    assert_eq!(of(&rotation("{ policy = 'rotating', at_once = 7 }")), "");
    for policy in ["rotating", "dynamic"] {
        let given = format!("{{ policy = '{policy}', at_once = 8 }}");
        let fault = of(&rotation(&given));
        assert!(fault.contains("8 collections are no limit for the 8 bins of a group"), "{fault}");
    }
    assert_eq!(of(&rotation("{ policy = 'dynamic', short = '99 %' }")), "");
    for share in ["100 %", "130 %"] {
        let given = format!("{{ policy = 'dynamic', short = '{share}' }}");
        let fault = of(&rotation(&given));
        assert!(fault.contains(&format!("more than {share} of all bins are never")), "{fault}");
    }
}

/// Eight dies of planes that work one at a time, unless a case says otherwise. Detours are useless if
/// each member of a stripe shares its flash unit with another one.
#[test]
fn a_detour_needs_members_of_a_stripe_that_are_not_held_together() {
    let is_refused = |more: &[(&'static str, &str)]| {
        let drive = [
            ("geometry.channels", "8"),
            ("geometry.planes_per_die", "2"),
            ("ftl.allocation.pool", "plane"),
            ("ftl.allocation.order", "PCWD"),
            ("ftl.over_provisioning.exported", "16 MiB"),
            ("ftl.parity.width", "8"),
            ("buffer.size", "64 KiB"),
            ("scheduler.read_routing", "reconstruct"),
        ];
        let all = drive.iter().chain(more).map(|(key, value)| set(key, value));
        let fault = try_experiment(BY_HAND, &all.collect::<Vec<_>>()).err().unwrap_or_default();
        let is_refused = fault.contains("1 problem") && fault.contains("no read can go round");
        assert!(is_refused || fault.is_empty(), "{more:?}: {fault}");
        let names = |key: &str| fault.contains(key);
        assert!(!is_refused || names("allocation.order, now \"") && names("parity.width"));
        is_refused
    };
    // Neighbouring pools are the planes of a die.
    assert!(is_refused(&[]));
    assert!(!is_refused(&[("scheduler.read_routing", "suspend")]));
    assert!(!is_refused(&[("ftl.allocation.order", "CWDP")]), "planes of eight dies");
    assert!(is_refused(&[("ftl.allocation.order", "CWDP"), ("ftl.parity.width", "16")]));
    assert!(!is_refused(&[("ftl.allocation.pool", "die")]));
    // Planes that read on their own: collection holds the die while it has reserved it.
    let reads = ("concurrency.read", "plane");
    assert!(!is_refused(&[reads]));
    assert!(is_refused(&[reads, ("ftl.gc.preemptible", "false")]));
    let all = [reads, ("concurrency.program", "plane"), ("concurrency.erase", "plane")];
    assert!(!is_refused(&[all[0], all[1], all[2], ("ftl.gc.preemptible", "false")]));
    // With three planes a die, some pairs of neighbours are on two dies.
    let of_three = [("geometry.planes_per_die", "3"), ("ftl.parity.width", "2")];
    assert!(!is_refused(&of_three), "some reads go round");
}

#[test]
fn an_update_goes_on_without_flash_that_is_reserved_and_with_a_buffer_that_keeps_data() {
    let of = |durability: &str, preemptible: bool| {
        let all = [
            ("geometry.channels", "8"),
            ("ftl.allocation.pool", "plane"),
            ("ftl.over_provisioning.exported", "16 MiB"),
            ("ftl.parity.width", "8"),
            ("ftl.parity.flush", "gc-tolerant"),
            ("buffer.size", "64 KiB"),
            ("buffer.durability", durability),
            ("ftl.gc.preemptible", if preemptible { "true" } else { "false" }),
        ];
        try_experiment(BY_HAND, &all.map(|(key, value)| set(key, value))).err().unwrap_or_default()
    };
    assert_eq!(of("capacitor", false), "");
    for durability in ["none", "volatile"] {
        let fault = of(durability, false);
        assert!(fault.contains("which a power cut must not empty"), "{fault}");
    }
    let fault = of("capacitor", true);
    assert!(fault.contains("reserves no flash if it is preemptible"), "{fault}");
}

#[test]
fn a_victim_gains_some_of_its_pages() {
    for (gain, phrases) in [
        ("0 pages", &["at least 1 page"][..]),
        ("0 % of pages", &["at least 1 page"]),
        ("17 pages", &["more than the 16 pages of a block"]),
        ("101 % of pages", &["more than the 16 pages of a block"]),
    ] {
        let text = file(&[(
            "preemptible = true",
            &format!("preemptible = true\nleast_gain = \"{gain}\""),
        )]);
        expect(&text, &problems(&text), "drive.ftl.gc.least_gain", "least_gain", phrases);
    }
}

#[test]
fn channels_are_reserved_by_collection_that_does_not_yield() {
    let yields = "preemptible = true";
    for (blocking, path, phrases) in [
        ("preemptible = true\nblocking = \"channel\"", "blocking", &["preemptible is true"][..]),
        ("preemptible = true\nat_once = {}", "at_once", &["nothing is limited"]),
        (
            "preemptible = false\nblocking = \"channel\"\nat_once = { channel = 2 }",
            "at_once.channel",
            &["only one copies at a time"],
        ),
        (
            "preemptible = false\nblocking = \"controller\"\nat_once = { drive = 1 }",
            "at_once.drive",
            &["only one copies at a time", "blocking = \"plane\""],
        ),
    ] {
        let text = file(&[(yields, blocking)]);
        let key = path.split('.').next().unwrap();
        expect(&text, &problems(&text), &format!("drive.ftl.gc.{path}"), key, phrases);
    }
}

#[test]
fn background_collection_that_waits_needs_a_background() {
    let path = "drive.ftl.gc.background_begins";
    let quiet = "preemptible = true\nbackground_begins = \"quiet-channel\"";
    let key = "background_begins";
    refuse("preemptible = true", quiet, path, key, &["all collection is in the foreground"]);
    let with_background = file(&[
        ("preemptible = true", quiet),
        ("background = \"1 block\"", "background = \"2 blocks\""),
    ]);
    let with_background = with_background.replace("stop = \"1 block\"", "stop = \"2 blocks\"");
    assert!(load::load(&with_background, "ssd.toml", &[]).is_ok());
    for (more, phrase) in [
        ("blocking = \"controller\"", "reserves all channels"),
        ("reserve_until = \"stop\"", "does not wait between two victims"),
    ] {
        let reserves = format!("preemptible = false\n{more}");
        let text = with_background.replace("preemptible = true", &reserves);
        expect(&text, &problems(&text), path, key, &[phrase, "any-time"]);
    }
}

#[test]
fn copies_that_must_fit_are_copies_of_pages_inside_planes() {
    let path = "drive.nand.copy_back_pages";
    let fits = [
        ("decode = \"0 us\"", "decode = \"0 us\"\ncopy_back_pages = \"odd-even\""),
        ("copy_back = false", "copy_back = true"),
        ("preemptible = true", "preemptible = false"),
    ];
    assert!(load::load(&file(&fits), "ssd.toml", &[]).is_ok());
    for (old, new, phrase) in [
        ("copy_back = false", "copy_back = false", "copy_back is false"),
        ("preemptible = true", "preemptible = true", "preemptible is true"),
        ("pages_per_block = 16", "pages_per_block = 15", "odd number of pages for data"),
        (
            "block_planes = 1",
            "block_planes = 1\nsummary_page = true",
            "odd number of pages for data",
        ),
        ("unit = \"4 KiB\"", "unit = \"8 KiB\"", "single pages"),
        (
            "block_planes = 1",
            "block_planes = 1\nscrub = { choice = \"oldest\", interval = \"1 s\" }",
            "scrubbed data",
        ),
    ] {
        let rest = fits.into_iter().filter(|(changed, _)| *changed != old);
        let all: Vec<_> = rest.chain([(old, new)]).collect();
        refuse_all(&all, path, "copy_back_pages", &[phrase, "copy_back_pages = \"any\""]);
    }
}

#[test]
fn what_is_missing_is_what_helps() {
    // 62 of 64 blocks of data beside an open one: 1 more than the foreground threshold
    // of 1 are 2, which is one block too many.
    let export = |blocks: u32| {
        let exported = format!("exported = \"{} KiB\"", blocks * 64);
        load::load(&file(&[("reserved = \"25 %\"", &exported)]), "ssd.toml", &[]).map(|_| ())
    };
    let problem = export(62).expect_err("one block too many").to_string();
    assert!(problem.contains("1 more spare block a bin is needed"), "{problem}");
    assert!(export(61).is_ok());
    // With a stream of its own, collection has a second block open.
    let separate = [
        ("reserved = \"25 %\"", "exported = \"3904 KiB\""),
        ("streams = \"shared\"", "streams = \"separate\""),
    ];
    refuse_all(&separate, OVER, TABLE, &["2 would be open", "1 more spare block a bin"]);
}

#[test]
fn as_many_blocks_as_are_missing_help_and_one_less_does_not() {
    // Eight units a program: a closed block of 128 may lack seven in vain. At low thresholds that
    // decides, not the space for the data.
    let load = |blocks: u64, stop: u64| {
        let overrides = [
            ("drive.ftl.unit", "512 B".to_owned()),
            ("drive.ftl.over_provisioning", "{ exported = \"3 MiB\" }".to_owned()),
            ("drive.geometry.blocks_per_plane", blocks.to_string()),
            ("drive.ftl.gc.stop", format!("{stop} blocks")),
        ];
        let overrides = overrides.map(|(path, value)| (path.to_owned(), value));
        load::load(&file(&[]), "ssd.toml", &overrides).map(|_| ()).map_err(|why| why.to_string())
    };
    let mut by_victims = 0;
    for stop in 9..=63 {
        let Err(told) = load(64, stop) else { continue };
        let (before, _) = told.split_once(" more spare block").expect("the number that is missing");
        let missing: u64 = before.rsplit(' ').next().unwrap().parse().unwrap();
        by_victims += u32::from(told.contains("must lack a program's data"));
        assert_eq!(load(64 + missing, stop), Ok(()), "stop at {stop}: {told}");
        assert!(load(64 + missing - 1, stop).is_err(), "stop at {stop}: {told}");
    }
    assert!(by_victims > 0, "the second condition decides somewhere");
}

#[test]
fn the_bad_blocks_of_the_seed_are_those_that_count() {
    // Eight bins of four planes: the worst of 32 planes loses far more than a plane loses in the
    // mean, and the loss differs from seed to seed.
    for seed in floor::seeds(1, 12) {
        let bad = [
            ("factory = \"0 %\"", "factory = \"5 %\""),
            ("dies_per_package = 1", "dies_per_package = 8"),
            ("planes_per_die = 1", "planes_per_die = 4"),
            ("block_planes = 1", "block_planes = 4"),
            ("reserved = \"25 %\"", "reserved = \"4 %\""),
        ];
        let overrides = [("seed".to_owned(), seed.to_string())];
        let found = load::load(&file(&bad), "ssd.toml", &overrides).expect_err("too little spare");
        let sound = [("drive.ftl.over_provisioning.reserved".to_owned(), "50 %".to_owned())];
        let sound = [&overrides[..], &sound].concat();
        let (experiment, checked) = load::load(&file(&bad), "ssd.toml", &sound).expect("enough");
        let device = drive::Device::new(&experiment.drive, experiment.seed);
        let bins = (0..checked.layout.bins).map(ftl::BinId);
        let good = |bin: ftl::BinId| device.ftl().good_blocks(bin);
        let worst = bins.min_by_key(|bin| good(*bin)).unwrap();
        let expected =
            format!("bin {} (with the bad blocks of this seed) has {} good", worst.0, good(worst));
        assert!(found.to_string().contains(&expected), "seed {seed}: {expected:?} in {found}");
    }
}

#[test]
fn a_share_of_pages_that_cannot_be_reached_is_refused_too() {
    let pages = "30 % of pages";
    let keys = ["foreground", "background", "stop"]
        .map(|key| (format!("{key} = \"1 block\""), format!("{key} = \"{pages}\"")));
    let replaced = keys.each_ref().map(|(old, new)| (&old[..], &new[..]));
    // 30 % of 1024 pages are 307, which are 20 blocks, the last one partly.
    refuse_all(&replaced, OVER, TABLE, &["the foreground threshold of 20 blocks"]);
}

// ---- memory ---------------------------------------------------------------------------

#[test]
fn a_drive_that_memory_cannot_hold_is_refused_with_an_estimate() {
    // 12 * 16 dies of 2^14 blocks of 2^10 pages: P = 3 * 2^30 units, of which 75 %
    // are exported. 4 + 8 bytes for each of P, an eighth for its valid bit, and
    // 4 + 16 for each exported: 27.1 * 3 GiB, and 0.2 for blocks and the rest.
    let large = [
        ("channels = 1\n", "channels = 12\n"),
        ("dies_per_package = 1", "dies_per_package = 16"),
        ("blocks_per_plane = 64", "blocks_per_plane = 16384"),
        ("pages_per_block = 16", "pages_per_block = 1024"),
        ("requests = 100", "requests = 100\naudit = true"),
    ];
    let text = file(&large);
    match load::load(&text, "ssd.toml", &[]) {
        Ok((_, checked)) => {
            // This machine has that much memory.
            let memory = checked.memory;
            assert!(memory.available_bytes.is_none_or(|bytes| bytes > memory.total()));
        }
        Err(found) => {
            println!("{found}");
            let phrases =
                ["the run takes 81.5 GiB of memory", "GiB are available", "run without audit"];
            expect(&text, &found, "run.audit", "audit = true", &phrases);
        }
    }
}

#[test]
fn what_takes_the_most_memory_is_named() {
    // 400 GiB of 4 KiB are 100 Mi entries, which take 384 bytes each; 2^26 requests
    // under way take a KiB each; a million of the slowest, of two kinds of 16
    // workloads, 640 bytes each.
    let workloads: String =
        (0..16).map(|w| format!("[[workload]]\nname = \"{w}\"\nreads = \"50 %\"\n")).collect();
    let many = format!("{workloads}[record]\nslowest = 1000000\n[run]\ntime = \"1 s\"\n");
    let deep = "name = \"host\"\nqueue_depth = 67108864";
    for (replaced, path, part, size) in [
        (
            vec![("size = \"1 MiB\"", "size = \"400 GiB\"")],
            "drive.buffer.size",
            "400 GiB",
            "37.5 GiB",
        ),
        (
            vec![("name = \"host\"", deep), ("requests = 100", "time = \"1 s\"")],
            "workload[0].queue_depth",
            "67108864",
            "64.0 GiB",
        ),
        (vec![("[run]\nrequests = 100\n", &many[..])], "record.slowest", "slowest", "20.3 GiB"),
    ] {
        let text = file(&replaced);
        match load::load(&text, "ssd.toml", &[]) {
            Ok((_, checked)) => {
                let memory = checked.memory;
                assert!(memory.available_bytes.is_none_or(|bytes| bytes >= memory.total()));
            }
            Err(found) => {
                println!("{found}");
                expect(&text, &found, path, part, &[&format!("{size} of them for this")]);
            }
        }
    }
}

#[test]
fn of_a_drive_in_question_no_memory_is_asked_for() {
    // 650 MB of the slowest requests for each workload, whatever the drive is.
    let workloads: String =
        (0..1024).map(|w| format!("[[workload]]\nname = \"{w}\"\nreads = \"50 %\"\n")).collect();
    let kept = format!("{workloads}[record]\nslowest = 1000000\n[run]\ntime = \"1 s\"\n");
    let text = file(&[("[run]\nrequests = 100\n", &kept)]);
    let misspelt = [("drive.ftl.gc.victm".to_owned(), "fifo".to_owned())];
    let found = load::load(&text, "ssd.toml", &misspelt).expect_err("no such key");
    let paths: Vec<_> = found.problems.iter().map(|problem| &problem.path[..]).collect();
    assert_eq!(paths, ["drive.ftl.gc.victm"]);
}

#[test]
fn more_than_events_can_tell_apart_is_refused() {
    let deep = [
        ("name = \"host\"", "name = \"host\"\nqueue_depth = 4294967295"),
        ("requests = 100", "time = \"1 s\""),
    ];
    let text = file(&deep);
    let path = "workload[0].queue_depth";
    expect(&text, &problems(&text), path, "4294967295", &["at most 67,108,864"]);
    // No more than the run has requests.
    assert!(load::load(&file(&deep[..1]), "ssd.toml", &[]).is_ok());
    let text = file(&[("size = \"1 MiB\"", "size = \"1 TiB\"")]);
    expect(&text, &problems(&text), "drive.buffer.size", "1 TiB", &["268435456 mapping units"]);
}

#[test]
fn more_units_than_can_be_numbered_are_refused() {
    let large = [
        ("channels = 1\n", "channels = 16\n"),
        ("dies_per_package = 1", "dies_per_package = 16"),
        ("blocks_per_plane = 64", "blocks_per_plane = 16384"),
        ("pages_per_block = 16", "pages_per_block = 1024"),
    ];
    let phrases = ["4294967296 physical units", "32-bit", "choose a larger mapping unit"];
    refuse_all(&large, "drive.ftl.unit", "unit = \"4 KiB\"", &phrases);
}

// ---- buffer, workloads, run ---------------------------------------------------------------

#[test]
fn a_buffer_smaller_than_a_program_is_refused_with_what_is_needed() {
    let planes = [
        ("planes_per_die = 1", "planes_per_die = 4"),
        ("block_planes = 1", "block_planes = 4"),
        ("size = \"1 MiB\"", "size = \"8 KiB\""),
    ];
    let phrases = ["hold 2 units", "writes 4", "at least 16384 bytes"];
    refuse_all(&planes, "drive.buffer.size", "size = \"8 KiB\"", &phrases);
}

#[test]
fn watermarks_that_make_no_sense_are_refused() {
    let early = ("durability = \"none\"", "durability = \"volatile\"");
    let path = "drive.buffer.flush";
    for (high, low, phrases) in [
        ("50", "50", ["low (50 %)", "less than high (50 %)"]),
        ("120", "50", ["high (120 %)", "more than the whole"]),
    ] {
        let marks =
            format!("flush = {{ policy = \"watermark\", high = \"{high} %\", low = \"{low} %\" }}");
        refuse_all(&[early, ("flush = { policy = \"eager\" }", &marks)], path, &marks, &phrases);
    }
    let marks = "flush = { policy = \"watermark\", high = \"50 %\", low = \"20 %\" }";
    let phrases = ["without early acknowledgement", "use \"eager\""];
    refuse("flush = { policy = \"eager\" }", marks, path, marks, &phrases);
    // The policy's keys are its own.
    let marks = "flush = { policy = \"eager\", high = \"50 %\" }";
    refuse(
        "flush = { policy = \"eager\" }",
        marks,
        "drive.buffer.flush.high",
        marks,
        &["eager", "no parameters"],
    );
}

#[test]
fn a_region_beyond_the_drive_is_refused() {
    // 75 % of 4 MiB are 3 MiB.
    for region in [
        "{ offset = \"3584 KiB\" }",
        "{ offset = \"1 MiB\", size = \"2560 KiB\" }",
        "{ size = \"4 MiB\" }",
    ] {
        let text = file(&[("name = \"host\"", &format!("name = \"host\"\nregion = {region}"))]);
        let found = problems(&text);
        let line = line_of(&text, region);
        let at = &found.problems[0];
        assert!(at.path.starts_with("workload[0].region") && at.line == Some(line), "{found}");
        assert_eq!(found.len(), 1, "{found}");
        assert!(at.message.contains("beyond the drive, which exports 3 MiB"), "{found}");
    }
}

#[test]
fn a_mix_that_is_not_whole_is_refused() {
    for (mix, sum) in
        [("read = \"50 %\", write = \"40 %\"", "90"), ("read = \"70 %\", trim = \"40 %\"", "110")]
    {
        let mix = format!("mix = {{ {mix} }}");
        refuse("reads = \"50 %\"", &mix, "workload[0].mix", &mix, &["100 %", sum]);
    }
    let both = "reads = \"50 %\"\nmix = { read = \"50 %\", write = \"50 %\" }";
    let text = file(&[("reads = \"50 %\"", both)]);
    let found = problems(&text);
    assert!(found.problems[0].path.starts_with("workload[0]."), "{found}");
}

#[test]
fn two_workloads_of_one_name_are_refused() {
    let second = "[[workload]]\nname = \"host\"\nreads = \"0 %\"\n\n[run]";
    let text = file(&[("[run]", second)]);
    let found = problems(&text);
    let at = &found.problems[0];
    assert_eq!((found.len(), &at.path[..]), (1, "workload[1].name"), "{found}");
    assert!(at.message.contains("another workload \"host\""), "{found}");
    assert_eq!(at.line, Some(line_of(&text, "name = \"host\"\nreads = \"0 %\"")));
}

#[test]
fn a_run_without_an_end_is_refused() {
    refuse("requests = 100\n", "", "workload[0]", "[[workload]]", &["never ends", "a stop"]);
}

#[test]
fn a_warm_up_longer_than_its_run_is_refused() {
    let text = "time = \"1 s\"\nwarm_up = { time = \"2 s\" }";
    let phrases = ["warm-up (2 s)", "not shorter than the run (1 s)"];
    refuse("requests = 100", text, "run.warm_up.time", "warm_up", &phrases);
}

#[test]
fn a_warm_up_of_all_requests_is_refused() {
    let text = "requests = 100\nwarm_up = { requests = 100 }";
    let phrases = ["warm-up (100 requests)", "not shorter than the run (100)"];
    refuse("requests = 100", text, "run.warm_up.requests", "warm_up", &phrases);
}

#[test]
fn a_run_of_nothing_is_refused() {
    for (limit, path) in [
        ("requests = 0", "run.requests"),
        ("time = \"0 s\"", "run.time"),
        ("bytes = \"0 B\"", "run.bytes"),
    ] {
        refuse("requests = 100", limit, path, limit, &["more than 0", "leave it out"]);
    }
}

#[test]
fn a_limit_that_is_never_reached_is_refused() {
    let path = "workload[0]";
    for (mix, limit, phrases) in [
        ("flush", "bytes = \"1 MiB\"", ["flushes ask for no bytes", "stop.requests"]),
        ("trim", "time = \"1 s\"", ["no simulated time", "think_time"]),
        ("flush", "time = \"1 s\"", ["no simulated time", "think_time"]),
    ] {
        let mix = format!("mix = {{ {mix} = \"100 %\" }}");
        let endless = [("reads = \"50 %\"", &mix[..]), ("requests = 100", limit)];
        refuse_all(&endless, path, "[[workload]]", &phrases);
        // Requests that take time end.
        let timed = [
            &endless[..],
            &[("trim = \"0 us\"\nflush = \"0 us\"", "trim = \"1 us\"\nflush = \"1 us\"")],
        ]
        .concat();
        assert_eq!(load::load(&file(&timed), "ssd.toml", &[]).is_ok(), limit.starts_with("time"));
    }
    // Trims have bytes.
    let trims = [
        ("reads = \"50 %\"", "mix = { trim = \"100 %\" }"),
        ("requests = 100", "bytes = \"1 MiB\""),
    ];
    assert!(load::load(&file(&trims), "ssd.toml", &[]).is_ok());
}

#[test]
fn what_has_no_effect_beside_another_setting_is_refused() {
    let stripe = "pool = \"drive\"\nstripe = \"8 KiB\"";
    refuse(
        "pool = \"drive\"",
        stripe,
        "drive.ftl.allocation.stripe",
        "stripe",
        &["nothing to stripe"],
    );
    let duplex = "[drive.link]\nduplex = \"half\"";
    refuse(
        "[drive.link]",
        duplex,
        "drive.link.duplex",
        "duplex",
        &["without a rate", "drive.link.rate"],
    );
    let strict = "[drive.scheduler]\nchannel = { policy = \"data-first\", strict = true }";
    refuse(
        "[drive.scheduler]",
        strict,
        "drive.scheduler.channel.strict",
        "strict",
        &["keep programs from it for ever", "drive.nand.command_cycles"],
    );
    let programs = "read_hits = true\nprograms_per_bin = 4";
    let path = "drive.buffer.programs_per_bin";
    refuse(
        "read_hits = true",
        programs,
        path,
        "programs_per_bin",
        &["durability \"none\"", "leave it out"],
    );
    let other = |reads: &str| {
        format!("priority = \"high\"\n[[workload]]\nname = \"other\"\nreads = \"{reads} %\"\n[run]")
    };
    let (reading, writing) = (other("100"), other("99"));
    let reads_alone = [
        ("[run]", reading.as_str()),
        ("reads = \"50 %\"", "reads = \"100 %\""),
        ("bypass = \"batch\"", "bypass = \"none\""),
    ];
    let path = "workload[0].priority";
    let phrases = ["whatever their priority", "\"batch\""];
    refuse_all(&reads_alone, path, "priority = \"high\"", &phrases);
    // Any write gives it an effect, at a full buffer; and so does another order.
    let accepted = |edits: &[(&str, &str)]| load::load(&file(edits), "ssd.toml", &[]).is_ok();
    assert!(accepted(&reads_alone[..2]));
    assert!(accepted(&[("[run]", &writing), reads_alone[1], reads_alone[2]]));
    let nothing = "fill = \"sequential\"\nshare = \"0 %\"";
    refuse(
        "fill = \"sequential\"",
        nothing,
        "precondition.share",
        "share = \"0 %\"",
        &["fills nothing"],
    );
    // The drive exports 3 MiB.
    let stride = "reads = \"50 %\"\naddresses = { pattern = \"strided\", stride = \"3 MiB\" }";
    let path = "workload[0].addresses.stride";
    refuse(
        "reads = \"50 %\"",
        stride,
        path,
        "stride = \"3 MiB\"",
        &["not less than the region (3 MiB)"],
    );
    let serial = "latency = \"0 us\"\nserial = true";
    let path = "drive.buffer.serial";
    refuse("latency = \"0 us\"", serial, path, "serial = true", &["take no time"]);
}

#[test]
fn times_of_more_than_a_year_are_refused() {
    let year = ["at most 365 d"];
    let of_drive = |old: &str, new: &str, path: &str| refuse(old, new, path, new, &year);
    of_drive("read = [\"25 us\"]", "read = [\"8761 h\"]", "drive.nand.read");
    of_drive("program = [\"200 us\"]", "program = [\"8761 h\"]", "drive.nand.program");
    of_drive("execute = \"1500 us\"", "execute = \"8761 h\"", "drive.nand.erase.execute");
    of_drive("decode = \"0 us\"", "decode = \"8761 h\"", "drive.nand.decode");
    of_drive("latency = \"0 us\"", "latency = \"8761 h\"", "drive.buffer.latency");
    let scrub = "[drive.ftl.scrub]\nchoice = \"oldest\"\ninterval = \"8761 h\"\n[precondition]";
    let interval = "interval = \"8761 h\"";
    refuse("[precondition]", scrub, "drive.ftl.scrub.interval", interval, &year);
    of_drive("flush = \"0 us\"", "flush = \"8761 h\"", "drive.firmware.flush");
    let erase = ("steps = 1, ramp = \"0 us\"", "steps = 10, ramp = \"877 h\"");
    refuse(erase.0, erase.1, "drive.nand.erase", erase.1, &["longer than a year"]);
    // A year of a channel at 40.96 MB/s carries 1292 TB.
    let spare = ("page_spare = \"0 B\"", "page_spare = \"1300 TB\"");
    let phrases = ["1300", "longer than a year"];
    refuse(spare.0, spare.1, "drive.geometry.page_spare", spare.1, &phrases);
    for (key, path) in [
        ("start = \"8761 h\"", "workload[0].start"),
        ("think_time = \"8761 h\"", "workload[0].think_time"),
        ("think_time = { mean = \"8761 h\" }", "workload[0].think_time.mean"),
        ("bursts = { on = \"8761 h\", off = \"1 s\" }", "workload[0].bursts.on"),
        ("bursts = { on = \"1 s\", off = \"8761 h\" }", "workload[0].bursts.off"),
        ("stop = { time = \"8761 h\" }", "workload[0].stop.time"),
    ] {
        let with = format!("reads = \"50 %\"\n{key}");
        refuse("reads = \"50 %\"", &with, path, key, &year);
    }
    refuse("requests = 100", "time = \"8761 h\"", "run.time", "8761 h", &year);
    for (table, time, path) in [
        ("drive.ftl.parity]\nwidth = 2", "xor = \"366 d\"", "drive.ftl.parity.xor"),
        ("drive.ftl.superblock]\ndies = 2", "xor = \"366 d\"", "drive.ftl.superblock.xor"),
        (
            "drive.nand.faults]",
            "dies = [{ die = 0, at = \"366 d\" }]",
            "drive.nand.faults.dies[0].at",
        ),
    ] {
        let with = format!("[{table}\n{time}\n[precondition]");
        let problems =
            load::load(&file(&[("[precondition]", &with)]), "ssd.toml", &[]).unwrap_err();
        assert!(
            problems.to_string().contains(&format!("{path}: 31622400 s: {}", year[0])),
            "{problems}"
        );
    }
    let late = "requests = 100\nfailures = [{ at = \"366 d\", die = 0 }]";
    let parity = "[drive.ftl.parity]\nwidth = 2\n[precondition]";
    let text = file(&[("[precondition]", parity), ("requests = 100", late)]);
    let problems = load::load(&text, "ssd.toml", &[]).unwrap_err().to_string();
    assert!(problems.contains("run.failures[0].at: 31622400 s: at most 365 d"), "{problems}");
}

#[test]
fn an_empty_drive_has_nothing_to_age() {
    let phrases = ["has no data for this", "\"sequential\" or \"random\""];
    for (key, line) in [
        ("age", "age = { overwrites = 1.0 }"),
        ("share", "share = \"50 %\""),
        ("stale", "stale = { share = '10 %', of_block = '50 %' }"),
        ("in_step", "in_step = true"),
    ] {
        let empty = format!("fill = \"empty\"\n{line}");
        refuse("fill = \"sequential\"", &empty, &format!("precondition.{key}"), line, &phrases);
    }
    let full = "fill = \"sequential\"\nin_step = true";
    load::load(&file(&[("fill = \"sequential\"", full)]), "ssd.toml", &[])
        .unwrap_or_else(|problems| panic!("{problems}"));
}

#[test]
fn clones_are_aged_between_two_bounds_and_out_of_step() {
    let fill = "fill = \"sequential\"";
    for (overwrites, beside, phrases) in [
        ("{ from = 2.0, to = 1.0 }", fill, ["from (2) is above to (1)", "exchange"]),
        ("{ from = 0.0, to = 0.0 }", fill, ["ages nothing", "leave overwrites out"]),
        ("{ from = 0.0, to = 1.0 }", "fill = \"empty\"", ["no data", "precondition.fill"]),
        (
            "{ from = 0.0, to = 1.0 }",
            "fill = \"sequential\"\nin_step = true",
            ["out of the step", "leave one of the two out"],
        ),
    ] {
        let line = format!("overwrites = {overwrites}");
        let table = format!("{beside}\n[clone]\nnumber = 1\n{line}");
        refuse(fill, &table, "clone.overwrites", &line, &phrases);
    }
    for (table, path) in
        [("number = 0", "clone.number"), ("overwrites = { from = 0.0, to = 1.0 }", "clone.number")]
    {
        let text = file(&[(fill, &format!("{fill}\n[clone]\n{table}"))]);
        let found = problems(&text);
        assert!(found.problems.iter().any(|fault| fault.path == path), "{table}: {found}");
    }
}

#[test]
fn stale_pages_are_some_and_not_all() {
    for (key, share) in
        [("share", "0 %"), ("share", "100 %"), ("of_block", "0 %"), ("of_block", "100 %")]
    {
        let other = if key == "share" { "of_block" } else { "share" };
        let line = format!("stale = {{ {key} = \"{share}\", {other} = \"50 %\" }}");
        let with = format!("fill = \"sequential\"\n{line}");
        let path = format!("precondition.stale.{key}");
        refuse("fill = \"sequential\"", &with, &path, &line, &["above 0 % and below 100 %"]);
    }
}

// ---- presets and overrides -------------------------------------------------------------------

#[test]
fn an_unknown_preset_is_refused_with_those_there_are() {
    let text = "[drive]\npreset = \"tlc-of-tomorrow\"\n[[workload]]\nname = \"host\"\nreads = \"0 %\"\n\
                [run]\nrequests = 1\n";
    let found = problems(text);
    let message = &found.problems[0].message;
    assert_eq!((found.len(), &found.problems[0].path[..]), (1, "drive.preset"), "{found}");
    assert!(message.contains("tlc-of-tomorrow") && message.contains("(valid: dc-tlc, "), "{found}");
    assert_eq!(found.problems[0].line, Some(2), "{found}");
}

#[test]
fn a_fault_of_an_override_says_that_it_is_one() {
    let overrides = [
        ("drive.ftl.gc.window".to_owned(), "0".to_owned()),
        ("drive.ftl.gc.windw".to_owned(), "2".to_owned()),
        ("drive.nand.decode".to_owned(), "7".to_owned()),
    ];
    let found = load::load(&file(&[]), "ssd.toml", &overrides).expect_err("it is refused");
    println!("{found}");
    let text = found.to_string();
    for expected in [
        "override, drive.ftl.gc.window: 0 is too small (at least 1)",
        "override, drive.ftl.gc.windw: unknown key (did you mean \"window\"?",
        "override, drive.nand.decode: 7 has no unit",
    ] {
        assert!(text.contains(expected), "no \"{expected}\" in {text}");
    }
    assert_eq!(found.len(), 3);
}

// ---- all at once ----------------------------------------------------------------------------

#[test]
fn all_faults_of_writing_are_reported_at_once() {
    let text = file(&[
        ("channels = 1\n", "channels = 0\n"),
        ("decode = \"0 us\"", "decode = 7"),
        ("policy = \"greedy\"", "policy = \"greddy\""),
        ("copy_back", "copyback"),
        ("reads = \"50 %\"", "reads = \"half\""),
    ]);
    let found = problems(&text);
    expect(&text, &found, "drive.geometry.channels", "channels = 0", &["too small"]);
    expect(&text, &found, "drive.nand.decode", "decode = 7", &["no unit"]);
    expect(&text, &found, "drive.ftl.gc.victim.policy", "greddy", &["greedy"]);
    expect(&text, &found, "drive.ftl.gc.copyback", "copyback", &["copy_back"]);
    expect(&text, &found, "workload[0].reads", "\"half\"", &["half"]);
    assert_eq!(found.len(), 5);
    assert!(found.to_string().starts_with("ssd.toml: 5 problems\n"));
    assert!(found.problems.is_sorted_by_key(|problem| problem.line), "in the order of lines");
}

#[test]
fn all_contradictions_are_reported_at_once() {
    let text = file(&[
        ("read = [\"25 us\"]", "read = [\"25 us\", \"30 us\"]"),
        ("background = \"1 block\"", "background = \"9 blocks\""),
        ("foreground = \"1 block\"", "foreground = \"20 blocks\""),
        ("size = \"1 MiB\"", "size = \"2 KiB\""),
        ("reads = \"50 %\"", "reads = \"50 %\"\nregion = { offset = \"1 GiB\" }"),
        ("requests = 100\n", "time = \"1 s\"\nwarm_up = { time = \"2 s\" }\n"),
    ]);
    let found = problems(&text);
    expect(&text, &found, "drive.nand.read", "\"30 us\"", &["2 figures"]);
    expect(
        &text,
        &found,
        "drive.ftl.gc.background",
        "background = ",
        &["foreground threshold of 20"],
    );
    expect(&text, &found, "drive.ftl.gc.stop", "stop = ", &["background threshold of 9"]);
    expect(&text, &found, OVER, TABLE, &["foreground threshold", "more spare blocks"]);
    expect(&text, &found, "drive.buffer.size", "\"2 KiB\"", &["4096 bytes"]);
    expect(&text, &found, "run.warm_up.time", "warm_up", &["not shorter"]);
    assert!(found.problems.iter().any(|problem| problem.path.starts_with("workload[0].region")));
    assert_eq!(found.len(), 7, "{found}");
    assert!(found.problems.is_sorted_by_key(|problem| problem.line), "in the order of lines");
}

#[test]
fn suspension_that_can_never_be_is_refused() {
    // Five steps of 1500 us.
    let steps = ("steps = 1", "steps = 5");
    let with = |routing: &str, suspension: &str| {
        let bypass = "bypass = \"batch\"";
        let scheduler = format!("{bypass}\nread_routing = {routing}\nsuspension = {suspension}");
        file(&[steps, (bypass, &scheduler)])
    };
    let (suspend, deadline) = ("\"suspend\"", "{ policy = \"deadline\", within = ");
    let at_steps = "\"d-es\"";
    let most = |most: u32| format!("\"d-es\"\nsuspension_bounds = {{ most = {most} }}");
    for sound in [with(&format!("{deadline}\"7499 us\" }}"), at_steps), with(suspend, &most(4))] {
        load::load(&sound, "ssd.toml", &[]).unwrap_or_else(|problems| panic!("{problems}"));
    }
    let text = with(&format!("{deadline}\"7500 us\" }}"), at_steps);
    let path = "drive.scheduler.read_routing.within";
    expect(&text, &problems(&text), path, "7500 us", &["no read ever asks"]);
    let text = with(suspend, &most(5));
    let path = "drive.scheduler.suspension_bounds.most";
    expect(&text, &problems(&text), path, "most = 5", &["4 safe points"]);
}

#[test]
fn suspension_settings_that_do_nothing_are_refused() {
    // One step of 1500 us, as long as the erase.
    let bypass = "bypass = \"batch\"";
    let with = |more: &str| file(&[(bypass, &format!("{bypass}\n{more}"))]);
    for (more, path, at, why) in [
        (
            "suspension = \"i-es\"\nsuspension_bounds = { gap = \"1500 us\" }",
            "drive.scheduler.suspension_bounds.gap",
            "gap = \"1500 us\"",
            "no shorter than a whole erase",
        ),
        (
            "suspension = { policy = \"t-es\", after = \"0 s\" }",
            "drive.scheduler.suspension",
            "t-es",
            "has no safe point inside",
        ),
        ("suspension = \"d-es\"", "drive.scheduler.suspension", "d-es", "has no safe point inside"),
        (
            "suspension_bounds = { most = 1 }",
            "drive.scheduler.suspension_bounds",
            "most = 1",
            "no erase is ever suspended",
        ),
        (
            "program_suspension = \"i-es\"",
            "drive.scheduler.program_suspension",
            "i-es",
            "give drive.nand.program_steps",
        ),
    ] {
        let text = with(more);
        expect(&text, &problems(&text), path, at, &[why]);
    }
    let sound = with("suspension = \"i-es\"\nsuspension_bounds = { gap = \"1499 us\" }");
    load::load(&sound, "ssd.toml", &[]).unwrap_or_else(|problems| panic!("{problems}"));
}

#[test]
fn erases_that_never_wait_for_each_other_are_not_batched() {
    let bypass = "bypass = \"batch\"";
    let with = |stop: &str, most: &str| {
        let batching = format!("{bypass}\nerase_batching = {{ quiet = \"1 ms\"{most} }}");
        file(&[(bypass, &batching), ("stop = \"1 block\"", &format!("stop = \"{stop}\""))])
    };
    // The foreground threshold is one block.
    let path = "drive.scheduler.erase_batching";
    let text = with("1 block", "");
    expect(&text, &problems(&text), path, "erase_batching", &["ends at the foreground threshold"]);
    let text = with("4 blocks", ", most = 4");
    let why = ["4 erases", "takes 3 at most"];
    expect(&text, &problems(&text), &format!("{path}.most"), "most = 4", &why);
    let text = with("4 blocks", ", most = 1");
    expect(&text, &problems(&text), &format!("{path}.most"), "most = 1", &["2"]);
    for sound in [with("2 blocks", ""), with("4 blocks", ", most = 3")] {
        load::load(&sound, "ssd.toml", &[]).unwrap_or_else(|problems| panic!("{problems}"));
    }
}

#[test]
fn what_cannot_go_in_rounds_is_refused() {
    let bypass = "bypass = \"batch\"";
    let rounds = "rounds = { unit = \"package\" }";
    let preemptible = ("preemptible = true", "preemptible = false");
    let with = |more: &str, replaced: &[(&str, &str)]| {
        let scheduler = format!("{bypass}\n{rounds}\n{more}");
        file(&[&[(bypass, scheduler.as_str())], replaced].concat())
    };
    let sound = with("", &[preemptible]);
    load::load(&sound, "ssd.toml", &[]).unwrap_or_else(|problems| panic!("{problems}"));
    let text = with("", &[]);
    let path = "drive.ftl.gc.preemptible";
    expect(&text, &problems(&text), path, "preemptible", &["choose preemptible = false"]);
    let text = with("", &[preemptible, ("pacing = \"none\"", "pacing = \"proportional\"")]);
    expect(&text, &problems(&text), "drive.ftl.gc.pacing", "pacing", &["pacing = \"none\""]);
    let idle = ("window = 1", "window = 1\nidle_gap = \"1 ms\"");
    let text = with("", &[preemptible, idle]);
    expect(
        &text,
        &problems(&text),
        "drive.ftl.gc.idle_gap",
        "idle_gap",
        &["leave rounds out (rounds = \"none\")"],
    );
    let reserved = ("preemptible = true", "preemptible = false\nreserve_until = \"stop\"");
    let text = with("", &[reserved]);
    let path = "drive.ftl.gc.reserve_until";
    expect(&text, &problems(&text), path, "reserve_until", &["reserve_until = \"erase\""]);
    let text = with("suspension = \"i-es\"", &[preemptible]);
    let path = "drive.scheduler.suspension";
    expect(&text, &problems(&text), path, "i-es", &["leave rounds out (rounds = \"none\")"]);
    let small = "rounds = { unit = \"plane\" }";
    let planes = ("planes_per_die = 1", "planes_per_die = 2");
    let text = with("", &[preemptible, planes]).replace(rounds, small);
    let path = "drive.scheduler.rounds.unit";
    expect(&text, &problems(&text), path, small, &["is larger than the level of the rounds"]);
    let text = sound.replace(rounds, "rounds = { unit = \"gang\" }");
    expect(&text, &problems(&text), path, "rounds = {", &["there is no gang"]);
    // A package of one die is one unit, one of two dies is two.
    let several = "rounds = { unit = \"package\", most = 3 }";
    let text = sound.replace(rounds, several);
    let path = "drive.scheduler.rounds.most";
    expect(&text, &problems(&text), path, "most = 3", &["one unit", "leave this out"]);
    let two = ("dies_per_package = 1", "dies_per_package = 2");
    let text = with("", &[preemptible, two]).replace(rounds, several);
    load::load(&text, "ssd.toml", &[]).unwrap_or_else(|problems| panic!("{problems}"));
}

#[test]
fn migration_that_leaves_rate_limiting_nothing_is_told() {
    let says_so = |wear: &str| {
        let text = file(&[("unit = \"4 KiB\"", &format!("unit = \"4 KiB\"\nwear = {wear}"))]);
        let text = text.replace("endurance = 0", "endurance = 100");
        let (_, checked) =
            load::load(&text, "ssd.toml", &[]).unwrap_or_else(|problems| panic!("{problems}"));
        let is_told =
            |note: &String| note.contains("less than 80 %") && note.contains("retirement_age 85 %");
        checked.notes.iter().any(is_told)
    };
    assert!(says_so("{ retirement_age = \"85 %\", age_variance = \"20 %\" }"));
    assert!(!says_so("{ retirement_age = \"75 %\", age_variance = \"20 %\" }"));
    assert!(!says_so("{ age_variance = \"20 %\" }"));
}

#[test]
fn a_threshold_of_no_block_is_refused_and_not_told_to_be_lower() {
    let text = "[drive]\npreset = \"atc08\"\n[[workload]]\nname = \"host\"\n\
                reads = \"50 %\"\n[run]\nrequests = 100\n";
    let few = [("drive.geometry.blocks_per_plane".into(), "4".into())];
    let problems = load::load(text, "ssd.toml", &few).expect_err("5 % of 4 blocks are none");
    let found: Vec<_> = problems.problems.iter().map(|one| one.path.as_str()).collect();
    assert_eq!(found, ["drive.ftl.gc.foreground"], "{problems}");
    assert!(problems.to_string().contains("is no block at all"), "{problems}");
}

#[test]
fn the_rounds_of_a_preset_are_left_out_by_a_word() {
    let with = |rounds: &str, overrides: &[(&str, &str)]| {
        let text = format!(
            "[drive]\npreset = \"atc08\"\n{rounds}\n[[workload]]\nname = \"host\"\n\
             reads = \"50 %\"\n[run]\nrequests = 100\n"
        );
        let overrides: Vec<_> =
            overrides.iter().map(|(path, value)| ((*path).into(), (*value).into())).collect();
        let loaded = load::load(&text, "ssd.toml", &overrides);
        loaded.map(|(experiment, _)| experiment.drive.scheduler.rounds.is_some())
    };
    let path = "drive.scheduler.rounds";
    let suspends = ("drive.scheduler.suspension", "i-es");
    let preemptible = ("drive.ftl.gc.preemptible", "true");
    assert_eq!(with("", &[]), Ok(true));
    assert_eq!(with("scheduler.rounds = \"none\"", &[suspends, preemptible]), Ok(false));
    assert_eq!(with("", &[(path, "none"), suspends, preemptible]), Ok(false));
    let problems = with("scheduler.rounds = {}", &[]).expect_err("it changes nothing");
    let found: Vec<_> = problems.problems.iter().map(|one| (one.path.as_str(), one.line)).collect();
    assert_eq!(found, [(path, Some(3))]);
    assert!(problems.to_string().contains("rounds = \"none\""), "{problems}");
    // With other faults, too.
    let problems = with("scheduler.rounds = {}", &[("drive.buffer.size", "2")]).unwrap_err();
    assert_eq!(problems.problems.len(), 2, "{problems}");
}

#[test]
fn bins_summaries_and_gangs_that_cannot_be_are_refused() {
    let pool = "pool = \"drive\"";
    let planes = ("planes_per_die = 1", "planes_per_die = 2");
    let text = file(&[(pool, "pool = \"plane\"\nbin = \"die\""), planes]);
    let path = "drive.ftl.allocation.bin";
    expect(&text, &problems(&text), path, "bin = \"die\"", &["not larger than its pool"]);
    let bin = (pool, "pool = \"drive\"\nbin = \"die\"");
    let text = file(&[bin, planes, ("read = \"die\"", "read = \"plane\"")]);
    let path = "drive.concurrency.read";
    expect(&text, &problems(&text), path, "read = \"plane\"", &["has 2 planes", "only 1"]);
    let unit = "unit = \"4 KiB\"";
    let text = file(&[(unit, "unit = \"8 KiB\"\nsummary_page = true")]);
    let path = "drive.ftl.summary_page";
    expect(&text, &problems(&text), path, "summary_page", &["2 rows", "leave summary_page out"]);
    let channels = "channels = 1";
    let with_gang = |gang: &str| file(&[(channels, &format!("channels = 4\ngang = {gang}"))]);
    let text = with_gang("{ channels = 3, control = \"synchronous\" }");
    let path = "drive.geometry.gang.channels";
    expect(&text, &problems(&text), path, "gang = {", &["3 does not divide the 4"]);
}

#[test]
fn codewords_that_lie_across_what_is_read_apart_are_refused() {
    let path = "drive.nand.codeword";
    let with = |more: &[(&str, &str)], codeword: &str| {
        let codeword = format!("endurance = 0\ncodeword = \"{codeword}\"");
        file(&[more, &[("endurance = 0", &codeword)]].concat())
    };
    for (codeword, size) in
        [("8 KiB", "of 4 KiB"), ("1000 B", "1 kB does not"), ("0 B", "0 B does not")]
    {
        let text = with(&[], codeword);
        expect(&text, &problems(&text), path, "codeword = ", &["a mapping unit", size]);
    }
    // Units of two pages.
    let text = with(&[("unit = \"4 KiB\"", "unit = \"8 KiB\"")], "8 KiB");
    expect(&text, &problems(&text), path, "codeword = ", &["a page (drive.geometry.page_size)"]);
    let gang = ("channels = 1", "channels = 2\ngang = { channels = 2, control = \"synchronous\" }");
    let text = with(&[gang], "2 KiB");
    expect(&text, &problems(&text), path, "codeword = ", &["synchronous gang"]);
    let sound = with(&[], "2 KiB");
    load::load(&sound, "ssd.toml", &[]).unwrap_or_else(|problems| panic!("{problems}"));
}

#[test]
fn wear_leveling_and_untimed_runs_that_mean_nothing_are_refused() {
    let unit = "unit = \"4 KiB\"";
    let with_wear = |wear: &str, endurance: u32| {
        let ftl = format!("{unit}\nwear = {{ {wear} }}");
        let endures = format!("endurance = {endurance}");
        file(&[(unit, &ftl), ("endurance = 0", &endures)])
    };
    let path = "drive.ftl.wear";
    let text = with_wear("retirement_age = \"85 %\"", 0);
    expect(&text, &problems(&text), path, "wear = {", &["never wear out"]);
    let text = with_wear("rate_window = \"10 %\"", 50);
    expect(&text, &problems(&text), path, "wear = {", &["neither"]);
    let text = with_wear("age_variance = \"20 %\", rate_window = \"81 %\"", 50);
    let path = "drive.ftl.wear.rate_window";
    expect(&text, &problems(&text), path, "wear = {", &["at most 80"]);
    for window in ["80 %", "0 %"] {
        let sound = with_wear(&format!("age_variance = \"20 %\", rate_window = \"{window}\""), 50);
        load::load(&sound, "ssd.toml", &[]).unwrap_or_else(|problems| panic!("{problems}"));
    }

    let text = file(&[("requests = 100", "requests = 100\nuntimed = true\naudit = true")]);
    expect(&text, &problems(&text), "run.audit", "audit = true", &["leave untimed out"]);
    let limit = ("copy_back = false", "copy_back = false\ncopy_back_most = 3");
    let path = "drive.ftl.gc.copy_back_most";
    refuse(limit.0, limit.1, path, "copy_back_most", &["nothing is copied back"]);
}

#[test]
fn pages_stream_only_where_a_package_could_take_them() {
    let streams = ("copy_back = false", "copy_back = false\nstreaming = true");
    let path = "drive.ftl.gc.streaming";
    let refused = |more: &[(&str, &str)], phrase: &str| {
        let text = file(&[&[streams], more].concat());
        expect(&text, &problems(&text), path, "streaming", &[phrase]);
    };
    let pool = ("pool = \"drive\"", "pool = \"package\"");
    refused(&[pool], "no second package");
    refused(&[("unit = \"4 KiB\"", "unit = \"16 KiB\"")], "takes 4 rows");
    refused(&[("read = \"die\"", "read = \"channel\"")], "only one package of a channel");
    let copies = "copy_back = true\nstreaming = true";
    let text = file(&[("copy_back = false", copies)]);
    expect(&text, &problems(&text), path, "streaming", &["choose one of both"]);
}

// ---- bit errors -------------------------------------------------------------------

#[test]
fn policies_that_know_of_errors_are_refused_without() {
    for policy in ["expected-errors", "refresh", "cost-benefit", "patrol"] {
        let scrub = format!(
            "[drive.ftl.scrub]\ninterval = \"1 s\"\nchoice = \"{policy}\"\ntask = \"own\"\nstream = \"own\"\n"
        );
        let table = format!("{scrub}[precondition]");
        let choice = format!("choice = \"{policy}\"");
        let phrases = ["drive.nand.errors is not given", "give errors"];
        refuse("[precondition]", &table, "drive.ftl.scrub.choice", &choice, &phrases);
    }
}

/// Problems of a drive whose scrubbing is a task of its own, with these settings.
fn scrubber(settings: &[(&'static str, &str)]) -> String {
    let own = [
        ("ftl.scrub.interval", "1 s"),
        ("ftl.scrub.choice", "oldest"),
        ("ftl.scrub.stream", "own"),
        ("ftl.scrub.task", "own"),
    ];
    let all = own.iter().chain(settings).map(|(key, value)| set(key, value));
    try_experiment(BY_HAND, &all.collect::<Vec<_>>()).err().unwrap_or_default()
}

#[test]
fn a_task_of_scrubbing_refuses_what_it_does_not_support() {
    assert_eq!(scrubber(&[]), "");
    for (settings, remedy) in [
        (&[("ftl.scrub.stream", "collection")][..], "stream = \"own\""),
        (&[("ftl.gc.preemptible", "false")], "preemptible = true"),
        (&[("ftl.gc.preemptible", "false"), ("ftl.gc.blocking", "channel")], "preemptible = true"),
        (&[("ftl.gc.copy_back", "true")], "copy_back = false"),
        (&[("ftl.gc.streaming", "true"), ("geometry.channels", "2")], "streaming = false"),
        (&[("ftl.gc.idle_gap", "1 ms"), ("ftl.gc.stop", "2 blocks")], "idle_gap out"),
        (&[("ftl.gc.at_once.channel", "1"), ("geometry.dies_per_package", "2")], "at_once out"),
        (
            &[
                ("ftl.wear", "{ retirement_age = \"5 %\", age_variance = \"5 %\" }"),
                ("nand.endurance", "100"),
            ],
            "wear out",
        ),
        (
            &[
                ("ftl.parity.width", "2"),
                ("geometry.channels", "2"),
                ("ftl.allocation.pool", "plane"),
                ("buffer.size", "64 KiB"),
                ("scheduler.rotation", "rotating"),
            ],
            "rotation out",
        ),
        (&[("recovery.map", "scan")], "recovery out"),
    ] {
        let problems = scrubber(settings);
        assert!(problems.contains(": 1 problem\n"), "{settings:?}: {problems}");
        let path = "drive.ftl.scrub.task: ";
        let is_told = problems.contains(path) && problems.contains(remedy);
        assert!(is_told && problems.contains("or choose task = \"turns\""), "{problems}");
    }
    // Rounds and failures refuse any scrubbing.
    let rounds = [("scheduler.rounds.unit", "die"), ("ftl.gc.preemptible", "false")];
    assert!(scrubber(&rounds).contains("drive.ftl.scrub: "));
}

#[test]
fn what_only_a_task_of_scrubbing_has_is_refused_without() {
    for (key, value, phrase) in [
        ("ftl.scrub.window", "4", "choose task = \"own\", or leave this out"),
        ("ftl.scrub.rate", "1 MB/s", "choose task = \"own\", or leave this out"),
        ("ftl.scrub.choice", "patrol", "choose task = \"own\", or another policy"),
    ] {
        let errors =
            "{ chip = \"tlc-72-layer\", codeword = \"512 B\", re_read_scale = 2.0, corrects = 75 }";
        let turns = [("ftl.scrub.task", "turns"), ("nand.errors", errors), (key, value)];
        let problems = scrubber(&turns);
        assert!(problems.contains(": 1 problem\n"), "{problems}");
        assert!(
            problems.contains(&format!("drive.{key}: ")) && problems.contains(phrase),
            "{problems}"
        );
    }
    assert!(scrubber(&[("ftl.scrub.rate", "1 B/h")]).contains("drive.ftl.scrub.rate"));
    let slow = scrubber(&[("ftl.scrub.rate", "1 B/s"), ("geometry.pages_per_block", "16384")]);
    assert!(slow.contains("a block of 67108864 bytes takes longer than a year"), "{slow}");
    assert!(scrubber(&[("ftl.scrub.window", "65")]).contains("drive.ftl.scrub.window"));
}

#[test]
fn errors_need_a_rate_codewords_and_an_end() {
    let of = |more: &[(&'static str, &str)]| {
        let drive = [
            ("nand.errors.chip", "tlc-72-layer"),
            ("nand.errors.codeword", "512 B"),
            ("nand.errors.corrects", "75"),
            ("nand.errors.re_read_scale", "2.0"),
        ];
        let all = drive.iter().chain(more).map(|(key, value)| set(key, value));
        try_experiment(BY_HAND, &all.collect::<Vec<_>>()).err().unwrap_or_default()
    };
    assert_eq!(of(&[]), "");
    let constants = "{ base = 0.001, wear = { factor = 0.0, exponent = 1.0 }, retention = { factor = 0.0, cycles_exponent = 1.0, days_exponent = 1.0 }, disturb = { factor = 0.0, cycles_exponent = 1.0, reads_exponent = 1.0 } }";
    let ladder = ("ftl.read_recovery", "{ policy = 'ladder', re_reads = 2 }");
    let softly =
        |corrects: &str| ["{ corrects = ", corrects, ", senses = 2, decode = '9 us' }"].concat();
    for (more, path, phrase) in [
        (
            vec![("nand.errors.constants", constants)],
            "errors.constants",
            "leave one of the two out",
        ),
        (vec![("nand.errors.codeword", "500 B")], "errors.codeword", "do not divide a page"),
        (vec![("nand.errors.codewords_per_page", "9")], "codewords_per_page", "holds 8 codewords"),
        (vec![("nand.errors.codewords_per_page", "3")], "codewords_per_page", "evenly"),
        (vec![("nand.errors.corrects", "4096")], "errors.corrects", "4096 bits"),
        (vec![("nand.errors.re_read_scale", "1.0")], "re_read_scale", "repeated for ever"),
        (vec![("nand.errors.re_read_scale", "0.5")], "re_read_scale", "at least 1.0"),
        (vec![("nand.errors.spread", "{}")], "errors.spread", ""),
        (vec![("nand.errors.spread.layers", "5 %")], "layer_count", "both or neither"),
        (vec![("nand.errors.spread.blocks", "301 %")], "spread.blocks", "at most 300"),
        (
            vec![("nand.errors.initial_cycles", "{ from = 9, to = 8 }")],
            "initial_cycles",
            "must not be greater",
        ),
        (
            vec![("nand.errors.initial_age", "{ from = '2 h', to = '1 h' }")],
            "initial_age",
            "must not be greater",
        ),
        (vec![("nand.errors.soft_decoding", &softly("99"))], "soft_decoding", "has no limit"),
        (
            vec![("nand.errors.soft_decoding", &softly("75")), ladder],
            "soft_decoding.corrects",
            "more than the 75",
        ),
        (vec![("ftl.gc.copy_back", "true")], "copy_back", "add up"),
        (vec![("run.untimed", "true"), ("run.audit", "false")], "run.untimed", "reads nothing"),
    ] {
        let fault = of(&more);
        assert!(fault.contains(path) && fault.contains(phrase), "{more:?}: {fault}");
        assert!(fault.contains(": 1 problem\n"), "{more:?}: {fault}");
    }
    let without = |more: &[(&'static str, &str)]| {
        let all = more.iter().map(|(key, value)| set(key, value));
        try_experiment(BY_HAND, &all.collect::<Vec<_>>()).err().unwrap_or_default()
    };
    assert!(without(&[ladder]).contains("drive.nand.errors is not given"));
    let unlimited = [
        ("nand.errors.codeword", "512 B"),
        ("nand.errors.re_read_scale", "2.0"),
        ("nand.errors.chip", "tlc-72-layer"),
        ladder,
    ];
    assert!(without(&unlimited).contains("corrects any number of errors"));
    assert!(without(&unlimited[..2]).contains("give a chip, or constants"));
}

#[test]
fn errors_beside_parity_need_collections_that_reserve_nothing_and_flash_that_works() {
    let of = |more: &[(&'static str, &str)]| {
        let drive = [
            ("geometry.channels", "8"),
            ("ftl.allocation.pool", "plane"),
            ("ftl.parity", "{ width = 8, rebuild = 'none' }"),
            ("ftl.over_provisioning.exported", "16 MiB"),
            ("buffer.size", "64 KiB"),
            (
                "nand.errors",
                "{ chip = 'tlc-72-layer', codeword = '512 B', corrects = 75, re_read_scale = 2 }",
            ),
        ];
        let all = drive.iter().chain(more).map(|(key, value)| set(key, value));
        try_experiment(BY_HAND, &all.collect::<Vec<_>>()).err().unwrap_or_default()
    };
    let failures = ("run.failures", "[{ at = '1 s', die = 0 }]");
    for (more, path, phrase) in [
        (("ftl.gc.preemptible", "false"), "drive.ftl.gc.preemptible", "would wait for each other"),
        (failures, "run.failures", "computed without errors"),
    ] {
        let fault = of(&[more]);
        assert!(fault.contains(path) && fault.contains(phrase), "{more:?}: {fault}");
        assert!(fault.contains(": 1 problem\n"), "{more:?}: {fault}");
    }
}

#[test]
fn a_buffer_of_all_numbers_is_one_problem() {
    let striped = [
        ("geometry.channels", "8"),
        ("ftl.allocation.pool", "plane"),
        ("ftl.parity", "{ width = 8 }"),
        ("ftl.over_provisioning.exported", "16 MiB"),
    ];
    let in_step = [("precondition.fill", "sequential"), ("precondition.in_step", "true")];
    let both = [&striped[..], &in_step].concat();
    // 2^27 units of 4 KiB, and one more.
    for size in ["18446744073709551615 B", "549755817984 B"] {
        for settings in [&[][..], &striped, &in_step, &both] {
            let given = settings.iter().map(|(key, value)| set(key, value));
            let all: Vec<_> = given.chain([set("buffer.size", size)]).collect();
            let fault = try_experiment(BY_HAND, &all).err().unwrap_or_default();
            assert!(fault.contains("drive.buffer.size: "), "{settings:?}: {fault}");
            assert!(fault.contains("at most 134217728 are supported"), "{settings:?}: {fault}");
            assert!(fault.contains(": 1 problem\n"), "{settings:?}: {fault}");
        }
    }
}

/// Problems of a drive whose flash has bit errors, with these settings and this workload.
fn with_errors(settings: &[(&'static str, &str)], workload: &str) -> String {
    let drive = [
        ("nand.errors.chip", "tlc-72-layer"),
        ("nand.errors.codeword", "512 B"),
        ("nand.errors.re_read_scale", "2.0"),
    ];
    let all: Vec<_> = drive.iter().chain(settings).map(|(key, value)| set(key, value)).collect();
    let text = format!("[[workload]]\nname = \"by hand\"\n{workload}\n[run]\nrequests = 1\n");
    try_experiment(&text, &all).err().unwrap_or_default()
}

#[test]
fn faults_need_places_that_exist_and_an_end_of_re_reads() {
    let ladder = ("ftl.read_recovery", "{ policy = 'ladder', re_reads = 2 }");
    let of = |faults: &str| with_errors(&[("nand.faults", faults), ladder], "reads = '50 %'");
    // Flash of one plane with 64 blocks of 16 pages; a code that corrects everything has a ladder for
    // faults alone.
    assert_eq!(of("{ pages = [{ plane = 0, block = 63, page = 15 }] }"), "");
    for (faults, path, phrase) in [
        ("{}", "drive.nand.faults", "names no fault"),
        ("{ page_per_program = '101 %' }", "faults.page_per_program", "at most 100 %"),
        ("{ word_line_per_program = '101 %' }", "word_line_per_program", "at most 100 %"),
        ("{ die_per_hour = -1.0 }", "faults.die_per_hour", "too small"),
        (
            "{ pages = [{ plane = 1, block = 0, page = 0 }] }",
            "faults.pages[0].plane",
            "no plane 1; the last one is 0",
        ),
        (
            "{ pages = [{ plane = 0, block = 64, page = 0 }] }",
            "faults.pages[0].block",
            "no block 64; the last one is 63",
        ),
        (
            "{ pages = [{ plane = 0, block = 0, page = 16 }] }",
            "faults.pages[0].page",
            "no page 16; the last one is 15",
        ),
        (
            "{ word_lines = [{ plane = 0, block = 0, word_line = 16 }] }",
            "faults.word_lines[0].word_line",
            "no word line 16; the last one is 15",
        ),
        ("{ dies = [{ die = 1, at = '1 s' }] }", "faults.dies[0].die", "no die 1"),
        (
            "{ dies = [{ die = 0, at = '1 s' }, { die = 0, at = '2 s' }] }",
            "faults.dies[1]: ",
            "the same part as dies[0]; leave one of the two out",
        ),
        (
            "{ pages = [{ plane = 0, block = 1, page = 2 }, { plane = 0, block = 1, page = 3 }, \
             { plane = 0, block = 1, page = 2, from_erases = 7 }] }",
            "faults.pages[2]: ",
            "the same part as pages[0]; leave one of the two out",
        ),
        (
            "{ word_lines = [{ plane = 0, block = 1, word_line = 2, from_erases = 1 }, \
             { plane = 0, block = 1, word_line = 2, from_erases = 1 }] }",
            "faults.word_lines[1]: ",
            "the same part as word_lines[0]; leave one of the two out",
        ),
    ] {
        let fault = of(faults);
        assert!(fault.contains(path) && fault.contains(phrase), "{faults}: {fault}");
        assert!(fault.contains(": 1 problem\n"), "{faults}: {fault}");
    }
    let page = ("nand.faults", "{ page_per_program = '1 %' }");
    for (policy, path) in [
        (vec![], "drive.ftl.read_recovery: "),
        (vec![("ftl.read_recovery", "{ policy = 'ladder' }")], "drive.ftl.read_recovery: "),
        (vec![ladder, ("ftl.read_recovery_levels.3", "ladder")], "read_recovery_levels.3: "),
    ] {
        let fault = with_errors(&[&[page][..], &policy].concat(), "reads = '50 %'");
        assert!(fault.contains(path) && fault.contains("give a limit of re-reads"), "{fault}");
        assert!(fault.contains(": 1 problem\n"), "{fault}");
    }
    let without = try_experiment(BY_HAND, &[set(page.0, page.1)]).err().unwrap_or_default();
    assert!(without.contains("drive.nand.errors is not given"), "{without}");
    // The last word line of three bits a cell has one page.
    let tlc = |line: &str| {
        let faults = format!("{{ word_lines = [{{ plane = 0, block = 0, word_line = {line} }}] }}");
        let settings = [("nand.faults", faults.as_str()), ladder, ("nand.cell", "tlc")];
        with_errors(&settings, "reads = '50 %'")
    };
    assert_eq!(tlc("5"), "");
    assert!(tlc("6").contains("no word line 6; the last one is 5"));
}

#[test]
fn read_recovery_levels_are_listed_before_they_are_chosen() {
    let corrects = ("nand.errors.corrects", "75");
    let levels = |levels: &'static str| [corrects, ("ftl.read_recovery_levels", levels)];
    let fast = levels("{ 15 = 'none' }");
    let reads = |level: &str| format!("reads = '50 %'\nread_recovery_level = {level}");
    for level in ["4", "15"] {
        assert_eq!(with_errors(&fast, &reads(level)), "");
    }
    let writes = "reads = '0 %'\nread_recovery_level = 15";
    for (settings, workload, path, phrase) in [
        (
            &fast[..],
            reads("3"),
            "workload[0].read_recovery_level",
            "has no level 3; give its policy",
        ),
        (&fast[..1], reads("15"), "workload[0].read_recovery_level", "has no level 15"),
        (&fast[..], reads("16"), "workload[0].read_recovery_level", "too large (at most 15)"),
        (&fast[..], writes.into(), "workload[0].read_recovery_level", "reads nothing"),
        (&levels("{}"), reads("4"), "drive.ftl.read_recovery_levels", "lists no level"),
        (&levels("{ 4 = 'none' }"), reads("4"), "read_recovery_levels.4", "is the default level"),
        (&levels("{ 16 = 'none' }"), reads("4"), "read_recovery_levels", "the last one is 15"),
        (&levels("{ 15 = 'nothing' }"), reads("4"), "read_recovery_levels.15", "nothing"),
        (
            &levels("{ 15 = { policy = 'conditional', protected = 1 } }"),
            reads("4"),
            "drive.ftl.read_recovery_levels.15.policy",
            "no data has parity",
        ),
        (
            &[
                corrects,
                ("nand.errors.re_read_scale", "1.0"),
                ("ftl.read_recovery", "none"),
                ("ftl.read_recovery_levels", "{ 0 = 'ladder' }"),
            ],
            reads("4"),
            "re_read_scale",
            "(drive.ftl.read_recovery_levels.0)",
        ),
        (
            &[("ftl.read_recovery_levels", "{ 15 = 'none' }")],
            reads("4"),
            "drive.ftl.read_recovery_levels",
            "corrects any number of errors",
        ),
    ] {
        let fault = with_errors(settings, &workload);
        assert!(fault.contains(path) && fault.contains(phrase), "{settings:?} {workload}: {fault}");
        assert!(fault.contains(": 1 problem\n"), "{settings:?} {workload}: {fault}");
    }
    let text = format!("[[workload]]\nname = \"by hand\"\n{}\n[run]\nrequests = 1\n", reads("4"));
    let without = try_experiment(&text, &[]).err().unwrap_or_default();
    assert!(without.contains("so no read is recovered"), "{without}");
    let listed = [set("ftl.read_recovery_levels", "{ 15 = 'none' }")];
    let without = try_experiment(BY_HAND, &listed).err().unwrap_or_default();
    assert!(without.contains("drive.ftl.read_recovery_levels: all that is read"), "{without}");
}

/// Problems of a drive with superblocks of eight dies and these settings.
fn superblocks(settings: &[(&'static str, &str)]) -> String {
    let own = [
        ("geometry.channels", "8"),
        ("geometry.page_spare", "64 B"),
        ("ftl.allocation.streams", "separate"),
        ("ftl.superblock", "{ dies = 8, width = { host = 8 } }"),
    ];
    let all: Vec<_> = own.iter().chain(settings).map(|(key, value)| set(key, value)).collect();
    try_experiment(BY_HAND, &all).err().unwrap_or_default()
}

/// Settings, the key below `superblock` at which they are refused, and a part of the remedy.
type Refused<'a> = (&'a [(&'static str, &'a str)], &'a str, &'a str);

fn expect_refused(cases: &[Refused<'_>]) {
    for (settings, key, remedy) in cases {
        let problems = superblocks(settings);
        assert!(problems.contains(": 1 problem\n"), "{settings:?}: {problems}");
        let path = format!("drive.ftl.superblock{key}: ");
        assert!(problems.contains(&path) && problems.contains(remedy), "{settings:?}: {problems}");
    }
}

#[test]
fn superblocks_refuse_what_they_do_not_support() {
    assert_eq!(superblocks(&[]), "");
    expect_refused(&[
        (&[("ftl.parity.width", "8")], "", "ftl.parity out"),
        (&[("ftl.gc.copy_back", "true")], "", "copy_back = false"),
        (&[("ftl.gc.streaming", "true")], "", "streaming = false"),
        (&[("ftl.gc.preemptible", "false")], "", "preemptible = true"),
        (
            &[("ftl.gc.preemptible", "false"), ("ftl.gc.blocking", "channel")],
            "",
            "preemptible = true",
        ),
        (&[("ftl.gc.at_once.channel", "1")], "", "at_once out"),
        (&[("ftl.gc.idle_gap", "1 ms")], "", "idle_gap out"),
        (
            &[
                ("ftl.gc.background_begins", "quiet-channel"),
                ("ftl.gc.background", "2 blocks"),
                ("ftl.gc.stop", "2 blocks"),
            ],
            "",
            "\"any-time\"",
        ),
        (&[("scheduler.rounds.unit", "die")], "", "rounds out"),
        (&[("ftl.wear.retirement_age", "85 %"), ("nand.endurance", "1000")], "", "wear out"),
        (&[("recovery.map", "scan")], "", "recovery out"),
        (&[("ftl.partial_writes", "plane")], "", "\"controller\""),
        (&[("ftl.summary_page", "true")], "", "summary_page out"),
        (&[("ftl.allocation.choice", "least-busy")], "", "choose choice = \"least-queued\""),
        (&[("ftl.allocation.streams", "shared")], "", "\"separate\""),
        (&[("ftl.allocation.pool", "die")], "", "pool = \"drive\""),
        (&[("ftl.allocation.bin", "die")], "", "allocation.bin out"),
        (&[("geometry.gang", "{ channels = 2, control = \"asynchronous\" }")], "", "gang out"),
    ]);
    let stale = superblocks(&[
        ("precondition.fill", "sequential"),
        ("precondition.stale", "{ share = \"10 %\", of_block = \"50 %\" }"),
    ]);
    assert!(stale.contains("precondition.stale: superblocks begin without stale pages"), "{stale}");
    let failing = superblocks(&[("run.failures", "[{ at = \"1 s\", die = 3 }]")]);
    assert!(failing.contains("cannot be computed without parity"), "{failing}");
    let rotating = superblocks(&[("scheduler.rotation", "rotating")]);
    assert!(rotating.contains("scheduler.rotation: there are no groups of stripes"), "{rotating}");
}

#[test]
fn erases_of_superblocks_wait_for_no_burst() {
    expect_refused(&[(
        &[
            ("scheduler.erase_batching.quiet", "100 us"),
            ("scheduler.suspension", "es"),
            ("scheduler.read_routing", "suspend"),
            ("ftl.gc.background", "3 blocks"),
            ("ftl.gc.stop", "3 blocks"),
        ],
        "",
        "erase_batching out",
    )]);
}

#[test]
fn dies_and_widths_of_superblocks_divide() {
    let scrub = "{ interval = \"1 s\", choice = \"oldest\" }";
    let own = "{ interval = \"1 s\", choice = \"oldest\", stream = \"own\", task = \"own\" }";
    expect_refused(&[
        (&[("ftl.superblock.dies", "3")], ".dies", "8 dies"),
        (&[("ftl.superblock.dies", "4")], ".width.host", "8 does not divide the 4 dies"),
        (&[("ftl.superblock.width.collection", "3")], ".width.collection", "3 does not divide"),
        (
            &[("ftl.superblock.width.scrub", "8"), ("ftl.scrub", scrub)],
            ".width.scrub",
            "stream = \"own\"",
        ),
        (
            &[
                ("ftl.superblock.width", "{ collection = 4 }"),
                ("ftl.over_provisioning.exported", "16 MiB"),
                ("ftl.scrub", scrub),
            ],
            ".width.collection",
            "or task = \"own\" in ftl.scrub, or leave scrub out",
        ),
        (
            &[
                ("ftl.superblock.width", "{ scrub = 4 }"),
                ("ftl.over_provisioning.exported", "16 MiB"),
                ("ftl.scrub", own),
            ],
            ".width.scrub",
            "give scrub stripes that are as wide",
        ),
    ]);
}

#[test]
fn parity_of_superblocks_takes_space_that_a_message_names() {
    // 64 blocks of 128 pages, of which 4 are open or free; without parity, 60 hold data.
    let of = |width: &str, pages: u64| {
        let exported = format!("{} B", pages * 4096);
        superblocks(&[
            ("ftl.superblock.width", width),
            ("ftl.over_provisioning.exported", &exported),
        ])
    };
    for (width, pages) in [
        ("{ host = 8 }", 60 * 128),
        ("{ collection = 8 }", 60 * 112),
        ("{ collection = 2 }", 60 * 64),
    ] {
        assert_eq!(of(width, pages), "", "{width}");
        let problems = of(width, pages + 1);
        assert!(problems.contains("61 blocks of data"), "{width}: {problems}");
    }
}

#[test]
fn a_limit_of_tasks_refuses_what_it_does_not_support() {
    let of = |settings: &[(&'static str, &str)]| {
        let all: Vec<_> = settings.iter().map(|(key, value)| set(key, value)).collect();
        try_experiment(BY_HAND, &all).err().unwrap_or_default()
    };
    let most = ("ftl.tasks.most", "8");
    assert_eq!(of(&[most]), "");
    let rounds = [
        ("scheduler.rounds.unit", "die"),
        ("ftl.gc.preemptible", "false"),
        ("ftl.gc.foreground", "1 block"),
    ];
    let failures = [
        ("geometry.channels", "4"),
        ("ftl.allocation.pool", "die"),
        ("ftl.parity", "{ width = 4, rebuild = \"none\" }"),
        ("ftl.over_provisioning.reserved", "50 %"),
        ("run.failures", "[{ at = \"1 s\", die = 3 }]"),
    ];
    let streaming = [("ftl.gc.streaming", "true"), ("geometry.packages_per_channel", "2")];
    let cases: [(&[(&'static str, &str)], &str); 4] = [
        (&[("ftl.gc.preemptible", "false")], "preemptible = true"),
        (&rounds, "leave rounds out"),
        (&streaming, "streaming = false"),
        (&failures, "leave failures out"),
    ];
    for (settings, remedy) in cases {
        assert_eq!(of(settings), "", "{settings:?}");
        let problems = of(&[settings, &[most]].concat());
        assert!(problems.contains(": 1 problem\n"), "{settings:?}: {problems}");
        let is_told = problems.contains("drive.ftl.tasks: ") && problems.contains(remedy);
        assert!(is_told, "{settings:?}: {problems}");
    }
    assert!(of(&[("ftl.tasks", "{ think = \"1 us\" }")]).contains("most"), "it must be given");
    assert!(of(&[("ftl.tasks.most", "0")]).contains("drive.ftl.tasks.most"), "at least one");
    let long = of(&[most, ("ftl.tasks.think", "9000 h")]);
    assert!(long.contains("drive.ftl.tasks.think: ") && long.contains("a year"), "{long}");
}

#[test]
fn arrays_that_cannot_be() {
    let rails = |more: &str| {
        let cache = "cache = { size = \"1 MiB\", latency = \"1 us\" }";
        format!("{{ policy = \"rails\", period = \"10 ms\", {cache}{more} }}")
    };
    let mirror = "{ policy = \"mirror\" }".to_owned();
    let of = |drives: u32, plan: &str, more: &[(&'static str, &str)]| {
        let array = format!("{{ drives = {drives}, plan = {plan} }}");
        let more = more.iter().map(|(key, value)| set(key, value));
        let all: Vec<_> = [set("array", array)].into_iter().chain(more).collect();
        try_experiment(BY_HAND, &all).err().unwrap_or_default()
    };
    let sets = [("geometry.channels", "2"), ("ftl.sets", "{ channels = 2 }")];
    for (drives, more) in [(1, &[][..]), (2, &[]), (1, &sets), (3, &sets)] {
        assert_eq!(of(drives, &mirror, more), "", "{drives} {more:?}");
    }
    assert_eq!(of(2, &rails(", settle = \"2 ms\""), &[]), "");
    assert_eq!(of(1, &rails(""), &sets), "", "the two sets are members");
    let ping_pong = rails("").replace("rails", "ping-pong");
    let rotation =
        |chunk: &str| rails(&format!(", chunk = \"{chunk}\"")).replace("rails", "rotation");
    assert_eq!(of(3, &rotation("16 KiB"), &[]), "");
    let hedged = "{ policy = \"mirror\", hedge = { after = \"1 ms\" } }";
    let empty = rails("").replace("1 MiB", "0 B");
    for (drives, plan, path, remedy) in [
        (0, &mirror[..], "array.drives", "at least 1"),
        (1, hedged, "array.plan.hedge", "array.drives = 2"),
        (1, &rails(""), "array.plan", "array.drives = 2"),
        (1, &ping_pong, "array.plan", "two drives without NVM sets"),
        (3, &ping_pong, "array.plan", "\"rails\""),
        (2, &rails(", settle = \"10 ms\""), "array.plan.settle", "not shorter than the period"),
        (2, &rails(", settle = \"0 us\""), "array.plan.settle", "leave it out"),
        (2, &rails("").replace("10 ms", "0 us"), "array.plan.period", "takes time"),
        (2, &rails("").replace("10 ms", "9000 h"), "array.plan.period", "a year"),
        (2, &rails(", depth = 0"), "array.plan.depth", "at least 1"),
        (2, &empty, "array.plan.cache.size", "two periods"),
        (2, &rotation("16 KiB"), "array.plan", "array.drives = 3"),
        (3, &rotation("6 KiB"), "array.plan.chunk", "no multiple of the mapping unit"),
        (3, &rotation("0 B"), "array.plan.chunk", "no multiple of the mapping unit"),
        (3, &rotation("1 GiB"), "array.plan.chunk", "smaller chunks"),
    ] {
        let problems = of(drives, plan, &[]);
        assert!(problems.contains(": 1 problem\n"), "{plan}: {problems}");
        assert!(problems.contains(path) && problems.contains(remedy), "{plan}: {problems}");
    }
    let named = of(1, &mirror, &[&sets[..], &[("workload[0].nvm_set", "1")]].concat());
    assert!(
        named.contains("workload[0].nvm_set: the members of an array have one namespace"),
        "{named}"
    );
    let errors =
        "{ chip = \"tlc-72-layer\", codeword = \"512 B\", corrects = 75, re_read_scale = 2.0 }";
    for (key, value) in [
        ("recovery", "{ map = { policy = \"scan\" } }"),
        ("nand.errors", errors),
        ("ftl.scrub", "{ interval = \"10 ms\", choice = \"oldest\" }"),
        ("ftl.tasks.most", "8"),
        ("precondition.snapshot", "drive.snapshot"),
        ("run.starvation.limit", "1 s"),
        ("run.windows.order", "together"),
        ("clone.number", "1"),
        ("run.untimed", "true"),
    ] {
        let problems = of(2, &mirror, &[(key, value)]);
        let table =
            [".most", ".limit", ".order", ".number"].iter().find_map(|of| key.strip_suffix(of));
        let key = table.unwrap_or(key);
        let told = format!("{key}: does not know of arrays yet");
        assert!(problems.contains(&told), "{key}: {problems}");
    }
}

#[test]
fn wear_leveling_over_members_that_cannot_be() {
    let of = |drives: u32, keys: &str, more: &[(&'static str, &str)]| {
        let plan = format!("{{ policy = \"leveling\", {keys} }}");
        let array = set("array", format!("{{ drives = {drives}, plan = {plan} }}"));
        let more = more.iter().map(|(key, value)| set(key, value));
        let all: Vec<_> = [array].into_iter().chain(more).collect();
        try_experiment(BY_HAND, &all).err().unwrap_or_default()
    };
    let sound = "chunk = \"32 KiB\", gap = \"32 KiB\", piece = \"16 KiB\"";
    let sets = [("geometry.channels", "2"), ("ftl.sets", "{ channels = 2 }")];
    assert_eq!(of(2, sound, &[]), "");
    assert_eq!(of(1, sound, &sets), "", "the two sets are members");
    let other = |from: &str, to: &str| sound.replace(from, to);
    let with = |more: &str| format!("{sound}, {more}");
    for (drives, keys, path, remedy) in [
        (1, sound.to_owned(), "array.plan", "give array.drives = 2"),
        (2, other("32 KiB", "40 KiB"), "array.plan.chunk", "smaller pieces"),
        (2, other("16 KiB", "6 KiB"), "array.plan.piece", "no multiple of the mapping unit"),
        (2, other("16 KiB", "0 B"), "array.plan.piece", "no multiple of the mapping unit"),
        (2, other("32 KiB", "1 GiB"), "array.plan.chunk", "smaller chunks"),
        (2, other("gap = \"32", "gap = \"16"), "array.plan.gap", "a larger difference"),
        (2, with("copies = \"0 %\""), "array.plan.copies", "a larger share"),
        (2, with("depth = 0"), "array.plan.depth", "at least 1"),
        (2, with("latency = \"9000 h\""), "array.plan.latency", "a year"),
    ] {
        let problems = of(drives, &keys, &[]);
        assert!(problems.contains(": 1 problem\n"), "{keys}: {problems}");
        assert!(problems.contains(path) && problems.contains(remedy), "{keys}: {problems}");
    }
    let windows = "{ dtwin = \"1 s\", ndwin_low = \"0 s\", ndwin_high = \"1 ms\" }";
    let problems = of(2, sound, &[("ftl.windows", windows)]);
    assert!(problems.contains("drive.ftl.windows: each member alone holds its part"), "{problems}");
    let problems = of(2, sound, &[("buffer.durability", "volatile"), ("buffer.size", "1 MiB")]);
    assert!(problems.contains("drive.buffer.durability: the plan \"leveling\""), "{problems}");
}

#[test]
fn windows_that_are_too_short_for_turns_are_refused_or_told() {
    let told = |dtwin: &str, low: &str| {
        let plan = "{ policy = \"rails\", period = \"10 ms\", cache = { size = \"1 MiB\", latency = \"1 us\" } }";
        let windows =
            format!("{{ dtwin = \"{dtwin}\", ndwin_low = \"{low}\", ndwin_high = \"10 ms\" }}");
        let array = set("array", format!("{{ drives = 3, plan = {plan} }}"));
        let experiment = try_experiment(BY_HAND, &[array, set("ftl.windows", windows)])?;
        Ok::<_, String>(drive::check::check(&experiment).expect("sound").notes.join("\n"))
    };
    // A member is read for two periods of 10 ms, and for longer if the one before is late.
    let words = "drive.ftl.windows.dtwin of at least 3 periods";
    let problems = told("19 ms", "1 ms").expect_err("too short");
    assert!(problems.contains("19 ms is less than the 2 periods"), "{problems}");
    assert!(told("29 ms", "1 ms").expect("allowed").contains(words));
    assert!(!told("30 ms", "1 ms").expect("allowed").contains(words));
    let problems = told("30 ms", "10 ms").expect_err("a turn cannot be late");
    assert!(problems.contains("10 ms is not shorter than a period of the plan"), "{problems}");
    assert!(told("30 ms", "9 ms").is_ok());
}

#[test]
fn the_memory_of_an_array_is_that_of_its_drives() {
    let of = |drives: u32| {
        let array = format!("{{ drives = {drives}, plan = {{ policy = \"mirror\" }} }}");
        let made = try_experiment(BY_HAND, &[set("array", array)]).expect("a sound experiment");
        let memory = drive::check::check(&made).expect("a sound experiment").memory;
        (memory.map_bytes, memory.audit_bytes, memory.slowest_bytes)
    };
    let (one, three) = (of(1), of(3));
    assert_eq!(three, (3 * one.0, 3 * one.1, one.2));
}
