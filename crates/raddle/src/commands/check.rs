//! `raddle check`: records a run, predicts the bugs that it implies, and shows each on the program.

use std::num::{NonZeroU32, NonZeroU64, NonZeroUsize};
use std::path::Path;
use std::time::Duration;

use anyhow::{Result, bail};
use clap::{Args, ValueEnum};
use raddle_check::check::{self, Options};
use raddle_predict::predictor;
use raddle_report::{Report, Told, json, terminal};
use raddle_run::program::Program;

use crate::commands::run::{StrategyArg, warn_about_addresses};
use crate::config::{Config, ConfigArgs};
use crate::exit::Exit;
use crate::launch::{ProgramArgs, Surroundings, parse_seconds, parse_size};
use crate::output::{say, told};
use crate::progress::{self, Line};
use crate::report::terminal_options;
use crate::{interrupt, memory, report, state};

/// Strategies of the second and later runs.
const STRATEGIES: &[StrategyArg] = &[
    StrategyArg::Pos,
    StrategyArg::Pct,
    StrategyArg::Random,
    StrategyArg::Surw,
];
/// Seed of the first run.
const SEED: u64 = 1;
/// PCT's depth.
const DEPTH: u32 = 3;
/// Runs of each strategy that come last.
const SEARCH: u64 = 1_000;
/// Predictions of a run that are tried.
const MOST_TRIES: usize = 200;
/// Orders to other instances of a prediction that are tried besides the first.
const ALTERNATIVES: usize = 2;
/// How long predictions are tried.
const TIME: Duration = Duration::from_secs(300);

/// Options of `raddle check`.
#[derive(Args)]
pub struct Check {
    #[command(flatten)]
    program: ProgramArgs,
    #[command(flatten)]
    check: CheckArgs,
}

/// What to look for, and how to tell it.
#[derive(Args)]
pub struct CheckArgs {
    /// Most runs to record and predict from [default: until a further one is expected to show next to nothing new, or
    /// a fifth of --time is over]
    #[arg(long, value_name = "N")]
    runs: Option<NonZeroU64>,
    /// Runs of each strategy that come last, unless a bug is known by then: they are only looked at for failures
    /// and data races, within a tenth of --time [default: 1000; none with --runs]
    #[arg(long, value_name = "N")]
    search: Option<u64>,
    /// How threads are chosen in the second and later runs, in turn [default: pos,pct,random,surw]
    #[arg(long, value_enum, value_delimiter = ',')]
    strategy: Option<Vec<StrategyArg>>,
    /// Seed of the first run; the others count up from it [default: 1]
    #[arg(long, value_name = "S")]
    seed: Option<u64>,
    /// With pct: how many ordering constraints a schedule has [default: 3]
    #[arg(long, value_name = "D")]
    depth: Option<NonZeroU32>,
    /// Most predictions of a run that are tried on the program [default: 200]
    #[arg(long, value_name = "N")]
    most_tries: Option<usize>,
    /// Longest time that is spent on predictions and on trying them, in seconds [default: 300]
    #[arg(long, value_name = "SECONDS", value_parser = parse_seconds)]
    time: Option<Duration>,
    /// Memory for Raddle and the program together: 500M, 2G. Of a longer run what concerns one thread only
    /// is passed over, and then the beginning is looked at [default: half of what is free, at most 4G]
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    memory: Option<u64>,
    /// How many predictions are tried at the same time, with the same results. For programs whose runs don't
    /// get into each other's way, as by writing the same files [default: 1]
    #[arg(long, short, value_name = "N")]
    jobs: Option<NonZeroUsize>,
    #[command(flatten)]
    predict: PredictArgs,
}

/// What is predicted, and how it is told.
#[derive(Args)]
pub struct PredictArgs {
    /// Events that the solver looks at together, of those that matter to several threads
    #[arg(long, value_name = "N")]
    window: Option<NonZeroUsize>,
    /// Show warnings, and bugs that no run has confirmed, too
    #[arg(
        long,
        value_name = "BOOL",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "true"
    )]
    all: Option<bool>,
    /// Show what --all shows, and each suspicion that no run has shown
    #[arg(
        long,
        value_name = "BOOL",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "true"
    )]
    unconfirmed: Option<bool>,
    #[command(flatten)]
    pub config: ConfigArgs,
    /// For people, or one JSON object
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
    /// Don't show how it is getting on
    #[arg(long, short)]
    pub quiet: bool,
}

/// Forms of output.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people
    Text,
    /// One object
    Json,
}

impl Check {
    /// Checks, and tells what was found.
    pub fn run(mut self) -> Result<Exit> {
        let surroundings = &mut self.program.surroundings;
        let config = self.check.configure(surroundings)?;
        let program = self.program.program(self.check.predict.quiet)?;
        let out = self.program.surroundings.out();
        self.check.run(&program, out, &config)
    }
}

impl CheckArgs {
    /// Reads the configuration, and completes the program's surroundings with it.
    pub fn configure(&self, surroundings: &mut Surroundings) -> Result<Config> {
        let config = self.predict.config.load()?;
        config.check.complete(surroundings);
        surroundings.volatile = surroundings.volatile.or(config.volatile);
        Ok(config)
    }

    /// Sets the time, if the user has not.
    pub fn default_time(&mut self, time: Duration) {
        self.time = self.time.or(Some(time));
    }

    /// Checks one program, and keeps clips under `out`.
    pub fn run(&self, program: &Program, out: &Path, config: &Config) -> Result<Exit> {
        warn_about_addresses();
        let name = program.name();
        let new_clip = || state::next_clip(out, &name).map_err(std::io::Error::other);
        let options = self.options(config);
        if program.service.is_some() && options.jobs > NonZeroUsize::MIN {
            bail!(
                "--jobs and --client don't go together: servers at the same time would meet at their ports"
            );
        }
        let teller = self.predict.teller(config);
        let tell = move |mut report: Report, oracle: Option<&str>| {
            report::add_commands(&mut report, oracle);
            teller.tell(&report)?;
            anyhow::Ok(match report.has_bugs() {
                true => Exit::Found,
                false if report.unsteady => Exit::Internal,
                false if report.interrupted => Exit::Interrupted,
                false => Exit::Clean,
            })
        };
        let oracle = &program.oracle;
        let tell_if_it_lasts = |mut report: Report| {
            let oracle = oracle.clone();
            report.notes.push(check::INTERRUPTED.to_owned());
            interrupt::if_it_lasts(move || {
                tell(report, oracle.as_deref()).unwrap_or(Exit::Interrupted)
            });
        };
        tell_if_it_lasts(Report {
            program: name.clone(),
            interrupted: true,
            ..Report::default()
        });
        let mut line = Line::new(self.predict.quiet);
        let report = check::check(program, &options, &new_clip, &mut |it| {
            if let Some((stage, text)) = progress::of_check(&it) {
                line.show(stage, || text);
            }
            if let check::Progress::Found(report) = it {
                tell_if_it_lasts(*report);
            }
        });
        drop(line);
        interrupt::comes_to_its_end();
        tell(report?, oracle.as_deref())
    }

    fn options(&self, config: &Config) -> Options {
        let table = &config.check;
        let strategies = self.strategy.as_deref().or(table.strategy.as_deref());
        let strategies = strategies.unwrap_or(STRATEGIES).iter();
        let runs = self.runs.or(table.runs).map(NonZeroU64::get);
        let search = if runs.is_some() { 0 } else { SEARCH };
        Options {
            runs,
            search: self.search.or(table.search).unwrap_or(search),
            strategies: strategies.map(|it| (*it).into()).collect(),
            depth: self.depth.or(table.depth).map_or(DEPTH, NonZeroU32::get),
            seed: self.seed.or(table.seed).unwrap_or(SEED),
            predict: predictor::Options {
                alternatives: ALTERNATIVES,
                ..self.predict.options(config)
            },
            atomic: config.atomic.clone(),
            most_tries: self.most_tries.or(table.most_tries).unwrap_or(MOST_TRIES),
            time: self.time.or(table.time).unwrap_or(TIME),
            jobs: self.jobs.or(table.jobs).unwrap_or(NonZeroUsize::MIN),
            memory: self.memory.or(table.memory).unwrap_or_else(memory::usual),
        }
    }
}

impl PredictArgs {
    /// What to predict.
    pub fn options(&self, config: &Config) -> predictor::Options {
        let mut options = predictor::Options::default();
        options.patterns.extend(config.patterns.iter().cloned());
        if let Some(window) = self.window.or(config.check.window) {
            options.window = window.get();
        }
        options
    }

    fn told(&self, config: &Config) -> Told {
        let is_asked = |here: Option<bool>, there: Option<bool>| here.or(there).unwrap_or(false);
        let table = &config.check;
        match is_asked(self.unconfirmed, table.unconfirmed) {
            true => Told::Everything,
            false if is_asked(self.all, table.all) => Told::Warnings,
            false => Told::Bugs,
        }
    }

    /// How reports are told.
    pub fn teller(&self, config: &Config) -> Teller {
        Teller {
            told: self.told(config),
            format: self.format,
        }
    }
}

/// Prints reports.
#[derive(Clone, Copy)]
pub struct Teller {
    told: Told,
    format: Format,
}

impl Teller {
    /// Prints a report.
    pub fn tell(self, report: &Report) -> Result<()> {
        match self.format {
            Format::Json => say(&json::to_json(report, self.told)),
            Format::Text => told(terminal::print(report, &terminal_options(self.told)))?,
        }
        Ok(())
    }
}
