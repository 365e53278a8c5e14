//! Building Cargo packages.
//!
//! `--target` keeps build scripts and proc macros on the host's ordinary flags; only what is
//! compiled for the target gets ours. The linker is one of these flags and not Cargo's
//! `target.<triple>.linker`, which would link build scripts too. The target directory is `raddle`
//! inside the usual one. Wrappers of rustc stay where they are: nothing here needs one.

mod artifacts;
mod own;
mod workspace;

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::process::Command;

use crate::CargoExecutable;
use crate::command::missing;
use crate::error::Error;
use crate::options::is_own_target;
use crate::pass;
use crate::settings::{Settings, env};
use crate::source::{UNOPTIMISED, rust_flags, script};
use crate::toolchain::rustc;
use own::Own;
use workspace::Workspace;

/// Separates words in `CARGO_ENCODED_RUSTFLAGS`.
pub(crate) const SEPARATOR: &str = "\x1f";

/// The user's own setting of the development profile's level is respected.
pub(crate) const DEV_OPT_LEVEL: &str = "CARGO_PROFILE_DEV_OPT_LEVEL";

/// The level otherwise. Without optimisation an atomic operation is a call into another object, and
/// every lock and every report would lead to the same lines of `core`.
pub(crate) const DEFAULT_LEVEL: &str = "1";

/// See [`crate::cargo_build`].
pub(crate) fn build(args: &[OsString], settings: &Settings) -> Result<Vec<CargoExecutable>, Error> {
    let options = Options::read(args);
    let host = host_triple()?;
    if let Some(target) = &options.target
        && !is_own_target(target)
    {
        return Err(Error::OtherTarget {
            target: target.clone(),
            host,
        });
    }
    let workspace = Workspace::read(&options)?;
    let own = Own::read(&options, &host)?;
    let target_dir = match &options.target_dir {
        Some(dir) => std::path::absolute(dir).map_err(Error::io(dir))?,
        None => workspace.target_dir.join("raddle"),
    };
    let tools = Tools::make(&target_dir.join("raddle-tools"), settings)?;

    let mut command = cargo();
    let split = args.iter().position(|arg| arg == "--");
    let (own_args, rest) = args.split_at(split.unwrap_or(args.len()));
    command.args(own_args);
    if options.target.is_none() {
        command.arg("--target").arg(&host);
    }
    command.arg("--message-format=json-render-diagnostics");
    command.args(rest);
    command
        .env("CARGO_TARGET_DIR", &target_dir)
        .env(
            "CARGO_ENCODED_RUSTFLAGS",
            own.with(&tools.flags(options.is_dev_profile())),
        )
        .envs(settings.to_env());
    if !own.sets_dev_level && !workspace.sets_dev_level {
        command.env(DEV_OPT_LEVEL, DEFAULT_LEVEL);
    }
    if let Some(profile) = options
        .profile
        .as_ref()
        .filter(|_| !options.is_dev_profile())
    {
        command.env(env::RUST_PROFILE, profile);
    }
    if let Some(linker) = own
        .linker
        .filter(|_| std::env::var_os(env::LINKER).is_none())
    {
        command.env(env::LINKER, linker);
    }
    for (name, tool) in tools.compilers(&host) {
        command.env(name, tool);
    }
    artifacts::collect(command, &workspace, &host)
}

/// The single words by which build systems call us.
pub(crate) struct Tools {
    pub(crate) cc: PathBuf,
    pub(crate) cxx: PathBuf,
    linker: PathBuf,
    /// Whether the level leaves optimisation to the instrumenter.
    wants_unoptimised: bool,
}

impl Tools {
    /// Writes them to a directory.
    pub(crate) fn make(dir: &std::path::Path, settings: &Settings) -> Result<Tools, Error> {
        std::fs::create_dir_all(dir).map_err(Error::io(dir))?;
        // Cargo links again when the linker's path changes.
        let (level, version) = (settings.opt.name(), pass::version());
        let linker = format!("raddle-link-O{level}-{version}");
        Ok(Tools {
            cc: script(dir, "raddle-cc", "cc", settings)?,
            cxx: script(dir, "raddle-c++", "c++", settings)?,
            linker: script(dir, &linker, "link", settings)?,
            wants_unoptimised: settings.opt.wants_unoptimised(),
        })
    }

    /// rustc's flags. They come last, so that they prevail over what profiles say of packages. The development
    /// profile is not optimised before it is instrumented; another one is asked for to see optimised code.
    pub(crate) fn flags(&self, is_dev_profile: bool) -> Vec<OsString> {
        let profile = ["-Cdebuginfo=2", "-Cstrip=none", "-Clto=off"];
        let mut flags: Vec<OsString> = profile.map(OsString::from).into();
        if is_dev_profile && self.wants_unoptimised {
            flags.push(UNOPTIMISED.into());
        }
        flags.extend(rust_flags(&self.linker));
        flags
    }

    /// The variables by which build scripts find compilers for C and C++.
    pub(crate) fn compilers(&self, host: &str) -> [(String, &PathBuf); 2] {
        let host = host.replace('-', "_");
        [
            (format!("CC_{host}"), &self.cc),
            (format!("CXX_{host}"), &self.cxx),
        ]
    }
}

/// What Cargo's own options say that matters here.
#[derive(Default)]
struct Options {
    manifest: Option<OsString>,
    target: Option<String>,
    target_dir: Option<PathBuf>,
    /// The profile, if it is named.
    profile: Option<String>,
    /// Options that change what Cargo's configuration is, with their arguments.
    config: Vec<OsString>,
}

impl Options {
    fn read(args: &[OsString]) -> Options {
        let mut options = Options::default();
        let mut words = args.iter().take_while(|arg| *arg != "--");
        while let Some(word) = words.next() {
            let text = word.to_string_lossy();
            let (name, value) = match text.split_once('=') {
                Some((name, value)) if name.starts_with("--") => (name, Some(value.into())),
                _ => (&*text, None),
            };
            let mut value = || value.clone().or_else(|| words.next().cloned());
            match name {
                "--manifest-path" => options.manifest = value(),
                "--target-dir" => options.target_dir = value().map(PathBuf::from),
                "--target" => {
                    options.target = value().map(|it| it.to_string_lossy().into_owned());
                }
                "--release" | "-r" => options.profile = Some("release".to_owned()),
                "--profile" => {
                    options.profile = value().map(|it| it.to_string_lossy().into_owned());
                }
                "--config" | "-Z" => {
                    let value = value();
                    options.config.push(name.into());
                    options.config.extend(value);
                }
                _ => {}
            }
        }
        options
    }

    fn is_dev_profile(&self) -> bool {
        matches!(self.profile.as_deref(), None | Some("dev" | "test"))
    }
}

fn cargo() -> Command {
    Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// What `rustc -vV` calls this machine.
pub(crate) fn host_triple() -> Result<String, Error> {
    let mut command = Command::new(rustc());
    command.arg("-vV");
    let output = command
        .output()
        .map_err(|source| missing(&command, source))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let host = text.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned).ok_or_else(|| Error::Cargo {
        message: "`rustc -vV` names no host".to_owned(),
    })
}

/// The flags that Cargo would give to rustc in this directory, and ours behind them. Flags that
/// are ours already are not repeated.
pub(crate) fn flags_of_this_directory(tools: &Tools, host: &str) -> Result<Vec<OsString>, Error> {
    let mut flags = Own::read(&Options::default(), host)?.flags;
    let ours = tools.flags(true);
    flags.retain(|flag| !ours.contains(flag));
    flags.extend(ours);
    Ok(flags)
}

/// Joins flags as Cargo wants them.
fn encode(flags: &[OsString]) -> OsString {
    flags.join(OsStr::new(SEPARATOR))
}
