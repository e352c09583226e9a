//! Checks that the harness finds faults.

use crate::directions::case::{Case, REFUSED, case};
use crate::directions::faults_of;
use crate::directions::requests::{PAGE, US};
use crate::directions::schema::Parameters;
use host::Kind;
use schemars::JsonSchema;
use serde_json::json;

fn of_a_read(parameter: &'static str) -> Case {
    case(parameter)
        .filled()
        .see("a read, ns", |scene| scene.bench().alone(Kind::Read, 0, PAGE).latency())
}

#[track_caller]
fn expect(outcome: Result<impl std::fmt::Debug, String>, phrase: &str) {
    let error = outcome.expect_err("it is at fault");
    assert!(error.contains(phrase), "no \"{phrase}\" in \"{error}\"");
}

#[test]
fn a_parameter_that_does_nothing_fails() {
    // An erase does not affect a read, whatever the case claims.
    let erase = || of_a_read("drive.nand.erase.execute");
    let same = erase().under([("1 ms", 125 * US), ("2 ms", 125 * US)]);
    expect(same.check(), "the same is seen or predicted");
    expect(
        erase().under([("1 ms", 125 * US), ("2 ms", 126 * US)]).check(),
        "predicted 126000, seen 125000",
    );
    expect(erase().rises(1.01, ["1 ms", "2 ms"]).check(), "predicted at least 1.01 times");
    expect(erase().differs(["1 ms", "2 ms"]).check(), "the same is seen");
    // Bounds so wide that they do not distinguish the values.
    let vague = || crate::directions::case::about(125e3, 50e3);
    let wide = of_a_read("drive.nand.decode").under([("0 us", vague()), ("7 us", vague())]);
    expect(wide.check(), "the same is seen or predicted");
}

#[test]
fn a_wrong_direction_fails() {
    let decode = || of_a_read("drive.nand.decode");
    assert_eq!(decode().rises(1.05, ["0 us", "7 us"]).check(), Ok(()));
    expect(decode().falls(1.0, ["0 us", "7 us"]).check(), "times that under the value before");
    expect(decode().rises(1.06, ["0 us", "7 us"]).check(), "times that under the value before");
}

#[test]
fn a_path_that_does_not_exist_fails() {
    let known = Parameters::of_experiment();
    let misspelt = of_a_read("drive.nand.decoder").under([("0 us", 0), ("7 us", 1)]);
    expect(misspelt.changes(&known), "no such parameter");
    let elsewhere = of_a_read("drive.nand.decode").at("drive.nand.deocde");
    expect(elsewhere.under([("0 us", 0), ("7 us", 1)]).changes(&known), "deocde");
}

#[test]
fn a_case_that_changes_something_else_fails() {
    let known = Parameters::of_experiment();
    let both = of_a_read("drive.nand.erase.steps").at("drive.nand.erase");
    let both =
        both.under([("{ steps = 1, ramp = '0 us' }", 0), ("{ steps = 2, ramp = '1 us' }", 1)]);
    expect(both.changes(&known), "changes drive.nand.erase.ramp as well");
    let other = of_a_read("drive.nand.decode").at("drive.firmware.read");
    expect(other.under([("0 us", 0), ("7 us", 1)]).changes(&known), "do not change it");
    let none = of_a_read("drive.nand.decode").under([("7 us", 0), ("7 us", 1)]);
    expect(none.changes(&known), "do not change it");
}

#[test]
fn a_parameter_and_a_value_without_a_case_fail() {
    // The cases of one part, with something removed.
    let found = |part: &str, cases: Vec<Case>| {
        let faults = faults_of(&Parameters::of_experiment(), &cases);
        faults.into_iter().filter(|fault| fault.starts_with(part)).collect::<Vec<_>>()
    };
    let without = |cases: Vec<Case>, parameter: &str| {
        cases.into_iter().filter(|case| case.to_string() != parameter).collect::<Vec<_>>()
    };
    let add_one = |name: &str, file: &str| {
        [format!("{name}: no case; add one to crates/drive/tests/drive/directions/{file}.rs")]
    };

    // Interruptions show a program's steps; errors and faults have files of their own.
    let (mut nand, decode) = (crate::directions::nand::cases(), "drive.nand.decode");
    nand.extend(crate::directions::suspension::cases());
    nand.extend(crate::directions::errors::cases());
    nand.extend(crate::directions::faults::cases());
    assert_eq!(found("drive.nand", without(nand, decode)), add_one(decode, "nand"));

    let bypass = "drive.scheduler.bypass.policy";
    let mut two = without(crate::directions::collection::cases(), bypass);
    two.push(case(bypass).under([("batch", 0), ("none", 1)]));
    assert_eq!(found(bypass, two), add_one("drive.scheduler.bypass.policy = drain", "scheduler"));

    // A value that is always refused.
    let order = "drive.buffer.order";
    let mut refused = without(crate::directions::buffer::cases(), order);
    refused.push(case(order).under([("fifo", "some page"), ("lru", REFUSED)]));
    assert_eq!(found(order, refused), add_one("drive.buffer.order = lru", "buffer"));

    // A choice with parameters, one of which nobody sets.
    let hot = "precondition.age.addresses(hot-cold).hot_space";
    assert_eq!(
        found("precondition", without(addresses_and_preconditioning(), hot)),
        add_one(hot, "addresses")
    );
}

fn addresses_and_preconditioning() -> Vec<Case> {
    crate::directions::addresses::cases()
        .into_iter()
        .chain(crate::directions::precondition::cases())
        .collect()
}

// ---- the search of the schema ---------------------------------------------------------

/// Every form that a configuration type has.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is looked at")]
struct Patrol {
    period: settings::Time,
    rounds: Option<u32>,
    is_armed: bool,
    watch: Option<Watch>,
    posts: Vec<Post>,
    #[serde(flatten)]
    order: Order,
    turns: Order,
    shifts: std::collections::BTreeMap<String, Order>,
}

#[derive(JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[expect(dead_code, reason = "only its schema is looked at")]
enum Watch {
    /// By day.
    Day,
    /// By night.
    ByNight,
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is looked at")]
struct Post {
    name: String,
}

#[derive(JsonSchema)]
#[serde(tag = "policy", rename_all = "kebab-case")]
#[expect(dead_code, reason = "only its schema is looked at")]
enum Order {
    OldestFirst {},
    Random {
        choices: u32,
        post: Post,
    },
    /// The keys beside the tag are described elsewhere.
    Assigned(Assigned),
}

#[derive(JsonSchema)]
#[serde(transparent)]
#[expect(dead_code, reason = "only its schema is looked at")]
struct Assigned(Post);

#[test]
fn the_walk_finds_every_form_of_a_parameter() {
    let known = Parameters::of(&settings::schema::<Patrol>());
    let found: Vec<String> = known
        .words
        .iter()
        .map(|(name, words)| format!("{name} {}", words.join("|")).trim().to_owned())
        .collect();
    assert_eq!(
        found,
        [
            "(assigned).name",
            "(random).choices",
            "(random).post.name",
            "is_armed false|true",
            "period",
            "policy oldest-first|random|assigned",
            "posts.name",
            "rounds",
            "shifts.*(assigned).name",
            "shifts.*(random).choices",
            "shifts.*(random).post.name",
            "shifts.*.policy oldest-first|random|assigned",
            "turns(assigned).name",
            "turns(random).choices",
            "turns(random).post.name",
            "turns.policy oldest-first|random|assigned",
            "watch day|by-night",
        ]
    );
    let values = known.values(&json!({
        "policy": "random", "choices": 3, "period": "1 s", "rounds": null,
        "posts": [{ "name": "north" }, { "name": "south" }],
        "turns": { "policy": "random", "post": { "name": "west" } },
        "shifts": { "early": { "policy": "random", "choices": 2 } },
    }));
    let names: Vec<_> = values.keys().map(String::as_str).collect();
    let expected = [
        "(random).choices",
        "period",
        "policy",
        "posts.name",
        "shifts.*(random).choices",
        "shifts.*.policy",
        "turns(random).post.name",
        "turns.policy",
    ];
    assert_eq!(names, expected);
    assert_eq!(values["posts.name"], ["north", "south"]);
}
