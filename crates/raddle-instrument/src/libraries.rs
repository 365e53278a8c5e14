//! Which file a linker would take for `-lname`.

use std::ffi::OsString;
use std::path::PathBuf;

use crate::bitcode::FileKind;
use crate::link_args::kind_of;

/// Libraries that glibc consists of. The runtime stands before them, so they have to be shared.
const C_LIBRARY: &[&str] = &[
    "c", "m", "pthread", "rt", "dl", "util", "resolv", "anl", "mvec",
];

/// Where linkers look for what people installed themselves, unless they are told otherwise.
const INSTALLED: &[&str] = &["/usr/local/lib/x86_64-linux-gnu", "/usr/local/lib"];

/// Where a library is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// A static archive.
    Archive(PathBuf),
    /// A linker script, or what may be one.
    Text(PathBuf),
    /// The linker takes it from the system, or it is shared.
    Elsewhere,
    /// A part of the C library that must not be linked statically.
    CLibrary,
}

/// The directories, and the state of the command line, by which libraries are found.
#[derive(Debug)]
pub(crate) struct Libraries {
    dirs: Vec<PathBuf>,
    /// `-Bstatic` is in force.
    pub(crate) wants_static: bool,
    /// The program was to be static: archives come first where there are any.
    pub(crate) prefers_static: bool,
}

impl Libraries {
    /// Takes the directories from all over a command line: their order among libraries says nothing.
    pub(crate) fn new(args: &[OsString]) -> Libraries {
        let mut dirs = Vec::new();
        // The words behind `-Wl,` and `-Xlinker` as if they stood alone.
        let words: Vec<&str> = args
            .iter()
            .filter_map(|word| word.to_str())
            .filter(|word| *word != "-Xlinker")
            .flat_map(|word| match word.strip_prefix("-Wl,") {
                Some(words) => words.split(',').collect(),
                None => vec![word],
            })
            .collect();
        let mut words = words.into_iter();
        while let Some(word) = words.next() {
            let dir = match word {
                "-L" | "--library-path" => words.next(),
                _ => word
                    .strip_prefix("-L")
                    .or_else(|| word.strip_prefix("--library-path=")),
            };
            dirs.extend(dir.map(PathBuf::from));
        }
        if let Some(path) = std::env::var_os("LIBRARY_PATH") {
            let listed = std::env::split_paths(&path);
            dirs.extend(listed.filter(|dir| !dir.as_os_str().is_empty()));
        }
        dirs.extend(INSTALLED.iter().map(PathBuf::from));
        Libraries {
            dirs,
            wants_static: false,
            prefers_static: false,
        }
    }

    /// Looks for `-lname`.
    pub(crate) fn find(&self, name: &str) -> Place {
        if let Some(exact) = name.strip_prefix(':') {
            let found = self.dirs.iter().map(|dir| dir.join(exact));
            return match found.into_iter().find(|path| path.is_file()) {
                Some(path) => place(path),
                None => Place::Elsewhere,
            };
        }
        if C_LIBRARY.contains(&name) {
            return match self.wants_static {
                true => Place::CLibrary,
                false => Place::Elsewhere,
            };
        }
        let shared = format!("lib{name}.so");
        let archive = format!("lib{name}.a");
        let order: &[&String] = match (self.wants_static, self.prefers_static) {
            (true, _) => &[&archive],
            (false, true) => &[&archive, &shared],
            (false, false) => &[&shared, &archive],
        };
        for dir in &self.dirs {
            let mut files = order.iter().map(|file| dir.join(file));
            if let Some(path) = files.find(|path| path.is_file()) {
                return place(path);
            }
        }
        Place::Elsewhere
    }
}

/// What a found file is.
fn place(path: PathBuf) -> Place {
    match kind_of(&path) {
        Ok(FileKind::Archive) => Place::Archive(path),
        Ok(FileKind::Other) => Place::Text(path),
        _ => Place::Elsewhere,
    }
}
