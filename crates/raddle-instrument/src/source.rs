//! Building one source file.

use std::ffi::{OsStr, OsString};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::command::{missing, status};
use crate::compile::compile;
use crate::error::Error;
use crate::settings::Settings;
use crate::toolchain;
use crate::{BuildOptions, Built, model_path};

enum Language {
    Rust,
    C,
    Cpp,
}

fn language(path: &Path) -> Result<Language, Error> {
    match path.extension().and_then(OsStr::to_str) {
        Some("rs") => Ok(Language::Rust),
        Some("c") => Ok(Language::C),
        Some("cc" | "cpp" | "cxx" | "c++" | "C") => Ok(Language::Cpp),
        _ => Err(Error::UnknownLanguage {
            path: path.to_owned(),
        }),
    }
}

/// See [`crate::build_source`].
pub(crate) fn build(
    source: &Path,
    options: &BuildOptions,
    settings: &Settings,
) -> Result<Built, Error> {
    let language = language(source)?;
    std::fs::metadata(source).map_err(Error::io(source))?;
    std::fs::create_dir_all(&options.out_dir).map_err(Error::io(&options.out_dir))?;
    let stem = source.file_stem().unwrap_or(OsStr::new("program"));
    let binary = options.out_dir.join(stem);
    let (tool, code) = match language {
        Language::Rust => ("rustc".into(), rustc(source, &binary, options, settings)?),
        Language::C => {
            let compiler = toolchain::c_compiler();
            let args = c_args(source, &binary, "-std=gnu17", options);
            let code = compile(&compiler, &args, settings)?;
            (compiler, code)
        }
        Language::Cpp => {
            let compiler = toolchain::cpp_compiler();
            let args = c_args(source, &binary, "-std=gnu++20", options);
            let code = compile(&compiler, &args, settings)?;
            (compiler, code)
        }
    };
    match code {
        0 => Ok(Built {
            model: model_path(&binary),
            binary,
        }),
        code => Err(Error::ToolFailed {
            tool: tool.to_string_lossy().into_owned(),
            code,
        }),
    }
}

fn c_args(source: &Path, binary: &Path, standard: &str, options: &BuildOptions) -> Vec<OsString> {
    let mut args: Vec<OsString> = ["-O1", "-g", "-pthread", standard]
        .map(OsString::from)
        .into();
    args.extend(options.flags.iter().cloned());
    args.extend([source.into(), OsString::from("-o"), binary.into()]);
    args
}

fn rustc(
    source: &Path,
    binary: &Path,
    options: &BuildOptions,
    settings: &Settings,
) -> Result<i32, Error> {
    let dir = tempfile::Builder::new().prefix("raddle-rustc-").tempdir();
    let dir = dir.map_err(Error::io(std::env::temp_dir()))?;
    let linker = script(dir.path(), "link", "link", settings)?;
    let mut command = Command::new(toolchain::rustc());
    command
        .arg(source)
        .args(["--edition", options.edition.as_deref().unwrap_or("2021")])
        .args([
            "-g",
            "-C",
            "opt-level=1",
            "-C",
            "codegen-units=1",
            "-C",
            "debug-assertions=on",
        ])
        .args(rust_flags(&linker))
        .args(settings.opt.wants_unoptimised().then_some(UNOPTIMISED))
        .args(&options.flags)
        .arg("-o")
        .arg(binary)
        .envs(settings.to_env());
    match status(&mut command) {
        Err(Error::Io { source, .. }) => Err(missing(&command, source)),
        other => other,
    }
}

/// Has rustc leave the passes of LLVM to the instrumenter.
pub(crate) const UNOPTIMISED: &str = "-Cno-prepopulate-passes";

/// What makes rustc hand bitcode to our linker, each flag one word.
pub(crate) fn rust_flags(linker: &Path) -> Vec<OsString> {
    let mut with_path = OsString::from("-Clinker=");
    with_path.push(linker);
    let flags = [
        "-Clinker-plugin-lto",
        "-Clinker-flavor=gcc",
        "-Cforce-frame-pointers=yes",
    ];
    let mut flags: Vec<OsString> = flags.map(OsString::from).into();
    flags.push(with_path);
    flags
}

/// Writes a script that calls the executable with a subcommand; tools want one word for a linker
/// or compiler. An unchanged script is left alone.
pub(crate) fn script(
    dir: &Path,
    name: &str,
    subcommand: &str,
    settings: &Settings,
) -> Result<PathBuf, Error> {
    let raddle = quoted(settings.raddle.as_os_str());
    let text = format!("#!/bin/sh\nexec {raddle} {subcommand} \"$@\"\n");
    executable(&dir.join(name), text.as_bytes())
}

/// A word for the shell.
pub(crate) fn quoted(word: &OsStr) -> String {
    format!("'{}'", word.to_string_lossy().replace('\'', "'\\''"))
}

/// Writes a file that can be executed. One with this content is left alone; another is replaced in
/// one step, because a build may be running it.
pub(crate) fn executable(path: &Path, content: &[u8]) -> Result<PathBuf, Error> {
    if std::fs::read(path).is_ok_and(|old| old == content) {
        return Ok(path.to_owned());
    }
    let dir = path.parent().unwrap_or(Path::new("."));
    let mut file = tempfile::NamedTempFile::new_in(dir).map_err(Error::io(dir))?;
    std::io::Write::write_all(&mut file, content).map_err(Error::io(path))?;
    let mode = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(file.path(), mode).map_err(Error::io(path))?;
    // Closed before it is renamed: a file that is open for writing cannot be executed.
    let closed = file.into_temp_path();
    closed.persist(path).map_err(|error| Error::Io {
        path: path.to_owned(),
        source: error.error,
    })?;
    Ok(path.to_owned())
}
