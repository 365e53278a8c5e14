//! `cargo raddle`: builds and runs the programs of a Cargo package.

mod libtest;
mod target;
mod test;

use std::ffi::OsString;

use anyhow::{Context, Result};
use clap::{Args, Subcommand};
use raddle_instrument::CargoExecutable;

use crate::commands::check::CheckArgs;
use crate::commands::run::SearchArgs;
use crate::exit::Exit;
use crate::launch::Surroundings;
use crate::output::sayln;
use crate::state;
use target::TargetArgs;

/// The commands of `cargo raddle`.
#[derive(Subcommand)]
pub enum CargoCommand {
    /// Build the package's programs, instrumented, in a target directory of their own
    Build(Build),
    /// Build a program, record a run, predict every bug that it implies, and show each on the program
    Check(Box<Check>),
    /// Build a program and run it under many schedules until it fails
    Run(Box<Run>),
    /// Build the tests and check each of them
    Test(Box<test::Test>),
}

/// Options of `cargo raddle build`.
#[derive(Args)]
pub struct Build {
    /// Arguments of `cargo build`
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    args: Vec<OsString>,
}

/// Options of `cargo raddle check`.
#[derive(Args)]
pub struct Check {
    #[command(flatten)]
    target: TargetArgs,
    #[command(flatten)]
    check: CheckArgs,
    #[command(flatten)]
    surroundings: Surroundings,
}

/// Options of `cargo raddle run`.
#[derive(Args)]
pub struct Run {
    #[command(flatten)]
    target: TargetArgs,
    #[command(flatten)]
    search: SearchArgs,
    #[command(flatten)]
    surroundings: Surroundings,
}

impl CargoCommand {
    /// Runs the command.
    pub fn run(self) -> Result<Exit> {
        match self {
            CargoCommand::Build(build) => build.run(),
            CargoCommand::Check(check) => check.run(),
            CargoCommand::Run(run) => run.run(),
            CargoCommand::Test(test) => test.run(),
        }
    }
}

impl Build {
    fn run(&self) -> Result<Exit> {
        for executable in cargo("build", &self.args)? {
            sayln!("{}", executable.built.binary.display());
        }
        Ok(Exit::Clean)
    }
}

impl Check {
    fn run(mut self) -> Result<Exit> {
        let config = self.check.configure(&mut self.surroundings)?;
        let program = self.target.program(&self.surroundings)?;
        self.check.run(&program, self.surroundings.out(), &config)
    }
}

impl Run {
    fn run(&self) -> Result<Exit> {
        let program = self.target.program(&self.surroundings)?;
        self.search.run(&program, self.surroundings.out())
    }
}

/// Runs one of Cargo's commands that build, instrumented.
fn cargo(command: &str, args: &[OsString]) -> Result<Vec<CargoExecutable>> {
    let mut all = vec![OsString::from(command)];
    all.extend(args.iter().cloned());
    let settings = state::settings(None)?;
    raddle_instrument::cargo_build(&all, &settings).context("cannot build the package")
}
