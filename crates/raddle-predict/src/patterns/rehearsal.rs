//! The trace executed as it is, with the states that it passes.
//!
//! A schedule follows the trace until the first thread stops, which mostly is near its end: it can start from the
//! latest of these states before that.

use super::execution::{Run, State, Waits};
use crate::clocks::Clocks;
use crate::view::{Pos, View};

/// Events between two states, at least.
const LEAST_DISTANCE: usize = 512;

/// Numbers that all states have in all, about: a state has one for each cell.
const MOST_NUMBERS: usize = 8 << 20;

/// States of the trace, at multiples of a distance.
pub(super) struct Rehearsal<'v> {
    distance: usize,
    states: Vec<State<'v>>,
}

impl<'v> Rehearsal<'v> {
    pub(super) fn new(view: &'v View, order: &Clocks, waits: &Waits<'v>, writers: &[u64]) -> Self {
        let numbers = view.len().saturating_mul(view.cells().len());
        let distance = LEAST_DISTANCE.max(numbers / MOST_NUMBERS);
        let mut states = Vec::new();
        let mut run = Run::new(view, order, waits, writers);
        run.awaits_waiters = waits.has_waiters();
        for pos in view.positions() {
            if pos.index() % distance == 0 {
                states.push(run.state());
            }
            // Where the trace seems to break the rules, it cannot be said where each schedule leads.
            if !run.follow(pos) {
                break;
            }
        }
        Self { distance, states }
    }

    /// The latest state that does not lie behind an event.
    pub(super) fn before(&self, pos: Pos) -> Option<&State<'v>> {
        let latest = (pos.index() / self.distance).min(self.states.len().checked_sub(1)?);
        self.states.get(latest)
    }
}
