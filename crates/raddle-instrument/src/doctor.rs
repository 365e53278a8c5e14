//! What is installed, what is missing, and how to get it.

use std::ffi::OsString;

use crate::llvm;
use crate::toolchain::{c_compiler, cpp_compiler, linker, rustc, version};

/// State of the tools that Raddle uses.
#[derive(Clone, Debug)]
pub struct Doctor {
    /// One entry a tool.
    pub checks: Vec<Check>,
}

impl Doctor {
    /// Whether everything that every build needs is there.
    pub fn is_healthy(&self) -> bool {
        self.checks
            .iter()
            .all(|check| check.found.is_some() || !check.required)
    }
}

/// One tool.
#[derive(Clone, Debug)]
pub struct Check {
    /// Its name.
    pub tool: &'static str,
    /// What Raddle uses it for.
    pub purpose: &'static str,
    /// Whether nothing works without it.
    pub required: bool,
    /// Its version, or where it lies.
    pub found: Option<String>,
    /// Why it cannot be used, and how to get it; empty if it is there.
    pub advice: String,
}

/// Packages that bring a tool: Debian and Ubuntu, Fedora, Arch.
const PACKAGES: &[(&str, [&str; 3])] = &[
    ("clang", ["clang", "clang", "clang"]),
    ("clang++", ["clang", "clang", "clang"]),
    ("cc", ["gcc", "gcc", "gcc"]),
    ("gdb", ["gdb", "gdb", "gdb"]),
];

/// How to get a tool.
pub(crate) fn hint(tool: &str) -> String {
    let name = tool.rsplit('/').next().unwrap_or(tool);
    if name == "rustc" || name == "cargo" {
        return "install Rust from https://rustup.rs".to_owned();
    }
    match PACKAGES.iter().find(|(known, _)| *known == name) {
        Some((_, [debian, fedora, arch])) => format!(
            "install it with `apt install {debian}` (Debian, Ubuntu), `dnf install {fedora}` (Fedora) or `pacman -S {arch}` (Arch); on macOS Raddle does not run"
        ),
        None => "check its name and your PATH".to_owned(),
    }
}

/// Looks at every tool.
pub fn doctor() -> Doctor {
    let tool = |tool: &'static str, purpose, required, program: OsString| {
        let found = version(&program);
        Check {
            tool,
            purpose,
            required,
            advice: match found {
                Some(_) => String::new(),
                None => hint(tool),
            },
            found,
        }
    };
    let mut checks = vec![llvm_check()];
    checks.push(tool("rustc", "Rust programs", false, rustc()));
    checks.push(tool("clang", "C programs", false, c_compiler()));
    checks.push(tool("clang++", "C++ programs", false, cpp_compiler()));
    checks.push(tool("cc", "linking Rust programs", true, linker()));
    checks.push(tool("gdb", "`raddle replay --gdb`", false, "gdb".into()));
    Doctor { checks }
}

fn llvm_check() -> Check {
    let (found, advice) = match llvm::open() {
        Ok(library) => {
            let (major, minor, patch) = library.version;
            let path = library.path.display();
            (
                Some(format!("{major}.{minor}.{patch} ({path})")),
                String::new(),
            )
        }
        Err(error) => (None, error.to_string()),
    };
    Check {
        tool: "LLVM",
        purpose: "instrumenting",
        required: true,
        found,
        advice,
    }
}
