//! Reading a linker driver's command line.

use std::ffi::{OsStr, OsString};
use std::io::Read;
use std::path::{Path, PathBuf};

use crate::bitcode::FileKind;
use crate::command::{is_lto_option, makes_nothing};
use crate::error::Error;

/// A part of the command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Item {
    /// Passed on as it is.
    Word(OsString),
    /// An object or archive.
    File(PathBuf),
    /// `-lname`, found as a static archive.
    Library {
        /// As it was written.
        word: OsString,
        /// The archive.
        path: PathBuf,
    },
    /// `-Wl,…`, in its parts.
    LinkerWords(Vec<Item>),
}

impl Item {
    /// Objects and archives in the item.
    pub(crate) fn files(&self) -> Vec<&Path> {
        match self {
            Item::Word(_) => Vec::new(),
            Item::File(path) | Item::Library { path, .. } => vec![path],
            Item::LinkerWords(parts) => parts.iter().flat_map(Item::files).collect(),
        }
    }
}

/// A command line that links.
#[derive(Debug)]
pub(crate) struct LinkLine {
    pub(crate) items: Vec<Item>,
    /// `-o`, or `a.out`.
    pub(crate) output: PathBuf,
    /// Nothing is linked, or into another object: not ours to change.
    pub(crate) passes_through: bool,
    /// The program may not have shared libraries.
    pub(crate) is_static: bool,
}

/// Options whose argument is the next word.
const WITH_ARGUMENT: &[&str] = &[
    "-L",
    "-B",
    "-T",
    "-u",
    "-z",
    "-e",
    "-h",
    "-x",
    "-m",
    "-I",
    "-D",
    "-U",
    "-include",
    "-isystem",
    "-iquote",
    "-idirafter",
    "-imacros",
    "-target",
    "-arch",
    "-framework",
    "-soname",
    "-rpath",
    "-Xlinker",
    "-Xassembler",
    "-Xpreprocessor",
    "-Xclang",
    "-mllvm",
    "-MF",
    "-MT",
    "-MQ",
    "--param",
    "--sysroot",
    "-isysroot",
    "-dumpbase",
    "-dumpdir",
    "-aux-info",
    "-wrapper",
];

/// Options with which nothing is linked.
fn passes_through(word: &str) -> bool {
    makes_nothing(word)
        || matches!(
            word,
            "-c" | "-r" | "-Wl,--version" | "-Wl,--help" | "-Wl,-v"
        )
}

fn is_plugin_option(part: &str) -> bool {
    [
        "-plugin-opt",
        "--plugin-opt",
        "--thinlto",
        "--lto",
        "-plugin",
        "--plugin",
    ]
    .iter()
    .any(|prefix| part.starts_with(prefix))
}

impl LinkLine {
    pub(crate) fn parse(args: &[OsString]) -> Result<LinkLine, Error> {
        let mut line = LinkLine {
            items: Vec::new(),
            output: PathBuf::from("a.out"),
            passes_through: false,
            is_static: false,
        };
        let dirs = library_dirs(args);
        let mut wants_static = false;
        let mut words = args.iter();
        while let Some(word) = words.next() {
            let Some(text) = word.to_str() else {
                line.items.push(file_or_word(word)?);
                continue;
            };
            match text {
                "-o" | "--output" => {
                    line.items.push(Item::Word(word.clone()));
                    if let Some(output) = words.next() {
                        line.output = PathBuf::from(output);
                        line.items.push(Item::Word(output.clone()));
                    }
                }
                "-l" => {
                    if let Some(name) = words.next() {
                        let mut joined = OsString::from("-l");
                        joined.push(name);
                        line.items.push(library(&joined, &dirs, wants_static));
                    }
                }
                _ if WITH_ARGUMENT.contains(&text) => {
                    line.items.push(Item::Word(word.clone()));
                    line.items.extend(words.next().cloned().map(Item::Word));
                }
                _ if passes_through(text) => {
                    line.passes_through = true;
                    line.items.push(Item::Word(word.clone()));
                }
                "-static" | "--static" | "-static-pie" => {
                    line.is_static = true;
                    line.items.push(Item::Word(word.clone()));
                }
                _ if text.starts_with("-o") => {
                    line.output = PathBuf::from(&text[2..]);
                    line.items.push(Item::Word(word.clone()));
                }
                _ if text.starts_with("-Wl,") => {
                    let parts = linker_words(text, &mut wants_static)?;
                    if !parts.is_empty() {
                        line.items.push(Item::LinkerWords(parts));
                    }
                }
                _ if text.starts_with("-l") => {
                    line.items.push(library(word, &dirs, wants_static));
                }
                _ if is_lto_option(text) => {}
                _ if text.starts_with('-') => line.items.push(Item::Word(word.clone())),
                _ => line.items.push(file_or_word(word)?),
            }
        }
        line.passes_through |= line.items.iter().all(|item| item.files().is_empty());
        Ok(line)
    }
}

fn library_dirs(args: &[OsString]) -> Vec<PathBuf> {
    let mut dirs = Vec::new();
    let mut words = args.iter();
    while let Some(word) = words.next() {
        match word.to_str() {
            Some("-L") => dirs.extend(words.next().map(PathBuf::from)),
            Some(text) => dirs.extend(text.strip_prefix("-L").map(PathBuf::from)),
            None => {}
        }
    }
    dirs
}

fn linker_words(text: &str, wants_static: &mut bool) -> Result<Vec<Item>, Error> {
    let mut parts = Vec::new();
    let mut skip_next = false;
    for part in text.split(',').skip(1) {
        if std::mem::take(&mut skip_next) {
            continue;
        }
        match part {
            "-Bstatic" | "-dn" | "-non_shared" | "-static" => *wants_static = true,
            "-Bdynamic" | "-dy" | "-call_shared" => *wants_static = false,
            "-plugin" | "--plugin" | "-plugin-opt" | "--plugin-opt" => {
                skip_next = true;
                continue;
            }
            _ if is_plugin_option(part) => continue,
            _ => {}
        }
        parts.push(match part.starts_with('-') {
            true => Item::Word(part.into()),
            false => file_or_word(OsStr::new(part))?,
        });
    }
    Ok(parts)
}

/// An object or archive if the word names one.
fn file_or_word(word: &OsStr) -> Result<Item, Error> {
    let path = Path::new(word);
    if !path.is_file() {
        return Ok(Item::Word(word.to_owned()));
    }
    let mut start = Vec::new();
    let file = std::fs::File::open(path).map_err(Error::io(path))?;
    file.take(64)
        .read_to_end(&mut start)
        .map_err(Error::io(path))?;
    Ok(match FileKind::of(&start) {
        FileKind::Other => Item::Word(word.to_owned()),
        _ => Item::File(path.to_owned()),
    })
}

/// `-lname`: a static archive of the project if the linker would choose one from its directories.
fn library(word: &OsStr, dirs: &[PathBuf], wants_static: bool) -> Item {
    let plain = || Item::Word(word.to_owned());
    let Some(name) = word.to_str().and_then(|text| text.strip_prefix("-l")) else {
        return plain();
    };
    let (shared, archive) = match name.strip_prefix(':') {
        Some(exact) => (None, exact.to_owned()),
        None => (Some(format!("lib{name}.so")), format!("lib{name}.a")),
    };
    for dir in dirs {
        if let Some(shared) = &shared
            && !wants_static
            && dir.join(shared).exists()
        {
            return plain();
        }
        let path = dir.join(&archive);
        if path.is_file() {
            return Item::Library {
                word: word.to_owned(),
                path,
            };
        }
    }
    plain()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(args: &[&str]) -> LinkLine {
        let args: Vec<OsString> = args.iter().map(OsString::from).collect();
        LinkLine::parse(&args).expect("a readable command line")
    }

    #[test]
    fn lto_options_are_dropped() {
        let line = parse(&[
            "-flto=thin",
            "-Wl,-plugin-opt=O1,-plugin-opt=mcpu=x86-64",
            "-Wl,-z,now",
        ]);
        let kept = vec![Item::LinkerWords(vec![
            Item::Word("-z".into()),
            Item::Word("now".into()),
        ])];
        assert_eq!(line.items, kept);
    }

    #[test]
    fn output_is_found_in_both_forms() {
        assert_eq!(parse(&["-o", "prog"]).output, PathBuf::from("prog"));
        assert_eq!(parse(&["-oprog"]).output, PathBuf::from("prog"));
        assert_eq!(parse(&["x.o"]).output, PathBuf::from("a.out"));
    }

    #[test]
    fn compile_steps_pass_through() {
        assert!(parse(&["-c", "x.c"]).passes_through);
        assert!(parse(&["--version"]).passes_through);
    }

    #[test]
    fn archives_of_the_project_are_found() {
        let dir = tempfile::tempdir().expect("a directory");
        let archive = dir.path().join("libfoo.a");
        std::fs::write(&archive, b"!<arch>\n").expect("written");
        let flag = format!("-L{}", dir.path().display());
        let line = parse(&["-lfoo", &flag]);
        assert_eq!(line.items[0].files(), vec![archive.as_path()]);
        std::fs::write(dir.path().join("libfoo.so"), b"").expect("written");
        assert!(parse(&["-lfoo", &flag]).items[0].files().is_empty());
        assert_eq!(
            parse(&["-Wl,-Bstatic", "-lfoo", &flag]).items[1].files(),
            vec![archive.as_path()]
        );
    }
}
