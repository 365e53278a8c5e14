//! The environment a program runs in, the same for every run.
//!
//! A program sees a fixed set of variables with fixed defaults, in a fixed order, and the search path of libraries if
//! the user has one. The block's
//! strings are padded to a whole number of pages, so that the first thread's stack lies at the same
//! addresses whatever the length of the user's `PATH` or home directory.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use raddle_trace::wire;

/// Descriptor of the memory file in the program. High, so that the numbers which the program's own
/// files get are the ordinary ones.
pub const MEMORY_FD: i32 = 200;
/// Descriptor of the socket in the program.
pub const SOCKET_FD: i32 = 201;

/// Variable that fills the block up.
const PADDING: &str = "RADDLE_PADDING";
const BLOCK_BYTES: usize = 4096;

/// Passed on if set, else set to the default.
const PASSED_ON: &[(&str, &str)] = &[
    ("HOME", "/"),
    ("PATH", "/usr/local/bin:/usr/bin:/bin"),
    ("TMPDIR", "/tmp"),
    ("USER", "user"),
];

/// Passed on if set: without it a program that was started from its build directory does not find its libraries.
const KEPT: &[&str] = &["LD_LIBRARY_PATH"];

/// Set to the same value in every run.
const FIXED: &[(&str, &str)] = &[
    ("LANG", "C.UTF-8"),
    ("RUST_BACKTRACE", "0"),
    ("TERM", "dumb"),
    ("TZ", "UTC"),
];

/// Set unless the user sets it, whatever else is kept. OpenMP's threads that wait would spin in their library, where no
/// event shows what they wait for, and for a time that they read off the processor's counter of cycles; so they sleep.
const DEFAULTS: &[(&str, &str)] = &[("OMP_WAIT_POLICY", "passive")];

/// What the user wants of the environment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EnvPolicy {
    /// Keep every variable of the launcher's environment.
    pub keep: bool,
    /// Variables to set besides.
    pub set: Vec<(OsString, OsString)>,
}

/// The program's variables, in the order of their names: what a clip keeps.
pub fn resolve(policy: &EnvPolicy) -> Vec<(OsString, OsString)> {
    resolve_from(policy, std::env::vars_os().collect())
}

fn resolve_from(
    policy: &EnvPolicy,
    outer: BTreeMap<OsString, OsString>,
) -> Vec<(OsString, OsString)> {
    let mut variables = BTreeMap::new();
    if policy.keep {
        variables.extend(outer);
    } else {
        for (name, default) in PASSED_ON {
            let value = outer.get(OsStr::new(name)).cloned();
            variables.insert(name.into(), value.unwrap_or_else(|| default.into()));
        }
        let kept = KEPT
            .iter()
            .filter_map(|name| outer.get_key_value(OsStr::new(name)));
        variables.extend(kept.map(|(name, value)| (name.clone(), value.clone())));
        variables.extend(
            FIXED
                .iter()
                .map(|(name, value)| (name.into(), value.into())),
        );
    }
    for (name, value) in DEFAULTS {
        variables.entry(name.into()).or_insert_with(|| value.into());
    }
    variables.extend(policy.set.iter().cloned());
    variables.into_iter().collect()
}

/// The block that a program with these variables is started with: the runtime finds its launcher
/// in it, and is itself loaded before every other library.
pub fn block(variables: &[(OsString, OsString)], runtime: &Path) -> BTreeMap<OsString, OsString> {
    let mut block: BTreeMap<_, _> = variables.iter().cloned().collect();
    let mut preload = runtime.as_os_str().to_owned();
    let theirs = block.get(OsStr::new("LD_PRELOAD"));
    if let Some(theirs) = theirs.filter(|it| !it.is_empty()) {
        preload.push(":");
        preload.push(theirs);
    }
    block.insert("LD_PRELOAD".into(), preload);
    // The first call of a function would otherwise run the loader on the program's stack, where it leaves
    // register contents, at another point in a replay than in the run.
    block.insert("LD_BIND_NOW".into(), "1".into());
    block.insert(
        wire::CONTROL_ENV.into(),
        format!("{MEMORY_FD},{SOCKET_FD}").into(),
    );
    block.insert(PADDING.into(), OsString::new());
    let size: usize = block
        .iter()
        .map(|(name, value)| name.as_bytes().len() + value.as_bytes().len() + "=\0".len())
        .sum();
    let padding = size.next_multiple_of(BLOCK_BYTES) - size;
    block.insert(PADDING.into(), "x".repeat(padding).into());
    block
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outer(variables: &[(&str, &str)]) -> BTreeMap<OsString, OsString> {
        let owned = |(name, value): &(&str, &str)| (name.into(), value.into());
        variables.iter().map(owned).collect()
    }

    fn shape(block: &BTreeMap<OsString, OsString>) -> (usize, usize) {
        let bytes = block
            .iter()
            .map(|(name, value)| name.len() + value.len() + 2);
        (block.len(), bytes.sum())
    }

    #[test]
    fn the_block_has_one_shape_whoever_runs_it() {
        let policy = EnvPolicy::default();
        let empty = block(&resolve_from(&policy, outer(&[])), Path::new("/c/rt.so"));
        let user = outer(&[("HOME", "/home/somebody"), ("EDITOR", "vi"), ("TZ", "CET")]);
        let cache = Path::new("/home/somebody/.cache/rt.so");
        let full = block(&resolve_from(&policy, user), cache);
        assert_eq!(shape(&empty), shape(&full));
        assert_eq!(shape(&empty).1 % BLOCK_BYTES, 0);
        assert_eq!(full[OsStr::new("TZ")], "UTC");
        assert!(!full.contains_key(OsStr::new("EDITOR")));
    }

    #[test]
    fn the_search_path_of_libraries_stays() {
        let user = outer(&[("LD_LIBRARY_PATH", "/build/.libs"), ("EDITOR", "vi")]);
        let resolved = resolve_from(&EnvPolicy::default(), user);
        let find = |name: &str| resolved.iter().find(|(it, _)| it == name);
        assert_eq!(find("LD_LIBRARY_PATH").unwrap().1, "/build/.libs");
        assert_eq!(find("EDITOR"), None);
    }

    #[test]
    fn what_the_user_sets_wins_and_his_preloads_stay() {
        let policy = EnvPolicy {
            keep: true,
            set: vec![("EDITOR".into(), "ed".into())],
        };
        let user = outer(&[("EDITOR", "vi"), ("LD_PRELOAD", "/lib/mine.so")]);
        let block = block(&resolve_from(&policy, user), Path::new("/rt.so"));
        assert_eq!(block[OsStr::new("EDITOR")], "ed");
        assert_eq!(block[OsStr::new("LD_PRELOAD")], "/rt.so:/lib/mine.so");
    }
}
