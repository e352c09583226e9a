//! Recovery from a power cut: the time of reading and erasing, and the data that survives.

use crate::audit::Survives;
use crate::config::Durability;
use crate::device::Device;
use crate::device::flash::BinPlace;
use crate::recovery::Outage;
use engine::Span;
use ftl::BinId;
use ftl::recovery::{Fault, MapFrom, ScannedBlock};

/// Work of units and channels, each in parallel with the others.
struct Loads {
    cells: Vec<Span>,
    channels: Vec<Span>,
    cells_per_group: usize,
}

impl Loads {
    fn of(device: &Device) -> Self {
        let cells_per_group = device.base.flash.units().cells_per_group as usize;
        Self {
            cells: vec![Span::ZERO; device.base.flash.units().groups as usize * cells_per_group],
            channels: vec![Span::ZERO; device.base.flash.channel_count()],
            cells_per_group,
        }
    }
    /// Adds work of parts of a group for a time, at the end of which their channel transfers for
    /// `carried`.
    fn add(&mut self, place: &BinPlace, cells: u64, array: Span, carried: Span) {
        let first = place.group.0 as usize * self.cells_per_group;
        for cell in engine::bits(cells) {
            self.cells[first + cell] += array + carried;
        }
        self.channels[place.channel.0 as usize] += carried;
    }
    /// End of all work: no unit and no channel waits for another.
    fn longest(&self) -> Span {
        self.cells.iter().chain(&self.channels).copied().max().unwrap_or(Span::ZERO)
    }
}

impl Device {
    /// Makes recovery do something wrong from now on, for tests of the detection.
    pub fn recover_badly(&mut self, fault: Fault) {
        if let Some(persistence) = &mut self.base.power {
            persistence.fault = Some(fault);
        }
    }

    /// Rows that are spread evenly over all bins, read one after the other in each.
    fn read_spread(&self, rows: u64) -> Span {
        let bins = u64::from(self.base.space.ftl.layout.bins);
        let sense = (0..self.base.flash.timing().page_types())
            .map(|row| self.base.flash.timing().read(row))
            .max();
        let (sense, carried) = (sense.expect("there are types"), self.base.flash.shape().of_row());
        let mut loads = Loads::of(self);
        for bin in 0..bins {
            let place = self.base.flash.place(BinId(bin as u32));
            let count = rows / bins + u64::from(bin < rows % bins);
            let cells = place.read_cells(self.all_planes());
            loads.add(place, cells, sense * count, carried * count);
        }
        loads.longest()
    }

    fn all_planes(&self) -> u64 {
        self.base.space.ftl.layout.all_planes()
    }

    /// Time to read the metadata of blocks; counts the pages in `outage`.
    fn scanned(&self, scanned: &[ScannedBlock], outage: &mut Outage) -> Span {
        let persistence = self.base.power.as_ref().expect("it recovers");
        let layout = &self.base.space.ftl.layout;
        let mut loads = Loads::of(self);
        let mut rows = 0;
        for read in scanned {
            let place = self.base.flash.place(layout.bin(read.block));
            let cells = place.read_cells(self.all_planes());
            if read.summary {
                let sense = self.base.flash.timing().read(layout.rows_per_block);
                loads.add(place, cells, sense, self.base.flash.shape().summary);
            }
            let sense: Span = (0..read.rows).map(|row| self.base.flash.timing().read(row)).sum();
            loads.add(place, cells, sense, persistence.metadata * u64::from(read.rows));
            rows += u64::from(read.rows) + u64::from(read.summary);
        }
        outage.pages_scanned = rows * u64::from(layout.block_planes);
        outage.blocks_scanned = scanned.len() as u64;
        loads.longest()
    }

    /// Duration of a recovery, part by part.
    pub(in crate::device) fn time_recovery(
        &self,
        scanned: &[ScannedBlock],
        erased: &[ftl::BlockId],
        outage: &mut Outage,
    ) {
        let persistence = self.base.power.as_ref().expect("it recovers");
        let rows = persistence.checkpoint_rows;
        let planes = u64::from(self.base.space.ftl.layout.block_planes);
        outage.checkpoint_pages = rows * planes;
        let layout = &self.base.space.ftl.layout;
        let batches = persistence.saved.len().div_ceil(layout.units_per_batch as usize) as u64;
        let mut erases = Loads::of(self);
        for block in erased {
            let place = self.base.flash.place(layout.bin(*block));
            erases.add(place, place.erase, self.base.flash.timing().erase.total(), Span::ZERO);
        }
        outage.parts = [
            self.read_spread(rows),
            self.scanned(scanned, outage),
            self.read_spread(batches * u64::from(layout.rows_per_batch)),
            erases.longest(),
        ];
        outage.took = outage.parts.into_iter().sum();
    }

    /// Data and trims of the drive that survive a power cut; `None` if it cannot recover.
    pub(in crate::device) fn survives(&self) -> Option<Survives> {
        let means = self.base.power.as_ref()?.means();
        Some(Survives {
            durability: self.write.first().durability(),
            // Memory that keeps the map also keeps the absence of a unit from it.
            logs_trims: means.map == MapFrom::Memory || means.logs_trims,
            scans: means.map == MapFrom::Scan,
        })
    }

    /// True if a capacitor saves the content of the buffer.
    pub(in crate::device) fn saves_buffer(&self) -> bool {
        self.write.first().durability() == Durability::Capacitor
    }
}
