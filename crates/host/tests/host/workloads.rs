//! Tests of synthetic workloads as a file writes them: every form of every key, the refusals, and
//! that a workload is a function of its configuration, name and seed.

use engine::{Span, Streams};
use host::{Issue, Kind, Priority, Request, Source, WorkloadConfig};

const GIB: u64 = 1 << 30;

fn config(text: &str) -> WorkloadConfig {
    toml::from_str(text).unwrap_or_else(|error| panic!("{error}"))
}

fn source(text: &str) -> Source {
    Source::build(&config(text), GIB, Streams::new(5)).unwrap_or_else(|error| panic!("{error}"))
}

fn take(mut source: Source, count: usize) -> Vec<Request> {
    std::iter::from_fn(|| source.next().unwrap()).take(count).collect()
}

/// Every fault of a workload, as `key: problem`.
fn faults(text: &str) -> Vec<String> {
    let faults = config(text).faults(GIB);
    faults.into_iter().map(|fault| format!("{}: {}", fault.key, fault.problem)).collect()
}

#[test]
fn every_key_is_understood() {
    let mut source = source(
        r#"
        name = "oltp"
        priority = "high"
        start = "1 s"
        region = { offset = "64 MiB", size = "128 MiB" }
        mix = { read = "60 %", write = "25 %", trim = "5 %", flush = "5 %", write_zeroes = "5 %" }
        size = [{ size = "4 KiB", share = "80 %" }, { size = "64 KiB", share = "20 %" }]
        align = "4 KiB"
        addresses = { pattern = "zipf", theta = 0.99, scatter = true }
        arrivals = { process = "poisson", rate = "20 kIOPS" }
        queue_depth = 32
        bursts = { on = "100 ms", off = "400 ms" }
        stop = { time = "2 s", requests = 1_000_000, bytes = "10 GiB" }
        "#,
    );
    assert_eq!((source.name(), source.priority()), ("oltp", Priority::High));
    assert_eq!((source.queue_depth(), source.is_open_loop()), (Some(32), true));
    assert_eq!((source.start(), source.deadline()), (Span::from_s(1), Some(Span::from_s(3))));
    let mut count = 0;
    while let Some(request) = source.next().unwrap() {
        let Issue::At(at) = request.issue else { panic!("open loop") };
        assert!(at >= Span::from_s(1) && at < Span::from_s(3));
        assert!((at.as_ns() - 1_000_000_000) % 500_000_000 < 100_000_000, "in an on phase: {at}");
        let command = request.command;
        if command.kind != Kind::Flush {
            assert!(command.offset >= 64 << 20 && command.end() <= 192 << 20);
            assert!(command.offset.is_multiple_of(4096));
        }
        count += 1;
    }
    // Four on phases of 100 ms at 20 kIOPS; sigma is sqrt(8000), about 89.
    assert!(8_000_u32.abs_diff(count) < 4 * 89, "{count}");
}

#[test]
fn a_closed_loop_has_a_depth_and_thinks() {
    let plain = source("name = 'a'\nreads = '100 %'");
    assert_eq!((plain.queue_depth(), plain.is_open_loop()), (Some(1), false));
    for request in take(plain, 100) {
        assert_eq!(request.issue, Issue::After(Span::ZERO));
        assert_eq!((request.command.kind, request.command.bytes), (Kind::Read, 4096));
    }
    let thinking = source("name = 'a'\nreads = '0 %'\nqueue_depth = 8\nthink_time = '100 us'");
    assert_eq!(thinking.queue_depth(), Some(8));
    assert!(take(thinking, 10).iter().all(|r| r.issue == Issue::After(Span::from_us(100))));
    let random = source("name = 'a'\nreads = '0 %'\nthink_time = { mean = '100 us' }");
    let spans: Vec<Issue> = take(random, 10).iter().map(|request| request.issue).collect();
    assert!(spans.windows(2).all(|pair| pair[0] != pair[1]));
}

#[test]
fn a_closed_loop_waits_for_its_start_and_for_on_phases() {
    let source =
        source("name = 'a'\nreads = '0 %'\nstart = '1 ms'\nbursts = { on = '2 ms', off = '3 ms' }");
    let earliest = |us| source.earliest(Span::from_us(us));
    assert_eq!(earliest(0), Span::from_us(1_000));
    assert_eq!(earliest(2_999), Span::from_us(2_999));
    assert_eq!(earliest(3_000), Span::from_us(6_000));
}

#[test]
fn the_last_request_reaches_the_byte_limit() {
    let limited = |stop| {
        let text = format!("name = 'a'\nreads = '0 %'\nstop = {{ {stop} }}");
        take(source(&text), 1_000).len()
    };
    assert_eq!(limited("bytes = '10 KiB'"), 3);
    assert_eq!(limited("requests = 7"), 7);
    assert_eq!(limited("requests = 7, bytes = '8 KiB'"), 2);
}

#[test]
fn by_default_requests_are_aligned_to_the_smallest() {
    let act = source("name = 'act'\nreads = '100 %'\nsize = '1536 B'");
    assert!(take(act, 1_000).iter().all(|r| r.command.offset.is_multiple_of(1_536)));
    let large = source("name = 'large'\nreads = '100 %'\nsize = '128 KiB'");
    assert!(take(large, 1_000).iter().all(|r| r.command.offset.is_multiple_of(128 << 10)));
}

/// Kind, offset and bytes of requests, in KiB.
fn ranges(text: &str, count: usize) -> Vec<(Kind, u64, u64)> {
    let requests = take(source(text), count).into_iter();
    requests.map(|r| (r.command.kind, r.command.offset >> 10, r.command.bytes >> 10)).collect()
}

#[test]
fn kinds_have_sizes_alignments_and_cursors_of_their_own() {
    let text = "name = 'a'\nreads = '50 %'\naddresses = { pattern = 'sequential' }\n\
                region = { offset = '1 MiB', size = '256 KiB' }\n";
    let requests = ranges(&format!("{text}size = {{ read = '4 KiB', write = '64 KiB' }}"), 400);
    for (kind, bytes, places) in [(Kind::Read, 4, 64), (Kind::Write, 64, 4)] {
        let mine = requests.iter().filter(|request| request.0 == kind);
        for (number, (_, offset, size)) in mine.enumerate() {
            let expected = 1_024 + number as u64 % places * bytes;
            assert_eq!((*offset, *size), (expected, bytes), "{kind:?} {number}");
        }
    }
    // Without the table one cursor serves all kinds.
    let shared = ranges(text, 64);
    assert!(
        shared.iter().enumerate().all(|(number, request)| request.1 == 1_024 + 4 * number as u64)
    );
    let random = "name = 'a'\nmix = { read = '40 %', write = '40 %', trim = '20 %' }\n\
                  size = { read = '4 KiB', write = [{ size = '8 KiB', share = '100 %' }], trim = { mean = '16 KiB' } }\n\
                  align = { write = '4 KiB', trim = '32 KiB' }\n";
    let requests = ranges(random, 4_000);
    let divisor = |kind| {
        let mine = requests.iter().filter(|request| request.0 == kind);
        mine.fold(0, |divisor, request| gcd(divisor, request.1))
    };
    assert_eq!([Kind::Read, Kind::Write, Kind::Trim].map(divisor), [4, 4, 32]);
}

fn gcd(one: u64, other: u64) -> u64 {
    if other == 0 { one } else { gcd(other, one % other) }
}

#[test]
fn a_shuffled_pass_asks_for_each_place_once() {
    for places in [1_u64, 2, 5, 64, 1_000] {
        let text = format!(
            "name = 'a'\nreads = '100 %'\naddresses = 'shuffled'\nregion.size = '{} KiB'",
            places * 4
        );
        let document = text.replace("'shuffled'", "{ pattern = 'shuffled' }");
        let drawn = ranges(&document, 3 * places as usize);
        let passes: Vec<Vec<u64>> = drawn
            .chunks(places as usize)
            .map(|pass| pass.iter().map(|request| request.1 / 4).collect())
            .collect();
        for pass in &passes {
            let mut sorted = pass.clone();
            sorted.sort_unstable();
            assert_eq!(sorted, (0..places).collect::<Vec<_>>());
        }
        if places == 1_000 {
            assert!(passes[0] != passes[1] && passes[1] != passes[2]);
            // Of 1,000 numbers in random order one follows the one before, in the mean.
            let follow = |pass: &Vec<u64>| pass.windows(2).filter(|p| p[1] == p[0] + 1).count();
            assert!(passes.iter().all(|pass| follow(pass) < 8), "{passes:?}");
        }
    }
}

#[test]
fn a_shuffled_order_has_the_statistics_of_a_random_one() {
    // Ranks of the places of neighbouring turns are independent in a random order: their
    // correlation over n turns has a standard deviation of 1 / sqrt(n).
    let places = 65_536_u64;
    let text = format!(
        "name = 'a'\nreads = '100 %'\naddresses = {{ pattern = 'shuffled' }}\nregion.size = '{} KiB'",
        places * 4
    );
    for seed in 1..=20 {
        let mut source = Source::build(&config(&text), GIB, Streams::new(seed)).unwrap();
        let pass: Vec<f64> = (0..places)
            .map(|_| {
                source.next().unwrap().unwrap().command.offset as f64 / 4096.0 / places as f64 - 0.5
            })
            .collect();
        for lag in [1, 2, 3, 64, 256] {
            let sum: f64 = pass.windows(lag + 1).map(|pair| pair[0] * pair[lag]).sum();
            let correlation = sum * 12.0 / places as f64;
            assert!(correlation.abs() < 4.5 / 256.0, "seed {seed}, lag {lag}: {correlation}");
        }
    }
}

#[test]
fn a_flush_follows_each_nth_write_and_takes_no_slot() {
    let text = "name = 'a'\nreads = '40 %'\nflush_every = 3\n";
    let open = "arrivals = { process = 'constant', rate = '1 kIOPS' }";
    let requests = take(source(&format!("{text}{open}")), 400);
    let mut writes = 0;
    let mut arrivals = 0;
    for pair in requests.windows(2) {
        let [one, next] = pair else { panic!("a window of two") };
        writes += u64::from(one.command.kind == Kind::Write);
        let is_due = one.command.kind == Kind::Write && writes % 3 == 0;
        assert_eq!(next.command.kind == Kind::Flush, is_due, "after {writes} writes");
        if one.command.kind != Kind::Flush {
            assert_eq!(one.issue, Issue::At(Span::from_ms(arrivals)));
            arrivals += 1;
        }
        if is_due {
            assert_eq!(next.issue, one.issue);
        }
    }
    assert!(writes > 100);
    let thinking =
        take(source("name = 'a'\nreads = '0 %'\nflush_every = 1\nthink_time = '5 us'"), 4);
    let (write, flush) = (Issue::After(Span::from_us(5)), Issue::After(Span::ZERO));
    let issues: Vec<Issue> = thinking.iter().map(|request| request.issue).collect();
    assert_eq!(issues, [write, flush, write, flush]);
}

#[test]
fn every_pattern_stays_inside_its_region_with_mixed_sizes() {
    for pattern in [
        "{ pattern = 'sequential' }",
        "{ pattern = 'strided', stride = '24 KiB' }",
        "{ pattern = 'uniform' }",
        "{ pattern = 'shuffled' }",
        "{ pattern = 'zipf', theta = 1.0 }",
        "{ pattern = 'zipf', theta = 0.5, scatter = false }",
        "{ pattern = 'hot-cold', hot_space = '20 %', hot_accesses = '80 %' }",
        "{ pattern = 'jesd219' }",
    ] {
        let text = format!(
            "name = 'p'\nreads = '50 %'\nsize = {{ mean = '20 KiB', max = '256 KiB' }}\n\
             region = {{ offset = '1 MiB', size = '1000 KiB' }}\naddresses = {pattern}"
        );
        for request in take(source(&text), 20_000) {
            let command = request.command;
            assert!(
                command.offset >= 1 << 20 && command.end() <= (1 << 20) + 1_024_000,
                "{pattern}"
            );
            assert!(command.bytes > 0 && command.offset.is_multiple_of(4096), "{pattern}");
        }
    }
}

#[test]
fn a_workload_is_a_function_of_configuration_name_and_seed() {
    let text = "name = 'a'\nmix = { read = '70 %', write = '30 %' }\nsize = { mean = '8 KiB' }\n\
                addresses = { pattern = 'zipf', theta = 0.9 }\n\
                arrivals = { process = 'uniform', rate = '2000 IOPS' }";
    let run = |text: &str, seed| {
        take(Source::build(&config(text), GIB, Streams::new(seed)).unwrap(), 1_000)
    };
    assert_eq!(run(text, 1), run(text, 1));
    assert_ne!(run(text, 1), run(text, 2));
    assert_ne!(run(text, 1), run(&text.replace("'a'", "'b'"), 1));
}

#[test]
fn changing_one_thing_does_not_move_the_others() {
    let text = "name = 'a'\nreads = '70 %'\narrivals = { process = 'poisson', rate = '2000 IOPS' }";
    let with = |from: &str, to: &str| take(source(&text.replace(from, to)), 1_000);
    let before = with("", "");
    let offset = |request: &Request| request.command.offset;
    let same = |other: &[Request], fact: &dyn Fn(&Request) -> String| {
        before.iter().zip(other).all(|(a, b)| fact(a) == fact(b))
    };
    let mixed = with("70 %", "20 %");
    assert!(same(&mixed, &|r| format!("{} {:?}", offset(r), r.issue)));
    assert!(!same(&mixed, &|r| r.command.kind.name().into()));
    let paced = with("poisson", "uniform");
    assert!(same(&paced, &|r| format!("{:?}", r.command)));
    let flushes = "mix = { read = '50 %', write = '30 %', flush = '20 %' }";
    let flushed = with("reads = '70 %'", flushes);
    let offsets = flushed.iter().filter(|r| r.command.kind != Kind::Flush).map(offset);
    assert!(
        offsets.eq(before
            .iter()
            .map(offset)
            .take(flushed.iter().filter(|r| r.command.kind != Kind::Flush).count()))
    );
}

#[test]
fn all_faults_are_found_at_once() {
    let found = faults(
        "name = 'a'\nmix = { read = '70 %', write = '20 %' }\nsize = '1000 B'\nqueue_depth = 0\n\
         addresses = { pattern = 'zipf', theta = 4.0 }\nstop = { requests = 0 }",
    );
    let keys: Vec<&str> = found.iter().map(|fault| fault.split(':').next().unwrap()).collect();
    assert_eq!(
        keys,
        ["mix", "size", "addresses.theta", "queue_depth", "stop.requests"],
        "{found:?}"
    );
}

/// Keys that have no meaning, and their faults.
#[test]
fn what_means_nothing_is_refused() {
    for (rest, expected) in [
        ("", "reads: missing; write reads = \"70 %\""),
        ("reads = '70 %'\nmix = { read = '100 %' }", "reads: has no meaning beside mix"),
        ("reads = '101 %'", "reads: is more than all requests"),
        ("mix = { read = '40 %', write = '40 %' }", "mix: the shares add up to 80"),
        ("reads = '1 %'\nsize = []", "size: the list is empty"),
        ("reads = '1 %'\nsize = { mean = '0 B' }", "size.mean: must be more"),
        ("reads = '1 %'\nsize = { mean = '4 KiB', max = '5 KiB' }", "size.max: must be a multiple"),
        ("reads = '1 %'\nsize = { mean = '4 KiB', round_up_to = '0 B' }", "size.round_up_to: must"),
        (
            "reads = '1 %'\naddresses = { pattern = 'hot-cold', hot_space = '0 %', hot_accesses = '9 %' }",
            "addresses.hot_space: must be more",
        ),
        ("reads = '1 %'\nsize = '2 GiB'", "size: a request of 2 GiB does not fit into the region"),
        ("reads = '1 %'\nalign = '0 B'", "align: must be a multiple of 512 B"),
        ("reads = '1 %'\nregion = { offset = '2 GiB' }", "region: reaches beyond the drive"),
        ("reads = '1 %'\nregion = { size = '2 GiB' }", "region: reaches beyond the drive"),
        ("reads = '1 %'\nregion = { size = '0 B' }", "region: is empty"),
        ("reads = '1 %'\nregion = { size = '5000 B' }", "region.size: must be a multiple"),
        (
            "reads = '1 %'\naddresses = { pattern = 'strided', stride = '5 KiB' }",
            "addresses.stride: must be a multiple of align (4 KiB)",
        ),
        (
            "reads = '1 %'\nthink_time = '1 us'\narrivals = { process = 'constant', rate = '1 /s' }",
            "think_time: has no meaning with arrivals",
        ),
        (
            "reads = '1 %'\narrivals = { process = 'poisson', rate = '1 /s', phase = 'random' }",
            "arrivals.phase: has a meaning for constant gaps only",
        ),
        (
            "reads = '100 %'\nflush_every = 2",
            "flush_every: has no meaning: the workload writes nothing",
        ),
        ("reads = '1 %'\nflush_every = 0", "flush_every: must be at least 1"),
        ("flush_every = 2\ntrace = { file = 'x' }", "flush_every: has no meaning beside trace"),
        ("reads = '1 %'\nsize = { read = '4 KiB' }", "size.write: missing; size differs by kind"),
        (
            "reads = '1 %'\nsize = { read = '4 KiB', write = '1000 B' }",
            "size.write: must be a multiple of 512 B",
        ),
        (
            "reads = '1 %'\nsize = { read = '2 GiB', write = '4 KiB' }",
            "size.read: a request of 2 GiB does not fit into the region",
        ),
        ("reads = '1 %'\nalign = { trim = '1 B' }", "align.trim: must be a multiple of 512 B"),
        ("reads = '1 %'\nalign = {}", "align: names no kind"),
        (
            "reads = '1 %'\nsize = { read = '4 KiB', write = '12 KiB' }\n\
             addresses = { pattern = 'strided', stride = '16 KiB' }",
            "addresses.stride: must be a multiple of align (12 KiB)",
        ),
        (
            "reads = '1 %'\nbursts = { on = '0 s', off = '1 s' }",
            "bursts.on: a burst needs a length",
        ),
        ("reads = '1 %'\ntrace = { file = 'x' }", "reads: has no meaning beside trace"),
        ("think_time = '1 us'\ntrace = { file = 'x' }", "think_time: has no meaning with mode"),
        ("trace = { file = 'x', mode = 'closed', time_scale = 2.0 }", "trace.time_scale: has no"),
        ("trace = { file = 'x', time_scale = 0.0 }", "trace.time_scale: must be more than 0"),
        ("trace = { file = 'x', devices = [] }", "trace.devices: names no device"),
        ("trace = { file = 'x', repeat = 0 }", "trace.repeat: must be at least 1"),
    ] {
        let found = faults(&format!("name = 'a'\n{rest}"));
        assert_eq!(found.len(), 1, "{rest}: {found:?}");
        assert!(found[0].starts_with(expected), "{rest}: {found:?}");
    }
}

#[test]
fn serde_refuses_what_it_does_not_know_and_keeps_the_inner_message() {
    for (rest, expected) in [
        ("speed = 1", "unknown field `speed`"),
        ("addresses = { pattern = 'uniform', theta = 1.0 }", "unknown field `theta`"),
        ("addresses = { pattern = 'zapf' }", "unknown variant `zapf`"),
        ("size = { mean = '4' }", "has no unit"),
        ("size = [{ size = '4 KiB', part = '10 %' }]", "unknown field `part`"),
        ("size = { mean = '4 KiB', read = '4 KiB' }", "needs either mean (exponential sizes), or"),
        ("size = { round_up_to = '4 KiB' }", "needs either mean (exponential sizes), or"),
        ("size = {}", "needs either mean (exponential sizes), or"),
        ("size = { read = { mean = '4' } }", "has no unit"),
        ("align = 5", "expected a size such as \"4 KiB\", or one for each kind"),
        ("think_time = { mean = '1 us', max = '2 us' }", "unknown field `max`"),
        ("size = 4096", "expected a size such as \"4 KiB\", a list"),
    ] {
        let error = toml::from_str::<WorkloadConfig>(&format!("name = 'a'\n{rest}")).unwrap_err();
        assert!(error.to_string().contains(expected), "{rest}: {error}");
    }
}

#[test]
fn a_configuration_survives_being_written_out() {
    for rest in [
        "reads = '70 %'\nsize = '8 KiB'\nthink_time = '1 us'",
        "reads = '70 %'\nsize = { mean = '8 KiB' }\nthink_time = { mean = '1 us' }",
        "mix = { flush = '100 %' }\nsize = [{ size = '8 KiB', share = '100 %' }]",
        "reads = '5 %'\nflush_every = 2\nsize = { read = '4 KiB', write = { mean = '8 KiB' } }\n\
         align = { read = '4 KiB' }\n\
         arrivals = { process = 'constant', rate = '1 /s', phase = 'random' }",
        "addresses = { pattern = 'hot-cold', hot_space = '1 %', hot_accesses = '9 %' }",
        "trace = { file = 'x.csv', format = 'captured', combine = 'fold', out_of_range = 'wrap' }",
    ] {
        let before = config(&format!("name = 'a'\n{rest}"));
        let after = config(&toml::to_string(&before).unwrap());
        assert_eq!(before, after);
    }
}

#[test]
fn the_settings_walk_understands_the_schema() {
    #[derive(serde::Deserialize, schemars::JsonSchema)]
    struct Experiment {
        workload: Vec<WorkloadConfig>,
    }
    let read = |text: &str| {
        settings::Document::parse(text, "test.toml")
            .and_then(|document| document.read::<Experiment>())
    };
    let good = "[[workload]]\nname = 'a'\nreads = '70 %'\naddresses = 'uniform'\nsize = '8 KiB'\n\
                [[workload]]\nname = 'b'\nmix = { read = '100 %' }\nsize = { mean = '8 KiB' }\n\
                addresses = { pattern = 'zipf', theta = 0.9 }\nthink_time = { mean = '1 us' }\n\
                [[workload]]\nname = 'c'\nsize = [{ size = '4 KiB', share = '100 %' }]\n\
                [[workload]]\nname = 'd'\nsize = { read = '4 KiB', write = [{ size = '8 KiB', share = '100 %' }] }\n\
                align = { write = '4 KiB' }\naddresses = 'shuffled'\n";
    assert_eq!(read(good).unwrap_or_else(|p| panic!("{p}")).workload.len(), 4);
    let bad = "[[workload]]\nname = 'a'\nspeed = 1\naddresses = 'zapf'\nsize = 8\n\
               priority = 'top'\nthink_time = { mean = 5 }\n";
    let problems = read(bad).err().expect("it is refused").to_string();
    println!("{problems}");
    for key in ["speed", "addresses", "size", "priority", "think_time.mean"] {
        assert!(problems.contains(&format!("workload[0].{key}: ")), "{key} in:\n{problems}");
    }
}
