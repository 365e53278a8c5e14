//! Reading a linker driver's command line.

use std::ffi::{OsStr, OsString};
use std::io::Read;
use std::path::{Path, PathBuf};

use crate::bitcode::FileKind;
use crate::error::Error;
use crate::libraries::{Libraries, Place};
use crate::options::{is_foreign_target, is_lto_option, makes_nothing, takes_argument};
use crate::script::Script;

/// For whom a word is: the driver takes it as it is, the linker through `-Xlinker`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reader {
    /// The driver.
    Driver,
    /// The linker, behind `-Wl,` or `-Xlinker`.
    Linker,
}

/// What a word is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum What {
    /// Passed on as it is.
    Word(OsString),
    /// An object or archive.
    File(PathBuf),
    /// `-lname`, found as a static archive.
    Archive {
        /// As it was written.
        word: OsString,
        /// The archive.
        path: PathBuf,
    },
    /// A linker script that stands for objects and libraries.
    Script(Script),
    /// A library of the C library's own, which has to be shared even among static ones.
    Shared(OsString),
}

/// A part of the command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Item {
    pub(crate) reader: Reader,
    pub(crate) what: What,
}

impl Item {
    /// Objects and archives in the item.
    pub(crate) fn files(&self) -> Vec<&Path> {
        match &self.what {
            What::Word(_) | What::Shared(_) => Vec::new(),
            What::File(path) | What::Archive { path, .. } => vec![path],
            What::Script(script) => script.files(),
        }
    }
}

/// A command line that links.
#[derive(Debug)]
pub(crate) struct LinkLine {
    pub(crate) items: Vec<Item>,
    /// `-o`, or `a.out`.
    pub(crate) output: PathBuf,
    /// Whether the output was named. What was not is a configure script's, as a rule, which does
    /// not know that there is a model to remove.
    pub(crate) names_output: bool,
    /// Nothing is linked, or something that the runtime cannot be a part of: not ours to change.
    pub(crate) passes_through: bool,
    /// The program was to have no shared libraries.
    pub(crate) is_static: bool,
    /// Words of [`LinkLine::items`] that ask for that.
    static_words: Vec<usize>,
}

/// Options with which nothing is linked, or only to another object.
fn passes_through(word: &str) -> bool {
    const WORDS: &[&str] = &["-c", "-r", "-emit-llvm"];
    makes_nothing(word) || WORDS.contains(&word) || is_foreign_target(word)
}

/// The same, of the linker's own options.
fn linker_passes_through(word: &str) -> bool {
    const WORDS: &[&str] = &[
        "-r",
        "-i",
        "--relocatable",
        "--version",
        "--help",
        "-v",
        "-V",
    ];
    WORDS.contains(&word)
}

/// Options that leave the C library out.
fn is_without_libc(word: &str) -> bool {
    matches!(word, "-nostdlib" | "-nolibc" | "-nodefaultlibs")
}

fn is_plugin_option(part: &str) -> bool {
    const STARTS: &[&str] = &[
        "-plugin-opt",
        "--plugin-opt",
        "--thinlto",
        "--lto",
        "-plugin",
        "--plugin",
    ];
    STARTS.iter().any(|start| part.starts_with(start))
}

impl LinkLine {
    pub(crate) fn parse(args: &[OsString]) -> Result<LinkLine, Error> {
        let mut parser = Parser {
            line: LinkLine {
                items: Vec::new(),
                output: PathBuf::from("a.out"),
                names_output: false,
                passes_through: false,
                is_static: false,
                static_words: Vec::new(),
            },
            libraries: Libraries::new(args),
            after: After::Nothing,
        };
        let mut words = args.iter();
        let mut without_libc = false;
        let mut with_libc = false;
        while let Some(word) = words.next() {
            let text = word.to_str().unwrap_or_default();
            without_libc |= is_without_libc(text);
            with_libc |= matches!(text, "-lc" | "-shared");
            parser.word(word, &mut words)?;
        }
        let mut line = parser.line;
        line.passes_through |= without_libc && !with_libc;
        line.passes_through |= line.items.iter().all(|item| item.files().is_empty());
        if parser.libraries.wants_static {
            let dynamic = OsString::from("-Bdynamic");
            line.push(Reader::Linker, What::Word(dynamic));
        }
        Ok(line)
    }

    /// Makes of a static program a dynamic one, whose own archives are still linked into it.
    pub(crate) fn make_dynamic(&mut self) {
        for &at in self.static_words.iter().rev() {
            let pie = match &self.items[at].what {
                What::Word(word) => word == "-static-pie",
                _ => false,
            };
            match pie {
                true => self.items[at].what = What::Word("-pie".into()),
                false => drop(self.items.remove(at)),
            }
        }
        self.static_words.clear();
    }

    fn set_output(&mut self, output: &OsStr) {
        self.output = PathBuf::from(output);
        self.names_output = true;
    }

    fn push(&mut self, reader: Reader, what: What) {
        self.items.push(Item { reader, what });
    }
}

/// What the linker's next word is, after those read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum After {
    /// Anything.
    Nothing,
    /// The argument of an option that was dropped.
    Dropped,
    /// The argument of an option that was kept.
    Option,
    /// The program's name.
    Output,
    /// A library's name.
    Library,
}

struct Parser {
    line: LinkLine,
    libraries: Libraries,
    after: After,
}

impl Parser {
    /// One word of the driver's, with those of `rest` that are its arguments.
    fn word<'a>(
        &mut self,
        word: &OsString,
        rest: &mut impl Iterator<Item = &'a OsString>,
    ) -> Result<(), Error> {
        let Some(text) = word.to_str() else {
            let what = self.file_or_word(word)?;
            self.line.push(Reader::Driver, what);
            return Ok(());
        };
        match text {
            "-Xlinker" => {
                if let Some(word) = rest.next() {
                    self.linker_word(word)?;
                }
            }
            "-l" | "--library" => {
                if let Some(name) = rest.next() {
                    self.library(Reader::Driver, name)?;
                }
            }
            "-target" => {
                let triple = rest.next();
                let known = triple.and_then(|triple| triple.to_str());
                self.line.passes_through |=
                    known.is_some_and(|triple| !crate::options::is_own_target(triple));
                self.keep(word);
                triple.into_iter().for_each(|word| self.keep(word));
            }
            _ if takes_argument(text) => {
                self.keep(word);
                if let Some(argument) = rest.next() {
                    if matches!(text, "-o" | "--output") {
                        self.line.set_output(argument);
                    }
                    self.keep(argument);
                }
            }
            "-static" | "--static" | "-static-pie" => {
                self.line.is_static = true;
                self.libraries.prefers_static = true;
                self.line.static_words.push(self.line.items.len());
                self.keep(word);
            }
            _ if passes_through(text) => {
                self.line.passes_through = true;
                self.keep(word);
            }
            _ if is_lto_option(text) => {}
            _ if text.starts_with("-o") => {
                self.line.set_output(OsStr::new(&text[2..]));
                self.keep(word);
            }
            _ if text.starts_with("-Wl,") => {
                for part in text.split(',').skip(1) {
                    self.linker_word(OsStr::new(part))?;
                }
            }
            _ if text.starts_with("-l") => self.library(Reader::Driver, OsStr::new(&text[2..]))?,
            _ if text.starts_with("--library=") => {
                let name = &text["--library=".len()..];
                self.library(Reader::Driver, OsStr::new(name))?;
            }
            _ if text.starts_with('-') && text != "-" => self.keep(word),
            _ => {
                let what = self.file_or_word(word)?;
                self.line.push(Reader::Driver, what);
            }
        }
        Ok(())
    }

    fn keep(&mut self, word: &OsStr) {
        self.line.push(Reader::Driver, What::Word(word.to_owned()));
    }

    /// One word of the linker's. Options and their arguments need not come in the same word of the
    /// driver's (`-Wl,-soname -Wl,libx.so.1`).
    fn linker_word(&mut self, word: &OsStr) -> Result<(), Error> {
        let after = std::mem::replace(&mut self.after, After::Nothing);
        match after {
            After::Nothing => {}
            After::Dropped => return Ok(()),
            After::Library => return self.library(Reader::Linker, word),
            After::Output => self.line.set_output(word),
            After::Option => {}
        }
        let plain = What::Word(word.to_owned());
        let Some(text) = word.to_str().filter(|_| after == After::Nothing) else {
            self.line.push(Reader::Linker, plain);
            return Ok(());
        };
        match text {
            "-plugin" | "--plugin" | "-plugin-opt" | "--plugin-opt" => {
                self.after = After::Dropped;
                return Ok(());
            }
            _ if is_plugin_option(text) => return Ok(()),
            "-l" | "--library" => {
                self.after = After::Library;
                return Ok(());
            }
            "-o" | "--output" => self.after = After::Output,
            "-Bstatic" | "-dn" | "-non_shared" | "-static" => self.libraries.wants_static = true,
            "-Bdynamic" | "-dy" | "-call_shared" => self.libraries.wants_static = false,
            "-rpath" | "--rpath" | "-soname" | "--soname" | "-h" | "-z" | "-L" | "-Map"
            | "--Map" | "-T" | "-e" | "-u" | "-m" | "-rpath-link" | "--rpath-link" | "-I"
            | "--dynamic-linker" | "-dynamic-linker" | "-version-script" | "--version-script"
            | "-f" | "-F" | "-y" | "-defsym" | "--defsym" | "-init" | "-fini" => {
                self.after = After::Option;
            }
            _ if linker_passes_through(text) => self.line.passes_through = true,
            _ if text.starts_with("-l") => {
                return self.library(Reader::Linker, OsStr::new(&text[2..]));
            }
            _ if !text.starts_with('-') => {
                let what = self.file_or_word(word)?;
                self.line.push(Reader::Linker, what);
                return Ok(());
            }
            _ => {}
        }
        self.line.push(Reader::Linker, plain);
        Ok(())
    }

    /// `-lname`: one of the project's if the linker would choose it from its directories.
    fn library(&mut self, reader: Reader, name: &OsStr) -> Result<(), Error> {
        let mut word = OsString::from("-l");
        word.push(name);
        let place = name.to_str().map(|name| self.libraries.find(name));
        let what = match place {
            Some(Place::Archive(path)) => What::Archive { word, path },
            Some(Place::Text(path)) => match Script::read(&path, &word, &self.libraries)? {
                Some(script) => What::Script(script),
                None => What::Word(word),
            },
            Some(Place::CLibrary) => What::Shared(word),
            Some(Place::Elsewhere) | None => What::Word(word),
        };
        self.line.push(reader, what);
        Ok(())
    }

    /// An object, archive or script if the word names one.
    fn file_or_word(&self, word: &OsStr) -> Result<What, Error> {
        let path = Path::new(word);
        Ok(match path.is_file().then(|| kind_of(path)).transpose()? {
            None => What::Word(word.to_owned()),
            Some(FileKind::Other) => match Script::read(path, word, &self.libraries)? {
                Some(script) => What::Script(script),
                None => What::Word(word.to_owned()),
            },
            Some(_) => What::File(path.to_owned()),
        })
    }
}

/// What a file is, by its first bytes.
pub(crate) fn kind_of(path: &Path) -> Result<FileKind, Error> {
    let mut start = Vec::new();
    let file = std::fs::File::open(path).map_err(Error::io(path))?;
    file.take(64)
        .read_to_end(&mut start)
        .map_err(Error::io(path))?;
    Ok(FileKind::of(&start))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(args: &[&str]) -> LinkLine {
        let args: Vec<OsString> = args.iter().map(OsString::from).collect();
        LinkLine::parse(&args).expect("a readable command line")
    }

    fn linker_words(line: &LinkLine) -> Vec<&OsStr> {
        let linkers = line.items.iter().filter(|it| it.reader == Reader::Linker);
        linkers
            .filter_map(|it| match &it.what {
                What::Word(word) => Some(word.as_os_str()),
                _ => None,
            })
            .collect()
    }

    #[test]
    fn lto_options_are_dropped() {
        let line = parse(&[
            "-flto=thin",
            "-Wl,-plugin-opt=O1,-plugin-opt=mcpu=x86-64",
            "-Wl,-plugin",
            "-Wl,liblto.so",
            "-Wl,-z,now",
        ]);
        assert_eq!(line.items.len(), 2);
        assert_eq!(linker_words(&line), ["-z", "now"]);
    }

    #[test]
    fn output_is_found_in_every_form() {
        for form in [
            &["-o", "prog"][..],
            &["-oprog"],
            &["-Wl,-o,prog"],
            &["-Xlinker", "-o", "-Xlinker", "prog"],
        ] {
            assert_eq!(parse(form).output, PathBuf::from("prog"), "{form:?}");
        }
        assert_eq!(parse(&["x.o"]).output, PathBuf::from("a.out"));
    }

    #[test]
    fn compile_steps_and_partial_links_pass_through() {
        for word in ["-c", "--version", "-r", "-Wl,-r", "-m32", "-nostdlib"] {
            assert!(parse(&[word, "/dev/null"]).passes_through, "{word}");
        }
    }

    #[test]
    fn archives_of_the_project_are_found() {
        let dir = tempfile::tempdir().expect("a directory");
        let archive = dir.path().join("libfoo.a");
        std::fs::write(&archive, b"!<arch>\n").expect("written");
        let flag = format!("-L{}", dir.path().display());
        for form in [
            &["-lfoo"][..],
            &["-l", "foo"],
            &["-Wl,-lfoo"],
            &["-l:libfoo.a"],
        ] {
            let line = parse(&[form, &[&flag]].concat());
            assert_eq!(line.items[0].files(), [archive.as_path()], "{form:?}");
            assert!(!line.passes_through);
        }
        std::fs::write(dir.path().join("libfoo.so"), b"\x7fELF").expect("written");
        assert!(parse(&["-lfoo", &flag]).items[0].files().is_empty());
        for form in ["-Wl,-Bstatic", "-static"] {
            let line = parse(&[form, "-lfoo", &flag]);
            assert_eq!(line.items[1].files(), [archive.as_path()], "{form}");
        }
    }

    #[test]
    fn a_static_program_becomes_a_dynamic_one() {
        let mut line = parse(&["-static-pie", "-static", "x.o"]);
        assert!(line.is_static);
        line.make_dynamic();
        let words: Vec<What> = line.items.into_iter().map(|item| item.what).collect();
        assert_eq!(words, [What::Word("-pie".into()), What::Word("x.o".into())]);
    }

    #[test]
    fn the_c_library_stays_shared() {
        let line = parse(&["-Wl,-Bstatic", "-lpthread", "-lfoo"]);
        assert_eq!(line.items[1].what, What::Shared("-lpthread".into()));
        assert_eq!(linker_words(&line), ["-Bstatic", "-Bdynamic"]);
    }
}
