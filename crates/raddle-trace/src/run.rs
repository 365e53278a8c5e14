//! All that decides how a run goes, apart from its switches: kept in trace headers and clips.

use std::ffi::OsString;
use std::path::PathBuf;

use crate::ids::BuildId;

/// A program, its input and its surroundings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunSpec {
    /// The executable, or the one source file that it is built from.
    pub program: PathBuf,
    /// Options given to the compiler, where `program` is a source file.
    pub build_args: Vec<OsString>,
    /// The build.
    pub build: BuildId,
    /// The program's arguments, without its name.
    pub args: Vec<OsString>,
    /// Its whole environment.
    pub env: Vec<(OsString, OsString)>,
    /// Its standard input.
    pub stdin: Stdin,
    /// Its working directory.
    pub cwd: Cwd,
    /// Seed of the strategy's choices and of the program's random numbers.
    pub seed: u64,
    /// The virtual clock.
    pub clock: Clock,
    /// Whose time the program sees.
    pub time: TimeMode,
    /// How threads were chosen.
    pub strategy: Strategy,
}

/// Standard input.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Stdin {
    /// Nothing to read.
    #[default]
    Empty,
    /// These bytes.
    Inline(Vec<u8>),
    /// The contents of a file, which must still have this xxh3 digest.
    File {
        /// Where it is.
        path: PathBuf,
        /// Digest of its contents, from [`digest`].
        digest: u64,
    },
}

/// Working directory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Cwd {
    /// The one that Raddle was started in.
    #[default]
    Inherit,
    /// This one.
    Path(PathBuf),
}

/// The virtual clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Clock {
    /// Its reading at the start, nanoseconds since the epoch.
    pub start_ns: u64,
    /// How far an event moves it.
    pub ns_per_tick: u64,
}

/// Whose time the program sees.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TimeMode {
    /// The scheduler's: clocks count events, sleeps cost nothing.
    #[default]
    Virtual,
    /// The machine's.
    Real,
}

/// A strategy's name and parameters, as the command line gives them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Strategy {
    /// Such as `pct`.
    pub name: String,
    /// Such as `depth`, `3`.
    pub parameters: Vec<(String, String)>,
}

/// The digest by which standard input is recognised.
#[must_use]
pub fn digest(bytes: &[u8]) -> u64 {
    xxhash_rust::xxh3::xxh3_64(bytes)
}
