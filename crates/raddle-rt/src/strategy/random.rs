//! A random walk: at each scheduling point every enabled thread is equally likely. In long runs it draws at some of the
//! points only.

use super::{Strategy, Thinning, View};
use crate::rng::Rng;

/// Points aimed at in a run that is too long for a point at every event.
const POINTS_A_RUN: u64 = 2000;

/// See the module's documentation.
pub struct Random {
    mean_budget: u64,
    thinning: Thinning,
}

impl Random {
    /// For a run expected to write `expected` slots, or with so many points if it `steps`; 0 if unknown.
    pub fn new(expected: u64, steps: bool) -> Self {
        Random {
            mean_budget: (expected / POINTS_A_RUN).max(16),
            thinning: Thinning::new(expected, steps),
        }
    }
}

impl Strategy for Random {
    fn choose(&mut self, view: &mut View<'_>) -> usize {
        match self.thinning.passes_over(view) {
            true => 0,
            false => view.rng.below(view.enabled.len() as u64) as usize,
        }
    }

    fn budget(&mut self, slice: u64, rng: &mut Rng) -> u64 {
        1 + rng.below(2 * self.mean_budget.min(slice))
    }
}
