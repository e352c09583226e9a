//! Array operations that consist of pulses (erases and programs), and what an interruption costs.
//!
//! A step ramps the voltage up, executes the pulse, lets the voltage recover, and verifies
//! (incremental step pulse erasing and programming). The ends of steps are safe points: there an
//! operation may stop at no cost. Anywhere else the voltage has to come down first. A policy
//! decides if an operation *should* stop; this module says what then happens in the chip.
//!
//! | interrupted in | the unit is free after | what is left of the step |
//! |---|---|---|
//! | ramp, cancelled | a whole recovery | a verify, then the whole step |
//! | ramp, suspended | a whole recovery | ramp, what was left of the pulse, recovery, verify |
//! | execution, cancelled | a whole recovery | a verify, then the whole step |
//! | execution, suspended | a whole recovery | ramp, the rest of the pulse, recovery, verify |
//! | recovery | the rest of the recovery | the verify |
//! | verify | no time | the verify |
//!
//! Sources: H. Lee et al., USENIX ATC'19 (safe points; a cancelled pulse is asserted whole
//! after a verify; some 100 us to recover); G. Wu and X. He, FAST'12 (suspension of a pulse).

use crate::config::{EraseConfig, ProgramStepsConfig};
use engine::Span;

/// The steps of an operation.
#[derive(Clone, Copy, Debug)]
pub struct Pulses {
    /// Number of steps, at least one.
    pub steps: u32,
    /// Ramp of a step.
    pub ramp: Span,
    /// Execution of a step.
    pub execute: Span,
    /// Recovery of a step.
    pub recover: Span,
    /// Verify of a step.
    pub verify: Span,
    /// Time by which the last step executes longer than the others.
    pub longer: Span,
}

impl From<&EraseConfig> for Pulses {
    fn from(config: &EraseConfig) -> Self {
        Self {
            steps: config.steps,
            ramp: config.ramp.span(),
            execute: config.execute.span(),
            recover: config.recover.span(),
            verify: config.verify.span(),
            longer: Span::ZERO,
        }
    }
}

impl Pulses {
    /// The steps of a program that takes `whole`. The last step takes the remainder of the
    /// division by the number of steps. A step executes the pulse in the time that ramp, recovery
    /// and verify leave.
    ///
    /// # Errors
    /// The length of a step, if its ramp, recovery and verify take longer.
    pub fn of_program(config: &ProgramStepsConfig, whole: Span) -> Result<Self, Span> {
        let (ramp, recover, verify) =
            (config.ramp.span(), config.recover.span(), config.verify.span());
        let step = Span::from_ns(whole.as_ns() / u64::from(config.steps));
        let execute = step.checked_sub(config.overhead()).ok_or(step)?;
        let longer = whole - step * u64::from(config.steps);
        Ok(Self { steps: config.steps, ramp, execute, recover, verify, longer })
    }

    /// One step, from ramp to verify; the last may be longer.
    pub fn step(&self) -> Span {
        self.ramp + self.execute + self.recover + self.verify
    }
    /// The whole undisturbed operation.
    pub fn total(&self) -> Span {
        self.step() * u64::from(self.steps) + self.longer
    }
}

/// Method of interrupting an operation inside a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// Cancel the pulse: all of it is asserted again.
    Cancel,
    /// Suspend the pulse: the part that was executed counts.
    Suspend,
    /// Freeze the operation at no cost, which no chip can do: a bound for the other methods.
    Freeze,
}

/// Effect of an interruption.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stopped {
    /// Time until the unit is free.
    pub after: Span,
    /// Wear beyond that of the operation itself.
    pub strain: Strain,
}

/// Wear of interruptions, beyond that of the operations that they interrupt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Strain {
    /// Pairs of a ramp and a recovery that an undisturbed operation does not have.
    pub ramps: u32,
    /// Pulses that were begun in vain and are asserted again as a whole.
    pub pulses: u32,
}

/// Progress of an operation. Time is counted in attempts: an attempt begins when the operation
/// starts or resumes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    steps_left: u32,
    entry: Entry,
    /// Offset from its entry at which an attempt begins that resumes after [`Stop::Freeze`].
    into: Span,
}

/// Phase with which an attempt begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Entry {
    /// The ramp of a pulse of which this much was executed before.
    Ramp { executed: Span },
    /// A verify, which finds out how far the block is erased, and then the whole step.
    Check,
    /// The verify that ends the step.
    Verify,
}

/// Phase of a step that an operation is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Check,
    Ramp,
    /// Execution; this much of the pulse has been executed.
    Execute(Span),
    /// Recovery; the voltage takes this long to come down.
    Recover(Span),
    Verify,
}

impl Progress {
    /// Progress of an operation that begins.
    pub fn new(pulses: &Pulses) -> Self {
        let entry = Entry::Ramp { executed: Span::ZERO };
        Self { steps_left: pulses.steps, entry, into: Span::ZERO }
    }

    /// Steps that are not finished.
    pub fn steps_left(&self) -> u32 {
        self.steps_left
    }

    /// Execution time of the present step.
    fn execute(&self, pulses: &Pulses) -> Span {
        pulses.execute + if self.steps_left == 1 { pulses.longer } else { Span::ZERO }
    }

    /// Time from the beginning of an attempt to the end of the present step, if nothing
    /// interrupts it.
    pub fn to_safe_point(&self, pulses: &Pulses) -> Span {
        if self.steps_left == 0 {
            return Span::ZERO;
        }
        let step = pulses.ramp + self.execute(pulses) + pulses.recover + pulses.verify;
        let from_entry = match self.entry {
            Entry::Ramp { executed } => step - executed,
            Entry::Check => pulses.verify + step,
            Entry::Verify => pulses.verify,
        };
        from_entry - self.into
    }

    /// Time from the beginning of an attempt to the end of the operation, if nothing interrupts
    /// it.
    pub fn to_end(&self, pulses: &Pulses) -> Span {
        if self.steps_left <= 1 {
            return self.to_safe_point(pulses);
        }
        let later = pulses.step() * u64::from(self.steps_left - 1) + pulses.longer;
        self.to_safe_point(pulses) + later
    }

    /// Counts the steps that have ended in an attempt that has run for `elapsed`. Returns the
    /// time for which the present step has run; the step is an attempt of its own from now on.
    pub fn pass(&mut self, pulses: &Pulses, mut elapsed: Span) -> Span {
        while self.steps_left > 0 {
            let step = self.to_safe_point(pulses);
            if elapsed < step {
                return elapsed;
            }
            elapsed -= step;
            self.steps_left -= 1;
            self.enter(Entry::Ramp { executed: Span::ZERO });
        }
        elapsed
    }

    /// Sets the entry of the next attempt.
    fn enter(&mut self, entry: Entry) {
        (self.entry, self.into) = (entry, Span::ZERO);
    }

    /// Phase of an attempt that has run for `elapsed` in its first step.
    fn phase(&self, pulses: &Pulses, elapsed: Span) -> Phase {
        let execute = self.execute(pulses);
        let elapsed = self.into + elapsed;
        // The time since an undisturbed step would have begun to be at this point now.
        let into = match self.entry {
            Entry::Check if elapsed < pulses.verify => return Phase::Check,
            Entry::Verify => return Phase::Verify,
            Entry::Check => elapsed - pulses.verify,
            Entry::Ramp { .. } if elapsed < pulses.ramp => return Phase::Ramp,
            Entry::Ramp { executed } => elapsed + executed,
        };
        if into < pulses.ramp {
            return Phase::Ramp;
        }
        let executed = into - pulses.ramp;
        if executed < execute {
            return Phase::Execute(executed);
        }
        match pulses.recover.checked_sub(executed - execute) {
            Some(left) if !left.is_zero() => Phase::Recover(left),
            _ => Phase::Verify,
        }
    }

    /// Interrupts an attempt that has run for `elapsed` in its first step. The next attempt
    /// begins when the operation resumes. An attempt that has only just begun has not ramped yet,
    /// or is still frozen ([`Stop::Freeze`]): it stops at no cost.
    pub fn stop(&mut self, pulses: &Pulses, how: Stop, elapsed: Span) -> Stopped {
        let free = Stopped { after: Span::ZERO, strain: Strain::default() };
        if elapsed.is_zero() {
            return free;
        }
        if how == Stop::Freeze {
            self.into += elapsed;
            return free;
        }
        match self.phase(pulses, elapsed) {
            Phase::Check => {
                self.enter(Entry::Check);
                free
            }
            Phase::Ramp => {
                let executed = match self.entry {
                    Entry::Ramp { executed } => executed,
                    Entry::Check | Entry::Verify => Span::ZERO,
                };
                self.bring_down(pulses, how, executed, false)
            }
            Phase::Execute(executed) => self.bring_down(pulses, how, executed, true),
            Phase::Recover(left) => {
                self.enter(Entry::Verify);
                Stopped { after: left, ..free }
            }
            Phase::Verify => {
                self.enter(Entry::Verify);
                free
            }
        }
    }

    /// Brings the voltage down before the pulse is over; `executed` of the pulse counts so far.
    fn bring_down(
        &mut self,
        pulses: &Pulses,
        how: Stop,
        executed: Span,
        is_executing: bool,
    ) -> Stopped {
        let in_vain = how == Stop::Cancel && is_executing;
        self.enter(if how == Stop::Cancel { Entry::Check } else { Entry::Ramp { executed } });
        let strain = Strain { ramps: 1, pulses: u32::from(in_vain) };
        Stopped { after: pulses.recover, strain }
    }
}

#[cfg(test)]
mod tests;
