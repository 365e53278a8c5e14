//! Many witnesses of one recording that begin as the trace does.
//!
//! What a witness changes lies mostly near its end: up to there it is the trace itself. A sitting executes the trace
//! once, by the same rules as a witness, and judges each witness from a copy of the state where it departs. Of the states
//! on the way it keeps a few, to which it can go back. With witnesses in the order of their departures the whole costs one
//! pass over the trace and what comes after each departure, instead of one pass for each witness.

use raddle_trace::ids::EventIndex;

use crate::judge::{Judge, Verdict, conclude, expect_values};
use crate::objection::Objection;
use crate::order;
use crate::recording::Recording;
use crate::simulation::{Simulation, free_reads};
use crate::table::Set;
use crate::witness::{ReadRule, Witness};

/// Judges witnesses that begin with events of the trace in its own order.
pub struct Sitting<'r, 'a> {
    recording: &'r Recording<'a>,
    /// The trace, executed as far as the latest departure.
    trace: Simulation<'r, 'a>,
    /// The same at some earlier events, the latest last.
    earlier: Vec<Simulation<'r, 'a>>,
}

/// Into so many parts the states that are kept divide a trace.
const PARTS: usize = 16;

impl<'r, 'a> Sitting<'r, 'a> {
    /// None were judged yet.
    #[must_use]
    pub fn new(recording: &'r Recording<'a>) -> Self {
        Self {
            recording,
            trace: Simulation::of_trace(recording, ReadRule::default()),
            earlier: Vec::new(),
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
        self.go_to(start, witness.rule)?;
        if !self.trace.executions.is_empty() {
            return self.judge_whole(start, witness);
        }
        let order = order::complete_after(self.recording, witness, self.trace.executed.clone())?;
        let free = free_reads(self.recording, witness, &order);
        let simulation = self.trace.departing(&order, free);
        conclude(simulation, order, &witness.claim)
    }

    /// Judges a witness from the first event on: threads that read other values than were recorded have no copies. In the
    /// trace itself that is so where a value came from what no event shows.
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
        if self.trace.rule != rule {
            self.earlier.clear();
            self.trace = self.trace.restarted(rule);
        }
        while self.trace.passed() > start {
            let earlier = self.earlier.pop();
            self.trace = earlier.unwrap_or_else(|| self.trace.restarted(rule));
        }
        let end = start.min(self.recording.events().len());
        while self.trace.passed() < end {
            self.keep_state();
            if let Err(objection) = self.trace.pass() {
                self.earlier.clear();
                self.trace = self.trace.restarted(rule);
                return Err(objection);
            }
        }
        Ok(())
    }

    /// Keeps the present state if a part of the trace ends here.
    fn keep_state(&mut self) {
        let part = self.recording.events().len().div_ceil(PARTS);
        let passed = self.trace.passed();
        let is_end = passed > 0 && passed.is_multiple_of(part);
        let is_known = self.earlier.last().is_some_and(|it| it.passed() >= passed);
        if is_end && !is_known && self.trace.executions.is_empty() {
            self.earlier.push(self.trace.departing(&[], Set::default()));
        }
    }
}
