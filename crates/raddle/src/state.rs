//! Where Raddle keeps things, and the variables it listens to.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use raddle_instrument::{OptLevel, Settings};
use raddle_run::runtime;

use crate::config;

/// Every variable that some part of Raddle reads.
const VARIABLES: &[&str] = &[
    raddle_instrument::env::CACHE,
    raddle_instrument::env::OPT,
    raddle_instrument::env::RUST_PROFILE,
    raddle_instrument::env::LLVM,
    raddle_instrument::env::CC,
    raddle_instrument::env::CXX,
    raddle_instrument::env::LINKER,
];

/// The directory of builds and clips, if the user names no other.
pub const DEFAULT_DIR: &str = ".raddle";

/// Warns about variables that look as if they meant something to us, but don't.
pub fn warn_about_unknown_variables() {
    for (name, _) in std::env::vars_os() {
        let name = name.to_string_lossy();
        let is_known = VARIABLES.contains(&&*name) || config::is_variable(&name);
        if name.starts_with("RADDLE_") && !is_known {
            eprintln!(
                "raddle: warning: {name} means nothing to Raddle (it knows {}, and RADDLE_CHECK_RUNS and so on for the options of `raddle check`)",
                VARIABLES.join(", ")
            );
        }
    }
}

/// The settings of a build with this executable and the runtime inside it.
pub fn settings(opt: Option<OptLevel>) -> Result<Settings> {
    let cache = runtime::cache_dir();
    let library = runtime::unpack(&cache)
        .with_context(|| format!("cannot unpack the runtime library to {}", cache.display()))?;
    let raddle = std::env::current_exe().context("cannot find my own executable")?;
    let mut settings = Settings::from_env(library, raddle)?;
    if let Some(opt) = opt {
        settings.opt = opt;
    }
    Ok(settings)
}

/// The first path `<dir>/clips/<name>-<n>.clip` that does not exist yet, with its directory made.
pub fn next_clip(dir: &Path, name: &str) -> Result<PathBuf> {
    let clips = dir.join("clips");
    std::fs::create_dir_all(&clips).with_context(|| format!("cannot make {}", clips.display()))?;
    let numbered = (1..).map(|number: u32| clips.join(format!("{name}-{number}.clip")));
    let mut free = numbered.filter(|path| !path.exists());
    free.next().context("every clip number is taken")
}
