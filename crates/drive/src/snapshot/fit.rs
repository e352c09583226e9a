//! The check that a drive can be started from a snapshot: the settings of the data layout must be
//! the same; all else may differ.

use crate::config::DriveConfig;
use crate::history::Origin;
use serde_json::{Value, json};

/// Each key of `drive` that differs from the snapshot's drive, with the fault; empty if a drive can
/// be started from the snapshot.
pub fn unfit(origin: &Origin, drive: &DriveConfig) -> Vec<(&'static str, String)> {
    let (theirs, ours) = (layout(&origin.drive), layout(drive));
    let pairs = theirs.into_iter().zip(ours);
    pairs
        .filter(|((_, theirs), (_, ours))| theirs != ours)
        .map(|((path, theirs), (_, ours))| {
            let problem = format!(
                "{ours} here, {theirs} in the snapshot: data would lie elsewhere; write what the \
                 snapshot's drive has, or precondition this one"
            );
            (path, problem)
        })
        .collect()
}

/// The settings of the data layout, by their paths in the configuration.
fn layout(drive: &DriveConfig) -> [(&'static str, Value); 22] {
    let DriveConfig { geometry, ftl, .. } = drive;
    let allocation = &ftl.allocation;
    let exported = ftl.exported_bytes(&nand::Geometry::from(geometry));
    // Default: the bytes that one program command writes.
    let row = u64::from(ftl.block_planes).saturating_mul(nand::Geometry::from(geometry).page_bytes);
    let stripe = allocation.stripe.map_or(row.max(ftl.unit.bytes()), |size| size.bytes());
    let units = exported.map(|bytes| (bytes / u128::from(ftl.unit.bytes()).max(1)) as u64);
    [
        ("drive.geometry.channels", geometry.channels.into()),
        ("drive.geometry.packages_per_channel", geometry.packages_per_channel.into()),
        ("drive.geometry.dies_per_package", geometry.dies_per_package.into()),
        ("drive.geometry.planes_per_die", geometry.planes_per_die.into()),
        ("drive.geometry.blocks_per_plane", geometry.blocks_per_plane.into()),
        ("drive.geometry.pages_per_block", geometry.pages_per_block.into()),
        ("drive.geometry.gang", json!(geometry.gang)),
        ("drive.geometry.page_size", json!(geometry.page_size)),
        ("drive.ftl.unit", json!(ftl.unit)),
        ("drive.ftl.subunit", json!(ftl.subunit)),
        ("drive.ftl.block_planes", ftl.block_planes.into()),
        ("drive.ftl.over_provisioning", units.map_or(Value::Null, |n| format!("{n} units").into())),
        ("drive.ftl.summary_page", ftl.summary_page.into()),
        ("drive.ftl.parity.width", json!(ftl.parity.map(|parity| parity.width))),
        (
            "drive.ftl.sets",
            json!(ftl.sets.as_ref().map(|sets| (sets.channels, sets.dies, &sets.parts))),
        ),
        ("drive.ftl.superblock.dies", json!(ftl.superblock.map(|superblock| superblock.dies))),
        ("drive.ftl.allocation.bin", json!(allocation.bin)),
        ("drive.ftl.allocation.pool", json!(allocation.pool)),
        ("drive.ftl.allocation.stripe", format!("{stripe} bytes").into()),
        ("drive.ftl.allocation.order", json!(allocation.order)),
        ("drive.ftl.allocation.streams", json!(allocation.streams)),
        ("drive.ftl.bad_blocks.factory", json!(ftl.bad_blocks.factory)),
    ]
}
