//! The codewords of a row of a read: on which plane each lies, and of which mapping unit it is.

use ftl::Layout;

/// Codewords of a row, in the order of its planes, and so of its slots.
#[derive(Clone, Copy, Debug)]
pub struct Words {
    count: u32,
    /// Slots of the units that are transferred; 0 if that does not matter.
    slots: u64,
    units: u32,
}

impl Words {
    /// Codewords of so many transferred bytes of some slots. Without slots, units are counted from the
    /// first codeword on, `of_unit` for each.
    pub fn new(bytes: u64, bytes_per_word: u64, of_unit: u32, slots: u64) -> Self {
        let count = bytes.div_ceil(bytes_per_word) as u32;
        let units = if slots == 0 { (count / of_unit).max(1) } else { slots.count_ones() };
        Self { count, slots, units }
    }
    /// Slots of the units that are transferred; 0 if that is not known.
    pub fn slots(self) -> u64 {
        self.slots
    }
    /// Codewords before a unit, by its number among those that are transferred. A read of parts of units
    /// is taken to bring as much of each.
    fn before(self, unit: u32) -> u32 {
        (u64::from(unit) * u64::from(self.count) / u64::from(self.units)) as u32
    }
    /// Number of the unit that a codeword is of, counted over all rows of the read.
    pub fn unit_of(self, word: u32) -> u32 {
        let in_row = word % self.count;
        (1..self.units).take_while(|unit| self.before(*unit) <= in_row).count() as u32
    }
    /// Codewords on the `at`-th of a read's planes, which is `plane`.
    #[inline]
    pub fn on_plane(self, layout: &Layout, planes: u64, (at, plane): (u32, u32)) -> u32 {
        let all = planes.count_ones();
        if all == 1 {
            return self.count;
        }
        if self.slots == 0 {
            return share(self.count, all, at);
        }
        let mut words = 0;
        for (unit, slot) in (0..).zip(engine::bits(self.slots)) {
            let of_unit = layout.planes_of_slot(slot as u32) & planes;
            if of_unit >> plane & 1 == 1 {
                let place = (of_unit & ((1 << plane) - 1)).count_ones();
                let count = self.before(unit + 1) - self.before(unit);
                words += share(count, of_unit.count_ones(), place);
            }
        }
        words
    }
}

/// The `at`-th of `parts` shares that are as even as they can be.
fn share(count: u32, parts: u32, at: u32) -> u32 {
    (at + 1) * count / parts - at * count / parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_codeword_is_of_the_unit_in_whose_part_it_lies() {
        // Three units of eight codewords each, then as much of three units as 12 codewords hold.
        let whole = Words::new(3 * 4096, 512, 8, 0b1011);
        let of: Vec<u32> = [0, 7, 8, 15, 16, 23].map(|word| whole.unit_of(word)).to_vec();
        assert_eq!(of, [0, 0, 1, 1, 2, 2]);
        assert_eq!((whole.unit_of(24), whole.unit_of(47)), (0, 2), "the next row");
        let parts = Words::new(12 * 512, 512, 8, 0b111);
        assert_eq!([0, 3, 4, 7, 8, 11].map(|word| parts.unit_of(word)), [0, 0, 1, 1, 2, 2]);
        let unknown = Words::new(2 * 4096, 512, 8, 0);
        assert_eq!([0, 7, 8, 15].map(|word| unknown.unit_of(word)), [0, 0, 1, 1]);
        let less_than_one = Words::new(512, 512, 8, 0);
        assert_eq!((less_than_one.count, less_than_one.unit_of(0)), (1, 0));
    }
}
