//! The band of free space over which collection follows host writes ([`super::Pacing::HostRate`]).

/// One in the fixed-point numbers of rates and debts: 256ths.
pub const ONE: u32 = 256;

/// Free space of a bin between the foreground and the background threshold, in units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Band {
    bottom: u32,
    top: u32,
}

impl Band {
    /// A band from `bottom` to `top` units. A band without width has one unit.
    pub fn new(bottom: u32, top: u32) -> Self {
        Self { bottom, top: top.max(bottom + 1) }
    }
    /// Rate of collection with `units` of space, relative to the rate that keeps the space as it is,
    /// in 256ths: 0 at the top, [`ONE`] in the middle, and twice that at the bottom and below it.
    #[inline]
    pub fn rate(self, units: u32) -> u32 {
        let width = u64::from(self.top - self.bottom);
        let above = u64::from(units.saturating_sub(self.bottom)).min(width);
        (u64::from(2 * ONE) * (width - above) / width) as u32
    }
    /// The space at which collection keeps up with host writes, in units.
    pub fn middle(self) -> u32 {
        self.bottom + (self.top - self.bottom) / 2
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_falls_from_two_to_nothing() {
        let band = Band::new(300, 900);
        let rates = [0, 300, 450, 600, 750, 899, 900, 2_000].map(|units| band.rate(units));
        assert_eq!(rates, [512, 512, 384, 256, 128, 0, 0, 0]);
        assert_eq!(band.middle(), 600);
    }

    #[test]
    fn a_band_without_width_is_a_step() {
        let band = Band::new(300, 300);
        assert_eq!([299, 300, 301].map(|units| band.rate(units)), [512, 512, 0]);
    }
}
