//! What a build needs to know besides its command line.

use std::ffi::OsString;
use std::path::PathBuf;

use crate::error::Error;

/// How far a module is optimised before it is instrumented.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum OptLevel {
    /// `-O0`.
    O0,
    /// Every access that the source makes to memory that may be shared stays; the rest is optimised after
    /// instrumentation.
    #[default]
    Source,
    /// `-O1`.
    O1,
    /// `-O2`.
    O2,
    /// `-O3`.
    O3,
}

impl OptLevel {
    /// The digit of the compilers' level whose code generator is used.
    pub fn digit(self) -> u8 {
        match self {
            OptLevel::O0 => 0,
            OptLevel::Source | OptLevel::O1 => 1,
            OptLevel::O2 => 2,
            OptLevel::O3 => 3,
        }
    }

    /// What [`OptLevel::parse`] reads.
    pub fn name(self) -> &'static str {
        match self {
            OptLevel::O0 => "0",
            OptLevel::Source => "source",
            OptLevel::O1 => "1",
            OptLevel::O2 => "2",
            OptLevel::O3 => "3",
        }
    }

    /// Whether compilers should leave optimisation to the instrumenter.
    pub(crate) fn wants_unoptimised(self) -> bool {
        self <= OptLevel::Source
    }

    /// Reads `0`…`3`, with or without `O` or `-O` before it, and `source`.
    pub fn parse(text: &str) -> Option<OptLevel> {
        match text.trim_start_matches('-').trim_start_matches('O') {
            "source" => Some(OptLevel::Source),
            "0" => Some(OptLevel::O0),
            "1" => Some(OptLevel::O1),
            "2" => Some(OptLevel::O2),
            "3" => Some(OptLevel::O3),
            _ => None,
        }
    }
}

/// Settings of one build. They travel to re-invocations of the executable (rustc calls it as its
/// linker, make calls it as its compiler) through environment variables.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The runtime library that instrumented programs are linked with.
    pub runtime: PathBuf,
    /// The executable that offers the `cc`, `c++` and `link` subcommands; rustc, cargo and make
    /// are told to call it.
    pub raddle: PathBuf,
    /// Where instrumented objects are kept between builds.
    pub cache_dir: PathBuf,
    /// Optimisation before instrumentation.
    pub opt: OptLevel,
    /// The Cargo profile that has rustc optimise before, if it is one.
    pub rust_profile: Option<String>,
}

/// Names of the variables through which settings travel.
pub mod env {
    /// [`super::Settings::cache_dir`].
    pub const CACHE: &str = "RADDLE_CACHE_DIR";
    /// [`super::Settings::opt`].
    pub const OPT: &str = "RADDLE_OPT";
    /// [`super::Settings::rust_profile`].
    pub const RUST_PROFILE: &str = "RADDLE_RUST_PROFILE";
    /// The LLVM library to use.
    pub const LLVM: &str = "RADDLE_LLVM";
    /// The C compiler behind `raddle cc`.
    pub const CC: &str = "RADDLE_CC";
    /// The C++ compiler behind `raddle c++`.
    pub const CXX: &str = "RADDLE_CXX";
    /// The linker driver behind `raddle link`.
    pub const LINKER: &str = "RADDLE_LINKER";
}

impl Settings {
    /// Takes `runtime` and `raddle` as given and the rest from the environment, or its default.
    pub fn from_env(
        runtime: impl Into<PathBuf>,
        raddle: impl Into<PathBuf>,
    ) -> Result<Settings, Error> {
        let opt = match std::env::var(env::OPT) {
            Ok(text) => OptLevel::parse(&text).ok_or(Error::BadOptLevel { text })?,
            Err(_) => OptLevel::default(),
        };
        let cache_dir = match std::env::var_os(env::CACHE) {
            Some(dir) if !dir.is_empty() => PathBuf::from(dir),
            _ => default_cache_dir()?,
        };
        Ok(Settings {
            runtime: runtime.into(),
            raddle: raddle.into(),
            cache_dir,
            opt,
            rust_profile: std::env::var(env::RUST_PROFILE).ok(),
        })
    }

    /// The variables that make a re-invoked executable see the same settings.
    pub fn to_env(&self) -> Vec<(&'static str, OsString)> {
        vec![
            (env::CACHE, self.cache_dir.clone().into_os_string()),
            (env::OPT, self.opt.name().into()),
        ]
    }
}

fn default_cache_dir() -> Result<PathBuf, Error> {
    let absolute = |name: &str| {
        std::env::var_os(name)
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
    };
    absolute("XDG_CACHE_HOME")
        .or_else(|| absolute("HOME").map(|home| home.join(".cache")))
        .map(|base| base.join("raddle"))
        .ok_or(Error::NoCacheDir)
}
