//! Building Cargo packages.
//!
//! `--target` keeps build scripts and proc macros on the host's ordinary flags; only what is
//! compiled for the target gets ours. The linker is one of these flags and not Cargo's
//! `target.<triple>.linker`, which would link build scripts too. The target directory is `raddle`
//! inside the usual one.

use std::ffi::{OsStr, OsString};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::command::missing;
use crate::error::Error;
use crate::settings::Settings;
use crate::source::{rust_flags, script};
use crate::toolchain::rustc;
use crate::{Built, CargoExecutable, model_path};

/// Separates words in `CARGO_ENCODED_RUSTFLAGS`.
const SEPARATOR: &str = "\x1f";

/// The user's own setting of the development profile's level is respected.
const DEV_OPT_LEVEL: &str = "CARGO_PROFILE_DEV_OPT_LEVEL";

/// See [`crate::cargo_build`].
pub(crate) fn build(args: &[OsString], settings: &Settings) -> Result<Vec<CargoExecutable>, Error> {
    let target_dir = target_dir(args)?;
    let tools = target_dir.join("raddle-tools");
    std::fs::create_dir_all(&tools).map_err(Error::io(&tools))?;
    // The level is in the name: Cargo relinks when the linker's path changes.
    let linker = script(
        &tools,
        &format!("link-O{}", settings.opt.digit()),
        "link",
        settings,
    )?;
    let cc = script(&tools, "cc", "cc", settings)?;
    let cxx = script(&tools, "c++", "c++", settings)?;
    let host = host_triple()?;
    let flags = rust_flags(&linker);

    let mut command = cargo();
    command.args(before_separator(args));
    command.arg("--target").arg(&host);
    command.arg("--message-format=json-render-diagnostics");
    command.args(from_separator(args));
    command
        .env("CARGO_TARGET_DIR", &target_dir)
        .envs(settings.to_env());
    for profile in ["DEV", "RELEASE", "TEST", "BENCH"] {
        command.env(format!("CARGO_PROFILE_{profile}_LTO"), "off");
        command.env(format!("CARGO_PROFILE_{profile}_DEBUG"), "2");
        command.env(format!("CARGO_PROFILE_{profile}_STRIP"), "none");
    }
    // Without optimisation an atomic operation is a call into another object, and every lock and
    // every report would lead to the same lines of `core`.
    if std::env::var_os(DEV_OPT_LEVEL).is_none() {
        command.env(DEV_OPT_LEVEL, "1");
    }
    set_rust_flags(&mut command, &host, &flags);
    let lower = host.replace('-', "_");
    command
        .env(format!("CC_{lower}"), &cc)
        .env(format!("CXX_{lower}"), &cxx);
    run(command)
}

fn cargo() -> Command {
    Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// Flags of the user's environment come first; Cargo lets those of the environment replace those
/// of its configuration, so ours go wherever the user's are.
fn set_rust_flags(command: &mut Command, host: &str, flags: &[OsString]) {
    let encoded = std::env::var_os("CARGO_ENCODED_RUSTFLAGS");
    let plain = std::env::var("RUSTFLAGS").ok();
    let mut all: Vec<OsString> = match (&encoded, &plain) {
        (Some(words), _) => words
            .to_string_lossy()
            .split(SEPARATOR)
            .filter(|word| !word.is_empty())
            .map(OsString::from)
            .collect(),
        (None, Some(words)) => words.split_whitespace().map(OsString::from).collect(),
        (None, None) => Vec::new(),
    };
    let from_user = !all.is_empty();
    all.extend(flags.iter().cloned());
    if from_user {
        command.env("CARGO_ENCODED_RUSTFLAGS", all.join(OsStr::new(SEPARATOR)));
    } else {
        let words: Vec<_> = all.iter().map(|word| toml_string(word)).collect();
        let value = format!("target.{host}.rustflags=[{}]", words.join(","));
        command.arg("--config").arg(value);
    }
}

fn toml_string(word: &OsStr) -> String {
    let text = word
        .to_string_lossy()
        .replace('\\', "\\\\")
        .replace('"', "\\\"");
    format!("\"{text}\"")
}

/// Arguments for Cargo itself.
fn before_separator(args: &[OsString]) -> &[OsString] {
    let end = args
        .iter()
        .position(|arg| arg == "--")
        .unwrap_or(args.len());
    &args[..end]
}

/// `--` and what follows it.
fn from_separator(args: &[OsString]) -> &[OsString] {
    &args[before_separator(args).len()..]
}

fn target_dir(args: &[OsString]) -> Result<PathBuf, Error> {
    let mut words = before_separator(args).iter();
    let mut manifest = None;
    while let Some(word) = words.next() {
        let text = word.to_string_lossy();
        if word == "--target-dir" {
            if let Some(dir) = words.next() {
                return Ok(absolute(Path::new(dir)));
            }
        } else if let Some(dir) = text.strip_prefix("--target-dir=") {
            return Ok(absolute(Path::new(dir)));
        } else if word == "--manifest-path" {
            manifest = words.next().map(PathBuf::from);
        } else if let Some(path) = text.strip_prefix("--manifest-path=") {
            manifest = Some(PathBuf::from(path));
        }
    }
    let mut command = cargo();
    command.args(["metadata", "--no-deps", "--format-version", "1"]);
    if let Some(manifest) = manifest {
        command.arg("--manifest-path").arg(manifest);
    }
    let output = command
        .output()
        .map_err(|source| missing(&command, source))?;
    if !output.status.success() {
        let words = String::from_utf8_lossy(&output.stderr);
        return Err(Error::Cargo {
            message: words.trim().trim_start_matches("error: ").to_owned(),
        });
    }
    let metadata: Value = serde_json::from_slice(&output.stdout).map_err(|error| Error::Cargo {
        message: format!("`cargo metadata` printed no JSON: {error}"),
    })?;
    match metadata["target_directory"].as_str() {
        Some(dir) => Ok(Path::new(dir).join("raddle")),
        None => Err(Error::Cargo {
            message: "`cargo metadata` names no target directory".to_owned(),
        }),
    }
}

fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

fn host_triple() -> Result<String, Error> {
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

/// Runs Cargo and collects the executables it reports.
fn run(mut command: Command) -> Result<Vec<CargoExecutable>, Error> {
    command.stdout(Stdio::piped());
    let mut child = command
        .spawn()
        .map_err(|source| missing(&command, source))?;
    let mut found = Vec::new();
    if let Some(stdout) = child.stdout.take() {
        for line in BufReader::new(stdout).lines() {
            let line = line.map_err(Error::io("cargo"))?;
            match serde_json::from_str::<Value>(&line) {
                Ok(message) if message["reason"] == "compiler-artifact" => {
                    found.extend(executable(&message));
                }
                Ok(message) if message.is_object() => {}
                // A build script or a wrapper wrote something of its own.
                _ => println!("{line}"),
            }
        }
    }
    let status = child.wait().map_err(Error::io("cargo"))?;
    match status.code() {
        Some(0) => Ok(found),
        code => Err(Error::ToolFailed {
            tool: "cargo".to_owned(),
            code: code.unwrap_or(-1),
        }),
    }
}

/// The executable that an artifact message names, if it names one of the program's.
fn executable(artifact: &Value) -> Option<CargoExecutable> {
    let binary = PathBuf::from(artifact["executable"].as_str()?);
    let target = &artifact["target"];
    // Of a test's executable Cargo reports the kind of the target that it tests.
    let kind = match target["kind"][0].as_str() {
        _ if artifact["profile"]["test"] == true => "test",
        Some("custom-build" | "proc-macro") => return None,
        Some(kind @ ("example" | "bench")) => kind,
        _ => "bin",
    };
    bring_model(&binary);
    Some(CargoExecutable {
        name: target["name"].as_str()?.to_owned(),
        kind: kind.to_owned(),
        package: artifact["package_id"].as_str()?.to_owned(),
        built: Built {
            model: model_path(&binary),
            binary,
        },
    })
}

/// Cargo links programs in `deps` and then puts a link to them where people look; the model follows.
/// Where none is found the launcher will say so.
fn bring_model(binary: &Path) {
    let model = model_path(binary);
    let Some(dir) = binary.parent() else { return };
    // Examples are linked in their own directory, under a longer name.
    let places = [dir.join("deps"), dir.to_owned()];
    let entries = places
        .iter()
        .filter_map(|place| std::fs::read_dir(place).ok())
        .flatten();
    for entry in entries.filter_map(Result::ok) {
        let original = entry.path();
        let candidate = model_path(&original);
        if original != binary && candidate.exists() && is_same_file(&original, binary) {
            let _ = std::fs::remove_file(&model);
            if std::fs::hard_link(&candidate, &model).is_err() {
                let _ = std::fs::copy(&candidate, &model);
            }
            return;
        }
    }
}

/// Whether two names lead to one file, or to one content.
fn is_same_file(left: &Path, right: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let (Ok(a), Ok(b)) = (std::fs::metadata(left), std::fs::metadata(right)) else {
        return false;
    };
    let is_linked = a.ino() == b.ino() && a.dev() == b.dev();
    is_linked || (a.len() == b.len() && std::fs::read(left).ok() == std::fs::read(right).ok())
}
