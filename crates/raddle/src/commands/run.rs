//! `raddle run`: runs a program under many schedules until it fails, and looks for data races in every run.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::{Args, ValueEnum};
use raddle_check::clips::Clips;
use raddle_check::search_races::{self, RaceWatcher};
use raddle_report::{Report, terminal};
use raddle_run::explore::{self, Explored, Finding, Search};
use raddle_run::launch::{Detail, Record};
use raddle_run::outcome::Failure;
use raddle_run::program::Program;
use raddle_run::replay;
use raddle_run::usual::Usual;
use raddle_run::watch::Watcher;
use raddle_trace::clip::Clip;
use raddle_trace::file::TraceReader;
use raddle_trace::wire::StrategyKind;

use crate::exit::Exit;
use crate::launch::ProgramArgs;
use crate::output::{say, sayln, told};
use crate::progress::Line;
use crate::report::terminal_options;
use crate::{progress, report, state};

/// Runs longer than this are not replayed a second time to compare their events.
const COMPARE_BELOW_EVENTS: u64 = 20_000_000;

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
        let program = self.program.program()?;
        self.search.run(&program, self.program.surroundings.out())
    }
}

impl SearchArgs {
    /// Searches one program, and keeps clips under `out`.
    pub fn run(&self, program: &Program, out: &Path) -> Result<Exit> {
        warn_about_addresses();
        let watcher = (!self.no_races).then(|| RaceWatcher::new(program));
        let mut line = Line::new(self.quiet);
        let explored = self.explore(program, watcher.as_ref(), &mut line);
        line.clear();
        let explored = explored?;
        if explored.interrupted {
            eprintln!("raddle: interrupted; this is what was found until then");
            raddle_run::host::forget_interrupt();
        }
        if let Some(status) = explored.usual_exit {
            eprintln!("raddle: note: {}", Usual::note(status));
        }
        let mut program = program.clone();
        program.usual = explored.usual.clone();
        let program = &program;
        let mut steady = explored.unsteady.is_none();
        for finding in &explored.findings {
            steady &= keep(program, finding, &explored, out)?;
        }
        line.show("races", || "confirming data races".to_owned());
        let races = confirm_races(program, &explored, out);
        line.clear();
        let races = races?;
        if !explored.findings.is_empty() && !races.findings.is_empty() {
            sayln!("");
        }
        tell_races(&races)?;
        warn_about_inputs(program);
        warn_about_code(program, watcher.as_ref());
        let looked = watcher.filter(|it| !it.is_blind());
        let race_count = looked.map(|_| races.findings.len());
        say(&report::summary(&explored, race_count, self.verify));
        let is_clean = explored.findings.is_empty() && races.findings.is_empty();
        Ok(match (steady, is_clean) {
            (false, _) => Exit::Internal,
            (true, false) => Exit::Found,
            (true, true) if explored.interrupted => Exit::Interrupted,
            (true, true) => Exit::Clean,
        })
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
            record: self.trace.clone(),
            jobs: self.jobs,
            until: None,
            most_ticks: None,
            strategies,
        };
        let planned = search.runs.saturating_mul(search.strategies.len() as u64);
        let planned = (!exhaustive).then_some(planned);
        let watcher = watcher.map(|it| it as &dyn Watcher);
        let explored = explore::explore(program, &search, watcher, &mut |it| {
            line.show("run", || progress::of_search(it, planned));
        });
        Ok(explored?)
    }
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

/// The data races that runs have shown and show again, with clips under `out`.
fn confirm_races(program: &Program, explored: &Explored, out: &Path) -> Result<Report> {
    let name = program.name();
    let new_clip = || state::next_clip(out, &name).map_err(std::io::Error::other);
    let mut findings = search_races::confirm(program, &explored.sightings, &Clips::new(&new_clip))?;
    for finding in &mut findings {
        let clip = finding.clip.as_deref();
        finding.replay = clip.map(|it| report::replay_command(it, program.oracle.as_deref()));
    }
    Ok(Report {
        findings,
        ..Report::default()
    })
}

/// Tells data races as `raddle check` does.
fn tell_races(races: &Report) -> Result<()> {
    let printed = terminal::print_findings(races, &terminal_options(false));
    Ok(told(printed)?)
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

/// Tells a finding, and writes its clip with its trace beside it. The trace comes from a replay of
/// the run, so that a run which cannot be replayed is noticed here and not by the user. Returns
/// whether the replay was the same.
fn keep(program: &Program, finding: &Finding, explored: &Explored, out: &Path) -> Result<bool> {
    let clip_path = state::next_clip(out, &program.name())?;
    let trace_path = clip_path.with_extension("trace");
    let mut plan = replay::plan(&finding.plan, &finding.result.switches);
    plan.record = Some(Record {
        path: trace_path.clone(),
        detail: Detail::Positions,
    });
    let expected = Some(&finding.failure.outcome);
    let first = replay::replay(program, &plan, expected, None)?;
    // The replay was recorded, so it knows of a crash where it happened.
    let better = first.result.failure.as_ref();
    let failure = better.filter(|_| first.mismatch.is_none());
    let failure = failure.unwrap_or(&finding.failure);
    say(&report::finding(
        finding,
        failure,
        first.result.events,
        explored,
    ));
    write_clip(program, finding, failure, &clip_path, &trace_path)?;
    let compared = match first.result.events {
        Some(events) if first.mismatch.is_none() && events < COMPARE_BELOW_EVENTS => {
            let scratch = tempfile::tempdir().context("cannot make a temporary directory")?;
            plan.record = Some(Record {
                path: scratch.path().join("again.trace"),
                detail: Detail::Events,
            });
            replay::replay(program, &plan, expected, Some(&trace_path))?
        }
        _ => first,
    };
    match (&compared.mismatch, compared.result.events) {
        (Some(mismatch), _) => sayln!("replayed: NOT the same: {mismatch}"),
        (None, Some(events)) if compared.compared => {
            sayln!("replayed: same failure, same {events} events");
        }
        (None, _) => sayln!("replayed: same failure"),
    }
    sayln!("clip: {}", clip_path.display());
    sayln!("trace: {}", trace_path.display());
    let command = report::replay_command(&clip_path, program.oracle.as_deref());
    sayln!("{command}");
    Ok(compared.mismatch.is_none())
}

fn write_clip(
    program: &Program,
    finding: &Finding,
    failure: &Failure,
    clip_path: &Path,
    trace_path: &Path,
) -> Result<()> {
    let mut clip = Clip {
        run: program.spec(&finding.plan),
        shows: None,
        expected: Some(failure.outcome.clone()),
        switches: finding.result.switches.clone(),
    };
    if let Some(inputs) = &finding.result.inputs {
        inputs.keep_beside(clip_path, &mut clip.run)?;
    }
    let trailer = TraceReader::open(trace_path)
        .ok()
        .and_then(|it| it.trailer().cloned());
    let text = replay::print_clip(&clip, trailer.as_deref());
    std::fs::write(clip_path, text).with_context(|| format!("cannot write {}", clip_path.display()))
}
