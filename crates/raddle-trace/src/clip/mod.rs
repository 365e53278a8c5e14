//! A clip: a small text file that replays one run. A person can read it and edit it.
//!
//! ```text
//! raddle clip 1
//! program examples/bank.rs
//! build 5f1d09c2
//! arg --transfers
//! arg 2
//! env LANG C
//! stdin inline "two words\n"
//! cwd inherit
//! seed 7
//! clock-start-ns 1000000000
//! clock-ns-per-tick 10
//! time virtual
//! strategy pct depth 3
//! shows "data race: bank.rs:14 writes `balance`"
//! shows-at T2@88
//! outcome panic
//! outcome-thread T2
//! switches:
//! T1@1234 -> T2 preempted site 17  # before bank.rs:14:9 write balance
//! T2@88 -> T1 ended
//! ```
//!
//! `T1@1234` is the moment at which T1 has written 1234 slots. Of a switch only the threads and
//! the tick are needed; a reason that is left out means `preempted`. Comments are for people:
//! reading a clip drops them.

mod parse;

use std::fmt::Write as _;
use std::os::unix::ffi::OsStrExt;

use crate::outcome::Outcome;
use crate::position::SourcePosition;
use crate::run::{Cwd, RunSpec, Stdin, TimeMode};
use crate::schedule::{Moment, Switch};
use crate::text::{push_quoted, push_word};
use parse::Parser;

/// Version of the text form.
pub const CLIP_VERSION: u32 = 1;

/// A run and the schedule that replays it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Clip {
    /// The program, its input, its surroundings.
    pub run: RunSpec,
    /// What it shows besides its end, in a sentence.
    pub shows: Option<String>,
    /// When it shows that, or when a run that ends in order begins to end.
    pub shows_at: Option<Moment>,
    /// How the run ends.
    pub expected: Option<Outcome>,
    /// The switches, in order.
    pub switches: Vec<Switch>,
}

/// A text that is not a clip.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {what}")]
pub struct ClipError {
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// What is wrong there.
    pub what: ClipProblem,
}

/// What is wrong with a clip.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ClipProblem {
    /// Something else should be there.
    #[error("expected {expected}, found {found}")]
    Expected {
        /// What should be there.
        expected: String,
        /// What is there.
        found: String,
    },
    /// A key that may stand once stands twice.
    #[error("`{0}` was given before")]
    Twice(String),
    /// A key that must be there is not.
    #[error("a line `{0} …` is missing before `switches:`")]
    Missing(&'static str),
    /// A part of an outcome without the outcome.
    #[error("`outcome …` must come before its parts")]
    NoOutcome,
    /// Another version's clip.
    #[error(
        "this clip has version {0} and this Raddle reads version {CLIP_VERSION}; replay it with the \
         Raddle that wrote it"
    )]
    Version(u32),
}

impl Clip {
    /// The text form.
    #[must_use]
    pub fn print(&self) -> String {
        self.print_with(|_| None)
    }

    /// The text form, with a comment behind each switch for which `note` has one.
    pub fn print_with(&self, mut note: impl FnMut(&Switch) -> Option<String>) -> String {
        let mut out = format!("raddle clip {CLIP_VERSION}\n");
        self.print_run(&mut out);
        if let Some(shows) = &self.shows {
            line(&mut out, "shows", &[shows.as_bytes()]);
        }
        if let Some(moment) = &self.shows_at {
            line(&mut out, "shows-at", &[moment.to_string().as_bytes()]);
        }
        if let Some(outcome) = &self.expected {
            print_outcome(&mut out, outcome);
        }
        out.push_str("switches:\n");
        for switch in &self.switches {
            out.push_str(&switch.to_string());
            if let Some(note) = note(switch) {
                out.push_str("  # ");
                out.push_str(&note.replace(['\n', '\r'], " "));
            }
            out.push('\n');
        }
        out
    }

    /// Reads the text form.
    pub fn parse(text: &str) -> Result<Self, ClipError> {
        Parser::default().parse(text)
    }

    fn print_run(&self, out: &mut String) {
        let RunSpec {
            program,
            build_args,
            build,
            args,
            env,
            stdin,
            cwd,
            seed,
            clock,
            time,
            strategy,
        } = &self.run;
        line(out, "program", &[program.as_os_str().as_bytes()]);
        for arg in build_args {
            line(out, "build-arg", &[arg.as_bytes()]);
        }
        line(out, "build", &[build.0.as_bytes()]);
        for arg in args {
            line(out, "arg", &[arg.as_bytes()]);
        }
        for (name, value) in env {
            line(out, "env", &[name.as_bytes(), value.as_bytes()]);
        }
        match stdin {
            Stdin::Empty => line(out, "stdin", &[b"empty"]),
            Stdin::Inline(bytes) => {
                out.push_str("stdin inline ");
                push_quoted(out, bytes);
                out.push('\n');
            }
            Stdin::File { path, digest } => {
                let digest = format!("{digest:#018x}");
                line(
                    out,
                    "stdin",
                    &[b"file", path.as_os_str().as_bytes(), digest.as_bytes()],
                );
            }
        }
        match cwd {
            Cwd::Inherit => line(out, "cwd", &[b"inherit"]),
            Cwd::Path(path) => line(out, "cwd", &[b"path", path.as_os_str().as_bytes()]),
        }
        number(out, "seed", *seed);
        number(out, "clock-start-ns", clock.start_ns);
        number(out, "clock-ns-per-tick", clock.ns_per_tick);
        let time: &[u8] = match time {
            TimeMode::Virtual => b"virtual",
            TimeMode::Real => b"real",
        };
        line(out, "time", &[time]);
        let mut words = vec![strategy.name.as_bytes()];
        words.extend(
            strategy
                .parameters
                .iter()
                .flat_map(|(k, v)| [k.as_bytes(), v.as_bytes()]),
        );
        line(out, "strategy", &words);
    }
}

fn print_outcome(out: &mut String, outcome: &Outcome) {
    let Outcome {
        ending,
        thread,
        tick,
        object,
        position,
        message,
    } = outcome;
    let _ = writeln!(out, "outcome {ending}");
    if let Some(thread) = thread {
        line(out, "outcome-thread", &[thread.to_string().as_bytes()]);
    }
    if let Some(tick) = tick {
        number(out, "outcome-tick", tick.0);
    }
    if let Some(object) = object {
        line(out, "outcome-object", &[object.to_string().as_bytes()]);
    }
    if let Some(SourcePosition {
        function,
        file,
        line: at,
        column,
    }) = position
    {
        let (at, column) = (at.to_string(), column.to_string());
        let words = [
            file.as_bytes(),
            at.as_bytes(),
            column.as_bytes(),
            function.as_bytes(),
        ];
        line(out, "outcome-position", &words);
    }
    if !message.is_empty() {
        line(out, "outcome-message", &[message.as_bytes()]);
    }
}

fn line(out: &mut String, key: &str, words: &[&[u8]]) {
    out.push_str(key);
    for word in words {
        push_word(out, word);
    }
    out.push('\n');
}

fn number(out: &mut String, key: &str, number: u64) {
    line(out, key, &[number.to_string().as_bytes()]);
}
