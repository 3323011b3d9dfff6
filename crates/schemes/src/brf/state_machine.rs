//! The state machine of one device (Fig. 5).

use tidegate_core::observe::event::Cause;

use super::Form;

/// States of Fig. 5.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Phase {
    /// No flow has been admitted yet.
    #[default]
    Init,
    /// New flows have their rates by eq. 9 to 13.
    InitialAllocation,
    /// Rates are measured for a round.
    Measure,
    /// Rates are allocated from the measured ones (eq. 14).
    Allocate,
    /// eq. 16 to 18, until the congestion is gone.
    Reduce,
}

/// Action at the end of a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// The round has not ended yet.
    Wait,
    /// The controller has to allocate rates (eq. 14).
    Allocate,
    /// eq. 16 to 18.
    Reduce,
}

/// The machine of one device.
#[derive(Clone, Copy, Debug)]
pub struct Machine {
    form: Form,
    phase: Phase,
}

impl Machine {
    /// A machine without flows, in its initial state.
    pub fn new(form: Form) -> Self {
        Self { form, phase: Phase::Init }
    }

    /// Current state of the machine.
    pub fn phase(&self) -> Phase {
        self.phase
    }

    /// Records that a flow was admitted.
    pub fn on_admission(&mut self) {
        // A new flow does not end a congestion, which only its detector can.
        if self.phase != Phase::Reduce {
            self.phase = Phase::InitialAllocation;
        }
    }

    /// Records a congestion; returns whether it is new.
    pub fn on_congestion(&mut self) -> bool {
        std::mem::replace(&mut self.phase, Phase::Reduce) != Phase::Reduce
    }

    /// Ends a congestion; returns whether there was one. Rates are then allocated from the demands of the flows, not
    /// from the reduced rates.
    pub fn on_clear(&mut self) -> bool {
        let was_reducing = self.phase == Phase::Reduce;
        if was_reducing {
            self.phase = Phase::Measure;
        }
        was_reducing
    }

    /// Ends a round. As drawn in the paper, a round with new flows is followed by another measurement before rates
    /// are allocated, so that a new flow in every round postpones the allocation for ever; the corrected form
    /// allocates at once.
    pub fn on_round(&mut self) -> Step {
        match (self.phase, self.form) {
            (Phase::Init, _) => Step::Wait,
            (Phase::Reduce, _) => Step::Reduce,
            (Phase::InitialAllocation, Form::Literal) => {
                self.phase = Phase::Measure;
                Step::Wait
            }
            _ => {
                self.phase = Phase::Allocate;
                Step::Allocate
            }
        }
    }

    /// Begins the measurement that follows an allocation.
    pub fn on_allocated(&mut self) {
        if self.phase == Phase::Allocate {
            self.phase = Phase::Measure;
        }
    }
}

impl Phase {
    /// Name of the state in events.
    pub const fn word(self) -> Cause {
        Cause(match self {
            Self::Init => "init",
            Self::InitialAllocation => "initial allocation",
            Self::Measure => "measure",
            Self::Allocate => "allocate",
            Self::Reduce => "reduce",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Steps of rounds; `true` for one in which a flow is admitted.
    fn steps(machine: &mut Machine, rounds: &[bool]) -> Vec<Step> {
        let round = |is_new: &bool| {
            if *is_new {
                machine.on_admission();
            }
            let step = machine.on_round();
            machine.on_allocated();
            step
        };
        rounds.iter().map(round).collect()
    }

    #[test]
    fn as_drawn_a_round_with_new_flows_is_followed_by_one_of_measuring() {
        use Step::{Allocate, Wait};
        let mut machine = Machine::new(Form::Literal);
        let rounds = [false, true, false, false, true, true, true, false];
        assert_eq!(steps(&mut machine, &rounds), [Wait, Wait, Allocate, Allocate, Wait, Wait, Wait, Allocate]);
    }

    #[test]
    fn corrected_new_flows_in_every_round_put_nothing_off() {
        let mut machine = Machine::new(Form::Corrected);
        assert_eq!(steps(&mut machine, &[true; 3]), [Step::Allocate; 3]);
    }

    #[test]
    fn congestion_reduces_from_any_state_until_it_is_gone() {
        for rounds in [vec![], vec![true], vec![true, false]] {
            let mut machine = Machine::new(Form::Literal);
            steps(&mut machine, &rounds);
            assert!(machine.on_congestion() && !machine.on_congestion(), "news once");
            assert_eq!(steps(&mut machine, &[false, true]), [Step::Reduce; 2]);
            assert!(machine.on_clear() && !machine.on_clear());
            assert_eq!(machine.on_round(), Step::Allocate);
        }
    }
}
