//! The bench on which a program is run again and again: with a guide, or after a schedule.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use raddle_run::Error;
use raddle_run::footprint;
use raddle_run::hang::{self, Hang};
use raddle_run::launch::{Detail, Plan, Record, RunResult, launch};
use raddle_run::outcome::Failure;
use raddle_run::program::Program;
use raddle_run::usual::Usual;
use raddle_trace::event::Event;
use raddle_trace::ids::EventIndex;
use raddle_trace::outcome::Ending;
use raddle_trace::run::Strategy;
use raddle_trace::sharing::Private;
use raddle_trace::wire::{self, StrategyKind};
use tempfile::TempDir;

use crate::reading::{self, Wanted};
use crate::timeline::Timeline;
use crate::volatile;

/// A guided run may take this many times as long as the recorded one, and at least [`LEAST_TIME`]: it may
/// wait for what its guide keeps from happening.
const TIMES_AS_LONG: u32 = 20;
/// See [`TIMES_AS_LONG`].
const LEAST_TIME: Duration = Duration::from_secs(1);

/// The same for what it does: so many times the events of the recorded one, and at least [`LEAST_TICKS`].
const TIMES_AS_MUCH: u64 = 20;
/// See [`TIMES_AS_MUCH`].
const LEAST_TICKS: u64 = 1 << 18;

/// A program, and what every run of it has in common.
pub struct Bench {
    program: Program,
    /// The longest time that the user grants a run.
    timeout: Duration,
    most_ticks: u64,
    /// How the recorded run failed.
    usual: Option<Failure>,
    /// Which events of its runs are read.
    wanted: Wanted,
    scratch: TempDir,
    runs: u64,
}

/// A run with its events.
#[derive(Debug)]
pub struct Ran {
    /// What it was asked to do.
    pub plan: Plan,
    /// What came of it.
    pub result: RunResult,
    /// Its events.
    pub events: Vec<Event>,
    /// Those right before which something of their threads was thinned out.
    gaps: Vec<EventIndex>,
    /// Which they are.
    pub(crate) wanted: Wanted,
    /// Whether it ended as the recorded run did.
    ends_as_usual: bool,
}

impl Ran {
    /// Its events, thread by thread.
    #[must_use]
    pub fn timeline(&self) -> Timeline<'_> {
        Timeline::new(&self.events).with_gaps(&self.gaps)
    }

    /// How it failed, if it did, and otherwise than the recorded run. Running out of time does not count: a
    /// guide may keep a thread from what another one spins for.
    #[must_use]
    pub fn failure(&self) -> Option<&Failure> {
        let failure = self.result.failure.as_ref();
        failure.filter(|it| it.outcome.ending != Ending::Hang && !self.ends_as_usual)
    }

    /// Whether it ran out of time.
    #[must_use]
    pub fn hangs(&self) -> bool {
        let failure = self.result.failure.as_ref();
        failure.is_some_and(|it| it.outcome.ending == Ending::Hang)
    }
}

impl Bench {
    /// A bench for a program.
    ///
    /// # Errors
    /// If there is no room for scratch files.
    pub fn new(program: &Program) -> Result<Self, Error> {
        let scratch = tempfile::tempdir().map_err(Error::system("make a temporary directory"))?;
        Ok(Self {
            timeout: program.timeout,
            most_ticks: u64::MAX,
            usual: None,
            wanted: Wanted::All,
            program: program.clone(),
            scratch,
            runs: 0,
        })
    }

    /// Another bench like it, with scratch files and a count of its own.
    ///
    /// # Errors
    /// If there is no room for scratch files.
    pub fn another(&self) -> Result<Self, Error> {
        Ok(Self {
            most_ticks: self.most_ticks,
            usual: self.usual.clone(),
            wanted: self.wanted,
            timeout: self.timeout,
            ..Self::new(&self.program)?
        })
    }

    /// The same, whose runs end at this moment.
    #[must_use]
    pub fn until(mut self, end: Instant) -> Self {
        self.program.until = Some(end);
        self
    }

    /// The same, of whose runs these events are read.
    #[must_use]
    pub(crate) fn reading(self, wanted: Wanted) -> Self {
        Self { wanted, ..self }
    }

    /// These instructions concern one thread only, as far as is known.
    pub(crate) fn learn_private(&mut self, private: Private) {
        self.program.private = Arc::new(private);
    }

    /// Of runs longer than this not all events are looked at.
    pub(crate) fn look_at(&mut self, most_events: u64) {
        self.program.most_events = most_events;
    }

    /// How much memory a file takes.
    pub(crate) fn memory_of(&self, file: &Path) -> u64 {
        match footprint::is_in_memory(self.scratch.path()) {
            true => std::fs::metadata(file).map_or(0, |it| it.len()),
            false => 0,
        }
    }

    /// There is so much time from now on, if there is not more anyway.
    pub fn extend(&mut self, time: Duration) {
        let end = Instant::now() + time;
        self.program.until = self.program.until.map(|it| it.max(end));
    }

    /// Whether the time for trying is over.
    #[must_use]
    pub fn is_out_of_time(&self) -> bool {
        self.program.is_out_of_time()
    }

    /// Gives each run from now on what one needs that is like this one.
    pub fn allow_for(&mut self, recorded: &RunResult) {
        let enough = (recorded.duration * TIMES_AS_LONG).max(LEAST_TIME);
        self.program.timeout = self.timeout.min(enough);
        self.most_ticks = (recorded.head.ticks * TIMES_AS_MUCH).max(LEAST_TICKS);
    }

    /// From now on runs come of this one: what it fails by does not come of an anomaly that is predicted from it.
    pub fn start_from(&mut self, recorded: &RunResult) {
        self.usual = recorded.failure.clone();
    }

    /// Most events that a run may have.
    #[must_use]
    pub fn most_ticks(&self) -> u64 {
        self.most_ticks
    }

    /// Learns from the undisturbed run how the program ends. Returns what the user should know of that.
    pub fn learn_usual(&mut self, undisturbed: &mut RunResult) -> Option<String> {
        self.program.usual.learn(undisturbed).map(Usual::note)
    }

    /// The program, with the time that its runs have here.
    #[must_use]
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// Runs made.
    #[must_use]
    pub fn runs(&self) -> u64 {
        self.runs
    }

    /// Makes a run like `model`, which follows a guide's switches.
    ///
    /// # Errors
    /// If the program cannot be run.
    pub fn guided(&mut self, model: &Plan, switches: Vec<wire::Switch>) -> Result<Ran, Error> {
        let mut plan = Plan::new(StrategyKind::Guide, model.seed);
        plan.clock = model.clock;
        plan.most_ticks = Some(self.most_ticks);
        plan.schedule = switches.into();
        plan.label = Strategy {
            name: "guide".to_owned(),
            parameters: Vec::new(),
        };
        self.run(plan)
    }

    /// Makes a run.
    ///
    /// # Errors
    /// If the program cannot be run.
    pub fn run(&mut self, mut plan: Plan) -> Result<Ran, Error> {
        let path = self.path("run.trace");
        plan.record = Some(Record {
            path: path.clone(),
            detail: Detail::Events,
        });
        let private = &self.program.private;
        let is_known = private.sites.iter().next().is_some();
        plan.leave_out = (is_known && self.wanted != Wanted::All).then(|| private.clone());
        self.runs += 1;
        let result = launch(&self.program, &plan)?;
        plan.inputs = result.inputs.clone();
        let read = reading::read(&path, &self.program, result.events, self.wanted)?;
        let mut events = read.events;
        volatile::interpret(&self.program, &result, &mut events);
        plan.record = None;
        plan.leave_out = None;
        let ends_as_usual = ends_alike(self.usual.as_ref(), result.failure.as_ref());
        Ok(Ran {
            plan,
            result,
            events,
            gaps: read.gaps,
            wanted: self.wanted,
            ends_as_usual,
        })
    }

    /// Finds out whether a run that was ended hangs; it may go on for `time` to show otherwise.
    ///
    /// # Errors
    /// If the program cannot be run.
    pub fn examine(
        &mut self,
        plan: &Plan,
        ended: &RunResult,
        time: Duration,
    ) -> Result<Option<Hang>, Error> {
        self.runs += hang::MOST_RUNS;
        let time = self.timeout.min(time);
        hang::examine(&self.program, plan, ended, time, self.scratch.path())
    }

    /// A file that is gone with the bench.
    #[must_use]
    pub fn path(&self, name: &str) -> PathBuf {
        self.scratch.path().join(name)
    }
}

/// Whether two runs both went well, or failed in the same way.
pub(crate) fn ends_alike(before: Option<&Failure>, after: Option<&Failure>) -> bool {
    match (before, after) {
        (None, None) => true,
        (Some(before), Some(after)) => after.is_like(&before.outcome),
        _ => false,
    }
}
