//! Units in which the columns of a format count, as far as its files do not tell them.

use crate::options::{Options, TimeUnit};

/// The unit of addresses in many formats, in bytes.
pub const SECTOR_BYTES: u64 = 512;

/// Units of a format. A unit that is missing is told by each file, or by the program that writes it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Units {
    /// Unit of stamps.
    pub time: Option<TimeUnit>,
    /// True if stamps may have a fraction.
    pub is_decimal: bool,
    /// True if stamps count from 1970.
    pub is_unix_time: bool,
    /// Bytes of the units of addresses and of lengths.
    pub space: Option<[u64; 2]>,
}

/// Nanoseconds and bytes of the units in which a file counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Scale {
    pub stamp_ns: u64,
    pub address_bytes: u64,
    pub length_bytes: u64,
}

impl Units {
    /// Units that every file tells, or that cannot be mistaken.
    pub const TOLD: Self = Self { time: None, is_decimal: false, is_unix_time: false, space: None };

    /// Whole stamps, and addresses and lengths in sectors of 512 B.
    pub const fn of_sectors(time: TimeUnit) -> Self {
        Self { time: Some(time), space: Some([SECTOR_BYTES; 2]), ..Self::TOLD }
    }

    /// Addresses and lengths in bytes.
    pub const BYTES: Self = Self { space: Some([1, 1]), ..Self::TOLD };

    /// The units of a file that is read with `options`.
    pub fn scale(self, options: &Options) -> Scale {
        let [address, length] = self.space.unwrap_or([1, 1]);
        let block = options.block_bytes.unwrap_or(address);
        // A unit that addresses and lengths share stays shared.
        let length = if address == length { block } else { length };
        let time = options.time_unit.or(self.time);
        Scale {
            stamp_ns: time.map_or(1, TimeUnit::ns),
            address_bytes: block,
            length_bytes: options.length_bytes.unwrap_or(length),
        }
    }

    /// The unit below which no stamp of the file differs from another.
    pub fn stamp_unit_ns(self, options: &Options, of_format_ns: u64) -> u64 {
        match (self.time, options.time_unit) {
            (_, Some(given)) if !self.is_decimal => given.ns(),
            (Some(_), Some(_)) => 1,
            _ => of_format_ns,
        }
    }

    /// Sentence on the units, and the options that change them; nothing if the file tells them.
    pub fn told(self, options: &Options) -> Option<String> {
        let scale = self.scale(options);
        let time = self.time.map(|unit| {
            let unit = options.time_unit.unwrap_or(unit);
            format!("stamps in {} (time_unit)", unit.sign())
        });
        let is_given = options.block_bytes.or(options.length_bytes).is_some();
        let space = self.space.filter(|_| time.is_some() || is_given).map(|_| {
            let [address, length] = [scale.address_bytes, scale.length_bytes].map(unit);
            if address == length {
                format!("addresses and lengths in {address} (block_size)")
            } else {
                format!("addresses in {address} (block_size), lengths in {length} (length_unit)")
            }
        });
        let parts: Vec<String> = time.into_iter().chain(space).collect();
        (!parts.is_empty()).then(|| parts.join("; "))
    }
}

/// Name of a unit of this many bytes.
pub(crate) fn unit(bytes: u64) -> String {
    match bytes {
        1 => "bytes".to_owned(),
        512 => "sectors of 512 B".to_owned(),
        other => format!("units of {}", settings::Size::from_bytes(other)),
    }
}

/// Greatest common divisor, by Euclid's algorithm.
pub(crate) fn greatest_divisor(mut a: u64, mut b: u64) -> u64 {
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;

    const SPC: Units =
        Units { time: Some(TimeUnit::S), is_decimal: true, space: Some([512, 1]), ..Units::TOLD };

    #[test]
    fn a_shared_unit_stays_shared() {
        let scale = |units: Units, block_bytes, length_bytes| {
            let options = Options { block_bytes, length_bytes, ..Options::default() };
            let Scale { address_bytes, length_bytes, .. } = units.scale(&options);
            [address_bytes, length_bytes]
        };
        let sectors = Units::of_sectors(TimeUnit::Ns);
        assert_eq!(scale(sectors, None, None), [512, 512]);
        assert_eq!(scale(sectors, Some(1), None), [1, 1]);
        assert_eq!(scale(sectors, None, Some(1)), [512, 1]);
        assert_eq!(scale(sectors, Some(4096), Some(512)), [4096, 512]);
        assert_eq!(scale(Units::BYTES, Some(512), None), [512, 512]);
        assert_eq!(scale(SPC, None, None), [512, 1]);
        assert_eq!(scale(SPC, Some(4096), None), [4096, 1]);
        assert_eq!(scale(SPC, None, Some(512)), [512, 512]);
    }

    #[test]
    fn units_are_told_with_their_options() {
        let told = |units: Units, options| units.told(&options);
        let us = Options { time_unit: Some(TimeUnit::Us), ..Options::default() };
        let sectors = Units::of_sectors(TimeUnit::Ns);
        assert_eq!(
            told(sectors, us).unwrap(),
            "stamps in us (time_unit); addresses and lengths in sectors of 512 B (block_size)"
        );
        assert_eq!(
            told(SPC, Options::default()).unwrap(),
            "stamps in s (time_unit); addresses in sectors of 512 B (block_size), lengths in \
             bytes (length_unit)"
        );
        assert_eq!(told(Units::BYTES, Options::default()), None);
        let kib = Options { block_bytes: Some(4096), ..Options::default() };
        assert_eq!(
            told(Units::BYTES, kib).unwrap(),
            "addresses and lengths in units of 4 KiB (block_size)"
        );
        assert_eq!(told(Units::TOLD, us), None);
    }
}
