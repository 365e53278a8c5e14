//! What can go wrong while building.

use std::path::PathBuf;

/// Why a build failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// `RADDLE_OPT` is not a level.
    #[error("`{text}` is not an optimisation level: set RADDLE_OPT to 0, 1, 2 or 3")]
    BadOptLevel {
        /// What was there.
        text: String,
    },
    /// Neither `XDG_CACHE_HOME` nor `HOME` is set.
    #[error(
        "no place for the cache: set RADDLE_CACHE_DIR, XDG_CACHE_HOME or HOME to an absolute path"
    )]
    NoCacheDir,
    /// A tool is missing.
    #[error("`{tool}` was not found: {hint}")]
    MissingTool {
        /// Its name.
        tool: String,
        /// How to get it.
        hint: String,
    },
    /// A tool ended with a failure.
    #[error("`{tool}` failed with code {code}; its messages are above")]
    ToolFailed {
        /// Its name.
        tool: String,
        /// Its exit code.
        code: i32,
    },
    /// Cargo could not be asked.
    #[error("cargo: {message}")]
    Cargo {
        /// Its words.
        message: String,
    },
    /// `--target` of another machine.
    #[error(
        "Raddle builds programs for this machine only: leave `--target {target}` out, or give {host}"
    )]
    OtherTarget {
        /// What was asked for.
        target: String,
        /// What is possible.
        host: String,
    },
    /// No usable LLVM library.
    #[error(
        "no LLVM library could be opened ({why}): install rustup's rustc, or set RADDLE_LLVM to a libLLVM.so of version 17 or newer"
    )]
    NoLlvm {
        /// What was tried.
        why: String,
    },
    /// LLVM refused a module.
    #[error("LLVM, {doing} {what}: {message}")]
    Llvm {
        /// The step.
        doing: &'static str,
        /// The module.
        what: String,
        /// LLVM's words.
        message: String,
    },
    /// A source file of unknown language.
    #[error("{}: what language is this? Raddle builds .rs, .c, .cc, .cpp and .cxx files", path.display())]
    UnknownLanguage {
        /// The file.
        path: PathBuf,
    },
    /// An object or archive that cannot be read.
    #[error("{}: {message}", path.display())]
    BadObject {
        /// The file.
        path: PathBuf,
        /// Why.
        message: String,
    },
    /// Input or output.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
}

impl Error {
    /// Attaches a path to an input or output error.
    pub(crate) fn io(path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> Error {
        let path = path.into();
        move |source| Error::Io { path, source }
    }
}
