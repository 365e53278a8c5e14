//! Exit codes, the same for every command.

use std::process::ExitCode;

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Nothing was found.
    Clean,
    /// The command line, a file or the machine is not as it should be.
    Usage,
    /// A run failed.
    Found,
    /// Raddle itself is wrong.
    Internal,
    /// Nothing was instrumented, so that nothing could have been found.
    NotInstrumented,
    /// The user ended it before it found anything.
    Interrupted,
    /// The code of a tool that stood behind this one.
    Tool(u8),
}

impl Exit {
    /// Its number.
    pub fn code(self) -> u8 {
        match self {
            Exit::Clean => 0,
            Exit::Usage => 1,
            Exit::Found => 2,
            Exit::Internal => 3,
            Exit::NotInstrumented => 4,
            // As shells give it.
            Exit::Interrupted => 130,
            Exit::Tool(code) => code,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit.code())
    }
}

/// The exit code that an error deserves.
pub fn of_error(error: &anyhow::Error) -> Exit {
    match error.downcast_ref() {
        Some(raddle_run::Error::NotInstrumented { .. }) => Exit::NotInstrumented,
        Some(raddle_run::Error::Runtime { .. } | raddle_run::Error::System { .. }) => {
            Exit::Internal
        }
        Some(raddle_run::Error::Interrupted) => Exit::Interrupted,
        _ => Exit::Usage,
    }
}
