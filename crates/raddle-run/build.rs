//! Builds the runtime library that this crate carries inside.
//!
//! The runtime is a static library turned into a shared one by `cc`, because rustc's own `cdylib`
//! hides symbols that are defined in `global_asm!`. It is compiled by a nested cargo in a target
//! directory of its own: it needs other code generation options than the tools around it, and no
//! wrapper of the outer build (clippy, a cache) may touch it.

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, exit};

/// Options the runtime is compiled with. Unwind tables and frame pointers let a debugger and the
/// runtime's own stack walk pass through its frames. Prologues stay at the start of functions,
/// because interposed functions read their return address through the frame pointer.
const RUSTFLAGS: &[&str] = &[
    "-Cforce-unwind-tables=yes",
    "-Cforce-frame-pointers=yes",
    "-Cllvm-args=-enable-shrink-wrap=false",
];

/// Prefixes of the variables that cargo sets for build scripts and that would leak our build's
/// settings into the nested one.
const LEAKING: &[&str] = &[
    "CARGO_BUILD_",
    "CARGO_CFG_",
    "CARGO_ENCODED_",
    "CARGO_FEATURE_",
    "CARGO_INCREMENTAL",
    "CARGO_MAKEFLAGS",
    "CARGO_MANIFEST_",
    "CARGO_PKG_",
    "CARGO_PRIMARY_",
    "CARGO_PROFILE_",
    "CARGO_TARGET_",
    "CLIPPY_",
    "LLVM_PROFILE_FILE",
    "MAKEFLAGS",
    "RUSTC_WORKSPACE_WRAPPER",
    "RUSTC_WRAPPER",
    "RUSTFLAGS",
];

fn main() {
    let crates = PathBuf::from(variable("CARGO_MANIFEST_DIR")).join("..");
    let runtime = crates.join("raddle-rt");
    let exports = runtime.join("exports.map");
    let out = PathBuf::from(variable("OUT_DIR"));
    for path in [
        &runtime.join("src"),
        &runtime.join("Cargo.toml"),
        &exports,
        &crates.join("raddle-trace/src/wire"),
    ] {
        println!("cargo::rerun-if-changed={}", path.display());
    }
    println!("cargo::rerun-if-env-changed=CC");

    let archive = compile(&runtime, &out.join("rt-target"));
    link(&archive, &exports, &out.join("libraddle_rt.so"));
}

/// Compiles the runtime to a static library and returns its path.
fn compile(runtime: &Path, target: &Path) -> PathBuf {
    let run = |offline: bool| {
        let mut cargo = Command::new(variable("CARGO"));
        for (name, _) in env::vars_os() {
            let leaks = |name: &str| LEAKING.iter().any(|prefix| name.starts_with(prefix));
            if name.to_str().is_some_and(leaks) {
                cargo.env_remove(&name);
            }
        }
        cargo
            .current_dir(runtime)
            .args(["build", "--release", "--quiet", "--lib", "--target-dir"])
            .arg(target)
            .args(offline.then_some("--offline"))
            .env("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "1")
            .env("CARGO_PROFILE_RELEASE_OPT_LEVEL", "3")
            .env("CARGO_PROFILE_RELEASE_PANIC", "abort")
            .env("CARGO_ENCODED_RUSTFLAGS", RUSTFLAGS.join("\u{1f}"));
        cargo
    };
    // The dependencies were just downloaded for the outer build, so the network is a last resort.
    let quick = run(true).output();
    if !quick.is_ok_and(|output| output.status.success()) {
        check(run(false), "compile the runtime library");
    }
    target.join("release/libraddle_rt.a")
}

/// Links the static library to the shared one.
fn link(archive: &Path, exports: &Path, library: &Path) {
    let mut cc = Command::new(env::var_os("CC").unwrap_or_else(|| "cc".into()));
    // The whole runtime is one object, so that one symbol of it brings in all, and of std only what
    // it needs.
    cc.args(["-shared", "-o"])
        .arg(library)
        .arg("-Wl,-u,__raddle_slow")
        .arg(archive)
        .arg(format!("-Wl,--version-script={}", exports.display()))
        .args(["-Wl,-soname,libraddle_rt.so", "-Wl,-z,now"])
        .args(["-Wl,--gc-sections", "-Wl,--strip-debug"])
        .args(["-lpthread", "-ldl", "-lc", "-lgcc_s"]);
    check(cc, "link the runtime library");
}

fn check(mut command: Command, what: &str) {
    let failure = match command.status() {
        Ok(status) if status.success() => return,
        Ok(status) => format!("{status}"),
        Err(error) => format!("{error}"),
    };
    eprintln!("could not {what}: {failure}\n  {command:?}");
    exit(1);
}

fn variable(name: &str) -> String {
    env::var(name).unwrap_or_else(|_| panic!("cargo sets {name} for build scripts"))
}
