//! The rules of the simulator of "Design Tradeoffs for SSD Performance" (Agrawal and others, USENIX
//! ATC 2008), on the drive and in a naive model of them (`floor::elements`), with the same
//! requests.

use crate::common::{Table, kinds_mean_ns, run_fast};
use drive::{Run, load};
use engine::{Instant, Streams};
use floor::elements::{Mapping, Pool, Request, Rules, Served, serve};
use host::{Issue, Kind, Source};
use std::io::Write;

/// Settings of a comparison.
#[derive(Clone, Copy)]
struct Setup {
    elements: u64,
    blocks_per_plane: u64,
    /// Each plane has an open block. If false, there is one for each element, and pages that move
    /// to another plane cross the channel.
    copy_back: bool,
    parallel_units: u32,
    reserve_percent: u32,
    min_free_percent: u32,
    pool_is_plane: bool,
    collect: &'static str,
    reads: u32,
    pattern: &'static str,
    /// Requests a second.
    rate: u32,
    requests: u32,
}

const BASE: Setup = Setup {
    elements: 4,
    blocks_per_plane: 128,
    copy_back: true,
    parallel_units: 1,
    reserve_percent: 15,
    min_free_percent: 5,
    pool_is_plane: false,
    collect: "when-asked",
    reads: 0,
    pattern: "uniform",
    rate: 1_000,
    requests: 120_000,
};

const PLANES: u64 = 8;
const PAGES: u64 = 64;

impl Setup {
    fn rules(&self) -> Rules {
        Rules {
            elements: self.elements as u32,
            planes: PLANES as u32,
            blocks_per_plane: self.blocks_per_plane as u32,
            pages_per_block: PAGES as u32,
            reserve_percent: self.reserve_percent,
            min_free_percent: self.min_free_percent,
            copy_back: self.copy_back,
            parallel_units: self.parallel_units,
            pool: if self.pool_is_plane { Pool::Plane } else { Pool::Element },
            mapping: Mapping::FullyStriped,
            background_cleaning: self.collect == "at-once",
            read_ns: 25_000,
            program_ns: 200_000,
            erase_ns: 1_500_000,
            transfer_ns: 105_600,
            summary_transfer_ns: 13_200,
            link_ns: 1_907,
            outstanding: u32::MAX,
        }
    }

    /// The experiment under a workload, as text.
    fn text(&self, workload: &str) -> String {
        let (elements, blocks) = (self.elements, self.blocks_per_plane);
        let reserved = blocks * u64::from(self.reserve_percent) / 100;
        let exported = elements * PLANES * (blocks - reserved) * (PAGES - 1) * 4096;
        let unit = match self.parallel_units {
            1 => "package",
            2 => "die",
            _ => "plane-pair",
        };
        let per_plane = blocks * u64::from(self.min_free_percent) / 100;
        let per_element = PLANES * blocks * u64::from(self.min_free_percent) / 100;
        // Without copy-back the planes of an element take turns by position, the first one first.
        let (bin, low, stop, ties) = match self.copy_back {
            true => ("plane", per_plane, per_plane, "last"),
            false => ("package", per_element, per_element + 1, "first"),
        };
        let pool = if self.pool_is_plane { "plane" } else { "package" };
        let collect = self.collect;
        format!(
            "[drive]\npreset = \"atc08\"\n\
             geometry = {{ channels = {elements}, blocks_per_plane = {blocks} }}\n\
             concurrency = {{ read = \"{unit}\", program = \"{unit}\", erase = \"{unit}\" }}\n\
             scheduler = {{ rounds = {{ unit = \"package\", collect = \"{collect}\" }} }}\n\
             [drive.ftl]\nover_provisioning = {{ exported = \"{exported} B\" }}\n\
             allocation = {{ pool = \"{pool}\", bin = \"{bin}\" }}\n\
             gc = {{ victim.ties = \"{ties}\", background = \"{low} blocks\", foreground = \"{low} blocks\", stop = \"{stop} blocks\" }}\n\
             [precondition]\nfill = \"sequential\"\n\
             [[workload]]\nname = \"host\"\n{workload}\n"
        )
    }

    /// A workload of requests of some 1.6 pages at uniform gaps.
    fn synthetic(&self) -> String {
        format!(
            "reads = \"{} %\"\nsize = {{ mean = \"4 KiB\" }}\naddresses = {{ pattern = \"{}\" }}\n\
             arrivals = {{ process = \"uniform\", rate = \"{} /s\" }}\n[run]\nrequests = {}",
            self.reads, self.pattern, self.rate, self.requests
        )
    }

    /// The run, and the naive model with its requests.
    fn run(&self, workload: &str) -> (Run, Served) {
        let (experiment, _) = load::load(&self.text(workload), "elements.toml", &[])
            .unwrap_or_else(|problems| panic!("{problems}"));
        let run = run_fast(&experiment);
        let capacity = run.device().ftl().layout.exported_bytes();
        let workload = &experiment.workload[0];
        let survey = workload.survey().unwrap_or_else(|error| panic!("{error}"));
        let mut source = Source::build_surveyed(
            &workload.expand(survey.as_ref()).remove(0),
            survey.as_ref(),
            capacity,
            Streams::new(experiment.seed),
        )
        .unwrap_or_else(|error| panic!("{error}"));
        let mut requests = Vec::new();
        while requests.len() < run.issued() as usize {
            let Some(drawn) = source.next().unwrap_or_else(|error| panic!("{error}")) else {
                break;
            };
            let Issue::At(at) = drawn.issue else { panic!("an open loop has moments") };
            let command = drawn.command;
            let first_page = command.offset / 4096;
            requests.push(Request {
                at_ns: (Instant::START + at).as_ns(),
                first_page,
                pages: (command.end().div_ceil(4096) - first_page) as u32,
                is_read: command.kind == Kind::Read,
            });
        }
        let served = serve(&self.rules(), &requests).unwrap_or_else(|error| panic!("{error:?}"));
        (run, served)
    }
}

fn compare(what: &str, setups: &[(&str, Setup)], tolerance: f64) {
    let cases = setups.iter().map(|(name, setup)| (*name, *setup, setup.synthetic()));
    compare_under(what, cases, tolerance);
}

fn compare_under<'a>(
    what: &str,
    cases: impl Iterator<Item = (&'a str, Setup, String)>,
    tolerance: f64,
) {
    let mut table = Table::new(what, tolerance);
    for (name, setup, workload) in cases {
        let (run, served) = setup.run(&workload);
        let mean =
            served.latencies_ns.iter().sum::<u64>() as f64 / served.latencies_ns.len() as f64;
        let tally = run.measured().tally();
        println!(
            "  {name}: erases {} and {}, moved {} and {}",
            tally.erases,
            served.cleans,
            tally.units[ftl::Source::Gc as usize],
            served.pages_moved
        );
        table.expect(name, mean / 1e6, kinds_mean_ns(&run) / 1e6);
    }
    table.end();
}

#[test]
fn without_cleaning_rounds_take_as_long() {
    let few = Setup { requests: 3_000, ..BASE };
    let mixed = Setup { reads: 50, rate: 8_000, ..few };
    compare(
        "mean response in ms, nothing cleaned",
        &[
            ("random writes", few),
            ("sequential writes", Setup { pattern: "sequential", ..few }),
            ("reads", Setup { reads: 100, ..few }),
            ("many of both", mixed),
            ("many of both, 2 units", Setup { parallel_units: 2, ..mixed }),
            ("many of both, 4 units", Setup { parallel_units: 4, ..mixed }),
        ],
        0.01,
    );
}

#[test]
fn with_cleaning_rounds_take_as_long() {
    compare(
        "mean response in ms, random writes with cleaning",
        &[
            ("baseline", BASE),
            ("2 units", Setup { parallel_units: 2, ..BASE }),
            ("4 units", Setup { parallel_units: 4, ..BASE }),
            ("one block at a time", Setup { copy_back: false, ..BASE }),
            ("the same, seldom", Setup { copy_back: false, rate: 100, ..BASE }),
            ("in the background", Setup { collect: "at-once", ..BASE }),
            ("more spare", Setup { reserve_percent: 30, ..BASE }),
            ("later", Setup { min_free_percent: 2, ..BASE }),
            ("pool of a plane", Setup { pool_is_plane: true, ..BASE }),
            ("half reads", Setup { reads: 50, ..BASE }),
        ],
        0.02,
    );
}

#[test]
fn real_traces_take_as_long() {
    let whole = Setup { elements: 8, blocks_per_plane: 2048, ..BASE };
    let trace = |name: &str| {
        let path = format!("{}/../../../shared/traces/{name}", env!("CARGO_MANIFEST_DIR"));
        if !std::path::Path::new(&path).exists() {
            let notice = format!("skipped: {path} is absent\n");
            std::io::stderr().write_all(notice.as_bytes()).expect("there is a standard error");
            return None;
        }
        Some(format!("trace = {{ file = \"{path}\", format = \"disksim\" }}"))
    };
    let cases = [
        ("IOzone", whole, "iozone-100k.trace"),
        ("IOzone, 4 units", Setup { parallel_units: 4, ..whole }, "iozone-100k.trace"),
        ("Postmark", whole, "postmark.trace"),
    ];
    let found =
        cases.into_iter().filter_map(|(name, setup, file)| Some((name, setup, trace(file)?)));
    compare_under("mean response in ms", found, 0.1);
}
