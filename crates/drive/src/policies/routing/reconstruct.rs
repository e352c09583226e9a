//! Reads go round collection: data that it holds is computed from the rest of its stripe.

use super::{Detour, Meeting, Route, RouteTo};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Reads the other members of a stripe, and its parity, instead of a mapping unit that collection
/// holds (its unit or its channel). A read that does not go round waits, and asks as with
/// `suspend`. Needs `ftl.parity`. Source: GC-tolerant read of [FAST17].
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Reconstruct {
    /// Reads that go round. Default: `profitable`.
    #[serde(default)]
    pub convert: Convert,
}

/// The choice of reads that go round.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Convert {
    /// Reads that gain by the rules of [FAST17]: a read of all data of a stripe always goes round;
    /// another one does if its additional reads take less time than collection will hold the unit.
    #[default]
    Profitable,
    /// All, unless collection holds another member for as long.
    Always,
}

impl Reconstruct {
    /// True if a read goes round.
    pub fn goes_round(&self, detour: &Detour) -> bool {
        let Detour { held, beside, extra, read, rotates } = *detour;
        if beside >= held.rest {
            return false;
        }
        // One more read is that of parity: the read asks for all data of the stripe.
        if self.convert == Convert::Always || extra == 1 || rotates && held.copies {
            return true;
        }
        beside + read * u64::from(extra) < held.rest
    }
}

impl RouteTo for Reconstruct {
    fn route(&self, _: &Meeting) -> Route {
        Route::Suspend
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policies::routing::Hold;
    use engine::Span;

    /// A read of 143 us whose unit is held for `rest` us.
    fn detour(rest: u64, extra: u32) -> Detour {
        Detour {
            held: Hold { rest: Span::from_us(rest), copies: false },
            beside: Span::ZERO,
            extra,
            read: Span::from_us(143),
            rotates: false,
        }
    }

    #[test]
    fn a_read_of_one_page_of_eight_goes_round_what_is_left_of_an_erase_for_seven_reads() {
        let policy = Reconstruct::default();
        for rotates in [false, true] {
            let of = |rest| Detour { rotates, ..detour(rest, 7) };
            assert!(!policy.goes_round(&of(7 * 143)));
            assert!(policy.goes_round(&of(7 * 143 + 1)));
            assert!(policy.goes_round(&Detour { extra: 1, ..of(1) }), "it needs parity only");
        }
    }

    #[test]
    fn with_rotation_it_always_goes_round_a_unit_that_still_copies() {
        let policy = Reconstruct::default();
        let copies = Hold { rest: Span::from_us(10), copies: true };
        let of = |rotates| Detour { rotates, held: copies, ..detour(10, 7) };
        assert!(policy.goes_round(&of(true)));
        assert!(!policy.goes_round(&of(false)));
    }

    #[test]
    fn it_never_goes_round_to_a_unit_that_is_held_for_longer() {
        for convert in [Convert::Profitable, Convert::Always] {
            let policy = Reconstruct { convert };
            let beside = |us| Detour { beside: Span::from_us(us), ..detour(5_000, 7) };
            assert!(!policy.goes_round(&beside(5_000)));
            assert_eq!(policy.goes_round(&beside(4_000)), convert == Convert::Always);
            assert!(policy.goes_round(&beside(3_998)), "it gains 1 us");
        }
    }
}
