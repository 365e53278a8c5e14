//! Many witnesses of one recording that begin as the trace does.
//!
//! What a witness changes lies mostly near its end: up to there it is the trace itself. A sitting executes the trace
//! once, by the same rules as a witness, and judges each witness from a copy of the state where it departs. With
//! witnesses in the order of their departures the whole costs one pass over the trace and what comes after each
//! departure, instead of one pass for each witness.

use raddle_trace::ids::EventIndex;

use crate::judge::{Judge, Verdict, conclude, expect_values};
use crate::objection::Objection;
use crate::order;
use crate::recording::Recording;
use crate::simulation::Simulation;
use crate::witness::{ReadRule, Witness};

/// Judges witnesses that begin with events of the trace in its own order.
pub struct Sitting<'r, 'a> {
    recording: &'r Recording<'a>,
    /// The trace, executed as far as the latest departure.
    trace: Simulation<'r, 'a>,
}

impl<'r, 'a> Sitting<'r, 'a> {
    /// None were judged yet.
    #[must_use]
    pub fn new(recording: &'r Recording<'a>) -> Self {
        Self {
            recording,
            trace: Simulation::of_trace(recording, ReadRule::default()),
        }
    }

    /// Judges the witness that executes the trace's first `start` events as they were recorded, and then its order.
    /// The verdict has what comes after the start. Witnesses that depart earlier than the one before cost a pass over
    /// the trace up to there.
    ///
    /// # Errors
    /// If the witness is not feasible, or does not show its bug.
    pub fn judge(&mut self, start: usize, witness: &Witness) -> Result<Verdict, Objection> {
        expect_values(self.recording, witness)?;
        if witness.rule == ReadRule::Relaxed {
            return self.judge_whole(start, witness);
        }
        self.go_to(start, witness.rule)?;
        let order = order::complete_after(self.recording, witness, self.trace.executed.clone())?;
        let simulation = self.trace.departing(witness, &order);
        conclude(simulation, order, &witness.claim)
    }

    /// Judges a witness from the first event on: threads that read other values than in the trace have no copies.
    fn judge_whole(&self, start: usize, witness: &Witness) -> Result<Verdict, Objection> {
        let passed = (0..start as u64).map(EventIndex);
        let whole = Witness {
            order: passed.chain(witness.order.iter().copied()).collect(),
            ..witness.clone()
        };
        let mut verdict = Judge::new(self.recording).judge(&whole)?;
        verdict.order.drain(..start);
        Ok(verdict)
    }

    /// Executes the trace up to an event.
    fn go_to(&mut self, start: usize, rule: ReadRule) -> Result<(), Objection> {
        if self.trace.rule != rule || self.trace.passed() > start {
            self.trace = Simulation::of_trace(self.recording, rule);
        }
        let end = start.min(self.recording.events().len());
        while self.trace.passed() < end {
            if let Err(objection) = self.trace.pass() {
                self.trace = Simulation::of_trace(self.recording, rule);
                return Err(objection);
            }
        }
        Ok(())
    }
}
