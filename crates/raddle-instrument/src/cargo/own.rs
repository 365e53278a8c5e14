//! What the user has told Cargo to tell rustc: flags, linker, level.
//!
//! Flags come from the environment, or else from `[target]` tables, or else from `[build]`, of
//! several files that include and override each other. Ours have to be added to whatever comes
//! out. So where there is any configuration, Cargo builds an empty package with it, and a stand-in
//! for rustc writes down what it was told.

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::Stdio;

use super::{DEV_OPT_LEVEL, Options, SEPARATOR, cargo, encode};
use crate::command::missing;
use crate::error::Error;
use crate::source::{executable, quoted};
use crate::toolchain::rustc;

/// The user's settings.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Own {
    pub(super) flags: Vec<OsString>,
    /// The linker driver that would have been called.
    pub(super) linker: Option<OsString>,
    /// The development profile's level is set outside the manifest.
    pub(super) sets_dev_level: bool,
}

impl Own {
    pub(super) fn read(options: &Options, host: &str) -> Result<Own, Error> {
        let mut own = match has_configuration(options) {
            true => Own::from_words(&ask(options, host)?),
            false => Own {
                flags: flags_of_environment(),
                ..Own::default()
            },
        };
        own.sets_dev_level |= std::env::var_os(DEV_OPT_LEVEL).is_some();
        let set = linkers(&own.flags).next_back();
        own.linker = set.or(own.linker).filter(|linker| is_driver(linker));
        Ok(own)
    }

    /// From the words of a call of rustc that ends with the user's flags.
    fn from_words(words: &[OsString]) -> Own {
        let text = |word: &OsString| word.to_string_lossy().into_owned();
        // They stand behind Cargo's own search directories.
        let is_cargos = |it: &str| it.starts_with("dependency=") && it.contains(MARK_DIR);
        let end = words.iter().rposition(|word| is_cargos(&text(word)));
        let (cargos, flags) = words.split_at(end.map_or(words.len(), |end| end + 1));
        Own {
            flags: flags.to_vec(),
            linker: linkers(cargos).next_back(),
            sets_dev_level: cargos.iter().any(|it| text(it).starts_with("opt-level=")),
        }
    }

    /// These flags, and others behind them, as Cargo wants them.
    pub(super) fn with(&self, flags: &[OsString]) -> OsString {
        encode(&[self.flags.as_slice(), flags].concat())
    }
}

/// A part of the target directory's name, by which Cargo's own words are told from the user's.
const MARK_DIR: &str = "raddle-asks-cargo";

/// The linkers that `-Clinker=…` and `-C linker=…` name.
fn linkers(words: &[OsString]) -> impl DoubleEndedIterator<Item = OsString> {
    let named = words.iter().filter_map(|word| {
        let text = word.to_str()?;
        let text = text.strip_prefix("-C").unwrap_or(text);
        text.strip_prefix("linker=").map(OsString::from)
    });
    named.collect::<Vec<_>>().into_iter()
}

/// Whether a linker is called like a compiler, as we will call it.
fn is_driver(linker: &OsStr) -> bool {
    let name = Path::new(linker).file_name().unwrap_or_default();
    let name = name.to_string_lossy();
    ["cc", "c++", "clang", "gcc", "g++"]
        .iter()
        .any(|driver| name.contains(driver))
}

fn flags_of_environment() -> Vec<OsString> {
    let encoded = std::env::var("CARGO_ENCODED_RUSTFLAGS").ok();
    let plain = std::env::var("RUSTFLAGS").ok();
    let words: Vec<&str> = match (&encoded, &plain) {
        (Some(words), _) => words.split(SEPARATOR).collect(),
        (None, Some(words)) => words.split_whitespace().collect(),
        (None, None) => Vec::new(),
    };
    let words = words.into_iter().filter(|word| !word.is_empty());
    words.map(OsString::from).collect()
}

/// Whether Cargo has anything to read besides the manifest.
fn has_configuration(options: &Options) -> bool {
    let in_environment = |name: OsString| {
        let name = name.to_string_lossy();
        let mut starts = ["CARGO_TARGET_X", "CARGO_BUILD_RUST", "CARGO_PROFILE_"].iter();
        starts.any(|start| name.starts_with(start))
    };
    let here = std::env::current_dir().unwrap_or_default();
    let home = std::env::var_os("CARGO_HOME").map(std::path::PathBuf::from);
    let user = std::env::home_dir().map(|dir| dir.join(".cargo"));
    let mut dirs: Vec<_> = here.ancestors().map(|dir| dir.join(".cargo")).collect();
    dirs.extend(home.into_iter().chain(user));
    let is_config = |dir: &Path| dir.join("config.toml").exists() || dir.join("config").exists();
    options.config.iter().any(|word| word == "--config")
        || std::env::vars_os().any(|(name, _)| in_environment(name))
        || dirs.iter().any(|dir| is_config(dir))
}

/// What rustc would be told in this directory, word by word.
fn ask(options: &Options, host: &str) -> Result<Vec<OsString>, Error> {
    let dir = tempfile::Builder::new().prefix(MARK_DIR).tempdir();
    let dir = dir.map_err(Error::io(std::env::temp_dir()))?;
    let dir = dir.path();
    let write = |name: &str, text: &str| {
        let path = dir.join(name);
        std::fs::write(&path, text).map_err(Error::io(&path))
    };
    let manifest = "[package]\nname = \"raddle_asks\"\nedition = \"2021\"\n[lib]\npath = \"lib.rs\"\n[workspace]\n";
    write("Cargo.toml", manifest)?;
    write("lib.rs", "")?;
    let said = dir.join("said");
    let stand_in = format!(
        "#!/bin/sh\ncase \" $* \" in *' --crate-name raddle_asks '*) printf '%s\\n' \"$@\" >{}; exit 1;; esac\nexec {} \"$@\"\n",
        quoted(said.as_os_str()),
        quoted(&rustc()),
    );
    let stand_in = executable(&dir.join("rustc"), stand_in.as_bytes())?;
    let mut command = cargo();
    command
        .args(["build", "--quiet", "--target", host, "--manifest-path"])
        .arg(dir.join("Cargo.toml"))
        .args(&options.config)
        .env("CARGO_TARGET_DIR", dir.join("target"))
        .env("CARGO_CACHE_RUSTC_INFO", "0")
        .env("RUSTC", stand_in)
        .env("RUSTC_WRAPPER", "")
        .env("RUSTC_WORKSPACE_WRAPPER", "")
        .stdin(Stdio::null());
    let output = command
        .output()
        .map_err(|source| missing(&command, source))?;
    match std::fs::read_to_string(&said) {
        Ok(text) => Ok(text.lines().map(OsString::from).collect()),
        Err(_) => Err(Error::Cargo {
            message: String::from_utf8_lossy(&output.stderr).trim().to_owned(),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_users_flags_come_last() {
        let words = "--crate-name raddle_asks -C opt-level=3 --target x -C linker=clang -L \
                     dependency=/tmp/raddle-asks-cargoX/target/x/deps --cfg foo -Clinker=gcc-12";
        let words: Vec<OsString> = words.split_whitespace().map(OsString::from).collect();
        let own = Own::from_words(&words);
        assert_eq!(own.flags, ["--cfg", "foo", "-Clinker=gcc-12"]);
        assert_eq!(own.linker, Some("clang".into()));
        assert!(own.sets_dev_level);
        assert_eq!(linkers(&own.flags).next_back(), Some("gcc-12".into()));
    }

    #[test]
    fn linkers_that_are_no_drivers_are_left_alone() {
        assert!(is_driver(OsStr::new("/usr/bin/x86_64-linux-gnu-gcc-12")));
        assert!(!is_driver(OsStr::new("/usr/bin/ld.lld")));
        assert!(!is_driver(OsStr::new("mold")));
    }
}
