//! Read recovery: what the drive does when a page that it has sensed cannot be decoded.
//!
//! A new policy is a file here and a line of the list below: its tag, the list in error messages,
//! the schema, the documentation and the contract tests follow from the line.

mod undecoded;

pub use undecoded::{NextStep, Step, Undecoded};

settings::family! {
    /// Policy that chooses the next step for data that could not be decoded.
    ReadRecovery asks next(data: &Undecoded) -> Step;
    /// Re-reads, then soft decoding, then the rest of the stripe, as far as each is there.
    "ladder" => ladder::Ladder,
    /// As the ladder, with fewer re-reads for data that has parity, which can be rebuilt: the
    /// conditional re-read of HRM [FAST19].
    "conditional" => conditional::Conditional,
    /// Nothing is tried.
    "none" => none::None,
}

impl Default for ReadRecovery {
    fn default() -> Self {
        Self::Ladder(ladder::Ladder::default())
    }
}

impl ReadRecovery {
    /// Most re-reads of data, by its protection; `None` for any number.
    pub fn most_re_reads(&self, is_protected: bool) -> Option<u32> {
        match self {
            Self::Ladder(of) => of.re_reads,
            Self::Conditional(of) if is_protected => Some(of.protected),
            Self::Conditional(of) => of.unprotected,
            Self::None(_) => Some(0),
        }
    }
    /// True if it neither decodes softly nor rebuilds data.
    pub fn gives_up_at_once(&self) -> bool {
        matches!(self, Self::None(_))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(floor::cases!())]

        /// The contract of every policy: the same answer to the same question, and no step that the
        /// drive cannot take.
        #[test]
        fn every_policy_takes_steps_that_are_there(
            re_reads in 0u32..20,
            [is_protected, has_soft_decoding, was_decoded_softly] in any::<[bool; 3]>(),
        ) {
            let data = Undecoded { re_reads, is_protected, has_soft_decoding, was_decoded_softly };
            for policy in ReadRecovery::all() {
                let step = policy.next(&data);
                prop_assert_eq!(step, policy.next(&data));
                prop_assert!(data.allows(step), "{:?} {:?}", policy, step);
            }
        }

        /// Any number of questions leads to an end if re-reads are limited: each step is taken once,
        /// and re-reads as often as allowed.
        #[test]
        fn a_limited_ladder_ends(most in 0u32..9, is_protected: bool, has_soft_decoding: bool) {
            let policies = [
                ReadRecovery::Ladder(ladder::Ladder { re_reads: Some(most) }),
                ReadRecovery::Conditional(conditional::Conditional {
                    protected: most,
                    unprotected: Some(most),
                }),
            ];
            for policy in policies {
                let mut data = Undecoded {
                    re_reads: 0, is_protected, has_soft_decoding, was_decoded_softly: false,
                };
                let mut softly = 0;
                let end = loop {
                    match policy.next(&data) {
                        Step::ReRead => data.re_reads += 1,
                        Step::SoftDecoding => {
                            data.was_decoded_softly = true;
                            softly += 1;
                        }
                        end => break end,
                    }
                };
                prop_assert_eq!((data.re_reads, softly), (most, u32::from(has_soft_decoding)));
                prop_assert_eq!(end == Step::Rebuild, is_protected);
            }
        }
    }
}
