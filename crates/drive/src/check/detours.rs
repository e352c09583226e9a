//! Refuses reads that are to go round collection if collection of each member of a stripe keeps another
//! member from reads as well.

use crate::config::DriveConfig;
use ftl::{BinId, Layout, PoolId};
use nand::{Geometry, GroupId, PlaneId, Units};
use settings::Problems;

/// Refuses `scheduler.read_routing = "reconstruct"` if no read can ever go round collection.
pub fn check(drive: &DriveConfig, geometry: &Geometry, layout: &Layout, problems: &mut Problems) {
    let Some(parity) =
        drive.ftl.parity.filter(|_| drive.scheduler.read_routing.detours().is_some())
    else {
        return;
    };
    let group = drive.scheduler.group(geometry);
    let Ok(units) = Units::new(geometry, &drive.concurrency, group) else { return };
    let reserves = !drive.ftl.gc.preemptible && drive.ftl.scrub.is_none();
    let holds = Holds { layout, units: &units, reserves };
    let mut pools = (0..layout.pool_count()).map(PoolId);
    let all_are_held = pools.all(|pool| {
        let first = pool.0 / parity.width * parity.width;
        let mut others = (first..first + parity.width).map(PoolId).filter(|other| *other != pool);
        others.any(|other| holds.are_held_together(pool, other))
    });
    if all_are_held {
        let order = &drive.ftl.allocation.order;
        let width = parity.width;
        problems.push("drive.scheduler.read_routing", format!("no read can go round garbage collection: of each {width} neighbouring pools (drive.ftl.parity.width), over which a stripe lies, each shares a flash unit (drive.concurrency) with another one, so that collection holds both; choose an order (drive.ftl.allocation.order, now \"{order}\") that puts neighbouring pools on different flash units, a smaller width, larger pools (drive.ftl.allocation.pool), smaller flash units, or another read_routing"));
    }
}

/// Cells in a group.
type Cells = (GroupId, u64);

/// Flash that collection keeps from reads.
struct Holds<'a> {
    layout: &'a Layout,
    units: &'a Units,
    /// True if collection reserves all that its erases occupy.
    reserves: bool,
}

impl Holds<'_> {
    /// True if collection of any bin of a pool keeps reads from all of another pool, too.
    fn are_held_together(&self, pool: PoolId, other: PoolId) -> bool {
        let bins = |pool| self.layout.bins_of(pool).iter().copied();
        let reads: Vec<Cells> = bins(other).flat_map(|bin| self.reads(bin)).collect();
        let mut holds = bins(pool).flat_map(|bin| self.least(bin));
        let meets = |(group, cells): Cells| {
            reads.iter().all(|(of, read)| *of == group && read & cells != 0)
        };
        holds.all(meets)
    }
    /// The least that collection of a bin holds: what it has reserved, or each of its reads.
    fn least(&self, bin: BinId) -> Vec<Cells> {
        if !self.reserves {
            return self.reads(bin).collect();
        }
        let erased = self.planes(bin).map(|plane| self.units.place(plane));
        let group = self.units.place(self.layout.first_plane(bin, 0)).group;
        vec![(group, erased.fold(0, |cells, place| cells | place.erase))]
    }
    /// Cells that reads of each plane of a bin need.
    fn reads(&self, bin: BinId) -> impl Iterator<Item = Cells> {
        self.planes(bin).map(|plane| {
            let place = self.units.place(plane);
            (place.group, place.read)
        })
    }
    fn planes(&self, bin: BinId) -> impl Iterator<Item = PlaneId> + use<> {
        let first = self.layout.first_plane(bin, 0).0;
        (first..first + self.layout.planes_per_bin()).map(PlaneId)
    }
}
