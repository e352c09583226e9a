//! The rules of the simulator of "Design Tradeoffs for SSD Performance" (Agrawal and others,
//! USENIX ATC 2008), on the drive and in the naive model of them (`floor::elements`), under
//! the same requests.

mod common;

use common::{Table, kinds_mean_ns, run_fast};
use drive::{Run, load};
use engine::{Instant, Streams};
use floor::elements::{Mapping, Pool, Request, Rules, Served, serve};
use host::{Issue, Kind, Source};

/// What is compared.
#[derive(Clone, Copy)]
struct Setup {
    /// Each plane has an open block. Without, there is one an element, and pages that move
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

const ELEMENTS: u64 = 4;
const PLANES: u64 = 8;
const BLOCKS: u64 = 128;
const PAGES: u64 = 64;

impl Setup {
    fn rules(&self) -> Rules {
        Rules {
            elements: ELEMENTS as u32,
            planes: PLANES as u32,
            blocks_per_plane: BLOCKS as u32,
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
        }
    }

    /// The experiment, as text.
    fn text(&self) -> String {
        let reserved = BLOCKS * u64::from(self.reserve_percent) / 100;
        let exported = ELEMENTS * PLANES * (BLOCKS - reserved) * (PAGES - 1) * 4096;
        let unit = match self.parallel_units {
            1 => "package",
            2 => "die",
            _ => "plane-pair",
        };
        let per_plane = BLOCKS * u64::from(self.min_free_percent) / 100;
        let per_element = PLANES * BLOCKS * u64::from(self.min_free_percent) / 100;
        let (bin, low, stop) = match self.copy_back {
            true => ("plane", per_plane, per_plane),
            false => ("package", per_element, per_element + 1),
        };
        let pool = if self.pool_is_plane { "plane" } else { "package" };
        let collect = self.collect;
        format!(
            "[drive]\npreset = \"atc08\"\n\
             geometry = {{ channels = {ELEMENTS}, blocks_per_plane = {BLOCKS} }}\n\
             concurrency = {{ read = \"{unit}\", program = \"{unit}\", erase = \"{unit}\" }}\n\
             scheduler = {{ rounds = {{ unit = \"package\", collect = \"{collect}\" }} }}\n\
             [drive.ftl]\nover_provisioning = {{ exported = \"{exported} B\" }}\n\
             allocation = {{ pool = \"{pool}\", bin = \"{bin}\" }}\n\
             gc = {{ soft = \"{low} blocks\", urgent = \"{low} blocks\", stop = \"{stop} blocks\" }}\n\
             [precondition]\nfill = \"sequential\"\n\
             [[workload]]\nname = \"host\"\nreads = \"{} %\"\nsize = {{ mean = \"4 KiB\" }}\n\
             addresses = {{ pattern = \"{}\" }}\n\
             arrivals = {{ process = \"uniform\", rate = \"{} /s\" }}\n\
             [run]\nrequests = {}\n",
            self.reads, self.pattern, self.rate, self.requests
        )
    }

    /// The run, and the naive model under its requests.
    fn run(&self) -> (Run, Served) {
        let (experiment, _) = load::load(&self.text(), "elements.toml", &[])
            .unwrap_or_else(|problems| panic!("{problems}"));
        let run = run_fast(&experiment);
        let capacity = run.device().ftl().layout.exported_bytes();
        let workload = experiment.workload[0].expand(None).remove(0);
        let mut source = Source::build(&workload, capacity, Streams::new(experiment.seed))
            .unwrap_or_else(|error| panic!("{error}"));
        let mut requests = Vec::new();
        for _ in 0..self.requests {
            let drawn = source.next().expect("no trace").expect("it never ends");
            let Issue::At(at) = drawn.issue else { panic!("an open loop has moments") };
            let command = drawn.command;
            requests.push(Request {
                at_ns: (Instant::START + at).as_ns(),
                first_page: command.offset / 4096,
                pages: (command.bytes / 4096) as u32,
                is_read: command.kind == Kind::Read,
            });
        }
        let served = serve(&self.rules(), &requests).unwrap_or_else(|error| panic!("{error:?}"));
        (run, served)
    }
}

fn compare(what: &str, setups: &[(&str, Setup)], tolerance: f64) {
    let mut table = Table::new(what, tolerance);
    for (name, setup) in setups {
        let (run, served) = setup.run();
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
        0.05,
    );
}
