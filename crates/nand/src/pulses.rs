//! Operations of the array that are rows of pulses, as erases and programs are, and what
//! it takes to interrupt one.
//!
//! A step ramps the voltage up, executes the pulse, lets the voltage recover, and verifies
//! (incremental step pulse erasing and programming). The ends of steps are safe points:
//! there an operation may stop at no cost. Anywhere else the voltage has to come down
//! first. Whether an operation *should* stop is a policy's business; what happens to it
//! then is the chip's, and is said here.
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
    /// How many, one at least.
    pub steps: u32,
    /// Ramp of a step.
    pub ramp: Span,
    /// Execution of a step.
    pub execute: Span,
    /// Recovery of a step.
    pub recover: Span,
    /// Verify of a step.
    pub verify: Span,
    /// How much longer the last step executes than the others.
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
    /// The steps of a program that lasts `whole`. Where that is no multiple of the number of
    /// steps, the last one takes the rest; what a step does not need to ramp, recover and
    /// verify it executes.
    ///
    /// # Errors
    /// How long a step is, where its ramp, recovery and verify take longer.
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
    /// The whole operation, undisturbed.
    pub fn total(&self) -> Span {
        self.step() * u64::from(self.steps) + self.longer
    }
}

/// How an operation is interrupted inside a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The pulse is given up: all of it is asserted again.
    Cancel,
    /// What was executed of the pulse counts.
    Suspend,
    /// The operation stands still at no cost, which no chip can do: a bound for the others.
    Freeze,
}

/// What an interruption does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stopped {
    /// Time until the unit is free.
    pub after: Span,
    /// What it wears beyond the operation itself.
    pub strain: Strain,
}

/// What interruptions wear, beyond the operations that they interrupt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Strain {
    /// Pairs of a ramp and a recovery that an undisturbed operation has not.
    pub ramps: u32,
    /// Pulses that were begun in vain and are asserted again as a whole.
    pub pulses: u32,
}

/// How far an operation has come. Time runs in attempts: an attempt begins when the
/// operation does, or when it goes on after an interruption.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    steps_left: u32,
    entry: Entry,
    /// How far beyond its entry an attempt begins that goes on after [`Stop::Freeze`].
    into: Span,
}

/// With what an attempt begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Entry {
    /// The ramp of a pulse of which this much was executed before.
    Ramp { executed: Span },
    /// A verify, which finds what is erased already, and then the whole step.
    Check,
    /// The verify that ends the step.
    Verify,
}

/// Where in a step an operation is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Check,
    Ramp,
    /// This much of the pulse is executed.
    Execute(Span),
    /// The voltage has this long to come down.
    Recover(Span),
    Verify,
}

impl Progress {
    /// Of an operation that begins.
    pub fn new(pulses: &Pulses) -> Self {
        let entry = Entry::Ramp { executed: Span::ZERO };
        Self { steps_left: pulses.steps, entry, into: Span::ZERO }
    }

    /// Steps that are not done.
    pub fn steps_left(&self) -> u32 {
        self.steps_left
    }

    /// Execution of the present step.
    fn execute(&self, pulses: &Pulses) -> Span {
        pulses.execute + if self.steps_left == 1 { pulses.longer } else { Span::ZERO }
    }

    /// From the beginning of an attempt to the end of the present step, if nothing
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

    /// From the beginning of an attempt to the end of the operation, if nothing interrupts it.
    pub fn to_end(&self, pulses: &Pulses) -> Span {
        if self.steps_left <= 1 {
            return self.to_safe_point(pulses);
        }
        let later = pulses.step() * u64::from(self.steps_left - 1) + pulses.longer;
        self.to_safe_point(pulses) + later
    }

    /// An attempt has gone on for `elapsed`: steps that have ended by then count. Returns
    /// for how long the present step has gone on, which is an attempt of its own from now.
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

    /// The next attempt begins so.
    fn enter(&mut self, entry: Entry) {
        (self.entry, self.into) = (entry, Span::ZERO);
    }

    /// Where an attempt is that has gone on for `elapsed` in its first step.
    fn phase(&self, pulses: &Pulses, elapsed: Span) -> Phase {
        let execute = self.execute(pulses);
        let elapsed = self.into + elapsed;
        // The time since a plain step of the same place would have begun.
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

    /// Interrupts an attempt that has gone on for `elapsed` in its first step. The next
    /// attempt begins when the operation goes on. An attempt that has only just begun has
    /// not ramped yet, or stands still after [`Stop::Freeze`]: it stops at no cost.
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

    /// The voltage comes down before the pulse, of which `executed` counts so far, is over.
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
