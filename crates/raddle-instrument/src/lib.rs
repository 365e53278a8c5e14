//! The build side of Raddle: turns source files, objects and archives into an instrumented program
//! and its program model.
//!
//! A program passes through here once, at link time. [`link_main`] takes a linker's command line,
//! replaces every object and archive member that carries LLVM bitcode by its instrumented twin,
//! adds the runtime, calls the real linker and writes the model beside the result, as
//! `<output>.raddle`. [`cc_main`] and [`cxx_main`] stand in for a C or C++ compiler,
//! [`build_source`] builds one file, [`cargo_build`] a Cargo package; all of them end in the same
//! link step.
//!
//! Each of these functions may start `settings.raddle` again, with the subcommand `cc`, `c++` or
//! `link` and the remaining arguments as the tool would have got them.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

mod archive;
mod bitcode;
mod cache;
mod cargo;
mod command;
mod compile;
mod demangle;
mod doctor;
mod environment;
mod error;
mod libraries;
mod link;
mod link_args;
mod llvm;
mod options;
mod pass;
mod script;
mod settings;
mod source;
mod symbols;
mod toolchain;
mod units;

pub use doctor::{Check, Doctor, doctor};
pub use error::Error;
pub use raddle_model::model_path;
pub use settings::{OptLevel, Settings, env};
pub use toolchain::Toolchain;

/// Options of [`build_source`].
#[derive(Clone, Debug, Default)]
pub struct BuildOptions {
    /// Where the binary goes; made if missing. The binary is named like the source, without its extension.
    pub out_dir: PathBuf,
    /// Rust edition; 2021 if none is given.
    pub edition: Option<String>,
    /// More arguments for the compiler.
    pub flags: Vec<OsString>,
}

/// A program that was built.
#[derive(Clone, Debug)]
pub struct Built {
    /// The executable.
    pub binary: PathBuf,
    /// Its program model: `<binary>.raddle`.
    pub model: PathBuf,
}

/// Builds one Rust, C or C++ source file.
pub fn build_source(
    source: &Path,
    options: &BuildOptions,
    settings: &Settings,
) -> Result<Built, Error> {
    source::build(source, options, settings)
}

/// `raddle cc`: a C compiler that keeps bitcode and links instrumented programs. Returns the exit
/// code of the tool that it called.
pub fn cc_main(args: &[OsString], settings: &Settings) -> Result<i32, Error> {
    compile::compile(&toolchain::c_compiler(), args, settings)
}

/// `raddle c++`: as [`cc_main`], for C++.
pub fn cxx_main(args: &[OsString], settings: &Settings) -> Result<i32, Error> {
    compile::compile(&toolchain::cpp_compiler(), args, settings)
}

/// `raddle link`: a linker driver (`cc`'s command line) that instruments.
pub fn link_main(args: &[OsString], settings: &Settings) -> Result<i32, Error> {
    link::link(&toolchain::linker(), args, settings)
}

/// A program that [`cargo_build`] made.
#[derive(Clone, Debug)]
pub struct CargoExecutable {
    /// Name of the Cargo target.
    pub name: String,
    /// `bin`, `example`, `test` or `bench`.
    pub kind: String,
    /// Name of the package it belongs to.
    pub package: String,
    /// The package runs this one if nobody says which.
    pub is_default: bool,
    /// Of a test: it holds the unit tests of a library, which may have documentation tests too.
    pub is_library: bool,
    /// Of a test: the standard library's test runner runs it.
    pub has_harness: bool,
    /// The package's directory, where Cargo runs tests.
    pub dir: PathBuf,
    /// What Cargo would add to its environment.
    pub env: Vec<(OsString, OsString)>,
    /// The program and its model.
    pub built: Built,
}

/// Runs `cargo <args>` (`build …`, `test --no-run …`) so that the packages are instrumented and
/// build scripts and proc macros are not. Returns the executables in the order Cargo named them.
pub fn cargo_build(args: &[OsString], settings: &Settings) -> Result<Vec<CargoExecutable>, Error> {
    cargo::build(args, settings)
}

/// The variables with which make, autoconf, cmake and cargo build instrumented programs. Compilers
/// are single words in them: scripts in a directory below the cache.
pub fn build_environment(settings: &Settings) -> Result<Vec<(OsString, OsString)>, Error> {
    environment::variables(settings)
}
