//! When to restart.
//!
//! The search alternates between two modes. In *focused* mode it restarts as soon as the LBDs of recent
//! learnt clauses are worse than the long-term average, which suits instances with short refutations.
//! In *stable* mode it restarts rarely, by Knuth's reluctant doubling, and follows target phases, which
//! suits satisfiable instances. Modes last longer and longer, measured in memory accesses of propagation
//! so that both get the same effort and that runs are repeatable.
//!
//! Sources: Audemard and Simon (CP 2012); Biere and Fröhlich, *Evaluating CDCL Restart Schemes* (POS
//! 2015); Oh (SAT 2015) for the modes; Van der Tak et al. (JSAT 2011) for keeping part of the trail.

use super::Search;
use super::theory::Theory;

/// An exponential moving average that is not biased towards its start.
#[derive(Clone, Debug)]
struct Average {
    value: f64,
    weight: f64,
    rate: f64,
}

/// The state of the restart policy.
#[derive(Debug)]
pub(super) struct Restarts {
    stable: bool,
    fast: Average,
    slow: Average,
    /// No restart before this many conflicts.
    next: u64,
    reluctant: Reluctant,
    mode: Modes,
}

/// Knuth's reluctant doubling: 1 1 2 1 1 2 4 1 1 2 …
#[derive(Debug)]
struct Reluctant {
    u: u64,
    v: u64,
    left: u64,
}

/// When the mode changes.
#[derive(Debug)]
struct Modes {
    changes: u64,
    began_at_ticks: u64,
    /// The effort of the first mode, which ends after a number of conflicts.
    base_ticks: Option<u64>,
}

const FAST: f64 = 1.0 / 33.0;
const SLOW: f64 = 1e-5;
const MARGIN: f64 = 1.1;
/// Conflicts between restarts in focused mode.
const INTERVAL: u64 = 2;
/// The unit of reluctant doubling, in conflicts.
const STABLE_INTERVAL: u64 = 1024;
/// How long the first focused mode lasts.
const FIRST_MODE_CONFLICTS: u64 = 1000;

impl Average {
    fn new(rate: f64) -> Self {
        Self {
            value: 0.0,
            weight: 0.0,
            rate,
        }
    }

    fn add(&mut self, sample: f64) {
        self.value += self.rate * (sample - self.value);
        self.weight += self.rate * (1.0 - self.weight);
    }

    fn get(&self) -> f64 {
        if self.weight == 0.0 {
            0.0
        } else {
            self.value / self.weight
        }
    }
}

impl Reluctant {
    fn new() -> Self {
        Self {
            u: 1,
            v: 1,
            left: STABLE_INTERVAL,
        }
    }

    fn advance(&mut self) {
        if self.u & self.u.wrapping_neg() == self.v {
            self.u += 1;
            self.v = 1;
        } else {
            self.v *= 2;
        }
        self.left = self.v * STABLE_INTERVAL;
    }
}

impl Default for Restarts {
    fn default() -> Self {
        Self {
            stable: false,
            fast: Average::new(FAST),
            slow: Average::new(SLOW),
            next: INTERVAL,
            reluctant: Reluctant::new(),
            mode: Modes {
                changes: 0,
                began_at_ticks: 0,
                base_ticks: None,
            },
        }
    }
}

impl Restarts {
    /// Whether the search is in stable mode.
    pub(super) fn is_stable(&self) -> bool {
        self.stable
    }

    /// A clause of this LBD was learnt.
    pub(super) fn learnt(&mut self, lbd: u32) {
        self.fast.add(f64::from(lbd));
        self.slow.add(f64::from(lbd));
        self.reluctant.left = self.reluctant.left.saturating_sub(1);
    }

    /// Whether it is time to restart. Changes the mode when its time has come.
    fn is_due(&mut self, conflicts: u64, ticks: u64) -> bool {
        if self.mode.is_over(conflicts, ticks) {
            self.mode.change(ticks);
            self.stable = !self.stable;
            self.reluctant = Reluctant::new();
            return true;
        }
        if self.stable {
            return self.reluctant.left == 0;
        }
        conflicts >= self.next && self.fast.get() > MARGIN * self.slow.get()
    }

    fn restarted(&mut self, conflicts: u64) {
        if self.stable && self.reluctant.left == 0 {
            self.reluctant.advance();
        }
        self.next = conflicts + INTERVAL;
    }
}

impl Modes {
    fn is_over(&self, conflicts: u64, ticks: u64) -> bool {
        match self.base_ticks {
            None => conflicts >= FIRST_MODE_CONFLICTS,
            Some(base) => {
                let round = self.changes / 2 + 1;
                ticks - self.began_at_ticks >= base.saturating_mul(round * round)
            }
        }
    }

    fn change(&mut self, ticks: u64) {
        let spent = ticks - self.began_at_ticks;
        self.base_ticks.get_or_insert(spent.max(1));
        self.changes += 1;
        self.began_at_ticks = ticks;
    }
}

impl Search {
    /// Goes back to the assumptions if it is time to, but keeps decisions that would be made again.
    pub(super) fn restart_if_due<T: Theory>(&mut self, theory: &mut T, assumptions: usize) {
        let conflicts = self.statistics.conflicts;
        if self.trail.level() as usize <= assumptions
            || !self.restarts.is_due(conflicts, self.statistics.ticks)
        {
            return;
        }
        self.restarts.restarted(conflicts);
        self.statistics.restarts += 1;
        if self.phases.is_rephasing_due(conflicts) {
            self.backtrack(theory, assumptions as u32);
            self.phases.rephase(conflicts);
        } else {
            let level = self.reusable_level(assumptions as u32);
            self.backtrack(theory, level);
        }
    }

    /// The highest level up to which every decision comes before the next one to be made.
    fn reusable_level(&mut self, assumptions: u32) -> u32 {
        let Some(next) = self.next_variable() else {
            return assumptions;
        };
        (assumptions..self.trail.level())
            .find(|&level| {
                let decision = self.trail.at(self.trail.start_of(level + 1));
                !self.heap.is_before(decision.var(), next)
            })
            .unwrap_or(self.trail.level())
    }
}
