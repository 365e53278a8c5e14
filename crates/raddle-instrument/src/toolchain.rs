//! The compilers that a build calls.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Command;

use crate::error::Error;
use crate::llvm;
use crate::settings::env;

/// The tools found on this machine.
#[derive(Clone, Debug)]
pub struct Toolchain {
    /// The LLVM library in use.
    pub llvm: PathBuf,
    /// Its version.
    pub llvm_version: (u32, u32, u32),
    /// `rustc --version`, if there is one.
    pub rustc: Option<String>,
    /// First line of the C compiler's `--version`, if there is one.
    pub clang: Option<String>,
    /// The same of the C++ compiler.
    pub clangxx: Option<String>,
    /// The same of the linker driver for Rust programs.
    pub linker: Option<String>,
}

impl Toolchain {
    /// Looks for LLVM, which nothing works without, and for the compilers.
    pub fn discover() -> Result<Toolchain, Error> {
        let library = llvm::open()?;
        Ok(Toolchain {
            llvm: library.path.clone(),
            llvm_version: library.version,
            rustc: version(&rustc()),
            clang: version(&c_compiler()),
            clangxx: version(&cpp_compiler()),
            linker: version(&linker()),
        })
    }
}

/// First line of a tool's `--version`.
pub(crate) fn version(tool: &OsString) -> Option<String> {
    let output = Command::new(tool).arg("--version").output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let line = text.lines().next().map(str::to_owned);
    line.filter(|_| output.status.success())
}

fn from_env(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}

/// rustc.
pub(crate) fn rustc() -> OsString {
    from_env("RUSTC").unwrap_or_else(|| "rustc".into())
}

/// The compiler behind `raddle cc`.
pub(crate) fn c_compiler() -> OsString {
    from_env(env::CC).unwrap_or_else(|| newest("clang"))
}

/// The compiler behind `raddle c++`.
pub(crate) fn cpp_compiler() -> OsString {
    from_env(env::CXX).unwrap_or_else(|| newest("clang++"))
}

/// The linker driver behind `raddle link`.
pub(crate) fn linker() -> OsString {
    from_env(env::LINKER).unwrap_or_else(|| {
        let installed = ["cc", "gcc", "clang"]
            .into_iter()
            .find(|tool| in_path(tool));
        installed.unwrap_or("cc").into()
    })
}

/// A tool by its plain name, or else by the highest version in its name (`clang-19`).
fn newest(tool: &str) -> OsString {
    const VERSIONS: std::ops::RangeInclusive<u32> = 14..=30;
    if in_path(tool) {
        return tool.into();
    }
    let versioned = VERSIONS.rev().map(|version| format!("{tool}-{version}"));
    let found = versioned.into_iter().find(|name| in_path(name));
    found.map_or_else(|| tool.into(), OsString::from)
}

/// Whether a program is found in `PATH`.
pub(crate) fn in_path(tool: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|dir| dir.join(tool).is_file())
}
