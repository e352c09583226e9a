//! What recovery from power cuts takes: checkpoints while the drive runs, and the time that
//! reading and erasing take afterwards.

use crate::audit::{Saved, Survives};
use crate::config::{DriveConfig, Durability};
use crate::device::flash::BinPlace;
use crate::device::{Base, Device};
use crate::recovery::{MapRecovery, Outage, RecoveryConfig, TrimDurability};
use engine::{Instant, Span};
use ftl::recovery::{Fault, Look, MapFrom, Means};
use ftl::{BinId, Ftl, Source};
use settings::Rate;

/// Bytes of metadata of a page where the configuration knows none (`page_spare`).
const METADATA_BYTES: u64 = 16;
/// Bytes of a map entry in a checkpoint.
const ENTRY_BYTES: u64 = 4;

/// The drive's means of recovery, and its state while it is off.
#[derive(Clone)]
pub struct Persistence {
    // ---- constant ----
    pub config: RecoveryConfig,
    /// Channel time of the metadata of a row.
    metadata: Span,
    /// Rows that a checkpoint takes.
    checkpoint_rows: u64,
    // ---- state ----
    /// Units that hosts had programmed when time began.
    began_at: Option<u64>,
    /// For how long the drive has been off, or recovering, until it was last there again.
    pub off_for: Span,
    /// When it was cut off and when it was there again, each time until then.
    pub off_times: Vec<(Instant, Instant)>,
    /// What a capacitor has saved, until it is in the buffer again.
    pub saved: Vec<Saved>,
    /// The last power cut, while the drive is off.
    pub off: Option<Outage>,
    /// What it does wrong, to see that found.
    pub fault: Option<Fault>,
}

impl Persistence {
    pub fn new(config: RecoveryConfig, drive: &DriveConfig, ftl: &Ftl) -> Box<Self> {
        let layout = &ftl.layout;
        let spare = drive.geometry.page_spare.bytes();
        let metadata = if spare > 0 { spare } else { METADATA_BYTES };
        let bytes = u64::from(layout.logical_units) * ENTRY_BYTES;
        let is_checkpointed = matches!(config.map, MapRecovery::Checkpoint { .. });
        Box::new(Self {
            metadata: carried(drive.nand.channel, metadata * u64::from(layout.block_planes)),
            checkpoint_rows: if is_checkpointed { bytes.div_ceil(layout.row_bytes()) } else { 0 },
            began_at: None,
            off_for: Span::ZERO,
            off_times: Vec::new(),
            config,
            saved: Vec::new(),
            off: None,
            fault: None,
        })
    }

    /// Checkpoints by now, of a drive whose hosts have programmed `units`; the first is that
    /// with which it began.
    fn checkpoints(&self, now: Instant, units: u64) -> u32 {
        let MapRecovery::Checkpoint { every, units: each } = self.config.map else { return 0 };
        // Nothing is written while the drive is off.
        let awake = self.off.map_or(now, |outage| outage.at).as_ns() - self.off_for.as_ns();
        let by_time = every.map(|every| awake / every.span().as_ns());
        let since = units - self.began_at.unwrap_or(units);
        let by_units = each.map(|each| since / each);
        let since = by_time.or(by_units).unwrap_or(0);
        u32::try_from(since + 1).unwrap_or(u32::MAX)
    }

    /// For how long the drive, which is there, has been off or recovering since then.
    #[inline]
    pub fn off_since(&self, then: Instant) -> Span {
        let times = self.off_times.iter().rev().take_while(|(_, until)| *until > then);
        times.map(|(from, until)| *until - (*from).max(then)).sum()
    }

    /// How the firmware recovers.
    pub fn means(&self) -> Means {
        Means {
            map: match self.config.map {
                MapRecovery::Scan {} => MapFrom::Scan,
                MapRecovery::Checkpoint { .. } => MapFrom::Checkpoint,
                MapRecovery::Persistent {} => MapFrom::Memory,
            },
            logs_trims: self.config.trims == TrimDurability::Logged,
            fault: self.fault,
        }
    }
}

/// Time that a channel takes for so many bytes.
fn carried(rate: Rate, bytes: u64) -> Span {
    rate.transfer(bytes)
}

/// What units and channels have to do, each beside the others.
struct Loads {
    cells: Vec<Span>,
    channels: Vec<Span>,
    cells_per_group: usize,
}

impl Loads {
    fn of(device: &Device) -> Self {
        let cells_per_group = device.base.flash.units.cells_per_group as usize;
        Self {
            cells: vec![Span::ZERO; device.base.flash.units.groups as usize * cells_per_group],
            channels: vec![Span::ZERO; device.base.flash.channels.len()],
            cells_per_group,
        }
    }
    /// Cells work for a time at the end of which their channel carries for another.
    fn add(&mut self, place: &BinPlace, cells: u64, array: Span, carried: Span) {
        let first = place.group.0 as usize * self.cells_per_group;
        for cell in engine::bits(cells) {
            self.cells[first + cell] += array + carried;
        }
        self.channels[place.channel.0 as usize] += carried;
    }
    /// When all is done: no unit and no channel waits for another.
    fn longest(&self) -> Span {
        self.cells.iter().chain(&self.channels).copied().max().unwrap_or(Span::ZERO)
    }
}

impl Base {
    /// The firmware hears of the checkpoints that have come due.
    #[inline]
    pub fn note_checkpoints(&mut self) {
        if self.power.as_ref().is_some_and(|persistence| persistence.checkpoint_rows > 0) {
            self.note_some_checkpoints();
        }
    }

    #[cold]
    #[inline(never)]
    fn note_some_checkpoints(&mut self) {
        let Some(persistence) = &self.power else { return };
        let units = self.space.ftl.tally.units[Source::Host as usize];
        let count = persistence.checkpoints(self.time.now, units);
        let notes_trims = persistence.config.trims == TrimDurability::Volatile;
        self.space.ftl.note_checkpoints(count, notes_trims);
    }

    /// Time begins: the drive is as it was filled and aged, or shut down.
    pub fn begin_checkpoints(&mut self) {
        let units = self.space.ftl.tally.units[Source::Host as usize];
        if let Some(persistence) = &mut self.power {
            persistence.began_at.get_or_insert(units);
        }
        self.note_checkpoints();
    }
}

impl Device {
    /// Checkpoints since the run began, and the programs that each takes.
    pub fn checkpoints(&self) -> Option<(u64, u64)> {
        let persistence = self.base.power.as_ref()?;
        let units = self.base.space.ftl.tally.units[Source::Host as usize];
        let count = persistence.checkpoints(self.base.time.now, units);
        (count > 0).then(|| (u64::from(count) - 1, persistence.checkpoint_rows))
    }

    /// From now on recovery does something wrong. For tests of what must find that.
    pub fn recover_badly(&mut self, fault: Fault) {
        if let Some(persistence) = &mut self.base.power {
            persistence.fault = Some(fault);
        }
    }

    /// Rows that are spread evenly over all bins, read one after the other in each.
    fn read_spread(&self, rows: u64) -> Span {
        let bins = u64::from(self.base.space.ftl.layout.bins);
        let sense = (0..self.base.flash.timing.page_types())
            .map(|row| self.base.flash.timing.read(row))
            .max();
        let (sense, carried) = (sense.expect("there are types"), self.base.flash.shape.of_row());
        let mut loads = Loads::of(self);
        for bin in 0..bins {
            let place = &self.base.flash.places[BinId(bin as u32)];
            let count = rows / bins + u64::from(bin < rows % bins);
            let cells = place.read_cells(self.all_planes());
            loads.add(place, cells, sense * count, carried * count);
        }
        loads.longest()
    }

    fn all_planes(&self) -> u64 {
        self.base.space.ftl.layout.all_planes()
    }

    /// What is read of blocks, and how long that takes.
    fn scanned(&self, looks: &[Look], outage: &mut Outage) -> Span {
        let persistence = self.base.power.as_ref().expect("it recovers");
        let layout = &self.base.space.ftl.layout;
        let mut loads = Loads::of(self);
        let mut rows = 0;
        for look in looks {
            let place = &self.base.flash.places[layout.bin(look.block)];
            let cells = place.read_cells(self.all_planes());
            if look.summary {
                let sense = self.base.flash.timing.read(layout.rows_per_block);
                loads.add(place, cells, sense, self.base.flash.shape.summary);
            }
            let sense: Span = (0..look.rows).map(|row| self.base.flash.timing.read(row)).sum();
            loads.add(place, cells, sense, persistence.metadata * u64::from(look.rows));
            rows += u64::from(look.rows) + u64::from(look.summary);
        }
        outage.pages_scanned = rows * u64::from(layout.block_planes);
        outage.blocks_scanned = looks.len() as u64;
        loads.longest()
    }

    /// How long a recovery takes, part by part.
    pub(in crate::device) fn time_recovery(
        &self,
        looks: &[Look],
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
            let place = &self.base.flash.places[layout.bin(*block)];
            erases.add(place, place.erase, self.base.flash.timing.erase.total(), Span::ZERO);
        }
        outage.parts = [
            self.read_spread(rows),
            self.scanned(looks, outage),
            self.read_spread(batches * u64::from(layout.rows_per_batch)),
            erases.longest(),
        ];
        outage.took = outage.parts.into_iter().sum();
    }

    /// What of the drive survives a power cut; nothing where it cannot recover.
    pub(in crate::device) fn survives(&self) -> Option<Survives> {
        let means = self.base.power.as_ref()?.means();
        Some(Survives {
            durability: self.write.config.durability,
            // Memory that keeps the map keeps what is not in it, too.
            logs_trims: means.map == MapFrom::Memory || means.logs_trims,
            scans: means.map == MapFrom::Scan,
        })
    }

    /// True where a capacitor saves what is in the buffer.
    pub(in crate::device) fn saves_buffer(&self) -> bool {
        self.write.config.durability == Durability::Capacitor
    }
}
