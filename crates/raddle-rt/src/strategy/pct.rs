//! Probabilistic concurrency testing (Burckhardt, Kothari, Musuvathi, Nagarakatte: "A Randomized
//! Scheduler with Probabilistic Guarantees of Finding Bugs", ASPLOS 2010).
//!
//! Threads have random distinct priorities; the highest enabled one runs. At `depth - 1` random
//! points the running thread's priority drops below all others. A bug of depth `d` in a program
//! of `n` threads and `k` points is found with probability at least `1 / (n * k^(d-1))` a run.
//!
//! What differs: `k` is estimated from a profiling run. A thread that yields, polls or sleeps, unless its sleep is one that
//! ends while others could run, or that has had the turn for very long while others could run, drops as well, because the
//! published scheduler starves the others under a thread that waits by polling.

use raddle_trace::wire::SwitchReason;

use super::{Strategy, View};
use crate::rng::Rng;
use crate::thread::{ThreadTable, Tid};

/// Most change points kept.
const MOST_CHANGES: usize = 64;
/// How long a thread may have the turn, on the program's clock.
const LONGEST_TURN_NS: u64 = 100_000_000;
/// Budgets that an expected run is divided into.
const BUDGETS: u64 = 64;
/// Shortest and longest budget, in the mean: a thread that polls is noticed at the end of one.
const BUDGET: (u64, u64) = (1024, 2048);
/// Initial priorities are at or above this, lowered ones below.
const INITIAL: u64 = 1 << 32;

/// See the module's documentation.
pub struct Pct {
    /// Change points, ascending; those before `passed` are behind us.
    changes: [u64; MOST_CHANGES],
    count: usize,
    passed: usize,
    /// The next priority to drop to; each drop goes below the one before.
    floor: u64,
    expected: u64,
    progress: u64,
}

impl Pct {
    /// Draws `depth - 1` change points among `expected` scheduling points.
    pub fn new(depth: u32, expected: u64, rng: &mut Rng) -> Self {
        let count = (depth.max(1) as usize - 1).min(MOST_CHANGES);
        let mut changes = [u64::MAX; MOST_CHANGES];
        for change in &mut changes[..count] {
            *change = 1 + rng.below(expected.max(1));
        }
        changes[..count].sort_unstable();
        Pct {
            changes,
            count,
            passed: 0,
            floor: INITIAL - 1,
            expected,
            progress: 0,
        }
    }

    fn drop_priority(&mut self, view: &mut View<'_>) {
        view.threads.get_mut(view.current).priority = self.floor;
        self.floor -= 1;
    }
}

impl Strategy for Pct {
    fn choose(&mut self, view: &mut View<'_>) -> usize {
        self.progress = view.progress;
        while self.passed < self.count && view.progress >= self.changes[self.passed] {
            self.passed += 1;
            self.drop_priority(view);
        }
        let is_overdue = view.current_enabled && view.turn_ns >= LONGEST_TURN_NS;
        let gives_way = match view.reason {
            SwitchReason::Yielded => !view.overtakes(),
            SwitchReason::Spins => view.current_enabled,
            _ => false,
        };
        if is_overdue || gives_way {
            self.drop_priority(view);
        }
        let priority = |i: &usize| view.threads.get(view.enabled[*i]).priority;
        (0..view.enabled.len()).max_by_key(priority).unwrap_or(0)
    }

    fn budget(&mut self, slice: u64, rng: &mut Rng) -> u64 {
        let next = if self.passed < self.count {
            self.changes[self.passed]
        } else {
            u64::MAX
        };
        let look = (self.expected / BUDGETS).clamp(BUDGET.0, BUDGET.1);
        let look = 1 + rng.below(2 * look.min(slice));
        next.saturating_sub(self.progress).clamp(1, look)
    }

    fn created(&mut self, thread: Tid, threads: &mut ThreadTable, rng: &mut Rng) {
        threads.get_mut(thread).priority = INITIAL + rng.below(1 << 31);
    }
}
