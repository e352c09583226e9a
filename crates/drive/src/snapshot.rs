//! Snapshots: a drive that was shut down, kept to start others from it.
//!
//! What is kept is the firmware's state: the map, the blocks with their wear, the open
//! blocks, what of its random numbers is used up. What a power cycle ends (queues,
//! timers, the buffer, whose data goes to flash) is not, so that a snapshot may be
//! taken up under another scheduler, other timing or another policy; only the layout
//! must be the same. A run from a snapshot of a drive that was filled and aged is,
//! to the last bit, the run that fills and ages it itself.

mod file;
mod fit;

pub use file::{Damaged, info};
pub use fit::unfit;

use crate::config::DriveConfig;
use crate::device::{Device, empty_firmware};
use crate::precondition::Preconditioned;
use ftl::Ftl;
use serde::{Deserialize, Serialize};

/// A drive that was shut down.
#[derive(Clone)]
pub struct Snapshot {
    /// Where it comes from.
    pub origin: Origin,
    ftl: Ftl,
}

/// Where a snapshot comes from, and what is in it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Origin {
    /// The version of flashscape that took it.
    pub flashscape: String,
    /// The title of the experiment that it was taken from.
    pub title: Option<String>,
    /// The seed of that experiment.
    pub seed: u64,
    /// The drive.
    pub drive: DriveConfig,
    /// What preconditioned it.
    pub preconditioned: Preconditioned,
    /// Simulated time that it ran after that, in nanoseconds.
    pub ran_ns: u64,
    /// Blocks erased since it was new.
    pub erases: u64,
    /// Mapping units that hold data.
    pub mapped_units: u32,
}

impl Snapshot {
    /// Shuts a drive down and keeps it. What it has begun on its own account is taken to
    /// its end, what is in its buffer goes to flash.
    ///
    /// # Errors
    /// Where commands are under way, or where the drive cannot come to rest.
    pub fn of(
        device: Device,
        drive: &DriveConfig,
        title: Option<&str>,
        seed: u64,
        preconditioned: Preconditioned,
    ) -> Result<Self, String> {
        let ran_ns = device.now().as_ns();
        let ftl = device.shut_down(drive.ftl.allocation.choice)?;
        let origin = Origin {
            flashscape: env!("CARGO_PKG_VERSION").into(),
            title: title.map(str::to_owned),
            seed,
            drive: drive.clone(),
            preconditioned,
            ran_ns,
            erases: ftl.tally.erases,
            mapped_units: ftl.mapped_units(),
        };
        Ok(Self { origin, ftl })
    }

    /// A drive as `config` describes it, with what is in the snapshot. `config` fits it
    /// ([`unfit`] finds nothing).
    pub fn into_device(self, config: &DriveConfig) -> Device {
        let mut ftl = self.ftl;
        ftl.reconfigure(&config.ftl, config.nand.endurance);
        let mut device = Device::with_firmware(config, ftl);
        device.firmware_changed();
        device
    }

    /// As [`Snapshot::into_device`], of a copy.
    pub fn device(&self, config: &DriveConfig) -> Device {
        self.clone().into_device(config)
    }

    /// The firmware that was kept.
    pub fn ftl(&self) -> &Ftl {
        &self.ftl
    }

    fn empty(origin: Origin) -> Self {
        let ftl = empty_firmware(&origin.drive, origin.seed);
        Self { origin, ftl }
    }
}
