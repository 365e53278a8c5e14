//! Barriers: nobody leaves a round before all have arrived, nor arrives in the next.
//!
//! Who meets whom in a round is kept as recorded: the call tells one of them, by its result, that it
//! completed the round.

use raddle_trace::action::Action;

use super::{Rule, Step};
use crate::objection::Objection;
use crate::table::Set;

/// Arrivals that have happened.
#[derive(Clone, Debug, Default)]
pub(super) struct Barriers {
    arrived: Set<usize>,
}

impl Rule for Barriers {
    fn check(&self, step: &Step<'_, '_>) -> Result<(), Objection> {
        let facts = &step.recording.facts;
        let round = match step.action() {
            Some(Action::BarrierLeave { .. }) => facts.round(step.at),
            Some(Action::BarrierArrive { .. }) => {
                let round = facts.round(step.at);
                round.and_then(|round| facts.round_before(round))
            }
            _ => return Ok(()),
        };
        let awaited = round.map_or(&[][..], |round| &round.arrivals);
        match awaited.iter().find(|&&at| !self.arrived.contains(&at)) {
            Some(&missing) => Err(Objection::BarrierIncomplete {
                event: step.name(),
                missing: step.recording.name(missing),
            }),
            None => Ok(()),
        }
    }

    fn apply(&mut self, step: &Step<'_, '_>) {
        if let Some(Action::BarrierArrive { .. }) = step.action() {
            self.arrived.insert(step.at);
        }
    }
}
