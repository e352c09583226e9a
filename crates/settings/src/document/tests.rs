//! Presets below, overrides above, and the places of what comes out.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::*;
use crate::Time;

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Experiment {
    drive: Drive,
    #[serde(default)]
    workload: Vec<Workload>,
}

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Drive {
    pulse: Time,
    victim: Victim,
    dies: Vec<u32>,
}

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Workload {
    depth: u32,
    pattern: Victim,
}

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
enum Victim {
    Greedy,
    DChoices { choices: u32, retries: Option<u32> },
}

const PRESET: &str =
    "pulse = '800 us'\ndies = [1, 2]\n\n[victim]\nkind = 'd-choices'\nchoices = 10\n";

fn document(text: &str) -> Document {
    Document::parse(text, "ssd.toml").unwrap()
}

/// `text` over the preset as its drive.
fn over_preset(text: &str) -> Document {
    let mut document = document(text);
    document.under::<Experiment>(Document::parse(PRESET, "tlc.toml").unwrap(), "drive").unwrap();
    document
}

fn drive(document: &Document) -> serde_json::Value {
    document.get("drive").cloned().unwrap()
}

fn refusal(document: &Document) -> String {
    document.read::<Experiment>().unwrap_err().to_string()
}

#[test]
fn a_preset_fills_what_the_file_leaves_out() {
    let expected = json!({
        "pulse": "1 ms", "dies": [3], "victim": {"kind": "d-choices", "choices": 10}
    });
    assert_eq!(drive(&over_preset("[drive]\npulse = '1 ms'\ndies = [3]")), expected);
    let whole = over_preset("").read::<Experiment>().unwrap().drive;
    assert_eq!(whole.dies, [1, 2]);
    assert_eq!(whole.victim, Victim::DChoices { choices: 10, retries: None });
}

#[test]
fn parameters_join_while_the_tag_is_the_same() {
    let joined = json!({"kind": "d-choices", "choices": 10, "retries": 2});
    for text in ["drive.victim.retries = 2", "drive.victim = { kind = 'd-choices', retries = 2 }"] {
        assert_eq!(drive(&over_preset(text))["victim"], joined, "{text}");
    }
    let kept = json!({"kind": "d-choices", "choices": 10});
    assert_eq!(drive(&over_preset("drive.victim = 'd-choices'"))["victim"], kept);
}

#[test]
fn another_tag_replaces_the_table() {
    for text in ["drive.victim = 'greedy'", "[drive.victim]\nkind = 'greedy'"] {
        assert_eq!(drive(&over_preset(text))["victim"], json!({"kind": "greedy"}), "{text}");
    }
}

#[test]
fn a_base_may_go_below_the_whole_document() {
    let mut document = document("[drive]\npulse = '1 ms'");
    let base = Document::from_json(r#"{"drive": {"dies": [], "victim": "greedy"}}"#, "base");
    document.under::<Experiment>(base.unwrap(), "").unwrap();
    assert_eq!(document.read::<Experiment>().unwrap().drive.victim, Victim::Greedy);
}

#[test]
fn overrides_are_toml_or_a_bare_string() {
    let mut document = over_preset("");
    for (path, text) in [
        ("drive.victim", "greedy"),
        ("drive.pulse", "64 ms"),
        ("drive.dies", "[7, 8]"),
        ("workload", "[{depth = 1, pattern = 'greedy'}]"),
        ("workload[0].depth", "32"),
        ("workload[0].pattern", "{kind = 'd-choices', choices = 2}"),
        ("workload[0].pattern.choices", "3"),
    ] {
        document.set::<Experiment>(path, text).unwrap();
    }
    let read = document.read::<Experiment>().unwrap();
    let pulse = "64 ms".parse().unwrap();
    assert_eq!(read.drive, Drive { pulse, victim: Victim::Greedy, dies: vec![7, 8] });
    let pattern = Victim::DChoices { choices: 3, retries: None };
    assert_eq!(read.workload, [Workload { depth: 32, pattern }]);
}

#[test]
fn an_override_keeps_the_parameters_of_its_own_tag_only() {
    let mut document = over_preset("");
    document.set::<Experiment>("drive.victim", "d-choices").unwrap();
    document.set::<Experiment>("drive.victim.retries", "1").unwrap();
    let all = json!({"kind": "d-choices", "choices": 10, "retries": 1});
    assert_eq!(drive(&document)["victim"], all);
    document.set::<Experiment>("drive.victim.kind", "greedy").unwrap();
    assert_eq!(drive(&document)["victim"], json!({"kind": "greedy"}));
}

#[test]
fn an_optional_table_of_a_preset_is_left_out_by_a_word() {
    #[derive(Debug, PartialEq, Deserialize, JsonSchema)]
    struct Whole {
        drive: Part,
    }
    #[derive(Debug, PartialEq, Deserialize, JsonSchema)]
    struct Part {
        spare: Option<Spare>,
    }
    #[derive(Debug, PartialEq, Deserialize, JsonSchema)]
    struct Spare {
        blocks: u32,
    }
    let preset = || Document::parse("spare = { blocks = 9 }", "base.toml").unwrap();
    let spare = |document: &Document| document.read::<Whole>().unwrap().drive.spare;
    let over = |text: &str| {
        let mut document = document(text);
        let problems = document.under::<Whole>(preset(), "drive").err();
        (document, problems)
    };
    let (mut written, problems) = over("[drive]\nspare = 'none'");
    assert_eq!((spare(&written), problems), (None, None));
    // It is there again, or gone, when an override says so.
    written.set::<Whole>("drive.spare.blocks", "2").unwrap();
    assert_eq!(spare(&written), Some(Spare { blocks: 2 }));
    written.set::<Whole>("drive.spare", "none").unwrap();
    assert_eq!(spare(&written), None);

    let (empty, problems) = over("[drive]\nspare = {}");
    let mut problems = problems.unwrap();
    empty.locate(&mut problems);
    let said = "drive.spare: an empty table changes nothing; give a key, \
                or write spare = \"none\" to leave it out";
    assert_eq!(problems.to_string(), format!("ssd.toml: 1 problem\n  line 2, {said}"));
    assert_eq!(spare(&empty), Some(Spare { blocks: 9 }));
    let mut full = over("[drive]\nspare = { blocks = 3 }").0;
    let refused = full.set::<Whole>("drive.spare", "{}").unwrap_err();
    assert_eq!(refused.problems[0].to_string(), format!("override, {said}"));
    // An override that empties a table which is always there is refused, whether the file has it or not.
    let said = "override, drive: an empty table changes nothing; give a key";
    for mut document in [full, document("other = 1")] {
        let refused = document.set::<Whole>("drive", "{}").unwrap_err();
        assert_eq!(refused.problems[0].to_string(), said);
    }
    // Only a table may be left out by the word.
    let refused = document("drive = 'none'").read::<Whole>().unwrap_err().to_string();
    assert!(refused.contains("expected a table"), "{refused}");
}

#[test]
fn a_table_or_a_list_of_such_is_left_out_by_the_word_too() {
    #[derive(Debug, PartialEq, Deserialize, JsonSchema)]
    struct Whole {
        cuts: Option<Cuts>,
        limit: Option<Limit>,
    }
    #[derive(Debug, PartialEq, Deserialize, JsonSchema)]
    #[serde(untagged)]
    enum Cuts {
        Several(Vec<Cut>),
        One(Cut),
    }
    #[derive(Debug, PartialEq, Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields)]
    struct Cut {
        after: u32,
    }
    #[derive(Debug, PartialEq, Deserialize, JsonSchema)]
    #[serde(untagged)]
    enum Limit {
        Name(String),
        Cut(Cut),
    }
    for written in ["cuts = { after = 3 }", "cuts = [{ after = 3 }, { after = 4 }]"] {
        let mut document = document(written);
        assert!(document.read::<Whole>().unwrap().cuts.is_some(), "{written}");
        document.set::<Whole>("cuts", "none").unwrap();
        assert_eq!(document.read::<Whole>().unwrap().cuts, None, "{written}");
        document.set::<Whole>("cuts", "{ after = 5 }").unwrap();
        assert_eq!(document.read::<Whole>().unwrap().cuts, Some(Cuts::One(Cut { after: 5 })));
    }
    // A word means itself if a text is allowed at the place.
    let named = document("limit = 'none'").read::<Whole>().unwrap().limit;
    assert_eq!(named, Some(Limit::Name("none".into())));
}

#[test]
fn keys_that_exclude_one_another_replace_one_another() {
    #[derive(Debug, PartialEq, Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields)]
    #[schemars(extend("maxProperties" = 1))]
    struct Spare {
        percent: Option<u32>,
        blocks: Option<u32>,
    }
    #[derive(Debug, PartialEq, Deserialize, JsonSchema)]
    struct Whole {
        spare: Spare,
    }
    for (path, value) in [("spare.blocks", "3"), ("spare", "{ blocks = 3 }")] {
        let mut document = document("spare = { percent = 7 }");
        document.set::<Whole>(path, value).unwrap();
        assert_eq!(document.get("spare"), Some(&json!({"blocks": 3})), "{path}");
        let mut problems = Problems::new("ssd.toml");
        problems.push("spare", "too little");
        document.locate(&mut problems);
        assert_eq!(problems.problems[0].to_string(), "override, spare: too little");
        let base = Document::parse("percent = 9", "base.toml").unwrap();
        document.under::<Whole>(base, "spare").unwrap();
        let read = document.read::<Whole>().unwrap();
        assert_eq!(read.spare, Spare { percent: None, blocks: Some(3) });
    }
}

#[test]
fn what_an_override_brings_is_blamed_on_it() {
    let mut changed = document("[drive]\npulse = '1 us'\nvictim = 'greedy'\ndies = []\n");
    changed.set::<Experiment>("drive.gc.victim", "fifo").unwrap();
    assert_eq!(
        refusal(&changed),
        "ssd.toml: 1 problem\n  \
         override, drive.gc: unknown key (valid: pulse, victim, dies)"
    );
    let mut refused = changed.set::<Experiment>("workload[5].depth", "3").unwrap_err();
    changed.locate(&mut refused);
    assert!(refused.problems[0].to_string().starts_with("override, workload[5].depth: "));
}

#[test]
fn a_value_with_its_type_is_set_as_it_is() {
    let mut changed = document("title = 'a'");
    let text = "\u{1f4a5} \"quoted\" \u{7f}";
    changed.set_value::<Experiment>("title", json!(text)).unwrap();
    assert_eq!(changed.get("title"), Some(&json!(text)));
}

#[test]
fn an_override_before_the_preset_still_wins() {
    let mut document = document("");
    document.set::<Experiment>("drive.victim.choices", "4").unwrap();
    document.under::<Experiment>(Document::parse(PRESET, "tlc.toml").unwrap(), "drive").unwrap();
    assert_eq!(drive(&document)["victim"], json!({"kind": "d-choices", "choices": 4}));
}

#[test]
fn paths_that_lead_nowhere_are_refused() {
    let mut changed = document("[[workload]]\ndepth = 1");
    let before = changed.clone();
    let mut refusal = |path: &str| {
        let problems = changed.set::<Experiment>(path, "1").unwrap_err();
        assert_eq!(changed, before, "a refused override changes nothing");
        let text = problems.problems[0].to_string();
        text.strip_prefix("override").unwrap().trim_start_matches([',', ':', ' ']).to_owned()
    };
    assert_eq!(refusal("a..b"), "a..b: not a path (write keys with dots between)");
    assert_eq!(refusal(""), "not a path (write keys with dots between)");
    assert_eq!(
        refusal("workload.depth"),
        "workload.depth: workload is a list; say which of its entries: workload[0].depth"
    );
    assert_eq!(
        refusal("workload[1].depth"),
        "workload[1].depth: there is no such entry (the list has 1)"
    );
    assert_eq!(refusal("drive[0]"), "drive[0]: there is no list \"drive\"");
    assert_eq!(refusal("workload[0].depth[0]"), "workload[0].depth[0]: 1 has no entries");
    assert_eq!(
        refusal("workload.a[0]"),
        "workload.a[0]: workload is a list; say which of its entries: workload[0].a[0]"
    );
    let refused = document("").under::<Experiment>(document(""), "workload[0]").unwrap_err();
    assert_eq!(
        refused.problems[0].to_string(),
        "workload[0]: not a path of keys with dots between them"
    );
}

#[test]
fn problems_name_the_layer_that_they_come_from() {
    let faulty = "pulse = 800\ndies = [1, -2]\n\n[victim]\nkind = 'd-choices'\nchoices = 'ten'\n";
    let mut document = document("# drive\n[drive]\nvictim.retries = -3\ncolour = 'red'");
    document.under::<Experiment>(Document::parse(faulty, "tlc.toml").unwrap(), "drive").unwrap();
    document.set::<Experiment>("workload", "[{}]").unwrap();
    assert_eq!(
        refusal(&document),
        "ssd.toml: 7 problems\n  \
         line 3, drive.victim.retries: -3 is too small (at least 0)\n  \
         line 4, drive.colour: unknown key (valid: pulse, victim, dies)\n  \
         override, workload[0].depth: missing; write a whole number\n  \
         override, workload[0].pattern: missing; write one of greedy, d-choices\n  \
         tlc.toml line 1, drive.pulse: 800 has no unit (one of ns, us, ms, s, min, h, d)\n  \
         tlc.toml line 2, drive.dies[1]: -2 is too small (at least 0)\n  \
         tlc.toml line 6, drive.victim.choices: expected a whole number, found the string \"ten\""
    );
}

#[test]
fn keys_of_a_dictionary_are_not_those_of_the_layer_below() {
    let json = r#"{"drive": {"victim": {"retries": -3}, "colour": 1, "dies": [-1]}}"#;
    let mut document = Document::from_json(json, "dict").unwrap();
    document.under::<Experiment>(Document::parse(PRESET, "tlc.toml").unwrap(), "drive").unwrap();
    assert_eq!(
        refusal(&document),
        "dict: 3 problems\n  \
         drive.dies[0]: -1 is too small (at least 0)\n  \
         drive.victim.retries: -3 is too small (at least 0)\n  \
         drive.colour: unknown key (valid: pulse, victim, dies)"
    );
    // The same as an override, with tables inside of the one that is set.
    let mut document = self::document("[drive.victim]\nchoices = 3");
    let drive = json!({"victim": {"retries": -3}, "colour": 1});
    document.set_value::<Experiment>("drive", drive).unwrap();
    document.under::<Experiment>(Document::parse(PRESET, "tlc.toml").unwrap(), "drive").unwrap();
    assert_eq!(
        refusal(&document),
        "ssd.toml: 2 problems\n  \
         override, drive.victim.retries: -3 is too small (at least 0)\n  \
         override, drive.colour: unknown key (valid: pulse, victim, dies)"
    );
}

#[test]
fn a_base_without_lines_does_not_borrow_ours() {
    let mut document = document("[drive]\ndies = []\nvictim = 'greedy'");
    let base = Document::from_json(r#"{"pulse": 800}"#, "preset").unwrap();
    document.under::<Experiment>(base, "drive").unwrap();
    assert_eq!(
        refusal(&document),
        "ssd.toml: 1 problem\n  preset, drive.pulse: 800 has no unit (one of ns, us, ms, s, min, h, d)"
    );
}

#[test]
fn later_checks_find_their_lines() {
    let document = over_preset("\n[drive]\npulse = '1 us'");
    let mut problems = Problems::new(document.file());
    problems.push("drive.victim.choices", "more than there are dies");
    problems.push("drive.pulse.shape", "inside of a value");
    problems.push("nowhere", "unknown");
    document.locate(&mut problems);
    assert_eq!(
        problems.to_string(),
        "ssd.toml: 3 problems\n  line 3, drive.pulse.shape: inside of a value\n  \
         nowhere: unknown\n  tlc.toml line 6, drive.victim.choices: more than there are dies"
    );
}

#[test]
fn a_value_can_be_taken_out() {
    let mut document = document("seed = 1\n[drive]\npreset = 'tlc'\npulse = '1 us'");
    assert_eq!(document.get("drive.preset"), Some(&json!("tlc")));
    assert_eq!(document.take("drive.preset"), Some(json!("tlc")));
    assert_eq!(document.take("drive.preset"), None);
    assert_eq!(document.take("workload[0]"), None);
    assert_eq!(
        serde_json::to_value(document.root()).unwrap(),
        json!({"seed": 1, "drive": {"pulse": "1 us"}})
    );
}

#[test]
fn a_document_is_a_table() {
    assert_eq!(
        Document::from_json("[1]", "dict").unwrap_err().to_string(),
        "dict: 1 problem\n  expected a table, found a list"
    );
    assert!(Document::from_json("{", "dict").unwrap_err().to_string().contains("line 1: column 1"),);
}

#[test]
fn lines_are_those_of_its_own_text() {
    let mut document = Document::parse("[drive]\ndies = [\n 1,\n 2]\n", "own.toml").unwrap();
    let base = Document::parse("\n\n\npulse = '1 us'\n", "base.toml").unwrap();
    document.under::<Experiment>(base, "drive").unwrap();
    document.set::<Experiment>("drive.victim", "greedy").unwrap();
    let lines: Vec<_> = document.lines().collect();
    assert_eq!(
        lines,
        [("drive", 1), ("drive.dies", 2), ("drive.dies[0]", 3), ("drive.dies[1]", 4)]
    );
}
