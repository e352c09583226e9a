//! The means of recovery of a drive, and its state while it is off.

use crate::audit::Saved;
use crate::config::DriveConfig;
use crate::recovery::{MapRecovery, Outage, RecoveryConfig, TrimDurability};
use engine::{Instant, Span};
use ftl::Ftl;
use ftl::recovery::{Fault, MapFrom, Means};
use settings::Rate;

/// Bytes of metadata of a page if the configuration does not give them (`page_spare`).
const METADATA_BYTES: u64 = 16;
/// Bytes of a map entry in a checkpoint.
const ENTRY_BYTES: u64 = 4;

/// The drive's means of recovery, and its state while it is off.
#[derive(Clone)]
pub struct Persistence {
    // ---- constant ----
    pub config: RecoveryConfig,
    /// Channel time of the metadata of a row.
    pub(super) metadata: Span,
    /// Rows that a checkpoint takes.
    pub(super) checkpoint_rows: u64,
    // ---- state ----
    /// Units that hosts had programmed when time began.
    pub(super) began_at: Option<u64>,
    /// Total time that the drive has been off, or recovering, until it was last turned on.
    pub off_for: Span,
    /// The moments of power cuts and of the following power-ups.
    pub off_times: Vec<(Instant, Instant)>,
    /// Data that a capacitor has saved, until it is in the buffer again.
    pub saved: Vec<Saved>,
    /// The last power cut, while the drive is off.
    pub off: Option<Outage>,
    /// A deliberate fault, for tests of its detection.
    pub fault: Option<Fault>,
}

impl Persistence {
    pub fn new(config: RecoveryConfig, drive: &DriveConfig, ftl: &Ftl) -> Box<Self> {
        let layout = &ftl.layout;
        let spare = drive.geometry.page_spare.bytes();
        let metadata = if spare > 0 { spare } else { METADATA_BYTES };
        let bytes = u64::from(layout.map_units) * ENTRY_BYTES;
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

    /// Number of checkpoints by now, for a drive whose hosts have programmed `units`; the first is
    /// the one that it began with.
    pub(super) fn checkpoints(&self, now: Instant, units: u64) -> u32 {
        let MapRecovery::Checkpoint { every, units: each } = self.config.map else { return 0 };
        // Nothing is written while the drive is off.
        let awake = self.off.map_or(now, |outage| outage.at).as_ns() - self.off_for.as_ns();
        let by_time = every.map(|every| awake / every.span().as_ns());
        let since = units - self.began_at.unwrap_or(units);
        let by_units = each.map(|each| since / each);
        let since = by_time.or(by_units).unwrap_or(0);
        u32::try_from(since + 1).unwrap_or(u32::MAX)
    }

    /// Total time that the drive, which is on, has been off or recovering since `then`.
    #[inline]
    pub fn off_since(&self, then: Instant) -> Span {
        let times = self.off_times.iter().rev().take_while(|(_, until)| *until > then);
        times.map(|(from, until)| *until - (*from).max(then)).sum()
    }

    /// The firmware's means of recovery.
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

/// Channel time of `bytes`.
fn carried(rate: Rate, bytes: u64) -> Span {
    rate.transfer(bytes)
}
