//! Runs a program again and again, under different schedules, until it fails.
//!
//! The first run is undisturbed: it lets every thread run until it blocks. Its end is what others are judged against
//! ([`crate::usual`]), and it says where random runs are preempted ([`crate::points`]). These come in rounds, with one
//! seed after another. All runs of a round have the same scheduling points; what they show is learned before the
//! next round, so that what a search finds does not depend on how many of them are made at the same time
//! ([`crate::parallel`]): they are looked at in the order of their seeds. The exhaustive search makes one run
//! after another, and starts over where one shows a new point ([`crate::systematic`]). A watcher may look at the events
//! of every run ([`crate::watch`]).

use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use raddle_trace::outcome::{Ending, Outcome};
use raddle_trace::run::Strategy;
use raddle_trace::wire::{Choice, StrategyKind};

use crate::error::Error;
use crate::hang;
use crate::launch::{Detail, Plan, Record, RunResult};
use crate::outcome::Failure;
use crate::parallel;
use crate::points::{Points, Profile};
use crate::program::Program;
use crate::replay::{self, Mismatch};
use crate::runner::{Made, Runner};
use crate::systematic;
use crate::usual::Usual;
use crate::watch::{Sightings, Watcher};

/// Most runs of a round. The first round has one, each other twice as many as the one before.
const MOST_IN_ROUND: u64 = 64;

/// Runs that are too slow, one after another, after which a search ends.
const MOST_SLOW: u64 = 3;
/// Runs that are too slow of which it is found out that they do not hang.
const MOST_EXAMINED: u64 = 3;

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
    /// Runs of each strategy, with those that prepare it: the undisturbed one, and others that count scheduling points.
    pub runs: u64,
    /// The first run's seed; the others count up from it.
    pub seed: u64,
    /// Go on after a failure.
    pub keep_going: bool,
    /// Replay every run and compare the two event by event.
    pub verify: bool,
    /// If nothing is found, replay the first run and compare the two event by event: the last of [`Self::runs`], if
    /// there is more than one.
    pub compare: bool,
    /// Record every run to this file, one over another.
    pub record: Option<PathBuf>,
    /// Most runs at the same time.
    pub jobs: NonZeroUsize,
    /// A random run that has more events is ended.
    pub most_ticks: Option<u64>,
    /// How long a run that seems to hang may go on to show otherwise.
    pub hang_time: Duration,
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
    /// In which run it was first seen, from 1: the undisturbed one.
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
    /// Runs made.
    pub runs: u64,
    /// How many were replayed, and the replay was the same.
    pub verified: u64,
    /// How many failed.
    pub failures: u64,
    /// Each way in which the program failed, in the order in which they were seen.
    pub findings: Vec<Finding>,
    /// What the watcher saw, in runs that failed and in others.
    pub sightings: Sightings,
    /// Events of all runs.
    pub ticks: u64,
    /// The most memory that the process of a recorded run was seen to have, in bytes.
    pub memory: u64,
    /// Runs that were not done in time, and got on: they do not count.
    pub slow: Slow,
    /// How much of the schedules an exhaustive search has seen.
    pub coverage: Option<Coverage>,
    /// The first run whose replay was not the same.
    pub unsteady: Option<Unsteady>,
    /// How the undisturbed run ended, which others are judged against.
    pub usual: Usual,
    /// Its exit status, if it is not 0 and nobody has said that it should be what it is.
    pub usual_exit: Option<i32>,
    /// Whether the user put an end to it.
    pub interrupted: bool,
}

impl Search {
    /// Whether the undisturbed run is repeated in the end.
    fn is_compared(&self) -> bool {
        self.compare && !self.verify && self.runs > 1
    }
}

impl Explored {
    /// Whether all runs went well, as far as was looked.
    fn shows_nothing(&self) -> bool {
        self.findings.is_empty() && self.sightings.pairs().is_empty() && self.unsteady.is_none()
    }
}

/// Runs that were too slow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Slow {
    /// How many.
    pub runs: u64,
    /// How many events the longest of them had, and in which time.
    pub most: (u64, Duration),
    /// How many of them came last, one after another.
    in_a_row: u64,
}

impl Slow {
    fn add(&mut self, ended: &RunResult) {
        self.runs += 1;
        self.in_a_row += 1;
        self.most = self.most.max((ended.head.ticks, ended.duration));
    }
}

/// A run whose replay was not the same.
#[derive(Debug)]
pub struct Unsteady {
    /// Its number, from 1.
    pub run: u64,
    /// Its seed.
    pub seed: u64,
    /// What differs.
    pub mismatch: Mismatch,
}

/// Searches for a failure. `watcher` looks at every run, which is recorded for that; `report` is called after every
/// run. A search that the user interrupts has found what it has found until then.
///
/// # Errors
/// If the program cannot be run at all.
pub fn explore(
    program: &Program,
    search: &Search,
    watcher: Option<&dyn Watcher>,
    report: &mut dyn FnMut(&Progress),
) -> Result<Explored, Error> {
    let scratch = tempfile::tempdir().map_err(Error::system("make a temporary directory"))?;
    let mut tally = Tally {
        program: program.clone(),
        search,
        watcher,
        scratch: scratch.path(),
        report,
        explored: Explored::default(),
        left: 0,
        reserve: 0,
        first: None,
    };
    match search_all(&mut tally) {
        Err(Error::Interrupted) => tally.explored.interrupted = true,
        Err(Error::OutOfTime) => {}
        searched => searched?,
    }
    tally.explored.usual = tally.program.usual;
    Ok(tally.explored)
}

/// Searches with one strategy after another.
fn search_all(tally: &mut Tally<'_>) -> Result<(), Error> {
    let search = tally.search;
    let mut points = None;
    let is_compared = search.is_compared();
    for (at, strategy) in search.strategies.iter().enumerate() {
        let is_last = at + 1 == search.strategies.len();
        tally.reserve = u64::from(is_compared && is_last);
        tally.left = search.runs - tally.reserve;
        let over = match strategy {
            StrategyKind::Dfs => systematic::search(tally)?,
            StrategyKind::RoundRobin => run_to_end(tally)?,
            _ => {
                if points.is_none() {
                    points = find_points(tally)?;
                }
                match &mut points {
                    Some(points) => sample(tally, points, *strategy)?,
                    None => true,
                }
            }
        };
        if over {
            break;
        }
    }
    match is_compared && tally.explored.shows_nothing() {
        true => tally.replay_first(),
        false => Ok(()),
    }
}

/// Each thread until it blocks, with one seed after another. Returns whether the search is over.
fn run_to_end(tally: &mut Tally<'_>) -> Result<bool, Error> {
    let seed = tally.search.seed;
    let plan = |number| Plan::new(StrategyKind::RoundRobin, seed.wrapping_add(number));
    let is_read = tally.search.is_compared();
    if tally.left == 0 || tally.run_undisturbed(plan(0), is_read)?.stop {
        return Ok(true);
    }
    let mut next = 1;
    while !tally.is_done() {
        let count = tally.left;
        if tally.make_all(count, |number| plan(next + number), |_| Ok(()))? {
            return Ok(true);
        }
        next += count;
    }
    Ok(false)
}

/// One random run with one seed after another. Returns whether the search is over.
fn sample(
    tally: &mut Tally<'_>,
    points: &mut Points,
    strategy: StrategyKind,
) -> Result<bool, Error> {
    let Search { seed, depth, .. } = *tally.search;
    let mut next = 0;
    let mut round = 1;
    loop {
        if let Some(plan) = points.counting()
            && tally.left > 0
        {
            let counted = tally.run(plan, None)?;
            points.count(counted.points, counted.thread_points);
            if counted.stop {
                return Ok(true);
            }
        }
        if tally.is_done() {
            return Ok(false);
        }
        let count = round.min(tally.left);
        let known = points.clone();
        let Tally {
            search, scratch, ..
        } = *tally;
        let window = parallel::window(search.jobs);
        // A run that is recorded for the user is learned from as well.
        let is_recorded = search.record.is_some() || search.verify;
        let is_learning = known.can_learn() && !is_recorded;
        let plan = |number: u64| {
            let mut plan = known.plan(strategy, depth, seed.wrapping_add(next + number));
            plan.most_ticks = search.most_ticks;
            plan.record = is_learning.then(|| Record {
                path: scratch.join(format!("learn-{}.trace", number % window)),
                detail: Detail::Events,
            });
            plan
        };
        let learn = |trace: &Path| match known.can_learn() {
            true => points.learn(trace),
            false => Ok(()),
        };
        let over = tally.make_all(count, plan, learn)?;
        if over {
            return Ok(true);
        }
        points.update();
        next += count;
        round = (round * 2).min(MOST_IN_ROUND);
    }
}

/// Makes the undisturbed run, and finds the first scheduling points; `None` if the search is over already.
fn find_points(tally: &mut Tally<'_>) -> Result<Option<Points>, Error> {
    let seed = tally.search.seed;
    if tally.left == 0 {
        return Ok(None);
    }
    let ran = tally.run_undisturbed(Plan::new(StrategyKind::RoundRobin, seed), true)?;
    if ran.stop {
        return Ok(None);
    }
    let profile = Profile {
        ticks: ran.ticks,
        thread_ticks: ran.thread_ticks,
        sites_len: ran.sites_len,
    };
    Points::new(&profile, &tally.first_trace(), seed).map(Some)
}

/// Whether a run failed in a way that is no matter of time, nor of what exit status is expected.
fn fails_by_itself(result: &RunResult) -> bool {
    let failure = result.failure.as_ref();
    let fails = failure.is_some_and(|it| !matches!(it.outcome.ending, Ending::Exit(_)));
    fails && result.cut.is_none()
}

pub(crate) fn clock_speed(seed: u64) -> u64 {
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
    /// The program, with what is known of its usual end.
    pub program: Program,
    pub search: &'a Search,
    pub watcher: Option<&'a dyn Watcher>,
    pub scratch: &'a Path,
    pub report: &'a mut dyn FnMut(&Progress),
    pub explored: Explored,
    /// Runs that the present strategy may still make.
    pub left: u64,
    /// Runs kept back for repeating the undisturbed one, which is done only if nothing is found.
    reserve: u64,
    /// The undisturbed run, as it is repeated.
    first: Option<Plan>,
}

/// What a search needs to know of a run.
pub(crate) struct Ran {
    /// Events.
    pub ticks: u64,
    /// Events of each thread.
    pub thread_ticks: Vec<u64>,
    /// Scheduling points.
    pub points: u64,
    /// Scheduling points of each thread.
    pub thread_points: Vec<u64>,
    /// Bytes of site records.
    pub sites_len: u64,
    /// Choices made.
    pub choices: Vec<Choice>,
    /// Whether the search is over.
    pub stop: bool,
}

impl Tally<'_> {
    fn runner<'p>(&'p self, program: &'p Program) -> Runner<'p> {
        Runner {
            program,
            search: self.search,
            watcher: self.watcher,
            scratch: self.scratch,
        }
    }

    /// Makes one run, and takes what came of it.
    pub fn run(&mut self, plan: Plan, frontier: Option<usize>) -> Result<Ran, Error> {
        let runner = self.runner(&self.program);
        let made = runner.make(plan, 0, &AtomicBool::new(false))?;
        self.take(made, frontier)
    }

    /// Whether the present strategy has made its runs. What was kept back is made, too, once something was found.
    pub fn is_done(&mut self) -> bool {
        if self.left == 0 && !self.explored.shows_nothing() {
            self.left = std::mem::take(&mut self.reserve);
        }
        self.left == 0
    }

    /// The trace of the undisturbed run.
    pub fn first_trace(&self) -> PathBuf {
        self.scratch.join("first.trace")
    }

    /// Makes the run that others are judged against. If its trace is read later on, it is kept as
    /// [`Tally::first_trace`]; else it is recorded only where every run is, or if it fails: then it is made again.
    pub fn run_undisturbed(&mut self, mut plan: Plan, is_read: bool) -> Result<Ran, Error> {
        let kept = self.first_trace();
        let wanted = self.search.record.clone();
        if is_read {
            let (path, detail) = match &wanted {
                Some(path) => (path, Detail::Positions),
                None => (&kept, Detail::Events),
            };
            let path = path.clone();
            plan.record = Some(Record { path, detail });
        }
        let runner = self.runner(&self.program);
        let make = |plan| runner.make(plan, 0, &AtomicBool::new(false));
        let mut made = make(plan.clone())?;
        if made.plan.record.is_none() && fails_by_itself(&made.result) {
            // Its events tell more of how it failed. The outside may be another by now: a run that goes well says nothing.
            plan.record = Some(Record {
                path: kept.clone(),
                detail: Detail::Events,
            });
            let again = make(plan)?;
            if again.result.failure.is_some() {
                made = again;
            }
        }
        if let (true, Some(path)) = (is_read, &wanted) {
            // Others are recorded over it.
            std::fs::copy(path, &kept).map_err(Error::file("copy", path))?;
        }
        self.first = Some(replay::plan(&made.plan, &made.result.switches));
        self.explored.usual_exit = self.program.usual.learn(&mut made.result);
        let slow = self.explored.slow.runs;
        let mut ran = self.take(made, None)?;
        // Others would be as slow, and have nothing to be judged against.
        ran.stop |= self.explored.slow.runs > slow;
        if ran.stop {
            self.first = None;
        }
        Ok(ran)
    }

    /// Repeats the undisturbed run, if it came to its end: a program that does not repeat was not searched.
    fn replay_first(&mut self) -> Result<(), Error> {
        let Some(mut plan) = self.first.take() else {
            return Ok(());
        };
        let seed = plan.seed;
        plan.record = Some(Record {
            path: self.scratch.join("again.trace"),
            detail: Detail::Events,
        });
        let original = self.first_trace();
        let ended = Outcome::new(Ending::Success);
        let replayed = replay::replay(&self.program, &plan, Some(&ended), Some(&original))?;
        self.explored.runs += 1;
        self.explored.unsteady = replayed.mismatch.map(|mismatch| Unsteady {
            run: 1,
            seed,
            mismatch,
        });
        Ok(())
    }

    /// Makes so many runs, and takes what came of them in their order; `learn` is shown their traces, if they have
    /// some. Returns whether the search is over.
    fn make_all(
        &mut self,
        count: u64,
        plan: impl Fn(u64) -> Plan + Sync,
        mut learn: impl FnMut(&Path) -> Result<(), Error>,
    ) -> Result<bool, Error> {
        let program = self.program.clone();
        let Tally {
            search,
            watcher,
            scratch,
            ..
        } = *self;
        let runner = Runner {
            program: &program,
            search,
            watcher,
            scratch,
        };
        let window = parallel::window(search.jobs);
        let make = |number: u64, unwanted: &AtomicBool| {
            runner.make(plan(number), number % window, unwanted)
        };
        let mut over = Ok(false);
        let mut take = |made: Result<Made, Error>| {
            let made = made?;
            if let Some(record) = &made.plan.record {
                learn(&record.path)?;
            }
            let stop = self.take(made, None)?.stop;
            Ok(stop || program.is_out_of_time())
        };
        parallel::in_order(search.jobs, count, make, |made| {
            over = take(made);
            match over {
                Ok(false) => ControlFlow::Continue(()),
                _ => ControlFlow::Break(()),
            }
        });
        over
    }

    /// Counts a run, and keeps it if it fails in a new way. `frontier` is the number of schedules left, if
    /// anybody knows.
    fn take(&mut self, made: Made, frontier: Option<usize>) -> Result<Ran, Error> {
        let Made {
            mut plan,
            mut result,
            replayed,
            seen,
        } = made;
        self.runner(&self.program).deliver(&plan)?;
        let is_slow = result.cut.is_some() && !self.hangs(&mut plan, &mut result)?;
        self.explored.runs += u64::from(!is_slow);
        self.left = self.left.saturating_sub(1);
        let number = self.explored.runs;
        self.explored.ticks += result.head.ticks;
        self.explored.memory = self.explored.memory.max(result.memory);
        let mut ran = Ran {
            ticks: result.head.ticks,
            thread_ticks: result.threads.iter().map(|it| it.ticks.0).collect(),
            points: result.head.points,
            thread_points: result.threads.iter().map(|it| it.visible).collect(),
            sites_len: result.head.sites_len,
            choices: std::mem::take(&mut result.choices),
            stop: false,
        };
        let sightings = &mut self.explored.sightings;
        if !is_slow {
            sightings.add(&seen, number, &plan, &result);
        }
        match replayed {
            None => {}
            Some(Ok(())) => self.explored.verified += 1,
            Some(Err(mismatch)) => {
                ran.stop = true;
                self.explored.unsteady = Some(Unsteady {
                    run: number,
                    seed: plan.seed,
                    mismatch,
                });
            }
        }
        match is_slow {
            true => self.explored.slow.add(&result),
            false => self.explored.slow.in_a_row = 0,
        }
        ran.stop |= self.explored.slow.in_a_row >= MOST_SLOW;
        if let Some(failure) = result.failure.clone() {
            self.explored.failures += 1;
            self.keep(failure, number, plan, result);
            ran.stop |= !self.search.keep_going;
        }
        (self.report)(&Progress {
            runs: self.explored.runs,
            failures: self.explored.failures,
            frontier,
        });
        Ok(ran)
    }

    /// Whether a run that was ended hangs. If so it becomes one that repeats the hang, else one that did not fail.
    fn hangs(&mut self, plan: &mut Plan, result: &mut RunResult) -> Result<bool, Error> {
        let hang = match self.explored.slow.runs < MOST_EXAMINED {
            true => hang::examine(
                &self.program,
                plan,
                result,
                self.search.hang_time,
                self.scratch,
            )?,
            false => None,
        };
        let Some(hang) = hang else {
            result.failure = None;
            return Ok(false);
        };
        plan.most_ticks = hang.most_ticks;
        result.switches = hang.switches;
        result.failure = Some(hang.failure);
        Ok(true)
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
