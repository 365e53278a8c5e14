//! The runtime library that this crate carries inside, and the cache directory it is unpacked to.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use xxhash_rust::xxh3::xxh3_64;

/// The shared library that is loaded into every program, as `build.rs` made it.
static LIBRARY: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/libraddle_rt.so"));

/// Name of the library's file. Programs that were linked with Raddle need it by this name.
pub const LIBRARY_NAME: &str = "libraddle_rt.so";

/// Where Raddle keeps what it can make again: `$RADDLE_CACHE_DIR`, or `raddle` in the user's cache
/// directory, or, for a user without a home, in the temporary directory.
pub fn cache_dir() -> PathBuf {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    if let Some(dir) = set("RADDLE_CACHE_DIR") {
        return dir.into();
    }
    if let Some(dir) = set("XDG_CACHE_HOME") {
        return Path::new(&dir).join("raddle");
    }
    match set("HOME") {
        Some(home) => Path::new(&home).join(".cache/raddle"),
        None => std::env::temp_dir().join("raddle-cache"),
    }
}

/// Unpacks the runtime library into a cache directory, once for each version of it, and returns
/// its path.
///
/// # Errors
/// If the directory cannot be written.
pub fn unpack(cache: &Path) -> io::Result<PathBuf> {
    unpack_to(cache, LIBRARY)
}

fn unpack_to(cache: &Path, library: &[u8]) -> io::Result<PathBuf> {
    let dir = cache.join(format!("rt-{:016x}", xxh3_64(library)));
    let path = dir.join(LIBRARY_NAME);
    if fs::metadata(&path).is_ok_and(|file| file.len() == library.len() as u64) {
        return Ok(path);
    }
    fs::create_dir_all(&dir)?;
    // Another process may unpack at the same time: each writes its own file and renames it.
    let mut file = tempfile::Builder::new().prefix(".").tempfile_in(&dir)?;
    io::Write::write_all(&mut file, library)?;
    file.persist(&path).map_err(|error| error.error)?;
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unpacks_once_and_repairs_a_truncated_copy() {
        let cache = tempfile::tempdir().unwrap();
        let path = unpack_to(cache.path(), b"library").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"library");
        fs::write(&path, b"lib").unwrap();
        assert_eq!(unpack_to(cache.path(), b"library").unwrap(), path);
        assert_eq!(fs::read(&path).unwrap(), b"library");
        assert_ne!(unpack_to(cache.path(), b"another").unwrap(), path);
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
    }
}
