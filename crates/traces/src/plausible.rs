//! Plausibility of the units in which a file is read: times between requests, lengths and addresses
//! that no drive has seen are signs of another unit.
//!
//! A doubt that is strong makes the detection of a format ask. Any doubt about a format that was
//! named becomes a warning.

use crate::options::{Options, TimeUnit};
use crate::read::Format;
use crate::row::Row;
use crate::units::{SECTOR_BYTES, Units, greatest_divisor, unit};
use engine::Span;
use settings::Size;

/// Mean gaps from this on are doubtful, and above the next are hardly right.
const GAP_LONG_NS: u64 = 1_000_000_000;
pub(crate) const GAP_MAX_NS: u64 = 10_000_000_000;

/// Mean gaps below this are doubtful: half a million requests a second.
const GAP_SHORT_NS: u64 = 2_000;

/// Mean gaps below this are hardly right if stamps are decimal numbers of ms: seconds with a
/// fraction are as common.
const GAP_SHORT_OF_MS_NS: u64 = 10_000;

/// Rows from which on a mean gap tells a unit.
const ROWS_LEAST: u64 = 8;

/// Largest mean request that is plausible if all lengths are multiples of 512 units.
const MEAN_MAX: u64 = 1 << 20;

/// Smallest mean request of a drive.
const MEAN_MIN: u64 = 512;

/// Larger than any drive.
const END_MAX: u64 = 1 << 49;

/// The unit of filetimes.
const FILETIME_NS: u64 = 100;

/// The years 2000 to 2100, in seconds since 1970.
const AGE: std::ops::Range<u64> = 946_684_800..4_102_444_800;

/// Figures of the rows that were read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sample {
    rows: u64,
    first_ns: u64,
    last_ns: u64,
    /// Requests with a range, and their bytes.
    ranged: u64,
    bytes: u128,
    /// Greatest common divisors of lengths and of offsets, if they are multiples of 512 sectors.
    lengths: u64,
    offsets: u64,
    /// Requests that do not begin at 0.
    placed: u64,
    end: u64,
}

/// A unit that is hardly right.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Doubt {
    /// Reason, and the options that tell the right unit.
    pub told: String,
    /// True if the unit cannot be right.
    pub is_strong: bool,
}

impl Sample {
    /// No rows.
    pub const NONE: Self = Self {
        rows: 0,
        first_ns: 0,
        last_ns: 0,
        ranged: 0,
        bytes: 0,
        lengths: 0,
        offsets: 0,
        placed: 0,
        end: 0,
    };

    /// Adds a row.
    #[inline]
    pub fn add(&mut self, row: &Row) {
        if self.rows == 0 {
            self.first_ns = row.stamp_ns;
        }
        self.last_ns = row.stamp_ns;
        self.rows += 1;
        let command = row.command;
        if !command.kind.has_range() {
            return;
        }
        self.ranged += 1;
        self.bytes += u128::from(command.bytes);
        narrow(&mut self.lengths, command.bytes);
        narrow(&mut self.offsets, command.offset);
        self.placed += u64::from(command.offset > 0);
        self.end = self.end.max(command.end());
    }

    /// Rows so far.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// The mean gap between rows.
    pub fn gap_ns(&self) -> u64 {
        self.last_ns.saturating_sub(self.first_ns) / (self.rows.max(2) - 1)
    }

    /// Doubts about units that neither the format's files nor `options` tell.
    pub fn doubts(&self, format: Format, options: &Options) -> Vec<Doubt> {
        let units = format.description().units;
        let time = units.time.filter(|_| options.time_unit.is_none());
        let is_filetime = format == Format::Msr && options.time_unit.is_none();
        let time = match time {
            Some(unit) => self.of_time(units, unit),
            None if is_filetime => self.of_filetime(),
            None => None,
        };
        let space = units.space.filter(|_| options.block_bytes.or(options.length_bytes).is_none());
        time.into_iter().chain(space.and_then(|units| self.of_space(units))).collect()
    }

    fn of_time(&self, units: Units, unit: TimeUnit) -> Option<Doubt> {
        if self.rows < ROWS_LEAST || self.last_ns <= self.first_ns {
            return None;
        }
        let seconds = self.first_ns / TimeUnit::S.ns();
        if units.is_unix_time && AGE.contains(&seconds) {
            return None;
        }
        let is_of_ms = units.is_decimal && unit == TimeUnit::Ms;
        let gap_ns = self.gap_ns();
        let in_unit = self.first_ns / unit.ns();
        let sign = unit.sign();
        let has_fraction = |ns: u64| !ns.is_multiple_of(unit.ns());
        let have_fractions = has_fraction(self.first_ns) || has_fraction(self.last_ns);
        if is_of_ms && AGE.contains(&in_unit) && have_fractions {
            let told = format!(
                "stamps count {sign} there, and begin at {in_unit}, a time in s since 1970: if they \
                 are in s, say time_unit = \"s\", otherwise time_unit = \"{sign}\""
            );
            return Some(Doubt { told, is_strong: true });
        }
        let short = if is_of_ms { GAP_SHORT_OF_MS_NS } else { GAP_SHORT_NS };
        if (short..=GAP_LONG_NS).contains(&gap_ns) {
            return None;
        }
        let others = self.plausible_units(unit, short);
        let choice = match others[..] {
            [] => format!("say time_unit = \"{sign}\" if that is right"),
            [other] => format!(
                "if they are in {other}, say time_unit = \"{other}\", otherwise time_unit = \"{sign}\""
            ),
            _ => format!(
                "if they are in {}, say so with time_unit, otherwise time_unit = \"{sign}\"",
                others.join(" or ")
            ),
        };
        let gap = Span::from_ns(gap_ns);
        let told = format!("stamps count {sign} there, and requests come {gap} apart: {choice}");
        let is_strong = gap_ns > GAP_MAX_NS || (is_of_ms && gap_ns < short);
        Some(Doubt { told, is_strong })
    }

    /// Other units in which the mean gap is plausible.
    fn plausible_units(&self, unit: TimeUnit, short: u64) -> Vec<&'static str> {
        let gap = u128::from(self.last_ns - self.first_ns) * 1_000 / u128::from(self.rows - 1);
        let is_plausible = |other: &TimeUnit| {
            let gap_ns = gap * u128::from(other.ns()) / u128::from(unit.ns()) / 1_000;
            *other != unit && (u128::from(short)..=u128::from(GAP_LONG_NS)).contains(&gap_ns)
        };
        TimeUnit::ALL.into_iter().filter(is_plausible).map(TimeUnit::sign).collect()
    }

    /// Filetimes that are a time since 1970 instead. In s and ms such a number may also be that of a
    /// trace that counts from its beginning, but only with longer gaps.
    fn of_filetime(&self) -> Option<Doubt> {
        let count = self.first_ns / FILETIME_NS;
        let since_1970 = |unit: &TimeUnit| AGE.contains(&(count / (TimeUnit::S.ns() / unit.ns())));
        let unit = TimeUnit::ALL.into_iter().find(since_1970)?;
        if unit.ns() >= TimeUnit::Ms.ns() && self.gap_ns() >= GAP_SHORT_NS {
            return None;
        }
        let sign = unit.sign();
        let told = format!(
            "stamps count 100 ns there, and begin at {count}, a time in {sign} since 1970: if they \
             are in {sign}, say time_unit = \"{sign}\", otherwise format = \"msr\""
        );
        Some(Doubt { told, is_strong: true })
    }

    fn of_space(&self, [address, length]: [u64; 2]) -> Option<Doubt> {
        if self.ranged == 0 {
            return None;
        }
        let mean = (self.bytes / u128::from(self.ranged)) as u64;
        let shown = Size::from_bytes(mean).rounded();
        let are_multiples =
            |divisor: u64, unit: u64| unit > 1 && divisor.is_multiple_of(512 * unit);
        let strong = |told: String| Some(Doubt { told, is_strong: true });
        if length == 1 && mean < MEAN_MIN {
            let (key, also) =
                if address == 1 { ("block_size", " and addresses") } else { ("length_unit", "") };
            return strong(format!(
                "lengths count bytes there, and a request has {mean} B in the mean: if lengths{also} \
                 count sectors, say {key} = \"512 B\", of KiB {key} = \"1 KiB\"{}; otherwise \
                 {key} = \"1 B\"",
                if address == 1 { ", and if lengths alone do, length_unit" } else { "" }
            ));
        }
        if are_multiples(self.lengths, length) && mean > MEAN_MAX {
            let unit = unit(length);
            let addresses =
                if are_multiples(self.offsets, address) { ", as all addresses are" } else { "" };
            let key = if addresses.is_empty() { "length_unit" } else { "block_size" };
            return strong(format!(
                "lengths count {unit} there: all are multiples of 512{addresses}, and a request has \
                 {shown} in the mean: if they are bytes, say {key} = \"1 B\", otherwise \
                 block_size = \"{length} B\""
            ));
        }
        let unit = unit(address);
        if self.placed >= ROWS_LEAST && are_multiples(self.offsets, address) {
            let told = format!(
                "addresses count {unit} there, and all are multiples of 512: if they are bytes, say \
                 block_size = \"1 B\" (with length_unit = \"{length} B\"), otherwise block_size = \
                 \"{address} B\""
            );
            return Some(Doubt { told, is_strong: false });
        }
        if self.end > END_MAX && address > 1 {
            let end = Size::from_bytes(self.end).rounded();
            let told = format!(
                "addresses count {unit} there, and reach {end}: if they are bytes, say block_size = \
                 \"1 B\" (with length_unit = \"{length} B\"), otherwise block_size = \"{address} B\""
            );
            return Some(Doubt { told, is_strong: false });
        }
        None
    }
}

/// Takes a number into a greatest common divisor. A divisor that is no multiple of 512 sectors
/// never becomes one, and is 1 from then on.
#[inline]
fn narrow(divisor: &mut u64, number: u64) {
    if *divisor != 1 && (*divisor == 0 || !number.is_multiple_of(*divisor)) {
        *divisor = greatest_divisor(*divisor, number);
        if !divisor.is_multiple_of(512 * SECTOR_BYTES) {
            *divisor = 1;
        }
    }
}
