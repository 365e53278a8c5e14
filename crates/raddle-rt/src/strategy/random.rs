//! A random walk: at each scheduling point every enabled thread is equally likely.

use super::{Strategy, View};
use crate::rng::Rng;

/// Points aimed at in a run that is too long for a point at every event.
const POINTS_A_RUN: u64 = 2000;

/// See the module's documentation.
pub struct Random {
    mean_budget: u64,
}

impl Random {
    /// For a run expected to write `expected` slots; 0 if unknown.
    pub fn new(expected: u64) -> Self {
        Random {
            mean_budget: (expected / POINTS_A_RUN).max(16),
        }
    }
}

impl Strategy for Random {
    fn choose(&mut self, view: &mut View<'_>) -> usize {
        view.rng.below(view.enabled.len() as u64) as usize
    }

    fn budget(&mut self, slice: u64, rng: &mut Rng) -> u64 {
        1 + rng.below(2 * self.mean_budget.min(slice))
    }
}
