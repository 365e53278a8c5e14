//! Whether a run failed, and how.
//!
//! Five witnesses are heard, in this order: the runtime, which sees assertions, panics, deadlocks
//! and misused memory where they happen; the launcher, which ends runs that take too long; the
//! process's end, by signal or exit status; the client of a server; and the user's oracle, a command
//! that runs afterwards.
//! The first that speaks decides.

use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Stdio};

use raddle_trace::outcome::{Ending, Outcome, ThreadInfo, Wait};
use raddle_trace::position::SourcePosition;
use raddle_trace::run::Cwd;
use raddle_trace::wire::{Mark, OutcomeKind, PANIC_JOINED, ThreadState};

use crate::error::Error;
use crate::explain::explain;
use crate::launch::{Cut, RunResult};
use crate::program::Program;
use crate::record::Drained;

/// A run that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// How and where.
    pub outcome: Outcome,
    /// Stack of the thread that failed, innermost first.
    pub stack: Vec<SourcePosition>,
    /// What every thread that had not ended was doing, if the run stood still.
    pub stuck: Vec<Stuck>,
}

/// A thread of a run that stood still.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stuck {
    /// Its state and what it waits for.
    pub info: ThreadInfo,
    /// Its stack, innermost first.
    pub stack: Vec<SourcePosition>,
}

impl Stuck {
    /// What it waits for, after the word "waits".
    #[must_use]
    pub fn awaits(&self) -> String {
        match (&self.info.wait, self.info.state) {
            (Some(wait), ThreadState::Blocked) => awaited(wait),
            (_, ThreadState::Spinning | ThreadState::Ready) => {
                "in a loop, for values that no thread changes".to_owned()
            }
            (_, ThreadState::Outside) => "in a call outside the scheduler".to_owned(),
            _ => "for some time to pass".to_owned(),
        }
    }
}

fn awaited(wait: &Wait) -> String {
    let object = wait.object;
    let text = match wait.wants {
        Mark::Join => return format!("for T{} to end", object.0),
        Mark::Lock => format!("for mutex {object}"),
        Mark::ReadLock => format!("to read-lock {object}"),
        Mark::WriteLock => format!("to write-lock {object}"),
        Mark::CondWake | Mark::CondWait => format!("for condition variable {object}"),
        Mark::FutexWake | Mark::FutexWait => format!("on futex {object}"),
        Mark::SemWait => format!("for semaphore {object}"),
        Mark::BarrierLeave | Mark::BarrierArrive => format!("at barrier {object}"),
        Mark::OnceStart | Mark::OncePass | Mark::OnceDone => {
            format!("for the once-initialiser {object}")
        }
        _ => format!("for {object}"),
    };
    match wait.held_by {
        Some(holder) => format!("{text}, held by {holder}"),
        None => text,
    }
}

impl Failure {
    /// Whether two runs failed in the same way at the same place.
    pub fn is_like(&self, other: &Outcome) -> bool {
        let ours = &self.outcome;
        let same_place = match (&ours.position, &other.position) {
            (Some(ours), Some(theirs)) => {
                (&ours.file, ours.line, ours.column) == (&theirs.file, theirs.line, theirs.column)
            }
            _ => true,
        };
        ours.ending == other.ending && same_place
    }
}

/// Decides whether a run failed.
///
/// # Errors
/// If the runtime gave up, or the oracle cannot be run.
pub(crate) fn judge(
    program: &Program,
    result: &RunResult,
    mut trace: Option<&mut Drained>,
) -> Result<Verdict, Error> {
    let mut verdict = Verdict::default();
    let seen = Outcome::from_wire(&result.head.outcome).map_err(Error::runtime)?;
    let mut seen = seen.filter(|it| match it.ending {
        Ending::Hang => false,
        // The signal that `abort` raises may have a handler that does not return.
        Ending::Signal(signal) => result.status.signal() == Some(signal),
        _ => true,
    });
    if let Some(Outcome {
        ending: Ending::Signal(signal),
        message,
        ..
    }) = &mut seen
    {
        *message = signal_name(*signal);
    }
    if let Some(panic) = seen.take_if(|_| is_borne(program, result)) {
        let borne = explain(program, result, panic, trace.as_deref_mut())?;
        match program.usual.minds(&borne) {
            true => verdict.failure = Some(borne),
            false => verdict.borne = Some(borne),
        }
    }
    if verdict.failure.is_some() {
        return Ok(verdict);
    }
    let Some(outcome) = seen
        .or_else(|| cut_short(result))
        .or_else(|| process_end(program, result))
        .or_else(|| client_end(program, result))
        .map_or_else(|| ask_oracle(program, result), |it| Ok(Some(it)))?
    else {
        return Ok(verdict);
    };
    if outcome.ending == Ending::Internal {
        return Err(Error::runtime(outcome.message));
    }
    verdict.failure = Some(explain(program, result, outcome, trace)?);
    Ok(verdict)
}

/// What is held against a run.
#[derive(Default)]
pub(crate) struct Verdict {
    /// How it failed.
    pub failure: Option<Failure>,
    /// A panic of a thread that the joining one bore, and that is no failure.
    pub borne: Option<Failure>,
}

/// Whether a thread ended by a panic, and the one that joined it led the program to its usual end.
fn is_borne(program: &Program, result: &RunResult) -> bool {
    let outcome = &result.head.outcome;
    outcome.kind == OutcomeKind::Panic as u32
        && outcome.code == PANIC_JOINED
        && result.cut.is_none()
        && result.status.code() == Some(program.usual.exit())
}

fn cut_short(result: &RunResult) -> Option<Outcome> {
    let message = match result.cut? {
        Cut::Timeout(limit) => format!(
            "still running after {} s (--timeout sets the limit)",
            limit.as_secs_f64()
        ),
        Cut::Asleep(limit) => format!(
            "all threads wait, still after {} s (--timeout sets the limit)",
            limit.as_secs_f64()
        ),
        Cut::Output => "it writes output without end".to_owned(),
        Cut::Ticks(ticks) => format!("still running after {ticks} events"),
    };
    Some(Outcome {
        message,
        ..Outcome::new(Ending::Hang)
    })
}

fn process_end(program: &Program, result: &RunResult) -> Option<Outcome> {
    if is_stopped(result) {
        return None;
    }
    if let Some(signal) = result.status.signal() {
        return Some(Outcome {
            message: signal_name(signal),
            ..Outcome::new(Ending::Signal(signal))
        });
    }
    let usual = program.usual.exit();
    let code = result.status.code().filter(|code| *code != usual)?;
    let message = match usual {
        0 => format!("exit status {code}"),
        _ => format!("exit status {code} in the place of {usual}"),
    };
    Some(Outcome {
        message,
        ..Outcome::new(Ending::Exit(code))
    })
}

/// Whether the process ended because the launcher told it to, in one of the ways in which programs do.
fn is_stopped(result: &RunResult) -> bool {
    result.attended.stopped.is_some_and(|signal| {
        result.status.signal() == Some(signal) || result.status.code() == Some(128 + signal)
    })
}

fn client_end(program: &Program, result: &RunResult) -> Option<Outcome> {
    let code = result.attended.client.filter(|code| *code != 0)?;
    let service = program.service.as_ref();
    let client = service.and_then(|it| it.client.as_deref());
    let client = client.map_or_else(
        || "the client".to_owned(),
        |it| format!("the client `{it}`"),
    );
    let message = match code {
        0.. => format!("{client} ended with status {code}"),
        _ => format!("{client} took too long"),
    };
    Some(Outcome {
        message,
        ..Outcome::new(Ending::Oracle(code))
    })
}

fn signal_name(number: i32) -> String {
    let name = match number {
        4 => "SIGILL, illegal instruction",
        5 => "SIGTRAP",
        6 => "SIGABRT, the program called abort",
        7 => "SIGBUS, bad memory access",
        8 => "SIGFPE, arithmetic fault",
        9 => "SIGKILL",
        11 => "SIGSEGV, invalid memory access",
        13 => "SIGPIPE",
        15 => "SIGTERM",
        _ => return format!("signal {number}"),
    };
    name.to_owned()
}

/// Runs the user's command. It finds the run's end and output in its environment.
fn ask_oracle(program: &Program, result: &RunResult) -> Result<Option<Outcome>, Error> {
    let Some(oracle) = &program.oracle else {
        return Ok(None);
    };
    let dir = tempfile::tempdir().map_err(Error::system("make a temporary directory"))?;
    let keep = |name: &str, bytes: &[u8]| {
        let path = dir.path().join(name);
        std::fs::write(&path, bytes).map_err(Error::file("write", &path))?;
        Ok::<_, Error>(path)
    };
    let cwd = match &program.cwd {
        Cwd::Inherit => Path::new("."),
        Cwd::Path(path) => path,
    };
    let status = Command::new("sh")
        .arg("-c")
        .arg(oracle)
        .current_dir(cwd)
        .env(
            "RADDLE_EXIT_STATUS",
            result.status.code().unwrap_or(0).to_string(),
        )
        .env("RADDLE_STDOUT", keep("stdout", &result.stdout)?)
        .env("RADDLE_STDERR", keep("stderr", &result.stderr)?)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .status()
        .map_err(Error::system("run the oracle"))?;
    Ok((!status.success()).then(|| Outcome {
        message: format!("the oracle `{oracle}` says so ({status})"),
        ..Outcome::new(Ending::Oracle(status.code().unwrap_or(-1)))
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use raddle_trace::ids::{Address, ThreadId};

    #[test]
    fn waits_name_the_holder() {
        let mut wait = Wait {
            wants: Mark::Lock,
            object: Address(0x10),
            held_by: Some(ThreadId(2)),
        };
        assert_eq!(awaited(&wait), "for mutex 0x10, held by T2");
        wait = Wait {
            wants: Mark::Join,
            object: Address(3),
            held_by: Some(ThreadId(3)),
        };
        assert_eq!(awaited(&wait), "for T3 to end");
    }

    #[test]
    fn failures_are_alike_by_ending_and_place() {
        let at = |line| Outcome {
            position: Some(SourcePosition {
                file: "a.c".into(),
                line,
                ..SourcePosition::default()
            }),
            ..Outcome::new(Ending::Assertion)
        };
        let failure = |outcome| Failure {
            outcome,
            stack: Vec::new(),
            stuck: Vec::new(),
        };
        assert!(failure(at(1)).is_like(&at(1)));
        assert!(!failure(at(1)).is_like(&at(2)));
        assert!(failure(at(1)).is_like(&Outcome::new(Ending::Assertion)));
        assert!(!failure(at(1)).is_like(&Outcome::new(Ending::Panic)));
    }
}
