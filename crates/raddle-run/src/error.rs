//! What can go wrong around a run, apart from the program itself.

use std::io;
use std::path::PathBuf;

use raddle_trace::file::{ReadError, WriteError};
use raddle_trace::ids::BuildId;

/// Why a program could not be run, explored or replayed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The program cannot be started.
    #[error("cannot start {}: {source}", binary.display())]
    Start {
        /// The program.
        binary: PathBuf,
        /// The system's word.
        source: io::Error,
    },
    /// The loader does not find a library of the program's.
    #[error("cannot start {}: {what}. Name its directory in LD_LIBRARY_PATH", binary.display())]
    MissingLibrary {
        /// The program.
        binary: PathBuf,
        /// The loader's words.
        what: String,
    },
    /// A file cannot be read or written.
    #[error("cannot {doing} {}: {source}", path.display())]
    File {
        /// `read`, `write`, …
        doing: &'static str,
        /// The file.
        path: PathBuf,
        /// The system's word.
        source: io::Error,
    },
    /// A system call failed that should not.
    #[error("cannot {doing}: {source}")]
    System {
        /// What was attempted.
        doing: &'static str,
        /// The system's word.
        source: io::Error,
    },
    /// A trace cannot be written.
    #[error("{}: {source}", path.display())]
    WriteTrace {
        /// The trace.
        path: PathBuf,
        /// Why.
        source: WriteError,
    },
    /// A trace cannot be read.
    #[error("{}: {source}", path.display())]
    ReadTrace {
        /// The trace.
        path: PathBuf,
        /// Why.
        source: ReadError,
    },
    /// The program has no instrumented code, or the runtime did not get hold of it.
    #[error("nothing was instrumented in {}: {why}", binary.display())]
    NotInstrumented {
        /// The program.
        binary: PathBuf,
        /// How that was seen, and what to do.
        why: String,
    },
    /// The runtime gave up.
    #[error("the runtime inside the program cannot go on: {message}")]
    Runtime {
        /// Its words.
        message: String,
    },
    /// The machine leaves the runtime too little.
    #[error("the program cannot be run here: {message}")]
    Surroundings {
        /// Of what, and what to do.
        message: String,
    },
    /// A clip was made with another build of the program.
    #[error(
        "the clip belongs to another build of {}: the clip was made with build {clip}, the program there now is build {found}. Build the program as it was then, or look for the failure again with `raddle run`",
        binary.display()
    )]
    OtherBuild {
        /// The program.
        binary: PathBuf,
        /// Build of the clip.
        clip: BuildId,
        /// Build of the file.
        found: BuildId,
    },
    /// The file on a clip's standard input has changed.
    #[error("{} is not what it was when the clip was made; put the old contents back to replay it", path.display())]
    OtherInput {
        /// The file.
        path: PathBuf,
    },
    /// The log of a clip's inputs is not where it belongs.
    #[error("cannot read {}: {source}. It holds what the clip's run was told by the outside; put it back beside the clip to replay it", path.display())]
    NoInputs {
        /// Where it should be.
        path: PathBuf,
        /// The system's word.
        source: io::Error,
    },
    /// The log of a clip's inputs is damaged.
    #[error("cannot replay from {}: {source}", path.display())]
    BadInputs {
        /// Where it is.
        path: PathBuf,
        /// What is wrong with it.
        source: raddle_trace::inputs::InputsError,
    },
    /// A command around a run failed.
    #[error("the {what} command `{command}` failed: {why}")]
    Service {
        /// `setup` or `teardown`.
        what: &'static str,
        /// The command.
        command: String,
        /// How.
        why: String,
    },
    /// gdb cannot be started.
    #[error("cannot start gdb: {source}. Install the package `gdb`")]
    NoGdb {
        /// The system's word.
        source: io::Error,
    },
    /// The user pressed Ctrl-C.
    #[error("interrupted")]
    Interrupted,
    /// What was to be done by [`Program::until`](crate::program::Program::until) was not.
    #[error("the time was over")]
    OutOfTime,
}

impl Error {
    /// The runtime left something that makes no sense, or said that it cannot go on.
    pub fn runtime(message: impl ToString) -> Error {
        Error::Runtime {
            message: message.to_string(),
        }
    }

    /// Attaches what was attempted to a system's error.
    pub fn system<E: Into<io::Error>>(doing: &'static str) -> impl FnOnce(E) -> Error {
        move |source| Error::System {
            doing,
            source: source.into(),
        }
    }

    /// Attaches a trace to its writer's error.
    pub fn trace(path: impl Into<PathBuf>) -> impl FnOnce(WriteError) -> Error {
        let path = path.into();
        move |source| Error::WriteTrace { path, source }
    }

    /// Attaches a trace to its reader's error.
    pub fn reading(path: impl Into<PathBuf>) -> impl FnOnce(ReadError) -> Error {
        let path = path.into();
        move |source| Error::ReadTrace { path, source }
    }

    /// Attaches a file to a system's error.
    pub fn file(doing: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Error {
        let path = path.into();
        move |source| Error::File {
            doing,
            path,
            source,
        }
    }
}
