//! The judge.

use raddle_trace::ids::EventIndex;

use crate::claims;
use crate::objection::Objection;
use crate::order;
use crate::recording::Recording;
use crate::simulation::Simulation;
use crate::witness::{ReadRule, Witness};

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
        if !self.recording.has_values() && witness.rule != ReadRule::SameWrite {
            return Err(Objection::NoValues);
        }
        let order = order::complete(self.recording, witness)?;
        let mut simulation = Simulation::new(self.recording, witness, &order);
        for &at in &order {
            simulation.step(at)?;
        }
        claims::check(&mut simulation, &witness.claim)?;
        let order = order.into_iter().map(|at| EventIndex(at as u64));
        Ok(Verdict {
            order: order.collect(),
        })
    }
}
