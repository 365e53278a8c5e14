//! `raddle check`: records a run, predicts the bugs that it implies, and shows each on the program.

use std::path::Path;

use anyhow::Result;
use clap::{Args, ValueEnum};
use raddle_check::check::{self, Options};
use raddle_predict::predictor;
use raddle_report::{json, terminal};
use raddle_run::program::Program;

use crate::commands::run::{StrategyArg, warn_about_addresses};
use crate::exit::Exit;
use crate::launch::ProgramArgs;
use crate::output::say;
use crate::{report, state};

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
    /// Most runs to record and predict from; they end when three in a row show nothing new
    #[arg(long, value_name = "N", default_value_t = 1)]
    runs: u64,
    /// How threads are chosen in the second and later recorded runs, in turn
    #[arg(
        long,
        value_enum,
        default_value = "pos,pct,random",
        value_delimiter = ','
    )]
    strategy: Vec<StrategyArg>,
    /// Seed of the first run; the others count up from it
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
    /// With pct: how many ordering constraints a schedule has
    #[arg(long, value_name = "D", default_value_t = 3)]
    depth: u32,
    /// Most predictions of a run that are tried on the program
    #[arg(long, value_name = "N", default_value_t = 200)]
    most_tries: usize,
    /// Show warnings and what could not be confirmed, too
    #[arg(long)]
    all: bool,
    #[command(flatten)]
    output: OutputArgs,
}

/// How findings are told.
#[derive(Args)]
pub struct OutputArgs {
    /// For people, or one JSON object
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
    /// Don't show how it is getting on
    #[arg(long, short)]
    quiet: bool,
}

/// Forms of output.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    Text,
    Json,
}

impl Check {
    /// Checks, and tells what was found.
    pub fn run(&self) -> Result<Exit> {
        let program = self.program.program()?;
        self.check.run(&program, &self.program.surroundings.out)
    }
}

impl CheckArgs {
    /// Checks one program, and keeps clips under `out`.
    pub fn run(&self, program: &Program, out: &Path) -> Result<Exit> {
        warn_about_addresses();
        let options = Options {
            runs: self.runs.max(1),
            strategies: self.strategy.iter().map(|it| (*it).into()).collect(),
            depth: self.depth,
            seed: self.seed,
            predict: predictor::Options::default(),
            most_tries: self.most_tries,
        };
        let name = program.name();
        let new_clip = || state::next_clip(out, &name).map_err(std::io::Error::other);
        let mut report = check::check(program, &options, &new_clip, &mut |_| {})?;
        for finding in &mut report.findings {
            let clip = finding.clip.as_deref();
            finding.replay = clip.map(|it| report::replay_command(it, program.oracle.as_deref()));
        }
        self.output.tell(&report, self.all)?;
        Ok(if report.has_bugs() {
            Exit::Found
        } else {
            Exit::Clean
        })
    }
}

impl OutputArgs {
    /// Prints a report.
    pub fn tell(&self, report: &raddle_report::Report, all: bool) -> Result<()> {
        match self.format {
            Format::Json => say(&json::to_json(report, all)),
            Format::Text => terminal::print(
                report,
                &terminal::Options {
                    all,
                    library: raddle_run::symbols::is_library,
                    ..terminal::Options::default()
                },
            )?,
        }
        Ok(())
    }
}
