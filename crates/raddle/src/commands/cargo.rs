//! `cargo raddle`: builds and runs the programs of a Cargo package.

use std::ffi::OsString;
use std::path::Path;

use anyhow::{Context, Result, bail};
use clap::{Args, Subcommand};
use raddle_instrument::CargoExecutable;
use raddle_run::program::Program;

use crate::commands::check::CheckArgs;
use crate::commands::run::SearchArgs;
use crate::exit::Exit;
use crate::launch::Surroundings;
use crate::output::sayln;
use crate::state;

/// The commands of `cargo raddle`.
#[derive(Subcommand)]
pub enum CargoCommand {
    /// Build the package's programs, instrumented, in a target directory of their own
    Build(Build),
    /// Build a program, record a run, predict every bug that it implies, and show each on the program
    Check(Box<Check>),
    /// Build a program and run it under many schedules until it fails
    Run(Box<Run>),
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

/// Which program of the package.
#[derive(Args)]
pub struct TargetArgs {
    /// Name of the binary to run
    #[arg(long)]
    bin: Option<String>,
    /// Name of the example to run
    #[arg(long, conflicts_with = "bin")]
    example: Option<String>,
    /// The package to run
    #[arg(long, short)]
    package: Option<String>,
    /// Features to activate
    #[arg(long, short = 'F')]
    features: Option<String>,
    /// Build in release mode
    #[arg(long, short)]
    release: bool,
    /// One more argument for `cargo build`
    #[arg(long, value_name = "ARG", allow_hyphen_values = true)]
    cargo_arg: Vec<OsString>,
    /// The program's arguments
    #[arg(last = true, value_name = "ARGS")]
    args: Vec<OsString>,
}

impl CargoCommand {
    /// Runs the command.
    pub fn run(self) -> Result<Exit> {
        match self {
            CargoCommand::Build(build) => build.run(),
            CargoCommand::Check(check) => check.run(),
            CargoCommand::Run(run) => run.run(),
        }
    }
}

impl Build {
    fn run(&self) -> Result<Exit> {
        for executable in cargo_build(&self.args)? {
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

impl TargetArgs {
    /// Builds the program, and puts it into its surroundings.
    fn program(&self, surroundings: &Surroundings) -> Result<Program> {
        let executables = cargo_build(&self.build_args())?;
        let binary = self.pick(&executables)?;
        let mut program = Program::new(binary, self.args.clone())?;
        surroundings.apply(&mut program)?;
        Ok(program)
    }

    fn build_args(&self) -> Vec<OsString> {
        let options = [
            ("--bin", &self.bin),
            ("--example", &self.example),
            ("--package", &self.package),
            ("--features", &self.features),
        ];
        let mut args: Vec<OsString> = Vec::new();
        for (name, value) in options {
            args.extend(value.iter().flat_map(|it| [name.into(), it.into()]));
        }
        args.extend(self.release.then(|| "--release".into()));
        args.extend(self.cargo_arg.iter().cloned());
        args
    }

    /// The one program that was meant.
    fn pick<'a>(&self, executables: &'a [CargoExecutable]) -> Result<&'a Path> {
        let kind = if self.example.is_some() {
            "example"
        } else {
            "bin"
        };
        let fits: Vec<_> = executables.iter().filter(|it| it.kind == kind).collect();
        match fits.as_slice() {
            [one] => Ok(&one.built.binary),
            [] => bail!("the package has no {kind} to run"),
            several => {
                let names: Vec<_> = several.iter().map(|it| it.name.as_str()).collect();
                bail!("which one? Choose with --{kind}: {}", names.join(", "))
            }
        }
    }
}

fn cargo_build(args: &[OsString]) -> Result<Vec<CargoExecutable>> {
    let mut all = vec![OsString::from("build")];
    all.extend(args.iter().cloned());
    let settings = state::settings(None)?;
    raddle_instrument::cargo_build(&all, &settings).context("cannot build the package")
}
