//! `raddle run`: runs a program under many schedules until it fails, and looks for data races in every run.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Result;
use clap::{Args, ValueEnum};
use raddle_check::check::INTERRUPTED;
use raddle_check::clips::Clips;
use raddle_check::memory::Budget;
use raddle_check::search_races::RaceWatcher;
use raddle_check::searched::{self, Searched};
use raddle_report::{Told, json, terminal};
use raddle_run::explore::{self, Explored, Search};
use raddle_run::program::Program;
use raddle_run::usual::Usual;
use raddle_run::watch::Watcher;
use raddle_trace::wire::StrategyKind;

use crate::commands::check::Format;
use crate::config::ConfigArgs;
use crate::exit::Exit;
use crate::launch::{ProgramArgs, parse_size};
use crate::output::{say, sayln, told};
use crate::progress::Line;
use crate::report::terminal_options;
use crate::{interrupt, memory, progress, report, state};

/// How long a failing schedule is shortened and explained.
const EXPLAIN: Duration = Duration::from_secs(30);

/// Options of `raddle run`.
#[derive(Args)]
pub struct Run {
    #[command(flatten)]
    program: ProgramArgs,
    #[command(flatten)]
    pub search: SearchArgs,
}

/// How to search for a failing schedule.
#[derive(Args)]
pub struct SearchArgs {
    /// How threads are chosen; several names, with commas between them, are tried in turn
    #[arg(long, value_enum, default_value = "pos", value_delimiter = ',')]
    strategy: Vec<StrategyArg>,
    /// Most runs of each strategy [default: 100, or 100000 with dfs]
    #[arg(long, value_name = "N")]
    runs: Option<u64>,
    /// Seed of the first run; the others count up from it
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
    /// With pct: how many ordering constraints the bug may need
    #[arg(long, value_name = "D", default_value_t = 3)]
    depth: u32,
    /// With dfs: most preemptions of a schedule
    #[arg(long, value_name = "K", default_value_t = 2)]
    preemptions: u32,
    /// Go on after a failure, and tell every way in which the program fails
    #[arg(long)]
    keep_going: bool,
    /// Don't look for data races. Runs are faster without, long ones several times
    #[arg(long)]
    no_races: bool,
    /// Keep failing schedules as they are: don't look for the shortest, and for why the program fails
    #[arg(long)]
    as_is: bool,
    /// Replay every run at once, and stop if it is not the same event by event
    #[arg(long)]
    verify: bool,
    /// Record each run to FILE, one over another: the last one, or the first that fails, remains
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    /// How many runs are made at the same time, with the same results (one with dfs). For programs whose
    /// runs don't get into each other's way, as by writing the same files
    #[arg(long, short, value_name = "N", default_value = "1")]
    jobs: NonZeroUsize,
    /// Memory for Raddle and the program together: 500M, 2G. Of a longer run what concerns one thread only is passed
    /// over, and then the beginning is looked at [default: half of what is free, at most 4G]
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    memory: Option<u64>,
    /// For people, or one JSON object
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
    /// Don't show how the search is getting on
    #[arg(long, short)]
    quiet: bool,
}

/// Strategies by their names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum StrategyArg {
    /// Any enabled thread, at every scheduling point
    Random,
    /// Probabilistic concurrency testing: random priorities, few changes
    Pct,
    /// Partial order sampling: a random priority for every event
    Pos,
    /// Selectively uniform random walk
    Surw,
    /// Each thread until it blocks
    Rr,
    /// Every schedule with few preemptions
    Dfs,
}

impl From<StrategyArg> for StrategyKind {
    fn from(arg: StrategyArg) -> StrategyKind {
        match arg {
            StrategyArg::Random => StrategyKind::Random,
            StrategyArg::Pct => StrategyKind::Pct,
            StrategyArg::Pos => StrategyKind::Pos,
            StrategyArg::Surw => StrategyKind::Surw,
            StrategyArg::Rr => StrategyKind::RoundRobin,
            StrategyArg::Dfs => StrategyKind::Dfs,
        }
    }
}

impl Run {
    /// Searches, and tells what was found.
    pub fn run(&self) -> Result<Exit> {
        let mut program = self.program.program(self.search.quiet)?;
        if self.program.surroundings.volatile.is_none() {
            let config = ConfigArgs::default().load()?;
            program.volatile = config.volatile.unwrap_or_default().into();
        }
        self.search.run(&program, self.program.surroundings.out())
    }
}

impl SearchArgs {
    /// Searches one program, and keeps clips under `out`.
    pub fn run(&self, program: &Program, out: &Path) -> Result<Exit> {
        warn_about_addresses();
        let memory = self.memory.unwrap_or_else(memory::usual);
        let room = Budget::new(memory, self.jobs.get()).bytes_a_job();
        let watcher = (!self.no_races).then(|| RaceWatcher::new(program).within(room));
        let mut line = Line::new(self.quiet);
        line.show("first", || "first run".to_owned());
        tell_if_it_lasts(explore::Progress::default());
        let explored = self.explore(program, watcher.as_ref(), &mut line);
        line.clear();
        let explored = explored?;
        if explored.interrupted {
            eprintln!("raddle: {INTERRUPTED}");
            tell_without_clips_if_it_lasts(&explored);
            raddle_run::host::forget_interrupt();
        }
        if let Some(status) = explored.usual_exit {
            eprintln!("raddle: note: {}", Usual::note(status));
        }
        let mut program = program.clone();
        program.usual = explored.usual.clone();
        let program = &program;
        line.show("confirming", || "confirming what was found".to_owned());
        let searched = self.confirm(program, &explored, Budget::new(memory, 1), out);
        drop(line);
        interrupt::comes_to_its_end();
        let Searched {
            mut report,
            races,
            repeats,
        } = searched?;
        let short = watcher.as_ref().and_then(RaceWatcher::note);
        report.notes.extend(short);
        warn_about_inputs(program);
        warn_about_code(program, watcher.as_ref());
        let looked = watcher.filter(|it| !it.is_blind());
        let races = looked.map(|_| races);
        match self.format {
            Format::Json => say(&json::to_json(&report, Told::Bugs)),
            Format::Text => {
                told(terminal::print_without_summary(
                    &report,
                    &terminal_options(Told::Bugs),
                ))?;
                say(&report::summary(&explored, races, self.verify));
            }
        }
        let is_steady = repeats && explored.unsteady.is_none();
        Ok(match (is_steady, report.findings.is_empty()) {
            (false, _) => Exit::Internal,
            (true, false) => Exit::Found,
            (true, true) if explored.interrupted => Exit::Interrupted,
            (true, true) => Exit::Clean,
        })
    }

    /// Repeats what was found, and keeps clips under `out`.
    fn confirm(
        &self,
        program: &Program,
        explored: &Explored,
        budget: Budget,
        out: &Path,
    ) -> Result<Searched> {
        let name = program.name();
        let new_clip = || state::next_clip(out, &name).map_err(std::io::Error::other);
        let explain = (!self.as_is).then_some(EXPLAIN);
        let clips = Clips::new(&new_clip);
        let mut searched = searched::report(program, explored, &clips, explain, budget)?;
        let report = &mut searched.report;
        report::add_commands(report, program.oracle.as_deref());
        report
            .notes
            .extend(explored.coverage.iter().map(report::exhaustion));
        report.notes.extend(report::too_slow(&explored.slow));
        let unsteady = explored.unsteady.as_ref();
        report.notes.extend(unsteady.map(report::does_not_repeat));
        report.unsteady = unsteady.is_some();
        Ok(searched)
    }

    fn explore(
        &self,
        program: &Program,
        watcher: Option<&RaceWatcher<'_>>,
        line: &mut Line,
    ) -> Result<Explored> {
        let strategies: Vec<_> = self.strategy.iter().map(|it| (*it).into()).collect();
        let exhaustive = strategies.contains(&StrategyKind::Dfs);
        let search = Search {
            depth: self.depth,
            preemptions: self.preemptions,
            runs: self.runs.unwrap_or(if exhaustive { 100_000 } else { 100 }),
            seed: self.seed,
            keep_going: self.keep_going,
            verify: self.verify,
            compare: true,
            record: self.trace.clone(),
            jobs: self.jobs,
            most_ticks: None,
            hang_time: program.timeout,
            strategies,
        };
        let planned = search.runs.saturating_mul(search.strategies.len() as u64);
        let planned = (!exhaustive).then_some(planned);
        let watcher = watcher.map(|it| it as &dyn Watcher);
        let explored = explore::explore(program, &search, watcher, &mut |it| {
            line.show("run", || progress::of_search(it, planned));
            tell_if_it_lasts(*it);
        });
        Ok(explored?)
    }
}

/// Has the number of runs told if the search is interrupted and does not end by itself.
fn tell_if_it_lasts(progress: explore::Progress) {
    interrupt::if_it_lasts(move || {
        eprintln!("raddle: {INTERRUPTED}");
        sayln!("{} runs, {} failures", progress.runs, progress.failures);
        match progress.failures {
            0 => Exit::Interrupted,
            _ => Exit::Found,
        }
    });
}

/// Has what an interrupted search has found told without clips, if there is no time to make them.
fn tell_without_clips_if_it_lasts(explored: &Explored) {
    let failures = explored.findings.iter();
    let failures: Vec<_> = failures
        .map(|it| report::headline(&it.failure.outcome))
        .collect();
    let races = explored.sightings.pairs().len();
    let (runs, failed) = (explored.runs, explored.failures);
    interrupt::if_it_lasts(move || {
        let found = !failures.is_empty();
        for failure in failures {
            sayln!("failure: {failure}");
        }
        if races > 0 {
            sayln!("{races} pairs of instructions raced; there was no time to confirm them");
        }
        sayln!("{runs} runs, {failed} failures");
        if found {
            Exit::Found
        } else {
            Exit::Interrupted
        }
    });
}

/// Says so if data races cannot be told because nothing is known of the program's code.
fn warn_about_code(program: &Program, watcher: Option<&RaceWatcher<'_>>) {
    if watcher.is_some_and(RaceWatcher::is_blind) {
        eprintln!(
            "raddle: warning: data races cannot be told, because the program model of {} is missing; build it again",
            program.name()
        );
    }
}

/// Says so if replays may differ because something that runs were told is not recorded.
pub fn warn_about_inputs(program: &Program) {
    if let Some(call) = program.uncovered() {
        eprintln!(
            "raddle: warning: the program called `{call}`, whose outcome is not recorded; replays may diverge there"
        );
    }
}

/// Says so if replays may differ because of the machine.
pub fn warn_about_addresses() {
    if !raddle_run::host::addresses_fixed() {
        eprintln!(
            "raddle: warning: this machine does not let programs run at fixed addresses (a container's seccomp profile forbids `personality`); replays may differ in addresses"
        );
    }
}
