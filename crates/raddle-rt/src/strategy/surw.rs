//! A uniform random walk over interleavings of the visible events (after Zhao, Wolff, Mathur,
//! Roychoudhury: "Selectively Uniform Concurrency Testing", ASPLOS 2025).
//!
//! A thread is drawn with probability proportional to the visible events it still has to execute,
//! as a profiling run counted them: then every interleaving of independent threads is equally
//! likely, while a plain random walk favours switching late. The events of threads that do not
//! exist yet count for main, which creates most of them.
//!
//! What differs: the selected events are all visible ones, not a subset drawn for each run; a thread that could run
//! for very long does, however little it has to do; and in long runs it draws at some of the points only.

use super::{Strategy, Thinning, View};
use crate::rng::Rng;

/// See the module's documentation.
pub struct Surw {
    /// Visible events of each thread in the profiling run.
    expected: *const u64,
    count: usize,
    mean_budget: u64,
    thinning: Thinning,
}

impl Surw {
    /// With the launcher's counts, which stay mapped for the process's life.
    pub fn new(weights: *mut [u64], expected: u64, steps: bool) -> Self {
        Surw {
            expected: weights.cast(),
            count: weights.len(),
            mean_budget: (expected / 2000).max(16),
            thinning: Thinning::new(expected, steps),
        }
    }

    fn expected(&self, thread: usize) -> u64 {
        // SAFETY: below the region's length.
        if thread < self.count {
            unsafe { *self.expected.add(thread) }
        } else {
            0
        }
    }

    /// What a thread still has to do; at least 1, for runs that differ from the profile.
    fn remaining(&self, view: &View<'_>, thread: u32) -> u64 {
        let mut events = self.expected(thread as usize);
        if thread == 0 {
            let unborn = view.threads.len() as usize..self.count;
            events += unborn.map(|t| self.expected(t)).sum::<u64>();
        }
        events
            .saturating_sub(view.threads.get(thread).visible)
            .max(1)
    }
}

impl Strategy for Surw {
    fn choose(&mut self, view: &mut View<'_>) -> usize {
        if let Some(starved) = view.starved() {
            return starved;
        }
        if self.thinning.passes_over(view) {
            return 0;
        }
        let total: u64 = view.enabled.iter().map(|&t| self.remaining(view, t)).sum();
        let mut draw = view.rng.below(total);
        for (index, &thread) in view.enabled.iter().enumerate() {
            let weight = self.remaining(view, thread);
            if draw < weight {
                return index;
            }
            draw -= weight;
        }
        0
    }

    fn budget(&mut self, slice: u64, rng: &mut Rng) -> u64 {
        1 + rng.below(2 * self.mean_budget.min(slice))
    }
}
