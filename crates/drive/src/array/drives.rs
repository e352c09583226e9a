//! The drives of an array.

use super::config::{ArrayConfig, seed_of};
use super::members::DriveId;
use crate::device::Device;
use crate::error::RunError;
use crate::experiment::Experiment;
use crate::history::History;
use crate::measure::{Mark, Measurable};
use crate::prepare::Prepared;
use engine::Instant;
use ftl::Tally;

/// The drives of an array, and the history of each.
pub struct Drives {
    /// The drives.
    pub devices: Vec<Device>,
    /// The history of each before the run.
    pub histories: Vec<History>,
}

impl Drives {
    /// Makes all drives, each filled and aged by itself. Returns `None` if `ongoing` stops the work.
    ///
    /// # Errors
    /// If a drive has no space.
    pub fn prepare(
        experiment: &Experiment,
        array: &ArrayConfig,
        ongoing: &mut dyn FnMut(f64) -> bool,
    ) -> Result<Option<Self>, RunError> {
        let (mut devices, mut histories) = (Vec::new(), Vec::new());
        let mut of_drive = experiment.clone();
        for drive in 0..array.drives {
            of_drive.seed = seed_of(experiment.seed, array, drive);
            let mut tell =
                |share: f64| ongoing((f64::from(drive) + share) / f64::from(array.drives));
            let Some(prepared) = Prepared::new(&of_drive, None, &mut tell)? else {
                return Ok(None);
            };
            devices.push(prepared.device);
            histories.push(prepared.history);
        }
        Ok(Some(Self { devices, histories }))
    }

    /// The drive with the next event, and its moment; the first of several such.
    pub fn next_due(&self) -> Option<(Instant, DriveId)> {
        let due = |(index, device): (usize, &Device)| {
            device.next_due().map(|due| (due, DriveId(index as u32)))
        };
        self.devices.iter().enumerate().filter_map(due).min()
    }
    /// The next event of the drives but `but`.
    pub fn next_due_but(&self, but: DriveId) -> Instant {
        let others = self.devices.iter().enumerate().filter(|(index, _)| *index != but.0 as usize);
        others.filter_map(|(_, device)| device.next_due()).min().unwrap_or(Instant::NEVER)
    }
    /// A drive.
    pub fn get(&self, drive: DriveId) -> &Device {
        &self.devices[drive.0 as usize]
    }
    /// A drive, to change it.
    pub fn get_mut(&mut self, drive: DriveId) -> &mut Device {
        &mut self.devices[drive.0 as usize]
    }
    /// Events of all drives, handled or pending.
    pub fn events(&self) -> u64 {
        self.devices.iter().map(Device::events).sum()
    }
    /// Commands under way at all drives.
    pub fn outstanding(&self) -> u32 {
        self.devices.iter().map(Device::outstanding).sum()
    }
}

impl Measurable for Drives {
    fn now(&self) -> Instant {
        self.devices.iter().map(Device::now).max().expect("an array has drives")
    }
    fn wait(&mut self, until: Instant) {
        self.devices.iter_mut().for_each(|device| device.wait(until));
    }
    fn begin_counting(&mut self) {
        self.devices.iter_mut().for_each(Device::begin_counting);
    }
    fn tally(&self) -> Tally {
        self.devices.iter().map(|device| device.ftl().tally).sum()
    }
    fn free_blocks(&self) -> u32 {
        self.devices.iter().map(Measurable::free_blocks).sum()
    }
    fn mark(&mut self) -> Mark {
        let now = self.now();
        self.wait(now);
        self.devices.iter_mut().map(Measurable::mark).reduce(Mark::beside).expect("it has drives")
    }
}
