//! The variables with which any build system builds instrumented programs.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use xxhash_rust::xxh3::xxh3_64;

use crate::cargo::{self, DEFAULT_LEVEL, DEV_OPT_LEVEL, Tools};
use crate::error::Error;
use crate::settings::Settings;
use crate::toolchain::{rustc, version};

/// See [`crate::build_environment`]. Compilers are single words: those installed beside the executable, or else scripts.
pub(crate) fn variables(settings: &Settings) -> Result<Vec<(OsString, OsString)>, Error> {
    let dir = tools_dir(settings);
    let tools = Tools::make(&dir, settings)?;
    let [cc, cxx] = [("raddle-cc", &tools.cc), ("raddle-cxx", &tools.cxx)].map(|(name, script)| {
        let installed = settings.raddle.with_file_name(name);
        let compiler = if installed.is_file() {
            &installed
        } else {
            script
        };
        compiler.clone().into_os_string()
    });
    let mut variables: Vec<(OsString, OsString)> = vec![
        ("PATH".into(), search_path(dir)),
        ("CC".into(), cc),
        ("CXX".into(), cxx),
    ];
    if version(&rustc()).is_some() {
        variables.extend(for_cargo(&tools)?);
    }
    Ok(variables)
}

/// One directory for each executable: scripts in it call that one.
fn tools_dir(settings: &Settings) -> PathBuf {
    let name = settings.raddle.as_os_str().as_encoded_bytes();
    settings
        .cache_dir
        .join(format!("tools-{:016x}", xxh3_64(name)))
}

/// `PATH` with the tools' directory in front.
fn search_path(dir: PathBuf) -> OsString {
    let old = std::env::var_os("PATH").unwrap_or_default();
    let rest = std::env::split_paths(&old).filter(|it| *it != dir);
    let all = [dir.clone()].into_iter().chain(rest);
    std::env::join_paths(all).unwrap_or(old)
}

/// As `cargo raddle build` does it: a target of its own, so that build scripts and proc macros keep
/// their ordinary flags.
fn for_cargo(tools: &Tools) -> Result<Vec<(OsString, OsString)>, Error> {
    let host = cargo::host_triple()?;
    let flags = cargo::flags_of_this_directory(tools, &host)?;
    let is_plain = |flag: &OsString| !flag.to_string_lossy().contains(char::is_whitespace);
    let (name, separator) = match flags.iter().all(is_plain) {
        true => ("RUSTFLAGS", " "),
        false => ("CARGO_ENCODED_RUSTFLAGS", cargo::SEPARATOR),
    };
    let mut variables: Vec<(OsString, OsString)> = vec![
        ("CARGO_BUILD_TARGET".into(), host.clone().into()),
        (name.into(), flags.join(OsStr::new(separator))),
    ];
    if std::env::var_os(DEV_OPT_LEVEL).is_none() {
        variables.push((DEV_OPT_LEVEL.into(), DEFAULT_LEVEL.into()));
    }
    let compilers = tools.compilers(&host);
    variables.extend(compilers.map(|(name, tool)| (name.into(), tool.into())));
    Ok(variables)
}
