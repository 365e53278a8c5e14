//! Runs a program again and again, under different schedules, until it fails.
//!
//! The random strategies start with one profiling run that lets every thread run until it blocks.
//! It is recorded, and says how long a run is, which instructions interfere with other threads
//! ([`crate::interference`]), and how many such events each thread has: the strategies need these
//! to spend their few preemptions where they matter. Then come the runs proper, with one seed after
//! another. An instruction that interferes only in a later run is not a scheduling point; the
//! exhaustive search, which promises more, looks at every run for that and starts over
//! ([`crate::systematic`]).
//!
//! The runs proper learn nothing from each other, so several can be made at the same time
//! ([`crate::parallel`]); they are looked at in the order of their seeds, and what a search finds does
//! not depend on how many there were. The exhaustive search makes one run after another.

use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use raddle_trace::run::Strategy;
use raddle_trace::wire::{Choice, StrategyKind};

use crate::error::Error;
use crate::interference::Interference;
use crate::launch::{Detail, Plan, Record, RunResult, launch};
use crate::outcome::Failure;
use crate::parallel;
use crate::program::Program;
use crate::replay::Mismatch;
use crate::runner::{Made, Runner};
use crate::systematic;

/// Programs with fewer events than this are stepped: every visible event is a scheduling point.
/// Longer ones get event budgets, which cost nothing between two preemptions.
const STEP_BELOW_TICKS: u64 = 1_000_000;

/// How an event moves the clock, in the random strategies one of these by seed: some bugs need a
/// timeout to expire, others need it not to. None is slower than a program under a debugger's tools on
/// a busy machine: who fails only then is right to call it a false alarm.
const CLOCK_SPEEDS_NS: [u64; 3] = [100, 300, 1_000];

/// What to look for, and how long.
#[derive(Clone, Debug)]
pub struct Search {
    /// How threads are chosen: by each of these in turn.
    pub strategies: Vec<StrategyKind>,
    /// PCT's depth.
    pub depth: u32,
    /// Most preemptions of a schedule in an exhaustive search.
    pub preemptions: u32,
    /// Most runs of each strategy, the profiling run not counted.
    pub runs: u64,
    /// The first run's seed; the others count up from it.
    pub seed: u64,
    /// Go on after a failure.
    pub keep_going: bool,
    /// Replay every run and compare the two event by event.
    pub verify: bool,
    /// Record every run to this file, one over another.
    pub record: Option<PathBuf>,
    /// Most runs at the same time.
    pub jobs: NonZeroUsize,
}

/// How far a search has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Runs made.
    pub runs: u64,
    /// How many of them failed.
    pub failures: u64,
    /// Schedules that an exhaustive search knows it has still to try.
    pub frontier: Option<usize>,
}

/// A way in which the program fails.
#[derive(Debug)]
pub struct Finding {
    /// How.
    pub failure: Failure,
    /// In which run it was first seen, from 1; 0 for the profiling run.
    pub run: u64,
    /// What that run was asked to do.
    pub plan: Plan,
    /// What came of it.
    pub result: RunResult,
    /// How many runs failed in this way.
    pub instances: u64,
}

/// How an exhaustive search ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Coverage {
    /// Schedules that were run.
    pub schedules: u64,
    /// Whether there are no others within the bound.
    pub complete: bool,
    /// Whether schedules with more preemptions exist.
    pub bounded: bool,
    /// The bound.
    pub preemptions: u32,
    /// Schedules known to be left.
    pub left: usize,
}

/// What came of a search.
#[derive(Debug, Default)]
pub struct Explored {
    /// Runs made. A profiling run counts only if it failed.
    pub runs: u64,
    /// How many were replayed, and the replay was the same.
    pub verified: u64,
    /// How many failed.
    pub failures: u64,
    /// Each way in which the program failed, in the order in which they were seen.
    pub findings: Vec<Finding>,
    /// Events of all runs.
    pub ticks: u64,
    /// How much of the schedules an exhaustive search has seen.
    pub coverage: Option<Coverage>,
    /// The first run whose replay was not the same.
    pub unsteady: Option<Unsteady>,
    /// Whether the user put an end to it.
    pub interrupted: bool,
}

/// A run whose replay was not the same.
#[derive(Debug)]
pub struct Unsteady {
    /// Its number, from 1; 0 for the profiling run.
    pub run: u64,
    /// Its seed.
    pub seed: u64,
    /// What differs.
    pub mismatch: Mismatch,
}

/// Searches for a failure. `report` is called after every run. A search that the user interrupts has found
/// what it has found until then.
///
/// # Errors
/// If the program cannot be run at all.
pub fn explore(
    program: &Program,
    search: &Search,
    report: &mut dyn FnMut(&Progress),
) -> Result<Explored, Error> {
    let scratch = tempfile::tempdir().map_err(Error::system("make a temporary directory"))?;
    let mut tally = Tally {
        runner: Runner {
            program,
            search,
            scratch: scratch.path(),
        },
        report,
        explored: Explored::default(),
        numbered: 0,
    };
    match search_all(&mut tally) {
        Err(Error::Interrupted) => tally.explored.interrupted = true,
        searched => searched?,
    }
    Ok(tally.explored)
}

/// Searches with one strategy after another.
fn search_all(tally: &mut Tally<'_>) -> Result<(), Error> {
    let search = tally.runner.search;
    let mut profile = None;
    for strategy in &search.strategies {
        let over = match strategy {
            StrategyKind::Dfs => systematic::search(tally)?,
            StrategyKind::RoundRobin => sample(tally, &Plan::new(*strategy, search.seed))?,
            _ => {
                if profile.is_none() {
                    profile = make_profile(tally)?;
                }
                match &profile {
                    Some(profile) => {
                        let mut model = profile.clone();
                        model.strategy = *strategy;
                        sample(tally, &model)?
                    }
                    None => true,
                }
            }
        };
        if over {
            break;
        }
    }
    Ok(())
}

/// One run with one seed after another. Returns whether the search is over.
fn sample(tally: &mut Tally<'_>, model: &Plan) -> Result<bool, Error> {
    let runner = tally.runner;
    let Search {
        runs,
        jobs,
        seed,
        depth,
        ..
    } = *runner.search;
    let window = parallel::window(jobs);
    let mut over = Ok(false);
    let make = |number: u64, unwanted: &AtomicBool| {
        let seed = seed.wrapping_add(number);
        let plan = sample_plan(model, model.strategy, depth, seed);
        runner.make(plan, number % window, unwanted)
    };
    parallel::in_order(jobs, runs, make, |made| {
        over = made.and_then(|made| Ok(tally.take(made, Counts::Always, None)?.stop));
        match over {
            Ok(false) => ControlFlow::Continue(()),
            _ => ControlFlow::Break(()),
        }
    });
    over
}

/// Makes the profiling run, and the plan that all random runs start from; `None` if the search is
/// over already.
fn make_profile(tally: &mut Tally<'_>) -> Result<Option<Plan>, Error> {
    let Runner {
        program,
        search,
        scratch,
    } = tally.runner;
    let trace = scratch.join("profile.trace");
    let mut model = Plan::new(StrategyKind::RoundRobin, search.seed);
    model.record = Some(Record {
        path: trace.clone(),
        detail: Detail::Events,
    });
    let ran = tally.run(model, Counts::IfItFails, None)?;
    if ran.stop {
        return Ok(None);
    }
    let profile = Profile {
        ticks: ran.ticks,
        thread_ticks: ran.thread_ticks,
        sites_len: ran.sites_len,
    };
    plan_after(program, &profile, &trace, search.seed).map(Some)
}

/// What a run that let every thread run until it blocked says about others.
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

/// The plan that random runs start from, after a profiling run with this trace.
///
/// # Errors
/// If the program cannot be run or the trace cannot be read.
pub fn plan_after(
    program: &Program,
    profile: &Profile,
    trace: &Path,
    seed: u64,
) -> Result<Plan, Error> {
    let mut model = Plan::new(StrategyKind::RoundRobin, seed);
    model.expected = profile.ticks;
    model.weights = profile.thread_ticks.clone().into();
    model.step = profile.ticks < STEP_BELOW_TICKS;
    if model.step {
        let mut interference = Interference::default();
        interference.learn(trace)?;
        model.visible = interference.visible(profile.sites_len).into();
        // The same schedule again, to count scheduling points as the runtime counts them.
        let counted = launch(program, &model)?;
        model.expected = counted.head.points;
        model.weights = counted.threads.iter().map(|it| it.visible).collect();
    }
    Ok(model)
}

/// One of the random runs that follow a model.
pub fn sample_plan(model: &Plan, strategy: StrategyKind, depth: u32, seed: u64) -> Plan {
    let mut plan = Plan {
        seed,
        depth,
        strategy,
        ..model.clone()
    };
    if strategy != StrategyKind::RoundRobin {
        plan.clock.ns_per_tick = clock_speed(seed);
    }
    plan
}

fn clock_speed(seed: u64) -> u64 {
    // Neighbouring seeds should differ, so they are mixed first (splitmix64's finaliser).
    let mut mixed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    CLOCK_SPEEDS_NS[((mixed ^ (mixed >> 31)) % CLOCK_SPEEDS_NS.len() as u64) as usize]
}

/// Parameter of runs whose threads entered the runtime at every event. A replay does so too: the
/// calls leave traces in registers that no instruction defined, and programs store such values.
pub const STEPWISE: &str = "stepwise";

/// The strategy's name and parameters, as a trace keeps them.
pub fn label(plan: &Plan, preemptions: u32) -> Strategy {
    let name = strategy_name(plan.strategy).to_owned();
    let mut parameters = match plan.strategy {
        StrategyKind::Pct => vec![("depth".to_owned(), plan.depth.to_string())],
        StrategyKind::Dfs => vec![("preemptions".to_owned(), preemptions.to_string())],
        _ => Vec::new(),
    };
    if plan.step {
        parameters.push((STEPWISE.to_owned(), "yes".to_owned()));
    }
    Strategy { name, parameters }
}

/// What a strategy is called on the command line.
pub fn strategy_name(strategy: StrategyKind) -> &'static str {
    match strategy {
        StrategyKind::RoundRobin => "rr",
        StrategyKind::Random => "random",
        StrategyKind::Pct => "pct",
        StrategyKind::Pos => "pos",
        StrategyKind::Surw => "surw",
        StrategyKind::Dfs => "dfs",
        StrategyKind::Replay => "replay",
        StrategyKind::Guide => "guide",
    }
}

/// A search while it goes on.
pub(crate) struct Tally<'a> {
    pub runner: Runner<'a>,
    pub report: &'a mut dyn FnMut(&Progress),
    pub explored: Explored,
    /// Runs that have a number.
    numbered: u64,
}

/// Whether a run is one of those that were asked for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Counts {
    /// It is.
    Always,
    /// It only prepares others, but is told of if it fails.
    IfItFails,
}

/// What a search needs to know of a run.
pub(crate) struct Ran {
    /// Events.
    pub ticks: u64,
    /// Events of each thread.
    pub thread_ticks: Vec<u64>,
    /// Bytes of site records.
    pub sites_len: u64,
    /// Choices made.
    pub choices: Vec<Choice>,
    /// Whether the search is over.
    pub stop: bool,
}

impl Tally<'_> {
    /// Makes one run, and takes what came of it.
    pub fn run(
        &mut self,
        plan: Plan,
        counts: Counts,
        frontier: Option<usize>,
    ) -> Result<Ran, Error> {
        let made = self.runner.make(plan, 0, &AtomicBool::new(false))?;
        self.take(made, counts, frontier)
    }

    /// Counts a run, and keeps it if it fails in a new way. `frontier` is the number of schedules left, if
    /// anybody knows.
    fn take(&mut self, made: Made, counts: Counts, frontier: Option<usize>) -> Result<Ran, Error> {
        let Made {
            plan,
            mut result,
            replayed,
        } = made;
        self.runner.deliver(&plan)?;
        let is_numbered = counts == Counts::Always;
        self.numbered += u64::from(is_numbered);
        let number = if is_numbered { self.numbered } else { 0 };
        let told = u64::from(is_numbered || result.failure.is_some());
        self.explored.runs += told;
        self.explored.ticks += result.head.ticks;
        let mut ran = Ran {
            ticks: result.head.ticks,
            thread_ticks: result.threads.iter().map(|it| it.ticks.0).collect(),
            sites_len: result.head.sites_len,
            choices: std::mem::take(&mut result.choices),
            stop: false,
        };
        match replayed {
            None => {}
            Some(Ok(())) => self.explored.verified += told,
            Some(Err(mismatch)) => {
                ran.stop = true;
                self.explored.unsteady = Some(Unsteady {
                    run: number,
                    seed: plan.seed,
                    mismatch,
                });
            }
        }
        if let Some(failure) = result.failure.clone() {
            self.explored.failures += 1;
            self.keep(failure, number, plan, result);
            ran.stop |= !self.runner.search.keep_going;
        }
        (self.report)(&Progress {
            runs: self.explored.runs,
            failures: self.explored.failures,
            frontier,
        });
        Ok(ran)
    }

    fn keep(&mut self, failure: Failure, run: u64, plan: Plan, result: RunResult) {
        let known = self.explored.findings.iter_mut();
        let mut alike = known.filter(|it| it.failure.is_like(&failure.outcome));
        if let Some(finding) = alike.next() {
            finding.instances += 1;
            return;
        }
        self.explored.findings.push(Finding {
            failure,
            run,
            plan,
            result,
            instances: 1,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_clock_speed_comes_up_among_few_seeds() {
        for speed in CLOCK_SPEEDS_NS {
            assert!((0..12).any(|seed| clock_speed(seed) == speed), "{speed}");
        }
    }
}
