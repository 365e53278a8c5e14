//! `cargo raddle test`: checks every test of a package, as `cargo raddle check` checks a program.
//!
//! Tests run one by one, each in a process of its own: a schedule then has only what belongs to the
//! test, and a clip says which test it is. `--together` runs all tests of an executable at once, as
//! `cargo test` does.

use std::ffi::OsString;
use std::time::Duration;

use anyhow::Result;
use clap::Args;
use raddle_instrument::CargoExecutable;
use raddle_run::usual::Usual;

use super::cargo;
use super::libtest::Asked;
use super::target::{PackageArgs, prepare};
use crate::commands::check::CheckArgs;
use crate::config::Config;
use crate::exit::Exit;
use crate::launch::Surroundings;
use crate::output::sayln;

/// How long a test is looked into if nobody says otherwise.
const TIME: Duration = Duration::from_secs(30);

/// Options of `cargo raddle test`. Times and numbers are those of one test; a test may take 30 seconds by default.
#[derive(Args)]
pub struct Test {
    /// Only tests whose names contain this
    filter: Option<String>,
    #[command(flatten)]
    package: PackageArgs,
    #[command(flatten)]
    which: Which,
    /// Run all tests of an executable in one process
    #[arg(long)]
    together: bool,
    #[command(flatten)]
    check: CheckArgs,
    #[command(flatten)]
    surroundings: Surroundings,
    /// Arguments of the tests' own runner: names, --exact, --skip, --ignored, --nocapture and so on
    #[arg(last = true, value_name = "ARGS")]
    args: Vec<OsString>,
}

/// Which tests of the package; all of them if none is named.
#[derive(Args)]
struct Which {
    /// The library's unit tests
    #[arg(long)]
    lib: bool,
    /// The unit tests of all binaries
    #[arg(long)]
    bins: bool,
    /// The unit tests of a binary
    #[arg(long, value_name = "NAME")]
    bin: Vec<String>,
    /// All integration tests, and all else that is marked as a test
    #[arg(long)]
    tests: bool,
    /// An integration test
    #[arg(long, value_name = "NAME")]
    test: Vec<String>,
    /// The tests of an example
    #[arg(long, value_name = "NAME")]
    example: Vec<String>,
    /// All packages of the workspace
    #[arg(long)]
    workspace: bool,
    /// A package of the workspace to leave out
    #[arg(long, value_name = "NAME", requires = "workspace")]
    exclude: Vec<String>,
}

impl Which {
    fn to_cargo(&self) -> Vec<OsString> {
        let mut args: Vec<OsString> = Vec::new();
        let named = [
            ("--bin", &self.bin),
            ("--test", &self.test),
            ("--example", &self.example),
            ("--exclude", &self.exclude),
        ];
        for (name, values) in named {
            args.extend(values.iter().flat_map(|it| [name.into(), it.into()]));
        }
        let switches = [
            ("--lib", self.lib),
            ("--bins", self.bins),
            ("--tests", self.tests),
            ("--workspace", self.workspace),
        ];
        let set = switches.into_iter().filter(|(_, is_set)| *is_set);
        args.extend(set.map(|(name, _)| name.into()));
        args
    }

    fn names_some(&self) -> bool {
        let lists = [&self.bin, &self.test, &self.example];
        self.lib || self.bins || self.tests || lists.iter().any(|list| !list.is_empty())
    }
}

/// What became of the tests so far.
struct Tally {
    run: usize,
    failed: Vec<String>,
    exit: Exit,
}

impl Test {
    /// Builds the tests, runs them, and tells what failed.
    pub fn run(mut self) -> Result<Exit> {
        let config = self.check.configure(&mut self.surroundings)?;
        self.check.default_time(TIME);
        let mut args = vec![OsString::from("--no-run")];
        args.extend(self.package.to_cargo());
        args.extend(self.which.to_cargo());
        let executables = cargo("test", &args)?;
        let tests = executables.iter().filter(|it| it.kind == "test");
        let asked = Asked::new(self.filter.as_deref(), &self.args);
        let mut tally = Tally {
            run: 0,
            failed: Vec::new(),
            exit: Exit::Clean,
        };
        for executable in tests {
            self.run_executable(executable, &asked, &config, &mut tally)?;
        }
        if !self.which.names_some() && executables.iter().any(|it| it.is_library) {
            eprintln!(
                "raddle: note: documentation tests are left out; `cargo test --doc` runs them, without Raddle"
            );
        }
        sayln!("{} tests, {} failed", tally.run, tally.failed.len());
        for name in &tally.failed {
            sayln!("  {name}");
        }
        Ok(tally.exit)
    }

    fn run_executable(
        &self,
        executable: &CargoExecutable,
        asked: &Asked,
        config: &Config,
        tally: &mut Tally,
    ) -> Result<()> {
        let owner = format!("{}/{}", executable.package, executable.name);
        if self.together || !executable.has_harness {
            return self.run_one(executable, owner, asked.all(), config, tally);
        }
        for test in asked.list(executable)? {
            let name = format!("{owner} {test}");
            self.run_one(executable, name, asked.only(&test), config, tally)?;
        }
        Ok(())
    }

    fn run_one(
        &self,
        executable: &CargoExecutable,
        name: String,
        args: Vec<OsString>,
        config: &Config,
        tally: &mut Tally,
    ) -> Result<()> {
        sayln!("test {name}");
        let mut program = prepare(executable, args, &self.surroundings)?;
        program.is_test = executable.has_harness;
        if self.surroundings.expect_exit.is_none() {
            // A test that fails in its undisturbed run fails.
            program.usual = Usual::with_exit(0);
        }
        let exit = self.check.run(&program, self.surroundings.out(), config)?;
        tally.run += 1;
        if exit != Exit::Clean {
            tally.failed.push(name);
        }
        // What is wrong with Raddle itself outweighs what is wrong with a test.
        if exit == Exit::Internal || tally.exit == Exit::Clean {
            tally.exit = exit;
        }
        Ok(())
    }
}
