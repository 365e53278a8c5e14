//! Finds out where a run failed and why: from stacks, symbols, the program's last words and, if the
//! run was recorded, its events.

use std::collections::BTreeMap;

use raddle_model::Outline;
use raddle_trace::action::Action;
use raddle_trace::event::{EventKind, LockChange};
use raddle_trace::ids::ThreadId;
use raddle_trace::outcome::{Ending, Outcome, ThreadInfo};
use raddle_trace::packages::Packages;
use raddle_trace::position::SourcePosition;
use raddle_trace::stack::Stacks;
use raddle_trace::wire::{self, Mark, OutcomeKind, ThreadState};

use crate::error::Error;
use crate::launch::RunResult;
use crate::outcome::{Failure, Stuck};
use crate::program::Program;
use crate::record::Drained;
use crate::symbols::{Symbols, inside_package, interesting};

/// The signals of bad accesses.
const SIGBUS: i32 = 7;
const SIGSEGV: i32 = 11;

/// Most events of a run that stands still which are read to find out where its threads are.
const LONGEST_READ: u64 = 8 << 20;

/// Adds to an outcome what else is known of the run.
pub(crate) fn explain(
    program: &Program,
    result: &RunResult,
    outcome: Outcome,
    trace: Option<&mut Drained>,
) -> Result<Failure, Error> {
    program.with_symbols(&result.head.images, |symbols| {
        explain_with(program, result, outcome, trace, symbols)
    })
}

fn explain_with(
    program: &Program,
    result: &RunResult,
    mut outcome: Outcome,
    trace: Option<&mut Drained>,
    symbols: &Symbols,
) -> Result<Failure, Error> {
    let stack_of = |info: &ThreadInfo| {
        let addresses: Vec<u64> = info.stack.iter().map(|it| it.0).collect();
        symbols.stack(&addresses)
    };
    let mut threads = result.threads.clone();
    let stands_still = matches!(outcome.ending, Ending::Deadlock | Ending::Hang);
    let mut last = BTreeMap::new();
    if let Some(trace) = trace {
        place_by_trace(&mut outcome, &result.head.outcome, program, symbols, trace)?;
        if stands_still && result.head.ticks <= LONGEST_READ {
            name_holders(&mut threads, trace)?;
        }
        if outcome.ending == Ending::Hang && result.head.ticks <= LONGEST_READ {
            last = last_places(program, trace)?;
        }
    }
    let failing = outcome.thread.and_then(|it| threads.get(it.0 as usize));
    let mut stack = failing.map(stack_of).unwrap_or_default();
    let pc = result.head.outcome.pc;
    if stack.is_empty() && pc != 0 {
        stack = symbols.stack(&[pc]);
    }
    if !stands_still && outcome.position.is_none() {
        outcome.position = interesting(&stack, program.packages()).cloned();
    }
    // The runner of a test has caught the panic that made it fail.
    let may_be_panic = matches!(outcome.ending, Ending::Panic | Ending::Exit(PANIC_STATUS));
    if may_be_panic && let Some(panic) = panic_at(&String::from_utf8_lossy(&result.stderr), &stack)
    {
        outcome.ending = Ending::Panic;
        outcome.message = panic.message;
        outcome.position = Some(with_function(panic.position, &stack, program.outline()));
    }
    let is_in_a_loop =
        |info: &ThreadInfo| matches!(info.state, ThreadState::Ready | ThreadState::Spinning);
    let alive = |info: &&ThreadInfo| !matches!(info.state, ThreadState::None | ThreadState::Ended);
    let stuck = threads.iter().filter(|_| stands_still).filter(alive);
    Ok(Failure {
        outcome,
        stack,
        stuck: stuck
            .map(|info| Stuck {
                info: info.clone(),
                // A thread that waits in a loop is where its last event was, in a frame that its stack does not show.
                stack: match last.remove(&info.thread) {
                    Some(mut places) if is_in_a_loop(info) => {
                        places.extend(stack_of(info));
                        places
                    }
                    _ => stack_of(info),
                },
            })
            .collect(),
    })
}

/// Finds in the recorded events what the outcome itself does not tell.
fn place_by_trace(
    outcome: &mut Outcome,
    raw: &wire::Outcome,
    program: &Program,
    symbols: &Symbols,
    trace: &mut Drained,
) -> Result<(), Error> {
    let packages = program.packages();
    match outcome.ending {
        // What `abort` was called by is known.
        Ending::Signal(_) if raw.kind != OutcomeKind::None as u32 => {}
        Ending::Signal(signal) => {
            let Some(last) = trace.last() else {
                return Ok(());
            };
            (outcome.thread, outcome.tick) = (Some(last.thread), Some(last.tick));
            // An access that faults is the last event. Whatever else ends a thread comes after its last event, in
            // code of which no event tells.
            let is_fault = matches!(signal, SIGSEGV | SIGBUS) && last.footprint().is_some();
            let site = trace.site_of(program, &last).filter(|_| is_fault);
            outcome.position = site.and_then(|it| interesting(&it.positions, packages).cloned());
        }
        Ending::UseAfterFree | Ending::DoubleFree => {
            let mut stacks = Stacks::default();
            let mut freed = None;
            for event in trace.events()? {
                let event = event.map_err(Error::runtime)?;
                stacks.observe(&event);
                let positions = |own: Vec<SourcePosition>| {
                    let callers = stacks.frames(event.thread).iter().rev();
                    let callers =
                        callers.flat_map(|it| symbols.return_address(it.return_address.0));
                    own.into_iter().chain(callers).collect::<Vec<_>>()
                };
                if let EventKind::Action {
                    pc,
                    action: Action::Free { id, .. },
                } = event.kind
                    && id.0 == raw.code
                    && freed.is_none()
                {
                    freed = Some((event.thread, positions(symbols.return_address(pc.0))));
                }
                if (Some(event.thread), Some(event.tick)) == (outcome.thread, outcome.tick) {
                    let site = trace.site_of(program, &event);
                    let stack = site.map(|it| positions(it.positions));
                    let stack = stack.unwrap_or_default();
                    outcome.position = interesting(&stack, packages).cloned();
                    break;
                }
            }
            if let Some((thread, stack)) = freed {
                let place = place(&stack, packages).map(|it| format!(" at {it}"));
                let place = place.unwrap_or_default();
                outcome.message = format!("the object was freed by {thread}{place}");
            }
        }
        _ => {}
    }
    Ok(())
}

/// Where the user should look for what happened on a stack: `src/deque.rs:9:5 (called at src/main.rs:7:9)` inside a
/// package. Nowhere, if all of it is the language's own code.
fn place(stack: &[SourcePosition], packages: &Packages) -> Option<String> {
    let is_language = |it: &&SourcePosition| raddle_model::is_language_file(&it.file);
    let called = interesting(stack, packages).filter(|it| !is_language(it))?;
    Some(match inside_package(stack, packages) {
        Some(inside) => format!("{inside} (called at {called})"),
        None => called.to_string(),
    })
}

/// Where each thread was last: the frames of its last event's instruction, those that were inlined, innermost first.
fn last_places(
    program: &Program,
    trace: &mut Drained,
) -> Result<BTreeMap<ThreadId, Vec<SourcePosition>>, Error> {
    let mut last = BTreeMap::new();
    for event in trace.events()? {
        let event = event.map_err(Error::runtime)?;
        if event.site().is_some() {
            last.insert(event.thread, event);
        }
    }
    let places = last.into_iter().filter_map(|(thread, event)| {
        let site = trace.site_of(program, &event)?;
        Some((thread, site.positions))
    });
    Ok(places.collect())
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

/// The exit status of a Rust program that panics.
const PANIC_STATUS: i32 = 101;

struct Panic {
    position: SourcePosition,
    message: String,
}

/// What Rust's default panic hook wrote of the panic on this stack. A program may have caught others before.
fn panic_at(stderr: &str, stack: &[SourcePosition]) -> Option<Panic> {
    let mut panics: Vec<Panic> = Vec::new();
    let mut rest = stderr;
    while let Some((_, place)) = rest.split_once(" panicked at ") {
        panics.extend(parse_panic(place));
        rest = place;
    }
    let is_here = |it: &Panic| {
        stack
            .iter()
            .any(|at| is_place(&it.position, at.line, &at.file))
    };
    let here = panics.iter().position(is_here).unwrap_or(0);
    (here < panics.len()).then(|| panics.swap_remove(here))
}

/// Whether a line of a file is that of a position, which may have a shorter path.
fn is_place(position: &SourcePosition, line: u32, file: &str) -> bool {
    line == position.line && file.ends_with(position.file.as_str())
}

/// Reads what follows after `thread 'name' (id) panicked at `: `file:line:column:`, and the message on the
/// lines behind it.
fn parse_panic(text: &str) -> Option<Panic> {
    let mut lines = text.lines();
    let place = lines.next()?.strip_suffix(':')?;
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

/// Names the function that a position is in and the file's whole path, from the stack or, where that ends early, the
/// outline.
fn with_function(
    position: SourcePosition,
    stack: &[SourcePosition],
    outline: Option<&Outline>,
) -> SourcePosition {
    let frame = stack
        .iter()
        .find(|it| is_place(&position, it.line, &it.file));
    let mut known = outline.into_iter().flat_map(Outline::positions);
    let found = match frame {
        Some(frame) => Some((frame.function.clone(), frame.file.clone())),
        None => known
            .find(|it| is_place(&position, it.line, &it.file))
            .map(|it| (it.function.to_string(), it.file.to_string())),
    };
    match found {
        Some((function, file)) => SourcePosition {
            function,
            file,
            ..position
        },
        None => position,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_read_from_what_the_hook_wrote() {
        let stderr = "starting\n\nthread '<unnamed>' (812) panicked at src/a:b.rs:12:9:\nassertion `left == right` failed\n  left: 1\n right: 2\nnote: run with `RUST_BACKTRACE=1` environment variable to display a backtrace\n";
        let panic = panic_at(stderr, &[]).unwrap();
        assert_eq!(panic.position.to_string(), "src/a:b.rs:12:9");
        assert_eq!(
            panic.message,
            "assertion `left == right` failed\n  left: 1\n right: 2"
        );
        assert!(panic_at("nothing panicked at all", &[]).is_none());
    }

    #[test]
    fn of_several_panics_it_is_the_one_on_the_stack() {
        let stderr = "thread 'a' (1) panicked at src/a.rs:1:2:\none\n\nthread 'b' (2) panicked at src/b.rs:3:4:\ntwo\n";
        let at = |file: &str, line| SourcePosition {
            file: file.into(),
            line,
            ..SourcePosition::default()
        };
        let message = |stack: &[SourcePosition]| panic_at(stderr, stack).unwrap().message;
        assert_eq!(
            message(&[at("std.rs", 9), at("/home/me/src/b.rs", 3)]),
            "two"
        );
        assert_eq!(message(&[at("/home/me/src/a.rs", 1)]), "one");
        assert_eq!(message(&[]), "one");
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
}
