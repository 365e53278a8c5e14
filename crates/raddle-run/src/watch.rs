//! What is looked for in the events of every run of a search, whether or not the run fails.
//!
//! A search does not know what a [`Watcher`] looks for. It has it look at each run on the thread that made the run,
//! and collects what it saw in the order of the runs, so that the result does not depend on how many of them
//! are made at the same time.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use raddle_trace::ids::{Address, SiteId};
use raddle_trace::outcome::Outcome;
use raddle_trace::schedule::Switch;
use raddle_trace::sharing::SiteSet;
use raddle_trace::sites::{ModuleSite, SiteTable};

use crate::error::Error;
use crate::launch::{Plan, RunResult};

/// Of the runs that show a pair so many are remembered: a run need not repeat, or may show it where it does not
/// matter.
const MOST_RUNS: usize = 3;

/// Looks at the events of runs.
pub trait Watcher: Sync {
    /// The pairs of instructions that a run is worth remembering for.
    ///
    /// # Errors
    /// If the trace cannot be read.
    fn look(&self, run: Recording<'_>) -> Result<Vec<Sighting>, Error>;
}

/// A run that was just recorded.
#[derive(Clone, Copy, Debug)]
pub struct Recording<'a> {
    /// Its events; the trace need not have source positions.
    pub trace: &'a Path,
    /// The instructions that it executed.
    pub executed: &'a Executed,
}

/// The instructions that a recorded run executed.
#[derive(Clone, Debug)]
pub struct Executed {
    table: Arc<SiteTable>,
    sites: SiteSet,
}

impl Executed {
    pub(crate) fn new(table: Arc<SiteTable>, sites: SiteSet) -> Self {
        Self { table, sites }
    }

    /// Each of them: its number in the run, and its place in the program model.
    pub fn sites(&self) -> impl Iterator<Item = (SiteId, ModuleSite)> {
        let sites = self.sites.iter();
        sites.filter_map(|site| Some((site, self.place(site)?)))
    }

    /// Whether one of them is a plain access that the program declares volatile.
    #[must_use]
    pub fn is_volatile(&self, site: SiteId) -> bool {
        self.table.is_volatile(site)
    }

    /// The place of one of them in the program model.
    #[must_use]
    pub fn place(&self, site: SiteId) -> Option<ModuleSite> {
        self.table.module_site(site)
    }
}

/// An instruction, under a name that it has in every run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Instruction {
    /// An instrumented one.
    Site(ModuleSite),
    /// A call into the runtime, by its return address.
    Call(Address),
}

/// Two instructions, the lesser one first.
pub type Pair = [Instruction; 2];

/// What a run shows of a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sighting {
    /// The pair.
    pub pair: Pair,
    /// How often the run shows it.
    pub instances: u64,
}

/// What all runs of a search have shown.
#[derive(Debug, Default)]
pub struct Sightings {
    pairs: BTreeMap<Pair, Seen>,
    runs: Vec<Shown>,
}

/// What all runs have shown of a pair.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    /// How often.
    pub instances: u64,
    /// The first runs that showed it, as indices into [`Sightings::runs`]; one at least.
    pub runs: Vec<usize>,
}

/// A run that showed something, with what it takes to repeat it.
#[derive(Clone, Debug)]
pub struct Shown {
    /// Its number, from 1.
    pub run: u64,
    /// What it was asked to do.
    pub plan: Plan,
    /// Its switches.
    pub switches: Vec<Switch>,
    /// How it failed, if it did.
    pub failure: Option<Outcome>,
}

impl Sightings {
    /// The pairs that were seen.
    #[must_use]
    pub fn pairs(&self) -> &BTreeMap<Pair, Seen> {
        &self.pairs
    }

    /// Runs that showed some of them, in the order in which they were made.
    #[must_use]
    pub fn runs(&self) -> &[Shown] {
        &self.runs
    }

    /// Adds what the next run has shown.
    pub(crate) fn add(&mut self, seen: &[Sighting], run: u64, plan: &Plan, result: &RunResult) {
        let index = self.runs.len();
        let mut is_remembered = false;
        for sighting in seen {
            let known = self.pairs.entry(sighting.pair).or_default();
            known.instances = known.instances.saturating_add(sighting.instances);
            if known.runs.len() < MOST_RUNS && known.runs.last() != Some(&index) {
                known.runs.push(index);
                is_remembered = true;
            }
        }
        if is_remembered {
            self.runs.push(Shown {
                run,
                plan: plan.clone(),
                switches: result.switches.clone(),
                failure: result.failure.as_ref().map(|it| it.outcome.clone()),
            });
        }
    }
}
