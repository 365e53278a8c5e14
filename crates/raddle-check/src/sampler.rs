//! Which runs are recorded to predict from.
//!
//! The first one is undisturbed: each thread runs until it blocks. It shows one path of many, so others follow, by
//! several strategies in turn, until there is little left to see. How much that is, is estimated as Good and Turing do
//! (Good, "The population frequencies of species and the estimation of population parameters", Biometrika
//! 1953): the number of things that a further run is expected to show for the first time is the number of those that
//! one run alone has shown, divided by the number of runs. What counts as a thing: an instruction that was
//! executed, and two instructions of different threads that touched the same memory one after the other, one of
//! them writing. The side of a branch that was not taken has instructions of its own. What the language's libraries
//! do among themselves does not count: it is the user's code whose paths are looked for. Packages are the user's until a
//! bug is known; from then on only the user's own lines count, since an executor has paths enough for hours.

use std::collections::BTreeMap;
use std::path::Path;

use raddle_run::Error;
use raddle_run::explore;
use raddle_run::launch::{Plan, RunResult, launch};
use raddle_run::points::{Points, Profile};
use raddle_run::program::Program;
use raddle_trace::file::Trailer;
use raddle_trace::ids::SiteId;
use raddle_trace::wire::StrategyKind;

use crate::check::Options;
use crate::memory::Budget;
use crate::own::{is_own_line, is_own_site};
use crate::reading;
use crate::shows::{Shows, Thing, Whose};

/// Runs are enough when a further one is expected to show less than this many new things.
const ENOUGH_UNSEEN: f64 = 0.02;
/// Fewer runs than this say too little for an estimate.
const FEWEST_RUNS: u64 = 50;
/// The same when a bug is known.
const FEWEST_RUNS_AFTER_A_BUG: u64 = 20;

/// How many runs have shown something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shown {
    /// As whose it was counted: a run whose tables are incomplete may say otherwise.
    Once(Whose),
    Again,
}

/// What runs have shown so far.
#[derive(Default)]
pub(crate) struct Seen {
    runs: u64,
    things: BTreeMap<Thing, Shown>,
    /// Things that one run has shown, in packages only.
    shown_once_in_packages: u64,
    /// The same in lines of the user's.
    shown_once: u64,
    /// Whether a bug is known.
    knows_bug: bool,
}

impl Seen {
    /// Takes note of what a run has shown. Returns whether any of it is new.
    fn add(&mut self, things: BTreeMap<Thing, Whose>) -> bool {
        self.runs += 1;
        let before = self.things.len();
        for (thing, whose) in things {
            match self.things.insert(thing, Shown::Again) {
                None => {
                    self.things.insert(thing, Shown::Once(whose));
                    *self.shown_once_of(whose) += 1;
                }
                Some(Shown::Once(whose)) => *self.shown_once_of(whose) -= 1,
                Some(Shown::Again) => {}
            }
        }
        self.things.len() > before
    }

    /// How many things of this owner one run has shown.
    fn shown_once_of(&mut self, whose: Whose) -> &mut u64 {
        match whose {
            Whose::Users => &mut self.shown_once,
            Whose::Packages => &mut self.shown_once_in_packages,
        }
    }

    /// How many new things that count a further run is expected to show.
    fn unseen(&self) -> f64 {
        let once = match self.knows_bug {
            true => self.shown_once,
            false => self.shown_once + self.shown_once_in_packages,
        };
        match self.runs {
            0 => f64::INFINITY,
            runs => once as f64 / runs as f64,
        }
    }

    /// Whether instructions of different threads were seen to meet in memory.
    fn has_meetings(&self) -> bool {
        let mut things = self.things.keys();
        things.any(|it| matches!(it, Thing::InTurn(..)))
    }

    /// Whether there is little left to see.
    pub(crate) fn is_enough(&self) -> bool {
        let fewest = match self.knows_bug {
            true => FEWEST_RUNS_AFTER_A_BUG,
            false => FEWEST_RUNS,
        };
        self.runs >= fewest && self.unseen() < ENOUGH_UNSEEN
    }
}

/// Chooses runs.
pub(crate) struct Sampler<'a> {
    options: &'a Options,
    runs: u64,
    points: Option<Points>,
    seen: Seen,
    /// Most events of a run after the first.
    most_ticks: Option<u64>,
    /// Runs that had more.
    passed_over: u64,
    /// Whether there are to be no further runs: they would be too slow, or cannot differ from those made.
    is_over: bool,
    /// Runs that only counted scheduling points.
    counting_runs: u64,
    /// Whether some run touched more memory than was looked at.
    is_short_of_memory: bool,
}

impl<'a> Sampler<'a> {
    pub(crate) fn new(options: &'a Options) -> Self {
        Self {
            options,
            runs: 0,
            points: None,
            seen: Seen::default(),
            most_ticks: None,
            passed_over: 0,
            is_over: false,
            counting_runs: 0,
            is_short_of_memory: false,
        }
    }

    /// No further run may have more events than this.
    pub(crate) fn limit(&mut self, most_ticks: u64) {
        self.most_ticks = Some(most_ticks);
    }

    /// A run was ended because it had too many events, or took too long, and is not known to hang.
    pub(crate) fn pass_over(&mut self) {
        self.passed_over += 1;
        self.seen.runs += 1;
    }

    /// A bug is known: what packages do among themselves counts no longer.
    pub(crate) fn note_bug(&mut self) {
        self.seen.knows_bug = true;
    }

    /// There are to be no further runs.
    pub(crate) fn stop(&mut self) {
        self.is_over = true;
    }

    /// What is to be known of all runs.
    pub(crate) fn notes(&self) -> impl Iterator<Item = String> {
        let short = self.is_short_of_memory.then(|| {
            "runs touch more memory than was looked at to tell which further runs show something new (--memory gives more)".to_owned()
        });
        self.passed_over().into_iter().chain(short)
    }

    /// What is to be known of runs that were ended.
    fn passed_over(&self) -> Option<String> {
        let most = self.most_ticks.unwrap_or(0);
        let count = self.passed_over;
        (count > 0).then(|| format!(
            "{count} further runs were too slow here, and do not count: they were ended after {most} events or for taking too long"
        ))
    }

    /// Whether the order of threads makes any difference to the user's code, as far as runs have shown.
    pub(crate) fn has_meetings(&self) -> bool {
        self.seen.has_meetings()
    }

    /// Runs that only counted scheduling points.
    pub(crate) fn counting_runs(&self) -> u64 {
        self.counting_runs
    }

    /// Runs chosen so far.
    pub(crate) fn runs(&self) -> u64 {
        self.runs
    }

    /// What is to be known of runs that were not made.
    pub(crate) fn note(&self) -> String {
        let made = self.seen.runs;
        let unseen = self.seen.unseen();
        format!(
            "after {made} runs the time for further ones was over; one more is expected to show {unseen:.2} new instructions, or pairs of them that meet in memory (--time gives more)"
        )
    }

    /// The next run is one that was chosen elsewhere.
    pub(crate) fn count_directed(&mut self) {
        self.runs += 1;
    }

    /// What the next run is asked to do; none if there have been enough.
    pub(crate) fn next(&mut self) -> Option<Plan> {
        let number = self.runs;
        let is_last = self.options.runs.is_some_and(|most| number >= most);
        if is_last || self.is_over || self.seen.is_enough() {
            return None;
        }
        self.runs += 1;
        let Some(points) = &self.points else {
            return Some(Plan::new(StrategyKind::RoundRobin, self.options.seed));
        };
        let strategies = &self.options.strategies;
        let strategy = strategies.get((number as usize - 1) % strategies.len().max(1))?;
        let seed = self.options.seed.wrapping_add(number);
        let mut plan = points.plan(*strategy, self.options.depth, seed);
        plan.label = explore::label(&plan, 0);
        plan.most_ticks = self.most_ticks;
        Some(plan)
    }

    /// Takes note of what a run has shown. Returns whether that is anything new.
    pub(crate) fn learn(
        &mut self,
        program: &Program,
        result: &RunResult,
        trailer: &Trailer,
        trace: &Path,
        budget: Budget,
    ) -> Result<bool, Error> {
        let mut shows = Shows::new(|site| whose(site, trailer), budget.bytes_at_rest());
        reading::each(trace, program, |event| shows.observe(event))?;
        self.is_short_of_memory |= shows.is_full();
        let is_new = self.seen.add(shows.finish());
        match &mut self.points {
            Some(points) if is_new && points.can_learn() => {
                points.learn(trace)?;
                points.update();
                self.counting_runs += count(points, program)?;
            }
            Some(_) => {}
            None if self.options.runs != Some(1) => {
                let profile = Profile::from(result);
                let mut points = Points::new(&profile, trace, self.options.seed)?;
                self.counting_runs += count(&mut points, program)?;
                self.points = Some(points);
            }
            None => {}
        }
        Ok(is_new)
    }
}

fn whose(site: SiteId, trailer: &Trailer) -> Option<Whose> {
    match is_own_line(site, trailer) {
        true => Some(Whose::Users),
        false => is_own_site(site, trailer).then_some(Whose::Packages),
    }
}

/// Counts scheduling points, if they are not counted. Returns how many runs that took.
fn count(points: &mut Points, program: &Program) -> Result<u64, Error> {
    let Some(plan) = points.counting() else {
        return Ok(0);
    };
    let counted = launch(program, &plan)?;
    let of_threads = counted.threads.iter().map(|it| it.visible);
    points.count(counted.head.points, of_threads);
    Ok(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use raddle_trace::event::{Access, Event, EventKind};
    use raddle_trace::ids::{Address, ThreadId, Tick};

    fn write(thread: u32, site: u32) -> Event {
        Event {
            thread: ThreadId(thread),
            tick: Tick(0),
            kind: EventKind::Write(Access {
                site: SiteId(site),
                addr: Address(0x1000),
                size: 4,
                value: 0,
            }),
        }
    }

    fn shown(events: &[Event], whose: impl Fn(SiteId) -> Option<Whose>) -> BTreeMap<Thing, Whose> {
        let mut shows = Shows::new(whose, 1 << 20);
        events.iter().for_each(|it| shows.observe(it));
        shows.finish()
    }

    #[test]
    fn runs_are_enough_when_none_is_expected_to_show_anything_new() {
        let mut seen = Seen::default();
        assert!(!seen.has_meetings());
        let mut add = |events: &[Event]| {
            seen.add(shown(events, |site| (site.0 < 100).then_some(Whose::Users)))
        };
        assert!(add(&[write(1, 1), write(2, 2)]));
        for _ in 1..FEWEST_RUNS {
            assert!(!add(&[write(1, 1), write(2, 2), write(1, 100)]));
        }
        assert!(seen.is_enough() && seen.has_meetings());
        let mut add = |events: &[Event]| seen.add(shown(events, |_| Some(Whose::Users)));
        // Two instructions in the other order are one new thing, seen once in so many runs.
        assert!(add(&[write(2, 2), write(1, 1)]));
        assert!(seen.is_enough());
        assert_eq!(seen.shown_once, 1);
        let mut add = |events: &[Event]| seen.add(shown(events, |_| Some(Whose::Users)));
        assert!(add(&[write(2, 3), write(1, 1)]));
        assert!(!seen.is_enough(), "{}", seen.unseen());
    }

    #[test]
    fn packages_count_until_a_bug_is_known() {
        let mut seen = Seen::default();
        let whose = |site: SiteId| {
            Some(if site.0 < 100 {
                Whose::Users
            } else {
                Whose::Packages
            })
        };
        for run in 0..FEWEST_RUNS as u32 {
            // Each run shows something new in a package.
            assert!(seen.add(shown(&[write(1, 1), write(2, 100 + run)], whose)));
        }
        assert!(!seen.is_enough());
        seen.knows_bug = true;
        // The user's instruction has met each of the package's, once.
        assert!(!seen.is_enough());
        for run in 0..FEWEST_RUNS as u32 {
            assert!(!seen.add(shown(&[write(1, 1), write(2, 100 + run)], whose)));
            assert!(seen.add(shown(&[write(1, 200 + run)], whose)));
        }
        assert!(seen.is_enough());
        seen.knows_bug = false;
        assert!(!seen.is_enough());
    }

    #[test]
    fn accesses_of_one_thread_and_reads_alone_are_no_pairs() {
        let pairs = |events: &[Event]| {
            let things = shown(events, |_| Some(Whose::Users)).into_keys();
            things.filter(|it| matches!(it, Thing::InTurn(..))).count()
        };
        assert_eq!(pairs(&[write(1, 1), write(1, 2)]), 0);
        assert_eq!(pairs(&[write(1, 1), write(2, 2)]), 1);
        let read = |thread, site| match write(thread, site).kind {
            EventKind::Write(access) => Event {
                kind: EventKind::Read(access),
                ..write(thread, site)
            },
            _ => unreachable!("it is a write"),
        };
        assert_eq!(pairs(&[read(1, 1), read(2, 2)]), 0);
        assert_eq!(pairs(&[write(1, 1), read(2, 2)]), 1);
    }
}
