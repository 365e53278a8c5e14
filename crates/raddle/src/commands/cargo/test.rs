//! `cargo raddle test`: checks every test of a package, as `cargo raddle check` checks a program.
//!
//! Tests run one by one, each in a process of its own: a schedule then has only what belongs to the
//! test, and a clip says which test it is. `--together` runs all tests of an executable at once, as
//! `cargo test` does.

use std::ffi::OsString;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use anyhow::Result;
use clap::Args;
use raddle_instrument::CargoExecutable;
use raddle_run::host;
use raddle_run::program::Program;
use raddle_run::usual::Usual;

use super::cargo;
use super::libtest::Asked;
use super::target::{PackageArgs, prepare};
use crate::commands::check::CheckArgs;
use crate::config::Config;
use crate::exit::Exit;
use crate::launch::Surroundings;
use crate::output::sayln;
use crate::{interrupt, untraced};

/// How long a test is looked into if nobody says otherwise.
const TIME: Duration = Duration::from_secs(30);

/// Threads of a test that starts none: the runner's, which waits, and the test's.
const BASE_THREADS: usize = 2;

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

impl Tally {
    fn tell(&self) {
        sayln!("{} tests, {} failed", self.run, self.failed.len());
        for name in &self.failed {
            sayln!("  {name}");
        }
    }
}

/// The tests of an executable, and what they have in common.
struct Suite<'a> {
    executable: &'a CargoExecutable,
    config: &'a Config,
    tally: &'a Arc<Mutex<Tally>>,
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
        let tally = Arc::new(Mutex::new(Tally {
            run: 0,
            failed: Vec::new(),
            exit: Exit::Clean,
        }));
        let so_far = Arc::clone(&tally);
        interrupt::afterwards(move |exit| {
            let tally = locked(&so_far);
            tally.tell();
            match tally.exit {
                Exit::Clean => exit,
                exit => exit,
            }
        });
        for executable in tests {
            let suite = Suite {
                executable,
                config: &config,
                tally: &tally,
            };
            self.run_suite(&suite, &asked)?;
        }
        let is_whole = !self.which.names_some() && !host::was_interrupted();
        if is_whole && executables.iter().any(|it| it.is_library) {
            eprintln!(
                "raddle: note: documentation tests are left out; `cargo test --doc` runs them, without Raddle"
            );
        }
        let tally = locked(&tally);
        tally.tell();
        Ok(match tally.exit {
            Exit::Clean if host::was_interrupted() => Exit::Interrupted,
            exit => exit,
        })
    }

    fn run_suite(&self, suite: &Suite<'_>, asked: &Asked) -> Result<()> {
        let CargoExecutable { package, name, .. } = suite.executable;
        let owner = format!("{package}/{name}");
        let all = prepare(suite.executable, asked.all(), &self.surroundings)?;
        untraced::tell(&all);
        if self.together || !suite.executable.has_harness {
            return self.run_one(suite, owner, all);
        }
        for test in asked.list(suite.executable)? {
            let mut program = prepare(suite.executable, asked.only(&test), &self.surroundings)?;
            program.base_threads = BASE_THREADS;
            self.run_one(suite, format!("{owner} {test}"), program)?;
        }
        Ok(())
    }

    fn run_one(&self, suite: &Suite<'_>, name: String, mut program: Program) -> Result<()> {
        if host::was_interrupted() {
            return Ok(());
        }
        sayln!("test {name}");
        program.is_test = suite.executable.has_harness;
        if self.surroundings.expect_exit.is_none() {
            // A test that fails in its undisturbed run fails.
            program.usual = Usual::with_exit(0);
        }
        let start = Instant::now();
        let exit = self
            .check
            .run(&program, self.surroundings.out(), suite.config)?;
        let time = start.elapsed().as_secs_f64();
        let result = match exit {
            Exit::Clean => "ok",
            Exit::Interrupted => "interrupted",
            _ => "FAILED",
        };
        sayln!("test {name} ... {result}, {time:.1} s");
        if exit == Exit::Interrupted {
            return Ok(());
        }
        let mut tally = locked(suite.tally);
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

fn locked(tally: &Mutex<Tally>) -> MutexGuard<'_, Tally> {
    tally.lock().unwrap_or_else(PoisonError::into_inner)
}
