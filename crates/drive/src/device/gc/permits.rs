//! Permits: leave of collections to copy, where the number of those that copy at the same time is
//! limited (`ftl.gc.at_once`), where one reserves channels (`ftl.gc.blocking`), or where they take turns
//! in groups of stripes (`scheduler.rotation`).

use crate::config::DriveConfig;
use crate::device::gc::turns::Turns;
use engine::Column;
use ftl::{BinId, Blocking, Layout};
use nand::ChannelId;

/// A bin's permit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Permit {
    None,
    /// It counts, and waits for channels.
    Claims,
    /// It is used.
    Copies,
}

/// The permits of all bins.
#[derive(Clone)]
pub struct Permits {
    // ---- constant ----
    blocking: Blocking,
    most_of_channel: u32,
    most: u32,
    // ---- state ----
    of_bin: Column<BinId, Permit>,
    used_of_channel: Column<ChannelId, u32>,
    used: u32,
    /// Bins that wait for a permit, the oldest first.
    waiting: Vec<BinId>,
    /// Turns in groups of stripes, if there are any.
    pub(super) turns: Option<Turns>,
}

impl Permits {
    /// Permits of a new drive; none if collections need no leave.
    pub fn new(config: &DriveConfig, layout: &Layout, channels: u32) -> Option<Box<Self>> {
        let width = config.ftl.parity.map(|parity| parity.width);
        let turns = Turns::new(&config.scheduler.rotation, width, layout);
        let config = &config.ftl.gc;
        let at_once = config.at_once.unwrap_or_default();
        if config.at_once.is_none() && config.blocking == Blocking::Plane && turns.is_none() {
            return None;
        }
        // Only one collection can have a channel, or all of them.
        let [of_channel, of_drive] = match config.blocking {
            Blocking::Plane => [u32::MAX, u32::MAX],
            Blocking::Channel => [1, u32::MAX],
            Blocking::Controller => [1, 1],
        };
        Some(Box::new(Self {
            blocking: config.blocking,
            most_of_channel: at_once.channel.unwrap_or(u32::MAX).min(of_channel),
            most: at_once.drive.unwrap_or(u32::MAX).min(of_drive),
            of_bin: Column::filled(Permit::None, layout.bins as usize),
            used_of_channel: Column::filled(0, channels as usize),
            used: 0,
            waiting: Vec::new(),
            turns,
        }))
    }

    /// A copy of the permits while nothing is collected.
    pub fn begun_anew(&self) -> Box<Self> {
        Box::new(Self {
            of_bin: Column::filled(Permit::None, self.of_bin.len()),
            used_of_channel: Column::filled(0, self.used_of_channel.len()),
            used: 0,
            waiting: Vec::new(),
            turns: self.turns.as_ref().map(Turns::begun_anew),
            ..*self
        })
    }

    /// Gives a bin a permit, or puts it on the list of those that wait; returns true if it has one.
    pub fn take(&mut self, bin: BinId, channel: ChannelId) -> bool {
        if self.of_bin[bin] != Permit::None {
            return true;
        }
        let used_of_channel = &mut self.used_of_channel[channel];
        if self.used == self.most || *used_of_channel == self.most_of_channel {
            if !self.waiting.contains(&bin) {
                self.waiting.push(bin);
            }
            return false;
        }
        self.waiting.retain(|other| *other != bin);
        self.used += 1;
        *used_of_channel += 1;
        self.of_bin[bin] = Permit::Claims;
        true
    }

    /// True if a bin has a permit.
    pub fn has(&self, bin: BinId) -> bool {
        self.of_bin[bin] != Permit::None
    }

    /// Takes a bin's permit.
    pub fn give_back(&mut self, bin: BinId, channel: ChannelId) {
        self.of_bin[bin] = Permit::None;
        self.used -= 1;
        self.used_of_channel[channel] -= 1;
    }

    /// Says that a bin has all channels that it claims.
    pub fn begin(&mut self, bin: BinId) {
        self.of_bin[bin] = Permit::Copies;
    }

    /// True if a bin has a permit and the channels that it claims.
    pub fn is_used(&self, bin: BinId) -> bool {
        self.of_bin[bin] == Permit::Copies
    }

    /// True if a bin has a permit and waits for channels.
    pub fn is_claiming(&self, bin: BinId) -> bool {
        self.of_bin[bin] == Permit::Claims
    }

    /// Bins that have a permit and wait for channels, in order.
    pub fn claiming(&self) -> impl Iterator<Item = BinId> {
        self.of_bin.ids().filter(|bin| self.is_claiming(*bin))
    }

    /// True if a channel has no permit left.
    pub fn is_channel_full(&self, channel: ChannelId) -> bool {
        self.used_of_channel[channel] == self.most_of_channel
    }

    /// True if a bin waits for a permit, or for channels.
    pub fn is_waiting(&self, bin: BinId) -> bool {
        self.is_claiming(bin) || self.waiting.contains(&bin)
    }

    /// True if another bin waits for a permit.
    pub fn has_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Bins that wait for a permit, the oldest first; they are forgotten.
    pub fn take_waiting(&mut self) -> Vec<BinId> {
        std::mem::take(&mut self.waiting)
    }

    /// The channels that the collection of a bin on a channel reserves.
    pub fn channels(&self, channel: ChannelId) -> impl Iterator<Item = ChannelId> + use<> {
        let channels = match self.blocking {
            Blocking::Plane => 0..0,
            Blocking::Channel => channel.0..channel.0 + 1,
            Blocking::Controller => 0..self.used_of_channel.len() as u32,
        };
        channels.map(ChannelId)
    }
}
