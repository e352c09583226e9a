//! Suspension: reads that wait for the unit of a running erase or program have asked it to suspend.
//! It goes on, is suspended at the end of its step, or is interrupted.
//!
//! A new policy is a file here and a line of the list below: its tag, the list in error
//! messages, the schema, the documentation and the contract tests follow from the line.

mod asked;

pub use asked::{Asked, Interruption, Interrupts};
pub use python::InterruptOutside;

settings::family! {
    /// Suspension of an erase, or of a program, for reads.
    Suspension asks interrupts(asked: &Asked) -> Interruption;
    /// None: reads wait until the operation is over.
    "baseline" => baseline::Baseline,
    /// At once; the executed part of the pulse counts, but ramp and recovery are repeated.
    "es" => es::Es,
    /// At once and at no cost: a bound that no chip reaches.
    "ideal-es" => ideal_es::IdealEs,
    /// At once; the pulse is given up and repeated as a whole, after a verify.
    "i-es" => i_es::IEs,
    /// At the end of the present step.
    "d-es" => d_es::DEs,
    /// At once, as `i-es`, until the operation has taken too long; from then on at the ends of
    /// steps.
    "t-es" => t_es::TEs,
    /// A function of the user decides.
    "python" => python::Python,
}

settings::asks_outside!(Suspension);

impl Default for Suspension {
    fn default() -> Self {
        Self::Baseline(baseline::Baseline {})
    }
}

impl Suspension {
    /// True if nothing is ever suspended.
    pub fn is_baseline(&self) -> bool {
        matches!(self, Self::Baseline(_))
    }
    /// True if an operation is suspended at the ends of its steps only.
    pub fn needs_safe_points(&self) -> bool {
        match self {
            Self::DEs(_) => true,
            Self::TEs(t_es) => t_es.after.span().is_zero(),
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests;
