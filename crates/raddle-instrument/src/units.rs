//! Replacing a program's objects and archives by their instrumented twins.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use raddle_model::Skipped;

use crate::archive::{self, Member};
use crate::bitcode::{FileKind, bitcode_of};
use crate::cache::Cache;
use crate::error::Error;
use crate::pass::{Instrumented, Style};
use crate::settings::Settings;
use crate::symbols;

/// What became of a program's inputs.
pub(crate) struct Replaced {
    /// The file to link in place of each input that changed.
    pub(crate) files: HashMap<PathBuf, PathBuf>,
    /// Encoded modules of the program model.
    pub(crate) modules: Vec<Vec<u8>>,
    /// What stays as it was.
    pub(crate) skipped: Vec<Skipped>,
}

/// The archive of the Rust toolchain that stays as it is: it holds the memory functions that
/// everything else is built on. Those that only print backtraces do not: rustc may take shared
/// instances of generic functions from any of them, such as the growing of every `Vec`.
const UNTOUCHED_RLIB: &str = "compiler_builtins";

/// Instruments every input that carries bitcode; new files go to `dir`.
pub(crate) fn replace(
    inputs: &[PathBuf],
    dir: &Path,
    settings: &Settings,
) -> Result<Replaced, Error> {
    let mut skipped = Vec::new();
    let mut files = Vec::new();
    for path in inputs {
        if let Some(reason) = untouched(path) {
            skipped.push(skip(&path.display().to_string(), reason));
            continue;
        }
        let bytes = std::fs::read(path).map_err(Error::io(path))?;
        let is_archive = FileKind::of(&bytes) == FileKind::Archive;
        let members = if is_archive {
            archive::read(path, &bytes)?
        } else {
            let name = path.display().to_string();
            vec![Member { name, data: bytes }]
        };
        files.push(InputFile {
            path,
            is_archive,
            members,
        });
    }
    let results = instrument_all(&files, settings)?;
    let mut replaced = Replaced {
        files: HashMap::new(),
        modules: Vec::new(),
        skipped,
    };
    for (number, (file, outcomes)) in files.into_iter().zip(results).enumerate() {
        let is_changed = outcomes
            .iter()
            .any(|outcome| matches!(outcome, Outcome::Traced(_)));
        let path = file.path.to_owned();
        let is_archive = file.is_archive;
        let members = replaced.take(file, outcomes);
        if is_changed {
            let name = path
                .file_name()
                .map(|name| name.to_string_lossy().into_owned());
            let target = dir.join(format!("{number}-{}", name.unwrap_or_default()));
            let bytes = match is_archive {
                true => archive::write(&members),
                false => members
                    .into_iter()
                    .next()
                    .map(|member| member.data)
                    .unwrap_or_default(),
            };
            std::fs::write(&target, bytes).map_err(Error::io(&target))?;
            replaced.files.insert(path, target);
        }
    }
    Ok(replaced)
}

struct InputFile<'a> {
    path: &'a Path,
    is_archive: bool,
    members: Vec<Member>,
}

impl Replaced {
    /// Takes over a file's outcomes; returns its members as they will be linked.
    fn take(&mut self, file: InputFile<'_>, outcomes: Vec<Outcome>) -> Vec<Member> {
        let mut members = Vec::new();
        for (member, outcome) in file.members.into_iter().zip(outcomes) {
            members.push(match outcome {
                Outcome::Traced(instrumented) => {
                    self.modules.push(instrumented.model);
                    Member {
                        name: member.name,
                        data: instrumented.object,
                    }
                }
                Outcome::Untraced(reason) => {
                    let name = match file.is_archive {
                        true => format!("{}({})", file.path.display(), member.name),
                        false => member.name.clone(),
                    };
                    self.skipped.push(skip(&name, &reason));
                    member
                }
                Outcome::NoCode => member,
            });
        }
        members
    }
}

/// What became of an object or archive member.
enum Outcome {
    /// It is instrumented.
    Traced(Instrumented),
    /// It is linked as it is, for a reason.
    Untraced(String),
    /// It is no object, or one that holds nothing to trace.
    NoCode,
}

/// Instruments one object or archive member.
fn instrument(
    member: &Member,
    style: Style,
    cache: &Cache,
    settings: &Settings,
) -> Result<Outcome, Error> {
    let is_object = FileKind::of(&member.data) == FileKind::Object;
    let Some(bitcode) = bitcode_of(&member.data) else {
        return Ok(match is_object && symbols::has_code(&member.data) {
            true => Outcome::Untraced("it holds no bitcode".to_owned()),
            false => Outcome::NoCode,
        });
    };
    if is_object && !symbols::is_for_this_machine(&member.data) {
        return Ok(Outcome::Untraced("it is for another machine".to_owned()));
    }
    match cache.instrument(&bitcode, &member.name, settings.opt, style) {
        Ok(made) if is_object && !symbols::agree(&member.data, &made.object) => {
            let reason = "its symbols were changed after it was compiled";
            Ok(Outcome::Untraced(reason.to_owned()))
        }
        Ok(made) => Ok(Outcome::Traced(made)),
        // Another compiler's bitcode; the object has its native code too.
        Err(Error::Llvm { message, .. }) if is_object => Ok(Outcome::Untraced(format!(
            "its bitcode cannot be used: {message}"
        ))),
        Err(error) => Err(error),
    }
}

fn skip(object: &str, reason: &str) -> Skipped {
    Skipped {
        object: object.into(),
        reason: reason.into(),
    }
}

fn untouched(path: &Path) -> Option<&'static str> {
    let name = path.file_name()?.to_str()?;
    let stem = name.strip_prefix("lib")?.split_once('-')?.0;
    (is_rust_toolchain(path) && stem == UNTOUCHED_RLIB)
        .then_some("it is a part of the Rust runtime that instrumented code stands on")
}

/// Whether an archive is one of the toolchain's own libraries.
fn is_rust_toolchain(path: &Path) -> bool {
    path.components().any(|part| part.as_os_str() == "rustlib")
}

/// Instruments the members of all files, several at a time; results in the order of the members.
fn instrument_all(
    files: &[InputFile<'_>],
    settings: &Settings,
) -> Result<Vec<Vec<Outcome>>, Error> {
    let cache = Cache::new(&settings.cache_dir);
    let mut jobs: Vec<(usize, usize)> = Vec::new();
    for (file, input) in files.iter().enumerate() {
        jobs.extend((0..input.members.len()).map(|member| (file, member)));
    }
    // Large modules first, so that the last one to finish is a small one.
    jobs.sort_by_key(|&(file, member)| std::cmp::Reverse(files[file].members[member].data.len()));
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::new());
    let work = || {
        while let Some(&(file, member)) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
            let style = match is_rust_toolchain(files[file].path) {
                true => Style::Outlined,
                false => Style::Inline,
            };
            let outcome = instrument(&files[file].members[member], style, &cache, settings);
            let mut done = done.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
            done.push((file, member, outcome));
        }
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads.min(jobs.len()) {
            scope.spawn(work);
        }
    });
    let mut results: Vec<Vec<Outcome>> = files.iter().map(|_| Vec::new()).collect();
    let mut done = done
        .into_inner()
        .unwrap_or_else(|poisoned| poisoned.into_inner());
    done.sort_by_key(|&(file, member, _)| (file, member));
    for (file, _, outcome) in done {
        results[file].push(outcome?);
    }
    Ok(results)
}
