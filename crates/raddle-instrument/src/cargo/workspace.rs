//! What a workspace says of itself.

use std::collections::HashMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::{Options, cargo};
use crate::command::missing;
use crate::error::Error;

/// A workspace, or a package without one.
pub(super) struct Workspace {
    pub(super) target_dir: PathBuf,
    /// The manifest sets the development profile's level.
    pub(super) sets_dev_level: bool,
    /// Members by their ids.
    packages: HashMap<String, Package>,
}

/// A member.
pub(super) struct Package {
    pub(super) name: String,
    /// Where its manifest is.
    pub(super) dir: PathBuf,
    pub(super) default_run: Option<String>,
    /// What Cargo tells programs that it runs.
    pub(super) env: Vec<(OsString, OsString)>,
    /// Targets that bring their own `main` in tests, by kind and name.
    without_harness: Vec<(String, String)>,
}

impl Workspace {
    pub(super) fn read(options: &Options) -> Result<Workspace, Error> {
        let mut command = cargo();
        command.args(["metadata", "--no-deps", "--format-version", "1"]);
        if let Some(manifest) = &options.manifest {
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
        let metadata: Value =
            serde_json::from_slice(&output.stdout).map_err(|error| Error::Cargo {
                message: format!("`cargo metadata` printed no JSON: {error}"),
            })?;
        let Some(target_dir) = metadata["target_directory"].as_str() else {
            return Err(Error::Cargo {
                message: "`cargo metadata` names no target directory".to_owned(),
            });
        };
        let root = metadata["workspace_root"].as_str().unwrap_or_default();
        let root = manifest(&Path::new(root).join("Cargo.toml"));
        let profile = |name: &str| root.get("profile")?.get(name)?.get("opt-level").cloned();
        let packages = metadata["packages"].as_array();
        Ok(Workspace {
            target_dir: PathBuf::from(target_dir),
            sets_dev_level: profile("dev").is_some(),
            packages: packages
                .into_iter()
                .flatten()
                .filter_map(|it| Some((it["id"].as_str()?.to_owned(), Package::read(it)?)))
                .collect(),
        })
    }

    pub(super) fn package(&self, id: &str) -> Option<&Package> {
        self.packages.get(id)
    }
}

impl Package {
    fn read(package: &Value) -> Option<Package> {
        let path = Path::new(package["manifest_path"].as_str()?);
        let dir = path.parent()?.to_owned();
        let name = package["name"].as_str()?.to_owned();
        Some(Package {
            env: variables(package, path, &dir),
            default_run: package["default_run"].as_str().map(str::to_owned),
            without_harness: without_harness(&manifest(path), &name),
            name,
            dir,
        })
    }

    /// Whether a target's tests are run by the standard library's test runner.
    pub(super) fn has_harness(&self, kind: &str, name: &str) -> bool {
        let mut own = self.without_harness.iter();
        !own.any(|(other, it)| other == kind && it == name)
    }
}

/// A manifest's tables; Cargo has read it already, so what cannot be read here is empty.
fn manifest(path: &Path) -> toml::Table {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    text.parse().unwrap_or_default()
}

/// Targets with `harness = false`.
fn without_harness(manifest: &toml::Table, package: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for kind in ["lib", "bin", "test", "example", "bench"] {
        let tables: Vec<&toml::Value> = match manifest.get(kind) {
            Some(toml::Value::Array(tables)) => tables.iter().collect(),
            Some(table) => vec![table],
            None => Vec::new(),
        };
        for table in tables {
            let name = table.get("name").and_then(toml::Value::as_str);
            if table.get("harness").and_then(toml::Value::as_bool) == Some(false) {
                found.push((kind.to_owned(), name.unwrap_or(package).to_owned()));
            }
        }
    }
    found
}

/// The variables that `cargo run` and `cargo test` set.
fn variables(package: &Value, manifest: &Path, dir: &Path) -> Vec<(OsString, OsString)> {
    let text = |key: &str| package[key].as_str().unwrap_or_default().to_owned();
    let authors: Vec<&str> = package["authors"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let version = text("version");
    let (numbers, pre) = version.split_once('-').unwrap_or((&version, ""));
    let mut numbers = numbers.split('.').map(str::to_owned);
    let mut number = || numbers.next().unwrap_or_default();
    let variables = [
        ("CARGO_MANIFEST_DIR", dir.display().to_string()),
        ("CARGO_MANIFEST_PATH", manifest.display().to_string()),
        ("CARGO_PKG_NAME", text("name")),
        ("CARGO_PKG_VERSION", version.clone()),
        ("CARGO_PKG_VERSION_MAJOR", number()),
        ("CARGO_PKG_VERSION_MINOR", number()),
        ("CARGO_PKG_VERSION_PATCH", number()),
        ("CARGO_PKG_VERSION_PRE", pre.to_owned()),
        ("CARGO_PKG_AUTHORS", authors.join(":")),
        ("CARGO_PKG_DESCRIPTION", text("description")),
        ("CARGO_PKG_HOMEPAGE", text("homepage")),
        ("CARGO_PKG_REPOSITORY", text("repository")),
        ("CARGO_PKG_LICENSE", text("license")),
        ("CARGO_PKG_RUST_VERSION", text("rust_version")),
    ];
    variables
        .map(|(name, value)| (name.into(), value.into()))
        .into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_without_a_harness_are_found() {
        let text = "[lib]\nharness = false\n[[test]]\nname = \"a\"\n[[test]]\nname = \"b\"\nharness = false\n";
        let found = without_harness(&text.parse().expect("a manifest"), "shop");
        let expected = [("lib", "shop"), ("test", "b")];
        let expected = expected.map(|(kind, name)| (kind.to_owned(), name.to_owned()));
        assert_eq!(found, expected);
    }
}
