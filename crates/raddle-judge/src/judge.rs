//! The judge.

use raddle_trace::ids::EventIndex;

use crate::claims;
use crate::objection::Objection;
use crate::order;
use crate::recording::Recording;
use crate::simulation::Simulation;
use crate::witness::{Claim, ReadRule, Witness};

/// Judges witnesses of one recording.
#[derive(Clone, Copy, Debug)]
pub struct Judge<'r, 'a> {
    recording: &'r Recording<'a>,
}

/// The witness is feasible and shows its bug.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// Every event that it executes, in order, those included that its list left out.
    pub order: Vec<EventIndex>,
}

impl<'r, 'a> Judge<'r, 'a> {
    /// A judge of a recording's witnesses.
    #[must_use]
    pub fn new(recording: &'r Recording<'a>) -> Self {
        Self { recording }
    }

    /// Judges a witness.
    pub fn judge(&self, witness: &Witness) -> Result<Verdict, Objection> {
        expect_values(self.recording, witness)?;
        let order = order::complete(self.recording, witness)?;
        let simulation = Simulation::new(self.recording, witness, &order);
        conclude(simulation, order, &witness.claim)
    }
}

/// Objects to a witness that justifies reads by values of which the recording has none.
pub(crate) fn expect_values(recording: &Recording<'_>, witness: &Witness) -> Result<(), Objection> {
    match recording.has_values() || witness.rule == ReadRule::SameWrite {
        true => Ok(()),
        false => Err(Objection::NoValues),
    }
}

/// Executes an order from the state that a simulation is in, and checks what it is claimed to show.
pub(crate) fn conclude(
    mut simulation: Simulation<'_, '_>,
    order: Vec<usize>,
    claim: &Claim,
) -> Result<Verdict, Objection> {
    for &at in &order {
        simulation.step(at)?;
    }
    claims::check(&mut simulation, claim)?;
    let order = order.into_iter().map(|at| EventIndex(at as u64));
    Ok(Verdict {
        order: order.collect(),
    })
}
