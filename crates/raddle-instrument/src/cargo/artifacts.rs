//! What Cargo says it has made.

use std::ffi::OsString;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use raddle_model::{is_library_file, packages_path};
use raddle_trace::packages::{Package, Packages};
use serde_json::Value;

use super::workspace::Workspace;
use crate::command::missing;
use crate::error::Error;
use crate::{Built, CargoExecutable, model_path};

/// Runs Cargo, and collects the executables that it reports.
pub(super) fn collect(
    mut command: Command,
    workspace: &Workspace,
    host: &str,
) -> Result<Vec<CargoExecutable>, Error> {
    command.stdout(Stdio::piped());
    let mut child = command
        .spawn()
        .map_err(|source| missing(&command, source))?;
    let mut found = Vec::new();
    let mut libraries: Vec<PathBuf> = Vec::new();
    let mut packages: Vec<Package> = Vec::new();
    if let Some(stdout) = child.stdout.take() {
        for line in BufReader::new(stdout).lines() {
            let line = line.map_err(Error::io("cargo"))?;
            match serde_json::from_str::<Value>(&line) {
                Ok(message) if message["reason"] == "compiler-artifact" => {
                    found.extend(executable(&message, workspace));
                    let package = package(&message, workspace);
                    packages.extend(package.filter(|it| !packages.contains(it)));
                }
                Ok(message) if message["reason"] == "build-script-executed" => {
                    libraries.extend(linked_dirs(&message, host));
                }
                Ok(message) if message.is_object() => {}
                // A build script or a wrapper wrote something of its own.
                _ => println!("{line}"),
            }
        }
    }
    let status = child.wait().map_err(Error::io("cargo"))?;
    if status.code() != Some(0) {
        return Err(Error::ToolFailed {
            tool: "cargo".to_owned(),
            code: status.code().unwrap_or(-1),
        });
    }
    packages.sort_by(|one, other| one.dir.cmp(&other.dir));
    let packages = Packages(packages).print();
    for executable in &mut found {
        let path = packages_path(&executable.built.binary);
        std::fs::write(&path, &packages).map_err(Error::io(&path))?;
        executable.env.extend(library_path(executable, &libraries));
    }
    Ok(found)
}

/// The package that an artifact was made from, unless its path says that it is no package of the workspace.
fn package(artifact: &Value, workspace: &Workspace) -> Option<Package> {
    let manifest = artifact["manifest_path"].as_str()?;
    let dir = Path::new(manifest).parent()?.to_str()?;
    let is_own = workspace
        .package(artifact["package_id"].as_str()?)
        .is_some();
    (is_own || !is_library_file(manifest)).then(|| Package {
        dir: dir.to_owned(),
        is_own,
    })
}

/// The executable that an artifact message names, if it names one of the program's.
fn executable(artifact: &Value, workspace: &Workspace) -> Option<CargoExecutable> {
    let binary = PathBuf::from(artifact["executable"].as_str()?);
    let target = &artifact["target"];
    let name = target["name"].as_str()?;
    let kind_of_target = target["kind"][0].as_str()?;
    // Of a test's executable Cargo reports the kind of the target that it tests.
    let kind = match kind_of_target {
        _ if artifact["profile"]["test"] == true => "test",
        "custom-build" => return None,
        kind @ ("example" | "bench") => kind,
        _ => "bin",
    };
    let is_library = !["bin", "test", "example", "bench"].contains(&kind_of_target);
    let manifest_kind = if is_library { "lib" } else { kind_of_target };
    let id = artifact["package_id"].as_str()?;
    let package = workspace.package(id);
    bring_model(&binary);
    Some(CargoExecutable {
        name: name.to_owned(),
        kind: kind.to_owned(),
        package: package.map_or(id, |it| &it.name).to_owned(),
        is_default: package.is_some_and(|it| it.default_run.as_deref() == Some(name)),
        is_library,
        has_harness: package.is_none_or(|it| it.has_harness(manifest_kind, name)),
        dir: package.map(|it| it.dir.clone()).unwrap_or_default(),
        env: package.map(|it| it.env.clone()).unwrap_or_default(),
        built: Built {
            model: model_path(&binary),
            binary,
        },
    })
}

/// Directories of the build's own that a build script had linked from.
fn linked_dirs(message: &Value, host: &str) -> Vec<PathBuf> {
    let paths = message["linked_paths"].as_array();
    paths
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .map(|path| path.split_once('=').map_or(path, |(_, path)| path))
        .filter(|path| path.contains(host))
        .map(PathBuf::from)
        .collect()
}

/// Where the loader finds shared libraries of the build's own, if there may be any.
fn library_path(
    executable: &CargoExecutable,
    libraries: &[PathBuf],
) -> Option<(OsString, OsString)> {
    if libraries.is_empty() {
        return None;
    }
    let dir = executable.built.binary.parent()?.to_owned();
    let set = std::env::var_os("LD_LIBRARY_PATH").unwrap_or_default();
    let set = std::env::split_paths(&set).filter(|path| !path.as_os_str().is_empty());
    let all = libraries.iter().cloned().chain([dir]).chain(set);
    let joined = std::env::join_paths(all).ok()?;
    Some(("LD_LIBRARY_PATH".into(), joined))
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
