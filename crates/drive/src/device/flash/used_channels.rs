//! The channels that groups of units use.

use crate::device::flash::place::{BinPlace, PlaceId};
use engine::Column;
use nand::{ChannelId, GroupId};

/// The channels that the operations of a group use: one, unless they lie on several.
#[derive(Clone)]
pub enum UsedChannels {
    One(ChannelId),
    Several(Vec<ChannelId>),
}

/// The channels that the operations of each group use.
pub fn channels_of(
    places: &Column<PlaceId, BinPlace>,
    groups: u32,
) -> Column<GroupId, UsedChannels> {
    let mut channels = Column::filled(Vec::new(), groups as usize);
    for place in places.as_slice() {
        let of_group: &mut Vec<ChannelId> = &mut channels[place.group];
        if !of_group.contains(&place.channel) {
            of_group.push(place.channel);
        }
    }
    Column::from_fn(groups as usize, |group| match &channels[group][..] {
        [only] => UsedChannels::One(*only),
        several => UsedChannels::Several(several.to_vec()),
    })
}
