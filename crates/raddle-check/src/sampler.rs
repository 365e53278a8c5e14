//! Which runs are recorded to predict from.
//!
//! The first one lets each thread run until it blocks. Others are random; they end when three in a row have
//! shown no two instructions that touch the same memory one after the other, in different threads, which
//! none before had shown.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use raddle_run::Error;
use raddle_run::explore::{self, Profile};
use raddle_run::launch::{Plan, RunResult};
use raddle_run::program::Program;
use raddle_trace::event::Event;
use raddle_trace::ids::{SiteId, ThreadId};
use raddle_trace::wire::StrategyKind;

use crate::check::Options;

/// So many runs in a row without anything new are enough.
const ENOUGH_OLD_RUNS: u32 = 3;
/// Memory is looked at in words of so many bytes.
const WORD_BYTES: u64 = 8;

/// Chooses runs.
pub(crate) struct Sampler<'a> {
    program: &'a Program,
    options: &'a Options,
    runs: u64,
    model: Option<Plan>,
    pairs: BTreeSet<(SiteId, SiteId)>,
    old_runs: u32,
}

impl<'a> Sampler<'a> {
    pub(crate) fn new(program: &'a Program, options: &'a Options) -> Self {
        Self {
            program,
            options,
            runs: 0,
            model: None,
            pairs: BTreeSet::new(),
            old_runs: 0,
        }
    }

    /// Runs chosen so far.
    pub(crate) fn runs(&self) -> u64 {
        self.runs
    }

    /// What the next run is asked to do; none if there have been enough.
    pub(crate) fn next(&mut self) -> Option<Plan> {
        let number = self.runs;
        if number >= self.options.runs || self.old_runs >= ENOUGH_OLD_RUNS {
            return None;
        }
        self.runs += 1;
        let Some(model) = &self.model else {
            return Some(Plan::new(StrategyKind::RoundRobin, self.options.seed));
        };
        let strategies = &self.options.strategies;
        let strategy = strategies.get((number as usize - 1) % strategies.len().max(1))?;
        let seed = self.options.seed.wrapping_add(number);
        let mut plan = explore::sample_plan(model, *strategy, self.options.depth, seed);
        plan.label = explore::label(&plan, 0);
        Some(plan)
    }

    /// Takes note of what a run has shown.
    pub(crate) fn learn(
        &mut self,
        result: &RunResult,
        events: &[Event],
        trace: &Path,
    ) -> Result<(), Error> {
        let before = self.pairs.len();
        self.add_pairs(events);
        self.old_runs = if self.pairs.len() == before {
            self.old_runs + 1
        } else {
            0
        };
        if self.model.is_none() && self.options.runs > 1 {
            let profile = Profile::from(result);
            let model = explore::plan_after(self.program, &profile, trace, self.options.seed)?;
            self.model = Some(model);
        }
        Ok(())
    }

    fn add_pairs(&mut self, events: &[Event]) {
        let mut last: BTreeMap<u64, (ThreadId, SiteId)> = BTreeMap::new();
        for event in events {
            let (Some(footprint), Some(site)) = (event.footprint(), event.site()) else {
                continue;
            };
            let word = footprint.addr.0 / WORD_BYTES;
            let before = last.insert(word, (event.thread, site));
            if let Some((_, other)) = before.filter(|(thread, _)| *thread != event.thread) {
                self.pairs.insert((other, site));
            }
        }
    }
}
