//! The figures that follow from a configuration, for `flashscape check`.

use super::flash::program_ns;
use super::{Checked, array, pressure, sets, superblocks, windows};
use crate::experiment::Experiment;
use engine::Span;
use nand::{GangControl, GeometryConfig};
use serde_json::{Value, json};

impl Checked {
    /// Capacity, durations, limits and memory, with units in names.
    pub fn derived(&self, experiment: &Experiment) -> Value {
        let layout = &self.layout;
        let physical = u64::from(layout.physical_units()) * layout.unit_bytes;
        let exported = layout.exported_bytes();
        // What is not spare is data and its parity.
        let stored = u64::from(layout.map_units) * layout.unit_bytes;
        let [foreground, background, stop] = self.thresholds;
        let mut derived = json!({
            "capacity": {
                "exported_bytes": exported,
                "physical_bytes": physical,
                "parity_bytes": stored - exported,
                "spare_over_exported": physical as f64 / stored as f64 - 1.0,
                "reserved_of_physical": 1.0 - stored as f64 / physical as f64,
                "spare_for_collection": self.spare_for_collection,
                "mapping_unit_bytes": layout.unit_bytes,
                "logical_units": layout.host_units,
            },
            "organisation": {
                "dies": self.geometry.dies(),
                "planes": self.geometry.planes(),
                "bins": layout.bins,
                "blocks_per_bin": layout.blocks_per_bin(),
                "block_bytes": u64::from(layout.units_per_block()) * layout.unit_bytes,
                "pools": layout.pool_count(),
                "program_bytes": layout.row_bytes(),
                "pins": pins(&experiment.drive.geometry),
            },
            "gc_free_blocks_per_bin": {
                "foreground": foreground,
                "background": background,
                "stop": stop,
                // The names of before, until version 1.0.
                "urgent": foreground,
                "soft": background,
            },
            "durations_ns": self.durations(),
            "limits": self.limits(experiment),
            "suspension_points_ns": self.steps(),
            "memory_bytes": {
                "map": self.memory.map_bytes,
                "other": self.memory.other_bytes(),
                "audit": self.memory.audit_bytes,
                "total": self.memory.total(),
                "available": self.memory.available_bytes,
            },
            "notes": self.notes,
        });
        for (key, figures) in self.of_parts(experiment) {
            if let Some(figures) = figures {
                derived[key] = figures;
            }
        }
        derived
    }

    /// The figures of parts that not every drive has.
    fn of_parts(&self, experiment: &Experiment) -> [(&'static str, Option<Value>); 5] {
        let (layout, geometry) = (&self.layout, &self.geometry);
        [
            ("array", array::derived(experiment, layout)),
            ("superblocks", superblocks::derived(layout, geometry)),
            ("sets", sets::derived(experiment, layout, geometry)),
            ("windows", windows::derived(experiment, layout)),
            ("pressure", pressure::derived(experiment, layout, geometry, self.program_ns())),
        ]
    }

    fn by_page_type(&self, span: impl Fn(u32) -> Span) -> Vec<u64> {
        (0..self.timing.page_types()).map(|page| span(page).as_ns()).collect()
    }

    fn durations(&self) -> Value {
        let timing = &self.timing;
        let page = self.geometry.page_bytes;
        json!({
            "sense_by_page_type": self.by_page_type(|page| timing.read(page)),
            "program_by_page_type": self.by_page_type(|page| timing.program(page)),
            "transfer_unit": timing.transfer(self.layout.unit_bytes.min(page)).as_ns(),
            "transfer_page": timing.transfer(page).as_ns(),
            "transfer_program": timing.transfer(self.layout.row_bytes()).as_ns(),
            "decode": timing.decode.as_ns(),
            "erase_step": timing.erase.step().as_ns(),
            "erase": timing.erase.total().as_ns(),
        })
    }

    fn program_ns(&self) -> f64 {
        program_ns(&self.timing, &self.layout)
    }

    /// Ends of the steps of an erase, at which it could be suspended.
    fn steps(&self) -> Vec<u64> {
        (1..=self.timing.erase.steps)
            .map(|step| (self.timing.erase.step() * u64::from(step)).as_ns())
            .collect()
    }

    /// Bytes a second that channels, dies and link allow, each alone.
    fn limits(&self, experiment: &Experiment) -> Value {
        let timing = &self.timing;
        let (page, row) = (self.geometry.page_bytes, self.layout.row_bytes());
        let channels = f64::from(self.geometry.channels);
        let rate = |bytes: u64, span: f64| bytes as f64 / span * 1e9;
        let units = |level| {
            f64::from(self.geometry.planes())
                / f64::from(self.geometry.planes_in(level).unwrap_or(1))
        };
        let sense = mean(self.by_page_type(|page| timing.read(page)));
        let transfer = |bytes| timing.transfer(bytes).as_ns() as f64;
        let concurrency = &experiment.drive.concurrency;
        json!({
            "channels_bytes_per_second": channels * rate(page, transfer(page)),
            "array_read_bytes_per_second": units(concurrency.read) * rate(page, sense + transfer(page)),
            "array_program_bytes_per_second": units(concurrency.program) * rate(row, self.program_ns()),
            "link_bytes_per_second": experiment.drive.host_link().rate.map(|rate| rate.bytes_per_second()),
        })
    }
}

fn mean(spans: Vec<u64>) -> f64 {
    spans.iter().sum::<u64>() as f64 / spans.len() as f64
}

/// Pins between the controller and the flash: eight data lines a channel; five for control (CLE,
/// ALE, WE, RE, WP) a channel, or a gang that shares them; a chip enable and a ready/busy line a
/// die, which a synchronous gang shares, too. So the packages of [ATC08] have 17 each.
fn pins(geometry: &GeometryConfig) -> u32 {
    let gangs = geometry.gang.map_or(geometry.channels, |gang| geometry.channels / gang.channels);
    let is_one = |gang: nand::GangConfig| gang.control == GangControl::Synchronous;
    let apart = if geometry.gang.is_some_and(is_one) { gangs } else { geometry.channels };
    let dies = geometry.packages_per_channel * geometry.dies_per_package;
    8 * geometry.channels + 5 * gangs + 2 * dies * apart
}
