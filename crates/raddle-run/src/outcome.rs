//! Whether a run failed, and how.
//!
//! Four witnesses are heard, in this order: the runtime, which sees assertions, panics, deadlocks
//! and misused memory where they happen; the launcher, which ends runs that take too long; the
//! process's end, by signal or exit status; and the user's oracle, a command that runs afterwards.
//! The first that speaks decides.

use std::collections::BTreeMap;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Stdio};

use raddle_model::Model;
use raddle_trace::action::Action;
use raddle_trace::event::{EventKind, LockChange};
use raddle_trace::outcome::{Ending, Outcome, ThreadInfo};
use raddle_trace::position::SourcePosition;
use raddle_trace::run::Cwd;
use raddle_trace::wire::{self, Mark, ThreadState};

use crate::error::Error;
use crate::launch::{Cut, RunResult};
use crate::program::Program;
use crate::record::Drained;
use crate::symbols::{Symbols, interesting};

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
    trace: Option<&mut Drained>,
) -> Result<Option<Failure>, Error> {
    let seen = Outcome::from_wire(&result.head.outcome).map_err(Error::runtime)?;
    let Some(mut outcome) = seen
        .or_else(|| cut_short(result))
        .or_else(|| process_end(result))
        .map_or_else(|| ask_oracle(program, result), |it| Ok(Some(it)))?
    else {
        return Ok(None);
    };
    if outcome.ending == Ending::Internal {
        return Err(Error::runtime(outcome.message));
    }
    let symbols = Symbols::load(&program.binary, &result.head.images);
    let stack_of = |info: &ThreadInfo| {
        let addresses: Vec<u64> = info.stack.iter().map(|it| it.0).collect();
        symbols.stack(&addresses)
    };
    let mut threads = result.threads.clone();
    if let Some(trace) = trace {
        place_by_trace(&mut outcome, &result.head.outcome, program, &symbols, trace)?;
        if outcome.ending == Ending::Deadlock {
            name_holders(&mut threads, trace)?;
        }
    }
    let failing = outcome.thread.and_then(|it| threads.get(it.0 as usize));
    let mut stack = failing.map(stack_of).unwrap_or_default();
    let pc = result.head.outcome.pc;
    if stack.is_empty() && pc != 0 {
        stack = symbols.stack(&[pc]);
    }
    let stands_still = matches!(outcome.ending, Ending::Deadlock | Ending::Hang);
    if !stands_still && outcome.position.is_none() {
        outcome.position = interesting(&stack).cloned();
    }
    if outcome.ending == Ending::Panic
        && let Some(panic) = parse_panic(&String::from_utf8_lossy(&result.stderr))
    {
        outcome.message = panic.message;
        outcome.position = Some(with_function(panic.position, &stack, program.model()));
    }
    let alive = |info: &&ThreadInfo| !matches!(info.state, ThreadState::None | ThreadState::Ended);
    let stuck = threads.iter().filter(|_| stands_still).filter(alive);
    Ok(Some(Failure {
        outcome,
        stack,
        stuck: stuck
            .map(|info| Stuck {
                info: info.clone(),
                stack: stack_of(info),
            })
            .collect(),
    }))
}

/// Finds in the recorded events what the outcome itself does not tell.
fn place_by_trace(
    outcome: &mut Outcome,
    raw: &wire::Outcome,
    program: &Program,
    symbols: &Symbols,
    trace: &mut Drained,
) -> Result<(), Error> {
    match outcome.ending {
        Ending::Signal(_) => {
            // A crash is where the last event was, or soon after.
            outcome.thread = trace.last.map(|it| it.thread);
            outcome.tick = trace.last.map(|it| it.tick);
            let site = trace.last.and_then(|it| trace.site_of(program, &it));
            outcome.position = site.and_then(|it| interesting(&it.positions).cloned());
        }
        Ending::UseAfterFree | Ending::DoubleFree => {
            let mut freed = None;
            for event in trace.events()? {
                let event = event.map_err(Error::runtime)?;
                if let EventKind::Action {
                    pc,
                    action: Action::Free { id, .. },
                } = event.kind
                    && id.0 == raw.code
                    && freed.is_none()
                {
                    freed = Some((event.thread, pc));
                }
                if (Some(event.thread), Some(event.tick)) == (outcome.thread, outcome.tick) {
                    let site = trace.site_of(program, &event);
                    outcome.position = site.and_then(|it| interesting(&it.positions).cloned());
                    break;
                }
            }
            if let Some((thread, pc)) = freed {
                let stack = symbols.return_address(pc.0);
                let place = interesting(&stack).map(|it| format!(" at {it}"));
                let place = place.unwrap_or_default();
                outcome.message = format!("the object was freed by {thread}{place}");
            }
        }
        _ => {}
    }
    Ok(())
}

/// Finds who holds the locks that were inlined: to the runtime a thread that waits for one only
/// waits on a futex.
fn name_holders(threads: &mut [ThreadInfo], trace: &mut Drained) -> Result<(), Error> {
    let mut holders = BTreeMap::new();
    for event in trace.events()? {
        let event = event.map_err(Error::runtime)?;
        if let Some(action) = event.lock_action() {
            match action.change {
                LockChange::Acquire(_) => holders.insert(action.lock, event.thread),
                LockChange::Release(_) => holders.remove(&action.lock),
                LockChange::Downgrade => None,
            };
        }
    }
    let waits = threads.iter_mut().filter_map(|it| it.wait.as_mut());
    for wait in waits.filter(|it| it.wants == Mark::FutexWake) {
        if let Some(holder) = holders.get(&wait.object) {
            wait.wants = Mark::Lock;
            wait.held_by = Some(*holder);
        }
    }
    Ok(())
}

fn cut_short(result: &RunResult) -> Option<Outcome> {
    let message = match result.cut? {
        Cut::Timeout(limit) => format!(
            "still running after {} s (--timeout sets the limit)",
            limit.as_secs_f64()
        ),
        Cut::Output => "it writes output without end".to_owned(),
    };
    Some(Outcome {
        message,
        ..Outcome::new(Ending::Hang)
    })
}

fn process_end(result: &RunResult) -> Option<Outcome> {
    if let Some(signal) = result.status.signal() {
        return Some(Outcome {
            message: signal_name(signal),
            ..Outcome::new(Ending::Signal(signal))
        });
    }
    let code = result.status.code().filter(|code| *code != 0)?;
    Some(Outcome {
        message: format!("exit status {code}"),
        ..Outcome::new(Ending::Exit(code))
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

struct Panic {
    position: SourcePosition,
    message: String,
}

/// Finds what Rust's default panic hook wrote:
/// `thread 'name' (id) panicked at file:line:column:` and the message on the lines that follow.
fn parse_panic(stderr: &str) -> Option<Panic> {
    let mut lines = stderr.lines();
    let place = lines.by_ref().find_map(|line| {
        let place = line.split_once(" panicked at ")?.1;
        place.strip_suffix(':')
    })?;
    let mut parts = place.rsplitn(3, ':');
    let column = parts.next()?.parse().ok()?;
    let line = parts.next()?.parse().ok()?;
    let file = parts.next()?.to_owned();
    let message: Vec<&str> = lines
        .take_while(|line| !line.starts_with("note: run with `RUST_BACKTRACE"))
        .take_while(|line| !line.contains(" panicked at "))
        .collect();
    Some(Panic {
        position: SourcePosition {
            function: String::new(),
            file,
            line,
            column,
        },
        message: message.join("\n").trim_end().to_owned(),
    })
}

/// Names the function that a position is in, from the stack or, where that ends early, the model.
fn with_function(
    position: SourcePosition,
    stack: &[SourcePosition],
    model: Option<&Model>,
) -> SourcePosition {
    let here =
        |line: u32, file: &str| line == position.line && file.ends_with(position.file.as_str());
    let frame = stack.iter().find(|it| here(it.line, &it.file));
    let modules = model.map(Model::modules).unwrap_or_default();
    let mut known = modules.iter().flat_map(|it| &it.positions);
    let function = match frame {
        Some(frame) => Some(frame.function.clone()),
        None => known
            .find(|it| here(it.line, &it.file))
            .map(|it| it.function.to_string()),
    };
    SourcePosition {
        function: function.unwrap_or_default(),
        ..position
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_read_from_what_the_hook_wrote() {
        let stderr = "starting\n\nthread '<unnamed>' (812) panicked at src/a:b.rs:12:9:\nassertion `left == right` failed\n  left: 1\n right: 2\nnote: run with `RUST_BACKTRACE=1` environment variable to display a backtrace\n";
        let panic = parse_panic(stderr).unwrap();
        assert_eq!(panic.position.to_string(), "src/a:b.rs:12:9");
        assert_eq!(
            panic.message,
            "assertion `left == right` failed\n  left: 1\n right: 2"
        );
        assert!(parse_panic("nothing panicked at all").is_none());
    }

    #[test]
    fn the_function_is_the_frame_at_that_line() {
        let frame = |function: &str, line| SourcePosition {
            function: function.into(),
            file: "/home/me/src/a.rs".into(),
            line,
            column: 1,
        };
        let position = SourcePosition {
            file: "src/a.rs".into(),
            line: 7,
            column: 5,
            ..SourcePosition::default()
        };
        let stack = [frame("inner", 3), frame("outer", 7)];
        assert_eq!(with_function(position, &stack, None).function, "outer");
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
