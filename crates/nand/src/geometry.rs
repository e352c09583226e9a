//! Ids of the levels and the arithmetic between them. Planes are numbered channel-major: channel,
//! package, die, plane.

use crate::config::{GangControl, GeometryConfig, UnitLevel};
use engine::typed_id;

typed_id! {
    /// A channel.
    pub struct ChannelId;
    /// A die, counted over the drive.
    pub struct DieId;
    /// A plane, counted over the drive.
    pub struct PlaneId;
}

/// The arrangement of a drive's flash.
#[derive(Clone, Copy, Debug)]
pub struct Geometry {
    /// Channels of the drive; the channels of a synchronous gang count as one.
    pub channels: u32,
    /// Channels of an asynchronous gang; 1 if there is none.
    pub gang_channels: u32,
    /// Lanes: channels that carry a page together, each a part of it.
    pub lanes: u32,
    /// Packages on a channel.
    pub packages_per_channel: u32,
    /// Dies in a package.
    pub dies_per_package: u32,
    /// Planes in a die.
    pub planes_per_die: u32,
    /// Blocks in a plane.
    pub blocks_per_plane: u32,
    /// Pages in a block.
    pub pages_per_block: u32,
    /// User bytes in a page, over all lanes.
    pub page_bytes: u64,
    /// Spare bytes of a page, over all lanes.
    pub spare_bytes: u64,
}

impl From<&GeometryConfig> for Geometry {
    fn from(config: &GeometryConfig) -> Self {
        // A gang size that does not divide the channels is refused before it is used.
        let (gang_channels, lanes) = match config.gang {
            Some(gang) if gang.control == GangControl::Synchronous => (1, gang.channels.max(1)),
            Some(gang) => (gang.channels.max(1), 1),
            None => (1, 1),
        };
        let bytes = |size: settings::Size| size.bytes().saturating_mul(u64::from(lanes));
        Self {
            channels: (config.channels / lanes).max(1),
            gang_channels,
            lanes,
            packages_per_channel: config.packages_per_channel,
            dies_per_package: config.dies_per_package,
            planes_per_die: config.planes_per_die,
            blocks_per_plane: config.blocks_per_plane,
            pages_per_block: config.pages_per_block,
            page_bytes: bytes(config.page_size),
            spare_bytes: bytes(config.page_spare),
        }
    }
}

impl Geometry {
    /// Dies of the drive.
    pub const fn dies(&self) -> u32 {
        self.channels * self.dies_per_channel()
    }
    /// Dies of a channel.
    pub const fn dies_per_channel(&self) -> u32 {
        self.packages_per_channel * self.dies_per_package
    }
    /// Planes of the drive.
    pub const fn planes(&self) -> u32 {
        self.dies() * self.planes_per_die
    }
    /// Bytes of user data that the flash can hold, bad blocks included.
    pub const fn physical_bytes(&self) -> u128 {
        self.planes() as u128
            * self.blocks_per_plane as u128
            * self.pages_per_block as u128
            * self.page_bytes as u128
    }
    /// Planes in a unit of the given level; `None` if planes do not come in pairs.
    pub const fn planes_in(&self, level: UnitLevel) -> Option<u32> {
        let die = self.planes_per_die;
        match level {
            UnitLevel::Plane => Some(1),
            UnitLevel::PlanePair if die.is_multiple_of(2) => Some(2),
            UnitLevel::PlanePair => None,
            UnitLevel::Die => Some(die),
            UnitLevel::Package => Some(die * self.dies_per_package),
            UnitLevel::Channel => Some(self.planes_per_channel()),
        }
    }
    /// Planes on a channel.
    pub const fn planes_per_channel(&self) -> u32 {
        self.dies_per_channel() * self.planes_per_die
    }
    /// The channel that serves a plane.
    pub const fn channel_of(&self, plane: PlaneId) -> ChannelId {
        ChannelId(plane.0 / self.planes_per_channel())
    }
}
