//! Data that could not be decoded, and the trait of the policies that choose the next step.

/// View of a policy: data that could not be decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Undecoded {
    /// Re-reads so far.
    pub re_reads: u32,
    /// True if its stripe can rebuild it.
    pub is_protected: bool,
    /// True if the drive has soft decoding.
    pub has_soft_decoding: bool,
    /// True if soft decoding failed, too.
    pub was_decoded_softly: bool,
}

impl Undecoded {
    /// True if the drive can take a step.
    pub fn allows(&self, step: Step) -> bool {
        match step {
            Step::ReRead => !self.was_decoded_softly,
            Step::SoftDecoding => self.has_soft_decoding && !self.was_decoded_softly,
            Step::Rebuild => self.is_protected,
            Step::GiveUp => true,
        }
    }
    /// The next step of a ladder with so many re-reads.
    pub(super) fn after_re_reads(&self, most: Option<u32>) -> Step {
        let may_re_read = most.is_none_or(|most| self.re_reads < most);
        if may_re_read && !self.was_decoded_softly {
            Step::ReRead
        } else if self.has_soft_decoding && !self.was_decoded_softly {
            Step::SoftDecoding
        } else if self.is_protected {
            Step::Rebuild
        } else {
            Step::GiveUp
        }
    }
}

/// The next step for data that could not be decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// It is read again, with other threshold voltages.
    ReRead,
    /// It is sensed several times more and decoded with what these tell about each bit.
    SoftDecoding,
    /// It is computed from the rest of its stripe.
    Rebuild,
    /// It is lost, or its reader gets an error.
    GiveUp,
}

/// Chooses the next step.
pub trait NextStep {
    /// Returns a step that the drive can take ([`Undecoded::allows`]), always the same one for the
    /// same data.
    fn next(&self, data: &Undecoded) -> Step;
}
