//! Where random runs may be preempted, and what they know of the program: learned from every run.
//!
//! The undisturbed run, which lets each thread run until it blocks, says how long a run is, which instructions interfere
//! with other threads ([`crate::interference`]), and how many such events each thread has: the strategies need these
//! to spend their few preemptions where they matter. An instruction that it did not execute is a point from the
//! beginning; one that it executed without interference becomes a point when a later run shows that it interferes.

use std::path::Path;

use raddle_trace::wire::StrategyKind;

use crate::error::Error;
use crate::explore::clock_speed;
use crate::interference::{Interference, covers};
use crate::launch::{Plan, RunResult};

/// Programs with fewer events than this are stepped: every visible event is a scheduling point.
/// Longer ones get event budgets, which cost nothing between two preemptions.
const STEP_BELOW_TICKS: u64 = 1_000_000;

/// What an undisturbed run says about others.
#[derive(Clone, Debug)]
pub struct Profile {
    /// Events.
    pub ticks: u64,
    /// Events of each thread.
    pub thread_ticks: Vec<u64>,
    /// Bytes of site records.
    pub sites_len: u64,
}

impl From<&RunResult> for Profile {
    fn from(result: &RunResult) -> Self {
        Self {
            ticks: result.head.ticks,
            thread_ticks: result.threads.iter().map(|it| it.ticks.0).collect(),
            sites_len: result.head.sites_len,
        }
    }
}

/// The scheduling points of a program, as far as runs have shown them.
#[derive(Clone, Debug)]
pub struct Points {
    interference: Interference,
    model: Plan,
    /// Whether the points are others than those that were counted.
    is_counted: bool,
}

impl Points {
    /// What an undisturbed run with this trace shows.
    ///
    /// # Errors
    /// If the trace cannot be read.
    pub fn new(profile: &Profile, trace: &Path, seed: u64) -> Result<Points, Error> {
        let mut model = Plan::new(StrategyKind::RoundRobin, seed);
        model.expected = profile.ticks;
        model.weights = profile.thread_ticks.clone().into();
        model.step = profile.ticks < STEP_BELOW_TICKS;
        let mut points = Points {
            interference: Interference::default(),
            is_counted: !model.step,
            model,
        };
        if points.model.step {
            points.interference.learn(trace)?;
            points.model.visible = points.interference.visible(profile.sites_len).into();
        }
        Ok(points)
    }

    /// Whether traces of runs tell anything that matters here.
    #[must_use]
    pub fn can_learn(&self) -> bool {
        self.model.step
    }

    /// Adds what a recorded run shows. Call [`Points::update`] before the next plan is made, and make the run that
    /// [`Points::counting`] asks for.
    ///
    /// # Errors
    /// If the trace cannot be read.
    pub fn learn(&mut self, trace: &Path) -> Result<(), Error> {
        self.interference.learn(trace)
    }

    /// Makes points of all sites that were seen to interfere.
    pub fn update(&mut self) {
        let seen = self.interference.seen.as_bytes();
        if !self.model.step || covers(&self.model.visible, &self.interference.seen) {
            return;
        }
        let mut visible = self.model.visible.to_vec();
        visible.resize(visible.len().max(seen.len()), 0xff);
        for (bits, seen) in visible.iter_mut().zip(seen) {
            *bits |= seen;
        }
        self.model.visible = visible.into();
        self.is_counted = false;
    }

    /// The undisturbed run, made again to count scheduling points as the runtime counts them; none if they are counted.
    #[must_use]
    pub fn counting(&self) -> Option<Plan> {
        (!self.is_counted).then(|| Plan {
            strategy: StrategyKind::RoundRobin,
            ..self.model.clone()
        })
    }

    /// Takes what such a run has counted: all points, and those of each thread.
    pub fn count(&mut self, points: u64, of_threads: impl IntoIterator<Item = u64>) {
        self.model.expected = points;
        self.model.weights = of_threads.into_iter().collect();
        self.is_counted = true;
    }

    /// One of the random runs.
    #[must_use]
    pub fn plan(&self, strategy: StrategyKind, depth: u32, seed: u64) -> Plan {
        let mut plan = Plan {
            seed,
            depth,
            strategy,
            ..self.model.clone()
        };
        if strategy != StrategyKind::RoundRobin {
            plan.clock.ns_per_tick = clock_speed(seed);
        }
        plan
    }
}
