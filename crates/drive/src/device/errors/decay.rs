//! The decay of the blocks of a bin, as policies of scrubbing see it.

use crate::device::errors::rate::Rates;
use engine::Instant;
use ftl::scrub::{Needs, Polled};
use ftl::{BinId, BlockId, Ftl};

/// Columns of the bin that was polled last, kept for their memory.
#[derive(Clone, Debug, Default)]
pub struct Columns {
    expected_errors: Vec<f64>,
    data_age: Vec<u64>,
}

impl Columns {
    /// The columns that a policy needs, at the present moment, for codewords of so many bits. Blocks
    /// that cannot be moved have zeros.
    pub fn at(
        &mut self,
        (rates, bits): (&mut Rates, u32),
        (ftl, now): (&Ftl, Instant),
        bin: BinId,
        needs: Needs,
    ) -> Polled<'_> {
        let (first, most) = (ftl.layout.first_block(bin).0, ftl.layout.most_data_units());
        self.expected_errors.clear();
        self.data_age.clear();
        for (block, valid) in (first..).map(BlockId).zip(ftl.standing_of(bin)) {
            let is_movable = (1..=most).contains(valid);
            if needs.expected_errors {
                let rate = if is_movable { rates.worst(ftl, now, block) } else { 0.0 };
                self.expected_errors.push(f64::from(bits) * rate);
            }
            if needs.data_age {
                self.data_age.push(if is_movable { rates.age(ftl, now, block) } else { 0 });
            }
        }
        Polled { expected_errors: &self.expected_errors, data_age: &self.data_age, turn: 0 }
    }
}
