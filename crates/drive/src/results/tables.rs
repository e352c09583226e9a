//! The tables of a run, as columns.

use crate::array::ArrayRun;
use crate::device::{Device, ErrorCounters};
use crate::measure::Measured;
use crate::run::Run;
use ftl::{BlockId, BlockState};
use metrics::State;

/// The values of a column.
#[derive(Clone, Debug)]
pub enum Values {
    /// Whole numbers.
    U64(Vec<u64>),
    /// Real numbers.
    F64(Vec<f64>),
    /// Words.
    Text(Vec<String>),
}

/// A table: columns of equal length.
#[derive(Clone, Debug)]
pub struct Table {
    /// Its name, which is also the name of its file.
    pub name: &'static str,
    /// Names with units, and values.
    pub columns: Vec<(String, Values)>,
}

/// All tables of a run whose measuring has ended: latency histograms, blame (total and by latency),
/// time series, wear, the slowest requests, and errors if flash has any.
pub fn tables(run: &Run) -> Vec<Table> {
    of_measured(run.measured(), wear(run.device()))
}

/// The tables of a run of several drives. Blocks and units of the first drive come first, and the table
/// of blocks names the drive of each.
pub fn of_array(run: &ArrayRun) -> Vec<Table> {
    let drives = run.drives().devices.iter().enumerate();
    let mut of_drives = drives.map(|(index, device)| {
        let mut table = wear(device);
        let drive = vec![index as u64; device.ftl().erase_counts().len()];
        table.columns.push(("drive".into(), Values::U64(drive)));
        table
    });
    let first = of_drives.next().expect("an array has drives");
    of_measured(run.measured(), of_drives.fold(first, Table::above))
}

fn of_measured(measured: &Measured, wear: Table) -> Vec<Table> {
    let mut tables = vec![
        latency(measured),
        blame(measured),
        bands(measured),
        series(measured),
        wear,
        units(measured),
        slowest(measured),
    ];
    tables.extend(measured.errors().map(|counters| errors(&counters)));
    tables
}

impl Table {
    /// The rows of this table above those of another one with the same columns.
    fn above(mut self, below: Self) -> Self {
        for ((_, values), (_, more)) in self.columns.iter_mut().zip(below.columns) {
            match (values, more) {
                (Values::U64(values), Values::U64(more)) => values.extend(more),
                (Values::F64(values), Values::F64(more)) => values.extend(more),
                (Values::Text(values), Values::Text(more)) => values.extend(more),
                _ => panic!("columns of one name have values of one kind"),
            }
        }
        self
    }
}

/// Collects rows into the columns of a table.
macro_rules! table {
    ($name:literal, $rows:expr, { $($column:literal: $variant:ident = $value:expr,)+ }) => {{
        let rows: Vec<_> = $rows;
        Table {
            name: $name,
            columns: vec![$(($column.into(), Values::$variant(rows.iter().map($value).collect()))),+],
        }
    }};
}

/// One row for each bucket with samples.
fn latency(measured: &Measured) -> Table {
    let mut rows = Vec::new();
    for (name, kind, stats) in measured.kinds() {
        rows.extend(stats.latency.buckets().map(|bucket| (name, kind.name(), bucket)));
    }
    table!("latency", rows, {
        "initiator": Text = |(name, _, _)| (*name).to_owned(),
        "kind": Text = |(_, kind, _)| (*kind).to_owned(),
        "low_ns": U64 = |(_, _, bucket)| bucket.low_ns,
        "high_ns": U64 = |(_, _, bucket)| bucket.high_ns,
        "requests": U64 = |(_, _, bucket)| bucket.count,
    })
}

/// One row for each initiator, kind and state.
fn blame(measured: &Measured) -> Table {
    let mut rows = Vec::new();
    for (name, kind, stats) in measured.kinds() {
        let states = State::ALL.iter().zip(stats.bands.total()).filter(|(_, ns)| *ns > 0);
        rows.extend(states.map(|(state, ns)| (name, kind.name(), state.name(), ns)));
    }
    table!("blame", rows, {
        "initiator": Text = |(name, _, _, _)| (*name).to_owned(),
        "kind": Text = |(_, kind, _, _)| (*kind).to_owned(),
        "state": Text = |(_, _, state, _)| (*state).to_owned(),
        "total_ns": U64 = |(_, _, _, ns)| *ns,
    })
}

/// One row for each band of latencies with requests, with a column for each state.
fn bands(measured: &Measured) -> Table {
    let mut rows = Vec::new();
    for (name, kind, stats) in measured.kinds() {
        rows.extend(stats.bands.iter().map(|band| (name, kind.name(), band)));
    }
    let of_state = |state: State| {
        Values::U64(rows.iter().map(|(_, _, (_, _, band))| band.blame_ns[state as usize]).collect())
    };
    let states = State::ALL.map(|state| (format!("{}_ns", state.name()), of_state(state)));
    let mut table = table!("bands", rows.iter().collect(), {
        "initiator": Text = |(name, _, _)| (*name).to_owned(),
        "kind": Text = |(_, kind, _)| (*kind).to_owned(),
        "low_ns": U64 = |(_, _, (low, _, _))| *low,
        "high_ns": U64 = |(_, _, (_, high, _))| *high,
        "requests": U64 = |(_, _, (_, _, band))| band.requests,
        "met": U64 = |(_, _, (_, _, band))| band.met,
        "blocked": U64 = |(_, _, (_, _, band))| band.blocked,
    });
    table.columns.extend(states);
    table
}

fn series(measured: &Measured) -> Table {
    let series = measured.series();
    let mut columns = vec![
        ("begin_ns".to_owned(), Values::U64(series.begins().map(|begin| begin.as_ns()).collect())),
        ("end_ns".to_owned(), Values::U64(series.ends().iter().map(|end| end.as_ns()).collect())),
    ];
    for (name, values) in series.columns() {
        let values = match values {
            metrics::Values::U64(values) => Values::U64(values.clone()),
            metrics::Values::F64(values) => Values::F64(values.clone()),
        };
        columns.push((name.to_owned(), values));
    }
    Table { name: "series", columns }
}

/// One row for each block.
fn wear(device: &Device) -> Table {
    let ftl = device.ftl();
    let rows: Vec<_> = ftl.erase_counts().iter().zip(ftl.block_states()).enumerate().collect();
    // No block is interrupted if the firmware does not count interruptions.
    let strain = |block: usize, of: usize| ftl.strain().get(block).map_or(0, |all| all[of].into());
    let state = |state: &BlockState| match state {
        BlockState::Free => "free",
        BlockState::Open => "open",
        BlockState::Closed => "closed",
        BlockState::Collecting => "collecting",
        BlockState::Bad => "bad",
    };
    table!("wear", rows, {
        "block": U64 = |(block, _)| *block as u64,
        "bin": U64 = |(block, _)| u64::from(ftl.layout.bin(BlockId(*block as u32)).0),
        "erases": U64 = |(_, (count, _))| u64::from(**count),
        "extra_ramps": U64 = |(block, _)| strain(*block, 0),
        "extra_pulses": U64 = |(block, _)| strain(*block, 1),
        "live_units": U64 = |(block, _)| u64::from(ftl.valid_units(BlockId(*block as u32))),
        "state": Text = |(_, (_, of_block))| state(of_block).to_owned(),
    })
}

/// One row for each smallest unit: its share of the counted time in use, and held by collection if
/// that was recorded.
fn units(measured: &Measured) -> Table {
    let busy = measured.unit_utilisation();
    let rows: Vec<_> = busy.iter().enumerate().collect();
    let mut table = table!("units", rows, {
        "unit": U64 = |(unit, _)| *unit as u64,
        "busy": F64 = |(_, busy)| **busy,
    });
    table.columns.extend(measured.unit_held().map(|held| ("held".into(), Values::F64(held))));
    table
}

/// One row for each of the slowest requests of every initiator and kind, all
/// together slowest first, with a column for each state.
fn slowest(measured: &Measured) -> Table {
    let rows = measured.slowest();
    let mut table = table!("slowest", rows.iter().collect(), {
        "initiator": Text = |(_, request)| measured.initiators()[request.initiator as usize].name.clone(),
        "kind": Text = |(_, request)| request.command.kind.name().to_owned(),
        "offset_bytes": U64 = |(_, request)| request.command.offset,
        "length_bytes": U64 = |(_, request)| request.command.bytes,
        "arrived_ns": U64 = |(_, request)| request.arrived.as_ns(),
        "latency_ns": U64 = |(latency, _)| latency.as_ns(),
    });
    for state in State::ALL {
        let of_state = |request: &crate::measure::SlowRequest| {
            request.blame.iter().find(|(of, _)| *of == state).map_or(0, |(_, span)| span.as_ns())
        };
        let values: Vec<u64> = rows.iter().map(|(_, request)| of_state(request)).collect();
        table.columns.push((format!("{}_ns", state.name()), Values::U64(values)));
    }
    table
}

/// One row for each number of errors up to the greatest that occurs: codewords by their errors.
fn errors(counters: &ErrorCounters) -> Table {
    /// Expected codewords below which a number of errors does not occur.
    const LEAST: f64 = 1e-9;
    let (host, internal) = (counters.host.by_errors(), counters.internal.by_errors());
    let again = counters.by_errors_again();
    let occurs = |errors: &usize| host[*errors] + internal[*errors] > LEAST || again[*errors] > 0;
    let count = (0..again.len()).rev().find(occurs).map_or(0, |most| most + 1);
    Table {
        name: "errors",
        columns: vec![
            ("errors".into(), Values::U64((0..count as u64).collect())),
            ("host_first_decodes".into(), Values::F64(host[..count].to_vec())),
            ("internal_first_decodes".into(), Values::F64(internal[..count].to_vec())),
            ("later_decodes".into(), Values::U64(again[..count].to_vec())),
        ],
    }
}
