//! Hashes the sources that decide how a module is instrumented, so that the cache of instrumented
//! modules never hands out what other code made.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};

/// Files and folders, seen from this package. Those of other packages are there only in a
/// workspace; outside one, another content comes with another version.
const SOURCES: &[&str] = &[
    "src/pass",
    "src/llvm",
    "src/demangle.rs",
    "../raddle-model/src",
    "../raddle-trace/src/wire",
];

fn main() {
    let package = std::env::var_os("CARGO_MANIFEST_DIR").map_or_else(PathBuf::new, PathBuf::from);
    // Fixed keys: the same sources hash to the same number wherever one compiler builds them.
    let mut hash = DefaultHasher::new();
    for source in SOURCES {
        let path = package.join(source);
        if path.exists() {
            println!("cargo::rerun-if-changed={source}");
            add(&path, &mut hash);
        }
    }
    println!("cargo::rustc-env=RADDLE_SOURCES={:016x}", hash.finish());
}

/// Adds a file's content, or that of all files below a folder, in the order of their names.
fn add(path: &Path, hash: &mut DefaultHasher) {
    let Ok(entries) = std::fs::read_dir(path) else {
        let content = std::fs::read(path).unwrap_or_default();
        path.file_name().hash(hash);
        content.hash(hash);
        return;
    };
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    paths.iter().for_each(|path| add(path, hash));
}
