//! Logical stripes: neighbouring logical units on distinct pools, and a parity unit on a further
//! one, as in RAID-5. Members follow from logical addresses alone, so collection moves a member
//! inside its pool and never touches parity.
//!
//! A strip is the run of units that goes to one pool before the next pool's turn
//! (`allocation.stripe`). A stripe has one unit of each of `width - 1` consecutive strips, at the
//! same place in them, and parity. The stripes of the same strips are a *range*. Ranges take the
//! groups of `width` pools in turn, and the parity of a group moves by one pool from each range to
//! the next. Parity units are logical units above the host's. Source of the formula: the released
//! code of [FAST17].

use crate::ids::{Lpn, PoolId, StripeId};
use engine::Divisor;

/// Arithmetic of logical stripes.
#[derive(Clone, Copy, Debug)]
pub struct Stripes {
    width: u32,
    strip: Divisor,
    /// Data strips of a range.
    columns: Divisor,
    /// Groups of pools.
    groups: Divisor,
    turns: Divisor,
    host_units: u32,
    count: u32,
}

impl Stripes {
    /// Stripes of `width` members, parity included, over `pools` pools (a multiple of `width`), for
    /// `host_units` units in strips of `strip` units.
    ///
    /// # Panics
    /// If `width` is less than 2 or does not divide `pools`.
    pub fn new(width: u32, strip: u32, pools: u32, host_units: u32) -> Self {
        assert!(width >= 2 && pools.is_multiple_of(width), "whole groups of pools");
        let ranges = u64::from(host_units).div_ceil(u64::from(strip) * u64::from(width - 1));
        Self {
            width,
            strip: Divisor::new(strip),
            columns: Divisor::new(width - 1),
            groups: Divisor::new(pools / width),
            turns: Divisor::new(width),
            host_units,
            // Less than host_units, rounded up to whole strips.
            count: (ranges * u64::from(strip)).min(u64::from(u32::MAX)) as u32,
        }
    }

    /// Members of a stripe, parity included.
    #[inline]
    pub fn width(&self) -> u32 {
        self.width
    }
    /// Number of stripes, which is the number of parity units.
    #[inline]
    pub fn count(&self) -> u32 {
        self.count
    }
    /// Stripes of a range, which have the same place.
    #[inline]
    pub fn in_range(&self) -> u32 {
        self.strip.get()
    }
    /// Place of a stripe in its range.
    #[inline]
    pub fn place_in_range(&self, stripe: StripeId) -> u32 {
        self.strip.split(stripe.0).1
    }
    /// True for a parity unit.
    #[inline]
    pub fn is_parity(&self, lpn: Lpn) -> bool {
        lpn.0 >= self.host_units
    }
    /// The parity unit of a stripe.
    #[inline]
    pub fn parity(&self, stripe: StripeId) -> Lpn {
        Lpn(self.host_units + stripe.0)
    }
    /// The stripe of a unit.
    #[inline]
    pub fn of(&self, lpn: Lpn) -> StripeId {
        if self.is_parity(lpn) {
            return StripeId(lpn.0 - self.host_units);
        }
        let (strip, place) = self.strip.split(lpn.0);
        StripeId(self.columns.quotient(strip) * self.strip.get() + place)
    }
    /// The data units of a stripe that the host can address, in the order of their addresses.
    pub fn data(&self, stripe: StripeId) -> impl Iterator<Item = Lpn> + use<> {
        let (range, place) = self.strip.split(stripe.0);
        let (strip, columns, end) = (self.strip.get(), self.columns.get(), self.host_units);
        let first = u64::from(range) * u64::from(columns) * u64::from(strip) + u64::from(place);
        (0..columns)
            .map(move |column| first + u64::from(column) * u64::from(strip))
            .take_while(move |lpn| *lpn < u64::from(end))
            .map(|lpn| Lpn(lpn as u32))
    }

    /// The pool of a unit.
    #[inline]
    pub fn pool(&self, lpn: Lpn) -> PoolId {
        let (range, column) = if self.is_parity(lpn) {
            (self.strip.quotient(lpn.0 - self.host_units), None)
        } else {
            let (range, column) = self.columns.split(self.strip.quotient(lpn.0));
            (range, Some(column))
        };
        let (turn, group) = self.groups.split(range);
        let parity = self.width - 1 - self.turns.split(group + turn).1;
        let member = match column {
            None => parity,
            Some(column) => column + u32::from(column >= parity),
        };
        PoolId(group * self.width + member)
    }

    /// The group of a pool.
    #[inline]
    pub fn group_of(&self, pool: PoolId) -> u32 {
        pool.0 / self.width
    }
    /// The pools of a group.
    pub fn pools_of(&self, group: u32) -> impl Iterator<Item = PoolId> + use<> {
        (group * self.width..(group + 1) * self.width).map(PoolId)
    }
    /// Number of groups.
    pub fn groups(&self) -> u32 {
        self.groups.get()
    }

    /// Units whose pool is `pool`, parity included, but not that of stripes without data.
    pub fn units_of(&self, pool: PoolId) -> u32 {
        let (strip, columns) = (self.strip.get(), self.columns.get());
        let in_range = u64::from(strip) * u64::from(columns);
        let (whole, rest) =
            (u64::from(self.host_units) / in_range, u64::from(self.host_units) % in_range);
        let (group, groups) = (u64::from(pool.0 / self.width), u64::from(self.groups.get()));
        // A whole range has a strip of data, or of parity, in each pool of its group.
        let ranges = (whole + groups - 1 - group) / groups;
        let last = || {
            // The last range, if not all of its strips are the host's.
            let first = whole * in_range;
            let begins = |column: u64| Lpn((first + column * u64::from(strip)) as u32);
            let columns = rest.div_ceil(u64::from(strip));
            let own = (0..columns).find(|column| self.pool(begins(*column)) == pool);
            match own {
                Some(column) => (rest - column * u64::from(strip)).min(u64::from(strip)),
                None if self.pool(self.parity(self.of(begins(0)))) == pool => {
                    rest.min(u64::from(strip))
                }
                None => 0,
            }
        };
        let of_last = if rest == 0 { 0 } else { last() };
        (ranges * u64::from(strip) + of_last) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The addresses of the released code of [FAST17]: 8 channels of 8 chips, pages in turn.
    #[test]
    fn pages_lie_where_the_released_code_puts_them() {
        let stripes = Stripes::new(8, 1, 64, 7 * 8 * 20);
        for lpn in 0..7 * 8 * 20 {
            let chip = lpn / 7 % 8;
            let mut parity = i64::from(7 - chip) - i64::from(lpn / 56 % 8);
            if parity < 0 {
                parity += 8;
            }
            let mut channel = i64::from(lpn % 7);
            if channel >= parity {
                channel += 1;
            }
            let pool = |channel: i64| PoolId((channel + i64::from(8 * chip)) as u32);
            assert_eq!(stripes.pool(Lpn(lpn)), pool(channel), "{lpn}");
            let own = stripes.parity(stripes.of(Lpn(lpn)));
            assert_eq!(stripes.pool(own), pool(parity), "parity of {lpn}");
        }
    }

    proptest! {
        #![proptest_config(floor::cases!())]

        /// Members of a stripe lie in distinct pools of one group, each unit is a member of one
        /// stripe, and pools have the units that a count finds.
        #[test]
        fn each_unit_is_a_member_of_one_stripe(
            width in 2u32..9, strip in 1u32..5, groups in 1u32..5, host_units in 1u32..600,
        ) {
            let stripes = Stripes::new(width, strip, width * groups, host_units);
            let mut seen = vec![0; (host_units + stripes.count()) as usize];
            let mut in_pool = vec![0; (width * groups) as usize];
            for stripe in (0..stripes.count()).map(StripeId) {
                let data = stripes.data(stripe);
                let members: Vec<Lpn> = data.chain([stripes.parity(stripe)]).collect();
                let mut pools: Vec<u32> = members.iter().map(|lpn| stripes.pool(*lpn).0).collect();
                prop_assert!(pools.iter().all(|pool| pool / width == pools[0] / width));
                let has_data = members.len() > 1;
                pools.iter().filter(|_| has_data).for_each(|pool| in_pool[*pool as usize] += 1);
                pools.sort_unstable();
                pools.dedup();
                prop_assert_eq!(pools.len(), members.len());
                prop_assert!(members.len() <= width as usize);
                for lpn in members {
                    prop_assert_eq!(stripes.of(lpn), stripe);
                    seen[lpn.0 as usize] += 1;
                }
            }
            prop_assert!(seen.iter().all(|count| *count == 1));
            for pool in (0..width * groups).map(PoolId) {
                prop_assert_eq!(stripes.units_of(pool), in_pool[pool.0 as usize], "{:?}", pool);
            }
        }

        /// Data of neighbouring strips goes to the pools of a group in turn, so that a long read uses
        /// all of them but one.
        #[test]
        fn parity_of_a_group_takes_each_pool_in_turn(width in 2u32..9, groups in 1u32..5) {
            let units = (width - 1) * groups * width;
            let stripes = Stripes::new(width, 1, width * groups, units);
            let mut of_group = vec![Vec::new(); groups as usize];
            for stripe in (0..stripes.count()).map(StripeId) {
                let pool = stripes.pool(stripes.parity(stripe)).0;
                of_group[(pool / width) as usize].push(pool % width);
            }
            for mut turns in of_group {
                turns.sort_unstable();
                prop_assert_eq!(turns, (0..width).collect::<Vec<_>>());
            }
        }
    }
}
