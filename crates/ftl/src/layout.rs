//! Addresses: logical units, physical units, and their places on flash.
//!
//! The number of a physical unit is `block * units_per_block + place in the order of writing`, so
//! the firmware needs no geometry. The layout decodes from the number only the planes that a
//! flash operation occupies.

use crate::allocation::PoolLevel;
use crate::config::{FtlConfig, ParityConfig};
use crate::gc::Gain;
use crate::ids::{Batch, BinId, BlockId, Lpn, PoolId, Ppn, SetId};
use crate::pools::{Pools, pool_of_bin, pools};
use crate::sets::Sets;
use crate::streams::Stream;
use crate::stripes::Stripes;
use crate::superblocks::Superblocks;
use engine::{Column, Divisor, bits, ids::Id, low_bits};
use nand::{Geometry, PlaneId};

/// A contradiction: the key below `ftl`, the fault and its remedy.
type Fault = (&'static str, String);

/// A number of bytes in decimal units, to three digits.
fn size(bytes: u128) -> String {
    let (mut value, mut unit) = (bytes as f64, "B");
    for larger in ["kB", "MB", "GB", "TB", "PB"] {
        if value < 999.5 {
            break;
        }
        (value, unit) = (value / 1000.0, larger);
    }
    let digits = if value < 9.995 { 2 } else { usize::from(value < 99.95) };
    format!("{value:.*} {unit}", if unit == "B" { 0 } else { digits })
}

fn sound(faults: Vec<Fault>) -> Result<(), Vec<Fault>> {
    if faults.is_empty() { Ok(()) } else { Err(faults) }
}

/// Dimensions of a drive as its firmware sees it.
#[derive(Clone, Debug)]
pub struct Layout {
    /// Bytes in a mapping unit.
    pub unit_bytes: u64,
    /// Parts of a mapping unit of which the map knows whether they hold data; 1 if it knows of none.
    pub subunits: u32,
    /// Bytes in a flash page.
    pub page_bytes: u64,
    /// Planes that a block spans on each of its dies.
    pub block_planes: u32,
    /// Planes of a block that one erase command erases.
    erase_planes: u32,
    /// Rows of a block that hold data. A row is one page in each of its erase blocks.
    pub rows_per_block: u32,
    /// True if a further row follows, with a summary of the others.
    pub summary_page: bool,
    /// Units that one program command writes (1 if a unit is larger).
    pub units_per_batch: u32,
    /// Program commands that write one unit (1 if a unit is not larger than a command's data).
    pub rows_per_batch: u32,
    /// Batches in a block.
    pub batches_per_block: u32,
    /// Bins of the drive.
    pub bins: u32,
    /// Logical units that the host may address: the first units of the map.
    pub host_units: u32,
    /// Logical units of the map. The drive itself writes those above the host's.
    pub map_units: u32,
    /// NVM sets, if the drive is cut into some.
    pub sets: Option<Sets>,
    /// Logical stripes, if data has parity.
    pub stripes: Option<Stripes>,
    /// Superblocks, if blocks lie on several dies.
    pub superblocks: Option<Superblocks>,
    /// Dies of a superblock; 1 without them. Apart, because reads of hosts ask for it.
    lanes: u32,
    /// Pools, each with its bins in turn order.
    pools: Vec<Vec<BinId>>,
    pool_of_bin: Column<BinId, PoolId>,
    stripe: Divisor,
    /// Pools of the drive.
    all_pools: Divisor,
    units_per_block: Divisor,
    blocks_per_bin: Divisor,
    batch: Divisor,
    planes_per_bin: u32,
    /// Blocks of a bin that lie on the same planes.
    blocks_per_home: u32,
    planes_of_slot: Vec<u64>,
    /// All slots of a batch.
    whole_batch: u64,
    /// Binary logarithm of a unit's size, if that is a power of two.
    unit_shift: Option<u32>,
}

impl Layout {
    /// The layout of `config` on `geometry`, exporting `exported` bytes.
    ///
    /// # Errors
    /// Every contradiction, as (key below `ftl`, fault and remedy).
    pub fn new(
        geometry: &Geometry,
        config: &FtlConfig,
        exported: u128,
    ) -> Result<Self, Vec<Fault>> {
        sound(Self::unit_faults(geometry, config))?;
        sound(Self::block_faults(geometry, config))?;
        let (unit, page, planes) = (config.unit.bytes(), geometry.page_bytes, config.block_planes);
        let (units_per_batch, rows_per_batch) = Self::batch(geometry, config);
        let rows = config.data_pages(geometry);
        let lanes = config.superblock.map_or(1, |superblock| superblock.dies);
        let batches_per_block = rows / rows_per_batch as u32 * lanes;
        let units_per_block = u64::from(batches_per_block) * units_per_batch;
        let planes_per_bin = Self::planes_in(geometry, config.allocation.bin.pool()).max(planes);
        let bins = geometry.planes() / planes_per_bin / lanes;
        let blocks_per_bin = geometry.blocks_per_plane * (planes_per_bin / planes);
        let physical = u128::from(bins) * u128::from(blocks_per_bin) * u128::from(units_per_block);
        let logical = exported / u128::from(unit);
        let stripe = config.allocation.stripe.map_or(units_per_batch * unit, |size| size.bytes());
        sound(Self::space_faults(physical, [logical, 0], stripe, unit))?;
        let (mut pools, sets) =
            Self::pools_and_sets(geometry, config, planes_per_bin, logical as u64);
        let logical = sets.as_ref().map_or(logical as u32, Sets::all_units);
        sound(Self::faults_of_sets(sets.as_ref(), &pools))?;
        let superblocks = Self::superblocks(geometry, config, &mut pools);
        let stripes = Self::stripes(config, pools.len(), logical, (stripe / unit) as u32)?;
        let layout = Self {
            sets,
            stripes: None,
            superblocks,
            lanes,
            unit_bytes: unit,
            subunits: config.subunits(),
            page_bytes: page,
            block_planes: planes,
            erase_planes: config.erase_planes.unwrap_or(planes),
            rows_per_block: rows,
            summary_page: config.summary_page,
            units_per_batch: units_per_batch as u32,
            rows_per_batch: rows_per_batch as u32,
            batches_per_block,
            bins,
            host_units: logical,
            map_units: logical,
            all_pools: Divisor::new(pools.len() as u32),
            pool_of_bin: pool_of_bin(&pools, bins),
            pools,
            stripe: Divisor::new((stripe / unit) as u32),
            units_per_block: Divisor::new(units_per_block as u32),
            blocks_per_bin: Divisor::new(blocks_per_bin),
            batch: Divisor::new(units_per_batch as u32),
            planes_per_bin,
            blocks_per_home: geometry.blocks_per_plane,
            planes_of_slot: Self::planes_of_slots(units_per_batch, unit, (page, planes)),
            whole_batch: low_bits(units_per_batch as u32),
            unit_shift: unit.is_power_of_two().then_some(unit.trailing_zeros()),
        };
        layout.with_stripes(stripes)
    }

    /// The bins of each pool, and the NVM sets that have the pools and share the logical units.
    fn pools_and_sets(
        geometry: &Geometry,
        config: &FtlConfig,
        planes_per_bin: u32,
        logical: u64,
    ) -> (Vec<Vec<BinId>>, Option<Sets>) {
        let of_planes = config.sets.as_ref().map(|sets| sets.of_planes(geometry));
        let Pools { bins, of_pools } =
            pools(geometry, planes_per_bin, config, of_planes.as_deref());
        let sets = of_planes.map(|of_planes| Sets::new(logical, &of_planes, of_pools));
        (bins, sets)
    }

    /// This layout with stripes, if there are any, whose parity is mapped above the units of hosts.
    fn with_stripes(self, stripes: Option<Stripes>) -> Result<Self, Vec<Fault>> {
        match stripes {
            None => Ok(self),
            Some(of) => Ok(Self { stripes: Some(of), ..self.with_units_above(of.count())? }),
        }
    }

    /// The superblocks of a drive, if it has any; its bins, each of one die, are joined then.
    fn superblocks(
        geometry: &Geometry,
        config: &FtlConfig,
        pools: &mut [Vec<BinId>],
    ) -> Option<Superblocks> {
        let lanes = config.superblock?.dies;
        let (planes, (_, rows_per_batch)) = (config.block_planes, Self::batch(geometry, config));
        let sets = geometry.planes_per_die / planes;
        let first_planes = gather(&mut pools[0], sets, lanes, planes);
        let rows = config.data_pages(geometry) / rows_per_batch as u32;
        Some(Superblocks::new(config, rows, first_planes))
    }

    /// The logical stripes of `logical` units on so many pools, if they have any.
    fn stripes(
        config: &FtlConfig,
        pools: usize,
        logical: u32,
        strip: u32,
    ) -> Result<Option<Stripes>, Vec<Fault>> {
        let Some(ParityConfig { width, .. }) = config.parity else { return Ok(None) };
        let pools = pools as u32;
        if !pools.is_multiple_of(width) {
            let pools = settings::counted(pools, "pool");
            let fault = format!(
                "{width} does not divide the {pools} (allocation.pool) over which the members of a stripe spread; give a divisor, or choose a lower level of pools"
            );
            return Err(vec![("parity.width", fault)]);
        }
        Ok(Some(Stripes::new(width, strip, pools, logical)))
    }

    /// Adds `count` logical units above the host's, which the drive itself writes.
    ///
    /// # Errors
    /// If the drive cannot hold them beside the host's.
    pub fn with_units_above(mut self, count: u32) -> Result<Self, Vec<Fault>> {
        assert!(self.stripes.is_none(), "parity ends the map");
        let units = [self.map_units, count].map(u128::from);
        let strip = u64::from(self.stripe.get()) * self.unit_bytes;
        sound(Self::space_faults(self.physical_units().into(), units, strip, self.unit_bytes))?;
        self.map_units += count;
        Ok(self)
    }

    /// Units that one program command writes, and program commands that write one unit.
    fn batch(geometry: &Geometry, config: &FtlConfig) -> (u64, u64) {
        let unit = config.unit.bytes();
        let row = geometry.page_bytes * u64::from(config.block_planes);
        ((row / unit).max(1), (unit / row).max(1))
    }

    /// Faults of block and unit sizes that do not fit the planes of a die and their pages.
    fn unit_faults(geometry: &Geometry, config: &FtlConfig) -> Vec<Fault> {
        let mut faults = Vec::new();
        let (unit, page, planes) = (config.unit.bytes(), geometry.page_bytes, config.block_planes);
        if planes == 0 || !geometry.planes_per_die.is_multiple_of(planes) {
            let die = geometry.planes_per_die;
            faults.push((
                "block_planes",
                format!(
                    "{planes} does not divide the {} of a die",
                    settings::counted(die, "plane")
                ),
            ));
        }
        if let Some(erased) = config.erase_planes
            && (erased == 0 || !planes.is_multiple_of(erased))
        {
            let block = settings::counted(planes, "plane");
            faults.push((
                "erase_planes",
                format!("{erased} does not divide the {block} of a block (block_planes)"),
            ));
        }
        let row = page * u64::from(planes);
        if unit == 0
            || !(row.is_multiple_of(unit) || unit.is_multiple_of(row))
            || !(page.is_multiple_of(unit) || unit.is_multiple_of(page))
        {
            faults.push((
                "unit",
                format!("{unit} bytes neither divide nor are a multiple of the {row} bytes that a program command writes"),
            ));
        }
        if let Some(subunit) = config.subunit {
            let of = subunit.bytes();
            if of == 0 || of >= unit || !unit.is_multiple_of(of) {
                let fault = format!(
                    "{of} bytes are no part of the mapping unit of {unit} bytes; give a divisor of it, or leave this out"
                );
                faults.push(("subunit", fault));
            } else if unit / of > 64 {
                let fault = format!(
                    "a mapping unit has {} of {of} bytes; at most 64 are supported",
                    unit / of
                );
                faults.push(("subunit", fault));
            }
        }
        faults
    }

    /// Faults of batches that do not fit a block, and contradictions of the allocation.
    fn block_faults(geometry: &Geometry, config: &FtlConfig) -> Vec<Fault> {
        let mut faults = Vec::new();
        let row = geometry.page_bytes * u64::from(config.block_planes);
        let (units_per_batch, rows_per_batch) = Self::batch(geometry, config);
        if units_per_batch > 64 {
            faults.push((
                "unit",
                format!("{units_per_batch} units in one program command; at most 64 are supported"),
            ));
        }
        let rows = config.data_pages(geometry);
        if rows == 0 {
            faults.push(("summary_page", "a block of one page holds a summary or data".into()));
        } else if config.summary_page && rows_per_batch > 1 {
            let fault = format!(
                "a unit takes {rows_per_batch} rows, and a summary only one; choose a unit of no more than the {row} bytes that a program command writes, or leave summary_page out"
            );
            faults.push(("summary_page", fault));
        } else if rows_per_batch > u64::from(u16::MAX) {
            faults.push((
                "unit",
                format!("a unit takes {rows_per_batch} rows; at most {} are supported", u16::MAX),
            ));
        } else if !u64::from(rows).is_multiple_of(rows_per_batch) {
            faults.push((
                "unit",
                format!(
                    "a unit takes {rows_per_batch} rows, which do not divide the {} of a block",
                    settings::counted(rows, "row")
                ),
            ));
        }
        if config.allocation.bin.pool() > config.allocation.pool {
            faults.push((
                "allocation.bin",
                "a bin is not larger than its pool; choose a lower level, or a higher pool".into(),
            ));
        }
        let order = Self::order_faults(&config.allocation.order);
        faults.extend(order.map(|fault| ("allocation.order", fault)));
        faults.extend(crate::superblocks::faults(geometry, config));
        faults.extend(Self::set_faults(geometry, config));
        faults
    }

    /// Faults of NVM sets: what would belong to several of them, and what does not know of sets yet.
    fn set_faults(geometry: &Geometry, config: &FtlConfig) -> Vec<Fault> {
        let Some(sets) = &config.sets else { return Vec::new() };
        let mut faults = sets.faults(geometry);
        let in_bin =
            Self::planes_in(geometry, config.allocation.bin.pool()).max(config.block_planes);
        let is_in_one = |planes: &[SetId]| planes.iter().all(|set| *set == planes[0]);
        if faults.is_empty() && !sets.of_planes(geometry).chunks(in_bin as usize).all(is_in_one) {
            faults.push((
                "allocation.bin",
                "a bin lies in one NVM set (sets); choose a lower level, or other parts of the flash"
                    .into(),
            ));
        }
        for (is_given, key) in
            [(config.parity.is_some(), "parity"), (config.superblock.is_some(), "superblock")]
        {
            if is_given {
                faults.push((key, "does not lie in NVM sets yet; leave it out, or sets".into()));
            }
        }
        faults
    }

    /// Faults of the pools of NVM sets, and of what sets export.
    fn faults_of_sets(sets: Option<&Sets>, pools: &[Vec<BinId>]) -> Vec<Fault> {
        let mut faults = Vec::new();
        let Some(sets) = sets else { return faults };
        let all = (0..sets.count()).map(SetId);
        let of_set = |set: SetId| {
            let first = sets.first_pool(set).index();
            &pools[first..first + sets.pools(set).get() as usize]
        };
        let is_alike =
            |set: &SetId| of_set(*set).iter().all(|pool| pool.len() == of_set(*set)[0].len());
        if !all.clone().all(|set| is_alike(&set)) {
            faults.push((
                "allocation.pool",
                "a border between NVM sets (sets) lies inside some pools and not inside others; choose another level, or other parts of the flash"
                    .into(),
            ));
        }
        if all.clone().any(|set| sets.units(set) == 0) {
            faults.push((
                "over_provisioning",
                "an NVM set exports less than a mapping unit; export more, or give it more flash"
                    .into(),
            ));
        }
        faults
    }

    /// Faults of capacities that are too large or too small: of the units of hosts, and of parity.
    fn space_faults(
        physical: u128,
        [logical, parity]: [u128; 2],
        stripe: u64,
        unit: u64,
    ) -> Vec<Fault> {
        let mut faults = Vec::new();
        let size_of = |units: u128| size(units * u128::from(unit));
        if physical >= u128::from(u32::MAX) {
            faults.push((
                "unit",
                format!("{physical} physical units are more than 32-bit page numbers can tell apart ({}); choose a larger mapping unit", u32::MAX - 1),
            ));
        }
        if logical == 0 {
            faults.push((
                "over_provisioning",
                format!(
                    "the drive exports nothing of the {} that its flash holds; export more",
                    size_of(physical)
                ),
            ));
        } else if logical + parity >= physical {
            let [exported, holds] = [logical, physical].map(size_of);
            let beside = match parity {
                0 => String::new(),
                parity => format!(", with {} of parity beside it,", size_of(parity)),
            };
            faults.push((
                "over_provisioning",
                format!("the drive exports {exported}{beside} but its flash holds {holds}, and some of that must be spare; export less, or raise geometry"),
            ));
        }
        if stripe == 0 || !stripe.is_multiple_of(unit) {
            faults.push((
                "allocation.stripe",
                format!("{stripe} bytes are not a multiple of the mapping unit of {unit} bytes"),
            ));
        }
        faults
    }

    /// The planes that hold each unit of a batch.
    fn planes_of_slots(units: u64, unit: u64, (page, planes): (u64, u32)) -> Vec<u64> {
        let of = |slot| Self::planes_of_bytes(slot * unit, (slot + 1) * unit, page, planes);
        (0..units).map(of).collect()
    }

    /// The planes that hold bytes `from..to` of a batch: bit `i` for plane `i`.
    fn planes_of_bytes(from: u64, to: u64, page: u64, planes: u32) -> u64 {
        (from / page..to.div_ceil(page)).fold(0, |mask, at| mask | 1 << (at % u64::from(planes)))
    }

    fn order_faults(order: &str) -> Option<String> {
        let mut letters: Vec<_> = order.chars().collect();
        letters.sort_unstable();
        (letters != ['C', 'D', 'P', 'W']).then(|| {
            format!("\"{order}\" must name each of C, W, D and P once, for example \"CWDP\"")
        })
    }

    /// Planes in one part of a level.
    fn planes_in(geometry: &Geometry, level: PoolLevel) -> u32 {
        match level {
            PoolLevel::Plane => 1,
            PoolLevel::Die => geometry.planes_per_die,
            PoolLevel::Package => geometry.planes_per_die * geometry.dies_per_package,
            PoolLevel::Channel => geometry.planes_per_channel(),
            PoolLevel::Gang => geometry.planes_per_channel() * geometry.gang_channels,
            PoolLevel::Drive => geometry.planes(),
        }
    }

    /// Physical units in a block.
    #[inline]
    pub fn units_per_block(&self) -> u32 {
        self.units_per_block.get()
    }
    /// Blocks in a bin, bad ones included.
    #[inline]
    pub fn blocks_per_bin(&self) -> u32 {
        self.blocks_per_bin.get()
    }
    /// Blocks of the drive, bad ones included.
    pub fn blocks(&self) -> u32 {
        self.bins * self.blocks_per_bin.get()
    }
    /// Physical units of the drive, those of bad blocks included.
    pub fn physical_units(&self) -> u32 {
        self.blocks() * self.units_per_block.get()
    }
    /// Bytes that the host sees.
    pub fn exported_bytes(&self) -> u64 {
        u64::from(self.host_units) * self.unit_bytes
    }
    /// Bytes that one program command writes.
    pub fn row_bytes(&self) -> u64 {
        self.page_bytes * u64::from(self.block_planes)
    }

    /// Number of pools.
    pub fn pool_count(&self) -> u32 {
        self.pools.len() as u32
    }
    /// The bins of a pool, in the order in which they take turns.
    #[inline]
    pub fn bins_of(&self, pool: PoolId) -> &[BinId] {
        &self.pools[pool.index()]
    }
    /// The pool of a logical unit: a pure function of its address.
    #[inline]
    pub fn pool(&self, lpn: Lpn) -> PoolId {
        if self.pools.len() == 1 {
            return PoolId(0);
        }
        if let Some(stripes) = &self.stripes {
            return stripes.pool(lpn);
        }
        if let Some(sets) = &self.sets {
            return self.pool_in_set(sets, lpn);
        }
        PoolId(self.all_pools.split(self.stripe.quotient(lpn.0)).1)
    }
    fn pool_in_set(&self, sets: &Sets, lpn: Lpn) -> PoolId {
        let (set, unit) = sets.split(lpn);
        let place = sets.pools(set).split(self.stripe.quotient(unit.0)).1;
        PoolId(sets.first_pool(set).0 + place)
    }
    /// Number of NVM sets; 1 if the drive is not cut into sets.
    pub fn set_count(&self) -> u32 {
        self.sets.as_ref().map_or(1, Sets::count)
    }
    /// Logical units that hosts may address in an NVM set; in the drive without sets.
    pub fn host_units_of_set(&self, set: SetId) -> u32 {
        self.sets.as_ref().map_or(self.host_units, |sets| sets.units(set))
    }
    /// The first logical unit of an NVM set.
    pub fn first_unit_of_set(&self, set: SetId) -> Lpn {
        self.sets.as_ref().map_or(Lpn(0), |sets| sets.first_unit(set))
    }
    /// The share of the drive's flash that an NVM set has.
    pub fn share_of_set(&self, set: SetId) -> f64 {
        let all = f64::from(self.bins * self.planes_per_bin * self.lanes);
        self.sets.as_ref().map_or(1.0, |sets| f64::from(sets.planes(set)) / all)
    }
    /// Bins of an NVM set; of the drive without sets.
    pub fn bin_count_of_set(&self, set: SetId) -> u32 {
        self.pools_of(set).map(|pool| self.bins_of(pool).len() as u32).sum()
    }
    /// All NVM sets; one if the drive is not cut into sets.
    pub fn set_ids(&self) -> impl Iterator<Item = SetId> + use<> {
        (0..self.set_count()).map(SetId)
    }
    /// The NVM set of a logical unit; the first one without sets.
    #[inline]
    pub fn set_of(&self, lpn: Lpn) -> SetId {
        self.sets.as_ref().map_or(SetId(0), |sets| sets.split(lpn).0)
    }
    /// The NVM set of an address; the last one for its end.
    #[inline]
    pub fn set_at(&self, offset: u64) -> SetId {
        self.sets.as_ref().map_or(SetId(0), |sets| {
            let units = (offset / self.unit_bytes).min(u64::from(self.host_units - 1));
            sets.split(Lpn(units as u32)).0
        })
    }
    /// The NVM set of a pool.
    #[inline]
    pub fn set_of_pool(&self, pool: PoolId) -> SetId {
        self.sets.as_ref().map_or(SetId(0), |sets| sets.of_pool(pool))
    }
    /// The NVM set of a bin.
    #[inline]
    pub fn set_of_bin(&self, bin: BinId) -> SetId {
        self.sets.as_ref().map_or(SetId(0), |sets| sets.of_pool(self.pool_of_bin(bin)))
    }
    /// The pools of an NVM set; of the whole drive without sets.
    pub fn pools_of(&self, set: SetId) -> impl Iterator<Item = PoolId> + use<> {
        let (first, pools) = match &self.sets {
            Some(sets) => (sets.first_pool(set).0, sets.pools(set).get()),
            None => (0, self.all_pools.get()),
        };
        (first..first + pools).map(PoolId)
    }
    /// The pool that a bin belongs to.
    #[inline]
    pub fn pool_of_bin(&self, bin: BinId) -> PoolId {
        self.pool_of_bin[bin]
    }
    /// Logical units of the map whose pool is `pool`.
    pub fn map_units_of(&self, pool: PoolId) -> u32 {
        if let Some(stripes) = &self.stripes {
            return stripes.units_of(pool);
        }
        let stripe = self.stripe.get();
        let (units, pools, place) = match &self.sets {
            Some(sets) => {
                let set = sets.of_pool(pool);
                let place = pool.0 - sets.first_pool(set).0;
                (sets.units(set), sets.pools(set).get(), place)
            }
            None => (self.map_units, self.all_pools.get(), pool.0),
        };
        let (rounds, rest) = (units / (stripe * pools), units % (stripe * pools));
        rounds * stripe + rest.saturating_sub(place * stripe).min(stripe)
    }

    /// The block of a physical unit and the unit's place in it.
    #[inline]
    pub fn block_and_place(&self, ppn: Ppn) -> (BlockId, u32) {
        let (block, place) = self.units_per_block.split(ppn.0);
        (BlockId(block), place)
    }
    /// The block of a physical unit.
    #[inline]
    pub fn block(&self, ppn: Ppn) -> BlockId {
        BlockId(self.units_per_block.quotient(ppn.0))
    }
    /// The batch of a place in a block, and the slot in the batch.
    #[inline]
    pub fn batch_and_slot(&self, place: u32) -> (u32, u32) {
        self.batch.split(place)
    }
    /// The bin of a block.
    #[inline]
    pub fn bin(&self, block: BlockId) -> BinId {
        BinId(self.blocks_per_bin.quotient(block.0))
    }
    /// The first block of a bin; the others follow it.
    #[inline]
    pub fn first_block(&self, bin: BinId) -> BlockId {
        BlockId(bin.0 * self.blocks_per_bin.get())
    }
    /// The first physical unit of a batch.
    #[inline]
    pub fn first_unit(&self, block: BlockId, batch: u32) -> Ppn {
        Ppn(block.0 * self.units_per_block.get() + batch * self.units_per_batch)
    }
    /// The first of a bin's planes in a lane.
    #[inline]
    pub fn first_plane(&self, bin: BinId, lane: u32) -> PlaneId {
        if self.has_superblocks() {
            return self.first_plane_of_lane(bin, lane);
        }
        PlaneId(bin.0 * self.planes_per_bin)
    }
    #[cold]
    #[inline(never)]
    fn first_plane_of_lane(&self, bin: BinId, lane: u32) -> PlaneId {
        self.of_superblocks().first_plane(bin, lane)
    }
    /// True if blocks lie on several dies.
    #[inline]
    pub fn has_superblocks(&self) -> bool {
        self.lanes > 1
    }
    /// The superblocks of a drive that has them.
    pub(crate) fn of_superblocks(&self) -> &Superblocks {
        self.superblocks.as_ref().expect("a drive with superblocks")
    }
    /// Lanes of a block: dies on which it lies.
    #[inline]
    pub fn lanes(&self) -> u32 {
        self.lanes
    }
    /// The lane of a batch.
    #[inline]
    pub fn lane(&self, batch: u32) -> u32 {
        if self.has_superblocks() { self.row_and_lane(batch).1 } else { 0 }
    }
    /// The first row of a batch in its lane.
    #[inline]
    pub fn first_row(&self, batch: u32) -> u32 {
        self.row_in_lane(batch) * self.rows_per_batch
    }
    /// The page that a unit begins in: its batch, its plane in the bin, and its row.
    pub fn page_of(&self, ppn: Ppn) -> (Batch, u32, u32) {
        let (block, place) = self.block_and_place(ppn);
        let (batch, slot) = self.batch_and_slot(place);
        let plane = self.planes_of_slot(slot).trailing_zeros();
        // Pages of the batch before it; units within a page are all in one row.
        let before = u64::from(slot) * (self.unit_bytes / self.page_bytes);
        let row = self.first_row(batch) + before as u32 / self.block_planes;
        (Batch { block, batch }, plane, row)
    }
    /// The number of a batch in its lane.
    #[inline]
    pub fn row_in_lane(&self, batch: u32) -> u32 {
        if self.has_superblocks() { self.row_and_lane(batch).0 } else { batch }
    }
    #[cold]
    #[inline(never)]
    fn row_and_lane(&self, batch: u32) -> (u32, u32) {
        self.of_superblocks().row_and_lane(batch)
    }
    /// Batches of data in a block that a stream writes.
    #[cold]
    pub fn data_batches(&self, stream: Stream) -> u32 {
        self.superblocks.as_ref().map_or(self.batches_per_block, |of| of.data_batches(stream))
    }
    /// Units of data in a block that a stream writes.
    #[inline]
    pub fn data_units(&self, stream: Stream) -> u32 {
        if self.has_superblocks() {
            return self.data_batches(stream) * self.units_per_batch;
        }
        self.units_per_block()
    }
    /// Most units of data in a block.
    #[inline]
    pub fn most_data_units(&self) -> u32 {
        match &self.superblocks {
            None => self.units_per_block(),
            Some(of) => of.most_data_batches() * self.units_per_batch,
        }
    }
    /// Planes of a bin in each of its lanes.
    pub fn planes_per_bin(&self) -> u32 {
        self.planes_per_bin
    }
    /// Blocks of a bin that lie on the same planes. The blocks of the next planes follow them.
    pub fn blocks_per_home(&self) -> u32 {
        self.blocks_per_home
    }
    /// True if two blocks of a bin lie on the same planes.
    #[inline]
    pub fn share_planes(&self, one: BlockId, other: BlockId) -> bool {
        one.0 / self.blocks_per_home == other.0 / self.blocks_per_home
    }
    /// The planes that hold a slot of a batch: bit `i` for plane `i` of the bin.
    #[inline]
    pub fn planes_of_slot(&self, slot: u32) -> u64 {
        self.planes_of_slot[slot as usize]
    }
    /// All planes of a block, one bit each.
    #[inline]
    pub fn all_planes(&self) -> u64 {
        low_bits(self.block_planes)
    }
    /// Erase blocks of a block: one in each of its planes, in each lane.
    #[inline]
    pub fn erase_blocks(&self) -> u32 {
        self.block_planes * self.lanes()
    }
    /// Number of commands that erase a block, one after the other.
    pub fn erases_per_block(&self) -> u32 {
        self.block_planes / self.erase_planes
    }
    /// The planes of a block that a command erases: bit `i` for plane `i`.
    pub fn planes_of_erase(&self, command: u32) -> u64 {
        low_bits(self.erase_planes) << (command * self.erase_planes)
    }
    /// A gain of pages in mapping units.
    pub fn gained(&self, gain: Gain) -> u32 {
        gain.units(self.unit_bytes, self.page_bytes, self.data_units(Stream::Gc))
    }
    /// The planes that hold some slots of a batch.
    #[inline]
    pub fn planes_of(&self, slots: u64) -> u64 {
        bits(slots).fold(0, |planes, slot| planes | self.planes_of_slot[slot])
    }
    /// All slots of a batch: bit `i` for slot `i`.
    #[inline]
    pub fn whole_batch(&self) -> u64 {
        self.whole_batch
    }
    /// The logical unit that a byte of the exported space lies in.
    #[inline]
    pub fn unit_at(&self, byte: u64) -> Lpn {
        // Most unit sizes are powers of two, and a division would cost more than the rest of this
        // function.
        Lpn(match self.unit_shift {
            Some(shift) => byte >> shift,
            None => byte / self.unit_bytes,
        } as u32)
    }
}

/// Joins the bins of one pool, each of one die, to bins of `lanes` dies: dies and bins in turn order.
/// Returns the first planes of the lanes, bin by bin. A die has `sets` bins of `planes` planes.
fn gather(pool: &mut Vec<BinId>, sets: u32, lanes: u32, planes: u32) -> Vec<PlaneId> {
    let mut seen = vec![false; pool.len()];
    let mut first_of = |number: u32| !std::mem::replace(&mut seen[number as usize], true);
    let in_turn = pool.iter().map(|bin| bin.0 / sets);
    let dies: Vec<u32> = in_turn.filter(|die| first_of(*die)).collect();
    let mut group_of = vec![0; dies.len()];
    for (turn, die) in dies.iter().enumerate() {
        group_of[*die as usize] = turn as u32 / lanes;
    }
    seen.fill(false);
    let mut first_of = |bin: &BinId| !std::mem::replace(&mut seen[bin.index()], true);
    let joined = |bin: &BinId| BinId(group_of[(bin.0 / sets) as usize] * sets + bin.0 % sets);
    *pool = pool.iter().map(joined).filter(|bin| first_of(bin)).collect();
    let groups = dies.chunks_exact(lanes as usize);
    let of_group = |group: &[u32]| -> Vec<PlaneId> {
        let of_set = |set: u32| group.iter().map(move |die| PlaneId((die * sets + set) * planes));
        (0..sets).flat_map(of_set).collect()
    };
    groups.flat_map(of_group).collect()
}
