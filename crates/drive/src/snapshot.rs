//! Snapshots: a drive that was shut down, kept so that others can be started from it.
//!
//! A snapshot keeps the state of the firmware: the map, the blocks with their wear, the open
//! blocks, and the positions of its random streams. It does not keep state that a power cycle ends
//! (queues, timers, the buffer, whose data goes to flash). So a snapshot may be started with
//! another scheduler, other timing or another policy; only the layout must be the same. A run from
//! a snapshot of a drive that was filled and aged is, to the last bit, the run that fills and ages
//! the drive itself.

mod file;
mod fit;

pub use crate::history::Origin;
pub use file::{Damaged, content, header, info};
pub use fit::unfit;

use crate::check::Found;
use crate::config::DriveConfig;
use crate::device::{Device, keep_metadata};
use crate::history::History;
use file::Kept;
use ftl::Ftl;
use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A drive that was shut down.
pub struct Snapshot {
    /// Its origin.
    pub origin: Origin,
    store: Store,
}

/// The storage of the firmware's state.
enum Store {
    /// In memory, which is shared by all drives that are started from it, as below.
    Memory(Mutex<Box<Ftl>>),
    /// In a file, whose memory is shared by all drives that are started from it, as long as they do
    /// not change it.
    File(Box<Kept>),
}

fn locked(ftl: &Mutex<Box<Ftl>>) -> MutexGuard<'_, Box<Ftl>> {
    ftl.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Snapshot {
    /// Shuts down a drive with this history and keeps a snapshot of it. Operations that the drive
    /// has begun on its own account are completed, and the data in its buffer goes to flash.
    ///
    /// # Errors
    /// If commands are under way, or if the drive cannot come to rest.
    pub fn of(
        device: Device,
        drive: &DriveConfig,
        title: Option<&str>,
        seed: u64,
        history: &History,
    ) -> Result<Self, String> {
        let ran_ns = history.ran_ns().saturating_add(device.now().as_ns());
        let ftl = device.shut_down(drive.ftl.allocation.choice)?;
        let origin = Origin {
            flashscape: env!("CARGO_PKG_VERSION").into(),
            title: title.map(str::to_owned),
            seed,
            drive: drive.clone(),
            preconditioned: history.preconditioned.clone(),
            ran_ns,
            erases: ftl.tally.erases,
            mapped_units: ftl.mapped_units(),
        };
        Ok(Self { origin, store: Store::Memory(Mutex::new(Box::new(ftl))) })
    }

    /// Reads the snapshot in a file and verifies its checksums. The snapshot stays in the file,
    /// which must not change during the lifetime of the snapshot and of every drive that was
    /// started from it. `ongoing` gets the share that is read, from 0 to 1, and stops the reading
    /// by returning false, in which case `None` is returned.
    ///
    /// # Errors
    /// If there is no such file, or none with a whole snapshot.
    pub fn read(
        path: &Path,
        ongoing: &mut dyn FnMut(f64) -> bool,
    ) -> Result<Option<Self>, Damaged> {
        let kept = Kept::read(path, ongoing)?;
        Ok(kept
            .map(|kept| Self { origin: kept.origin().clone(), store: Store::File(Box::new(kept)) }))
    }

    /// Writes the snapshot to a file that is empty.
    ///
    /// # Errors
    /// If the file cannot be written, or its own cannot be read any more.
    pub fn write(&self, file: &mut File) -> io::Result<()> {
        match &self.store {
            Store::Memory(ftl) => file::write(file, &self.origin, &locked(ftl)),
            Store::File(kept) => {
                let ftl = kept.firmware().map_err(io::Error::other)?;
                file::write(file, &self.origin, &ftl)
            }
        }
    }

    /// A drive as `config` describes it, with the content of the snapshot. `config` must fit the
    /// snapshot ([`unfit`] finds nothing). Bit errors follow from the seed.
    ///
    /// # Errors
    /// If its file cannot be read any more.
    pub fn device(&self, config: &DriveConfig, seed: u64) -> Result<Device, Damaged> {
        let mut device = self.device_before(config, seed)?;
        device.firmware_changed();
        Ok(device)
    }

    /// As [`Snapshot::device`], before [`Device::firmware_changed`], which must be called next.
    ///
    /// # Errors
    /// As there.
    pub(crate) fn device_before(&self, config: &DriveConfig, seed: u64) -> Result<Device, Damaged> {
        let mut ftl = self.firmware()?;
        ftl.reconfigure(&config.ftl, config.nand.endurance);
        keep_metadata(&mut ftl, config);
        Ok(Device::with_firmware(config, ftl, seed))
    }

    /// Facts about the drive that the check of an experiment needs.
    pub fn found(&self) -> Found {
        match &self.store {
            Store::Memory(ftl) => Found::of(&locked(ftl)),
            Store::File(kept) => kept.found(),
        }
    }

    /// A copy of the firmware that was kept.
    ///
    /// # Errors
    /// If its file cannot be read any more.
    pub fn firmware(&self) -> Result<Ftl, Damaged> {
        match &self.store {
            Store::Memory(ftl) => {
                let mut ftl = locked(ftl);
                ftl.share_map();
                Ok(Ftl::clone(&ftl))
            }
            Store::File(kept) => kept.firmware(),
        }
    }
}
