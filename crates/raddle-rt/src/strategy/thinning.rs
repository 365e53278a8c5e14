//! Where a random walk through a long run draws.
//!
//! A walk that may leave a thread at each of a million points does little but hand over the turn, which costs some
//! microseconds each time, and comes no further than one that draws at some thousands of them: neighbouring points of
//! such a run are mostly alike.

use super::View;

/// Draws aimed at in a run.
const DRAWS_A_RUN: u64 = 1 << 13;

/// At which points a walk draws.
pub struct Thinning {
    /// Scheduling points of the run, or slots if not every visible event is a point.
    expected: u64,
    /// Whether every visible event is a point.
    steps: bool,
}

impl Thinning {
    /// For a run expected to have so many points, or to write so many slots; 0 if unknown.
    pub fn new(expected: u64, steps: bool) -> Self {
        Thinning { expected, steps }
    }

    /// Whether the running thread goes on without a draw. Where budgets say when events are points, only calls are left
    /// out.
    pub fn passes_over(&self, view: &mut View<'_>) -> bool {
        let is_thinned = self.steps || view.threads.get(view.current).pending_site == 0;
        view.may_go_on()
            && is_thinned
            && self.expected > DRAWS_A_RUN
            && view.rng.below(self.expected) >= DRAWS_A_RUN
    }
}
