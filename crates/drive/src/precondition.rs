//! Preconditioning: fills and ages a drive without simulated time, with the firmware that the run
//! will use.

mod parts;

use crate::experiment::{AgeConfig, Fill, PreconditionConfig};
use engine::{Stream, Streams};
use ftl::{BinChoice, Ftl, Layout, Lpn, PoolId, SetId, Tally, Untimed};
use host::config::AddressConfig;
use host::{Scatter, Source, WorkloadConfig};
pub use parts::PartsConfig;
use serde::{Deserialize, Serialize};
use settings::Size;

/// The work of preconditioning.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Preconditioned {
    /// Units written to fill the drive.
    pub filled: u64,
    /// Units of them in each NVM set.
    #[serde(default)]
    pub filled_of_sets: Vec<u32>,
    /// Units of pages that were laid without valid data.
    #[serde(default)]
    pub stale: u64,
    /// Units written to age it.
    pub aged: u64,
    /// Write amplification over the last window of ageing, if there was one.
    pub write_amplification: Option<f64>,
    /// True if ageing ended because write amplification was steady.
    pub steady: Option<bool>,
    /// Counts of the flash's operations.
    pub tally: Tally,
}

impl Preconditioned {
    /// Units that were filled of each NVM set. Earlier versions filled all sets alike.
    pub fn of_sets(&self, sets: u32) -> Vec<u32> {
        match self.filled_of_sets.is_empty() {
            true => vec![self.filled as u32 / sets; sets as usize],
            false => self.filled_of_sets.clone(),
        }
    }
}

/// Too little space for the configured preconditioning.
#[derive(Debug, thiserror::Error)]
pub enum NoSpace {
    /// The drive cannot hold what it is filled with.
    #[error(
        "preconditioning: pool {0} of the drive has no space left and no block whose collection gains space; it needs more over-provisioning or fewer bad blocks"
    )]
    Pool(u32),
    /// A bin cannot get as many free blocks as it needs to begin in step.
    #[error(
        "precondition.in_step: no block of bin {0} gains the space for new open blocks beside the free blocks of drive.ftl.gc.stop; lower stop, or leave in_step out"
    )]
    Step(u32),
    /// The fill wrote too little to open all blocks that begin with stale pages.
    #[error(
        "precondition.stale: the fill has written all its data, and bin {0} still lacks stale pages; fill a larger share, lower share of stale, or raise of_block"
    )]
    Stale(u32),
    /// Collection erased stale pages during the fill.
    #[error(
        "precondition.stale: with so many stale and filled pages collection began during the fill, and erased {0} blocks; lower share of stale or of the fill, or the thresholds of drive.ftl.gc"
    )]
    Collected(u64),
}

impl From<PoolId> for NoSpace {
    fn from(pool: PoolId) -> Self {
        Self::Pool(pool.0)
    }
}

/// Units written between two calls of `ongoing`.
const SLICE: u64 = 1 << 20;

/// Fills and ages a drive. `ongoing` gets the share of the work that is done, from 0 to 1. It stops
/// the work by returning false; the drive is then usable but not preconditioned as configured, and
/// `None` is returned.
///
/// # Errors
/// If the drive has no space.
pub fn precondition(
    ftl: &mut Ftl,
    config: &PreconditionConfig,
    choice: BinChoice,
    streams: Streams,
    ongoing: &mut dyn FnMut(f64) -> bool,
) -> Result<Option<Preconditioned>, NoSpace> {
    let mut result = Preconditioned::default();
    let before = ftl.tally;
    let parts = filled_parts(config, &ftl.layout);
    let units = all_units(&parts);
    let aged = config.age.as_ref().map_or(0.0, |age| age.overwrites * f64::from(units));
    let work = f64::from(units) + aged;
    let mut writer = Untimed::new(ftl, choice);
    let mut done = 0.0;
    if units > 0 && config.fill != Fill::Empty {
        let mut ongoing = |filled: u64| ongoing(filled as f64 / work);
        if !fill(ftl, &mut writer, config, &parts, &mut result, &mut ongoing)? {
            return Ok(None);
        }
        done = f64::from(units);
    }
    if let Some(age) = &config.age
        && units > 0
    {
        let share = |aged: f64| (done + aged) / work;
        let mut ongoing = |aged: f64| ongoing(share(aged));
        if !config.in_step {
            stagger(ftl, &mut writer, aged, streams);
        }
        if !self::age(ftl, &mut writer, age, &parts, streams, &mut result, &mut ongoing)? {
            return Ok(None);
        }
    }
    if let Some(parts) = config.parts {
        parts::mark(ftl, parts, streams);
    }
    if config.in_step {
        writer.align(ftl).map_err(|bin| NoSpace::Step(bin.0))?;
    }
    result.tally = ftl.tally.since(&before);
    Ok(Some(result))
}

/// Brings bins out of step before `aged` units are overwritten. They take no more of these in advance
/// than they would in turn.
fn stagger(ftl: &Ftl, writer: &mut Untimed, aged: f64, streams: Streams) {
    let batches = aged / f64::from(ftl.layout.units_per_batch) / f64::from(ftl.layout.bins);
    writer.stagger(ftl, &mut streams.stream("precondition.stagger"), batches as u32);
}

/// A part of a drive that is filled and aged by itself: an NVM set, or the drive.
#[derive(Clone, Copy)]
struct Filled {
    /// Its first unit, and the number of units that are filled from there on.
    first: u32,
    units: u32,
}

/// The parts of a drive, as it is filled.
fn filled_parts(config: &PreconditionConfig, layout: &Layout) -> Vec<Filled> {
    let of_set = |set| Filled {
        first: layout.first_unit_of_set(set).0,
        units: filled_units(config, layout, set),
    };
    layout.set_ids().map(of_set).collect()
}

/// Units of all parts.
fn all_units(parts: &[Filled]) -> u32 {
    parts.iter().map(|part| part.units).sum()
}

/// Overwrites the units of a drive that were filled, or of each of its NVM sets. `ongoing` gets the share
/// that is done, and stops the work by returning false, in which case `None` is returned.
///
/// # Errors
/// If the drive has no space.
pub fn overwrite(
    ftl: &mut Ftl,
    (config, filled): (&AgeConfig, &[u32]),
    choice: BinChoice,
    streams: Streams,
    ongoing: &mut dyn FnMut(f64) -> bool,
) -> Result<Option<Preconditioned>, NoSpace> {
    let mut result = Preconditioned::default();
    let before = ftl.tally;
    let mut writer = Untimed::new(ftl, choice);
    let of_set = |(set, units): (SetId, &u32)| Filled {
        first: ftl.layout.first_unit_of_set(set).0,
        units: *units,
    };
    let parts: Vec<Filled> = ftl.layout.set_ids().zip(filled).map(of_set).collect();
    let most = (config.overwrites * f64::from(all_units(&parts))).max(1.0);
    let mut ongoing = |aged: f64| ongoing(aged / most);
    let done = age(ftl, &mut writer, config, &parts, streams, &mut result, &mut ongoing)?;
    result.tally = ftl.tally.since(&before);
    Ok(done.then_some(result))
}

/// Fills a drive, and lays the stale pages that the fill is to find.
fn fill(
    ftl: &mut Ftl,
    writer: &mut Untimed,
    config: &PreconditionConfig,
    parts: &[Filled],
    result: &mut Preconditioned,
    ongoing: &mut dyn FnMut(u64) -> bool,
) -> Result<bool, NoSpace> {
    let before = ftl.tally;
    if let Some(stale) = config.stale {
        writer.lay_stale(ftl, stale.share.fraction(), stale.of_block.fraction());
    }
    let mut done = 0;
    for Filled { first, units } in parts.iter().copied().filter(|part| part.units > 0) {
        let units = u64::from(units);
        let order = (config.fill == Fill::Random).then(|| Scatter::new(units));
        let mut at = 0u64;
        while at < units {
            let end = (at + SLICE).min(units);
            match &order {
                None => writer.write_run(ftl, Lpn(first + at as u32), (end - at) as u32)?,
                Some(order) => (at..end)
                    .try_for_each(|place| writer.write(ftl, Lpn(first + order.of(place) as u32)))?,
            }
            at = end;
            if !ongoing(done + at) {
                return Ok(false);
            }
        }
        done += units;
    }
    writer.flush(ftl)?;
    result.filled = u64::from(all_units(parts));
    result.filled_of_sets = parts.iter().map(|part| part.units).collect();
    let laid = writer.end_stale().map_err(|bin| NoSpace::Stale(bin.0))?;
    result.stale = laid * u64::from(ftl.layout.units_per_batch);
    let erases = ftl.tally.since(&before).erases;
    if config.stale.is_some() && erases > 0 {
        return Err(NoSpace::Collected(erases));
    }
    Ok(true)
}

/// Units that the configuration fills of an NVM set, or of a drive without sets.
pub fn filled_units(config: &PreconditionConfig, layout: &Layout, set: SetId) -> u32 {
    if config.fill == Fill::Empty {
        return 0;
    }
    let share = config.share.as_ref().map_or(1.0, |share| share.of_set(set).fraction());
    (f64::from(layout.host_units_of_set(set)) * share) as u32
}

fn age(
    ftl: &mut Ftl,
    writer: &mut Untimed,
    config: &AgeConfig,
    parts: &[Filled],
    streams: Streams,
    result: &mut Preconditioned,
    ongoing: &mut dyn FnMut(f64) -> bool,
) -> Result<bool, NoSpace> {
    let mut addresses = Addresses::of_parts(config, parts, ftl.layout.unit_bytes, streams);
    let units = all_units(parts);
    let most = (config.overwrites * f64::from(units)) as u64;
    let quarter = u64::from(units).div_ceil(4);
    let mut history: Vec<f64> = Vec::new();
    let mut left_in_quarter = quarter;
    let mut window_began = ftl.tally;
    let mut is_steady = false;
    while result.aged < most && !(config.until_steady && is_steady) {
        let slice = SLICE.min(most - result.aged).min(left_in_quarter);
        addresses.write(ftl, writer, slice)?;
        result.aged += slice;
        left_in_quarter -= slice;
        let window = ftl.tally.since(&window_began);
        if left_in_quarter == 0 {
            left_in_quarter = quarter;
            if window.erases >= ERASES_IN_WINDOW || !config.until_steady {
                result.write_amplification = Some(window.write_amplification());
                history.push(price(&window, ftl.layout.data_units(ftl::Stream::Gc)));
                window_began = ftl.tally;
                is_steady = result.aged >= 5 * quarter && agree(&history);
            }
        }
        if !ongoing(result.aged as f64) {
            return Ok(false);
        }
    }
    if result.write_amplification.is_none() && result.aged > 0 {
        result.write_amplification = Some(ftl.tally.since(&window_began).write_amplification());
    }
    writer.flush(ftl)?;
    result.steady = config.until_steady.then_some(is_steady);
    Ok(true)
}

/// Least number of erases in a window. The victims of one window differ by about a tenth in the
/// space that they gain if blocks are small. The mean of this many victims is known to 0.1 / √500 =
/// 0.45 %, and three such means usually lie within 1 % of each other.
const ERASES_IN_WINDOW: u64 = 500;

/// Write amplification by the gain of a window's victims: the space erased over the part of it that
/// collection did not write again. While the free space neither grows nor shrinks, this equals the
/// ratio of the units written. Unlike that ratio, it does not depend on the number of blocks that
/// happened to be open or free when the window began and ended, which matters in a small drive.
fn price(window: &Tally, units_per_block: u32) -> f64 {
    let erased = (window.erases * u64::from(units_per_block)) as f64;
    let [moved, padding] =
        [ftl::Source::Gc, ftl::Source::Padding].map(|source| window.units[source as usize] as f64);
    let gained = erased - moved - padding;
    if gained > 0.0 { erased / gained } else { f64::INFINITY }
}

/// True if the last three windows agree within 1 %.
fn agree(history: &[f64]) -> bool {
    let Some(last) = history.last_chunk::<3>() else { return false };
    let (least, most) =
        (last.iter().copied().fold(f64::MAX, f64::min), last.iter().copied().fold(0.0, f64::max));
    most / least < 1.01
}

/// The units that ageing overwrites.
enum Addresses {
    /// Drawn here: this is by far the most usual pattern, and a draw costs a nanosecond.
    Uniform(Stream, u32),
    /// Drawn as by a workload whose requests are one unit each.
    Pattern(Box<Source>, u64),
    /// Drawn for each part in turn, as often as it has units.
    OfParts(Vec<OfPart>),
}

/// Addresses of a part.
struct OfPart {
    addresses: Addresses,
    part: Filled,
    /// Its turn comes when this is the least.
    due: u64,
}

/// The distance of two turns of a part of one unit.
const TURN: u64 = 1 << 48;

/// Number of writes by which the prefetch of map entries is ahead.
const AHEAD: usize = 16;

impl Addresses {
    /// Each part has random numbers of its own.
    fn of_parts(config: &AgeConfig, parts: &[Filled], unit_bytes: u64, streams: Streams) -> Self {
        if let [whole] = parts {
            return Self::new(config, whole.units, unit_bytes, streams);
        }
        let of = |(number, part): (usize, &Filled)| {
            let own = streams.of_part(&format!("precondition.set-{number}"));
            let addresses = Self::new(config, part.units, unit_bytes, own);
            OfPart { addresses, part: *part, due: 0 }
        };
        let filled = parts.iter().enumerate().filter(|(_, part)| part.units > 0);
        Self::OfParts(filled.map(of).collect())
    }

    fn new(config: &AgeConfig, units: u32, unit_bytes: u64, streams: Streams) -> Self {
        if config.addresses == (AddressConfig::Uniform {}) {
            return Self::Uniform(streams.stream("precondition.addresses"), units);
        }
        let workload = WorkloadConfig {
            name: "precondition".into(),
            size: Some(host::config::SizeConfig::fixed(Size::from_bytes(unit_bytes))),
            addresses: Some(config.addresses.clone()),
            reads: Some(settings::Share::from_percent(0)),
            ..WorkloadConfig::default()
        };
        let source = Source::build(&workload, u64::from(units) * unit_bytes, streams)
            .expect("a checked pattern");
        Self::Pattern(Box::new(source), unit_bytes)
    }

    #[inline]
    fn draw(&mut self) -> Lpn {
        match self {
            Self::Uniform(stream, units) => Lpn(stream.below(u64::from(*units)) as u32),
            Self::Pattern(source, unit_bytes) => {
                let request = source.next().expect("no trace").expect("it never stops");
                Lpn((request.command.offset / *unit_bytes) as u32)
            }
            Self::OfParts(parts) => {
                let next = parts.iter_mut().min_by_key(|of| of.due).expect("something is filled");
                next.due += TURN / u64::from(next.part.units);
                Lpn(next.part.first + next.addresses.draw().0)
            }
        }
    }

    /// Draws and writes `count` units; prefetches the map entry of each in advance.
    fn write(&mut self, ftl: &mut Ftl, writer: &mut Untimed, count: u64) -> Result<(), PoolId> {
        let mut ring = [Lpn(0); AHEAD];
        let first = (AHEAD as u64).min(count) as usize;
        for place in &mut ring[..first] {
            *place = self.draw();
            ftl.prefetch(*place);
        }
        for done in 0..count {
            let place = &mut ring[done as usize % AHEAD];
            let lpn = *place;
            if done + (AHEAD as u64) < count {
                *place = self.draw();
                ftl.prefetch(*place);
            }
            writer.write(ftl, lpn)?;
        }
        Ok(())
    }
}
